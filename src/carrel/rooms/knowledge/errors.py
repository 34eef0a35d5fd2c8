"""What can go wrong in the knowledge room, each with a code that never changes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from datetime import datetime

from carrel.core.errors import (
    CarrelError,
    ConflictError,
    InvalidInputError,
    NotFoundError,
    UnavailableError,
)
from carrel.libraries.query.errors import QueryError


class NoteNotFoundError(NotFoundError):
    """No note of that id, or none the caller may see; the two look the same from outside."""

    def __init__(self, note_id: str) -> None:
        super().__init__("knowledge", note_id, next_step="Find the id with search_knowledge.")


class NoteChangedError(ConflictError):
    """Somebody changed the note after the caller read it."""

    def __init__(self, note_id: str, current: datetime | None) -> None:
        seen = None if current is None else current.isoformat()
        super().__init__(
            f"Knowledge {note_id} was changed by somebody else"
            if current
            else f"Knowledge {note_id} was deleted by somebody else",
            next_step="Read it again with get_knowledge, merge, and save with the new updated_at.",
            details={"id": note_id, "updated_at": seen},
        )


class NoteExistsError(ConflictError):
    """A note of that id exists already."""

    def __init__(self, note_id: str) -> None:
        super().__init__(
            f"Knowledge {note_id} exists already",
            next_step="Save without an id.",
            details={"id": note_id},
        )


_BEFORE_STEPS = {
    "promoted": "Propose it first with propose_knowledge.",
    "declined": "search_knowledge with whose=proposed lists what waits.",
}


class WrongStatusError(ConflictError):
    """The note is not in the state that this step starts from."""

    def __init__(self, note_id: str, status: str, wanted: str, step: str) -> None:
        super().__init__(
            f"only {wanted} knowledge can be {step}; this note is {status}",
            next_step=_BEFORE_STEPS.get(step, "Save a change to make it a draft again."),
            details={"id": note_id, "status": status, "required_status": wanted},
        )


class NotYoursError(CarrelError):
    """The caller may read this note and may not do that to it."""

    code = "permission_denied"

    def __init__(self, note_id: str, what: str, needs: str) -> None:
        super().__init__(
            f"You may not {what} knowledge {note_id}",
            next_step=f"Ask somebody with {needs}.",
            details={"id": note_id, "required": [needs]},
        )


class SearchTooBroadError(InvalidInputError):
    """The store would have to read more notes than it may; nothing is left out silently."""

    code = "search_too_broad"

    def __init__(self, bound: int) -> None:
        super().__init__(
            f"More than {bound} notes had to be read to answer this, which this store does not do",
            next_step="Ask for one rare tag or word, or fewer conditions at once.",
            details={"read_at_most": bound},
        )


class KnowledgeStoreError(UnavailableError):
    """The store cannot be used now; `reason` is our own sentence, the driver's goes to the log."""

    def __init__(self, store: str, reason: str = "") -> None:
        super().__init__(
            f"The {store} store of knowledge cannot be used now"
            + (f": {reason}" if reason else ""),
            next_step="Try again; if it stays so, the operator should run `carrel doctor`.",
            details={"store": store},
        )


class UnsupportedQueryError(InvalidInputError):
    """A part of a search body outside the supported subset."""

    code = "unsupported_clause"


class RefusedQueryError(InvalidInputError):
    """A part of a search body that must not reach a real Elasticsearch."""

    code = "refused_clause"


_QUERY_ERRORS = {kind.code: kind for kind in (UnsupportedQueryError, RefusedQueryError)}


@contextmanager
def translate_query_errors() -> Iterator[None]:
    """Converts QueryError of the query library to the room's error of the same code."""
    try:
        yield
    except QueryError as error:
        kind = _QUERY_ERRORS.get(error.code, InvalidInputError)
        raise kind(error.message, next_step=error.next_step, details=error.details) from None


class IndexNotAllowedError(CarrelError):
    """An index outside the allow-list, or a name that would reach one."""

    code = "index_not_allowed"

    def __init__(self, index: str, allowed: Iterable[str]) -> None:
        names = sorted(allowed)
        super().__init__(
            f"Index {index} is not one of those that may be searched",
            next_step=f"Search one of: {', '.join(names)}."
            if names
            else "The operator has allowed no index; see elasticsearch.indices.",
            details={"index": index, "allowed": names},
        )


class IndexBuildingError(UnavailableError):
    """The embedded index is still being filled."""

    code = "index_building"

    def __init__(self, index: str, done: int) -> None:
        super().__init__(
            f"The index {index} is still being built ({done} documents so far)",
            next_step="Ask again in a moment.",
            details={"index": index, "documents": done, "retry_after": 5},
        )

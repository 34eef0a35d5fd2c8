"""Why a query was not accepted; each kind has a code that never changes."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import ClassVar


class QueryError(Exception):
    """A query that cannot be read. `details` name the part, `next_step` says how to write it."""

    code: ClassVar[str] = "invalid_input"

    def __init__(
        self, message: str, *, next_step: str = "", details: Mapping[str, object] | None = None
    ) -> None:
        super().__init__(message)
        self.message = message
        self.next_step = next_step
        self.details = dict(details or {})


class UnsupportedClauseError(QueryError):
    """A part of a search body outside the supported subset."""

    code = "unsupported_clause"

    def __init__(self, clause: str, where: str, known: Iterable[str] = ()) -> None:
        names = ", ".join(sorted(known))
        super().__init__(
            f"[{clause}] in {where} is not supported by the embedded search",
            next_step=f"Supported there: {names}."
            if names
            else "Leave it out, or connect a real Elasticsearch.",
            details={"clause": clause, "where": where},
        )


class RefusedClauseError(QueryError):
    """A part of a search body that must not reach a real Elasticsearch."""

    code = "refused_clause"

    def __init__(self, clause: str, where: str, reason: str) -> None:
        super().__init__(
            f"[{clause}] in {where} is refused: {reason}",
            next_step="Leave it out and ask again.",
            details={"clause": clause, "where": where},
        )


def invalid_clause(clause: str, message: str, next_step: str = "") -> QueryError:
    """The error for a clause whose value has the wrong shape or size."""
    return QueryError(message, next_step=next_step, details={"clause": clause})

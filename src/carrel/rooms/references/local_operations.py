"""Operations for the operator of the server: history of a library, and restoring it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from pydantic import Field

from carrel.core.answer import Text
from carrel.core.caller import Call
from carrel.core.decorators import operation
from carrel.core.errors import InvalidInputError
from carrel.core.operation import POSITIONAL, Effect, Question
from carrel.rooms.references.operations import WRITE
from carrel.rooms.references.ports import LibraryPast, PastChange
from carrel.rooms.references.resources import READ

_SHOWN_IDS = 8


class ShowHistory(Question):
    id: str | None = Field(default=None, description="one reference", json_schema_extra=POSITIONAL)
    limit: int = Field(default=20, ge=0, description="changes to show (20)")
    user: str | None = Field(default=None, description="the library of another user")


class RestoreLibrary(Question):
    id: str | None = Field(
        default=None,
        description="one reference, also one that was removed",
        json_schema_extra=POSITIONAL,
    )
    revision: int | None = Field(
        default=None, description="what it said at this revision; before its last change"
    )
    version: int | None = Field(
        default=None, description="the whole library as it was in this version"
    )
    user: str | None = Field(default=None, description="the library of another user")


class LibraryPastOperations:
    """Both are local: they reach every user's library."""

    def __init__(self, open_past: Callable[[str | None], LibraryPast]) -> None:
        self._open_past = open_past

    @operation(
        title="Show the library's history",
        description=(
            "What was changed in the library, by whom, and which versions are kept; of one "
            "reference where it is named."
        ),
        scopes=READ,
        is_local=True,
        command="history",
    )
    async def show_library_history(self, question: ShowHistory, call: Call) -> Text:
        past = self._open_past(question.user)
        changes = past.list_changes(question.id)
        lines = [_line(change) for change in changes[: question.limit]]
        if len(changes) > question.limit:
            lines.append(f"… and {len(changes) - question.limit} earlier changes (--limit)")
        more = _versions(past) if question.id is None else _texts(past, question.id)
        return Text("\n".join((*lines, *more)))

    @operation(
        title="Restore references",
        description=(
            "Give one reference back what it said before, or the whole library a kept version."
        ),
        scopes=WRITE,
        effect=Effect.WRITES,
        is_local=True,
        command="restore",
    )
    async def restore_library(self, question: RestoreLibrary, call: Call) -> Text:
        if (question.id is None) == (question.version is None):
            raise InvalidInputError(
                "Name either a reference or --version",
                next_step="carrel references history lists changes and versions.",
            )
        past = self._open_past(question.user)
        if question.version is not None:
            count = past.restore_version(question.version)
            return Text(f"The library is version {question.version} again: {count} references.")
        past.restore_reference(str(question.id), question.revision)
        return Text(f"{question.id} is restored.")


def _line(change: PastChange) -> str:
    verbs = (("wrote", change.written), ("removed", change.removed), ("kept", change.kept))
    parts = "; ".join(f"{verb} {_some(ids)}" for verb, ids in verbs if ids)
    return f"{change.revision}  {change.at}  {change.origin}: {parts}"


def _texts(past: LibraryPast, reference_id: str) -> Iterator[str]:
    for text in past.list_texts(reference_id):
        absent = "a text that is not kept" if text.is_present else "absent"
        yield f"\nfrom revision {text.revision}: {text.text or absent}"


def _versions(past: LibraryPast) -> Iterator[str]:
    yield ""
    for version in past.list_versions():
        kind = "saved by another program" if version.was_replaced else "accepted"
        yield f"version {version.number}: {kind}, {version.size_bytes} bytes, {version.path}"


def _some(ids: Sequence[str]) -> str:
    more = f" and {len(ids) - _SHOWN_IDS} more" if len(ids) > _SHOWN_IDS else ""
    return ", ".join(ids[:_SHOWN_IDS]) + more

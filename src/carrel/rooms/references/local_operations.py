"""Operations for the operator of the server: history of a library, and restoring it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal

from pydantic import Field

from carrel.core.caller import Call
from carrel.core.decorators import operation
from carrel.core.errors import InvalidInputError, NotFoundError
from carrel.core.operation import POSITIONAL, Answer, Effect, Question
from carrel.rooms.references.operations import WRITE
from carrel.rooms.references.ports import LibraryPast, PastChange
from carrel.rooms.references.resources import READ


class LocalLibraryQuestion(Question):
    user: str | None = Field(default=None, description="the library of another user")
    shared_library: str | None = Field(default=None, description="id of a shared library")


class ShowHistory(LocalLibraryQuestion):
    id: str | None = Field(default=None, description="one reference", json_schema_extra=POSITIONAL)
    limit: int = Field(default=20, ge=0, description="changes to show (20)")


class RestoreLibrary(LocalLibraryQuestion):
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


class LibraryChange(Answer):
    """One change of the library: who made it, and the ids that it wrote, removed or kept."""

    revision: int
    at: str
    origin: str
    written: list[str]
    removed: list[str]
    kept: list[str]


class LibraryVersion(Answer):
    """A kept version of the whole library; `number` is what `restore --version` takes."""

    number: int
    # None where the change that made it is no longer known.
    at: str | None
    saved_by: Literal["carrel", "another program"]
    size_bytes: int
    path: str


class ReferenceText(Answer):
    """What one reference said from a revision on; `text` is None where it is not kept."""

    revision: int
    state: Literal["kept", "not kept", "absent"]
    text: str | None


class ShownHistory(Answer):
    """Changes, newest first; versions of the library, or the texts of the reference asked for."""

    id: str | None
    changes: list[LibraryChange]
    earlier_changes: int
    versions: list[LibraryVersion]
    texts: list[ReferenceText]


class RestoredLibrary(Answer):
    """What was restored: one reference, or a version of the library with so many references."""

    id: str | None = None
    version: int | None = None
    references: int | None = None


class LibraryPastOperations:
    """Both are local: they reach every user's library."""

    def __init__(self, open_past: Callable[[str | None, str | None], LibraryPast]) -> None:
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
    async def show_library_history(self, question: ShowHistory, call: Call) -> ShownHistory:
        past = self._open_past(question.user, question.shared_library)
        changes = past.list_changes(question.id)
        is_of_one = question.id is not None
        return ShownHistory(
            id=question.id,
            changes=[_change(change) for change in changes[: question.limit]],
            earlier_changes=max(0, len(changes) - question.limit),
            versions=[] if is_of_one else _list_versions(past, changes),
            texts=_list_texts(past, question.id) if question.id is not None else [],
        )

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
    async def restore_library(self, question: RestoreLibrary, call: Call) -> RestoredLibrary:
        if (question.id is None) == (question.version is None):
            raise InvalidInputError(
                "Name either a reference or --version",
                next_step="carrel references history lists changes and versions.",
            )
        past = self._open_past(question.user, question.shared_library)
        if question.version is not None:
            count = past.restore_version(question.version)
            return RestoredLibrary(version=question.version, references=count)
        reference_id = str(question.id)
        if reference_id.isdecimal() and not past.list_texts(reference_id):
            raise NotFoundError(
                "Reference",
                reference_id,
                next_step=f"For the whole library as it was: restore --version {reference_id}.",
            )
        past.restore_reference(reference_id, question.revision)
        return RestoredLibrary(id=reference_id)


def _change(change: PastChange) -> LibraryChange:
    return LibraryChange(
        revision=change.revision,
        at=change.at,
        origin=change.origin,
        written=list(change.written),
        removed=list(change.removed),
        kept=list(change.kept),
    )


def _list_texts(past: LibraryPast, reference_id: str) -> list[ReferenceText]:
    return [
        ReferenceText(
            revision=text.revision,
            state="absent" if not text.is_present else "not kept" if text.text is None else "kept",
            text=text.text,
        )
        for text in past.list_texts(reference_id)
    ]


def _list_versions(past: LibraryPast, changes: list[PastChange]) -> list[LibraryVersion]:
    times = {change.revision: change.at for change in changes}
    return [
        LibraryVersion(
            number=version.number,
            at=times.get(version.number),
            saved_by="another program" if version.was_replaced else "carrel",
            size_bytes=version.size_bytes,
            path=str(version.path),
        )
        for version in past.list_versions()
    ]

"""The changes of a library, newest first, and how one of them is undone."""

from __future__ import annotations

from typing import TypeVar

from carrel.core.caller import Call
from carrel.rooms.references.attachment_models import MissingFile
from carrel.rooms.references.attachments import Attachments
from carrel.rooms.references.history_models import (
    MAX_NAMED_IDS,
    LibraryChanges,
    ListedChange,
    ListLibraryChanges,
    UndoLibraryChange,
    UndoneLibraryChange,
)
from carrel.rooms.references.models import LibraryAnswer
from carrel.rooms.references.ports import Files, Libraries, Library, PastChange

AnswerT = TypeVar("AnswerT", bound=LibraryAnswer)


class LibraryChangeHistory:
    """Lists and undoes changes of the caller's library."""

    def __init__(self, libraries: Libraries, files: Files) -> None:
        self._libraries = libraries
        self._attachments = Attachments(files)

    async def list_changes(self, question: ListLibraryChanges, call: Call) -> LibraryChanges:
        library = self._libraries.of(call.caller)
        found = [
            change
            for change in await library.list_changes(question.id)
            if _names(change, question.id)
        ]
        first = (question.page - 1) * question.limit
        page = found[first : first + question.limit]
        overtaken = await library.find_overtaken([change.revision for change in page])
        rows = [_describe(each, can_undo=each.revision not in overtaken) for each in page]
        total = len(found)
        answer = LibraryChanges(total=total, page=question.page, limit=question.limit, changes=rows)
        return await self._with_notices(answer, call)

    async def undo(self, question: UndoLibraryChange, call: Call) -> UndoneLibraryChange:
        """Raises NotFoundError or ChangeNotUndoableError."""
        library = self._libraries.of(call.caller)
        undone = await library.undo(question.revision)
        return await self._with_notices(
            UndoneLibraryChange(
                revision=undone.revision,
                at=undone.at,
                written=list(undone.written[:MAX_NAMED_IDS]),
                written_count=len(undone.written),
                removed=list(undone.removed[:MAX_NAMED_IDS]),
                removed_count=len(undone.removed),
                missing_files=await self._find_missing(library, undone),
            ),
            call,
        )

    async def _find_missing(self, library: Library, undone: PastChange) -> list[MissingFile]:
        """The first files that the references name again and that are gone."""
        missing: list[MissingFile] = []
        for reference_id in (*undone.written, *undone.removed)[:MAX_NAMED_IDS]:
            item = await library.find(reference_id)
            rows = [] if item is None else await self._attachments.describe(library, item)
            missing += [
                MissingFile(id=reference_id, name=row.name) for row in rows if row.is_missing
            ]
        return missing[:MAX_NAMED_IDS]

    async def _with_notices(self, answer: AnswerT, call: Call) -> AnswerT:
        """The answer with the library's notices since the last one."""
        notices = await self._libraries.of(call.caller).take_notices()
        return answer.model_copy(update={"notices": list(notices)}) if notices else answer


def _names(change: PastChange, reference_id: str | None) -> bool:
    """Whether a change wrote or removed the reference, or anything where none is named."""
    if reference_id is None:
        return bool(change.written or change.removed)
    return reference_id in change.written or reference_id in change.removed


def _describe(change: PastChange, *, can_undo: bool) -> ListedChange:
    return ListedChange(
        revision=change.revision,
        at=change.at,
        origin=change.origin,
        written=list(change.written[:MAX_NAMED_IDS]),
        written_count=len(change.written),
        removed=list(change.removed[:MAX_NAMED_IDS]),
        removed_count=len(change.removed),
        can_undo=can_undo,
    )

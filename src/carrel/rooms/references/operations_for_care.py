"""Operations that keep a library in order: tags, collections, read state, history and undo."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from carrel.core.answer import Explained
from carrel.core.caller import Call, Caller
from carrel.core.decorators import operation
from carrel.core.operation import Effect
from carrel.core.paging import explain_past_end
from carrel.core.quoting import QuotedSource
from carrel.rooms.references.history_models import (
    LibraryChanges,
    ListLibraryChanges,
    UndoLibraryChange,
    UndoneLibraryChange,
)
from carrel.rooms.references.library_changes import LibraryChangeHistory
from carrel.rooms.references.library_organizing import LibraryOrganizing
from carrel.rooms.references.operations import WRITE
from carrel.rooms.references.organizing_models import (
    ListReferenceGroups,
    OrganizedReferences,
    OrganizeReferences,
    ReferenceGroups,
    RenameReferenceGroup,
)
from carrel.rooms.references.resources import READ, WHOLE_LIBRARY


def _quoted_changes(
    arguments: Mapping[str, Any], answer: object, caller: Caller
) -> Iterable[QuotedSource]:
    return [WHOLE_LIBRARY]


class LibraryCareOperations:
    """Organizes the caller's library, and undoes changes of it."""

    def __init__(self, organizing: LibraryOrganizing, history: LibraryChangeHistory) -> None:
        self._organizing = organizing
        self._history = history

    @operation(
        title="Organize references",
        description=(
            "Add or remove tags and collections, or set the read state, of references by ids or "
            "of all that match a query, in one write; a query without force is a dry run."
        ),
        scopes=WRITE,
        effect=Effect.WRITES,
        is_idempotent=True,
        command="organize",
        name_alone="organize",
        is_listed=False,
        phrases=(
            "tag a reference; tag several references at once; put references into a collection; "
            "move references to a folder; mark a reference as read; mark as unread; mark papers "
            "of my library as read; add a tag to references; remove a tag from references; take "
            "references out of a collection; organise my library; file references under …"
        ),
    )
    async def organize_references(
        self, question: OrganizeReferences, call: Call
    ) -> OrganizedReferences:
        return await self._organizing.organize(question, call)

    @operation(
        title="List tags and collections",
        description=(
            "The collections, tags or read states of the library, with how many references each "
            "has; search_references finds them by collection:, tag: and read:."
        ),
        scopes=READ,
        quotes=_quoted_changes,
        command="groups",
        name_alone="groups",
        is_listed=False,
        phrases=(
            "which tags are there in my library; list collections; list my collections; which "
            "folders does my library have; how many references are unread; all tags with counts; "
            "tags of my references"
        ),
    )
    async def list_reference_groups(
        self, question: ListReferenceGroups, call: Call
    ) -> ReferenceGroups | Explained:
        found = await self._organizing.list_groups(question, call)
        if question.page > 1 and (question.page - 1) * question.limit >= found.total:
            past = explain_past_end(question.page, question.limit, found.total, question.kind)
            return Explained(found, past)
        return found

    @operation(
        title="Rename a tag or collection",
        description=(
            "Rename, merge, move or take off a tag or collection in the whole library, in one "
            "write; references stay."
        ),
        scopes=WRITE,
        effect=Effect.WRITES,
        command="regroup",
        name_alone="regroup",
        is_listed=False,
        phrases=(
            "rename a tag; merge two tags; delete a tag everywhere; rename a collection; move a "
            "collection; delete a collection but keep its references; merge collections"
        ),
    )
    async def rename_reference_group(
        self, question: RenameReferenceGroup, call: Call
    ) -> OrganizedReferences:
        return await self._organizing.rename(question, call)

    @operation(
        title="List changes of the library",
        description="What was changed in the library, newest first, and what can be undone.",
        scopes=READ,
        quotes=_quoted_changes,
        command="changes",
        is_listed=False,
        is_for_people=True,
    )
    async def list_library_changes(
        self, question: ListLibraryChanges, call: Call
    ) -> LibraryChanges | Explained:
        found = await self._history.list_changes(question, call)
        if question.page > 1 and (question.page - 1) * question.limit >= found.total:
            past = explain_past_end(question.page, question.limit, found.total, "changes")
            return Explained(found, past)
        return found

    @operation(
        title="Undo a change of the library",
        description=(
            "Undo one change, the last without a number, unless its references were changed since."
        ),
        scopes=WRITE,
        effect=Effect.WRITES,
        command="undo-change",
        is_listed=False,
        is_for_people=True,
    )
    async def undo_library_change(
        self, question: UndoLibraryChange, call: Call
    ) -> UndoneLibraryChange:
        return await self._history.undo(question, call)

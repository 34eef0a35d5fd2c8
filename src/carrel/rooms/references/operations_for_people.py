"""Operations of the references room for people alone: the pages of the console ask them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from carrel.core.answer import Binary, Blocks
from carrel.core.caller import Call, Caller
from carrel.core.decorators import operation
from carrel.core.operation import Effect
from carrel.core.quoting import QuotedSource
from carrel.rooms.references.browsing_models import (
    BrowsedReferences,
    BrowseReferences,
    CitationPreview,
    ListReferenceVersions,
    OpenAttachment,
    PreviewCitation,
    ReferenceVersions,
    RemovedReferences,
    RemoveReferences,
    RestoredReferences,
    RestoreReferences,
    SaveReference,
)
from carrel.rooms.references.file_blocks import file_blocks
from carrel.rooms.references.library_editing import LibraryEditing
from carrel.rooms.references.models import OneReference
from carrel.rooms.references.operations import WRITE
from carrel.rooms.references.resources import READ, quoted_references


def _quoted_rows(
    arguments: Mapping[str, Any], answer: BrowsedReferences, caller: Caller
) -> Iterable[QuotedSource]:
    return [QuotedSource("reference", row.id, row.title or None) for row in answer.rows]


def _quoted_versions(
    arguments: Mapping[str, Any], answer: ReferenceVersions, caller: Caller
) -> Iterable[QuotedSource]:
    return [QuotedSource("reference", answer.id)]


def _quoted_file(
    arguments: Mapping[str, Any], answer: object, caller: Caller
) -> Iterable[QuotedSource]:
    return [QuotedSource("reference", str(arguments["id"]))]


class LibraryEditingOperations:
    """The table, the editor and the history of the caller's library."""

    def __init__(self, editing: LibraryEditing) -> None:
        self._editing = editing

    @operation(
        title="Browse references",
        description="The library as a sorted, filtered table, from a place in it on.",
        scopes=READ,
        quotes=_quoted_rows,
        command="browse",
        is_listed=False,
        is_for_people=True,
    )
    async def browse_references(self, question: BrowseReferences, call: Call) -> BrowsedReferences:
        return await self._editing.browse(question, call)

    @operation(
        title="Save an edited reference",
        description="Change fields of a reference, if it is still the version that was edited.",
        scopes=WRITE,
        effect=Effect.WRITES,
        quotes=quoted_references,
        command="save",
        is_listed=False,
        is_for_people=True,
    )
    async def save_reference(self, question: SaveReference, call: Call) -> OneReference:
        return await self._editing.save(question, call)

    @operation(
        title="Remove references",
        description="Remove several references at once. Needs force: true.",
        scopes=WRITE,
        effect=Effect.DESTROYS,
        command="remove-many",
        is_listed=False,
        is_for_people=True,
    )
    async def remove_references(self, question: RemoveReferences, call: Call) -> RemovedReferences:
        return await self._editing.remove(question, call)

    @operation(
        title="Preview a citation",
        description="A CSL-JSON item that need not be in the library, cited in a style.",
        scopes=READ,
        command="preview",
        is_listed=False,
        is_for_people=True,
    )
    async def preview_citation(self, question: PreviewCitation, call: Call) -> CitationPreview:
        return await self._editing.preview(question)

    @operation(
        title="List versions of a reference",
        description="What a reference said before, newest first, also one that was removed.",
        scopes=READ,
        quotes=_quoted_versions,
        command="versions",
        is_listed=False,
        is_for_people=True,
    )
    async def list_reference_versions(
        self, question: ListReferenceVersions, call: Call
    ) -> ReferenceVersions:
        return await self._editing.list_versions(question, call)

    @operation(
        title="Restore references",
        description="Give references back what they said before, also those that were removed.",
        scopes=WRITE,
        effect=Effect.WRITES,
        command="restore-many",
        is_listed=False,
        is_for_people=True,
    )
    async def restore_references(
        self, question: RestoreReferences, call: Call
    ) -> RestoredReferences:
        return await self._editing.restore(question, call)

    @operation(
        title="Open an attached PDF",
        description="The bytes of the PDF that is attached to a reference.",
        scopes=READ,
        quotes=_quoted_file,
        command="pdf",
        is_listed=False,
        is_for_people=True,
    )
    async def open_attachment(self, question: OpenAttachment, call: Call) -> Blocks:
        content = await self._editing.read_pdf(question, call)
        told = f"The PDF of {question.id}: {len(content):,} bytes"
        return file_blocks(told, question.id, "fulltext.pdf", Binary(content, "application/pdf"))

"""Operations that keep a library in order: duplicates, keys, and files of references."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from carrel.core.answer import Binary, Blocks
from carrel.core.caller import Call, Caller
from carrel.core.decorators import operation
from carrel.core.operation import Effect
from carrel.core.quoting import QuotedSource
from carrel.rooms.references.attachment_models import (
    AdoptOrphan,
    AttachedOne,
    AttachFile,
    AttachmentList,
    DetachedOne,
    DetachFile,
    FindOrphans,
    ListAttachments,
    OpenAttachedFile,
    Orphans,
    RemovedOrphans,
    RemoveOrphans,
)
from carrel.rooms.references.attachment_service import AttachmentService
from carrel.rooms.references.duplicate_merging import DuplicateMerging
from carrel.rooms.references.duplicate_models import (
    FindDuplicates,
    FoundDuplicates,
    MergedReferences,
    MergeReferences,
)
from carrel.rooms.references.file_blocks import file_blocks
from carrel.rooms.references.key_models import (
    RenamedKeys,
    RenamedReference,
    RenameKeys,
    RenameReference,
)
from carrel.rooms.references.key_renaming import KeyRenaming
from carrel.rooms.references.operations import WRITE
from carrel.rooms.references.resources import READ


def _quoted_groups(
    arguments: Mapping[str, Any], answer: FoundDuplicates, caller: Caller
) -> Iterable[QuotedSource]:
    return [
        QuotedSource("reference", each.id, each.title or None)
        for group in answer.groups
        for each in group.references
    ]


def _quoted_merge(
    arguments: Mapping[str, Any], answer: MergedReferences, caller: Caller
) -> Iterable[QuotedSource]:
    return [QuotedSource("reference", each) for each in (answer.id, *answer.merged)]


def _quoted_file(
    arguments: Mapping[str, Any], answer: object, caller: Caller
) -> Iterable[QuotedSource]:
    return [QuotedSource("reference", str(arguments["id"]))]


class UpkeepOperations:
    """Duplicates, keys and files of the caller's library."""

    def __init__(
        self, merging: DuplicateMerging, keys: KeyRenaming, attachments: AttachmentService
    ) -> None:
        self._merging = merging
        self._keys = keys
        self._attachments = attachments

    @operation(
        title="Find duplicates",
        description=(
            "References of one work, in groups with the evidence: certain ones, and possible ones "
            "(preprint and article, editions, parts) that a person should look at."
        ),
        scopes=READ,
        quotes=_quoted_groups,
        timeout_seconds=120.0,
        command="duplicates",
        next_command="carrel references merge KEEP OTHER shows what merging two would give.",
        is_listed=False,
        phrases=(
            "find duplicates in my library; which references do I have twice; duplicate entries "
            "in my bibliography; clean up duplicate references"
        ),
    )
    async def find_duplicates(self, question: FindDuplicates, call: Call) -> FoundDuplicates:
        return await self._merging.find(question, call)

    @operation(
        title="Merge references",
        description=(
            "Make several references of one work into one: fields of keep first, or as chosen; "
            "tags, notes and files of all; the others' keys lead to it. Shows only, unless "
            "dry_run is false."
        ),
        scopes=WRITE,
        effect=Effect.WRITES,
        quotes=_quoted_merge,
        command="merge",
        is_listed=False,
        phrases=(
            "merge two references; merge duplicate references; combine two entries of my "
            "bibliography into one"
        ),
    )
    async def merge_references(self, question: MergeReferences, call: Call) -> MergedReferences:
        return await self._merging.merge(question, call)

    @operation(
        title="Rename a reference",
        description="Give a reference another key; the old one still leads to it.",
        scopes=WRITE,
        effect=Effect.WRITES,
        command="rename",
        is_listed=False,
        phrases="rename a citation key; change the key of a reference; give a reference another id",
    )
    async def rename_reference(self, question: RenameReference, call: Call) -> RenamedReference:
        return await self._keys.rename(question, call)

    @operation(
        title="Rename keys by a pattern",
        description=(
            "Give all references, or those that match, keys by a pattern such as {author}-{year}; "
            "old keys still lead to them. Shows only, unless dry_run is false."
        ),
        scopes=WRITE,
        effect=Effect.WRITES,
        timeout_seconds=120.0,
        command="rename-keys",
        is_listed=False,
        phrases="rename all citation keys; make citation keys by a pattern; regenerate keys",
    )
    async def rename_keys(self, question: RenameKeys, call: Call) -> RenamedKeys:
        return await self._keys.rename_all(question, call)

    @operation(
        title="List attachments",
        description="Every file of a reference with its role, size, and whether it is still there.",
        scopes=READ,
        command="files",
        is_listed=False,
        phrases="which files are attached to a reference; list attachments of a reference",
    )
    async def list_attachments(self, question: ListAttachments, call: Call) -> AttachmentList:
        return await self._attachments.list_files(question, call)

    @operation(
        title="Attach a file",
        description=(
            "Attach any file to a reference: a further PDF, a supplement, data, HTML, an image; "
            "by path, or as base64 with a name."
        ),
        scopes=WRITE,
        effect=Effect.WRITES,
        command="attach-file",
        is_listed=False,
        phrases="attach a supplement to a reference; attach a second PDF; attach data to an entry",
    )
    async def attach_file(self, question: AttachFile, call: Call) -> AttachedOne:
        return await self._attachments.attach(question, call)

    @operation(
        title="Detach a file",
        description="Take one file off a reference by its name; copies made here are deleted.",
        scopes=WRITE,
        effect=Effect.DESTROYS,
        command="detach-file",
        is_listed=False,
        phrases="detach one file of a reference; remove a supplement from a reference",
    )
    async def detach_file(self, question: DetachFile, call: Call) -> DetachedOne:
        return await self._attachments.detach(question, call)

    @operation(
        title="Open an attached file",
        description="The bytes of one file of a reference, by its name.",
        scopes=READ,
        quotes=_quoted_file,
        command="open-file",
        is_listed=False,
        is_for_people=True,
    )
    async def open_attached_file(self, question: OpenAttachedFile, call: Call) -> Blocks:
        content, media_type = await self._attachments.read(question, call)
        told = f"{question.name} of {question.id}: {len(content):,} bytes"
        return file_blocks(told, question.id, question.name, Binary(content, media_type))

    @operation(
        title="Find orphaned files",
        description=(
            "Files in the attachments folder that no reference names, and files that references "
            "name and that are gone."
        ),
        scopes=READ,
        command="orphans",
        is_listed=False,
        phrases="orphaned attachments; files that belong to no reference; missing attached files",
    )
    async def find_orphans(self, question: FindOrphans, call: Call) -> Orphans:
        return await self._attachments.find_orphans(question, call)

    @operation(
        title="Adopt an orphaned file",
        description="Attach a file that no reference names to one of them.",
        scopes=WRITE,
        effect=Effect.WRITES,
        command="adopt-file",
        is_listed=False,
    )
    async def adopt_orphan(self, question: AdoptOrphan, call: Call) -> AttachedOne:
        return await self._attachments.adopt(question, call)

    @operation(
        title="Remove orphaned files",
        description=(
            "Delete files of the attachments folder that no reference names. Shows only, unless "
            "dry_run is false."
        ),
        scopes=WRITE,
        effect=Effect.DESTROYS,
        command="prune-files",
        is_listed=False,
    )
    async def remove_orphans(self, question: RemoveOrphans, call: Call) -> RemovedOrphans:
        return await self._attachments.remove_orphans(question, call)

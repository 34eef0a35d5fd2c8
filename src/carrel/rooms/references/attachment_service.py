"""Files of the caller's references: attached, listed, opened, detached, adopted and removed."""

from __future__ import annotations

import base64
import binascii
from collections.abc import Callable
from pathlib import Path, PurePosixPath

from carrel.core.caller import Call
from carrel.core.errors import InvalidInputError
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
from carrel.rooms.references.attachments import Attachments, media_type_of
from carrel.rooms.references.errors import FileNotUsableError, ReferenceNotFoundError
from carrel.rooms.references.former_ids import ForwardingLibraries, ForwardingLibrary
from carrel.rooms.references.items import Item, text_of
from carrel.rooms.references.ports import Files

CheckAllowed = Callable[[Path, Call], Path]


class AttachmentService:
    """`check_allowed` resolves a path, and raises CarrelError where it must not be read."""

    def __init__(
        self, libraries: ForwardingLibraries, files: Files, check_allowed: CheckAllowed
    ) -> None:
        self._libraries = libraries
        self._files = files
        self._attachments = Attachments(files)
        self._check_allowed = check_allowed

    async def list_files(self, question: ListAttachments, call: Call) -> AttachmentList:
        library, item = await self._find(question.id, call)
        return AttachmentList(
            id=text_of(item, "id"),
            files=await self._attachments.describe(library, item),
            notices=list(await library.take_notices()),
        )

    async def attach(self, question: AttachFile, call: Call) -> AttachedOne:
        if (question.path is None) == (question.content is None):
            raise InvalidInputError(
                "Give either path or content", next_step="Leave one of them out and call again."
            )
        library, item = await self._find(question.id, call)
        source: Path | bytes
        if question.content is not None:
            if question.name is None:
                raise InvalidInputError(
                    "Content needs a name", next_step="Give the name of the file."
                )
            source, name = _decode(question.content), question.name
        else:
            source = self._check_allowed(Path(question.path or ""), call)
            name = question.name or source.name
            if not await self._files.exists(source):
                raise FileNotUsableError(
                    f"There is no file {question.path}", next_step="Check the path."
                )
        file = await self._attachments.attach(
            library, item, source, name, question.role, question.label
        )
        notices = list(await library.take_notices())
        return AttachedOne(id=text_of(item, "id"), file=file, notices=notices)

    async def detach(self, question: DetachFile, call: Call) -> DetachedOne:
        library, item = await self._find(question.id, call)
        was_deleted = await self._attachments.detach(library, item, question.name)
        return DetachedOne(
            id=text_of(item, "id"),
            name=question.name,
            was_deleted=was_deleted,
            notices=list(await library.take_notices()),
        )

    async def read(self, question: OpenAttachedFile, call: Call) -> tuple[bytes, str]:
        """The bytes and media type of one file."""
        library, item = await self._find(question.id, call)
        content = await self._attachments.read(library, item, question.name)
        return content, media_type_of(question.name)

    async def find_orphans(self, question: FindOrphans, call: Call) -> Orphans:
        library = self._libraries.of(call.caller)
        orphans, missing = await self._attachments.find_orphans(library)
        return Orphans(
            folder=str(library.folder),
            orphan_total=len(orphans),
            orphan_bytes=sum(each.size_bytes for each in orphans),
            orphans=orphans[: question.limit],
            missing_total=len(missing),
            missing=missing[: question.limit],
            notices=list(await library.take_notices()),
        )

    async def adopt(self, question: AdoptOrphan, call: Call) -> AttachedOne:
        """Name a file that no reference names at one of them, in that one's folder."""
        library, item = await self._find(question.id, call)
        orphans, _ = await self._attachments.find_orphans(library)
        path = self._attachments.locate(library, question.file)
        if path is None or question.file not in {each.file for each in orphans}:
            raise _not_an_orphan(question.file)
        name = PurePosixPath(question.file).name
        files = library.attached_files or self._files
        file = await self._attachments.attach(
            library, item, await files.local_path(path), name, question.role, question.label
        )
        await files.remove(path)
        notices = list(await library.take_notices())
        return AttachedOne(id=text_of(item, "id"), file=file, notices=notices)

    async def remove_orphans(self, question: RemoveOrphans, call: Call) -> RemovedOrphans:
        """Delete files that no reference names; others are kept, each with the reason."""
        library = self._libraries.of(call.caller)
        found, _ = await self._attachments.find_orphans(library)
        sizes = {each.file: each.size_bytes for each in found}
        wanted = dict.fromkeys(question.files)
        removed = [name for name in wanted if name in sizes]
        if not question.dry_run:
            for name in removed:
                path = self._attachments.locate(library, name)
                if path is not None:
                    await (library.attached_files or self._files).remove(path)
        return RemovedOrphans(
            dry_run=question.dry_run,
            removed=removed,
            kept={
                name: "a reference names it, or it is not there"
                for name in wanted
                if name not in sizes
            },
            freed_bytes=sum(sizes[name] for name in removed),
            notices=list(await library.take_notices()),
        )

    async def _find(self, reference_id: str, call: Call) -> tuple[ForwardingLibrary, Item]:
        library = self._libraries.of(call.caller)
        item = await library.find(reference_id)
        if item is None:
            raise ReferenceNotFoundError(reference_id)
        return library, item


def _decode(content: str) -> bytes:
    try:
        return base64.b64decode(content, validate=True)
    except (binascii.Error, ValueError):
        raise InvalidInputError(
            "The content is not base64", next_step="Encode the bytes of the file as base64."
        ) from None


def _not_an_orphan(file: str) -> InvalidInputError:
    return InvalidInputError(
        f"{file} is no file of the attachments folder that is without a reference",
        next_step="find_orphans lists them.",
    )

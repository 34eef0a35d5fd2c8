"""Full texts: reads both layouts of other tools, writes the newer, deletes only our copies."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Any

from carrel.rooms.references.errors import (
    FileNotUsableError,
    FullTextExistsError,
    FullTextNotAvailableError,
    ReferenceNotFoundError,
)
from carrel.rooms.references.items import Item, custom, text_of
from carrel.rooms.references.models import AttachedFile, DetachedFiles, Fulltext, PdfPath
from carrel.rooms.references.ports import Change, Files, Library

_ROLES = {".pdf": "pdf", ".md": "markdown", ".markdown": "markdown"}
_MAX_PDF_BYTES = 256 * 1024 * 1024
_MOST_OF_A_NAME = 10_000
_SUFFIX = {"pdf": ".pdf", "markdown": ".md"}


@dataclass(frozen=True, slots=True)
class Attachment:
    """One attached file; `is_ours` if we copied it in."""

    role: str
    path: Path
    is_ours: bool


def listed_files(item: Item) -> Iterator[tuple[str, dict[str, Any]]]:
    """The folder and the entry of every file that an item names by the newer layout."""
    newer = custom(item).get("attachments")
    if isinstance(newer, dict) and isinstance(newer.get("files"), list):
        folder = str(newer.get("directory") or "")
        for file in newer["files"]:
            if isinstance(file, dict) and file.get("filename"):
                yield folder, file


def named_attachments(item: Item) -> list[tuple[str, str, str]]:
    """Role, folder and file name of every full text that an item names, by either layout."""
    found: list[tuple[str, str, str]] = []
    for folder, file in listed_files(item):
        if file.get("role") == "fulltext":
            name = str(file["filename"])
            found.append((_role_of(name), folder, name))
    older = custom(item).get("fulltext")
    if isinstance(older, dict):
        known = {role for role, _, _ in found}
        found += [
            (role, "", str(older[role]))
            for role in ("pdf", "markdown")
            if older.get(role) and role not in known
        ]
    return found


def _role_of(name: str) -> str:
    return _ROLES.get(PurePosixPath(name).suffix.lower(), "other")


class FullTexts:
    """Attached files of one library, in its folder of attachments."""

    def __init__(self, files: Files) -> None:
        self._files = files

    def attachments(self, library: Library, item: Item) -> list[Attachment]:
        """What the item names, by either layout. A name that leads out of the folder is ignored."""
        found: list[Attachment] = []
        for folder, file in listed_files(item):
            name = str(file["filename"])
            path = self.locate(library, folder, name)
            if path is not None and file.get("role") == "fulltext":
                found.append(Attachment(_role_of(name), path, is_ours=is_our_copy(file)))
        older = custom(item).get("fulltext")
        if isinstance(older, dict):
            for role in ("pdf", "markdown"):
                path = self.locate(library, "", str(older[role])) if older.get(role) else None
                if path is not None and all(each.role != role for each in found):
                    found.append(Attachment(role, path, is_ours=False))
        return found

    def _files_of(self, library: Library) -> Files:
        return library.attached_files or self._files

    def locate(self, library: Library, folder: str, name: str) -> Path | None:
        """A file below the folder of attachments; None where the name leads out of it."""
        root = self._files.resolved(library.folder)
        path = self._files.resolved(root / folder / name)
        return path if path.is_relative_to(root) else None

    async def store(self, library: Library, folder: str, name: str, source: Path | bytes) -> Path:
        """Copies a file into a folder, with a number behind its name where another has that."""
        stem, suffix = PurePosixPath(name).stem, PurePosixPath(name).suffix
        files = self._files_of(library)
        for number in range(1, _MOST_OF_A_NAME):
            tried = name if number == 1 else f"{stem}-{number}{suffix}"
            target = self.locate(library, folder, tried)
            if target is None:
                raise FileNotUsableError(
                    "The id of this reference cannot name a folder", details={"folder": folder}
                )
            if await files.size(target) is not None:
                continue
            # Another writer may take the name at this moment.
            with suppress(FileExistsError):
                if isinstance(source, bytes):
                    await files.write_in(source, target)
                else:
                    await files.copy_in(source, target)
                return target
        raise FileNotUsableError("Too many files of that name", next_step="Choose another name.")

    async def attach(self, library: Library, item: Item, source: Path) -> AttachedFile:
        role = _ROLES.get(source.suffix.lower())
        if role is None or not await self._files.exists(source):
            raise FileNotUsableError(
                "The path must name a PDF or Markdown file that exists",
                next_step="Check the path.",
                details={"path": str(source)},
            )
        reference_id = str(item["id"])
        if any(each.role == role for each in self.attachments(library, item)):
            raise FullTextExistsError(reference_id, role)
        directory = directory_of(item)
        target = await self.store(library, directory, f"fulltext{_SUFFIX[role]}", source)
        filename, files = target.name, self._files_of(library)

        def decide(present: Item) -> Change:
            if any(each.role == role for each in self.attachments(library, present)):
                # Somebody else attached one since this began.
                raise FullTextExistsError(reference_id, role)
            own = dict(custom(present))
            attachments: dict[str, Any] = (
                dict(own["attachments"]) if isinstance(own.get("attachments"), dict) else {}
            )
            files = list(attachments["files"]) if isinstance(attachments.get("files"), list) else []
            files.append({"filename": filename, "role": "fulltext", "label": "carrel"})
            own["attachments"] = {
                **attachments,
                "directory": attachments.get("directory") or directory,
                "files": files,
            }
            return Change({"custom": own})

        try:
            changed = await library.change(reference_id, decide)
        except FullTextExistsError:
            await files.remove(target)
            raise
        if changed is None:
            await files.remove(target)
            raise ReferenceNotFoundError(reference_id)
        path = await files.local_path(target)
        return AttachedFile(id=reference_id, role=role, path=str(path))

    async def get(
        self, library: Library, item: Item, *, offset: int, max_chars: int | None
    ) -> Fulltext:
        reference_id = str(item["id"])
        found = {each.role: each.path for each in self.attachments(library, item)}
        pdf = found.get("pdf")
        markdown = found.get("markdown")
        files = self._files_of(library)
        if pdf is not None:
            pdf = await files.local_path(pdf) if await files.exists(pdf) else None
        text = None
        if markdown is not None and await files.exists(markdown):
            text = cut_text(await files.read_text(markdown), offset, max_chars)
        if pdf is None and text is None:
            raise FullTextNotAvailableError(
                reference_id, "the attached file is gone" if found else "none is attached"
            )
        return Fulltext(
            id=reference_id, pdf=None if pdf is None else PdfPath(path=str(pdf)), markdown=text
        )

    async def read_pdf(self, library: Library, item: Item) -> bytes:
        """The bytes of the attached PDF; raises FullTextNotAvailableError."""
        reference_id = str(item["id"])
        found = {each.role: each.path for each in self.attachments(library, item)}
        pdf = found.get("pdf")
        files = self._files_of(library)
        if pdf is None or not await files.exists(pdf):
            raise FullTextNotAvailableError(
                reference_id, "no PDF is attached" if pdf is None else "the attached file is gone"
            )
        try:
            return await files.read_bytes(pdf, _MAX_PDF_BYTES)
        except OSError as error:
            raise FullTextNotAvailableError(reference_id, error.strerror or str(error)) from error

    async def detach(self, library: Library, item: Item) -> DetachedFiles:
        reference_id = str(item["id"])
        attached = self.attachments(library, item)
        if not attached:
            raise FullTextNotAvailableError(reference_id, "none is attached")

        def decide(present: Item) -> Change:
            own = dict(custom(present))
            own.pop("fulltext", None)
            attachments = own.get("attachments")
            if isinstance(attachments, dict):
                files = [
                    file
                    for file in attachments.get("files", [])
                    if not (isinstance(file, dict) and file.get("role") == "fulltext")
                ]
                if files:
                    own["attachments"] = {**attachments, "files": files}
                else:
                    own.pop("attachments")
            return Change({"custom": own})

        await library.change(reference_id, decide)
        deleted = []
        for each in attached:
            if each.is_ours:
                await self._files_of(library).remove(each.path)
                deleted.append(each.path.name)
        return DetachedFiles(
            id=reference_id, detached=[each.role for each in attached], deleted_files=deleted
        )


def kind_of(name: str) -> str | None:
    """`pdf` or `markdown` by the ending of a name."""
    return _ROLES.get(PurePosixPath(name).suffix.lower())


def is_our_copy(file: Item) -> bool:
    return file.get("label") == "carrel" or file.get("added_by") == "carrel"


def cut_text(content: str, offset: int, max_chars: int | None) -> str:
    """A part of a text with a note of how much is left."""
    text = content[offset:] if max_chars is None else content[offset : offset + max_chars]
    left = len(content) - offset - len(text)
    return f"{text}\n[truncated: {left} more chars]" if left > 0 else text


def directory_of(item: Item) -> str:
    """The folder of a reference's files, below that of attachments."""
    existing = custom(item).get("attachments")
    if isinstance(existing, dict) and existing.get("directory"):
        return str(existing["directory"])
    pmid = f"-PMID{text_of(item, 'PMID')}" if text_of(item, "PMID") else ""
    mark = str(custom(item).get("uuid") or "")[:8] or "00000000"
    name = "".join(
        letter if letter.isalnum() or letter in "_-." else "_" for letter in str(item["id"])
    ).strip(".")
    return f"{name or 'reference'}{pmid}-{mark}"

"""Any number of files at a reference, in both layouts, and files that nothing names."""

from __future__ import annotations

import asyncio
import mimetypes
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from carrel.rooms.references.attachment_models import AttachmentRow, MissingFile, OrphanFile
from carrel.rooms.references.errors import (
    AttachmentNotFoundError,
    FileNotUsableError,
    FullTextExistsError,
)
from carrel.rooms.references.fulltext import (
    FullTexts,
    directory_of,
    is_our_copy,
    kind_of,
    listed_files,
)
from carrel.rooms.references.items import Item, custom, text_of
from carrel.rooms.references.ports import Change, Files, Library

FULLTEXT = "fulltext"
SUPPLEMENT = "supplement"
MAX_FILE_BYTES = 256 * 1024 * 1024
_LONGEST_NAME = 120
_BYTES = "application/octet-stream"


@dataclass(frozen=True, slots=True)
class NamedFile:
    """A file that a reference names; `is_ours` if it was copied in here."""

    folder: str
    name: str
    role: str
    label: str
    is_ours: bool
    is_older: bool = False

    @property
    def place(self) -> str:
        """Its path below the folder of attachments."""
        return str(PurePosixPath(self.folder, self.name))


def list_named_files(item: Item) -> list[NamedFile]:
    """Every file that an item names, by either layout, each once."""
    found: list[NamedFile] = []
    for folder, file in listed_files(item):
        label = str(file.get("label") or "")
        found.append(
            NamedFile(
                folder,
                str(file["filename"]),
                str(file.get("role") or "other"),
                "" if label == "carrel" else label,
                is_our_copy(file),
            )
        )
    older = custom(item).get("fulltext")
    if isinstance(older, dict):
        names = [str(older[kind]) for kind in ("pdf", "markdown") if older.get(kind)]
        known = {each.place for each in found}
        found += [
            NamedFile("", name, FULLTEXT, "", is_ours=False, is_older=True)
            for name in names
            if str(PurePosixPath(name)) not in known
        ]
    return found


def with_file(item: Item, name: str, role: str, label: str) -> Item:
    """The item's `custom` with one more file, which was copied in here."""
    own = custom(item)
    given = own.get("attachments")
    attachments = given if isinstance(given, dict) else {}
    files = attachments["files"] if isinstance(attachments.get("files"), list) else []
    file = {"filename": name, "role": role, "label": label or "carrel", "added_by": "carrel"}
    return {
        **own,
        "attachments": {
            **attachments,
            "directory": attachments.get("directory") or directory_of(item),
            "files": [*files, file],
        },
    }


def without_file(item: Item, file: NamedFile) -> Item:
    """The item's `custom` without that file."""
    own = dict(custom(item))
    if file.is_older:
        older = own.get("fulltext")
        left = {} if not isinstance(older, dict) else older
        left = {kind: name for kind, name in left.items() if name != file.name}
        own.pop("fulltext", None)
        return {**own, "fulltext": left} if left else own
    attachments = own.get("attachments")
    if not isinstance(attachments, dict):
        return own
    files = [
        each
        for each in attachments.get("files", [])
        if not (isinstance(each, dict) and each.get("filename") == file.name)
    ]
    own.pop("attachments")
    return {**own, "attachments": {**attachments, "files": files}} if files else own


def media_type_of(name: str) -> str:
    if PurePosixPath(name).suffix.lower() in {".md", ".markdown"}:
        return "text/markdown"
    return mimetypes.guess_type(name)[0] or _BYTES


def clean_name(name: str) -> str:
    """A name that every system takes for a file, from whatever a caller calls it."""
    last = name.replace("\\", "/").rpartition("/")[2]
    kept = "".join(sign if sign.isalnum() or sign in "._- ()" else "_" for sign in last)
    kept = kept.strip(". ")
    stem, dot, suffix = kept.rpartition(".")
    if not dot:
        stem, suffix = kept, ""
    stem = stem[: _LONGEST_NAME - len(suffix)] if len(suffix) <= 20 else kept[:_LONGEST_NAME]
    cleaned = f"{stem}.{suffix}" if dot and len(suffix) <= 20 else stem
    if not cleaned.strip("._- "):
        raise FileNotUsableError("The file has no name", next_step="Give it one by name.")
    return cleaned


class Attachments:
    """Attaches, lists and detaches files of references; the caller holds the item."""

    def __init__(self, files: Files) -> None:
        self._files = files
        self._full_texts = FullTexts(files)

    def _files_of(self, library: Library) -> Files:
        return library.attached_files or self._files

    def locate(self, library: Library, place: str) -> Path | None:
        """The file at a place below the folder of attachments; None where it leads out of it."""
        return self._full_texts.locate(library, "", place)

    async def describe(self, library: Library, item: Item) -> list[AttachmentRow]:
        rows = []
        for named in list_named_files(item):
            path = self.locate(library, named.place)
            size = None if path is None else await self._files_of(library).size(path)
            rows.append(
                AttachmentRow(
                    name=named.name,
                    role=named.role,
                    label=named.label,
                    media_type=media_type_of(named.name),
                    size_bytes=size,
                    is_missing=size is None,
                )
            )
        return rows

    async def attach(
        self,
        library: Library,
        item: Item,
        source: Path | bytes,
        name: str,
        role: str | None,
        label: str,
    ) -> AttachmentRow:
        """Copy a file in and name it at the reference. Raises FullTextExistsError."""
        reference_id = text_of(item, "id")
        cleaned, chosen = _choose_name_and_role(item, clean_name(name), role)
        files = self._files_of(library)
        target = await self._full_texts.store(library, directory_of(item), cleaned, source)
        given = [chosen]

        def decide(present: Item) -> Change:
            # Somebody else may have attached a full text since this began.
            kinds = _full_text_kinds(present)
            if chosen == FULLTEXT and (kind := kind_of(target.name)) in kinds:
                if role == FULLTEXT:
                    raise FullTextExistsError(reference_id, str(kind))
                given[0] = SUPPLEMENT
            return Change({"custom": with_file(present, target.name, given[0], label)})

        try:
            changed = await library.change(reference_id, decide)
        except FullTextExistsError:
            await files.remove(target)
            raise
        if changed is None:
            await files.remove(target)
            raise AttachmentNotFoundError(reference_id, target.name)
        return AttachmentRow(
            name=target.name,
            role=given[0],
            label=label,
            media_type=media_type_of(target.name),
            size_bytes=await files.size(target),
        )

    async def copy_files(
        self, library: Library, kept: Item, other: Item
    ) -> tuple[Item, list[Path]]:
        """The kept item with copies of the other's files, and the copies; the same bytes once."""
        files = self._files_of(library)
        present = [self.locate(library, each.place) for each in list_named_files(kept)]
        known = {await files.digest(each) for each in present if each is not None}
        copies: list[Path] = []
        for named in list_named_files(other):
            source = self.locate(library, named.place)
            if source is None or await files.size(source) is None:
                continue
            digest = await files.digest(source)
            if digest in known:
                continue
            known.add(digest)
            role = named.role
            if role == FULLTEXT and kind_of(named.name) in _full_text_kinds(kept):
                role = SUPPLEMENT
            local = await files.local_path(source)
            target = await self._full_texts.store(library, directory_of(kept), named.name, local)
            copies.append(target)
            label = named.label or f"from {text_of(other, 'id')}"
            kept = {**kept, "custom": with_file(kept, target.name, role, label)}
        return kept, copies

    async def discard(self, library: Library, copies: Sequence[Path]) -> None:
        for path in copies:
            await self._files_of(library).remove(path)

    def _find(self, item: Item, name: str) -> NamedFile:
        found = next((each for each in list_named_files(item) if each.name == name), None)
        if found is None:
            raise AttachmentNotFoundError(text_of(item, "id"), name)
        return found

    async def detach(self, library: Library, item: Item, name: str) -> bool:
        """Take one file off; whether it was deleted, which only our own copies are."""
        named = self._find(item, name)
        await library.change(
            text_of(item, "id"), lambda present: Change({"custom": without_file(present, named)})
        )
        path = self.locate(library, named.place)
        if not named.is_ours or path is None or await self._files_of(library).size(path) is None:
            return False
        await self._files_of(library).remove(path)
        return True

    async def read(self, library: Library, item: Item, name: str) -> bytes:
        named = self._find(item, name)
        path = self.locate(library, named.place)
        if path is None or await self._files_of(library).size(path) is None:
            raise AttachmentNotFoundError(text_of(item, "id"), name, is_gone=True)
        try:
            return await self._files_of(library).read_bytes(path, MAX_FILE_BYTES)
        except OSError as error:
            raise FileNotUsableError(
                f"{name} cannot be read: {error.strerror or error}", next_step="Check the file."
            ) from error

    async def find_orphans(self, library: Library) -> tuple[list[OrphanFile], list[MissingFile]]:
        """Files that no reference names, and files that references name and that are gone."""
        there = dict(await self._files_of(library).list_files(library.folder))
        items = (await library.snapshot()).items
        named, unseen = await asyncio.to_thread(_split_named, items, there)
        root = self._files.resolved(library.folder)
        missing: list[MissingFile] = []
        for reference_id, file in unseen:
            path = self.locate(library, file.place)
            if path is None or await self._files_of(library).size(path) is None:
                missing.append(MissingFile(id=reference_id, name=file.name))
            else:
                named.add(path.relative_to(root).as_posix())
        orphans = [
            OrphanFile(file=place, size_bytes=size, media_type=media_type_of(place))
            for place, size in sorted(there.items())
            if place not in named
        ]
        return orphans, missing


def _split_named(
    items: Sequence[Item], there: Mapping[str, int]
) -> tuple[set[str], list[tuple[str, NamedFile]]]:
    """The places that are there as they are named, and the files that must be looked for."""
    named: set[str] = set()
    unseen: list[tuple[str, NamedFile]] = []
    for item in items:
        for file in list_named_files(item):
            if file.place in there:
                named.add(file.place)
            else:
                unseen.append((text_of(item, "id"), file))
    return named, unseen


def _full_text_kinds(item: Item) -> set[str | None]:
    return {kind_of(each.name) for each in list_named_files(item) if each.role == FULLTEXT}


def _choose_name_and_role(item: Item, name: str, role: str | None) -> tuple[str, str]:
    """The name and role of a new file; the first PDF or Markdown is the full text."""
    kind, kinds = kind_of(name), _full_text_kinds(item)
    if role is None:
        role = FULLTEXT if kind is not None and kind not in kinds else SUPPLEMENT
    if role != FULLTEXT:
        return name, role
    if kind is None:
        raise FileNotUsableError(
            "A full text must be a PDF or Markdown file",
            next_step="Attach it with another role, such as supplement.",
        )
    if kind in kinds:
        raise FullTextExistsError(text_of(item, "id"), kind)
    return (f"fulltext{'.pdf' if kind == 'pdf' else '.md'}", role)

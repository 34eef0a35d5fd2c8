"""Sorts what a person wants to add: identifiers, papers, lists of references, and notes.

Files are told by their content; in a vault of notes every Markdown file is a note.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from carrel.libraries.bibliography import identifier_of
from carrel.libraries.works.file_kinds import HEAD_BYTES, FileKind, is_paper_text, recognise_file

Target = Literal["papers", "references", "notes"]

_VAULT_MARK = ".obsidian"
_IGNORED_FOLDERS = frozenset({"__pycache__", "node_modules", "paper-static"})
# How much of a Markdown file is looked at to tell a paper from a note: papers have their
# references at the end.
_LOOKED_AT_BYTES = 1024 * 1024
_PAPERS = frozenset({FileKind.PDF, FileKind.JATS, FileKind.JSON_RECORDS})
_MARKDOWN = (".md", ".markdown")


@dataclass(frozen=True, slots=True)
class ThingLeftOut:
    """Something that was not added; `is_failure` where a person would expect that it is."""

    thing: str
    code: str
    reason: str
    is_failure: bool = True


@dataclass(slots=True)
class SortedThings:
    """What goes where; `named` are files and `folders` folders that the person named."""

    identifiers: list[str] = field(default_factory=list)
    papers: list[Path] = field(default_factory=list)
    references: list[Path] = field(default_factory=list)
    notes: dict[Path, list[str]] = field(default_factory=dict)
    left_out: list[ThingLeftOut] = field(default_factory=list)
    named: set[Path] = field(default_factory=set)
    folders: list[str] = field(default_factory=list)

    @property
    def folder_paths(self) -> list[Path]:
        return [Path(folder).expanduser().absolute() for folder in self.folders]

    @property
    def note_count(self) -> int:
        return sum(len(paths) for paths in self.notes.values())


def sort_things(things: Sequence[str], given_as: Target | None = None) -> SortedThings:
    """Where each thing belongs; with `given_as`, files go there whatever they look like."""
    sorter = _Sorter(given_as)
    for thing in things:
        sorter.add(thing)
    return sorter.sorted


def is_note(path: Path, folders: Sequence[Path]) -> bool:
    """Whether a file below one of the folders is a note, by the rule that sorts what is added."""
    if not _is_markdown(path):
        return False
    roots = [folder for folder in folders if path.is_relative_to(folder)]
    if any(
        (place / _VAULT_MARK).is_dir()
        for place in path.parents
        if any(place.is_relative_to(root) for root in roots)
    ):
        return True
    try:
        kind, head = _look_into(path)
    except OSError:
        # Whoever reads it says why it cannot be read.
        return False
    return kind is FileKind.MARKDOWN and not is_paper_text(head.decode("utf-8", "replace"))


def _look_into(path: Path) -> tuple[FileKind, bytes]:
    """The kind of a file, and as much of it as tells a paper from a note."""
    with path.open("rb") as file:
        head = file.read(HEAD_BYTES)
        kind = recognise_file(path.name, head)
        if kind is FileKind.MARKDOWN:
            head += file.read(_LOOKED_AT_BYTES - len(head))
    return kind, head


class _Sorter:
    """One walk over all things; each file is taken once."""

    def __init__(self, given_as: Target | None) -> None:
        self._given_as = given_as
        self._seen: set[Path] = set()
        self.sorted = SortedThings()

    def add(self, thing: str) -> None:
        path = Path(thing).expanduser()
        try:
            if path.is_dir():
                self.sorted.folders.append(thing)
                self._add_folder(path.absolute())
                return
            if path.is_file():
                self.sorted.named.add(path.absolute())
                self._add_file(path.absolute(), path.absolute().parent, is_named=True)
                return
            is_there = os.path.lexists(path)
        except (OSError, ValueError):
            is_there = False
        if is_there:
            self._leave(thing, "not_readable", "it is neither a file nor a folder that is there")
        elif identifier_of(thing) is not None:
            self.sorted.identifiers.append(thing)
        elif thing.lower().startswith(("http://", "https://")):
            self._leave(
                thing,
                "url_not_supported",
                "addresses of pages are not fetched yet; download the file and add that, or give "
                "its DOI",
            )
        else:
            self._leave(thing, "not_found", "there is no such file or folder, and no identifier")

    def _add_folder(self, root: Path) -> None:
        vaults = [root] if (root / _VAULT_MARK).is_dir() else []
        for folder, folders, names in os.walk(root, onerror=self._leave_unreadable):
            place = Path(folder)
            if place != root and (place / _VAULT_MARK).is_dir():
                vaults.append(place)
            for name in sorted(folders):
                if (place / name).is_symlink():
                    reason = "a link to a folder is not followed"
                    self._leave(str(place / name), "link", reason, is_failure=False)
            folders[:] = sorted(
                name
                for name in folders
                if not name.startswith(".") and name not in _IGNORED_FOLDERS
            )
            vault = next((each for each in vaults if place.is_relative_to(each)), None)
            for name in sorted(names):
                if not name.startswith("."):
                    self._add_file(place / name, vault or root, is_vault=vault is not None)
        self._follow_translations(root)

    def _add_file(
        self, path: Path, notes_root: Path, *, is_named: bool = False, is_vault: bool = False
    ) -> None:
        if path in self._seen:
            return
        self._seen.add(path)
        shown = os.fsencode(path).decode("utf-8", "replace")
        if shown != str(path):
            self._leave(shown, "not_readable", "its name is not valid UTF-8; rename it")
            return
        try:
            if not path.is_file():
                self._leave(shown, "not_found", "the link leads nowhere")
                return
            kind, head = _look_into(path)
        except OSError as error:
            self._leave(shown, "not_readable", f"cannot be opened: {error.strerror or error}")
            return
        self._place(path, kind, head, notes_root, is_named, is_vault)

    def _place(
        self,
        path: Path,
        kind: FileKind,
        head: bytes,
        notes_root: Path,
        is_named: bool,
        is_vault: bool,
    ) -> None:
        wanted = self._given_as
        if kind in _PAPERS and wanted in {None, "papers"}:
            self.sorted.papers.append(path)
        elif kind is FileKind.BIBLIOGRAPHY and wanted != "notes":
            self.sorted.references.append(path)
        elif kind is FileKind.MARKDOWN and wanted != "references":
            is_paper = not is_vault and is_paper_text(head.decode("utf-8", "replace"))
            if wanted == "papers" or (wanted is None and is_paper):
                self.sorted.papers.append(path)
            else:
                self._add_note(path, notes_root)
        elif kind is FileKind.TEXT and wanted == "notes" and _is_plain(path):
            self._add_note(path, notes_root)
        else:
            self._leave_unknown(path, kind, is_named)

    def _add_note(self, path: Path, root: Path) -> None:
        relative = path.relative_to(root).as_posix()
        self.sorted.notes.setdefault(root, []).append(relative)

    def _follow_translations(self, root: Path) -> None:
        """`paper.zh.md` goes where `paper.md` went."""
        papers = {path.with_suffix("") for path in self.sorted.papers if _is_markdown(path)}
        for place, notes in list(self.sorted.notes.items()):
            if not place.is_relative_to(root):
                continue
            moved = [
                name
                for name in notes
                if (place / name).with_suffix("").with_suffix("") in papers
                and (place / name).with_suffix("").suffix
            ]
            self.sorted.papers += [place / name for name in moved]
            notes[:] = [name for name in notes if name not in set(moved)]
            if not notes:
                del self.sorted.notes[place]

    def _leave_unknown(self, path: Path, kind: FileKind, is_named: bool) -> None:
        if kind is FileKind.EMPTY:
            # An empty PDF or note is a fault; an empty file of another kind is nobody's paper.
            is_expected = path.suffix.lower() in {".pdf", ".bib", ".ris", ".xml"}
            self._leave(str(path), "empty", "it is empty", is_failure=is_named or is_expected)
            return
        if path.suffix.lower() == ".pdf":
            self._leave(str(path), "not_a_pdf", f"it is no PDF but {_name_of(kind)}")
            return
        reason = f"{_name_of(kind)}, which is not read"
        if self._given_as is not None and kind not in {FileKind.UNKNOWN, FileKind.PICTURE}:
            reason = f"{_name_of(kind)} cannot be added as {self._given_as}"
        elif kind is FileKind.TEXT and _is_plain(path):
            reason = f"{reason} unless --as notes says that it is a note"
        self._leave(str(path), "unknown_kind", reason, is_failure=is_named)

    def _leave_unreadable(self, error: OSError) -> None:
        self._leave(
            str(error.filename or "?"), "not_readable", f"cannot be opened: {error.strerror}"
        )

    def _leave(self, thing: str, code: str, reason: str, *, is_failure: bool = True) -> None:
        self.sorted.left_out.append(ThingLeftOut(thing, code, reason, is_failure))


def _is_markdown(path: Path) -> bool:
    return path.suffix.lower() in _MARKDOWN


def _is_plain(path: Path) -> bool:
    return path.suffix.lower() == ".txt"


def _name_of(kind: FileKind) -> str:
    return {
        FileKind.ARCHIVE: "an archive or office document",
        FileKind.PICTURE: "a picture",
        FileKind.TEXT: "plain text",
        FileKind.TEX: "TeX source",
        FileKind.UNKNOWN: "a kind of file that nothing here reads",
    }.get(kind, f"a file of kind {kind.value}")


def count_endings(left_out: Sequence[ThingLeftOut]) -> Iterator[tuple[str, int]]:
    """The endings of what was left out as of no known kind, most frequent first."""
    counts: dict[str, int] = {}
    for one in left_out:
        if one.code == "unknown_kind":
            ending = Path(one.thing).suffix.lower() or "no ending"
            counts[ending] = counts.get(ending, 0) + 1
    yield from sorted(counts.items(), key=lambda pair: (-pair[1], pair[0]))

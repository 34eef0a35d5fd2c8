"""A folder of notes: reads files, writes them atomically, and records the last sync."""

from __future__ import annotations

import json
import os
import re
import tempfile
from collections.abc import Iterator, Mapping
from dataclasses import asdict
from pathlib import Path, PurePosixPath

from carrel.libraries.works.file_kinds import HEAD_BYTES, FileKind, recognise_file
from carrel.rooms.knowledge.folder_import import SyncState

_RECORD = ".carrel-notes.json"
_ENDINGS = {".md", ".markdown"}
_PLAIN = ".txt"
_UNSAFE = re.compile(r'[<>:"/\\|?*#^\[\]\x00-\x1f\x7f]+')
_RESERVED = re.compile(r"(?:con|prn|aux|nul|com\d|lpt\d)(?:\.|$)", re.IGNORECASE)
_NAME_BYTES = 180
_MOST_BYTES = 4 * 1024 * 1024


class MarkdownFolder:
    """One folder. Links that lead out of it are not followed, and hidden folders are left alone."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def paths(self) -> list[str]:
        """The notes below, by relative path with slashes, in a settled order."""
        return sorted(self._walk(self.folder))

    def read(self, path: str) -> str:
        """The text of a note; UnicodeDecodeError if it is not UTF-8, OSError if unreadable."""
        place = self._place(path)
        if place.stat().st_size > _MOST_BYTES:
            raise OSError(f"larger than {_MOST_BYTES // 1024 // 1024} MB")
        with place.open(encoding="utf-8", newline="") as file:
            return file.read().removeprefix("\ufeff")

    def exists(self, path: str) -> bool:
        return self._place(path).exists()

    def write(self, path: str, text: str) -> None:
        """Puts a file in place of an older one in a single step."""
        place = self._place(path)
        place.parent.mkdir(parents=True, exist_ok=True)
        descriptor, name = tempfile.mkstemp(dir=place.parent, prefix=".carrel-", suffix=".tmp")
        try:
            with os.fdopen(descriptor, "w", encoding="utf-8", newline="") as file:
                file.write(text)
            Path(name).chmod(0o644)
            Path(name).replace(place)
        except BaseException:
            Path(name).unlink(missing_ok=True)
            raise

    def read_record(self) -> dict[str, SyncState]:
        """The state of the last sync by path; empty before the first."""
        place = self.folder / _RECORD
        if not place.exists():
            return {}
        try:
            known = json.loads(place.read_text(encoding="utf-8"))
            return {str(path): SyncState(**facts) for path, facts in known["notes"].items()}
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            raise OSError(f"{_RECORD} is damaged ({error}); mend or delete it") from None

    def write_record(self, record: Mapping[str, SyncState]) -> None:
        rows = {path: asdict(recorded) for path, recorded in sorted(record.items())}
        self.write(
            _RECORD, json.dumps({"version": 1, "notes": rows}, ensure_ascii=False, indent=0) + "\n"
        )

    def file_name(self, title: str) -> str:
        return file_name(title)

    def _walk(self, folder: Path) -> Iterator[str]:
        with os.scandir(folder) as entries:
            for entry in entries:
                if entry.name.startswith(".") or entry.is_symlink():
                    continue
                if entry.is_dir():
                    yield from self._walk(Path(entry.path))
                elif _is_note(Path(entry.path)):
                    yield Path(entry.path).relative_to(self.folder).as_posix()

    def _place(self, path: str) -> Path:
        parts = PurePosixPath(path)
        place = self.folder.joinpath(*parts.parts)
        if (
            parts.is_absolute()
            or ".." in parts.parts
            or not place.resolve().is_relative_to(self.folder.resolve())
        ):
            raise OSError(f"{path} would leave the folder")
        return place


def _is_note(path: Path) -> bool:
    """Whether a file is Markdown, or plain text that is no bibliography."""
    ending = path.suffix.lower()
    if ending != _PLAIN:
        return ending in _ENDINGS
    try:
        with path.open("rb") as file:
            return recognise_file(path.name, file.read(HEAD_BYTES)) is FileKind.TEXT
    except OSError:
        # Whoever reads it says why it cannot be read.
        return True


def file_name(title: str) -> str:
    """A portable file name that [[links]] to the title resolve to, if possible."""
    plain = _UNSAFE.sub(" ", title)
    plain = " ".join(plain.split()).strip(". ") or "note"
    if _RESERVED.match(plain):
        plain = f"_{plain}"
    while len(plain.encode()) > _NAME_BYTES:
        plain = plain[:-1]
    return f"{plain.strip()}.md"

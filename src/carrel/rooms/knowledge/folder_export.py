"""Writing notes as Markdown files, without overwriting a file that was changed elsewhere."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import PurePosixPath

from carrel.core.errors import InvalidInputError
from carrel.rooms.knowledge.folder_import import (
    ImportReport,
    NoteFile,
    NoteFolder,
    SyncState,
    digest_of,
)
from carrel.rooms.knowledge.note_format import (
    EmptyNoteError,
    NoteTooLargeError,
    parse_note,
    refuse_too_large,
    write_note,
)
from carrel.rooms.knowledge.notes import Note


def read_note_files(
    folder: NoteFolder, paths: Sequence[str], report: ImportReport
) -> Iterator[NoteFile]:
    """The notes of these files; unreadable ones are reported as refused."""
    for path in paths:
        try:
            parsed = parse_note(folder.read(path), path)
            refuse_too_large(parsed)
        except (EmptyNoteError, NoteTooLargeError, OSError) as error:
            report.add(path, "refused", str(error))
        except UnicodeDecodeError:
            report.add(path, "refused", "not UTF-8 text")
        else:
            report.problems.extend((path, warning) for warning in parsed.warnings)
            yield parsed


def read_sync_states(folder: NoteFolder) -> Mapping[str, SyncState]:
    """The state of each file at the last sync; InvalidInputError if unreadable."""
    try:
        return folder.read_record()
    except OSError as error:
        raise InvalidInputError(str(error), next_step="Nothing was changed.") from None


class FolderExporter:
    """Writes notes into one folder, each to the file it came from or to a free name."""

    def __init__(self, folder: NoteFolder) -> None:
        self._folder = folder
        self._synced = read_sync_states(folder)
        self._paths = {known.id: path for path, known in self._synced.items()}
        self._used = {path.casefold() for path in self._paths.values()}
        self._present = {path.casefold() for path in folder.paths()}
        self.report = ImportReport()

    def write(self, note: Note) -> None:
        """Write one note, and report the outcome."""
        path = self._paths.get(note.id) or self._free_path(note)
        self._used.add(path.casefold())
        digest = digest_of(note.title, note.content, note.tags)
        text = _format(note, path, digest)
        state = SyncState(note.id, parse_note(text, path).digest, digest)
        if not self._folder.exists(path):
            self._folder.write(path, text)
            self.report.add(path, "new")
        elif self._folder.read(path) == text:
            self.report.add(path, "unchanged")
        elif not self._may_overwrite(note, path, digest):
            return
        else:
            self._folder.write(path, text)
            self.report.add(path, "changed")
        self.report.synced[path] = state

    def remember(self) -> None:
        """Writes down the state of every file, for the next import or export."""
        self._folder.write_record({**self._synced, **self.report.synced})

    def _may_overwrite(self, note: Note, path: str, digest: str) -> bool:
        last = self._synced.get(path)
        parsed = next(read_note_files(self._folder, [path], ImportReport()), None)
        before = last.file_digest if last else note.origin.digest if note.origin else ""
        if parsed is None or parsed.digest != before:
            problem = "the file was changed since; it was not overwritten"
            self.report.add(path, "conflict", problem)
            return False
        if last is not None and last.note_digest == digest:
            self.report.add(path, "unchanged")
            return False
        return True

    def _free_path(self, note: Note) -> str:
        """Its original path below the folder, so that links still work, or one from its title."""
        origin = note.origin.path.partition("/")[2] if note.origin is not None else ""
        if origin and origin.casefold() not in self._used:
            return origin
        name = PurePosixPath(self._folder.file_name(note.title))
        path, number = str(name), 2
        while path.casefold() in self._used | self._present:
            path, number = f"{name.stem} ({number}).md", number + 1
        return path


def _format(note: Note, path: str, digest: str) -> str:
    origin = note.origin
    if origin is not None and origin.digest == digest:
        # Nobody changed it, so the file is the one that came in, byte for byte.
        return origin.front_matter + (note.content if origin.content_from == "body" else "")
    front_matter = origin.front_matter if origin else ""
    return write_note(note.title, note.content, note.tags, path, front_matter)

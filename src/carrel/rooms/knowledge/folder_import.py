"""Imports and exports a folder of notes: new files, changes on either side, conflicts."""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import AsyncIterator, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import timedelta
from typing import Literal, Protocol

from carrel.core.caller import Caller
from carrel.core.clock import Clock
from carrel.core.errors import ConflictError, InsufficientPermissionsError
from carrel.libraries.text.tokenizer import case_key
from carrel.rooms.knowledge.models import MAX_CONTENT_CHARACTERS
from carrel.rooms.knowledge.notes import Insert, Mine, Note, Origin, Replace, Shelf, Source, Team
from carrel.rooms.knowledge.ports import NoteStore
from carrel.rooms.knowledge.service import PROMOTE

Outcome = Literal["new", "changed", "shared", "unchanged", "kept", "conflict", "refused"]
_TICK = timedelta(microseconds=1)


@dataclass(frozen=True, slots=True)
class NoteFile:
    """A note as a file has it."""

    path: str
    title: str
    content: str
    tags: tuple[str, ...]
    front_matter: str = ""
    content_from: str = "body"
    warnings: tuple[str, ...] = ()

    @property
    def digest(self) -> str:
        return digest_of(self.title, self.content, self.tags)


@dataclass(frozen=True, slots=True)
class ImportSource:
    """The folder of imported notes; without a key it is known by its name alone."""

    name: str
    key: str = ""

    @property
    def identity(self) -> str:
        return f"{self.key}\x00" if self.key else f"{self.name}/"

    def note_id(self, user_id: str, path: str) -> str:
        """The stable id of a person's note from this file, so that a second import finds it."""
        return hashlib.sha256(f"{user_id}\x00{self.identity}{path}".encode()).hexdigest()[:20]


@dataclass(frozen=True, slots=True)
class SyncState:
    """Digests of a file and its note when they were last the same."""

    id: str
    file_digest: str
    note_digest: str


class NoteFolder(Protocol):
    """A folder of Markdown files. Paths are relative, with slashes; every method raises OSError."""

    def paths(self) -> list[str]: ...

    def read(self, path: str) -> str:
        """The text of a file; UnicodeDecodeError if it is not UTF-8."""
        ...

    def exists(self, path: str) -> bool: ...

    def write(self, path: str, text: str) -> None:
        """Replaces the file in one step."""
        ...

    def file_name(self, title: str) -> str:
        """A name that every system can store."""
        ...

    def read_record(self) -> Mapping[str, SyncState]: ...

    def write_record(self, record: Mapping[str, SyncState]) -> None: ...


@dataclass(slots=True)
class ImportReport:
    """The outcome of every file, and what a person should look at.

    `of_team` counts the files of an import of one's own whose notes are the team's, and stay so.
    """

    counts: Counter[str] = field(default_factory=Counter)
    of_team: int = 0
    problems: list[tuple[str, str]] = field(default_factory=list)
    synced: dict[str, SyncState] = field(default_factory=dict)

    def add(self, path: str, outcome: Outcome, problem: str = "") -> None:
        self.counts[outcome] += 1
        if problem:
            self.problems.append((path, problem))


@dataclass(frozen=True, slots=True)
class _FileChange:
    """What is to be written for a file, and what is said when it is."""

    file: NoteFile
    change: Insert | Replace
    outcome: Outcome


class FolderImporter:
    """Imports notes from files for one caller."""

    def __init__(self, store: NoteStore, clock: Clock) -> None:
        self._store = store
        self._clock = clock

    async def import_files(
        self,
        files: Sequence[NoteFile],
        folder: ImportSource,
        caller: Caller,
        source: Source,
        synced: Mapping[str, SyncState],
        report: ImportReport,
    ) -> None:
        """Save a batch of files in one step, or one by one if one of them conflicts."""
        if source == "team" and PROMOTE not in caller.scopes:
            raise InsufficientPermissionsError(frozenset({PROMOTE}), caller.scopes)
        changes: list[_FileChange] = []
        for file in files:
            change = await self._decide_change(
                file, folder, caller, source, synced.get(file.path), report
            )
            if change is not None:
                changes.append(change)
        try:
            await self._store.write([each.change for each in changes])
        except ConflictError:
            for each in changes:
                await self._write_alone(each, report)
        else:
            for each in changes:
                _record_outcome(each, report)

    async def _decide_change(
        self,
        file: NoteFile,
        folder: ImportSource,
        caller: Caller,
        source: Source,
        last: SyncState | None,
        report: ImportReport,
    ) -> _FileChange | None:
        if len(file.content) > MAX_CONTENT_CHARACTERS:
            report.add(file.path, "refused", f"longer than {MAX_CONTENT_CHARACTERS} characters")
            return None
        if not _is_storable(file):
            report.add(file.path, "refused", "contains characters that are no text")
            return None
        origin = Origin(
            f"{folder.name}/{file.path}", file.digest, file.front_matter, file.content_from
        )
        note_id = folder.note_id(caller.user_id, file.path)
        note = await self._find_note(note_id, caller, last)
        if note is None:
            now = self._clock.now()
            status: Literal["draft", "promoted"] = "promoted" if source == "team" else "draft"
            new = Note(
                note_id,
                file.title,
                file.content,
                caller.user_id,
                source,
                status,
                file.tags,
                now,
                now,
                origin=origin,
            )
            return _FileChange(file, Insert(new, caller.user_id, "imported"), "new")
        mine = digest_of(note.title, note.content, note.tags)
        file_before, note_before = _last_synced(note, last)
        report.synced[file.path] = SyncState(note.id, file_before, note_before)
        is_file_changed, is_note_changed = file.digest != file_before, mine != note_before
        # An original whose copy the team has already is brought up to date by promoting it again.
        to_share = source == "team" and note.source == "personal" and note.promoted_to_id is None
        report.of_team += source == "personal" and note.source == "team"
        if to_share and not is_file_changed:
            shared = replace(note, source="team", status="promoted")
            return _FileChange(file, self._replace(shared, note, caller), "shared")
        if file.digest == mine or not (is_file_changed or is_note_changed):
            report.add(file.path, "unchanged")
            report.synced[file.path] = SyncState(note.id, file.digest, mine)
        elif not is_file_changed:
            report.add(file.path, "kept")
        elif is_note_changed:
            report.add(
                file.path,
                "conflict",
                "changed both in the file and in Carrel; neither was overwritten",
            )
        else:
            whose: Source = "team" if to_share else note.source
            status = "promoted" if whose == "team" else "draft"
            changed = replace(
                note,
                title=file.title,
                content=file.content,
                tags=file.tags,
                source=whose,
                status=status,
                origin=origin,
            )
            outcome: Outcome = "shared" if to_share else "changed"
            return _FileChange(file, self._replace(changed, note, caller), outcome)
        return None

    def _replace(self, changed: Note, note: Note, caller: Caller) -> Replace:
        later = max(self._clock.now(), note.updated_at + _TICK)
        return Replace(
            replace(changed, updated_at=later), note.updated_at, caller.user_id, "imported"
        )

    async def _find_note(self, note_id: str, caller: Caller, last: SyncState | None) -> Note | None:
        for one in [note_id] if last is None else [last.id, note_id]:
            note = await self._store.find(one)
            if note is not None and (
                note.user_id == caller.user_id
                or (note.source == "team" and PROMOTE in caller.scopes)
            ):
                return note
        return None

    async def _write_alone(self, change: _FileChange, report: ImportReport) -> None:
        try:
            await self._store.write([change.change])
        except ConflictError as error:
            report.add(change.file.path, "conflict", error.message)
        else:
            _record_outcome(change, report)

    def notes_to_export(self, caller: Caller, source: Source) -> AsyncIterator[Note]:
        """The notes to export: the caller's own, or the team's."""
        shelf: Shelf = Team() if source == "team" else Mine(caller.user_id)
        return self._store.everything(shelf)


def digest_of(title: str, content: str, tags: Iterable[str]) -> str:
    """A digest that is equal for notes that look the same to a reader."""
    text = json.dumps([title, content, sorted(case_key(tag) for tag in tags)], ensure_ascii=False)
    return hashlib.sha256(text.encode()).hexdigest()


def _is_storable(file: NoteFile) -> bool:
    """Front matter may spell out what UTF-8 cannot hold: half of a surrogate pair, or U+0000."""
    text = "\n".join((file.path, file.title, file.content, file.front_matter, *file.tags))
    return "\x00" not in text and not any("\ud800" <= char <= "\udfff" for char in text)


def _last_synced(note: Note, last: SyncState | None) -> tuple[str, str]:
    if last is not None and last.id == note.id:
        return last.file_digest, last.note_digest
    if note.origin is not None:
        return note.origin.digest, note.origin.digest
    return "", ""


def _record_outcome(change: _FileChange, report: ImportReport) -> None:
    file, note = change.file, change.change.note
    report.add(file.path, change.outcome)
    report.synced[file.path] = SyncState(
        note.id, file.digest, digest_of(note.title, note.content, note.tags)
    )

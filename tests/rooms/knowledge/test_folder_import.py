"""Whose notes an import may change: one's own, and the team's for those who may promote."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest

from carrel.core.clock import SystemClock
from carrel.core.errors import InsufficientPermissionsError
from carrel.rooms.knowledge.folder_import import (
    FolderImporter,
    ImportReport,
    ImportSource,
    NoteFile,
    SyncState,
)
from carrel.rooms.knowledge.notes import Insert, Note
from carrel.rooms.knowledge.ports import NoteStore
from carrel.stores.sqlite.knowledge import sqlite_knowledge
from tests.rooms.knowledge.desk import ADA, BOB, CHIEF
from tests.stores.contracts.knowledge import a_note

FOLDER = ImportSource("vault")
CHANGED = NoteFile("a.md", "Ada's", "changed in the file", ())


def with_store(folder: Path, work: Callable[[NoteStore], Awaitable[None]]) -> None:
    async def run() -> None:
        stores = sqlite_knowledge(folder / "knowledge.sqlite")
        try:
            await work(stores.notes)
        finally:
            await stores.notes.close()

    asyncio.run(run())


def recorded(note: Note) -> dict[str, SyncState]:
    """A record in the folder that names the note, as it was when file and note were the same."""
    before = NoteFile("a.md", note.title, note.content, note.tags).digest
    return {"a.md": SyncState(note.id, before, before)}


def test_a_record_that_names_somebody_elses_note_does_not_reach_it(tmp_path: Path) -> None:
    async def work(store: NoteStore) -> None:
        ada = a_note(1, "Ada's", "hers alone")
        await store.write([Insert(ada, "ada")])
        report = ImportReport()
        importer = FolderImporter(store, SystemClock())
        await importer.import_files([CHANGED], FOLDER, BOB, "personal", recorded(ada), report)
        assert report.counts == {"new": 1}
        assert await store.find(ada.id) == ada
        imported = await store.find(FOLDER.note_id("bob", "a.md"))
        assert imported is not None and imported.user_id == "bob"

    with_store(tmp_path, work)


def test_a_record_that_names_ones_own_note_changes_that_note(tmp_path: Path) -> None:
    async def work(store: NoteStore) -> None:
        ada = a_note(1, "Ada's", "hers alone")
        await store.write([Insert(ada, "ada")])
        report = ImportReport()
        importer = FolderImporter(store, SystemClock())
        await importer.import_files([CHANGED], FOLDER, ADA, "personal", recorded(ada), report)
        assert report.counts == {"changed": 1}
        found = await store.find(ada.id)
        assert found is not None and found.content == CHANGED.content
        assert await store.find(FOLDER.note_id("ada", "a.md")) is None

    with_store(tmp_path, work)


def test_a_team_note_is_changed_only_by_those_who_may_promote(tmp_path: Path) -> None:
    async def work(store: NoteStore) -> None:
        team = a_note(1, "Ada's", "everybody's", source="team", status="promoted")
        await store.write([Insert(team, "ada")])
        importer = FolderImporter(store, SystemClock())
        with pytest.raises(InsufficientPermissionsError):
            await importer.import_files(
                [CHANGED], FOLDER, BOB, "team", recorded(team), ImportReport()
            )
        await importer.import_files(
            [CHANGED], FOLDER, BOB, "personal", recorded(team), ImportReport()
        )
        assert await store.find(team.id) == team
        await importer.import_files(
            [CHANGED], FOLDER, CHIEF, "team", recorded(team), ImportReport()
        )
        found = await store.find(team.id)
        assert found is not None and found.content == CHANGED.content

    with_store(tmp_path, work)

"""Whose notes an import may change: one's own, and the team's for those who may promote."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest

from carrel.core.caller import Caller
from carrel.core.clock import SystemClock
from carrel.core.errors import InsufficientPermissionsError
from carrel.rooms.knowledge.folder_import import (
    FolderImporter,
    ImportReport,
    ImportSource,
    NoteFile,
    SyncState,
)
from carrel.rooms.knowledge.models import MAX_CONTENT_CHARACTERS
from carrel.rooms.knowledge.notes import Insert, Note, Replace, Source
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


async def brought(
    store: NoteStore,
    files: list[NoteFile],
    who: Caller = ADA,
    source: Source = "personal",
    synced: dict[str, SyncState] | None = None,
) -> ImportReport:
    report = ImportReport()
    importer = FolderImporter(store, SystemClock())
    await importer.import_files(files, FOLDER, who, source, synced or {}, report)
    return report


async def imported_note(store: NoteStore, user_id: str = "ada", path: str = "a.md") -> Note:
    note = await store.find(FOLDER.note_id(user_id, path))
    assert note is not None
    return note


A = NoteFile("a.md", "A", "one", ("t",))


def test_the_most_that_a_note_holds_is_imported_and_one_character_more_is_not(
    tmp_path: Path,
) -> None:
    async def work(store: NoteStore) -> None:
        most = replace(A, content="x" * MAX_CONTENT_CHARACTERS)
        more = replace(A, path="b.md", content="x" * (MAX_CONTENT_CHARACTERS + 1))
        report = await brought(store, [most, more])
        assert report.counts == {"new": 1, "refused": 1}
        assert report.problems == [("b.md", "longer than 200000 characters")]
        assert list(report.synced) == ["a.md"]
        assert len((await imported_note(store)).content) == MAX_CONTENT_CHARACTERS

    with_store(tmp_path, work)


@pytest.mark.parametrize("char", ["\x00", "\ud800", "\udabc", "\udfff"])
@pytest.mark.parametrize("where", ["path", "title", "content", "front_matter", "tags"])
def test_a_file_with_a_character_that_is_no_text_is_refused_wherever_it_stands(
    tmp_path: Path, char: str, where: str
) -> None:
    bad = replace(A, **{where: (char,) if where == "tags" else f"x{char}y"})  # type: ignore[arg-type]

    async def work(store: NoteStore) -> None:
        report = await brought(store, [bad, replace(A, path="b.md", content="\ud7ff\ue000")])
        assert report.counts == {"new": 1, "refused": 1}
        assert report.problems == [(bad.path, "contains characters that are no text")]

    with_store(tmp_path, work)


def test_a_new_note_is_a_draft_of_its_owner_or_the_teams(tmp_path: Path) -> None:
    async def work(store: NoteStore) -> None:
        assert (await brought(store, [A])).counts == {"new": 1}
        own = await imported_note(store)
        assert (own.source, own.status, own.user_id) == ("personal", "draft", "ada")
        assert own.origin is not None
        assert (own.origin.path, own.origin.digest) == ("vault/a.md", A.digest)
        assert (await brought(store, [A], CHIEF, "team")).counts == {"new": 1}
        team = await imported_note(store, "chief")
        assert (team.source, team.status) == ("team", "promoted")
        (version,) = await store.history(team.id, 10)
        assert (version.kind, version.by) == ("imported", "chief")

    with_store(tmp_path, work)


def test_an_import_says_of_every_file_which_side_changed(tmp_path: Path) -> None:
    async def work(store: NoteStore) -> None:
        await brought(store, [A])
        first = await imported_note(store)
        same = await brought(store, [A])
        assert same.counts == {"unchanged": 1} and same.problems == []
        assert same.synced == {"a.md": SyncState(first.id, A.digest, A.digest)}
        assert await imported_note(store) == first

        changed = replace(A, content="two")
        report = await brought(store, [changed])
        assert report.counts == {"changed": 1}
        assert report.synced == {"a.md": SyncState(first.id, changed.digest, changed.digest)}
        second = await imported_note(store)
        assert second.updated_at > first.updated_at and second.content == "two"
        assert second.origin is not None and second.origin.digest == changed.digest

        edited = replace(second, content="mine", updated_at=second.updated_at + timedelta(1))
        await store.write([Replace(edited, second.updated_at, "ada")])
        kept = await brought(store, [changed])
        assert kept.counts == {"kept": 1} and kept.problems == []
        assert kept.synced == {"a.md": SyncState(first.id, changed.digest, changed.digest)}
        conflict = await brought(store, [replace(A, content="three")])
        assert conflict.counts == {"conflict": 1}
        assert conflict.synced == kept.synced
        assert "neither was overwritten" in conflict.problems[0][1]
        assert await imported_note(store) == edited
        # Both sides came to say the same by themselves.
        agreed = await brought(store, [replace(A, content="mine")])
        assert agreed.counts == {"unchanged": 1}
        mine = replace(A, content="mine").digest
        assert agreed.synced == {"a.md": SyncState(first.id, mine, mine)}

    with_store(tmp_path, work)


def test_a_changed_file_makes_a_proposal_a_draft_again_and_leaves_a_team_note_the_teams(
    tmp_path: Path,
) -> None:
    async def work(store: NoteStore) -> None:
        await brought(store, [A])
        note = await imported_note(store)
        proposed = replace(note, status="proposed", updated_at=note.updated_at + timedelta(1))
        await store.write([Replace(proposed, note.updated_at, "ada")])
        assert (await brought(store, [replace(A, content="two")])).counts == {"changed": 1}
        own = await imported_note(store)
        assert (own.source, own.status) == ("personal", "draft")

        await brought(store, [A], CHIEF, "team")
        report = await brought(store, [replace(A, content="two")], CHIEF, "personal")
        assert report.counts == {"changed": 1}
        team = await imported_note(store, "chief")
        assert (team.source, team.status, team.content) == ("team", "promoted", "two")

    with_store(tmp_path, work)


def test_importing_for_the_team_shares_ones_own_notes_once(tmp_path: Path) -> None:
    async def work(store: NoteStore) -> None:
        files = [A, replace(A, path="b.md"), replace(A, path="c.md"), replace(A, path="d.md")]
        await brought(store, files, CHIEF)
        shared_before = await imported_note(store, "chief", "c.md")
        copied = replace(
            shared_before,
            status="promoted",
            promoted_to_id="copy",
            updated_at=shared_before.updated_at + timedelta(1),
        )
        await store.write([Replace(copied, shared_before.updated_at, "chief")])
        before = await imported_note(store, "chief", "d.md")
        edited = replace(before, content="mine", updated_at=before.updated_at + timedelta(1))
        await store.write([Replace(edited, before.updated_at, "chief")])
        files[1] = replace(files[1], content="two")
        files[3] = replace(files[3], content="three")
        report = await brought(store, files, CHIEF, "team")
        assert report.counts == {"shared": 2, "unchanged": 1, "conflict": 1}
        for path, content in (("a.md", "one"), ("b.md", "two")):
            note = await imported_note(store, "chief", path)
            assert (note.source, note.status, note.content) == ("team", "promoted", content)
        assert await imported_note(store, "chief", "c.md") == copied
        assert await imported_note(store, "chief", "d.md") == edited
        again = await brought(store, files[:3], CHIEF, "team")
        assert again.counts == {"unchanged": 3}

    with_store(tmp_path, work)


def test_one_note_in_the_way_is_a_conflict_and_the_other_files_are_saved(tmp_path: Path) -> None:
    async def work(store: NoteStore) -> None:
        in_the_way = replace(a_note(1, "Ada's"), id=FOLDER.note_id("bob", "a.md"))
        await store.write([Insert(in_the_way, "ada")])
        report = await brought(store, [A, replace(A, path="b.md")], BOB)
        assert report.counts == {"conflict": 1, "new": 1}
        assert [path for path, _ in report.problems] == ["a.md"]
        assert "exists already" in report.problems[0][1]
        assert list(report.synced) == ["b.md"]
        assert await store.find(in_the_way.id) == in_the_way

    with_store(tmp_path, work)


def test_a_record_of_a_note_that_is_gone_is_not_trusted_over_what_the_note_itself_says(
    tmp_path: Path,
) -> None:
    async def work(store: NoteStore) -> None:
        await brought(store, [A])
        stale = {"a.md": SyncState("gone", "another", "another")}
        report = await brought(store, [replace(A, content="two")], synced=stale)
        assert report.counts == {"changed": 1}
        unknown = replace(a_note(1, "A", "own"), id=FOLDER.note_id("bob", "a.md"), user_id="bob")
        await store.write([Insert(unknown, "bob")])
        assert (await brought(store, [A], BOB)).counts == {"conflict": 1}
        assert await store.find(unknown.id) == unknown

    with_store(tmp_path, work)


def test_an_export_holds_ones_own_notes_or_the_teams(tmp_path: Path) -> None:
    async def work(store: NoteStore) -> None:
        team = a_note(2, "T", user="bob", source="team", status="promoted")
        await store.write(
            [
                Insert(a_note(1, "A"), "ada"),
                Insert(team, "bob"),
                Insert(a_note(3, "B", user="bob"), "bob"),
            ]
        )
        importer = FolderImporter(store, SystemClock())
        assert [note.title async for note in importer.notes_to_export(ADA, "personal")] == ["A"]
        assert [note.title async for note in importer.notes_to_export(ADA, "team")] == ["T"]

    with_store(tmp_path, work)

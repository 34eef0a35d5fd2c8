"""Which source an imported folder is: the same one again, or kept apart from its namesakes."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import pytest

from carrel.core.errors import InvalidInputError
from carrel.rooms.knowledge.folder_import import ImportSource, NoteFile
from carrel.rooms.knowledge.import_sources import (
    FILES_COMPARED,
    AskedFolder,
    FolderAmbiguousError,
    FolderResolver,
    KnownFolder,
)
from carrel.rooms.knowledge.notes import Insert, Origin
from carrel.stores.sqlite.knowledge import sqlite_knowledge
from tests.stores.contracts.knowledge import a_note

HERE, THERE = Path("/here/vault"), Path("/there/vault")


class Folders:
    """Known folders in memory; `present` are those that are still where they were."""

    def __init__(self, *rows: KnownFolder, present: tuple[Path, ...] = ()) -> None:
        self.rows = list(rows)
        self.present = {str(place) for place in present}
        self.replaced = 0

    @contextmanager
    def hold(self) -> Iterator[None]:
        yield

    def all(self) -> list[KnownFolder]:
        return list(self.rows)

    def replace(self, known: Iterable[KnownFolder]) -> None:
        self.rows = list(known)
        self.replaced += 1

    def is_there(self, known: KnownFolder) -> bool:
        return known.folder in self.present


def a_file(number: int, content: str = "text") -> NoteFile:
    return NoteFile(f"{number}.md", str(number), content, ())


def resolving(
    home: Path,
    folders: Folders,
    work: Callable[[Callable[..., Awaitable[ImportSource]]], Awaitable[None]],
    *,
    imported: Iterable[tuple[ImportSource, str, NoteFile]] = (),
    with_origin: bool = True,
) -> None:
    """Hands over a way to ask for the source of a folder, in a store that has these notes."""

    async def run() -> None:
        stores = sqlite_knowledge(home / "knowledge.sqlite")
        try:
            for number, (source, user_id, file) in enumerate(imported):
                origin = Origin(f"{source.name}/{file.path}", file.digest, "", "body")
                note = a_note(number, file.title, file.content, user=user_id)
                note = replace(
                    note,
                    id=source.note_id(user_id, file.path),
                    origin=origin if with_origin else None,
                )
                await stores.notes.write([Insert(note, user_id)])
            resolver = FolderResolver(folders, stores.notes)

            async def ask(
                folder: Path, *files: NoteFile, user_id: str = "ada", **said: object
            ) -> ImportSource:
                asked = AskedFolder(folder, user_id, **said)  # type: ignore[arg-type]
                return await resolver.resolve(asked, files)

            await work(ask)
        finally:
            await stores.notes.close()

    asyncio.run(run())


def test_a_new_folder_gets_a_key_of_its_place_and_is_remembered_once(tmp_path: Path) -> None:
    folders = Folders()

    async def work(ask: Callable[..., Awaitable[ImportSource]]) -> None:
        source = await ask(HERE)
        assert source.name == "vault" and source.key.startswith("folder-")
        assert folders.rows == [KnownFolder("ada", str(HERE), source)]
        assert await ask(HERE) == source
        assert folders.replaced == 1, "what is known already is not written again"
        other = await ask(THERE)
        assert other.name == "vault" and other.identity != source.identity
        theirs = await ask(HERE, user_id="bob")
        assert theirs == source, "the key is of the place; ids hold the person"
        assert len(folders.rows) == 3

    resolving(tmp_path, folders, work)


@pytest.mark.parametrize(("same", "is_recognised"), [(2, True), (1, False)])
def test_a_folder_that_left_its_place_is_recognised_by_half_of_its_texts(
    tmp_path: Path, same: int, is_recognised: bool
) -> None:
    source = ImportSource("vault", "folder-1")
    files = [a_file(number) for number in range(4)]
    now = [file if file.path < f"{same}" else replace(file, content="new") for file in files]

    async def work(ask: Callable[..., Awaitable[ImportSource]]) -> None:
        found = await ask(THERE, *now, a_file(99))
        assert (found == source) is is_recognised
        places = {row.folder for row in folders.rows}
        assert places == {str(THERE)} if is_recognised else {str(THERE), str(HERE)}

    folders = Folders(KnownFolder("ada", str(HERE), source))
    resolving(tmp_path, folders, work, imported=[(source, "ada", file) for file in files])


@pytest.mark.parametrize("why_not", ["still there", "another name", "another person", "no text"])
def test_a_folder_is_not_taken_for_another_that_is_still_there_or_not_its_namesake(
    tmp_path: Path, why_not: str
) -> None:
    source = ImportSource("vault", "folder-1")
    place = Path("/here/other") if why_not == "another name" else HERE
    user_id = "bob" if why_not == "another person" else "ada"
    folders = Folders(
        KnownFolder(user_id, str(place), source),
        present=(HERE,) if why_not == "still there" else (),
    )
    files = [] if why_not == "no text" else [a_file(1)]

    async def work(ask: Callable[..., Awaitable[ImportSource]]) -> None:
        assert await ask(THERE, *files) != source
        assert len(folders.rows) == 2

    resolving(tmp_path, folders, work, imported=[(source, "ada", a_file(1))])


@pytest.mark.parametrize(("same", "is_recognised"), [(2, True), (1, False)])
def test_notes_of_a_version_without_memory_are_taken_up_when_half_are_the_same(
    tmp_path: Path, same: int, is_recognised: bool
) -> None:
    by_name = ImportSource("vault")
    files = [a_file(number) for number in range(4)]
    now = [file if file.path < f"{same}" else replace(file, content="new") for file in files]
    folders = Folders(present=(HERE,))

    async def work(ask: Callable[..., Awaitable[ImportSource]]) -> None:
        if is_recognised:
            assert await ask(HERE, *now) == by_name
            # Somebody has these notes now, so a namesake is another folder.
            assert (await ask(THERE, *now)).key
            return
        with pytest.raises(FolderAmbiguousError) as refused:
            await ask(HERE, *now)
        facts = {"folder": str(HERE), "same_name": 4, "same_text": 1}
        assert refused.value.details == facts and folders.rows == []
        assert await ask(HERE, *now, name="vault") == by_name

    resolving(tmp_path, folders, work, imported=[(by_name, "ada", file) for file in files])


def test_a_note_that_never_was_a_file_is_no_sign_of_an_earlier_import(tmp_path: Path) -> None:
    by_name = ImportSource("vault")

    async def work(ask: Callable[..., Awaitable[ImportSource]]) -> None:
        assert (await ask(HERE, a_file(1, "other"))).key

    imported = [(by_name, "ada", a_file(1))]
    resolving(tmp_path, Folders(), work, imported=imported, with_origin=False)


def test_only_the_first_files_are_compared(tmp_path: Path) -> None:
    by_name = ImportSource("vault")

    async def work(ask: Callable[..., Awaitable[ImportSource]]) -> None:
        many = [a_file(number, "other") for number in range(1, FILES_COMPARED + 1)]
        assert (await ask(HERE, *many, a_file(9999, "other"))).key

    resolving(tmp_path, Folders(), work, imported=[(by_name, "ada", a_file(9999))])


def test_a_place_whose_key_another_folder_took_along_gets_a_new_key(tmp_path: Path) -> None:
    folders = Folders()

    async def work(ask: Callable[..., Awaitable[ImportSource]]) -> None:
        source = await ask(HERE)
        moved = await ask(THERE, moved_from=HERE)
        assert moved == source and [row.folder for row in folders.rows] == [str(THERE)]
        again = await ask(HERE)
        assert again.identity != source.identity and again.key.startswith("folder-")

    resolving(tmp_path, folders, work)


def test_a_moved_folder_keeps_its_notes_and_takes_its_new_name(tmp_path: Path) -> None:
    keyed, named = ImportSource("vault", "folder-1"), ImportSource("mine")
    renamed = Path("/there/renamed")
    folders = Folders(
        KnownFolder("ada", str(HERE), keyed),
        KnownFolder("ada", "/here/mine", named),
        KnownFolder("bob", "/here/bobs", ImportSource("bobs")),
    )

    async def work(ask: Callable[..., Awaitable[ImportSource]]) -> None:
        moved = await ask(renamed, moved_from=HERE)
        assert moved == ImportSource("renamed", "folder-1")
        assert await ask(THERE, moved_from=Path("/here/mine")) == named
        with pytest.raises(InvalidInputError) as refused:
            await ask(HERE, moved_from=Path("/here/bobs"))
        step = refused.value.next_step or ""
        assert str(renamed) in step and str(THERE) in step and "bobs" not in step
        with pytest.raises(InvalidInputError) as nothing:
            await ask(HERE, user_id="carol", moved_from=Path("/here/bobs"))
        assert "none yet" in (nothing.value.next_step or "")
        with pytest.raises(FolderAmbiguousError, match="was imported before, as mine"):
            await ask(THERE, moved_from=renamed)
        assert await ask(THERE, moved_from=THERE) == named

    resolving(tmp_path, folders, work)


def test_a_name_is_one_folders_as_long_as_that_is_there(tmp_path: Path) -> None:
    named = ImportSource("mine")
    folders = Folders(
        KnownFolder("ada", str(HERE), named),
        KnownFolder("bob", "/here/bobs", ImportSource("theirs")),
        present=(HERE, Path("/here/bobs")),
    )

    async def work(ask: Callable[..., Awaitable[ImportSource]]) -> None:
        with pytest.raises(FolderAmbiguousError, match="mine is the name of /here/vault"):
            await ask(THERE, name="mine")
        assert await ask(HERE, name="mine") == named
        assert folders.replaced == 0
        with pytest.raises(FolderAmbiguousError, match="was imported before, as mine"):
            await ask(HERE, name="other")
        assert await ask(THERE, name="theirs") == ImportSource("theirs")
        folders.present.clear()
        assert await ask(Path("/new"), name="mine") == named
        rows = {(row.user_id, row.folder) for row in folders.rows}
        assert rows == {("ada", "/new"), ("ada", str(THERE)), ("bob", "/here/bobs")}

    resolving(tmp_path, folders, work)

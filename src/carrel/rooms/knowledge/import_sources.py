"""Which folder an import comes from, so that folders of one name keep their notes apart."""

from __future__ import annotations

import hashlib
import secrets
from collections.abc import Iterable
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Protocol

from carrel.core.errors import ConflictError, InvalidInputError
from carrel.rooms.knowledge.folder_import import ImportSource, NoteFile, digest_of
from carrel.rooms.knowledge.ports import NoteStore

# How many files of a folder are compared with notes before it is said whether they are the same.
FILES_COMPARED = 500


@dataclass(frozen=True, slots=True)
class KnownFolder:
    """An imported folder by its absolute path, and the source of its notes."""

    user_id: str
    folder: str
    source: ImportSource


class KnownFolders(Protocol):
    """The folders that were imported, remembered between commands."""

    def hold(self) -> AbstractContextManager[None]:
        """Lock out other imports."""
        ...

    def all(self) -> list[KnownFolder]: ...

    def replace(self, known: Iterable[KnownFolder]) -> None: ...

    def is_there(self, known: KnownFolder) -> bool:
        """Whether the folder still exists at its path."""
        ...


@dataclass(frozen=True, slots=True)
class AskedFolder:
    """A folder to import, with the owner's optional `name` and `moved_from`."""

    folder: Path
    user_id: str
    name: str | None = None
    moved_from: Path | None = None


class FolderAmbiguousError(ConflictError):
    """Notes of a folder with this name are there, and nothing shows that they are of this one."""


class FolderResolver:
    """Finds the source of a folder, one import at a time."""

    def __init__(self, known: KnownFolders, store: NoteStore) -> None:
        self._known = known
        self._store = store

    async def resolve(self, asked: AskedFolder, files: Iterable[NoteFile]) -> ImportSource:
        """The source, stored for the next import; raises ConflictError if it is ambiguous."""
        with self._known.hold():
            return await self._resolve(asked, files)

    async def _resolve(self, asked: AskedFolder, files: Iterable[NoteFile]) -> ImportSource:
        rows = self._known.all()
        mine = [row for row in rows if row.user_id == asked.user_id]
        here = next((row for row in mine if row.folder == str(asked.folder)), None)
        if asked.moved_from is not None:
            source = _moved(asked, mine, here)
        elif asked.name is not None:
            source = self._named(asked, mine, here)
        else:
            source = (
                here.source
                if here is not None
                else await self._unnamed(asked, mine, list(files)[:FILES_COMPARED])
            )
        row = KnownFolder(asked.user_id, str(asked.folder), source)
        if row != here:
            taken = {(row.user_id, row.folder), (row.user_id, source.identity)}
            kept = [
                one
                for one in rows
                if not {(one.user_id, one.folder), (one.user_id, one.source.identity)} & taken
            ]
            self._known.replace([*kept, row])
        return source

    async def _unnamed(
        self, asked: AskedFolder, mine: list[KnownFolder], files: list[NoteFile]
    ) -> ImportSource:
        name = asked.folder.name
        by_name = ImportSource(name)
        owned = {row.source.identity: row for row in mine}
        if by_name.identity not in owned:
            # Older versions identified folders by their last name only, without their path.
            shared, same = await self._compare(by_name, asked.user_id, files)
            if shared and 2 * same >= shared:
                return by_name
            if shared:
                raise FolderAmbiguousError(
                    f"Notes of an earlier folder called {name} are there; {shared} files here "
                    f"have their names, "
                    f"{same} of them the same text",
                    next_step=f"If this is that folder, add --as {name}; if it is another one, "
                    f"add --as with a new name. "
                    "Nothing was imported.",
                    details={"folder": str(asked.folder), "same_name": shared, "same_text": same},
                )
        for row in mine:
            if Path(row.folder).name == name and not self._known.is_there(row):
                shared, same = await self._compare(row.source, asked.user_id, files)
                if shared and 2 * same >= shared:
                    return row.source
        key = f"folder-{hashlib.sha256(str(asked.folder).encode()).hexdigest()[:16]}"
        source = ImportSource(name, key)
        return (
            source
            if source.identity not in owned
            else ImportSource(name, f"folder-{secrets.token_hex(8)}")
        )

    def _named(
        self, asked: AskedFolder, mine: list[KnownFolder], here: KnownFolder | None
    ) -> ImportSource:
        assert asked.name is not None
        source = ImportSource(asked.name)
        if here is not None and here.source != source:
            raise _known_already(here)
        owner = next(
            (row for row in mine if row.source == source and row.folder != str(asked.folder)), None
        )
        if owner is not None and self._known.is_there(owner):
            raise FolderAmbiguousError(
                f"{asked.name} is the name of {owner.folder}",
                next_step=f"Choose another name, or say --moved-from {owner.folder} if its notes "
                f"are here now. Nothing was imported.",
                details={"folder": owner.folder, "name": asked.name},
            )
        return source

    async def _compare(
        self, source: ImportSource, user_id: str, files: list[NoteFile]
    ) -> tuple[int, int]:
        """How many files have a note of that source, and how many of these notes the same text."""
        shared = same = 0
        for file in files:
            note = await self._store.find(source.note_id(user_id, file.path))
            if note is None or note.origin is None:
                continue
            shared += 1
            same += file.digest in {
                note.origin.digest,
                digest_of(note.title, note.content, note.tags),
            }
        return shared, same


def _moved(asked: AskedFolder, mine: list[KnownFolder], here: KnownFolder | None) -> ImportSource:
    before = next((row for row in mine if row.folder == str(asked.moved_from)), None)
    if before is None:
        places = ", ".join(sorted(row.folder for row in mine)) or "none yet"
        raise InvalidInputError(
            f"No folder {asked.moved_from} was imported",
            next_step=f"Imported were: {places}. A folder that an older Carrel imported is named "
            f"with --as.",
        )
    if here is not None and here.source != before.source:
        raise _known_already(here)
    return (
        before.source if not before.source.key else replace(before.source, name=asked.folder.name)
    )


def _known_already(here: KnownFolder) -> FolderAmbiguousError:
    return FolderAmbiguousError(
        f"{here.folder} was imported before, as {here.source.name}",
        next_step="Import it without --as and --moved-from. Nothing was imported.",
        details={"folder": here.folder, "name": here.source.name},
    )

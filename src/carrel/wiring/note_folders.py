"""Which source of notes a folder is, remembered in the home folder."""

from __future__ import annotations

import secrets
from collections.abc import Iterable

from carrel.rooms.knowledge.folder_import import ImportSource, NoteFile
from carrel.rooms.knowledge.import_sources import AskedFolder, FolderResolver
from carrel.rooms.knowledge.ports import NoteStore
from carrel.settings import Settings
from carrel.stores.file_lock import hold_lock
from carrel.stores.note_folders import FILE_NAME, NoteFoldersFile

_WAIT_SECONDS = 60.0


async def resolve_folder(
    settings: Settings, store: NoteStore, asked: AskedFolder, files: Iterable[NoteFile]
) -> ImportSource:
    """The source of a folder. Two imports at once are answered one after the other."""
    settings.home.mkdir(parents=True, exist_ok=True)
    file = settings.home / FILE_NAME
    with hold_lock(file.with_name(f".{FILE_NAME}.lock"), wait_seconds=_WAIT_SECONDS):
        return await FolderResolver(
            NoteFoldersFile(file), store, lambda: secrets.token_hex(8)
        ).resolve(asked, files)

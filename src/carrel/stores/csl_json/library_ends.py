"""Removes libraries that are files, each with its history and attachments."""

from __future__ import annotations

import asyncio
from pathlib import Path

from carrel.stores.csl_json.library_places import LIBRARY_NAME, user_library_path
from carrel.stores.csl_json.removal import is_left, remove_library_folder


class FileLibraryEnds:
    """The libraries of a folder of users; whoever removes one has locked its person out."""

    def __init__(self, users: Path) -> None:
        self._users = users

    async def has_library(self, user_id: str) -> bool:
        return await asyncio.to_thread(is_left, self._folder(user_id))

    async def remove_library(self, user_id: str) -> None:
        await asyncio.to_thread(remove_library_folder, self._folder(user_id), LIBRARY_NAME)

    def _folder(self, user_id: str) -> Path:
        return user_library_path(self._users, user_id).parent

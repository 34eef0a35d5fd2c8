"""The libraries of all people as CSL-JSON files of one home."""

from __future__ import annotations

from pathlib import Path

from carrel.core.caller import LOCAL_USER, Caller
from carrel.stores.csl_json.library import CslJsonLibrary, OpenSearch
from carrel.stores.csl_json.library_places import user_library_path
from carrel.stores.open_libraries import OpenLibraries


class UserLibraries:
    """The library of the local user at one path, and one for each other user in a folder."""

    def __init__(
        self,
        path: Path,
        users: Path,
        attachments: Path | None,
        open_search: OpenSearch | None = None,
        opened: OpenLibraries[CslJsonLibrary] | None = None,
    ) -> None:
        self._open_search = open_search
        self._path = path
        self._users = users
        self._attachments = attachments
        self._opened = OpenLibraries[CslJsonLibrary]() if opened is None else opened

    def of(self, caller: Caller) -> CslJsonLibrary:
        user_id = caller.user_id
        library = self._opened.take(user_id, lambda: self._open_library(user_id))
        library.watch()
        return library

    def _open_library(self, user_id: str) -> CslJsonLibrary:
        if user_id == LOCAL_USER:
            return CslJsonLibrary(self._path, self._attachments, self._open_search)
        path = user_library_path(self._users, user_id)
        path.parent.mkdir(parents=True, exist_ok=True)
        return CslJsonLibrary(path, open_search=self._open_search)

    async def close(self) -> None:
        await self._opened.close()

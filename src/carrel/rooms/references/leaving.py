"""What becomes of a person's own library when the person leaves."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Protocol

from carrel.core.caller import Caller
from carrel.libraries.bibliography.citation_keys import MAX_KEY_LENGTH, distinct_key
from carrel.rooms.references.attachments import Attachments, list_named_files
from carrel.rooms.references.items import Item, custom, lookup_keys, text_of
from carrel.rooms.references.known_works import KnownWorks
from carrel.rooms.references.ports import Files, KnownReferences, Libraries, Library

# Takes the name and the content of a file of an export.
PutFile = Callable[[str, bytes], None]
_LARGEST_FILE_BYTES = 4 * 1024**3
_PAGE = 500


class LibraryEnds(Protocol):
    """Removes libraries with their history and files."""

    async def has_library(self, user_id: str) -> bool: ...

    async def remove_library(self, user_id: str) -> None:
        """Removes all of a person's own library; none is no error."""
        ...


class LeavingLibrary:
    """The own library of one person."""

    def __init__(self, libraries: Libraries, ends: LibraryEnds, files: Files) -> None:
        self._libraries = libraries
        self._ends = ends
        self._files = files
        self._attachments = Attachments(files)

    async def count(self, name: str) -> dict[str, int]:
        if not await self._ends.has_library(name):
            return {"references": 0, "attached files": 0}
        library = self._of(name)
        total, _ = await library.list_items(0, 1)
        return {"references": total, "attached files": len(await self._list_files(library))}

    async def export(self, name: str, put: PutFile) -> None:
        """The library as CSL-JSON, and every file in its folder."""
        if not await self._ends.has_library(name):
            return
        library = self._of(name)
        items = await self._all(library)
        put("library.json", json.dumps(items, ensure_ascii=False, indent=1).encode())
        files = library.attached_files or self._files
        for place, _ in await self._list_files(library):
            path = library.folder / place
            put(f"attachments/{place}", await files.read_bytes(path, _LARGEST_FILE_BYTES))

    async def hand_over(self, name: str, other: str) -> None:
        """Adds every reference that the other lacks, and files to those of both; then ends it."""
        if not await self._ends.has_library(name):
            return
        source, target = self._of(name), self._of(other)
        for item in await self._all(source):
            kept = await self._add(target, item)
            await self._copy_files(source, item, target, text_of(kept, "id"))
        await self._ends.remove_library(name)

    async def erase(self, name: str) -> None:
        await self._ends.remove_library(name)

    def _of(self, name: str) -> Library:
        return self._libraries.of(Caller(name, frozenset()))

    async def _all(self, library: Library) -> list[Item]:
        found: list[Item] = []
        while True:
            _, page = await library.list_items(len(found), _PAGE)
            found += page
            if len(page) < _PAGE:
                return found

    async def _list_files(self, library: Library) -> list[tuple[str, int]]:
        files = library.attached_files or self._files
        return await files.list_files(library.folder)

    async def _add(self, target: Library, item: Item) -> Item:
        """The item as the target has it, which may be another record of the same work.

        Works are told apart as by additions, so that a second try adds nothing.
        """
        present: list[Item] = []

        def choose(known: KnownReferences) -> Sequence[Item]:
            same = KnownWorks(known.items).find(item)
            if same is not None:
                present[:] = [one for one in known.items if one.get("id") == same.reference_id]
                return ()
            wanted = text_of(item, "id")
            longest = max(len(wanted), MAX_KEY_LENGTH)
            reference_id = distinct_key(wanted, known.taken_ids, longest)
            return [{**_without_files(item), "id": reference_id}]

        added = await target.add(lookup_keys(item), choose)
        return added[0] if added else present[0]

    async def _copy_files(
        self, source: Library, item: Item, target: Library, reference_id: str
    ) -> None:
        theirs, ours = source.attached_files or self._files, target.attached_files or self._files
        kept = await target.find(reference_id)
        if kept is None:
            return
        known = set()
        for named in list_named_files(kept):
            path = self._attachments.locate(target, named.place)
            if path is not None and await ours.size(path) is not None:
                known.add(await ours.digest(path))
        for named in list_named_files(item):
            path = self._attachments.locate(source, named.place)
            if path is None or await theirs.size(path) is None:
                continue
            digest = await theirs.digest(path)
            if digest in known:
                continue
            known.add(digest)
            current = await target.find(reference_id) or kept
            local: Path = await theirs.local_path(path)
            role = named.role if _is_free(current, named.role) else "supplement"
            await self._attachments.attach(target, current, local, named.name, role, named.label)


def _without_files(item: Item) -> dict[str, Any]:
    own = {
        field: value
        for field, value in custom(item).items()
        if field not in {"attachments", "fulltext"}
    }
    return {**item, "custom": own}


def _is_free(item: Item, role: str) -> bool:
    return role != "fulltext" or not any(
        named.role == "fulltext" for named in list_named_files(item)
    )

"""A caller's library for other rooms: which works it has, and a work more."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from carrel.core.caller import Caller
from carrel.core.clock import Clock
from carrel.core.errors import InvalidInputError
from carrel.libraries.identifiers import identifier_keys
from carrel.rooms.references.additions import Candidate, add_to
from carrel.rooms.references.completion import LibraryCompletion
from carrel.rooms.references.items import lookup_keys, text_of, work_identifiers
from carrel.rooms.references.key_patterns import MakeKey, default_key
from carrel.rooms.references.known_works import KnownWorks
from carrel.rooms.references.ports import Libraries


class LibraryWorks:
    """Finds and adds works by the same rules as add_references. Scopes are checked before."""

    def __init__(self, libraries: Libraries, clock: Clock, make_key: MakeKey = default_key) -> None:
        self._make_key = make_key
        self._libraries = libraries
        self._clock = clock
        self.completion = LibraryCompletion(libraries)

    async def find_known(
        self, items: Sequence[Mapping[str, Any]], caller: Caller
    ) -> list[str | None]:
        """The reference id of each CSL item that the caller's library has."""
        keys = {key for item in items for key in lookup_keys(dict(item))}
        known = KnownWorks(await self._libraries.of(caller).find_works(keys))
        found = [known.find(dict(item)) for item in items]
        return [None if each is None else each.reference_id for each in found]

    async def list_works(self, caller: Caller) -> list[tuple[str, str, tuple[str, ...]]]:
        """Each reference's id, title and keys such as `doi:10.1/x`."""
        items = (await self._libraries.of(caller).snapshot()).items
        return [
            (
                text_of(item, "id"),
                text_of(item, "title"),
                tuple(key for each in work_identifiers(item) for key in identifier_keys(each)),
            )
            for item in items
        ]

    async def add_item(
        self, item: Mapping[str, Any], source: str, caller: Caller
    ) -> tuple[str, bool, tuple[str, ...]]:
        """Its reference id, whether it is new there, and warnings. Raises InvalidInputError."""
        candidate = Candidate(dict(item), source)
        answer = await add_to(self._libraries.of(caller), [candidate], self._clock, self._make_key)
        warnings = tuple(each.message for each in answer.warnings)
        if answer.added:
            return answer.added[0].id, True, warnings
        if answer.skipped:
            return answer.skipped[0].duplicate_of, False, warnings
        reason = answer.failed[0].reason if answer.failed else "It could not be added"
        raise InvalidInputError(reason, next_step="Add it by add_references with what it lacks.")

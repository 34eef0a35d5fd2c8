"""Fills gaps of references and takes that back, by the library's own changes and journal."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from carrel.core.caller import Caller
from carrel.core.errors import ConflictError
from carrel.rooms.references.errors import ReferenceNotFoundError
from carrel.rooms.references.items import Item, custom
from carrel.rooms.references.ports import Change, Libraries

_ARXIV = "arxiv_id"


class LibraryCompletion:
    """Changes fields of references that are empty. Scopes are checked before."""

    def __init__(self, libraries: Libraries) -> None:
        self._libraries = libraries

    async def list_items(self, caller: Caller) -> Sequence[Item]:
        return (await self._libraries.of(caller).snapshot()).items

    async def find(self, reference_id: str, caller: Caller) -> Item | None:
        return await self._libraries.of(caller).find(reference_id)

    async def fill(self, reference_id: str, values: Mapping[str, Any], caller: Caller) -> str:
        """Sets those of the fields that are still empty; returns what `take_back` needs.

        Raises ReferenceNotFoundError.
        """
        filled: dict[str, Any] = {}

        def decide(item: Item) -> Change:
            filled.clear()
            filled.update(
                (name, value) for name, value in values.items() if _is_empty(_read(item, name))
            )
            return _as_change(item, filled, ())

        if await self._libraries.of(caller).change(reference_id, decide) is None:
            raise ReferenceNotFoundError(reference_id)
        return json.dumps(filled, ensure_ascii=False)

    async def take_back(self, reference_id: str, receipt: str, caller: Caller) -> None:
        """Makes the fields empty again; ConflictError where one was changed since."""
        filled: dict[str, Any] = json.loads(receipt)

        def decide(item: Item) -> Change:
            changed = [name for name, value in filled.items() if _read(item, name) != value]
            if changed:
                raise ConflictError(
                    f"{reference_id}: {', '.join(changed)} was changed since it was filled in",
                    next_step="edit_reference changes fields one by one.",
                )
            return _as_change(item, {}, tuple(filled))

        if await self._libraries.of(caller).change(reference_id, decide) is None:
            raise ReferenceNotFoundError(reference_id)


def _read(item: Item, name: str) -> Any:
    return custom(item).get(name) if name == _ARXIV else item.get(name)


def _is_empty(value: object) -> bool:
    return value is None or value in ("", [], {}) or (isinstance(value, str) and not value.strip())


def _as_change(item: Item, values: Mapping[str, Any], removed: tuple[str, ...]) -> Change:
    """The change of an item; the arXiv id is one of the fields of our own."""
    fields = {name: value for name, value in values.items() if name != _ARXIV}
    own = dict(custom(item))
    if _ARXIV in values:
        fields["custom"] = {**own, _ARXIV: values[_ARXIV]}
    elif _ARXIV in removed:
        own.pop(_ARXIV, None)
        fields["custom"] = own
    return Change(fields, tuple(name for name in removed if name != _ARXIV))

"""Where the elements of a library stand, by id; a version that only adds costs what it adds."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

# Later additions are copied at each change until there are so many; then they join the others.
_MOST_RECENT = 1_000


class ElementPlaces(Mapping[str, int]):
    """The first place of each id: those of an older version, which are shared, and later ones."""

    __slots__ = ("_older", "_recent")

    def __init__(self, older: dict[str, int], recent: dict[str, int] | None = None) -> None:
        self._older = older
        self._recent = {} if recent is None else recent

    def with_added(self, added: Iterable[tuple[str, int]]) -> ElementPlaces:
        """The places after elements were put at the end; an id that is known keeps its place."""
        recent = dict(self._recent)
        for item_id, at in added:
            if item_id not in self._older:
                recent.setdefault(item_id, at)
        if len(recent) > _MOST_RECENT:
            return ElementPlaces({**self._older, **recent})
        return ElementPlaces(self._older, recent)

    def __getitem__(self, item_id: str) -> int:
        found = self._recent.get(item_id)
        return self._older[item_id] if found is None else found

    def __len__(self) -> int:
        return len(self._older) + len(self._recent)

    def __iter__(self) -> Iterator[str]:
        yield from self._older
        yield from self._recent

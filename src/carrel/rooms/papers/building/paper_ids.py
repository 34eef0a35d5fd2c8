"""The paper_id of each group of records; ids that are published already stay."""

from __future__ import annotations

import itertools
from collections.abc import Collection, Mapping, Sequence

from carrel.rooms.papers.building.paper_groups import PaperGroup
from carrel.rooms.papers.building.paper_keys import make_paper_id


def assign_ids(
    groups: Sequence[PaperGroup],
    known: Mapping[str, str],
    decided: Sequence[tuple[str, frozenset[int]]] = (),
    paper_of: Mapping[int, str] | None = None,
) -> list[str]:
    """An identifier for each group; those of the last snapshot, given by key in `known`, stay.

    So a paper known by its title keeps its identifier when a DOI arrives later. What was `decided`,
    an identifier and its records, goes first. `paper_of` is the paper that a record belongs to now.
    """
    given = _GivenIds(groups, paper_of or {})
    for paper_id, record_ids in decided:
        place = place_of_most(groups, record_ids)
        if place is not None:
            given.take(place, paper_id)
    published = set(known.values())
    keys = [(at, key.value) for at, found in enumerate(groups) for key in found.keys]
    for at, key in keys:
        native = make_paper_id(key)
        given.take_known(at, native if known.get(key) == native in published else None)
    for at, key in keys:
        given.take_known(at, known.get(key))
    given.stay()
    for at, key in keys:
        given.take(at, make_paper_id(key))
    for at in sorted({*range(len(groups))} - given.by_place.keys()):
        given.take(at, _make_place_id(groups[at], given.taken))
    return [given.by_place[at] for at in range(len(groups))]


class _GivenIds:
    """Identifiers while they are given to groups, each once."""

    def __init__(self, groups: Sequence[PaperGroup], paper_of: Mapping[int, str]) -> None:
        self._groups = groups
        self._paper_of = paper_of
        self._homes = [_find_homes(found, paper_of) for found in groups]
        self.by_place: dict[int, str] = {}
        self.taken: set[str] = set()

    def take(self, at: int, paper_id: str | None) -> None:
        if paper_id is not None and at not in self.by_place and paper_id not in self.taken:
            self.by_place[at] = paper_id
            self.taken.add(paper_id)

    def take_known(self, at: int, paper_id: str | None) -> None:
        """A work that is published has an id: it takes none that another work had."""
        if not self._homes[at] or paper_id in self._homes[at]:
            self.take(at, paper_id)

    def stay(self) -> None:
        """One whose twin has all its keys, or whose keys were another's, stays what it is."""
        for at, found in enumerate(self._groups):
            if self._homes[at] or not found.keys:
                self.take(at, self._paper_of.get(found.record_ids[0]))


def _find_homes(found: PaperGroup, paper_of: Mapping[int, str]) -> frozenset[str]:
    """The papers that the records of a group belong to; none where one is new."""
    if any(record_id not in paper_of for record_id in found.record_ids):
        return frozenset()
    return frozenset(paper_of[record_id] for record_id in found.record_ids)


def _make_place_id(found: PaperGroup, taken: Collection[str]) -> str:
    """An id of where a paper was read: parts of a split, and papers with one title and nothing
    else, may share every key. The shared key tells it from other such papers of the same file.
    """
    place = ":".join((found.sources[0], *found.shared_keys[:1]))
    ids = (make_paper_id(f"place:{place}:{number}") for number in itertools.count(1))
    return next(paper_id for paper_id in ids if paper_id not in taken)


def place_of_most(groups: Sequence[PaperGroup], record_ids: frozenset[int]) -> int | None:
    """The group that has most of the records, the first of several; None where none has any."""
    shares = [len(record_ids.intersection(group.record_ids)) for group in groups]
    most = max(shares, default=0)
    return shares.index(most) if most else None

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
    assigned: dict[int, str] = {}
    taken: set[str] = set()

    def take(at: int, paper_id: str | None) -> None:
        if paper_id is not None and at not in assigned and paper_id not in taken:
            assigned[at] = paper_id
            taken.add(paper_id)

    for paper_id, record_ids in decided:
        place = place_of_most(groups, record_ids)
        take(-1 if place is None else place, None if place is None else paper_id)
    published = set(known.values())
    for at, found in enumerate(groups):
        for key in found.keys:
            native = make_paper_id(key.value)
            take(at, native if native in published and known.get(key.value) == native else None)
    for at, found in enumerate(groups):
        for key in found.keys:
            take(at, known.get(key.value))
    for at, found in enumerate(groups):
        # One whose twin has all its keys stays what it is.
        take(at, None if found.keys else (paper_of or {}).get(found.record_ids[0]))
    for at, found in enumerate(groups):
        for key in found.keys:
            take(at, make_paper_id(key.value))
    for at in sorted({*range(len(groups))} - assigned.keys()):
        take(at, _make_place_id(groups[at].sources[0], taken))
    return [assigned[at] for at in range(len(groups))]


def _make_place_id(source: str, taken: Collection[str]) -> str:
    """An id of where a paper was read: parts of a split, and papers with one title and nothing
    else, may share every key.
    """
    ids = (make_paper_id(f"place:{source}:{number}") for number in itertools.count(1))
    return next(paper_id for paper_id in ids if paper_id not in taken)


def place_of_most(groups: Sequence[PaperGroup], record_ids: frozenset[int]) -> int | None:
    """The group that has most of the records, the first of several; None where none has any."""
    shares = [len(record_ids.intersection(group.record_ids)) for group in groups]
    most = max(shares, default=0)
    return shares.index(most) if most else None

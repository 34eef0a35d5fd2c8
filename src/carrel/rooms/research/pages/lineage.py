"""Where a hypothesis comes from and what was made from it, as a tree for a nested list."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from carrel.rooms.research.models import HypothesisRow

_DEEPEST = 8


@dataclass(slots=True)
class LineageNode:
    """A hypothesis with those that were made from it; `is_this` marks the page's own."""

    id: str
    title: str
    method: str
    is_this: bool
    children: list[LineageNode] = field(default_factory=list)


def trace_lineage(rows: Sequence[HypothesisRow], hypothesis_id: str) -> list[LineageNode]:
    """Trees from the first ancestors down to all descendants; empty where it stands alone.

    What has two parents stands below both.
    """
    known = {row.id: row for row in rows}
    if hypothesis_id not in known:
        return []
    related = _reach(hypothesis_id, {row.id: row.parents for row in rows}, known)
    made: dict[str, list[str]] = {}
    for row in rows:
        for parent in row.parents:
            made.setdefault(parent, []).append(row.id)
    related |= _reach(hypothesis_id, made, known)
    if len(related) == 1:
        return []
    roots = [row.id for row in rows if row.id in related and not related.intersection(row.parents)]
    return [_grow(name, known, made, related, hypothesis_id, 1) for name in roots]


def _reach(
    start: str, links: Mapping[str, Sequence[str]], known: Mapping[str, HypothesisRow]
) -> set[str]:
    found, open_ids = {start}, [start]
    while open_ids:
        for name in links.get(open_ids.pop(), ()):
            if name in known and name not in found:
                found.add(name)
                open_ids.append(name)
    return found


def _grow(
    name: str,
    known: Mapping[str, HypothesisRow],
    made: Mapping[str, Sequence[str]],
    related: set[str],
    this: str,
    depth: int,
) -> LineageNode:
    row = known[name]
    node = LineageNode(name, row.title, row.method, name == this)
    if depth < _DEEPEST:
        node.children = [
            _grow(child, known, made, related, this, depth + 1)
            for child in made.get(name, ())
            if child in related
        ]
    return node

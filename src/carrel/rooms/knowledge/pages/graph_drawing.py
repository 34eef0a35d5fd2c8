"""Draws the surroundings of a note: what links to it at the left, what it links to at the right."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from carrel.rooms.knowledge.list_models import GraphThing, KnowledgeGraph
from carrel.rooms.knowledge.pages.addresses import thing_path

_BOX_WIDTH, _BOX_HEIGHT = 184, 28
_COLUMN_GAP, _ROW_GAP = 56, 10
_MARGIN = 6
# A column of more shows the first ones; the list below the drawing has all.
_MAX_ROWS = 14
_LABEL_CHARACTERS = 21
# Links by an identifier lead to papers, and are drawn as such.
_DRAWN_AS = {"doi": "paper", "arxiv": "paper", "passage": "paper"}


@dataclass(frozen=True, slots=True)
class GraphBox:
    """A thing in the drawing."""

    x: int
    y: int
    label: str
    title: str
    kind: str
    path: str
    is_centre: bool
    is_missing: bool


@dataclass(frozen=True, slots=True)
class GraphDrawing:
    """Boxes, and lines between them as SVG paths."""

    width: int
    height: int
    boxes: tuple[GraphBox, ...]
    lines: tuple[str, ...]
    left_out: int
    box_width: int = _BOX_WIDTH
    box_height: int = _BOX_HEIGHT


@dataclass(frozen=True, slots=True)
class GraphRow:
    """A thing in the list, with the things behind it; `is_back` where it links to the note."""

    thing: GraphThing
    path: str
    is_back: bool
    behind: tuple[GraphRow, ...] = ()


def draw_graph(graph: KnowledgeGraph) -> GraphDrawing:
    """Columns from left to right: the farther from the note, the farther out."""
    sides = _sides(graph)
    columns: dict[int, list[GraphThing]] = {}
    for thing in graph.things:
        columns.setdefault(sides[thing.key] * thing.distance, []).append(thing)
    left_out = graph.left_out + sum(max(0, len(each) - _MAX_ROWS) for each in columns.values())
    columns = {number: columns[number][:_MAX_ROWS] for number in sorted(columns)}
    step = _BOX_HEIGHT + _ROW_GAP
    height = max(len(each) for each in columns.values()) * step - _ROW_GAP + 2 * _MARGIN
    places: dict[str, tuple[int, int]] = {}
    boxes: list[GraphBox] = []
    for at, things in enumerate(columns.values()):
        x = _MARGIN + at * (_BOX_WIDTH + _COLUMN_GAP)
        y = (height - len(things) * step + _ROW_GAP) // 2
        for thing in things:
            places[thing.key] = (x, y)
            boxes.append(_box(thing, x, y))
            y += step
    lines = [
        _line(places[link.source], places[link.target])
        for link in graph.links
        if link.source in places and link.target in places
    ]
    width = 2 * _MARGIN + len(columns) * (_BOX_WIDTH + _COLUMN_GAP) - _COLUMN_GAP
    return GraphDrawing(width, height, tuple(boxes), tuple(lines), left_out)


def list_graph(graph: KnowledgeGraph) -> list[GraphRow]:
    """The same as a list: the neighbours, each with what lies behind it."""
    centre = graph.things[0].key
    things = {thing.key: thing for thing in graph.things}
    neighbours = _neighbours(graph)
    out = {link.target for link in graph.links if link.source == centre}

    def row(key: str, *behind: GraphRow, is_back: bool) -> GraphRow:
        thing = things[key]
        return GraphRow(thing, thing_path(thing.kind, thing.id, thing.title), is_back, behind)

    rows = []
    for key in neighbours.get(centre, ()):
        far = [
            row(other, is_back=(other, key) in neighbours.directed)
            for other in neighbours.get(key, ())
            if things[other].distance > things[key].distance
        ]
        rows.append(row(key, *far, is_back=key not in out))
    return rows


class _NodeNeighbours(dict[str, list[str]]):
    """Of each thing those linked with it in either direction, and which links there are."""

    def __init__(self, directed: set[tuple[str, str]]) -> None:
        super().__init__()
        self.directed = directed


def _neighbours(graph: KnowledgeGraph) -> _NodeNeighbours:
    found = _NodeNeighbours({(link.source, link.target) for link in graph.links})
    for link in graph.links:
        for one, other in ((link.source, link.target), (link.target, link.source)):
            known = found.setdefault(one, [])
            if other not in known:
                known.append(other)
    return found


def _sides(graph: KnowledgeGraph) -> dict[str, int]:
    """-1 left, 1 right: what the note links to is right, and what lies behind stays there."""
    centre = graph.things[0].key
    neighbours = _neighbours(graph)
    out = {link.target for link in graph.links if link.source == centre}
    sides = {centre: 1}
    for thing in sorted(graph.things, key=lambda each: each.distance):
        if thing.distance == 1:
            sides[thing.key] = 1 if thing.key in out else -1
        elif thing.distance > 1:
            near = [sides[key] for key in neighbours.get(thing.key, ()) if key in sides]
            sides[thing.key] = near[0] if near else 1
    return sides


def _box(thing: GraphThing, x: int, y: int) -> GraphBox:
    label = thing.title
    if len(label) > _LABEL_CHARACTERS:
        label = f"{label[: _LABEL_CHARACTERS - 1].rstrip()}…"
    path = thing_path(thing.kind, thing.id, thing.title)
    is_missing = thing.id is None
    kind = _DRAWN_AS.get(thing.kind, thing.kind)
    return GraphBox(x, y, label, thing.title, kind, path, thing.distance == 0, is_missing)


def _line(source: tuple[int, int], target: tuple[int, int]) -> str:
    """A curve that leaves and meets boxes at their sides."""
    y, other_y = source[1] + _BOX_HEIGHT // 2, target[1] + _BOX_HEIGHT // 2
    if source[0] == target[0]:
        x = source[0] + _BOX_WIDTH
        return f"M{x} {y}C{x + 40} {y} {x + 40} {other_y} {x + 3} {other_y}"
    goes_right = source[0] < target[0]
    x = source[0] + (_BOX_WIDTH if goes_right else 0)
    other_x = target[0] + (-3 if goes_right else _BOX_WIDTH + 3)
    bend = (other_x - x) // 2
    return f"M{x} {y}C{x + bend} {y} {other_x - bend} {other_y} {other_x} {other_y}"


def kinds_of(boxes: Sequence[GraphBox]) -> list[str]:
    """The kinds of things in a drawing, for its legend."""
    return list(dict.fromkeys(box.kind for box in boxes))

"""The surroundings of a note: what it links to and what links to it, one or two links away."""

from __future__ import annotations

from carrel.core.caller import Call
from carrel.rooms.knowledge.list_models import GraphLink, GraphThing, KnowledgeGraph
from carrel.rooms.knowledge.note_links import NoteLinks
from carrel.rooms.knowledge.notes import Note
from carrel.rooms.knowledge.ports import NoteStore

MAX_THINGS = 60
# Neighbours whose own links are followed.
_FOLLOWED = 12


class NoteGraphs:
    """Collects graphs for callers; who may not see a note is not told of it."""

    def __init__(self, store: NoteStore, links: NoteLinks) -> None:
        self._store = store
        self._links = links

    async def draw(self, note: Note, depth: int, call: Call) -> KnowledgeGraph:
        """The graph around a note that the caller may see."""
        graph = _Graph(note)
        await self._add_neighbours(graph, note, call, 1)
        if depth > 1:
            near = [thing for thing in graph.things.values() if thing.distance == 1]
            ids = [thing.id for thing in near if thing.kind == "note" and thing.id][:_FOLLOWED]
            notes = await self._store.find_many(ids)
            for each in ids:
                if each in notes:
                    await self._add_neighbours(graph, notes[each], call, 2)
        return KnowledgeGraph(
            things=tuple(graph.things.values()),
            links=tuple(GraphLink(source=source, target=target) for source, target in graph.links),
            left_out=graph.left_out,
        )

    async def _add_neighbours(self, graph: _Graph, note: Note, call: Call, distance: int) -> None:
        links, left_out = await self._links.resolve(note, call)
        graph.left_out += left_out
        for link in links:
            key = f"{link.kind}:{link.id}" if link.id else f"{link.kind}?{link.target}"
            thing = GraphThing(
                key=key,
                kind=link.kind,
                id=link.id,
                title=link.title or link.target,
                distance=distance,
            )
            graph.add(thing, (f"note:{note.id}", key))
        for pointing in await self._links.find_back(note, call.caller):
            key = f"note:{pointing.id}"
            thing = GraphThing(
                key=key, kind="note", id=pointing.id, title=pointing.title, distance=distance
            )
            graph.add(thing, (key, f"note:{note.id}"))


class _Graph:
    """What was collected so far, each thing and each link once."""

    def __init__(self, note: Note) -> None:
        key = f"note:{note.id}"
        self.things = {
            key: GraphThing(key=key, kind="note", id=note.id, title=note.title, distance=0)
        }
        self.links: dict[tuple[str, str], None] = {}
        self.left_out = 0

    def add(self, thing: GraphThing, link: tuple[str, str]) -> None:
        if thing.key not in self.things:
            if len(self.things) >= MAX_THINGS:
                self.left_out += 1
                return
            self.things[thing.key] = thing
        if link[0] != link[1]:
            self.links[link] = None

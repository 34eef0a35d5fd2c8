"""Lists and graphs of notes, for people who look around: questions and answers."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from carrel.core.operation import Answer, Question
from carrel.rooms.knowledge.links import LinkKind
from carrel.rooms.knowledge.models import MAX_LIMIT, MAX_QUERY_CHARACTERS, NoteId, Plain, Tag
from carrel.rooms.knowledge.notes import Order, Source, Status, Whose

MAX_FILTER_TAGS = 20
MAX_OFFSET = 1_000_000
MAX_TAG_COUNTS = 200


class ListKnowledge(Question):
    """A page of a list of notes; the query is as for search_knowledge."""

    query: Annotated[str, Field(max_length=MAX_QUERY_CHARACTERS), Plain] = "*"
    tags: Annotated[list[Tag], Field(max_length=MAX_FILTER_TAGS)] = Field(default=[])
    whose: Whose = "all"
    order: Order = "best"
    limit: int = Field(default=25, ge=1, le=MAX_LIMIT)
    offset: int = Field(default=0, ge=0, le=MAX_OFFSET)
    tag_counts: int = Field(default=30, ge=0, le=MAX_TAG_COUNTS)


class GetKnowledgeGraph(Question):
    """The surroundings of one note."""

    id: NoteId
    depth: int = Field(default=1, ge=1, le=2)


class ListedNote(Answer):
    """A note in a list; `snippet` is an extract with the matches in bold."""

    id: str
    title: str
    snippet: str
    tags: tuple[str, ...]
    source: Source
    status: Status
    author: str
    created_at: str
    updated_at: str


class NoteTag(Answer):
    """A tag with the number of notes that carry it or one below it."""

    tag: str
    count: int


class KnowledgeList(Answer):
    """A page of notes; `reachable` of `total` can be listed by an offset."""

    notes: tuple[ListedNote, ...]
    total: int
    offset: int
    reachable: int
    tags: tuple[NoteTag, ...]


class GraphThing(Answer):
    """Something in a graph; without an id nothing goes by that name. `distance` is in links."""

    key: str
    kind: LinkKind
    id: str | None
    title: str
    distance: int


class GraphLink(Answer):
    """A link from a note to a thing, by their keys."""

    source: str
    target: str


class KnowledgeGraph(Answer):
    """A note, first, with what it links to and what links to it."""

    things: tuple[GraphThing, ...]
    links: tuple[GraphLink, ...]
    left_out: int

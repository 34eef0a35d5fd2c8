"""What the knowledge room is asked and what it answers."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, Field, PrivateAttr

from carrel.core.answer import Explanation
from carrel.core.note_links import NoteLink
from carrel.core.operation import Answer, Question
from carrel.libraries.query.empty_answers import EmptyAnswer
from carrel.rooms.knowledge.links import LinkKind
from carrel.rooms.knowledge.notes import ChangeKind, Note, Order, Source, Status, Version, Whose

MAX_CONTENT_CHARACTERS = 200_000
MAX_TITLE_CHARACTERS = 500
MAX_TAGS = 100
MAX_TAG_CHARACTERS = 100
MAX_QUERY_CHARACTERS = 500
MAX_LIMIT = 100
MAX_NODE_NAMES = 100
MAX_LINKS = 100
MAX_NODE_NAME_CHARACTERS = 500
_CONTENT = "Markdown; [[Title of a note]], [[paper:ID]], [[ref:KEY]] or a DOI is a link"


def _is_time(text: str) -> str:
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        raise ValueError(
            "updated_at must be the time that get_knowledge or save_knowledge answered with"
        ) from None
    return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).astimezone(UTC).isoformat()


def _is_storable(text: str) -> str:
    if "\x00" in text:
        raise ValueError("a text may not contain the character U+0000")
    try:
        text.encode()
    except UnicodeEncodeError:
        raise ValueError("a text may not contain half of a surrogate pair") from None
    return text


def _is_a_tag(text: str) -> str:
    tag = " ".join(text.split()).lstrip("#").strip()
    if not tag:
        raise ValueError("a tag may not be empty")
    return tag


def _says_something(name: str) -> AfterValidator:
    def check(text: str) -> str:
        if not text.strip():
            raise ValueError(f"{name} is required")
        return text

    return AfterValidator(check)


Plain = AfterValidator(_is_storable)
NoteId = Annotated[str, Field(pattern=r"^[A-Za-z0-9_-]{1,128}$", description="Note id")]
Tag = Annotated[str, Field(max_length=MAX_TAG_CHARACTERS), Plain, AfterValidator(_is_a_tag)]
Moment = Annotated[str, Field(max_length=64), AfterValidator(_is_time)]


class SaveKnowledge(Question):
    """A new note, or with an id a new state of one."""

    content: Annotated[
        str,
        Field(min_length=1, max_length=MAX_CONTENT_CHARACTERS, description=_CONTENT),
        Plain,
        _says_something("content"),
    ]
    title: Annotated[str, Field(max_length=MAX_TITLE_CHARACTERS), Plain] | None = None
    tags: (
        Annotated[list[Tag], Field(max_length=MAX_TAGS, description="Replace its tags")] | None
    ) = None
    source: Source | None = Field(
        default=None, description="personal unless said; team needs knowledge:promote"
    )
    id: NoteId | None = Field(default=None, description="The note to change")
    updated_at: Moment | None = Field(
        default=None, description="With id: its updated_at as last read"
    )


class SearchKnowledge(Question):
    """A search among notes."""

    query: Annotated[
        str, Field(min_length=1, max_length=MAX_QUERY_CHARACTERS), Plain, _says_something("query")
    ]
    limit: int = Field(default=10, ge=1, le=MAX_LIMIT)
    whose: Whose = "all"
    order: Order = "best"


class OneNote(Question):
    """A question about one note."""

    id: NoteId


class ChangeNote(Question):
    """A step of one note, for whoever has seen its last state."""

    id: NoteId
    updated_at: Moment | None = Field(default=None, description="Only if unchanged since then")


class GetKnowledgeHistory(Question):
    """The changes of one note."""

    id: NoteId
    limit: int = Field(default=20, ge=1, le=MAX_LIMIT)


class RetrieveNodes(Question):
    """Named things to look up."""

    node_names: Annotated[list[str], Field(min_length=1, max_length=MAX_NODE_NAMES)]
    include_metadata: bool = False


class AskElasticsearch(Question):
    """A search body for one or several indices."""

    index: Annotated[str, Field(min_length=1, max_length=500)]
    query: dict[str, Any] = Field(description="The body of _search")


class Link(Answer):
    """A link in a note, and what it leads to where there is one: a note unless `kind` says else."""

    target: str
    id: str | None
    kind: LinkKind = Field(default="note", exclude_if=lambda value: value == "note")
    title: str | None = Field(default=None, exclude_if=lambda value: value is None)


class SavedNote(Answer):
    """What a save did."""

    status: Literal["saved"] = "saved"
    id: str
    title: str
    updated_at: str
    tags: tuple[str, ...] = ()
    # Without titles, which others wrote: the answer to a save quotes nobody.
    links: tuple[Link, ...] = ()
    links_left_out: int | None = Field(default=None, exclude_if=lambda value: value is None)

    @classmethod
    def of(cls, note: Note, links: tuple[Link, ...] = (), links_left_out: int = 0) -> SavedNote:
        return cls(
            id=note.id,
            title=note.title,
            updated_at=note.updated_at.isoformat(),
            tags=note.tags,
            links=tuple(link.model_copy(update={"title": None}) for link in links),
            links_left_out=links_left_out or None,
        )


class FoundNote(Answer):
    """One note found; of a long one `content` is the passage that fits best, with its id.

    `total` counts the notes that the search finds in all.
    """

    id: str
    title: str
    content: str
    score: float
    truncated: bool = Field(default=False, exclude_if=lambda value: not value)
    passage_id: str | None = Field(default=None, exclude_if=lambda value: value is None)
    section: str | None = Field(default=None, exclude_if=lambda value: value is None)
    total: int | None = Field(default=None, exclude_if=lambda value: value is None)
    # Whose note it is and its tags; no part of the answer.
    _author: str = PrivateAttr(default="")
    _tags: tuple[str, ...] = PrivateAttr(default=())

    @property
    def author(self) -> str:
        return self._author

    @property
    def tags(self) -> tuple[str, ...]:
        return self._tags

    def written_by(self, user_id: str, tags: tuple[str, ...] = ()) -> FoundNote:
        self._author, self._tags = user_id, tags
        return self


class NoNotesFound(Explanation):
    """Why a search found no note, and what comes near."""

    documents: int
    unmatched_words: tuple[str, ...] = Field(default=(), exclude_if=lambda value: not value)
    did_you_mean: dict[str, list[str]] = Field(default={}, exclude_if=lambda value: not value)
    unmatched_filters: tuple[str, ...] = Field(default=(), exclude_if=lambda value: not value)
    nearest: tuple[str, ...] = Field(default=(), exclude_if=lambda value: not value)
    next_step: str

    @classmethod
    def of(cls, empty: EmptyAnswer) -> NoNotesFound:
        return cls(
            message=empty.message,
            documents=empty.documents,
            unmatched_words=empty.unmatched_words,
            did_you_mean=empty.did_you_mean,
            unmatched_filters=empty.unmatched_filters,
            nearest=empty.nearest,
            next_step=empty.next_step,
        )


class FullNote(Answer):
    """A note with everything known of it."""

    id: str
    title: str
    content: str
    user_id: str
    source: Source
    status: Status
    tags: tuple[str, ...]
    schema_version: int
    created_at: str
    updated_at: str
    promoted_from_id: str | None
    promoted_to_id: str | None
    links: tuple[Link, ...]
    links_left_out: int | None = Field(default=None, exclude_if=lambda value: value is None)
    # The newest notes that point at this one and that the caller may see.
    linked_from: tuple[NoteLink, ...] = ()

    @classmethod
    def of(
        cls,
        note: Note,
        links: tuple[Link, ...] = (),
        links_left_out: int = 0,
        linked_from: Sequence[NoteLink] = (),
    ) -> FullNote:
        return cls(
            id=note.id,
            title=note.title,
            content=note.content,
            user_id=note.user_id,
            source=note.source,
            status=note.status,
            tags=note.tags,
            schema_version=note.schema_version,
            created_at=note.created_at.isoformat(),
            updated_at=note.updated_at.isoformat(),
            promoted_from_id=note.promoted_from_id,
            promoted_to_id=note.promoted_to_id,
            links=links,
            links_left_out=links_left_out or None,
            linked_from=tuple(linked_from),
        )


class NoteVersion(Answer):
    """A note as it was after one change."""

    changed_at: str
    changed_by: str
    change: ChangeKind
    status: Status
    title: str
    content: str
    tags: tuple[str, ...]

    @classmethod
    def of(cls, version: Version) -> NoteVersion:
        return cls(
            changed_at=version.changed_at.isoformat(),
            changed_by=version.by,
            change=version.kind,
            status=version.status,
            title=version.title,
            content=version.content,
            tags=version.tags,
        )


class DeletedNote(Answer):
    """What a deletion did."""

    status: Literal["deleted"] = "deleted"
    id: str


class ProposedNote(Answer):
    """What a proposal did."""

    status: Literal["proposed"] = "proposed"
    id: str
    title: str
    updated_at: str


class PromotedNote(Answer):
    """What a promotion did: `id` is the team's note, `promoted_from_id` the one it came from."""

    status: Literal["promoted"] = "promoted"
    id: str
    title: str
    promoted_from_id: str
    updated_at: str


class DeclinedNote(Answer):
    """What declining a proposal did."""

    status: Literal["declined"] = "declined"
    id: str
    title: str
    updated_at: str


class NodeAnswer(Answer):
    """What is known of one name. A miss says so and scores 0."""

    node_name: str
    knowledge: str
    metadata: dict[str, Any] | None = Field(default=None, exclude_if=lambda value: value is None)
    similarity_score: float
    suggestions: tuple[str, ...] | None = Field(
        default=None, exclude_if=lambda value: value is None
    )


class RetrievedNodes(Answer):
    """One answer per name, in the order asked."""

    success: bool = True
    results: tuple[NodeAnswer, ...]
    total_nodes: int
    processing_time_ms: float


class SearchAnswer(Answer):
    """What Elasticsearch answers to _search; `warning` is there when the answer is not complete."""

    took: int
    timed_out: bool
    shards: dict[str, Any] = Field(serialization_alias="_shards")
    hits: dict[str, Any]
    aggregations: dict[str, Any] | None = Field(
        default=None, exclude_if=lambda value: value is None
    )
    warning: str | None = Field(default=None, exclude_if=lambda value: value is None)

"""A note, what can happen to it, and what can be asked of the notes."""

from __future__ import annotations

import secrets
import string
from dataclasses import dataclass, field
from datetime import datetime
from typing import Literal

from carrel.libraries.query.empty_answers import EmptyAnswer
from carrel.libraries.query.notes import Condition, NoteQuery
from carrel.libraries.text.folding import fold_text

Source = Literal["personal", "team"]
Status = Literal["draft", "proposed", "promoted"]
ChangeKind = Literal[
    "created", "updated", "proposed", "promoted", "withdrawn", "declined", "imported"
]
Order = Literal["best", "newest"]
Whose = Literal["mine", "team", "all", "proposed"]

SCHEMA_VERSION = 1
EXACT_TITLE_SCORE = 1.0
TITLE_PREFIX_SCORE = 0.9
TAG_SCORE = 0.85
_BEST_TEXT_SCORE = 0.8
_ID_CHARACTERS = string.ascii_letters + string.digits

TEAM_SHELF = "team"
PROPOSALS_FROM, PROPOSALS_BELOW = "proposed:", "proposed;"
# The end of every range of titles that begin alike: no text has this character.
LAST_CHARACTER = "\U0010ffff"
_PLACES = {"draft": "open", "proposed": "proposed", "promoted": "done"}


@dataclass(frozen=True, slots=True)
class Origin:
    """The file a note was imported from, and enough of it to write the same file again."""

    path: str
    digest: str
    front_matter: str
    content_from: str


@dataclass(frozen=True, slots=True)
class Note:
    """One note; `updated_at` grows with every change and serves as the optimistic lock."""

    id: str
    title: str
    content: str
    user_id: str
    source: Source
    status: Status
    tags: tuple[str, ...]
    created_at: datetime
    updated_at: datetime
    schema_version: int = SCHEMA_VERSION
    promoted_from_id: str | None = None
    promoted_to_id: str | None = None
    origin: Origin | None = None


@dataclass(frozen=True, slots=True)
class Insert:
    """A new note. One that exists already is a conflict."""

    note: Note
    by: str
    kind: ChangeKind = "created"


@dataclass(frozen=True, slots=True)
class Replace:
    """A new state of a note, valid only if `expected` is still its current state."""

    note: Note
    expected: datetime
    by: str
    kind: ChangeKind = "updated"


@dataclass(frozen=True, slots=True)
class Remove:
    """The end of a note and of its history."""

    note_id: str
    expected: datetime


Change = Insert | Replace | Remove


@dataclass(frozen=True, slots=True)
class Version:
    """A note after one change."""

    note_id: str
    changed_at: datetime
    by: str
    kind: ChangeKind
    title: str
    content: str
    tags: tuple[str, ...]
    status: Status


@dataclass(frozen=True, slots=True)
class Mine:
    """The personal notes of one person."""

    user_id: str


@dataclass(frozen=True, slots=True)
class Team:
    """The notes of the team."""


@dataclass(frozen=True, slots=True)
class MineAndTeam:
    """One person's own notes and the team's, without originals that became a team note."""

    user_id: str


@dataclass(frozen=True, slots=True)
class Proposals:
    """Notes that wait for promotion."""


Shelf = Mine | Team | MineAndTeam | Proposals


@dataclass(frozen=True, slots=True)
class NoteSearch:
    """One question to a store."""

    condition: Condition
    shelf: Shelf
    order: Order
    limit: int


@dataclass(frozen=True, slots=True)
class NoteHit:
    """A note and its score from 0 to 1."""

    note: Note
    score: float


@dataclass(frozen=True, slots=True)
class RankedSearch:
    """One question to the index."""

    query: NoteQuery
    shelf: Shelf
    order: Order
    limit: int


@dataclass(frozen=True, slots=True)
class FoundId:
    """A note by its id, with its rank and the number of the passage that fits best, 0 for none."""

    id: str
    rank: float = 0.0
    passage: int = 0


@dataclass(frozen=True, slots=True)
class FoundIds:
    """Notes with exactly the tag that was asked for, then the rest by rank; `total` of both.

    `nothing` explains where neither they nor a title fit.
    """

    tagged: tuple[FoundId, ...]
    ranked: tuple[FoundId, ...]
    total: int
    nothing: EmptyAnswer | None = None


@dataclass(frozen=True, slots=True)
class NoteListing:
    """A page of a list of notes, asked of the index; its words filter and do not rank."""

    query: NoteQuery
    shelf: Shelf
    limit: int
    offset: int = 0
    max_tags: int = 0


@dataclass(frozen=True, slots=True)
class ListedIds:
    """The newest notes of a listing, how many there are in all, and how often each tag is."""

    ids: tuple[str, ...]
    total: int
    tags: tuple[tuple[str, int], ...]


@dataclass(frozen=True, slots=True)
class Node:
    """A named entity of the knowledge graph."""

    name: str
    node_type: str = ""
    description: str = ""
    content: str = ""
    metadata: dict[str, object] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class BadRow:
    """A line of a file that is no node."""

    line: int
    problem: str


def new_note_id() -> str:
    """A random id in the format of Firestore."""
    return "".join(secrets.choice(_ID_CHARACTERS) for _ in range(20))


def shelf_of(note: Note) -> str:
    """With the team, or with its author as open, proposed or done."""
    return TEAM_SHELF if note.source == "team" else f"{_PLACES[note.status]}:{note.user_id}"


def shelf_names(shelf: Shelf) -> tuple[str, ...] | None:
    """The shelf keys to query; None for all proposals, which are a range of keys."""
    match shelf:
        case Mine(user_id):
            return (f"open:{user_id}", f"proposed:{user_id}", f"done:{user_id}")
        case Team():
            return (TEAM_SHELF,)
        case MineAndTeam(user_id):
            return (f"open:{user_id}", f"proposed:{user_id}", TEAM_SHELF)
        case Proposals():
            return None


def stands_on(note: Note, shelf: Shelf) -> bool:
    """Whether a note is on a shelf."""
    names = shelf_names(shelf)
    if names is None:
        return note.source == "personal" and note.status == "proposed"
    return shelf_of(note) in names


def title_score(note: Note, text: str) -> float:
    return EXACT_TITLE_SCORE if fold_text(note.title) == text else TITLE_PREFIX_SCORE


def text_score(rank: float) -> float:
    """Map an unbounded rank to a score below that of a tag match."""
    rank = max(rank, 0.0)
    return _BEST_TEXT_SCORE * (0.5 + 0.5 * rank / (1.0 + rank))


def sort_key(note: Note, order: Order) -> tuple[object, ...]:
    """The key by which lists from several shelves are merged."""
    key, age = fold_text(note.title), -note.created_at.timestamp()
    return (age, key) if order == "newest" else (key, age)

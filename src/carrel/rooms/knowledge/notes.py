"""A note, what can happen to it, and what can be asked of the notes."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime
from typing import Literal

Source = Literal["personal", "team"]
Status = Literal["draft", "proposed", "promoted"]
ChangeKind = Literal["created", "updated", "proposed", "promoted", "withdrawn", "imported"]
Order = Literal["best", "newest"]
Whose = Literal["mine", "team", "all", "proposed"]

SCHEMA_VERSION = 1
EXACT_TITLE_SCORE = 1.0
TITLE_PREFIX_SCORE = 0.9
TAG_SCORE = 0.85


@dataclass(frozen=True, slots=True)
class Origin:
    """The file a note was imported from, and enough of it to write the same file again."""

    path: str
    digest: str
    front_matter: str
    content_from: str


@dataclass(frozen=True, slots=True)
class Note:
    """One piece of knowledge. `updated_at` grows with every change and is what a writer must have
    seen.
    """

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
    """A new state of a note, for whoever has seen the state of `expected`."""

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
    """A note as it was after one change."""

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
    """Everything a person works with: their own notes, and the team's; an original that became a
    team note is left out.
    """

    user_id: str


@dataclass(frozen=True, slots=True)
class Proposals:
    """What waits for somebody to promote it."""


Shelf = Mine | Team | MineAndTeam | Proposals


@dataclass(frozen=True, slots=True)
class AnyTitle:
    """Every note."""


@dataclass(frozen=True, slots=True)
class TitlePrefix:
    """Notes whose title begins so, whatever the case. `as_typed` serves stores that others fill and
    that compare exactly.
    """

    text: str
    as_typed: str = ""


@dataclass(frozen=True, slots=True)
class Tagged:
    """Notes that carry all of these tags, whatever the case; `as_typed` is as for titles."""

    tags: tuple[str, ...]
    as_typed: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class TextMatch:
    """Notes that contain every one of these phrases, each a sequence of words, and carry all of the
    tags.
    """

    phrases: tuple[tuple[str, ...], ...]
    tags: tuple[str, ...] = ()


Condition = AnyTitle | TitlePrefix | Tagged | TextMatch


@dataclass(frozen=True, slots=True)
class NoteSearch:
    """One question to a store."""

    condition: Condition
    shelf: Shelf
    order: Order
    limit: int


@dataclass(frozen=True, slots=True)
class Found:
    """A note and how well it fits, from 0 to 1."""

    note: Note
    score: float


@dataclass(frozen=True, slots=True)
class Node:
    """A named thing somebody may ask about."""

    name: str
    node_type: str = ""
    description: str = ""
    content: str = ""
    metadata: dict[str, object] = field(default_factory=dict)

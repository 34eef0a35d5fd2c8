"""Records that claim to be a paper, the groups that they make, and why."""

from __future__ import annotations

from dataclasses import dataclass

from carrel.libraries.works.work import Work
from carrel.rooms.papers.building.paper_keys import KeyKind, PaperKey


@dataclass(frozen=True, slots=True)
class RecordClaim:
    """One record's claim to a paper with these keys; `order` decides precedence."""

    record_id: int
    source: str
    order: tuple[int, str, int]
    keys: tuple[PaperKey, ...]
    # None where only keys may join it.
    work: Work | None = None

    @property
    def has_title(self) -> bool:
        if any(key.fingerprint for key in self.keys):
            return True
        # Works of OpenAlex without authors have no key of their fields.
        is_named = any(key.kind is KeyKind.OPENALEX for key in self.keys)
        return is_named and self.work is not None and bool(self.work.title_key)


@dataclass(frozen=True, slots=True)
class Conflict:
    """Two sources that cannot both be right about a name."""

    source: str
    other_source: str
    key: str
    message: str


@dataclass(frozen=True, slots=True)
class RecordJoin:
    """Two sources whose records are one paper though no identifier says so, and why."""

    source: str
    other_source: str
    rule: str
    score: float
    reason: str


@dataclass(frozen=True, slots=True)
class GroupLink:
    """Another group that is a version of this one (`relation`), or may be the same paper."""

    record_id: int
    source: str
    other_source: str
    reason: str
    relation: str | None = None


@dataclass(frozen=True, slots=True)
class PaperGroup:
    """Records of one paper, best source first, and all its keys, strongest first.

    `links` are to other groups, each named by a record of it.
    """

    record_ids: tuple[int, ...]
    keys: tuple[PaperKey, ...]
    sources: tuple[str, ...]
    has_title: bool
    conflicts: tuple[Conflict, ...] = ()
    joins: tuple[RecordJoin, ...] = ()
    links: tuple[GroupLink, ...] = ()
    # Keys of its fields that another group has: it is found by them, and not known by them.
    shared_keys: tuple[str, ...] = ()

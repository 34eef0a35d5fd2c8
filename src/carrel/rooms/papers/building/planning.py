"""What a change of records does to papers: which are new, changed, gone or left out."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass

from carrel.rooms.papers.building.identity import (
    Conflict,
    PaperGroup,
    RecordClaim,
    assign_ids,
    group_records,
)

# Papers written by an older writer are written again when this grows.
WRITER_VERSION = 3
_DIGEST_BYTES = 16


@dataclass(frozen=True, slots=True)
class KnownPaper:
    """A paper of the last publication: its row, and the digest of what it was written from.

    One that was removed has no row, but keeps its identifier and its place for whoever adds it
    again.
    """

    paper_id: str
    paper_index: int
    digest: bytes
    row: int | None
    is_removed: bool


@dataclass(frozen=True, slots=True)
class LinkedRecords:
    """Records that share keys, directly or through others, and the papers known by such keys.

    `known` are identifiers by key. `published_ids` are the records that belong to a paper now.
    """

    claims: tuple[RecordClaim, ...]
    digests: Mapping[int, bytes]
    known: Mapping[str, str]
    papers: tuple[KnownPaper, ...]
    published_ids: frozenset[int]


@dataclass(frozen=True, slots=True)
class PlannedPaper:
    """A paper of the next publication, and what it was before."""

    group: PaperGroup
    paper_id: str
    digest: bytes
    filed: str
    before: KnownPaper | None

    @property
    def is_new(self) -> bool:
        return self.before is None or self.before.is_removed

    @property
    def is_changed(self) -> bool:
        """Whether it must be written."""
        before = self.before
        return before is None or before.row is None or before.digest != self.digest


@dataclass(frozen=True, slots=True)
class PaperChange:
    """A paper as the state remembers it once it is published."""

    paper_id: str
    paper_index: int
    digest: bytes
    row: int | None
    filed: str
    keys: tuple[str, ...]
    record_ids: tuple[int, ...]
    conflicts: tuple[Conflict, ...] = ()


@dataclass(frozen=True, slots=True)
class LinkedPlan:
    """What becomes of linked records; `left_out` are records that no paper is made of."""

    papers: tuple[PlannedPaper, ...]
    gone: tuple[KnownPaper, ...]
    left_out: tuple[int, ...]


def plan_linked(
    linked: LinkedRecords,
    filed_stamp: Callable[[str], str],
    restored: Collection[str] = frozenset(),
) -> LinkedPlan:
    """Group the records and compare with what is published.

    A paper that was removed stays so, unless one of its sources is among `restored`.
    """
    every_group = group_records(linked.claims)
    groups = [found for found in every_group if found.keys and found.has_title]
    paper_ids = assign_ids(groups, linked.known)
    known = {paper.paper_id: paper for paper in linked.papers}
    left_out = [
        record_id
        for found in every_group
        if not (found.keys and found.has_title)
        for record_id in found.record_ids
    ]
    planned: list[PlannedPaper] = []
    for found, paper_id in zip(groups, paper_ids, strict=True):
        before = known.get(paper_id)
        if (
            before is not None
            and before.is_removed
            and not any(source in restored for source in found.sources)
        ):
            left_out += found.record_ids
            continue
        filed = filed_stamp(paper_id)
        digest = _digest(found, paper_id, linked.digests, filed)
        planned.append(PlannedPaper(found, paper_id, digest, filed, before))
    taken = set(paper_ids)
    gone = tuple(
        paper for paper in linked.papers if paper.paper_id not in taken and not paper.is_removed
    )
    return LinkedPlan(tuple(planned), gone, tuple(left_out))


def _digest(found: PaperGroup, paper_id: str, digests: Mapping[int, bytes], filed: str) -> bytes:
    """A digest of everything that the paper is written from."""
    parts = [
        str(WRITER_VERSION),
        paper_id,
        filed,
        *(key.value for key in found.keys),
        *(digests[at].hex() for at in found.record_ids),
        *(conflict.message for conflict in found.conflicts),
    ]
    return hashlib.sha256("\n".join(parts).encode()).digest()[:_DIGEST_BYTES]

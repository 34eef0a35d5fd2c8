"""What a change of records does to papers: which are new, changed, gone or left out."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import PurePath

from carrel.libraries.works.block_lists import NO_BLOCK_LIST, BlockList
from carrel.rooms.papers.building.decided_links import NOTHING_DECIDED, DecidedLinks
from carrel.rooms.papers.building.decisions import Decision, drop_replaced_keys
from carrel.rooms.papers.building.identity import group_records
from carrel.rooms.papers.building.paper_groups import Conflict, PaperGroup, RecordClaim, RecordJoin
from carrel.rooms.papers.building.paper_ids import assign_ids, place_of_most
from carrel.rooms.papers.building.paper_keys import KeyKind, PaperKey
from carrel.rooms.papers.building.paper_records import PossibleTwin
from carrel.rooms.papers.paper_names import former_id_key

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
    `decided` is what people said about them, `paper_of` the paper that a record belongs to now.
    """

    claims: tuple[RecordClaim, ...]
    digests: Mapping[int, bytes]
    known: Mapping[str, str]
    papers: tuple[KnownPaper, ...]
    published_ids: frozenset[int]
    decided: DecidedLinks = NOTHING_DECIDED
    paper_of: Mapping[int, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class PaperLink:
    """Another paper that is a version of this one, or may be the same (`relation` is None)."""

    paper_id: str
    source: str
    other_source: str
    reason: str
    relation: str | None = None


@dataclass(frozen=True, slots=True)
class PlannedPaper:
    """A paper of the next publication, and what it was before."""

    group: PaperGroup
    paper_id: str
    digest: bytes
    filed: str
    before: KnownPaper | None
    edits: tuple[Decision, ...] = ()
    versions: tuple[PaperLink, ...] = ()
    doubtful: tuple[PaperLink, ...] = ()
    # Whose word counts first where people merged papers, by record.
    leads: tuple[int, ...] = ()

    @property
    def is_new(self) -> bool:
        return self.before is None or self.before.is_removed

    @property
    def is_changed(self) -> bool:
        """Whether it must be written."""
        before = self.before
        return before is None or before.row is None or before.digest != self.digest

    @property
    def twins(self) -> tuple[PossibleTwin, ...]:
        """The papers that may be the same work."""
        return tuple(
            PossibleTwin(link.paper_id, PurePath(link.other_source).name, link.reason)
            for link in self.doubtful
        )


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
    joins: tuple[RecordJoin, ...] = ()
    doubtful: tuple[PaperLink, ...] = ()
    versions: tuple[PaperLink, ...] = ()


@dataclass(frozen=True, slots=True)
class PaperLinks:
    """Why the records of a paper are one, which papers it may be, and which are its versions."""

    joins: tuple[RecordJoin, ...] = ()
    doubtful: tuple[PaperLink, ...] = ()
    versions: tuple[PaperLink, ...] = ()


@dataclass(frozen=True, slots=True)
class LinkedPlan:
    """What becomes of linked records; `left_out` are records that no paper is made of.

    `removed` are published papers whose removal counts from now on. `joined` are papers that are
    gone because they became part of another one, which is named first, with their records.
    """

    papers: tuple[PlannedPaper, ...]
    gone: tuple[KnownPaper, ...]
    left_out: tuple[int, ...]
    removed: tuple[KnownPaper, ...] = ()
    joined: tuple[tuple[str, str, frozenset[int]], ...] = ()


def plan_linked(
    linked: LinkedRecords,
    filed_stamp: Callable[[str], str],
    restored: Collection[str] = frozenset(),
    block_list: BlockList = NO_BLOCK_LIST,
) -> LinkedPlan:
    """Group the records and compare with what is published.

    A paper that was removed stays so, unless one of its sources is among `restored`.
    """
    decided = linked.decided
    every_group = group_records(
        linked.claims,
        decided.together,
        decided.apart,
        holders=_find_holders(linked),
        published=linked.paper_of.keys(),
        block_list=block_list,
    )
    # Papers may share every key: parts of a split, and texts with one title and nothing else.
    groups = [found for found in every_group if found.has_title]
    paper_ids = assign_ids(groups, linked.known, decided.ids, linked.paper_of)
    links = _resolve_links(groups, paper_ids)
    known = {paper.paper_id: paper for paper in linked.papers}
    in_papers = {record_id for found in groups for record_id in found.record_ids}
    left_out = [claim.record_id for claim in linked.claims if claim.record_id not in in_papers]
    gone = tuple(
        paper
        for paper in linked.papers
        if paper.paper_id not in set(paper_ids) and not paper.is_removed
    )
    joins = _find_joins(groups, paper_ids, gone, linked)
    ids = (*decided.ids, *((gone_id, records) for _, gone_id, records in joins))
    former = _find_former_ids(groups, paper_ids, ids)
    planned: list[PlannedPaper] = []
    removed: list[KnownPaper] = []
    for at, paper_id in enumerate(paper_ids):
        before = known.get(paper_id)
        edits = decided.edits_of(groups[at].record_ids)
        found = _with_decided_keys(groups[at], edits, paper_id, former.get(at, ()))
        is_restored = any(source in restored for source in found.sources)
        if not is_restored and _is_removed(paper_id, before, decided):
            left_out += found.record_ids
            if before is not None and not before.is_removed:
                removed.append(before)
            continue
        filed = filed_stamp(paper_id)
        versions, doubtful = links[at]
        leads = decided.places_of(found.record_ids)
        digest = _digest(
            found, paper_id, linked.digests, filed, edits, (*versions, *doubtful), leads
        )
        planned.append(
            PlannedPaper(found, paper_id, digest, filed, before, edits, versions, doubtful, leads)
        )
    return LinkedPlan(tuple(planned), gone, tuple(left_out), tuple(removed), joins)


def _find_holders(linked: LinkedRecords) -> dict[str, frozenset[int]]:
    """The records of the papers that are known by each key.

    Where all were read again, none belongs to the paper yet: their fields tell which are its.
    """
    records: dict[str, set[int]] = {}
    for record_id, paper_id in linked.paper_of.items():
        records.setdefault(paper_id, set()).add(record_id)
    read_again = set(linked.known.values()) - records.keys()
    for claim in linked.claims:
        for key in claim.keys:
            known_id = linked.known.get(key.value, "")
            is_new = claim.record_id not in linked.paper_of
            if is_new and key.kind is KeyKind.META and known_id in read_again:
                records.setdefault(known_id, set()).add(claim.record_id)
    return {key: frozenset(records.get(paper_id, ())) for key, paper_id in linked.known.items()}


def _resolve_links(
    groups: Sequence[PaperGroup], paper_ids: Sequence[str]
) -> list[tuple[tuple[PaperLink, ...], tuple[PaperLink, ...]]]:
    """The versions and the doubtful twins of each group, by the papers that they are."""
    paper_of = {
        record_id: paper_id
        for found, paper_id in zip(groups, paper_ids, strict=True)
        for record_id in found.record_ids
    }
    resolved = []
    for found, paper_id in zip(groups, paper_ids, strict=True):
        links: dict[tuple[str, str | None], PaperLink] = {}
        for link in found.links:
            other = paper_of.get(link.record_id)
            if other is not None and other != paper_id:
                links.setdefault(
                    (other, link.relation),
                    PaperLink(other, link.source, link.other_source, link.reason, link.relation),
                )
        ordered = sorted(links.values(), key=lambda each: (each.paper_id, each.relation or ""))
        versions = tuple(each for each in ordered if each.relation is not None)
        related = {each.paper_id for each in versions}
        doubtful = (each for each in ordered if each.relation is None)
        resolved.append((versions, tuple(e for e in doubtful if e.paper_id not in related)))
    return resolved


def _find_joins(
    groups: Sequence[PaperGroup],
    paper_ids: Sequence[str],
    gone: Sequence[KnownPaper],
    linked: LinkedRecords,
) -> tuple[tuple[str, str, frozenset[int]], ...]:
    """Papers that became part of others without anybody's decision."""
    known = {paper_id for paper_id, _ in linked.decided.ids}
    found = []
    for paper in gone:
        records = frozenset(at for at, each in linked.paper_of.items() if each == paper.paper_id)
        place = place_of_most(groups, records)
        if place is not None and paper.paper_id not in known:
            found.append((paper_ids[place], paper.paper_id, records))
    return tuple(found)


def _is_removed(paper_id: str, before: KnownPaper | None, decided: DecidedLinks) -> bool:
    if before is not None and before.is_removed:
        return paper_id not in decided.restored
    return paper_id in decided.removed


def _find_former_ids(
    groups: Sequence[PaperGroup],
    paper_ids: Sequence[str],
    ids: Sequence[tuple[str, frozenset[int]]],
) -> dict[int, list[str]]:
    """Identifiers that stand for papers which are part of others now, by the place of these."""
    former: dict[int, list[str]] = {}
    taken = set(paper_ids)
    for paper_id, record_ids in ids:
        place = place_of_most(groups, record_ids)
        if place is not None and paper_id not in taken:
            taken.add(paper_id)
            former.setdefault(place, []).append(paper_id)
    return former


def _with_decided_keys(
    found: PaperGroup, edits: Sequence[Decision], paper_id: str, former: Sequence[str]
) -> PaperGroup:
    keys = drop_replaced_keys(found.keys, edits) if edits else found.keys
    # A paper needs a key: one whose twin has all of them is known by its identifier.
    own = () if keys else (paper_id,)
    ids = (PaperKey(KeyKind.ID, former_id_key(each)) for each in (*own, *sorted(former)))
    return replace(found, keys=(*keys, *ids))


def _digest(
    found: PaperGroup,
    paper_id: str,
    digests: Mapping[int, bytes],
    filed: str,
    edits: Sequence[Decision] = (),
    links: Sequence[PaperLink] = (),
    leads: Sequence[int] = (),
) -> bytes:
    """A digest of everything that the paper is written from."""
    parts = [
        str(WRITER_VERSION),
        paper_id,
        filed,
        *(key.value for key in found.keys),
        *(digests[at].hex() for at in found.record_ids),
        *(conflict.message for conflict in found.conflicts),
        *(
            json.dumps([change.field, change.after], ensure_ascii=False)
            for edit in edits
            for change in edit.changes
        ),
        *(f"{link.relation} {link.paper_id}" for link in links),
        *(f"lead {lead}" for lead in leads),
    ]
    return hashlib.sha256("\n".join(parts).encode()).digest()[:_DIGEST_BYTES]

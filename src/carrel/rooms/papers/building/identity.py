"""The keys of a paper, which records are the same paper, and the paper_id that follows."""

from __future__ import annotations

import hashlib
import itertools
import json
import re
import unicodedata
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import IntEnum
from typing import Any

from carrel.libraries.works.block_lists import NO_BLOCK_LIST, BlockList
from carrel.libraries.works.comparison import turn_relation
from carrel.libraries.works.linkage import LinkRule
from carrel.libraries.works.linkage import cluster as cluster_works
from carrel.libraries.works.work import Work
from carrel.rooms.papers.building.models import PaperRecord

UNKNOWN = "unknown"
_YEAR = re.compile(r"(?<!\d)(?:1[5-9]|20)\d{2}(?!\d)")
_NUMERIC_MONTH = re.compile(r"(?<!\d)(?:1[5-9]|20)\d{2}[-/.](0?[1-9]|1[0-2])(?!\d)")
_MONTH_WORD = re.compile(
    r"\b(?:(jan)(?:uary)?|(feb)(?:ruary)?|(mar)(?:ch)?|(apr)(?:il)?|(may)|(jun)e?|(jul)y?|(aug)(?:ust)?|(sep)(?:t(?:ember)?)?"
    r"|(oct)(?:ober)?|(nov)(?:ember)?|(dec)(?:ember)?)\b"
)
_ARXIV_DOI = "10.48550/arxiv."


class _SpaceForPunctuation(dict[int, int]):
    """A translation table from punctuation and symbols to spaces, filled at need."""

    def __missing__(self, code: int) -> int:
        self[code] = 32 if unicodedata.category(chr(code))[0] in "PS" else code
        return self[code]


_SPACE_FOR_PUNCTUATION = _SpaceForPunctuation()


class KeyKind(IntEnum):
    """A paper's id is made of the lowest; numbers are part of stored records."""

    DOI = 0
    ARXIV = 1
    BIB = 2
    META = 3
    # Younger than stored ids, so that none is made of them where a paper has another key.
    PMID = 4
    PMCID = 5
    # An id of ours: one that the paper had before papers were joined, or its own in need.
    ID = 9


# Strongest first.
_JOIN_ORDER = (
    KeyKind.DOI,
    KeyKind.ARXIV,
    KeyKind.PMID,
    KeyKind.PMCID,
    KeyKind.BIB,
    KeyKind.META,
)
_OWN_IDENTIFIERS = frozenset({KeyKind.DOI, KeyKind.ARXIV})
_PUBMED = frozenset({KeyKind.PMID, KeyKind.PMCID})


@dataclass(frozen=True, slots=True)
class PaperKey:
    """One name of a paper. `fingerprint` is the readable form behind a meta key's hash."""

    kind: KeyKind
    value: str
    fingerprint: str | None = None

    @property
    def kind_name(self) -> str:
        return self.kind.name.lower()


def make_paper_id(key: str) -> str:
    """The paper identifier for this key, the same in every snapshot."""
    return hashlib.sha256(f"v1|{key}".encode()).hexdigest()[:32]


def paper_keys(record: PaperRecord) -> tuple[PaperKey, ...]:
    """All keys of a record, those that ids are made of first; empty without any."""
    keys: list[PaperKey] = []
    arxiv_id = record.arxiv_id
    if record.doi:
        doi = record.doi.rstrip(".,;)")
        keys.append(PaperKey(KeyKind.DOI, f"doi:{doi}"))
        if arxiv_id is None and doi.startswith(_ARXIV_DOI):
            arxiv_id = doi.removeprefix(_ARXIV_DOI)
    if arxiv_id:
        keys.append(PaperKey(KeyKind.ARXIV, f"arxiv:{re.sub(r'v[0-9]+$', '', arxiv_id.lower())}"))
    if record.citation_key:
        keys.append(PaperKey(KeyKind.BIB, f"bib:{record.citation_key}"))
    if normalise_title(record.title):
        fingerprint = meta_fingerprint(record)
        keys.append(
            PaperKey(
                KeyKind.META,
                f"meta:{hashlib.sha256(fingerprint.encode()).hexdigest()}",
                fingerprint,
            )
        )
    if record.pmid:
        keys.append(PaperKey(KeyKind.PMID, f"pmid:{record.pmid}"))
    if record.pmcid:
        keys.append(PaperKey(KeyKind.PMCID, f"pmcid:{record.pmcid.lower()}"))
    return tuple(keys)


def meta_fingerprint(record: PaperRecord) -> str:
    """Title, authors, venue and year, normalised so that spelling does not matter."""
    facts = {
        "authors": sorted(name for author in record.authors if (name := _normalise(author))),
        "title": normalise_title(record.title),
        "venue": _normalise(record.venue or ""),
        "year": find_year(record.publication_date),
    }
    return json.dumps(facts, ensure_ascii=False, separators=(",", ":"), sort_keys=True)


def normalise_title(title: str) -> str:
    """The title in lower case, with only letters, digits, marks and single spaces."""
    return " ".join(
        unicodedata.normalize("NFKC", title).lower().translate(_SPACE_FOR_PUNCTUATION).split()
    )


def find_year(date: str | None) -> str:
    found = _YEAR.search(date or "")
    return found.group() if found else UNKNOWN


def find_month(date: str | None) -> str:
    """The month of '2017-06', '2017/6/12' or 'March 2021' as two digits."""
    text = (date or "").lower()
    if found := _NUMERIC_MONTH.search(text):
        return f"{int(found.group(1)):02d}"
    if found := _MONTH_WORD.search(text):
        return f"{found.lastindex or 0:02d}"
    return UNKNOWN


def facet_value(text: str | None) -> str | None:
    """A facet value in lower case with single spaces; None if empty or unknown."""
    value = " ".join((text or "").lower().split())
    return None if value in {"", UNKNOWN} else value


def _normalise(text: str) -> str:
    # Not `fold_text`: the fingerprint is part of paper_id, in the snapshots of other tools as well.
    return " ".join(unicodedata.normalize("NFKC", text).lower().split())


# Shares of words that two titles have in common, chosen by hand.
_MIN_LIKENESS_FOR_LABEL = 0.5
_MIN_LIKENESS_FOR_IDENTIFIER = 0.25
_TWO_DOIS = "their DOIs differ"


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
        return any(key.fingerprint for key in self.keys)


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


@dataclass(slots=True)
class _Cluster:
    claims: list[int]
    dois: set[str]
    conflicts: list[Conflict] = field(default_factory=list)
    joins: list[RecordJoin] = field(default_factory=list)


def group_records(
    claims: Iterable[RecordClaim],
    together: Sequence[frozenset[int]] = (),
    apart: Sequence[Sequence[frozenset[int]]] = (),
    *,
    holders: Mapping[str, frozenset[int]] | None = None,
    block_list: BlockList = NO_BLOCK_LIST,
) -> list[PaperGroup]:
    """Joins records by keys, strongest first, then by files and likeness.

    Likeness never overrides an identifier. What people decided goes before all keys: sets of
    records that are `together`, and splits whose parts stay `apart`, unless one of the former holds
    records of both. `holders` are records of papers that are known by a key: of several groups with
    that key theirs keeps it.
    """
    ordered = sorted(claims, key=lambda claim: claim.order)
    clusters = _RecordClusters(ordered, apart)
    clusters.join_decided(together)
    for kind in _JOIN_ORDER:
        clusters.join_by(kind)
    clusters.join_alike(block_list)
    return _share_keys(clusters.groups(), apart, holders or {})


def _share_keys(
    groups: Sequence[PaperGroup],
    apart: Sequence[Sequence[frozenset[int]]],
    holders: Mapping[str, frozenset[int]],
) -> list[PaperGroup]:
    """A key that several groups have stays with the one that keeps the id."""
    if len(groups) < 2:
        return list(groups)
    left = frozenset(record_id for parts in apart for part in parts[1:] for record_id in part)
    ranked = sorted(groups, key=lambda group: bool(left.intersection(group.record_ids)))
    owners: dict[str, PaperGroup] = {}
    for group in ranked:
        for key in group.keys:
            if holders.get(key.value, frozenset()).intersection(group.record_ids):
                owners.setdefault(key.value, group)
    for group in ranked:
        for key in group.keys:
            owners.setdefault(key.value, group)
    return [
        replace(
            group,
            keys=tuple(key for key in group.keys if owners[key.value] is group),
            shared_keys=tuple(
                key.value
                for key in group.keys
                if key.kind is KeyKind.META and owners[key.value] is not group
            ),
        )
        for group in groups
    ]


class _RecordClusters:
    """Clusters of claims while they are being joined."""

    def __init__(
        self, claims: Sequence[RecordClaim], apart: Sequence[Sequence[frozenset[int]]] = ()
    ) -> None:
        self._claims = claims
        self._apart = apart
        self._cluster_of = list(range(len(claims)))
        self._clusters = {
            at: _Cluster([at], {key.value for key in claim.keys if key.kind is KeyKind.DOI})
            for at, claim in enumerate(claims)
        }
        self._rejected_keys: set[tuple[int, str]] = set()
        self._title_only: set[int] = set()
        self._words: dict[int, tuple[frozenset[str], frozenset[str]]] = {}
        self._links: dict[int, list[GroupLink]] = {}

    def join_decided(self, together: Sequence[frozenset[int]]) -> None:
        """Join what people said is one paper."""
        places = {claim.record_id: at for at, claim in enumerate(self._claims)}
        for records in together:
            first, *others = sorted(places[each] for each in records if each in places) or [0]
            for at in others:
                if self._cluster_of[first] != self._cluster_of[at]:
                    self._join(first, at)

    def join_by(self, kind: KeyKind) -> None:
        holders: dict[str, list[int]] = {}
        for at, claim in enumerate(self._claims):
            for key in claim.keys:
                if key.kind is kind and self._may_use(at, key):
                    self._join_one(at, key, holders.setdefault(key.value, []))

    def _join_one(self, at: int, key: PaperKey, holders: list[int]) -> None:
        """Join a claim with the first holder of a key that nobody keeps it apart from."""
        for holder in holders:
            if self._cluster_of[holder] == self._cluster_of[at]:
                return
            if self._is_kept_apart(holder, at):
                continue
            if key.kind is KeyKind.META and self._is_only_a_title(key, holder, at):
                continue
            if reason := self._reason_to_separate(key.kind, holder, at):
                self._reject(at, holder, key, reason)
            else:
                self._join(holder, at)
            return
        holders.append(at)

    def _is_only_a_title(self, key: PaperKey, one: int, other: int) -> bool:
        """Whether equal fields are too few to be one paper: a title alone is not identity."""
        if has_only_title(key):
            return True
        here, there = self._claims[one].work, self._claims[other].work
        if here is None or there is None or here.source is None or here.source != there.source:
            return False
        return not here.is_identical(there)

    def join_alike(self, block_list: BlockList) -> None:
        """Join by files, same bytes and likeness what keys left apart; note what is doubtful."""
        if len(self._clusters) < 2:
            return
        works = [self._work_of(at) for at in range(len(self._claims))]
        places = {claim.record_id: at for at, claim in enumerate(self._claims)}
        found = cluster_works(
            works,
            always=[set(each.claims) for each in self._clusters.values() if len(each.claims) > 1],
            never=[
                [{places[each] for each in part if each in places} for part in parts]
                for parts in self._apart
            ],
            block_list=block_list,
        )
        for event in found.joins:
            if event.rule is LinkRule.DECISION:
                continue
            one, other = sorted((event.one, event.other))
            self._join(one, other)
            self._clusters[self._cluster_of[one]].joins.append(
                RecordJoin(
                    self._claims[one].source,
                    self._claims[other].source,
                    event.rule.name.lower(),
                    round(event.score, 2),
                    event.reason,
                )
            )
        for link in found.versions:
            self._link(link.one, link.other, link.reason, link.relation)
            self._link(link.other, link.one, link.reason, turn_relation(link.relation))
        for pair in found.doubtful:
            self._link(pair.one, pair.other, pair.reason)
            self._link(pair.other, pair.one, pair.reason)

    def _work_of(self, at: int) -> Work:
        """The work of a claim, without identifiers that were refused."""
        work = self._claims[at].work or Work("")
        if at in self._title_only:
            work = replace(work, doi=None, arxiv_id=None, pmid=None)
        return replace(work, order=(at,))

    def _link(self, at: int, other: int, reason: str, relation: str | None = None) -> None:
        here, there = self._claims[at], self._claims[other]
        link = GroupLink(there.record_id, here.source, there.source, reason, relation)
        self._links.setdefault(at, []).append(link)

    def _is_kept_apart(self, one: int, other: int) -> bool:
        if not self._apart:
            return False
        mine, theirs = (
            {self._claims[at].record_id for at in self._clusters[self._cluster_of[each]].claims}
            for each in (one, other)
        )
        for parts in self._apart:
            here = {at for at, part in enumerate(parts) if part & mine}
            there = {at for at, part in enumerate(parts) if part & theirs}
            if here and there and not here & there:
                return True
        return False

    def groups(self) -> list[PaperGroup]:
        found = []
        for cluster in self._clusters.values():
            members = sorted(cluster.claims)
            keys = {
                key.value: key
                for at in members
                for key in self._claims[at].keys
                if (at, key.value) not in self._rejected_keys and self._may_use(at, key)
            }
            # A stable sort: among names of one kind the best source's comes first.
            ranked = tuple(sorted(keys.values(), key=lambda key: key.kind))
            ids = tuple(self._claims[at].record_id for at in members)
            sources = tuple(dict.fromkeys(self._claims[at].source for at in members))
            has_title = any(self._claims[at].has_title for at in members)
            links = [link for at in members for link in self._links.get(at, ())]
            found.append(
                PaperGroup(
                    ids,
                    ranked,
                    sources,
                    has_title,
                    tuple(cluster.conflicts),
                    tuple(cluster.joins),
                    tuple({(each.record_id, each.relation): each for each in links}.values()),
                )
            )
        return found

    def _may_use(self, at: int, key: PaperKey) -> bool:
        """A claim whose identifier was refused is filed under its title alone."""
        return key.kind is KeyKind.META or at not in self._title_only

    def _reason_to_separate(self, kind: KeyKind, holder: int, at: int) -> str | None:
        if kind is KeyKind.DOI:
            return self._compare_people(holder, at)
        if kind is KeyKind.ARXIV and (reason := self._compare_people(holder, at)):
            return reason
        mine, theirs = (
            self._clusters[self._cluster_of[at]].dois,
            self._clusters[self._cluster_of[holder]].dois,
        )
        if mine and theirs and not mine & theirs:
            return _TWO_DOIS
        if kind in _PUBMED:
            return self._compare_people(holder, at)
        if kind is KeyKind.BIB and self._title_similarity(holder, at) < _MIN_LIKENESS_FOR_LABEL:
            return "their titles differ"
        return None

    def _compare_people(self, holder: int, at: int) -> str | None:
        """Titles alone may differ (they are changed and translated), titles and authors not."""
        people, others = self._title_and_names(holder)[1], self._title_and_names(at)[1]
        if (
            people
            and others
            and not people & others
            and self._title_similarity(holder, at) < _MIN_LIKENESS_FOR_IDENTIFIER
        ):
            return "neither title nor authors agree"
        return None

    def _title_similarity(self, one: int, other: int) -> float:
        words, more_words = self._title_and_names(one)[0], self._title_and_names(other)[0]
        return len(words & more_words) / len(words | more_words) if words and more_words else 1.0

    def _title_and_names(self, at: int) -> tuple[frozenset[str], frozenset[str]]:
        """The words of the title and of the authors' names."""
        if at not in self._words:
            written = next(
                (key.fingerprint for key in self._claims[at].keys if key.fingerprint), None
            )
            facts: dict[str, Any] = json.loads(written) if written else {"title": "", "authors": []}
            people = frozenset(
                word.strip(".,")
                for name in facts["authors"]
                for word in name.split()
                if len(word.strip(".,")) > 1
            )
            self._words[at] = (frozenset(facts["title"].split()), people)
        return self._words[at]

    def _reject(self, at: int, holder: int, key: PaperKey, reason: str) -> None:
        self._rejected_keys.add((at, key.value))
        # Preprint and article may name one arXiv id and have a DOI each.
        if key.kind in _OWN_IDENTIFIERS and reason != _TWO_DOIS:
            self._title_only.add(at)
            mine = self._clusters[self._cluster_of[at]]
            mine.dois.discard(key.value)
            source, other = self._claims[at].source, self._claims[holder].source
            message = (
                f"claims {key.value}, which {other} has as well, but {reason}; it is filed "
                f"under its title instead"
            )
            mine.conflicts.append(Conflict(source, other, key.value, message))

    def _join(self, holder: int, at: int) -> None:
        kept, gone = sorted((self._cluster_of[holder], self._cluster_of[at]))
        cluster, leaving = self._clusters[kept], self._clusters.pop(gone)
        for member in leaving.claims:
            self._cluster_of[member] = kept
        cluster.claims.extend(leaving.claims)
        cluster.dois |= leaving.dois
        cluster.conflicts.extend(leaving.conflicts)
        cluster.joins.extend(leaving.joins)


def has_only_title(key: PaperKey) -> bool:
    """Whether the fields behind a meta key are a title without people, and without a place."""
    if key.kind is not KeyKind.META or key.fingerprint is None:
        return False
    facts: dict[str, Any] = json.loads(key.fingerprint)
    has_place = facts.get("venue") and facts.get("year") not in {"", UNKNOWN, None}
    return not facts["authors"] and not has_place


def assign_ids(
    groups: Sequence[PaperGroup],
    known: Mapping[str, str],
    decided: Sequence[tuple[str, frozenset[int]]] = (),
    paper_of: Mapping[int, str] | None = None,
) -> list[str]:
    """An identifier for each group; those of the last snapshot, given by key in `known`, stay.

    So a paper known by its title keeps its identifier when a DOI arrives later. What was `decided`,
    an identifier and its records, goes first. `paper_of` is the paper that a record belongs to now.
    """
    assigned: dict[int, str] = {}
    taken: set[str] = set()

    def take(at: int, paper_id: str | None) -> None:
        if paper_id is not None and at not in assigned and paper_id not in taken:
            assigned[at] = paper_id
            taken.add(paper_id)

    for paper_id, record_ids in decided:
        place = place_of_most(groups, record_ids)
        take(-1 if place is None else place, None if place is None else paper_id)
    published = set(known.values())
    for at, found in enumerate(groups):
        for key in found.keys:
            native = make_paper_id(key.value)
            take(at, native if native in published and known.get(key.value) == native else None)
    for at, found in enumerate(groups):
        for key in found.keys:
            take(at, known.get(key.value))
    for at, found in enumerate(groups):
        # One whose twin has all its keys stays what it is.
        take(at, None if found.keys else (paper_of or {}).get(found.record_ids[0]))
    for at, found in enumerate(groups):
        for key in found.keys:
            take(at, make_paper_id(key.value))
    for at in sorted({*range(len(groups))} - assigned.keys()):
        take(at, _make_place_id(groups[at].sources[0], taken))
    return [assigned[at] for at in range(len(groups))]


def _make_place_id(source: str, taken: Collection[str]) -> str:
    """An id of where a paper was read: parts of a split, and papers with one title and nothing
    else, may share every key.
    """
    ids = (make_paper_id(f"place:{source}:{number}") for number in itertools.count(1))
    return next(paper_id for paper_id in ids if paper_id not in taken)


def place_of_most(groups: Sequence[PaperGroup], record_ids: frozenset[int]) -> int | None:
    """The group that has most of the records, the first of several; None where none has any."""
    shares = [len(record_ids.intersection(group.record_ids)) for group in groups]
    most = max(shares, default=0)
    return shares.index(most) if most else None

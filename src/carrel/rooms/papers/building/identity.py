"""Which records are the same paper: joins by decisions of people, keys, files and likeness."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from carrel.libraries.works.block_lists import NO_BLOCK_LIST, BlockList
from carrel.libraries.works.comparison import turn_relation
from carrel.libraries.works.link_events import LinkRule
from carrel.libraries.works.linkage import cluster as cluster_works
from carrel.libraries.works.work import Work
from carrel.rooms.papers.building.paper_groups import (
    Conflict,
    GroupLink,
    PaperGroup,
    RecordClaim,
    RecordJoin,
)
from carrel.rooms.papers.building.paper_keys import KeyKind, PaperKey, has_only_title

# Strongest first.
_JOIN_ORDER = (
    KeyKind.DOI,
    KeyKind.ARXIV,
    KeyKind.PMID,
    KeyKind.PMCID,
    KeyKind.OPENALEX,
    KeyKind.BIB,
    KeyKind.META,
)
_OWN_IDENTIFIERS = frozenset({KeyKind.DOI, KeyKind.ARXIV})
_NUMBERS = frozenset({KeyKind.PMID, KeyKind.PMCID, KeyKind.OPENALEX})


# Shares of words that two titles have in common, chosen by hand.
_MIN_LIKENESS_FOR_LABEL = 0.5
_MIN_LIKENESS_FOR_IDENTIFIER = 0.25
_TWO_DOIS = "their DOIs differ"


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
    published: Collection[int] = (),
    block_list: BlockList = NO_BLOCK_LIST,
) -> list[PaperGroup]:
    """Joins records by keys, strongest first, then by files and likeness.

    Likeness never overrides an identifier. What people decided goes before all keys: sets of
    records that are `together`, and splits whose parts stay `apart`, unless one of the former holds
    records of both. `holders` are records of papers that are known by a key: of several groups with
    that key theirs keeps it, whatever their order. `published` are records that belong to a paper.
    """
    ordered = sorted(claims, key=lambda claim: claim.order)
    clusters = _RecordClusters(ordered, apart, holders or {}, published)
    if len(ordered) == 1:
        return clusters.groups()
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
        self,
        claims: Sequence[RecordClaim],
        apart: Sequence[Sequence[frozenset[int]]],
        holders: Mapping[str, frozenset[int]],
        published: Collection[int],
    ) -> None:
        self._claims = claims
        self._apart = apart
        self._holders = holders
        self._published = published
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
        named = [
            (self._standing(at, key), at, key)
            for at, claim in enumerate(self._claims)
            for key in claim.keys
            if key.kind is kind
        ]
        for _, at, key in sorted(named, key=lambda each: each[:2]):
            if self._may_use(at, key):
                self._join_one(at, key, holders.setdefault(key.value, []))

    def _standing(self, at: int, key: PaperKey) -> int:
        """Whose word about a key counts first: who is published with it, then whoever is new."""
        holders = self._holders.get(key.value)
        if holders is None:
            return 0
        record_id = self._claims[at].record_id
        if record_id in holders:
            return 0
        return 2 if record_id in self._published else 1

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
        if kind in _NUMBERS:
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

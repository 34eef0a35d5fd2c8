"""Which records are one work: joins by identifiers, files and likeness, each with its reason."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass, field

from carrel.libraries.works import linkage_weights as fitted
from carrel.libraries.works.block_lists import NO_BLOCK_LIST, BlockList
from carrel.libraries.works.blocking import compare_blocked
from carrel.libraries.works.comparison import LinkVerdict
from carrel.libraries.works.link_events import (
    DOIS_DIFFER,
    IDENTIFIER_RULES,
    Clustering,
    DoubtfulPair,
    JoinEvent,
    LinkRule,
    RefusedKey,
    VersionLink,
)
from carrel.libraries.works.people import count_shared_people
from carrel.libraries.works.title_differences import find_title_difference
from carrel.libraries.works.titles import title_likeness
from carrel.libraries.works.work import Work


def cluster(
    works: Sequence[Work],
    *,
    always: Iterable[Collection[int]] = (),
    never: Sequence[Sequence[Collection[int]]] = (),
    block_list: BlockList = NO_BLOCK_LIST,
) -> Clustering:
    """Join records of one work; the order in which they are given makes no difference.

    What a person decided goes before all else: positions in one set of `always` are one work, and
    the sets of one entry of `never` are different works, unless a set of `always` holds both.
    """
    clusters = _Clusters(works, never, block_list)
    clusters.join_by_decision(always)
    for rule in (LinkRule.DOI, LinkRule.ARXIV, LinkRule.PMID, LinkRule.RECORD):
        clusters.join_by_key(rule, _KEYS[rule])
    clusters.join_by_file()
    for rule in (LinkRule.CONTENT, LinkRule.LABEL, LinkRule.IDENTICAL):
        clusters.join_by_key(rule, _KEYS[rule])
    clusters.join_by_likeness()
    return clusters.result()


def _list_keys(value: str | None) -> tuple[str, ...]:
    return (value,) if value else ()


_KEYS: dict[LinkRule, Callable[[Work], tuple[str, ...]]] = {
    LinkRule.DOI: lambda work: _list_keys(work.own_doi),
    LinkRule.ARXIV: lambda work: _list_keys(work.own_arxiv_id),
    LinkRule.PMID: lambda work: _list_keys(work.pmid),
    LinkRule.RECORD: lambda work: work.other_ids,
    LinkRule.CONTENT: lambda work: work.contents,
    LinkRule.LABEL: lambda work: _list_keys(work.label),
    LinkRule.IDENTICAL: lambda work: _list_keys(work.fingerprint),
}
_SAID = {
    LinkRule.DOI: "same DOI",
    LinkRule.ARXIV: "same arXiv id",
    LinkRule.PMID: "same PubMed id",
    LinkRule.RECORD: "same identifier of a service",
    LinkRule.CONTENT: "the same text, byte for byte",
    LinkRule.LABEL: "same citation key and title",
    LinkRule.IDENTICAL: "same title, authors, venue and year",
}


# Different titles of the records of one work; more of them are those of broken records.
_MAX_TITLES_COMPARED = 12


@dataclass(slots=True)
class _Cluster:
    members: list[int]
    dois: set[str]
    arxiv_ids: set[str]
    pmids: set[str]
    years: set[int]
    sources: dict[str, int]


@dataclass(slots=True)
class _Clusters:
    """Clusters of works while they are being joined; positions are those in order."""

    given: Sequence[Work]
    given_never: Sequence[Sequence[Collection[int]]]
    block_list: BlockList
    places: list[int] = field(init=False)
    works: list[Work] = field(init=False)
    cluster_of: list[int] = field(init=False)
    clusters: dict[int, _Cluster] = field(init=False)
    parts_of: dict[int, dict[int, set[int]]] = field(init=False)
    without_identifier: set[int] = field(default_factory=set)
    joins: list[JoinEvent] = field(default_factory=list)
    doubtful: list[DoubtfulPair] = field(default_factory=list)
    versions: list[VersionLink] = field(default_factory=list)
    refused: list[RefusedKey] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.places = sorted(range(len(self.given)), key=lambda at: _sort_key(self.given[at]))
        self.works = [self.given[at] for at in self.places]
        self.cluster_of = list(range(len(self.works)))
        self.clusters = {at: _start_cluster(at, work) for at, work in enumerate(self.works)}
        place_of = {given: at for at, given in enumerate(self.places)}
        self.parts_of = {}
        for number, parts in enumerate(self.given_never):
            for part, members in enumerate(parts):
                for given in members:
                    found = self.parts_of.setdefault(place_of[given], {})
                    found.setdefault(number, set()).add(part)

    def join_by_decision(self, always: Iterable[Collection[int]]) -> None:
        place_of = {given: at for at, given in enumerate(self.places)}
        for first, *others in sorted(
            sorted(place_of[at] for at in each) for each in always if each
        ):
            for other in others:
                if self.cluster_of[first] != self.cluster_of[other]:
                    self._join(first, other, LinkRule.DECISION, 0.0, "a person joined them")

    def join_by_key(self, rule: LinkRule, keys_of: Callable[[Work], tuple[str, ...]]) -> None:
        holders: dict[str, list[int]] = defaultdict(list)
        for at, work in enumerate(self.works):
            if at in self.without_identifier and rule is not LinkRule.IDENTICAL:
                continue
            for key in keys_of(work):
                self._join_with_holder(rule, at, key, holders[key])

    def _join_with_holder(self, rule: LinkRule, at: int, key: str, holders: list[int]) -> None:
        """Join with the first holder of a key that nobody keeps it apart from."""
        for holder in holders:
            if self.cluster_of[holder] == self.cluster_of[at]:
                return
            if self._is_kept_apart(holder, at):
                continue
            if reason := self._reason_against_key(rule, holder, at):
                self._refuse(rule, holder, at, key, reason)
            else:
                self._join(holder, at, rule, 0.0, _SAID[rule])
            return
        holders.append(at)

    def join_by_file(self) -> None:
        """Join the entry of a list with the file that it names; several are told by their title."""
        owner_of: dict[str, int] = {}
        for at, work in enumerate(self.works):
            if work.file is not None:
                owner_of.setdefault(work.file, at)
        claims: dict[tuple[int, str | None], list[int]] = defaultdict(list)
        for at, work in enumerate(self.works):
            for link in work.links:
                if (owner := owner_of.get(link)) is not None and owner != at:
                    claims[owner, work.source].append(at)

        def claim_order(claim: tuple[tuple[int, str | None], list[int]]) -> tuple[bool, list[int]]:
            # Who has the title of the file comes first: a record that was given a wrong file must
            # not take it from the one whose text it is.
            (owner, _), entries = claim
            return not any(self._is_title_alike(owner, at) for at in entries), entries

        for (owner, _), entries in sorted(claims.items(), key=claim_order):
            for at in entries:
                together = self.cluster_of[owner] == self.cluster_of[at]
                if together or self._is_kept_apart(owner, at):
                    continue
                reason = self._reason_against_key(LinkRule.FILE, owner, at)
                if len(entries) > 1 and not self._is_title_alike(owner, at):
                    reason = reason or "several entries name this file"
                if reason is None:
                    self._join(owner, at, LinkRule.FILE, 0.0, "the entry names this file")
                else:
                    self._refuse(LinkRule.FILE, owner, at, self.works[owner].file or "", reason)

    def join_by_likeness(self) -> None:
        compared = list(compare_blocked(self.works, self.block_list, self.cluster_of))
        same = [each for each in compared if each[2].verdict is LinkVerdict.SAME]
        partners: dict[int, list[tuple[float, int]]] = defaultdict(list)
        for one, other, found in same:
            partners[one].append((found.score, other))
            partners[other].append((found.score, one))
        for one, other, found in sorted(same, key=lambda each: (-each[2].score, each[0], each[1])):
            if self.cluster_of[one] == self.cluster_of[other]:
                continue
            if self._is_kept_apart(one, other):
                continue
            reason = self._reason_against_likeness(one, other) or self._find_tie(
                one, other, found.score, partners
            )
            if reason is None:
                self._join(one, other, LinkRule.LIKENESS, found.score, found.reason)
            else:
                self._doubt(one, other, found.score, f"{found.reason}; {reason}")
        for one, other, found in compared:
            if self.cluster_of[one] == self.cluster_of[other] or self._is_kept_apart(one, other):
                continue
            if found.verdict is LinkVerdict.DOUBTFUL:
                self._doubt(one, other, found.score, found.reason)
            elif found.verdict is LinkVerdict.VERSION and found.relation is not None:
                self.versions.append(
                    VersionLink(self.places[one], self.places[other], found.relation, found.reason)
                )

    def result(self) -> Clustering:
        groups = tuple(
            tuple(self.places[at] for at in sorted(found.members))
            for _, found in sorted(self.clusters.items())
        )
        return Clustering(
            groups,
            tuple(self.joins),
            tuple(self.doubtful),
            tuple(self.versions),
            tuple(self.refused),
        )

    def _reason_against_key(self, rule: LinkRule, holder: int, at: int) -> str | None:
        one, other = self.works[holder], self.works[at]
        if rule in IDENTIFIER_RULES or rule is LinkRule.FILE:
            if self._disagrees(one, other):
                return "neither title nor authors agree"
            if rule is LinkRule.DOI:
                return None
        if self.block_list.forbids(one, other):
            return "the block list of false twins has them"
        mine, theirs = self._cluster(at).dois, self._cluster(holder).dois
        if mine and theirs and not mine & theirs:
            return DOIS_DIFFER
        if rule is LinkRule.LABEL:
            return _reason_against_label(one, other)
        if rule is LinkRule.IDENTICAL and one.source is not None and one.source == other.source:
            return None if one.is_identical(other) else "they are two entries of one list"
        return None

    def _reason_against_likeness(self, one: int, other: int) -> str | None:
        """Why two clusters stay apart although two of their members are alike."""
        if one in self.without_identifier or other in self.without_identifier:
            return "the identifier of one of them belongs to another work"
        if self._is_kept_apart(one, other):
            return "a person keeps them apart"
        here, there = self._cluster(one), self._cluster(other)
        for name, mine, theirs in (
            ("DOIs", here.dois, there.dois),
            ("arXiv ids", here.arxiv_ids, there.arxiv_ids),
            ("PubMed ids", here.pmids, there.pmids),
        ):
            if mine and theirs and not mine & theirs:
                return f"the {name} of their other records differ"
        years = here.years | there.years
        if years and max(years) - min(years) > fitted.MAX_YEARS_APART:
            return "the years of their other records are too far apart"
        if difference := self._find_title_difference(one, other):
            return difference
        for source in here.sources.keys() & there.sources.keys():
            if not self.works[here.sources[source]].is_identical(self.works[there.sources[source]]):
                return "both are like entries of one list that are not the same"
        return None

    def _find_title_difference(self, one: int, other: int) -> str | None:
        """In what titles of two clusters differ; a title without its subtitle is like many."""
        here, there = self.works[one], self.works[other]
        if here.title_key == there.title_key or here.stands_where(there):
            return None
        mine, theirs = (
            sorted({self.works[each].title for each in self._cluster(at).members})
            for at in (one, other)
        )
        mine, theirs = mine[:_MAX_TITLES_COMPARED], theirs[:_MAX_TITLES_COMPARED]
        found = (find_title_difference(one, other) for one in mine for other in theirs)
        return next((difference for difference in found if difference), None)

    def _find_tie(
        self, one: int, other: int, score: float, partners: dict[int, list[tuple[float, int]]]
    ) -> str | None:
        """Whether one of two works is as like to a third that cannot be the other."""
        for at, chosen in ((one, other), (other, one)):
            for rival_score, rival in partners[at]:
                if (
                    rival != chosen
                    and rival_score > score - fitted.TIE_MARGIN
                    and self.cluster_of[rival] not in (self.cluster_of[chosen], self.cluster_of[at])
                    and self._reason_against_likeness(chosen, rival)
                ):
                    return "another work is as much like it"
        return None

    def _is_kept_apart(self, one: int, other: int) -> bool:
        """Whether a person split what the clusters of two works hold."""
        if not self.parts_of:
            return False
        here, there = self._parts(one), self._parts(other)
        return any(not here[number] & there[number] for number in here.keys() & there.keys())

    def _parts(self, at: int) -> dict[int, set[int]]:
        found: dict[int, set[int]] = {}
        for member in self._cluster(at).members:
            for number, parts in self.parts_of.get(member, {}).items():
                found.setdefault(number, set()).update(parts)
        return found

    def _is_title_alike(self, one: int, other: int) -> bool:
        here, there = self.works[one].title_key, self.works[other].title_key
        return title_likeness(here, there) >= fitted.MIN_ALIKE

    def _disagrees(self, one: Work, other: Work) -> bool:
        """Titles alone may differ (they are changed and translated), titles and authors not."""
        return (
            bool(one.names and other.names)
            and count_shared_people(one.names, other.names).shared == 0
            and _share_of_words(one, other) < fitted.MIN_LIKENESS_FOR_IDENTIFIER
        )

    def _cluster(self, at: int) -> _Cluster:
        return self.clusters[self.cluster_of[at]]

    def _refuse(self, rule: LinkRule, holder: int, at: int, key: str, reason: str) -> None:
        self.refused.append(RefusedKey(self.places[at], self.places[holder], rule, key, reason))
        if rule in {LinkRule.DOI, LinkRule.ARXIV} and reason != DOIS_DIFFER:
            self.without_identifier.add(at)
            self._cluster(at).dois.discard(key)

    def _doubt(self, one: int, other: int, score: float, reason: str) -> None:
        self.doubtful.append(DoubtfulPair(self.places[one], self.places[other], score, reason))

    def _join(self, one: int, other: int, rule: LinkRule, score: float, reason: str) -> None:
        self.joins.append(JoinEvent(self.places[one], self.places[other], rule, score, reason))
        kept, gone = sorted((self.cluster_of[one], self.cluster_of[other]))
        found, leaving = self.clusters[kept], self.clusters.pop(gone)
        for member in leaving.members:
            self.cluster_of[member] = kept
        found.members.extend(leaving.members)
        found.dois |= leaving.dois
        found.arxiv_ids |= leaving.arxiv_ids
        found.pmids |= leaving.pmids
        found.years |= leaving.years
        for source, at in leaving.sources.items():
            found.sources.setdefault(source, at)


def _sort_key(work: Work) -> tuple[object, ...]:
    facts = (work.title, work.people, work.year or 0, work.doi or "", work.arxiv_id or "")
    return (work.order, *facts, work.source or "", work.venue or "", work.file or "")


def _start_cluster(at: int, work: Work) -> _Cluster:
    return _Cluster(
        [at],
        {work.own_doi} if work.own_doi else set(),
        {work.own_arxiv_id} if work.own_arxiv_id else set(),
        {work.pmid} if work.pmid else set(),
        {work.year} if work.year else set(),
        {work.source: at} if work.source else {},
    )


def _reason_against_label(one: Work, other: Work) -> str | None:
    if _share_of_words(one, other) < fitted.MIN_LIKENESS_FOR_LABEL:
        return "their titles differ"
    if one.stands_where(other):
        return None
    return find_title_difference(one.title, other.title)


def _share_of_words(one: Work, other: Work) -> float:
    here, there = set(one.words), set(other.words)
    return len(here & there) / len(here | there) if here and there else 1.0

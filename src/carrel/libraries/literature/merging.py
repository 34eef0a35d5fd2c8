"""Records of many services as works: one work for one text, field by field, versions linked.

    merged = merge_records(records)

Which records are one work is decided by `libraries/works/linkage.py`; which service is believed for
each field by `field_choice.py`. The order of the records makes no difference, and merging the
records of merged works again, alone or with more, gives what merging all at once gives.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from carrel.libraries.literature.comparable_titles import make_comparable
from carrel.libraries.literature.false_twins import (
    find_false_dois,
    is_doi_of_other_work,
    is_known_false_twin,
)
from carrel.libraries.literature.field_choice import (
    choose_fields,
    find_year_conflict,
    list_id_candidates,
)
from carrel.libraries.literature.record_identity import (
    RecordIdentity,
    identify_records,
    service_place,
)
from carrel.libraries.literature.records import MergedWork, ServiceRecord, WorkIds
from carrel.libraries.literature.version_links import (
    find_stated_pairs,
    is_preprint_group,
    link_versions,
)
from carrel.libraries.works.block_lists import NO_BLOCK_LIST, BlockList
from carrel.libraries.works.link_events import Clustering, LinkRule, RefusedKey
from carrel.libraries.works.linkage import cluster
from carrel.libraries.works.titles import squash_title, title_likeness

# Identifiers that several works rightly have: chapters have the ISBN of their book.
_SHARED_KINDS = frozenset({"isbn"})
# Titles less alike than this are told as a conflict; subtitles are left out too often to tell.
_MIN_LIKENESS_UNTOLD = 0.6
_SAID = {
    LinkRule.DOI: "DOI",
    LinkRule.ARXIV: "arXiv id",
    LinkRule.PMID: "PubMed id",
    LinkRule.RECORD: "identifier",
}


def merge_records(
    records: Iterable[ServiceRecord], block_list: BlockList = NO_BLOCK_LIST
) -> list[MergedWork]:
    """The works that records of any services describe, best ranked first.

    Records are one work by their identifiers, else by title, authors and year; never where their
    DOIs differ. A preprint and its article stay two works that name each other in `versions`.
    No identifier (but an ISBN) stands in two of the works.
    """
    kept = _order_records(records)
    false_dois = find_false_dois(kept)
    misplaced = {at for at, each in enumerate(kept) if is_doi_of_other_work(each, false_dois)}
    identities = identify_records(kept, misplaced)
    blocked = replace(block_list, identifiers=block_list.identifiers | false_dois.keys())
    clustering = cluster(
        [identity.work for identity in identities],
        never=find_stated_pairs(identities),
        block_list=blocked,
    )
    merger = _Merger(kept, identities, clustering, misplaced, frozenset(false_dois))
    return sorted(merger.merge(), key=order_of_work)


def list_records(works: Iterable[MergedWork]) -> list[ServiceRecord]:
    """The records of merged works, to be merged again with those of further pages."""
    return [record for work in works for record in work.records]


def _order_records(records: Iterable[ServiceRecord]) -> list[ServiceRecord]:
    """The records in an order of their own, each once with its best rank."""
    by_name: dict[tuple[str, str], dict[object, ServiceRecord]] = defaultdict(dict)
    for record in records:
        same = by_name[record.service, record.service_id]
        before = same.get(record.work)
        same[record.work] = record if before is None else _join_repeated(before, record)
    found: list[ServiceRecord] = []
    for _, same in sorted(
        by_name.items(), key=lambda item: (service_place(item[0][0]), item[0][1])
    ):
        found += sorted(same.values(), key=repr) if len(same) > 1 else same.values()
    return found


def _join_repeated(one: ServiceRecord, other: ServiceRecord) -> ServiceRecord:
    ranks = [each.rank for each in (one, other) if each.rank is not None]
    counts = [each.citation_count for each in (one, other) if each.citation_count is not None]
    return replace(
        one,
        rank=min(ranks) if ranks else None,
        citation_count=max(counts) if counts else None,
    )


def order_of_work(work: MergedWork) -> tuple[Any, ...]:
    """What orders works by their ranks alone, whatever order they come in."""
    ranks = [record.rank for record in work.records if record.rank is not None]
    first = work.records[0]
    return (
        min(ranks) if ranks else float("inf"),
        -len(ranks),
        service_place(first.service),
        first.service_id,
        # A record that comes twice with other content may be two works.
        repr(first.work) if not work.work.title else work.work.title,
        repr(work.work.ids),
    )


@dataclass(slots=True)
class _Merger:
    """The groups of one clustering on their way to works."""

    records: Sequence[ServiceRecord]
    identities: Sequence[RecordIdentity]
    clustering: Clustering
    misplaced: set[int]
    false_dois: frozenset[str]

    def merge(self) -> list[MergedWork]:
        groups = [sorted(group) for group in self.clustering.groups]
        group_of = {at: number for number, group in enumerate(groups) for at in group}
        ids = self._choose_ids(groups)
        fields = [
            choose_fields([self.records[at] for at in group], *ids[number])
            for number, group in enumerate(groups)
        ]
        works = [work for work, _ in fields]
        copies = self._find_copies(groups, [work.ids for work in works])
        versions = link_versions(
            groups, works, self.identities, self.clustering, apart=copies.keys()
        )
        conflicts = self._find_conflicts(groups, group_of)
        merged = []
        for number, group in enumerate(groups):
            members = tuple(self.records[at] for at in group)
            said = conflicts[number]
            if number in copies:
                said = [_say_copy(copies[number]), *said]
            merged.append(
                MergedWork(
                    works[number],
                    fields[number][1],
                    members,
                    versions[number],
                    _count_citations(members),
                    tuple(dict.fromkeys(said)),
                    copies.get(number),
                )
            )
        return merged

    def _choose_ids(self, groups: Sequence[Sequence[int]]) -> list[tuple[WorkIds, dict[str, str]]]:
        """The identifiers of each group: none that is rather that of another group."""
        # A claim is weaker where the identifier is not what its record is of, then by service.
        claims: dict[tuple[str, str], list[tuple[tuple[object, ...], int, str]]] = defaultdict(list)
        for number, group in enumerate(groups):
            is_preprint = is_preprint_group(group, self.identities)
            for at in group:
                own = self.identities[at].keys
                for kind, value, service, place in list_id_candidates([self.records[at]]):
                    is_own = f"{kind}:{value.lower()}" in own or kind not in ("doi", "arxiv")
                    if kind == "doi" and not is_own:
                        continue
                    if kind == "arxiv" and not is_own and is_preprint:
                        continue
                    claims[kind, value].append(((not is_own, place, at), number, service))
        chosen: list[dict[str, tuple[tuple[object, ...], str, str]]] = [{} for _ in groups]
        for (kind, value), claimed in claims.items():
            winner = min(claimed)[1]
            best: dict[int, tuple[tuple[object, ...], str]] = {}
            for strength, number, service in claimed:
                if number == winner or kind in _SHARED_KINDS:
                    best[number] = min(best.get(number, (strength, service)), (strength, service))
            for number, (strength, service) in best.items():
                offer = (strength, value, service)
                chosen[number][kind] = min(chosen[number].get(kind, offer), offer)
        return [
            (
                WorkIds(**{kind: value for kind, (_, value, _) in found.items()}),
                {kind: service for kind, (_, _, service) in found.items()},
            )
            for found in chosen
        ]

    def _find_copies(
        self, groups: Sequence[Sequence[int]], ids: Sequence[WorkIds]
    ) -> dict[int, WorkIds]:
        """The groups that are copies of other people's work, with the original where it is here."""
        by_title: dict[str, list[int]] = defaultdict(list)
        for number, group in enumerate(groups):
            by_title[self.identities[group[0]].work.title_key].append(number)
        copies: dict[int, WorkIds] = {}
        for number, group in enumerate(groups):
            is_false = ids[number].doi in self.false_dois or any(
                is_known_false_twin(self.records[at].work)
                for at in group
                if at not in self.misplaced
            )
            if not is_false:
                continue
            title = self.identities[group[0]].work.title_key
            others = [
                other
                for other in by_title[title]
                if other != number and ids[other].doi not in self.false_dois
            ]
            counts = {
                other: max(self.records[at].citation_count or 0 for at in groups[other])
                for other in others
            }
            most_cited = max(others, key=lambda other: (counts[other], -other), default=None)
            copies[number] = WorkIds() if most_cited is None else ids[most_cited]
        return copies

    def _find_conflicts(
        self, groups: Sequence[Sequence[int]], group_of: dict[int, int]
    ) -> list[list[str]]:
        conflicts: list[list[str]] = [[] for _ in groups]
        for number, group in enumerate(groups):
            members = [self.records[at] for at in group]
            conflicts[number] += filter(None, (_find_title_conflict(members),))
            conflicts[number] += filter(None, (find_year_conflict(members),))
        for at in sorted(self.misplaced):
            record = self.records[at]
            conflicts[group_of[at]].append(
                f"{record.service} gives the DOI {record.work.ids.doi}, which is that of a copy"
            )
        for refused in self.clustering.refused:
            one, other = group_of[refused.one], group_of[refused.other]
            if one != other and refused.rule in _SAID:
                conflicts[one].append(self._say_refused(refused, refused.other))
                conflicts[other].append(self._say_refused(refused, refused.one))
        return conflicts

    def _say_refused(self, refused: RefusedKey, other: int) -> str:
        record = self.records[other]
        key = refused.key.partition(":")[2] if refused.rule is LinkRule.RECORD else refused.key
        named = record.work.ids.doi or f"{record.service} {record.service_id}"
        return (
            f"{record.service} has the same {_SAID[refused.rule]} {key} for another work, "
            f"“{record.work.title[:80]}” ({named}): {refused.reason}"
        )


def _find_title_conflict(records: Sequence[ServiceRecord]) -> str | None:
    """The titles that services give, where two of them are not alike."""
    titles: dict[str, ServiceRecord] = {}
    for record in records:
        if record.work.title:
            key = squash_title(make_comparable(record.work.title))
            titles.setdefault(key, record)
    first = next(iter(titles), "")
    for key, record in titles.items():
        is_part = key in first or first in key
        if not is_part and title_likeness(first, key) < _MIN_LIKENESS_UNTOLD:
            return (
                f"the titles differ: “{titles[first].work.title[:120]}” "
                f"({titles[first].service}), “{record.work.title[:120]}” ({record.service})"
            )
    return None


def _say_copy(original: WorkIds) -> str:
    named = next(iter(original.keys()), "")
    of = f" of {named}" if named else " of another work"
    return f"looks like a copy{of}: the same title and authors, a later year, another registrant"


def _count_citations(records: Sequence[ServiceRecord]) -> dict[str, int]:
    counts: dict[str, int] = {}
    for record in records:
        if record.citation_count is not None:
            counts[record.service] = max(counts.get(record.service, 0), record.citation_count)
    return counts

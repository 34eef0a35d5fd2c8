"""Citations as several services list them, merged by work, with who says so of each.

edges = merge_edges([ListedCitation("openalex", "doi:10.1/x", cited), …])
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from carrel.libraries.literature.merging import merge_records
from carrel.libraries.literature.people import read_author
from carrel.libraries.literature.records import (
    CitedWorkRecord,
    MergedWork,
    ServiceRecord,
    Venue,
    WorkIds,
    WorkRecord,
)
from carrel.libraries.works.reference_parsing import parse_reference
from carrel.libraries.works.titles import squash_title

# Parsing an entry takes about 3 ms; entries behind these keep what they are printed as.
_MOST_PARSED = 500


@dataclass(frozen=True, slots=True)
class ListedCitation:
    """One entry of one service's list; `of` names the version whose list it is."""

    service: str
    of: str
    work: CitedWorkRecord


@dataclass(frozen=True, slots=True)
class CitationEdge:
    """A work at the other end of a citation: by service, the versions whose lists have it."""

    work: MergedWork
    said_by: tuple[tuple[str, tuple[str, ...]], ...]
    # The entry as printed, where nobody says more.
    unstructured: str = ""

    @property
    def title(self) -> str:
        return self.work.work.title or self.unstructured


def merge_edges(listed: Sequence[ListedCitation]) -> list[CitationEdge]:
    """One edge a work: those that most services say first, then the newest."""
    # Lists of two versions repeat entries; a service means one work by what it writes alike.
    alike: dict[tuple[object, ...], list[int]] = {}
    works: list[CitedWorkRecord] = []
    left = _MOST_PARSED
    for place, each in enumerate(listed):
        work = each.work
        if not work.title and work.unstructured and left > 0:
            work, left = _parse(work), left - 1
        works.append(work)
        if key := _key(work):
            alike.setdefault((each.service, *key), []).append(place)
    groups = {(listed[places[0]].service, str(places[0])): places for places in alike.values()}
    named = [
        ServiceRecord(service, name, _as_record(works[places[0]]))
        for (service, name), places in groups.items()
        if works[places[0]].title or works[places[0]].ids.keys()
    ]
    edges = [
        _edge(merged, [place for each in merged.records for place in groups[_name(each)]], listed)
        for merged in merge_records(named)
    ]
    told = {_name(record) for record in named}
    bare = [places for name, places in groups.items() if name not in told]
    edges += [_edge(MergedWork(WorkRecord(), {}, ()), places, listed) for places in bare]
    return sorted(edges, key=_order)


def _key(work: CitedWorkRecord) -> tuple[object, ...]:
    """What tells entries of one service apart; nothing where an entry says nothing."""
    if ids := work.ids.keys():
        return ids
    if work.title:
        return squash_title(work.title), work.year, work.authors[:1]
    printed = " ".join(work.unstructured.lower().split())
    return (printed,) if printed else ()


def _name(record: ServiceRecord) -> tuple[str, str]:
    return record.service, record.service_id


def _parse(work: CitedWorkRecord) -> CitedWorkRecord:
    """An entry that is only printed, with what can be read from it."""
    found = parse_reference(work.unstructured[:2_000], "")
    ids = WorkIds(doi=found.doi, arxiv=found.arxiv_id, pmid=found.pmid)
    return replace(
        work,
        ids=work.ids if work.ids.keys() else ids,
        title=found.title or "",
        authors=work.authors or tuple(found.authors),
        year=work.year or found.year,
        venue=work.venue or found.container or "",
    )


def _as_record(work: CitedWorkRecord) -> WorkRecord:
    people = (read_author(name) for name in work.authors)
    return WorkRecord(
        ids=work.ids,
        title=work.title,
        authors=tuple(author for author in people if author is not None),
        issued=str(work.year) if work.year is not None and 1000 <= work.year <= 9999 else None,
        venue=Venue(name=work.venue),
    )


def _edge(
    merged: MergedWork, places: Sequence[int], listed: Sequence[ListedCitation]
) -> CitationEdge:
    own = [listed[place] for place in sorted(places)]
    unstructured = "" if merged.work.title else next((each.work.unstructured for each in own), "")
    return CitationEdge(merged, _say(own), unstructured)


def _say(listed: Iterable[ListedCitation]) -> tuple[tuple[str, tuple[str, ...]], ...]:
    found: dict[str, dict[str, None]] = {}
    for each in listed:
        found.setdefault(each.service, {})[each.of] = None
    return tuple((service, tuple(found[service])) for service in sorted(found))


def _order(edge: CitationEdge) -> tuple[int, int, str, str]:
    work = edge.work.work
    return -len(edge.said_by), -(work.year or 0), work.title or edge.unstructured, str(work.ids)

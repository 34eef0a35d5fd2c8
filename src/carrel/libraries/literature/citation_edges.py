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


def merge_edges(listed: Sequence[ListedCitation]) -> list[CitationEdge]:
    """One edge a work: those that most services say first, then the newest."""
    records, entries = [], {}
    left = _MOST_PARSED
    for place, each in enumerate(listed):
        work = each.work
        if not work.title and not work.ids.keys() and work.unstructured and left > 0:
            work, left = _parse(work), left - 1
        name = f"{each.of} {place}"
        entries[each.service, name] = (each, work)
        records.append(ServiceRecord(each.service, name, _as_record(work)))
    named = [record for record in records if record.work.title or record.work.ids.keys()]
    edges = [_edge(merged, entries) for merged in merge_records(named)]
    bare: dict[str, list[ListedCitation]] = {}
    for record in records:
        if not record.work.title and not record.work.ids.keys():
            entry = entries[record.service, record.service_id][0]
            bare.setdefault(" ".join(entry.work.unstructured.lower().split()), []).append(entry)
    edges += [_bare_edge(entries) for text, entries in bare.items() if text]
    return sorted(edges, key=_order)


def _parse(work: CitedWorkRecord) -> CitedWorkRecord:
    """An entry that is only printed, with what can be read from it."""
    found = parse_reference(work.unstructured[:2_000], "")
    ids = WorkIds(doi=found.doi, arxiv=found.arxiv_id, pmid=found.pmid)
    return replace(
        work,
        ids=ids,
        title=found.title or "",
        authors=tuple(found.authors),
        year=found.year,
        venue=found.container or "",
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
    merged: MergedWork, entries: dict[tuple[str, str], tuple[ListedCitation, CitedWorkRecord]]
) -> CitationEdge:
    listed = [entries[record.service, record.service_id][0] for record in merged.records]
    printed = "" if merged.work.title else next((e.work.unstructured for e in listed), "")
    return CitationEdge(merged, _say(listed), printed)


def _bare_edge(listed: Sequence[ListedCitation]) -> CitationEdge:
    return CitationEdge(MergedWork(WorkRecord(), {}, ()), _say(listed), listed[0].work.unstructured)


def _say(listed: Iterable[ListedCitation]) -> tuple[tuple[str, tuple[str, ...]], ...]:
    found: dict[str, dict[str, None]] = {}
    for each in listed:
        found.setdefault(each.service, {})[each.of] = None
    return tuple((service, tuple(found[service])) for service in sorted(found))


def _order(edge: CitationEdge) -> tuple[int, int, str, str]:
    work = edge.work.work
    return -len(edge.said_by), -(work.year or 0), work.title or edge.unstructured, str(work.ids)

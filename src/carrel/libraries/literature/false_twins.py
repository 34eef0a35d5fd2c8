"""Copies of known papers under false DOIs: which DOIs of a set of records they are."""

from __future__ import annotations

import tomllib
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from importlib.resources import files

from carrel.libraries.literature.comparable_titles import make_comparable
from carrel.libraries.literature.record_identity import name_author, normalize_ids
from carrel.libraries.literature.records import ServiceRecord, WorkKind, WorkRecord
from carrel.libraries.works.people import count_shared_people, read_people
from carrel.libraries.works.titles import MIN_TELLING_LETTERS, squash_title
from carrel.libraries.works.work import PREPRINT_PREFIXES

# Who registers DOIs and so knows what stands behind them.
REGISTRATION_AGENCIES = frozenset({"crossref", "datacite"})
_MIN_SHARE_OF_PEOPLE = 0.8
# Services give the year of print or of on-line publication.
_YEARS_OFF = 1
# Texts that are printed again under a title of their own right.
_REPRINTED: frozenset[WorkKind | None] = frozenset({"book", "reference-entry", "report"})


@dataclass(frozen=True, slots=True)
class FalseTwinRules:
    """What is known of false twins: registrants with the year of their first, and a rule."""

    first_years: Mapping[str, int]
    min_years_later: int
    min_citations_of_established: int
    max_citations_of_copy: int


@lru_cache(1)
def load_rules() -> FalseTwinRules:
    text = files("carrel.libraries.literature").joinpath("data", "false_twins.toml").read_text()
    read = tomllib.loads(text)
    return FalseTwinRules(
        {each["prefix"]: each["first_year"] for each in read["registrant"]}, **read["rule"]
    )


def is_known_false_twin(work: WorkRecord) -> bool:
    """Whether a registrant known for copies gave the DOI, and the year does not speak against."""
    first_year = load_rules().first_years.get(registrant_of(normalize_ids(work.ids).doi))
    return first_year is not None and (work.year is None or work.year >= first_year)


def registrant_of(doi: str | None) -> str:
    return (doi or "").partition("/")[0]


def find_false_dois(records: Sequence[ServiceRecord]) -> dict[str, int]:
    """The DOIs of copies among the records, each with the year in which copying began.

    Nothing here depends on the order of the records.
    """
    rules = load_rules()
    found: dict[str, int] = {}
    by_title: dict[str, list[ServiceRecord]] = defaultdict(list)
    for record in records:
        work, doi = record.work, normalize_ids(record.work.ids).doi
        if doi and (first_year := rules.first_years.get(registrant_of(doi))):
            found[doi] = first_year
        elif work.year and work.authors:
            by_title[squash_title(make_comparable(work.title))].append(record)
    for title, alike in by_title.items():
        if len(alike) > 1 and len(title) >= MIN_TELLING_LETTERS:
            found.update(_find_suspects(alike, rules))
    return found


def is_doi_of_other_work(record: ServiceRecord, false_dois: Mapping[str, int]) -> bool:
    """Whether a service attached the DOI of a copy to a work that is older than the copy."""
    first_year = false_dois.get(normalize_ids(record.work.ids).doi or "")
    year = record.work.year
    if first_year is None or year is None or record.service in REGISTRATION_AGENCIES:
        return False
    return year < first_year - _YEARS_OFF


def _find_suspects(alike: Sequence[ServiceRecord], rules: FalseTwinRules) -> dict[str, int]:
    """DOIs of records that look like copies of an established work with the same title."""
    found: dict[str, int] = {}
    established = [
        each
        for each in alike
        if (each.citation_count or 0) >= rules.min_citations_of_established and _is_published(each)
    ]
    most_cited = _count_citations(alike)
    for record in alike:
        doi = normalize_ids(record.work.ids).doi
        if doi is None or most_cited[doi] > rules.max_citations_of_copy:
            continue
        if record.service not in REGISTRATION_AGENCIES or record.work.kind in _REPRINTED:
            continue
        if registrant_of(doi) in PREPRINT_PREFIXES or record.work.kind == "preprint":
            continue
        if any(_looks_like_copy(record, each, rules) for each in established):
            found[doi] = record.work.year or 0
    return found


def _count_citations(records: Sequence[ServiceRecord]) -> dict[str, int]:
    """The most that a registration agency counts for each DOI; others may have melted works."""
    counts: dict[str, int] = {}
    for record in records:
        if (doi := normalize_ids(record.work.ids).doi) is not None:
            is_agency = record.service in REGISTRATION_AGENCIES
            count = (record.citation_count or 0) if is_agency else 0
            counts[doi] = max(counts.get(doi, 0), count)
    return counts


def _is_published(record: ServiceRecord) -> bool:
    """Whether a work is more than a preprint, whose article may well come years later."""
    venue = record.work.venue.name
    is_preprint = registrant_of(record.work.ids.doi) in PREPRINT_PREFIXES or (
        record.work.kind == "preprint"
    )
    return not is_preprint or bool(venue and record.work.kind not in (None, "preprint"))


def _looks_like_copy(
    record: ServiceRecord, established: ServiceRecord, rules: FalseTwinRules
) -> bool:
    if registrant_of(record.work.ids.doi) == registrant_of(established.work.ids.doi):
        return False
    if (record.work.year or 0) - (established.work.year or 0) < rules.min_years_later:
        return False
    here, there = (
        read_people(map(name_author, work.authors)) for work in (record.work, established.work)
    )
    return bool(here and there) and count_shared_people(here, there).share >= _MIN_SHARE_OF_PEOPLE

"""Which service is believed for each field of a work, and where services disagree.

The orders are those of the facts sheet of literature services (section 8); services that it does
not name stand where services of their kind do.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, fields
from typing import Any, TypeVar

from carrel.libraries.bibliography.items import expand_page_range
from carrel.libraries.literature.dates import earliest_date
from carrel.libraries.literature.record_identity import normalize_ids, service_place
from carrel.libraries.literature.records import (
    Author,
    Notice,
    ServiceRecord,
    TextLocation,
    Venue,
    VersionPointer,
    WorkIds,
    WorkKind,
    WorkRecord,
)
from carrel.libraries.works.work import first_page_of

Chosen = TypeVar("Chosen")


def _order(text: str) -> dict[str, int]:
    return {name: place for place, name in enumerate(text.split())}


_TITLE = _order(
    "crossref datacite pubmed europepmc biorxiv openalex semantic_scholar arxiv dblp doaj unpaywall"
)
_ABSTRACT = _order(
    "europepmc pubmed biorxiv semantic_scholar arxiv doaj crossref datacite openalex"
)
_AUTHORS = _order(
    "pubmed europepmc crossref datacite biorxiv openalex arxiv doaj dblp semantic_scholar unpaywall"
)
_PLACE = _order(
    "crossref pubmed europepmc datacite dblp openalex doaj semantic_scholar biorxiv arxiv unpaywall"
)
_KIND = _order(
    "crossref datacite pubmed europepmc biorxiv arxiv dblp openalex doaj semantic_scholar unpaywall"
)
_SUBJECTS = _order("pubmed europepmc openalex arxiv semantic_scholar crossref datacite doaj")
_INSTITUTIONS = _order("openalex crossref pubmed europepmc datacite biorxiv doaj")
_OPEN_ACCESS = _order("unpaywall openalex doaj europepmc semantic_scholar")
_LICENCE = _order("crossref unpaywall europepmc datacite arxiv biorxiv doaj openalex")
_LANGUAGE = _order("pubmed europepmc crossref datacite doaj openalex")
_REFERENCES = _order("crossref pubmed europepmc openalex semantic_scholar opencitations")
# The home of each kind of identifier; others repeat what they read there.
_HOMES = {
    "doi": _order("crossref datacite pubmed europepmc"),
    "pmid": _order("pubmed europepmc"),
    "pmcid": _order("pubmed europepmc"),
    "arxiv": _order("arxiv"),
    "openalex": _order("openalex"),
    "semantic_scholar": _order("semantic_scholar"),
    "corpus_id": _order("semantic_scholar"),
    "dblp": _order("dblp"),
    "europepmc": _order("europepmc"),
    "mag": _order("openalex semantic_scholar"),
}
# What services of the life sciences tell apart and registration agencies do not.
_FINER_KINDS: frozenset[WorkKind | None] = frozenset(
    {"review", "editorial", "letter", "erratum", "retraction"}
)
_COARSE_KINDS: frozenset[WorkKind | None] = frozenset({"article-journal", "other", None})
_MELTING_SERVICES = frozenset({"openalex", "semantic_scholar"})
_CUT = re.compile(r"(?:\.\.\.|\u2026)\W*$")
_FULL_DATE = 10
# Years of one work in services differ by one for print and on line; more is worth telling.
_MAX_YEARS_APART = 1


@dataclass(slots=True)
class FieldChooser:
    """The records of one work, and what was chosen of them with its origin."""

    records: Sequence[ServiceRecord]
    origins: dict[str, str] = field(default_factory=dict)

    def pick(
        self,
        name: str,
        order: dict[str, int],
        read: Callable[[WorkRecord], Chosen | None],
        *,
        worse: Callable[[Chosen], Any] = lambda value: 0,
        empty: object = "",
    ) -> Chosen | None:
        """The value of the best service that has one; `worse` values only where all are worse."""
        found = [
            (worse(value), _place(order, record.service), at, value)
            for at, record in enumerate(self.records)
            if (value := read(record.work)) != empty and value is not None
        ]
        if not found:
            return None
        *_, at, value = min(found, key=lambda each: each[:3])
        self.origins[name] = self.records[at].service
        return value

    def unite(
        self, name: str, read: Callable[[ServiceRecord], Iterable[Chosen]]
    ) -> tuple[Chosen, ...]:
        """What all services say, each once; the origin of the whole is the first that says any."""
        found: dict[Chosen, str] = {}
        for record in self.records:
            for value in read(record):
                found.setdefault(value, record.service)
        if found:
            self.origins[name] = next(iter(found.values()))
        return tuple(found)


def _place(order: dict[str, int], service: str) -> tuple[int, int, str]:
    return order.get(service, len(order)), *service_place(service)


def choose_fields(
    records: Sequence[ServiceRecord], ids: WorkIds, id_origins: dict[str, str]
) -> tuple[WorkRecord, dict[str, str]]:
    """One work of the records of a group, which stand in a fixed order, and the field origins."""
    chooser = FieldChooser(records, {f"ids.{kind}": at for kind, at in id_origins.items()})
    title = chooser.pick("title", _TITLE, lambda work: work.title, worse=_is_poor_title)
    abstract = chooser.pick("abstract", _ABSTRACT, lambda work: work.abstract, worse=_is_cut)
    authors = _choose_authors(chooser)
    cut = [record.work.is_authors_cut for record in records if record.work.authors == authors]
    work = WorkRecord(
        ids=ids,
        title=title or "",
        abstract=abstract or "",
        authors=authors,
        is_authors_cut=bool(cut) and all(cut),
        issued=_choose_date(chooser),
        kind=_choose_kind(chooser),
        venue=_choose_venue(chooser),
        volume=chooser.pick("volume", _PLACE, lambda work: work.volume) or "",
        issue=chooser.pick("issue", _PLACE, lambda work: work.issue) or "",
        pages=_choose_pages(chooser),
        language=chooser.pick("language", _LANGUAGE, lambda work: work.language, empty=None),
        keywords=chooser.pick("keywords", _SUBJECTS, lambda work: work.keywords, empty=()) or (),
        subjects=chooser.pick("subjects", _SUBJECTS, lambda work: work.subjects, empty=()) or (),
        institutions=chooser.pick(
            "institutions", _INSTITUTIONS, lambda work: work.institutions, empty=()
        )
        or (),
        open_access=chooser.pick(
            "open_access", _OPEN_ACCESS, lambda work: work.open_access, empty=None
        ),
        locations=chooser.unite("locations", _locations_of),
        licence=chooser.pick("licence", _LICENCE, lambda work: work.licence),
        notices=chooser.unite("notices", _notices_of),
        versions=chooser.unite("versions", _versions_of),
        references=chooser.pick(
            "references",
            _REFERENCES,
            lambda work: work.references,
            worse=lambda value: -len(value),
        ),
    )
    return work, chooser.origins


def list_id_candidates(
    records: Sequence[ServiceRecord],
) -> Iterator[tuple[str, str, str, tuple[int, int, str]]]:
    """Kind, value, service and how near the service is to the home of the identifier."""
    for record in records:
        for each in fields(WorkIds):
            value = getattr(normalize_ids(record.work.ids), each.name)
            if value is not None:
                place = _place(_HOMES.get(each.name, {}), record.service)
                yield each.name, value, record.service, place


def _is_poor_title(title: str) -> bool:
    """Whether a title is in capitals throughout, or cut off."""
    return (title.isupper() and len(title.split()) > 2) or _is_cut(title)


def _is_cut(text: str) -> bool:
    return _CUT.search(text[-20:]) is not None


def _choose_authors(chooser: FieldChooser) -> tuple[Author, ...]:
    """The longest list that is not cut; of equally long ones that with full given names."""

    def worse(work: WorkRecord) -> tuple[bool, int, bool]:
        full = sum(len(each.given.replace(".", "").split(" ")[0]) > 2 for each in work.authors)
        return (work.is_authors_cut, -len(work.authors), 2 * full < len(work.authors))

    chosen = chooser.pick(
        "authors", _AUTHORS, lambda work: work if work.authors else None, worse=worse
    )
    return chosen.authors if chosen is not None else ()


def _choose_date(chooser: FieldChooser) -> str | None:
    """The earliest full date, else the earliest; the first of January may only mean the year.

    Services that melt versions give an article the date of its preprint: a date of theirs in an
    earlier year than others give is passed over.
    """
    melting = {each.work.issued for each in chooser.records if each.service in _MELTING_SERVICES}
    dates = {each.work.issued for each in chooser.records if each.service not in _MELTING_SERVICES}
    first_year = min((each[:4] for each in dates if each), default="")
    given = {each for each in dates | melting if each and each[:4] >= first_year}
    vague = {each for each in given if each.endswith("-01-01")}
    known = {each for each in given - vague if len(each) > len("2019")}
    certain = (given - vague) | {
        each for each in vague if not any(other[:4] == each[:4] for other in known)
    }
    full = sorted(each for each in certain if len(each) == _FULL_DATE)
    chosen = full[0] if full else earliest_date(sorted(certain))
    if chosen is None:
        return None
    holders = [each.service for each in chooser.records if each.work.issued == chosen]
    chooser.origins["issued"] = min(holders, key=lambda service: _place(_PLACE, service))
    return chosen


def _choose_kind(chooser: FieldChooser) -> WorkKind | None:
    finer = [
        record
        for record in chooser.records
        if record.service in {"pubmed", "europepmc"} and record.work.kind in _FINER_KINDS
    ]
    kind: WorkKind | None = chooser.pick(
        "kind", _KIND, lambda work: work.kind, empty=None, worse=lambda kind: kind == "other"
    )
    if kind in _COARSE_KINDS and finer:
        chooser.origins["kind"] = finer[0].service
        return finer[0].work.kind
    return kind


def _choose_venue(chooser: FieldChooser) -> Venue:
    """Name, abbreviation, ISSNs and publisher, each of the best service that has it."""
    name = chooser.pick("venue", _PLACE, lambda work: work.venue.name)
    parts = FieldChooser(chooser.records)
    abbreviation = parts.pick("venue.abbreviation", _PLACE, lambda work: work.venue.abbreviation)
    issn = parts.pick("venue.issn", _PLACE, lambda work: work.venue.issn, empty=())
    publisher = parts.pick("venue.publisher", _PLACE, lambda work: work.venue.publisher)
    chooser.origins.update(
        (part, origin)
        for part, origin in parts.origins.items()
        if origin != chooser.origins.get("venue")
    )
    return Venue(name or "", abbreviation or "", issn or (), publisher or "")


def _choose_pages(chooser: FieldChooser) -> str:
    """The pages of the best service, with the last page where another service has only that."""
    chosen = chooser.pick("pages", _PLACE, lambda work: work.pages)
    if not chosen:
        return ""
    if "-" not in chosen and (first := first_page_of(chosen)):
        ranges = FieldChooser(
            [
                record
                for record in chooser.records
                if "-" in record.work.pages and first_page_of(record.work.pages) == first
            ]
        )
        if whole := ranges.pick("pages", _PLACE, lambda work: work.pages):
            chooser.origins.update(ranges.origins)
            chosen = whole
    return expand_page_range(chosen)


def _locations_of(record: ServiceRecord) -> Iterator[TextLocation]:
    for each in record.work.locations:
        yield (
            each
            if each.service
            else TextLocation(
                each.url, each.format, each.version, each.licence, each.host, record.service
            )
        )


def _notices_of(record: ServiceRecord) -> Iterator[Notice]:
    for each in record.work.notices:
        yield (
            each
            if each.service
            else Notice(each.kind, each.date, each.doi, each.pmid, each.reasons, record.service)
        )


def _versions_of(record: ServiceRecord) -> Iterator[VersionPointer]:
    for each in record.work.versions:
        yield each if each.service else VersionPointer(each.relation, each.ids, record.service)


def find_year_conflict(records: Sequence[ServiceRecord]) -> str | None:
    """Which years services give, where they are more than a year apart."""
    years: dict[int, list[str]] = {}
    for record in records:
        if record.work.year:
            years.setdefault(record.work.year, []).append(record.service)
    if not years or max(years) - min(years) <= _MAX_YEARS_APART:
        return None
    said = "; ".join(f"{year} ({', '.join(dict.fromkeys(years[year]))})" for year in sorted(years))
    return f"the years differ: {said}"

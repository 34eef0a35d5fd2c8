"""A service's record as linkage compares it: which identifiers are its own, which are pointers."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

from carrel.libraries.identifiers import (
    ARXIV_DOI_PREFIX,
    ArxivId,
    Doi,
    Pmcid,
    Pmid,
    identifier_value,
)
from carrel.libraries.literature.comparable_titles import make_comparable
from carrel.libraries.literature.records import (
    Author,
    ServiceRecord,
    VersionPointer,
    WorkIds,
)
from carrel.libraries.text.folding import text_key
from carrel.libraries.works.work import Work, first_page_of

# Who is asked first whom a key belongs to, and who stands first where nothing else decides.
SERVICE_ORDER = (
    "crossref", "datacite", "pubmed", "europepmc", "arxiv", "biorxiv", "openalex",
    "semantic_scholar", "dblp", "doaj", "unpaywall", "opencitations", "retraction_watch",
)  # fmt: skip
_PLACES = {name: place for place, name in enumerate(SERVICE_ORDER)}
# Whose word it is that a DOI is that of a preprint.
_SERVICES_THAT_KNOW_PREPRINTS = frozenset({"crossref", "datacite", "europepmc", "biorxiv"})
_PUBLISHED_KINDS = frozenset({"article-journal", "paper-conference", "chapter", "book"})
_VERSIONED_OR_NAMED = re.compile(r"v\d+$|:|//|\.[A-Z]{2}/")
# Kinds of identifiers that join records beside DOI, arXiv and PubMed ids. An ISBN names a book, of
# which chapters have it too.
_OTHER_KINDS = (
    "pmcid", "openalex", "semantic_scholar", "corpus_id", "europepmc", "dblp", "acl", "mag",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class RecordIdentity:
    """What a record is compared by, and the other versions that it names."""

    work: Work
    pointers: tuple[VersionPointer, ...]

    @property
    def keys(self) -> frozenset[str]:
        """The identifiers that are the record's own, each as `kind:value` in lower case."""
        work = self.work
        named = (("doi", work.doi), ("arxiv", work.arxiv_id), ("pmid", work.pmid))
        written = [f"{kind}:{value}" for kind, value in named if value]
        return frozenset(key.lower() for key in (*written, *work.other_ids))


@lru_cache(4_096)
def normalize_ids(ids: WorkIds) -> WorkIds:
    """Identifiers in normal form; those that readers gave are so already, and stay as they are."""
    changed: dict[str, str | None] = {}
    if ids.doi and not (ids.doi.startswith("10.") and ids.doi == ids.doi.lower()):
        changed["doi"] = identifier_value(Doi, ids.doi)
    if ids.pmcid and not ids.pmcid.startswith("PMC"):
        changed["pmcid"] = identifier_value(Pmcid, f"PMC{ids.pmcid.upper().removeprefix('PMC')}")
    if ids.pmid and not ids.pmid.isdigit():
        changed["pmid"] = identifier_value(Pmid, ids.pmid)
    if ids.arxiv and _VERSIONED_OR_NAMED.search(ids.arxiv):
        changed["arxiv"] = identifier_value(ArxivId, ids.arxiv)
    if ids.openalex and not ids.openalex.startswith("W"):
        changed["openalex"] = ids.openalex.rpartition("/")[2].upper()
    return replace(ids, **changed) if changed else ids


def service_place(service: str) -> tuple[int, str]:
    """The place of a service among all; unknown ones come last, by name."""
    return _PLACES.get(service, len(_PLACES)), service


def identify_records(
    records: Sequence[ServiceRecord], misplaced: Collection[int] = ()
) -> list[RecordIdentity]:
    """The identity of each record; the DOIs at the `misplaced` positions are of other works."""
    venues = _unify_venues(records)
    return [
        _identify(record, at, venues[at], has_own_doi=at not in misplaced)
        for at, record in enumerate(records)
    ]


def _identify(record: ServiceRecord, at: int, venue: str, *, has_own_doi: bool) -> RecordIdentity:
    work, ids = record.work, normalize_ids(record.work.ids)
    doi, arxiv, other_versions = _part_versions(record, ids, has_own_doi=has_own_doi)
    pmid = ids.pmid
    if pmid is None and ids.europepmc and ids.europepmc.startswith("MED/"):
        pmid = ids.europepmc.removeprefix("MED/")
    kind: str | None = work.kind
    if kind == "preprint" and record.service in _SERVICES_THAT_KNOW_PREPRINTS:
        kind = "posted-content"
    other_ids = [
        f"{name}:{value}" for name in _OTHER_KINDS if (value := getattr(ids, name)) is not None
    ]
    if record.service_id:
        other_ids.append(f"record:{record.service}/{record.service_id}")
    return RecordIdentity(
        Work(
            title=make_comparable(work.title),
            people=tuple(map(name_author, work.authors)),
            year=work.year,
            doi=doi,
            arxiv_id=arxiv,
            pmid=pmid,
            other_ids=tuple(other_ids),
            isbn=ids.isbn,
            venue=work.venue.name or None,
            unified_venue=venue or None,
            volume=work.volume or None,
            first_page=first_page_of(work.pages),
            kind=kind,
            states_published=kind in _PUBLISHED_KINDS,
            source=record.service,
            order=(at,),
        ),
        (*other_versions, *(each for each in work.versions if each.ids.keys())),
    )


def _part_versions(
    record: ServiceRecord, ids: WorkIds, *, has_own_doi: bool
) -> tuple[str | None, str | None, list[VersionPointer]]:
    """The DOI and arXiv id that are the record's own; others name its other version.

    Services give the article's DOI beside the preprint's arXiv id, and the other way round.
    """
    doi = ids.doi if has_own_doi else None
    if ids.arxiv is None:
        return doi, None, []
    arxiv_doi = f"{ARXIV_DOI_PREFIX}{ids.arxiv.lower()}"
    is_of_arxiv = record.service == "arxiv" or doi == arxiv_doi
    is_of_article = doi is not None or (
        bool(ids.pmid or ids.pmcid) and record.work.kind != "preprint"
    )
    if not is_of_arxiv and is_of_article:
        preprint = VersionPointer("preprint_of", WorkIds(arxiv=ids.arxiv), record.service)
        return doi, None, [preprint]
    if doi is None or doi == arxiv_doi:
        return arxiv_doi, ids.arxiv, []
    article = VersionPointer("published_as", WorkIds(doi=doi), record.service)
    return arxiv_doi, ids.arxiv, [article]


def name_author(author: Author) -> str:
    """`Family, Given`, or the name of a group."""
    if not author.family:
        return author.literal or author.given
    return f"{author.family}, {author.given}" if author.given else author.family


def _unify_venues(records: Sequence[ServiceRecord]) -> list[str]:
    """The venue of each record, in one name for all that share an ISSN, a name or abbreviation."""
    first_of: dict[str, str] = {}

    def find(key: str) -> str:
        while first_of.setdefault(key, key) != key:
            first_of[key] = key = first_of[first_of[key]]
        return key

    names: list[str] = []
    for record in records:
        venue = record.work.venue
        keys = [text_key(text) for text in (venue.name, venue.abbreviation) if text]
        keys = [key for key in keys if key] + [f"issn {issn}" for issn in venue.issn]
        for key in keys[1:]:
            one, other = sorted((find(keys[0]), find(key)))
            first_of[other] = one
        names.append(keys[0] if keys else "")
    return [find(name) if name else "" for name in names]

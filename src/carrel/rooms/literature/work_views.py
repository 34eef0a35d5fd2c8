"""Merged works as answers show them: short in a list, whole for one."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Literal

from carrel.core.work_notices import WorkNotice, sort_notices
from carrel.libraries.literature.records import (
    Author,
    LinkedVersion,
    MergedWork,
    Notice,
    ServiceRecord,
    VersionRelation,
    WorkIds,
)
from carrel.libraries.text.snippets import Marker
from carrel.rooms.literature.models import (
    FoundWork,
    RecordOfService,
    ServiceCoverage,
    WholeWork,
    WorkAuthor,
    WorkLocation,
    WorkVersion,
)

SHOWN_AUTHORS = 3
SHOWN_VERSIONS = 5
SHOWN_ALL_AUTHORS = 200
_MAX_TITLE_CHARACTERS = 400
_TAG = re.compile(r"</?(?:i|b|sub|sup)>")
_MAX_VENUE_CHARACTERS = 200
_MAX_REFERENCE_NAME = 120
# Identifiers that name a work best, first.
_BEST_IDS = (
    "doi", "pmid", "arxiv", "pmcid", "openalex", "semantic_scholar", "isbn", "europepmc", "dblp",
    "corpus_id", "mag", "acl",
)  # fmt: skip


# What the other version is to the work.
_RELATIONS: Mapping[VersionRelation, Literal["preprint", "published_version", "other_version"]] = {
    "preprint_of": "preprint",
    "published_as": "published_version",
    "version_of": "other_version",
}


@dataclass(frozen=True, slots=True)
class Kept:
    """Where the desk has a work, and which of its versions."""

    paper_id: str | None = None
    reference_id: str | None = None
    versions: tuple[tuple[str | None, str | None], ...] = ()


NOT_KEPT = Kept()


def list_ids(ids: WorkIds) -> dict[str, str]:
    """The identifiers that are known, by kind."""
    named = ((each.name, getattr(ids, each.name)) for each in fields(ids))
    return {name: value for name, value in named if value is not None}


def name_work(ids: WorkIds, records: Iterable[ServiceRecord] = ()) -> str:
    """The best identifier as `doi:10.…`, or a record's own name at its service."""
    known = list_ids(ids)
    for kind in _BEST_IDS:
        if kind in known:
            return f"{kind}:{known[kind]}"
    return next((f"{each.service}:{each.service_id}" for each in records), "")


def author_name(author: Author) -> str:
    if author.literal:
        return author.literal
    return " ".join(part for part in (author.given, author.family, author.suffix) if part)


def found_work(
    found: MergedWork,
    marker: Marker,
    kept: Kept,
    unchecked: Sequence[str],
    *,
    has_snippet: bool,
    has_origins: bool,
) -> FoundWork:
    """A work in a list of found ones."""
    work = found.work
    return FoundWork(
        id=name_work(work.ids, found.records),
        title=_cut(work.title, _MAX_TITLE_CHARACTERS),
        authors=[author_name(author) for author in work.authors[:SHOWN_AUTHORS]],
        author_count=len(work.authors),
        year=work.year,
        venue=_cut(work.venue.name or work.venue.abbreviation, _MAX_VENUE_CHARACTERS),
        kind=work.kind,
        ids=list_ids(work.ids),
        snippet_markdown=_snippet(work.abstract, marker) if has_snippet else "",
        is_retracted=work.is_retracted,
        notices=list(view_notices(work.notices)),
        in_corpus=kept.paper_id,
        in_library=kept.reference_id,
        open_access=work.open_access,
        licence=work.licence,
        citations=dict(found.citation_counts),
        versions=view_versions(found.versions, kept)[:SHOWN_VERSIONS],
        found_by=_found_by(found.records),
        copy_of=_original(found),
        unchecked=list(unchecked),
        conflicts=list(found.conflicts),
        origins=dict(found.origins) if has_origins else {},
    )


def whole_work(
    found: MergedWork, kept: Kept, message: str, coverage: list[ServiceCoverage]
) -> WholeWork:
    """All that is known of one work."""
    work = found.work
    people = work.authors[:SHOWN_ALL_AUTHORS]
    return WholeWork(
        id=name_work(work.ids, found.records),
        ids=list_ids(work.ids),
        title=work.title,
        abstract=work.abstract,
        authors=[WorkAuthor(name=author_name(each), orcid=each.orcid) for each in people],
        is_authors_cut=work.is_authors_cut or len(work.authors) > SHOWN_ALL_AUTHORS,
        issued=work.issued,
        year=work.year,
        kind=work.kind,
        venue=work.venue.name,
        venue_abbreviation=work.venue.abbreviation,
        issn=list(work.venue.issn),
        publisher=work.venue.publisher,
        volume=work.volume,
        issue=work.issue,
        pages=work.pages,
        language=work.language,
        keywords=list(work.keywords),
        subjects=list(work.subjects),
        institutions=list(work.institutions),
        open_access=work.open_access,
        licence=work.licence,
        locations=[
            WorkLocation(
                url=each.url,
                format=each.format,
                version=each.version,
                licence=each.licence,
                host=each.host,
                service=each.service,
            )
            for each in work.locations
        ],
        is_retracted=work.is_retracted,
        notices=list(view_notices(work.notices)),
        versions=view_versions(found.versions, kept),
        citations=dict(found.citation_counts),
        reference_count=None if work.references is None else len(work.references),
        in_corpus=kept.paper_id,
        in_library=kept.reference_id,
        copy_of=_original(found),
        conflicts=list(found.conflicts),
        origins=dict(found.origins),
        records=[
            RecordOfService(
                service=each.service,
                id=each.service_id,
                title=_cut(each.work.title, _MAX_REFERENCE_NAME),
            )
            for each in found.records
        ],
        message=message,
        coverage=coverage,
    )


def view_notices(notices: Iterable[Notice]) -> tuple[WorkNotice, ...]:
    return sort_notices(
        WorkNotice(
            kind=each.kind,
            date=each.date,
            doi=each.doi,
            pmid=each.pmid,
            reasons=each.reasons,
            service=each.service,
        )
        for each in notices
    )


def view_versions(versions: Sequence[LinkedVersion], kept: Kept) -> list[WorkVersion]:
    held = [*kept.versions, *[(None, None)] * (len(versions) - len(kept.versions))]
    return [
        WorkVersion(
            relation=_RELATIONS[each.relation],
            id=name_work(each.ids),
            title=_cut(each.title, _MAX_TITLE_CHARACTERS),
            origin=each.origin,
            in_corpus=paper_id,
            in_library=reference_id,
        )
        for each, (paper_id, reference_id) in zip(versions, held, strict=True)
    ]


def _found_by(records: Sequence[ServiceRecord]) -> dict[str, int | None]:
    """Each service with its best rank of the work."""
    ranks: dict[str, int | None] = {}
    for record in records:
        known = ranks.get(record.service)
        better = [rank for rank in (known, record.rank) if rank is not None]
        ranks[record.service] = min(better) if better else None
    return ranks


def _snippet(abstract: str, marker: Marker) -> str:
    """The best extract of an abstract, its matches in bold and no other marks."""
    return marker.snippet([_TAG.sub("", abstract)]) if abstract else ""


def _original(found: MergedWork) -> str | None:
    """What a false copy is a copy of; `unknown` where nobody gave the original."""
    return None if found.copy_of is None else name_work(found.copy_of) or "unknown"


def _cut(text: str, most: int) -> str:
    return text if len(text) <= most else f"{text[: most - 1]}…"

"""What Europe PMC says of a work's texts, notices and other versions."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from carrel.libraries.identifiers import Doi, Pmcid, Pmid, identifier_value
from carrel.libraries.literature.licences import read_licence
from carrel.libraries.literature.medline_kinds import RETRACTED
from carrel.libraries.literature.medline_sources import read_source_date, read_source_doi
from carrel.libraries.literature.raw_fields import map_of, maps_of, text_of, url_of
from carrel.libraries.literature.records import (
    Notice,
    NoticeKind,
    TextLocation,
    TextVersion,
    VersionPointer,
    VersionRelation,
    WorkIds,
)

_SERVICE = "europepmc"
_NOTICES: dict[str, NoticeKind] = {
    "retraction in": "retraction",
    "partial retraction in": "correction",
    "erratum in": "correction",
    "correction in": "correction",
    "corrected and republished in": "correction",
    "expression of concern in": "expression_of_concern",
    "withdrawal in": "withdrawal",
    "removal in": "removal",
}
# `Preprint of` stands on the preprint and names its article, `Preprint in` the other way round.
_VERSIONS: dict[str, VersionRelation] = {
    "preprint of": "published_as",
    "preprint in": "preprint_of",
    "update in": "version_of",
    "update of": "version_of",
    "republished in": "version_of",
    "republished from": "version_of",
}
_OPEN_CODES = frozenset({"OA", "F"})
_FULL_TEXT_NAME = re.compile(r"(?:PMC|PPR)\d+")


def ids_of(source: str, name: str) -> WorkIds:
    """The identifiers that a source and a name there are."""
    return WorkIds(
        pmid=identifier_value(Pmid, name) if source == "MED" else None,
        pmcid=identifier_value(Pmcid, name) if source == "PMC" else None,
        europepmc=f"{source}/{name}" if source and name else None,
    )


def read_locations(raw: Mapping[str, Any], ids: WorkIds, rest_url: str) -> tuple[TextLocation, ...]:
    """JATS where Europe PMC has it and may give it out, then the open addresses that it names.

    `fullTextXML` answers 404 for closed and unknown texts alike, so only what is marked as open
    and held is named.
    """
    licence = read_licence(raw.get("license"))
    source = text_of(raw.get("source"))
    version: TextVersion = "submitted" if source == "PPR" else "published"
    if source != "PPR" and text_of(raw.get("authMan")) == "Y":
        version = "accepted"
    found: list[TextLocation] = []
    name = ids.pmcid or (text_of(raw.get("id")) if source == "PPR" else "")
    is_held = text_of(raw.get("inEPMC")) == "Y" and text_of(raw.get("isOpenAccess")) == "Y"
    if is_held and _FULL_TEXT_NAME.fullmatch(name):
        url = f"{rest_url.rstrip('/')}/{name}/fullTextXML"
        found.append(TextLocation(url, "jats", version, licence, "repository", _SERVICE))
    for each in maps_of(map_of(raw.get("fullTextUrlList")).get("fullTextUrl")):
        url = url_of(each.get("url"))
        if not url or text_of(each.get("availabilityCode")) not in _OPEN_CODES:
            continue
        is_here = text_of(each.get("site")).lower().replace("_", " ") in {
            "europe pmc",
            "pubmedcentral",
        }
        found.append(
            TextLocation(
                url,
                "pdf" if text_of(each.get("documentStyle")) == "pdf" else "landing_page",
                version,
                licence,
                "repository" if is_here else "publisher",
                _SERVICE,
            )
        )
    return tuple(found)


def read_notices(raw: Mapping[str, Any], publication_types: set[str]) -> tuple[Notice, ...]:
    """Retractions and corrections (those of recordings are the notices themselves, so unproved)."""
    found = [
        Notice(_NOTICES[kind], date, ids.doi, ids.pmid, service=_SERVICE)
        for kind, ids, date in _comments(raw)
        if kind in _NOTICES
    ]
    is_told = any(notice.kind == "retraction" for notice in found)
    if RETRACTED in publication_types and not is_told:
        found.append(Notice("retraction", service=_SERVICE))
    return tuple(found)


def read_versions(raw: Mapping[str, Any]) -> tuple[VersionPointer, ...]:
    """Preprints and articles that are versions of each other (unproved live)."""
    return tuple(
        VersionPointer(_VERSIONS[kind], ids, _SERVICE)
        for kind, ids, _ in _comments(raw)
        if kind in _VERSIONS and ids.keys()
    )


def _comments(raw: Mapping[str, Any]) -> Iterator[tuple[str, WorkIds, str | None]]:
    """Each comment or correction: its kind in lower case, whom it names, and its date."""
    for each in maps_of(map_of(raw.get("commentCorrectionList")).get("commentCorrection")):
        named = ids_of(text_of(each.get("source")), text_of(each.get("id")))
        reference = text_of(each.get("reference"))
        ids = WorkIds(
            doi=read_source_doi(reference) or identifier_value(Doi, text_of(each.get("doi"))),
            pmid=named.pmid,
            pmcid=named.pmcid,
            europepmc=named.europepmc,
        )
        yield text_of(each.get("type")).lower(), ids, read_source_date(reference)

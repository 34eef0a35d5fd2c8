"""What PubMed's XML says of other works: notices, versions and the reference list."""

from __future__ import annotations

import re
from collections.abc import Iterator
from xml.etree.ElementTree import Element

from carrel.libraries.identifiers import Doi, Pmcid, Pmid, identifier_value
from carrel.libraries.literature.medline_kinds import RETRACTED
from carrel.libraries.literature.medline_sources import read_source_date, read_source_doi
from carrel.libraries.literature.records import (
    CitedWorkRecord,
    Notice,
    NoticeKind,
    VersionPointer,
    WorkIds,
)
from carrel.libraries.literature.xml_text import child, children, plain_text, text_at

_SERVICE = "pubmed"
_NOTICES: dict[str, NoticeKind] = {
    "RetractionIn": "retraction",
    # Parts of the work stand.
    "PartialRetractionIn": "correction",
    "ErratumIn": "correction",
    "CorrectedandRepublishedIn": "correction",
    "ExpressionOfConcernIn": "expression_of_concern",
}
_PREPRINT_SERVERS = re.compile(
    r"^(?:bio|med|ar|chem|psy)rxiv|^res(?:earch)? sq|^preprints|^ssrn", re.IGNORECASE
)


def _corrections(citation: Element | None) -> Iterator[tuple[str, Element]]:
    for each in children(child(citation, "CommentsCorrectionsList"), "CommentsCorrections"):
        yield each.get("RefType", ""), each


def read_notices(citation: Element | None, kinds: set[str]) -> tuple[Notice, ...]:
    found: list[Notice] = []
    for name, each in _corrections(citation):
        if name in _NOTICES:
            ids, date = _read_source(each)
            found.append(Notice(_NOTICES[name], date, ids.doi, ids.pmid, service=_SERVICE))
    is_told = any(notice.kind == "retraction" for notice in found)
    if RETRACTED in kinds and not is_told:
        found.append(Notice("retraction", service=_SERVICE))
    return tuple(found)


def read_versions(citation: Element | None, *, is_preprint: bool) -> tuple[VersionPointer, ...]:
    """Other versions: UpdateIn of a preprint is its article, UpdateOf of an article its preprint.

    Unproved live: no recording shows either.
    """
    found: list[VersionPointer] = []
    for name, each in _corrections(citation):
        ids, _ = _read_source(each)
        if not ids.keys():
            continue
        source = text_at(each, "RefSource")
        if name == "UpdateIn" and is_preprint:
            found.append(VersionPointer("published_as", ids, _SERVICE))
        elif name == "UpdateOf" and _PREPRINT_SERVERS.match(source):
            found.append(VersionPointer("preprint_of", ids, _SERVICE))
        elif name in {"UpdateIn", "UpdateOf", "RepublishedFrom", "RepublishedIn"}:
            found.append(VersionPointer("version_of", ids, _SERVICE))
    return tuple(found)


def _read_source(element: Element) -> tuple[WorkIds, str | None]:
    """The identifiers and the date of `Cell Rep. 2022 Jun 28;39(13):111044. doi: 10.1016/…`."""
    source = text_at(element, "RefSource")
    ids = WorkIds(
        doi=read_source_doi(source), pmid=identifier_value(Pmid, text_at(element, "PMID"))
    )
    return ids, read_source_date(source)


def read_references(node: Element | None) -> tuple[CitedWorkRecord, ...] | None:
    place = child(node, "PubmedData")
    lists = list(children(place if place is not None else node, "ReferenceList"))
    if not lists:
        return None
    found = (_read_reference(each) for one in lists for each in _references(one))
    return tuple(each for each in found if each.unstructured or each.ids.keys())


def _references(listed: Element) -> Iterator[Element]:
    """Lists may hold lists; nothing lies deeper within an entry."""
    for each in listed:
        if each.tag == "ReferenceList":
            yield from _references(each)
        elif each.tag == "Reference":
            yield each


def _read_reference(element: Element) -> CitedWorkRecord:
    named: dict[str, str] = {}
    for each in children(child(element, "ArticleIdList"), "ArticleId"):
        named.setdefault(each.get("IdType", ""), plain_text(each))
    ids = WorkIds(
        doi=identifier_value(Doi, named.get("doi")),
        pmid=identifier_value(Pmid, named.get("pubmed")),
        pmcid=identifier_value(Pmcid, named.get("pmc") or named.get("pmcid")),
    )
    return CitedWorkRecord(ids=ids, unstructured=text_at(element, "Citation"))

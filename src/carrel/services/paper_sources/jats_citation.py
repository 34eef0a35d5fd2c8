"""What JATS says of an article for its citation: numbers, identifiers, licence, related works."""

from __future__ import annotations

import re
from collections.abc import Iterator

from carrel.libraries.identifiers import Doi, Pmid, identifier_value
from carrel.libraries.text.xml import Element
from carrel.rooms.papers.building.paper_records import RelatedWork
from carrel.services.paper_sources.citation_fields import (
    CitationFields,
    join_pages,
    read_isbn,
    read_issn,
    read_pages,
    read_pmcid,
    read_url,
    short_text,
)
from carrel.services.paper_sources.fields import parse_identifier
from carrel.services.paper_sources.jats_text import child, children, plain

_KINDS = {"preprint": "article", "book-review": "review-book", "chapter-article": "chapter"}
_RELATIONS = {
    "corrected-article": "correction_of",
    "retracted-article": "retraction_of",
    "partial-retraction": "retraction_of",
    "commentary-article": "comment_on",
    "commentary": "comment_on",
    "letter": "comment_on",
    "preprint": "version_of",
    "republished-article": "version_of",
    "published-article": "preprint_of",
}


def read_citation_fields(
    article: Element, meta: Element | None, journal: Element | None
) -> CitationFields:
    """The fields of a record beside title, people and date."""
    identifiers = {
        str(node.get("pub-id-type")).lower(): plain(node) for node in children(meta, "article-id")
    }
    first, last = (plain(child(meta, name)) for name in ("fpage", "lpage"))
    return CitationFields(
        kind=_KINDS.get(article.get("article-type") or "", "article-journal"),
        volume=short_text(plain(child(meta, "volume"))),
        issue=short_text(plain(child(meta, "issue"))),
        pages=join_pages(first, last)
        or read_pages(plain(child(meta, "page-range")))
        or read_pages(plain(child(meta, "elocation-id"))),
        publisher=short_text(_text_within(journal, "publisher-name")),
        pmid=identifier_value(Pmid, identifiers.get("pmid")),
        pmcid=read_pmcid(identifiers.get("pmcid") or identifiers.get("pmc")),
        isbn=read_isbn(plain(child(meta, "isbn"))),
        issn=read_issn(_text_within(journal, "issn")),
        url=next(
            (
                url
                for node in children(meta, "self-uri")
                if (url := read_url(node.get("href") or plain(node)))
            ),
            None,
        ),
        license=_license(meta),
    )


def read_editors(meta: Element | None) -> Iterator[Element]:
    """The persons who edited the article."""
    for group in children(meta, "contrib-group"):
        for person in children(group, "contrib"):
            if person.get("contrib-type") == "editor":
                yield person


def read_affiliation_ids(person: Element) -> list[str]:
    """The ids of the institutions that a person's name points at."""
    return [
        name
        for node in children(person, "xref")
        if node.get("ref-type") == "aff"
        for name in (node.get("rid") or "").split()
    ]


def read_related_works(meta: Element | None) -> tuple[RelatedWork, ...]:
    """Works with a DOI that the article says it corrects, retracts, comments on or follows."""
    found: dict[RelatedWork, None] = {}
    nodes = [*children(meta, "related-article"), *children(meta, "related-object")]
    for node in nodes:
        kind = node.get("related-article-type") or node.get("document-type") or ""
        if node.get("ext-link-type", "doi") == "doi" and kind in _RELATIONS:
            _add_related(found, _RELATIONS[kind], node.get("href") or plain(node))
    for event in children(child(meta, "pub-history"), "event"):
        for node in children(event, "self-uri"):
            if node.get("content-type") == "preprint":
                _add_related(found, "version_of", node.get("href"))
    return tuple(found)


def _add_related(found: dict[RelatedWork, None], relation: str, text: str | None) -> None:
    doi = parse_identifier(Doi, text, [])
    if doi is not None:
        found[RelatedWork(relation, doi)] = None


_COMMONS_HOST = "creativecommons.org/"
_COMMONS = re.compile(
    r"creative\s+commons\s+(attribution(?:[\s-]+(?:non-?commercial|no-?deriv(?:ative)?(?:s|\s?works)?"
    r"|share-?\s?alike)){0,3})",
    re.IGNORECASE,
)
_COMMONS_PARTS = (
    ("attribution", "by"),
    ("noncommercial", "nc"),
    ("noderiv", "nd"),
    ("sharealike", "sa"),
)


def _license(meta: Element | None) -> str | None:
    node = child(child(meta, "permissions"), "license")
    if node is None:
        return None
    links = (link for each in node.iter() if _COMMONS_HOST in (link := each.get("href", "")))
    address = node.get("href") or _text_within(node, "license_ref") or next(links, None)
    return short_text(address or _commons_licence(plain(node)) or node.get("license-type"))


def _commons_licence(text: str) -> str | None:
    """The licence of Creative Commons that a sentence names, as `cc-by-nc`."""
    found = _COMMONS.search(text)
    if found is None:
        return None
    words = found.group(1).lower().replace("-", "").replace(" ", "")
    parts = [code for word, code in _COMMONS_PARTS if word in words]
    return "-".join(("cc", *parts))


def _text_within(node: Element | None, name: str) -> str | None:
    if node is None:
        return None
    return next((plain(each) for each in node.iter() if each.tag == name), None)

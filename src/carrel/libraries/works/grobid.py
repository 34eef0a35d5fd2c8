"""Reads what GROBID answers for a PDF: a TEI document with title page and references."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from carrel.libraries.identifiers import ArxivId, Doi, identifier_value
from carrel.libraries.text.xml import XmlNode, parse_xml_nodes
from carrel.libraries.works.cited_works import CitedWork

_MOST_REFERENCES = 5_000
_YEAR = re.compile(r"(?:1[5-9]|20)\d{2}")
# GROBID's fields come from a model and were not looked at by anybody.
_CONFIDENCE = 0.8


@dataclass(frozen=True, slots=True)
class GrobidPaper:
    """What the answer tells; None and empty is not known."""

    title: str | None = None
    authors: tuple[str, ...] = ()
    affiliations: tuple[tuple[str, str], ...] = ()
    date: str | None = None
    doi: str | None = None
    abstract: str | None = None
    references: tuple[CitedWork, ...] = ()


def read_grobid(content: bytes) -> GrobidPaper:
    """Raises XmlError for what is no XML, ValueError for what is no TEI."""
    root = parse_xml_nodes(content)
    if root.tag != "TEI":
        raise ValueError(f"its root is {root.tag}")
    header = root.first("teiHeader")
    if header is None:
        raise ValueError("it has no header")
    source = header.first("fileDesc", "sourceDesc", "biblStruct")
    title = header.first("fileDesc", "titleStmt", "title")
    abstract = header.first("profileDesc", "abstract")
    people = list(_people(source)) if source is not None else []
    return GrobidPaper(
        title=(title.all_text() or None) if title is not None else None,
        authors=tuple(name for name, _ in people),
        affiliations=tuple((name, place) for name, places in people for place in places),
        date=_date(header),
        doi=_identifiers(source)[0] if source is not None else None,
        abstract=(abstract.all_text() or None) if abstract is not None else None,
        references=tuple(_references(root)),
    )


def _people(source: XmlNode) -> Iterator[tuple[str, tuple[str, ...]]]:
    """Names with institutions of the authors of an entry."""
    for author in source.deep("author"):
        name = author.first("persName")
        if name is None:
            continue
        given = [each.all_text() for each in name.each("forename")]
        family = [each.all_text() for each in name.each("surname")]
        shown = " ".join(part for part in (*given, *family) if part)
        places = tuple(
            organisation.all_text()
            for affiliation in author.each("affiliation")
            for organisation in affiliation.each("orgName")
            if organisation.get("type") == "institution"
        )
        if shown:
            yield shown, places


def _date(node: XmlNode) -> str | None:
    """The first date of publication below a node, as `2019-05-03` or shorter."""
    for each in node.deep("date"):
        when = each.get("when") or ""
        if each.get("type") in {None, "published"} and _YEAR.match(when):
            return when[:10]
    return None


def _identifiers(node: XmlNode) -> tuple[str | None, str | None]:
    """DOI and arXiv id of an entry."""
    doi = arxiv_id = None
    for each in node.deep("idno"):
        kind, text = (each.get("type") or "").casefold(), each.all_text()
        if kind == "doi":
            doi = doi or identifier_value(Doi, text)
        elif kind == "arxiv":
            arxiv_id = arxiv_id or identifier_value(ArxivId, text.partition("[")[0])
    return doi, arxiv_id


def _references(root: XmlNode) -> Iterator[CitedWork]:
    for listed in root.deep("listBibl"):
        for count, entry in enumerate(listed.each("biblStruct")):
            if count == _MOST_REFERENCES:
                return
            yield _cited_work(entry, str(count + 1))


def _cited_work(entry: XmlNode, label: str) -> CitedWork:
    doi, arxiv_id = _identifiers(entry)
    titles = {each.get("level") or "": each.all_text() for each in entry.deep("title")}
    article = titles.get("a")
    scopes = {each.get("unit") or "": each for each in entry.deep("biblScope")}
    raw = next(
        (each.all_text() for each in entry.deep("note") if each.get("type") == "raw_reference"), ""
    )
    date = _date(entry)
    return CitedWork(
        text=raw,
        label=label,
        title=article or titles.get("m") or None,
        authors=tuple(name for name, _ in _people(entry)),
        year=int(date[:4]) if date else None,
        container=titles.get("j") or (titles.get("m") if article else None),
        volume=_scope(scopes.get("volume")),
        issue=_scope(scopes.get("issue")),
        pages=_scope(scopes.get("page")),
        doi=doi,
        arxiv_id=arxiv_id,
        confidence=_CONFIDENCE,
    )


def _scope(node: XmlNode | None) -> str | None:
    if node is None:
        return None
    first, last = node.get("from"), node.get("to")
    return f"{first}-{last}" if first and last else node.all_text() or first

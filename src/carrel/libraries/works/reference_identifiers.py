"""Identifiers and addresses inside a printed reference, found and taken out of its text."""

from __future__ import annotations

import re
from dataclasses import dataclass

from carrel.libraries.identifiers import ArxivId, Doi, Identifier, Isbn, Pmid, identifier_value

# Stands in the text where an identifier or address stood.
MASK = "\ue000"

_PATTERN = re.compile(
    r"(?P<doi>(?:\bdoi(?:\.org)?\s{0,2}[:=/]?\s{0,2}|\bDOI\s{0,2}[:=]?\s{0,2}"
    r"|\bhttps?://(?:dx\.|www\.)?doi\.org/\s?)?\b10\.\d{4,9}(?:\.\d{1,9}){0,4}/[^\s\"<>“”\ue000]{1,300})"
    r"|(?P<arxiv>\b(?:arxiv(?:\s{1,2}e-?prints?)?(?:\s{0,2}:\s{0,2}|\s{1,2})|abs/"
    r"|https?://(?:www\.|export\.)?arxiv\.org/(?:abs|pdf|html)/)"
    r"(?:\d{4}\.\d{4,5}|[a-z]{2,10}(?:-[a-z]{2,10})?(?:\.[a-z]{2})?/\d{7})(?:v\d{1,2})?(?:\.pdf)?"
    r"(?:\s{0,2}\[[^\]\s]{1,20}\])?)"
    r"|(?P<pmid>\bPMID\s{0,2}:?\s{0,2}\d{1,8}\b)"
    r"|(?P<pmcid>\b(?:PMCID\s{0,2}:?\s{0,2})?PMC\d{3,9}\b)"
    r"|(?P<isbn>\bISBN(?:-?1[03])?\s{0,2}:?\s{0,2}\d[\d\-–\u2010 ]{8,18}[\dX]\b)"
    r"|(?P<issn>\bISSN\s{0,2}:?\s{0,2}\d{4}[-–\u2010]\d{3}[\dX]\b)"
    r"|(?P<url>\b(?:(?:https?|ftp)://|www\.)[^\s<>\"“”\ue000]{3,1500})",
    re.IGNORECASE,
)
_URL_TAIL = ".,;:)]}'’>"
_ARXIV_LEAD = re.compile(
    r"^(?:arxiv(?:\s{1,2}e-?prints?)?[\s:]{1,5}|abs/|https?://[^/]{1,40}/[a-z]{3,4}/)",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class FoundIdentifiers:
    """What an entry states, and its text with each of them replaced by `MASK`."""

    text: str
    doi: str | None = None
    arxiv_id: str | None = None
    pmid: str | None = None
    isbn: str | None = None
    url: str | None = None


def take_identifiers(text: str) -> FoundIdentifiers:
    """The first identifier of each kind; an address that only resolves one is no address."""
    stated: dict[str, str] = {}
    pieces: list[str] = []
    place = 0
    for found in _PATTERN.finditer(text):
        kind, value, end = found.lastgroup or "", found.group(), found.end()
        trimmed = _trim(kind, value)
        if not trimmed:
            continue
        pieces.append(text[place : found.start()])
        pieces.append(MASK)
        place = end - (len(value) - len(trimmed))
        if parsed := _parse(kind, trimmed):
            stated.setdefault(kind, parsed)
    pieces.append(text[place:])
    doi = stated.get("doi") or _doi_in(stated.get("url"))
    url = stated.get("url")
    return FoundIdentifiers(
        "".join(pieces),
        doi,
        stated.get("arxiv"),
        stated.get("pmid"),
        stated.get("isbn"),
        None if url and (doi and doi in url.lower()) else url,
    )


def _trim(kind: str, value: str) -> str:
    """The value without the marks of the sentence it stands in."""
    if kind not in {"doi", "url"}:
        return value
    while value and value[-1] in _URL_TAIL:
        opening = {")": "(", "]": "["}.get(value[-1])
        if opening and value.count(opening) >= value.count(value[-1]):
            break
        value = value[:-1]
    return value


_KINDS: dict[str, type[Identifier]] = {"doi": Doi, "pmid": Pmid, "arxiv": ArxivId, "isbn": Isbn}


def _parse(kind: str, value: str) -> str | None:
    if kind == "url":
        return value
    bare = _ARXIV_LEAD.sub("", value) if kind == "arxiv" else value
    return identifier_value(_KINDS[kind], bare) if kind in _KINDS else None


def _doi_in(url: str | None) -> str | None:
    return identifier_value(Doi, url) if url and "/10." in url else None

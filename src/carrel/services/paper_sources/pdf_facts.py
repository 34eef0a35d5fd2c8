"""What a PDF states about itself: its own DOI, arXiv id and date, and not those of papers that it
cites.

Only two places count: the metadata that the publisher wrote into the file (XMP), and the head of
the first page, above the
abstract or the first section. What stands elsewhere may belong to any other paper, so it is not
used.
"""

from __future__ import annotations

import mmap
import re
from dataclasses import dataclass
from pathlib import Path

from carrel.libraries.identifiers import ArxivId, Doi, NotAnIdentifierError

_HEAD_ENDS = re.compile(
    r"^\W*(?:\d{1,2}\.?|[ivx]{1,4}\.)?\s*(?:a\s?b\s?s\s?t\s?r\s?a\s?c\s?t|summary|introduction|background|references|bibliography"
    r"|works cited|literature "
    r"cited|literature|zusammenfassung|einleitung|literatur|r[ée]sum[ée]|resumen|keywords|key "
    r"words"
    r"|index terms|contents)\b",
    re.IGNORECASE | re.MULTILINE,
)
# Where no heading ends the head, only this much of the page is taken for it.
_SHORT_HEAD_CHARACTERS = 600
_LONGEST_HEAD_CHARACTERS = 3_000
_DOI = re.compile(r"(?:doi\.org/|\bdoi\b\s*[:=]?\s*)(10\.\d{4,9}/[^\s\"<>{}|\\^`]+)", re.IGNORECASE)
# Lines that speak of another work: a citation, a companion, a work that is reviewed or corrected.
_OF_ANOTHER = re.compile(
    r"\bet\s+al\b|\b(?:cit(?:e|ed|es|ing|ation)|see|refer(?:ence)?s?|comment(?:ary|s)?\s+on|reply\s+to|response\s+to|review\s+of"
    r"|correct(?:ion|s)|corrigendum|erratum|retract|supplement|companion|related|based\s+on|extends?|data(?:set)?|software|code"
    r"|original\s+(?:article|paper|publication|version|work))\b"
    r"|^\s*\[\d+\]|^\s*\d{1,3}\.\s+[A-Z]|[A-Z][\w'’-]+,?\s+\(\d{4}[a-z]?\)",
    re.IGNORECASE | re.MULTILINE,
)
# A notice about another paper, whose DOI such a page gives at least as often as its own.
_NOTICE = re.compile(
    r"^\s*(?:(?:author|publisher)(?:['’]s)?\s+)?(?:correction|corrigend|errat|retraction|withdrawal|addendum|expression\s+of\s+concern"
    r"|comments?\s+on|reply|response\s+to|book\s+review)",
    re.IGNORECASE | re.MULTILINE,
)
_ARXIV_STAMP = re.compile(
    r"arXiv:\s*((?:\d{4}\.\d{4,5}|[a-z-]+(?:\.[A-Z]{2})?/\d{7})(?:v\d+)?)\s*\[[a-zA-Z-]+(?:\.[a-zA-Z-]+)?\]\s*"
    r"(?:\d{1,2}\s+[A-Z][a-z]{2}\s+((?:19|20)\d{2}))?"
)
_ARXIV_LINE = re.compile(
    r"^\s*(?:preprint\s*)?arXiv:\s*((?:\d{4}\.\d{4,5}|[a-z-]+(?:\.[A-Z]{2})?/\d{7})(?:v\d+)?)\s*$",
    re.IGNORECASE | re.MULTILINE,
)
_PUBLISHED = re.compile(
    r"\b(?:published|publication\s+date|date\s+of\s+publication|first\s+published|version\s+of\s+record)\b[^\n]{0,60}?"
    r"\b((?:19|20)\d{2})\b",
    re.IGNORECASE,
)
_COPYRIGHT = re.compile(
    r"^[^\n]{0,20}(?:©|\(c\)|\bcopyright\b)[^\n]{0,40}?\b((?:19|20)\d{2})\b",
    re.IGNORECASE | re.MULTILINE,
)

_XMP_START, _XMP_END = b"<x:xmpmeta", b"</x:xmpmeta>"
_LONGEST_XMP_BYTES = 1_000_000
_XMP_DOI = re.compile(
    r"(?:prism:doi|pdfx:doi|crossmark:DOI|pdfx:WPS-ARTICLEDOI)(?:\s*=\s*[\"']|[^<>]{0,50}>)\s*([^<\"']{5,300})",
    re.IGNORECASE,
)
_XMP_IDENTIFIER = re.compile(
    r"dc:identifier[^<>]{0,50}>\s*((?:doi:|https?://(?:dx\.)?doi\.org/)[^<]{5,300})", re.IGNORECASE
)
_XMP_DATE = re.compile(
    r"(?:prism:publicationDate|prism:coverDate)(?:\s*=\s*[\"']|[^<>]{0,50}>)\s*((?:19|20)\d{2}(?:-\d{2}(?:-\d{2})?)?)",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class PdfFacts:
    """What a PDF says of itself. `is_date_inferred` where the date is not that of publication by
    the file's own word.
    """

    doi: str | None = None
    arxiv_id: str | None = None
    date: str | None = None
    is_date_inferred: bool = False


def read_facts(path: Path, first_page: str) -> PdfFacts:
    xmp = _xmp(path)
    head = head_of(first_page)
    arxiv_id, stamped = _arxiv(head, first_page)
    doi = _stated_doi(xmp) or _printed_doi(head)
    if found := _XMP_DATE.search(xmp):
        return PdfFacts(doi, arxiv_id, found.group(1))
    if published := _PUBLISHED.search(head):
        return PdfFacts(doi, arxiv_id, published.group(1))
    copyrighted = _COPYRIGHT.search(head)
    year = stamped or (copyrighted.group(1) if copyrighted else None)
    return PdfFacts(doi, arxiv_id, year, is_date_inferred=year is not None)


def head_of(first_page: str) -> str:
    """The part of the first page above its abstract or first section, where a paper speaks of
    itself.
    """
    ends = _HEAD_ENDS.search(first_page[:_LONGEST_HEAD_CHARACTERS])
    return first_page[: ends.start() if ends else _SHORT_HEAD_CHARACTERS]


def _xmp(path: Path) -> str:
    """The XMP packet, where it lies unpacked in the file, as publishers write it."""
    with path.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as content:
        start = content.find(_XMP_START)
        if start < 0:
            return ""
        end = content.find(_XMP_END, start, start + _LONGEST_XMP_BYTES)
        return content[start:end].decode("utf-8", "replace") if end > 0 else ""


def _stated_doi(xmp: str) -> str | None:
    for found in (*_XMP_DOI.finditer(xmp), *_XMP_IDENTIFIER.finditer(xmp)):
        try:
            return Doi.parse(found.group(1).strip()).value
        except NotAnIdentifierError:
            continue
    return None


def _printed_doi(head: str) -> str | None:
    """The one DOI at the head of the page. Where there are several, none of them is known to be the
    paper's.
    """
    if _NOTICE.search(head):
        return None
    own: set[str] = set()
    lines = head.split("\n")
    for at, line in enumerate(lines):
        for found in _DOI.finditer(line):
            if _OF_ANOTHER.search(line[: found.start()]) or _OF_ANOTHER.search(
                lines[at - 1] if at else ""
            ):
                continue
            try:
                own.add(Doi.parse(found.group(1)).value)
            except NotAnIdentifierError:
                continue
    return own.pop() if len(own) == 1 else None


def _arxiv(head: str, first_page: str) -> tuple[str | None, str | None]:
    """The id and the year of arXiv's stamp, which may come anywhere in the text of the page; else
    an id on a line of the head.
    """
    stamp = _ARXIV_STAMP.search(first_page)
    found = stamp or _ARXIV_LINE.search(head)
    try:
        arxiv_id = ArxivId.parse(found.group(1)).value if found else None
    except NotAnIdentifierError:
        return None, None
    return arxiv_id, stamp.group(2) if stamp else None

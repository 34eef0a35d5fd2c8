"""The fields of a citation beside title, people and date: every spelling that files use."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import TypedDict

from carrel.libraries.bibliography.bibtex.vocabulary import TYPES as BIBTEX_TYPES
from carrel.libraries.csl.schema import ITEM_TYPES
from carrel.libraries.identifiers import Isbn, Pmcid, Pmid, identifier_value
from carrel.services.paper_sources.texts import first_text, one_line, plain_value

_MAX_CHARACTERS = 300
_KIND = (
    "type",
    "kind",
    "itemtype",
    "item_type",
    "csl_type",
    "entrytype",
    "entry_type",
    "publication_type",
    "publication_types",
    "publicationtypes",
    "document_type",
)
_VOLUME = ("volume", "vol", "journal_volume")
_ISSUE = ("issue", "issue_number", "journal_issue")
# These are issues of journals, and else numbers of reports.
_NUMBER = ("number", "no")
_PAGES = ("pages", "page", "page_range", "pagination", "pages_range")
_FIRST_PAGE = ("first_page", "firstpage", "fpage", "start_page", "page_start", "startpage")
_LAST_PAGE = ("last_page", "lastpage", "lpage", "end_page", "page_end", "endpage")
_ARTICLE_NUMBER = ("article_number", "elocation_id", "elocationid", "elocation", "eid")
_PUBLISHER = ("publisher", "publisher_name", "school")
_PMID = ("pmid", "pubmed", "pubmed_id", "pubmedid")
_PMCID = ("pmcid", "pmc", "pmc_id")
_ISBN = ("isbn", "isbn13", "isbn_13", "isbn10", "isbn_10")
_ISSN = ("issn", "issn_print", "pissn", "eissn", "issn_online", "issn_l")
_URL = ("url", "link", "paper_url", "source_url", "html_url", "canonical_url", "citation_url")
_LICENSE = ("license", "licence", "rights", "copyright")
_EDITORS = ("editors", "editor")
# Names of types outside CSL and BibTeX, without their separators: Zotero's, Crossref's, others'.
_OTHER_KINDS = {
    "journalarticle": "article-journal", "researcharticle": "article-journal",
    "journalpaper": "article-journal", "conferencepaper": "paper-conference",
    "conferencearticle": "paper-conference", "proceedingsarticle": "paper-conference",
    "booksection": "chapter", "bookchapter": "chapter", "bookpart": "chapter",
    "monograph": "book", "editedbook": "book", "dissertation": "thesis", "doctoralthesis": "thesis",
    "postedcontent": "article", "preprint": "article", "workingpaper": "report",
    "technicalreport": "report", "newspaperarticle": "article-newspaper",
    "magazinearticle": "article-magazine", "blogpost": "post-weblog", "computerprogram": "software",
    "encyclopediaarticle": "entry-encyclopedia", "dictionaryentry": "entry-dictionary",
    "reviewarticle": "article-journal", "peerreview": "review", "videorecording": "motion_picture",
}  # fmt: skip
_PREPRINT_VENUE = re.compile(
    r"\b(?:arxiv|corr|biorxiv|medrxiv|chemrxiv|psyarxiv|ssrn|preprints?|research square|osf)\b"
)
_NOT_A_LETTER = re.compile(r"[\W_]+")
_DASHES = re.compile(r"\s*(?:-{2,3}|[\u2010-\u2015\u2212])\s*")
_ISSN_SHAPE = re.compile(r"\b(\d{4})-?(\d{3}[\dXx])\b", re.ASCII)
_WEB = re.compile(r"https?://\S{1,2000}", re.IGNORECASE)


class CitationFields(TypedDict):
    """Fields of a PaperRecord, each None or empty where nothing says it."""

    kind: str | None
    volume: str | None
    issue: str | None
    pages: str | None
    publisher: str | None
    pmid: str | None
    pmcid: str | None
    isbn: str | None
    issn: str | None
    url: str | None
    license: str | None


def parse_citation_fields(fields: Mapping[str, object]) -> CitationFields:
    """The fields by their names in lower case, with `_` between words."""
    volume = short_text(first_text(fields, _VOLUME))
    return CitationFields(
        kind=read_kind(first_text(fields, _KIND), first_text(fields, ("venue", "journal"))),
        volume=volume,
        issue=short_text(first_text(fields, (*_ISSUE, *_NUMBER) if volume else _ISSUE)),
        pages=_pages(fields),
        publisher=short_text(first_text(fields, _PUBLISHER)),
        pmid=identifier_value(Pmid, first_text(fields, _PMID)),
        pmcid=read_pmcid(first_text(fields, _PMCID)),
        isbn=read_isbn(first_text(fields, _ISBN)),
        issn=read_issn(first_text(fields, _ISSN)),
        url=read_url(first_text(fields, _URL)),
        license=_license(fields),
    )


def editors_of(fields: Mapping[str, object]) -> object:
    """Whatever names the editors."""
    return next((value for name in _EDITORS if (value := fields.get(name))), None)


def read_kind(text: str | None, venue: str | None = None) -> str | None:
    """The CSL type of a word of any vocabulary; None for what says nothing of a publication.

    `article` means a journal's in BibTeX and a preprint in CSL: the venue decides.
    """
    if text is None:
        return None
    word = text.strip().lower()
    if word == "article":
        is_journal = bool(venue) and not _PREPRINT_VENUE.search((venue or "").lower())
        return "article-journal" if is_journal else "article"
    named = _NOT_A_LETTER.sub("", word)
    kind = (word if word in ITEM_TYPES else None) or _OTHER_KINDS.get(named)
    kind = kind or BIBTEX_TYPES.get(named)
    return None if kind == "document" else kind


def short_text(text: str | None) -> str | None:
    """One line of a length that a volume, a publisher or the like may have."""
    line = one_line(text)
    return line[:_MAX_CHARACTERS] if line else None


def read_pages(text: str | None) -> str | None:
    """Pages with a hyphen between first and last."""
    line = short_text(text)
    return _DASHES.sub("-", line) if line else None


def join_pages(first: str | None, last: str | None) -> str | None:
    start, end = read_pages(first), read_pages(last)
    return f"{start}-{end}" if start and end and start != end else start


def read_pmcid(text: str | None) -> str | None:
    """A PMCID, also without its `PMC`."""
    if text and text.strip().isdigit():
        text = f"PMC{text.strip()}"
    return identifier_value(Pmcid, text)


def read_isbn(text: str | None) -> str | None:
    """The first valid ISBN of a list."""
    for part in re.split(r"[,;]|\s{2,}", text or "")[:10]:
        if found := identifier_value(Isbn, part):
            return found
    return identifier_value(Isbn, (text or "").split(" ")[0])


def read_issn(text: str | None) -> str | None:
    """The first ISSN of a list."""
    found = _ISSN_SHAPE.search(text[:_MAX_CHARACTERS]) if text else None
    return f"{found[1]}-{found[2].upper()}" if found else None


def read_url(text: str | None) -> str | None:
    """A web address; None for a path or a name."""
    line = one_line(text)
    return line if line and _WEB.fullmatch(line) else None


def _pages(fields: Mapping[str, object]) -> str | None:
    value = next((value for name in _PAGES if (value := fields.get(name))), None)
    if isinstance(value, Mapping):
        named = {str(name).lower(): each for name, each in value.items()}
        first, last = (
            next((text for name in names if (text := plain_value(named.get(name)))), None)
            for names in (("start", "first", "from"), ("end", "last", "to"))
        )
        return join_pages(first, last)
    return (
        read_pages(first_text(fields, _PAGES))
        or join_pages(first_text(fields, _FIRST_PAGE), first_text(fields, _LAST_PAGE))
        or read_pages(first_text(fields, _ARTICLE_NUMBER))
    )


def _license(fields: Mapping[str, object]) -> str | None:
    for name in _LICENSE:
        value = fields.get(name)
        if isinstance(value, Mapping):
            named = {str(key).lower(): each for key, each in value.items()}
            value = first_text(named, ("type", "name", "text", "link", "url"))
        if text := short_text(plain_value(value)):
            return text
    return None

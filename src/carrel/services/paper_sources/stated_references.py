"""Reference lists that a record states as data: Crossref, OpenAlex, Semantic Scholar, Pandoc."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from carrel.libraries.identifiers import ArxivId, Doi, Isbn, Pmid, identifier_value
from carrel.libraries.works.cited_works import CitedWork
from carrel.libraries.works.reference_parsing import parse_reference
from carrel.libraries.works.reference_splitting import MAX_ENTRIES
from carrel.services.paper_sources.texts import one_line, plain_value

_LISTS = ("references", "reference", "referenced_works", "cited_works", "bibliography")
_TITLES = ("title", "article-title", "article_title", "volume-title", "display_name")
_CONTAINERS = ("container-title", "journal-title", "journal", "venue", "series-title", "booktitle")
_PAGES = ("page", "pages", "first-page")
_YEAR = re.compile(r"(?:1[4-9]|20)\d\d")
_TEXTS = ("unstructured", "text", "raw", "citation")
_MAX_AUTHORS = 500


def read_stated_references(fields: Mapping[str, object]) -> tuple[CitedWork, ...]:
    """The works that a record's own list of references names; empty where it has none."""
    for name in _LISTS:
        listed = fields.get(name)
        if isinstance(listed, list) and listed:
            works = (read_stated_reference(each) for each in listed[:MAX_ENTRIES])
            return tuple(work for work in works if work is not None)
    return ()


def read_stated_reference(value: object) -> CitedWork | None:
    """One entry: an identifier, an address, a printed entry, or named fields."""
    if isinstance(value, str):
        return _read_text(value)
    if not isinstance(value, Mapping):
        return None
    inner = value.get("citedPaper")
    named = {str(name): each for name, each in value.items()}
    return _read_fields(
        {str(name): each for name, each in inner.items()} if isinstance(inner, Mapping) else named
    )


def _read_text(value: str) -> CitedWork | None:
    text = one_line(value)
    if text is None:
        return None
    if doi := identifier_value(Doi, text):
        return CitedWork(doi=doi)
    if arxiv_id := identifier_value(ArxivId, text):
        return CitedWork(arxiv_id=arxiv_id)
    if text.startswith(("http://", "https://")) and " " not in text:
        return CitedWork(url=text)
    return parse_reference(text) if " " in text else None


def _read_fields(fields: Mapping[str, object]) -> CitedWork | None:
    printed = _first(fields, _TEXTS) or ""
    outside = fields.get("externalIds") or fields.get("ids")
    ids = {str(k).lower(): v for k, v in outside.items()} if isinstance(outside, Mapping) else {}
    title = _first(fields, _TITLES)
    parsed = parse_reference(printed) if printed and title is None else CitedWork()
    year = _YEAR.search(_first(fields, ("year", "publication_year")) or _issued(fields))
    work = CitedWork(
        text=printed or parsed.text,
        label=None,
        title=title or parsed.title,
        authors=_authors(fields) or parsed.authors,
        year=int(year.group()) if year else parsed.year,
        container=_first(fields, _CONTAINERS) or parsed.container,
        volume=_first(fields, ("volume",)) or parsed.volume,
        issue=_first(fields, ("issue",)) or parsed.issue,
        pages=_first(fields, _PAGES) or parsed.pages,
        publisher=_first(fields, ("publisher",)) or parsed.publisher,
        doi=identifier_value(Doi, _first(fields, ("DOI", "doi")) or plain_value(ids.get("doi")))
        or parsed.doi,
        arxiv_id=identifier_value(
            ArxivId, _first(fields, ("arxiv",)) or plain_value(ids.get("arxiv"))
        )
        or parsed.arxiv_id,
        pmid=identifier_value(
            Pmid, _first(fields, ("PMID", "pmid")) or plain_value(ids.get("pubmed"))
        )
        or parsed.pmid,
        isbn=identifier_value(Isbn, _first(fields, ("ISBN", "isbn"))) or parsed.isbn,
        url=_first(fields, ("URL", "url")) or parsed.url,
        kind=_first(fields, ("type",)),
        confidence=1.0 if title or not printed else parsed.confidence,
    )
    has_something = (
        work.text or work.title or work.doi or work.arxiv_id or work.pmid or work.container
    )
    return work if has_something else None


def _first(fields: Mapping[str, object], names: Sequence[str]) -> str | None:
    return next((text for name in names if (text := one_line(plain_value(fields.get(name))))), None)


def _issued(fields: Mapping[str, object]) -> str:
    issued = fields.get("issued")
    match issued:
        case {"date-parts": [[year, *_], *_]}:
            return str(year)
        case [{"year": year}, *_]:
            return str(year)
        case str() | int():
            return str(issued)
    return ""


def _authors(fields: Mapping[str, object]) -> tuple[str, ...]:
    people = fields.get("authors") or fields.get("author")
    if isinstance(people, str):
        name = one_line(people)
        return (name,) if name else ()
    if not isinstance(people, list):
        return ()
    names = (_name(person) for person in people[:_MAX_AUTHORS])
    return tuple(name for name in names if name)


def _name(person: object) -> str | None:
    if isinstance(person, Mapping):
        family, given = (one_line(plain_value(person.get(part))) for part in ("family", "given"))
        if family:
            return f"{family}, {given}" if given else family
        return one_line(plain_value(person.get("name") or person.get("literal")))
    return one_line(plain_value(person))

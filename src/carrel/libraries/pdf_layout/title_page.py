"""Reads the title page of a PDF: what the paper is called, whose it is, where it came out."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Generic, Literal, TypeVar

from carrel.libraries.pdf_layout.abstracts import find_abstract
from carrel.libraries.pdf_layout.author_lines import FoundAuthors, find_authors
from carrel.libraries.pdf_layout.content import Line, PdfContent
from carrel.libraries.pdf_layout.languages import guess_language
from carrel.libraries.pdf_layout.own_identifiers import OwnIdentifiers, find_identifiers
from carrel.libraries.pdf_layout.person_names import is_person_name, split_names
from carrel.libraries.pdf_layout.printed_dates import find_dates
from carrel.libraries.pdf_layout.publication import PublicationFacts, find_publication
from carrel.libraries.pdf_layout.title_confidence import (
    CONFIDENCE,
    rate_authors,
    rate_title,
)
from carrel.libraries.pdf_layout.title_zone import FrontPage, read_front_page, squash
from carrel.libraries.pdf_layout.titles import FoundTitle, find_title, read_information_title
from carrel.libraries.pdf_layout.xmp import PublisherFields, read_xmp

FieldT = TypeVar("FieldT")
PrintedOrigin = Literal["publisher", "layout", "guess"]


@dataclass(frozen=True, slots=True)
class Found(Generic[FieldT]):
    """A value with how sure it is (0 to 1) and where it comes from."""

    value: FieldT
    confidence: float
    origin: PrintedOrigin = "layout"


@dataclass(frozen=True, slots=True)
class TitlePage:
    """What a PDF says of itself; None is not known.

    `affiliations` are pairs of an author and an institution, `related` pairs of a relation and a
    DOI. `lines` are those of title and authors, which are no part of the text.
    """

    title: Found[str] | None = None
    authors: Found[tuple[str, ...]] | None = None
    affiliations: Found[tuple[tuple[str, str], ...]] | None = None
    abstract: Found[str] | None = None
    keywords: Found[tuple[str, ...]] | None = None
    venue: Found[str] | None = None
    volume: Found[str] | None = None
    issue: Found[str] | None = None
    pages: Found[str] | None = None
    publisher: Found[str] | None = None
    date: Found[str] | None = None
    doi: Found[str] | None = None
    arxiv_id: Found[str] | None = None
    language: Found[str] | None = None
    related: tuple[tuple[str, str], ...] = ()
    lines: tuple[Line, ...] = ()


def read_title_page(content: PdfContent) -> TitlePage:
    """What the first page, the publisher's metadata and the information dictionary say."""
    stated = read_xmp(content.xmp)
    front = read_front_page(content)
    if front is None:
        return _without_text(stated, content)
    title = find_title(front, content.information)
    authors = find_authors(front, title) if title else None
    authors = _check_with_information(authors, content.information, front)
    identifiers = find_identifiers(
        front,
        title.text if title else "",
        authors.names if authors else (),
        stated.doi,
        content.first_page_links,
    )
    publication = find_publication(front, title.bottom if title else None)
    abstract = find_abstract(front)
    return TitlePage(
        title=_choose_title(title, stated, content),
        authors=_choose_authors(authors, title, stated, front, content),
        affiliations=_found(authors.affiliations or None, "affiliations") if authors else None,
        abstract=_found(abstract.text, "abstract"),
        keywords=_found(abstract.keywords or None, "keywords"),
        venue=_state(stated.venue) or _found(publication.venue, "venue"),
        volume=_state(stated.volume) or _found(publication.volume, "volume"),
        issue=_state(stated.issue) or _found(publication.issue, "volume"),
        pages=_state(stated.pages) or _found(publication.pages, "pages"),
        publisher=_state(stated.publisher) if stated.has_journal else None,
        date=_choose_date(stated, publication, identifiers),
        doi=_choose_doi(identifiers),
        arxiv_id=_found(identifiers.arxiv_id, "arxiv_id"),
        language=_found(guess_language(content), "language"),
        related=identifiers.related,
        lines=(*(title.lines if title else ()), *(authors.lines if authors else ())),
    )


def _found(value: FieldT | None, name: str) -> Found[FieldT] | None:
    return None if value is None else Found(value, CONFIDENCE[name])


def _state(value: FieldT | None) -> Found[FieldT] | None:
    return None if value is None else Found(value, CONFIDENCE["publisher"], "publisher")


def _without_text(stated: PublisherFields, content: PdfContent) -> TitlePage:
    """A file whose first pages have no text: only what its metadata says."""
    title = stated.title if stated.has_journal else None
    guess = read_information_title(content.information)
    return TitlePage(
        title=_state(title)
        or (Found(guess, CONFIDENCE["information_title"], "guess") if guess else None),
        authors=_state(stated.authors or None) if stated.has_journal else None,
        venue=_state(stated.venue),
        volume=_state(stated.volume),
        issue=_state(stated.issue),
        pages=_state(stated.pages),
        date=_state(stated.date),
        doi=_state(stated.doi),
    )


def _choose_title(
    title: FoundTitle | None, stated: PublisherFields, content: PdfContent
) -> Found[str] | None:
    if title is not None:
        return Found(title.text, rate_title(title))
    if stated.has_journal and stated.title:
        return _state(stated.title)
    guess = read_information_title(content.information)
    return Found(guess, CONFIDENCE["information_title"], "guess") if guess else None


def _check_with_information(
    authors: FoundAuthors | None, information: dict[str, str], front: FrontPage
) -> FoundAuthors | None:
    """The printed list, or the dictionary's where it has more names and all stand on the page."""
    names = tuple(split_names(information.get("Author", "")[:2_000]))
    if not names or not all(is_person_name(name) for name in names):
        return authors
    keys = [squash(name) for name in names]
    if any(key not in front.squashed for key in keys):
        return authors
    printed = [squash(name) for name in authors.names] if authors else []
    if printed == keys and authors is not None:
        return FoundAuthors(
            authors.names,
            authors.affiliations,
            authors.institutions,
            (),
            authors.lines,
            is_confirmed=True,
        )
    if len(keys) > len(printed) and set(printed) <= set(keys):
        return FoundAuthors(names, is_confirmed=True)
    return authors


def _choose_authors(
    authors: FoundAuthors | None,
    title: FoundTitle | None,
    stated: PublisherFields,
    front: FrontPage,
    content: PdfContent,
) -> Found[tuple[str, ...]] | None:
    if stated.has_journal and len(stated.authors) > 1:
        keys = [squash(name) for name in stated.authors]
        if all(key in front.squashed for key in keys):
            return _state(stated.authors)
    if authors is None or title is None:
        return None
    confidence = rate_authors(authors, title)
    return None if confidence is None else Found(authors.names, confidence)


def _choose_date(
    stated: PublisherFields, publication: PublicationFacts, identifiers: OwnIdentifiers
) -> Found[str] | None:
    if stated.date:
        return _state(stated.date)
    if publication.date and publication.is_published:
        return Found(publication.date, CONFIDENCE["published_date"])
    if identifiers.stamp_date and (dates := find_dates(identifiers.stamp_date)):
        return Found(str(dates[0]), CONFIDENCE["stamp_date"])
    return _found(publication.date, "printed_date")


def _choose_doi(identifiers: OwnIdentifiers) -> Found[str] | None:
    if identifiers.doi is None:
        return None
    if identifiers.is_doi_stated:
        return _state(identifiers.doi)
    return _found(identifiers.doi, "doi")

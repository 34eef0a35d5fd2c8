"""PubMed's XML: articles and books to records, for answers of the service and for its dumps."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from xml.etree.ElementTree import Element

from carrel.libraries.bibliography.items import expand_page_range
from carrel.libraries.bibliography.titles import strip_brackets, strip_final_stop
from carrel.libraries.identifiers import Doi, Isbn, Pmcid, Pmid, identifier_value
from carrel.libraries.literature.errors import UnreadableRecordError
from carrel.libraries.literature.languages import read_language
from carrel.libraries.literature.markup import read_abstract, read_title
from carrel.libraries.literature.medline_kinds import read_kind
from carrel.libraries.literature.medline_sources import remove_addresses
from carrel.libraries.literature.people import make_author
from carrel.libraries.literature.pubmed_dates import article_date, published_date
from carrel.libraries.literature.pubmed_links import (
    read_notices,
    read_references,
    read_versions,
)
from carrel.libraries.literature.raw_fields import issns_of
from carrel.libraries.literature.records import (
    Author,
    ServiceRecord,
    TextLocation,
    Venue,
    WorkIds,
    WorkRecord,
)
from carrel.libraries.literature.xml_text import (
    child,
    children,
    descendants,
    local_name,
    marked_text,
    plain_text,
    text_at,
)

SERVICE = "pubmed"
_NO_TITLE = re.compile(
    r"^\[?(?:not available|in process citation|no title available)\]?$", re.IGNORECASE
)


def iterate_records(root: Element) -> Iterator[Element]:
    """The articles and books of a set, in order; a single one is its own set."""
    name = local_name(root)
    if name in {"PubmedArticle", "PubmedBookArticle", "MedlineCitation", "BookDocument"}:
        yield root
    elif name.endswith("Set"):
        for inner in root:
            yield from iterate_records(inner)


def read_work(node: Element) -> ServiceRecord:
    """One PubmedArticle, PubmedBookArticle, MedlineCitation or BookDocument.

    Raises UnreadableRecordError where it has no title or no number.
    """
    is_book = local_name(node) in {"PubmedBookArticle", "BookDocument"}
    work = _read_book(node) if is_book else _read_article(node)
    if work.ids.pmid is None or not work.title:
        raise UnreadableRecordError(SERVICE, "it has no title or no PubMed number")
    return ServiceRecord(SERVICE, work.ids.pmid, work)


def _read_article(node: Element) -> WorkRecord:
    citation = node if local_name(node) == "MedlineCitation" else child(node, "MedlineCitation")
    article = child(citation, "Article")
    journal = child(article, "Journal")
    issue = child(journal, "JournalIssue")
    kinds = {
        plain_text(each).lower()
        for each in children(child(article, "PublicationTypeList"), "PublicationType")
    }
    ids = _read_ids(node, citation, article)
    kind = read_kind(kinds)
    authors, is_cut = _read_authors(article)
    return WorkRecord(
        ids=ids,
        title=_read_title(article),
        abstract=_read_abstract(citation, article),
        authors=authors,
        is_authors_cut=is_cut,
        issued=article_date(article),
        kind=kind,
        venue=_read_journal(citation, journal),
        volume=text_at(issue, "Volume"),
        issue=text_at(issue, "Issue"),
        pages=_read_pages(article),
        language=read_language(text_at(article, "Language")),
        keywords=_unique(map(plain_text, _keyword_elements(citation))),
        subjects=_unique(
            text_at(heading, "DescriptorName")
            for heading in children(child(citation, "MeshHeadingList"), "MeshHeading")
        ),
        institutions=_read_institutions(article),
        locations=_read_locations(ids),
        notices=read_notices(citation, kinds),
        versions=read_versions(citation, is_preprint=kind == "preprint"),
        references=read_references(node),
    )


def _read_book(node: Element) -> WorkRecord:
    document = node if local_name(node) == "BookDocument" else child(node, "BookDocument")
    book = child(document, "Book")
    title, book_title = (
        strip_final_stop(read_title(marked_text(each)))
        for each in (child(document, "ArticleTitle"), child(book, "BookTitle"))
    )
    authors, is_cut = _read_authors(document)
    if not authors:
        authors, is_cut = _read_authors(book)
    ids = _read_ids(node, document, document)
    isbns = (identifier_value(Isbn, plain_text(each)) for each in children(book, "Isbn"))
    return WorkRecord(
        ids=_with_isbn(ids, next(filter(None, isbns), None)),
        title=title or book_title,
        abstract=_read_abstract(document, document),
        authors=authors,
        is_authors_cut=is_cut,
        issued=_book_date(document, book, is_chapter=bool(title and book_title)),
        kind="chapter" if title and book_title else "book",
        venue=Venue(
            name=book_title if title else text_at(book, "CollectionTitle"),
            publisher=text_at(book, "Publisher", "PublisherName"),
        ),
        volume=text_at(book, "Volume"),
        pages=_read_pages(document),
        language=read_language(text_at(document, "Language")),
        keywords=_unique(map(plain_text, _keyword_elements(document))),
        institutions=_read_institutions(document),
        locations=_read_locations(ids),
        references=read_references(node) or read_references(document),
    )


def _book_date(document: Element | None, book: Element | None, *, is_chapter: bool) -> str | None:
    """The day a chapter came into its book, which may be decades younger; else the book's date."""
    own = published_date(child(document, "ContributionDate"))
    whole = published_date(child(book, "PubDate"))
    return (own or whole) if is_chapter else (whole or own)


def _with_isbn(ids: WorkIds, isbn: str | None) -> WorkIds:
    return WorkIds(doi=ids.doi, pmid=ids.pmid, pmcid=ids.pmcid, isbn=isbn)


def _read_title(article: Element | None) -> str:
    """The title without its full stop and the brackets of a translation."""
    title = strip_final_stop(read_title(marked_text(child(article, "ArticleTitle"))))
    title = strip_brackets(title)
    if title and not _NO_TITLE.match(title):
        return title
    return strip_final_stop(read_title(marked_text(child(article, "VernacularTitle"))))


def _read_abstract(citation: Element | None, article: Element | None) -> str:
    """The abstract, else another one, English first; parts with their labels."""
    if abstract := _abstract_text(child(article, "Abstract")):
        return abstract
    others = [
        other
        for other in children(citation, "OtherAbstract")
        if other.get("Type", "").lower() != "plain-language-summary"
    ]
    others.sort(key=lambda other: other.get("Language", "eng") != "eng")
    return next(filter(None, map(_abstract_text, others)), "")


def _abstract_text(abstract: Element | None) -> str:
    parts: list[str] = []
    for part in children(abstract, "AbstractText"):
        label, words = " ".join(part.get("Label", "").split()), marked_text(part)
        is_labelled = label and label.upper() != "UNLABELLED"
        if words and not words.lower().startswith("no abstract"):
            parts.append(f"{label.rstrip(':')}: {words}" if is_labelled else words)
    return read_abstract(" ".join(parts))


def _read_authors(article: Element | None) -> tuple[tuple[Author, ...], bool]:
    found: list[Author] = []
    is_cut = False
    for people in children(article, "AuthorList"):
        if people.get("Type") == "editors":
            continue
        is_cut = is_cut or people.get("CompleteYN") == "N"
        valid = (each for each in children(people, "Author") if each.get("ValidYN") != "N")
        found.extend(author for each in valid if (author := _read_author(each)) is not None)
    return tuple(found), is_cut


def _read_author(element: Element) -> Author | None:
    identifiers = (
        plain_text(each)
        for each in children(element, "Identifier")
        if each.get("Source", "ORCID").upper() == "ORCID"
    )
    return make_author(
        text_at(element, "LastName"),
        text_at(element, "ForeName") or text_at(element, "Initials"),
        literal=text_at(element, "CollectiveName").rstrip("."),
        suffix=text_at(element, "Suffix"),
        orcid=next(identifiers, None),
    )


def _read_journal(citation: Element | None, journal: Element | None) -> Venue:
    info = child(citation, "MedlineJournalInfo")
    name = text_at(journal, "Title")
    short = text_at(journal, "ISOAbbreviation") or text_at(info, "MedlineTA")
    numbers = [text_at(journal, "ISSN"), text_at(info, "ISSNLinking")]
    return Venue(
        name=name or short,
        abbreviation=short if short != name else "",
        issn=issns_of(numbers),
    )


def _read_pages(article: Element | None) -> str:
    pagination = child(article, "Pagination")
    pages = text_at(pagination, "MedlinePgn")
    if not pages:
        start, end = text_at(pagination, "StartPage"), text_at(pagination, "EndPage")
        pages = f"{start}-{end}" if start and end and end != start else start
    return ", ".join(expand_page_range(part) for part in pages.split(",") if part.strip())


def _keyword_elements(citation: Element | None) -> Iterator[Element]:
    for words in children(citation, "KeywordList"):
        yield from children(words, "Keyword")


def _read_institutions(article: Element | None) -> tuple[str, ...]:
    written = tuple(plain_text(each) for each in descendants(article, "Affiliation"))
    return remove_addresses(written)


def _read_ids(node: Element, citation: Element | None, article: Element | None) -> WorkIds:
    """Identifiers of the work itself; those of its references stand elsewhere."""
    doi = pmcid = None
    data = child(node, "PubmedData")
    if data is None:
        data = child(node, "PubmedBookData")
    for place in (data, article):
        for each in children(child(place, "ArticleIdList"), "ArticleId"):
            kind, text = each.get("IdType", ""), plain_text(each)
            doi = doi or (identifier_value(Doi, text) if kind == "doi" else None)
            pmcid = pmcid or (identifier_value(Pmcid, text) if kind == "pmc" else None)
    for each in children(article, "ELocationID"):
        if each.get("EIdType") == "doi" and each.get("ValidYN") != "N":
            doi = doi or identifier_value(Doi, plain_text(each))
    return WorkIds(doi=doi, pmid=identifier_value(Pmid, text_at(citation, "PMID")), pmcid=pmcid)


def _read_locations(ids: WorkIds) -> tuple[TextLocation, ...]:
    """The page at PubMed Central, which people may open and programs may not."""
    if ids.pmcid is None:
        return ()
    url = f"https://pmc.ncbi.nlm.nih.gov/articles/{ids.pmcid}/"
    return (TextLocation(url, "landing_page", host="repository", service=SERVICE),)


def _unique(texts: Iterable[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(text for text in texts if text))

"""The reference list of a JATS article."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace

from carrel.libraries.identifiers import ArxivId, Doi, Isbn, Pmid, identifier_value
from carrel.libraries.text.budget import current_budget
from carrel.libraries.text.xml import Element
from carrel.libraries.works.cited_works import CitedWork
from carrel.libraries.works.reference_parsing import parse_reference
from carrel.services.paper_sources.jats_text import child, plain
from carrel.services.paper_sources.texts import one_line

# More than any article cites; a longer list is cut.
MAX_REFERENCES = 10_000
_CITATIONS = frozenset({"element-citation", "mixed-citation", "citation", "nlm-citation"})
# Letters to the editor and decision letters have reference lists of their own.
_OTHER_ARTICLES = frozenset({"sub-article", "response"})
_TITLES = ("article-title", "chapter-title", "data-title", "part-title", "trans-title")
_KINDS = {
    "journal": "article-journal",
    "book": "book",
    "confproc": "paper-conference",
    "thesis": "thesis",
    "web": "webpage",
    "website": "webpage",
    "webpage": "webpage",
    "software": "software",
    "data": "dataset",
    "patent": "patent",
    "report": "report",
    "gov": "report",
    "preprint": "article",
    "newspaper": "article-newspaper",
}
_YEAR = re.compile(r"\b(1[4-9]\d\d|20\d\d)")
_WORDS_OF_A_PRINTED_ENTRY = 4
_RUNNING_TEXT = frozenset({"italic", "bold", "sup", "sub", "sc", "styled-content", "ext-link"})
_SPACE_AT_MARKS = re.compile(r" (?=[.,;:)\]–-])|(?<=[(\[–]) ")


def read_references(article: Element) -> tuple[CitedWork, ...]:
    """Every entry of the article's own reference lists, in order."""
    found: list[CitedWork] = []
    for reference in _own_references(article):
        for work in _works_of(reference):
            found.append(work)
            if len(found) == MAX_REFERENCES:
                return tuple(found)
    return tuple(found)


def _own_references(article: Element) -> Iterator[Element]:
    budget = current_budget()
    waiting = [article]
    while waiting:
        node = waiting.pop()
        budget.step()
        if node.tag == "ref":
            yield node
        elif node is article or node.tag not in _OTHER_ARTICLES:
            waiting.extend(reversed(list(node)))


def _works_of(reference: Element) -> Iterator[CitedWork]:
    """One work for each citation; alternatives of one citation are one work."""
    label = (one_line(plain(child(reference, "label"))) or "").strip(" .()[]") or None
    for node in reference:
        if node.tag == "citation-alternatives":
            works = [_read_citation(each) for each in node if each.tag in _CITATIONS]
            if works:
                text = max((work.text for work in works), key=len)
                best = max(works, key=lambda work: (work.title is not None, work.confidence))
                yield replace(best, text=text, label=label)
        elif node.tag in _CITATIONS:
            work = _read_citation(node)
            if work.text or work.title or work.doi or work.container:
                yield replace(work, label=label)


def _read_citation(node: Element) -> CitedWork:
    kind = _KINDS.get((node.get("publication-type") or node.get("citation-type") or "").lower())
    title = next((text for name in _TITLES if (text := _text(node, name))), None)
    source = _text(node, "source")
    if title is None and kind != "article-journal":
        title, source = source, None
    elif kind == "book" and _text(node, "article-title") is None:
        kind = "chapter"
    year = _YEAR.search(_text(node, "year") or "")
    work = CitedWork(
        text=_printed_text(node),
        title=title,
        authors=_people(node),
        year=int(year.group()) if year else None,
        container=source or _text(node, "conf-name"),
        volume=_text(node, "volume"),
        issue=_text(node, "issue"),
        pages=_pages(node),
        publisher=_text(node, "publisher-name"),
        kind=kind,
    )
    if work.text and title is None and not work.authors:
        # Printed as a whole, without elements for its fields.
        work = replace(parse_reference(work.text, ""), kind=kind)
    return _with_identifiers(work, node)


def _text(node: Element, name: str) -> str | None:
    return one_line(plain(next((each for each in node.iter(name)), None)))


def _printed_text(node: Element) -> str:
    """The entry where it is printed with its punctuation, else nothing."""
    own = "".join([node.text or "", *(each.tail or "" for each in node)]).strip()
    if node.tag == "element-citation" or not own:
        return ""
    text = " ".join("".join(_spaced_pieces(node)).split())
    text = _SPACE_AT_MARKS.sub("", text)
    return text if len(text.split()) >= _WORDS_OF_A_PRINTED_ENTRY else ""


def _spaced_pieces(node: Element) -> Iterator[str]:
    """The text with a space between parts that only their elements keep apart."""
    yield node.text or ""
    for each in node:
        if each.tag in _RUNNING_TEXT:
            yield from _spaced_pieces(each)
        elif each.tag != "pub-id":
            yield " "
            yield from _spaced_pieces(each)
            yield " "
        yield each.tail or ""


def _people(node: Element) -> tuple[str, ...]:
    groups = list(node.iter("person-group"))
    authors = [
        group for group in groups if group.get("person-group-type", "author") in {"author", ""}
    ]
    return tuple(
        name
        for place in (authors or groups or [node])
        for each in place.iter()
        if each.tag in {"name", "string-name", "collab"} and (name := _person(each))
    )


def _person(node: Element) -> str | None:
    family, given, suffix = (
        one_line(plain(child(node, part))) for part in ("surname", "given-names", "suffix")
    )
    if family is None:
        return one_line(plain(node))
    return ", ".join(part for part in (family, given, suffix) if part)


def _pages(node: Element) -> str | None:
    first, last = _text(node, "fpage"), _text(node, "lpage")
    if first and last and first != last:
        return f"{first}-{last}"
    return first or _text(node, "page-range") or _text(node, "elocation-id")


def _with_identifiers(work: CitedWork, node: Element) -> CitedWork:
    stated: dict[str, str] = {}
    for each in node.iter():
        match each.tag:
            case "pub-id":
                stated.setdefault(each.get("pub-id-type") or "", plain(each))
            case "object-id" | "ext-link" | "uri":
                kind = each.get("pub-id-type") or each.get("ext-link-type") or "uri"
                stated.setdefault(kind, _address(each))
            case "isbn":
                stated.setdefault("isbn", plain(each))
    address = stated.get("uri") or stated.get("url")
    doi = identifier_value(Doi, stated.get("doi") or address)
    return replace(
        work,
        doi=doi or work.doi,
        pmid=identifier_value(Pmid, stated.get("pmid")) or work.pmid,
        arxiv_id=identifier_value(ArxivId, stated.get("arxiv") or address) or work.arxiv_id,
        isbn=identifier_value(Isbn, stated.get("isbn")) or work.isbn,
        url=one_line(address) if address and address.startswith("http") and not doi else work.url,
    )


def _address(node: Element) -> str:
    linked = next((value for key, value in node.attrib.items() if key.endswith("href")), "")
    return linked or plain(node)

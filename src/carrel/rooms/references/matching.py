"""What of a reference a query term may match: all its text, one field, or an identifier."""

from __future__ import annotations

import re

from carrel.libraries.text.folding import fold_keeping_case, fold_text
from carrel.rooms.references.items import (
    Item,
    arxiv_of,
    collections_of,
    custom,
    doi_of,
    former_ids,
    isbns_of,
    keywords,
    names_text,
    nested_paths,
    pmcid_of,
    pmid_of,
    read_state_of,
    tags,
    text_of,
    year_of,
)
from carrel.rooms.references.queries import CONTENT_FIELDS, ReferenceTerm

_TEXT_FIELDS = (
    "id", "title", "title-short", "container-title", "publisher", "publisher-place", "event-place",
    "abstract", "note", "DOI", "URL",
)  # fmt: skip
_NUMBER_FIELDS = (
    "PMID", "PMCID", "ISBN", "ISSN", "volume", "number", "event-title", "collection-title",
)  # fmt: skip
_TWO_CAPITALS = re.compile(r"[A-Z]{2}")


def matches(item: Item, term: ReferenceTerm) -> bool:
    """Whether a reference has a term, found by looking at the whole reference."""
    if term.field is not None and term.field not in CONTENT_FIELDS:
        return term.text in identifiers(item, term.field)
    content = all_text(item) if term.field is None else field_text(item, term.field)
    if not _has(fold_text(content), term.text, is_beginning=term.is_beginning):
        return False
    return term.exact_case is None or _has(
        fold_keeping_case(content), term.exact_case, is_beginning=term.is_beginning
    )


def _has(content: str, text: str, *, is_beginning: bool) -> bool:
    at = content.find(text)
    while is_beginning and at > 0 and content[at - 1].isalnum():
        at = content.find(text, at + 1)
    return at >= 0


def all_text(item: Item) -> str:
    """All text that a plain word may match."""
    year = year_of(item)
    own = custom(item)
    parts = [
        *(text_of(item, field) for field in _TEXT_FIELDS),
        names_text(item),
        *keywords(item),
        *tags(item),
        *collections_of(item),
        *(text_of(item, field) for field in _NUMBER_FIELDS),
        *(str(own.get(name) or "") for name in ("arxiv_id", "eric_id", "scopus_id")),
        "" if year is None else str(year),
        text_of(item, "type"),
    ]
    return " ".join(part for part in parts if part)


def field_text(item: Item, field: str) -> str:
    """The text of one field that a word may match inside."""
    match field:
        case "author":
            return names_text(item)
        case "title":
            return f"{text_of(item, 'title')} {text_of(item, 'title-short')}"
        case "venue":
            return f"{text_of(item, 'container-title')} {text_of(item, 'event-title')}"
        case "keyword":
            return "; ".join(keywords(item))
        case _:
            return "; ".join(tags(item))


def identifiers(item: Item, field: str) -> set[str]:
    """The values a field may equal, folded."""
    match field:
        case "id":
            found: list[object] = [text_of(item, "id"), custom(item).get("uuid"), *former_ids(item)]
        case "doi":
            arxiv = arxiv_of(item)
            found = [text_of(item, "DOI"), doi_of(item), arxiv and f"10.48550/arxiv.{arxiv}"]
        case "pmid":
            found = [text_of(item, "PMID"), pmid_of(item)]
        case "pmcid":
            pmcid = pmcid_of(item) or ""
            found = [text_of(item, "PMCID"), pmcid, pmcid.removeprefix("PMC")]
        case "isbn":
            found = [text_of(item, "ISBN"), *isbns_of(item)]
        case "url":
            more = custom(item).get("additional_urls")
            found = [text_of(item, "URL"), *(more if isinstance(more, list) else ())]
        case "year":
            found = [year_of(item)]
        case "has":
            found = list(_parts_of(item))
        case "collection":
            found = [each for path in collections_of(item) for each in nested_paths(path)]
        case "tagged":
            found = list(tags(item))
        case "read":
            found = [read_state_of(item)]
        case _:
            found = [text_of(item, "type")]
    return {fold_text(str(value)) for value in found if value not in (None, "")}


def _parts_of(item: Item) -> list[str]:
    """What `has:` may ask for."""
    own = custom(item)
    known = {
        "fulltext": own.get("attachments") or own.get("fulltext"),
        "abstract": item.get("abstract"),
        "doi": item.get("DOI"),
        "url": item.get("URL"),
        "note": item.get("note"),
        "keyword": keywords(item),
        "tag": tags(item),
        "collection": collections_of(item),
    }
    return [name for name, value in known.items() if value]


def capital_words(text: str) -> list[str]:
    """The words with two capitals in a row, which match with their case."""
    if _TWO_CAPITALS.search(text) is None and text.isascii():
        return []
    return [word for word in fold_keeping_case(text).split() if _TWO_CAPITALS.search(word)]

"""Which fields an editor shows for each type of work; others are shown where they have a value."""

from __future__ import annotations

from carrel.libraries.csl.schema import (
    DATE_VARIABLES,
    ITEM_TYPES,
    NAME_VARIABLES,
    NUMBER_VARIABLES,
    TEXT_VARIABLES,
)

# The types in the order in which people look for them; the rest follow by name.
_USUAL_TYPES = (
    "article-journal", "book", "chapter", "paper-conference", "thesis", "report", "webpage",
    "dataset", "software", "article", "article-newspaper", "article-magazine", "manuscript",
    "patent", "standard", "document",
)  # fmt: skip
TYPES = (*_USUAL_TYPES, *sorted(ITEM_TYPES - set(_USUAL_TYPES)))
LONG_FIELDS = frozenset({"abstract", "note", "annote"})

_ARTICLE = ("author", "title", "container-title", "issued", "volume", "issue", "page")
_BOOK = ("author", "editor", "title", "edition", "publisher", "publisher-place", "issued")
_PART = ("author", "title", "editor", "container-title", "publisher", "publisher-place", "issued")
_FIELDS: dict[str, tuple[str, ...]] = {
    "article-journal": (*_ARTICLE, "DOI", "PMID", "ISSN", "URL"),
    "article-magazine": (*_ARTICLE, "URL"),
    "article-newspaper": ("author", "title", "container-title", "issued", "page", "section", "URL"),
    "article": ("author", "title", "publisher", "number", "issued", "DOI", "URL"),
    "review": (*_ARTICLE, "reviewed-title", "reviewed-author", "DOI", "URL"),
    "review-book": (*_ARTICLE, "reviewed-title", "reviewed-author", "DOI", "URL"),
    "book": (*_BOOK, "volume", "number-of-pages", "ISBN", "DOI", "URL"),
    "chapter": (*_PART, "volume", "page", "ISBN", "DOI", "URL"),
    "entry-encyclopedia": (*_PART, "volume", "page", "ISBN", "DOI", "URL"),
    "paper-conference": (*_PART, "event-title", "event-place", "page", "DOI", "URL"),
    "thesis": ("author", "title", "genre", "publisher", "publisher-place", "issued", "DOI", "URL"),
    "report": (
        "author", "title", "genre", "number", "publisher", "publisher-place", "issued", "DOI",
        "URL",
    ),
    "webpage": ("author", "title", "container-title", "issued", "accessed", "URL"),
    "post-weblog": ("author", "title", "container-title", "issued", "accessed", "URL"),
    "dataset": ("author", "title", "publisher", "version", "issued", "DOI", "URL"),
    "software": ("author", "title", "publisher", "version", "issued", "DOI", "URL"),
    "patent": ("author", "title", "number", "authority", "issued", "submitted", "URL"),
    "standard": ("author", "title", "number", "publisher", "issued", "URL"),
}  # fmt: skip
_OTHER = ("author", "title", "container-title", "publisher", "issued", "DOI", "URL")
_ALWAYS = ("abstract", "keyword", "language", "note")

# What the form edits, field by field; the rest is for the view of the whole record.
FORM_FIELDS = NAME_VARIABLES | DATE_VARIABLES | NUMBER_VARIABLES | TEXT_VARIABLES


def fields_of_type(name: str) -> tuple[str, ...]:
    return (*_FIELDS.get(name, _OTHER), *_ALWAYS)

"""Our queries in the language of DOAJ, which is that of Elasticsearch's query strings."""

from __future__ import annotations

from datetime import date

from carrel.libraries.literature.queries import TranslatedParameters
from carrel.libraries.literature.queries.boolean import QueryLeafNode
from carrel.libraries.literature.queries.widening import (
    BooleanLanguage,
    Clause,
    quote_phrase,
    write_query,
)
from carrel.libraries.query.papers import FacetPhrase, PaperQuery, WithIdentifier, YearRange
from carrel.libraries.text.words import Phrase

INDEX_DATE_REMARK = "articles that DOAJ had before and whose records it changed since"
_FACETS = {
    "author": "bibjson.author.name",
    "venue": "bibjson.journal.title",
    "keyword": "bibjson.keywords",
    "institution": "bibjson.author.affiliation",
}
_TEXT_FIELDS = ("bibjson.title", "bibjson.abstract", "bibjson.keywords")


def translate(
    query: PaperQuery, *, since: date | None = None, until: date | None = None
) -> TranslatedParameters:
    """The query that stands in the path; `since` and `until` bound the day it came to DOAJ.

    Fields beside `doi` and `license` are unproved live.
    """
    text, remarks = write_query(query, BooleanLanguage(_write_leaf))
    if not text:
        return TranslatedParameters(not_expressed=remarks)
    if since is not None or until is not None:
        first, last = since or date(1800, 1, 1), until or date(3000, 12, 31)
        text = f"({text}) AND created_date:[{first.isoformat()} TO {last.isoformat()}]"
        remarks = (*remarks, INDEX_DATE_REMARK)
    return TranslatedParameters({"query": text}, text, remarks)


def _write_leaf(node: QueryLeafNode) -> Clause | None:
    match node:
        case Phrase():
            return _write_phrase(node)
        case FacetPhrase():
            field = _FACETS.get(node.category)
            # DOAJ refuses stars.
            if field is None or node.is_prefix:
                return None
            return Clause(f"{field}:{quote_phrase(node)}")
        case YearRange(first, last):
            return Clause(f"bibjson.year:[{first or 1000} TO {last or 3000}]")
        case WithIdentifier(identifiers):
            names = [f'doi:"{each.value}"' for each in identifiers if each.kind == "doi"]
            return Clause(names[0]) if names else None


def _write_phrase(phrase: Phrase) -> Clause | None:
    if phrase.is_prefix:
        return None
    return Clause(_in_fields(quote_phrase(phrase), phrase.in_title))


def _in_fields(words: str, in_title: bool) -> str:
    if in_title:
        return f"bibjson.title:{words}"
    return f"({' OR '.join(f'{field}:{words}' for field in _TEXT_FIELDS)})"

"""Our queries in Europe PMC's language, in titles, abstracts and keywords, not in full texts."""

from __future__ import annotations

from datetime import date

from carrel.libraries.literature.queries import TranslatedParameters
from carrel.libraries.literature.queries.author_names import split_name, tell_initials
from carrel.libraries.literature.queries.boolean import QueryLeafNode
from carrel.libraries.literature.queries.widening import (
    BooleanLanguage,
    Clause,
    quote_phrase,
    write_query,
)
from carrel.libraries.query.papers import FacetPhrase, PaperQuery, WithIdentifier, YearRange
from carrel.libraries.text.words import Phrase

INDEX_DATE_REMARK = "works that Europe PMC had before and whose records it changed since"


def translate(
    query: PaperQuery,
    *,
    since: date | None = None,
    until: date | None = None,
    includes_preprints: bool = True,
) -> TranslatedParameters:
    """The query of `search`; `since` and `until` bound the day it was first indexed."""
    text, remarks = write_query(query, BooleanLanguage(_write_leaf))
    if not text:
        return TranslatedParameters(not_expressed=remarks)
    if not includes_preprints:
        text = f"({text}) NOT SRC:PPR"
    if since is not None or until is not None:
        first, last = since or date(1800, 1, 1), until or date(3000, 12, 31)
        text = f"({text}) AND FIRST_IDATE:[{first.isoformat()} TO {last.isoformat()}]"
        remarks = (*remarks, INDEX_DATE_REMARK)
    return TranslatedParameters({"query": text}, text, remarks)


def _write_leaf(node: QueryLeafNode) -> Clause | None:
    match node:
        case Phrase():
            return _write_phrase(node)
        case FacetPhrase():
            return _write_facet(node)
        case YearRange(first, last):
            return Clause(f"PUB_YEAR:[{first or 1000} TO {last or 3000}]")
        case WithIdentifier(identifiers):
            named = [
                written for each in identifiers if (written := _write_id(each.kind, each.value))
            ]
            return Clause(f"({' OR '.join(named)})") if named else None


def _write_id(kind: str, value: str) -> str:
    match kind:
        case "doi":
            return f'DOI:"{value}"'
        case "pmid":
            return f"(EXT_ID:{value} AND SRC:MED)"
        case "pmcid":
            return f"PMCID:{value.upper()}"
        case _:
            return ""


def _write_phrase(phrase: Phrase) -> Clause:
    """Stars work behind single words only, so the words of a longer beginning may stand apart."""
    if not phrase.is_prefix or len(phrase.words) == 1:
        words = quote_phrase(phrase) + ("*" if phrase.is_prefix else "")
        return Clause(_in_fields(words, phrase.in_title))
    parts = [*phrase.words[:-1], f"{phrase.words[-1]}*"]
    text = " AND ".join(_in_fields(part, phrase.in_title) for part in parts)
    remark = f'the words of "{" ".join(phrase.words)}*" as neighbours'
    return Clause(f"({text})", is_wider=True, remark=remark)


def _in_fields(words: str, in_title: bool) -> str:
    return f"TITLE:{words}" if in_title else f"(TITLE:{words} OR ABSTRACT:{words} OR KW:{words})"


def _write_facet(facet: FacetPhrase) -> Clause | None:
    if facet.is_prefix and len(facet.words) > 1:
        return None
    words = quote_phrase(facet) + ("*" if facet.is_prefix else "")
    match facet.category:
        case "author":
            return _write_author(facet, words)
        case "keyword":
            return Clause(f"KW:{words}")
        case "venue":
            remark = f"venue:{' '.join(facet.words)} as a part of a journal's name"
            return Clause(f"(JOURNAL:{words} OR PUBLISHER:{words})", remark=remark)
        case "institution":
            return Clause(f"AFF:{words}")
        case "tag":
            return None


def _write_author(facet: FacetPhrase, words: str) -> Clause:
    """Names are indexed with initials, so that a first name finds all who share its initial."""
    family, initials, are_initials = split_name(facet.words)
    if not initials:
        return Clause(f"AUTH:{words}")
    short = f'AUTH:"{family} {initials}"'
    if are_initials:
        return Clause(short)
    text = f'({short} OR AUTH:"{" ".join(facet.words)}")'
    return Clause(text, is_wider=True, remark=tell_initials(facet.words))

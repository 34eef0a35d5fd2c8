"""Our queries in PubMed's language. Bare words are expanded by PubMed itself (MeSH terms)."""

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

# PubMed refuses a star behind fewer letters.
_SHORTEST_STEM = 4
_ALL_WORKS = "all[sb]"
_IDENTIFIERS = {"doi": "doi", "pmid": "pmid", "pmcid": "pmcid"}
ENTRY_DATE_REMARK = (
    "works that came to PubMed more than a year after they were published, which it dates back"
)


def translate(
    query: PaperQuery,
    *,
    since: date | None = None,
    until: date | None = None,
    includes_preprints: bool = True,
) -> TranslatedParameters:
    """The parameters of esearch; `since` and `until` bound the day a work came to PubMed."""
    language = BooleanLanguage(_write_leaf, everything=_ALL_WORKS, word_joint=" ")
    text, remarks = write_query(query, language)
    if not text:
        return TranslatedParameters(not_expressed=remarks)
    if not includes_preprints:
        text = f"({text}) NOT preprint[pt]"
    parameters = {"term": text}
    if since is not None or until is not None:
        first = (since or date(1800, 1, 1)).strftime("%Y/%m/%d")
        last = (until or date(3000, 12, 31)).strftime("%Y/%m/%d")
        parameters |= {"datetype": "edat", "mindate": first, "maxdate": last}
        text = f"{text} [came in {first} to {last}]"
        remarks = (*remarks, ENTRY_DATE_REMARK)
    return TranslatedParameters(parameters, text, remarks)


def _write_leaf(node: QueryLeafNode) -> Clause | None:
    match node:
        case Phrase():
            return _write_phrase(node)
        case FacetPhrase():
            return _write_facet(node)
        case YearRange(first, last):
            return Clause(f"{first or 1000}:{last or 3000}[dp]")
        case WithIdentifier(identifiers):
            named = [
                f'"{each.value}"[{_IDENTIFIERS[each.kind]}]'
                for each in identifiers
                if each.kind in _IDENTIFIERS
            ]
            return (
                Clause(" OR ".join(named) if len(named) < 2 else f"({' OR '.join(named)})")
                if named
                else None
            )


def _write_phrase(phrase: Phrase) -> Clause | None:
    """A bare word or hyphenated one is left to PubMed's term mapping, an exact one is quoted."""
    tag = "[ti]" if phrase.in_title else ""
    if phrase.is_prefix:
        if len(phrase.words[-1]) < _SHORTEST_STEM:
            return None
        words = " ".join(phrase.words)
        stem = f'"{words}*"' if len(phrase.words) > 1 else f"{words}*"
        return Clause(f"{stem}{tag or '[all]'}")
    if phrase.is_exact:
        return Clause(f'"{" ".join(phrase.words)}"{tag or "[all]"}')
    if phrase.in_title:
        return Clause(f"{quote_phrase(phrase)}[ti]")
    if len(phrase.words) > 1 and all(word.isascii() for word in phrase.words):
        return Clause("-".join(phrase.words))
    return Clause(quote_phrase(phrase))


def _write_facet(facet: FacetPhrase) -> Clause | None:
    star = "*" if facet.is_prefix else ""
    words = " ".join(facet.words)
    match facet.category:
        case "author":
            return _write_author(facet.words, star)
        case "keyword":
            return Clause(f'("{words}{star}"[mh] OR "{words}{star}"[ot])')
        case "venue":
            remark = "" if star else f"venue:{words} as a part of a journal's name"
            return Clause(f'"{words}{star}"[ta]', remark=remark)
        case "institution":
            return Clause(f'"{words}{star}"[ad]')
        case "tag":
            return None


def _write_author(words: tuple[str, ...], star: str) -> Clause:
    """Family name and initials, as older records have names; full names in either order."""
    family, initials, are_initials = split_name(words)
    if not initials:
        return Clause(f"{family}{star}[au]")
    short = f"{family} {initials}[au]"
    if are_initials:
        return Clause(short)
    text = f"({short} OR {' '.join(words)}[fau])"
    return Clause(text, is_wider=True, remark=tell_initials(words))

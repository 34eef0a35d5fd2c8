"""Marked fragments of the fields that a query found words in."""

from __future__ import annotations

import fnmatch
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from carrel.libraries.query.elasticsearch.analyzer import analyze_terms, analyze_text
from carrel.libraries.query.elasticsearch.clauses import (
    BoolQuery,
    BoostingQuery,
    ConstantScoreQuery,
    DisMaxQuery,
    Fuzziness,
    FuzzyQuery,
    HighlightField,
    MatchPhraseQuery,
    MatchQuery,
    MultiMatchQuery,
    MultiPrefixQuery,
    PrefixQuery,
    QueryClause,
    TermsQuery,
    WildcardQuery,
)
from carrel.stores.sqlite.search.edits import count_edits
from carrel.stores.sqlite.search.index import Index
from carrel.stores.sqlite.search.patterns import glob_pattern

# How far an end of a fragment may move so that no word is cut.
_EDGE_CHARACTERS = 20
Span = tuple[int, int]


@dataclass(slots=True)
class _SearchTerms:
    """What a query looks for in one field."""

    words: set[str] = field(default_factory=set)
    beginnings: list[str] = field(default_factory=list)
    phrases: list[list[str]] = field(default_factory=list)
    patterns: list[str] = field(default_factory=list)
    fuzzy: list[tuple[str, Fuzziness]] = field(default_factory=list)

    def fits(self, word: str) -> bool:
        if word in self.words or word.startswith(tuple(self.beginnings)):
            return True
        return any(fnmatch.fnmatchcase(word, pattern) for pattern in self.patterns) or any(
            count_edits(wanted, word, how.edits(wanted), how.swaps_count_once) is not None
            for wanted, how in self.fuzzy
        )


def highlight_fields(
    index: Index, source: Mapping[str, Any], query: QueryClause, wanted: Sequence[HighlightField]
) -> dict[str, list[str]]:
    """The marked fragments of every field that has some."""
    found: dict[str, list[str]] = {}
    for name in index.fields:
        how = next((one for one in wanted if fnmatch.fnmatchcase(name, one.field)), None)
        if how is None:
            continue
        terms = _search_terms(query, name if how.needs_own_match else None)
        values = source.get(name)
        texts = [
            value
            for value in (values if isinstance(values, list) else [values])
            if isinstance(value, str)
        ]
        fragments = [
            fragment
            for text in texts
            for fragment in _fragments(text, _find_spans(text, terms), how)
        ][: how.number_of_fragments or None]
        if not fragments and how.no_match_size and texts:
            end = _edge_after(texts[0], how.no_match_size)
            fragments = [texts[0][:end]]
        if fragments:
            found[name] = fragments
    return found


def _search_terms(clause: QueryClause, name: str | None) -> _SearchTerms:
    """What is looked for in a field, or without a name in any."""
    wanted = _SearchTerms()
    waiting: list[QueryClause] = [clause]
    while waiting:
        one = waiting.pop()
        match one:
            case BoolQuery(must=must, filter=needed, should=should):
                waiting += [*must, *needed, *should]
            case DisMaxQuery(queries=queries):
                waiting += queries
            case ConstantScoreQuery(filter=inside):
                waiting.append(inside)
            case BoostingQuery(positive=inside):
                waiting.append(inside)
            case MultiMatchQuery(fields=fields) | MultiPrefixQuery(fields=fields):
                if name is None or any(fnmatch.fnmatchcase(name, other) for other, _ in fields):
                    _collect_multiple(wanted, one)
            case (
                MatchQuery()
                | MatchPhraseQuery()
                | TermsQuery()
                | PrefixQuery()
                | WildcardQuery()
                | FuzzyQuery()
            ):
                if name is None or one.field.removesuffix(".keyword") == name:
                    _collect(wanted, one)
            case _:
                pass
    return wanted


def _collect_multiple(wanted: _SearchTerms, clause: MultiMatchQuery | MultiPrefixQuery) -> None:
    if isinstance(clause, MultiPrefixQuery):
        wanted.beginnings.append(clause.text)
    elif clause.kind in {"phrase", "phrase_prefix"}:
        expansions = clause.max_expansions if clause.kind == "phrase_prefix" else 0
        _collect(wanted, MatchPhraseQuery("", clause.text, 1.0, clause.slop, expansions))
    else:
        is_open = clause.kind == "bool_prefix"
        _collect(wanted, MatchQuery("", clause.text, fuzziness=clause.fuzziness, ends_open=is_open))


def _collect(wanted: _SearchTerms, clause: QueryClause) -> None:
    match clause:
        case MatchQuery(text=text, fuzziness=fuzziness, ends_open=ends_open):
            words = analyze_terms(str(text))
            if ends_open and words:
                wanted.beginnings.append(words.pop())
            wanted.words.update(words)
            if fuzziness is not None:
                wanted.fuzzy += [(word, fuzziness) for word in words]
        case MatchPhraseQuery(text=text, slop=slop, max_expansions=expansions):
            words = analyze_terms(str(text))
            if slop:
                wanted.words.update(words)
            elif len(words) == 1 and expansions:
                wanted.beginnings += words
            elif words:
                # A beginning at the end of a phrase is marked as such.
                wanted.phrases.append([*words[:-1], f"{words[-1]}*" if expansions else words[-1]])
        case TermsQuery(values=values):
            wanted.words.update(word for value in values for word in analyze_terms(str(value)))
        case PrefixQuery(text=text):
            wanted.beginnings.append(text)
        case WildcardQuery(pattern=pattern):
            wanted.patterns.append(glob_pattern(pattern))
        case FuzzyQuery(text=text, fuzziness=fuzziness):
            wanted.fuzzy.append((text, fuzziness))
        case _:
            pass


def _find_spans(text: str, wanted: _SearchTerms) -> list[Span]:
    """Matched spans from left to right; overlapping ones are merged."""
    places = analyze_text(text)
    found = [(token.start, token.end) for token in places if wanted.fits(token.term)]
    for phrase in wanted.phrases:
        size = len(phrase)
        found += [
            (places[at].start, places[at + size - 1].end)
            for at in range(len(places) - size + 1)
            if all(
                token.term == word or (word.endswith("*") and token.term.startswith(word[:-1]))
                for token, word in zip(places[at : at + size], phrase, strict=True)
            )
        ]
    merged: list[Span] = []
    for start, end in sorted(found):
        if merged and start < merged[-1][1]:
            merged[-1] = (merged[-1][0], max(end, merged[-1][1]))
        else:
            merged.append((start, end))
    return merged


def _fragments(text: str, hits: Sequence[Span], how: HighlightField) -> list[str]:
    if not hits:
        return []
    if how.number_of_fragments == 0:
        return [_mark_fragment(text, 0, len(text), hits, how)]
    fragments: list[str] = []
    until = 0
    for start, end in hits:
        if start < until or len(fragments) == how.number_of_fragments:
            continue
        begin = _edge_before(text, max(until, start - how.fragment_size // 3), until)
        until = _edge_after(text, max(begin + how.fragment_size, end))
        fragments.append(_mark_fragment(text, begin, until, hits, how).strip())
    return fragments


def _edge_before(text: str, at: int, limit: int) -> int:
    for place in range(at, max(limit, at - _EDGE_CHARACTERS) - 1, -1):
        if place in {0, limit} or text[place - 1].isspace():
            return place
    return at


def _edge_after(text: str, at: int) -> int:
    if at >= len(text):
        return len(text)
    for place in range(at, min(len(text), at + _EDGE_CHARACTERS)):
        if text[place].isspace():
            return place
    return at


def _mark_fragment(
    text: str, begin: int, end: int, hits: Sequence[Span], how: HighlightField
) -> str:
    pieces: list[str] = []
    at = begin
    for start, stop in hits:
        if start >= begin and stop <= end:
            pieces += [text[at:start], how.pre_tag, text[start:stop], how.post_tag]
            at = stop
    pieces.append(text[at:end])
    return "".join(pieces)

"""Marks in the text of a hit what the query looked for."""

from __future__ import annotations

import fnmatch
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from carrel.libraries.query.elasticsearch.clauses import (
    BoolQuery,
    Highlight,
    MatchPhraseQuery,
    MatchQuery,
    MultiMatchQuery,
    PrefixQuery,
    QueryClause,
    TermsQuery,
)
from carrel.libraries.text.tokenizer import index_terms, index_terms_with_offsets
from carrel.stores.sqlite.search.index import Index

# How far an end of a fragment may move so that no word is cut.
_EDGE_CHARACTERS = 20
Span = tuple[int, int]


@dataclass(slots=True)
class _Wanted:
    """What a query looks for in one field."""

    words: set[str] = field(default_factory=set)
    beginnings: list[str] = field(default_factory=list)
    phrases: list[list[str]] = field(default_factory=list)


def highlighted(
    index: Index, source: Mapping[str, Any], query: QueryClause, how: Highlight
) -> dict[str, list[str]]:
    """The marked fragments of every field that has some."""
    found: dict[str, list[str]] = {}
    for name in index.fields:
        if not any(fnmatch.fnmatchcase(name, pattern) for pattern in how.fields):
            continue
        wanted = _wanted(query, name)
        values = source.get(name)
        texts = [
            value
            for value in (values if isinstance(values, list) else [values])
            if isinstance(value, str)
        ]
        fragments = [
            fragment for text in texts for fragment in _fragments(text, _hits(text, wanted), how)
        ]
        if fragments:
            found[name] = fragments
    return found


def _wanted(clause: QueryClause, name: str) -> _Wanted:
    wanted = _Wanted()
    waiting: list[QueryClause] = [clause]
    while waiting:
        match waiting.pop():
            case MatchQuery(field=other, text=text) if other == name:
                wanted.words.update(index_terms(str(text)))
            case MatchPhraseQuery(field=other, text=text) if other == name:
                wanted.phrases.append(index_terms(str(text)))
            case MultiMatchQuery(fields=fields, text=text, kind=kind) if any(
                fnmatch.fnmatchcase(name, other) for other, _ in fields
            ):
                if kind == "phrase":
                    wanted.phrases.append(index_terms(str(text)))
                else:
                    wanted.words.update(index_terms(str(text)))
            case TermsQuery(field=other, values=values) if other.removesuffix(".keyword") == name:
                wanted.words.update(word for value in values for word in index_terms(str(value)))
            case PrefixQuery(field=other, text=text) if other.removesuffix(".keyword") == name:
                wanted.beginnings.append(text)
            case BoolQuery(must=must, filter=needed, should=should):
                waiting += [*must, *needed, *should]
            case _:
                pass
    return wanted


def _hits(text: str, wanted: _Wanted) -> list[Span]:
    """Where the wanted stands, from left to right, what overlaps as one."""
    places = index_terms_with_offsets(text)
    beginnings = tuple(wanted.beginnings)
    found = [
        (start, end)
        for word, start, end in places
        if word in wanted.words or (beginnings and word.startswith(beginnings))
    ]
    sequence = [word for word, _, _ in places]
    for phrase in wanted.phrases:
        size = len(phrase)
        starts = range(len(sequence) - size + 1) if size else range(0)
        found += [
            (places[at][1], places[at + size - 1][2])
            for at in starts
            if sequence[at : at + size] == phrase
        ]
    merged: list[Span] = []
    for start, end in sorted(found):
        if merged and start < merged[-1][1]:
            merged[-1] = (merged[-1][0], max(end, merged[-1][1]))
        else:
            merged.append((start, end))
    return merged


def _fragments(text: str, hits: Sequence[Span], how: Highlight) -> list[str]:
    if not hits:
        return []
    if how.number_of_fragments == 0:
        return [_marked(text, 0, len(text), hits, how)]
    fragments: list[str] = []
    until = 0
    for start, end in hits:
        if start < until or len(fragments) == how.number_of_fragments:
            continue
        begin = _edge_before(text, max(until, start - how.fragment_size // 3), until)
        until = _edge_after(text, max(begin + how.fragment_size, end))
        fragments.append(_marked(text, begin, until, hits, how).strip())
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


def _marked(text: str, begin: int, end: int, hits: Sequence[Span], how: Highlight) -> str:
    pieces: list[str] = []
    at = begin
    for start, stop in hits:
        if start >= begin and stop <= end:
            pieces += [text[at:start], how.pre_tag, text[start:stop], how.post_tag]
            at = stop
    pieces.append(text[at:end])
    return "".join(pieces)

"""Words with an apostrophe as they were typed: services index `Crohn's` and `O'Brien` whole."""

from __future__ import annotations

import re
from dataclasses import replace

from carrel.libraries.query.papers import (
    AllOf,
    AnyOf,
    FacetPhrase,
    Not,
    PaperQuery,
    QueryNode,
)
from carrel.libraries.text.words import Phrase, split_words

_JOINED = re.compile(r"[^\W_]+(?:['\u2019\u02bc][^\W_]+)+")
_SIGN = re.compile(r"['\u2019\u02bc]")

_Parts = dict[tuple[str, ...], str]


def join_apostrophes(query: PaperQuery) -> PaperQuery:
    """The query for services; our own search takes the parts of such a word for two words."""
    joined: _Parts = {
        tuple(split_words(found)): _SIGN.sub("'", found) for found in _JOINED.findall(query.text)
    }
    if not joined:
        return query
    return replace(
        query,
        loose=tuple(_join_phrase(each, joined) for each in query.loose),
        strict=None if query.strict is None else _join(query.strict, joined),
    )


def _join(node: QueryNode, joined: _Parts) -> QueryNode:
    match node:
        case Phrase():
            return _join_phrase(node, joined)
        case FacetPhrase(words=words):
            return replace(node, words=_join_words(words, joined))
        case AllOf(parts):
            return AllOf(tuple(_join(each, joined) for each in parts))
        case AnyOf(parts):
            return AnyOf(tuple(_join(each, joined) for each in parts))
        case Not(part):
            return Not(_join(part, joined))
        case _:
            return node


def _join_phrase(phrase: Phrase, joined: _Parts) -> Phrase:
    return replace(phrase, words=_join_words(phrase.words, joined))


def _join_words(words: tuple[str, ...], joined: _Parts) -> tuple[str, ...]:
    found: list[str] = []
    at = 0
    while at < len(words):
        parts = next((each for each in joined if words[at : at + len(each)] == each), None)
        found.append(words[at] if parts is None else joined[parts])
        at += 1 if parts is None else len(parts)
    return tuple(found)

"""Turns what a person typed into a query clause over the words of papers."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from typing import Any

from carrel.libraries.query.papers import (
    AllOf,
    AnyOf,
    FacetPhrase,
    Not,
    PaperQuery,
    QueryNode,
    WithIdentifier,
    YearRange,
    split_phrases,
    without_stop_words,
)
from carrel.libraries.text.words import Phrase
from carrel.stores.elasticsearch.papers.documents import spaced_words
from carrel.stores.sqlite.papers import rows

Clause = dict[str, Any]
# The weights of the snapshot's own index, of which only the proportions matter.
_WEIGHTS = {"words_title": 5, "words_summary": 3, "words_metadata": 2, "words_full": 1}
_MAX_PREFIX_WORDS = 60
_MAX_PIECES = 200


def question(connection: sqlite3.Connection, query: PaperQuery) -> Clause | None:
    """The clause for a query; None where nothing is asked for."""
    parts = [] if query.strict is None else [_node(connection, query.strict)]
    if query.identifiers:
        # An identifier that was pasted whole is not a bag of numbers.
        parts += [_phrase(phrase) for phrase in query.loose]
    elif query.loose:
        parts.append(_bag(query.loose))
    return {"bool": {"must": parts}} if parts else None


def _bag(loose: Sequence[Phrase]) -> Clause:
    """Any of the words, the more and the rarer the better."""
    content = without_stop_words(loose)
    return _any([_phrase(piece) for piece in split_phrases(content) or content][:_MAX_PIECES])


def _node(connection: sqlite3.Connection, node: QueryNode) -> Clause:
    match node:
        case Phrase():
            return _phrase(node)
        case FacetPhrase(category, words, is_prefix):
            return _unscored(_in_field(f"words_{category}", Phrase(words, is_prefix), 1))
        case YearRange(first, last):
            return _unscored({"range": {"year": {"gte": first or 0, "lte": last or 9999}}})
        case WithIdentifier(identifiers):
            return _unscored({"ids": {"values": rows.with_identifiers(connection, identifiers)}})
        case Not(part):
            return _unscored({"bool": {"must_not": [_node(connection, part)]}})
        case AllOf(parts):
            return {"bool": {"must": [_node(connection, part) for part in parts]}}
        case AnyOf(parts):
            return _any([_node(connection, part) for part in parts])


def _phrase(phrase: Phrase) -> Clause:
    text = _text(phrase)
    if phrase.in_title:
        return _in_field("words_title", phrase, _WEIGHTS["words_title"])
    if phrase.is_prefix or " " in text:
        return _any([_in_field(field, phrase, weight) for field, weight in _WEIGHTS.items()])
    return {
        "combined_fields": {
            "query": text,
            "fields": [f"{field}^{weight}" for field, weight in _WEIGHTS.items()],
        }
    }


def _in_field(field: str, phrase: Phrase, weight: int) -> Clause:
    """Words in this order; the last may be the beginning of one."""
    asked: Clause = {"query": _text(phrase), "boost": weight}
    if phrase.is_prefix:
        return {"match_phrase_prefix": {field: {**asked, "max_expansions": _MAX_PREFIX_WORDS}}}
    return {"match_phrase": {field: asked}}


def _text(phrase: Phrase) -> str:
    return spaced_words(" ".join(phrase.words))


def _any(choices: list[Clause]) -> Clause:
    return {"bool": {"should": choices, "minimum_should_match": 1}}


def _unscored(clause: Clause) -> Clause:
    return {"bool": {"filter": [clause]}}

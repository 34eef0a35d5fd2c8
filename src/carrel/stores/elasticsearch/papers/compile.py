"""Turns what a person typed into a query clause over the words of papers."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Sequence
from typing import Any as Anything

from carrel.rooms.papers.query_language import (
    All,
    Any,
    Facet,
    Named,
    Node,
    Not,
    Phrase,
    Query,
    Years,
)
from carrel.rooms.papers.words import STOP_WORDS, fold, is_cjk
from carrel.stores.elasticsearch.papers.documents import spaced_words
from carrel.stores.sqlite.papers import rows

Clause = dict[str, Anything]
# The weights of the snapshot's own index, of which only the proportions matter.
_WEIGHTS = {"words_title": 5, "words_summary": 3, "words_metadata": 2, "words_full": 1}
_MAX_PREFIX_WORDS = 60
_MAX_PIECES = 200


def question(connection: sqlite3.Connection, query: Query) -> Clause | None:
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
    content = [phrase for phrase in loose if not _is_stop_word(phrase)] or list(loose)
    return _any([_phrase(piece) for piece in _pieces(content) or content][:_MAX_PIECES])


def _pieces(phrases: Iterable[Phrase]) -> list[Phrase]:
    """Single words, and pairs of neighbouring CJK characters, which mean more than one character
    does.
    """
    pieces: dict[Phrase, None] = {}
    for phrase in phrases:
        if len(phrase.words) == 1:
            pieces[phrase] = None
        elif is_cjk(phrase.words[0]):
            pieces.update(
                (Phrase(phrase.words[at : at + 2]), None) for at in range(len(phrase.words) - 1)
            )
        else:
            pieces.update(
                (Phrase((word,)), None) for word in phrase.words if fold(word) not in STOP_WORDS
            )
    return list(pieces)


def _node(connection: sqlite3.Connection, node: Node) -> Clause:
    match node:
        case Phrase():
            return _phrase(node)
        case Facet(category, words, is_prefix):
            return _unscored(_in_field(f"words_{category}", Phrase(words, is_prefix), 1))
        case Years(first, last):
            return _unscored({"range": {"year": {"gte": first or 0, "lte": last or 9999}}})
        case Named(identifiers):
            return _unscored({"ids": {"values": rows.with_identifiers(connection, identifiers)}})
        case Not(part):
            return _unscored({"bool": {"must_not": [_node(connection, part)]}})
        case All(parts):
            return {"bool": {"must": [_node(connection, part) for part in parts]}}
        case Any(parts):
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


def _is_stop_word(phrase: Phrase) -> bool:
    return len(phrase.words) == 1 and not phrase.is_prefix and fold(phrase.words[0]) in STOP_WORDS

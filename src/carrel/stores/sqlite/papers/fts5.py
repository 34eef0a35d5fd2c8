"""Ranking with the snapshot's own FTS5 index, planned so that common words cost little.

FTS5 scores every match at about 2 µs and cannot stop early. So stop words are left out; where the
rest is still too much,
papers with all the words come first, and papers with some of them fill the page, the rarest words
deciding which are tried.
"""

from __future__ import annotations

import sqlite3
from dataclasses import dataclass

from carrel.libraries.query.papers import (
    AllOf,
    AnyOf,
    Not,
    PaperQuery,
    QueryNode,
    split_phrases,
    without_stop_words,
)
from carrel.libraries.text.folding import fold_text
from carrel.libraries.text.words import Phrase

# 5 : 3 : 1 : 1 : 2 for title, summary, source, translated, metadata; the column that is not indexed
# takes the first weight.
# Only proportions matter for which field counts more; at this size a word that comes back still
# counts (nDCG .677, not .662).
RANK = "bm25(0.0, 1.667, 1.0, 0.333, 0.333, 0.667)"
_MAX_MATCHES_TO_SCORE = 20_000


@dataclass(frozen=True, slots=True)
class Plan:
    """FTS5 expressions, tried one after the other until the page is full, and what SQL must
    decide.
    """

    stages: tuple[str, ...]
    conditions: tuple[QueryNode, ...]


def plan(connection: sqlite3.Connection, query: PaperQuery) -> Plan:
    texts, conditions = _parted(query.strict)
    firm = [_required(texts)] if texts else []
    if not query.loose:
        return Plan(tuple(firm), conditions)
    content = without_stop_words(query.loose)
    every = _join(" AND ", [*firm, *(quoted(phrase) for phrase in content)])
    pieces = split_phrases(content)
    # An identifier that was pasted whole is not a bag of numbers.
    if query.identifiers or (len(content) == 1 and len(pieces) <= 1):
        return Plan((every,), conditions)
    affordable = _affordable(connection, pieces)
    some = _join(" AND ", [*firm, _join(" OR ", [quoted(phrase) for phrase in affordable])])
    if len(affordable) == len(pieces):
        return Plan((some,), conditions)
    return Plan((every, f"({some}) NOT ({every})"), conditions)


def quoted(phrase: Phrase) -> str:
    """A phrase as FTS5 reads it; inside quotes nothing is an operator."""
    body = " ".join(phrase.words).replace('"', '""')
    return f'{"{title} : " if phrase.in_title else ""}"{body}"{"*" if phrase.is_prefix else ""}'


def expression(node: QueryNode) -> str | None:
    """A tree of phrases as one FTS5 expression; None where FTS5 has no words for it."""
    match node:
        case Phrase():
            return quoted(node)
        case AllOf(parts):
            wanted = [expression(part) for part in parts if not isinstance(part, Not)]
            unwanted = [expression(part.part) for part in parts if isinstance(part, Not)]
            if not wanted or None in wanted or None in unwanted:
                return None
            joined = _join(" AND ", [part for part in wanted if part is not None])
            return (
                f"({joined}) NOT ({_join(' OR ', [part for part in unwanted if part is not None])})"
                if unwanted
                else joined
            )
        case AnyOf(parts):
            choices = [expression(part) for part in parts]
            return (
                None
                if None in choices
                else _join(" OR ", [part for part in choices if part is not None])
            )
        case _:
            return None


def _parted(strict: QueryNode | None) -> tuple[list[QueryNode], tuple[QueryNode, ...]]:
    """What FTS5 can decide, and what SQL must."""
    parts = () if strict is None else strict.parts if isinstance(strict, AllOf) else (strict,)
    texts = [part for part in parts if expression(part) is not None]
    if not texts:
        return [], tuple(parts)
    texts += [part for part in parts if isinstance(part, Not) and expression(part.part) is not None]
    return texts, tuple(part for part in parts if part not in texts)


def _required(texts: list[QueryNode]) -> str:
    whole = expression(AllOf(tuple(texts)))
    assert whole is not None
    return whole


def _join(sign: str, parts: list[str]) -> str:
    return parts[0] if len(parts) == 1 else sign.join(f"({part})" for part in parts)


def _affordable(connection: sqlite3.Connection, pieces: list[Phrase]) -> list[Phrase]:
    """The rarest first, as long as scoring their papers stays within the limit; always one."""
    chosen: list[Phrase] = []
    total = 0
    for count, at in sorted(
        (_papers_with(connection, piece), at) for at, piece in enumerate(pieces)
    ):
        total += count
        if chosen and total > _MAX_MATCHES_TO_SCORE:
            break
        chosen.append(pieces[at])
    return chosen


def _papers_with(connection: sqlite3.Connection, phrase: Phrase) -> int:
    """How many papers have the rarest word of the phrase, from the index's own vocabulary."""
    counts = []
    for word in phrase.words:
        row = connection.execute(
            "SELECT doc FROM temp.paper_words WHERE term = ?", (fold_text(word),)
        ).fetchone()
        counts.append(int(row[0]) if row else 0)
    return min(counts)

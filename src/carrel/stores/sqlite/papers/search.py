"""Ranking of papers: what a store asks of any index, and the snapshot's own FTS5 index."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

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
from carrel.libraries.text.folding import fold_text, text_key
from carrel.libraries.text.snippets import Stem
from carrel.libraries.text.words import Phrase
from carrel.stores.sqlite.papers import rows
from carrel.stores.sqlite.papers.rows import ListedPaper
from carrel.stores.sqlite.papers.snapshot import SnapshotVersion


class Ranking(Protocol):
    """Ranked papers for a query, on the store's threads with a connection of the snapshot."""

    @property
    def name(self) -> str:
        """A display name of the index."""
        ...

    @property
    def stem(self) -> Stem | None:
        """The stemmer by which words match, for marking them; None where only equal words match."""
        ...

    def search(
        self, connection: sqlite3.Connection, query: PaperQuery, first: int, count: int
    ) -> list[ListedPaper]: ...

    def total(self, connection: sqlite3.Connection, query: PaperQuery) -> int | None:
        """How many papers match in all; None where counting them would take too long."""
        ...


OpenRanking = Callable[[Path, str], Ranking | None]
"""From a snapshot and its build id to the index beside it, or None where there is none that
fits.
"""


# 5 : 3 : 1 : 1 : 2 for title, summary, source, translated, metadata; the column that is not indexed
# takes the first weight.
# Only proportions matter for which field counts more; at this size a word that comes back still
# counts (nDCG .677, not .662).
RANK = "bm25(0.0, 1.667, 1.0, 0.333, 0.333, 0.667)"
_MAX_MATCHES_TO_SCORE = 20_000


@dataclass(frozen=True, slots=True)
class Plan:
    """FTS5 expressions to try until the page is full, and conditions for SQL."""

    stages: tuple[str, ...]
    conditions: tuple[QueryNode, ...]


def plan_stages(connection: sqlite3.Connection, query: PaperQuery) -> Plan:
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
    """Split a query into the part for FTS5 and the conditions for SQL."""
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


_TITLES_TO_COMPARE = 500


@dataclass(frozen=True, slots=True)
class _Condition:
    """A piece of SQL about the table `paper`, and its values."""

    sql: str
    values: tuple[object, ...] = ()

    @classmethod
    def join(cls, operator: str, parts: Sequence[_Condition]) -> _Condition:
        sql = operator.join(f"({part.sql})" for part in parts)
        return cls(sql, tuple(value for part in parts for value in part.values))


class Fts5Ranking:
    """The index that every snapshot has."""

    name = "the snapshot's own full-text tables"
    stem = None

    def __init__(self, generation: SnapshotVersion) -> None:
        self._generation = generation

    def search(
        self, connection: sqlite3.Connection, query: PaperQuery, first: int, count: int
    ) -> list[ListedPaper]:
        generation = self._generation
        named = _named(connection, query)
        page = named[first : first + count]
        plan = plan_stages(connection, query)
        conditions = [_condition(generation, connection, node) for node in plan.conditions]
        if named:
            without = json.dumps([found.paper_id for found in named])
            conditions.append(
                _Condition("paper.paper_id NOT IN (SELECT value FROM json_each(?))", (without,))
            )
        first, count = max(0, first - len(named)), count - len(page)
        if plan.stages:
            return page + _ranked(connection, plan.stages, conditions, first, count)
        return page + (_newest(connection, conditions, first, count) if plan.conditions else [])

    def total(self, connection: sqlite3.Connection, query: PaperQuery) -> int | None:
        """The papers that are named or match; words of too many papers are not counted."""
        plan = plan_stages(connection, query)
        conditions = [_condition(self._generation, connection, node) for node in plan.conditions]
        named = [found.paper_id for found in _named(connection, query)]
        apart = _Condition(
            "paper.paper_id NOT IN (SELECT value FROM json_each(?))", (json.dumps(named),)
        )
        rest = [*conditions, apart] if named else conditions
        if plan.stages:
            return len(named) + sum(_size(connection, stage, rest) for stage in plan.stages)
        if not rest or not plan.conditions:
            return len(named)
        where = _Condition.join(" AND ", rest)
        counted = connection.execute(f"SELECT count(*) FROM paper WHERE {where.sql}", where.values)
        return len(named) + int(counted.fetchone()[0])


def _named(connection: sqlite3.Connection, query: PaperQuery) -> list[ListedPaper]:
    """The papers whose identifier or whole title was typed."""
    found = rows.listed_papers(connection, rows.identified_papers(connection, query.identifiers))
    if not query.loose or query.strict is not None or query.identifiers:
        return found
    typed = Phrase(tuple(word for phrase in query.loose for word in phrase.words))
    expression = f"{{title}} : ^ {quoted(typed)}"
    candidates = connection.execute(
        f"SELECT rowid, title FROM paper_fts WHERE paper_fts MATCH ? LIMIT {_TITLES_TO_COMPARE}",
        (expression,),
    )
    return found + rows.papers_of_rows(
        connection, [row for row, title in candidates if text_key(title) == query.title_key]
    )


def _ranked(
    connection: sqlite3.Connection,
    stages: Sequence[str],
    conditions: Sequence[_Condition],
    first: int,
    count: int,
) -> list[ListedPaper]:
    found: list[ListedPaper] = []
    skip = first
    for stage in stages:
        wanted = count - len(found)
        if wanted <= 0:
            break
        page = _stage(connection, stage, conditions, skip, wanted)
        if not page and skip:
            skip -= min(skip, _size(connection, stage, conditions))
        else:
            skip = 0
        found += page
    return found


def _matches(expression: str, conditions: Sequence[_Condition]) -> _Condition:
    """The rows of the full-text table that match, with FROM and WHERE."""
    joined = "JOIN paper ON paper.paper_id = paper_fts.paper_id" if conditions else ""
    matching = _Condition("paper_fts MATCH ?", (expression,))
    where = _Condition.join(" AND ", [matching, *conditions])
    return _Condition(f"FROM paper_fts {joined} WHERE {where.sql}", where.values)


def _stage(
    connection: sqlite3.Connection,
    expression: str,
    conditions: Sequence[_Condition],
    first: int,
    count: int,
) -> list[ListedPaper]:
    matches = _matches(expression, conditions)
    found = connection.execute(
        f"SELECT paper_fts.rowid {matches.sql} AND rank MATCH '{RANK}' ORDER BY rank "
        "LIMIT ? OFFSET ?",
        (*matches.values, count, first),
    )
    return rows.papers_of_rows(connection, [row[0] for row in found])


def _size(connection: sqlite3.Connection, expression: str, conditions: Sequence[_Condition]) -> int:
    matches = _matches(expression, conditions)
    return int(connection.execute(f"SELECT count(*) {matches.sql}", matches.values).fetchone()[0])


def _newest(
    connection: sqlite3.Connection, conditions: Sequence[_Condition], first: int, count: int
) -> list[ListedPaper]:
    """Where nothing ranks, the newest first and the unknown years last."""
    where = _Condition.join(" AND ", conditions)
    found = connection.execute(
        f"SELECT paper_id FROM paper WHERE {where.sql} ORDER BY {rows.NEWEST_FIRST} "
        "LIMIT ? OFFSET ?",
        (*where.values, count, first),
    )
    return rows.listed_papers(connection, [row[0] for row in found])


def _condition(
    generation: SnapshotVersion, connection: sqlite3.Connection, node: QueryNode
) -> _Condition:
    match node:
        case Phrase():
            return _Condition(
                "paper.paper_id IN (SELECT paper_id FROM paper_fts WHERE paper_fts MATCH ?)",
                (quoted(node),),
            )
        case FacetPhrase(category, words, is_prefix):
            values = generation.facet_values.with_phrase(
                connection, category, words, is_prefix=is_prefix
            )
            return _Condition(
                f"paper.paper_id IN (SELECT paper_id FROM paper_{category} "
                f"WHERE {category}_id IN (SELECT value FROM json_each(?)))",
                (json.dumps(values),),
            )
        case YearRange(first, last):
            # Text compares as numbers do here: years have four digits, and 'unknown' sorts after
            # all of them.
            return _Condition(
                "paper.year BETWEEN ? AND ?", (f"{first or 0:04}", f"{last or 9999:04}")
            )
        case WithIdentifier(identifiers):
            found = rows.identified_papers(connection, identifiers)
            return _Condition(
                "paper.paper_id IN (SELECT value FROM json_each(?))", (json.dumps(found),)
            )
        case Not(part):
            inner = _condition(generation, connection, part)
            return _Condition(f"NOT ({inner.sql})", inner.values)
        case AllOf(parts) | AnyOf(parts):
            inside = [_condition(generation, connection, part) for part in parts]
            return _Condition.join(" AND " if isinstance(node, AllOf) else " OR ", inside)

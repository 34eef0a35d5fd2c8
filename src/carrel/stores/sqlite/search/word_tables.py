"""The words of one index as SQL: each lookup is a statement for documents with their scores.

Every word stands in FTS5 behind the number of the group that may read it, so that a reader's
searches meet, count and expand to words of visible documents only.
"""

from __future__ import annotations

import sqlite3
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

import orjson

from carrel.core.errors import InvalidInputError
from carrel.libraries.query.elasticsearch.clauses import Fuzziness
from carrel.stores.sqlite.search.edits import count_edits, find_sloppy_matches
from carrel.stores.sqlite.search.index import Index, groups_of
from carrel.stores.sqlite.visible_words import inverse_frequency, saturation

Value = str | int | float
Statement = tuple[str, list[Value]]
NOTHING: Statement = ("SELECT NULL, NULL WHERE 0", [])
# Elasticsearch's own default (indices.query.bool.max_clause_count): every word counts once for each
# field it is looked for in.
MAX_WORDS = 1024
_LAST_CHARACTER = "\U0010ffff"


@dataclass(slots=True)
class WordTables:
    """Lookups in the text fields of an index, for one reader."""

    connection: sqlite3.Connection
    index: Index
    readers: frozenset[str]
    groups: list[int] = field(init=False)
    _word_count: int = 0

    def __post_init__(self) -> None:
        self.groups = groups_of(self.connection, self.index, self.readers)

    @property
    def visible(self) -> str:
        return f"group_number IN ({', '.join(str(group) for group in self.groups)})"

    def sizes(self, name: str) -> tuple[int, float]:
        """How many visible documents have the field, and its average length in words."""
        sql = (
            f"SELECT coalesce(sum(documents), 0), coalesce(sum(words), 0) FROM group_sizes "
            f"WHERE field = ? AND {self.visible}"
        )
        documents, words = self.connection.execute(sql, (name,)).fetchone()
        return int(documents), words / documents if documents else 0.0

    def count_words(self, count: int) -> None:
        self._word_count += count
        if self._word_count > MAX_WORDS:
            raise InvalidInputError(
                f"[query] looks for more than {MAX_WORDS} words, counted once for each field",
                next_step="Ask with fewer words or name fewer fields.",
                details={"clause": "query"},
            )

    def some_words(self, name: str, words: Sequence[str], wanted: int, boost: float) -> Statement:
        """Documents with at least `wanted` of the words, weighed by their rarity to the reader."""
        column = self.index.columns.get(name)
        if column is None or not words or wanted > len(words) or not self.groups:
            return NOTHING
        times = Counter(words)
        self.count_words(len(times))
        parts: list[str] = []
        values: list[Value] = []
        for word, count in times.items():
            sql, bound = self.word(name, word, boost * count)
            if sql != NOTHING[0]:
                parts.append(f"SELECT document, score, {count} AS words FROM ({sql})")
                values += bound
        if not parts:
            return NOTHING
        union = " UNION ALL ".join(parts)
        sql = (
            f"SELECT document, sum(score) AS score FROM ({union}) GROUP BY document "
            f"HAVING sum(words) >= {max(wanted, 1)}"
        )
        return sql, values

    def word(
        self, name: str, word: str, boost: float, holding_documents: int | None = None
    ) -> Statement:
        """Documents with one word; BM25 as Lucene has it."""
        column = self.index.columns.get(name)
        if column is None or not self.groups:
            return NOTHING
        holding = self._holding(column, word)
        if not holding:
            return NOTHING
        documents, average = self.sizes(name)
        weight = boost * inverse_frequency(documents, holding_documents or holding)
        terms = self._terms(word)
        inside = (
            f"SELECT doc, count(*) AS times FROM {self.index.word_places} WHERE term IN "
            f"({', '.join('?' * len(terms))}) AND col = ? GROUP BY doc"
        )
        sql = (
            f"SELECT w.doc AS document, ? * {saturation('w.times', 'p.length', average)} AS score "
            f"FROM ({inside}) w CROSS JOIN present p "
            "ON p.index_number = ? AND p.field = ? AND p.document = w.doc"
        )
        return sql, [weight, *terms, column, self.index.number, name]

    def phrase(self, name: str, phrases: Sequence[Sequence[str]], boost: float) -> Statement:
        """Documents with one of the phrases, whose words follow each other."""
        column = self.index.columns.get(name)
        if column is None or not self.groups or not phrases:
            return NOTHING
        self.count_words(sum(len(phrase) for phrase in phrases))
        query = " OR ".join(
            '"' + " ".join(_quoted(group, word) for word in phrase) + '"'
            for phrase in phrases
            for group in self.groups
        )
        documents, average = self.sizes(name)
        idf = sum(
            inverse_frequency(documents, self._holding(column, word))
            for word in {word for phrase in phrases for word in phrase}
        )
        # FTS5 itself does not tell how often a phrase occurs; the marks that it puts around each
        # occurrence do.
        place = list(self.index.columns.values()).index(column)
        table = self.index.words
        times = (
            f"max(length(highlight({table}, {place}, char(1), '')) - length({table}.{column}), 1)"
        )
        inside = f"SELECT rowid AS doc, {times} AS times FROM {table} WHERE {table} MATCH ?"
        # CROSS JOIN keeps this order: the other way round SQLite asks FTS5 again for every document
        # that has the field.
        sql = (
            f"SELECT w.doc AS document, ? * {saturation('w.times', 'p.length', average)} AS score "
            f"FROM ({inside}) w CROSS JOIN present p "
            "ON p.index_number = ? AND p.field = ? AND p.document = w.doc"
        )
        return sql, [boost * idf, f"{column} : ({query})", self.index.number, name]

    def sloppy_phrase(
        self, name: str, slots: Sequence[Sequence[str]], slop: int, boost: float
    ) -> Statement:
        """Documents whose words need at most `slop` moves to follow each other; each slot holds
        the words that may stand there.
        """
        column = self.index.columns.get(name)
        if column is None or not self.groups or not all(slots):
            return NOTHING
        self.count_words(sum(len(slot) for slot in slots))
        places: list[dict[int, list[int]]] = []
        for slot in slots:
            terms = [term for word in slot for term in self._terms(word)]
            sql = (
                f"SELECT doc, offset FROM {self.index.word_places} WHERE term IN "
                f"({', '.join('?' * len(terms))}) AND col = ? ORDER BY doc, offset"
            )
            found: dict[int, list[int]] = {}
            for document, offset in self.connection.execute(sql, (*terms, column)):
                if not places or document in places[-1]:
                    found.setdefault(document, []).append(offset)
            places.append(found)
        matched = [
            [document, times]
            for document in places[-1]
            if (times := find_sloppy_matches([slot[document] for slot in places], slop))
        ]
        documents, average = self.sizes(name)
        words = {word for slot in slots for word in slot}
        idf = sum(inverse_frequency(documents, self._holding(column, word)) for word in words)
        sql = (
            f"SELECT w.doc AS document, ? * {saturation('w.times', 'p.length', average)} AS score "
            "FROM (SELECT json_extract(value, '$[0]') AS doc, json_extract(value, '$[1]') AS times "
            "FROM json_each(?)) w CROSS JOIN present p "
            "ON p.index_number = ? AND p.field = ? AND p.document = w.doc"
        )
        return sql, [boost * idf, orjson.dumps(matched).decode(), self.index.number, name]

    def beginning(self, name: str, prefix: str, boost: float) -> Statement:
        """Documents with a word that begins so."""
        column = self.index.columns.get(name)
        if column is None or not self.groups:
            return NOTHING
        query = " OR ".join(f'"{_quoted(group, prefix)}" *' for group in self.groups)
        table = self.index.words
        sql = f"SELECT rowid AS document, ? AS score FROM {table} WHERE {table} MATCH ?"
        return sql, [boost, f"{column} : ({query})"]

    def pattern(self, name: str, prefix: str, glob: str, boost: float) -> Statement:
        """Documents with a word that begins so and fits the pattern of SQLite's GLOB."""
        column = self.index.columns.get(name)
        if column is None or not self.groups:
            return NOTHING
        parts: list[str] = []
        values: list[Value] = []
        for group in self.groups:
            low = f"{group}x{prefix}"
            parts.append(
                f"SELECT DISTINCT doc AS document, ? AS score FROM {self.index.word_places} "
                f"WHERE term >= ? AND term < ? AND term GLOB ? AND col = ?"
            )
            values += [boost, low, low + _LAST_CHARACTER, f"{group}x{glob}", column]
        return " UNION ".join(parts), values

    def expand_prefix(self, name: str, prefix: str, most: int) -> list[str]:
        """The first words of the field that begin so, in the order of the alphabet."""
        found = self._vocabulary(name, prefix, most)
        return sorted(found, key=lambda word: word.encode())[:most]

    def expand_fuzzy(self, name: str, word: str, how: Fuzziness) -> list[tuple[str, float]]:
        """Words of the field a few edits away, nearest first, with how much each of them counts."""
        edits = how.edits(word)
        if not edits or how.prefix_length >= len(word):
            return [(word, 1.0)]
        near: list[tuple[float, str]] = []
        signs = set(word)
        for other in self._vocabulary(name, word[: how.prefix_length], None, len(word), edits):
            # Every edit brings in or takes away one sign at most.
            if len(signs.difference(other)) > edits or len(set(other) - signs) > edits:
                continue
            distance = count_edits(word, other, edits, how.swaps_count_once)
            if distance is not None:
                likeness = 1.0 - distance / min(len(word), len(other))
                if likeness > 0 or distance == 0:
                    near.append((likeness if distance else 1.0, other))
        near.sort(key=lambda pair: (-pair[0], pair[1].encode()))
        return [(other, likeness) for likeness, other in near[: how.max_expansions]]

    def any_of(self, name: str, weighted: Iterable[tuple[str, float]], boost: float) -> Statement:
        """Documents with one of the words, each with its own weight and the rarity of the
        commonest of them.
        """
        column = self.index.columns.get(name)
        words = list(weighted)
        if column is None or not words:
            return NOTHING
        self.count_words(len(words))
        commonest = max(self._holding(column, word) for word, _ in words)
        parts, values = [], list[Value]()
        for word, weight in words:
            sql, bound = self.word(name, word, boost * weight, commonest)
            if sql != NOTHING[0]:
                parts.append(f"SELECT document, score FROM ({sql})")
                values += bound
        if not parts:
            return NOTHING
        union = " UNION ALL ".join(parts)
        return f"SELECT document, sum(score) AS score FROM ({union}) GROUP BY document", values

    def _terms(self, word: str) -> list[str]:
        return [f"{group}x{word}" for group in self.groups]

    def _holding(self, column: str, word: str) -> int:
        terms = self._terms(word)
        sql = (
            f"SELECT coalesce(sum(doc), 0) FROM {self.index.word_counts} WHERE term IN "
            f"({', '.join('?' * len(terms))}) AND col = ?"
        )
        return int(self.connection.execute(sql, (*terms, column)).fetchone()[0])

    def _vocabulary(
        self, name: str, prefix: str, most: int | None, length: int = 0, slack: int = 0
    ) -> set[str]:
        """Visible words of a field that begin so; with a length only those about as long."""
        column = self.index.columns.get(name)
        found: set[str] = set()
        for group in self.groups if column is not None else ():
            mark = f"{group}x"
            sql = (
                f"SELECT term FROM {self.index.word_counts} WHERE term >= ? AND term < ? "
                f"AND col = ?"
            )
            values: list[Value] = [mark + prefix, mark + prefix + _LAST_CHARACTER, str(column)]
            if length:
                sql += " AND length(term) BETWEEN ? AND ?"
                values += [len(mark) + length - slack, len(mark) + length + slack]
            sql += " ORDER BY term" + ("" if most is None else f" LIMIT {most}")
            found.update(str(term)[len(mark) :] for (term,) in self.connection.execute(sql, values))
        return found


def _quoted(group: int, word: str) -> str:
    return f"{group}x{word}".replace('"', '""')

"""Turns a query clause into SQL: every clause becomes a table of documents with their scores."""

from __future__ import annotations

import fnmatch
import sqlite3

from carrel.core.errors import InvalidInputError
from carrel.libraries.query.elasticsearch.clauses import (
    BoolQuery,
    ExistsQuery,
    IdsQuery,
    MatchAllQuery,
    MatchPhraseQuery,
    MatchQuery,
    MultiMatchQuery,
    PrefixQuery,
    QueryClause,
    RangeQuery,
    Scalar,
    TermsQuery,
)
from carrel.libraries.text.tokenizer import index_terms
from carrel.rooms.knowledge.notes import LAST_CHARACTER
from carrel.stores.sqlite.search.index import Index, groups_of, to_comparable
from carrel.stores.sqlite.visible_words import inverse_frequency, phrase_query, saturation, terms_of

Value = str | int | float
_NOTHING = "SELECT NULL, NULL WHERE 0"
# Elasticsearch's own default (indices.query.bool.max_clause_count): every word counts once for each
# field it is looked for in.
MAX_WORDS = 1024


class Compiler:
    """Collects the tables of one query, counted over what one reader may see; values are bound."""

    def __init__(
        self, connection: sqlite3.Connection, index: Index, readers: frozenset[str]
    ) -> None:
        self._connection = connection
        self._index = index
        self._groups = groups_of(connection, index, readers)
        self._visible = f"group_number IN ({', '.join(str(group) for group in self._groups)})"
        self._tables: list[str] = []
        self._values: list[Value] = []
        self._word_count = 0

    def compile(self, clause: QueryClause) -> tuple[str, list[Value]]:
        """SQL for the documents that fit and may be read, as (document, score)."""
        root = self._add(clause)
        sql = (
            f"WITH {', '.join(self._tables)} SELECT document, score FROM {root} t WHERE EXISTS "
            f"(SELECT 1 FROM documents d WHERE d.number = t.document AND d.{self._visible})"
        )
        return sql, self._values

    def _table(self, sql: str, *values: Value) -> str:
        name = f"t{len(self._tables)}"
        # Materialised, because FTS5 ranks only inside its own query.
        self._tables.append(f"{name} (document, score) AS MATERIALIZED ({sql})")
        self._values += values
        return name

    def _add(self, clause: QueryClause) -> str:
        match clause:
            case MatchAllQuery(boost):
                return self._table(f"SELECT number, ? FROM documents WHERE {self._visible}", boost)
            case IdsQuery(ids, boost):
                marks = ", ".join("?" * len(ids))
                sql = f"SELECT number, ? FROM documents WHERE index_number = ? AND id IN ({marks})"
                return self._table(sql, boost, self._index.number, *ids)
            case ExistsQuery(field, boost):
                base = field.removesuffix(".keyword")
                sql = "SELECT document, ? FROM present WHERE index_number = ? AND field = ?"
                return self._table(sql, boost, self._index.number, base)
            case TermsQuery(field, values, boost):
                return self._terms(field, values, boost)
            case PrefixQuery(field, text, boost):
                return self._prefix(field, text, boost)
            case RangeQuery():
                return self._range(clause)
            case MatchQuery(field, text, needs_all, least, boost):
                return self._match(field, text, needs_all, least, boost)
            case MatchPhraseQuery(field, text, boost):
                return self._phrase(field, text, boost)
            case MultiMatchQuery():
                return self._multi_match(clause)
            case BoolQuery():
                return self._bool(clause)

    def _terms(self, field: str, values: tuple[Scalar, ...], boost: float) -> str:
        kind = self._index.kind(field)
        if kind is None:
            return self._table(_NOTHING)
        if kind == "text":
            # Like the real one: an exact term on a text field is compared with its words, unfolded.
            found = [str(value) for value in values if index_terms(str(value)) == [str(value)]]
            return self._some_words(field, found, 1, boost)
        wanted = [one for value in values if (one := to_comparable(value, kind)) is not None]
        marks = ", ".join("?" * len(wanted))
        sql = (
            f"SELECT DISTINCT document, ? FROM field_values WHERE index_number = ? AND field = "
            f"? AND value IN ({marks})"
        )
        return self._table(sql, boost, self._index.number, field, *wanted)

    def _prefix(self, field: str, text: str, boost: float) -> str:
        kind = self._index.kind(field)
        if kind == "text":
            found = index_terms(text)
            return (
                self._beginning(field, found[0], boost)
                if found == [text]
                else self._table(_NOTHING)
            )
        if kind != "keyword":
            return self._table(_NOTHING)
        sql = (
            "SELECT DISTINCT document, ? FROM field_values WHERE index_number = ? AND field = ? "
            "AND value >= ? AND value < ?"
        )
        return self._table(sql, boost, self._index.number, field, text, text + LAST_CHARACTER)

    def _range(self, clause: RangeQuery) -> str:
        kind = self._index.exact_kind(clause.field, "range")
        if kind is None:
            return self._table(_NOTHING)
        conditions: list[str] = []
        limits: list[Value] = []
        for limit, sign in (
            (clause.gt, ">"),
            (clause.gte, ">="),
            (clause.lt, "<"),
            (clause.lte, "<="),
        ):
            if limit is None:
                continue
            value = to_comparable(limit, kind)
            if value is None:
                raise InvalidInputError(
                    f"[range] on {clause.field} cannot use {limit!r}",
                    details={"clause": "range", "field": clause.field},
                )
            conditions.append(f" AND value {sign} ?")
            limits.append(value)
        sql = (
            f"SELECT DISTINCT document, ? FROM field_values WHERE index_number = ? AND field = "
            f"?{''.join(conditions)}"
        )
        return self._table(sql, clause.boost, self._index.number, clause.field, *limits)

    def _match(
        self, field: str, text: Scalar, needs_all: bool, least: str | int | None, boost: float
    ) -> str:
        if self._index.kind(field) != "text":
            return self._terms(field, (text,), boost)
        found = list(dict.fromkeys(index_terms(str(text))))
        return self._some_words(
            field, found, len(found) if needs_all else required(least, len(found), 1), boost
        )

    def _phrase(self, field: str, text: Scalar, boost: float) -> str:
        if self._index.kind(field) != "text":
            return self._terms(field, (text,), boost)
        found = index_terms(str(text))
        return (
            self._some_words(field, found, 1, boost)
            if len(found) == 1
            else self._whole_phrase(field, found, boost)
        )

    def _multi_match(self, clause: MultiMatchQuery) -> str:
        parts = []
        for pattern, weight in clause.fields:
            for field in self._fields(pattern):
                if clause.kind == "phrase":
                    parts.append(self._phrase(field, clause.text, weight))
                else:
                    parts.append(
                        self._match(
                            field,
                            clause.text,
                            clause.needs_all,
                            clause.minimum_should_match,
                            weight,
                        )
                    )
        if not parts:
            return self._table(_NOTHING)
        union = " UNION ALL ".join(f"SELECT document, score FROM {part}" for part in parts)
        # best_fields: the best field, and of the others what the tie breaker leaves; most_fields:
        # all of them.
        score = (
            "sum(score)"
            if clause.kind == "most_fields"
            else "max(score) + ? * (sum(score) - max(score))"
        )
        values = [] if clause.kind == "most_fields" else [clause.tie_breaker]
        sql = f"SELECT document, ? * ({score}) FROM ({union}) GROUP BY document"
        return self._table(sql, clause.boost, *values)

    def _fields(self, pattern: str) -> list[str]:
        if "*" not in pattern:
            return [pattern] if self._index.kind(pattern) else []
        return [
            name
            for name, kind in self._index.fields.items()
            if kind in {"text", "keyword"} and fnmatch.fnmatchcase(name, pattern)
        ]

    def _bool(self, clause: BoolQuery) -> str:
        must = [self._add(one) for one in clause.must]
        should = [self._add(one) for one in clause.should]
        needed = [self._add(one) for one in clause.filter]
        banned = [self._add(one) for one in clause.must_not]
        default = 0 if must or needed else 1
        least = required(clause.minimum_should_match, len(should), default) if should else 0
        if should and least > len(should):
            return self._table(_NOTHING)
        rows = [f"SELECT document, score, 1 AS musts, 0 AS shoulds FROM {table}" for table in must]
        rows += [
            f"SELECT document, score, 0 AS musts, 1 AS shoulds FROM {table}" for table in should
        ]
        values: list[Value] = []
        if not must and least == 0:
            # Nothing that scores is required: what the filter leaves, or everything, with nothing
            # to its credit.
            if needed:
                rows.insert(
                    0, f"SELECT document, 0.0 AS score, 0 AS musts, 0 AS shoulds FROM {needed[0]}"
                )
            else:
                credit = 0.0 if should or banned else 1.0
                rows.insert(
                    0,
                    f"SELECT number AS document, ? AS score, 0 AS musts, 0 AS shoulds FROM "
                    f"documents WHERE {self._visible}",
                )
                values.append(credit)
        outside = "".join(f" AND document IN (SELECT document FROM {table})" for table in needed)
        outside += "".join(
            f" AND document NOT IN (SELECT document FROM {table})" for table in banned
        )
        sql = (
            f"SELECT document, ? * sum(score) FROM ({' UNION ALL '.join(rows)}) WHERE 1{outside} "
            "GROUP BY document HAVING sum(musts) = ? AND sum(shoulds) >= ?"
        )
        return self._table(sql, clause.boost, *values, len(must), least)

    def _some_words(self, field: str, found: list[str], wanted: int, boost: float) -> str:
        """Documents with at least `wanted` of the words, weighed by their rarity to the reader."""
        column = self._index.columns.get(field)
        if column is None or not found or wanted > len(found) or not self._groups:
            return self._table(_NOTHING)
        self._count_words(found)
        parts = [
            part for word in found if (part := self._word(field, column, word, boost)) is not None
        ]
        if len(parts) < max(wanted, 1):
            return self._table(_NOTHING)
        if len(parts) == 1:
            return parts[0]
        union = " UNION ALL ".join(f"SELECT document, score FROM {part}" for part in parts)
        return self._table(
            f"SELECT document, sum(score) FROM ({union}) GROUP BY document HAVING count(*) >= ?",
            max(wanted, 1),
        )

    def _count_words(self, found: list[str]) -> None:
        self._word_count += len(found)
        if self._word_count > MAX_WORDS:
            raise InvalidInputError(
                f"[query] looks for more than {MAX_WORDS} words, counted once for each field",
                next_step="Ask with fewer words or name fewer fields.",
                details={"clause": "query"},
            )

    def _word(self, field: str, column: str, word: str, boost: float) -> str | None:
        asked = terms_of(self._groups, word)
        marks = ", ".join("?" * len(asked))
        sql = (
            f"SELECT coalesce(sum(doc), 0) FROM {self._index.word_counts} WHERE term IN "
            f"({marks}) AND col = ?"
        )
        holding = int(self._connection.execute(sql, (*asked, column)).fetchone()[0])
        if not holding:
            return None
        documents, average = self._sizes(field)
        weight = boost * inverse_frequency(documents, holding)
        inside = (
            f"SELECT doc, count(*) AS times FROM {self._index.word_places} WHERE term IN "
            f"({marks}) AND col = ? GROUP BY doc"
        )
        sql = (
            f"SELECT w.doc, ? * {saturation('w.times', 'p.words', average)} FROM ({inside}) w "
            f"JOIN present p "
            "ON p.index_number = ? AND p.field = ? AND p.document = w.doc"
        )
        return self._table(sql, weight, *asked, column, self._index.number, field)

    def _whole_phrase(self, field: str, found: list[str], boost: float) -> str:
        column = self._index.columns.get(field)
        if column is None or not found or not self._groups:
            return self._table(_NOTHING)
        self._count_words(found)
        query = f"{column} : ({phrase_query(self._groups, [found])})"
        counted = f"SELECT count(*) FROM {self._index.words} WHERE {self._index.words} MATCH ?"
        holding = int(self._connection.execute(counted, (query,)).fetchone()[0])
        documents, average = self._sizes(field)
        # FTS5 itself does not tell how often a phrase occurs; the marks that it puts around each
        # occurrence do.
        place = list(self._index.columns.values()).index(column)
        times = (
            f"(length(highlight({self._index.words}, {place}, char(1), '')) - "
            f"length({self._index.words}.{column}))"
        )
        inside = (
            f"SELECT rowid AS doc, {times} AS times FROM {self._index.words} WHERE "
            f"{self._index.words} MATCH ?"
        )
        # CROSS JOIN keeps this order: the other way round SQLite asks FTS5 again for every document
        # that has the field.
        sql = (
            f"SELECT w.doc, ? * {saturation('w.times', 'p.words', average)} FROM ({inside}) w "
            f"CROSS JOIN present p "
            "ON p.index_number = ? AND p.field = ? AND p.document = w.doc"
        )
        weight = boost * inverse_frequency(documents, holding)
        return self._table(sql, weight, query, self._index.number, field)

    def _beginning(self, field: str, text: str, boost: float) -> str:
        column = self._index.columns.get(field)
        if column is None or not self._groups:
            return self._table(_NOTHING)
        query = " OR ".join(f'"{term}" *' for term in terms_of(self._groups, text))
        sql = f"SELECT rowid, ? FROM {self._index.words} WHERE {self._index.words} MATCH ?"
        return self._table(sql, boost, f"{column} : ({query})")

    def _sizes(self, field: str) -> tuple[int, float]:
        """How many visible documents have the field, and its average length in words."""
        sql = (
            f"SELECT coalesce(sum(documents), 0), coalesce(sum(words), 0) FROM group_sizes "
            f"WHERE field = ? AND {self._visible}"
        )
        documents, word_count = self._connection.execute(sql, (field,)).fetchone()
        return int(documents), word_count / documents if documents else 0.0


def required(least: str | int | None, count: int, default: int) -> int:
    """How many of `count` clauses must match: a number or percentage, from the end if negative."""
    if least is None:
        return default
    if isinstance(least, str) and least.endswith("%"):
        share = int(least.removesuffix("%"))
        wanted = count * share // 100 if share >= 0 else count - count * -share // 100
    else:
        wanted = int(least)
        wanted = wanted if wanted >= 0 else count + wanted
    return max(wanted, 0)

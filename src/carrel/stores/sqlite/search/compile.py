"""Turns a query clause into SQL: every clause becomes a table of documents with their scores."""

from __future__ import annotations

import fnmatch

from carrel.core.errors import InvalidInputError
from carrel.rooms.knowledge.search_body.clauses import (
    Bool,
    Clause,
    Exists,
    Ids,
    Match,
    MatchAll,
    MatchPhrase,
    MultiMatch,
    Prefix,
    Range,
    Scalar,
    Terms,
)
from carrel.rooms.knowledge.shelves import LAST_CHARACTER
from carrel.rooms.knowledge.words import words
from carrel.stores.sqlite.search.index import Index, comparable

Value = str | int | float
_NOTHING = "SELECT NULL, NULL WHERE 0"


class Compiler:
    """Collects the tables of one query. Values are bound, never written into the SQL."""

    def __init__(self, index: Index) -> None:
        self._index = index
        self._tables: list[str] = []
        self._values: list[Value] = []

    def matched(self, clause: Clause, readers: frozenset[str]) -> tuple[str, list[Value]]:
        """SQL for the documents that fit and may be read, as (document, score)."""
        root = self._add(clause)
        marks = ", ".join("?" * len(readers))
        self._values += sorted(readers)
        sql = (
            f"WITH {', '.join(self._tables)} SELECT document, score FROM {root} t WHERE EXISTS "
            f"(SELECT 1 FROM readers r WHERE r.document = t.document AND r.reader IN ({marks}))"
        )
        return sql, self._values

    def _table(self, sql: str, *values: Value) -> str:
        name = f"t{len(self._tables)}"
        # Materialised, because FTS5 ranks only inside its own query.
        self._tables.append(f"{name} (document, score) AS MATERIALIZED ({sql})")
        self._values += values
        return name

    def _add(self, clause: Clause) -> str:
        match clause:
            case MatchAll(boost):
                return self._table("SELECT number, ? FROM documents WHERE index_number = ?", boost, self._index.number)
            case Ids(ids, boost):
                marks = ", ".join("?" * len(ids))
                sql = f"SELECT number, ? FROM documents WHERE index_number = ? AND id IN ({marks})"
                return self._table(sql, boost, self._index.number, *ids)
            case Exists(field, boost):
                base = field.removesuffix(".keyword")
                sql = "SELECT document, ? FROM present WHERE index_number = ? AND field = ?"
                return self._table(sql, boost, self._index.number, base)
            case Terms(field, values, boost):
                return self._terms(field, values, boost)
            case Prefix(field, text, boost):
                return self._prefix(field, text, boost)
            case Range():
                return self._range(clause)
            case Match(field, text, needs_all, least, boost):
                return self._match(field, text, needs_all, least, boost)
            case MatchPhrase(field, text, boost):
                return self._phrase(field, text, boost)
            case MultiMatch():
                return self._multi_match(clause)
            case Bool():
                return self._bool(clause)

    def _terms(self, field: str, values: tuple[Scalar, ...], boost: float) -> str:
        kind = self._index.kind(field)
        if kind is None:
            return self._table(_NOTHING)
        if kind == "text":
            # Like the real one: an exact term on a text field is compared with its words, unfolded.
            found = [str(value) for value in values if words(str(value)) == [str(value)]]
            return self._words(field, " OR ".join(f'"{word}"' for word in found), boost)
        wanted = [one for value in values if (one := comparable(value, kind)) is not None]
        marks = ", ".join("?" * len(wanted))
        sql = f"SELECT DISTINCT document, ? FROM field_values WHERE index_number = ? AND field = ? AND value IN ({marks})"
        return self._table(sql, boost, self._index.number, field, *wanted)

    def _prefix(self, field: str, text: str, boost: float) -> str:
        kind = self._index.kind(field)
        if kind == "text":
            found = words(text)
            return self._words(field, f'"{found[0]}" *' if found == [text] else "", boost, is_constant=True)
        if kind != "keyword":
            return self._table(_NOTHING)
        sql = "SELECT DISTINCT document, ? FROM field_values WHERE index_number = ? AND field = ? AND value >= ? AND value < ?"
        return self._table(sql, boost, self._index.number, field, text, text + LAST_CHARACTER)

    def _range(self, clause: Range) -> str:
        kind = self._index.kind(clause.field)
        if kind is None:
            return self._table(_NOTHING)
        if kind == "text":
            raise InvalidInputError(
                f"[range] needs an exact field, and {clause.field} is text",
                next_step=f"Use {clause.field}.keyword.",
                details={"clause": "range", "field": clause.field},
            )
        conditions: list[str] = []
        limits: list[Value] = []
        for limit, sign in ((clause.above, ">"), (clause.at_least, ">="), (clause.below, "<"), (clause.at_most, "<=")):
            if limit is None:
                continue
            value = comparable(limit, kind)
            if value is None:
                raise InvalidInputError(
                    f"[range] on {clause.field} cannot use {limit!r}", details={"clause": "range", "field": clause.field}
                )
            conditions.append(f" AND value {sign} ?")
            limits.append(value)
        sql = f"SELECT DISTINCT document, ? FROM field_values WHERE index_number = ? AND field = ?{''.join(conditions)}"
        return self._table(sql, clause.boost, self._index.number, clause.field, *limits)

    def _match(self, field: str, text: Scalar, needs_all: bool, least: str | int | None, boost: float) -> str:
        if self._index.kind(field) != "text":
            return self._terms(field, (text,), boost)
        found = list(dict.fromkeys(words(str(text))))
        wanted = len(found) if needs_all else required(least, len(found), 1)
        if wanted <= 1 or wanted >= len(found):
            joint = " AND " if wanted > 1 or len(found) == 1 else " OR "
            return self._words(field, joint.join(f'"{word}"' for word in found) if wanted <= len(found) else "", boost)
        parts = [self._words(field, f'"{word}"', boost) for word in found]
        union = " UNION ALL ".join(f"SELECT document, score FROM {part}" for part in parts)
        return self._table(f"SELECT document, sum(score) FROM ({union}) GROUP BY document HAVING count(*) >= ?", wanted)

    def _phrase(self, field: str, text: Scalar, boost: float) -> str:
        if self._index.kind(field) != "text":
            return self._terms(field, (text,), boost)
        found = words(str(text))
        return self._words(field, f'"{" ".join(found)}"' if found else "", boost)

    def _multi_match(self, clause: MultiMatch) -> str:
        parts = []
        for pattern, weight in clause.fields:
            for field in self._fields(pattern):
                if clause.kind == "phrase":
                    parts.append(self._phrase(field, clause.text, weight))
                else:
                    parts.append(self._match(field, clause.text, clause.needs_all, clause.least, weight))
        if not parts:
            return self._table(_NOTHING)
        union = " UNION ALL ".join(f"SELECT document, score FROM {part}" for part in parts)
        # best_fields: the best field, and of the others what the tie breaker leaves; most_fields: all of them.
        score = "sum(score)" if clause.kind == "most_fields" else "max(score) + ? * (sum(score) - max(score))"
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

    def _bool(self, clause: Bool) -> str:
        must = [self._add(one) for one in clause.must]
        should = [self._add(one) for one in clause.should]
        needed = [self._add(one) for one in clause.filter]
        banned = [self._add(one) for one in clause.must_not]
        default = 0 if must or needed else 1
        least = required(clause.least, len(should), default) if should else 0
        if should and least > len(should):
            return self._table(_NOTHING)
        rows = [f"SELECT document, score, 1 AS musts, 0 AS shoulds FROM {table}" for table in must]
        rows += [f"SELECT document, score, 0 AS musts, 1 AS shoulds FROM {table}" for table in should]
        values: list[Value] = []
        if not must and least == 0:
            # Nothing that scores is required: what the filter leaves, or everything, with nothing to its credit.
            if needed:
                rows.insert(0, f"SELECT document, 0.0 AS score, 0 AS musts, 0 AS shoulds FROM {needed[0]}")
            else:
                credit = 0.0 if should or banned else 1.0
                rows.insert(
                    0, "SELECT number AS document, ? AS score, 0 AS musts, 0 AS shoulds FROM documents WHERE index_number = ?"
                )
                values += [credit, self._index.number]
        outside = "".join(f" AND document IN (SELECT document FROM {table})" for table in needed)
        outside += "".join(f" AND document NOT IN (SELECT document FROM {table})" for table in banned)
        sql = (
            f"SELECT document, ? * sum(score) FROM ({' UNION ALL '.join(rows)}) WHERE 1{outside} "
            "GROUP BY document HAVING sum(musts) = ? AND sum(shoulds) >= ?"
        )
        return self._table(sql, clause.boost, *values, len(must), least)

    def _words(self, field: str, query: str, boost: float, *, is_constant: bool = False) -> str:
        column = self._index.columns.get(field)
        if column is None or not query:
            return self._table(_NOTHING)
        score = "1.0" if is_constant else f"max(-bm25({self._index.words}), 1e-6)"
        sql = f"SELECT rowid, ? * {score} FROM {self._index.words} WHERE {self._index.words} MATCH ?"
        return self._table(sql, boost, f"{column} : ({query})")


def required(least: str | int | None, count: int, default: int) -> int:
    """How many of `count` optional clauses must fit: a number, or a percentage, counted from the end when negative."""
    if least is None:
        return default
    if isinstance(least, str) and least.endswith("%"):
        share = int(least.removesuffix("%"))
        wanted = count * share // 100 if share >= 0 else count - count * -share // 100
    else:
        wanted = int(least)
        wanted = wanted if wanted >= 0 else count + wanted
    return max(wanted, 0)

"""Turns a query clause into SQL: every clause becomes a table of documents with their scores."""

from __future__ import annotations

import fnmatch
import sqlite3
from datetime import datetime

from carrel.core.errors import InvalidInputError
from carrel.libraries.query.elasticsearch.analyzer import analyze_terms
from carrel.libraries.query.elasticsearch.clauses import (
    BoolQuery,
    BoostingQuery,
    ConstantScoreQuery,
    DisMaxQuery,
    ExistsQuery,
    FuzzyQuery,
    IdsQuery,
    MatchAllQuery,
    MatchPhraseQuery,
    MatchQuery,
    MultiMatchQuery,
    MultiPrefixQuery,
    PrefixQuery,
    QueryClause,
    RangeQuery,
    Scalar,
    TermsQuery,
    WildcardQuery,
)
from carrel.libraries.query.elasticsearch.dates import parse_moment, parse_time_zone
from carrel.stores.sqlite.search.edits import count_edits
from carrel.stores.sqlite.search.index import WORD_SIGNS, Index, to_comparable
from carrel.stores.sqlite.search.patterns import glob_pattern, literal_prefix, quote_glob
from carrel.stores.sqlite.search.word_tables import NOTHING, Statement, Value, WordTables
from carrel.stores.sqlite.visible_words import inverse_frequency


class Compiler:
    """Collects the tables of one query, counted over what one reader may see; values are bound."""

    def __init__(
        self,
        connection: sqlite3.Connection,
        index: Index,
        readers: frozenset[str],
        now: datetime,
    ) -> None:
        self._connection = connection
        self._index = index
        self._now = now
        self._words = WordTables(connection, index, readers)
        self._visible = self._words.visible
        self._tables: list[str] = []
        self._values: list[Value] = []

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

    def _of(self, statement: Statement) -> str:
        return self._table(statement[0], *statement[1])

    def _nothing(self) -> str:
        return self._of(NOTHING)

    def _all(self, boost: float) -> str:
        return self._table(f"SELECT number, ? FROM documents WHERE {self._visible}", boost)

    def _add(self, clause: QueryClause) -> str:
        match clause:
            case BoolQuery():
                return self._bool(clause)
            case ConstantScoreQuery(inside, boost):
                return self._table(f"SELECT document, ? FROM {self._add(inside)}", boost)
            case DisMaxQuery(queries, tie_breaker, boost):
                return self._best([self._add(one) for one in queries], tie_breaker, boost)
            case BoostingQuery():
                return self._boosting(clause)
            case MultiMatchQuery():
                return self._multi_match(clause)
            case MultiPrefixQuery(fields, text):
                parts = [
                    self._prefix(PrefixQuery(name, text, weight))
                    for name, weight in self._weighted_fields(fields)
                ]
                return self._best(parts, 1.0, 1.0)
            case _:
                return self._leaf(clause)

    def _leaf(self, clause: QueryClause) -> str:
        match clause:
            case MatchAllQuery(boost):
                return self._all(boost)
            case IdsQuery(ids, boost):
                marks = ", ".join("?" * len(ids))
                sql = f"SELECT number, ? FROM documents WHERE index_number = ? AND id IN ({marks})"
                return self._table(sql, boost, self._index.number, *ids)
            case ExistsQuery(field, boost):
                # A value too long to be compared whole is not there for a field of whole values.
                table = "field_values" if self._index.kind(field) == "keyword" else "present"
                sql = f"SELECT DISTINCT document, ? FROM {table} WHERE index_number = ? "
                return self._table(f"{sql}AND field = ?", boost, self._index.number, field)
            case TermsQuery():
                return self._terms(clause)
            case PrefixQuery():
                return self._prefix(clause)
            case WildcardQuery():
                return self._wildcard(clause)
            case FuzzyQuery():
                return self._fuzzy(clause)
            case RangeQuery():
                return self._range(clause)
            case MatchQuery():
                return self._match(clause)
            case MatchPhraseQuery():
                return self._phrase(clause)
        raise AssertionError(f"no table for {type(clause).__name__}")

    def _terms(self, clause: TermsQuery) -> str:
        field, values, boost = clause.field, clause.values, clause.boost
        kind = self._index.kind(field)
        if kind is None:
            return self._nothing()
        if kind == "date":
            return self._dates(field, values, boost)
        if clause.ignores_case:
            return self._patterns(field, [quote_glob(str(value), True) for value in values], boost)
        if kind == "text":
            # Like the real one: an exact term on a text field is compared with its words as it is.
            found = self._of(self._words.some_words(field, [str(one) for one in values], 1, boost))
            if not clause.is_constant:
                return found
            return self._table(f"SELECT document, ? FROM {found}", boost)
        wanted = [one for value in values if (one := to_comparable(value, kind)) is not None]
        marks = ", ".join("?" * len(wanted))
        sql = (
            f"SELECT DISTINCT document, ? FROM field_values WHERE index_number = ? AND field = "
            f"? AND value IN ({marks})"
        )
        if len(wanted) == 1 and not clause.is_constant and kind in {"keyword", "boolean"}:
            boost *= self._rarity(field, wanted[0])
        return self._table(sql, boost, self._index.number, field, *wanted)

    def _rarity(self, field: str, value: Value) -> float:
        """How much one exact value counts, by how many visible documents have it."""
        visible = (
            f"EXISTS (SELECT 1 FROM documents d WHERE d.number = document AND d.{self._visible})"
        )
        sql = (
            f"SELECT count(*) FROM field_values WHERE index_number = ? AND field = ? AND value = ? "
            f"AND {visible}"
        )
        holding = self._connection.execute(sql, (self._index.number, field, value)).fetchone()[0]
        base = field.removesuffix(".keyword")
        sql = f"SELECT count(*) FROM present WHERE index_number = ? AND field = ? AND {visible}"
        documents = self._connection.execute(sql, (self._index.number, base)).fetchone()[0]
        return inverse_frequency(int(documents), int(holding))

    def _dates(self, field: str, values: tuple[Scalar, ...], boost: float) -> str:
        """A date stands for all of it: a day from its first to its last millisecond."""
        parts = [
            self._range(RangeQuery(field, gte=value, lte=value, boost=boost))
            for value in values
            if parse_moment(value, self._now) is not None
        ]
        return self._best(parts, 0.0, 1.0)

    def _patterns(self, field: str, patterns: list[str], boost: float) -> str:
        kind = self._index.kind(field)
        if kind == "text":
            parts = [
                self._of(self._words.pattern(field, literal_prefix(one), one, boost))
                for one in patterns
            ]
            return self._best(parts, 0.0, 1.0)
        if kind != "keyword":
            return self._nothing()
        sql = " UNION ".join(
            "SELECT DISTINCT document, ? FROM field_values WHERE index_number = ? AND field = ? "
            "AND value >= ? AND value GLOB ?"
            for _ in patterns
        )
        values: list[Value] = []
        for one in patterns:
            values += [boost, self._index.number, field, literal_prefix(one), one]
        return self._table(sql, *values)

    def _prefix(self, clause: PrefixQuery) -> str:
        # FTS5 takes capitals for small letters, which no word begins with.
        if (
            self._index.kind(clause.field) == "text"
            and clause.text
            and not clause.ignores_case
            and not any("A" <= sign <= "Z" for sign in clause.text)
            and all(sign.isalnum() or sign in WORD_SIGNS for sign in clause.text)
        ):
            return self._of(self._words.beginning(clause.field, clause.text, clause.boost))
        pattern = f"{quote_glob(clause.text, clause.ignores_case)}*"
        return self._patterns(clause.field, [pattern], clause.boost)

    def _wildcard(self, clause: WildcardQuery) -> str:
        pattern = glob_pattern(clause.pattern, clause.ignores_case)
        return self._patterns(clause.field, [pattern], clause.boost)

    def _fuzzy(self, clause: FuzzyQuery) -> str:
        if self._index.kind(clause.field) != "text":
            return self._fuzzy_keyword(clause)
        near = self._words.expand_fuzzy(clause.field, clause.text, clause.fuzziness)
        return self._of(self._words.any_of(clause.field, near, clause.boost))

    def _fuzzy_keyword(self, clause: FuzzyQuery) -> str:
        if self._index.kind(clause.field) != "keyword":
            return self._nothing()
        edits = clause.fuzziness.edits(clause.text)
        sql = (
            f"SELECT DISTINCT value FROM field_values v JOIN documents d ON d.number = v.document "
            f"WHERE v.index_number = ? AND field = ? AND d.{self._visible} "
            f"AND length(value) BETWEEN ? AND ?"
        )
        size = len(clause.text)
        rows = self._connection.execute(
            sql, (self._index.number, clause.field, size - edits, size + edits)
        )
        near = [
            str(value)
            for (value,) in rows
            if str(value).startswith(clause.text[: clause.fuzziness.prefix_length])
            and count_edits(clause.text, str(value), edits, clause.fuzziness.swaps_count_once)
            is not None
        ]
        chosen = tuple(sorted(near)[: clause.fuzziness.max_expansions])
        return self._terms(TermsQuery(clause.field, chosen, clause.boost))

    def _range(self, clause: RangeQuery) -> str:
        kind = self._index.kind(clause.field)
        if kind is None:
            return self._nothing()
        field = clause.field
        if kind == "text":
            self._index.exact_kind(clause.field, "range")
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
            value: Scalar | None
            if kind == "date":
                # Above and up to a day mean its last millisecond, from and before it the first.
                value = parse_moment(
                    limit,
                    self._now,
                    rounds_up=sign in {">", "<="},
                    formats=clause.formats,
                    zone=parse_time_zone(clause.time_zone),
                )
            else:
                value = to_comparable(limit, kind)
            if value is None:
                raise InvalidInputError(
                    f"[range] on {clause.field} cannot use {str(limit)[:100]!r}",
                    details={"clause": "range", "field": clause.field},
                )
            conditions.append(f" AND value {sign} ?")
            limits.append(value)
        sql = (
            f"SELECT DISTINCT document, ? FROM field_values WHERE index_number = ? AND field = "
            f"?{''.join(conditions)}"
        )
        return self._table(sql, clause.boost, self._index.number, field, *limits)

    def _match(self, clause: MatchQuery) -> str:
        field, boost = clause.field, clause.boost
        if self._index.kind(field) != "text":
            if clause.fuzziness is not None and self._index.kind(field) == "keyword":
                return self._fuzzy_keyword(
                    FuzzyQuery(field, str(clause.text), clause.fuzziness, boost)
                )
            return self._terms(TermsQuery(field, (clause.text,), boost))
        found = analyze_terms(str(clause.text))
        if not found:
            return self._all(boost) if clause.matches_empty else self._nothing()
        # Where all words must match none is optional, and a server then asks for no minimum.
        wanted = (
            len(found) if clause.needs_all else required(clause.minimum_should_match, len(found), 1)
        )
        if len(found) == 1:
            # One word is no list of clauses of which so many must match; a server finds it, too.
            wanted = 1
        if clause.fuzziness is None and not clause.ends_open:
            return self._of(self._words.some_words(field, found, wanted, boost))
        parts = []
        for word in found[:-1] if clause.ends_open else found:
            if clause.fuzziness is None:
                parts.append(self._of(self._words.some_words(field, [word], 1, boost)))
            else:
                near = self._words.expand_fuzzy(field, word, clause.fuzziness)
                parts.append(self._of(self._words.any_of(field, near, boost)))
        if clause.ends_open:
            parts.append(self._prefix(PrefixQuery(field, found[-1], boost)))
        return self._at_least(parts, wanted)

    def _at_least(self, parts: list[str], wanted: int) -> str:
        if wanted > len(parts):
            return self._nothing()
        union = " UNION ALL ".join(f"SELECT document, score FROM {part}" for part in parts)
        sql = f"SELECT document, sum(score) FROM ({union}) GROUP BY document HAVING count(*) >= ?"
        return self._table(sql, max(wanted, 1))

    def _phrase(self, clause: MatchPhraseQuery) -> str:
        field, boost = clause.field, clause.boost
        if self._index.kind(field) != "text":
            return self._terms(TermsQuery(field, (clause.text,), boost))
        found = analyze_terms(str(clause.text))
        if not found:
            return self._nothing()
        last = (
            self._words.expand_prefix(field, found[-1], clause.max_expansions)
            if clause.max_expansions
            else [found[-1]]
        )
        if not last:
            return self._nothing()
        if len(found) == 1:
            if clause.max_expansions:
                return self._of(self._words.any_of(field, [(word, 1.0) for word in last], boost))
            return self._of(self._words.some_words(field, found, 1, boost))
        if clause.slop:
            slots = [*([word] for word in found[:-1]), last]
            return self._of(self._words.sloppy_phrase(field, slots, clause.slop, boost))
        phrases = [[*found[:-1], word] for word in last]
        return self._of(self._words.phrase(field, phrases, boost))

    def _multi_match(self, clause: MultiMatchQuery) -> str:
        if clause.kind == "cross_fields":
            return self._cross_fields(clause)
        parts = [
            self._match_one(clause, field, weight)
            for field, weight in self._weighted_fields(clause.fields)
        ]
        is_sum = clause.kind in {"most_fields", "bool_prefix"}
        return self._best(parts, 1.0 if is_sum else clause.tie_breaker, clause.boost)

    def _match_one(self, clause: MultiMatchQuery, field: str, weight: float) -> str:
        if clause.kind in {"phrase", "phrase_prefix"}:
            expansions = clause.max_expansions if clause.kind == "phrase_prefix" else 0
            return self._phrase(
                MatchPhraseQuery(field, clause.text, weight, clause.slop, expansions)
            )
        return self._match(
            MatchQuery(
                field,
                clause.text,
                clause.needs_all,
                clause.minimum_should_match,
                weight,
                clause.fuzziness,
                ends_open=clause.kind == "bool_prefix",
            )
        )

    def _cross_fields(self, clause: MultiMatchQuery) -> str:
        """Every word in one of the fields, as if they were one."""
        fields = self._weighted_fields(clause.fields)
        texts = [(name, weight) for name, weight in fields if self._index.kind(name) == "text"]
        found = analyze_terms(str(clause.text))
        parts = [
            self._best(
                [
                    self._of(self._words.some_words(name, [word], 1, weight))
                    for name, weight in texts
                ],
                clause.tie_breaker,
                clause.boost,
            )
            for word in found
        ]
        wanted = (
            len(found) if clause.needs_all else required(clause.minimum_should_match, len(found), 1)
        )
        others = [
            self._terms(TermsQuery(name, (clause.text,), weight * clause.boost))
            for name, weight in fields
            if self._index.kind(name) != "text"
        ]
        whole = [self._at_least(parts, wanted)] if parts and texts else []
        return self._best([*whole, *others], clause.tie_breaker, 1.0)

    def _weighted_fields(self, fields: tuple[tuple[str, float], ...]) -> list[tuple[str, float]]:
        return [(name, weight) for pattern, weight in fields for name in self._fields(pattern)]

    def _fields(self, pattern: str) -> list[str]:
        if "*" not in pattern:
            return [pattern] if self._index.kind(pattern) else []
        return [
            name
            for name, kind in self._index.fields.items()
            if kind != "words" and fnmatch.fnmatchcase(name, pattern)
        ]

    def _best(self, parts: list[str], tie_breaker: float, boost: float) -> str:
        """The best of several tables, and of the others what the tie breaker leaves."""
        if not parts:
            return self._nothing()
        union = " UNION ALL ".join(f"SELECT document, score FROM {part}" for part in parts)
        sql = (
            f"SELECT document, ? * (max(score) + ? * (sum(score) - max(score))) FROM ({union}) "
            "GROUP BY document"
        )
        return self._table(sql, boost, tie_breaker)

    def _boosting(self, clause: BoostingQuery) -> str:
        positive, negative = self._add(clause.positive), self._add(clause.negative)
        sql = (
            f"SELECT document, ? * score * CASE WHEN document IN (SELECT document FROM {negative}) "
            f"THEN ? ELSE 1.0 END FROM {positive}"
        )
        return self._table(sql, clause.boost, clause.negative_boost)

    def _bool(self, clause: BoolQuery) -> str:
        must = [self._add(one) for one in clause.must]
        should = [self._add(one) for one in clause.should]
        needed = [self._add(one) for one in clause.filter]
        banned = [self._add(one) for one in clause.must_not]
        default = 0 if must or needed else 1
        # Where nothing else is asked for, one must match whatever the minimum comes to.
        least = (
            max(required(clause.minimum_should_match, len(should), default), default)
            if should
            else 0
        )
        if should and least > len(should):
            return self._nothing()
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

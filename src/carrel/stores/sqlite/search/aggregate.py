"""Aggregations over the documents found: figures, buckets, and aggregations inside of buckets."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime, tzinfo
from typing import Any

from carrel.core.errors import InvalidInputError
from carrel.libraries.query.elasticsearch.clauses import (
    Aggregation,
    FiltersAggregation,
    HistogramAggregation,
    MetricAggregation,
    MissingAggregation,
    RangesAggregation,
    Scalar,
    TermsAggregation,
)
from carrel.libraries.query.elasticsearch.dates import (
    floor_milliseconds,
    next_milliseconds,
    parse_moment,
    parse_time_zone,
    write_moment,
)
from carrel.rooms.knowledge.documents import FieldKind
from carrel.stores.sqlite.search.compiler import Compiler
from carrel.stores.sqlite.search.index import Index, to_comparable

# Over all levels of one answer: each bucket with something inside is counted by itself.
MAX_ALL_BUCKETS = 10_000
Bucket = dict[str, Any]
Value = str | int | float


@dataclass(slots=True)
class Aggregator:
    """Aggregations of one request; `table` always holds the documents that are counted."""

    connection: sqlite3.Connection
    indices: Sequence[Index]
    readers: frozenset[str]
    now: datetime
    _tables: int = 0
    _buckets: int = 0

    def answer(self, wanted: Sequence[Aggregation], table: str) -> dict[str, Any]:
        return {one.name: self._one(one, table) for one in wanted}

    def _one(self, one: Aggregation, table: str) -> dict[str, Any]:
        match one:
            case MetricAggregation():
                return self._metric(one, table)
            case TermsAggregation():
                return self._terms(one, table)
            case HistogramAggregation():
                return self._histogram(one, table)
            case RangesAggregation():
                return self._ranges(one, table)
            case FiltersAggregation():
                return self._filters(one, table)
            case MissingAggregation():
                sql = (
                    f"SELECT document FROM {table} EXCEPT SELECT v.document FROM field_values v "
                    f"JOIN {table} t ON t.document = v.document WHERE v.field = ?"
                )
                return self._bucket(one.inside, sql, [one.field])

    def _kind(self, field: str, clause: str) -> FieldKind | None:
        """What the field holds in the first index that has it."""
        kinds = [index.exact_kind(field, clause, "aggs") for index in self.indices]
        return next((kind for kind in kinds if kind is not None), None)

    def _number_kind(self, field: str, clause: str) -> FieldKind | None:
        kind = self._kind(field, clause)
        if kind == "keyword":
            raise InvalidInputError(
                f"[{clause}] needs numbers or dates, and {field} holds texts",
                details={"clause": "aggs", "field": field},
            )
        return kind

    def _values(self, field: str, missing: Scalar | None, table: str) -> tuple[str, list[Value]]:
        """SQL for (document, value) of a field, with a value for those that have none."""
        sql = (
            f"SELECT v.document AS document, v.value AS value FROM {table} t CROSS JOIN "
            f"field_values v ON v.document = t.document AND v.field = ?"
        )
        kind = next((found for index in self.indices if (found := index.kind(field))), None)
        filled = None if missing is None or kind is None else to_comparable(missing, kind)
        if filled is None:
            return sql, [field]
        absent = (
            f"SELECT document, ? FROM {table} WHERE document NOT IN (SELECT document FROM "
            f"field_values WHERE field = ?)"
        )
        return f"{sql} UNION ALL {absent}", [field, filled, field]

    def _metric(self, one: MetricAggregation, table: str) -> dict[str, Any]:
        if one.kind in {"value_count", "cardinality"}:
            self._kind(one.field, one.kind)
            sql, values = self._values(one.field, one.missing, table)
            what = "count(value)" if one.kind == "value_count" else "count(DISTINCT value)"
            (count,) = self.connection.execute(f"SELECT {what} FROM ({sql})", values).fetchone()
            return {"value": count}
        kind = self._number_kind(one.field, one.kind)
        sql, values = self._values(one.field, one.missing, table)
        row = self.connection.execute(
            f"SELECT count(value), min(value), max(value), avg(value), total(value) FROM ({sql})",
            values,
        ).fetchone()
        figures = dict(zip(("count", "min", "max", "avg", "sum"), row, strict=True))
        if one.kind == "stats":
            written = {
                f"{name}_as_string": write_moment(value)
                for name, value in figures.items()
                if kind == "date" and name != "count" and figures["count"]
            }
            return figures | written
        found: dict[str, Any] = {"value": figures[one.kind]}
        if kind == "date" and figures["count"]:
            found["value_as_string"] = write_moment(figures[one.kind])
        return found

    def _terms(self, one: TermsAggregation, table: str) -> dict[str, Any]:
        kind = self._kind(one.field, "terms")
        sql, values = self._values(one.field, one.missing, table)
        counts = self.connection.execute(
            f"SELECT value, count(DISTINCT document) FROM ({sql}) GROUP BY value", values
        ).fetchall()
        kept = [(key, count) for key, count in counts if count >= one.min_doc_count]
        kept.sort(key=lambda pair: rank_value(pair[0]))
        if one.order_by == "_count":
            kept.sort(key=lambda pair: pair[1], reverse=not one.is_ascending)
        elif one.order_by == "_key":
            if not one.is_ascending:
                kept.reverse()
        else:
            return self._terms_by_figure(one, kind, kept, sql, values)
        buckets = [
            self._term_bucket(one, kind, key, count, sql, values) for key, count in kept[: one.size]
        ]
        return _term_answer(buckets, sum(count for _, count in kept[one.size :]))

    def _terms_by_figure(
        self,
        one: TermsAggregation,
        kind: FieldKind | None,
        kept: list[tuple[Value, int]],
        sql: str,
        values: list[Value],
    ) -> dict[str, Any]:
        buckets = [self._term_bucket(one, kind, key, count, sql, values) for key, count in kept]
        name, _, part = one.order_by.partition(".")

        def figure(bucket: Bucket) -> tuple[bool, float]:
            value = bucket[name][part or "value"]
            if value is None:
                return True, 0.0
            return False, value if one.is_ascending else -value

        buckets.sort(key=figure)
        left = sum(int(bucket["doc_count"]) for bucket in buckets[one.size :])
        return _term_answer(buckets[: one.size], left)

    def _term_bucket(
        self,
        one: TermsAggregation,
        kind: FieldKind | None,
        key: Value,
        count: int,
        sql: str,
        values: list[Value],
    ) -> Bucket:
        bucket: Bucket = {"key": key}
        if kind == "date":
            bucket["key_as_string"] = write_moment(float(key))
        elif kind == "boolean":
            bucket["key_as_string"] = "true" if key else "false"
        bucket["doc_count"] = count
        chosen = f"SELECT DISTINCT document FROM ({sql}) WHERE value = ?"
        return bucket | self._inside(one.inside, chosen, [*values, key])

    def _histogram(self, one: HistogramAggregation, table: str) -> dict[str, Any]:
        clause = "date_histogram" if one.is_date else "histogram"
        kind = self._number_kind(one.field, clause)
        if one.is_date and kind not in {"date", None}:
            raise InvalidInputError(
                f"[date_histogram] needs dates, and {one.field} holds none",
                details={"clause": "aggs", "field": one.field},
            )
        zone = parse_time_zone(one.time_zone)
        floor = _floor(one, zone)
        sql, values = self._values(one.field, None, table)
        documents: dict[float, set[int]] = {}
        for document, value in self.connection.execute(sql, values):
            documents.setdefault(floor(value), set()).add(document)
        keys = sorted(documents)
        if one.min_doc_count == 0 and keys:
            keys = self._fill_gaps(one, keys, zone)
        buckets = []
        for key in reversed(keys) if one.is_falling else keys:
            inside = documents.get(key, set())
            if len(inside) < one.min_doc_count:
                continue
            bucket: Bucket = {"key": int(key) if one.is_date else key, "doc_count": len(inside)}
            if one.is_date:
                bucket = {"key_as_string": write_moment(key, one.format, zone)} | bucket
            if one.inside:
                bucket |= self._inside_of(one.inside, inside)
            buckets.append(bucket)
        if one.is_keyed:
            named = {str(b.get("key_as_string", float(b["key"]))): b for b in buckets}
            return {"buckets": named}
        return {"buckets": buckets}

    def _fill_gaps(self, one: HistogramAggregation, keys: list[float], zone: tzinfo) -> list[float]:
        """Every interval from the first to the last, also those without documents."""
        filled, last = [keys[0]], keys[-1]
        while filled[-1] < last:
            if one.calendar:
                filled.append(next_milliseconds(int(filled[-1]), one.calendar, zone))
            else:
                filled.append(keys[0] + len(filled) * one.interval)
            self._count_buckets(1)
        return filled

    def _ranges(self, one: RangesAggregation, table: str) -> dict[str, Any]:
        kind = self._number_kind(one.field, "range")
        buckets: list[Bucket] = []
        sql, values = self._values(one.field, None, table)
        for key, low, high in one.ranges:
            bounds = [self._bound(limit, kind, one) for limit in (low, high)]
            bucket = _range_bucket(key, bounds[0], bounds[1], one.is_date)
            chosen = f"SELECT DISTINCT document FROM ({sql}) WHERE 1"
            limits: list[Value] = []
            for bound, sign in zip(bounds, (">=", "<"), strict=True):
                if bound is not None:
                    chosen += f" AND value {sign} ?"
                    limits.append(bound)
            buckets.append(bucket | self._bucket(one.inside, chosen, [*values, *limits]))
        if one.is_keyed:
            return {"buckets": {str(bucket.pop("key")): bucket for bucket in buckets}}
        return {"buckets": buckets}

    def _bound(
        self, limit: Scalar | None, kind: FieldKind | None, one: RangesAggregation
    ) -> float | None:
        if limit is None:
            return None
        found = (
            parse_moment(limit, self.now)
            if kind == "date"
            else to_comparable(limit, kind or "number")
        )
        if not isinstance(found, int | float):
            raise InvalidInputError(
                f"[range] on {one.field} cannot use {limit!r}",
                details={"clause": "aggs", "field": one.field},
            )
        return found

    def _filters(self, one: FiltersAggregation, table: str) -> dict[str, Any]:
        buckets: list[tuple[str, Bucket]] = []
        for name, query in one.filters:
            parts, values = list[str](), list[Value]()
            for index in self.indices:
                sql, bound = Compiler(self.connection, index, self.readers, self.now).compile(query)
                parts.append(f"SELECT document FROM ({sql})")
                values += bound
            chosen = f"SELECT document FROM {table} WHERE document IN ({' UNION ALL '.join(parts)})"
            buckets.append((name, self._bucket(one.inside, chosen, values)))
        if one.is_single:
            return buckets[0][1]
        if one.is_keyed:
            return {"buckets": dict(buckets)}
        return {"buckets": [bucket for _, bucket in buckets]}

    def _bucket(self, inside: Sequence[Aggregation], sql: str, values: list[Value]) -> Bucket:
        (count,) = self.connection.execute(f"SELECT count(*) FROM ({sql})", values).fetchone()
        return {"doc_count": count} | self._inside(inside, sql, values)

    def _inside(
        self, inside: Sequence[Aggregation], sql: str, values: list[Value]
    ) -> dict[str, Any]:
        self._count_buckets(1)
        if not inside:
            return {}
        rows = self.connection.execute(sql, values).fetchall()
        return self._inside_of(inside, {row[0] for row in rows})

    def _inside_of(self, inside: Sequence[Aggregation], documents: set[int]) -> dict[str, Any]:
        self._tables += 1
        name = f"bucket_{self._tables}"
        self.connection.execute(f"CREATE TEMP TABLE {name} (document INTEGER PRIMARY KEY)")
        try:
            self.connection.executemany(
                f"INSERT INTO {name} VALUES (?)", [(document,) for document in documents]
            )
            return self.answer(inside, f"temp.{name}")
        finally:
            self.connection.execute(f"DROP TABLE {name}")

    def _count_buckets(self, count: int) -> None:
        self._buckets += count
        if self._buckets > MAX_ALL_BUCKETS:
            raise InvalidInputError(
                f"[aggs] would make more than {MAX_ALL_BUCKETS} buckets",
                next_step="Ask for larger intervals or fewer values.",
                details={"clause": "aggs"},
            )


def rank_value(value: Any) -> tuple[int, Any]:
    """Numbers before texts."""
    return (1, value) if isinstance(value, str) else (0, value)


def _term_answer(buckets: list[Bucket], left: int) -> dict[str, Any]:
    return {"doc_count_error_upper_bound": 0, "sum_other_doc_count": left, "buckets": buckets}


def _floor(one: HistogramAggregation, zone: tzinfo) -> Callable[[float], float]:
    if one.calendar:
        return lambda value: floor_milliseconds(int(value), one.calendar, zone)
    return lambda value: (value // one.interval) * one.interval


def _range_bucket(key: str | None, low: float | None, high: float | None, is_date: bool) -> Bucket:
    def write(value: float | None) -> str:
        if value is None:
            return "*"
        return write_moment(value) if is_date else str(float(value))

    bucket: Bucket = {"key": key if key is not None else f"{write(low)}-{write(high)}"}
    for side, value in (("from", low), ("to", high)):
        if value is not None:
            bucket[side] = float(value)
            if is_date:
                bucket[f"{side}_as_string"] = write(value)
    return bucket

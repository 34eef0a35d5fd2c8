"""Shows what was found in Elasticsearch's shape: hits, their order, highlights and buckets."""

from __future__ import annotations

import fnmatch
import sqlite3
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

import orjson

from carrel.core.errors import InvalidInputError
from carrel.libraries.query.elasticsearch.clauses import (
    SearchRequest,
    SortKey,
    SourceFilter,
    TermsAggregation,
)
from carrel.stores.sqlite.search.compile import Compiler
from carrel.stores.sqlite.search.highlight import highlighted
from carrel.stores.sqlite.search.index import Index


@dataclass(frozen=True, slots=True)
class Hit:
    """A document found, with what it is sorted by."""

    index: Index
    document: int
    id: str
    score: float
    keys: tuple[Any, ...]


@dataclass(frozen=True, slots=True)
class Part:
    """What one index has to say."""

    total: int
    best: float | None
    hits: list[Hit]
    buckets: dict[str, dict[Any, int]]


def ask(
    connection: sqlite3.Connection, index: Index, request: SearchRequest, readers: frozenset[str]
) -> Part:
    """Finds, counts and orders in one index."""
    _check_sort(index, request.sort)
    sql, values = Compiler(connection, index, readers).matched(request.query)
    connection.execute("DROP TABLE IF EXISTS temp.matched")
    connection.execute(f"CREATE TEMP TABLE matched AS {sql}", values)
    total, best = connection.execute("SELECT count(*), max(score) FROM matched").fetchone()
    hits = _hits(connection, index, request) if request.size else []
    buckets = {one.name: _buckets(connection, index, one) for one in request.aggregations}
    return Part(total, best, hits, buckets)


def shown(connection: sqlite3.Connection, hit: Hit, request: SearchRequest) -> dict[str, Any]:
    """One hit as it is answered."""
    source = orjson.loads(
        connection.execute(
            "SELECT source FROM documents WHERE number = ?", (hit.document,)
        ).fetchone()[0]
    )
    is_scored = not request.sort or any(key.field == "_score" for key in request.sort)
    row: dict[str, Any] = {
        "_index": hit.index.name,
        "_id": hit.id,
        "_score": round(hit.score, 7) if is_scored else None,
    }
    if request.source.is_enabled:
        row["_source"] = _filtered(source, request.source)
    if request.highlight is not None:
        marked = highlighted(hit.index, source, request.query, request.highlight)
        if marked:
            row["highlight"] = marked
    if request.sort:
        row["sort"] = list(hit.keys)
    return row


def in_order(hits: Sequence[Hit], request: SearchRequest) -> list[Hit]:
    """Hits of several indices in one order."""
    # What scores alike stands by its id: the order of filling would tell of documents that others
    # have.
    ordered = sorted(hits, key=lambda hit: (hit.index.name, hit.id))
    keys = request.sort or (SortKey("_score", is_descending=True),)
    for place in reversed(range(len(keys))):
        key = keys[place]

        def value(hit: Hit, place: int = place) -> Any:
            return hit.keys[place] if request.sort else hit.score

        present = [hit for hit in ordered if value(hit) is not None]
        absent = [hit for hit in ordered if value(hit) is None]
        present.sort(key=lambda hit: _rank(value(hit)), reverse=key.is_descending)
        ordered = absent + present if key.missing_first else present + absent
    return ordered


def bucket_answer(
    one: TermsAggregation, kind: str | None, counts: Mapping[Any, int]
) -> dict[str, Any]:
    """The buckets of one aggregation."""
    kept = [(key, count) for key, count in counts.items() if count >= one.min_doc_count]
    kept.sort(key=lambda pair: _rank(pair[0]))
    if one.order_by == "_count":
        kept.sort(key=lambda pair: pair[1], reverse=not one.is_ascending)
    elif not one.is_ascending:
        kept.reverse()
    buckets = []
    for key, count in kept[: one.size]:
        bucket: dict[str, Any] = {"key": key, "doc_count": count}
        if kind == "date":
            bucket["key_as_string"] = (
                datetime.fromtimestamp(key / 1000, UTC)
                .isoformat(timespec="milliseconds")
                .replace("+00:00", "Z")
            )
        elif kind == "boolean":
            bucket["key_as_string"] = "true" if key else "false"
        buckets.append(bucket)
    left = sum(count for _, count in kept[one.size :])
    return {"doc_count_error_upper_bound": 0, "sum_other_doc_count": left, "buckets": buckets}


def _rank(value: Any) -> tuple[int, Any]:
    return (1, value) if isinstance(value, str) else (0, value)


def _check_sort(index: Index, keys: Sequence[SortKey]) -> None:
    for key in keys:
        if key.field in {"_score", "_doc", "_id"}:
            continue
        kind = index.kind(key.field)
        if kind is None:
            raise InvalidInputError(
                f"[sort] finds no field {key.field} in {index.name}",
                next_step=f"Fields: {', '.join(sorted(index.fields))}.",
                details={"clause": "sort", "field": key.field},
            )
        if kind == "text":
            raise InvalidInputError(
                f"[sort] needs an exact field, and {key.field} is text",
                next_step=f"Use {key.field}.keyword.",
                details={"clause": "sort", "field": key.field},
            )


def _hits(connection: sqlite3.Connection, index: Index, request: SearchRequest) -> list[Hit]:
    columns, order, values = [], [], []
    for place, key in enumerate(request.sort):
        match key.field:
            case "_score":
                column = "m.score"
            case "_doc":
                column = "(row_number() OVER (ORDER BY d.id) - 1)"
            case "_id":
                column = "d.id"
            case field:
                # Of several values the lowest counts when rising and the highest when falling.
                which = "max" if key.is_descending else "min"
                column = (
                    f"(SELECT {which}(value) FROM field_values v WHERE v.document = "
                    f"m.document AND v.field = ?)"
                )
                values.append(field)
        columns.append(f", {column} AS k{place}")
        nulls = "FIRST" if key.missing_first else "LAST"
        order.append(f"k{place} {'DESC' if key.is_descending else 'ASC'} NULLS {nulls}")
    order.append("d.id" if request.sort else "m.score DESC, d.id")
    sql = (
        f"SELECT m.document, d.id, m.score{''.join(columns)} FROM matched m JOIN documents d ON "
        f"d.number = m.document "
        f"ORDER BY {', '.join(order)} LIMIT ?"
    )
    rows = connection.execute(sql, (*values, request.first + request.size)).fetchall()
    return [Hit(index, row[0], row[1], row[2], tuple(row[3:])) for row in rows]


def _buckets(connection: sqlite3.Connection, index: Index, one: TermsAggregation) -> dict[Any, int]:
    if index.kind(one.field) == "text":
        raise InvalidInputError(
            f"[terms] needs an exact field, and {one.field} is text",
            next_step=f"Use {one.field}.keyword.",
            details={"clause": "aggs", "field": one.field},
        )
    sql = (
        "SELECT v.value, count(*) FROM matched m JOIN field_values v ON v.document = m.document "
        "AND v.field = ? GROUP BY v.value"
    )
    return dict(connection.execute(sql, (one.field,)).fetchall())


def _filtered(source: dict[str, Any], sources: SourceFilter) -> dict[str, Any]:
    def is_kept(name: str) -> bool:
        included = not sources.includes or any(
            fnmatch.fnmatchcase(name, pattern) for pattern in sources.includes
        )
        return included and not any(
            fnmatch.fnmatchcase(name, pattern) for pattern in sources.excludes
        )

    return {name: value for name, value in source.items() if is_kept(name)}

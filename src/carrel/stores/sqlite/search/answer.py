"""Hits, their order, highlights and buckets in the form of Elasticsearch's answers."""

from __future__ import annotations

import fnmatch
import sqlite3
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

import orjson

from carrel.core.errors import InvalidInputError
from carrel.libraries.query.elasticsearch.clauses import (
    BoolQuery,
    Highlight,
    MatchPhraseQuery,
    MatchQuery,
    MultiMatchQuery,
    PrefixQuery,
    QueryClause,
    SearchRequest,
    SortKey,
    SourceFilter,
    TermsAggregation,
    TermsQuery,
)
from carrel.libraries.text.tokenizer import index_terms, index_terms_with_offsets
from carrel.stores.sqlite.search.compiler import Compiler
from carrel.stores.sqlite.search.index import Index

# How far an end of a fragment may move so that no word is cut.
_EDGE_CHARACTERS = 20
Span = tuple[int, int]


@dataclass(frozen=True, slots=True)
class Hit:
    """A document found, with what it is sorted by."""

    index: Index
    document: int
    id: str
    score: float
    keys: tuple[Any, ...]


@dataclass(frozen=True, slots=True)
class IndexResult:
    """What was found in one index."""

    total: int
    best: float | None
    hits: list[Hit]
    buckets: dict[str, dict[Any, int]]


def search_index(
    connection: sqlite3.Connection, index: Index, request: SearchRequest, readers: frozenset[str]
) -> IndexResult:
    """Finds, counts and orders in one index."""
    _check_sort(index, request.sort)
    sql, values = Compiler(connection, index, readers).compile(request.query)
    connection.execute("DROP TABLE IF EXISTS temp.matched")
    connection.execute(f"CREATE TEMP TABLE matched AS {sql}", values)
    total, best = connection.execute("SELECT count(*), max(score) FROM matched").fetchone()
    hits = _hits(connection, index, request) if request.size else []
    buckets = {one.name: _buckets(connection, index, one) for one in request.aggregations}
    return IndexResult(total, best, hits, buckets)


def hit_answer(connection: sqlite3.Connection, hit: Hit, request: SearchRequest) -> dict[str, Any]:
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
        marked = highlight_fields(hit.index, source, request.query, request.highlight)
        if marked:
            row["highlight"] = marked
    if request.sort:
        row["sort"] = list(hit.keys)
    return row


def merge_hits(hits: Sequence[Hit], request: SearchRequest) -> list[Hit]:
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
        if index.exact_kind(key.field, "sort") is None:
            raise InvalidInputError(
                f"[sort] finds no field {key.field} in {index.name}",
                next_step=f"Fields: {', '.join(sorted(index.fields))}.",
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
    index.exact_kind(one.field, "terms", "aggs")
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


@dataclass(slots=True)
class _SearchTerms:
    """What a query looks for in one field."""

    words: set[str] = field(default_factory=set)
    beginnings: list[str] = field(default_factory=list)
    phrases: list[list[str]] = field(default_factory=list)


def highlight_fields(
    index: Index, source: Mapping[str, Any], query: QueryClause, how: Highlight
) -> dict[str, list[str]]:
    """The marked fragments of every field that has some."""
    found: dict[str, list[str]] = {}
    for name in index.fields:
        if not any(fnmatch.fnmatchcase(name, pattern) for pattern in how.fields):
            continue
        terms = _search_terms(query, name)
        values = source.get(name)
        texts = [
            value
            for value in (values if isinstance(values, list) else [values])
            if isinstance(value, str)
        ]
        fragments = [
            fragment
            for text in texts
            for fragment in _fragments(text, _find_spans(text, terms), how)
        ]
        if fragments:
            found[name] = fragments
    return found


def _search_terms(clause: QueryClause, name: str) -> _SearchTerms:
    wanted = _SearchTerms()
    waiting: list[QueryClause] = [clause]
    while waiting:
        match waiting.pop():
            case MatchQuery(field=other, text=text) if other == name:
                wanted.words.update(index_terms(str(text)))
            case MatchPhraseQuery(field=other, text=text) if other == name:
                wanted.phrases.append(index_terms(str(text)))
            case MultiMatchQuery(fields=fields, text=text, kind=kind) if any(
                fnmatch.fnmatchcase(name, other) for other, _ in fields
            ):
                if kind == "phrase":
                    wanted.phrases.append(index_terms(str(text)))
                else:
                    wanted.words.update(index_terms(str(text)))
            case TermsQuery(field=other, values=values) if other.removesuffix(".keyword") == name:
                wanted.words.update(word for value in values for word in index_terms(str(value)))
            case PrefixQuery(field=other, text=text) if other.removesuffix(".keyword") == name:
                wanted.beginnings.append(text)
            case BoolQuery(must=must, filter=needed, should=should):
                waiting += [*must, *needed, *should]
            case _:
                pass
    return wanted


def _find_spans(text: str, wanted: _SearchTerms) -> list[Span]:
    """Matched spans from left to right; overlapping ones are merged."""
    places = index_terms_with_offsets(text)
    beginnings = tuple(wanted.beginnings)
    found = [
        (start, end)
        for word, start, end in places
        if word in wanted.words or (beginnings and word.startswith(beginnings))
    ]
    sequence = [word for word, _, _ in places]
    for phrase in wanted.phrases:
        size = len(phrase)
        starts = range(len(sequence) - size + 1) if size else range(0)
        found += [
            (places[at][1], places[at + size - 1][2])
            for at in starts
            if sequence[at : at + size] == phrase
        ]
    merged: list[Span] = []
    for start, end in sorted(found):
        if merged and start < merged[-1][1]:
            merged[-1] = (merged[-1][0], max(end, merged[-1][1]))
        else:
            merged.append((start, end))
    return merged


def _fragments(text: str, hits: Sequence[Span], how: Highlight) -> list[str]:
    if not hits:
        return []
    if how.number_of_fragments == 0:
        return [_mark_fragment(text, 0, len(text), hits, how)]
    fragments: list[str] = []
    until = 0
    for start, end in hits:
        if start < until or len(fragments) == how.number_of_fragments:
            continue
        begin = _edge_before(text, max(until, start - how.fragment_size // 3), until)
        until = _edge_after(text, max(begin + how.fragment_size, end))
        fragments.append(_mark_fragment(text, begin, until, hits, how).strip())
    return fragments


def _edge_before(text: str, at: int, limit: int) -> int:
    for place in range(at, max(limit, at - _EDGE_CHARACTERS) - 1, -1):
        if place in {0, limit} or text[place - 1].isspace():
            return place
    return at


def _edge_after(text: str, at: int) -> int:
    if at >= len(text):
        return len(text)
    for place in range(at, min(len(text), at + _EDGE_CHARACTERS)):
        if text[place].isspace():
            return place
    return at


def _mark_fragment(text: str, begin: int, end: int, hits: Sequence[Span], how: Highlight) -> str:
    pieces: list[str] = []
    at = begin
    for start, stop in hits:
        if start >= begin and stop <= end:
            pieces += [text[at:start], how.pre_tag, text[start:stop], how.post_tag]
            at = stop
    pieces.append(text[at:end])
    return "".join(pieces)

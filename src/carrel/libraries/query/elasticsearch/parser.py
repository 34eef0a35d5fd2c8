"""Parses a search body; a part outside the supported subset is an error that names the clause."""

from __future__ import annotations

from carrel.libraries.query.elasticsearch.aggregations import parse_aggregations
from carrel.libraries.query.elasticsearch.clauses import (
    Aggregation,
    BoolQuery,
    BoostingQuery,
    ConstantScoreQuery,
    DisMaxQuery,
    FiltersAggregation,
    MatchAllQuery,
    MetricAggregation,
    QueryClause,
    SearchRequest,
)
from carrel.libraries.query.elasticsearch.options import Body, read_number
from carrel.libraries.query.elasticsearch.presentation import (
    parse_highlight,
    parse_search_after,
    parse_sort,
    parse_source_filter,
)
from carrel.libraries.query.elasticsearch.query_clauses import MAX_CLAUSES, parse_clause
from carrel.libraries.query.errors import UnsupportedClauseError, invalid_clause

MAX_SIZE = 100
MAX_DEPTH = 10_000


def parse_search_body(body: Body) -> SearchRequest:
    """The request of a body, which may be just a query clause; QueryError for anything else."""
    if len(body) == 1 and not set(body) & _PARTS:
        body = {"query": body}
    for part in body:
        if part not in _PARTS:
            raise UnsupportedClauseError(part, "the search body", _PARTS)
    first, size = parse_page(body)
    query = parse_clause(body["query"]) if "query" in body else MatchAllQuery()
    post_filter = parse_clause(body["post_filter"]) if "post_filter" in body else None
    aggregations = parse_aggregations(body.get("aggs", body.get("aggregations")), parse_clause)
    if (
        _count_clauses(query)
        + (0 if post_filter is None else _count_clauses(post_filter))
        + sum(_count_filters(one) for one in aggregations)
    ) > MAX_CLAUSES:
        raise invalid_clause("query", f"[query] has more than {MAX_CLAUSES} clauses")
    sort = parse_sort(body.get("sort"))
    after = parse_search_after(body.get("search_after"), sort)
    if after is not None and first:
        raise invalid_clause("from", "[from] must be 0 with search_after")
    least = body.get("min_score")
    return SearchRequest(
        query=query,
        first=first,
        size=size,
        sort=sort,
        source=parse_source_filter(body.get("_source")),
        highlight=parse_highlight(body.get("highlight")),
        aggregations=aggregations,
        post_filter=post_filter,
        min_score=None if least is None else read_number(least, "min_score"),
        search_after=after,
    )


def parse_page(body: Body) -> tuple[int, int]:
    """`from` and `size` of a body, within the limits; QueryError beyond them."""
    first, size = body.get("from", 0), body.get("size", 10)
    for name, value in (("from", first), ("size", size)):
        if not isinstance(value, int) or isinstance(value, bool) or value < 0:
            raise invalid_clause(name, f"[{name}] must be a number from 0 up")
    if size > MAX_SIZE:
        raise invalid_clause(
            "size", f"[size] may be at most {MAX_SIZE}", "Ask for less and page with from."
        )
    if first + size > MAX_DEPTH:
        raise invalid_clause(
            "from", f"[from] and [size] may reach {MAX_DEPTH} hits at most", "Narrow the query."
        )
    return first, size


def _count_clauses(query: QueryClause) -> int:
    match query:
        case BoolQuery():
            inside = (*query.must, *query.filter, *query.should, *query.must_not)
        case DisMaxQuery():
            inside = query.queries
        case ConstantScoreQuery():
            inside = (query.filter,)
        case BoostingQuery():
            inside = (query.positive, query.negative)
        case _:
            inside = ()
    return 1 + sum(_count_clauses(one) for one in inside)


def _count_filters(one: Aggregation) -> int:
    if isinstance(one, MetricAggregation):
        return 0
    own = (
        sum(_count_clauses(query) for _, query in one.filters)
        if isinstance(one, FiltersAggregation)
        else 0
    )
    return own + sum(_count_filters(inner) for inner in one.inside)


_PARTS = {
    *("query", "from", "size", "sort", "_source", "highlight", "track_total_hits"),
    *("aggs", "aggregations", "post_filter", "min_score", "search_after", "track_scores"),
}

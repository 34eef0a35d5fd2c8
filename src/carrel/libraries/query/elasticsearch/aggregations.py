"""Parses aggregations: figures, buckets, and aggregations inside of buckets."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, get_args

from carrel.libraries.query.elasticsearch.clauses import (
    Aggregation,
    FiltersAggregation,
    HistogramAggregation,
    MetricAggregation,
    MetricKind,
    MissingAggregation,
    QueryClause,
    RangesAggregation,
    Scalar,
    TermsAggregation,
)
from carrel.libraries.query.elasticsearch.dates import (
    CALENDAR_INTERVALS,
    KEY_FORMATS,
    parse_fixed_interval,
    parse_time_zone,
)
from carrel.libraries.query.elasticsearch.options import (
    read_integer,
    read_number,
    read_scalar,
    read_truth,
    require_object,
)
from carrel.libraries.query.errors import UnsupportedClauseError, invalid_clause

MAX_AGGREGATIONS = 10
MAX_AGGREGATION_DEPTH = 3
MAX_BUCKETS = 1000
ParseQuery = Callable[[object], QueryClause]
Inside = tuple[Aggregation, ...]
_METRICS: dict[str, MetricKind] = {kind: kind for kind in get_args(MetricKind)}
_BUCKETS = (
    "terms",
    "date_histogram",
    "histogram",
    "range",
    "date_range",
    "filter",
    "filters",
    "missing",
)


def parse_aggregations(node: object, parse_query: ParseQuery, depth: int = 0) -> Inside:
    given = {} if node is None else require_object(node, "aggs")
    if len(given) > MAX_AGGREGATIONS:
        raise invalid_clause("aggs", f"[aggs] takes at most {MAX_AGGREGATIONS} aggregations")
    if given and depth > MAX_AGGREGATION_DEPTH:
        raise invalid_clause("aggs", f"[aggs] may be nested {MAX_AGGREGATION_DEPTH} deep")
    return tuple(_parse(str(name), inside, parse_query, depth) for name, inside in given.items())


def _parse(name: str, node: object, parse_query: ParseQuery, depth: int) -> Aggregation:
    parts = require_object(node, "aggs", (*_METRICS, *_BUCKETS, "aggs", "aggregations"))
    inside = parse_aggregations(
        parts.pop("aggs", parts.pop("aggregations", None)), parse_query, depth + 1
    )
    if len(parts) != 1:
        raise invalid_clause("aggs", "an aggregation has one kind")
    ((kind, given),) = parts.items()
    match kind:
        case "filter":
            only = (("", parse_query(given)),)
            return FiltersAggregation(name, only, is_single=True, inside=inside)
        case "filters":
            return _filters(name, given, parse_query, inside)
    options = require_object(given, f"{kind} aggregation")
    if "script" in options:
        raise UnsupportedClauseError("script", f"{kind} aggregation")
    if not isinstance(options.get("field"), str):
        raise invalid_clause("field", f"[field] of a {kind} aggregation is required")
    if kind in _METRICS:
        if inside:
            raise invalid_clause("aggs", f"a {kind} aggregation has nothing inside")
        require_object(options, f"{kind} aggregation", {"field", "missing", "precision_threshold"})
        return MetricAggregation(name, _METRICS[kind], options["field"], _missing(options))
    return _BUCKET_PARSERS[kind](name, options, inside)


def _missing(options: dict[str, Any]) -> Scalar | None:
    return None if "missing" not in options else read_scalar(options["missing"], "missing")


def _terms(name: str, options: dict[str, Any], inside: Inside) -> Aggregation:
    known = {"field", "size", "order", "min_doc_count", "missing", "shard_size"}
    require_object(options, "terms aggregation", known)
    order_by, is_ascending = _bucket_order(options.get("order"), inside)
    return TermsAggregation(
        name,
        options["field"],
        read_integer(options.get("size", 10), "size", MAX_BUCKETS),
        order_by,
        is_ascending,
        read_integer(options.get("min_doc_count", 1), "min_doc_count", 10**9),
        _missing(options),
        inside,
    )


def _bucket_order(node: object, inside: Inside) -> tuple[str, bool]:
    if node is None:
        return "_count", False
    first = node[0] if isinstance(node, list) and len(node) == 1 else node
    figures = {
        path
        for one in inside
        if isinstance(one, MetricAggregation)
        for path in (
            (f"{one.name}.{part}" for part in ("min", "max", "avg", "sum", "count"))
            if one.kind == "stats"
            else (one.name, f"{one.name}.value")
        )
    }
    order = require_object(first, "order", {"_count", "_key", *figures})
    if len(order) != 1 or next(iter(order.values())) not in {"asc", "desc"}:
        raise invalid_clause("order", "[order] is _count, _key or a figure, with asc or desc")
    ((order_by, direction),) = order.items()
    return str(order_by), direction == "asc"


def _date_histogram(name: str, options: dict[str, Any], inside: Inside) -> Aggregation:
    known = {"field", "calendar_interval", "fixed_interval", "interval"} | {
        "min_doc_count",
        "format",
        "time_zone",
        "keyed",
        "order",
    }
    require_object(options, "date_histogram aggregation", known)
    calendar, milliseconds = "", 0
    given = options.get("calendar_interval", options.get("interval"))
    if str(given) in CALENDAR_INTERVALS:
        calendar = CALENDAR_INTERVALS[str(given)]
    elif "fixed_interval" in options or "interval" in options:
        milliseconds = parse_fixed_interval(options.get("fixed_interval", given))
    else:
        raise invalid_clause(
            "calendar_interval",
            "[calendar_interval] is one of minute, hour, day, week, month, quarter and year",
        )
    format_name = str(options.get("format", ""))
    if format_name and format_name not in {*KEY_FORMATS, "epoch_millis"}:
        raise UnsupportedClauseError(f"format {format_name[:50]}", "date_histogram", KEY_FORMATS)
    zone = options.get("time_zone")
    parse_time_zone(None if zone is None else str(zone))
    return HistogramAggregation(
        name,
        options["field"],
        float(milliseconds),
        calendar,
        is_date=True,
        min_doc_count=read_integer(options.get("min_doc_count", 0), "min_doc_count", 10**9),
        is_keyed=read_truth(options, "keyed"),
        format=format_name,
        time_zone=None if zone is None else str(zone),
        is_falling=_is_falling(options.get("order")),
        inside=inside,
    )


def _is_falling(node: object) -> bool:
    order = {} if node is None else require_object(node, "order", {"_key"})
    return bool(order) and order["_key"] == "desc"


def _histogram(name: str, options: dict[str, Any], inside: Inside) -> Aggregation:
    known = {"field", "interval", "min_doc_count", "keyed", "order"}
    require_object(options, "histogram aggregation", known)
    interval = read_number(options.get("interval"), "interval")
    if not interval:
        raise invalid_clause("interval", "[interval] must be a number above 0")
    return HistogramAggregation(
        name,
        options["field"],
        interval,
        min_doc_count=read_integer(options.get("min_doc_count", 0), "min_doc_count", 10**9),
        is_keyed=read_truth(options, "keyed"),
        is_falling=_is_falling(options.get("order")),
        inside=inside,
    )


def _ranges(name: str, options: dict[str, Any], inside: Inside, is_date: bool) -> Aggregation:
    require_object(options, "range aggregation", {"field", "ranges", "keyed"})
    given = options.get("ranges")
    if not isinstance(given, list) or not given or len(given) > MAX_BUCKETS:
        raise invalid_clause("ranges", f"[ranges] is a list of 1 to {MAX_BUCKETS} objects")
    ranges = []
    for one in given:
        limits = require_object(one, "ranges", {"from", "to", "key"})
        low, high = (
            None if limits.get(side) is None else read_scalar(limits[side], "ranges")
            for side in ("from", "to")
        )
        key = None if limits.get("key") is None else str(limits["key"])
        ranges.append((key, low, high))
    return RangesAggregation(
        name, options["field"], tuple(ranges), is_date, read_truth(options, "keyed"), inside
    )


def _number_ranges(name: str, options: dict[str, Any], inside: Inside) -> Aggregation:
    return _ranges(name, options, inside, is_date=False)


def _date_ranges(name: str, options: dict[str, Any], inside: Inside) -> Aggregation:
    return _ranges(name, options, inside, is_date=True)


def _missing_documents(name: str, options: dict[str, Any], inside: Inside) -> Aggregation:
    require_object(options, "missing aggregation", {"field"})
    return MissingAggregation(name, options["field"], inside)


def _filters(name: str, given: object, parse_query: ParseQuery, inside: Inside) -> Aggregation:
    options = require_object(given, "filters aggregation", {"filters", "keyed"})
    listed = options.get("filters")
    if isinstance(listed, list):
        named = [("", parse_query(one)) for one in listed[: MAX_BUCKETS + 1]]
    else:
        named = [(str(k), parse_query(one)) for k, one in require_object(listed, "filters").items()]
    if not named or len(named) > MAX_BUCKETS:
        raise invalid_clause("filters", f"[filters] holds 1 to {MAX_BUCKETS} queries")
    return FiltersAggregation(
        name, tuple(named), is_keyed=not isinstance(listed, list), inside=inside
    )


_BUCKET_PARSERS: dict[str, Callable[[str, dict[str, Any], Inside], Aggregation]] = {
    "terms": _terms,
    "date_histogram": _date_histogram,
    "histogram": _histogram,
    "range": _number_ranges,
    "date_range": _date_ranges,
    "missing": _missing_documents,
}

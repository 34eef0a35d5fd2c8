"""Parses the parts of a search body that order, filter, highlight and count the hits."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

from carrel.libraries.query.elasticsearch.clauses import (
    Highlight,
    SortKey,
    SourceFilter,
    TermsAggregation,
)
from carrel.libraries.query.errors import UnsupportedClauseError, invalid_clause

MAX_SORT_KEYS = 8
MAX_AGGREGATIONS = 10
MAX_BUCKETS = 1000
MAX_SOURCE_PATTERNS = 100
_SORT_OPTIONS = {"order", "missing", "unmapped_type"}
_HIGHLIGHT_OPTIONS = {"fields", "pre_tags", "post_tags", "fragment_size", "number_of_fragments"}
_TERMS_OPTIONS = {"field", "size", "order", "min_doc_count"}

Body = Mapping[str, Any]


def require_object(
    node: object, where: str, known: Collection[str] | None = None
) -> dict[str, Any]:
    """The options of a clause; QueryError where it is no object or has an unknown option."""
    if not isinstance(node, Mapping):
        raise invalid_clause(where, f"[{where}] must be an object")
    for option in node:
        if known is not None and option not in known:
            raise UnsupportedClauseError(str(option), where, known)
    return dict(node)


def parse_sort(node: object) -> tuple[SortKey, ...]:
    given = [] if node is None else node if isinstance(node, list) else [node]
    if len(given) > MAX_SORT_KEYS:
        raise invalid_clause("sort", f"[sort] takes at most {MAX_SORT_KEYS} keys")
    return tuple(_sort_key(key) for key in given)


def _sort_key(node: object) -> SortKey:
    if isinstance(node, str):
        return SortKey(node, is_descending=node == "_score")
    if not isinstance(node, Mapping) or len(node) != 1:
        raise invalid_clause("sort", "[sort] takes names, or objects with one name")
    ((field, options),) = node.items()
    if str(field) in {"_script", "_geo_distance"}:
        raise UnsupportedClauseError(str(field), "sort")
    options = {"order": options} if isinstance(options, str) else options
    if not isinstance(options, Mapping):
        raise invalid_clause("sort", "[sort] takes asc, desc, or an object")
    options = require_object(options, "sort", _SORT_OPTIONS)
    order = options.get("order", "desc" if field == "_score" else "asc")
    missing = options.get("missing", "_last")
    if order not in {"asc", "desc"}:
        raise invalid_clause("order", "[order] of sort is asc or desc")
    if missing not in {"_last", "_first"}:
        raise UnsupportedClauseError("missing", "sort", ("_last", "_first"))
    return SortKey(str(field), order == "desc", missing == "_first")


def parse_source_filter(node: object) -> SourceFilter:
    match node:
        case None | True:
            return SourceFilter()
        case False:
            return SourceFilter(is_enabled=False)
        case str() | list():
            return SourceFilter(includes=_patterns(node))
        case Mapping():
            for option in node:
                if option not in {"includes", "include", "excludes", "exclude"}:
                    raise UnsupportedClauseError(str(option), "_source", ("includes", "excludes"))
            return SourceFilter(
                includes=_patterns(node.get("includes", node.get("include", []))),
                excludes=_patterns(node.get("excludes", node.get("exclude", []))),
            )
    raise invalid_clause("_source", "[_source] takes true, false, names, or includes and excludes")


def _patterns(node: object) -> tuple[str, ...]:
    given = [node] if isinstance(node, str) else node
    if (
        not isinstance(given, list)
        or not all(isinstance(one, str) for one in given)
        or len(given) > MAX_SOURCE_PATTERNS
    ):
        raise invalid_clause("_source", "[_source] takes names of fields")
    return tuple(given)


def parse_highlight(node: object) -> Highlight | None:
    if node is None:
        return None
    options = require_object(node, "highlight", _HIGHLIGHT_OPTIONS)
    fields = options.get("fields", {})
    if isinstance(fields, list):
        objects = [require_object(one, "highlight") for one in fields]
        fields = {name: inside for one in objects for name, inside in one.items()}
    for inside in require_object(fields, "highlight").values():
        require_object(inside, "highlight fields", ())
    return Highlight(
        tuple(fields),
        _first_tag(options.get("pre_tags", ["<em>"])),
        _first_tag(options.get("post_tags", ["</em>"])),
        _integer(options.get("fragment_size", 100), "fragment_size", 10_000),
        _integer(options.get("number_of_fragments", 5), "number_of_fragments", 100),
    )


def _first_tag(node: object) -> str:
    first = node[0] if isinstance(node, list) and node else node
    if not isinstance(first, str):
        raise invalid_clause("highlight", "[pre_tags] and [post_tags] are lists of texts")
    return first


def parse_aggregations(node: object) -> tuple[TermsAggregation, ...]:
    given = {} if node is None else require_object(node, "aggs")
    if len(given) > MAX_AGGREGATIONS:
        raise invalid_clause("aggs", f"[aggs] takes at most {MAX_AGGREGATIONS} aggregations")
    found = []
    for name, inside in given.items():
        kinds = require_object(inside, "aggs", ("terms",))
        options = require_object(kinds.get("terms"), "terms aggregation", _TERMS_OPTIONS)
        if not isinstance(options.get("field"), str):
            raise invalid_clause("field", "[field] of a terms aggregation is required")
        order_by, is_ascending = _bucket_order(options.get("order"))
        found.append(
            TermsAggregation(
                str(name),
                options["field"],
                _integer(options.get("size", 10), "size", MAX_BUCKETS),
                order_by,
                is_ascending,
                _integer(options.get("min_doc_count", 1), "min_doc_count", 10**9),
            )
        )
    return tuple(found)


def _bucket_order(node: object) -> tuple[Any, bool]:
    if node is None:
        return "_count", False
    order = require_object(node, "order", {"_count", "_key"})
    if len(order) != 1 or next(iter(order.values())) not in {"asc", "desc"}:
        raise invalid_clause("order", "[order] is _count or _key with asc or desc")
    ((order_by, direction),) = order.items()
    return order_by, direction == "asc"


def _integer(value: object, where: str, most: int) -> int:
    if not isinstance(value, int) or isinstance(value, bool) or not 0 <= value <= most:
        raise invalid_clause(where, f"[{where}] must be a number from 0 to {most}")
    return value

"""Reads the parts of a search body that say how hits are ordered, shown and counted."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from carrel.core.errors import InvalidInputError
from carrel.rooms.knowledge.errors import UnsupportedClauseError
from carrel.rooms.knowledge.search_body.clauses import Highlight, SortKey, Sources, TermsAggregation

MAX_SORT_KEYS = 8
MAX_AGGREGATIONS = 10
MAX_BUCKETS = 1000
_SORT_OPTIONS = {"order", "missing", "unmapped_type"}
_HIGHLIGHT_OPTIONS = {"fields", "pre_tags", "post_tags", "fragment_size", "number_of_fragments"}
_TERMS_OPTIONS = {"field", "size", "order", "min_doc_count"}


def sort(node: object) -> tuple[SortKey, ...]:
    given = [] if node is None else node if isinstance(node, list) else [node]
    if len(given) > MAX_SORT_KEYS:
        raise InvalidInputError(
            f"[sort] takes at most {MAX_SORT_KEYS} keys", details={"clause": "sort"}
        )
    return tuple(_sort_key(key) for key in given)


def _sort_key(node: object) -> SortKey:
    if isinstance(node, str):
        return SortKey(node, is_descending=node == "_score")
    if not isinstance(node, Mapping) or len(node) != 1:
        raise InvalidInputError(
            "[sort] takes names, or objects with one name", details={"clause": "sort"}
        )
    ((field, options),) = node.items()
    if str(field) in {"_script", "_geo_distance"}:
        raise UnsupportedClauseError(str(field), "sort")
    options = {"order": options} if isinstance(options, str) else options
    if not isinstance(options, Mapping):
        raise InvalidInputError("[sort] takes asc, desc, or an object", details={"clause": "sort"})
    for option in options:
        if option not in _SORT_OPTIONS:
            raise UnsupportedClauseError(str(option), "sort", _SORT_OPTIONS)
    order = options.get("order", "desc" if field == "_score" else "asc")
    missing = options.get("missing", "_last")
    if order not in {"asc", "desc"}:
        raise InvalidInputError("[order] of sort is asc or desc", details={"clause": "order"})
    if missing not in {"_last", "_first"}:
        raise UnsupportedClauseError("missing", "sort", ("_last", "_first"))
    return SortKey(str(field), order == "desc", missing == "_first")


def sources(node: object) -> Sources:
    match node:
        case None | True:
            return Sources()
        case False:
            return Sources(is_shown=False)
        case str() | list():
            return Sources(includes=_patterns(node))
        case Mapping():
            for option in node:
                if option not in {"includes", "include", "excludes", "exclude"}:
                    raise UnsupportedClauseError(str(option), "_source", ("includes", "excludes"))
            return Sources(
                includes=_patterns(node.get("includes", node.get("include", []))),
                excludes=_patterns(node.get("excludes", node.get("exclude", []))),
            )
    raise InvalidInputError(
        "[_source] takes true, false, names, or includes and excludes",
        details={"clause": "_source"},
    )


def _patterns(node: object) -> tuple[str, ...]:
    given = [node] if isinstance(node, str) else node
    if (
        not isinstance(given, list)
        or not all(isinstance(one, str) for one in given)
        or len(given) > 100
    ):
        raise InvalidInputError("[_source] takes names of fields", details={"clause": "_source"})
    return tuple(given)


def highlight(node: object) -> Highlight | None:
    if node is None:
        return None
    options = _object(node, "highlight", _HIGHLIGHT_OPTIONS)
    fields = options.get("fields", {})
    if isinstance(fields, list):
        fields = {
            name: inside
            for one in fields
            for name, inside in _object(one, "highlight", None).items()
        }
    for inside in _object(fields, "highlight", None).values():
        _object(inside, "highlight fields", set())
    return Highlight(
        tuple(fields),
        _mark(options.get("pre_tags", ["<em>"])),
        _mark(options.get("post_tags", ["</em>"])),
        _count(options.get("fragment_size", 100), "fragment_size", 10_000),
        _count(options.get("number_of_fragments", 5), "number_of_fragments", 100),
    )


def _mark(node: object) -> str:
    first = node[0] if isinstance(node, list) and node else node
    if not isinstance(first, str):
        raise InvalidInputError(
            "[pre_tags] and [post_tags] are lists of texts", details={"clause": "highlight"}
        )
    return first


def aggregations(node: object) -> tuple[TermsAggregation, ...]:
    given = {} if node is None else _object(node, "aggs", None)
    if len(given) > MAX_AGGREGATIONS:
        raise InvalidInputError(
            f"[aggs] takes at most {MAX_AGGREGATIONS} aggregations", details={"clause": "aggs"}
        )
    found = []
    for name, inside in given.items():
        kinds = _object(inside, "aggs", None)
        for kind in kinds:
            if kind != "terms":
                raise UnsupportedClauseError(str(kind), "aggs", ("terms",))
        options = _object(kinds.get("terms"), "terms aggregation", _TERMS_OPTIONS)
        if not isinstance(options.get("field"), str):
            raise InvalidInputError(
                "[field] of a terms aggregation is required", details={"clause": "field"}
            )
        by, is_ascending = _bucket_order(options.get("order"))
        found.append(
            TermsAggregation(
                str(name),
                options["field"],
                _count(options.get("size", 10), "size", MAX_BUCKETS),
                by,
                is_ascending,
                _count(options.get("min_doc_count", 1), "min_doc_count", 10**9),
            )
        )
    return tuple(found)


def _bucket_order(node: object) -> tuple[Any, bool]:
    if node is None:
        return "_count", False
    order = _object(node, "order", {"_count", "_key"})
    if len(order) != 1 or next(iter(order.values())) not in {"asc", "desc"}:
        raise InvalidInputError(
            "[order] is _count or _key with asc or desc", details={"clause": "order"}
        )
    ((by, direction),) = order.items()
    return by, direction == "asc"


def _object(node: object, where: str, known: set[str] | None) -> dict[str, Any]:
    if not isinstance(node, Mapping):
        raise InvalidInputError(f"[{where}] must be an object", details={"clause": where})
    for option in node:
        if known is not None and option not in known:
            raise UnsupportedClauseError(str(option), where, known)
    return dict(node)


def _count(value: object, where: str, most: int) -> int:
    if not isinstance(value, int) or isinstance(value, bool) or not 0 <= value <= most:
        raise InvalidInputError(
            f"[{where}] must be a number from 0 to {most}", details={"clause": where}
        )
    return value

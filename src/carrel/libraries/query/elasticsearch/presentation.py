"""Parses the parts of a search body that order, filter and highlight the hits."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from carrel.libraries.query.elasticsearch.clauses import (
    HighlightField,
    Scalar,
    SortKey,
    SourceFilter,
)
from carrel.libraries.query.elasticsearch.options import (
    read_integer,
    read_scalar,
    read_truth,
    require_object,
)
from carrel.libraries.query.errors import UnsupportedClauseError, invalid_clause

MAX_SORT_KEYS = 8
MAX_SOURCE_PATTERNS = 100
MAX_HIGHLIGHT_FIELDS = 100
MAX_TAG_CHARACTERS = 100
_SORT_OPTIONS = {"order", "missing", "unmapped_type"}
# Fragments are cut the same whatever `type` is asked for, and stand in the order of the text.
_HIGHLIGHT_OPTIONS = {
    "pre_tags",
    "post_tags",
    "fragment_size",
    "number_of_fragments",
    "no_match_size",
    "require_field_match",
    "type",
    "order",
}


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


def parse_highlight(node: object) -> tuple[HighlightField, ...]:
    """What is marked, field by field; options of a field stand over those of the whole."""
    if node is None:
        return ()
    options = require_object(node, "highlight", _HIGHLIGHT_OPTIONS | {"fields"})
    fields = options.pop("fields", {})
    if isinstance(fields, list):
        objects = [require_object(one, "highlight") for one in fields]
        fields = {name: inside for one in objects for name, inside in one.items()}
    given = require_object(fields, "highlight")
    if len(given) > MAX_HIGHLIGHT_FIELDS:
        raise invalid_clause("highlight", f"[highlight] takes {MAX_HIGHLIGHT_FIELDS} fields")
    return tuple(
        _highlight_field(
            str(name), options | require_object(own, "highlight fields", _HIGHLIGHT_OPTIONS)
        )
        for name, own in given.items()
    )


def _highlight_field(name: str, options: dict[str, Any]) -> HighlightField:
    return HighlightField(
        name,
        _first_tag(options.get("pre_tags", ["<em>"])),
        _first_tag(options.get("post_tags", ["</em>"])),
        read_integer(options.get("fragment_size", 100), "fragment_size", 10_000),
        read_integer(options.get("number_of_fragments", 5), "number_of_fragments", 100),
        read_integer(options.get("no_match_size", 0), "no_match_size", 10_000),
        read_truth(options, "require_field_match", default=True),
    )


def _first_tag(node: object) -> str:
    first = node[0] if isinstance(node, list) and node else node
    if not isinstance(first, str) or len(first) > MAX_TAG_CHARACTERS:
        raise invalid_clause("highlight", "[pre_tags] and [post_tags] are lists of texts")
    return first


def parse_search_after(node: object, sort: tuple[SortKey, ...]) -> tuple[Scalar | None, ...] | None:
    """The sort values after which the page begins; as many as there are sort keys."""
    if node is None:
        return None
    if not isinstance(node, list) or not sort or len(node) != len(sort):
        raise invalid_clause(
            "search_after",
            "[search_after] has one value for every key of [sort]",
            "Send the sort values of the last hit, with the same sort.",
        )
    return tuple(None if one is None else read_scalar(one, "search_after") for one in node)

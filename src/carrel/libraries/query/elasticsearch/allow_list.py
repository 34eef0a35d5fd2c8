"""The allow-list for bodies that go to a real Elasticsearch: known parts, no code, bounded."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from carrel.libraries.query.elasticsearch.options import MAX_TEXT_CHARACTERS, MAX_VALUES
from carrel.libraries.query.elasticsearch.parser import parse_page
from carrel.libraries.query.elasticsearch.query_clauses import MAX_CLAUSES, check_wildcard
from carrel.libraries.query.errors import RefusedClauseError, invalid_clause

MAX_NESTING = 20
MAX_BUCKETS = 1000


def _names(text: str) -> frozenset[str]:
    return frozenset(text.split())


_PARTS = _names(
    "query from size sort _source fields highlight aggs aggregations track_total_hits min_score "
    "search_after post_filter docvalue_fields track_scores version"
)
_LEAVES = _names(
    "match_all match_none match match_phrase match_phrase_prefix match_bool_prefix multi_match "
    "combined_fields simple_query_string term terms range exists prefix wildcard fuzzy ids"
)
# Clauses that hold clauses: where these are, and what else they may have.
_COMPOUNDS = {
    "bool": (_names("must filter should must_not"), _names("minimum_should_match boost")),
    "boosting": (_names("positive negative"), _names("negative_boost boost")),
    "constant_score": (_names("filter"), _names("boost")),
    "dis_max": (_names("queries"), _names("tie_breaker boost")),
    "nested": (_names("query"), _names("path score_mode ignore_unmapped")),
}
_AGGREGATIONS = _names(
    "terms avg sum min max stats extended_stats value_count cardinality percentiles histogram "
    "date_histogram range date_range missing filter filters nested reverse_nested"
)
_SORT_OPTIONS = _names("order missing unmapped_type mode format numeric_type")
_NO_SCRIPTS = "scripts are not run"
_REASONS = {
    clause: reason
    for clauses, reason in {
        "script script_fields script_score _script scripted_metric": _NO_SCRIPTS,
        "bucket_script bucket_selector": _NO_SCRIPTS,
        "runtime_mappings": "runtime fields are not computed",
        "pit": "it chooses an index of its own",
        "scroll slice": "it has no end",
        "regexp rescore": "it has no bound",
        "query_string": "it has no bound; use simple_query_string",
        "global suggest knn": "it leaves the query behind",
        "significant_terms significant_text": "it counts outside the query",
        "more_like_this percolate geo_shape": "it reads documents elsewhere",
        "profile": "it shows what is inside the server",
        "explain": "it tells how many documents of others hold a word",
        "_doc _shard_doc": "it numbers documents of others too",
        "rewrite fuzzy_rewrite": "it weighs words of others' documents",
    }.items()
    for clause in _names(clauses)
}
_REASONS["terms lookup"] = "it reads documents elsewhere"
_REFUSED_SORTS = {"_script", "_geo_distance", "_doc", "_shard_doc"}
# Where documents are not everybody's: these choose a few words among those of all documents, or
# weigh words by all of them.
_OF_ALL_WORDS = "the words of others' documents would decide what is found"
_PRIVATE_LEAVES = _names("fuzzy match_phrase_prefix combined_fields")
_PRIVATE_OPTIONS = _names(
    "fuzziness max_expansions prefix_length fuzzy_transpositions fuzzy_max_expansions"
)
_UNKNOWN = "it is not on the list of what is passed on"


def check_search_body(body: Mapping[str, Any]) -> dict[str, Any]:
    """The body to send, with a bare query clause wrapped; RefusedClauseError for anything else."""
    if len(body) == 1 and set(body) <= {*_LEAVES, *_COMPOUNDS}:
        body = {"query": dict(body)}
    _check(body)
    return dict(body)


def refuse_leaking_clauses(body: object, depth: int = 0) -> None:
    """Refuses what finds or ranks by words of documents that the reader may not see."""
    if depth > 2 * MAX_NESTING:
        raise invalid_clause("query", "the body is nested too deep")
    if isinstance(body, list):
        for one in body:
            refuse_leaking_clauses(one, depth + 1)
    elif isinstance(body, Mapping):
        for name, inside in body.items():
            is_clause = isinstance(inside, Mapping)
            if (name in _PRIVATE_LEAVES and is_clause) or (
                name in _PRIVATE_OPTIONS and not is_clause
            ):
                raise RefusedClauseError(str(name), "query", _OF_ALL_WORDS)
            if (
                name == "simple_query_string"
                and isinstance(inside, Mapping)
                and "~" in str(inside.get("query", ""))
            ):
                raise RefusedClauseError("~", "simple_query_string", _OF_ALL_WORDS)
            if (
                name == "multi_match"
                and isinstance(inside, Mapping)
                and inside.get("type") == "phrase_prefix"
            ):
                raise RefusedClauseError("phrase_prefix", "multi_match", _OF_ALL_WORDS)
            refuse_leaking_clauses(inside, depth + 1)


def _check(body: Mapping[str, Any]) -> None:
    for part in body:
        if part not in _PARTS:
            raise _refused(str(part), "the search body")
    parse_page(body)
    _check_size(body)
    for part in ("query", "post_filter"):
        if part in body:
            _query(body[part], 0)
    _sort(body.get("sort"))
    _aggregations(body.get("aggs"), 0)
    _aggregations(body.get("aggregations"), 0)
    for part in ("highlight", "fields", "docvalue_fields", "_source"):
        _without_scripts(body.get(part), part, 0)
    _highlight(body.get("highlight"))


def _check_size(body: Mapping[str, Any]) -> None:
    """Bounds texts, lists, depth and clauses, so that no body keeps the cluster busy."""
    clauses = 0
    waiting: list[tuple[object, int]] = [(body, 0)]
    while waiting:
        node, depth = waiting.pop()
        if depth > 4 * MAX_NESTING:
            raise invalid_clause("query", "the body is nested too deep")
        if isinstance(node, str) and len(node) > MAX_TEXT_CHARACTERS:
            raise invalid_clause(
                "query", f"a text may have at most {MAX_TEXT_CHARACTERS} characters"
            )
        if isinstance(node, Mapping):
            clauses += sum(name in _LEAVES or name in _COMPOUNDS for name in node)
            waiting += [(inside, depth + 1) for inside in (*node, *node.values())]
        elif isinstance(node, list):
            waiting += [(inside, depth + 1) for inside in node]
            if len(node) > MAX_VALUES:
                raise invalid_clause("query", f"a list may have at most {MAX_VALUES} values")
        if clauses > MAX_CLAUSES:
            raise invalid_clause("query", f"[query] has more than {MAX_CLAUSES} clauses")


def _query(node: object, depth: int) -> None:
    if depth > MAX_NESTING:
        raise invalid_clause("query", f"the query is nested more than {MAX_NESTING} deep")
    if not isinstance(node, Mapping) or len(node) != 1:
        raise invalid_clause("query", "a query clause must be an object with one name")
    ((name, inside),) = node.items()
    if name in _LEAVES:
        _leaf(name, inside)
        return
    if name not in _COMPOUNDS:
        raise _refused(str(name), "query")
    if not isinstance(inside, Mapping):
        raise invalid_clause(name, f"[{name}] must be an object")
    for option, value in inside.items():
        if option in _COMPOUNDS[name][0]:
            for one in value if isinstance(value, list) else [value]:
                _query(one, depth + 1)
        elif option not in _COMPOUNDS[name][1]:
            raise _refused(str(option), name)


def _leaf(name: str, inside: object) -> None:
    if not isinstance(inside, Mapping):
        raise invalid_clause(name, f"[{name}] must be an object")
    for field, options in inside.items():
        if name == "terms" and isinstance(options, Mapping):
            raise _refused("terms lookup", name)
        if isinstance(options, Mapping):
            for option in options:
                if "script" in str(option):
                    raise RefusedClauseError(str(option), name, _NO_SCRIPTS)
                if option in {"rewrite", "fuzzy_rewrite"}:
                    raise _refused(str(option), name)
        elif field in {"rewrite", "fuzzy_rewrite"}:
            raise _refused(str(field), name)
        if name == "wildcard":
            pattern = (
                options.get("value", options.get("wildcard"))
                if isinstance(options, Mapping)
                else options
            )
            if field != "boost":
                check_wildcard(str(pattern))


def _sort(node: object) -> None:
    for key in node if isinstance(node, list) else [node] if node is not None else []:
        if isinstance(key, str) and key in _REFUSED_SORTS:
            raise _refused(key, "sort")
        if isinstance(key, Mapping):
            for field, options in key.items():
                if field in _REFUSED_SORTS:
                    raise _refused(str(field), "sort")
                if isinstance(options, Mapping):
                    for option in options:
                        if option not in _SORT_OPTIONS:
                            raise _refused(str(option), "sort")


def _aggregations(node: object, depth: int) -> None:
    if node is None:
        return
    if depth > 3:
        raise RefusedClauseError("aggs", "aggs", "aggregations may be nested three deep")
    if not isinstance(node, Mapping):
        raise invalid_clause("aggs", "[aggs] must be an object")
    for inside in node.values():
        if not isinstance(inside, Mapping):
            raise invalid_clause("aggs", "[aggs] must hold objects")
        for kind, options in inside.items():
            if kind in {"aggs", "aggregations"}:
                _aggregations(options, depth + 1)
            elif kind == "meta":
                continue
            elif kind not in _AGGREGATIONS:
                raise _refused(str(kind), "aggs")
            else:
                _aggregation(kind, options)


def _aggregation(kind: str, options: object) -> None:
    if kind == "filter":
        _query(options, 0)
        return
    if kind == "filters":
        given = options.get("filters") if isinstance(options, Mapping) else None
        for one in (
            given.values()
            if isinstance(given, Mapping)
            else given
            if isinstance(given, list)
            else []
        ):
            _query(one, 0)
        return
    _without_scripts(options, kind, 0)
    size = options.get("size", 0) if isinstance(options, Mapping) else 0
    if not isinstance(size, int) or size > MAX_BUCKETS:
        raise RefusedClauseError(
            "size", kind, f"an aggregation may have {MAX_BUCKETS} buckets at most"
        )
    if isinstance(options, Mapping) and kind == "terms" and options.get("min_doc_count", 1) == 0:
        raise RefusedClauseError("min_doc_count", kind, "0 counts outside the query")
    if (
        isinstance(options, Mapping)
        and kind in {"histogram", "date_histogram"}
        and options.get("extended_bounds")
    ):
        raise RefusedClauseError("extended_bounds", kind, "it has no bound")


def _highlight(node: object) -> None:
    if isinstance(node, Mapping):
        fields = node.get("fields")
        inner = fields.values() if isinstance(fields, Mapping) else []
        for options in (node, *(one for one in inner if isinstance(one, Mapping))):
            if "highlight_query" in options:
                _query(options["highlight_query"], 0)


def _without_scripts(node: object, where: str, depth: int) -> None:
    if depth > MAX_NESTING:
        raise invalid_clause(where, f"[{where}] is nested more than {MAX_NESTING} deep")
    if isinstance(node, Mapping):
        for name, inside in node.items():
            if "script" in str(name) and where != "highlight":
                raise RefusedClauseError(str(name), where, _NO_SCRIPTS)
            _without_scripts(inside, where, depth + 1)
    elif isinstance(node, list):
        for one in node:
            _without_scripts(one, where, depth + 1)


def _refused(clause: str, where: str) -> RefusedClauseError:
    return RefusedClauseError(clause, where, _REASONS.get(clause, _UNKNOWN))

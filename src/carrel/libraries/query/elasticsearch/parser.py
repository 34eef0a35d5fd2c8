"""Parses a search body; a part outside the supported subset is an error that names the clause."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from carrel.libraries.query.elasticsearch.clauses import (
    BoolQuery,
    ExistsQuery,
    IdsQuery,
    MatchAllQuery,
    MatchPhraseQuery,
    MatchQuery,
    MultiMatchQuery,
    PrefixQuery,
    QueryClause,
    RangeQuery,
    Scalar,
    SearchRequest,
    TermsQuery,
)
from carrel.libraries.query.elasticsearch.presentation import (
    Body,
    parse_aggregations,
    parse_highlight,
    parse_sort,
    parse_source_filter,
    require_object,
)
from carrel.libraries.query.errors import UnsupportedClauseError, invalid_clause

MAX_SIZE = 100
MAX_DEPTH = 10_000
MAX_NESTING = 20
MAX_VALUES = 1024
MAX_CLAUSES = 200
MAX_TEXT_CHARACTERS = 2000


def parse_search_body(body: Body) -> SearchRequest:
    """The request of a body, which may be just a query clause; QueryError for anything else."""
    if len(body) == 1 and not set(body) & _PARTS:
        body = {"query": body}
    for part in body:
        if part not in _PARTS:
            raise UnsupportedClauseError(part, "the search body", _PARTS)
    first, size = parse_page(body)
    query = _parse_clause(body["query"], 0) if "query" in body else MatchAllQuery()
    if _count_clauses(query) > MAX_CLAUSES:
        raise invalid_clause("query", f"[query] has more than {MAX_CLAUSES} clauses")
    return SearchRequest(
        query=query,
        first=first,
        size=size,
        sort=parse_sort(body.get("sort")),
        source=parse_source_filter(body.get("_source")),
        highlight=parse_highlight(body.get("highlight")),
        aggregations=parse_aggregations(body.get("aggs", body.get("aggregations"))),
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
    if not isinstance(query, BoolQuery):
        return 1
    inside = (*query.must, *query.filter, *query.should, *query.must_not)
    return 1 + sum(_count_clauses(one) for one in inside)


def _parse_clause(node: object, depth: int) -> QueryClause:
    if depth > MAX_NESTING:
        raise invalid_clause("query", f"the query is nested more than {MAX_NESTING} deep")
    name, inside = _single_entry(node, "query")
    parse = _CLAUSE_PARSERS.get(name)
    if parse is None:
        raise UnsupportedClauseError(name, "query", _CLAUSE_PARSERS)
    return parse(inside, depth)


def _parse_match_all(inside: object, depth: int) -> QueryClause:
    return MatchAllQuery(_boost(require_object(inside, "match_all", {"boost"})))


def _parse_match(inside: object, depth: int) -> QueryClause:
    known = {"query", "operator", "minimum_should_match", "boost"}
    field, options = _field_options(inside, "match", "query", known)
    return MatchQuery(
        field,
        _scalar(options.get("query"), "match"),
        _needs_all(options, "match"),
        _minimum_should_match(options, "match"),
        _boost(options),
    )


def _parse_match_phrase(inside: object, depth: int) -> QueryClause:
    field, options = _field_options(inside, "match_phrase", "query", {"query", "boost", "slop"})
    if options.get("slop", 0) != 0:
        raise UnsupportedClauseError("slop", "match_phrase")
    return MatchPhraseQuery(field, _scalar(options.get("query"), "match_phrase"), _boost(options))


def _parse_multi_match(inside: object, depth: int) -> QueryClause:
    known = {"query", "fields", "type", "operator", "minimum_should_match", "tie_breaker", "boost"}
    options = require_object(inside, "multi_match", known)
    kind = options.get("type", "best_fields")
    kinds = ("best_fields", "most_fields", "phrase")
    if kind not in kinds:
        raise UnsupportedClauseError(f"type {kind}", "multi_match", kinds)
    fields = options.get("fields", ["*"])
    if not isinstance(fields, list) or not fields or not all(isinstance(f, str) for f in fields):
        raise invalid_clause("fields", "[fields] of multi_match must be a list of names")
    return MultiMatchQuery(
        tuple(_weighted_field(field) for field in fields),
        _scalar(options.get("query"), "multi_match"),
        kind,
        _needs_all(options, "multi_match"),
        _minimum_should_match(options, "multi_match"),
        _number(options.get("tie_breaker", 0.0), "tie_breaker"),
        _boost(options),
    )


def _parse_prefix(inside: object, depth: int) -> QueryClause:
    field, options = _field_options(inside, "prefix", "value", {"value", "boost"})
    return PrefixQuery(field, str(_scalar(options.get("value"), "prefix")), _boost(options))


def _parse_term(inside: object, depth: int) -> QueryClause:
    field, options = _field_options(inside, "term", "value", {"value", "boost"})
    return TermsQuery(field, (_scalar(options.get("value"), "term"),), _boost(options))


def _parse_terms(inside: object, depth: int) -> QueryClause:
    options = require_object(inside, "terms")
    boost = _boost(options)
    fields = {name: values for name, values in options.items() if name != "boost"}
    if len(fields) != 1:
        raise invalid_clause("terms", "[terms] takes one field")
    ((field, values),) = fields.items()
    if isinstance(values, Mapping):
        raise UnsupportedClauseError("terms lookup", "terms")
    scalars = tuple(_scalar(value, "terms") for value in _values(values, "terms"))
    return TermsQuery(field, scalars, boost)


def _parse_range(inside: object, depth: int) -> QueryClause:
    options = require_object(inside, "range")
    if len(options) != 1:
        raise invalid_clause("range", "[range] takes one field")
    ((field, given),) = options.items()
    limits = require_object(given, "range", {"gt", "gte", "lt", "lte", "boost"})

    def limit(name: str) -> Scalar | None:
        value = limits.get(name)
        if isinstance(value, str) and (value.startswith("now") or "||" in value):
            raise UnsupportedClauseError("date math", "range")
        return None if value is None else _scalar(value, "range")

    return RangeQuery(field, limit("gt"), limit("gte"), limit("lt"), limit("lte"), _boost(limits))


def _parse_ids(inside: object, depth: int) -> QueryClause:
    options = require_object(inside, "ids", {"values", "boost"})
    values = _values(options.get("values"), "ids")
    return IdsQuery(tuple(str(_scalar(value, "ids")) for value in values), _boost(options))


def _parse_exists(inside: object, depth: int) -> QueryClause:
    options = require_object(inside, "exists", {"field", "boost"})
    return ExistsQuery(str(_scalar(options.get("field"), "exists")), _boost(options))


def _parse_bool(inside: object, depth: int) -> QueryClause:
    known = {"must", "filter", "should", "must_not", "minimum_should_match", "boost"}
    options = require_object(inside, "bool", known)

    def clauses(name: str) -> tuple[QueryClause, ...]:
        given = options.get(name, [])
        listed = given if isinstance(given, list) else [given]
        return tuple(_parse_clause(one, depth + 1) for one in listed)

    return BoolQuery(
        clauses("must"),
        clauses("filter"),
        clauses("should"),
        clauses("must_not"),
        _minimum_should_match(options, "bool"),
        _boost(options),
    )


_CLAUSE_PARSERS: dict[str, Callable[[object, int], QueryClause]] = {
    "match_all": _parse_match_all,
    "match": _parse_match,
    "match_phrase": _parse_match_phrase,
    "multi_match": _parse_multi_match,
    "prefix": _parse_prefix,
    "term": _parse_term,
    "terms": _parse_terms,
    "range": _parse_range,
    "ids": _parse_ids,
    "exists": _parse_exists,
    "bool": _parse_bool,
}
_PARTS = {"query", "from", "size", "sort", "_source", "highlight", "track_total_hits"} | {
    "aggs",
    "aggregations",
}


def _single_entry(node: object, where: str) -> tuple[str, object]:
    if not isinstance(node, Mapping) or len(node) != 1:
        raise invalid_clause(where, f"a clause in {where} must be an object with one name")
    ((name, inside),) = node.items()
    return str(name), inside


def _field_options(
    inside: object, where: str, main: str, known: set[str]
) -> tuple[str, dict[str, Any]]:
    """`{"field": "text"}` and `{"field": {"query": "text", …}}` mean the same."""
    field, options = _single_entry(inside, where)
    if isinstance(options, Mapping):
        return field, require_object(options, where, known)
    return field, {main: options}


def _scalar(value: object, where: str) -> Scalar:
    if not isinstance(value, str | int | float | bool):
        raise invalid_clause(where, f"[{where}] needs a text or a number")
    if isinstance(value, str) and len(value) > MAX_TEXT_CHARACTERS:
        raise invalid_clause(where, f"[{where}] takes at most {MAX_TEXT_CHARACTERS} characters")
    return value


def _values(values: object, where: str) -> list[Any]:
    if not isinstance(values, list) or len(values) > MAX_VALUES:
        raise invalid_clause(where, f"[{where}] needs a list of at most {MAX_VALUES} values")
    return values


def _number(value: object, where: str) -> float:
    if not isinstance(value, int | float) or isinstance(value, bool) or not 0 <= value <= 1e6:
        raise invalid_clause(where, f"[{where}] must be a number from 0 up")
    return float(value)


def _boost(options: Body) -> float:
    return _number(options.get("boost", 1.0), "boost")


def _needs_all(options: Body, where: str) -> bool:
    operator = str(options.get("operator", "or")).lower()
    if operator not in {"and", "or"}:
        raise invalid_clause("operator", f"[operator] of {where} is and, or or")
    return operator == "and"


def _minimum_should_match(options: Body, where: str) -> str | int | None:
    value = options.get("minimum_should_match")
    if value is None or (isinstance(value, int) and not isinstance(value, bool)):
        return value
    if isinstance(value, str) and value.strip().removesuffix("%").lstrip("-").isdecimal():
        return value.strip()
    raise UnsupportedClauseError("minimum_should_match", where, ("a number", "a percentage"))


def _weighted_field(field: str) -> tuple[str, float]:
    name, has_weight, weight = field.partition("^")
    if not has_weight:
        return name, 1.0
    try:
        return name, _number(float(weight), "fields")
    except ValueError:
        raise invalid_clause(
            "fields", f"[fields] has a weight that is no number: {field}"
        ) from None

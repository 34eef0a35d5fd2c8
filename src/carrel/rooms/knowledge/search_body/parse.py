"""Reads a search body. What is not in the part that is answered here is an error that names the
clause.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, cast

from carrel.core.errors import InvalidInputError
from carrel.rooms.knowledge.errors import UnsupportedClauseError
from carrel.rooms.knowledge.search_body.clauses import (
    Bool,
    Clause,
    Exists,
    Ids,
    Match,
    MatchAll,
    MatchPhrase,
    MultiMatch,
    Prefix,
    Range,
    Scalar,
    SearchRequest,
    Terms,
)
from carrel.rooms.knowledge.search_body.showing import aggregations, highlight, sort, sources

MAX_SIZE = 100
MAX_DEPTH = 10_000
MAX_NESTING = 20
MAX_VALUES = 1024
MAX_CLAUSES = 200
MAX_TEXT_CHARACTERS = 2000

Body = Mapping[str, Any]


def whole_body(body: Body) -> Body:
    """A body may be just the query clause; then it is put where it belongs."""
    if len(body) == 1 and not set(body) & _PARTS:
        return {"query": body}
    return body


def parse(body: Body) -> SearchRequest:
    """The request that a body stands for."""
    body = whole_body(body)
    for part in body:
        if part not in _PARTS:
            raise UnsupportedClauseError(part, "the search body", _PARTS)
    first, size = bounded(body)
    query = clause(body["query"], 0) if "query" in body else MatchAll()
    if _count(query) > MAX_CLAUSES:
        raise InvalidInputError(
            f"[query] has more than {MAX_CLAUSES} clauses", details={"clause": "query"}
        )
    return SearchRequest(
        query=query,
        first=first,
        size=size,
        sort=sort(body.get("sort")),
        sources=sources(body.get("_source")),
        highlight=highlight(body.get("highlight")),
        aggregations=aggregations(body.get("aggs", body.get("aggregations"))),
    )


def bounded(body: Body) -> tuple[int, int]:
    """Where the hits begin and how many are wanted, within the limits."""
    first, size = body.get("from", 0), body.get("size", 10)
    for name, value in (("from", first), ("size", size)):
        if not isinstance(value, int) or isinstance(value, bool) or value < 0:
            raise InvalidInputError(
                f"[{name}] must be a number from 0 up", details={"clause": name}
            )
    if size > MAX_SIZE:
        raise InvalidInputError(
            f"[size] may be at most {MAX_SIZE}",
            next_step="Ask for less and page with from.",
            details={"clause": "size"},
        )
    if first + size > MAX_DEPTH:
        raise InvalidInputError(
            f"[from] and [size] may reach {MAX_DEPTH} hits at most",
            next_step="Narrow the query.",
            details={"clause": "from"},
        )
    return first, size


def _count(query: Clause) -> int:
    inside = (
        (*query.must, *query.filter, *query.should, *query.must_not)
        if isinstance(query, Bool)
        else ()
    )
    return 1 + sum(_count(one) for one in inside)


def clause(node: object, depth: int) -> Clause:
    """One query clause with everything inside it."""
    if depth > MAX_NESTING:
        raise InvalidInputError(
            f"the query is nested more than {MAX_NESTING} deep", details={"clause": "query"}
        )
    name, inside = _only(node, "query")
    read = _READERS.get(name)
    if read is None:
        raise UnsupportedClauseError(name, "query", _READERS)
    return read(inside, depth)


def _match_all(inside: object, depth: int) -> Clause:
    return MatchAll(_boost(_options(inside, "match_all", {"boost"})))


def _match(inside: object, depth: int) -> Clause:
    field, options = _field(
        inside, "match", "query", {"query", "operator", "minimum_should_match", "boost"}
    )
    return Match(
        field,
        _scalar(options.get("query"), "match"),
        _needs_all(options, "match"),
        _least(options, "match"),
        _boost(options),
    )


def _match_phrase(inside: object, depth: int) -> Clause:
    field, options = _field(inside, "match_phrase", "query", {"query", "boost", "slop"})
    if options.get("slop", 0) != 0:
        raise UnsupportedClauseError("slop", "match_phrase")
    return MatchPhrase(field, _scalar(options.get("query"), "match_phrase"), _boost(options))


def _multi_match(inside: object, depth: int) -> Clause:
    known = {"query", "fields", "type", "operator", "minimum_should_match", "tie_breaker", "boost"}
    options = _options(inside, "multi_match", known)
    kind = options.get("type", "best_fields")
    if kind not in {"best_fields", "most_fields", "phrase"}:
        raise UnsupportedClauseError(
            f"type {kind}", "multi_match", ("best_fields", "most_fields", "phrase")
        )
    fields = options.get("fields", ["*"])
    if (
        not isinstance(fields, list)
        or not fields
        or not all(isinstance(field, str) for field in fields)
    ):
        raise InvalidInputError(
            "[fields] of multi_match must be a list of names", details={"clause": "fields"}
        )
    return MultiMatch(
        tuple(_weighted(field) for field in fields),
        _scalar(options.get("query"), "multi_match"),
        kind,
        _needs_all(options, "multi_match"),
        _least(options, "multi_match"),
        _number(options.get("tie_breaker", 0.0), "tie_breaker"),
        _boost(options),
    )


def _prefix(inside: object, depth: int) -> Clause:
    field, options = _field(inside, "prefix", "value", {"value", "boost"})
    return Prefix(field, str(_scalar(options.get("value"), "prefix")), _boost(options))


def _term(inside: object, depth: int) -> Clause:
    field, options = _field(inside, "term", "value", {"value", "boost"})
    return Terms(field, (_scalar(options.get("value"), "term"),), _boost(options))


def _terms(inside: object, depth: int) -> Clause:
    options = _options(inside, "terms", None)
    boost = _boost(options)
    fields = {name: values for name, values in options.items() if name != "boost"}
    if len(fields) != 1:
        raise InvalidInputError("[terms] takes one field", details={"clause": "terms"})
    ((field, values),) = fields.items()
    if isinstance(values, Mapping):
        raise UnsupportedClauseError("terms lookup", "terms")
    return Terms(field, tuple(_scalar(value, "terms") for value in _listed(values, "terms")), boost)


def _range(inside: object, depth: int) -> Clause:
    known = {"gt", "gte", "lt", "lte", "boost"}
    options = _options(inside, "range", None)
    if len(options) != 1:
        raise InvalidInputError("[range] takes one field", details={"clause": "range"})
    ((field, limits),) = options.items()
    limits = _options(limits, "range", known)

    def limit(name: str) -> Scalar | None:
        value = limits.get(name)
        if isinstance(value, str) and (value.startswith("now") or "||" in value):
            raise UnsupportedClauseError("date math", "range")
        return None if value is None else _scalar(value, "range")

    return Range(field, limit("gt"), limit("gte"), limit("lt"), limit("lte"), _boost(limits))


def _ids(inside: object, depth: int) -> Clause:
    options = _options(inside, "ids", {"values", "boost"})
    return Ids(
        tuple(str(_scalar(value, "ids")) for value in _listed(options.get("values"), "ids")),
        _boost(options),
    )


def _exists(inside: object, depth: int) -> Clause:
    options = _options(inside, "exists", {"field", "boost"})
    return Exists(str(_scalar(options.get("field"), "exists")), _boost(options))


def _bool(inside: object, depth: int) -> Clause:
    options = _options(
        inside, "bool", {"must", "filter", "should", "must_not", "minimum_should_match", "boost"}
    )

    def clauses(name: str) -> tuple[Clause, ...]:
        given = options.get(name, [])
        return tuple(
            clause(one, depth + 1) for one in (given if isinstance(given, list) else [given])
        )

    return Bool(
        clauses("must"),
        clauses("filter"),
        clauses("should"),
        clauses("must_not"),
        _least(options, "bool"),
        _boost(options),
    )


_READERS: dict[str, Callable[[object, int], Clause]] = {
    "match_all": _match_all,
    "match": _match,
    "match_phrase": _match_phrase,
    "multi_match": _multi_match,
    "prefix": _prefix,
    "term": _term,
    "terms": _terms,
    "range": _range,
    "ids": _ids,
    "exists": _exists,
    "bool": _bool,
}
_PARTS = {
    "query",
    "from",
    "size",
    "sort",
    "_source",
    "highlight",
    "aggs",
    "aggregations",
    "track_total_hits",
}


def _only(node: object, where: str) -> tuple[str, object]:
    if not isinstance(node, Mapping) or len(node) != 1:
        raise InvalidInputError(
            f"a clause in {where} must be an object with one name", details={"clause": where}
        )
    ((name, inside),) = node.items()
    return str(name), inside


def _options(inside: object, where: str, known: set[str] | None) -> dict[str, Any]:
    if not isinstance(inside, Mapping):
        raise InvalidInputError(f"[{where}] must be an object", details={"clause": where})
    for option in inside:
        if known is not None and option not in known:
            raise UnsupportedClauseError(str(option), where, known)
    return cast(dict[str, Any], inside)


def _field(inside: object, where: str, main: str, known: set[str]) -> tuple[str, dict[str, Any]]:
    """`{"field": "text"}` and `{"field": {"query": "text", …}}` say the same."""
    field, options = _only(inside, where)
    return field, _options(options, where, known) if isinstance(options, Mapping) else {
        main: options
    }


def _scalar(value: object, where: str) -> Scalar:
    if not isinstance(value, str | int | float | bool):
        raise InvalidInputError(f"[{where}] needs a text or a number", details={"clause": where})
    if isinstance(value, str) and len(value) > MAX_TEXT_CHARACTERS:
        raise InvalidInputError(
            f"[{where}] takes at most {MAX_TEXT_CHARACTERS} characters", details={"clause": where}
        )
    return value


def _listed(values: object, where: str) -> list[Any]:
    if not isinstance(values, list) or len(values) > MAX_VALUES:
        raise InvalidInputError(
            f"[{where}] needs a list of at most {MAX_VALUES} values", details={"clause": where}
        )
    return values


def _number(value: object, where: str) -> float:
    if not isinstance(value, int | float) or isinstance(value, bool) or not 0 <= value <= 1e6:
        raise InvalidInputError(f"[{where}] must be a number from 0 up", details={"clause": where})
    return float(value)


def _boost(options: Mapping[str, Any]) -> float:
    return _number(options.get("boost", 1.0), "boost")


def _needs_all(options: Mapping[str, Any], where: str) -> bool:
    operator = str(options.get("operator", "or")).lower()
    if operator not in {"and", "or"}:
        raise InvalidInputError(
            f"[operator] of {where} is and, or or", details={"clause": "operator"}
        )
    return operator == "and"


def _least(options: Mapping[str, Any], where: str) -> str | int | None:
    value = options.get("minimum_should_match")
    if value is None or (isinstance(value, int) and not isinstance(value, bool)):
        return value
    if isinstance(value, str) and value.strip().removesuffix("%").lstrip("-").isdecimal():
        return value.strip()
    raise UnsupportedClauseError("minimum_should_match", where, ("a number", "a percentage"))


def _weighted(field: str) -> tuple[str, float]:
    name, has_weight, weight = field.partition("^")
    if not has_weight:
        return name, 1.0
    try:
        return name, _number(float(weight), "fields")
    except ValueError:
        raise InvalidInputError(
            f"[fields] has a weight that is no number: {field}", details={"clause": "fields"}
        ) from None

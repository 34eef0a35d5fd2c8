"""Parses query clauses into types; an unknown clause or option is refused by name."""

from __future__ import annotations

from collections.abc import Callable
from typing import get_args

from carrel.libraries.query.elasticsearch.clauses import (
    BoolQuery,
    BoostingQuery,
    ConstantScoreQuery,
    DisMaxQuery,
    ExistsQuery,
    Fuzziness,
    FuzzyQuery,
    IdsQuery,
    MatchAllQuery,
    MatchPhraseQuery,
    MatchQuery,
    MultiMatchKind,
    MultiMatchQuery,
    PrefixQuery,
    QueryClause,
    RangeQuery,
    Scalar,
    TermsQuery,
    WildcardQuery,
)
from carrel.libraries.query.elasticsearch.dates import parse_formats, parse_time_zone
from carrel.libraries.query.elasticsearch.options import (
    field_options,
    read_boost,
    read_expansions,
    read_fuzziness,
    read_integer,
    read_minimum_should_match,
    read_needs_all,
    read_number,
    read_scalar,
    read_truth,
    read_values,
    read_weighted_fields,
    require_object,
    single_entry,
)
from carrel.libraries.query.elasticsearch.simple_query import SimpleQueryParser
from carrel.libraries.query.errors import (
    RefusedClauseError,
    UnsupportedClauseError,
    invalid_clause,
)

MAX_NESTING = 20
MAX_CLAUSES = 200
MAX_SLOP = 100
# A pattern becomes an automaton, whose size can grow with the power of its signs.
MAX_WILDCARD_SIGNS = 10
MAX_WILDCARD_CHARACTERS = 200


def parse_clause(node: object, depth: int = 0) -> QueryClause:
    """The clause of a query; QueryError where it is not one of the supported subset."""
    if depth > MAX_NESTING:
        raise invalid_clause("query", f"the query is nested more than {MAX_NESTING} deep")
    name, inside = single_entry(node, "query")
    parse = _CLAUSE_PARSERS.get(name)
    if parse is None:
        raise UnsupportedClauseError(name, "query", _CLAUSE_PARSERS)
    return parse(inside, depth)


def _parse_match_all(inside: object, depth: int) -> QueryClause:
    return MatchAllQuery(read_boost(require_object(inside, "match_all", {"boost"})))


def _parse_match_none(inside: object, depth: int) -> QueryClause:
    require_object(inside, "match_none", {"boost"})
    return IdsQuery(())


_FUZZY_OPTIONS = {"fuzziness", "prefix_length", "max_expansions", "fuzzy_transpositions"}
_MATCH_OPTIONS = {
    *("query", "operator", "minimum_should_match", "boost", "zero_terms_query", "lenient"),
    *_FUZZY_OPTIONS,
}


def _parse_match(inside: object, depth: int) -> QueryClause:
    field, options = field_options(inside, "match", "query", _MATCH_OPTIONS)
    return MatchQuery(
        field,
        read_scalar(options.get("query"), "match"),
        read_needs_all(options, "match"),
        read_minimum_should_match(options, "match"),
        read_boost(options),
        read_fuzziness(options, "match"),
        matches_empty=options.get("zero_terms_query") == "all",
    )


def _parse_match_bool_prefix(inside: object, depth: int) -> QueryClause:
    known = {"query", "operator", "minimum_should_match", "boost", *_FUZZY_OPTIONS}
    field, options = field_options(inside, "match_bool_prefix", "query", known)
    return MatchQuery(
        field,
        read_scalar(options.get("query"), "match_bool_prefix"),
        read_needs_all(options, "match_bool_prefix"),
        read_minimum_should_match(options, "match_bool_prefix"),
        read_boost(options),
        read_fuzziness(options, "match_bool_prefix"),
        ends_open=True,
    )


def _parse_match_phrase(inside: object, depth: int) -> QueryClause:
    known = {"query", "boost", "slop"}
    field, options = field_options(inside, "match_phrase", "query", known)
    return MatchPhraseQuery(
        field,
        read_scalar(options.get("query"), "match_phrase"),
        read_boost(options),
        read_integer(options.get("slop", 0), "slop", MAX_SLOP),
    )


def _parse_match_phrase_prefix(inside: object, depth: int) -> QueryClause:
    known = {"query", "boost", "slop", "max_expansions"}
    field, options = field_options(inside, "match_phrase_prefix", "query", known)
    return MatchPhraseQuery(
        field,
        read_scalar(options.get("query"), "match_phrase_prefix"),
        read_boost(options),
        read_integer(options.get("slop", 0), "slop", MAX_SLOP),
        read_expansions(options),
    )


def _parse_multi_match(inside: object, depth: int) -> QueryClause:
    known = {"fields", "type", "tie_breaker", "slop"} | _MATCH_OPTIONS
    options = require_object(inside, "multi_match", known)
    kind = options.get("type", "best_fields")
    kinds = get_args(MultiMatchKind)
    if kind not in kinds:
        raise UnsupportedClauseError(f"type {kind}", "multi_match", kinds)
    return MultiMatchQuery(
        read_weighted_fields(options.get("fields", ["*"]), "multi_match"),
        read_scalar(options.get("query"), "multi_match"),
        kind,
        read_needs_all(options, "multi_match"),
        read_minimum_should_match(options, "multi_match"),
        read_number(options.get("tie_breaker", 0.0), "tie_breaker"),
        read_boost(options),
        read_fuzziness(options, "multi_match"),
        read_integer(options.get("slop", 0), "slop", MAX_SLOP),
        read_expansions(options),
    )


def _parse_simple_query_string(inside: object, depth: int) -> QueryClause:
    known = {"query", "fields", "default_operator", "minimum_should_match", "boost"} | {
        "lenient",
        "fuzzy_prefix_length",
        "fuzzy_max_expansions",
        "fuzzy_transpositions",
    }
    options = require_object(inside, "simple_query_string", known)
    reader = SimpleQueryParser(
        read_weighted_fields(options.get("fields", ["*"]), "simple_query_string"),
        read_needs_all(options, "simple_query_string", "default_operator"),
        Fuzziness(
            prefix_length=read_integer(options.get("fuzzy_prefix_length", 0), "prefix_length", 255)
        ),
    )
    found = reader.parse(
        str(read_scalar(options.get("query"), "simple_query_string")),
        read_minimum_should_match(options, "simple_query_string"),
    )
    boost = read_boost(options)
    return found if boost == 1.0 else BoolQuery(must=(found,), boost=boost)


def _parse_prefix(inside: object, depth: int) -> QueryClause:
    field, options = field_options(
        inside, "prefix", "value", {"value", "boost", "case_insensitive"}
    )
    return PrefixQuery(
        field,
        str(read_scalar(options.get("value"), "prefix")),
        read_boost(options),
        read_truth(options, "case_insensitive"),
    )


def _parse_wildcard(inside: object, depth: int) -> QueryClause:
    known = {"value", "wildcard", "boost", "case_insensitive"}
    field, options = field_options(inside, "wildcard", "value", known)
    pattern = str(read_scalar(options.get("value", options.get("wildcard")), "wildcard"))
    check_wildcard(pattern)
    return WildcardQuery(
        field, pattern, read_boost(options), read_truth(options, "case_insensitive")
    )


def check_wildcard(pattern: str) -> None:
    """RefusedClauseError for a pattern without a beginning, or one that is too large."""
    if pattern.startswith(("*", "?")):
        raise RefusedClauseError("wildcard", "query", "a pattern may not begin with * or ?")
    if (
        len(pattern) > MAX_WILDCARD_CHARACTERS
        or pattern.count("*") + pattern.count("?") > MAX_WILDCARD_SIGNS
    ):
        why = (
            f"a pattern may have {MAX_WILDCARD_CHARACTERS} characters and {MAX_WILDCARD_SIGNS} "
            f"of * and ? at most"
        )
        raise RefusedClauseError("wildcard", "query", why)


def _parse_fuzzy(inside: object, depth: int) -> QueryClause:
    known = {"value", "boost", "fuzziness", "prefix_length", "max_expansions", "transpositions"}
    field, options = field_options(inside, "fuzzy", "value", known)
    return FuzzyQuery(
        field,
        str(read_scalar(options.get("value"), "fuzzy")),
        read_fuzziness({"fuzziness": "AUTO"} | options, "fuzzy") or Fuzziness(),
        read_boost(options),
    )


def _parse_term(inside: object, depth: int) -> QueryClause:
    field, options = field_options(inside, "term", "value", {"value", "boost", "case_insensitive"})
    return TermsQuery(
        field,
        (read_scalar(options.get("value"), "term"),),
        read_boost(options),
        read_truth(options, "case_insensitive"),
    )


def _parse_terms(inside: object, depth: int) -> QueryClause:
    options = require_object(inside, "terms")
    boost = read_boost(options)
    fields = {name: values for name, values in options.items() if name != "boost"}
    if len(fields) != 1:
        raise invalid_clause("terms", "[terms] takes one field")
    ((field, values),) = fields.items()
    if isinstance(values, dict):
        raise UnsupportedClauseError("terms lookup", "terms")
    scalars = tuple(read_scalar(value, "terms") for value in read_values(values, "terms"))
    return TermsQuery(field, scalars, boost, is_constant=True)


_RANGE_OPTIONS = {"gt", "gte", "lt", "lte", "boost", "format", "time_zone", "relation"}


def _parse_range(inside: object, depth: int) -> QueryClause:
    options = require_object(inside, "range")
    if len(options) != 1:
        raise invalid_clause("range", "[range] takes one field")
    ((field, given),) = options.items()
    limits = require_object(given, "range", _RANGE_OPTIONS)

    def limit(name: str) -> Scalar | None:
        value = limits.get(name)
        return None if value is None else read_scalar(value, "range")

    zone = limits.get("time_zone")
    parse_time_zone(None if zone is None else str(zone))
    return RangeQuery(
        field,
        limit("gt"),
        limit("gte"),
        limit("lt"),
        limit("lte"),
        read_boost(limits),
        parse_formats(limits["format"]) if "format" in limits else (),
        None if zone is None else str(zone),
    )


def _parse_ids(inside: object, depth: int) -> QueryClause:
    options = require_object(inside, "ids", {"values", "boost"})
    values = read_values(options.get("values"), "ids")
    return IdsQuery(tuple(str(read_scalar(value, "ids")) for value in values), read_boost(options))


def _parse_exists(inside: object, depth: int) -> QueryClause:
    options = require_object(inside, "exists", {"field", "boost"})
    return ExistsQuery(str(read_scalar(options.get("field"), "exists")), read_boost(options))


def _parse_bool(inside: object, depth: int) -> QueryClause:
    known = {"must", "filter", "should", "must_not", "minimum_should_match", "boost"}
    options = require_object(inside, "bool", known)

    def clauses(name: str) -> tuple[QueryClause, ...]:
        given = options.get(name, [])
        listed = given if isinstance(given, list) else [given]
        return tuple(parse_clause(one, depth + 1) for one in listed)

    return BoolQuery(
        clauses("must"),
        clauses("filter"),
        clauses("should"),
        clauses("must_not"),
        read_minimum_should_match(options, "bool"),
        read_boost(options),
    )


def _parse_constant_score(inside: object, depth: int) -> QueryClause:
    options = require_object(inside, "constant_score", {"filter", "boost"})
    return ConstantScoreQuery(parse_clause(options.get("filter"), depth + 1), read_boost(options))


def _parse_dis_max(inside: object, depth: int) -> QueryClause:
    options = require_object(inside, "dis_max", {"queries", "tie_breaker", "boost"})
    queries = options.get("queries")
    if not isinstance(queries, list):
        raise invalid_clause("dis_max", "[queries] of dis_max must be a list")
    return DisMaxQuery(
        tuple(parse_clause(one, depth + 1) for one in queries[: MAX_CLAUSES + 1]),
        read_number(options.get("tie_breaker", 0.0), "tie_breaker"),
        read_boost(options),
    )


def _parse_boosting(inside: object, depth: int) -> QueryClause:
    known = {"positive", "negative", "negative_boost", "boost"}
    options = require_object(inside, "boosting", known)
    return BoostingQuery(
        parse_clause(options.get("positive"), depth + 1),
        parse_clause(options.get("negative"), depth + 1),
        read_number(options.get("negative_boost"), "negative_boost"),
        read_boost(options),
    )


_CLAUSE_PARSERS: dict[str, Callable[[object, int], QueryClause]] = {
    "match_all": _parse_match_all,
    "match_none": _parse_match_none,
    "match": _parse_match,
    "match_bool_prefix": _parse_match_bool_prefix,
    "match_phrase": _parse_match_phrase,
    "match_phrase_prefix": _parse_match_phrase_prefix,
    "multi_match": _parse_multi_match,
    "simple_query_string": _parse_simple_query_string,
    "prefix": _parse_prefix,
    "wildcard": _parse_wildcard,
    "fuzzy": _parse_fuzzy,
    "term": _parse_term,
    "terms": _parse_terms,
    "range": _parse_range,
    "ids": _parse_ids,
    "exists": _parse_exists,
    "bool": _parse_bool,
    "constant_score": _parse_constant_score,
    "dis_max": _parse_dis_max,
    "boosting": _parse_boosting,
}

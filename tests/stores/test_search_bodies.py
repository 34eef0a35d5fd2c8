"""The query subset by property: any body gets an answer or a named refusal, and clauses mean what
they say.
"""

from __future__ import annotations

import sqlite3
from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from carrel.libraries.query.elasticsearch.allow_list import check_search_body
from carrel.libraries.query.elasticsearch.analyzer import analyze_terms
from carrel.libraries.query.elasticsearch.clauses import SearchRequest
from carrel.libraries.query.elasticsearch.parser import parse_search_body
from carrel.libraries.query.errors import QueryError
from carrel.rooms.knowledge.documents import Document, FieldKind, Put
from carrel.stores.sqlite.search.aggregate import Aggregator
from carrel.stores.sqlite.search.answer import (
    FOUND,
    begin_search,
    hit_answer,
    merge_hits,
    search_index,
)
from carrel.stores.sqlite.search.index import STEPS, Index, ResetTracker, apply_changes, open_index

EVERYONE = frozenset({"everyone"})
NOW = datetime(2024, 5, 15, 12, tzinfo=UTC)

_names = st.sampled_from(
    [
        "query",
        "match",
        "bool",
        "must",
        "should",
        "terms",
        "range",
        "size",
        "from",
        "sort",
        "aggs",
        "field",
        "script",
        "title",
        "x",
        "_source",
        "highlight",
        "fields",
        "gte",
        "boost",
        "wildcard",
        "fuzzy",
        "value",
        "fuzziness",
        "simple_query_string",
        "dis_max",
        "queries",
        "constant_score",
        "filter",
        "search_after",
        "date_histogram",
        "calendar_interval",
        "stats",
    ]
)
_json = st.recursive(
    st.none() | st.booleans() | st.integers(-5, 200) | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(_names, inner, max_size=3),
    max_leaves=15,
)


@settings(max_examples=500, deadline=None)
@given(st.dictionaries(_names, _json, max_size=4))
def test_any_body_is_parsed_or_refused_and_never_breaks(body: dict[str, Any]) -> None:
    for read in (parse_search_body, check_search_body):
        try:
            read(body)
        except QueryError as error:
            assert error.code in {"invalid_input", "unsupported_clause", "refused_clause"}
            assert error.message


FIELDS: dict[str, FieldKind] = {
    "title": "text",
    "tags": "keyword",
    "year": "number",
    "is_open": "boolean",
}
WORDS = ["ion", "ions", "magnesium", "migraine", "日本語"]

documents = st.lists(
    st.fixed_dictionaries(
        {},
        optional={
            "title": st.lists(st.sampled_from(WORDS), min_size=1, max_size=4).map(" ".join),
            "tags": st.lists(st.sampled_from(["a", "ab", "b"]), min_size=1, max_size=2),
            "year": st.integers(1990, 1993),
            "is_open": st.booleans(),
        },
    ),
    max_size=6,
)
leaves = st.one_of(
    st.just({"match_all": {}}),
    st.builds(
        lambda text, op: {"match": {"title": {"query": text, "operator": op}}},
        st.lists(st.sampled_from(WORDS), min_size=1, max_size=2).map(" ".join),
        st.sampled_from(["and", "or"]),
    ),
    st.builds(
        lambda text: {"match_phrase": {"title": text}},
        st.lists(st.sampled_from(WORDS), min_size=1, max_size=2).map(" ".join),
    ),
    st.builds(lambda value: {"term": {"tags": value}}, st.sampled_from(["a", "ab", "c"])),
    st.builds(
        lambda values: {"terms": {"year": values}}, st.lists(st.integers(1990, 1994), max_size=2)
    ),
    st.builds(
        lambda low, high: {"range": {"year": {"gte": low, "lt": high}}},
        st.integers(1989, 1993),
        st.integers(1989, 1994),
    ),
    st.builds(lambda value: {"prefix": {"tags": value}}, st.sampled_from(["a", "b", "x"])),
    st.builds(lambda value: {"term": {"is_open": value}}, st.booleans()),
    st.builds(lambda field: {"exists": {"field": field}}, st.sampled_from([*FIELDS, "none"])),
    st.builds(
        lambda ids: {"ids": {"values": ids}}, st.lists(st.sampled_from(["0", "1", "9"]), max_size=2)
    ),
)
queries = st.recursive(
    leaves,
    lambda inner: st.fixed_dictionaries(
        {},
        optional={
            "must": st.lists(inner, min_size=1, max_size=2),
            "should": st.lists(inner, min_size=1, max_size=3),
            "filter": st.lists(inner, min_size=1, max_size=2),
            "must_not": st.lists(inner, min_size=1, max_size=2),
            "minimum_should_match": st.integers(0, 2),
        },
    ).map(lambda inside: {"bool": inside}),
    max_leaves=6,
)


def fits(query: dict[str, Any], id: str, facts: dict[str, Any]) -> bool:
    """The plain meaning of a query, as slowly and simply as can be."""
    ((name, inside),) = query.items()
    title = analyze_terms(facts.get("title", ""))
    match name:
        case "match_all":
            return True
        case "match":
            wanted = analyze_terms(inside["title"]["query"])
            found = [word in title for word in wanted]
            return all(found) if inside["title"]["operator"] == "and" else any(found)
        case "match_phrase":
            phrase = analyze_terms(inside["title"])
            return any(title[at : at + len(phrase)] == phrase for at in range(len(title)))
        case "term" if "tags" in inside:
            return inside["tags"] in facts.get("tags", [])
        case "term":
            return facts.get("is_open") is inside["is_open"]
        case "terms":
            return facts.get("year") in inside["year"]
        case "range":
            return "year" in facts and inside["year"]["gte"] <= facts["year"] < inside["year"]["lt"]
        case "prefix":
            return any(tag.startswith(inside["tags"]) for tag in facts.get("tags", []))
        case "exists":
            return inside["field"] in facts
        case "ids":
            return id in inside["values"]
        case _:
            # Where nothing else is wanted, one must fit even at a minimum of 0, as on a server.
            default = 0 if inside.get("must") or inside.get("filter") else 1
            least = max(default, inside.get("minimum_should_match", default))
            least = least if inside.get("should") else 0
            return (
                all(
                    fits(one, id, facts)
                    for one in (*inside.get("must", ()), *inside.get("filter", ()))
                )
                and not any(fits(one, id, facts) for one in inside.get("must_not", ()))
                and sum(fits(one, id, facts) for one in inside.get("should", ())) >= least
            )


def an_index(facts: list[dict[str, Any]]) -> tuple[sqlite3.Connection, Index]:
    connection = sqlite3.connect(":memory:", isolation_level=None)
    for step in STEPS:
        for statement in step.split(";\n"):
            connection.execute(statement)
    index, _ = open_index(connection, "things", FIELDS)
    apply_changes(
        connection,
        index,
        [Put(Document(str(number), one)) for number, one in enumerate(facts)],
        ResetTracker(),
    )
    return connection, index


@pytest.mark.promise("K6")
@settings(max_examples=200, deadline=None)
@given(documents, queries)
def test_the_engine_finds_what_the_plain_meaning_finds(
    facts: list[dict[str, Any]], query: dict[str, Any]
) -> None:
    connection, index = an_index(facts)
    request = parse_search_body(
        {"query": query, "size": 100, "aggs": {"t": {"terms": {"field": "tags"}}}}
    )
    begin_search(connection)
    part = search_index(connection, index, request, EVERYONE, NOW)
    counts = Aggregator(connection, [index], EVERYONE, NOW).answer(request.aggregations, FOUND)
    expected = {str(number) for number, one in enumerate(facts) if fits(query, str(number), one)}
    assert {hit.id for hit in part.hits} == expected and part.total == len(expected)
    counted = {
        tag: sum(tag in facts[int(found)].get("tags", []) for found in expected)
        for tag in ("a", "ab", "b")
    }
    assert {one["key"]: one["doc_count"] for one in counts["t"]["buckets"]} == {
        tag: count for tag, count in counted.items() if count
    }
    connection.close()


@settings(max_examples=50, deadline=None)
@given(documents, st.sampled_from(["asc", "desc"]), st.sampled_from(["_first", "_last"]))
def test_the_order_of_one_index_is_the_order_of_several(
    facts: list[dict[str, Any]], order: str, missing: str
) -> None:
    connection, index = an_index(facts)
    request = parse_search_body(
        {"sort": [{"year": {"order": order, "missing": missing}}, "_doc"], "size": 100}
    )
    hits = search_index(connection, index, request, EVERYONE, NOW).hits
    assert merge_hits(hits[::-1], request) == hits
    assert all(
        hit_answer(connection, hit, request)["sort"][0] == facts[int(hit.id)].get("year")
        for hit in hits
    )
    connection.close()


def test_a_request_without_a_query_asks_for_everything() -> None:
    assert parse_search_body({}) == SearchRequest()


def deep_filters(depth: int) -> dict[str, Any]:
    node: dict[str, Any] = {"match_all": {}}
    for _ in range(depth):
        node = {"bool": {"filter": node}}
    return {"query": node}


COSTLY: dict[str, dict[str, Any]] = {
    "many stars": {"query": {"wildcard": {"title": "a" + "*a" * 11}}},
    "many question marks": {"query": {"wildcard": {"title": {"value": "a" + "?" * 11}}}},
    "a long pattern": {"query": {"wildcard": {"title": {"wildcard": "a" * 201}}}},
    "a pattern in an aggregation": {
        "aggs": {"a": {"filter": {"wildcard": {"title": "a" + "?*" * 10}}}}
    },
    "a long text": {"query": {"match": {"title": "a " * 1001}}},
    "a long name": {"query": {"match": {"a" * 2001: "x"}}},
    "many values": {"query": {"terms": {"tags": ["a"] * 1025}}},
    "many clauses": {"query": {"bool": {"should": [{"match": {"title": "a"}}] * 201}}},
    "many clauses in levels": {
        "query": {"bool": {"should": [{"bool": {"should": [{"match": {"a": "b"}}] * 50}}] * 5}}
    },
    "many sort keys": {"sort": ["a"] * 1025},
    "deep": deep_filters(21),
    "very deep": deep_filters(100_000),
}


@pytest.mark.promise("D14")
@pytest.mark.parametrize("kind", COSTLY)
def test_a_body_that_would_keep_a_cluster_busy_is_not_passed_on(kind: str) -> None:
    with pytest.raises(QueryError) as refused:
        check_search_body(COSTLY[kind])
    assert refused.value.code in {"invalid_input", "refused_clause"}


def test_an_ordinary_body_is_passed_on_as_it_is() -> None:
    body = {
        "query": {
            "bool": {
                "must": [{"wildcard": {"title": "fis*"}}],
                "filter": {"terms": {"tags": ["a"] * 1024}},
            }
        }
    }
    assert check_search_body(body) == body

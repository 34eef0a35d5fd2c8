"""What every engine that answers search bodies promises: one set of documents, one set of
questions.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Any

import pytest

from carrel.core.errors import CarrelError
from carrel.rooms.knowledge.documents import Checkpoint, Document, DocumentChange, FieldKind, Put
from carrel.rooms.knowledge.models import SearchAnswer
from carrel.rooms.knowledge.ports import Searcher

FIELDS: dict[str, FieldKind] = {
    "title": "text",
    "content": "text",
    "tags": "keyword",
    "source": "keyword",
    "year": "number",
    "created_at": "date",
    "is_open": "boolean",
}


def a_document(
    id: str,
    title: str,
    content: str,
    tags: list[str],
    year: int | None,
    is_open: bool | None,
    *readers: str,
) -> Document:
    fields: dict[str, object] = {"title": title, "content": content, "tags": tags, "source": "team"}
    if year is not None:
        fields |= {"year": year, "created_at": f"{year}-06-01T00:00:00+00:00"}
    if is_open is not None:
        fields["is_open"] = is_open
    return Document(id, fields, readers or ("team",))


DOCUMENTS = [
    a_document(
        "mg",
        "Magnesium and migraine",
        "Magnesium blocks the NMDA receptor of neurons",
        ["migraine", "ion"],
        1988,
        True,
    ),
    a_document(
        "fish",
        "Fish oil and Raynaud",
        "Fish oil lowers the viscosity of blood",
        ["raynaud"],
        1986,
        True,
    ),
    a_document(
        "nmda",
        "The NMDA receptor",
        "A receptor that magnesium blocks. Magnesium, magnesium.",
        ["ion", "receptor"],
        1990,
        False,
    ),
    a_document("jp", "知識管理の方法", "研究者のための知識管理", ["知識"], 2020, None),
    a_document("fr", "Migraine sans aura", "Étude de la migraine naïve", ["migraine"], 2001, False),
    a_document("none", "Nothing in particular", "empty of facts", [], None, None),
    a_document(
        "secret",
        "Magnesium secret",
        "Only Bob may read of magnesium",
        ["ion"],
        1999,
        True,
        "user:bob",
    ),
]


class Documents:
    """A source that holds a list."""

    index = "knowledge"
    fields = FIELDS

    def __init__(self, documents: list[Document] | None = None) -> None:
        self.documents = DOCUMENTS if documents is None else documents

    async def changes(self, since: str | None) -> AsyncIterator[DocumentChange]:
        done = int(since or 0)
        for document in self.documents[done:]:
            yield Put(document)
        yield Checkpoint(str(len(self.documents)))


TEAM = frozenset({"team", "everyone", "user:ada"})

# What is asked, and which documents are the answer, whatever their order.
QUESTIONS: list[tuple[dict[str, Any], set[str]]] = [
    ({"match_all": {}}, {"mg", "fish", "nmda", "jp", "fr", "none"}),
    ({"match": {"content": "magnesium"}}, {"mg", "nmda"}),
    ({"match": {"title": "MIGRAINE"}}, {"mg", "fr"}),
    ({"match": {"title": "migraine oil"}}, {"mg", "fish", "fr"}),
    ({"match": {"title": {"query": "migraine magnesium", "operator": "and"}}}, {"mg"}),
    (
        {"match": {"content": {"query": "magnesium blocks blood", "minimum_should_match": 2}}},
        {"mg", "nmda"},
    ),
    ({"match": {"content": {"query": "etude", "minimum_should_match": 2}}}, {"fr"}),
    (
        {
            "bool": {
                "should": [{"match": {"content": "etude"}}],
                "must_not": [{"term": {"tags": "ion"}}],
                "minimum_should_match": "-1",
            }
        },
        {"fr"},
    ),
    (
        {
            "bool": {
                "should": [{"match": {"content": "etude"}}],
                "filter": [{"term": {"tags": "ion"}}],
                "minimum_should_match": "-1",
            }
        },
        {"mg", "nmda"},
    ),
    (
        {
            "match": {
                "content": {
                    "query": "magnesium blood",
                    "operator": "and",
                    "minimum_should_match": "-1",
                }
            }
        },
        set(),
    ),
    ({"match": {"content": "naive"}}, {"fr"}),
    ({"match": {"content": "etude"}}, {"fr"}),
    ({"match": {"content": "!!!"}}, set()),
    ({"match": {"year": 1988}}, {"mg"}),
    ({"match": {"tags": "ion"}}, {"mg", "nmda"}),
    ({"match_phrase": {"title": "nmda receptor"}}, {"nmda"}),
    ({"match_phrase": {"content": "receptor nmda"}}, set()),
    ({"match_phrase": {"title": "知識管理"}}, {"jp"}),
    ({"multi_match": {"query": "receptor", "fields": ["title^2", "content"]}}, {"mg", "nmda"}),
    (
        {
            "multi_match": {
                "query": "nmda receptor",
                "fields": ["title", "content"],
                "type": "phrase",
            }
        },
        {"mg", "nmda"},
    ),
    ({"multi_match": {"query": "raynaud", "fields": ["tit*", "tags"]}}, {"fish"}),
    ({"prefix": {"tags": "migr"}}, {"mg", "fr"}),
    ({"prefix": {"title": "magn"}}, {"mg"}),
    ({"term": {"tags": "ion"}}, {"mg", "nmda"}),
    ({"term": {"tags": {"value": "Ion"}}}, set()),
    ({"term": {"title": "migraine"}}, {"mg", "fr"}),
    ({"term": {"title": "Migraine"}}, set()),
    ({"term": {"title.keyword": "The NMDA receptor"}}, {"nmda"}),
    ({"term": {"is_open": True}}, {"mg", "fish"}),
    ({"term": {"is_open": "false"}}, {"nmda", "fr"}),
    ({"terms": {"tags": ["raynaud", "知識"]}}, {"fish", "jp"}),
    ({"terms": {"year": [1986, 2020]}}, {"fish", "jp"}),
    ({"range": {"year": {"gte": 1988, "lt": 2001}}}, {"mg", "nmda"}),
    ({"range": {"created_at": {"gt": "2000-01-01"}}}, {"jp", "fr"}),
    ({"range": {"tags": {"gte": "m", "lte": "n"}}}, {"mg", "fr"}),
    ({"ids": {"values": ["mg", "jp", "absent", "secret"]}}, {"mg", "jp"}),
    ({"exists": {"field": "year"}}, {"mg", "fish", "nmda", "jp", "fr"}),
    ({"exists": {"field": "is_open"}}, {"mg", "fish", "nmda", "fr"}),
    ({"term": {"year": 2**70}}, set()),
    ({"range": {"year": {"lt": 2**70, "gte": 2001}}}, {"jp", "fr"}),
    ({"match": {"no_such_field": "x"}}, set()),
    (
        {
            "bool": {
                "must": [{"match": {"content": "magnesium"}}],
                "must_not": [{"term": {"tags": "receptor"}}],
            }
        },
        {"mg"},
    ),
    (
        {"bool": {"filter": [{"term": {"tags": "migraine"}}, {"range": {"year": {"gte": 2000}}}]}},
        {"fr"},
    ),
    (
        {"bool": {"should": [{"term": {"tags": "raynaud"}}, {"term": {"tags": "ion"}}]}},
        {"fish", "mg", "nmda"},
    ),
    (
        {
            "bool": {
                "should": [{"term": {"tags": "migraine"}}, {"term": {"tags": "ion"}}],
                "minimum_should_match": 2,
            }
        },
        {"mg"},
    ),
    (
        {"bool": {"filter": {"exists": {"field": "year"}}, "should": [{"term": {"tags": "ion"}}]}},
        {"mg", "fish", "nmda", "jp", "fr"},
    ),
    ({"bool": {"must_not": {"exists": {"field": "year"}}}}, {"none"}),
    ({"bool": {}}, {"mg", "fish", "nmda", "jp", "fr", "none"}),
    (
        {
            "bool": {
                "must": [
                    {
                        "bool": {
                            "should": [{"match": {"title": "oil"}}, {"match": {"title": "aura"}}]
                        }
                    }
                ]
            }
        },
        {"fish", "fr"},
    ),
]


# Clauses that came later than those above.
NEWER_QUESTIONS: list[tuple[dict[str, Any], set[str]]] = [
    ({"match_none": {}}, set()),
    ({"wildcard": {"title": "mag*um"}}, {"mg"}),
    ({"wildcard": {"title": "Mag*"}}, set()),
    ({"wildcard": {"title.keyword": {"value": "The ????*"}}}, {"nmda"}),
    ({"wildcard": {"tags": {"value": "IO?", "case_insensitive": True}}}, {"mg", "nmda"}),
    ({"wildcard": {"tags": "io\\*"}}, set()),
    ({"prefix": {"title": {"value": "MAGN", "case_insensitive": True}}}, {"mg"}),
    ({"match_bool_prefix": {"title": "aura migr"}}, {"mg", "fr"}),
    ({"match_phrase": {"content": {"query": "magnesium nmda", "slop": 2}}}, {"mg"}),
    ({"match_phrase": {"content": {"query": "magnesium nmda", "slop": 1}}}, set()),
    ({"simple_query_string": {"query": "migr*", "fields": ["title"]}}, {"mg", "fr"}),
    (
        {"simple_query_string": {"query": '"fish oil" | "sans aura"', "fields": ["title"]}},
        {"fish", "fr"},
    ),
    (
        {
            "simple_query_string": {
                "query": "(magnesium | fish) -blood",
                "fields": ["content"],
                "default_operator": "and",
            }
        },
        {"mg", "nmda"},
    ),
    ({"simple_query_string": {"query": "- + ( |", "fields": ["title"]}}, set()),
    ({"constant_score": {"filter": {"term": {"tags": "ion"}}, "boost": 2}}, {"mg", "nmda"}),
    (
        {"dis_max": {"queries": [{"match": {"title": "oil"}}, {"term": {"tags": "知識"}}]}},
        {"fish", "jp"},
    ),
    (
        {
            "boosting": {
                "positive": {"match": {"content": "magnesium"}},
                "negative": {"term": {"tags": "receptor"}},
                "negative_boost": 0.1,
            }
        },
        {"mg", "nmda"},
    ),
    (
        {
            "multi_match": {
                "query": "nmda blocks",
                "fields": ["title", "content"],
                "type": "cross_fields",
                "operator": "and",
            }
        },
        {"mg", "nmda"},
    ),
    ({"range": {"created_at": {"gt": "1988"}}}, {"mg", "nmda", "jp", "fr"}),
    ({"range": {"created_at": {"lte": "1988"}}}, {"fish"}),
    ({"range": {"created_at": {"lte": "1988-06"}}}, {"mg", "fish"}),
    ({"range": {"created_at": {"gte": "1990-05-01||+1M/M", "lt": "now"}}}, {"nmda", "jp", "fr"}),
    ({"range": {"created_at": {"gte": "now-1h/d"}}}, set()),
    ({"range": {"created_at": {"gte": "2001-06-01T02:00", "time_zone": "+02:00"}}}, {"jp", "fr"}),
    ({"term": {"created_at": "2001-06-01"}}, {"fr"}),
]


class SearchContract:
    """Subclasses provide the fixture `searcher`: a function that opens an engine over DOCUMENTS in
    the running loop.
    """

    @pytest.fixture
    def ask(self, searcher: Callable[[], Awaitable[Searcher]]) -> Callable[..., SearchAnswer]:
        def ask(
            body: dict[str, Any], readers: frozenset[str] = TEAM, index: str = "knowledge"
        ) -> SearchAnswer:
            async def whole() -> SearchAnswer:
                engine = await searcher()
                try:
                    return await engine.search(index, body, readers)
                finally:
                    await engine.close()

            return asyncio.run(whole())

        return ask

    @pytest.mark.promise("K6")
    def test_every_question_finds_exactly_its_documents(
        self, searcher: Callable[[], Awaitable[Searcher]]
    ) -> None:
        async def whole() -> None:
            engine = await searcher()
            try:
                for query, expected in QUESTIONS:
                    answer = await engine.search("knowledge", {"query": query, "size": 50}, TEAM)
                    assert ids(answer) == expected, query
                    assert answer.hits["total"] == {"value": len(expected), "relation": "eq"}, query
            finally:
                await engine.close()

        asyncio.run(whole())

    @pytest.mark.promise("A6")
    def test_nobody_finds_or_counts_what_they_may_not_read(
        self, ask: Callable[..., SearchAnswer]
    ) -> None:
        aggs = {"tags": {"terms": {"field": "tags"}}}
        tries: list[dict[str, Any]] = [
            {"match_all": {}},
            {"match": {"content": "bob"}},
            {"bool": {"should": [{"ids": {"values": ["secret"]}}]}},
        ]
        for query in tries:
            assert "secret" not in ids(ask({"query": query, "size": 50}))
        counted = ask({"query": {"term": {"tags": "ion"}}, "size": 0, "aggs": aggs})
        assert (
            next(
                bucket["doc_count"] for bucket in buckets(counted, "tags") if bucket["key"] == "ion"
            )
            == 2
        )
        assert "secret" in ids(
            ask({"query": {"match": {"content": "bob"}}}, frozenset({"user:bob"}))
        )

    def test_the_best_hit_comes_first_and_scores_fall(
        self, ask: Callable[..., SearchAnswer]
    ) -> None:
        answer = ask({"query": {"match": {"content": "magnesium"}}})
        assert [hit["_id"] for hit in answer.hits["hits"]] == ["nmda", "mg"]
        scores = [hit["_score"] for hit in answer.hits["hits"]]
        assert scores == sorted(scores, reverse=True) and answer.hits["max_score"] == scores[0]

    def test_hits_are_sorted_by_fields_with_absent_values_last(
        self, ask: Callable[..., SearchAnswer]
    ) -> None:
        rising = ask({"sort": [{"year": "asc"}], "size": 50})
        assert [hit["_id"] for hit in rising.hits["hits"]] == [
            "fish",
            "mg",
            "nmda",
            "fr",
            "jp",
            "none",
        ]
        assert rising.hits["hits"][0]["sort"] == [1986] and rising.hits["hits"][0]["_score"] is None
        assert rising.hits["max_score"] is None
        falling = ask(
            {
                "sort": [{"is_open": {"order": "desc"}}, {"title.keyword": {"order": "asc"}}],
                "size": 50,
            }
        )
        assert [hit["_id"] for hit in falling.hits["hits"]] == [
            "fish",
            "mg",
            "fr",
            "nmda",
            "none",
            "jp",
        ]
        first = ask({"sort": [{"year": {"order": "desc", "missing": "_first"}}], "size": 2})
        assert [hit["_id"] for hit in first.hits["hits"]] == ["none", "jp"]

    def test_pages_follow_each_other(self, ask: Callable[..., SearchAnswer]) -> None:
        pages = [ask({"sort": ["year"], "from": start, "size": 2}) for start in (0, 2, 4)]
        assert [hit["_id"] for page in pages for hit in page.hits["hits"]] == [
            "fish",
            "mg",
            "nmda",
            "fr",
            "jp",
            "none",
        ]
        assert ask({"size": 0}).hits["hits"] == []

    def test_the_source_is_shown_as_far_as_wanted(self, ask: Callable[..., SearchAnswer]) -> None:
        def source(wanted: object) -> dict[str, Any]:
            hit = ask({"query": {"ids": {"values": ["mg"]}}, "_source": wanted}).hits["hits"][0]
            return dict(hit.get("_source", {}))

        assert set(source(["title", "ta*"])) == {"title", "tags"}
        assert set(source("year")) == {"year"}
        assert source(False) == {}
        assert set(source({"excludes": ["content", "created_at"]})) == {
            "title",
            "tags",
            "source",
            "year",
            "is_open",
        }
        assert set(source(True)) == {
            "title",
            "content",
            "tags",
            "source",
            "year",
            "is_open",
            "created_at",
        }

    def test_what_was_looked_for_is_marked(self, ask: Callable[..., SearchAnswer]) -> None:
        body = {
            "query": {"match": {"content": "magnesium"}},
            "highlight": {"fields": {"content": {}}},
        }
        hit = ask(
            {**body, "query": {"bool": {"must": [body["query"], {"ids": {"values": ["mg"]}}]}}}
        ).hits["hits"][0]
        assert hit["highlight"] == {
            "content": ["<em>Magnesium</em> blocks the NMDA receptor of neurons"]
        }
        other = ask(
            {
                "query": {"match_phrase": {"title": "fish oil"}},
                "highlight": {
                    "fields": {"title": {}},
                    "pre_tags": ["["],
                    "post_tags": ["]"],
                    "number_of_fragments": 0,
                },
            }
        ).hits["hits"][0]
        assert other["highlight"] == {"title": ["[Fish oil] and Raynaud"]}

    def test_values_are_counted(self, ask: Callable[..., SearchAnswer]) -> None:
        answer = ask(
            {
                "size": 0,
                "aggs": {
                    "tags": {"terms": {"field": "tags", "size": 2}},
                    "open": {"terms": {"field": "is_open"}},
                },
            }
        )
        assert answer.aggregations is not None
        tags = answer.aggregations["tags"]
        assert [(bucket["key"], bucket["doc_count"]) for bucket in tags["buckets"]] == [
            ("ion", 2),
            ("migraine", 2),
        ]
        assert (tags["sum_other_doc_count"], tags["doc_count_error_upper_bound"]) == (3, 0)
        assert [
            (b["key"], b["key_as_string"], b["doc_count"]) for b in buckets(answer, "open")
        ] == [
            (0, "false", 2),
            (1, "true", 2),
        ]
        by_key = ask(
            {
                "size": 0,
                "aggs": {
                    "t": {"terms": {"field": "tags", "order": {"_key": "desc"}, "min_doc_count": 2}}
                },
            }
        )
        assert [bucket["key"] for bucket in buckets(by_key, "t")] == ["migraine", "ion"]

    def test_the_answer_has_the_shape_that_clients_expect(
        self, ask: Callable[..., SearchAnswer]
    ) -> None:
        shape = ask({"query": {"match_all": {}}, "size": 1}).model_dump(by_alias=True)
        assert {"took", "timed_out", "_shards", "hits"} == set(shape)
        assert shape["timed_out"] is False and shape["_shards"]["failed"] == 0
        assert set(shape["hits"]) == {"total", "max_score", "hits"}
        assert {"_index", "_id", "_score", "_source"} == set(shape["hits"]["hits"][0])
        assert shape["hits"]["hits"][0]["_index"] == "knowledge"

    @pytest.mark.promise("K6")
    @pytest.mark.parametrize(
        ("body", "clause"),
        [
            (
                {
                    "query": {
                        "script_score": {"query": {"match_all": {}}, "script": {"source": "1"}}
                    }
                },
                "script_score",
            ),
            ({"query": {"script": {"script": "true"}}}, "script"),
            ({"runtime_mappings": {"x": {"type": "long"}}}, "runtime_mappings"),
            ({"script_fields": {"x": {"script": "1"}}}, "script_fields"),
            ({"sort": [{"_script": {"script": "1", "type": "number"}}]}, "_script"),
            ({"query": {"regexp": {"title": ".*"}}}, "regexp"),
            ({"query": {"wildcard": {"title": "*x"}}}, "wildcard"),
            ({"query": {"bool": {"must": [{"query_string": {"query": "*"}}]}}}, "query_string"),
            (
                {"query": {"terms": {"user": {"index": "other", "id": "1", "path": "x"}}}},
                "terms lookup",
            ),
            ({"query": {"more_like_this": {"like": "x"}}}, "more_like_this"),
            ({"aggs": {"x": {"global": {}}}}, "global"),
            ({"aggs": {"x": {"scripted_metric": {}}}}, "scripted_metric"),
            ({"aggs": {"x": {"terms": {"script": "1"}}}}, "script"),
            ({"suggest": {"x": {"text": "y"}}}, "suggest"),
            ({"pit": {"id": "x"}}, "pit"),
            ({"knn": {"field": "x"}}, "knn"),
            ({"profile": True}, "profile"),
            ({"query": {"match": {"title": {"query": "x", "script": "y"}}}}, "script"),
            ({"size": 101}, "size"),
            ({"from": 9_950, "size": 100}, "from"),
            ({"size": -1}, "size"),
        ],
    )
    def test_what_is_not_answered_is_refused_by_name(
        self, ask: Callable[..., SearchAnswer], body: dict[str, Any], clause: str
    ) -> None:
        with pytest.raises(CarrelError) as refused:
            ask(body)
        assert refused.value.code in {"unsupported_clause", "refused_clause", "invalid_input"}
        assert refused.value.details["clause"] == clause
        assert f"[{clause}]" in refused.value.message

    def test_a_body_that_is_only_the_query_is_understood(
        self, ask: Callable[..., SearchAnswer]
    ) -> None:
        assert ids(ask({"match": {"title": "raynaud"}})) == {"fish"}

    def test_a_query_as_deep_as_a_well_is_refused(self, ask: Callable[..., SearchAnswer]) -> None:
        query: dict[str, Any] = {"match_all": {}}
        for _ in range(200):
            query = {"bool": {"must": [query]}}
        with pytest.raises(CarrelError, match="nested"):
            ask({"query": query})

    def test_an_index_that_is_not_offered_is_refused(
        self, ask: Callable[..., SearchAnswer]
    ) -> None:
        for index in ("secrets", "knowledge,secrets", "<x-{now}>", "other:knowledge", ".security"):
            with pytest.raises(CarrelError) as refused:
                ask({}, index=index)
            assert refused.value.code in {"resource_not_found", "index_not_allowed"}


class NewerSearchContract(SearchContract):
    """The same with the clauses that came later."""

    @pytest.mark.promise("K6")
    def test_every_newer_question_finds_exactly_its_documents(
        self, searcher: Callable[[], Awaitable[Searcher]]
    ) -> None:
        async def whole() -> None:
            engine = await searcher()
            try:
                for query, expected in NEWER_QUESTIONS:
                    answer = await engine.search("knowledge", {"query": query, "size": 50}, TEAM)
                    assert ids(answer) == expected, query
            finally:
                await engine.close()

        asyncio.run(whole())

    @pytest.mark.promise("K6")
    def test_figures_and_intervals_are_computed(self, ask: Callable[..., SearchAnswer]) -> None:
        answer = ask(
            {
                "size": 0,
                "aggs": {
                    "years": {"stats": {"field": "year"}},
                    "tags": {"cardinality": {"field": "tags"}},
                    "when": {
                        "date_histogram": {
                            "field": "created_at",
                            "calendar_interval": "year",
                            "min_doc_count": 1,
                            "format": "yyyy",
                        }
                    },
                    "old": {
                        "filter": {"range": {"year": {"lt": 1991}}},
                        "aggs": {"tag": {"terms": {"field": "tags"}}},
                    },
                    "gone": {"missing": {"field": "year"}},
                    "spans": {"range": {"field": "year", "ranges": [{"to": 1990}, {"from": 1990}]}},
                },
            }
        )
        assert answer.aggregations is not None
        found = answer.aggregations
        assert found["years"] == {
            "count": 5,
            "min": 1986,
            "max": 2020,
            "avg": 1997.0,
            "sum": 9985.0,
        }
        assert found["tags"] == {"value": 5}
        assert [
            (bucket["key_as_string"], bucket["doc_count"]) for bucket in buckets(answer, "when")
        ] == [("1986", 1), ("1988", 1), ("1990", 1), ("2001", 1), ("2020", 1)]
        assert found["old"]["doc_count"] == 3
        assert {one["key"]: one["doc_count"] for one in found["old"]["tag"]["buckets"]} == {
            "ion": 2,
            "migraine": 1,
            "raynaud": 1,
            "receptor": 1,
        }
        assert found["gone"]["doc_count"] == 1
        assert [bucket["doc_count"] for bucket in buckets(answer, "spans")] == [2, 3]

    def test_empty_intervals_are_counted_too(self, ask: Callable[..., SearchAnswer]) -> None:
        answer = ask(
            {
                "size": 0,
                "query": {"range": {"year": {"lte": 1990}}},
                "aggs": {
                    "when": {"date_histogram": {"field": "created_at", "calendar_interval": "1y"}}
                },
            }
        )
        assert [
            (bucket["key_as_string"][:4], bucket["doc_count"]) for bucket in buckets(answer, "when")
        ] == [("1986", 1), ("1987", 0), ("1988", 1), ("1989", 0), ("1990", 1)]

    def test_a_sum_of_dates_may_lie_beyond_the_year_9999(
        self, ask: Callable[..., SearchAnswer]
    ) -> None:
        field = {"field": "created_at", "missing": "9990-01-01"}
        answer = ask({"size": 0, "aggs": {"all": {"sum": field}}})
        assert answer.aggregations is not None
        assert answer.aggregations["all"]["value_as_string"].startswith("+")

    @pytest.mark.promise("K6")
    def test_search_after_goes_on_behind_the_last_hit(
        self, ask: Callable[..., SearchAnswer]
    ) -> None:
        body: dict[str, Any] = {
            "query": {"exists": {"field": "year"}},
            "sort": [{"year": "desc"}],
            "size": 2,
        }
        seen: list[str] = []
        for _ in range(4):
            hits = ask(body).hits["hits"]
            seen += [hit["_id"] for hit in hits]
            if hits:
                body["search_after"] = hits[-1]["sort"]
        assert seen == ["jp", "fr", "nmda", "mg", "fish"]

    def test_a_field_is_marked_by_its_own_options(self, ask: Callable[..., SearchAnswer]) -> None:
        hit = ask(
            {
                "query": {"match": {"content": "viscosity"}},
                "highlight": {
                    "pre_tags": ["<b>"],
                    "post_tags": ["</b>"],
                    "fields": {
                        "content": {
                            "number_of_fragments": 0,
                            "pre_tags": ["["],
                            "post_tags": ["]"],
                        },
                        "title": {"no_match_size": 4},
                    },
                },
            }
        ).hits["hits"][0]
        assert hit["highlight"]["content"] == ["Fish oil lowers the [viscosity] of blood"]
        assert hit["highlight"]["title"] == ["Fish"]

    def test_words_are_parted_as_the_standard_tokenizer_does(
        self, ask: Callable[..., SearchAnswer]
    ) -> None:
        """ "cancer" once found 424 notes here and 157 there: addresses are one word there."""
        assert ids(ask({"query": {"match": {"content": "facts"}}})) == {"none"}
        assert ids(ask({"query": {"match": {"content": "empty.of"}}})) == set()


def ids(answer: SearchAnswer) -> set[str]:
    return {hit["_id"] for hit in answer.hits["hits"]}


def buckets(answer: SearchAnswer, name: str) -> list[dict[str, Any]]:
    assert answer.aggregations is not None
    return list(answer.aggregations[name]["buckets"])

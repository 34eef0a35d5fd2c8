"""Papers and references as indices of the elasticsearch tool, answered by the embedded search."""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest

from carrel.core.caller import LOCAL_USER, library_name
from carrel.core.errors import CarrelError
from tests.rooms.knowledge.desk import Ask, at_the_desk, caller
from tests.rooms.papers.conftest import CORPUS, LIDAR, RESIDUAL, TRANSFORMER
from tests.rooms.papers.snapshots import SamplePaper, write_snapshot

ALL = ("knowledge:write", "papers:read", "references:write")
LOCAL, ADA, BOB = caller(LOCAL_USER, *ALL), caller("ada", *ALL), caller("bob", *ALL)
MEEK = caller("meek", "knowledge:write")
KNUTH = {
    "id": "knuth1974",
    "type": "article-journal",
    "title": "Structured Programming with go to Statements",
    "author": [{"family": "Knuth", "given": "Donald E."}],
    "container-title": "Computing Surveys",
    "issued": {"date-parts": [[1974]]},
    "DOI": "10.1145/356635.356640",
    "keyword": "programming; style",
    "custom": {"tags": ["classic"]},
}


def work(home: Path, asked: Callable[[Ask], Awaitable[Any]]) -> Any:
    return at_the_desk(home, asked, CARREL_ROOMS="papers,references,knowledge")


async def search(ask: Ask, who: Any, index: str, query: dict[str, Any]) -> Any:
    return await ask(who, "elasticsearch", index=index, query=query)


def found(answer: Any) -> list[str]:
    return [hit["_id"] for hit in answer.hits["hits"]]


def corpus(home: Path, papers: tuple[SamplePaper, ...] = CORPUS) -> Path:
    (home / "papers").mkdir(parents=True, exist_ok=True)
    return write_snapshot(home / "papers", papers)


def library(home: Path, who: str, *items: dict[str, Any]) -> Path:
    folder = home / "references"
    path = (
        folder / "library.json"
        if who == LOCAL_USER
        else folder / "users" / library_name(who) / "library.json"
    )
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(list(items), indent=2))
    return path


@pytest.mark.promise("K6")
def test_a_missing_snapshot_is_an_error_and_never_an_empty_list(tmp_path: Path) -> None:
    async def asked(ask: Ask) -> None:
        with pytest.raises(CarrelError) as refused:
            await search(ask, LOCAL, "papers", {"match_all": {}})
        assert refused.value.code == "snapshot_unavailable"
        await ask(LOCAL, "save_knowledge", content="still found")
        answer = await search(ask, LOCAL, "*", {"match_all": {}})
        assert [hit["_index"] for hit in answer.hits["hits"]] == ["knowledge"]
        assert answer.shards["failed"] == 1
        assert "not complete" in answer.warning and "missing" in answer.warning

    work(tmp_path, asked)


@pytest.mark.promise("K6")
@pytest.mark.parametrize("index", ["papers", "references", "knowledge, papers"])
def test_the_neighbours_need_what_the_neighbours_ask_for(tmp_path: Path, index: str) -> None:
    corpus(tmp_path)
    library(tmp_path, "meek", KNUTH)

    async def asked(ask: Ask) -> None:
        with pytest.raises(CarrelError) as refused:
            await search(ask, MEEK, index, {"match_all": {}})
        assert refused.value.code == "insufficient_permissions"
        for pattern in ("*", "_all", "paper*,nodes", "ref*,knowledge"):
            answer = await search(ask, MEEK, pattern, {"match_all": {}})
            assert found(answer) == [] and answer.hits["total"]["value"] == 0

    work(tmp_path, asked)


@pytest.mark.promise("K6")
@pytest.mark.parametrize(
    ("query", "papers"),
    [
        ({"match": {"title": "attention"}}, [TRANSFORMER]),
        ({"match": {"summary": "training image"}}, [RESIDUAL]),
        ({"match_phrase": {"authors": "ashish muller"}}, [TRANSFORMER]),
        ({"term": {"authors.keyword": "Kaiming He"}}, [RESIDUAL]),
        ({"term": {"doi": "10.1109/cvpr.2016.90"}}, [RESIDUAL]),
        ({"term": {"arxiv_id": "1706.03762"}}, [TRANSFORMER]),
        ({"terms": {"tags": ["survey", "nothing"]}}, [TRANSFORMER]),
        ({"term": {"keywords": "residual networks"}}, [RESIDUAL]),
        ({"match_phrase": {"summary": "深度学习方法"}}, [LIDAR]),
        ({"range": {"year": {"gte": 2017, "lt": 2023}}}, [TRANSFORMER]),
        ({"match": {"venue": "cvpr"}}, [RESIDUAL]),
        ({"ids": {"values": [TRANSFORMER.paper_id]}}, [TRANSFORMER]),
    ],
)
def test_papers_are_found_by_their_fields(
    tmp_path: Path, query: dict[str, Any], papers: list[SamplePaper]
) -> None:
    corpus(tmp_path)

    async def asked(ask: Ask) -> None:
        answer = await search(ask, ADA, "papers", query)
        assert found(answer) == [paper.paper_id for paper in papers]
        (hit,) = answer.hits["hits"]
        assert (hit["_index"], hit["_source"]["title"]) == ("papers", papers[0].title)

    work(tmp_path, asked)


@pytest.mark.promise("K6")
def test_a_replaced_snapshot_is_noticed_in_the_same_process_and_after_a_restart(
    tmp_path: Path,
) -> None:
    everything: dict[str, Any] = {"size": 10, "sort": ["title.keyword"], "query": {"match_all": {}}}
    corpus(tmp_path)

    async def titles(ask: Ask) -> list[str]:
        answer = await search(ask, ADA, "papers", everything)
        return [hit["_source"]["title"] for hit in answer.hits["hits"]]

    async def asked(ask: Ask) -> None:
        assert len(await titles(ask)) == len(CORPUS)
        corpus(tmp_path, (TRANSFORMER, SamplePaper(title="A new one", year="2024")))
        assert await titles(ask) == ["A new one", "Attention Is All You Need"]
        corpus(tmp_path, (SamplePaper(title="A new one", year="2025"),))
        answer = await search(ask, ADA, "papers", everything)
        assert [hit["_source"]["year"] for hit in answer.hits["hits"]] == [2025]
        (tmp_path / "papers" / "paper_snapshot.db").unlink()
        with pytest.raises(CarrelError) as gone:
            await titles(ask)
        assert gone.value.code == "snapshot_unavailable"

    work(tmp_path, asked)
    corpus(tmp_path, (RESIDUAL,))

    async def later(ask: Ask) -> None:
        assert await titles(ask) == ["Deep Residual Learning"]

    work(tmp_path, later)


@pytest.mark.promise("K6")
def test_everybody_sees_only_their_own_references(tmp_path: Path) -> None:
    library(tmp_path, LOCAL_USER, {"id": "same", "type": "book", "title": "Of the local user"})
    library(tmp_path, "ada", KNUTH, {"id": "same", "type": "book", "title": "Of Ada"})

    async def asked(ask: Ask) -> None:
        for pattern in ("references", "*", "_all", "ref*"):
            for who, titles in (
                (ADA, {"Of Ada", KNUTH["title"]}),
                (BOB, set()),
                (LOCAL, {"Of the local user"}),
            ):
                answer = await search(
                    ask,
                    who,
                    pattern,
                    {"query": {"match_all": {}}, "aggs": {"t": {"terms": {"field": "type"}}}},
                )
                assert {hit["_source"]["title"] for hit in answer.hits["hits"]} == titles
                assert {hit["_index"] for hit in answer.hits["hits"]} <= {"references"}
                assert sum(
                    bucket["doc_count"] for bucket in answer.aggregations["t"]["buckets"]
                ) == len(titles)
        for name in (
            f"references/{library_name('ada')}",
            f"references/{library_name('ada')}*",
            "references/*",
        ):
            with pytest.raises(CarrelError) as refused:
                await search(ask, BOB, name, {"match_all": {}})
            assert refused.value.code == "resource_not_found"

    corpus(tmp_path, ())
    work(tmp_path, asked)


@pytest.mark.promise("K6")
@pytest.mark.parametrize(
    "query",
    [
        {"match": {"title": "structured"}},
        {"match_phrase": {"authors": "Donald E. Knuth"}},
        {"match": {"venue": "surveys"}},
        {"term": {"tags": "classic"}},
        {"term": {"keywords": "style"}},
        {"term": {"doi": "10.1145/356635.356640"}},
        {"range": {"year": {"gte": 1974, "lte": 1974}}},
        {"ids": {"values": ["knuth1974"]}},
    ],
)
def test_references_are_found_by_their_fields(tmp_path: Path, query: dict[str, Any]) -> None:
    library(tmp_path, "ada", KNUTH, {"id": "other", "type": "book", "title": "Something else"})

    async def asked(ask: Ask) -> None:
        assert found(await search(ask, ADA, "references", query)) == ["knuth1974"]

    work(tmp_path, asked)


@pytest.mark.promise("K6")
def test_a_changed_library_is_noticed(tmp_path: Path) -> None:
    async def asked(ask: Ask) -> None:
        everything: dict[str, Any] = {"match_all": {}}
        assert found(await search(ask, ADA, "references", everything)) == []
        added = await ask(ADA, "add_references", input=json.dumps([KNUTH]))
        assert found(await search(ask, ADA, "references", {"match": {"title": "structured"}})) == [
            added.added[0].id
        ]
        await ask(ADA, "remove_reference", id=added.added[0].id, force=True)
        assert found(await search(ask, ADA, "references", everything)) == []
        path = library(
            tmp_path,
            "bob",
            KNUTH,
            {"id": "b", "title": "Second \ud800", "issued": {"literal": "x"}},
        )
        assert set(found(await search(ask, BOB, "references", everything))) == {"knuth1974", "b"}
        path.write_text(path.read_text().replace("Structured", "Unstructured"))
        assert found(
            await search(ask, BOB, "references", {"match": {"title": "unstructured"}})
        ) == ["knuth1974"]
        assert found(await search(ask, BOB, "references", {"match": {"title": "structured"}})) == []

    work(tmp_path, asked)

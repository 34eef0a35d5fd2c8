"""`carrel search sync` with the neighbours of the knowledge room, into a real cluster."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from carrel.cli import main
from carrel.core.caller import LOCAL_USER
from carrel.settings import Settings
from carrel.stores.paper_documents import PAPER_FIELDS
from carrel.wiring.desk import open_desk
from carrel.wiring.knowledge import elasticsearch_client
from tests.rooms.knowledge.desk import Ask, asking, at_the_desk, caller, settings_at
from tests.rooms.knowledge.test_neighbours import ALL, KNUTH, corpus, found, library
from tests.rooms.papers.cluster import clean, cluster_settings
from tests.rooms.papers.conftest import CORPUS, TRANSFORMER
from tests.stores.published_corpora import add_text, make_copy

ROOMS = "papers,references,knowledge"
LOCAL, ADA, BOB, MEEK = (
    caller(LOCAL_USER, *ALL),
    caller("ada", *ALL),
    caller("bob", *ALL),
    caller("meek", "knowledge:write"),
)


@pytest.fixture
def settings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Settings]:
    chosen = cluster_settings(tmp_path / "home")
    monkeypatch.chdir(tmp_path)
    for name, value in surroundings(chosen).items():
        monkeypatch.setenv(name, value)
    yield chosen
    asyncio.run(clean(chosen))


def surroundings(settings: Settings) -> dict[str, str]:
    return {
        "CARREL_HOME": str(settings.home),
        "CARREL_ROOMS": ROOMS,
        "CARREL_PAPERS_SEARCH": "elasticsearch",
        "CARREL_ELASTICSEARCH_URL": str(settings.elasticsearch.url),
        "CARREL_ELASTICSEARCH_PREFIX": settings.elasticsearch.prefix,
    }


@pytest.mark.promise("K6")
def test_a_snapshot_that_is_named_and_missing_fails_the_run(
    settings: Settings, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["search", "sync"]) == 0
    assert "papers: left out, there is no snapshot yet" in capsys.readouterr().out
    assert main(["search", "sync", "--index", "papers"]) != 0
    assert "missing" in capsys.readouterr().err


@pytest.mark.promise("K6")
def test_what_another_server_published_since_is_written(
    settings: Settings,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    url = (tmp_path / "store").as_uri()
    (tmp_path / "store").mkdir()
    monkeypatch.setenv("CARREL_PAPERS_CORPUS_URL", url)
    make_copy(tmp_path / "server", url)
    add_text(tmp_path / "server", "Paper")
    written = f"{settings.elasticsearch.prefix}papers: 1 written"
    assert main(["search", "sync", "--index", "papers"]) == 0
    assert written in capsys.readouterr().out
    add_text(tmp_path / "server", "Another Paper")
    assert main(["search", "sync", "--index", "papers"]) == 0
    assert written in capsys.readouterr().out


@pytest.mark.promise("K6")
def test_papers_and_libraries_get_there_once_and_nobody_reads_what_is_not_theirs(
    settings: Settings, capsys: pytest.CaptureFixture[str]
) -> None:
    corpus(settings.home)
    library(settings.home, LOCAL_USER, {"id": "same", "type": "book", "title": "Of the local user"})
    library(settings.home, "ada", KNUTH, {"id": "same", "type": "book", "title": "Of Ada"})
    prefix = settings.elasticsearch.prefix
    assert main(["search", "sync"]) == 0
    told = capsys.readouterr().out
    assert (
        f"{prefix}papers: {len(CORPUS)} written" in told
        and f"{prefix}references: 3 written" in told
    )
    assert main(["search", "sync"]) == 0
    told = capsys.readouterr().out
    assert f"{prefix}papers: 0 written" in told and f"{prefix}references: 0 written" in told

    async def asked(ask: Ask) -> None:
        everything: dict[str, Any] = {"match_all": {}}
        for index in ("references", f"{prefix}references", f"{prefix}ref*"):
            for who, titles in (
                (ADA, {"Of Ada", KNUTH["title"]}),
                (BOB, set()),
                (LOCAL, {"Of the local user"}),
            ):
                answer = await ask(who, "elasticsearch", index=index, query=everything)
                assert {hit["_source"]["title"] for hit in answer.hits["hits"]} == titles
        hidden = await ask(MEEK, "elasticsearch", index=f"{prefix}*", query=everything)
        assert hidden.hits["total"]["value"] == 0
        (paper,) = (
            await ask(ADA, "elasticsearch", index="papers", query={"match": {"title": "attention"}})
        ).hits["hits"]
        assert paper["_source"]["authors"] == list(TRANSFORMER.authors)
        assert paper["_source"].keys() <= PAPER_FIELDS.keys()
        hits = await ask(ADA, "search_papers", query="attention is all you need")
        assert (
            hits[0].paper_id
            == TRANSFORMER.paper_id
            == found(
                await ask(
                    ADA,
                    "elasticsearch",
                    index="papers",
                    query={"ids": {"values": [TRANSFORMER.paper_id]}},
                )
            )[0]
        )

    at_the_desk(settings.home, asked, **surroundings(settings))
    library(settings.home, "ada", {"id": "same", "type": "book", "title": "Of Ada"})
    assert main(["search", "sync", "--index", "references"]) == 0
    assert json.loads(_shown(capsys, "references"))["hits"]["total"]["value"] == 1


@pytest.mark.promise("K6")
@pytest.mark.timeout(60)
def test_a_server_brings_what_changes_to_the_cluster_by_itself(settings: Settings) -> None:
    """Also a corpus and libraries that were made while it ran."""
    settings.home.mkdir()
    desk = open_desk(settings_at(settings.home, **surroundings(settings)))

    async def whole() -> None:
        async with desk.session(resumes_jobs=True), cluster(settings) as titles:
            ask = asking(desk)
            await ask(LOCAL, "save_knowledge", title="Magnesium", content="Blocks the receptor.")
            corpus(settings.home)
            library(settings.home, "ada", KNUTH)
            await titles("knowledge", {"Magnesium"})
            await titles("papers", {paper.title for paper in CORPUS})
            await titles("references", {str(KNUTH["title"])})
            hits = await ask(ADA, "search_papers", query="attention is all you need")
            assert hits[0].paper_id == TRANSFORMER.paper_id
            library(settings.home, "bob", {"id": "b", "type": "book", "title": "Of Bob"})
            await titles("references", {str(KNUTH["title"]), "Of Bob"})
            await ask(ADA, "remove_reference", id=KNUTH["id"], force=True)
            await titles("references", {"Of Bob"})
            ready = await desk.probes()["elasticsearch_sync"]()
            assert (ready.is_well, ready.note) == (True, "")
            told = (await desk.health())["elasticsearch_sync"]
            assert (told.is_well, told.says) == (True, "all indices are as their stores")

    asyncio.run(whole())


@asynccontextmanager
async def cluster(
    settings: Settings,
) -> AsyncIterator[Callable[[str, set[str]], Awaitable[None]]]:
    """A way to wait until an index of the cluster holds just these titles."""
    client = elasticsearch_client(settings)
    # An index that was made this moment is not ready for questions.
    patient = client.options(ignore_status=503, max_retries=0)

    async def wait_for(index: str, titles: set[str]) -> None:
        found: set[str] | None = None
        while found != titles:
            await asyncio.sleep(0.05)
            answer = await patient.search(
                index=f"{settings.elasticsearch.prefix}{index}", size=100, ignore_unavailable=True
            )
            hits = answer.body.get("hits", {"hits": []})["hits"]
            found = {str(hit["_source"]["title"]) for hit in hits}

    try:
        yield wait_for
    finally:
        await client.close()


def _shown(capsys: pytest.CaptureFixture[str], index: str) -> str:
    capsys.readouterr()
    assert main(["knowledge", "elasticsearch", index, '{"match_all": {}}', "--json"]) == 0
    return capsys.readouterr().out

"""search_papers over a real cluster: right for just this snapshot, or an error; the contract itself
is in tests/rooms/papers.
"""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, cast

import pytest

from carrel.core.errors import CarrelError
from carrel.core.health import Health
from carrel.settings import Settings, SettingsError, read_settings
from carrel.stores.indexed_papers import IndexedPaper, IndexedVersion
from carrel.stores.search.snapshot_version import indexed_snapshot
from carrel.stores.sqlite.papers.snapshot import PaperSnapshot
from carrel.wiring.papers import open_corpus, open_papers
from tests.rooms.papers.cluster import clean, cluster_settings, fill, put
from tests.rooms.papers.conftest import CORPUS, RESIDUAL, TRANSFORMER
from tests.rooms.papers.snapshots import write_snapshot

pytest.importorskip("elasticsearch", reason="the extra `elasticsearch` is not installed")


@pytest.fixture
def settings(tmp_path: Path) -> Iterator[Settings]:
    chosen = cluster_settings(tmp_path)
    (tmp_path / "papers").mkdir()
    yield chosen
    asyncio.run(clean(chosen))


def titles(settings: Settings, query: str) -> list[str]:
    async def asked() -> list[str]:
        papers = open_corpus(settings)
        try:
            return [hit.title for hit in await papers.service.search(query, page=1, limit=10)]
        finally:
            await papers.close()

    return asyncio.run(asked())


def refusal(settings: Settings, query: str = "transformer") -> CarrelError:
    with pytest.raises(CarrelError) as refused:
        titles(settings, query)
    return refused.value


async def doctor(settings: Settings) -> Health:
    corpus = open_corpus(settings)
    opened = open_papers(settings, corpus)
    try:
        return await opened.checks["papers"]()
    finally:
        assert opened.close is not None
        await opened.close()
        await corpus.close()


@pytest.mark.promise("K6")
def test_a_cluster_that_cannot_be_reached_is_unavailable_and_never_an_empty_list(
    tmp_path: Path,
) -> None:
    write_snapshot(tmp_path, CORPUS)
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        address = f"http://127.0.0.1:{taken.getsockname()[1]}"
        chosen = read_settings(
            environment={
                "CARREL_HOME": str(tmp_path),
                "CARREL_PAPERS_SNAPSHOT": str(tmp_path / "paper_snapshot.db"),
                "CARREL_PAPERS_SEARCH": "elasticsearch",
                "CARREL_ELASTICSEARCH_URL": address,
            }
        )
        error = refusal(chosen)
    assert error.code == "unavailable"
    assert "127.0.0.1" not in error.message + error.next_step


@pytest.mark.promise("K6")
def test_without_an_address_the_setting_is_refused(tmp_path: Path) -> None:
    chosen = read_settings(
        environment={"CARREL_HOME": str(tmp_path), "CARREL_PAPERS_SEARCH": "elasticsearch"}
    )
    with pytest.raises(SettingsError, match="no Elasticsearch is named"):
        open_corpus(chosen)


@pytest.mark.promise("K6")
def test_an_index_that_is_missing_or_of_another_snapshot_is_an_error_until_it_is_synced(
    settings: Settings,
) -> None:
    folder = settings.home / "papers"
    snapshot = write_snapshot(folder, CORPUS)
    assert refusal(settings).code == "unavailable"
    assert asyncio.run(fill(settings, snapshot)) == len(CORPUS)
    assert titles(settings, "residual learning")[0] == RESIDUAL.title
    assert asyncio.run(fill(settings, snapshot)) == 0
    write_snapshot(folder, (TRANSFORMER,), build_id="1" * 32)
    stale = refusal(settings)
    health = asyncio.run(doctor(settings))
    assert not health.is_well and "carrel search sync" in health.next_step
    assert (stale.code, "carrel search sync" in stale.next_step) == ("unavailable", True)
    # The one paper that stays is there already, as it is.
    assert asyncio.run(fill(settings, snapshot)) == 0
    assert titles(settings, "residual OR transformer") == [TRANSFORMER.title]
    assert asyncio.run(doctor(settings)).is_well


class PowerCutError(Exception):
    """The run ends here."""


class CutOff:
    """A version of a snapshot that can be read until so many papers were taken."""

    def __init__(self, version: IndexedVersion, after: int) -> None:
        self._version = version
        self._after = after

    def __getattr__(self, name: str) -> Any:
        return getattr(self._version, name)

    def papers(self, rows: Sequence[int]) -> list[IndexedPaper]:
        if self._after < len(rows):
            raise PowerCutError
        self._after -= len(rows)
        return self._version.papers(rows)

    def statistics(self) -> None:
        raise PowerCutError


def stopped(settings: Settings, snapshot: Path, after: int) -> None:
    source = PaperSnapshot(snapshot)

    @contextmanager
    def cut_off() -> Iterator[IndexedVersion]:
        with indexed_snapshot(source) as version:
            yield cast(IndexedVersion, CutOff(version, after))

    try:
        with pytest.raises(PowerCutError):
            asyncio.run(put(settings, cut_off, at_once=1))
    finally:
        source.close()


@pytest.mark.promise("K6")
def test_a_run_that_was_stopped_half_way_is_not_taken_for_the_whole(settings: Settings) -> None:
    folder = settings.home / "papers"
    snapshot = write_snapshot(folder, CORPUS)
    asyncio.run(fill(settings, snapshot))
    write_snapshot(folder, (TRANSFORMER,), build_id="1" * 32)
    stopped(settings, snapshot, after=0)
    assert refusal(settings).code == "unavailable"
    write_snapshot(folder, CORPUS)
    assert refusal(settings).code == "unavailable"
    assert asyncio.run(fill(settings, snapshot)) == len(CORPUS) - 1
    assert set(titles(settings, "residual OR transformer OR 深度学习")) == {
        paper.title for paper in CORPUS
    }


@pytest.mark.promise("K6")
def test_a_run_that_was_stopped_goes_on_where_it_was(settings: Settings) -> None:
    snapshot = write_snapshot(settings.home / "papers", CORPUS)
    stopped(settings, snapshot, after=2)
    assert refusal(settings).code == "unavailable"
    assert asyncio.run(fill(settings, snapshot)) == len(CORPUS) - 2
    assert set(titles(settings, "residual OR transformer OR 深度学习")) == {
        paper.title for paper in CORPUS
    }

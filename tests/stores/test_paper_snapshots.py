"""Snapshot files that are awkward: read-only folders, logs, replacement, damage, many readers."""

from __future__ import annotations

import asyncio
import shutil
import sqlite3
from pathlib import Path

import pytest

from carrel.libraries.query.papers import parse_paper_query
from carrel.rooms.papers.errors import SnapshotUnavailableError
from carrel.stores.sqlite.papers.snapshot import PaperSnapshot
from carrel.stores.sqlite.papers.store import SqlitePaperStore
from tests.rooms.papers.conftest import CORPUS, RESIDUAL, TRANSFORMER
from tests.rooms.papers.desk import Desk
from tests.rooms.papers.snapshots import write_snapshot


@pytest.mark.promise("P8")
def test_reading_leaves_nothing_beside_the_snapshot(tmp_path: Path) -> None:
    snapshot = write_snapshot(tmp_path, CORPUS)
    before = snapshot.read_bytes()
    with Desk(snapshot, tmp_path / "paper-static") as desk:
        desk.search("transformer")
        desk.ask("search_papers_by_keyword", keyword="transformer")
        assert {path.name for path in tmp_path.iterdir()} == {"paper_snapshot.db", "paper-static"}
    assert snapshot.read_bytes() == before


@pytest.mark.promise("P8")
def test_a_snapshot_in_a_read_only_folder_is_read(tmp_path: Path) -> None:
    folder = tmp_path / "locked"
    folder.mkdir()
    snapshot = write_snapshot(folder, CORPUS)
    snapshot.chmod(0o444)
    folder.chmod(0o555)
    try:
        with Desk(snapshot, folder / "paper-static") as desk:
            assert desk.search("residual") == [RESIDUAL.title]
    finally:
        folder.chmod(0o755)


@pytest.mark.promise("P8")
def test_what_still_stands_in_the_log_is_read_too(tmp_path: Path) -> None:
    snapshot = write_snapshot(tmp_path, CORPUS)
    writer = sqlite3.connect(snapshot)
    try:
        with writer:
            writer.execute(
                "UPDATE paper SET title = 'Retitled' WHERE paper_id = ?", (RESIDUAL.paper_id,)
            )
        assert snapshot.with_name("paper_snapshot.db-wal").stat().st_size > 0
        with Desk(snapshot, tmp_path / "paper-static") as desk:
            assert desk.ask("get_paper_metadata", paper_id=RESIDUAL.paper_id).title == "Retitled"
    finally:
        writer.close()


@pytest.mark.promise("P8")
def test_the_connection_cannot_write(tmp_path: Path) -> None:
    async def try_to_write() -> None:
        store = SqlitePaperStore(PaperSnapshot(write_snapshot(tmp_path, CORPUS)))
        try:
            await store._run(lambda _, connection: connection.execute("DELETE FROM paper"))
        finally:
            await store.close()

    with pytest.raises(SnapshotUnavailableError):
        asyncio.run(try_to_write())


@pytest.mark.promise("D15")
def test_ids_are_suggested_by_id_and_by_words_of_the_title_and_signs_mean_themselves(
    tmp_path: Path,
) -> None:
    async def suggestions() -> None:
        store = SqlitePaperStore(PaperSnapshot(write_snapshot(tmp_path, CORPUS)))
        try:
            found, total = await store.ids_like("", 2)
            assert (len(found), total) == (2, len(CORPUS))
            assert (await store.ids_like(RESIDUAL.paper_id[:6].upper(), 100))[0][
                0
            ] == RESIDUAL.paper_id
            assert (
                RESIDUAL.paper_id
                in (await store.ids_like(RESIDUAL.title.split()[1].lower(), 100))[0]
            )
            for nothing in ("%", "_", "!", "' OR 1=1 --", "no such title"):
                assert await store.ids_like(nothing, 100) == ([], 0)
        finally:
            await store.close()

    asyncio.run(suggestions())


def test_a_replaced_snapshot_is_noticed_without_a_restart(tmp_path: Path) -> None:
    snapshot = write_snapshot(tmp_path, [TRANSFORMER])
    with Desk(snapshot, tmp_path / "paper-static") as desk:
        assert desk.search("residual") == []
        assert [facet.value for facet in desk.ask("list_top_facets", category="venue")] == [
            "neurips"
        ]
        write_snapshot(tmp_path, CORPUS, build_id="1" * 32, name="fresh.db").rename(snapshot)
        assert desk.search("residual") == [RESIDUAL.title]
        assert len(desk.ask("list_top_facets", category="venue")) == 3
        assert desk.search("keyword:residual") == [RESIDUAL.title]


@pytest.mark.parametrize(
    "damage", ["missing", "not a database", "empty", "cut", "another database"]
)
def test_a_snapshot_that_cannot_be_used_says_what_to_do(tmp_path: Path, damage: str) -> None:
    snapshot = write_snapshot(tmp_path, CORPUS)
    body = snapshot.read_bytes()
    match damage:
        case "missing":
            snapshot.unlink()
        case "not a database":
            snapshot.write_bytes(b"PK\x03\x04" + bytes(5000))
        case "empty":
            snapshot.write_bytes(b"")
        case "cut":
            snapshot.write_bytes(body[: len(body) // 3])
        case _:
            snapshot.unlink()
            with sqlite3.connect(snapshot) as connection:
                connection.execute("CREATE TABLE other (x)")
            connection.close()
    with Desk(snapshot, tmp_path / "paper-static") as desk:
        for name, arguments in (
            ("search_papers", {"query": "transformer"}),
            ("get_paper_metadata", {"paper_id": TRANSFORMER.paper_id}),
            ("list_top_facets", {"category": "tag"}),
            ("search_papers_by_keyword", {"keyword": "transformer"}),
        ):
            with pytest.raises(SnapshotUnavailableError) as caught:
                desk.ask(name, **arguments)
            assert caught.value.code == "snapshot_unavailable"
            assert "carrel papers build" in caught.value.next_step
            assert str(tmp_path) not in str(caught.value.to_facts())


@pytest.mark.parametrize("table", ["paper_fts", "keyword", "paper_summary", "paper_translation"])
def test_a_missing_table_is_named_and_the_rest_goes_on(tmp_path: Path, table: str) -> None:
    snapshot = write_snapshot(tmp_path, CORPUS)
    with sqlite3.connect(snapshot) as connection:
        connection.execute(f"DROP TABLE {table}")
    connection.close()
    questions = {
        "paper_fts": ("search_papers", {"query": "transformer"}),
        "keyword": ("list_top_facets", {"category": "keyword"}),
    }
    name, arguments = questions.get(
        table, ("get_paper_metadata", {"paper_id": TRANSFORMER.paper_id})
    )
    with Desk(snapshot, tmp_path / "paper-static") as desk:
        with pytest.raises(SnapshotUnavailableError) as caught:
            desk.ask(name, **arguments)
        assert caught.value.details["missing"] == table
        assert desk.ask("list_top_facets", category="tag")


def test_a_snapshot_that_was_mended_is_read_again(tmp_path: Path) -> None:
    snapshot = write_snapshot(tmp_path, CORPUS)
    kept = shutil.copy(snapshot, tmp_path / "kept.db")
    with Desk(snapshot, tmp_path / "paper-static") as desk:
        snapshot.write_bytes(b"broken")
        with pytest.raises(SnapshotUnavailableError):
            desk.search("residual")
        Path(kept).rename(snapshot)
        assert desk.search("residual") == [RESIDUAL.title]


def test_many_readers_at_once_get_their_own_answers(tmp_path: Path) -> None:
    async def ask_all() -> list[tuple[str, list[str]]]:
        store = SqlitePaperStore(PaperSnapshot(write_snapshot(tmp_path, CORPUS)), threads=4)
        try:
            queries = ["residual", "attention", "genes", "激光雷达"] * 25
            answers = await asyncio.gather(
                *(store.search(parse_paper_query(query), first=0, count=5) for query in queries)
            )
            return [
                (query, [hit.title for hit in hits])
                for query, hits in zip(queries, answers, strict=True)
            ]
        finally:
            await store.close()

    answers = asyncio.run(ask_all())
    assert len({(query, tuple(titles)) for query, titles in answers}) == 4
    assert all(titles for _, titles in answers)


def test_repeated_facets_cost_no_thread(tmp_path: Path) -> None:
    async def ask_twice() -> bool:
        store = SqlitePaperStore(PaperSnapshot(write_snapshot(tmp_path, CORPUS)))
        first = await store.top_facets("keyword", 5)
        await store.close()
        return await store.top_facets("keyword", 5) is first

    assert asyncio.run(ask_twice())

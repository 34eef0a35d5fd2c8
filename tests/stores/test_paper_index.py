"""The folder beside a snapshot: made in one step, used only where it fits, and never needed."""

from __future__ import annotations

import asyncio
import json
import shutil
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from carrel.libraries.query.papers import parse_paper_query
from carrel.stores.search.snapshot_index import (
    SnapshotRanking,
    build_paper_index,
    has_fresh_index,
    open_paper_index,
    renew_older_index,
)
from carrel.stores.sqlite.papers.index_manifest import index_folder, manifest_file, read_manifest
from carrel.stores.sqlite.papers.search import OpenRanking
from carrel.stores.sqlite.papers.snapshot import PaperSnapshot
from tests.rooms.papers.conftest import CORPUS, RESIDUAL, TRANSFORMER
from tests.rooms.papers.desk import Desk
from tests.rooms.papers.snapshots import SamplePaper, write_snapshot


def opened(snapshot: Path) -> SnapshotRanking | None:
    source = PaperSnapshot(snapshot)
    try:
        return open_paper_index(source.path, source.current().build_id)
    finally:
        source.close()


def test_an_index_is_made_with_progress_and_is_fresh_until_the_snapshot_changes(
    tmp_path: Path,
) -> None:
    snapshot = write_snapshot(tmp_path, CORPUS)
    assert not has_fresh_index(snapshot)
    told: list[tuple[int, int]] = []
    manifest = build_paper_index(snapshot, report=lambda done, total: told.append((done, total)))
    assert manifest.papers == len(CORPUS)
    assert told[-1] == (len(CORPUS), len(CORPUS))
    assert has_fresh_index(snapshot)
    write_snapshot(tmp_path, CORPUS, build_id="1" * 32)
    assert not has_fresh_index(snapshot)
    assert opened(snapshot) is None


def test_an_index_of_an_older_folding_is_read_until_the_next_build_makes_it_again(
    tmp_path: Path,
) -> None:
    snapshot = write_snapshot(tmp_path, CORPUS)
    build_paper_index(snapshot)
    facts = json.loads(manifest_file(snapshot).read_text())
    del facts["folding"]
    manifest_file(snapshot).write_text(json.dumps(facts))
    assert opened(snapshot) is not None
    assert not has_fresh_index(snapshot)


def test_a_snapshot_without_a_build_id_is_known_by_its_file(tmp_path: Path) -> None:
    snapshot = write_snapshot(tmp_path, CORPUS)
    with closing(sqlite3.connect(snapshot)) as connection, connection:
        connection.execute("DROP TABLE snapshot_meta")
    build_paper_index(snapshot)
    assert has_fresh_index(snapshot)
    with closing(sqlite3.connect(snapshot)) as connection, connection:
        connection.execute("DELETE FROM paper_tag")
        connection.execute("PRAGMA user_version = 7")
    assert not has_fresh_index(snapshot)


def test_a_second_index_replaces_the_first_and_nothing_else_is_left(tmp_path: Path) -> None:
    snapshot = write_snapshot(tmp_path, CORPUS)
    first = build_paper_index(snapshot)
    second = build_paper_index(snapshot)
    assert first.folder != second.folder
    assert {path.name for path in index_folder(snapshot).iterdir()} == {
        "manifest.json",
        second.folder,
    }


def test_a_run_that_fails_changes_nothing(tmp_path: Path) -> None:
    snapshot = write_snapshot(tmp_path, CORPUS)
    kept = build_paper_index(snapshot)

    def fail(done: int, total: int) -> None:
        raise RuntimeError("stopped")

    with pytest.raises(RuntimeError, match="stopped"):
        build_paper_index(snapshot, report=fail)
    assert read_manifest(snapshot) == kept
    assert {path.name for path in index_folder(snapshot).iterdir()} == {
        "manifest.json",
        kept.folder,
    }


@pytest.mark.parametrize(
    "damage", ["no manifest", "garbled manifest", "no folder", "empty folder", "a name that climbs"]
)
def test_a_damaged_index_is_passed_over_and_the_snapshot_answers(
    tmp_path: Path, damage: str
) -> None:
    snapshot = write_snapshot(tmp_path, CORPUS)
    manifest = build_paper_index(snapshot)
    folder = index_folder(snapshot) / manifest.folder
    match damage:
        case "no manifest":
            manifest_file(snapshot).unlink()
        case "garbled manifest":
            manifest_file(snapshot).write_text("[1]", encoding="utf-8")
        case "a name that climbs":
            text = (
                manifest_file(snapshot)
                .read_text(encoding="utf-8")
                .replace(manifest.folder, "../elsewhere")
            )
            manifest_file(snapshot).write_text(text, encoding="utf-8")
        case _:
            shutil.rmtree(folder)
            if damage == "empty folder":
                folder.mkdir()
    assert opened(snapshot) is None
    with Desk(snapshot, tmp_path / "paper-static", open_paper_index) as desk:
        assert desk.search("residual") == [RESIDUAL.title]


def test_an_index_made_while_the_server_runs_is_taken_up(tmp_path: Path) -> None:
    corpus = [
        *CORPUS,
        SamplePaper(title="Running experiments", summaries={"simple": "Runs of cells."}),
    ]
    snapshot = write_snapshot(tmp_path, corpus)
    with Desk(snapshot, tmp_path / "paper-static", open_paper_index) as desk:
        assert desk.search("experiment") == []
        build_paper_index(snapshot)
        assert desk.search("experiment") == ["Running experiments"]
        assert desk.search('"experiment"') == []


def test_an_index_in_a_read_only_folder_is_read(tmp_path: Path) -> None:
    snapshot = write_snapshot(tmp_path, CORPUS)
    manifest = build_paper_index(snapshot)
    folder = index_folder(snapshot) / manifest.folder
    for path in (*folder.rglob("*"), folder, index_folder(snapshot)):
        path.chmod(0o555 if path.is_dir() else 0o444)
    try:
        ranking = opened(snapshot)
        assert ranking is not None
    finally:
        for path in (index_folder(snapshot), folder, *folder.iterdir()):
            path.chmod(0o755)


def test_reading_leaves_the_index_as_it_was(tmp_path: Path) -> None:
    snapshot = write_snapshot(tmp_path, CORPUS)
    manifest = build_paper_index(snapshot)
    folder = index_folder(snapshot) / manifest.folder
    before = {file: file.stat().st_mtime_ns for file in folder.rglob("*") if file.is_file()}
    with Desk(snapshot, tmp_path / "paper-static", open_paper_index) as desk:
        assert desk.search("attention")[0] == TRANSFORMER.title
    after = {file: file.stat().st_mtime_ns for file in folder.rglob("*") if file.is_file()}
    assert after == before


@pytest.mark.parametrize("open_ranking", [None, open_paper_index], ids=["fts5", "tantivy"])
def test_deep_pages_go_on_where_the_last_one_stopped(
    tmp_path: Path, open_ranking: OpenRanking | None
) -> None:
    papers = [
        SamplePaper(title=f"Study {number}", summaries={"simple": "cells " * (number % 7 + 1)})
        for number in range(60)
    ]
    snapshot = write_snapshot(tmp_path, papers)
    build_paper_index(snapshot)
    with Desk(snapshot, tmp_path / "paper-static", open_ranking) as desk:
        whole = desk.search("cells study", limit=60)
        pages = [
            title
            for page in range(1, 7)
            for title in desk.search("cells study", limit=10, page=page)
        ]
        assert pages == whole
        assert len(set(whole)) == 60
        named = [
            title for page in range(1, 7) for title in desk.search("Study 17", limit=10, page=page)
        ]
        assert named[0] == "Study 17"
        assert len(named) == len(set(named)) == 60


def test_a_phrase_of_stop_words_is_found_where_it_stands(tmp_path: Path) -> None:
    papers = [
        SamplePaper(title="One", summaries={"simple": "the state of the art in the field"}),
        SamplePaper(title="Two", summaries={"simple": "of art the state in field the of"}),
    ]
    snapshot = write_snapshot(tmp_path, papers)
    build_paper_index(snapshot)
    with Desk(snapshot, tmp_path / "paper-static", open_paper_index) as desk:
        assert desk.search('"of the"') == ["One"]
        assert desk.search('"state of the art"') == ["One"]
        assert desk.search('"art of"') == []


def test_two_threads_may_search_one_index(tmp_path: Path) -> None:
    snapshot = write_snapshot(tmp_path, CORPUS)
    build_paper_index(snapshot)
    ranking = opened(snapshot)
    assert ranking is not None

    async def ask() -> list[list[int]]:
        source = PaperSnapshot(snapshot)

        def one() -> list[int]:
            with source.current().connection() as connection:
                found = ranking.search(connection, parse_paper_query("transformer"), 0, 5)
                return [paper.row for paper in found]

        try:
            return await asyncio.gather(*(asyncio.to_thread(one) for _ in range(20)))
        finally:
            source.close()

    answers = asyncio.run(ask())
    assert all(answer == answers[0] for answer in answers)
    assert len(answers[0]) == 3


@pytest.mark.parametrize("part", ["papers", "passages"])
def test_a_damaged_index_is_left_aside_and_made_again_by_the_next_build(
    tmp_path: Path, part: str
) -> None:
    snapshot = write_snapshot(tmp_path, CORPUS)
    manifest = build_paper_index(snapshot)
    (index_folder(snapshot) / manifest.folder / part / "meta.json").write_bytes(b"not JSON")
    assert opened(snapshot) is None
    assert not has_fresh_index(snapshot), "it is not taken for a good one for ever"
    build_paper_index(snapshot)
    assert opened(snapshot) is not None


def test_an_index_of_an_earlier_version_is_made_again_with_its_vectors_kept(tmp_path: Path) -> None:
    snapshot = write_snapshot(tmp_path, CORPUS)
    build_paper_index(snapshot)
    assert renew_older_index(snapshot) is None
    facts = json.loads(manifest_file(snapshot).read_text())
    facts |= {"format": 1, "vectors": "model", "vector_rows": "rows-1.npy"}
    manifest_file(snapshot).write_text(json.dumps(facts))
    assert opened(snapshot) is None
    process = renew_older_index(snapshot)
    assert process is not None
    process.join(60)
    renewed = read_manifest(snapshot)
    assert renewed is not None
    assert (renewed.vectors, renewed.vector_rows) == ("model", "rows-1.npy")
    assert opened(snapshot) is not None


def test_a_snippet_shows_the_passage_that_matched(tmp_path: Path) -> None:
    filler = "Nothing of interest is said here about anything at all. " * 60
    source = f"# Text\n\n{filler}\n\nThe owl, being a bird, hunts.\n\n{filler}\n\nOwls hunt mice."
    papers = [SamplePaper(title="Birds", summaries={"simple": "About hunts."}, source=source)]
    snapshot = write_snapshot(tmp_path, papers)
    build_paper_index(snapshot)
    with Desk(snapshot, tmp_path / "paper-static", open_paper_index) as desk:
        hit = desk.ask("search_papers", query="owls that hunt mice")
        assert desk.search('"text"') == ["Birds"], "a heading is found, too"
    assert "**Owls hunt mice**" in str(hit)

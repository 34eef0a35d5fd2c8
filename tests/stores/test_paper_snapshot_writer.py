"""What we write is what other tools read: the same tables, columns, indexes and spellings as a genuine snapshot."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

import orjson
import pytest

from carrel.wiring.papers_build import build_demo

GENUINE = Path(__file__).parents[2] / ".." / "shared" / "data" / "snapshots" / "demo"


def shape_of(path: Path) -> dict[str, object]:
    with closing(sqlite3.connect(f"file:{path.resolve()}?mode=ro&immutable=1", uri=True)) as connection:
        names = [name for (name,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table' ORDER BY name")]
        return {
            name: (
                connection.execute(f"PRAGMA table_xinfo({name})").fetchall(),
                sorted(
                    (index[1], index[2], index[3], tuple(connection.execute(f"PRAGMA index_info({index[1]})").fetchall()))
                    for index in connection.execute(f"PRAGMA index_list({name})")
                ),
                sorted(row[2:] for row in connection.execute(f"PRAGMA foreign_key_list({name})")),
            )
            for name in names
        }


@pytest.fixture(scope="module")
def demo(tmp_path_factory: pytest.TempPathFactory) -> Path:
    into = tmp_path_factory.mktemp("demo")
    build_demo(into)
    return into


@pytest.fixture
def genuine() -> Path:
    if not GENUINE.is_dir():
        pytest.skip(f"the genuine snapshot is not at {GENUINE}")
    return GENUINE


@pytest.mark.promise("P9")
def test_tables_columns_and_indexes_are_those_of_a_genuine_snapshot(demo: Path, genuine: Path) -> None:
    assert shape_of(demo / "paper_snapshot.db") == shape_of(genuine / "paper_snapshot.db")


@pytest.mark.promise("P9")
def test_summaries_and_manifests_have_the_keys_of_genuine_ones(demo: Path, genuine: Path) -> None:
    def keys(folder: Path, pattern: str) -> set[tuple[str, ...]]:
        return {tuple(orjson.loads(path.read_bytes())) for path in (folder / "paper-static").glob(pattern)}

    for pattern in ("manifest/*.json", "summary/*.json", "summary/*/*.json"):
        assert keys(demo, pattern) == keys(genuine, pattern), pattern


def test_a_snapshot_opens_in_a_folder_where_nothing_may_be_written(demo: Path) -> None:
    path = demo / "paper_snapshot.db"
    assert path.read_bytes()[18:20] == b"\x01\x01", "a WAL header would need files beside it"
    assert not list(demo.glob("paper_snapshot.db-*"))


def test_text_of_chinese_is_indexed_character_by_character(demo: Path) -> None:
    with closing(sqlite3.connect(demo / "paper_snapshot.db")) as connection:
        [(title,)] = connection.execute("SELECT title FROM paper_fts WHERE paper_fts MATCH ?", ('"全 文 检 索"',)).fetchall()
    assert title.startswith("Searching across scripts")
    assert "漢 字" in title

"""Snapshots that somebody made to harm: what is read from them is stored in them, and no longer
than a text can be.
"""

from __future__ import annotations

import sqlite3
from pathlib import Path

import pytest

from carrel.rooms.papers.errors import SnapshotUnavailableError
from carrel.stores.sqlite.papers import snapshot as snapshot_module
from tests.rooms.papers.conftest import CORPUS, RESIDUAL
from tests.rooms.papers.desk import Desk
from tests.rooms.papers.snapshots import write_snapshot

pytestmark = pytest.mark.promise("D14")

ENDLESS = "WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n)"
HOSTILE = {
    "a view in place of a table": f"""
        DROP TABLE author;
        CREATE VIEW author AS {ENDLESS} SELECT x AS author_id, 'a' AS value, 1 AS paper_count FROM n;""",  # noqa: E501
    "a view in place of a table, in capitals": f"""
        DROP TABLE tag;
        CREATE VIEW TAG AS {ENDLESS} SELECT x AS tag_id, 1 AS value, 1 AS paper_count FROM n;""",
    "a view in place of the words": f"""
        DROP TABLE paper_fts_content;
        CREATE VIEW paper_fts_content AS {ENDLESS} SELECT x AS id, 'a' AS c0, 'a' AS c1 FROM n;""",
    "words that are kept in a view": f"""
        DROP TABLE paper_fts;
        CREATE VIEW endless AS {ENDLESS} SELECT x AS rowid, 'a' AS title FROM n;
        CREATE VIRTUAL TABLE paper_fts USING fts5(paper_id UNINDEXED, title, content = 'endless');""",  # noqa: E501
    "a column that is computed": """
        ALTER TABLE paper ADD COLUMN extra TEXT GENERATED ALWAYS AS (hex(zeroblob(50000000))) VIRTUAL;""",  # noqa: E501
    "a table of another module": """
        DROP TABLE tag;
        CREATE VIRTUAL TABLE tag USING fts5vocab(paper_fts, row);""",
}


def changed_snapshot(folder: Path, script: str) -> Path:
    path = write_snapshot(folder, CORPUS)
    connection = sqlite3.connect(path)
    connection.execute("PRAGMA journal_mode = DELETE")
    connection.executescript(script)
    connection.close()
    return path


@pytest.mark.parametrize("kind", HOSTILE)
def test_what_is_computed_while_it_is_read_is_refused(tmp_path: Path, kind: str) -> None:
    path = changed_snapshot(tmp_path, HOSTILE[kind])
    with (
        Desk(path, tmp_path / "paper-static") as desk,
        pytest.raises(SnapshotUnavailableError) as refused,
    ):
        desk.search("residual")
    assert refused.value.next_step


def test_a_view_of_another_name_and_a_trigger_harm_nobody(tmp_path: Path) -> None:
    script = f"""
        CREATE VIEW my_papers AS {ENDLESS} SELECT x FROM n;
        CREATE TRIGGER mine AFTER UPDATE ON paper BEGIN DELETE FROM paper; END;"""
    with Desk(changed_snapshot(tmp_path, script), tmp_path / "paper-static") as desk:
        assert desk.search("residual") == [RESIDUAL.title]


def test_a_row_of_endless_length_is_refused_and_the_others_are_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(snapshot_module, "_LONGEST_VALUE_BYTES", 100_000)
    path = changed_snapshot(
        tmp_path,
        f"UPDATE paper SET title = hex(zeroblob(100000)) WHERE paper_id = '{RESIDUAL.paper_id}'",
    )
    other = next(paper for paper in CORPUS if paper is not RESIDUAL)
    with Desk(path, tmp_path / "paper-static") as desk:
        assert desk.ask("get_paper_metadata", paper_id=other.paper_id).title == other.title
        with pytest.raises(SnapshotUnavailableError):
            desk.ask("get_paper_metadata", paper_id=RESIDUAL.paper_id)

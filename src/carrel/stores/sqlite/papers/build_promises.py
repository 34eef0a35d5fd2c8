"""Changes of papers that a publication promises: they count once its manifest is on disk."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable

import orjson

from carrel.rooms.papers.building.planning import KnownPaper, PaperChange
from carrel.stores.sqlite.papers.build_tables import key_hash

_PROMISE = "INSERT INTO promised(paper_id, facts) VALUES (?, ?)"


class PromiseTable:
    """The table `promised` of a build state; `published` and `published_key` where it is kept."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection

    def add_changes(self, changes: Iterable[PaperChange]) -> None:
        self._connection.executemany(
            _PROMISE, ((change.paper_id, _change_facts(change)) for change in changes)
        )

    def add_ends(self, papers: Iterable[KnownPaper]) -> None:
        """Papers that no record makes any more."""
        self._connection.executemany(_PROMISE, ((paper.paper_id, b"null") for paper in papers))

    def add_removal(self, paper: KnownPaper, removed_at: str) -> None:
        """A paper that somebody removed."""
        self._connection.execute(_PROMISE, (paper.paper_id, orjson.dumps(removed_at)))

    def add_left_out(self, record_ids: Iterable[int]) -> None:
        """Records that belong to no paper."""
        self._connection.execute(_PROMISE, ("", orjson.dumps(list(record_ids))))

    def drop(self) -> None:
        self._connection.execute("DELETE FROM promised")

    def apply(self) -> None:
        """They have come about."""
        # One by one: a whole build promises every paper, and nothing here changes the promises.
        for paper_id, facts in self._connection.execute(
            "SELECT paper_id, facts FROM promised ORDER BY number"
        ):
            match orjson.loads(facts):
                case None:
                    self._end_paper(paper_id)
                case str() as removed_at:
                    self._remove_paper(paper_id, removed_at)
                case list() as record_ids:
                    self._connection.executemany(
                        "UPDATE record SET paper = NULL WHERE record_id = ?",
                        ((record_id,) for record_id in record_ids),
                    )
                case change:
                    self._apply_change(paper_id, change)

    def _end_paper(self, paper_id: str) -> None:
        row = self._connection.execute(
            "DELETE FROM published WHERE paper_id = ? RETURNING number", (paper_id,)
        ).fetchone()
        if row is not None:
            self._connection.execute("DELETE FROM published_key WHERE paper = ?", row)
            self._connection.execute("UPDATE record SET paper = NULL WHERE paper = ?", row)

    def _remove_paper(self, paper_id: str, removed_at: str) -> None:
        """Keep its identifier and keys for whoever adds it again."""
        row = self._connection.execute(
            "UPDATE published SET row = NULL, removed_at = ?, filed = '', conflicts = NULL, "
            "links = NULL "
            "WHERE paper_id = ? RETURNING number",
            (removed_at, paper_id),
        ).fetchone()
        self._connection.execute("UPDATE record SET paper = NULL WHERE paper = ?", row)

    def _apply_change(self, paper_id: str, change: dict[str, object]) -> None:
        values = (
            paper_id,
            change["paper_index"],
            bytes.fromhex(str(change["digest"])),
            change["row"],
            change["filed"],
            orjson.dumps(change["conflicts"]) if change["conflicts"] else None,
            orjson.dumps(change["links"]) if change.get("links") else None,
        )
        [(number,)] = self._connection.execute(
            "INSERT INTO published(paper_id, paper_index, digest, row, filed, conflicts, links) "
            "VALUES (?, ?, ?, ?, ?, ?, ?) ON CONFLICT(paper_id) DO UPDATE SET "
            "paper_index = excluded.paper_index, digest = excluded.digest, row = excluded.row, "
            "filed = excluded.filed, conflicts = excluded.conflicts, "
            "links = excluded.links, "
            "removed_at = NULL RETURNING number",
            values,
        ).fetchall()
        keys, record_ids = change["keys"], change["record_ids"]
        assert isinstance(keys, list)
        assert isinstance(record_ids, list)
        self._connection.execute("DELETE FROM published_key WHERE paper = ?", (number,))
        self._connection.executemany(
            "INSERT OR IGNORE INTO published_key VALUES (?, ?)", ((key, number) for key in keys)
        )
        self._connection.executemany(
            "UPDATE record SET paper = ? WHERE record_id = ?",
            ((number, record_id) for record_id in record_ids),
        )


def _change_facts(change: PaperChange) -> bytes:
    return orjson.dumps(
        {
            "paper_index": change.paper_index,
            "digest": change.digest.hex(),
            "row": change.row,
            "filed": change.filed,
            "keys": [key_hash(key) for key in change.keys],
            "record_ids": change.record_ids,
            "conflicts": change.conflicts,
            "links": {
                name: value
                for name, value in (
                    ("joins", change.joins),
                    ("doubtful", change.doubtful),
                    ("versions", change.versions),
                )
                if value
            },
        }
    )

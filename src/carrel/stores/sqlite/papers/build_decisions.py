"""Decisions of people about a corpus, in its build state: appended, never changed.

A decision waits (`is_pending`) until the publication that shows it is on disk, and is dropped where
that publication did not come about.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Sequence
from typing import Any

import orjson

from carrel.rooms.papers.building.decisions import (
    Action,
    Decision,
    FieldChange,
    PaperThen,
    RecordAddress,
)
from carrel.stores.sqlite.papers.build_tables import key_hash

_DECISION = "SELECT number, at, who, action, facts, undoes FROM decision"


class DecisionTable:
    """The tables `decision` and `decision_name` of a build state."""

    def __init__(self, connection: sqlite3.Connection, *, has_pending: bool) -> None:
        self._connection = connection
        # Whoever builds sees what waits for its publication; whoever only reads does not.
        self._shown = "TRUE" if has_pending else "NOT is_pending"

    def has_any(self) -> bool:
        return self._connection.execute("SELECT 1 FROM decision LIMIT 1").fetchone() is not None

    def append(self, decision: Decision) -> int:
        """Keep a decision until its publication is confirmed; returns its number."""
        facts = orjson.dumps({"papers": decision.papers, "changes": decision.changes})
        added = self._connection.execute(
            "INSERT INTO decision(at, who, action, facts, undoes, is_pending) "
            "VALUES (?, ?, ?, ?, ?, 1)",
            (decision.at, decision.who, decision.action, facts, decision.undoes),
        )
        number = added.lastrowid
        assert number is not None
        self._connection.executemany(
            "INSERT OR IGNORE INTO decision_name VALUES (?, ?)",
            ((key_hash(name), number) for name in decision.names()),
        )
        return number

    def confirm(self) -> None:
        """The publication that shows the pending decisions is on disk."""
        self._connection.execute("UPDATE decision SET is_pending = 0 WHERE is_pending")

    def drop_pending(self) -> None:
        """Nothing shows them."""
        if self._connection.execute("SELECT 1 FROM decision WHERE is_pending").fetchone():
            self._connection.execute(
                "DELETE FROM decision_name WHERE decision IN "
                "(SELECT number FROM decision WHERE is_pending)"
            )
            self._connection.execute("DELETE FROM decision WHERE is_pending")

    def find(self, number: int) -> Decision | None:
        row = self._connection.execute(
            f"{_DECISION} WHERE number = ? AND {self._shown}", (number,)
        ).fetchone()
        return None if row is None else self._read(row)

    def numbers_by_names(self, hashes: Iterable[int]) -> set[int]:
        """The decisions that have one of these names."""
        found: set[int] = set()
        for hashed in hashes:
            rows = self._connection.execute(
                "SELECT decision FROM decision_name WHERE hash = ?", (hashed,)
            )
            found.update(number for (number,) in rows)
        return found

    def newest_first(self, first: int, count: int) -> list[Decision]:
        """`count` decisions after the `first` newest."""
        rows = self._connection.execute(
            f"{_DECISION} WHERE {self._shown} ORDER BY number DESC LIMIT ? OFFSET ?",
            (count, first),
        )
        return [self._read(row) for row in rows.fetchall()]

    def undoings(self, number: int) -> list[Decision]:
        """The decisions that undid this one, those that undid them, and so on."""
        found: list[Decision] = []
        waiting = [number]
        while waiting:
            rows = self._connection.execute(
                f"{_DECISION} WHERE undoes = ? AND {self._shown}", (waiting.pop(),)
            )
            later = [self._read(row) for row in rows.fetchall()]
            found += later
            waiting += [each.number for each in later]
        return found

    def _read(self, row: Sequence[Any]) -> Decision:
        number, at, who, action, facts, undoes = row
        known = orjson.loads(facts)
        undone_by = self._undone_by(number)
        return Decision(
            number,
            at,
            who,
            _action(action),
            tuple(_read_paper(paper) for paper in known["papers"]),
            tuple(_read_change(change) for change in known["changes"]),
            undoes,
            undone_by is None,
            undone_by,
        )

    def _undone_by(self, number: int) -> int | None:
        """The decision that undid this one and was not undone itself."""
        undoers: dict[int, list[int]] = {}
        waiting = [number]
        while waiting:
            undone = waiting.pop()
            rows = self._connection.execute(
                f"SELECT number FROM decision WHERE undoes = ? AND {self._shown} ORDER BY number",
                (undone,),
            )
            undoers[undone] = [later for (later,) in rows.fetchall()]
            waiting += undoers[undone]
        undone_by: dict[int, int | None] = {}
        # Later decisions undo earlier ones, so that their own fate is known first.
        for each in sorted(undoers, reverse=True):
            counting = [later for later in undoers[each] if undone_by[later] is None]
            undone_by[each] = counting[-1] if counting else None
        return undone_by[number]


def _action(text: str) -> Action:
    # A newer version may know others, but its state is refused as a whole.
    return text  # type: ignore[return-value]


def _read_paper(facts: dict[str, Any]) -> PaperThen:
    records = tuple(
        RecordAddress(**{**record, "keys": tuple(record["keys"])}) for record in facts["records"]
    )
    return PaperThen(facts["paper_id"], facts["title"], records)


def _read_change(facts: dict[str, Any]) -> FieldChange:
    before, after = (
        tuple(value) if isinstance(value := facts[name], list) else value
        for name in ("before", "after")
    )
    return FieldChange(facts["field"], before, after)

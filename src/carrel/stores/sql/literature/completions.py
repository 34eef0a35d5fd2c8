"""The queue of completions and their proposals."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from carrel.rooms.literature.completion_ports import CompletionState, QueuedCompletion, Target
from carrel.stores.sql.driver import Driver, Rows, Step, bind

_COLUMNS = "id, owner, target, record_id, state, body, asked_at, updated_at"


class SqlCompletions:
    """The completion store over a driver; the contract is the port's."""

    def __init__(self, driver: Driver) -> None:
        self._driver = driver

    async def ask(self, rows: Sequence[QueuedCompletion]) -> int:
        sql = f"""INSERT INTO literature_completions ({_COLUMNS}) VALUES (:id, :owner, :target,
                :record_id, :state, :body, :asked_at, :updated_at)
            ON CONFLICT (owner, target, record_id) DO UPDATE SET state = excluded.state,
                body = excluded.body, asked_at = excluded.asked_at,
                updated_at = excluded.updated_at
            WHERE literature_completions.state IN ('complete', 'applied', 'undone') RETURNING 1"""
        steps: list[Step] = [(sql, _facts(row)) for row in rows]
        if not steps:
            return 0
        return sum(len(found) for found in await self._driver.run(*steps))

    async def list_entries(
        self,
        owner: str | None,
        target: Target,
        states: Sequence[CompletionState],
        limit: int,
    ) -> list[QueuedCompletion]:
        listed, places = bind("state", states)
        sql = f"""SELECT {_COLUMNS} FROM literature_completions
            WHERE target = :target AND (:anybody = 1 OR owner = :owner) AND state IN ({listed})
            ORDER BY asked_at, id LIMIT :limit"""
        about = {
            "target": target,
            "anybody": int(owner is None),
            "owner": owner or "",
            "limit": limit,
        }
        return [_entry(row) for row in await self._rows(sql, **about, **places)]

    async def count(self, owner: str, target: Target) -> dict[CompletionState, int]:
        sql = """SELECT state, count(*) FROM literature_completions
            WHERE owner = :owner AND target = :target GROUP BY state"""
        return {row[0]: int(row[1]) for row in await self._rows(sql, owner=owner, target=target)}

    async def save(
        self, entry: QueuedCompletion, state: CompletionState, body: str, at: str
    ) -> bool:
        sql = """UPDATE literature_completions SET state = :state, body = :body, updated_at = :at
            WHERE id = :id AND state = :was AND updated_at = :read RETURNING id"""
        about = {"id": entry.id, "was": entry.state, "read": entry.updated_at}
        return bool(await self._rows(sql, state=state, body=body, at=at, **about))

    async def _rows(self, sql: str, **parameters: object) -> Rows:
        return (await self._driver.run((sql, parameters)))[0]


def _facts(row: QueuedCompletion) -> dict[str, object]:
    return {
        "id": row.id,
        "owner": row.owner,
        "target": row.target,
        "record_id": row.record_id,
        "state": row.state,
        "body": row.body,
        "asked_at": row.asked_at,
        "updated_at": row.updated_at,
    }


def _entry(row: tuple[Any, ...]) -> QueuedCompletion:
    return QueuedCompletion(*row)

"""Alerts with their marks, and the works that they found."""

from __future__ import annotations

import json
from collections.abc import Generator, Sequence
from dataclasses import asdict
from typing import Any

from carrel.rooms.literature.alert_ports import Alert, AlertMark, KeptWork, SeenWork, lease_of
from carrel.stores.sql.driver import Driver, Rows, Step, bind, insert_if_absent

_ALERT = "id, owner, name, query, services, since, created_at, ran_at"
_MARK = "service, complete_until, asked_at, failure, reason, resume_from, pass_began"
_WORK = "number, work_id, found_at, body, told_at"
_KEYS_AT_ONCE = 1_000
# In the place of the time when a work was told, for works that were there before the alert.
_BEFORE = "before"
_TABLES = ("literature_alert_marks", "literature_alert_works", "literature_alert_keys")


class SqlAlerts:
    """The alert store over a driver; the contract is the port's."""

    def __init__(self, driver: Driver) -> None:
        self._driver = driver

    async def add(self, alert: Alert, marks: Sequence[AlertMark]) -> bool:
        return await self._driver.transact(_add(alert, marks))

    async def list_owned(self, owner: str) -> list[Alert]:
        sql = f"SELECT {_ALERT} FROM literature_alerts WHERE owner = :owner ORDER BY name, id"
        return [_alert(row) for row in await self._rows(sql, owner=owner)]

    async def find(self, owner: str, name: str) -> Alert | None:
        sql = f"""SELECT {_ALERT} FROM literature_alerts
            WHERE owner = :owner AND (name = :name OR id = :name)
            ORDER BY CASE WHEN id = :name THEN 0 ELSE 1 END"""
        rows = await self._rows(sql, owner=owner, name=name)
        return _alert(rows[0]) if rows else None

    async def remove(self, owner: str, alert_id: str) -> bool:
        return await self._driver.transact(_remove(owner, alert_id))

    async def list_due(self, before: str) -> list[Alert]:
        sql = f"SELECT {_ALERT} FROM literature_alerts WHERE ran_at < :before ORDER BY ran_at, id"
        return [_alert(row) for row in await self._rows(sql, before=before)]

    async def marks(self, alert_id: str) -> list[AlertMark]:
        sql = f"""SELECT {_MARK}
            FROM literature_alert_marks WHERE alert_id = :id ORDER BY service"""
        return [AlertMark(*row) for row in await self._rows(sql, id=alert_id)]

    async def keep(
        self,
        alert_id: str,
        worker: str,
        works: Sequence[SeenWork],
        marks: Sequence[AlertMark],
        at: str,
        most: int,
    ) -> list[int] | None:
        return await self._driver.transact(_keep(alert_id, worker, works, marks, at, most))

    async def list_works(
        self, alert_id: str, *, found_since: str, only_untold: bool, limit: int
    ) -> list[KeptWork]:
        sql = f"""SELECT {_WORK} FROM literature_alert_works
            WHERE alert_id = :id AND found_at >= :since AND told_at <> :before
                AND (:untold = 0 OR told_at = '')
            ORDER BY number DESC LIMIT :limit"""
        about = {"id": alert_id, "since": found_since, "untold": int(only_untold), "limit": limit}
        about["before"] = _BEFORE
        return [KeptWork(*row) for row in await self._rows(sql, **about)]

    async def count_untold(self, alert_id: str) -> int:
        sql = """SELECT count(*) FROM literature_alert_works
            WHERE alert_id = :id AND told_at = ''"""
        return int((await self._rows(sql, id=alert_id))[0][0])

    async def mark_told(self, alert_id: str, numbers: Sequence[int], at: str) -> None:
        sql = """UPDATE literature_alert_works SET told_at = :at
            WHERE alert_id = :id AND number = :number AND told_at = ''"""
        steps: list[Step] = [(sql, {"id": alert_id, "number": one, "at": at}) for one in numbers]
        if steps:
            await self._driver.run(*steps)

    async def _rows(self, sql: str, **parameters: object) -> Rows:
        return (await self._driver.run((sql, parameters)))[0]


def _add(alert: Alert, marks: Sequence[AlertMark]) -> Generator[Step, Rows, bool]:
    facts = {
        "id": alert.id,
        "owner": alert.owner,
        "name": alert.name,
        "query": alert.query,
        "services": json.dumps(alert.services),
        "since": alert.since,
        "created_at": alert.created_at,
    }
    if not (yield insert_if_absent("literature_alerts", facts)):
        return False
    for mark in marks:
        yield _set_mark(alert.id, mark)
    return True


def _remove(owner: str, alert_id: str) -> Generator[Step, Rows, bool]:
    sql = "DELETE FROM literature_alerts WHERE id = :id AND owner = :owner RETURNING id"
    if not (yield sql, {"id": alert_id, "owner": owner}):
        return False
    for table in _TABLES:
        yield f"DELETE FROM {table} WHERE alert_id = :id", {"id": alert_id}
    return True


def _keep(
    alert_id: str,
    worker: str,
    works: Sequence[SeenWork],
    marks: Sequence[AlertMark],
    at: str,
    most: int,
) -> Generator[Step, Rows, list[int] | None]:
    # The first statement writes to the alert's row, so that two of these never run side by side.
    touch = """UPDATE literature_alerts SET revision = revision + 1, ran_at = :at
        WHERE id = :id AND EXISTS (SELECT 1 FROM literature_leases AS l
            WHERE l.name = :lease AND l.worker = :worker) RETURNING id"""
    lease = lease_of(alert_id)
    if not (yield touch, {"id": alert_id, "at": at, "lease": lease, "worker": worker}):
        return None
    known = yield from _known_keys(alert_id, [key for work in works for key in work.keys])
    last = yield (
        "SELECT coalesce(max(number), 0) FROM literature_alert_works WHERE alert_id = :id",
        {"id": alert_id},
    )
    number, new = int(last[0][0]), list[int]()
    for work in works:
        found = next((known[key] for key in work.keys if key in known), None)
        if found is None:
            found = number = number + 1
            if work.is_new:
                new.append(found)
            yield _add_work(alert_id, found, work, at)
        for key in work.keys:
            if key not in known:
                known[key] = found
                facts = {"alert_id": alert_id, "work_key": key, "number": found}
                yield insert_if_absent("literature_alert_keys", facts)
    for mark in marks:
        yield _set_mark(alert_id, mark)
    for table in ("literature_alert_works", "literature_alert_keys"):
        sql = f"DELETE FROM {table} WHERE alert_id = :id AND number <= :last"
        yield sql, {"id": alert_id, "last": number - most}
    return new


def _known_keys(alert_id: str, keys: Sequence[str]) -> Generator[Step, Rows, dict[str, int]]:
    known: dict[str, int] = {}
    wanted = list(dict.fromkeys(keys))
    for first in range(0, len(wanted), _KEYS_AT_ONCE):
        listed, places = bind("key", wanted[first : first + _KEYS_AT_ONCE])
        rows = yield (
            f"""SELECT work_key, number FROM literature_alert_keys
            WHERE alert_id = :id AND work_key IN ({listed})""",
            {"id": alert_id, **places},
        )
        known.update((str(row[0]), int(row[1])) for row in rows)
    return known


def _add_work(alert_id: str, number: int, work: SeenWork, at: str) -> Step:
    sql = """INSERT INTO literature_alert_works
            (alert_id, number, work_id, found_at, body, told_at)
        VALUES (:id, :number, :work, :at, :body, :told_at)"""
    return sql, {
        "id": alert_id,
        "number": number,
        "work": work.work_id,
        "at": at,
        "body": work.body,
        "told_at": "" if work.is_new else _BEFORE,
    }


def _set_mark(alert_id: str, mark: AlertMark) -> Step:
    facts = asdict(mark)
    changed = ", ".join(f"{name} = excluded.{name}" for name in facts if name != "service")
    sql = f"""INSERT INTO literature_alert_marks (alert_id, {", ".join(facts)})
        VALUES (:alert_id, {", ".join(f":{name}" for name in facts)})
        ON CONFLICT (alert_id, service) DO UPDATE SET {changed}"""
    return sql, {"alert_id": alert_id, **facts}


def _alert(row: tuple[Any, ...]) -> Alert:
    owner, name, query, services = row[1:5]
    return Alert(row[0], owner, name, query, tuple(json.loads(services)), row[5], row[6], row[7])

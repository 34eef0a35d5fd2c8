"""Notices about works, by the keys of the works."""

from __future__ import annotations

import json
from collections.abc import Generator, Iterator, Sequence
from itertools import islice
from typing import Any

from carrel.libraries.literature.records import Notice
from carrel.rooms.literature.retraction_ports import LoadedTable, NoticeRow
from carrel.stores.sql.driver import Driver, Rows, Step, bind

# Fitted on 60,000 records of a table, 120,000 rows, in SQLite: 1.5 s; 500 rows at once took 12 s,
# since it looks each name of a parameter up among all of them.
_ROWS_AT_ONCE = 25
_KEYS_AT_ONCE = 1_000
_COLUMNS = "work_key, service, record, kind, notice_date, notice_doi, notice_pmid, reasons"


class SqlNotices:
    """The notice store over a driver; the contract is the port's."""

    def __init__(self, driver: Driver) -> None:
        self._driver = driver

    async def replace_table(self, table: LoadedTable, rows: Sequence[NoticeRow]) -> None:
        await self._driver.transact(_replace(table, rows))

    async def table(self, name: str) -> LoadedTable | None:
        sql = """SELECT name, place, mark, loaded_at, row_count, skipped_count
            FROM literature_tables WHERE name = :name"""
        rows = (await self._driver.run((sql, {"name": name})))[0]
        return LoadedTable(*rows[0]) if rows else None

    async def replace_said(
        self, service: str, keys: Sequence[str], rows: Sequence[NoticeRow]
    ) -> None:
        if keys:
            await self._driver.transact(_replace_said(service, keys, rows))

    async def find(self, keys: Sequence[str]) -> dict[str, list[Notice]]:
        found: dict[str, list[Notice]] = {}
        wanted = list(dict.fromkeys(keys))
        for first in range(0, len(wanted), _KEYS_AT_ONCE):
            listed, places = bind("key", wanted[first : first + _KEYS_AT_ONCE])
            sql = f"SELECT {_COLUMNS} FROM literature_notices WHERE work_key IN ({listed})"
            for row in (await self._driver.run((sql, places)))[0]:
                found.setdefault(str(row[0]), []).append(_notice(row))
        return found

    async def list_keys(self, after: str, count: int) -> list[str]:
        sql = """SELECT DISTINCT work_key FROM literature_notices WHERE work_key > :after
            ORDER BY work_key LIMIT :count"""
        rows = (await self._driver.run((sql, {"after": after, "count": count})))[0]
        return [str(row[0]) for row in rows]


def _replace(table: LoadedTable, rows: Sequence[NoticeRow]) -> Generator[Step, Rows, None]:
    yield "DELETE FROM literature_notices WHERE service = :name", {"name": table.name}
    yield from _insert(rows)
    yield "DELETE FROM literature_tables WHERE name = :name", {"name": table.name}
    sql = """INSERT INTO literature_tables (name, place, mark, loaded_at, row_count, skipped_count)
        VALUES (:name, :place, :mark, :loaded_at, :rows, :skipped)"""
    facts = {
        "name": table.name,
        "place": table.place,
        "mark": table.mark,
        "loaded_at": table.loaded_at,
        "rows": table.row_count,
        "skipped": table.skipped_count,
    }
    yield sql, facts


def _replace_said(
    service: str, keys: Sequence[str], rows: Sequence[NoticeRow]
) -> Generator[Step, Rows, None]:
    for first in range(0, len(keys), _KEYS_AT_ONCE):
        listed, places = bind("key", keys[first : first + _KEYS_AT_ONCE])
        sql = f"""DELETE FROM literature_notices
            WHERE service = :service AND work_key IN ({listed})"""
        yield sql, {"service": service, **places}
    yield from _insert(rows)


def _insert(rows: Sequence[NoticeRow]) -> Generator[Step, Rows, None]:
    # A statement must not touch a row twice; of two rows of one key and record the later is kept.
    unique = {(row.key, row.notice.service, row.record): row for row in rows}
    for part in _parts(iter(unique.values())):
        values, places = [], dict[str, object]()
        for number, row in enumerate(part):
            listed, own = bind(f"r{number}_", _facts(row))
            values.append(f"({listed})")
            places.update(own)
        yield (
            f"""INSERT INTO literature_notices ({_COLUMNS}) VALUES {", ".join(values)}
            ON CONFLICT (work_key, service, record) DO UPDATE SET kind = excluded.kind,
                notice_date = excluded.notice_date, notice_doi = excluded.notice_doi,
                notice_pmid = excluded.notice_pmid, reasons = excluded.reasons""",
            places,
        )


def _parts(rows: Iterator[NoticeRow]) -> Iterator[list[NoticeRow]]:
    while part := list(islice(rows, _ROWS_AT_ONCE)):
        yield part


def _facts(row: NoticeRow) -> tuple[object, ...]:
    notice = row.notice
    return (
        row.key,
        notice.service,
        row.record,
        notice.kind,
        notice.date,
        notice.doi,
        notice.pmid,
        json.dumps(notice.reasons, ensure_ascii=False),
    )


def _notice(row: tuple[Any, ...]) -> Notice:
    return Notice(
        kind=row[3],
        date=row[4],
        doi=row[5],
        pmid=row[6],
        reasons=tuple(json.loads(row[7])),
        service=row[1],
    )

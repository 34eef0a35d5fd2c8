"""Shared libraries and their members as rows, in a file of the home or in PostgreSQL."""

from __future__ import annotations

from collections.abc import Generator, Sequence
from datetime import datetime
from typing import Any, TypeVar, cast

from carrel.rooms.references.shared.members import (
    DecideMembers,
    Member,
    Membership,
    Role,
    SharedLibraryRecord,
)
from carrel.stores.sql.driver import Driver, Rows, Step

ResultT = TypeVar("ResultT")
Steps = Generator[Step, Rows, ResultT]

SCHEMA = (
    # `is_removed` is set while references and files are being deleted.
    """CREATE TABLE IF NOT EXISTS shared_libraries (
        library TEXT PRIMARY KEY, name TEXT NOT NULL, created_at TEXT NOT NULL,
        created_by TEXT NOT NULL, revision BIGINT NOT NULL DEFAULT 0,
        is_removed INTEGER NOT NULL DEFAULT 0)""",
    """CREATE TABLE IF NOT EXISTS shared_library_members (
        library TEXT NOT NULL, user_id TEXT NOT NULL, role TEXT NOT NULL, since TEXT NOT NULL,
        added_by TEXT NOT NULL, PRIMARY KEY (library, user_id))""",
    """CREATE INDEX IF NOT EXISTS shared_library_members_user
        ON shared_library_members (user_id)""",
)
# One script for each version; what an earlier version lacks goes into a new one at the end.
SCRIPTS = (";\n".join(SCHEMA),)

_MEMBERSHIPS = """SELECT l.library, l.name, m.role, l.created_at,
    (SELECT count(*) FROM shared_library_members c WHERE c.library = l.library)
    FROM shared_library_members m JOIN shared_libraries l ON l.library = m.library
    WHERE m.user_id = :user_id AND l.is_removed = 0"""
_MEMBERS = """SELECT user_id, role, since, added_by FROM shared_library_members
    WHERE library = :library
    ORDER BY CASE role WHEN 'owner' THEN 0 WHEN 'writer' THEN 1 ELSE 2 END, user_id"""


class SqlMembers:
    """The members of shared libraries; a change holds the library's row."""

    schema_steps = SCRIPTS

    def __init__(self, driver: Driver) -> None:
        self._driver = driver

    async def create(
        self, library_id: str, name: str, owner: str, now: datetime, most: int
    ) -> bool:
        at = now.isoformat(timespec="seconds")

        def work() -> Steps[bool]:
            rows = yield (
                f"SELECT count(*) FROM ({_MEMBERSHIPS} AND m.role = 'owner') AS owned",
                {"user_id": owner},
            )
            if int(rows[0][0]) >= most:
                return False
            yield (
                "INSERT INTO shared_libraries (library, name, created_at, created_by) "
                "VALUES (:library, :name, :at, :owner)",
                {"library": library_id, "name": name, "at": at, "owner": owner},
            )
            yield _insert(library_id, Member(owner, "owner", at, owner))
            return True

        return await self._driver.transact(work())

    async def list_memberships(self, user_id: str) -> Sequence[Membership]:
        sql = f"{_MEMBERSHIPS} ORDER BY l.name, l.library"
        (rows,) = await self._driver.run((sql, {"user_id": user_id}))
        return [_membership(row) for row in rows]

    async def find_membership(self, library_id: str, user_id: str) -> Membership | None:
        (rows,) = await self._driver.run(
            (f"{_MEMBERSHIPS} AND l.library = :library", _of(library_id, user_id=user_id))
        )
        return _membership(rows[0]) if rows else None

    async def list_members(self, library_id: str) -> Sequence[Member]:
        (rows,) = await self._driver.run((_MEMBERS, _of(library_id)))
        return [_member(row) for row in rows]

    async def change_members(self, library_id: str, decide: DecideMembers) -> Sequence[Member]:
        def work() -> Steps[list[Member]]:
            # Held until the end, so that two owners who leave at once are not both allowed to.
            held = yield (
                "UPDATE shared_libraries SET revision = revision + 1 "
                "WHERE library = :library AND is_removed = 0 RETURNING revision",
                _of(library_id),
            )
            rows = (yield (_MEMBERS, _of(library_id))) if held else []
            present = [_member(row) for row in rows]
            wanted = list(decide(present))
            for gone in {each.user_id for each in present} - {each.user_id for each in wanted}:
                yield (
                    "DELETE FROM shared_library_members "
                    "WHERE library = :library AND user_id = :user_id",
                    _of(library_id, user_id=gone),
                )
            for member in wanted:
                if member not in present:
                    yield _insert(library_id, member)
            return wanted

        return await self._driver.transact(work())

    async def rename(self, library_id: str, name: str) -> None:
        sql = "UPDATE shared_libraries SET name = :name WHERE library = :library"
        await self._driver.run((sql, _of(library_id, name=name)))

    async def begin_removal(self, library_id: str) -> None:
        await self._driver.run(
            (
                "UPDATE shared_libraries SET is_removed = 1 WHERE library = :library",
                _of(library_id),
            ),
            ("DELETE FROM shared_library_members WHERE library = :library", _of(library_id)),
        )

    async def list_removals(self) -> Sequence[str]:
        sql = "SELECT library FROM shared_libraries WHERE is_removed = 1 ORDER BY library"
        (rows,) = await self._driver.run((sql, {}))
        return [str(row[0]) for row in rows]

    async def finish_removal(self, library_id: str) -> None:
        sql = "DELETE FROM shared_libraries WHERE library = :library AND is_removed = 1"
        await self._driver.run((sql, _of(library_id)))

    async def list_all(self) -> Sequence[SharedLibraryRecord]:
        libraries, members = await self._driver.run(
            (
                "SELECT library, name, created_at FROM shared_libraries WHERE is_removed = 0 "
                "ORDER BY name, library",
                {},
            ),
            (
                "SELECT user_id, role, since, added_by, library FROM shared_library_members "
                "ORDER BY user_id",
                {},
            ),
        )
        found: dict[str, list[Member]] = {}
        for row in members:
            found.setdefault(str(row[4]), []).append(_member(row))
        return [
            SharedLibraryRecord(str(row[0]), str(row[1]), str(row[2]), found.get(str(row[0]), []))
            for row in libraries
        ]

    async def close(self) -> None:
        await self._driver.close()


def _of(library_id: str, **others: object) -> dict[str, object]:
    return {"library": library_id, **others}


def _insert(library_id: str, member: Member) -> Step:
    return (
        "INSERT INTO shared_library_members (library, user_id, role, since, added_by) "
        "VALUES (:library, :user_id, :role, :since, :added_by) "
        "ON CONFLICT (library, user_id) DO UPDATE SET role = excluded.role",
        _of(
            library_id,
            user_id=member.user_id,
            role=member.role,
            since=member.since,
            added_by=member.added_by,
        ),
    )


def _membership(row: tuple[Any, ...]) -> Membership:
    return Membership(str(row[0]), str(row[1]), cast(Role, str(row[2])), str(row[3]), int(row[4]))


def _member(row: tuple[Any, ...]) -> Member:
    return Member(str(row[0]), cast(Role, str(row[1])), str(row[2]), str(row[3]))

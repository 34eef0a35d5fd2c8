"""People of an institute, their sign-ins and log-out tokens in SQL, beside the access store."""

from __future__ import annotations

import json
from collections.abc import Generator
from dataclasses import asdict
from typing import Any

from carrel.core.errors import ConflictError
from carrel.policy.authorization.models import Session, User
from carrel.policy.authorization.openid.models import EndedAccess, Person, SignIn
from carrel.stores.sql.driver import Driver, Rows, Step, bind, insert_if_absent

SIGN_IN_SCHEMA = """CREATE TABLE access_people (
        user_name TEXT PRIMARY KEY, issuer TEXT NOT NULL, subject TEXT NOT NULL,
        display_name TEXT NOT NULL, group_names TEXT NOT NULL, read_at DOUBLE PRECISION NOT NULL,
        UNIQUE (issuer, subject));
    CREATE TABLE access_sign_ins (
        sign_in_id TEXT PRIMARY KEY, user_name TEXT NOT NULL, issuer TEXT NOT NULL, sid TEXT,
        sealed_refresh TEXT, began_at DOUBLE PRECISION NOT NULL, read_at DOUBLE PRECISION NOT NULL,
        reading_until DOUBLE PRECISION NOT NULL DEFAULT 0);
    CREATE INDEX access_sign_ins_sid ON access_sign_ins (sid);
    CREATE INDEX access_sign_ins_user ON access_sign_ins (user_name);
    CREATE TABLE access_logouts (
        token_id TEXT PRIMARY KEY, expires_at DOUBLE PRECISION NOT NULL);
    ALTER TABLE access_sessions ADD COLUMN sign_in TEXT;
    ALTER TABLE access_sessions ADD COLUMN browser TEXT NOT NULL DEFAULT '';
    ALTER TABLE access_grants ADD COLUMN sign_in TEXT;
    CREATE INDEX access_sessions_user ON access_sessions (user_name);
    CREATE INDEX access_sessions_sign_in ON access_sessions (sign_in);
    CREATE INDEX access_grants_sign_in ON access_grants (sign_in)"""
SIGN_IN_CLEAN_UP = (
    "DELETE FROM access_logouts WHERE expires_at < :now",
    """DELETE FROM access_sign_ins WHERE began_at < :before
        AND NOT EXISTS (SELECT 1 FROM access_sessions AS s
            WHERE s.sign_in = access_sign_ins.sign_in_id AND s.expires_at > :now)
        AND NOT EXISTS (SELECT 1 FROM access_grants AS g
            WHERE g.sign_in = access_sign_ins.sign_in_id AND g.revoked_at IS NULL)""",
)
END_SESSIONS = "DELETE FROM access_sessions WHERE user_name = :name"
REVOKE_GRANTS = (
    "UPDATE access_grants SET revoked_at = :at WHERE user_name = :name AND revoked_at IS NULL"
)
IS_STILL_THE_USER = """EXISTS (SELECT 1 FROM access_users AS u
    WHERE u.name = :user_name AND u.password_hash = :password_hash AND u.is_disabled = 0)"""
_PERSON = "user_name, issuer, subject, display_name, group_names, read_at"
_SIGN_IN = "sign_in_id, user_name, issuer, sid, sealed_refresh, began_at, read_at"
# Sign-ins ended in one statement; a provider's session has one, a person has a few.
_SLICE = 200


class SqlSignIns:
    """The store of sign-ins over a driver; the contract is the port's."""

    def __init__(self, driver: Driver) -> None:
        self._driver = driver

    async def person(self, issuer: str, subject: str) -> Person | None:
        sql = f"SELECT {_PERSON} FROM access_people WHERE issuer = :issuer AND subject = :subject"
        rows = await self._rows(sql, issuer=issuer, subject=subject)
        return _person(rows[0]) if rows else None

    async def person_of(self, user_name: str) -> Person | None:
        rows = await self._rows(
            f"SELECT {_PERSON} FROM access_people WHERE user_name = :name", name=user_name
        )
        return _person(rows[0]) if rows else None

    async def people(self) -> list[Person]:
        rows = await self._rows(f"SELECT {_PERSON} FROM access_people ORDER BY user_name")
        return [_person(row) for row in rows]

    async def add_person(self, person: Person, user: User) -> bool:
        try:
            return await self._driver.transact(_add_person(person, user))
        except ConflictError:
            return False

    async def link_person(self, person: Person, marker: str, at: float) -> bool:
        try:
            return await self._driver.transact(_link_person(person, marker, at))
        except ConflictError:
            return False

    async def record_groups(self, person: Person, scopes: frozenset[str], at: float) -> None:
        user: dict[str, object] = {"name": person.user_name}
        facts = user | {
            "groups": json.dumps(person.groups),
            "shown": person.display_name,
            "at": person.read_at,
        }
        held = user | {"scopes": " ".join(sorted(scopes))}
        steps: list[Step] = [
            (
                "UPDATE access_people SET group_names = :groups, display_name = :shown, "
                "read_at = :at WHERE user_name = :name",
                facts,
            ),
            ("UPDATE access_users SET scopes = :scopes WHERE name = :name", held),
        ]
        if not scopes:
            steps += [(END_SESSIONS, user), (REVOKE_GRANTS, user | {"at": at})]
        await self._driver.run(*steps)

    async def begin_sign_in(self, sign_in: SignIn, session: Session, password_hash: str) -> bool:
        add_session = f"""INSERT INTO access_sessions
            (session_hash, user_name, expires_at, sign_in, browser)
            SELECT :session_hash, :user_name, :expires_at, CAST(:sign_in AS TEXT), :browser
            WHERE {IS_STILL_THE_USER} RETURNING session_hash"""
        add_sign_in = f"""INSERT INTO access_sign_ins ({_SIGN_IN})
            SELECT :sign_in_id, :user_name, :issuer, CAST(:sid AS TEXT),
              CAST(:sealed_refresh AS TEXT), :began_at, :read_at
            FROM access_sessions WHERE session_hash = :session_hash"""
        kept = asdict(sign_in) | {"session_hash": session.session_hash}
        found = await self._driver.run(
            (add_session, asdict(session) | {"password_hash": password_hash}), (add_sign_in, kept)
        )
        return bool(found[0])

    async def sign_in(self, sign_in_id: str) -> SignIn | None:
        sql = f"SELECT {_SIGN_IN} FROM access_sign_ins WHERE sign_in_id = :id"
        rows = await self._rows(sql, id=sign_in_id)
        return SignIn(*rows[0]) if rows else None

    async def claim_reading(self, sign_in_id: str, now: float, until: float) -> bool:
        sql = """UPDATE access_sign_ins SET reading_until = :until
            WHERE sign_in_id = :id AND reading_until < :now RETURNING sign_in_id"""
        return bool(await self._rows(sql, id=sign_in_id, now=now, until=until))

    async def finish_reading(
        self, sign_in_id: str, sealed_refresh: str | None, read_at: float
    ) -> None:
        sql = """UPDATE access_sign_ins SET reading_until = 0, read_at = :read_at,
              sealed_refresh = CAST(:sealed AS TEXT)
            WHERE sign_in_id = :id"""
        await self._rows(sql, id=sign_in_id, sealed=sealed_refresh, read_at=read_at)

    async def end_sign_in(self, sign_in_id: str, at: float) -> None:
        await self._driver.transact(_end_listed([sign_in_id], at))

    async def end_sign_ins(
        self,
        issuer: str,
        *,
        sid: str | None,
        subject: str | None,
        at: float,
        token_id: str,
        expires_at: float,
    ) -> EndedAccess | None:
        remember = insert_if_absent(
            "access_logouts", {"token_id": token_id, "expires_at": expires_at}
        )
        return await self._driver.transact(_log_out(remember, issuer, sid, subject, at))

    async def _rows(self, sql: str, **parameters: object) -> Rows:
        return (await self._driver.run((sql, parameters)))[0]


def _add_person(person: Person, user: User) -> Generator[Step, Rows, bool]:
    twin = yield (
        "SELECT name FROM access_users WHERE lower(name) = lower(:name)",
        {"name": user.name},
    )
    if twin:
        return False
    facts = {"scopes": " ".join(sorted(user.scopes)), "is_disabled": int(user.is_disabled)}
    added = yield insert_if_absent("access_users", asdict(user) | facts)
    if not added:
        return False
    kept = yield insert_if_absent("access_people", _person_values(person))
    if not kept:
        # Undoes the user, too: the same person came a moment earlier by another browser.
        raise ConflictError("This person is known already")
    return True


def _link_person(person: Person, marker: str, at: float) -> Generator[Step, Rows, bool]:
    name: dict[str, object] = {"name": person.user_name}
    found = yield (
        "UPDATE access_users SET password_hash = :marker WHERE name = :name RETURNING name",
        name | {"marker": marker},
    )
    if not found:
        return False
    yield ("DELETE FROM access_people WHERE user_name = :name", name)
    kept = yield insert_if_absent("access_people", _person_values(person))
    if not kept:
        raise ConflictError("Another user is this person")
    yield (END_SESSIONS, name)
    yield (REVOKE_GRANTS, name | {"at": at})
    return True


def _log_out(
    remember: Step, issuer: str, sid: str | None, subject: str | None, at: float
) -> Generator[Step, Rows, EndedAccess | None]:
    """One transaction: a token whose work failed may be sent again."""
    is_new = yield remember
    return (yield from _end_sign_ins(issuer, sid, subject, at)) if is_new else None


def _end_sign_ins(
    issuer: str, sid: str | None, subject: str | None, at: float
) -> Generator[Step, Rows, EndedAccess]:
    names: Rows = []
    if subject is not None:
        names = yield (
            "SELECT user_name FROM access_people WHERE issuer = :issuer AND subject = :subject",
            {"issuer": issuer, "subject": subject},
        )
        if not names:
            return EndedAccess((), 0, 0)
    if sid is None:
        name = {"name": names[0][0]}
        sessions = yield (f"{END_SESSIONS} RETURNING session_hash", name)
        grants = yield (f"{REVOKE_GRANTS} RETURNING grant_id", name | {"at": at})
        yield ("DELETE FROM access_sign_ins WHERE user_name = :name", name)
        return EndedAccess((names[0][0],), len(sessions), len(grants))
    of_person = "" if subject is None else " AND user_name = :name"
    facts = {"issuer": issuer, "sid": sid} | ({} if subject is None else {"name": names[0][0]})
    found = yield (
        "SELECT sign_in_id, user_name FROM access_sign_ins WHERE issuer = :issuer AND sid = :sid"
        + of_person,
        facts,
    )
    session_count, grant_count = yield from _end_listed([row[0] for row in found], at)
    return EndedAccess(tuple(sorted({row[1] for row in found})), session_count, grant_count)


def _end_listed(sign_in_ids: list[str], at: float) -> Generator[Step, Rows, tuple[int, int]]:
    session_count = grant_count = 0
    for first in range(0, len(sign_in_ids), _SLICE):
        listed, places = bind("id", sign_in_ids[first : first + _SLICE])
        sessions = yield (
            f"DELETE FROM access_sessions WHERE sign_in IN ({listed}) RETURNING session_hash",
            places,
        )
        grants = yield (
            "UPDATE access_grants SET revoked_at = :at WHERE revoked_at IS NULL "
            f"AND sign_in IN ({listed}) RETURNING grant_id",
            {**places, "at": at},
        )
        yield (f"DELETE FROM access_sign_ins WHERE sign_in_id IN ({listed})", places)
        session_count += len(sessions)
        grant_count += len(grants)
    return session_count, grant_count


def _person_values(person: Person) -> dict[str, object]:
    return {
        "user_name": person.user_name,
        "issuer": person.issuer,
        "subject": person.subject,
        "display_name": person.display_name,
        "group_names": json.dumps(person.groups),
        "read_at": person.read_at,
    }


def _person(row: tuple[Any, ...]) -> Person:
    return Person(row[0], row[1], row[2], row[3], tuple(json.loads(row[4])), row[5])

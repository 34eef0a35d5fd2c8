"""Users, tokens, clients, grants, sessions and keys in SQL."""

from __future__ import annotations

import json
from collections.abc import Collection
from dataclasses import asdict
from typing import Any

from carrel.policy.authorization.models import (
    AuthorizationCode,
    Client,
    ClientKind,
    Grant,
    GrantUse,
    RefreshToken,
    Session,
    SigningKey,
    User,
)
from carrel.policy.identity import StaticToken
from carrel.stores.sql.driver import Driver, Parameters, Rows, Step, bind, insert_if_absent
from carrel.stores.sql.sign_ins import (
    END_SESSIONS,
    IS_STILL_THE_USER,
    REVOKE_GRANTS,
    SIGN_IN_CLEAN_UP,
    SIGN_IN_SCHEMA,
    SqlSignIns,
)

SCHEMA = (
    """CREATE TABLE IF NOT EXISTS access_users (
        name TEXT PRIMARY KEY, password_hash TEXT NOT NULL, scopes TEXT NOT NULL,
        created_at DOUBLE PRECISION NOT NULL, is_disabled INTEGER NOT NULL DEFAULT 0)""",
    """CREATE TABLE IF NOT EXISTS access_tokens (
        name TEXT PRIMARY KEY, token_hash TEXT NOT NULL UNIQUE, scopes TEXT NOT NULL, created_at
          DOUBLE PRECISION NOT NULL,
        expires_at DOUBLE PRECISION, user_name TEXT, revoked_at DOUBLE PRECISION)""",
    """CREATE TABLE IF NOT EXISTS access_clients (
        client_id TEXT PRIMARY KEY, name TEXT NOT NULL, redirect_uris TEXT NOT NULL, website TEXT,
        created_at DOUBLE PRECISION NOT NULL, used_at DOUBLE PRECISION)""",
    """CREATE TABLE IF NOT EXISTS access_grants (
        grant_id TEXT PRIMARY KEY, client_id TEXT NOT NULL, user_name TEXT NOT NULL, scopes TEXT NOT
          NULL,
        resource TEXT NOT NULL, created_at DOUBLE PRECISION NOT NULL, revoked_at DOUBLE
          PRECISION)""",
    "CREATE INDEX IF NOT EXISTS access_grants_user ON access_grants (user_name)",
    "CREATE INDEX IF NOT EXISTS access_grants_client ON access_grants (client_id)",
    """CREATE TABLE IF NOT EXISTS access_codes (
        code_hash TEXT PRIMARY KEY, grant_id TEXT NOT NULL REFERENCES access_grants ON DELETE
          CASCADE,
        redirect_uri TEXT NOT NULL, challenge TEXT NOT NULL, expires_at DOUBLE PRECISION NOT NULL,
          used_at DOUBLE PRECISION,
        refresh_hash TEXT)""",
    """CREATE TABLE IF NOT EXISTS access_refresh (
        token_hash TEXT PRIMARY KEY, grant_id TEXT NOT NULL REFERENCES access_grants ON DELETE
          CASCADE,
        created_at DOUBLE PRECISION NOT NULL, expires_at DOUBLE PRECISION NOT NULL, used_at DOUBLE
          PRECISION, successor TEXT)""",
    "CREATE INDEX IF NOT EXISTS access_refresh_grant ON access_refresh (grant_id)",
    """CREATE TABLE IF NOT EXISTS access_sessions (
        session_hash TEXT PRIMARY KEY, user_name TEXT NOT NULL, expires_at DOUBLE PRECISION NOT
          NULL)""",
    """CREATE TABLE IF NOT EXISTS access_keys (
        generation INTEGER PRIMARY KEY, kid TEXT NOT NULL, private_pem TEXT NOT NULL, created_at
          DOUBLE PRECISION NOT NULL)""",
)
# One script for each version. What an earlier version lacks goes into a new script at the end,
# never into an old one.
SCRIPTS = (
    ";\n".join(SCHEMA),
    """ALTER TABLE access_refresh ADD COLUMN successor_salt TEXT;
    CREATE TABLE IF NOT EXISTS access_origins (
        user_name TEXT NOT NULL, origin TEXT NOT NULL, seen_at DOUBLE PRECISION NOT NULL, PRIMARY
          KEY (user_name, origin))""",
    SIGN_IN_SCHEMA,
)
# Addresses and browsers that are remembered for each user.
MOST_ORIGINS = 40

_USER = "name, password_hash, scopes, created_at, is_disabled"
_TOKEN = "name, token_hash, scopes, created_at, expires_at, user_name, revoked_at"
_CLIENT = "client_id, name, redirect_uris, website, created_at, used_at"
_GRANT = "g.grant_id, g.client_id, g.user_name, g.scopes, g.resource, g.created_at, g.sign_in"
_SESSION = "session_hash, user_name, expires_at, sign_in, browser"


class SqlAccess:
    """The access store over a driver; the contract is the port's."""

    schema_steps = SCRIPTS

    def __init__(self, driver: Driver) -> None:
        self._driver = driver
        self.sign_ins = SqlSignIns(driver)

    async def close(self) -> None:
        await self._driver.close()

    async def _rows(self, sql: str, **parameters: object) -> Rows:
        return (await self._driver.run((sql, parameters)))[0]

    async def _first(self, sql: str, **parameters: object) -> tuple[Any, ...] | None:
        rows = await self._rows(sql, **parameters)
        return rows[0] if rows else None

    async def _add(self, table: str, values: Parameters) -> bool:
        """Whether the row is new; nothing where one with its key is there."""
        return bool((await self._driver.run(insert_if_absent(table, values)))[0])

    async def add_user(self, user: User) -> bool:
        changed = {"scopes": _words(user.scopes), "is_disabled": int(user.is_disabled)}
        return await self._add("access_users", asdict(user) | changed)

    async def user(self, name: str) -> User | None:
        row = await self._first(f"SELECT {_USER} FROM access_users WHERE name = :name", name=name)
        return None if row is None else _user(row)

    async def user_scopes(self, name: str) -> frozenset[str] | None:
        sql = "SELECT scopes FROM access_users WHERE name = :name AND is_disabled = 0"
        row = await self._first(sql, name=name)
        return None if row is None else frozenset(row[0].split())

    async def users(self) -> list[User]:
        rows = await self._rows(f"SELECT {_USER} FROM access_users ORDER BY name")
        return [_user(row) for row in rows]

    async def set_disabled(self, name: str, is_disabled: bool, at: float) -> bool:
        user: dict[str, object] = {"name": name}
        change = "UPDATE access_users SET is_disabled = :disabled WHERE name = :name RETURNING name"
        steps: list[Step] = [(change, user | {"disabled": int(is_disabled)})]
        if is_disabled:
            forget = "DELETE FROM access_origins WHERE user_name = :name"
            steps += [(REVOKE_GRANTS, user | {"at": at}), (END_SESSIONS, user), (forget, user)]
        return bool((await self._driver.run(*steps))[0])

    async def set_password(self, name: str, password_hash: str, at: float) -> bool:
        user: dict[str, object] = {"name": name}
        change = "UPDATE access_users SET password_hash = :hash WHERE name = :name RETURNING name"
        found = await self._driver.run(
            (change, user | {"hash": password_hash}),
            (REVOKE_GRANTS, user | {"at": at}),
            (END_SESSIONS, user),
        )
        return bool(found[0])

    async def set_scopes(self, name: str, scopes: frozenset[str]) -> bool:
        sql = "UPDATE access_users SET scopes = :scopes WHERE name = :name RETURNING name"
        return bool(await self._rows(sql, name=name, scopes=_words(scopes)))

    async def add_token(self, token: StaticToken) -> bool:
        changed = {"scopes": _words(token.scopes), "revoked_at": None}
        return await self._add("access_tokens", asdict(token) | changed)

    async def token_by_hash(self, token_hash: str) -> StaticToken | None:
        sql = f"""SELECT {_TOKEN} FROM access_tokens AS t WHERE token_hash = :token_hash
            AND NOT EXISTS (SELECT 1 FROM access_users AS u WHERE u.name = t.user_name AND
              u.is_disabled = 1)"""
        row = await self._first(sql, token_hash=token_hash)
        return None if row is None else _token(row)

    async def tokens(self) -> list[StaticToken]:
        rows = await self._rows(f"SELECT {_TOKEN} FROM access_tokens ORDER BY name")
        return [_token(row) for row in rows]

    async def revoke_token(self, name: str, at: float) -> bool:
        sql = (
            "UPDATE access_tokens SET revoked_at = :at WHERE name = :name AND revoked_at IS "
            "NULL RETURNING name"
        )
        return bool(await self._rows(sql, at=at, name=name))

    async def add_client(self, client: Client) -> bool:
        facts = {
            "client_id": client.client_id,
            "name": client.name,
            "redirect_uris": json.dumps(client.redirect_uris),
            "website": client.website,
            "created_at": client.created_at,
        }
        return await self._add("access_clients", facts)

    async def client(self, client_id: str) -> Client | None:
        sql = f"SELECT {_CLIENT} FROM access_clients WHERE client_id = :client_id"
        row = await self._first(sql, client_id=client_id)
        return None if row is None else _client(row)

    async def clients(self, limit: int) -> list[Client]:
        sql = f"""SELECT {_CLIENT} FROM access_clients
            ORDER BY COALESCE(used_at, created_at) DESC, client_id LIMIT :limit"""
        return [_client(row) for row in await self._rows(sql, limit=limit)]

    async def clean_up(self, *, unused_before: float, idle_before: float, now: float) -> int:
        stale = """DELETE FROM access_clients WHERE (used_at IS NULL AND created_at <
              :unused_before) OR (used_at < :idle_before
            AND NOT EXISTS (SELECT 1 FROM access_refresh AS r JOIN access_grants AS g ON g.grant_id
              = r.grant_id
                WHERE g.client_id = access_clients.client_id AND r.used_at IS NULL AND r.expires_at
                  > :now))
            RETURNING client_id"""
        expired = """DELETE FROM access_grants WHERE created_at < :unused_before AND NOT EXISTS
              (SELECT 1 FROM access_refresh AS r
            WHERE r.grant_id = access_grants.grant_id AND r.expires_at > :now)"""
        moments = {"unused_before": unused_before, "idle_before": idle_before, "now": now}
        used = "DELETE FROM access_refresh WHERE used_at IS NOT NULL AND expires_at < :now"
        found = await self._driver.run(
            (stale, moments),
            (expired, {"unused_before": unused_before, "now": now}),
            (used, {"now": now}),
            ("DELETE FROM access_sessions WHERE expires_at < :now", {"now": now}),
            ("DELETE FROM access_origins WHERE seen_at < :before", {"before": idle_before}),
            *((sql, {"now": now, "before": unused_before}) for sql in SIGN_IN_CLEAN_UP),
        )
        return len(found[0])

    async def count_clients(self) -> int:
        return int((await self._rows("SELECT count(*) FROM access_clients"))[0][0])

    async def begin_grant(self, grant: Grant, code: AuthorizationCode, password_hash: str) -> bool:
        add_grant = f"""INSERT INTO access_grants
            (grant_id, client_id, user_name, scopes, resource, created_at, sign_in)
            SELECT :grant_id, :client_id, :user_name, :scopes, :resource, :created_at,
              CAST(:sign_in AS TEXT)
            WHERE {IS_STILL_THE_USER} RETURNING grant_id"""
        add_code = """INSERT INTO access_codes
            (code_hash, grant_id, redirect_uri, challenge, expires_at)
            SELECT :code_hash, g.grant_id, :redirect_uri, :challenge, :expires_at
            FROM access_grants AS g WHERE g.grant_id = :grant_id"""
        granted = asdict(grant) | {"scopes": _words(grant.scopes), "password_hash": password_hash}
        found = await self._driver.run(
            (add_grant, granted),
            (add_code, asdict(code)),
            (
                "UPDATE access_clients SET used_at = :at WHERE client_id = :client_id",
                {"at": grant.created_at, "client_id": grant.client_id},
            ),
        )
        return bool(found[0])

    async def grant(self, grant_id: str) -> Grant | None:
        sql = f"""SELECT {_GRANT} FROM access_grants AS g
            JOIN access_users AS u ON u.name = g.user_name
            WHERE g.grant_id = :grant_id AND g.revoked_at IS NULL AND u.is_disabled = 0"""
        row = await self._first(sql, grant_id=grant_id)
        return None if row is None else _grant(row)

    async def grants(self, user_name: str | None, now: float) -> list[GrantUse]:
        sql = f"""SELECT {_GRANT}, max(r.created_at), max(r.expires_at)
            FROM access_grants AS g JOIN access_users AS u ON u.name = g.user_name
            JOIN access_refresh AS r ON r.grant_id = g.grant_id
            WHERE g.revoked_at IS NULL AND u.is_disabled = 0
              AND (:everybody = 1 OR g.user_name = :name)
            GROUP BY {_GRANT}
            HAVING max(r.expires_at) > :now
            ORDER BY max(r.created_at) DESC, g.grant_id"""
        rows = await self._rows(
            sql, name=user_name or "", everybody=int(user_name is None), now=now
        )
        return [GrantUse(_grant(row), row[7], row[8]) for row in rows]

    async def revoke_grant(self, grant_id: str, at: float) -> bool:
        sql = (
            "UPDATE access_grants SET revoked_at = :at WHERE grant_id = :grant_id AND "
            "revoked_at IS NULL RETURNING grant_id"
        )
        return bool(await self._rows(sql, at=at, grant_id=grant_id))

    async def code(self, code_hash: str) -> AuthorizationCode | None:
        sql = """SELECT code_hash, grant_id, redirect_uri, challenge, expires_at, used_at FROM
              access_codes
            WHERE code_hash = :code_hash"""
        row = await self._first(sql, code_hash=code_hash)
        return None if row is None else AuthorizationCode(*row)

    async def use_code(self, code_hash: str, at: float, refresh: RefreshToken) -> bool:
        use = """UPDATE access_codes SET used_at = :at, refresh_hash = :token_hash
            WHERE code_hash = :code_hash AND used_at IS NULL RETURNING code_hash"""
        follow = """INSERT INTO access_refresh (token_hash, grant_id, created_at, expires_at)
            SELECT :token_hash, grant_id, :created_at, :expires_at FROM access_codes
            WHERE code_hash = :code_hash AND refresh_hash = :token_hash"""
        return await self._used(use, follow, {"code_hash": code_hash, "at": at}, refresh)

    async def refresh(self, token_hash: str) -> RefreshToken | None:
        sql = """SELECT token_hash, grant_id, created_at, expires_at, used_at, successor_salt FROM
              access_refresh
            WHERE token_hash = :token_hash"""
        row = await self._first(sql, token_hash=token_hash)
        return None if row is None else RefreshToken(*row)

    async def rotate(self, token_hash: str, at: float, successor: RefreshToken, salt: str) -> bool:
        use = """UPDATE access_refresh SET used_at = :at, successor = :token_hash, successor_salt =
              :salt
            WHERE token_hash = :used_hash AND used_at IS NULL RETURNING token_hash"""
        follow = """INSERT INTO access_refresh (token_hash, grant_id, created_at, expires_at)
            SELECT :token_hash, grant_id, :created_at, :expires_at FROM access_refresh
            WHERE token_hash = :used_hash AND successor = :token_hash"""
        return await self._used(
            use, follow, {"used_hash": token_hash, "at": at, "salt": salt}, successor
        )

    async def _used(
        self, use: str, follow: str, about: dict[str, object], refresh: RefreshToken
    ) -> bool:
        """Marks something used and keeps what follows; nothing where somebody used it first."""
        about = about | {"token_hash": refresh.token_hash}
        kept = {"created_at": refresh.created_at, "expires_at": refresh.expires_at}
        return bool((await self._driver.run((use, about), (follow, about | kept)))[0])

    async def add_session(self, session: Session, password_hash: str) -> bool:
        sql = f"""INSERT INTO access_sessions ({_SESSION})
            SELECT :session_hash, :user_name, :expires_at, CAST(:sign_in AS TEXT), :browser
            WHERE {IS_STILL_THE_USER} RETURNING session_hash"""
        return bool(await self._rows(sql, **asdict(session), password_hash=password_hash))

    async def session(self, session_hash: str, now: float) -> Session | None:
        sql = (
            f"SELECT {_SESSION} FROM access_sessions WHERE session_hash = :hash "
            "AND expires_at > :now"
        )
        row = await self._first(sql, hash=session_hash, now=now)
        return None if row is None else Session(*row)

    async def sessions(self, user_name: str | None, now: float) -> list[Session]:
        sql = f"""SELECT {_SESSION} FROM access_sessions
            WHERE expires_at > :now AND (:everybody = 1 OR user_name = :name)
            ORDER BY expires_at DESC, session_hash"""
        rows = await self._rows(
            sql, name=user_name or "", everybody=int(user_name is None), now=now
        )
        return [Session(*row) for row in rows]

    async def end_sessions(self, user_name: str) -> int:
        return len(await self._rows(f"{END_SESSIONS} RETURNING session_hash", name=user_name))

    async def remove_session(self, session_hash: str) -> None:
        await self._rows(
            "DELETE FROM access_sessions WHERE session_hash = :hash", hash=session_hash
        )

    async def known_origins(
        self, user_name: str, origins: Collection[str], since: float
    ) -> frozenset[str]:
        if not origins:
            return frozenset()
        listed, places = bind("origin", origins)
        sql = (
            "SELECT origin FROM access_origins WHERE user_name = :name AND seen_at > :since "
            f"AND origin IN ({listed})"
        )
        rows = await self._rows(sql, name=user_name, since=since, **places)
        return frozenset(row[0] for row in rows)

    async def remember_origins(self, user_name: str, origins: Collection[str], at: float) -> None:
        keep = """INSERT INTO access_origins (user_name, origin, seen_at) VALUES (:name, :origin,
              :at)
            ON CONFLICT (user_name, origin) DO UPDATE SET seen_at = :at"""
        drop = """DELETE FROM access_origins WHERE user_name = :name AND origin NOT IN (
            SELECT origin FROM access_origins WHERE user_name = :name ORDER BY seen_at DESC, origin
              LIMIT :most)"""
        steps: list[Step] = [
            (keep, {"name": user_name, "origin": origin, "at": at}) for origin in sorted(origins)
        ]
        await self._driver.run(*steps, (drop, {"name": user_name, "most": MOST_ORIGINS}))

    async def add_key(self, key: SigningKey) -> bool:
        return await self._add("access_keys", asdict(key))

    async def keys(self) -> list[SigningKey]:
        rows = await self._rows(
            "SELECT generation, kid, private_pem, created_at FROM access_keys ORDER BY generation"
        )
        return [SigningKey(*row) for row in rows]

    async def remove_keys(self, before_generation: int) -> None:
        await self._rows(
            "DELETE FROM access_keys WHERE generation < :generation", generation=before_generation
        )


def _words(scopes: frozenset[str]) -> str:
    return " ".join(sorted(scopes))


def _user(row: tuple[Any, ...]) -> User:
    return User(row[0], row[1], frozenset(row[2].split()), row[3], bool(row[4]))


def _client(row: tuple[Any, ...]) -> Client:
    return Client(
        row[0], row[1], tuple(json.loads(row[2])), ClientKind.REGISTERED, row[4], row[5], row[3]
    )


def _grant(row: tuple[Any, ...]) -> Grant:
    return Grant(row[0], row[1], row[2], frozenset(row[3].split()), row[4], row[5], None, row[6])


def _token(row: tuple[Any, ...]) -> StaticToken:
    return StaticToken(row[0], row[1], frozenset(row[2].split()), row[3], row[4], row[5], row[6])

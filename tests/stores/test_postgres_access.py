"""Access, buckets and audit in a real PostgreSQL."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from pathlib import Path

import pytest

from carrel.core.clock import Clock
from carrel.core.errors import AuditUnavailableError, InvalidInputError, UnavailableError
from carrel.policy.audit_verification import newest_head, verify, verify_log
from carrel.stores.sql.access import SCHEMA, SCRIPTS, SqlAccess
from tests.access.support import (
    ManualClock,
    Pkce,
    authorize_url,
    granted,
    log_in,
    opened,
    operation_for,
    refresh_form,
    register,
    settings_for,
)
from tests.stores.contracts.access import AccessStoreContract
from tests.stores.contracts.buckets import RATE, SharedBucketsContract, Story
from tests.stores.contracts.sign_ins import SignInStoreContract
from tests.stores.test_json_lines_audit import record

psycopg = pytest.importorskip("psycopg", reason="the extra `postgres` is not installed")
pytest.importorskip("psycopg_pool", reason="the extra `postgres` is not installed")

from carrel.policy.audit import QueueOptions  # noqa: E402
from carrel.settings import Settings  # noqa: E402
from carrel.stores.postgres.audit import PostgresAnchors, PostgresAudit, read_lines  # noqa: E402
from carrel.stores.postgres.database import PostgresDatabase  # noqa: E402
from carrel.stores.postgres.limits import PostgresBuckets  # noqa: E402
from carrel.wiring.audit import open_audit, open_audit_reader  # noqa: E402

NOWHERE = "postgresql://nobody@127.0.0.1:1/none?connect_timeout=1"


class TestPostgresAccess(AccessStoreContract):
    @pytest.fixture
    def open_store(self, postgres_url: str) -> Callable[[], SqlAccess]:
        return lambda: SqlAccess(PostgresDatabase(postgres_url, "access", SqlAccess.schema_steps))


class TestPostgresSignIns(SignInStoreContract):
    @pytest.fixture
    def open_store(self, postgres_url: str) -> Callable[[], SqlAccess]:
        return lambda: SqlAccess(PostgresDatabase(postgres_url, "access", SqlAccess.schema_steps))


class TestPostgresBuckets(SharedBucketsContract):
    @pytest.fixture
    def told(self, postgres_url: str) -> Callable[[Story], None]:
        def tell(story: Story) -> None:
            async def run() -> None:
                opened: list[PostgresBuckets] = []

                def open_buckets(clock: Clock) -> PostgresBuckets:
                    opened.append(PostgresBuckets(postgres_url, clock))
                    return opened[-1]

                try:
                    await story(open_buckets, ManualClock())
                finally:
                    for buckets in opened:
                        await buckets.close()

            asyncio.run(run())

        return tell

    @pytest.mark.promise("A4")
    def test_full_buckets_leave_the_table(self, postgres_url: str) -> None:
        async def run() -> None:
            clock = ManualClock()
            buckets = PostgresBuckets(postgres_url, clock, sweep_every=2)
            await buckets.take("a", 1, RATE)
            clock.advance(2)
            await buckets.take("b", 1, RATE)
            await buckets.close()

        asyncio.run(run())
        with psycopg.connect(postgres_url) as connection:
            assert connection.execute("SELECT key FROM limit_buckets").fetchall() == [("b",)]


@pytest.mark.promise("A3")
@pytest.mark.promise("A4")
@pytest.mark.promise("A5")
def test_two_replicas_share_log_ins_limits_and_audit(postgres_url: str, tmp_path: Path) -> None:
    async def visit() -> None:
        settings = [
            settings_for(tmp_path / name, "builtin", database={"url": postgres_url})
            for name in ("one", "two")
        ]
        async with opened(settings[0]) as one, opened(settings[1], clock=one.clock) as two:
            await one.add_user()
            tokens, client_id, _ = await granted(one)
            read = operation_for("papers:read")
            answers = [
                await (one, two)[number % 2].call(read, tokens["access_token"])
                for number in range(14)
            ]
            assert [answer.status_code for answer in answers] == [200] * 10 + [429] * 4
            fresh = await two.http.post(
                "/token", data=refresh_form(client_id, tokens["refresh_token"])
            )
            assert fresh.status_code == 200
            retried = await one.http.post(
                "/token", data=refresh_form(client_id, tokens["refresh_token"])
            )
            assert retried.json()["refresh_token"] == fresh.json()["refresh_token"]
            one.clock.advance(31)
            stolen = await one.http.post(
                "/token", data=refresh_form(client_id, tokens["refresh_token"])
            )
            assert stolen.json()["error"] == "invalid_grant"
            assert (await two.http.get("/ready")).json()["checks"]["access"]["ok"] is True

    asyncio.run(visit())
    found = verify(read_lines(postgres_url))
    assert (found.problems, found.chains, found.open_ends) == ([], 2, [])
    assert not list(tmp_path.rglob("*.sqlite")) and not list(tmp_path.rglob("*.jsonl"))


@pytest.mark.promise("A5")
def test_the_audit_table_only_grows_and_its_chain_is_whole(postgres_url: str) -> None:
    async def run() -> None:
        audit = PostgresAudit(postgres_url)
        await audit.write_durably(record(1))
        for number in range(2, 6):
            audit.write(record(number))
        audit.close()

    asyncio.run(run())
    asyncio.run(run())
    lines = list(read_lines(postgres_url))
    found = verify(lines)
    assert (found.lines, found.chains, found.problems, found.open_ends) == (14, 2, [], [])
    with psycopg.connect(postgres_url, autocommit=True) as connection:
        for attempt in (
            "DELETE FROM audit_log WHERE sequence = 3",
            "UPDATE audit_log SET user_id = 'x'",
            "TRUNCATE audit_log",
        ):
            with pytest.raises(psycopg.Error, match="can only grow"):
                connection.execute(attempt)
        connection.execute("ALTER TABLE audit_log DISABLE TRIGGER audit_log_only_grows")
        connection.execute("DELETE FROM audit_log WHERE sequence = 3")
    assert len(verify(read_lines(postgres_url)).problems) == 2


@pytest.mark.promise("A5")
def test_a_restart_of_the_server_since_the_last_record_fails_no_call(postgres_url: str) -> None:
    named = f"{postgres_url}{'&' if '?' in postgres_url else '?'}application_name=carrel-audit-test"

    async def run() -> None:
        audit = PostgresAudit(
            named,
            open_anchors=lambda: PostgresAnchors(named, None),
            options=QueueOptions(anchor_every_lines=1),
        )
        await audit.write_durably(record(1))
        assert audit.flush() and audit.flush()
        with psycopg.connect(postgres_url, autocommit=True) as connection:
            ended = connection.execute(
                "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = "
                "'carrel-audit-test'"
            ).fetchall()
        assert len(ended) == 2
        await audit.write_durably(record(2))
        assert audit.flush() and audit.flush()
        assert not audit.is_failing
        audit.close()

    asyncio.run(run())
    lines = list(read_lines(postgres_url))
    assert (verify(lines).problems, [json.loads(line)["request_id"] for line in lines]) == (
        [],
        ["audit", "r1", "audit", "r2", "audit", "audit"],
    )


TAMPERING = {
    "a chain": "DELETE FROM audit_log WHERE chain = (SELECT min(chain) FROM audit_log)",
    "the end": "DELETE FROM audit_log WHERE id > (SELECT max(id) - 3 FROM audit_log)",
    "the last line": "DELETE FROM audit_log WHERE id = (SELECT max(id) FROM audit_log)",
    "everything": "DELETE FROM audit_log",
    "a forged line": "UPDATE audit_log SET line = replace(line, 'ada', 'eve') WHERE sequence = 3",
    "an anchor": "DELETE FROM audit_anchors WHERE number = 2",
    "the anchors": "DELETE FROM audit_anchors",
    "the end of the anchors": "DELETE FROM audit_anchors WHERE number > (SELECT max(number) - 2 "
    "FROM audit_anchors)",
    "a forged anchor": "UPDATE audit_anchors SET line = replace(line, '\"sequence\":', "
    "'\"sequence\":1')",
    "the key": "DELETE FROM audit_signing_key",
}


@pytest.mark.promise("A7-audit")
@pytest.mark.parametrize("what", TAMPERING)
def test_tampering_with_the_tables_is_noticed(what: str, postgres_url: str, tmp_path: Path) -> None:
    settings = Settings.model_validate(
        {"home": tmp_path, "database": {"url": postgres_url}, "audit": {"anchor_every_lines": 3}}
    )
    for _ in range(2):
        audit = open_audit(settings)
        for number in range(8):
            audit.write(record(number))
        assert isinstance(audit, PostgresAudit)
        audit.close()
    found = verify_log(open_audit_reader(settings))
    assert (found.problems, found.chains, found.is_anchored) == ([], 2, True)
    head = newest_head(open_audit_reader(settings).ledger())
    assert head is not None
    assert verify_log(open_audit_reader(settings), (head,)).problems == []
    backward = list(open_audit_reader(settings).newest_lines())
    assert [line for _, line in backward][::-1] == list(open_audit_reader(settings).lines())
    assert list(open_audit_reader(settings).newest_lines(backward[4][0])) == backward[5:]
    with pytest.raises(InvalidInputError):
        list(open_audit_reader(settings).newest_lines("1; DROP TABLE audit_log"))
    with psycopg.connect(postgres_url, autocommit=True) as connection:
        for table in ("audit_log", "audit_anchors", "audit_signing_key"):
            connection.execute(f"ALTER TABLE {table} DISABLE TRIGGER audit_log_only_grows".encode())
        connection.execute(TAMPERING[what].encode())
    assert verify_log(open_audit_reader(settings)).problems


@pytest.mark.promise("A5")
def test_characters_postgresql_does_not_know_break_nothing(
    postgres_url: str, tmp_path: Path
) -> None:
    async def visit() -> None:
        async with opened(
            settings_for(tmp_path, "builtin", database={"url": postgres_url})
        ) as house:
            await house.add_user()
            client_id = (await register(house)).json()["client_id"]
            assert (await house.http.get(authorize_url("c\x00", Pkce()))).status_code == 400
            assert (
                await log_in(house.http, authorize_url(client_id, Pkce()), user="a\x00da")
            ).status_code == 401
            token = await house.token("admin")
            assert (await house.rpc("no\x00such", {}, token)).json()["error"]["code"] == -32601
            assert (await house.invoke("keep_words", token, {"text": "a\x00b"})).status_code == 200
            assert any(row["action"] == "mcp:no\x00such" for row in house.audit_lines())

    asyncio.run(visit())
    assert verify(read_lines(postgres_url)).problems == []


@pytest.mark.promise("A5")
def test_without_a_server_nothing_is_kept_and_it_is_said() -> None:
    async def run() -> None:
        audit = PostgresAudit(NOWHERE, options=QueueOptions(keep_timeout_seconds=10))
        with pytest.raises(AuditUnavailableError):
            await audit.write_durably(record(1))
        audit.close()

    asyncio.run(run())


@pytest.mark.promise("Q5")
def test_tables_from_before_there_were_versions_are_of_the_first_and_newer_ones_are_refused(
    postgres_url: str,
) -> None:
    with psycopg.connect(postgres_url, autocommit=True) as connection:
        for statement in SCHEMA:
            connection.execute(statement)
        connection.execute("INSERT INTO access_users VALUES ('ada', 'hash', 'admin', 0, 0)")

    async def names() -> list[str]:
        store = SqlAccess(PostgresDatabase(postgres_url, "access", SqlAccess.schema_steps))
        try:
            return [user.name for user in await store.users()]
        finally:
            await store.close()

    assert asyncio.run(names()) == ["ada"]
    with psycopg.connect(postgres_url, autocommit=True) as connection:
        assert connection.execute(
            "SELECT version FROM carrel_versions WHERE part = 'access'"
        ).fetchall() == [(len(SCRIPTS),)]
        connection.execute("UPDATE carrel_versions SET version = 99")
    with pytest.raises(UnavailableError, match="newer Carrel"):
        asyncio.run(names())


def test_without_a_server_the_store_is_unavailable() -> None:
    async def run() -> None:
        store = SqlAccess(PostgresDatabase(NOWHERE, "access", ()))
        with pytest.raises(UnavailableError, match="PostgreSQL cannot be used"):
            await store.users()
        await store.close()

    asyncio.run(run())

"""What every access store promises, written once and inherited by each backend's tests."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import replace

import pytest

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
from carrel.stores.sql.access import MOST_ORIGINS, SqlAccess

NOW = 1_800_000_000.0
ADA = User("ada", "hash", frozenset({"papers:read", "admin"}), NOW)
CLIENT = Client(
    "c1",
    "Client é",
    ("http://127.0.0.1/cb", "app://x"),
    ClientKind.REGISTERED,
    NOW,
    None,
    "https://c.example",
)
GRANT = Grant("g1", "c1", "ada", frozenset({"papers:read"}), "https://desk/mcp", NOW)
CODE = AuthorizationCode("codehash", "g1", "http://127.0.0.1/cb", "challenge", NOW + 60)
FIRST = RefreshToken("r1", "g1", NOW, NOW + 1000)
SECOND = RefreshToken("r2", "g1", NOW + 1, NOW + 1001)
TOKEN = StaticToken("ci", "tokenhash", frozenset({"papers:read"}), NOW, NOW + 100, "ada")

Story = Callable[[SqlAccess, SqlAccess], Awaitable[None]]


@pytest.mark.promise("A3")
class AccessStoreContract:
    """Subclasses give `open_store`; each story gets two stores over the same data, as two workers
    have.
    """

    @pytest.fixture
    def open_store(self) -> Callable[[], SqlAccess]:
        raise NotImplementedError

    @pytest.fixture
    def told(self, open_store: Callable[[], SqlAccess]) -> Callable[[Story], None]:
        def tell(story: Story) -> None:
            async def run() -> None:
                one, two = open_store(), open_store()
                try:
                    await story(one, two)
                finally:
                    await one.close()
                    await two.close()

            asyncio.run(run())

        return tell

    def test_what_is_not_there_is_none(self, told: Callable[[Story], None]) -> None:
        async def story(one: SqlAccess, two: SqlAccess) -> None:
            assert await one.user("x") is None
            assert await one.token_by_hash("x") is None
            assert await one.client("x") is None
            assert await one.grant("x") is None
            assert await one.code("x") is None
            assert await one.refresh("x") is None
            assert await one.session("x", NOW) is None
            assert not await one.users() and not await one.tokens() and not await one.keys()
            assert not await one.set_disabled("x", True, NOW)
            assert not await one.set_password("x", "h", NOW)
            assert not await one.revoke_token("x", NOW)
            assert not await one.revoke_grant("x", NOW)
            assert not await one.set_scopes("x", frozenset({"admin"}))
            assert await one.end_sessions("x") == 0
            assert await one.clients(10) == []
            assert await one.grants(None, NOW) == []
            assert await one.sessions(None, NOW) == []

        told(story)

    def test_users_are_kept_once(self, told: Callable[[Story], None]) -> None:
        async def story(one: SqlAccess, two: SqlAccess) -> None:
            assert sorted(
                await asyncio.gather(
                    one.add_user(ADA), two.add_user(replace(ADA, password_hash="other"))
                )
            ) == [
                False,
                True,
            ]
            assert await one.user("ada") == await two.user("ada")
            assert await two.user_scopes("ada") == ADA.scopes
            assert await two.user_scopes("Ada") is None
            await one.set_disabled("ada", True, NOW)
            assert await two.user_scopes("ada") is None
            await one.set_disabled("ada", False, NOW)
            assert await one.user("Ada") is None
            assert await two.set_password("ada", "new", NOW)
            assert (await one.users())[0].password_hash == "new"

        told(story)

    def test_tokens_are_found_by_hash_until_their_user_is_disabled(
        self, told: Callable[[Story], None]
    ) -> None:
        async def story(one: SqlAccess, two: SqlAccess) -> None:
            await one.add_user(ADA)
            assert await one.add_token(TOKEN)
            assert not await two.add_token(replace(TOKEN, token_hash="another"))
            assert await two.token_by_hash("tokenhash") == TOKEN
            await one.set_disabled("ada", True, NOW)
            assert await two.token_by_hash("tokenhash") is None
            await one.set_disabled("ada", False, NOW)
            assert await two.revoke_token("ci", NOW + 5)
            assert not await two.revoke_token("ci", NOW + 6)
            assert await one.tokens() == [replace(TOKEN, revoked_at=NOW + 5)]

        told(story)

    def test_a_code_is_used_once_whoever_is_first(self, told: Callable[[Story], None]) -> None:
        async def story(one: SqlAccess, two: SqlAccess) -> None:
            await _granted(one)
            assert await two.code("codehash") == CODE
            used = await asyncio.gather(*(store.use_code("codehash", NOW, replace(FIRST, token_hash=f"r{number}"))  # noqa: E501
                                          for number, store in enumerate((one, two, one, two))))  # fmt: skip  # noqa: E501
            assert sorted(used) == [False, False, False, True]
            kept = [await one.refresh(f"r{number}") is not None for number in range(4)]
            assert kept == list(used)
            code = await one.code("codehash")
            assert code is not None
            assert code.used_at == NOW

        told(story)

    def test_a_refresh_token_has_one_successor(self, told: Callable[[Story], None]) -> None:
        async def story(one: SqlAccess, two: SqlAccess) -> None:
            await _granted(one)
            assert await one.use_code("codehash", NOW, FIRST)
            assert await two.refresh("r1") == FIRST
            others = [replace(SECOND, token_hash=f"s{number}") for number in range(4)]
            rotated = await asyncio.gather(
                *(
                    store.rotate("r1", NOW, other, f"salt {other.token_hash}")
                    for store, other in zip((one, two) * 2, others, strict=True)
                )
            )
            assert sorted(rotated) == [False, False, False, True]
            kept = [await one.refresh(f"s{number}") is not None for number in range(4)]
            assert kept == list(rotated)
            used = await two.refresh("r1")
            assert used is not None
            assert (used.used_at, used.successor_salt) == (NOW, f"salt s{rotated.index(True)}")
            assert not await one.rotate("unknown", NOW, SECOND, "salt")
            assert await one.refresh("r2") is None

        told(story)

    def test_a_revoked_grant_and_a_disabled_users_grant_are_gone(
        self, told: Callable[[Story], None]
    ) -> None:
        async def story(one: SqlAccess, two: SqlAccess) -> None:
            await _granted(one)
            assert await two.grant("g1") == GRANT
            assert (await two.client("c1")) == replace(CLIENT, used_at=NOW)
            assert await one.add_session(Session("s", "ada", NOW + 10), "hash")
            await one.set_disabled("ada", True, NOW)
            assert await two.grant("g1") is None
            assert await two.session("s", NOW) is None
            await one.set_disabled("ada", False, NOW)
            assert await two.grant("g1") is None, "disabling revokes for good"

        told(story)

    def test_sessions_end(self, told: Callable[[Story], None]) -> None:
        async def story(one: SqlAccess, two: SqlAccess) -> None:
            await one.add_user(ADA)
            for name in ("s1", "s2", "s3"):
                assert await one.add_session(Session(name, "ada", NOW + 10), "hash")
            assert await two.session("s1", NOW + 9) == Session("s1", "ada", NOW + 10)
            assert await two.session("s1", NOW + 10) is None
            await two.remove_session("s2")
            assert await one.session("s2", NOW) is None
            await two.set_password("ada", "new", NOW)
            assert await one.session("s3", NOW) is None

        told(story)

    def test_sessions_are_listed_and_ended_for_one_user(
        self, told: Callable[[Story], None]
    ) -> None:
        async def story(one: SqlAccess, two: SqlAccess) -> None:
            await one.add_user(ADA)
            await one.add_user(replace(ADA, name="bob"))
            for name, user, ends in (("s1", "ada", 10), ("s2", "ada", 20), ("s3", "bob", 30)):
                assert await one.add_session(Session(name, user, NOW + ends), "hash")
            listed = [session.session_hash for session in await two.sessions(None, NOW)]
            assert listed == ["s3", "s2", "s1"]
            assert [one.session_hash for one in await two.sessions("ada", NOW + 10)] == ["s2"]
            assert await two.end_sessions("ada") == 2
            assert [one.session_hash for one in await two.sessions(None, NOW)] == ["s3"]

        told(story)

    def test_good_grants_are_listed_with_their_last_use(
        self, told: Callable[[Story], None]
    ) -> None:
        async def story(one: SqlAccess, two: SqlAccess) -> None:
            await _granted(one)
            assert await two.grants(None, NOW) == [], "its code was not used"
            assert await one.use_code("codehash", NOW, FIRST)
            assert await one.rotate("r1", NOW + 1, SECOND, "salt")
            use = GrantUse(GRANT, NOW + 1, NOW + 1001)
            assert await two.grants(None, NOW) == [use]
            assert await two.grants("ada", NOW) == [use]
            assert await two.grants("bob", NOW) == []
            assert await two.grants("ada", NOW + 1001) == [], "nothing is left to refresh"
            assert await two.clients(10) == [replace(CLIENT, used_at=NOW)]
            assert await two.clients(0) == []
            assert await one.revoke_grant("g1", NOW)
            assert await two.grants("ada", NOW) == []

        told(story)

    def test_a_users_scopes_change(self, told: Callable[[Story], None]) -> None:
        async def story(one: SqlAccess, two: SqlAccess) -> None:
            await one.add_user(ADA)
            assert await one.set_scopes("ada", frozenset({"papers:read"}))
            assert await two.user_scopes("ada") == frozenset({"papers:read"})

        told(story)

    def test_a_new_password_ends_sessions_and_grants(self, told: Callable[[Story], None]) -> None:
        async def story(one: SqlAccess, two: SqlAccess) -> None:
            await _granted(one)
            await one.add_user(replace(ADA, name="bob"))
            other = replace(GRANT, grant_id="g2", user_name="bob")
            assert await one.begin_grant(
                other, replace(CODE, code_hash="c2", grant_id="g2"), "hash"
            )
            assert await one.add_session(Session("s", "ada", NOW + 10), "hash")
            assert await two.set_password("ada", "new", NOW + 1)
            assert await one.grant("g1") is None
            assert await one.session("s", NOW) is None
            assert await one.grant("g2") == other, "others keep theirs"

        told(story)

    def test_who_logged_in_with_an_older_password_gets_nothing_more(
        self, told: Callable[[Story], None]
    ) -> None:
        async def story(one: SqlAccess, two: SqlAccess) -> None:
            await _granted(one)
            await one.set_password("ada", "new", NOW)
            assert not await two.add_session(Session("late", "ada", NOW + 10), "hash")
            assert await two.session("late", NOW) is None
            late = replace(GRANT, grant_id="late")
            assert not await two.begin_grant(
                late, replace(CODE, code_hash="late", grant_id="late"), "hash"
            )
            assert await two.grant("late") is None
            assert await two.code("late") is None
            assert await two.add_session(Session("now", "ada", NOW + 10), "new")
            await one.set_disabled("ada", True, NOW)
            assert not await two.add_session(Session("then", "ada", NOW + 10), "new")

        told(story)

    def test_where_people_logged_in_from_is_known_for_a_while_and_bounded(
        self, told: Callable[[Story], None]
    ) -> None:
        async def story(one: SqlAccess, two: SqlAccess) -> None:
            await one.add_user(ADA)
            assert await one.known_origins("ada", [], NOW) == frozenset()
            await one.remember_origins("ada", ["a", "b"], NOW)
            assert await two.known_origins("ada", ["a", "c"], NOW - 1) == {"a"}
            assert await two.known_origins("ada", ["a"], NOW) == frozenset()
            assert await two.known_origins("bob", ["a"], NOW - 1) == frozenset()
            await two.remember_origins("ada", ["a"], NOW + 5)
            assert await one.known_origins("ada", ["a", "b"], NOW) == {"a"}
            for number in range(MOST_ORIGINS):
                await one.remember_origins("ada", [f"n{number:03}"], NOW + 10 + number)
            assert await one.known_origins("ada", ["a", "b", "n000", "n039"], NOW - 1) == {
                "n000",
                "n039",
            }
            await one.clean_up(unused_before=NOW, idle_before=NOW + 12, now=NOW)
            assert await one.known_origins("ada", ["n000", "n039"], NOW - 1) == {"n039"}
            await one.set_disabled("ada", True, NOW)
            assert await one.known_origins("ada", ["n039"], NOW - 1) == frozenset()

        told(story)

    def test_clients_that_nobody_uses_are_cleaned_up_and_the_others_stay(
        self, told: Callable[[Story], None]
    ) -> None:
        async def story(one: SqlAccess, two: SqlAccess) -> None:
            await _granted(one)
            await one.use_code("codehash", NOW, FIRST)
            assert not await one.add_client(CLIENT)
            await one.add_client(replace(CLIENT, client_id="unused"))
            await one.add_client(replace(CLIENT, client_id="new", created_at=NOW + 100))
            assert await two.count_clients() == 3
            assert (
                await two.clean_up(unused_before=NOW + 50, idle_before=NOW + 50, now=NOW + 60) == 1
            )
            assert await one.client("unused") is None
            assert await one.client("c1") is not None, "its refresh token is still good"
            assert await one.grant("g1") is not None
            assert (
                await two.clean_up(unused_before=NOW + 50, idle_before=NOW + 50, now=NOW + 2000)
                == 1
            )
            assert await one.client("c1") is None
            assert await one.grant("g1") is None
            assert await one.refresh("r1") is None
            assert await one.client("new") is not None

        told(story)

    def test_keys_are_made_once_a_generation(self, told: Callable[[Story], None]) -> None:
        async def story(one: SqlAccess, two: SqlAccess) -> None:
            keys = [SigningKey(1, f"k{number}", "pem", NOW) for number in range(4)]
            added = await asyncio.gather(
                *(store.add_key(key) for store, key in zip((one, two) * 2, keys, strict=True))
            )
            assert sorted(added) == [False, False, False, True]
            await two.add_key(SigningKey(2, "next", "pem", NOW + 1))
            assert [key.generation for key in await one.keys()] == [1, 2]
            await one.remove_keys(2)
            assert await two.keys() == [SigningKey(2, "next", "pem", NOW + 1)]

        told(story)

    def test_words_that_look_like_sql_are_words(self, told: Callable[[Story], None]) -> None:
        async def story(one: SqlAccess, two: SqlAccess) -> None:
            odd = "x'; DROP TABLE access_users; -- :name %s %(name)s é"
            await one.add_user(replace(ADA, name=odd))
            assert (await two.user(odd)) == replace(ADA, name=odd)

        told(story)


async def _granted(store: SqlAccess) -> None:
    await store.add_user(ADA)
    await store.add_client(CLIENT)
    assert await store.begin_grant(GRANT, CODE, "hash")

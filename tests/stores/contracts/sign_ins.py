"""What every store of people and sign-ins promises, written once and inherited by each backend."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import replace
from typing import Any

import pytest

from carrel.core.errors import CarrelError
from carrel.policy.authorization.models import AuthorizationCode, Grant, RefreshToken, Session, User
from carrel.policy.authorization.openid.models import EndedAccess, Person, SignIn
from carrel.stores.sql.access import SqlAccess

NOW = 1_800_000_000.0
ISSUER = "https://login.example"
ADA = Person("ada", ISSUER, "u-1", "Ada L.", ("staff",), NOW)
BOB = Person("bob", ISSUER, "u-2", "Bob", ("staff",), NOW)
SCOPES = frozenset({"papers:read"})


def user(name: str, marker: str = "!1") -> User:
    return User(name, marker, SCOPES, NOW)


def sign_in(number: int, name: str = "ada", sid: str | None = "s-1") -> SignIn:
    return SignIn(f"in-{number}", name, ISSUER, sid, "sealed", NOW, NOW)


def session(number: int, name: str = "ada") -> Session:
    return Session(f"session-{number}", name, NOW + 100, f"in-{number}", "Firefox")


async def consent(store: SqlAccess, number: int, name: str = "ada") -> None:
    grant = Grant(f"g-{number}", "c1", name, SCOPES, "https://desk", NOW, sign_in=f"in-{number}")
    code = AuthorizationCode(f"code-{number}", grant.grant_id, "app:/", "c", NOW + 60)
    assert await store.begin_grant(grant, code, "!1")
    token = RefreshToken(f"r-{number}", grant.grant_id, NOW, NOW + 1000)
    assert await store.use_code(code.code_hash, NOW, token)


Story = Callable[[SqlAccess, SqlAccess], Awaitable[None]]


@pytest.mark.promise("A7-log-in")
class SignInStoreContract:
    """Subclasses give `open_store`; each story gets two stores over the same data."""

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

    def test_a_name_or_a_person_is_given_once(self, told: Callable[[Story], None]) -> None:
        async def story(one: SqlAccess, two: SqlAccess) -> None:
            await one.add_user(User("Bob", "hash", SCOPES, NOW))
            assert not await two.sign_ins.add_person(BOB, user("bob"))
            added = await asyncio.gather(
                *(store.sign_ins.add_person(ADA, user("ada")) for store in (one, two))
            )
            assert sorted(added) == [False, True]
            # The same person under another name is not added, and neither is that user.
            twin = replace(ADA, user_name="other")
            assert not await one.sign_ins.add_person(twin, user("other"))
            assert [each.name for each in await one.users()] == ["Bob", "ada"]
            assert await two.sign_ins.person(ISSUER, "u-1") == ADA
            assert await two.sign_ins.person_of("ada") == ADA
            assert await two.sign_ins.person("https://other.example", "u-1") is None
            assert await two.sign_ins.people() == [ADA]

        told(story)

    def test_groups_set_scopes_and_no_group_ends_everything(
        self, told: Callable[[Story], None]
    ) -> None:
        async def story(one: SqlAccess, two: SqlAccess) -> None:
            await one.sign_ins.add_person(ADA, user("ada"))
            await one.sign_ins.begin_sign_in(sign_in(1), session(1), "!1")
            await consent(one, 1)
            more = replace(ADA, groups=("admins", "staff"), read_at=NOW + 5)
            await one.sign_ins.record_groups(more, frozenset({"admin"}), NOW + 5)
            assert await two.sign_ins.person_of("ada") == more
            assert await two.user_scopes("ada") == frozenset({"admin"})
            assert len(await two.sessions("ada", NOW)) == 1
            none = replace(ADA, groups=())
            await one.sign_ins.record_groups(none, frozenset(), NOW + 9)
            assert await two.user_scopes("ada") == frozenset()
            assert await two.sessions("ada", NOW) == []
            assert await two.grants("ada", NOW) == []

        told(story)

    def test_a_sign_in_needs_the_same_user(self, told: Callable[[Story], None]) -> None:
        async def story(one: SqlAccess, two: SqlAccess) -> None:
            await one.sign_ins.add_person(ADA, user("ada"))
            assert not await two.sign_ins.begin_sign_in(sign_in(1), session(1), "!another")
            assert await two.sign_ins.sign_in("in-1") is None
            assert await two.sign_ins.begin_sign_in(sign_in(1), session(1), "!1")
            assert await one.sign_ins.sign_in("in-1") == sign_in(1)
            assert await one.session("session-1", NOW) == session(1)
            await one.set_disabled("ada", True, NOW)
            assert not await two.sign_ins.begin_sign_in(sign_in(2), session(2), "!1")

        told(story)

    def test_one_of_two_asks_the_provider(self, told: Callable[[Story], None]) -> None:
        async def story(one: SqlAccess, two: SqlAccess) -> None:
            await one.sign_ins.add_person(ADA, user("ada"))
            await one.sign_ins.begin_sign_in(sign_in(1), session(1), "!1")
            claimed = await asyncio.gather(
                *(
                    store.sign_ins.claim_reading("in-1", NOW, NOW + 20)
                    for store in (one, two, one, two)
                )
            )
            assert sum(claimed) == 1
            await one.sign_ins.finish_reading("in-1", "newer", NOW + 3)
            kept = await two.sign_ins.sign_in("in-1")
            assert kept == replace(sign_in(1), sealed_refresh="newer", read_at=NOW + 3)
            assert await two.sign_ins.claim_reading("in-1", NOW, NOW + 20)
            # Whoever took it and died does not hold it for ever.
            assert await one.sign_ins.claim_reading("in-1", NOW + 21, NOW + 40)

        told(story)

    def test_a_log_out_ends_what_it_names(self, told: Callable[[Story], None]) -> None:
        async def story(one: SqlAccess, two: SqlAccess) -> None:
            await one.sign_ins.add_person(ADA, user("ada"))
            await one.sign_ins.add_person(BOB, user("bob"))
            for number, name, sid in ((1, "ada", "a"), (2, "ada", "b"), (3, "bob", "c")):
                made = sign_in(number, name, sid)
                await one.sign_ins.begin_sign_in(made, session(number, name), "!1")
                await consent(one, number, name)
            tokens = iter(range(100))

            async def ends(issuer: str, **facts: Any) -> EndedAccess | None:
                name = f"token-{next(tokens)}"
                return await one.sign_ins.end_sign_ins(
                    issuer, **facts, token_id=name, expires_at=NOW + 10
                )

            nobody = await ends(ISSUER, sid="a", subject="u-2", at=NOW)
            assert nobody == EndedAccess((), 0, 0)
            assert await ends("https://other.example", sid="a", subject=None, at=NOW) == nobody
            assert await ends(ISSUER, sid=None, subject="u-9", at=NOW) == nobody
            assert await ends(ISSUER, sid="a", subject=None, at=NOW) == EndedAccess(("ada",), 1, 1)
            assert [row.session_hash for row in await two.sessions(None, NOW)] == [
                "session-2",
                "session-3",
            ]
            assert [use.grant.grant_id for use in await two.grants("ada", NOW)] == ["g-2"]
            whole = await ends(ISSUER, sid=None, subject="u-1", at=NOW)
            assert whole == EndedAccess(("ada",), 1, 1)
            assert [use.grant.user_name for use in await two.grants(None, NOW)] == ["bob"]

        told(story)

    def test_a_log_out_token_counts_once(self, told: Callable[[Story], None]) -> None:
        async def story(one: SqlAccess, two: SqlAccess) -> None:
            async def end(store: SqlAccess) -> EndedAccess | None:
                return await store.sign_ins.end_sign_ins(
                    ISSUER, sid="s-1", subject=None, at=NOW, token_id="t", expires_at=NOW + 10
                )

            ended = await asyncio.gather(*(end(store) for store in (one, two)))
            assert sorted(each is not None for each in ended) == [False, True]
            await one.clean_up(unused_before=NOW, idle_before=NOW, now=NOW + 11)
            assert await end(two) is not None

        told(story)

    def test_a_log_out_that_failed_may_be_sent_again(self, told: Callable[[Story], None]) -> None:
        async def story(one: SqlAccess, two: SqlAccess) -> None:
            await one.sign_ins.add_person(ADA, user("ada"))
            await one.sign_ins.begin_sign_in(sign_in(1), session(1), "!1")

            async def end() -> EndedAccess | None:
                return await two.sign_ins.end_sign_ins(
                    ISSUER, sid="s-1", subject=None, at=NOW, token_id="t", expires_at=NOW + 10
                )

            await one._driver.run(("ALTER TABLE access_grants RENAME TO away", {}))
            with pytest.raises(CarrelError):
                await end()
            assert len(await two.sessions("ada", NOW)) == 1
            await one._driver.run(("ALTER TABLE away RENAME TO access_grants", {}))
            assert await end() == EndedAccess(("ada",), 1, 0)
            assert await two.sessions("ada", NOW) == []

        told(story)

    def test_an_existing_user_is_linked_and_has_to_log_in_again(
        self, told: Callable[[Story], None]
    ) -> None:
        async def story(one: SqlAccess, two: SqlAccess) -> None:
            assert not await one.sign_ins.link_person(ADA, "!2", NOW)
            await one.add_user(User("ada", "hash", SCOPES, NOW))
            await one.add_session(Session("old", "ada", NOW + 100), "hash")
            await one.sign_ins.add_person(BOB, user("bob"))
            assert not await one.sign_ins.link_person(replace(BOB, user_name="ada"), "!2", NOW)
            assert len(await two.sessions("ada", NOW)) == 1
            assert await two.sign_ins.link_person(ADA, "!2", NOW)
            assert await one.sign_ins.person_of("ada") == ADA
            assert await one.sessions("ada", NOW) == []
            found = await one.user("ada")
            assert found is not None
            assert found.password_hash == "!2"

        told(story)

    def test_sign_ins_that_nothing_needs_are_forgotten(self, told: Callable[[Story], None]) -> None:
        async def story(one: SqlAccess, two: SqlAccess) -> None:
            await one.sign_ins.add_person(ADA, user("ada"))
            for number in (1, 2):
                await one.sign_ins.begin_sign_in(sign_in(number), session(number), "!1")
            await consent(one, 2)
            await one.clean_up(unused_before=NOW - 9, idle_before=NOW - 9, now=NOW + 200)
            assert await two.sign_ins.sign_in("in-1") is not None
            await one.clean_up(unused_before=NOW + 1, idle_before=NOW, now=NOW + 200)
            assert await two.sign_ins.sign_in("in-1") is None
            assert await two.sign_ins.sign_in("in-2") is not None

        told(story)

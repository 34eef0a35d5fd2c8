"""Verified tokens are remembered for as long as they may be, and not without end."""

from __future__ import annotations

import asyncio
from collections import Counter
from datetime import UTC, datetime, timedelta

import pytest

from carrel.core.caller import Caller, Visit
from carrel.policy.identity import (
    BearerIdentity,
    InvalidTokenError,
    LocalSecretIdentity,
    NoTokenError,
    StaticToken,
    VerifiedToken,
    bearer_token,
    problem_with_foreign_name,
)

REMEMBERED = 4096


class HandClock:
    """A clock that a test moves."""

    def __init__(self) -> None:
        self.seconds = 1000.0

    def now(self) -> datetime:
        return datetime(2026, 1, 1, tzinfo=UTC) + timedelta(seconds=self.seconds)

    def monotonic(self) -> float:
        return self.seconds


class CountingVerifier:
    """Knows every token that begins with `good`, and counts how often it is asked."""

    def __init__(self, recheck_seconds: float | None = 60.0) -> None:
        self.recheck_seconds = recheck_seconds
        self.asked: Counter[str] = Counter()

    async def verify(self, token: str) -> VerifiedToken | None:
        self.asked[token] += 1
        return VerifiedToken(Caller(token, frozenset()), None) if token.startswith("good") else None


def identify(identity: BearerIdentity, token: str | None, door: str = "http") -> Caller:
    header = None if token is None else f"Bearer {token}"
    return asyncio.run(identity.identify(Visit(door, "r", authorization=header)))


@pytest.mark.promise("A1")
def test_no_token_and_a_strange_token_are_refused() -> None:
    identity = BearerIdentity([CountingVerifier()], HandClock())
    with pytest.raises(NoTokenError):
        identify(identity, None)
    with pytest.raises(InvalidTokenError):
        identify(identity, "strange")
    assert identify(identity, None, "stdio").user_id


def test_a_token_is_believed_until_it_must_be_asked_again() -> None:
    clock, verifier = HandClock(), CountingVerifier(recheck_seconds=60.0)
    identity = BearerIdentity([verifier], clock)
    identify(identity, "good")
    clock.seconds += 59.9
    assert identify(identity, "good").user_id == "good"
    assert verifier.asked["good"] == 1
    clock.seconds += 0.1
    identify(identity, "good")
    assert verifier.asked["good"] == 2


def test_a_token_that_may_never_be_believed_unasked_is_asked_each_time() -> None:
    verifier = CountingVerifier(recheck_seconds=0.0)
    identity = BearerIdentity([verifier], HandClock())
    identify(identity, "good")
    identify(identity, "good")
    assert verifier.asked["good"] == 2


def test_as_many_tokens_as_fit_are_remembered_and_then_the_older_half_is_forgotten() -> None:
    verifier = CountingVerifier()
    identity = BearerIdentity([verifier], HandClock())

    async def ask(number: int) -> None:
        await identity.identify(Visit("http", "r", authorization=f"Bearer good{number}"))

    async def ask_all(numbers: range) -> None:
        for number in numbers:
            await ask(number)

    asyncio.run(ask_all(range(REMEMBERED)))
    asyncio.run(ask_all(range(REMEMBERED)))
    assert set(verifier.asked.values()) == {1}, "all of them were remembered"
    asyncio.run(ask_all(range(REMEMBERED, REMEMBERED + 1)))
    asyncio.run(ask_all(range(REMEMBERED - 1, REMEMBERED + 1)))
    assert verifier.asked[f"good{REMEMBERED - 1}"] == 1
    asyncio.run(ask_all(range(1)))
    assert verifier.asked["good0"] == 2


@pytest.mark.promise("A1")
def test_a_token_is_read_from_a_bearer_header_and_from_nothing_else() -> None:
    longest = "Bearer " + "x" * (16 * 1024 - 7)
    assert bearer_token("bEaReR  abc ") == "abc"
    assert bearer_token(longest) == longest[7:]
    for header in (
        "",
        "Bearer",
        "Bearer  ",
        "Basic abc",
        "abc",
        "Bearer ä",
        "Bearer a\x00b",
        longest + "x",
    ):
        with pytest.raises(InvalidTokenError, match="must be Bearer and a token"):
            bearer_token(header)


@pytest.mark.promise("A1")
def test_a_foreign_name_is_refused_for_the_right_reason() -> None:
    unshown = "names a user with characters that cannot be shown"
    reserved = "names a user that is reserved here"
    for name, problem in {
        "ada": None,
        "a" * 255: None,
        "": "names no user",
        "a" * 256: "names a user with more than 255 characters",
        " ada": unshown,
        "a\u200bda": unshown,
        "local": reserved,
        "ＬＯＣＡＬ": reserved,
        "anonymous": reserved,
        "token:x": reserved,
        "Local:x": reserved,
        "localhost": None,
    }.items():
        assert problem_with_foreign_name(name) == problem, name
    assert problem_with_foreign_name(7) == "names no user"


@pytest.mark.promise("A1")
def test_the_local_secret_opens_only_for_who_shows_it() -> None:
    async def who(door: str, header: str | None) -> str:
        identity = LocalSecretIdentity("s3cret")
        return (await identity.identify(Visit(door, "r", authorization=header))).user_id

    assert asyncio.run(who("stdio", None)) == asyncio.run(who("http", "Bearer s3cret")) == "local"
    with pytest.raises(NoTokenError):
        asyncio.run(who("http", None))
    for wrong in ("", "s3cret", "Bearer s3cre", "bearer s3cret", "Bearer s3crét"):
        with pytest.raises(InvalidTokenError, match="not the secret of this desk"):
            asyncio.run(who("http", wrong))


@pytest.mark.promise("A1")
def test_a_static_token_is_good_until_the_second_it_ends() -> None:
    token = StaticToken("t", "h", frozenset(), 0.0, expires_at=100.0)
    assert token.is_good_at(99.9)
    assert not token.is_good_at(100.0)
    assert StaticToken("t", "h", frozenset(), 0.0).is_good_at(1e12)
    assert not StaticToken("t", "h", frozenset(), 0.0, revoked_at=1.0).is_good_at(0.5)
    assert token.user_id == "token:t"
    assert StaticToken("t", "h", frozenset(), 0.0, user_name="ada").user_id == "ada"

"""People: their passwords, their log-ins and the browsers in which they are logged in."""

from __future__ import annotations

import asyncio
import math
import re
import secrets

from argon2 import PasswordHasher
from argon2.exceptions import InvalidHashError, VerificationError

from carrel.core.clock import Clock
from carrel.core.errors import InvalidInputError, RateLimitExceededError
from carrel.policy.authorization.errors import LoginRefusedError
from carrel.policy.authorization.models import Session, User
from carrel.policy.authorization.ports import AccessStore
from carrel.policy.limits import Buckets, Rate
from carrel.policy.static_tokens import hash_of

SESSION_SECONDS = 8 * 3600.0
SHORTEST_PASSWORD = 10
LONGEST_PASSWORD = 1000
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._@+-]{0,99}")
# Guesses of one name from one address, of all names from one address, and of one name from anywhere.
_PER_PAIR = Rate(per_minute=3.0, burst=5.0)
_PER_ADDRESS = Rate(per_minute=10.0, burst=20.0)
_PER_NAME = Rate(per_minute=20.0, burst=60.0)


def checked_name(name: str) -> str:
    """A user name that can stand in a log line and on a page."""
    if not _NAME.fullmatch(name):
        raise InvalidInputError(
            "A user name has letters, digits and . _ @ + -, and begins with a letter or digit", next_step="Choose another name."
        )
    return name


def checked_password(password: str) -> str:
    if not SHORTEST_PASSWORD <= len(password) <= LONGEST_PASSWORD:
        raise InvalidInputError(f"A password has at least {SHORTEST_PASSWORD} characters", next_step="Choose a longer one.")
    return password


def new_password() -> str:
    """A password a person can type: 20 letters and digits without lookalikes, in groups."""
    letters = "abcdefghjkmnpqrstuvwxyz23456789"
    return "-".join("".join(secrets.choice(letters) for _ in range(5)) for _ in range(4))


class Passwords:
    """Argon2id. Hashing takes tens of milliseconds on purpose, so it happens in a thread, two at a time."""

    def __init__(self, hasher: PasswordHasher | None = None) -> None:
        self._hasher = hasher or PasswordHasher()
        self._dummy: str | None = None
        self._turns = asyncio.Semaphore(2)

    async def hash(self, password: str) -> str:
        async with self._turns:
            return await asyncio.to_thread(self._hasher.hash, password)

    async def fits(self, password: str, kept: str | None) -> bool:
        """Whether a password fits. Without a user it takes as long and answers no."""
        if kept is None:
            if self._dummy is None:
                self._dummy = await self.hash(secrets.token_urlsafe(16))
            await self._verified(password, self._dummy)
            return False
        return await self._verified(password, kept)

    async def _verified(self, password: str, kept: str) -> bool:
        async with self._turns:
            try:
                return await asyncio.to_thread(self._hasher.verify, kept, password)
            except (VerificationError, InvalidHashError):
                return False


class People:
    """Lets people log in, slowly for those who guess."""

    def __init__(self, store: AccessStore, buckets: Buckets, passwords: Passwords, clock: Clock) -> None:
        self._store = store
        self._buckets = buckets
        self._passwords = passwords
        self._clock = clock

    async def log_in(self, name: str, password: str, address: str) -> tuple[User, str]:
        """The user, and the secret of a new session. Raises LoginRefusedError or RateLimitExceededError."""
        is_a_name = _NAME.fullmatch(name) is not None
        folded = name.lower() if is_a_name else "(no name)"
        own = ((f"login:{address}|{folded}", _PER_PAIR), (f"login-name:{folded}", _PER_NAME))
        for key, rate in (*own, (f"login:{address}", _PER_ADDRESS)):
            taken = await self._buckets.take(key, 1.0, rate)
            if not taken.is_granted:
                raise RateLimitExceededError(math.ceil((1.0 - taken.tokens) / rate.per_second))
        user = await self._store.user(name) if is_a_name else None
        does_fit = await self._passwords.fits(password[:LONGEST_PASSWORD], None if user is None else user.password_hash)
        if user is None or not does_fit or user.is_disabled:
            raise LoginRefusedError
        for key, rate in own:
            await self._buckets.take(key, -1.0, rate)
        secret = secrets.token_urlsafe(32)
        await self._store.add_session(Session(hash_of(secret), user.name, self._clock.now().timestamp() + SESSION_SECONDS))
        return user, secret

    async def logged_in(self, secret: str | None) -> User | None:
        """Who is logged in with a session's secret."""
        if not secret:
            return None
        session = await self._store.session(hash_of(secret), self._clock.now().timestamp())
        user = None if session is None else await self._store.user(session.user_name)
        return None if user is None or user.is_disabled else user

    async def log_out(self, secret: str) -> None:
        await self._store.remove_session(hash_of(secret))

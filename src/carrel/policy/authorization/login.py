"""LoginService: their passwords, their log-ins and the browsers in which they are logged in."""

from __future__ import annotations

import asyncio
import math
import re
import secrets
from collections.abc import Sequence
from dataclasses import dataclass

from argon2 import PasswordHasher
from argon2.exceptions import InvalidHashError, VerificationError

from carrel.core.clock import Clock
from carrel.core.errors import InvalidInputError, RateLimitExceededError
from carrel.policy.authorization.models import AccessStore, LoginRefusedError, Session, User
from carrel.policy.identity import hash_secret, is_reserved_name
from carrel.policy.limits import Buckets, Rate

FIRST_USER = "admin"
SESSION_SECONDS = 8 * 3600.0
SHORTEST_PASSWORD = 10
LONGEST_PASSWORD = 1000
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._@+-]{0,99}")
# A browser or an address that has not logged in for so long is a stranger again.
DEVICE_SECONDS = 90 * 24 * 3600.0
_DEVICE = re.compile(r"[A-Za-z0-9_-]{43}")
# Guesses per name and address (or browser), per address, and per name by all strangers.
_PER_PAIR = Rate(per_minute=3.0, burst=5.0)
_PER_ADDRESS = Rate(per_minute=10.0, burst=20.0)
_PER_NAME = Rate(per_minute=20.0, burst=60.0)
LOG_IN_RATES = {"pair": _PER_PAIR, "address": _PER_ADDRESS, "name": _PER_NAME}
# Guesses of strangers that may wait for a turn; beyond this they are sent away.
_MOST_WAITING = 64
_BUSY_SECONDS = 5


def validate_user_name(name: str) -> str:
    """The name, if it is safe in logs and on pages; raises InvalidInputError."""
    if not _NAME.fullmatch(name):
        raise InvalidInputError(
            "A user name has letters, digits and . _ @ + -, and begins with a letter or digit",
            next_step="Choose another name.",
        )
    if is_reserved_name(name):
        raise InvalidInputError(
            f"{name} is a name of the server's own", next_step="Choose another name."
        )
    return name


def validate_password(password: str) -> str:
    if not SHORTEST_PASSWORD <= len(password) <= LONGEST_PASSWORD:
        raise InvalidInputError(
            f"A password has at least {SHORTEST_PASSWORD} characters",
            next_step="Choose a longer one.",
        )
    return password


# Nobody can log in with a password where this is kept in its place.
_NO_PASSWORD = "!"  # noqa: S105 - marks that there is none


def no_password() -> str:
    """What is kept for a user who logs in elsewhere; a new one ends what the last one allowed."""
    return f"{_NO_PASSWORD}{secrets.token_hex(16)}"


def has_password(user: User) -> bool:
    """Whether a user logs in here with a password."""
    return not user.password_hash.startswith(_NO_PASSWORD)


def new_password() -> str:
    """A password a person can type: 20 letters and digits without lookalikes, in groups."""
    letters = "abcdefghjkmnpqrstuvwxyz23456789"
    return "-".join("".join(secrets.choice(letters) for _ in range(5)) for _ in range(4))


class Passwords:
    """Argon2id, slow on purpose, so in a thread and two at a time."""

    def __init__(self, hasher: PasswordHasher | None = None) -> None:
        self._hasher = hasher or PasswordHasher()
        self._dummy: str | None = None
        self._turns = asyncio.Semaphore(2)
        # Whoever has been here before does not stand in line behind those who guess.
        self._known_turns = asyncio.Semaphore(1)
        self._waiting = 0

    async def hash(self, password: str) -> str:
        async with self._turns:
            return await asyncio.to_thread(self._hasher.hash, password)

    async def fits(self, password: str, kept: str | None, *, is_known: bool = False) -> bool:
        """Takes as long where `kept` is None; RateLimitExceededError when too many are waiting."""
        if is_known:
            async with self._known_turns:
                return await self._verify(password, kept)
        if self._waiting >= _MOST_WAITING:
            raise RateLimitExceededError(_BUSY_SECONDS)
        self._waiting += 1
        try:
            async with self._turns:
                return await self._verify(password, kept)
        finally:
            self._waiting -= 1

    async def _verify(self, password: str, kept: str | None) -> bool:
        if kept is None and self._dummy is None:
            self._dummy = await asyncio.to_thread(self._hasher.hash, secrets.token_urlsafe(16))
        try:
            does_fit = await asyncio.to_thread(
                self._hasher.verify, kept or self._dummy or "", password
            )
        except (VerificationError, InvalidHashError):
            return False
        return does_fit and kept is not None


@dataclass(frozen=True, slots=True)
class LoginResult:
    """The user, with the secrets of the session and of this browser."""

    user: User
    session: str
    device: str


class LoginService:
    """Password log-in with rate limits against guessing."""

    def __init__(
        self, store: AccessStore, buckets: Buckets, passwords: Passwords, clock: Clock
    ) -> None:
        self._store = store
        self._buckets = buckets
        self._passwords = passwords
        self._clock = clock

    async def log_in(
        self,
        name: str,
        password: str,
        address: str,
        device: str | None = None,
        browser_name: str = "",
    ) -> LoginResult:
        """Raises LoginRefusedError or RateLimitExceededError.

        `device` is the secret this browser got at an earlier log-in. Known browsers and addresses
        have their own rate limit, so guesses from elsewhere cannot lock a person out.
        """
        is_a_name = _NAME.fullmatch(name) is not None
        folded = name.lower() if is_a_name else "(no name)"
        now = self._clock.now().timestamp()
        browser = _browser_mark(device)
        marks = (_address_mark(address), *([browser] if browser else []))
        known = (
            await self._store.known_origins(name, marks, now - DEVICE_SECONDS)
            if is_a_name
            else frozenset()
        )
        if browser in known:
            own: Sequence[tuple[str, Rate]] = ((f"login-{browser}|{folded}", _PER_PAIR),)
        else:
            strangers = () if known else ((f"login-name:{folded}", _PER_NAME),)
            own = ((f"login:{address}|{folded}", _PER_PAIR), *strangers)
            await self._charge(f"login:{address}", _PER_ADDRESS)
        for key, rate in own:
            await self._charge(key, rate)
        user = await self._store.user(name) if is_a_name else None
        kept = None if user is None or not has_password(user) else user.password_hash
        does_fit = await self._passwords.fits(
            password[:LONGEST_PASSWORD], kept, is_known=bool(known)
        )
        if user is None or kept is None or not does_fit or user.is_disabled:
            raise LoginRefusedError
        secret = secrets.token_urlsafe(32)
        session = Session(hash_secret(secret), user.name, now + SESSION_SECONDS, None, browser_name)
        if not await self._store.add_session(session, user.password_hash):
            # The password was reset, or the user disabled, while we looked.
            raise LoginRefusedError
        for key, rate in own:
            await self._buckets.take(key, -1.0, rate)
        # A browser keeps a secret that we gave it; any other value is replaced by a new one.
        own_device = device if device and browser in known else secrets.token_urlsafe(32)
        await self._store.remember_origins(
            user.name, (_address_mark(address), f"browser:{hash_secret(own_device)}"), now
        )
        return LoginResult(user, secret, own_device)

    async def _charge(self, key: str, rate: Rate) -> None:
        taken = await self._buckets.take(key, 1.0, rate)
        if not taken.is_granted:
            raise RateLimitExceededError(math.ceil((1.0 - taken.tokens) / rate.per_second))

    async def find_session_user(self, secret: str | None) -> User | None:
        """The user of a session, by its secret."""
        return (await self.find_session(secret))[1]

    async def find_session(self, secret: str | None) -> tuple[Session | None, User | None]:
        """A session and its user, by its secret; neither where the user may not log in."""
        if not secret:
            return None, None
        session = await self._store.session(hash_secret(secret), self._clock.now().timestamp())
        user = None if session is None else await self._store.user(session.user_name)
        return (None, None) if user is None or user.is_disabled else (session, user)

    async def log_out(self, secret: str) -> None:
        await self._store.remove_session(hash_secret(secret))


def _address_mark(address: str) -> str:
    return f"address:{hash_secret(address)}"


def _browser_mark(device: str | None) -> str | None:
    return f"browser:{hash_secret(device)}" if device and _DEVICE.fullmatch(device) else None


async def add_first_user(store: AccessStore, clock: Clock) -> str | None:
    """Add an administrator with a generated password and return it; None if users exist."""
    if await store.users():
        return None
    password = new_password()
    hashed = await Passwords().hash(password)
    user = User(FIRST_USER, hashed, frozenset({"admin"}), clock.now().timestamp())
    return password if await store.add_user(user) else None

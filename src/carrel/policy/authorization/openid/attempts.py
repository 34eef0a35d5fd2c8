"""A log-in under way: state, nonce and PKCE verifier, all bound to one browser.

The server keeps nothing: the browser holds a secret in a cookie, and what goes to the provider
is derived from it. A stranger can begin as many log-ins as they like and fill nothing.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import hmac
import re
import secrets
from dataclasses import dataclass

from carrel.policy.authorization.openid.models import SignInRefusedError

ATTEMPT_SECONDS = 600
_LONGEST_TARGET = 2_700
_STATE = re.compile(r"(\d{1,12})\.([A-Za-z0-9_-]{22})\.([A-Za-z0-9_-]{43})")
_SECRET = re.compile(r"[A-Za-z0-9_-]{43}")


@dataclass(frozen=True, slots=True)
class Attempt:
    """What belongs to one log-in; `target` is where the browser goes afterwards."""

    secret: str
    state: str
    target: str

    @property
    def nonce(self) -> str:
        return _derive(self.secret, f"nonce|{self.state}")

    @property
    def verifier(self) -> str:
        return _derive(self.secret, f"verifier|{self.state}")

    @property
    def cookie(self) -> str:
        """What the browser keeps."""
        return f"{self.secret}.{base64.urlsafe_b64encode(self.target.encode()).decode()}"


def new_attempt(target: str, now: float) -> Attempt:
    """Raises SignInRefusedError where the target does not fit into a cookie."""
    if len(target) > _LONGEST_TARGET:
        raise SignInRefusedError(
            "The address to return to after the log-in is too long",
            next_step="Start again from the app; it may send a shorter state.",
        )
    secret = secrets.token_urlsafe(32)
    start = f"{int(now)}.{secrets.token_urlsafe(16)}"
    return Attempt(secret, f"{start}.{_sign(secret, start, target)}", target)


def resume_attempt(cookie: str, state: str, now: float) -> Attempt:
    """The attempt that this browser began; raises SignInRefusedError."""
    secret, _, packed = cookie.partition(".")
    parts = _STATE.fullmatch(state)
    try:
        target = base64.urlsafe_b64decode(packed).decode()
    except (binascii.Error, ValueError):
        target = ""
    if parts is None or not _SECRET.fullmatch(secret):
        raise _foreign_attempt()
    began, nonce, signature = parts.groups()
    if not hmac.compare_digest(signature, _sign(secret, f"{began}.{nonce}", target)):
        raise _foreign_attempt()
    if not 0 <= now - int(began) + 1 <= ATTEMPT_SECONDS + 1:
        raise SignInRefusedError(
            "This log-in took too long", next_step="Start again: it has to end within ten minutes."
        )
    return Attempt(secret, state, target)


def _foreign_attempt() -> SignInRefusedError:
    return SignInRefusedError(
        "This log-in was not begun in this browser, or it has ended already",
        next_step="Start again from the log-in page, in the browser in which you want to work.",
    )


def _sign(secret: str, start: str, target: str) -> str:
    return _derive(secret, f"state|{start}|{target}")


def _derive(secret: str, purpose: str) -> str:
    digest = hmac.new(secret.encode(), purpose.encode(), hashlib.sha256).digest()
    return base64.urlsafe_b64encode(digest).rstrip(b"=").decode()

"""Callers that Cloud Run has authenticated: it verifies the token and strips its signature."""

from __future__ import annotations

import base64
import binascii
from collections.abc import Iterable

from carrel.core.caller import Caller, Visit
from carrel.core.clock import Clock
from carrel.policy.identity import (
    OWN_DOORS,
    InvalidTokenError,
    LocalIdentity,
    NoTokenError,
    bearer_token,
    problem_with_foreign_name,
)
from carrel.policy.scopes import ALL_SCOPES, expand_scopes
from carrel.policy.signed_tokens import parse_timestamp, printable_client_id, strict_json_object

STRIPPED_SIGNATURE = "SIGNATURE_REMOVED_BY_GOOGLE"


class PlatformIdentity:
    """Trusts identity tokens whose signature the hosting platform has checked and removed.

    If X-Serverless-Authorization is present, the platform checked that header and not
    Authorization, so only the former counts.
    """

    def __init__(
        self, clock: Clock, *, scopes: Iterable[str], admins: Iterable[str], user_prefix: str = ""
    ) -> None:
        self._clock = clock
        self._scopes = expand_scopes(scopes)
        self._admins = frozenset(admins)
        self._user_prefix = user_prefix
        self._local = LocalIdentity()

    async def identify(self, visit: Visit) -> Caller:
        header = visit.platform_authorization or visit.authorization
        if header is None:
            if visit.door in OWN_DOORS:
                return await self._local.identify(visit)
            raise NoTokenError
        claims = _claims(bearer_token(header))
        expires = parse_timestamp(claims, "exp")
        if expires is None or self._clock.now().timestamp() >= expires + 60:
            raise InvalidTokenError(
                "The platform's token has expired", next_step="Get a new identity token."
            )
        email = claims.get("email") if claims.get("email_verified", True) is True else None
        user = email if isinstance(email, str) and email else claims.get("sub")
        problem = problem_with_foreign_name(user)
        if problem is not None or not isinstance(user, str):
            raise InvalidTokenError(
                f"The platform's token {problem}", next_step="Use an identity token."
            )
        scopes = ALL_SCOPES if user in self._admins else self._scopes
        return Caller(f"{self._user_prefix}{user}", scopes, printable_client_id(claims.get("azp")))


def _claims(token: str) -> dict[str, object]:
    parts = token.split(".")
    if len(parts) != 3 or parts[2] != STRIPPED_SIGNATURE:
        raise InvalidTokenError(
            "The platform has not checked this token",
            next_step="Deploy with --no-allow-unauthenticated, or set another mode.",
        )
    try:
        text = base64.urlsafe_b64decode(parts[1] + "=" * (-len(parts[1]) % 4))
    except (binascii.Error, ValueError):
        raise InvalidTokenError("The platform's token cannot be read") from None
    return strict_json_object(text)

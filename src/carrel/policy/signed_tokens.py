"""Signed tokens (JWT): verifies signature, issuer, audience and times."""

from __future__ import annotations

import asyncio
import base64
import binascii
import json
import logging
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Protocol

import jwt
from cryptography.hazmat.primitives.asymmetric.ec import EllipticCurvePublicKey
from cryptography.hazmat.primitives.asymmetric.rsa import RSAPublicKey

from carrel.core.caller import Caller
from carrel.core.clock import Clock
from carrel.core.errors import UnavailableError
from carrel.policy.identity import InvalidTokenError, VerifiedToken, problem_with_foreign_name
from carrel.policy.scopes import expand_scopes

log = logging.getLogger("carrel.tokens")

ALGORITHMS = ("RS256", "ES256")
_SMALLEST_RSA_BITS = 2048
# Beyond this a signature takes so long to check that strangers could keep us busy with it.
_LARGEST_RSA_BITS = 8192
ACCESS_TOKEN_TYPES = frozenset({"jwt", "at+jwt"})
_PART = re.compile(r"[A-Za-z0-9_-]+")
# Headers that change the meaning of signature or body; keys (jwk, jku, x5c, x5u) are ignored.
_UNSUPPORTED_HEADERS = {"crit", "b64", "zip", "enc"}
_LONGEST_CLIENT = 200
_RECHECK_SECONDS = 300.0


class KeySource(Protocol):
    """Fetches a JSON Web Key Set. Raises UnavailableError when it cannot be had."""

    async def fetch(self) -> Mapping[str, Any]: ...


@dataclass(frozen=True, slots=True)
class VerificationKey:
    """A public key and the one algorithm it may verify."""

    kid: str | None
    algorithm: str
    key: RSAPublicKey | EllipticCurvePublicKey


class KeyRing:
    """The keys of one issuer, cached and fetched again for an unknown key id."""

    def __init__(
        self,
        source: KeySource,
        clock: Clock,
        *,
        fresh_seconds: float = 3600.0,
        minimum_interval_seconds: float = 30.0,
        refetch_burst: int = 1,
    ) -> None:
        self._source = source
        self._clock = clock
        self._fresh_seconds = fresh_seconds
        self._minimum_interval_seconds = minimum_interval_seconds
        self._refetch_burst = refetch_burst
        # Refetches that are left, and when they were counted; one comes back in each interval.
        self._refetches = float(refetch_burst)
        self._counted_at: float | None = None
        self._keys: tuple[VerificationKey, ...] = ()
        self._fetched_at: float | None = None
        self._fetch_count = 0
        self._fetching = asyncio.Lock()

    async def find(self, kid: str | None, algorithm: str) -> VerificationKey | None:
        is_stale = (
            self._fetched_at is None
            or self._clock.monotonic() - self._fetched_at > self._fresh_seconds
        )
        found = None if is_stale else self._find_cached(kid, algorithm)
        if found is None:
            await self._refresh()
            found = self._find_cached(kid, algorithm)
        return found

    def _find_cached(self, kid: str | None, algorithm: str) -> VerificationKey | None:
        fitting = [
            key
            for key in self._keys
            if key.algorithm == algorithm and (kid is None or key.kid == kid)
        ]
        return fitting[0] if len(fitting) == 1 or (fitting and kid is not None) else None

    async def _refresh(self) -> None:
        seen = self._fetch_count
        async with self._fetching:
            if self._fetch_count != seen:
                # Somebody else fetched them while this one waited.
                return
            now = self._clock.monotonic()
            if not self._may_fetch(now):
                if self._fetched_at is None:
                    raise UnavailableError(
                        "The token issuer's keys cannot be fetched",
                        next_step="Try again in a minute.",
                    )
                return
            try:
                self._keys = read_key_set(await self._source.fetch())
                self._fetched_at = now
                self._fetch_count += 1
            except UnavailableError as error:
                if self._fetched_at is None:
                    raise
                log.warning(
                    "key set could not be refreshed, keeping the old one",
                    extra={"reason": error.message},
                )

    def _may_fetch(self, now: float) -> bool:
        """Take a refetch from those that are left."""
        since = 0.0 if self._counted_at is None else now - self._counted_at
        back = since / self._minimum_interval_seconds
        self._refetches = min(float(self._refetch_burst), self._refetches + back)
        self._counted_at = now
        if self._refetches < 1.0:
            return False
        self._refetches -= 1.0
        return True


def read_key_set(key_set: Mapping[str, Any]) -> tuple[VerificationKey, ...]:
    """The keys of a set that can verify our algorithms; others are passed over."""
    rows = key_set.get("keys")
    found = (
        _verification_key(row)
        for row in (rows if isinstance(rows, list) else ())
        if isinstance(row, dict)
    )
    return tuple(key for key in found if key is not None)


def _verification_key(row: dict[str, Any]) -> VerificationKey | None:
    if row.get("use", "sig") != "sig" or row.get("kty") not in ("RSA", "EC"):
        return None
    algorithm = "RS256" if row["kty"] == "RSA" else "ES256"
    if row.get("alg", algorithm) != algorithm or (
        algorithm == "ES256" and row.get("crv") != "P-256"
    ):
        return None
    try:
        key = jwt.PyJWK(
            {name: value for name, value in row.items() if name != "d"}, algorithm=algorithm
        ).key
    except (jwt.PyJWTError, ValueError, TypeError, LookupError, AttributeError):
        return None
    if not isinstance(key, RSAPublicKey | EllipticCurvePublicKey):
        return None
    if (
        isinstance(key, RSAPublicKey)
        and not _SMALLEST_RSA_BITS <= key.key_size <= _LARGEST_RSA_BITS
    ):
        log.warning(
            "a key of the issuer is too short or too long to be used",
            extra={"kid": row.get("kid"), "bits": key.key_size},
        )
        return None
    kid = row.get("kid")
    return VerificationKey(kid if isinstance(kid, str) else None, algorithm, key)


class SignedTokenVerifier:
    """Recognises tokens that one issuer signed for this server."""

    def __init__(
        self,
        keys: KeyRing,
        clock: Clock,
        *,
        issuer: str,
        audiences: Iterable[str],
        algorithms: Iterable[str] = ALGORITHMS,
        leeway_seconds: float = 30.0,
        expiry_leeway_seconds: float | None = None,
        scope_claim: str = "scope",
        user_claim: str = "sub",
        user_prefix: str = "",
        token_types: frozenset[str] = ACCESS_TOKEN_TYPES,
    ) -> None:
        self._keys = keys
        self._token_types = token_types
        self._clock = clock
        self._issuer = issuer
        self._audiences = frozenset(audiences)
        self._algorithms = frozenset(algorithms)
        self._leeway_seconds = leeway_seconds
        self._expiry_leeway_seconds = (
            leeway_seconds if expiry_leeway_seconds is None else expiry_leeway_seconds
        )
        self._scope_claim = scope_claim
        self._user_claim = user_claim
        self._user_prefix = user_prefix
        # So that a key that the issuer has withdrawn does not live on in cached tokens.
        self.recheck_seconds: float | None = _RECHECK_SECONDS

    async def verify(self, token: str) -> VerifiedToken | None:
        claims = await self.claims(token)
        user = claims.get(self._user_claim)
        problem = problem_with_foreign_name(user)
        if problem is not None:
            raise _invalid_token(problem)
        user = f"{self._user_prefix}{user}"
        client = claims.get("client_id", claims.get("azp"))
        scopes = expand_scopes(parse_scopes(claims.get(self._scope_claim)))
        caller = Caller(user, scopes, printable_client_id(client))
        return VerifiedToken(caller, float(claims["exp"]) + self._expiry_leeway_seconds)

    async def claims(self, token: str) -> dict[str, Any]:
        """The claims of a token after signature, issuer, audience and times have been checked."""
        parts = token.split(".")
        if len(parts) != 3:
            raise _invalid_token("is not a signed token")
        header = _json_object(parts[0])
        algorithm, kid = self._check_header(header)
        key = await self._keys.find(kid, algorithm)
        if key is None:
            raise _invalid_token("is signed with a key that the issuer does not publish")
        if not _has_valid_signature(parts, key):
            raise _invalid_token("has a signature that does not fit")
        claims = _json_object(parts[1])
        self._check(claims)
        return claims

    def _check_header(self, header: dict[str, Any]) -> tuple[str, str | None]:
        """Algorithm and key id."""
        algorithm, kid, kind = header.get("alg"), header.get("kid"), header.get("typ", "JWT")
        if not isinstance(algorithm, str) or algorithm not in self._algorithms:
            raise _invalid_token("is signed with an algorithm that is not accepted")
        if (
            not _UNSUPPORTED_HEADERS.isdisjoint(header)
            or not isinstance(kind, str)
            or kind.lower().removeprefix("application/") not in self._token_types
        ):
            raise _invalid_token("is not of the kind that is expected here")
        if kid is not None and not isinstance(kid, str):
            raise _invalid_token("names its key in a way that cannot be read")
        return algorithm, kid

    def _check(self, claims: dict[str, Any]) -> None:
        now = self._clock.now().timestamp()
        expires, not_before, issued = (
            parse_timestamp(claims, name) for name in ("exp", "nbf", "iat")
        )
        if expires is None:
            raise _invalid_token("never expires, which is not accepted")
        if now >= expires + self._expiry_leeway_seconds:
            raise _invalid_token("has expired")
        if not_before is not None and now < not_before - self._leeway_seconds:
            raise _invalid_token("is not valid yet")
        if issued is not None and now < issued - self._leeway_seconds:
            raise _invalid_token("was issued in the future")
        if claims.get("iss") != self._issuer:
            raise _invalid_token("comes from another issuer")
        audience = claims.get("aud")
        listed = audience if isinstance(audience, list) else [audience]
        named = {item for item in listed if isinstance(item, str)}
        if not named & self._audiences:
            raise _invalid_token("is meant for another server")


def _has_valid_signature(parts: list[str], key: VerificationKey) -> bool:
    try:
        algorithm = jwt.get_algorithm_by_name(key.algorithm)
        return algorithm.verify(
            f"{parts[0]}.{parts[1]}".encode("ascii"), key.key, _decode_part(parts[2])
        )
    except (jwt.PyJWTError, ValueError, TypeError):
        return False


def _decode_part(part: str) -> bytes:
    if not _PART.fullmatch(part):
        raise _invalid_token("is not a signed token")
    try:
        return base64.urlsafe_b64decode(part + "=" * (-len(part) % 4))
    except (binascii.Error, ValueError):
        raise _invalid_token("is not a signed token") from None


def _json_object(part: str) -> dict[str, Any]:
    """One part of a token as a strict JSON object."""
    return strict_json_object(_decode_part(part))


def strict_json_object(text: bytes) -> dict[str, Any]:
    """A JSON object in UTF-8 without doubled names or NaN. Raises InvalidTokenError."""
    try:
        found = json.loads(
            text.decode("utf-8"), object_pairs_hook=_unique_names, parse_constant=_refuse_constant
        )
    except (ValueError, RecursionError):
        raise _invalid_token("cannot be read") from None
    if not isinstance(found, dict):
        raise _invalid_token("cannot be read")
    return found


def _unique_names(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        raise ValueError("a name is given twice")
    return found


def _refuse_constant(name: str) -> None:
    raise ValueError(f"{name} is not JSON")


def printable_client_id(client: object) -> str | None:
    """The client id of a token if it is printable."""
    return (
        client
        if isinstance(client, str) and 0 < len(client) <= _LONGEST_CLIENT and client.isprintable()
        else None
    )


def parse_timestamp(claims: Mapping[str, Any], name: str) -> float | None:
    """A timestamp claim, or None if absent; raises InvalidTokenError if malformed."""
    value = claims.get(name)
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, int | float) or not abs(value) < 1e11:
        raise _invalid_token(f"has an unreadable {name}")
    return float(value)


def parse_scopes(value: object) -> list[str]:
    """Scopes from a claim: words in a string, or a list of strings."""
    if isinstance(value, str):
        return value.split()
    return [item for item in value if isinstance(item, str)] if isinstance(value, list) else []


def _invalid_token(why: str) -> InvalidTokenError:
    return InvalidTokenError(
        f"The token {why}", next_step="Get a new token from the authorization server."
    )

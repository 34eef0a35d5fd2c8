"""Access tokens of our own authorization server: the keys that sign them, and verification."""

from __future__ import annotations

import asyncio
import secrets
from typing import Any

import jwt
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import rsa
from jwt.algorithms import RSAAlgorithm

from carrel.core.caller import Caller
from carrel.core.clock import Clock
from carrel.policy.authorization.models import AccessStore, SigningKey
from carrel.policy.identity import InvalidTokenError, VerifiedToken
from carrel.policy.scopes import expand_scopes
from carrel.policy.signed_tokens import SignedTokenVerifier

_REREAD_SECONDS = 30.0
# A new key is published this long before it signs, so that every worker knows it by then.
_AHEAD_SECONDS = 90.0


class SigningKeys:
    """Signs with the newest key that everybody knows. Also the source of the public ones."""

    def __init__(
        self, store: AccessStore, clock: Clock, *, rotate_seconds: float, overlap_seconds: float
    ) -> None:
        self._store = store
        self._clock = clock
        self._rotate_seconds = rotate_seconds
        self._overlap_seconds = overlap_seconds
        self._keys: list[SigningKey] = []
        self._loaded_keys: dict[str, rsa.RSAPrivateKey] = {}
        self._read_at: float | None = None
        self._reading = asyncio.Lock()

    async def sign(self, claims: dict[str, Any]) -> str:
        await self._refresh()
        now = self._clock.now().timestamp()
        known = [key for key in self._keys if now - key.created_at >= _AHEAD_SECONDS] or self._keys[
            :1
        ]
        signing = known[-1]
        return jwt.encode(
            claims,
            self._loaded_keys[signing.kid],
            algorithm="RS256",
            headers={"kid": signing.kid, "typ": "at+jwt"},
        )

    async def fetch(self) -> dict[str, Any]:
        """The public keys as a JSON Web Key Set."""
        await self._refresh()
        return {"keys": [self._public(key) for key in reversed(self._keys)]}

    async def _refresh(self) -> None:
        async with self._reading:
            now = self._clock.monotonic()
            if self._keys and self._read_at is not None and now - self._read_at < _REREAD_SECONDS:
                return
            self._keys = await self._store.keys()
            age = self._clock.now().timestamp() - self._keys[-1].created_at if self._keys else None
            if age is None or age > self._rotate_seconds:
                await self._make_next()
            # Loading a private key validates it, which is too slow for the event loop.
            await asyncio.to_thread(self._load_keys)
            self._read_at = now

    async def _make_next(self) -> None:
        generation = self._keys[-1].generation + 1 if self._keys else 1
        pem = await asyncio.to_thread(_new_private_pem)
        now = self._clock.now().timestamp()
        # When another worker was quicker, its key is the next one and ours is dropped.
        await self._store.add_key(SigningKey(generation, secrets.token_hex(8), pem, now))
        self._keys = await self._store.keys()
        outlived = [
            older.generation for older, newer in zip(self._keys, self._keys[1:], strict=False)
            if now - newer.created_at > self._overlap_seconds
        ]  # fmt: skip
        if outlived:
            await self._store.remove_keys(max(outlived) + 1)
            self._keys = await self._store.keys()

    def _load_keys(self) -> None:
        opened: dict[str, rsa.RSAPrivateKey] = {}
        for key in self._keys:
            loaded = self._loaded_keys.get(key.kid) or serialization.load_pem_private_key(
                key.private_pem.encode(), password=None
            )
            if not isinstance(loaded, rsa.RSAPrivateKey):
                raise TypeError("a signing key in the store is not RSA")
            opened[key.kid] = loaded
        self._loaded_keys = opened

    def _public(self, key: SigningKey) -> dict[str, Any]:
        facts: dict[str, Any] = RSAAlgorithm.to_jwk(
            self._loaded_keys[key.kid].public_key(), as_dict=True
        )
        return {
            "kty": "RSA",
            "use": "sig",
            "alg": "RS256",
            "kid": key.kid,
            "n": facts["n"],
            "e": facts["e"],
        }


def _new_private_pem() -> str:
    key = rsa.generate_private_key(public_exponent=65537, key_size=2048)
    return key.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    ).decode()


class GrantedTokenVerifier:
    """Accepts a signed token while its grant is valid, checked every `recheck_seconds`."""

    def __init__(
        self,
        signed: SignedTokenVerifier,
        store: AccessStore,
        clock: Clock,
        recheck_seconds: float = 5.0,
    ) -> None:
        self._signed = signed
        self._store = store
        self._clock = clock
        self.recheck_seconds: float | None = recheck_seconds

    async def verify(self, token: str) -> VerifiedToken | None:
        claims = await self._signed.claims(token)
        grant = await self._store.grant(str(claims.get("grant")))
        if grant is None:
            raise InvalidTokenError("The token has been revoked", next_step="Log in again.")
        most = await self._store.user_scopes(grant.user_name) or frozenset()
        granted = expand_scopes(grant.scopes) & expand_scopes(most)
        scopes = expand_scopes(str(claims.get("scope", "")).split()) & granted
        return VerifiedToken(Caller(grant.user_name, scopes, grant.client_id), float(claims["exp"]))

    async def grant_of(self, token: str) -> str | None:
        """The grant of an unexpired token of ours, for revocation."""
        try:
            return str((await self._signed.claims(token)).get("grant"))
        except InvalidTokenError:
            return None

"""Signed tokens of an organisation's own authorization server: what is refused, and how its keys
are followed.
"""

from __future__ import annotations

import asyncio
import base64
import hashlib
import hmac
import json
from collections.abc import Callable, Mapping
from typing import Any

import jwt
import pytest
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import ec, rsa
from jwt.algorithms import ECAlgorithm, RSAAlgorithm

from carrel.core.caller import Visit
from carrel.core.errors import UnavailableError
from carrel.policy.identity import BearerIdentity, InvalidTokenError
from carrel.policy.signed_tokens import KeyRing, SignedTokenVerifier, read_key_set
from tests.access.support import ManualClock

ISSUER = "https://login.example.org"
AUDIENCE = "https://desk.example.org/mcp"
RSA_KEY = rsa.generate_private_key(65537, 2048)
OTHER_RSA_KEY = rsa.generate_private_key(65537, 2048)
SHORT_RSA_KEY = rsa.generate_private_key(65537, 1024)
EC_KEY = ec.generate_private_key(ec.SECP256R1())


def rsa_row(key: rsa.RSAPrivateKey, kid: str) -> dict[str, Any]:
    return {
        **RSAAlgorithm.to_jwk(key.public_key(), as_dict=True),
        "kid": kid,
        "use": "sig",
        "alg": "RS256",
    }


def ec_row(key: ec.EllipticCurvePrivateKey, kid: str) -> dict[str, Any]:
    return {**ECAlgorithm.to_jwk(key.public_key(), as_dict=True), "kid": kid}


class Keys:
    """An issuer's key set that counts how often it is asked for."""

    def __init__(self, *rows: dict[str, Any]) -> None:
        self.rows = list(rows)
        self.fetches = 0
        self.is_down = False

    async def fetch(self) -> Mapping[str, Any]:
        self.fetches += 1
        if self.is_down:
            raise UnavailableError("no answer")
        return {"keys": self.rows}


class Issuer:
    """A clock, a key set and the verifier that believes it."""

    def __init__(self) -> None:
        self.clock = ManualClock()
        self.keys = Keys(rsa_row(RSA_KEY, "r1"), ec_row(EC_KEY, "e1"))
        self.verifier = SignedTokenVerifier(
            KeyRing(self.keys, self.clock), self.clock, issuer=ISSUER, audiences=[AUDIENCE]
        )
        self.identity = BearerIdentity([self.verifier], self.clock)

    def claims(self, **changes: object) -> dict[str, Any]:
        now = int(self.clock.now().timestamp())
        facts = {
            "iss": ISSUER,
            "aud": AUDIENCE,
            "sub": "ada",
            "scope": "research:write",
            "iat": now,
            "exp": now + 600,
            **changes,
        }
        return {name: value for name, value in facts.items() if value is not None}

    def signed(
        self,
        key: Any = RSA_KEY,
        algorithm: str = "RS256",
        kid: str | None = "r1",
        typ: str = "at+jwt",
        **changes: object,
    ) -> str:
        headers: dict[str, Any] = {"typ": typ, **({} if kid is None else {"kid": kid})}
        return jwt.encode(self.claims(**changes), key, algorithm=algorithm, headers=headers)

    async def show(self, token: str) -> Any:
        return await self.identity.identify(Visit("http", "1", authorization=f"Bearer {token}"))


def unsigned(issuer: Issuer, algorithm: str) -> str:
    header = base64.urlsafe_b64encode(json.dumps({"alg": algorithm, "kid": "r1"}).encode()).rstrip(
        b"="
    )
    body = base64.urlsafe_b64encode(json.dumps(issuer.claims()).encode()).rstrip(b"=")
    return (header + b"." + body + b".").decode()


def confused(issuer: Issuer) -> str:
    """Signed with HMAC, the public key as the secret."""
    public = RSA_KEY.public_key().public_bytes(
        serialization.Encoding.PEM, serialization.PublicFormat.SubjectPublicKeyInfo
    )
    header = base64.urlsafe_b64encode(json.dumps({"alg": "HS256", "kid": "r1"}).encode()).rstrip(
        b"="
    )
    body = base64.urlsafe_b64encode(json.dumps(issuer.claims()).encode()).rstrip(b"=")
    mac = base64.urlsafe_b64encode(
        hmac.new(public, header + b"." + body, hashlib.sha256).digest()
    ).rstrip(b"=")
    return (header + b"." + body + b"." + mac).decode()


def relabelled(issuer: Issuer) -> str:
    """An RS256 token whose header claims ES256."""
    _, body, signature = issuer.signed().split(".")
    header = (
        base64.urlsafe_b64encode(json.dumps({"alg": "ES256", "kid": "r1"}).encode())
        .rstrip(b"=")
        .decode()
    )
    return f"{header}.{body}.{signature}"


def embedded_key(issuer: Issuer) -> str:
    """Carries the attacker's own key in its header."""
    headers = {
        "kid": "mine",
        "jwk": rsa_row(OTHER_RSA_KEY, "mine"),
        "jku": "https://evil.example/keys",
    }
    return jwt.encode(issuer.claims(), OTHER_RSA_KEY, algorithm="RS256", headers=headers)


REFUSED: dict[str, Callable[[Issuer], str]] = {
    "alg none": lambda issuer: unsigned(issuer, "none"),
    "alg NONE": lambda issuer: unsigned(issuer, "NoNe"),
    "no signature": lambda issuer: unsigned(issuer, "RS256"),
    "key confusion": confused,
    "relabelled algorithm": relabelled,
    "a key of its own in the header": embedded_key,
    "another key": lambda issuer: issuer.signed(OTHER_RSA_KEY),
    "RS512": lambda issuer: issuer.signed(algorithm="RS512"),
    "PS256": lambda issuer: issuer.signed(algorithm="PS256"),
    "wrong audience": lambda issuer: issuer.signed(aud="https://elsewhere.example"),
    "audience that only begins so": lambda issuer: issuer.signed(aud=AUDIENCE + "/more"),
    "no audience": lambda issuer: issuer.signed(aud=None),
    "wrong issuer": lambda issuer: issuer.signed(iss="https://evil.example"),
    "no issuer": lambda issuer: issuer.signed(iss=None),
    "expired": lambda issuer: issuer.signed(exp=int(issuer.clock.now().timestamp()) - 31),
    "no exp": lambda issuer: issuer.signed(exp=None),
    "exp that is no number": lambda issuer: issuer.signed(exp=True),
    "exp beyond all time": lambda issuer: issuer.signed(exp=10**18),
    "not valid yet": lambda issuer: issuer.signed(nbf=int(issuer.clock.now().timestamp()) + 31),
    "issued in the future": lambda issuer: issuer.signed(
        iat=int(issuer.clock.now().timestamp()) + 31
    ),
    "nobody": lambda issuer: issuer.signed(sub=None),
    "an identity of another kind": lambda issuer: issuer.signed(typ="dpop+jwt"),
    "not a token": lambda issuer: "a.b.c",
    "empty parts": lambda issuer: "..",
}


@pytest.mark.promise("A1")
@pytest.mark.parametrize("attack", REFUSED)
def test_a_token_that_proves_nothing_is_refused(attack: str) -> None:
    issuer = Issuer()
    with pytest.raises(InvalidTokenError):
        asyncio.run(issuer.show(REFUSED[attack](issuer)))


@pytest.mark.promise("A1")
@pytest.mark.parametrize(
    ("key", "algorithm", "kid"),
    [(RSA_KEY, "RS256", "r1"), (EC_KEY, "ES256", "e1"), (RSA_KEY, "RS256", None)],
)
def test_a_good_token_is_recognised(key: Any, algorithm: str, kid: str | None) -> None:
    issuer = Issuer()
    caller = asyncio.run(
        issuer.show(issuer.signed(key, algorithm, kid, client_id="claude", aud=["x", AUDIENCE]))
    )
    assert (caller.user_id, caller.client_id) == ("ada", "claude")
    assert caller.scopes == {"research:write", "research:read"}


@pytest.mark.promise("A1")
def test_clocks_may_differ_a_little() -> None:
    issuer = Issuer()
    now = int(issuer.clock.now().timestamp())
    assert asyncio.run(issuer.show(issuer.signed(exp=now - 29))).user_id == "ada"
    assert asyncio.run(issuer.show(issuer.signed(nbf=now + 29))).user_id == "ada"


@pytest.mark.promise("A1")
def test_a_remembered_token_is_forgotten_when_it_expires() -> None:
    issuer = Issuer()
    token = issuer.signed()
    asyncio.run(issuer.show(token))
    issuer.clock.advance(629)
    assert asyncio.run(issuer.show(token)).user_id == "ada"
    issuer.clock.advance(2)
    with pytest.raises(InvalidTokenError, match="expired"):
        asyncio.run(issuer.show(token))


@pytest.mark.promise("A1")
def test_a_new_key_is_found_and_strangers_cannot_make_us_ask_often() -> None:
    issuer = Issuer()

    async def visit() -> None:
        await issuer.show(issuer.signed())
        assert issuer.keys.fetches == 1
        issuer.keys.rows.append(rsa_row(OTHER_RSA_KEY, "r2"))
        for _ in range(5):
            with pytest.raises(InvalidTokenError):
                await issuer.show(issuer.signed(OTHER_RSA_KEY, kid="r2"))
        assert issuer.keys.fetches == 1
        issuer.clock.advance(31)
        assert (await issuer.show(issuer.signed(OTHER_RSA_KEY, kid="r2"))).user_id == "ada"
        assert issuer.keys.fetches == 2

    asyncio.run(visit())


@pytest.mark.promise("A1")
def test_keys_outlive_a_short_outage_and_without_any_the_answer_is_unavailable() -> None:
    issuer = Issuer()
    issuer.keys.is_down = True
    with pytest.raises(UnavailableError):
        asyncio.run(issuer.show(issuer.signed()))
    issuer.keys.is_down = False
    issuer.clock.advance(31)
    asyncio.run(issuer.show(issuer.signed()))
    issuer.keys.is_down = True
    issuer.clock.advance(3601)
    assert asyncio.run(issuer.show(issuer.signed())).user_id == "ada"


@pytest.mark.promise("A1")
def test_weak_and_foreign_keys_are_passed_over() -> None:
    rows = [
        rsa_row(SHORT_RSA_KEY, "short"),
        {**rsa_row(RSA_KEY, "enc"), "use": "enc"},
        {"kty": "oct", "k": "c2VjcmV0", "kid": "symmetric"},
        {"kty": "EC", "crv": "P-521", "x": "AA", "y": "AA", "kid": "curve"},
        {"kty": "RSA", "n": "!!", "e": "AQAB", "kid": "broken"},
        rsa_row(RSA_KEY, "good"),
    ]
    assert [key.kid for key in read_key_set({"keys": rows})] == ["good"]
    assert read_key_set({"keys": "none"}) == ()

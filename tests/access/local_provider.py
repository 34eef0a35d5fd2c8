"""A small OpenID provider on loopback that can be told to do wrong, for refusals."""

from __future__ import annotations

import base64
import hashlib
import json
import secrets
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cache
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, urlencode, urlsplit

import jwt
from cryptography.hazmat.primitives.asymmetric import ec

from tests.access.support import ManualClock

CLIENT_ID, CLIENT_SECRET = "carrel", "a secret: with / signs + 0123456789"
LOGOUT_EVENT = "http://schemas.openid.net/event/backchannel-logout"


@cache
def signing_key(kid: str) -> ec.EllipticCurvePrivateKey:
    """One key for each name, made once."""
    return ec.generate_private_key(ec.SECP256R1())


@dataclass(slots=True)
class Issued:
    """A code and what it is for."""

    subject: str
    nonce: str | None
    challenge: str


@dataclass(slots=True)
class LocalProvider:
    """Answers as a provider does; the dictionaries change what it says."""

    port: int
    clock: ManualClock
    groups: dict[str, list[str]] = field(
        default_factory=lambda: {"ada": ["staff", "carrel-admins"], "bob": ["staff"], "eve": []}
    )
    metadata: dict[str, Any] = field(default_factory=dict)
    claims: dict[str, Any] = field(default_factory=dict)
    header: dict[str, Any] = field(default_factory=dict)
    kid: str = "first"
    algorithm: str = "ES256"
    has_groups_in_token: bool = True
    gives_refresh: bool = False
    has_token_at_refresh: bool = True
    is_down: bool = False
    has_userinfo: bool = True
    codes: dict[str, Issued] = field(default_factory=dict)
    refreshes: dict[str, str] = field(default_factory=dict)
    used_codes: int = 0
    key_fetches: int = 0
    sid: str = "sid-1"

    @property
    def issuer(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def authorize(self, location: str, subject: str) -> str:
        """What the browser is sent back with when this person has logged in there."""
        query = {name: values[0] for name, values in parse_qs(urlsplit(location).query).items()}
        code = secrets.token_urlsafe(16)
        self.codes[code] = Issued(subject, query.get("nonce"), query["code_challenge"])
        return urlencode({"code": code, "state": query["state"], "iss": self.issuer})

    def sign(self, claims: dict[str, Any], **header: Any) -> str:
        now = int(self.clock.now().timestamp())
        full = {"iss": self.issuer, "aud": CLIENT_ID, "iat": now, "exp": now + 300, **claims}
        known = {name: value for name, value in full.items() if value is not None}
        headers = {"kid": self.kid, **header}
        if self.algorithm == "none":
            return jwt.encode(known, "", algorithm="none", headers=headers)
        if self.algorithm == "HS256":
            return jwt.encode(known, CLIENT_SECRET, algorithm="HS256", headers=headers)
        return jwt.encode(known, signing_key(self.kid), algorithm="ES256", headers=headers)

    def logout_token(self, **changes: Any) -> str:
        header = changes.pop("header", {"typ": "logout+jwt"})
        claims = {
            "jti": secrets.token_hex(8),
            "sid": self.sid,
            "events": {LOGOUT_EVENT: {}},
            **changes,
        }
        return self.sign(claims, **header)

    def describe(self) -> dict[str, Any]:
        facts = {
            "issuer": self.issuer,
            "authorization_endpoint": f"{self.issuer}/authorize",
            "token_endpoint": f"{self.issuer}/token",
            "userinfo_endpoint": f"{self.issuer}/userinfo",
            "jwks_uri": f"{self.issuer}/jwks",
            "authorization_response_iss_parameter_supported": True,
            "code_challenge_methods_supported": ["S256"],
            **self.metadata,
        }
        return {name: value for name, value in facts.items() if value is not None}

    def keys(self) -> dict[str, Any]:
        self.key_fetches += 1
        public = jwt.algorithms.ECAlgorithm.to_jwk(signing_key(self.kid).public_key(), as_dict=True)
        return {"keys": [{**public, "kid": self.kid, "use": "sig", "alg": "ES256"}]}

    def exchange(self, form: dict[str, str], authorization: str) -> tuple[int, dict[str, Any]]:
        from urllib.parse import quote

        pair = f"{CLIENT_ID}:{quote(CLIENT_SECRET, safe='')}"
        if authorization != f"Basic {base64.b64encode(pair.encode()).decode()}":
            return 401, {"error": "invalid_client"}
        if form.get("grant_type") == "refresh_token":
            subject = self.refreshes.pop(form["refresh_token"], None)
            return (400, {"error": "invalid_grant"}) if subject is None else (
                200, self._tokens(subject, None)
            )  # fmt: skip
        issued = self.codes.pop(form.get("code", ""), None)
        digest = hashlib.sha256(form.get("code_verifier", "").encode()).digest()
        challenge = base64.urlsafe_b64encode(digest).rstrip(b"=").decode()
        if issued is None or issued.challenge != challenge:
            return 400, {"error": "invalid_grant"}
        self.used_codes += 1
        return 200, self._tokens(issued.subject, issued.nonce)

    def _tokens(self, subject: str, nonce: str | None) -> dict[str, Any]:
        claims: dict[str, Any] = {"sub": subject, "sid": self.sid, "nonce": nonce}
        if self.has_groups_in_token:
            claims["groups"] = self.groups.get(subject, [])
        answer = {
            "access_token": f"access-{subject}",
            "id_token": self.sign({**claims, **self.claims}, **self.header),
        }
        if nonce is None and not self.has_token_at_refresh:
            del answer["id_token"]
        if self.gives_refresh:
            answer["refresh_token"] = secrets.token_urlsafe(16)
            self.refreshes[answer["refresh_token"]] = subject
        return answer


@contextmanager
def local_provider(clock: ManualClock) -> Iterator[LocalProvider]:
    """Serves a provider at a free port until the block ends."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            known = {
                "/.well-known/openid-configuration": provider.describe,
                "/jwks": provider.keys,
                "/userinfo": self.userinfo,
            }
            answer = known.get(self.path)
            is_down = provider.is_down or (self.path == "/userinfo" and not provider.has_userinfo)
            if is_down or answer is None:
                self.reply(503 if is_down else 404, {})
            else:
                self.reply(200, answer())

        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers.get("content-length", "0"))).decode()
            form = {name: values[0] for name, values in parse_qs(body).items()}
            if provider.is_down:
                self.reply(503, {})
            else:
                self.reply(*provider.exchange(form, self.headers.get("authorization", "")))

        def userinfo(self) -> dict[str, Any]:
            subject = self.headers.get("authorization", "").removeprefix("Bearer access-")
            return {"sub": subject, "groups": provider.groups.get(subject, [])}

        def reply(self, status: int, facts: dict[str, Any]) -> None:
            body = json.dumps(facts).encode()
            self.send_response(status)
            self.send_header("content-type", "application/json")
            self.send_header("content-length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *words: object) -> None:
            return None

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    provider = LocalProvider(server.server_address[1], clock)
    thread = threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True)
    thread.start()
    try:
        yield provider
    finally:
        server.shutdown()
        server.server_close()
        thread.join(timeout=10)

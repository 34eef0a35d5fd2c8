"""An institute's own authorization server: its key set over HTTP, its tokens at our doors."""

from __future__ import annotations

import asyncio
import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import jwt
import pytest
from cryptography.hazmat.primitives.asymmetric import rsa
from jwt.algorithms import RSAAlgorithm

from tests.access.support import House, opened, operation_for, settings_for

KEY = rsa.generate_private_key(65537, 2048)
ISSUER = "https://login.example.org"
READ = operation_for("papers:read")


class _KeyServer(BaseHTTPRequestHandler):
    """An institute that publishes one key."""

    def do_GET(self) -> None:
        row = {**RSAAlgorithm.to_jwk(KEY.public_key(), as_dict=True), "kid": "k1", "use": "sig"}
        body = json.dumps({"keys": [row]}).encode()
        self.send_response(200)
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *arguments: object) -> None:
        return None


@pytest.fixture(scope="module")
def jwks_url() -> Iterator[str]:
    with ThreadingHTTPServer(("127.0.0.1", 0), _KeyServer) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}/keys"
        server.shutdown()


def _token(house: House, **changes: object) -> str:
    now = int(house.clock.now().timestamp())
    claims = {
        "iss": ISSUER,
        "aud": "http://127.0.0.1:8080/mcp",
        "sub": "ada",
        "iat": now,
        "exp": now + 60,
        "scope": "papers:read",
    }
    return jwt.encode({**claims, **changes}, KEY, algorithm="RS256", headers={"kid": "k1"})


@pytest.mark.promise("A1")
def test_tokens_of_the_institute_open_the_doors_their_scopes_name(
    tmp_path: Path, jwks_url: str
) -> None:
    server = {"public_url": "http://127.0.0.1:8080"}

    async def visit() -> None:
        auth = {"issuer": ISSUER, "jwks_url": jwks_url}
        async with opened(settings_for(tmp_path, "jwt", auth=auth, server=server)) as house:
            assert (
                await house.call(READ, _token(house, aud="https://elsewhere.example"))
            ).status_code == 401
            assert (
                await house.call(READ, _token(house, iss="https://evil.example"))
            ).status_code == 401
            assert (await house.call(READ, "carrel_static")).status_code == 401
            good = _token(house)
            assert "hello ada" in (await house.call(READ, good)).text
            assert (await house.invoke(READ, good)).json()["result"] == "hello ada"
            assert (await house.call(operation_for("research:write"), good)).status_code == 403
            assert (
                "hello ada" in (await house.call(READ, _token(house, scope=["papers:write"]))).text
            )
            found = (await house.http.get("/.well-known/oauth-protected-resource/mcp")).json()
            assert found["authorization_servers"] == [ISSUER]
            assert (
                await house.http.get("/.well-known/oauth-authorization-server")
            ).status_code == 404
            house.clock.advance(91)
            assert (await house.call(READ, good)).status_code == 401

    asyncio.run(visit())


@pytest.mark.promise("A1")
def test_other_claims_may_carry_user_and_scopes(tmp_path: Path, jwks_url: str) -> None:
    auth = {
        "issuer": ISSUER,
        "jwks_url": jwks_url,
        "audience": ("desk",),
        "scope_claim": "scp",
        "user_claim": "email",
    }

    async def visit() -> None:
        async with opened(settings_for(tmp_path, "jwt", auth=auth)) as house:
            token = _token(house, aud=["desk"], scp="papers:read", email="ada@example.org")
            assert "hello ada@example.org" in (await house.call(READ, token)).text

    asyncio.run(visit())


@pytest.mark.promise("A1")
def test_when_the_issuer_cannot_be_reached_nobody_is_called_a_stranger(tmp_path: Path) -> None:
    auth = {
        "issuer": ISSUER,
        "jwks_url": "http://127.0.0.1:1/keys",
        "audience": ("http://127.0.0.1:8080/mcp",),
    }

    async def visit() -> None:
        async with opened(settings_for(tmp_path, "jwt", auth=auth)) as house:
            assert (await house.call(READ, _token(house))).status_code == 503
            assert (await house.invoke(READ, _token(house))).status_code == 503
            assert (await house.call(READ, None)).status_code == 401

    asyncio.run(visit())

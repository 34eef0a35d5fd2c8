"""Who is let in under each auth.mode, and what a stranger is told at every door."""

from __future__ import annotations

import asyncio
import base64
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import httpx2
import pytest

from carrel.policy.platform_identity import STRIPPED_SIGNATURE
from carrel.policy.scopes import SCOPES
from carrel.settings import SettingsError
from carrel.settings.network_rules import refuse_open_server
from carrel.wiring.desk import open_desk
from tests.access.support import House, ManualClock, bearer, opened, operation_for, settings_for

METADATA = "http://127.0.0.1:8080/.well-known/oauth-protected-resource"


@pytest.mark.promise("A1")
@pytest.mark.parametrize("mode", [None, "local"])
@pytest.mark.parametrize("host", ["0.0.0.0", "192.0.2.1", "::", "desk.example.org"])
def test_a_server_open_to_the_world_without_authentication_does_not_start(
    tmp_path: Path, mode: str | None, host: str
) -> None:
    with pytest.raises(SettingsError) as refused:
        open_desk(settings_for(tmp_path, mode, server={"host": host}))
    assert host in refused.value.message
    assert "auth.mode" in refused.value.next_step


@pytest.mark.promise("A3")
def test_people_do_not_log_in_over_plain_http_from_elsewhere(tmp_path: Path) -> None:
    server = {"host": "0.0.0.0", "public_url": "http://desk.example.org"}
    with pytest.raises(SettingsError, match="in the clear"):
        open_desk(settings_for(tmp_path, "builtin", server=server))
    for fine in ({**server, "public_url": "https://desk.example.org"}, {"host": "0.0.0.0"}):
        refuse_open_server(settings_for(tmp_path, "builtin", server=fine))
    refuse_open_server(
        settings_for(tmp_path, "builtin", server=server, auth={"allow_plain_http": True})
    )


@pytest.mark.promise("A1")
def test_jwt_mode_says_what_it_needs(tmp_path: Path) -> None:
    with pytest.raises(SettingsError, match=r"auth\.issuer, auth\.jwks_url"):
        open_desk(settings_for(tmp_path, "jwt"))
    auth = {
        "issuer": "https://login.example.org",
        "jwks_url": "http://login.example.org/keys",
        "audience": ("x",),
    }
    with pytest.raises(SettingsError, match="must be https"):
        open_desk(settings_for(tmp_path, "jwt", auth=auth))


@pytest.mark.promise("K4")
def test_cloudrun_mode_does_not_start_elsewhere(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("K_SERVICE", raising=False)
    with pytest.raises(SettingsError, match="not Cloud Run"):
        open_desk(settings_for(tmp_path, "cloudrun"))


@pytest.mark.promise("A1")
@pytest.mark.promise("K3")
@pytest.mark.parametrize("mode", ["tokens", "builtin"])
@pytest.mark.parametrize(
    ("door", "metadata"),
    [
        ("/mcp", METADATA + "/mcp"),
        ("/sample/mcp", METADATA + "/sample/mcp"),
        ("/mcp/invoke", METADATA),
        ("/mcp/tools", METADATA),
    ],
)
def test_a_stranger_is_told_where_to_log_in_at_every_door(
    tmp_path: Path, mode: str, door: str, metadata: str
) -> None:
    async def visit() -> None:
        async with opened(settings_for(tmp_path, mode)) as house:
            for token, error in (
                (None, None),
                ("carrel_unknown", "invalid_token"),
                ("not.a.token", "invalid_token"),
            ):
                answer = await _knock(house, door, token)
                assert answer.status_code == 401
                challenge = answer.headers["www-authenticate"]
                assert challenge.startswith("Bearer ")
                assert f'resource_metadata="{metadata}"' in challenge
                assert ("error=" in challenge) is (error is not None)
                if error:
                    assert f'error="{error}"' in challenge
                found = await house.http.get(metadata)
                assert found.status_code == 200
                assert found.json()["resource"] == metadata.replace(
                    "/.well-known/oauth-protected-resource", ""
                )
                assert found.json().get("authorization_servers") == (
                    ["http://127.0.0.1:8080"] if mode == "builtin" else None
                )
                assert "papers:read" in found.json()["scopes_supported"]

    asyncio.run(visit())


async def _knock(house: House, door: str, token: str | None) -> httpx2.Response:
    if door == "/mcp/tools":
        return await house.http.get(door, headers=bearer(token))
    if door == "/mcp/invoke":
        return await house.invoke(operation_for("papers:read"), token)
    return await house.call(operation_for("papers:read"), token, path=door)


@pytest.mark.promise("D2")
def test_get_is_405_before_anybody_is_asked_who_they_are(tmp_path: Path) -> None:
    async def visit() -> None:
        async with opened(settings_for(tmp_path, "tokens")) as house:
            for path in ("/mcp", "/sample/mcp", "/mcp/invoke"):
                answer = await house.http.get(path)
                assert answer.status_code == 405
                assert "www-authenticate" not in answer.headers

    asyncio.run(visit())


@pytest.mark.promise("A2")
@pytest.mark.promise("K3")
def test_too_little_is_403_naming_the_scope_at_every_door(tmp_path: Path) -> None:
    async def visit() -> None:
        async with opened(settings_for(tmp_path, "tokens")) as house:
            token = await house.token("papers:read")
            wanted = operation_for("research:write")
            answers = [
                await house.call(wanted, token),
                await house.call(wanted, token, path="/sample/mcp"),
                await house.invoke(wanted, token),
                await house.rpc("resources/read", {"uri": f"sample://{wanted}"}, token),
                await house.rpc("prompts/get", {"name": wanted}, token, path="/sample/mcp"),
            ]
            for answer in answers:
                assert answer.status_code == 403
                challenge = answer.headers["www-authenticate"]
                assert 'error="insufficient_scope"' in challenge
                assert 'scope="research:write"' in challenge
                assert "research:write scope required" in answer.text

    asyncio.run(visit())


@pytest.mark.promise("A2")
def test_a_caller_is_shown_only_what_they_may_call(tmp_path: Path) -> None:
    async def visit() -> None:
        async with opened(settings_for(tmp_path, "tokens")) as house:
            token = await house.token("hypotheses:generate")
            listed = (await house.rpc("tools/list", {}, token)).json()["result"]["tools"]
            implied = {"hypotheses:generate", "research:read", "hypotheses:read"}
            finders = {"find_operation", "run_operation"}
            assert {tool["name"] for tool in listed} == {
                operation_for(scope) for scope in implied
            } | finders
            everything = (await house.http.get("/mcp/tools", headers=bearer(token))).json()["tools"]
            assert {row["name"] for row in everything} >= {operation_for(scope) for scope in SCOPES}

    asyncio.run(visit())


@pytest.mark.promise("A3")
def test_a_static_token_works_until_it_is_revoked_or_expires(tmp_path: Path) -> None:
    async def visit() -> None:
        async with opened(settings_for(tmp_path, "tokens")) as house:
            name = operation_for("papers:read")
            first, second = (
                await house.token("papers:read", days=1),
                await house.token("papers:read", days=None),
            )
            assert "hello token:token 1" in (await house.call(name, first)).text
            house.clock.advance(86_400)
            assert (await house.call(name, first)).status_code == 401
            assert (await house.call(name, second)).status_code == 200
            assert house.desk.access.store is not None
            await house.desk.access.store.revoke_token("token 2", house.clock.now().timestamp())
            house.clock.advance(5.1)
            assert (await house.call(name, second)).status_code == 401

    asyncio.run(visit())


@pytest.mark.promise("A3")
def test_a_token_is_kept_only_as_a_hash(tmp_path: Path) -> None:
    async def visit() -> str:
        async with opened(settings_for(tmp_path, "tokens")) as house:
            secret = await house.token("papers:read")
            assert (await house.call(operation_for("papers:read"), secret)).status_code == 200
            return secret

    secret = asyncio.run(visit())
    kept = b"".join(file.read_bytes() for file in tmp_path.rglob("*") if file.is_file())
    assert kept
    assert secret.encode() not in kept


def _platform_token(signature: str = STRIPPED_SIGNATURE, **claims: object) -> str:
    clock = ManualClock()
    facts = {
        "sub": "1",
        "email": "ada@example.org",
        "email_verified": True,
        "exp": clock.now().timestamp() + 60,
        **claims,
    }
    body = base64.urlsafe_b64encode(json.dumps(facts).encode()).rstrip(b"=").decode()
    return f"eyJhbGciOiJSUzI1NiJ9.{body}.{signature}"


@pytest.mark.promise("K4")
def test_cloud_run_vouches_for_its_callers_and_for_nobody_else(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("K_SERVICE", "carrel")
    settings = settings_for(
        tmp_path,
        "cloudrun",
        auth={"platform_admins": ("root@example.org",)},
        server={"host": "0.0.0.0"},
    )

    async def visit() -> None:
        async with opened(settings) as house:
            host = {"host": "localhost"}

            async def call(name: str, **headers: str) -> Any:
                message = {
                    "jsonrpc": "2.0",
                    "id": 1,
                    "method": "tools/call",
                    "params": {"name": name},
                }
                return await house.http.post("/mcp", json=message, headers={**host, **headers})

            name = operation_for("papers:read")
            assert (await call(name)).status_code == 401
            assert (
                await call(name, authorization=f"Bearer {_platform_token('c2lnbmF0dXJl')}")
            ).status_code == 401
            assert (
                await call(name, authorization=f"Bearer {_platform_token(exp=1)}")
            ).status_code == 401
            mine = {"authorization": f"Bearer {_platform_token()}"}
            assert "hello ada@example.org" in (await call(name, **mine)).text
            assert (await call(operation_for("admin"), **mine)).status_code == 403
            root = _platform_token(email="root@example.org")
            assert (
                await call(operation_for("admin"), authorization=f"Bearer {root}")
            ).status_code == 200
            # The platform checked the other header, so what a caller wrote into Authorization
            # counts for nothing.
            both = {
                "authorization": f"Bearer {root}",
                "x-serverless-authorization": f"Bearer {_platform_token()}",
            }
            assert (await call(operation_for("admin"), **both)).status_code == 403

    asyncio.run(visit())


@pytest.mark.promise("A1")
def test_health_needs_no_token(tmp_path: Path) -> None:
    async def visit() -> None:
        async with opened(settings_for(tmp_path, "builtin")) as house:
            assert (await house.http.get("/health")).json() == {"status": "healthy"}
            assert (await house.http.get("/ready")).status_code == 200

    asyncio.run(visit())


@pytest.mark.promise("D9")
def test_the_local_desk_starts_without_what_only_remote_callers_need() -> None:
    heavy = "{'jwt', 'cryptography', 'argon2', 'psycopg', 'sqlite3'}"
    code = (
        "import sys, carrel.wiring.desk, carrel.wiring.mcp, carrel.doors.mcp.stdio; from "
        "carrel.settings import Settings;"
        "carrel.wiring.desk.open_desk(Settings(rooms=()));"
        f"print(sorted({heavy} & set(sys.modules)))"
    )
    source = str(Path(__file__).parents[2] / "src")
    done = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        env={**os.environ, "PYTHONPATH": source},
        check=True,
    )
    assert done.stdout.strip() == "[]"


@pytest.mark.promise("D7")
def test_the_description_says_which_addresses_need_a_token(tmp_path: Path) -> None:
    async def visit() -> None:
        async with opened(settings_for(tmp_path, "tokens")) as house:
            document = (await house.http.get("/openapi.json")).json()
            for path, methods in document["paths"].items():
                for method, described in methods.items():
                    needs_token = described.get("security", document["security"]) != []
                    asked = await house.http.request(method, path.replace("{name}", "x"))
                    assert (asked.status_code == 401) is needs_token, path

    asyncio.run(visit())


@pytest.mark.promise("A1")
def test_the_local_desk_has_no_authorization_addresses(tmp_path: Path) -> None:
    async def visit() -> None:
        async with opened(settings_for(tmp_path, None)) as house:
            for path in (
                "/.well-known/oauth-protected-resource",
                "/.well-known/oauth-authorization-server",
                "/authorize",
            ):
                assert (await house.http.get(path)).status_code == 404
            assert "hello local" in (await house.call(operation_for("admin"), None)).text

    asyncio.run(visit())

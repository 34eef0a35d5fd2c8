"""A list of attacks, each tried at the doors of a real desk; none may succeed, and each leaves its
line in the audit log.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import httpx2
import jwt
import pytest

from carrel.policy.authorization.redirects import is_registered, problem_with_redirect
from tests.access.support import (
    PASSWORD,
    REDIRECT,
    House,
    Pkce,
    allow,
    answer_in,
    authorize_url,
    bearer,
    code_form,
    granted,
    hidden_fields,
    log_in,
    opened,
    operation_for,
    refresh_form,
    register,
    settings_for,
)

READ = operation_for("papers:read")
Attack = Callable[[House], Awaitable[None]]


async def _client(house: House) -> str:
    return str((await register(house)).json()["client_id"])


async def _code(house: House, client_id: str, pkce: Pkce, **changes: str | None) -> str:
    url = authorize_url(client_id, pkce, **changes)
    consent = await log_in(house.http, url)
    return answer_in((await allow(house.http, url, consent.text)).headers["location"])["code"]


async def _refused(answer: Awaitable[httpx2.Response], error: str) -> None:
    response = await answer
    assert (response.status_code, response.json()["error"]) == (400, error)


async def replayed_code(house: House) -> None:
    client_id, pkce = await _client(house), Pkce()
    form = code_form(client_id, await _code(house, client_id, pkce), pkce)
    tokens = (await house.http.post("/token", data=form)).json()
    await _refused(house.http.post("/token", data=form), "invalid_grant")
    house.clock.advance(6)
    assert (await house.call(READ, tokens["access_token"])).status_code == 401
    await _refused(
        house.http.post("/token", data=refresh_form(client_id, tokens["refresh_token"])),
        "invalid_grant",
    )


async def late_code(house: House) -> None:
    client_id, pkce = await _client(house), Pkce()
    code = await _code(house, client_id, pkce)
    house.clock.advance(61)
    await _refused(
        house.http.post("/token", data=code_form(client_id, code, pkce)), "invalid_grant"
    )


async def stolen_code_without_verifier(house: House) -> None:
    client_id, pkce = await _client(house), Pkce()
    code = await _code(house, client_id, pkce)
    await _refused(
        house.http.post("/token", data=code_form(client_id, code, Pkce())), "invalid_grant"
    )
    plain = code_form(client_id, code, pkce, code_verifier=pkce.challenge)
    await _refused(house.http.post("/token", data=plain), "invalid_grant")
    without = {
        name: value
        for name, value in code_form(client_id, code, pkce).items()
        if name != "code_verifier"
    }
    await _refused(house.http.post("/token", data=without), "invalid_request")


async def code_of_another_client(house: House) -> None:
    client_id, pkce = await _client(house), Pkce()
    code = await _code(house, client_id, pkce)
    await _refused(
        house.http.post("/token", data=code_form(await _client(house), code, pkce)), "invalid_grant"
    )


async def code_for_another_address(house: House) -> None:
    client_id, pkce = await _client(house), Pkce()
    code = await _code(house, client_id, pkce)
    form = code_form(client_id, code, pkce, redirect_uri="http://127.0.0.1:1/other")
    await _refused(house.http.post("/token", data=form), "invalid_grant")


async def plain_pkce(house: House) -> None:
    client_id, pkce = await _client(house), Pkce()
    for changes in (
        {"code_challenge_method": "plain", "code_challenge": pkce.verifier},
        {"code_challenge_method": None},
        {"code_challenge": None},
        {"code_challenge": "short"},
    ):
        answer = await house.http.get(authorize_url(client_id, pkce, **changes))
        assert answer.status_code == 302
        assert answer_in(answer.headers["location"])["error"] == "invalid_request"


async def stolen_refresh_token(house: House) -> None:
    tokens, client_id, _ = await granted(house)
    await _refused(
        house.http.post("/token", data=refresh_form(await _client(house), tokens["refresh_token"])),
        "invalid_grant",
    )
    fresh = (
        await house.http.post("/token", data=refresh_form(client_id, tokens["refresh_token"]))
    ).json()
    house.clock.advance(31)
    await _refused(
        house.http.post("/token", data=refresh_form(client_id, tokens["refresh_token"])),
        "invalid_grant",
    )
    await _refused(
        house.http.post("/token", data=refresh_form(client_id, fresh["refresh_token"])),
        "invalid_grant",
    )


async def scope_escalation_at_refresh(house: House) -> None:
    tokens, client_id, _ = await granted(house, scope="papers:read")
    more = refresh_form(client_id, tokens["refresh_token"], scope="papers:read admin")
    await _refused(house.http.post("/token", data=more), "invalid_scope")
    same = (
        await house.http.post("/token", data=refresh_form(client_id, tokens["refresh_token"]))
    ).json()
    assert same["scope"] == "papers:read"


async def scope_escalation_at_consent(house: House) -> None:
    await house.add_user("bob", frozenset({"papers:read"}))
    client_id, pkce = await _client(house), Pkce()
    url = authorize_url(client_id, pkce, scope="papers:read admin research:write")
    page = await log_in(house.http, url, user="bob")
    redirect = await allow(
        house.http, url, page.text, scopes=["papers:read", "admin", "research:write"]
    )
    code = answer_in(redirect.headers["location"])["code"]
    tokens = (await house.http.post("/token", data=code_form(client_id, code, pkce))).json()
    assert tokens["scope"] == "papers:read"
    assert (await house.call(operation_for("admin"), tokens["access_token"])).status_code == 403


async def open_redirect(house: House) -> None:
    client_id = await _client(house)
    for uri in (
        "https://evil.example/callback",
        REDIRECT + "/../evil",
        REDIRECT + "?next=https://evil.example",
        REDIRECT + "#@evil.example",
        "http://127.0.0.1:39123@evil.example/callback",
        "http://127.0.0.1.evil.example:39123/callback",
        "//evil.example/callback",
        "javascript:alert(1)",
        "http://localhost:39123/callback",
        "",
    ):
        page = await house.http.get(authorize_url(client_id, Pkce(), redirect_uri=uri or " "))
        assert page.status_code == 400, uri
        assert "location" not in page.headers
    doubled = authorize_url(client_id, Pkce()) + "&redirect_uri=https%3A%2F%2Fevil.example"
    assert (await house.http.get(doubled)).status_code == 400


async def dangerous_registration(house: House) -> None:
    for uri in (
        "javascript:alert(1)",
        "data:text/html,x",
        "http://evil.example/callback",
        "https://good.example/cb#fragment",
        "https://user:password@good.example/cb",
        "https://*.example/cb",
        "https://good.example\\@evil.example/cb",
        "https://good.example/cb\r\nX-Evil: 1",
        "file:///etc/passwd",
        "/relative",
        7,
    ):
        answer = await register(house, redirect_uris=[uri])
        assert (answer.status_code, answer.json()["error"]) == (400, "invalid_redirect_uri"), uri


async def header_injection(house: House) -> None:
    client_id, pkce = await _client(house), Pkce()
    url = authorize_url(client_id, pkce, state="a\r\nSet-Cookie: evil=1")
    page = await log_in(house.http, url)
    answer = await allow(house.http, url, page.text)
    assert "evil" not in answer.headers.get("set-cookie", "")
    assert answer_in(answer.headers["location"])["state"] == "a\r\nSet-Cookie: evil=1"
    assert "\r" not in answer.headers["location"]
    shown = await house.call(READ, 'x", error="none')
    assert shown.status_code == 401
    assert shown.headers["www-authenticate"].count("error=") == 1


async def forged_forms(house: House) -> None:
    url = authorize_url(await _client(house), Pkce())
    blind = await house.http.post(
        url, data={"action": "login", "username": "ada", "password": PASSWORD, "csrf": "x"}
    )
    assert blind.status_code == 400
    consent = await log_in(house.http, url)
    fields = hidden_fields(consent.text)
    for form in (
        {"action": "allow", "scope": "papers:read"},
        {**fields, "csrf": "0" * 64, "action": "allow"},
    ):
        answer = await house.http.post(url, data=form)
        assert answer.status_code == 400
        assert "location" not in answer.headers
    # A form made for one request does not fit another: here the attacker's client.
    other = authorize_url(await _client(house), Pkce())
    assert (
        await house.http.post(other, data={**fields, "action": "allow", "scope": "papers:read"})
    ).status_code == 400
    elsewhere = await house.http.post(
        url, data={**fields, "action": "allow"}, headers={"origin": "https://evil.example"}
    )
    assert elsewhere.status_code == 403
    null = await house.http.post(
        url, data={**fields, "action": "allow"}, headers={"origin": "null"}
    )
    assert null.status_code == 403


async def token_for_another_server(house: House) -> None:
    client_id, pkce = await _client(house), Pkce()
    answer = await house.http.get(
        authorize_url(client_id, pkce, resource="https://other.example/mcp")
    )
    assert answer_in(answer.headers["location"])["error"] == "invalid_target"
    code = await _code(house, client_id, pkce)
    form = code_form(client_id, code, pkce, resource="http://127.0.0.1:8080/sample/mcp")
    await _refused(house.http.post("/token", data=form), "invalid_target")


async def forged_access_token(house: House) -> None:
    tokens, _, _ = await granted(house)
    claims = jwt.decode(tokens["access_token"], options={"verify_signature": False})
    header, body, signature = tokens["access_token"].split(".")
    forged = [
        jwt.encode(claims, "", algorithm="none"),
        jwt.encode(claims, "x" * 32, algorithm="HS256"),
        f"{header}.{body}.{signature[:-8]}AAAAAAAA",
        f"{header}.{body}.",
        f"{header}.{jwt.encode({**claims, 'scope': 'admin'}, 'x' * 32).split('.')[1]}.{signature}",
    ]
    for token in forged:
        assert (await house.call(READ, token)).status_code == 401
    assert (await house.call(READ, tokens["access_token"])).status_code == 200


async def other_schemes_and_shapes(house: House) -> None:
    token = await house.token("papers:read")
    for value in (
        f"Basic {token}",
        token,
        f"Bearer {token} extra",
        "Bearer",
        "Bearer  ",
        f"Bearer {'x' * 20_000}",
        f"Bearer {token[:-1]}",
    ):
        answer = await house.http.get("/mcp/tools", headers={"authorization": value})
        assert answer.status_code == 401, value
    assert (await house.http.get(f"/mcp/tools?access_token={token}")).status_code == 401
    assert (
        await house.http.get("/mcp/tools", headers={"authorization": f"bearer {token}"})
    ).status_code == 200


async def host_and_origin_tricks(house: House) -> None:
    token = await house.token("papers:read")
    for headers, status in (
        ({"host": "evil.example"}, 421),
        ({"host": "127.0.0.1.evil.example"}, 421),
        ({"host": "localhost.evil.example:8080"}, 421),
        ({"host": ""}, 421),
        ({"origin": "https://evil.example"}, 403),
        ({"origin": "null"}, 403),
        ({"origin": "http://localhost.evil.example"}, 403),
        ({"origin": "http://evil.example/?x=localhost"}, 403),
    ):
        for path in ("/mcp/tools", "/.well-known/oauth-protected-resource", "/authorize"):
            answer = await house.http.get(path, headers={**bearer(token), **headers})
            assert answer.status_code == status, (path, headers)
    spoofed = await house.http.get(
        "/mcp/tools", headers={**bearer(token), "x-forwarded-host": "evil.example"}
    )
    assert "evil" not in spoofed.text


async def spoofed_address(house: House) -> None:
    await house.http.get(
        "/mcp/tools", headers={"x-forwarded-for": "10.0.0.1", "forwarded": "for=10.0.0.1"}
    )
    assert {line["ip_address"] for line in house.audit_lines() if line["action"] == "identify"} == {
        "192.0.2.7"
    }


async def traversal(house: House) -> None:
    token = await house.token("papers:read")
    for path in (
        "/mcp/tools/../../etc/passwd",
        "/mcp/tools/..%2f..%2fetc%2fpasswd",
        "/.well-known/oauth-protected-resource/../../authorize",
        "/.well-known/oauth-protected-resource/nothing",
        "/mcp/",
        "//mcp",
        "/MCP",
    ):
        answer = await house.http.get(path, headers=bearer(token))
        assert answer.status_code in {400, 404, 405}, path
    for uri in (
        "sample://../use_admin",
        "sample://use_papers_read/../use_admin",
        "file:///etc/passwd",
        "sample://%75se_admin",
    ):
        reply = await house.rpc("resources/read", {"uri": uri}, token)
        assert "error" in reply.json(), uri


async def oversized_and_deep(house: House) -> None:
    token = await house.token("papers:read")
    big = (
        b'{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"'
        + b"x" * (5 * 1024 * 1024)
        + b'"}}'
    )
    headers = {**bearer(token), "content-type": "application/json"}
    assert (await house.http.post("/mcp", content=big, headers=headers)).status_code == 413
    assert (await house.http.post("/register", content=big)).status_code == 413
    assert (await house.http.post("/token", data={"grant_type": "x" * 70_000})).status_code == 400
    assert (
        await house.http.post("/token", data={f"f{number}": "x" for number in range(100)})
    ).status_code == 400
    deep = b"[" * 100_000 + b"]" * 100_000
    for path in ("/mcp", "/mcp/invoke", "/register"):
        answer = await house.http.post(path, content=deep, headers=headers)
        assert answer.status_code == 400, path
    nested: Any = {}
    for _ in range(150):
        nested = {"a": nested}
    assert (await house.call(READ, token, nested)).json()["result"]["isError"] is True
    for _ in range(100):
        nested = {"a": nested}
    assert "error" in (await house.call(READ, token, nested)).json()


async def repeated_parameters(house: House) -> None:
    client_id, pkce = await _client(house), Pkce()
    code = await _code(house, client_id, pkce)
    doubled = {**code_form(client_id, code, pkce), "client_id": [client_id, "other"]}
    await _refused(house.http.post("/token", data=doubled), "invalid_request")


async def other_grants(house: House) -> None:
    for grant in (
        "password",
        "client_credentials",
        "implicit",
        "urn:ietf:params:oauth:grant-type:jwt-bearer",
    ):
        form = {
            "grant_type": grant,
            "client_id": await _client(house),
            "username": "ada",
            "password": PASSWORD,
        }
        await _refused(house.http.post("/token", data=form), "unsupported_grant_type")
    answer = await house.http.get(
        authorize_url(await _client(house), Pkce(), response_type="token")
    )
    assert answer_in(answer.headers["location"])["error"] == "unsupported_response_type"
    assert (await house.http.post("/token", json={"grant_type": "password"})).json()[
        "error"
    ] == "invalid_request"


ATTACKS: list[Attack] = [
    replayed_code, late_code, stolen_code_without_verifier, code_of_another_client,
    code_for_another_address, plain_pkce,
    stolen_refresh_token, scope_escalation_at_refresh, scope_escalation_at_consent, open_redirect,
    dangerous_registration,
    header_injection, forged_forms, token_for_another_server, forged_access_token,
    other_schemes_and_shapes,
    host_and_origin_tricks, spoofed_address, traversal, oversized_and_deep, repeated_parameters,
    other_grants,
]  # fmt: skip


@pytest.mark.promise("A1")
@pytest.mark.promise("A3")
@pytest.mark.promise("D5")
@pytest.mark.parametrize("attack", ATTACKS, ids=lambda attack: attack.__name__)
def test_the_attack_fails_and_is_written_down(tmp_path: Path, attack: Attack) -> None:
    async def visit() -> None:
        async with opened(settings_for(tmp_path, "builtin")) as house:
            await house.add_user()
            await attack(house)
            if attack is not scope_escalation_at_consent:
                assert any(
                    line["phase"] == "refused" or line.get("error_code")
                    for line in house.audit_lines()
                )

    asyncio.run(visit())


@pytest.mark.promise("A3")
def test_a_loopback_client_may_use_any_port_and_nothing_else() -> None:
    registered = [
        "http://127.0.0.1/callback",
        "https://app.example/cb",
        "cursor://anysphere.cursor-mcp/oauth/callback",
    ]
    assert all(problem_with_redirect(uri) is None for uri in registered)
    assert is_registered("http://127.0.0.1:5555/callback", registered)
    assert is_registered("cursor://anysphere.cursor-mcp/oauth/callback", registered)
    for uri in (
        "http://127.0.0.1:5555/other",
        "https://app.example:8443/cb",
        "https://app.example/cb?x=1",
        "http://localhost/callback",
    ):
        assert not is_registered(uri, registered)


@pytest.mark.promise("A3")
def test_the_operator_may_say_which_sites_can_register(tmp_path: Path) -> None:
    async def visit() -> None:
        async with opened(
            settings_for(tmp_path, "builtin", auth={"redirect_hosts": ("claude.ai",)})
        ) as house:
            assert (
                await register(house, redirect_uris=["https://claude.ai/api/mcp/auth_callback"])
            ).status_code == 201
            refused = await register(house, redirect_uris=["https://other.example/callback"])
            assert "auth.redirect_hosts" in refused.json()["error_description"]

    asyncio.run(visit())

"""The built-in authorization server, spoken to as a client and a browser would."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import jwt
import pytest

from carrel.core.errors import UnavailableError
from carrel.policy.authorization.access_tokens import SigningKeys
from carrel.policy.authorization.clients import MOST_CLIENTS
from carrel.policy.authorization.models import Client, ClientKind
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
    ticked_scopes,
)

READ = operation_for("papers:read")
DOCUMENT_ID = "https://client.example/oauth/client.json"


class Documents:
    """Client documents as a test wants them to be."""

    def __init__(self, facts: Mapping[str, Any] | None = None) -> None:
        self.facts = facts
        self.fetches = 0

    async def fetch(self, url: str) -> tuple[Mapping[str, Any], float]:
        self.fetches += 1
        if self.facts is None:
            raise UnavailableError("client.example is not at a public address")
        return self.facts, 300.0


@pytest.mark.promise("A3")
def test_a_client_registers_a_person_logs_in_and_allows_and_the_token_opens_every_door(
    tmp_path: Path,
) -> None:
    async def visit() -> None:
        async with opened(settings_for(tmp_path, "builtin")) as house:
            await house.add_user(scopes=frozenset({"papers:read", "research:write"}))
            tokens, client_id, _ = await granted(house)
            assert tokens["token_type"] == "Bearer"
            assert set(tokens["scope"].split()) == {
                "papers:read",
                "research:read",
                "research:write",
            }
            access = tokens["access_token"]
            claims = jwt.decode(access, options={"verify_signature": False})
            assert claims["iss"] == "http://127.0.0.1:8080"
            assert claims["aud"] == "http://127.0.0.1:8080/mcp"
            assert (claims["sub"], claims["client_id"]) == ("ada", client_id)
            assert claims["exp"] - claims["iat"] == 3600
            assert "hello ada" in (await house.call(READ, access)).text
            assert (await house.invoke(READ, access)).json()["result"] == "hello ada"
            assert (await house.call(READ, access, path="/sample/mcp")).status_code == 200
            assert (await house.call(operation_for("reviews:read"), access)).status_code == 403

    asyncio.run(visit())


@pytest.mark.promise("A3")
def test_metadata_says_what_is_offered(tmp_path: Path) -> None:
    async def visit() -> None:
        async with opened(settings_for(tmp_path, "builtin")) as house:
            facts = (await house.http.get("/.well-known/oauth-authorization-server")).json()
            assert facts["issuer"] == "http://127.0.0.1:8080"
            assert facts["code_challenge_methods_supported"] == ["S256"]
            assert facts["token_endpoint_auth_methods_supported"] == ["none"]
            assert facts["authorization_response_iss_parameter_supported"] is True
            assert facts["client_id_metadata_document_supported"] is True
            keys = (await house.http.get(facts["jwks_uri"])).json()["keys"]
            assert [(key["kty"], key["alg"], key["use"]) for key in keys] == [
                ("RSA", "RS256", "sig")
            ]
            assert not {"d", "p", "q"} & set(keys[0])

    asyncio.run(visit())


@pytest.mark.promise("A3")
def test_a_person_may_allow_less_than_was_asked_for_or_nothing(tmp_path: Path) -> None:
    async def visit() -> None:
        async with opened(settings_for(tmp_path, "builtin")) as house:
            await house.add_user()
            client_id = (await register(house)).json()["client_id"]
            pkce = Pkce()
            url = authorize_url(client_id, pkce, scope="papers:read research:write openid")
            consent = await log_in(house.http, url)
            assert ticked_scopes(consent.text) == ["papers:read", "research:write"]
            some = await allow(house.http, url, consent.text, scopes=["papers:read", "admin"])
            code = answer_in(some.headers["location"])["code"]
            tokens = (await house.http.post("/token", data=code_form(client_id, code, pkce))).json()
            assert tokens["scope"] == "papers:read"
            denied = answer_in(
                (await allow(house.http, url, consent.text, action="deny")).headers["location"]
            )
            assert denied == {
                "error": "access_denied",
                "error_description": "The person said no",
                "state": "xyz",
                "iss": "http://127.0.0.1:8080",
            }

    asyncio.run(visit())


@pytest.mark.promise("A3")
def test_the_consent_page_names_client_address_and_scopes_and_cannot_be_framed(
    tmp_path: Path,
) -> None:
    async def visit() -> None:
        async with opened(settings_for(tmp_path, "builtin")) as house:
            await house.add_user()
            hostile = "<script>alert(1)</script>\r\nX: y"
            client_id = (await register(house, client_name=hostile)).json()["client_id"]
            url = authorize_url(client_id, Pkce(), scope="knowledge:promote")
            page = await log_in(house.http, url)
            assert "&lt;script&gt;" in page.text
            assert "<script" not in page.text
            assert "http://127.0.0.1:39123" in page.text
            assert "Promote notes to the team" in page.text
            assert page.headers["x-frame-options"] == "DENY"
            policy = page.headers["content-security-policy"]
            assert "frame-ancestors 'none'" in policy
            assert "default-src 'none'" in policy
            assert "form-action 'self' http://127.0.0.1:39123;" in policy
            assert page.headers["cache-control"] == "no-store"

    asyncio.run(visit())


@pytest.mark.promise("A3")
def test_a_refresh_token_is_good_once_and_using_it_twice_ends_the_whole_grant(
    tmp_path: Path,
) -> None:
    async def visit() -> None:
        async with opened(settings_for(tmp_path, "builtin")) as house:
            await house.add_user()
            first, client_id, _ = await granted(house)
            house.clock.advance(3601)
            assert (await house.call(READ, first["access_token"])).status_code == 401
            second = (
                await house.http.post(
                    "/token", data=refresh_form(client_id, first["refresh_token"])
                )
            ).json()
            assert (await house.call(READ, second["access_token"])).status_code == 200
            assert second["refresh_token"] != first["refresh_token"]
            house.clock.advance(31)
            thief = await house.http.post(
                "/token", data=refresh_form(client_id, first["refresh_token"])
            )
            assert (thief.status_code, thief.json()["error"]) == (400, "invalid_grant")
            house.clock.advance(6)
            assert (await house.call(READ, second["access_token"])).status_code == 401
            owner = await house.http.post(
                "/token", data=refresh_form(client_id, second["refresh_token"])
            )
            assert owner.json()["error"] == "invalid_grant"

    asyncio.run(visit())


@pytest.mark.promise("A3")
def test_two_refreshes_at_once_give_one_token(tmp_path: Path) -> None:
    async def visit() -> None:
        async with opened(settings_for(tmp_path, "builtin")) as house:
            await house.add_user()
            tokens, client_id, _ = await granted(house)
            form = refresh_form(client_id, tokens["refresh_token"])
            answers = await asyncio.gather(
                *(house.http.post("/token", data=form) for _ in range(6))
            )
            assert [answer.status_code for answer in answers] == [200] * 6
            assert len({answer.json()["refresh_token"] for answer in answers}) == 1, (
                "one successor, however often it was asked"
            )

    asyncio.run(visit())


@pytest.mark.promise("A3")
@pytest.mark.parametrize("which", ["access_token", "refresh_token"])
def test_revoking_either_token_ends_the_grant(tmp_path: Path, which: str) -> None:
    async def visit() -> None:
        async with opened(settings_for(tmp_path, "builtin")) as house:
            await house.add_user()
            tokens, client_id, _ = await granted(house)
            other = await house.http.post(
                "/revoke", data={"token": tokens[which], "client_id": "somebody-else"}
            )
            assert other.status_code == 200
            assert (await house.call(READ, tokens["access_token"])).status_code == 200
            assert (
                await house.http.post(
                    "/revoke", data={"token": tokens[which], "client_id": client_id}
                )
            ).status_code == 200
            house.clock.advance(6)
            assert (await house.call(READ, tokens["access_token"])).status_code == 401
            again = await house.http.post(
                "/token", data=refresh_form(client_id, tokens["refresh_token"])
            )
            assert again.json()["error"] == "invalid_grant"

    asyncio.run(visit())


@pytest.mark.promise("A3")
def test_a_disabled_user_is_out_within_seconds(tmp_path: Path) -> None:
    async def visit() -> None:
        async with opened(settings_for(tmp_path, "builtin")) as house:
            await house.add_user()
            script = await house.token("papers:read", user="ada")
            tokens, client_id, _ = await granted(house)
            assert (await house.call(READ, script)).status_code == 200
            assert house.desk.access.store is not None
            await house.desk.access.store.set_disabled("ada", True, house.clock.now().timestamp())
            house.clock.advance(6)
            assert (await house.call(READ, tokens["access_token"])).status_code == 401
            assert (await house.call(READ, script)).status_code == 401
            refused = await house.http.post(
                "/token", data=refresh_form(client_id, tokens["refresh_token"])
            )
            assert refused.json()["error"] == "invalid_grant"
            page = await log_in(house.http, authorize_url(client_id, Pkce()))
            assert (page.status_code, "do not fit" in page.text) == (401, True)

    asyncio.run(visit())


@pytest.mark.promise("A3")
def test_guessing_passwords_is_slow_and_nobody_learns_who_exists(tmp_path: Path) -> None:
    async def visit() -> None:
        async with opened(settings_for(tmp_path, "builtin")) as house:
            await house.add_user()
            url = authorize_url((await register(house)).json()["client_id"], Pkce())
            known = await log_in(house.http, url, password="wrong password")
            unknown = await log_in(house.http, url, user="bob", password="wrong password")
            assert (known.status_code, unknown.status_code) == (401, 401)
            assert known.text.replace('"ada"', '""') == unknown.text.replace('"bob"', '""')
            for _ in range(4):
                await log_in(house.http, url, password="wrong password")
            slow = await log_in(house.http, url)
            assert slow.status_code == 429
            assert int(slow.headers["retry-after"]) >= 1
            assert "carrel-session" not in house.http.cookies
            house.clock.advance(60)
            assert "Allow" in (await log_in(house.http, url)).text

    asyncio.run(visit())


@pytest.mark.promise("A3")
def test_logging_out_ends_the_session(tmp_path: Path) -> None:
    async def visit() -> None:
        async with opened(settings_for(tmp_path, "builtin")) as house:
            await house.add_user()
            url = authorize_url((await register(house)).json()["client_id"], Pkce())
            consent = await log_in(house.http, url)
            stolen = house.http.cookies["carrel-session"]
            await allow(house.http, url, consent.text, action="logout")
            house.http.cookies.set("carrel-session", stolen, domain="127.0.0.1", path="/")
            assert "Log in" in (await house.http.get(url)).text

    asyncio.run(visit())


@pytest.mark.promise("A3")
def test_clients_named_in_settings_need_no_registration(tmp_path: Path) -> None:
    clients = (
        {
            "id": "claude-desktop-abc123",
            "name": "Claude Desktop",
            "redirect_uris": (REDIRECT,),
            "scopes": ("papers:read",),
        },
    )

    async def visit() -> None:
        settings = settings_for(
            tmp_path, "builtin", auth={"clients": clients, "registration": False}
        )
        async with opened(settings) as house:
            await house.add_user()
            assert (await register(house)).status_code == 404
            facts = (await house.http.get("/.well-known/oauth-authorization-server")).json()
            assert "registration_endpoint" not in facts
            tokens, _, _ = await granted(
                house, client_id="claude-desktop-abc123", scope="papers:read research:write"
            )
            assert tokens["scope"] == "papers:read"

    asyncio.run(visit())


@pytest.mark.promise("A3")
def test_a_client_may_be_its_own_document(tmp_path: Path) -> None:
    documents = Documents(
        {"client_id": DOCUMENT_ID, "client_name": "By document", "redirect_uris": [REDIRECT]}
    )

    async def visit() -> None:
        async with opened(settings_for(tmp_path, "builtin"), documents=documents) as house:
            await house.add_user()
            page = await log_in(house.http, authorize_url(DOCUMENT_ID, Pkce()))
            assert "By document" in page.text
            tokens, _, _ = await granted(house, client_id=DOCUMENT_ID)
            assert (await house.call(READ, tokens["access_token"])).status_code == 200
            assert documents.fetches == 1
            house.clock.advance(301)
            await house.http.get(authorize_url(DOCUMENT_ID, Pkce()))
            assert documents.fetches == 2

    asyncio.run(visit())


BAD_DOCUMENTS: dict[str, Mapping[str, Any] | None] = {
    "cannot be fetched": None,
    "about somebody else": {"client_id": DOCUMENT_ID + "x", "redirect_uris": [REDIRECT]},
    "no redirects": {"client_id": DOCUMENT_ID},
    "dangerous redirect": {"client_id": DOCUMENT_ID, "redirect_uris": ["javascript:alert(1)"]},
    "wants a secret": {
        "client_id": DOCUMENT_ID,
        "redirect_uris": [REDIRECT],
        "token_endpoint_auth_method": "client_secret_post",
    },
}


@pytest.mark.promise("A3")
@pytest.mark.parametrize("what", BAD_DOCUMENTS)
def test_a_bad_document_is_shown_to_the_person_and_never_redirected(
    tmp_path: Path, what: str
) -> None:
    async def visit() -> None:
        async with opened(
            settings_for(tmp_path, "builtin"), documents=Documents(BAD_DOCUMENTS[what])
        ) as house:
            page = await house.http.get(authorize_url(DOCUMENT_ID, Pkce()))
            assert page.status_code == 400
            assert "location" not in page.headers

    asyncio.run(visit())


@pytest.mark.promise("A3")
def test_registration_is_slow_for_those_who_flood_and_forgets_clients_nobody_used(
    tmp_path: Path,
) -> None:
    async def visit() -> None:
        async with opened(
            settings_for(tmp_path, "builtin", auth={"registrations_per_hour": 6})
        ) as house:
            await house.add_user()
            _, used, _ = await granted(house)
            unused = (await register(house)).json()["client_id"]
            flooded = await register(house)
            assert flooded.status_code == 429
            assert int(flooded.headers["retry-after"]) == 600
            house.clock.advance(25 * 3600)
            assert (await register(house)).status_code == 201
            store = house.desk.access.store
            assert store is not None
            assert await store.client(used) is not None
            assert await store.client(unused) is None

    asyncio.run(visit())


@pytest.mark.promise("A3")
def test_registration_answers_as_a_public_client_whatever_was_asked(tmp_path: Path) -> None:
    async def visit() -> None:
        async with opened(settings_for(tmp_path, "builtin")) as house:
            answer = await register(
                house,
                token_endpoint_auth_method="client_secret_post",
                grant_types=["authorization_code"],
            )
            assert answer.status_code == 201
            facts = answer.json()
            assert facts["token_endpoint_auth_method"] == "none"
            assert "client_secret" not in facts
            wrong: tuple[dict[str, object], ...] = (
                {"redirect_uris": []},
                {"redirect_uris": "x"},
                {"grant_types": ["password"]},
                {"response_types": ["token"]},
            )
            for bad in wrong:
                refused = await register(house, **bad)
                assert refused.status_code == 400
                assert refused.json()["error"] in {
                    "invalid_redirect_uri",
                    "invalid_client_metadata",
                }
            assert (await house.http.post("/register", content=b"not json")).status_code == 400
            assert (await house.http.post("/register", json=["a list"])).status_code == 400
            assert MOST_CLIENTS == 10_000

    asyncio.run(visit())


@pytest.mark.promise("A3")
def test_keys_persist_rotate_and_stay_published_while_tokens_carry_them(tmp_path: Path) -> None:
    async def key_ids(house: House) -> list[str]:
        return [
            key["kid"] for key in (await house.http.get("/.well-known/jwks.json")).json()["keys"]
        ]

    async def visit() -> None:
        settings = settings_for(
            tmp_path, "builtin", auth={"key_rotation_days": 1, "access_token_seconds": 86_400}
        )
        async with opened(settings, makes_key=True) as house:
            await house.add_user()
            first = await key_ids(house)
            old, client_id, _ = await granted(house)
            clock = house.clock
        async with opened(settings, clock=clock, makes_key=True) as house:
            assert await key_ids(house) == first
            assert (await house.call(READ, old["access_token"])).status_code == 200
            clock.advance(86_300)
            before = (
                await house.http.post("/token", data=refresh_form(client_id, old["refresh_token"]))
            ).json()
            clock.advance(200)
            assert (await key_ids(house))[1:] == first
            # A new key is published before it signs, so that every worker knows it by then.
            assert jwt.get_unverified_header(before["access_token"])["kid"] == first[0]
            clock.advance(100)
            after = (
                await house.http.post(
                    "/token", data=refresh_form(client_id, before["refresh_token"])
                )
            ).json()
            assert jwt.get_unverified_header(after["access_token"])["kid"] != first[0]
            assert (await house.call(READ, before["access_token"])).status_code == 200
            assert (await house.call(READ, after["access_token"])).status_code == 200
            clock.advance(2 * 86_400 + 3700)
            await key_ids(house)
            clock.advance(86_400 + 100)
            assert first[0] not in await key_ids(house)

    asyncio.run(visit())


@pytest.mark.promise("A3")
def test_two_workers_agree_on_one_first_key(tmp_path: Path) -> None:
    async def visit() -> None:
        settings = settings_for(tmp_path, "builtin")
        async with opened(settings, makes_key=True) as one, opened(settings, makes_key=True) as two:
            sets = await asyncio.gather(
                *(house.http.get("/.well-known/jwks.json") for house in (one, two))
            )
            assert sets[0].json() == sets[1].json()
            await one.add_user()
            tokens, _, _ = await granted(one)
            assert (await two.call(READ, tokens["access_token"])).status_code == 200

    asyncio.run(visit())


@pytest.mark.promise("A5")
def test_log_ins_consents_and_tokens_are_written_down_without_their_secrets(tmp_path: Path) -> None:
    async def visit() -> None:
        async with opened(settings_for(tmp_path, "builtin")) as house:
            await house.add_user()
            url = authorize_url((await register(house)).json()["client_id"], Pkce())
            await log_in(house.http, url, password="wrong password")
            tokens, client_id, _ = await granted(house)
            await house.http.post("/token", data=refresh_form(client_id, "unknown"))
            lines = list(house.audit_lines())
            shown = [(line["phase"], line["action"]) for line in lines]
            for expected in ("oauth:register", "oauth:login", "oauth:allow", "oauth:token"):
                assert ("noted", expected) in shown
            assert ("refused", "oauth:login") in shown
            assert ("refused", "oauth:token") in shown
            text = str(lines)
            assert PASSWORD not in text
            assert "wrong password" not in text
            assert tokens["access_token"] not in text
            assert tokens["refresh_token"] not in text

    asyncio.run(visit())


def test_the_session_cookie_is_out_of_reach_of_scripts_and_other_sites(tmp_path: Path) -> None:
    async def visit() -> None:
        async with opened(
            settings_for(tmp_path, "builtin", server={"public_url": "https://desk.example.org"})
        ) as house:
            await house.add_user()
            client_id = (await register(house)).json()["client_id"]
            url = authorize_url(client_id, Pkce(), resource="https://desk.example.org/mcp")
            page = await house.http.get(url)
            form = {**hidden_fields(page.text), "username": "ada", "password": PASSWORD}
            answer = await house.http.post(url, data=form)
            cookie = answer.headers["set-cookie"]
            assert cookie.startswith("__Host-carrel-session=")
            for part in ("Path=/", "HttpOnly", "SameSite=Lax", "Secure"):
                assert part in cookie

    asyncio.run(visit())


@pytest.mark.promise("A3")
def test_static_tokens_work_beside_log_ins(tmp_path: Path) -> None:
    async def visit() -> None:
        async with opened(settings_for(tmp_path, "builtin")) as house:
            assert (await house.call(READ, await house.token("papers:read"))).status_code == 200

    asyncio.run(visit())


def test_signing_keys_are_what_the_verifier_reads(tmp_path: Path) -> None:
    async def visit() -> None:
        async with opened(settings_for(tmp_path, "builtin")) as house:
            store = house.desk.access.store
            assert store is not None
            keys = SigningKeys(store, house.clock, rotate_seconds=1e6, overlap_seconds=10)
            token = await keys.sign({"iss": "https://elsewhere.example", "exp": 2e9})
            assert (await house.call(READ, token)).status_code == 401
            assert (await house.http.get("/mcp/tools", headers=bearer(token))).status_code == 401
            await store.add_client(Client("c", "C", (REDIRECT,), ClientKind.REGISTERED))

    asyncio.run(visit())

"""Log-in at an institute: everything that must not let anybody in."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl, urlencode

import pytest

from carrel.core.errors import UnavailableError
from carrel.policy.authorization.openid.provider import read_metadata
from carrel.services.openid_provider import OpenIdProviderHttp
from carrel.settings import SettingsError
from carrel.settings.institute_rules import institute_options
from tests.access.institute import GROUPS, begin, come_back, institute_desk, sign_in
from tests.access.local_provider import LocalProvider
from tests.access.support import House, settings_for

pytestmark = pytest.mark.promise("A7-log-in")


def run(home: Path, story: Callable[[House, LocalProvider], Any], **auth: Any) -> Any:
    async def tell() -> Any:
        async with institute_desk(home, auth=auth) as (house, provider):
            return await story(house, provider)

    return asyncio.run(tell())


def changed(query: str, **changes: str | None) -> str:
    facts = {**dict(parse_qsl(query)), **changes}
    return urlencode({name: value for name, value in facts.items() if value is not None})


async def refused(house: House, answer: Any, words: str, status: int = 400) -> None:
    """The page says why, there is no session, and it is written down."""
    assert answer.status_code == status, answer.text
    assert words in answer.text
    assert "carrel-session" not in answer.headers.get("set-cookie", "")
    assert (await house.http.get("/account")).status_code in {303, 401, 404}
    lines = [line for line in house.audit_lines() if line["action"] == "oidc:login"]
    assert lines[-1]["result"] == "failure"


@pytest.mark.parametrize(
    ("claims", "words"),
    [
        ({"iss": "https://other.example"}, "another issuer"),
        ({"aud": "another-program"}, "another server"),
        ({"aud": ["carrel", "other"]}, "azp"),
        ({"azp": "other"}, "azp"),
        ({"exp": 1_000_000_000}, "expired"),
        ({"exp": None}, "never expires"),
        ({"iat": None}, "iat"),
        ({"iat": 1_700_000_000}, "too long ago"),
        ({"nonce": "another"}, "nonce"),
        ({"nonce": None}, "nonce"),
        ({"sub": None}, "sub"),
        ({"sub": "a\u202eb"}, "sub"),
        ({"groups": [1]}, "cannot be read"),
        ({"groups": None, "_claim_names": {"groups": "src1"}}, "too many"),
    ],
)
def test_an_id_token_that_does_not_hold_is_refused(
    tmp_path: Path, claims: dict[str, Any], words: str
) -> None:
    async def story(house: House, provider: LocalProvider) -> None:
        provider.claims = claims
        await refused(house, await sign_in(house, provider), words)

    run(tmp_path, story)


@pytest.mark.parametrize("algorithm", ["none", "HS256"])
def test_an_algorithm_outside_of_the_list_is_refused(tmp_path: Path, algorithm: str) -> None:
    async def story(house: House, provider: LocalProvider) -> None:
        provider.algorithm = algorithm
        await refused(house, await sign_in(house, provider), "algorithm")

    run(tmp_path, story)


def test_a_log_out_token_is_no_id_token(tmp_path: Path) -> None:
    async def story(house: House, provider: LocalProvider) -> None:
        provider.header = {"typ": "logout+jwt"}
        await refused(house, await sign_in(house, provider), "kind")

    run(tmp_path, story)


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"iss": None}, "iss"),
        ({"iss": "https://other.example"}, "iss"),
        ({"iss": "http://127.0.0.1:1/"}, "iss"),
        ({"state": None}, "not begun in this browser"),
        ({"state": "1.aaaaaaaaaaaaaaaaaaaaaa." + "a" * 43}, "not begun in this browser"),
        ({"code": "made-up"}, "used before"),
        ({"code": None}, "did not log you in"),
        ({"error": "access_denied"}, "access_denied"),
        ({"error": "<script>"}, "no code"),
    ],
)
def test_an_answer_that_does_not_fit_is_refused(
    tmp_path: Path, changes: dict[str, str | None], words: str
) -> None:
    async def story(house: House, provider: LocalProvider) -> None:
        query = provider.authorize(await begin(house), "ada")
        await refused(house, await come_back(house, changed(query, **changes)), words)
        assert provider.used_codes == 0

    run(tmp_path, story)


def test_the_state_of_another_browser_is_refused(tmp_path: Path) -> None:
    async def story(house: House, provider: LocalProvider) -> None:
        theirs = provider.authorize(await begin(house), "ada")
        house.http.cookies.clear()
        await refused(house, await come_back(house, theirs), "not begun in this browser")
        await begin(house)
        await refused(house, await come_back(house, theirs), "not begun in this browser")
        assert provider.used_codes == 0

    run(tmp_path, story)


def test_a_code_works_once(tmp_path: Path) -> None:
    async def story(house: House, provider: LocalProvider) -> None:
        location = await begin(house)
        kept = dict(house.http.cookies)
        query = provider.authorize(location, "ada")
        assert (await come_back(house, query)).status_code == 303
        house.http.cookies.clear()
        # The browser has forgotten the attempt; one that kept it is refused by the provider.
        await refused(house, await come_back(house, query), "not begun in this browser")
        house.http.cookies.update(kept)
        await refused(house, await come_back(house, query), "used before")

    run(tmp_path, story)


def test_a_log_in_that_took_too_long_is_refused(tmp_path: Path) -> None:
    async def story(house: House, provider: LocalProvider) -> None:
        query = provider.authorize(await begin(house), "ada")
        house.clock.advance(601)
        await refused(house, await come_back(house, query), "too long")

    run(tmp_path, story)


@pytest.mark.parametrize(
    "target",
    ["https://evil.example/", "//evil.example", "/\\evil.example", "javascript:alert(1)", "\t/x"],
)
def test_nobody_is_sent_to_another_site(tmp_path: Path, target: str) -> None:
    async def story(house: House, provider: LocalProvider) -> None:
        answer = await sign_in(house, provider, target=target)
        assert answer.status_code == 303
        assert answer.headers["location"] in {"/", "/%5Cevil.example"}

    run(tmp_path, story)


def test_who_is_in_no_group_is_told_whom_to_ask(tmp_path: Path) -> None:
    async def story(house: House, provider: LocalProvider) -> None:
        answer = await sign_in(house, provider, "eve")
        await refused(house, answer, "none of your groups", 403)
        assert "Ask the library desk" in answer.text
        assert house.desk.access.store is not None
        assert await house.desk.access.store.users() == []

    run(tmp_path, story)


def test_a_provider_that_names_no_groups_at_all_is_told_of_in_the_log(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    async def story(house: House, provider: LocalProvider) -> None:
        provider.has_groups_in_token = False
        provider.metadata = {"userinfo_endpoint": None}
        await refused(house, await sign_in(house, provider), "none of your groups", 403)
        (line,) = [line for line in caplog.records if "names groups" in line.message]
        assert line.__dict__["claim"] == "groups"
        assert "auth.oidc.scopes" in line.__dict__["next_step"]
        caplog.clear()
        provider.has_groups_in_token = True
        await refused(house, await sign_in(house, provider, "eve"), "none of your groups", 403)
        assert not [line for line in caplog.records if "names groups" in line.message]

    run(tmp_path, story)


def test_a_provider_that_is_down_gives_a_plain_page(tmp_path: Path) -> None:
    async def story(house: House, provider: LocalProvider) -> None:
        provider.is_down = True
        answer = await house.http.get("/login/institute")
        await refused(house, answer, "does not answer", 503)
        assert "Wait a minute" in answer.text
        assert answer.headers["retry-after"]
        provider.is_down = False
        house.clock.advance(6)
        assert await begin(house)

    run(tmp_path, story)


def test_a_password_opens_nothing_where_there_are_none(tmp_path: Path) -> None:
    async def story(house: House, provider: LocalProvider) -> None:
        await house.add_user("ada")
        assert (await sign_in(house, provider, "bob")).status_code == 303
        assert house.desk.access.built_in is not None
        assert not house.desk.access.built_in.has_passwords

    run(tmp_path, story)


def test_a_user_of_that_name_is_not_taken_over(tmp_path: Path) -> None:
    """The person ada of the provider and the user ada with a password are two."""

    async def story(house: House, provider: LocalProvider) -> None:
        await house.add_user("Ada", frozenset({"papers:read"}))
        assert (await sign_in(house, provider, "ada")).status_code == 303
        store = house.desk.access.store
        assert store is not None
        assert [user.name for user in await store.users()] == ["Ada", "ada-2"]

    run(tmp_path, story)


def test_a_disabled_person_stays_out(tmp_path: Path) -> None:
    async def story(house: House, provider: LocalProvider) -> None:
        await sign_in(house, provider)
        assert house.desk.access.store is not None
        await house.desk.access.store.set_disabled("ada", True, 0.0)
        house.http.cookies.clear()
        await refused(house, await sign_in(house, provider), "disabled")

    run(tmp_path, story)


GOOD = {
    "issuer": "https://login.example",
    "authorization_endpoint": "https://login.example/authorize",
    "token_endpoint": "https://login.example/token",
    "jwks_uri": "https://login.example/jwks",
}


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"issuer": "https://login.example/"}, "another issuer"),
        ({"issuer": "https://LOGIN.example"}, "another issuer"),
        ({"token_endpoint": "http://login.example/token"}, "token_endpoint"),
        ({"token_endpoint": "http://127.0.0.1/token"}, "token_endpoint"),
        ({"jwks_uri": "file:///etc/passwd"}, "jwks_uri"),
        ({"authorization_endpoint": "javascript:alert(1)"}, "authorization_endpoint"),
        ({"authorization_endpoint": "https://a:b@login.example"}, "authorization_endpoint"),
        ({"authorization_endpoint": "https://x.example/\r\nSet-Cookie: a"}, "authorization"),
        ({"code_challenge_methods_supported": ["plain"]}, "PKCE"),
        ({"token_endpoint_auth_methods_supported": ["private_key_jwt"]}, "client secret"),
    ],
)
def test_a_description_that_cannot_be_used_is_refused(changes: dict[str, Any], words: str) -> None:
    assert read_metadata(GOOD, "https://login.example").token_endpoint
    with pytest.raises(UnavailableError, match=words):
        read_metadata({**GOOD, **changes}, "https://login.example")


def test_a_description_cannot_point_into_the_network() -> None:
    async def look() -> None:
        service = OpenIdProviderHttp("https://login.example")
        for address in ("https://127.0.0.1/jwks", "https://169.254.169.254/", "https://[::1]/k"):
            with pytest.raises(UnavailableError, match="public"):
                await service.fetch_keys(address)
        await service.close()

    asyncio.run(look())


@pytest.mark.parametrize(
    ("mode", "oidc", "groups", "words"),
    [
        ("tokens", {}, GROUPS, "builtin"),
        ("builtin", {"issuer": "http://login.example"}, GROUPS, "https"),
        ("builtin", {"client_id": ""}, GROUPS, "client_id"),
        ("builtin", {"client_secret": ""}, GROUPS, "client_secret"),
        ("builtin", {"scopes": ["profile"]}, GROUPS, "openid"),
        ("builtin", {}, [], "nobody"),
        ("builtin", {}, [{"name": "staff"}], "neither"),
        ("builtin", {}, [{"name": "staff", "scopes": ["papers:fly"]}], "papers:fly"),
        ("builtin", {"client_secret_file": "/nowhere/at/all"}, GROUPS, "cannot be read"),
    ],
)
def test_settings_that_would_not_work_are_refused(
    tmp_path: Path, mode: str, oidc: dict[str, Any], groups: list[Any], words: str
) -> None:
    full = {"issuer": "https://login.example", "client_id": "carrel", "client_secret": "s" * 30}
    settings = settings_for(tmp_path, mode, auth={"oidc": {**full, **oidc}, "groups": groups})
    with pytest.raises(SettingsError, match=words):
        institute_options(settings)

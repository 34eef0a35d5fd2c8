"""Log-in at an institute: who comes in, what their groups allow, and how it ends."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path
from typing import Any

import httpx2
import pytest

from carrel.policy.authorization.openid import login
from carrel.stores.sql.access import SqlAccess
from tests.access.institute import come_back, connect, institute_desk, sign_in
from tests.access.local_provider import LocalProvider
from tests.access.support import House, operation_for, refresh_form

pytestmark = pytest.mark.promise("A7-log-in")
READ, ADMIN = operation_for("papers:read"), operation_for("admin")


def run(home: Path, story: Callable[[House, LocalProvider], Any], **auth: Any) -> Any:
    async def tell() -> Any:
        async with institute_desk(home, auth=auth) as (house, provider):
            return await story(house, provider)

    return asyncio.run(tell())


def is_refused(answer: httpx2.Response) -> bool:
    return answer.status_code in {401, 403}


async def log_out(house: House, token: str) -> httpx2.Response:
    return await house.http.post("/backchannel", data={"logout_token": token})


async def refresh(house: House, tokens: dict[str, Any], client_id: str) -> httpx2.Response:
    return await house.http.post("/token", data=refresh_form(client_id, tokens["refresh_token"]))


@pytest.mark.parametrize("has_groups_in_token", [True, False])
def test_groups_become_scopes(tmp_path: Path, has_groups_in_token: bool) -> None:
    """From the ID token, or from userinfo where the token has none."""

    async def story(house: House, provider: LocalProvider) -> None:
        provider.has_groups_in_token = has_groups_in_token
        bobs, _ = await connect(house, provider, "bob")
        assert (await house.call(READ, bobs["access_token"])).status_code == 200
        assert is_refused(await house.call(ADMIN, bobs["access_token"]))
        house.http.cookies.clear()
        adas, _ = await connect(house, provider, "ada")
        assert (await house.call(ADMIN, adas["access_token"])).status_code == 200
        logged = [line for line in house.audit_lines() if line["action"] == "oidc:login"]
        assert [line["user_id"] for line in logged] == ["bob", "ada"]
        assert logged[1]["parameters"]["groups"] == ["carrel-admins", "staff"]

    run(tmp_path, story)


def test_a_person_is_the_subject_and_never_the_mail_address(tmp_path: Path) -> None:
    async def story(house: House, provider: LocalProvider) -> None:
        provider.claims = {"email": "ada@inst.test", "preferred_username": "ada"}
        provider.groups |= {"u-1": ["staff"], "u-2": ["staff"]}
        for subject in ("u-1", "u-2", "u-1"):
            house.http.cookies.clear()
            assert (await sign_in(house, provider, subject)).status_code == 303
        assert house.desk.access.store is not None
        names = [user.name for user in await house.desk.access.store.users()]
        assert names == ["ada", "ada-2"]

    run(tmp_path, story, oidc={"name_claim": "preferred_username"})


def test_a_removed_group_is_gone_at_the_next_refresh(tmp_path: Path) -> None:
    async def story(house: House, provider: LocalProvider) -> None:
        provider.gives_refresh = True
        tokens, client_id = await connect(house, provider, "ada")
        provider.groups["ada"] = ["staff"]
        house.clock.advance(60)
        answer = await refresh(house, tokens, client_id)
        assert answer.status_code == 200, answer.text
        fresh = answer.json()
        assert is_refused(await house.call(ADMIN, fresh["access_token"]))
        assert (await house.call(READ, fresh["access_token"])).status_code == 200
        # The token of before is cut as well.
        assert is_refused(await house.call(ADMIN, tokens["access_token"]))
        provider.groups["ada"] = []
        house.clock.advance(60)
        answer = await refresh(house, fresh, client_id)
        assert answer.status_code == 400
        assert "Ask the library desk" in answer.json()["error_description"]
        house.clock.advance(6)
        assert is_refused(await house.call(READ, fresh["access_token"]))

    run(tmp_path, story)


def test_an_ended_account_at_the_provider_ends_the_grant(tmp_path: Path) -> None:
    async def story(house: House, provider: LocalProvider) -> None:
        provider.gives_refresh = True
        tokens, client_id = await connect(house, provider, "ada")
        provider.refreshes.clear()
        house.clock.advance(60)
        answer = await refresh(house, tokens, client_id)
        assert answer.status_code == 400
        assert "log in again" in answer.json()["error_description"]
        house.clock.advance(6)
        assert is_refused(await house.call(READ, tokens["access_token"]))

    run(tmp_path, story)


def test_a_provider_that_is_down_ends_nothing_before_the_groups_are_old(tmp_path: Path) -> None:
    async def story(house: House, provider: LocalProvider) -> None:
        provider.gives_refresh = True
        tokens, client_id = await connect(house, provider, "ada")
        provider.is_down = True
        house.clock.advance(3600)
        answer = await refresh(house, tokens, client_id)
        assert answer.status_code == 200
        house.clock.advance(12 * 3600)
        late = await refresh(house, answer.json(), client_id)
        assert late.status_code == 503
        provider.is_down = False
        house.clock.advance(6)
        # What was refused because of the outage was not used up by it.
        assert (await refresh(house, answer.json(), client_id)).status_code == 200

    run(tmp_path, story)


def test_a_new_refresh_token_is_kept_where_the_groups_could_not_be_read(tmp_path: Path) -> None:
    """The provider has replaced the old one: whoever shows that again is logged out."""

    async def story(house: House, provider: LocalProvider) -> None:
        provider.gives_refresh, provider.has_groups_in_token = True, False
        tokens, client_id = await connect(house, provider, "ada")
        provider.has_userinfo = False
        house.clock.advance(60)
        answer = await refresh(house, tokens, client_id)
        assert answer.status_code == 200
        provider.has_userinfo = True
        house.clock.advance(60)
        answer = await refresh(house, answer.json(), client_id)
        assert answer.status_code == 200
        # Nor does an answer that cannot be believed leave a way around the next question.
        provider.claims = {"sub": "bob"}
        house.clock.advance(60)
        for _ in range(2):
            refused = await refresh(house, answer.json(), client_id)
            assert refused.status_code == 400

    run(tmp_path, story)


def test_groups_that_are_too_old_are_not_believed_while_another_request_asks(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def story(house: House, provider: LocalProvider) -> None:
        provider.gives_refresh = True
        tokens, client_id = await connect(house, provider, "ada")
        house.clock.advance(13 * 3600)
        now = house.clock.now().timestamp()
        store = house.desk.access.store
        assert isinstance(store, SqlAccess)
        (use,) = await store.grants("ada", now)
        sign_in_id = str(use.grant.sign_in)
        assert await store.sign_ins.claim_reading(sign_in_id, now, now + 20)
        monkeypatch.setattr(login, "_LOOK_SECONDS", 0.0)
        assert (await refresh(house, tokens, client_id)).status_code == 503
        monkeypatch.setattr(login, "_LOOK_SECONDS", 0.05)
        waiting = asyncio.create_task(refresh(house, tokens, client_id))
        await store.sign_ins.finish_reading(sign_in_id, None, now)
        assert (await waiting).status_code == 200

    run(tmp_path, story)


def test_a_refresh_that_says_nothing_of_groups_takes_none(tmp_path: Path) -> None:
    """An ID token is optional there (OpenID Connect Core, 12.2), and userinfo everywhere."""

    async def story(house: House, provider: LocalProvider) -> None:
        provider.gives_refresh, provider.has_token_at_refresh = True, False
        provider.metadata["userinfo_endpoint"] = None
        tokens, client_id = await connect(house, provider, "ada")
        house.clock.advance(3600)
        answer = await refresh(house, tokens, client_id)
        assert answer.status_code == 200, answer.text
        assert (await house.call(READ, answer.json()["access_token"])).status_code == 200
        house.clock.advance(12 * 3600)
        late = await refresh(house, answer.json(), client_id)
        assert late.status_code == 400
        assert "log in again" in late.json()["error_description"]

    run(tmp_path, story)


def test_without_refresh_tokens_of_the_provider_people_log_in_again(tmp_path: Path) -> None:
    async def story(house: House, provider: LocalProvider) -> None:
        tokens, client_id = await connect(house, provider, "ada")
        house.clock.advance(3600)
        answer = await refresh(house, tokens, client_id)
        assert answer.status_code == 200
        house.clock.advance(12 * 3600)
        late = await refresh(house, answer.json(), client_id)
        assert late.status_code == 400
        assert "log in again" in late.json()["error_description"]

    run(tmp_path, story)


def test_rotated_keys_are_found_at_once(tmp_path: Path) -> None:
    """No gap after a rotation, and strangers cannot make us fetch keys without end."""

    async def story(house: House, provider: LocalProvider) -> None:
        for kid in ("first", "second", "third"):
            provider.kid = kid
            house.http.cookies.clear()
            assert (await sign_in(house, provider)).status_code == 303
        assert provider.key_fetches == 3
        for number in range(40):
            provider.kid = "third"
            token = provider.logout_token(header={"typ": "logout+jwt", "kid": f"unknown {number}"})
            assert (await log_out(house, token)).status_code == 400
        assert provider.key_fetches <= 3 + 5 + 1
        # Those who log in are not the ones who pay for it.
        provider.kid = "fourth"
        house.http.cookies.clear()
        assert (await sign_in(house, provider)).status_code == 303

    run(tmp_path, story)


def test_a_log_out_at_the_institute_ends_sessions_and_grants(tmp_path: Path) -> None:
    async def story(house: House, provider: LocalProvider) -> None:
        provider.sid = "bobs"
        bobs, _ = await connect(house, provider, "bob")
        house.http.cookies.clear()
        provider.sid = "adas"
        adas, client_id = await connect(house, provider, "ada")
        store = house.desk.access.store
        assert store is not None
        now = house.clock.now().timestamp()
        assert len(await store.sessions("ada", now)) == 1
        token = provider.logout_token(sid="adas", sub="ada")
        assert (await log_out(house, token)).status_code == 200
        assert await store.sessions("ada", now) == []
        assert len(await store.sessions("bob", now)) == 1
        house.clock.advance(6)
        assert is_refused(await house.call(READ, adas["access_token"]))
        assert (await refresh(house, adas, client_id)).status_code == 400
        assert (await house.call(READ, bobs["access_token"])).status_code == 200
        again = await log_out(house, token)
        assert again.status_code == 400
        assert "used before" in again.text
        # Without a session, everything of the person.
        whole = provider.logout_token(sid=None, sub="bob")
        assert (await log_out(house, whole)).status_code == 200
        assert await store.sessions("bob", now) == []
        noted = [line for line in house.audit_lines() if line["action"] == "oidc:logout"]
        assert [line["result"] for line in noted] == ["success", "failure", "success"]

    run(tmp_path, story)


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"nonce": "n"}, "nonce"),
        ({"nonce": ""}, "nonce"),
        ({"events": {}}, "events"),
        ({"events": None}, "events"),
        ({"jti": None}, "jti"),
        ({"sid": None}, "neither"),
        ({"aud": "other"}, "another server"),
        ({"iss": "https://other.example"}, "issuer"),
        ({"exp": 1_000_000_000}, "expired"),
        ({"iat": None}, "iat"),
        ({"header": {"typ": "JWT"}}, "kind"),
        ({"header": {}}, "kind"),
    ],
)
def test_a_log_out_token_that_does_not_hold_ends_nothing(
    tmp_path: Path, changes: dict[str, Any], words: str
) -> None:
    async def story(house: House, provider: LocalProvider) -> None:
        await sign_in(house, provider)
        answer = await log_out(house, provider.logout_token(**changes))
        assert answer.status_code == 400
        assert words in answer.json()["error_description"]
        assert house.desk.access.store is not None
        now = house.clock.now().timestamp()
        assert len(await house.desk.access.store.sessions("ada", now)) == 1

    run(tmp_path, story)


def test_an_id_token_ends_nobodys_session(tmp_path: Path) -> None:
    async def story(house: House, provider: LocalProvider) -> None:
        await sign_in(house, provider)
        token = provider.sign({"sub": "ada", "sid": provider.sid})
        assert (await log_out(house, token)).status_code == 400
        assert (await house.http.post("/backchannel", data={})).status_code == 400
        assert (await house.http.post("/backchannel", json={})).status_code == 400

    run(tmp_path, story)


def test_a_refresh_token_of_the_provider_is_not_readable_in_the_store(tmp_path: Path) -> None:
    async def story(house: House, provider: LocalProvider) -> list[str]:
        provider.gives_refresh = True
        await sign_in(house, provider)
        return list(provider.refreshes)

    secrets = run(tmp_path, story)
    kept = b"".join(file.read_bytes() for file in tmp_path.rglob("*") if file.is_file())
    assert secrets
    assert all(secret.encode() not in kept for secret in secrets)


def test_passwords_stay_where_the_operator_wants_them(tmp_path: Path) -> None:
    async def story(house: House, provider: LocalProvider) -> None:
        await house.add_user("operator")
        from tests.access.support import Pkce, authorize_url, log_in, register

        client_id = (await register(house)).json()["client_id"]
        url = authorize_url(client_id, Pkce())
        page = await house.http.get(url)
        assert "Log in with the Institute" in page.text
        consent = await log_in(house.http, url, "operator")
        assert "Allow" in consent.text
        house.http.cookies.clear()
        assert (await sign_in(house, provider)).status_code == 303
        house.http.cookies.clear()
        # Who logs in at the institute has no password here, whatever is typed.
        refused = await log_in(house.http, url, "ada", "!")
        assert refused.status_code == 401

    run(tmp_path, story, oidc={"passwords": True})


def test_two_browsers_of_one_person_at_once_make_one_user(tmp_path: Path) -> None:
    async def story(house: House, provider: LocalProvider) -> None:
        transport = httpx2.ASGITransport(app=house.app, client=("192.0.2.7", 4711))
        base = house.desk.settings.base_url
        async with (
            httpx2.AsyncClient(transport=transport, base_url=base) as one,
            httpx2.AsyncClient(transport=transport, base_url=base) as two,
        ):
            queries = []
            for browser in (one, two):
                away = await browser.get("/login/institute")
                queries.append(provider.authorize(away.headers["location"], "ada"))
            answers = await asyncio.gather(
                *(
                    browser.get(f"/login/callback?{query}")
                    for browser, query in zip((one, two), queries, strict=True)
                )
            )
        assert [answer.status_code for answer in answers] == [303, 303]
        assert house.desk.access.store is not None
        assert [user.name for user in await house.desk.access.store.users()] == ["ada"]

    run(tmp_path, story)


def test_the_callback_of_a_stranger_is_bounded(tmp_path: Path) -> None:
    async def story(house: House, provider: LocalProvider) -> None:
        statuses = {(await come_back(house, "state=x&code=y")).status_code for _ in range(260)}
        assert statuses == {400, 429}

    run(tmp_path, story)

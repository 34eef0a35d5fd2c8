"""Every refusal of the authorization server in its own words, and what stands right beside it."""

from __future__ import annotations

import asyncio
from pathlib import Path

import jwt
import pytest

from carrel.core.errors import InvalidInputError
from carrel.policy.authorization.clients import clean_name
from carrel.policy.authorization.login import (
    LONGEST_PASSWORD,
    SHORTEST_PASSWORD,
    add_first_user,
    new_password,
    validate_password,
    validate_user_name,
)
from carrel.policy.authorization.redirects import (
    LONGEST_REDIRECT,
    display_address,
    form_action_source,
    is_registered,
    problem_with_redirect,
    problem_with_scheme,
)
from tests.access.support import (
    REDIRECT,
    House,
    Pkce,
    allow,
    answer_in,
    authorize_url,
    code_form,
    granted,
    log_in,
    opened,
    operation_for,
    refresh_form,
    register,
    settings_for,
    ticked_scopes,
)

READ = operation_for("papers:read")
MCP = "http://127.0.0.1:8080/mcp"


async def token_error(house: House, form: dict[str, str]) -> tuple[str, str]:
    answer = await house.http.post("/token", data=form)
    assert answer.status_code == 400, answer.text
    facts = answer.json()
    assert "access_token" not in facts
    return facts["error"], facts["error_description"]


async def new_code(house: House, client_id: str, pkce: Pkce, **changes: str | None) -> str:
    url = authorize_url(client_id, pkce, **changes)
    page = await log_in(house.http, url)
    return answer_in((await allow(house.http, url, page.text)).headers["location"])["code"]


@pytest.mark.promise("A3")
def test_a_request_of_a_known_client_is_sent_back_with_what_is_wrong(tmp_path: Path) -> None:
    pkce = "PKCE with S256 is required"
    resources = "resource must be one of http://127.0.0.1:8080, http://127.0.0.1:8080/mcp, "
    wrong: list[tuple[dict[str, str | None], str, str]] = [
        ({"response_type": "token"}, "unsupported_response_type", "response_type must be code"),
        ({"response_type": None}, "unsupported_response_type", "response_type must be code"),
        ({"code_challenge_method": "plain"}, "invalid_request", pkce),
        ({"code_challenge": "x" * 42}, "invalid_request", pkce),
        ({"code_challenge": "x" * 44}, "invalid_request", pkce),
        ({"code_challenge": "x" * 42 + "="}, "invalid_request", pkce),
        ({"state": "s" * 4001}, "invalid_request", "state is too long"),
        ({"request": "x"}, "request_not_supported", "Request objects are not supported"),
        ({"request_uri": "x"}, "request_not_supported", "Request objects are not supported"),
        ({"resource": "https://other.example/mcp"}, "invalid_target", resources),
    ]

    async def visit() -> None:
        async with opened(settings_for(tmp_path, "builtin")) as house:
            client_id = (await register(house)).json()["client_id"]
            for changes, error, description in wrong:
                answer = await house.http.get(authorize_url(client_id, Pkce(), **changes))
                assert answer.status_code == 302, changes
                assert answer.headers["location"].startswith(f"{REDIRECT}?")
                facts = answer_in(answer.headers["location"])
                assert facts["error"] == error, changes
                assert description in facts["error_description"], changes
                assert facts["state"] == (changes.get("state") or "xyz")
                assert facts["iss"] == "http://127.0.0.1:8080"
                assert "code" not in facts
            two = authorize_url(client_id, Pkce()) + f"&resource={MCP}"
            assert answer_in((await house.http.get(two)).headers["location"])["error"] == (
                "invalid_target"
            )
            for good in (
                {"state": "s" * 4000},
                {"state": None},
                {"resource": None},
                {"resource": f"{MCP}/"},
                {"redirect_uri": None},
                {"code_challenge": "x" * 43},
            ):
                page = await house.http.get(authorize_url(client_id, Pkce(), **good))
                assert (page.status_code, "Log in" in page.text) == (200, True), good

    asyncio.run(visit())


@pytest.mark.promise("A3")
def test_a_scope_that_does_not_exist_or_is_not_the_clients_is_never_granted(
    tmp_path: Path,
) -> None:
    reader = {"id": "reader", "name": "R", "redirect_uris": (REDIRECT,), "scopes": ("papers:read",)}
    clients = (reader,)

    async def visit() -> None:
        async with opened(settings_for(tmp_path, "builtin", auth={"clients": clients})) as house:
            await house.add_user()
            await house.add_user("bob", frozenset({"knowledge:read"}))
            other = (await register(house)).json()["client_id"]
            for scope in ("nothing", "openid offline_access", "papers:READ", "papers"):
                answer = await house.http.get(authorize_url(other, Pkce(), scope=scope))
                facts = answer_in(answer.headers["location"])
                assert facts["error"] == "invalid_scope", scope
                assert facts["error_description"].startswith("None of these scopes exists here")
                assert "papers:read" in facts["error_description"]
            asked = authorize_url(other, Pkce(), scope="openid papers:read papers:read")
            assert ticked_scopes((await log_in(house.http, asked)).text) == ["papers:read"]
            limited = authorize_url("reader", Pkce(), scope="research:write papers:read")
            assert ticked_scopes((await house.http.get(limited)).text) == ["papers:read"]
            every = authorize_url("reader", Pkce())
            assert ticked_scopes((await house.http.get(every)).text) == ["papers:read"]
            page = await house.http.get(limited)
            for ticked in ([], ["research:write"], ["admin"]):
                denied = await allow(house.http, limited, page.text, scopes=ticked)
                assert answer_in(denied.headers["location"])["error"] == "access_denied", ticked
            house.http.cookies.clear()
            nothing_held = await log_in(house.http, limited, user="bob")
            assert ticked_scopes(nothing_held.text) == []

    asyncio.run(visit())


@pytest.mark.promise("A3")
def test_a_request_that_cannot_be_trusted_is_shown_and_never_sent_back(tmp_path: Path) -> None:
    async def visit() -> None:
        async with opened(settings_for(tmp_path, "builtin")) as house:
            both = [REDIRECT, "https://app.example/cb"]
            one = (await register(house)).json()["client_id"]
            two = (await register(house, redirect_uris=both)).json()["client_id"]
            cases = [
                (authorize_url("unknown", Pkce()), "The client is not known here"),
                (authorize_url("", Pkce()), "The client is not known here"),
                (authorize_url("x" * 201, Pkce()), "The client is not known here"),
                (authorize_url("https://c.example/c", Pkce()), "document"),
                (authorize_url(two, Pkce(), redirect_uri=None), "not one the client has"),
                (authorize_url(one, Pkce(), redirect_uri=both[1]), "not one the client has"),
            ]
            for name in (
                "client_id",
                "redirect_uri",
                "state",
                "response_type",
                "code_challenge",
                "code_challenge_method",
                "scope",
            ):
                doubled = authorize_url(one, Pkce(), scope="papers:read") + f"&{name}=x"
                cases.append((doubled, f"{name} is given more than once"))
            for url, words in cases:
                page = await house.http.get(url)
                assert (page.status_code, "location" in page.headers) == (400, False), url
                assert words in page.text, url
            for uri in both:
                assert (
                    "Log in"
                    in (await house.http.get(authorize_url(two, Pkce(), redirect_uri=uri))).text
                )

    asyncio.run(visit())


@pytest.mark.promise("A3")
def test_an_address_with_a_query_keeps_it_in_the_answer(tmp_path: Path) -> None:
    async def visit() -> None:
        async with opened(settings_for(tmp_path, "builtin")) as house:
            uri = "https://app.example/cb?app=1"
            client_id = (await register(house, redirect_uris=[uri])).json()["client_id"]
            answer = await house.http.get(
                authorize_url(client_id, Pkce(), redirect_uri=uri, response_type="x", state=None)
            )
            location = answer.headers["location"]
            assert location.startswith(f"{uri}&")
            assert "state" not in answer_in(location)

    asyncio.run(visit())


@pytest.mark.promise("A3")
def test_a_code_is_exchanged_once_by_its_client_in_time_with_its_verifier(tmp_path: Path) -> None:
    grant = "invalid_grant"

    async def visit() -> None:
        async with opened(settings_for(tmp_path, "builtin")) as house:
            await house.add_user()
            client_id, pkce = (await register(house)).json()["client_id"], Pkce()
            form = code_form(client_id, await new_code(house, client_id, pkce), pkce)
            wrong: list[tuple[dict[str, str], tuple[str, str]]] = [
                ({"code": "unknown"}, (grant, "The code is not known here")),
                ({"code": ""}, ("invalid_request", "code is required")),
                ({"code_verifier": ""}, ("invalid_request", "code_verifier is required")),
                ({"client_id": ""}, (grant, "client_id is not the one it was granted to")),
                ({"client_id": "x"}, (grant, "client_id is not the one it was granted to")),
                ({"redirect_uri": REDIRECT + "x"}, (grant, "redirect_uri is not the one of the request")),  # noqa: E501
                ({"code_verifier": "v" * 42}, (grant, "code_verifier does not fit")),
                ({"code_verifier": "v" * 129}, (grant, "code_verifier does not fit")),
                ({"code_verifier": "v" * 64}, (grant, "code_verifier does not fit")),
                ({"code_verifier": pkce.verifier + "é"}, (grant, "code_verifier does not fit")),
                ({"resource": "http://127.0.0.1:8080/sample/mcp"}, ("invalid_target", "resource is not the one of the request")),  # noqa: E501
                ({"grant_type": ""}, ("invalid_request", "grant_type is required")),
                ({"grant_type": "password"}, ("unsupported_grant_type", "grant_type must be authorization_code or refresh_token")),  # noqa: E501
            ]  # fmt: skip
            for changes, expected in wrong:
                assert await token_error(house, {**form, **changes}) == expected, changes
            house.clock.advance(59)
            del form["redirect_uri"], form["resource"]
            tokens = (await house.http.post("/token", data=form)).json()
            assert (await house.call(READ, tokens["access_token"])).status_code == 200, (
                "no refusal has used the code up"
            )
            used = "The code has been used before, so what came of it is revoked"
            assert await token_error(house, form) == (grant, used)
            late = code_form(client_id, await new_code(house, client_id, pkce), pkce)
            house.clock.advance(60)
            assert await token_error(house, late) == (grant, "The code has expired")

    asyncio.run(visit())


@pytest.mark.promise("A3")
def test_a_refresh_may_ask_for_less_and_for_nothing_else(tmp_path: Path) -> None:
    async def visit() -> None:
        async with opened(settings_for(tmp_path, "builtin")) as house:
            await house.add_user()
            tokens, client_id, _ = await granted(house, scope="papers:read research:write")
            form = refresh_form(client_id, tokens["refresh_token"])
            more = ("invalid_scope", "A refresh cannot ask for more than was granted")
            wrong: list[tuple[dict[str, str], tuple[str, str]]] = [
                ({"scope": "papers:read admin"}, more),
                ({"scope": "nothing"}, more),
                ({"refresh_token": ""}, ("invalid_request", "refresh_token is required")),
                ({"refresh_token": "x"}, ("invalid_grant", "The refresh token is not known here")),
                ({"client_id": ""}, ("invalid_grant", "client_id is not the one it was granted to")),  # noqa: E501
                ({"resource": "http://127.0.0.1:8080/sample/mcp"}, ("invalid_target", "resource is not the one of the request")),  # noqa: E501
            ]  # fmt: skip
            for changes, expected in wrong:
                assert await token_error(house, {**form, **changes}) == expected, changes
            less = await house.http.post(
                "/token", data={**form, "scope": "research:read", "resource": MCP}
            )
            assert less.json()["scope"] == "research:read"
            claims = jwt.decode(less.json()["access_token"], options={"verify_signature": False})
            assert claims["scope"] == "research:read"
            assert (await house.call(READ, less.json()["access_token"])).status_code == 403
            form = refresh_form(client_id, less.json()["refresh_token"])
            again = (await house.http.post("/token", data=form)).json()
            assert again["scope"] == "papers:read research:write", "the grant is as it was"
            house.clock.advance(31)
            assert await token_error(house, form) == (
                "invalid_grant",
                "The refresh token has been used before, so the whole grant is revoked",
            )
            assert await token_error(house, refresh_form(client_id, again["refresh_token"])) == (
                "invalid_grant",
                "The grant has been revoked",
            )

    asyncio.run(visit())


@pytest.mark.promise("A3")
def test_registration_takes_what_fits_and_says_what_does_not(tmp_path: Path) -> None:
    async def visit() -> None:
        settings = settings_for(tmp_path, "builtin", auth={"registrations_per_hour": 10_000.0})
        async with opened(settings) as house:
            many = [f"https://app.example/{number}" for number in range(21)]
            for facts, words in (
                ({"redirect_uris": many}, "redirect_uris must list 1 to 20 addresses"),
                ({"redirect_uris": None}, "redirect_uris must list 1 to 20 addresses"),
                ({"redirect_uris": [7]}, "'7' cannot be used: it is not a string"),
                ({"grant_types": "authorization_code"}, "grant_types must be a list of strings"),
                ({"grant_types": [7, "authorization_code"]}, "grant_types must be a list of strin"),
                ({"grant_types": ["refresh_token"]}, "grant_types must have authorization_code"),
                ({"response_types": []}, "response_types must have code; this server offers code"),
            ):
                answer = await register(house, **facts)
                assert answer.status_code == 400
                assert words in answer.json()["error_description"]
            store = house.desk.access.store
            assert store is not None
            assert await store.count_clients() == 0, "a refusal keeps nothing"
            good = await register(
                house,
                redirect_uris=many[:20],
                grant_types=["authorization_code", "refresh_token", "password"],
                client_uri="https://app.example/" + "x" * 400,
                client_name="",
            )
            client = await store.client(good.json()["client_id"])
            assert client is not None
            assert (client.name, client.redirect_uris) == (
                "A client without a name",
                tuple(many[:20]),
            )
            assert client.website == ("https://app.example/" + "x" * 400)[:300]
            for odd in ("http://app.example/", "https://äpp.example/", 7, None):
                made = await register(house, client_uri=odd)
                kept = await store.client(made.json()["client_id"])
                assert kept is not None
                assert kept.website is None, odd

    asyncio.run(visit())
    assert clean_name(" a\r\nb\tc ") == "a b c"
    assert clean_name("x" * 90) == "x" * 80
    assert clean_name(7) == ""


@pytest.mark.promise("A3")
def test_a_document_is_looked_for_only_at_a_plain_address(tmp_path: Path) -> None:
    class Documents:
        asked: list[str] = []  # noqa: RUF012

        async def fetch(self, url: str) -> tuple[dict[str, object], float]:
            self.asked.append(url)
            return {"client_id": url, "redirect_uris": [REDIRECT]}, 300.0

    characters = "it is too long or has characters that do not belong in one"
    plain, path = "it must be a plain https address", "it must have a path without dots"
    longest = "https://c.example/" + "x" * (1000 - len("https://c.example/"))
    refused = {
        longest + "x": characters,
        "https://c.example/ä": characters,
        "https://c.example/a b": characters,
        "https://c.example:x/c": "it is not an address",
        "https://user@c.example/c": plain,
        "https://:secret@c.example/c": plain,
        "https://c.example/c#x": plain,
        "https://c.example/c#": plain,
        "https://c.example:8443/c": plain,
        "https:///c": plain,
        "https://c.example": path,
        "https://c.example/": path,
        "https://c.example/a/../c": path,
        "https://c.example/./c": path,
    }

    async def visit() -> None:
        documents = Documents()
        async with opened(settings_for(tmp_path, "builtin"), documents=documents) as house:
            for url, words in refused.items():
                page = await house.http.get(authorize_url(url, Pkce()))
                assert page.status_code == 400, url
                assert words in page.text, url
            assert documents.asked == []
            for url in ("https://c.example/c", "https://c.example:443/c", longest):
                assert "Log in" in (await house.http.get(authorize_url(url, Pkce()))).text, url
            assert len(documents.asked) == 3

    asyncio.run(visit())


@pytest.mark.promise("A3")
def test_redirect_addresses_are_refused_for_the_right_reason() -> None:
    longest = "https://a.example/" + "x" * (LONGEST_REDIRECT - len("https://a.example/"))
    reasons = {
        longest + "x": "it is not an absolute address of at most 2000 printable characters",
        "https://a.example/#": "it has a fragment",
        "https://a.example/*": "it has a wildcard",
        "https://a@a.example/": "its host is not plain",
        "https://a.example/\\": "its host is not plain",
        "https://a.example/?code=": "its query has a parameter of the answer",
        "https://a_.example-/": "it has no plain host",
        "http://a.example/": "plain http is only for this machine itself",
        "http:///x": "plain http is only for this machine itself",
        "com.example:x": "an app's address goes on with a slash, such as com.example.app:/callback",
    }
    for uri, reason in reasons.items():
        assert problem_with_redirect(uri) == reason, uri
    for scheme in ("ms-x", "com", "x.y.z", "com.-a", "com.apple.x", "com.apple", "ie.data"):
        assert "is not the scheme of an app" in (problem_with_redirect(f"{scheme}:/x") or ""), (
            scheme
        )
    for uri in (longest, "com.example:/x", "de.example:/x", "cursor://x", "https://[::1]/x"):
        assert problem_with_redirect(uri) is None, uri
    hosts = ("claude.ai",)
    assert problem_with_redirect("https://claude.ai/x", hosts) is None
    assert problem_with_redirect("https://localhost/x", hosts) is None
    assert problem_with_redirect("https://b.ai/x", hosts) == "b.ai is not among auth.redirect_hosts"
    assert problem_with_scheme("desk") is None
    assert problem_with_scheme("D") == "a scheme is letters, digits, + - and . in lower case"
    assert problem_with_scheme("file") == "it starts something by itself instead of an app"
    known = ["http://127.0.0.1/cb?a=1", "https://a.example/cb"]
    for uri, is_known in {
        "http://127.0.0.1:7/cb?a=1": True,
        "http://127.0.0.1:7/cb": False,
        "http://[::1]:7/cb?a=1": False,
        "http://127.0.0.1:7/cb?a=1#x": False,
        "https://127.0.0.1:7/cb?a=1": False,
        "https://a.example:7/cb": False,
        "http://a.example/cb": False,
        "": False,
    }.items():
        assert is_registered(uri, known) is is_known, uri
    assert display_address("https://a.example:7/cb?x") == "https://a.example:7"
    assert display_address("com.example:/cb") == "com.example: (an app on this device)"
    assert form_action_source("https://a.example:7/cb") == "https://a.example:7"
    assert form_action_source("http://127.0.0.1:7/cb") == "http://127.0.0.1:7"
    assert form_action_source("cursor://x/cb") == "cursor:"


@pytest.mark.promise("A3")
def test_names_and_passwords_have_bounds() -> None:
    for name in ("a", "Ada.L+x@b-c_1", "a" * 100):
        assert validate_user_name(name) == name
    for name in ("", "-a", "a b", "a" * 101, "ä"):
        with pytest.raises(InvalidInputError, match="A user name has letters"):
            validate_user_name(name)
    for name in ("local", "Anonymous"):
        with pytest.raises(InvalidInputError, match="a name of the server's own"):
            validate_user_name(name)
    for length in (SHORTEST_PASSWORD, LONGEST_PASSWORD):
        assert validate_password("x" * length) == "x" * length
    for length in (0, SHORTEST_PASSWORD - 1, LONGEST_PASSWORD + 1):
        with pytest.raises(InvalidInputError, match="at least 10 characters"):
            validate_password("x" * length)
    assert [len(part) for part in new_password().split("-")] == [5, 5, 5, 5]
    assert new_password() != new_password()


@pytest.mark.promise("A3")
def test_the_first_user_is_made_once(tmp_path: Path) -> None:
    async def visit() -> None:
        async with opened(settings_for(tmp_path, "builtin")) as house:
            store = house.desk.access.store
            assert store is not None
            password = await add_first_user(store, house.clock)
            assert password is not None
            (user,) = await store.users()
            assert (user.name, user.scopes) == ("admin", frozenset({"admin"}))
            assert await add_first_user(store, house.clock) is None
            url = authorize_url((await register(house)).json()["client_id"], Pkce())
            assert "Allow" in (await log_in(house.http, url, "admin", password)).text

    asyncio.run(visit())


@pytest.mark.promise("A3")
def test_forms_and_registrations_are_taken_up_to_their_limits(tmp_path: Path) -> None:
    form_type = {"content-type": "application/x-www-form-urlencoded"}

    async def visit() -> None:
        async with opened(settings_for(tmp_path, "builtin")) as house:

            async def told(path: str, body: bytes, kind: dict[str, str]) -> str:
                answer = await house.http.post(path, content=body, headers=kind)
                assert answer.status_code == 400
                assert answer.headers["cache-control"] == "no-store"
                return str(answer.json()["error_description"])

            most = b"x=" + b"y" * (64 * 1024 - 2)
            assert await told("/token", most, form_type) == "grant_type is required"
            assert await told("/token", most + b"y", form_type) == "The form is too large"
            fields = b"&".join(b"f%d=1" % number for number in range(61))
            unreadable = "The parameters cannot be read"
            assert await told("/token", fields, form_type) == unreadable
            assert await told("/token", b"a=%ff", form_type) == unreadable
            fewer = fields.rpartition(b"&")[0]
            assert await told("/token", fewer, form_type) == "grant_type is required"
            assert "must be application/x-www-form" in await told("/token", b"x=y", {})
            assert await told("/revoke", b"x=y", form_type) == "token is required"
            large = b'"' + b"x" * (64 * 1024 - 2) + b'"'
            assert await told("/register", large, {}) == "The registration must be a JSON object"
            assert await told("/register", large + b" ", {}) == "The registration is too large"
            assert await told("/register", b"{", {}) == "The registration is not JSON"

    asyncio.run(visit())

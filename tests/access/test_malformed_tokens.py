"""Whatever a token is made of, a stranger hears 401 and never 500; and no name from outside is the
operator's.
"""

from __future__ import annotations

import asyncio
import base64
import json
from pathlib import Path
from typing import Any

import pytest
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import padding
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from carrel.core.caller import Visit
from carrel.policy.identity import InvalidTokenError
from carrel.policy.platform_identity import STRIPPED_SIGNATURE, PlatformIdentity
from carrel.policy.signed_tokens import read_key_set
from carrel.settings import Settings, SettingsError
from carrel.wiring.desk import open_desk
from tests.access.support import House, ManualClock, granted, opened, operation_for, settings_for
from tests.access.test_jwt_mode import ISSUER, KEY, jwks_url
from tests.policy.test_signed_tokens import RSA_KEY, Issuer, rsa_row

__all__ = ["jwks_url"]

READ = operation_for("papers:read")
DEEP = "[" * 3000 + "]" * 3000
WRONG: list[Any] = [
    [],
    {},
    [[]],
    ["RS256"],
    {"a": 1},
    None,
    True,
    False,
    0,
    -1,
    1.5,
    1e308,
    10**30,
    "",
    " ",
    "\ud800",
    "x" * 2000,
]


def encoded(part: bytes) -> str:
    return base64.urlsafe_b64encode(part).rstrip(b"=").decode()


def signed(header: bytes, body: bytes, key: Any = KEY) -> str:
    """A token whose signature fits, whatever it says."""
    said = f"{encoded(header)}.{encoded(body)}"
    return f"{said}.{encoded(key.sign(said.encode(), padding.PKCS1v15(), hashes.SHA256()))}"


def header_of(**changes: Any) -> bytes:
    return json.dumps({"alg": "RS256", "kid": "k1", "typ": "at+jwt", **changes}).encode()


def body_of(house: House, **changes: Any) -> bytes:
    now = int(house.clock.now().timestamp())
    facts = {
        "iss": ISSUER,
        "aud": "http://127.0.0.1:8080/mcp",
        "sub": "ada",
        "exp": now + 600,
        "scope": "papers:read",
    }
    return json.dumps({**facts, **changes}).encode()


def malformed(house: House) -> list[str]:
    good_header, good_body = header_of(), body_of(house)
    headers = [
        header_of(**{name: value})
        for name in ("alg", "typ", "kid")
        for value in WRONG
        if (name, value) != ("kid", None)
    ]
    headers += [
        header_of(**{name: value})
        for name in ("crit", "b64", "zip", "enc")
        for value in (None, True, [], ["exp"], "x")
    ]
    headers += [b"{}", b"[]", b'"RS256"', b"null", b"", b"\xff\xfe", b'{"alg":NaN}', DEEP.encode(), b'{"alg":' + DEEP.encode() + b"}",  # noqa: E501
                b'{"alg":"RS256","alg":"none","kid":"k1"}',
                b'{"alg":"RS256","kid":"k1","kid":"k1"}', b'{"alg":' + b"1" * 5000 + b"}",
                header_of(alg="none"), header_of(alg="HS256"), header_of(alg="rs256"), header_of(kid="other"), header_of(typ="dpop+jwt")]  # fmt: skip  # noqa: E501
    bodies = [
        body_of(house, **{name: value}) for name in ("exp", "iss", "aud", "sub") for value in WRONG
    ]
    bodies += [
        body_of(house, **{name: value})
        for name in ("nbf", "iat")
        for value in WRONG
        if value not in (None, 0, -1, 1.5)
    ]
    bodies += [b"[]", b"null", b"\xff", b"", b"{", DEEP.encode(), b'{"exp":1e999}', b'{"exp":NaN}', b'{"exp":' + b"9" * 5000 + b"}",  # noqa: E501
               good_body[:-1] + b',"sub":"local"}',
               good_body[:-1] + b',"deep":' + DEEP.encode() + b"}",
               body_of(house, aud={"http://127.0.0.1:8080/mcp": 1}), body_of(house, aud=[["http://127.0.0.1:8080/mcp"]])]  # fmt: skip  # noqa: E501
    good = signed(good_header, good_body)
    first, second, third = good.split(".")
    shapes = ["", ".", "..", "...", "a.b.c", f"{first}.{second}", f"{first}.{second}.", f".{second}.{third}", f"{first}..{third}",  # noqa: E501
              f"{good}.{third}", f"{first}=.{second}.{third}", f"{first}.{second}.{third[:-4]}",
              f"{first}.{second}.AAAA",
              f"{first}.{second}.{third}!", "eyJhbGciOiJub25lIn0.e30.", "x" * 15_000,
              "." * 15_000, "carrel_", "carrel_" + "x" * 10_000]  # fmt: skip
    return [
        *(signed(h, good_body) for h in headers),
        *(signed(good_header, b) for b in bodies),
        *shapes,
    ]


@pytest.mark.promise("A1")
@pytest.mark.parametrize("mode", ["jwt", "builtin", "tokens", "cloudrun"])
def test_every_malformed_token_is_401(
    tmp_path: Path, jwks_url: str, mode: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("K_SERVICE", "carrel")
    server = {"public_url": "http://127.0.0.1:8080"}
    auth = {"issuer": ISSUER, "jwks_url": jwks_url} if mode == "jwt" else {}

    async def visit() -> None:
        async with opened(settings_for(tmp_path, mode, auth=auth, server=server)) as house:
            if mode == "jwt":
                assert (
                    "hello ada"
                    in (await house.call(READ, signed(header_of(), body_of(house)))).text
                )
                bearing_keys = header_of(
                    jwk=rsa_row(RSA_KEY, "mine"), jku="https://evil.example", x5u=7, x5c=[]
                )
                assert (
                    await house.call(READ, signed(bearing_keys, body_of(house)))
                ).status_code == 200
                assert (
                    await house.call(READ, signed(bearing_keys, body_of(house), RSA_KEY))
                ).status_code == 401
            for token in malformed(house):
                answer = await house.call(READ, token)
                assert answer.status_code == 401, (token[:200], answer.text)
                if mode == "builtin":
                    assert (
                        await house.http.post("/revoke", data={"token": token, "client_id": "x"})
                    ).status_code in {200, 400}
            for value in (
                b"Bearer \xff\xfe",
                b"Bearer \xc3\xa9.a.b",
                b"Bearer a b",
                b"Bearer\t" + b"x",
                b"",
                b"Bearer " + b"x" * 100_000,
            ):
                answer = await house.http.get("/mcp/tools", headers={b"authorization": value})
                assert answer.status_code in {401, 431}, value[:50]

    asyncio.run(visit())


@pytest.mark.promise("A1")
def test_the_platforms_stripped_tokens_are_read_as_strictly() -> None:
    identity = PlatformIdentity(ManualClock(), scopes=["papers:read"], admins=["root@example.org"])
    now = ManualClock().now().timestamp()
    good = {"sub": "1", "email": "ada@example.org", "exp": now + 60}
    bodies = [
        json.dumps({**good, name: value}) for name in ("exp",) for value in (*WRONG, "1e999", "nan")
    ]
    bodies += [
        json.dumps({**good, "email": value})
        for value in ("local", "LOCAL", "token:x", "local:root", "anonymous", "a\nb", "x" * 300)
    ]
    bodies += [json.dumps({**good, "email": None, "sub": value}) for value in (*WRONG, "local")]
    bodies += [
        json.dumps(good)[:-1] + ',"exp":NaN}',
        json.dumps(good)[:-1] + ',"email":"root@example.org"}',
        DEEP,
        "null",
        "[]",
        "",
    ]
    bodies += [
        '{"sub":"1","email":"ada@example.org","exp":NaN}',
        '{"sub":"1","exp":Infinity}',
        '{"exp":' + "9" * 5000 + "}",
    ]

    async def show(body: str) -> str:
        token = f"e30.{encoded(body.encode('utf-8', 'surrogatepass'))}.{STRIPPED_SIGNATURE}"
        return (
            await identity.identify(Visit("http", "1", authorization=f"Bearer {token}"))
        ).user_id

    assert asyncio.run(show(json.dumps(good))) == "ada@example.org"
    for body in bodies:
        with pytest.raises(InvalidTokenError):
            asyncio.run(show(body))


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3)
    ),
    max_leaves=5,
)
names = st.sampled_from(["alg", "kid", "typ", "crit", "b64", "jwk", "jku", "x5u", "exp", "nbf", "iat", "iss", "aud", "sub", "scope",  # noqa: E501
                         "client_id", "azp", "cty", "zip"])  # fmt: skip


@settings(suppress_health_check=[HealthCheck.too_slow], deadline=None)
@given(
    st.dictionaries(names, json_values, max_size=4), st.dictionaries(names, json_values, max_size=4)
)
def test_any_json_in_a_signed_token_is_recognised_or_refused(
    header: dict[str, Any], body: dict[str, Any]
) -> None:
    issuer = Issuer()
    head = json.dumps({"alg": "RS256", "kid": "r1", "typ": "JWT", **header}).encode()
    token = signed(head, json.dumps({**issuer.claims(), **body}).encode(), RSA_KEY)

    async def show() -> None:
        try:
            caller = await issuer.show(token)
        except InvalidTokenError:
            return
        assert caller.user_id not in {"", "local", "anonymous"}

    asyncio.run(show())


NAMES = ["local", "LOCAL", "Local", " local", "local ", "ｌｏｃａｌ", "lo\u200bcal", "local\u0000", "local\n", "local:root", "Local:root",  # noqa: E501
         "token:script", "TOKEN:script", "token：script", "anonymous", "ANONYMOUS", "anonymous:x",
         "\u202elacol", "", " ", "\ud800",
         "x" * 256, "a\tb", "\u2028", "s\u0000"]  # fmt: skip


@pytest.mark.promise("A6")
@pytest.mark.parametrize("name", NAMES, ids=ascii)
def test_a_name_from_outside_is_never_one_of_ours(name: str) -> None:
    issuer = Issuer()
    body = json.dumps({**issuer.claims(), "sub": name}).encode()
    with pytest.raises(InvalidTokenError):
        asyncio.run(issuer.show(signed(b'{"alg":"RS256","kid":"r1"}', body, RSA_KEY)))


@pytest.mark.promise("A6")
@pytest.mark.parametrize("name", ["ada", "ada@example.org", "auth0|5f7c8ec7c33c6c004bbafe82", "localhost", "Locale", "tokens", "Ünal Ö",  # noqa: E501
                                  "https://idp.example/users/7", "local.user", "张三", "x" * 255])  # fmt: skip  # noqa: E501
def test_names_of_real_issuers_stay_what_they_are(name: str) -> None:
    issuer = Issuer()
    assert asyncio.run(issuer.show(issuer.signed(sub=name))).user_id == name


@pytest.mark.promise("A6")
def test_a_token_for_local_cannot_reach_what_the_operator_keeps(
    tmp_path: Path, jwks_url: str
) -> None:
    async def visit() -> None:
        auth = {"issuer": ISSUER, "jwks_url": jwks_url}
        async with opened(
            settings_for(tmp_path, "jwt", auth=auth, server={"public_url": "http://127.0.0.1:8080"})
        ) as house:
            for name in ("local", "Local", "local:root", "token:x"):
                for path in ("/mcp", "/desk/mcp", "/sample/mcp"):
                    answer = await house.call(
                        READ, signed(header_of(), body_of(house, sub=name)), path=path
                    )
                    assert answer.status_code == 401
                    assert "hello" not in answer.text
                assert (
                    await house.invoke(READ, signed(header_of(), body_of(house, sub=name)))
                ).status_code == 401

    asyncio.run(visit())


@pytest.mark.promise("A6")
def test_a_prefix_keeps_names_of_one_mode_from_those_of_another(
    tmp_path: Path, jwks_url: str
) -> None:
    def wanted(prefix: str) -> Settings:
        auth = {"issuer": ISSUER, "jwks_url": jwks_url, "user_prefix": prefix}
        return settings_for(
            tmp_path, "jwt", auth=auth, server={"public_url": "http://127.0.0.1:8080"}
        )

    async def visit() -> None:
        async with opened(wanted("sso:")) as house:
            assert (
                "hello sso:ada"
                in (await house.call(READ, signed(header_of(), body_of(house)))).text
            )
            assert (
                await house.call(READ, signed(header_of(), body_of(house, sub="local")))
            ).status_code == 401

    asyncio.run(visit())
    for prefix in ("local:", "TOKEN:", "anonymous:", " x", "a\n"):
        with pytest.raises(SettingsError, match="user_prefix"):
            open_desk(wanted(prefix))


@pytest.mark.promise("A1")
def test_a_withdrawn_key_does_not_live_on_in_remembered_tokens() -> None:
    issuer = Issuer()
    token = issuer.signed(exp=int(issuer.clock.now().timestamp()) + 86_400)

    async def visit() -> None:
        assert (await issuer.show(token)).user_id == "ada"
        issuer.keys.rows.clear()
        issuer.clock.advance(3601)
        with pytest.raises(InvalidTokenError, match="does not publish"):
            await issuer.show(token)

    asyncio.run(visit())


@pytest.mark.promise("A1")
def test_odd_rows_in_a_key_set_are_passed_over() -> None:
    odd = [
        {**rsa_row(RSA_KEY, "x"), name: value}
        for name in ("kty", "use", "alg", "n", "e")
        for value in WRONG
        if value is not None
    ]
    odd += [{"kty": "EC", "crv": value, "x": value, "y": value} for value in WRONG] + [
        {},
        {"kty": "RSA"},
        {"kty": "EC", "crv": "P-256"},
    ]
    assert [
        key.kid for key in read_key_set({"keys": [*odd, *WRONG, rsa_row(RSA_KEY, "good")]})
    ] == ["good"]
    for value in WRONG:
        assert read_key_set({"keys": value}) == ()


@pytest.mark.promise("A3")
@pytest.mark.parametrize("seconds", [3, 29])
def test_a_replica_whose_clock_is_behind_takes_fresh_tokens(tmp_path: Path, seconds: float) -> None:
    async def visit() -> None:
        ahead, behind = ManualClock(), ManualClock()
        ahead.advance(seconds)
        settings = settings_for(tmp_path, "builtin")
        async with opened(settings, clock=ahead) as one, opened(settings, clock=behind) as two:
            await one.add_user()
            tokens, _, _ = await granted(one)
            assert (await two.call(READ, tokens["access_token"])).status_code == 200
            behind.advance(3600 + seconds)
            assert (await two.call(READ, tokens["access_token"])).status_code == 401

    asyncio.run(visit())


@pytest.mark.promise("A3")
def test_a_replica_far_behind_still_refuses(tmp_path: Path) -> None:
    async def visit() -> None:
        ahead, behind = ManualClock(), ManualClock()
        ahead.advance(300)
        settings = settings_for(tmp_path, "builtin")
        async with opened(settings, clock=ahead) as one, opened(settings, clock=behind) as two:
            await one.add_user()
            tokens, _, _ = await granted(one)
            assert (await two.call(READ, tokens["access_token"])).status_code == 401

    asyncio.run(visit())

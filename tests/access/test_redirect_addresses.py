"""Which addresses a browser may be sent back to, tried at registration, in settings, in client
documents and at /authorize.
"""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from carrel.policy.authorization.models import Client, ClientKind
from carrel.policy.authorization.redirects import APP_SCHEMES, problem_with_redirect
from carrel.settings import SettingsError
from carrel.wiring.desk import open_desk
from tests.access.support import Pkce, authorize_url, opened, register, settings_for

DANGEROUS = [
    "javascript:alert(1)", "JaVaScRiPt:alert(1)", "javascript://good.example/%0aalert(1)",
    "data:text/html,x", "vbscript:x",
    "file:///etc/passwd", "file://server/share", "blob:https://good.example/x", "about:blank",
    "view-source:https://good.example/",
    "filesystem:https://good.example/x", "chrome://settings", "chrome-extension://abc/x",
    "moz-extension://abc/x", "edge://flags",
    "ms-msdt:/id", "ms-msdt:-id%20PCWDiagnostic", "ms-word:ofe|u|https://evil.example",
    "ms-officecmd:/x", "ms-settings:display",
    "ms-appinstaller:/?source=https://evil.example", "search-ms:query=x", "search:query=x",
    "intent://x/#Intent", "intent:/x",
    "android-app://com.example/x", "market://details", "itms-services://?action=download-manifest",
    "itms-apps://x", "tel:+1234",
    "sms:+1234", "mailto:a@b.example", "facetime:a", "sip:a@b.example", "skype:a?call",
    "smb://server/share", "ldap://server/x",
    "ldaps://server/x", "nfs://server/x", "ftp://server/x", "sftp://server/x", "ssh://server",
    "telnet://server", "ws://server/x",
    "wss://server/x", "gopher://server/x", "jar:https://good.example!/",
    "mhtml:https://good.example", "res://ieframe.dll/x",
    "shell:startup", "steam://run/1", "zoommtg://zoom.us/join", "slack://open", "teams:/x",
    "x-apple.systempreferences:x",
    "microsoft-edge:https://evil.example", "windowsdefender:/x", "com.microsoft.builder3d:/x",
    "com.apple.systempreferences:/x",
    "Explorer.AssocProtocol.search-ms:/x", "ie.http:/x", "com.search-ms:/x",
    "urn:ietf:wg:oauth:2.0:oob", "myapp://callback", "app:/cb",
    "a.b:/x", "com.:/x", ".com:/x", "com..example:/x", "com.example.app:opaque", "com.example.app:",
    "cursor:opaque",
]  # fmt: skip
MALFORMED = [
    "", " ", "/relative", "//good.example/cb", "good.example/cb", "https:",
    "https:/good.example/cb", "https:///cb", "https://",
    "http://good.example/cb", "http://127.0.0.1.evil.example/cb",
    "http://localhost.evil.example/cb", "http://127.1/cb",
    "http://2130706433/cb", "http://0x7f.1/cb", "http://0177.0.0.1/cb", "http://localhost./cb",
    "http://127.0.0.1@evil.example/cb",
    "https://user@good.example/cb", "https://user:pass@good.example/cb", "https://@good.example/cb",
    "https://good.example/cb#x",
    "https://good.example/cb#", "https://*.example/cb", "https://good.example/*",
    "https://good.example\\@evil.example/cb",
    "https:\\\\good.example/cb", "https://good.example/cb\r\nX-Evil: 1",
    "https://good.example/c\tb", "https://good.example/c b",
    "\x00https://good.example/cb", " https://good.example/cb", "https://good.example:0/cb",
    "https://good.example:99999/cb",
    "https://good.example:x/cb", "https://good%2eexample/cb",
    "https://good.example%00.evil.example/cb", "https://gööd.example/cb",
    "https://[::1/cb", "https://[fe80::1%25eth0]/cb", "https://good.example/cb?code=1",
    "https://good.example/cb?x=1&state=2",
    "https://good.example/cb?iss=https://evil.example", "https://good.example/" + "x" * 2000,
    "https://good.example/<script>",
    "https://good.example/cb;x", "https://good.example/'x", 'https://good.example/"x',
    "https://-good.example/cb",
]  # fmt: skip
GOOD = [
    "https://claude.ai/api/mcp/auth_callback", "https://vscode.dev/redirect",
    "https://good.example:8443/cb?app=1",
    "http://127.0.0.1/cb", "http://127.0.0.1:33418/", "http://localhost:6274/oauth/callback",
    "http://[::1]:5000/cb",
    "https://localhost:8443/cb", "cursor://anysphere.cursor-mcp/oauth/callback",
    "vscode://saoudrizwan.claude-dev/callback",
    "vscode-insiders://x/cb", "windsurf://x/cb", "claude://claude.ai/cb", "zed://cb", "goose://cb",
    "com.example.app:/oauth",
    "com.example:/cb", "com.example.app://oauth", "io.github.somebody:/cb", "org.zotero.app:/cb",
    "uk.ac.example.desk:/cb",
    "com.example.search:/cb", "com.example.windowsapp:/cb",
    "com.googleusercontent.apps.123-abc:/oauth2redirect",
]  # fmt: skip


@pytest.mark.promise("A3")
@pytest.mark.parametrize("uri", [*DANGEROUS, *MALFORMED])
def test_an_address_that_starts_something_else_is_refused(uri: str) -> None:
    assert problem_with_redirect(uri) is not None


@pytest.mark.promise("A3")
@pytest.mark.parametrize("uri", GOOD)
def test_addresses_of_real_clients_are_taken(uri: str) -> None:
    assert problem_with_redirect(uri) is None


@given(st.from_regex(r"\A[a-zA-Z][a-zA-Z0-9+-]{0,20}\Z"), st.sampled_from([":/x", "://x/y", ":x"]))
def test_no_scheme_without_a_domain_is_taken_unless_it_is_named(scheme: str, rest: str) -> None:
    if scheme.lower() not in {"http", "https", *APP_SCHEMES}:
        assert problem_with_redirect(scheme + rest) is not None


@pytest.mark.promise("A3")
def test_registration_refuses_them_and_takes_the_real_ones(tmp_path: Path) -> None:
    async def visit() -> None:
        settings = settings_for(tmp_path, "builtin", auth={"registrations_per_hour": 10_000.0})
        async with opened(settings) as house:
            for uri in [*DANGEROUS, *MALFORMED]:
                for uris in ([uri], [GOOD[0], uri]):
                    answer = await register(house, redirect_uris=uris)
                    assert (answer.status_code, answer.json()["error"]) == (
                        400,
                        "invalid_redirect_uri",
                    ), uri
            odd: list[Any] = [7, None, [], {}, True, "x"]
            for wrong in odd:
                assert (await register(house, redirect_uris=[wrong])).status_code == 400
            for uri in GOOD:
                assert (await register(house, redirect_uris=[uri])).status_code == 201, uri

    asyncio.run(visit())


@pytest.mark.promise("A3")
@pytest.mark.parametrize("uri", ["ms-msdt:/id", "search-ms:/x", "myapp://callback"])
def test_a_client_kept_from_an_earlier_version_is_refused_at_authorize(
    tmp_path: Path, uri: str
) -> None:
    async def visit() -> None:
        async with opened(settings_for(tmp_path, "builtin")) as house:
            assert house.desk.access.store is not None
            await house.desk.access.store.add_client(
                Client("old", "Old", (uri,), ClientKind.REGISTERED)
            )
            for asked in (uri, None):
                for changes in ({}, {"response_type": "token"}, {"scope": "nothing"}):
                    page = await house.http.get(
                        authorize_url("old", Pkce(), redirect_uri=asked, **changes)
                    )
                    assert page.status_code == 400
                    assert "location" not in page.headers
                    assert "form-action 'self';" in page.headers["content-security-policy"]

    asyncio.run(visit())


class _Documents:
    def __init__(self, uri: str) -> None:
        self._uri = uri

    async def fetch(self, url: str) -> tuple[dict[str, Any], float]:
        return {"client_id": url, "redirect_uris": [self._uri]}, 300.0


@pytest.mark.promise("A3")
@pytest.mark.parametrize("uri", ["ms-msdt:/id", "intent://x/y", "http://good.example/cb"])
def test_a_client_document_cannot_name_them(tmp_path: Path, uri: str) -> None:
    async def visit() -> None:
        async with opened(settings_for(tmp_path, "builtin"), documents=_Documents(uri)) as house:
            page = await house.http.get(
                authorize_url("https://client.example/c.json", Pkce(), redirect_uri=uri)
            )
            assert page.status_code == 400
            assert "location" not in page.headers

    asyncio.run(visit())


@pytest.mark.promise("A3")
def test_settings_cannot_name_them_and_may_name_an_app_of_the_institute(tmp_path: Path) -> None:
    def client(uri: str) -> dict[str, Any]:
        return {"id": "known", "name": "Known", "redirect_uris": (uri,)}

    with pytest.raises(SettingsError, match="cannot be used"):
        open_desk(settings_for(tmp_path, "builtin", auth={"clients": (client("ms-msdt:/id"),)}))
    for scheme in ("javascript", "ms-msdt", "intent", "http", "Bad Scheme", ""):
        with pytest.raises(SettingsError, match="redirect_schemes"):
            open_desk(settings_for(tmp_path, "builtin", auth={"redirect_schemes": (scheme,)}))

    async def visit() -> None:
        auth = {
            "redirect_schemes": ("institute-desk",),
            "clients": (client("institute-desk://cb"),),
        }
        async with opened(settings_for(tmp_path, "builtin", auth=auth)) as house:
            assert (await register(house, redirect_uris=["institute-desk://cb"])).status_code == 201
            assert (await register(house, redirect_uris=["com.example.app:/cb"])).status_code == 201
            assert (await register(house, redirect_uris=["cursor://x/cb"])).status_code == 400

    asyncio.run(visit())


@pytest.mark.promise("A3")
def test_a_site_taken_off_the_list_is_no_longer_returned_to(tmp_path: Path) -> None:
    async def visit() -> None:
        async with opened(settings_for(tmp_path, "builtin")) as house:
            client_id = (await register(house, redirect_uris=["https://site.example/cb"])).json()[
                "client_id"
            ]
        async with opened(
            settings_for(tmp_path, "builtin", auth={"redirect_hosts": ("claude.ai",)})
        ) as house:
            page = await house.http.get(
                authorize_url(client_id, Pkce(), redirect_uri="https://site.example/cb")
            )
            assert (page.status_code, "location" in page.headers) == (400, False)

    asyncio.run(visit())

"""Log-in at a real OpenID provider: npm's oidc-provider, in a process of its own.

`make judge-login` installs it and runs this; elsewhere CARREL_TEST_OPENID names the folder whose
node_modules has it.
"""

from __future__ import annotations

import asyncio
import html
import os
import re
import shutil
import socket
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import urljoin

import httpx2
import pytest

from carrel.wiring.access import open_access_store
from tests.access.serving import Served, serving
from tests.access.support import (
    Pkce,
    answer_in,
    authorize_url,
    bearer,
    code_form,
    hidden_fields,
    operation_for,
    refresh_form,
    ticked_scopes,
)

TOOLS = os.environ.get("CARREL_TEST_OPENID", "")
# The script of another provider with the same people, as far as it goes.
SCRIPT = os.environ.get("CARREL_TEST_OPENID_SCRIPT", "")
pytestmark = [
    pytest.mark.promise("A7-log-in"),
    pytest.mark.skipif(
        not (Path(TOOLS) / "node_modules" / "oidc-provider").is_dir() or not shutil.which("node"),
        reason="needs node and npm's oidc-provider: make judge-login",
    ),
]
SECRET = "a-secret-for-tests-only-0123456789"
READ, ADMIN = operation_for("papers:read"), operation_for("admin")
_MOST_HOPS = 15


def free_port() -> int:
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return int(found.getsockname()[1])


@contextmanager
def provider(port: int, redirect: str) -> Iterator[str]:
    """The provider, until the block ends."""
    script = SCRIPT or str(Path(__file__).parent / "openid_provider.mjs")
    process = subprocess.Popen(
        ["node", script, str(port), redirect, str(Path(TOOLS).resolve())],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    )
    try:
        assert process.stdout is not None
        assert "ready" in process.stdout.readline(), "the provider did not start"
        yield f"http://127.0.0.1:{port}"
    finally:
        process.kill()
        process.wait(timeout=10)


@contextmanager
def desk_and_provider(home: Path) -> Iterator[tuple[Served, str]]:
    port, own = free_port(), free_port()
    redirect = f"http://127.0.0.1:{own}/login/callback"
    scopes = ["openid", "profile", "groups", *([] if SCRIPT else ["offline_access"])]
    oidc = {
        "issuer": f"http://127.0.0.1:{port}",
        "client_id": "carrel",
        "client_secret": SECRET,
        "name": "the Institute",
        "contact": "the library desk",
        "scopes": scopes,
    }
    groups = [{"name": "staff", "role": "reader"}, {"name": "carrel-admins", "role": "admin"}]
    with (
        provider(port, redirect) as issuer,
        serving(
            home, port=own, first_user="operator", auth={"oidc": oidc, "groups": groups}
        ) as served,
    ):
        yield served, issuer


class Browser:
    """Follows redirects and fills in the provider's own forms, as a person does."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.http = httpx2.Client(timeout=20)

    def open(self, url: str) -> httpx2.Response:
        """The page at which nothing is left to do at the provider."""
        page = self.http.get(url)
        for _ in range(_MOST_HOPS):
            if page.is_redirect:
                page = self.http.get(urljoin(str(page.url), page.headers["location"]))
                continue
            action = re.search(r'<form[^>]*action="([^"]+/interaction/[^"]+)"', page.text)
            if action is None:
                return page
            fields = dict(re.findall(r'name="([^"]+)"\s+value="([^"]*)"', page.text))
            if 'name="login"' in page.text:
                fields |= {"login": self.name, "password": "x"}
            page = self.http.post(urljoin(str(page.url), html.unescape(action[1])), data=fields)
        raise AssertionError("the provider asks without end")


def connect(served: Served, browser: Browser) -> tuple[dict[str, Any], str]:
    """A program that this person connects: its tokens and its client id."""
    with httpx2.Client(base_url=served.url, timeout=20) as program:
        facts = {"client_name": "A test", "redirect_uris": ["http://127.0.0.1:39123/callback"]}
        client_id = program.post("/register", json=facts).json()["client_id"]
        pkce = Pkce()
        resource = f"{served.url}/mcp"
        url = served.url + authorize_url(client_id, pkce, resource=resource)
        page = browser.open(url)
        assert "Allow" in page.text, page.text
        form = {**hidden_fields(page.text), "scope": ticked_scopes(page.text), "action": "allow"}
        sent = browser.http.post(str(page.url), data=form)
        code = answer_in(sent.headers["location"])["code"]
        answer = program.post("/token", data=code_form(client_id, code, pkce, resource=resource))
        assert answer.status_code == 200, answer.text
        return answer.json(), client_id


def call(served: Served, name: str, token: str) -> int:
    message = {"tool_name": name, "params": {}}
    return httpx2.post(f"{served.url}/mcp/invoke", json=message, headers=bearer(token)).status_code


def test_people_of_a_real_provider_come_in_and_go(tmp_path: Path) -> None:
    with desk_and_provider(tmp_path) as (served, issuer):
        eve = Browser("eve").open(f"{served.url}/login/institute")
        assert eve.status_code == 403
        assert "Ask the library desk" in eve.text
        bob, ada = Browser("bob"), Browser("ada")
        bobs, _ = connect(served, bob)
        assert call(served, READ, bobs["access_token"]) == 200
        assert call(served, ADMIN, bobs["access_token"]) == 403
        httpx2.post(f"{issuer}/rotate")
        adas, client_id = connect(served, ada)
        assert call(served, ADMIN, adas["access_token"]) == 200
        answer = httpx2.post(
            f"{served.url}/token", data=refresh_form(client_id, adas["refresh_token"])
        )
        assert answer.status_code == 200, answer.text
        log_out_at(issuer, ada)
        late = httpx2.post(
            f"{served.url}/token", data=refresh_form(client_id, answer.json()["refresh_token"])
        )
        assert late.status_code == 400, late.text
        assert "revoked" in late.text
        assert call(served, READ, bobs["access_token"]) == 200


@pytest.mark.skipif(bool(SCRIPT), reason="this provider gives no refresh tokens")
def test_a_real_provider_is_asked_for_groups_at_a_refresh(tmp_path: Path) -> None:
    with desk_and_provider(tmp_path) as (served, issuer):
        adas, client_id = connect(served, Browser("ada"))
        httpx2.post(f"{issuer}/groups/ada", json=["staff"])
        asyncio.run(age_groups(served, "ada"))
        url = f"{served.url}/token"
        answer = httpx2.post(url, data=refresh_form(client_id, adas["refresh_token"]))
        assert answer.status_code == 200, answer.text
        fresh = answer.json()
        assert call(served, ADMIN, fresh["access_token"]) == 403
        assert call(served, READ, fresh["access_token"]) == 200
        httpx2.post(f"{issuer}/groups/ada", json=[])
        asyncio.run(age_groups(served, "ada"))
        late = httpx2.post(url, data=refresh_form(client_id, fresh["refresh_token"]))
        assert late.status_code == 400
        assert "Ask the library desk" in late.text


async def age_groups(served: Served, name: str) -> None:
    """As if the groups had been read a minute ago."""
    store = open_access_store(served.settings)
    for use in await store.grants(name, 0.0):
        found = await store.sign_ins.sign_in(use.grant.sign_in or "")
        assert found is not None
        await store.sign_ins.finish_reading(
            found.sign_in_id, found.sealed_refresh, found.read_at - 60
        )
    await store.close()


def log_out_at(issuer: str, browser: Browser) -> None:
    """The provider's own log-out page, which then tells this desk."""
    page = browser.http.get(f"{issuer}/session/end", params={"client_id": "carrel"})
    fields = dict(re.findall(r'name="([^"]+)"\s+value="([^"]*)"', page.text))
    action = re.search(r'action="([^"]+)"', page.text)
    assert action is not None, page.text
    browser.http.post(html.unescape(action[1]), data={**fields, "logout": "yes"})

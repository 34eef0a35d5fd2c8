"""The log-in and consent pages in a real browser."""

from __future__ import annotations

import asyncio
import os
import shutil
import threading
import time
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import httpx2
import pytest

from carrel.policy.identity import StaticToken, hash_secret, new_secret
from carrel.wiring.access import open_access_store
from tests.access.serving import Served, serving
from tests.access.support import PASSWORD, Pkce, answer_in, authorize_url, operation_for

sync_api = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
CHROMIUM = (
    shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
)
pytestmark = pytest.mark.skipif(CHROMIUM is None, reason="no chromium on the path")


class _Client(BaseHTTPRequestHandler):
    """A client that waits for the browser to come back."""

    def do_GET(self) -> None:
        self.send_response(200)
        self.end_headers()
        self.wfile.write(b"back at the client")

    def log_message(self, format: str, *arguments: object) -> None:
        return None


@pytest.fixture(scope="module")
def callback() -> Iterator[str]:
    with ThreadingHTTPServer(("127.0.0.1", 0), _Client) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}/callback"
        server.shutdown()


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    with serving(tmp_path_factory.mktemp("home")) as desk:
        yield desk


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    """As root, Chromium runs only without its sandbox."""
    arguments = ["--no-sandbox"] if os.geteuid() == 0 else []
    with sync_api.sync_playwright() as playwright:
        started = playwright.chromium.launch(executable_path=CHROMIUM, args=arguments)
        yield started
        started.close()


@pytest.fixture
def page(browser: Any) -> Iterator[Any]:
    """A page in a browser that remembers nothing."""
    context = browser.new_context()
    fresh = context.new_page()
    fresh.set_default_timeout(30_000)
    yield fresh
    context.close()


def _address(served: Served, callback: str, pkce: Pkce, **changes: str) -> str:
    facts = {"client_name": "Reading club", "redirect_uris": [callback]}
    client_id = httpx2.post(f"{served.url}/register", json=facts).json()["client_id"]
    return served.url + authorize_url(
        client_id, pkce, resource=f"{served.url}/mcp", redirect_uri=callback, **changes
    )


@pytest.mark.promise("A3")
def test_a_person_logs_in_reads_what_is_asked_and_allows_part_of_it(
    served: Served, page: Any, callback: str
) -> None:
    pkce = Pkce()
    complaints: list[str] = []
    page.on(
        "console",
        lambda message: complaints.append(message.text) if message.type == "error" else None,
    )
    address = _address(served, callback, pkce, scope="papers:read research:write")
    page.goto(address)
    assert page.title() == "Log in to Carrel"
    page.get_by_label("User name").fill("ada")
    page.get_by_label("Password").fill("not the password")
    page.get_by_role("button", name="Log in").click()
    assert page.get_by_role("alert").inner_text() == "That name and password do not fit"
    assert page.get_by_label("User name").input_value() == "ada"
    page.get_by_label("Password").fill(PASSWORD)
    page.keyboard.press("Enter")
    page.wait_for_selector("fieldset")
    text = page.locator("main").inner_text()
    assert "Reading club" in page.get_by_role("heading", level=1).inner_text()
    assert callback.removesuffix("/callback") in text
    assert "Search and read papers" in text
    assert "Create and modify research projects" in text
    page.get_by_label("Create and modify research projects").uncheck()
    page.get_by_role("button", name="Allow").click()
    page.wait_for_url(f"{callback}*")
    answer = answer_in(page.url)
    assert (answer["state"], answer["iss"]) == ("xyz", served.url)
    form = {
        "grant_type": "authorization_code",
        "code": answer["code"],
        "code_verifier": pkce.verifier,
    }
    client_id = httpx2.URL(address).params["client_id"]
    tokens = httpx2.post(f"{served.url}/token", data={**form, "client_id": client_id}).json()
    assert tokens["scope"] == "papers:read"
    assert [line for line in complaints if "401" not in line] == [], (
        "nothing on the page breaks its own policy"
    )


@pytest.mark.promise("D7")
def test_the_page_of_operations_sends_the_token_that_is_typed_there(
    served: Served, page: Any
) -> None:
    secret = new_secret()
    token = StaticToken(
        "docs page", hash_secret(secret), frozenset({"papers:read"}), time.time(), None, None
    )

    async def add() -> None:
        store = open_access_store(served.settings)
        await store.add_token(token)
        await store.close()

    # The browser's driver runs a loop of its own in this thread.
    adding = threading.Thread(target=lambda: asyncio.run(add()))
    adding.start()
    adding.join()
    page.goto(f"{served.url}/docs")
    name = operation_for("papers:read")
    form = page.locator(f"#{name} form")
    page.locator(f"#{name} summary").click()
    form.get_by_role("button", name="Ask").click()
    sync_api.expect(form.locator("output")).to_contain_text("401")
    page.get_by_label("Token").fill(secret)
    form.get_by_role("button", name="Ask").click()
    sync_api.expect(form.locator("output")).to_contain_text("hello token:docs page")


@pytest.mark.promise("A3")
def test_saying_no_and_logging_out_work_with_the_keyboard_alone(
    served: Served, page: Any, callback: str
) -> None:
    address = _address(served, callback, Pkce(), scope="papers:read")
    page.goto(address)
    for key in ("Tab", *"ada", "Tab", *PASSWORD, "Tab", "Enter"):
        page.keyboard.press("Space" if key == " " else key)
    page.wait_for_selector("fieldset")
    page.get_by_role("button", name="Log out").click()
    page.wait_for_selector("#password")
    page.get_by_label("User name").fill("ada")
    page.get_by_label("Password").fill(PASSWORD)
    page.get_by_role("button", name="Log in").click()
    page.get_by_role("button", name="Deny").focus()
    page.keyboard.press("Enter")
    page.wait_for_url(f"{callback}*")
    assert answer_in(page.url)["error"] == "access_denied"


@pytest.mark.promise("A3")
def test_no_site_can_put_the_pages_into_a_frame(served: Served, page: Any, callback: str) -> None:
    address = _address(served, callback, Pkce())
    page.route(
        "http://evil.example/",
        lambda route: route.fulfill(
            content_type="text/html", body=f'<iframe src="{address}"></iframe>'
        ),
    )
    page.goto("http://evil.example/")
    page.wait_for_load_state("load")
    framed = [frame for frame in page.frames if frame != page.main_frame]
    assert all("Log in" not in frame.content() for frame in framed)


@pytest.mark.promise("A3")
def test_no_site_can_send_the_consent_form_for_a_person(
    served: Served, page: Any, callback: str
) -> None:
    address = _address(served, callback, Pkce())
    page.goto(address)
    page.get_by_label("User name").fill("ada")
    page.get_by_label("Password").fill(PASSWORD)
    page.get_by_role("button", name="Log in").click()
    page.wait_for_selector("fieldset")
    csrf = page.locator("input[name=csrf]").get_attribute("value")
    fields = (
        f'<input name="csrf" value="{csrf}"><input name="action" value="allow"><input '
        f'name="scope" value="papers:read">'
    )
    form = (
        f'<form method="post" action="{address.replace("&", "&amp;")}">{fields}<button>Win a '
        f"prize</button></form>"
    )
    page.route(
        "http://evil.example/", lambda route: route.fulfill(content_type="text/html", body=form)
    )
    page.goto("http://evil.example/")
    with page.expect_navigation():
        page.get_by_role("button").click()
    assert not page.url.startswith(callback)
    assert "origin_not_allowed" in page.content(), (
        "even the right form token does not help from another site"
    )


@pytest.mark.promise("A3")
def test_the_pages_can_be_read_by_everybody(served: Served, page: Any, callback: str) -> None:
    page.goto(_address(served, callback, Pkce()))
    _is_accessible(page)
    page.get_by_label("User name").fill("ada")
    page.get_by_label("Password").fill(PASSWORD)
    page.get_by_role("button", name="Log in").click()
    page.wait_for_selector("fieldset")
    _is_accessible(page)
    page.set_viewport_size({"width": 320, "height": 600})
    assert page.evaluate("document.documentElement.scrollWidth") <= 320


def _is_accessible(page: Any) -> None:
    """One language, one main part, one first heading, and a name for everything one can use."""
    assert page.evaluate("document.documentElement.lang") == "en"
    assert page.locator("main").count() == page.locator("h1").count() == 1
    nameless = page.evaluate(
        "[...document.querySelectorAll('input:not([type=hidden]), button')]"
        ".filter(e => !(e.labels && e.labels.length) && !e.innerText.trim()).map(e => e.outerHTML)"
    )
    assert nameless == []
    assert page.locator("script").count() == 0

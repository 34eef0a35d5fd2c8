"""The console's door: who is let in, who may write, and what a browser is told about a page."""

from __future__ import annotations

from pathlib import Path

import httpx2
import pytest

from tests.access.support import PASSWORD
from tests.console.client import ConsoleClient
from tests.console.served_desk import ServedDesk, add_user, desk_settings, serve_desk

pytestmark = pytest.mark.promise("V1")


def test_a_stranger_is_sent_to_the_log_in_and_back_to_the_page_asked_for(
    institute: ServedDesk,
) -> None:
    client = ConsoleClient(institute.url)
    page = client.get("/papers?q=cold")
    assert page.response.url.path == "/login"
    assert "User name" in page.text
    assert 'value="/papers?q=cold"' in page.html
    entered = client.post("/login", username="ada", password=PASSWORD, next="/papers?q=cold")
    assert (entered.status, entered.response.url.path) == (200, "/papers")


@pytest.mark.parametrize("path", ["/call", "/console/uploads", "/do/remove_paper", "/live/x"])
def test_a_stranger_may_not_write_or_follow(institute: ServedDesk, path: str) -> None:
    headers = {"origin": institute.url, "sec-fetch-site": "same-origin"}
    answer = httpx2.post(institute.url + path, json={}, headers=headers)
    assert answer.status_code in {401, 403}


def test_a_wrong_password_says_no_more_than_that_and_the_name_stays(institute: ServedDesk) -> None:
    client = ConsoleClient(institute.url)
    client.get("/login")
    page = client.post("/login", username="ada", password="wrong horse")
    assert page.status == 401
    assert 'value="ada"' in page.html


@pytest.mark.parametrize(
    "target",
    ["//evil.example/x", "https://evil.example", "/\\evil.example", "javascript:alert(1)", "\t//x"],
)
def test_the_log_in_leads_to_no_other_host(institute: ServedDesk, target: str) -> None:
    client = ConsoleClient(institute.url)
    client.get("/login")
    page = client.post("/login", follow=False, username="ada", password=PASSWORD, next=target)
    assert page.status == 303
    location = page.response.headers["location"]
    assert location.startswith("/")
    assert not location.startswith(("//", "/\\"))


def test_who_has_logged_out_is_out(institute: ServedDesk) -> None:
    client = ConsoleClient(institute.url)
    client.log_in("ada", PASSWORD)
    client.get("/")
    stolen = dict(client.session.cookies)
    client.post("/logout")
    assert client.get("/").response.url.path == "/login"
    again = httpx2.get(
        institute.url, cookies=stolen, headers={"accept": "text/html"}, follow_redirects=False
    )
    assert again.status_code == 303


def test_a_person_sees_only_the_rooms_that_are_open_to_them(institute: ServedDesk) -> None:
    client = ConsoleClient(institute.url)
    client.log_in("ben", PASSWORD)
    page = client.get("/papers")
    assert page.status == 200
    assert 'href="/references"' not in page.html
    assert client.get("/references").status == 403
    assert client.get("/admin").status == 403


class TestForgery:
    """A write is refused unless our own page sent it with this browser's token."""

    @pytest.mark.parametrize(
        "headers",
        [
            {"sec-fetch-site": "cross-site"},
            {"sec-fetch-site": "same-site"},
            {"sec-fetch-site": "none"},
            {"origin": "http://127.0.0.1:1"},
            {"origin": "null"},
        ],
    )
    def test_another_page_may_not_send_a_form(
        self, console: ServedDesk, headers: dict[str, str]
    ) -> None:
        client = ConsoleClient(console.url)
        client.get("/")
        fields = {"csrf": client.token, "title": "forged", "content": "forged"}
        page = client.send("/do/save_knowledge", fields, **headers)
        assert page.status == 403
        assert not console.call("search_knowledge", query="forged")

    def test_a_program_that_says_nothing_of_a_page_may_not_send_a_form(
        self, console: ServedDesk
    ) -> None:
        client = ConsoleClient(console.url)
        client.get("/")
        answer = client.session.post(
            f"{console.url}/do/save_knowledge",
            data={"csrf": client.token, "title": "forged", "content": "forged"},
        )
        assert answer.status_code == 403

    @pytest.mark.parametrize("token", ["", "0" * 80, "x"])
    def test_a_form_without_the_token_is_refused(self, console: ServedDesk, token: str) -> None:
        client = ConsoleClient(console.url)
        client.get("/")
        page = client.send(
            "/do/save_knowledge", {"csrf": token, "title": "forged", "content": "forged"}
        )
        assert page.status in {400, 403}
        assert "too old" in page.text

    def test_the_token_of_another_browser_is_refused(self, console: ServedDesk) -> None:
        mine, theirs = ConsoleClient(console.url), ConsoleClient(console.url)
        mine.get("/")
        theirs.get("/")
        fields = {"csrf": theirs.token, "title": "forged", "content": "forged"}
        assert mine.send("/do/save_knowledge", fields).status in {400, 403}

    def test_a_call_of_a_module_needs_the_header(self, console: ServedDesk) -> None:
        client = ConsoleClient(console.url)
        client.get("/")
        body = {"operation": "save_knowledge", "arguments": {"title": "x", "content": "x"}}
        headers = {"sec-fetch-site": "same-origin", "origin": console.url}
        assert client.session.post(
            f"{console.url}/call", json=body, headers=headers
        ).status_code in {
            400,
            403,
        }
        assert client.call("save_knowledge", title="By a module", content="x").status_code == 200

    def test_nothing_is_written_by_reading(self, console: ServedDesk) -> None:
        client = ConsoleClient(console.url)
        page = client.get("/do/save_knowledge?title=forged&content=forged")
        assert page.status == 405

    def test_another_site_may_not_read_pages_or_frame_them(self, console: ServedDesk) -> None:
        headers = {"sec-fetch-site": "cross-site", "sec-fetch-mode": "no-cors"}
        assert httpx2.get(console.url, headers=headers).status_code == 403
        framed = {"sec-fetch-site": "cross-site", "sec-fetch-mode": "navigate"}
        answer = httpx2.get(console.url, headers={**framed, "sec-fetch-dest": "iframe"})
        assert answer.status_code == 403
        followed = {**framed, "sec-fetch-dest": "document", "accept": "text/html"}
        assert httpx2.get(console.url, headers=followed).status_code == 200


def test_every_page_carries_the_headers_that_keep_a_browser_safe(client: ConsoleClient) -> None:
    page = client.get("/")
    headers = page.response.headers
    policy = headers["content-security-policy"]
    assert "default-src 'none'" in policy
    assert "unsafe" not in policy
    assert "frame-ancestors 'none'" in policy
    assert headers["x-content-type-options"] == "nosniff"
    assert headers["cross-origin-resource-policy"] == "same-origin"
    assert "access-control-allow-origin" not in headers
    assert "style=" not in page.html.replace("data-style=", "")
    assert "<script>" not in page.html


def test_a_file_of_the_console_is_kept_for_ever_and_packed(client: ConsoleClient) -> None:
    page = client.get("/")
    start = page.html.index("/assets/")
    address = page.html[start : page.html.index('"', start)]
    answer = client.session.get(client.url + address, headers={"accept-encoding": "gzip"})
    assert "immutable" in answer.headers["cache-control"]
    missing = client.session.get(client.url + "/assets/x/desk/../secret.js")
    assert missing.status_code == 404


def test_a_browser_that_is_lost_gets_a_page_and_a_program_gets_json(client: ConsoleClient) -> None:
    assert "There is nothing here" in client.get("/nowhere").text
    answer = httpx2.get(f"{client.url}/nowhere")
    assert (answer.status_code, answer.json()["error_type"]) == (404, "not_found")


def test_a_missing_page_speaks_to_a_person_and_leads_to_its_room(client: ConsoleClient) -> None:
    page = client.get("/papers/paper/nothing")
    assert page.status == 404
    assert "<title>There is nothing here · " in page.html
    assert "search_papers" not in page.text
    assert "To Papers" in page.text
    assert 'href="/papers" aria-current="page"' in page.html
    lost = client.get("/nowhere", **{"accept-language": "de"})
    assert "<title>Hier ist nichts · " in lost.html
    assert "GET /docs" not in lost.text


def test_who_has_no_right_is_not_sent_for_a_token(institute: ServedDesk) -> None:
    ben = ConsoleClient(institute.url)
    ben.log_in("ben", PASSWORD)
    page = ben.get("/references/new")
    assert page.status == 403
    assert "Ask whoever runs this desk" in page.text
    assert "token" not in page.text


def test_a_form_that_fails_keeps_what_was_typed(client: ConsoleClient) -> None:
    page = client.post("/do/start_research", goal="A long thought", hypothesis_count="many")
    assert page.status == 400
    assert "A long thought" in page.html
    assert 'value="many"' in page.html


def test_the_language_follows_the_browser_and_the_choice(client: ConsoleClient) -> None:
    german = client.get("/", **{"accept-language": "de-AT,de;q=0.9,en;q=0.5"})
    assert '<html lang="de"' in german.html
    client.post("/preferences", language="en", theme="dark", next="/")
    chosen = client.get("/", **{"accept-language": "de"})
    assert '<html lang="en" data-theme="dark"' in chosen.html


def test_a_person_may_look_around_at_the_usual_limits(tmp_path: Path) -> None:
    settings = desk_settings(tmp_path / "home", auth={"mode": "builtin"})
    limits = type(settings.limits)()
    settings = settings.model_copy(update={"limits": limits})
    add_user(settings, "ada", frozenset({"admin"}))
    with serve_desk(settings) as url:
        client = ConsoleClient(url)
        client.log_in("ada", PASSWORD)
        for path in ("/", "/papers", "/references", "/knowledge", "/research", "/literature"):
            assert client.get(path).status == 200, path
        for _ in range(60):
            last = client.get("/")
        assert last.status == 429 or "limit" in last.text.lower()

"""Attacks on the console that once succeeded, or that must never."""

from __future__ import annotations

import asyncio
import os
import re
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from types import FrameType
from typing import Any
from urllib.parse import unquote, urljoin, urlsplit

import httpx2
import pytest

from carrel.core.caller import Call, Caller, Visit
from carrel.core.catalogue import Catalogue
from carrel.core.clock import SystemClock
from carrel.core.operation import Answer, Operation, Question
from carrel.core.pages import (
    ConsolePage,
    LiveView,
    PageAnswer,
    PageRequest,
    PageView,
    RoomPages,
    local_address,
)
from carrel.doors.http.messages import HttpRequest, Response
from carrel.doors.oauth.endpoints import read_cookie
from carrel.doors.rest import RestDoor
from carrel.doors.web.assets import StaticFiles
from carrel.doors.web.console import Console
from carrel.doors.web.live import LiveViews
from carrel.doors.web.markdown import render_markdown
from carrel.doors.web.messages import read_messages
from carrel.doors.web.page_writer import PageWriter
from carrel.doors.web.rendering import PageRenderer
from carrel.doors.web.sessions import Browser, BrowserSessions
from carrel.policy.audit import Audit, AuditRecord
from carrel.policy.gate import Gate
from carrel.policy.identity import LocalIdentity
from carrel.policy.limits import NoLimits
from tests.access.support import PASSWORD
from tests.console.client import ConsoleClient
from tests.console.conftest import CHROMIUM
from tests.console.served_desk import ServedDesk, add_user, desk_settings, run_apart, serve_desk

pytestmark = pytest.mark.promise("V1")
LISTED_PAGE = "https://listed.example"


class _NoAudit(Audit):
    def write(self, record: AuditRecord) -> None:
        return None

    async def write_durably(self, record: AuditRecord) -> None:
        return None


class TestOthersAreServed:
    """A text that takes long to draw stops nobody else."""

    @pytest.mark.parametrize("sign", ["![", "[", "[[", "[a]("])
    def test_a_text_of_brackets_is_shown_as_it_was_written(self, sign: str) -> None:
        text = sign * 20_000
        drawn = render_markdown(text)
        assert drawn.startswith("<pre>")
        assert text in drawn

    def test_what_is_shown_as_written_stays_text(self) -> None:
        drawn = render_markdown("[" * 20_000 + "<img src=x onerror=alert(1)></pre><h2>x</h2>")
        assert "<img" not in drawn
        assert "<h2" not in drawn

    def test_a_long_text_with_many_links_is_drawn(self) -> None:
        drawn = render_markdown(
            "\n\n".join(f"[a{at}](https://example.org/{at})" for at in range(2_000))
        )
        assert drawn.count("<a ") == 2_000

    def test_others_get_their_page_while_one_is_drawn(self) -> None:
        async def story() -> str:
            begun, other_came = asyncio.Event(), threading.Event()

            class SlowTitle:
                def __html__(self) -> str:
                    return "others were served" if other_came.wait(5) else "others had to wait"

            async def draw_slowly(request: PageRequest) -> PageAnswer:
                begun.set()
                return _view(SlowTitle())

            async def draw_at_once(request: PageRequest) -> PageAnswer:
                other_came.set()
                return _view("quick")

            console = _console(
                ConsolePage("/slow", draw_slowly), ConsolePage("/quick", draw_at_once)
            )
            slow = asyncio.create_task(console.answer(_request("/slow")))
            await begun.wait()
            await console.answer(_request("/quick"))
            answer = await slow
            assert isinstance(answer, Response)
            return answer.body.decode()

        assert "others were served" in run_apart(lambda: asyncio.run(story()))

    def test_others_are_served_while_a_long_form_is_read(self) -> None:
        async def story() -> int:
            turns, turns_before = 0, 0

            async def act(request: PageRequest) -> PageAnswer:
                nonlocal turns_before
                turns_before = turns
                return _view("read")

            request = _request("/long")
            browser = Browser("x" * 40, is_new=False)
            request.scope["method"] = "POST"
            request.headers |= {
                b"content-type": b"application/x-www-form-urlencoded",
                b"sec-fetch-site": b"same-origin",
                b"cookie": f"carrel-browser={browser.secret}".encode(),
            }
            form = f"csrf={browser.csrf_token(request.caller)}&text=" + "%3C" * 1_000_000
            request.body = form.encode()
            console = _console(ConsolePage("/long", None, act))
            answering = asyncio.create_task(console.answer(request))
            while not answering.done():
                turns += 1
                await asyncio.sleep(0)
            answer = answering.result()
            assert (isinstance(answer, Response), answer.status) == (True, 200)
            return turns_before

        assert run_apart(lambda: asyncio.run(story())) > 20

    @pytest.mark.parametrize("path", ["/login", "/logout", "/preferences"])
    def test_a_stranger_may_not_send_a_long_form(self, institute: ServedDesk, path: str) -> None:
        client = ConsoleClient(institute.url)
        client.get("/login")
        fields = {"csrf": client.token, "username": "ada", "password": "x" * 100_000}
        assert client.send(path, fields).status == 413


def _view(title: object) -> PageView:
    return PageView("desk/base.html", "", {"title": title})


def _console(*pages: ConsolePage) -> Console:
    packages = ["carrel.doors.web", "carrel.doors.web.home"]
    clock = SystemClock()
    gate = Gate(LocalIdentity(), NoLimits(), _NoAudit(), clock)
    assets, messages = StaticFiles(packages), read_messages(packages)
    sessions = BrowserSessions(gate, is_local=True, is_secure=False, logins=None)
    parts = [RoomPages("probe", "carrel.doors.web.home", pages)]
    writer = PageWriter(
        PageRenderer(packages, assets, messages), sessions, clock,
        name="Probe", version="0", parts=parts, operations={},
    )  # fmt: skip
    return Console(
        parts, {}, gate=gate, clock=clock, sessions=sessions,
        rest=RestDoor(Catalogue(()), gate, clock, lambda error: ()),
        assets=assets, messages=messages, writer=writer,
    )  # fmt: skip


def _request(path: str) -> HttpRequest:
    scope = {"method": "GET", "path": path, "query_string": b"", "type": "http"}
    caller = Caller("local", frozenset())
    visit = Visit("http", "request-1", path=path)
    return HttpRequest(scope, {b"accept": b"text/html"}, frozenset(), b"", visit, "", caller)


class TestOwnImages:
    """A note may show pictures of papers; loading it opens no other page of the reader's."""

    @pytest.mark.parametrize(
        "address",
        [
            "/live/admin-jobs?id=1",
            "/literature?q=asks+services+outside",
            "/papers/figure/../../literature?q=x",
            "/papers/figure/%2e%2E/%2e%2e/literature?q=x",
            "/papers/page/.%2e/map",
            "/papers",
            "/admin/audit/export",
        ],
    )
    def test_another_page_is_not_loaded_as_an_image(self, address: str) -> None:
        assert "src=" not in render_markdown(f"![x]({address})")

    @pytest.mark.parametrize(
        "address", ["/papers/figure/abc?label=Figure%201", "/papers/page/3/abc?width=800"]
    )
    def test_a_picture_of_a_paper_is(self, address: str) -> None:
        assert f'src="{address}"' in render_markdown(f"![x]({address})")


@pytest.mark.parametrize("page", ["²", "9" * 5_000, "-1", "x"])
def test_a_number_of_a_page_that_is_none_is_refused(client: ConsoleClient, page: str) -> None:
    answer = client.get(f"/papers/page/{page}/abc")
    assert answer.status in {400, 404}


def test_every_answer_tells_the_browser_to_run_nothing_else(console: ServedDesk) -> None:
    client = ConsoleClient(console.url)
    client.get("/")
    asset = re.search(r'src="(/assets/[^"]+\.js)"', client.get("/").html)
    assert asset is not None
    paths = [
        asset[1], "/login", "/nowhere", "/call", "/live/nothing?id=x", "/add/words",
        "/references/export?format=bibtex", "/console/uploads/x",
        f"/live/research?id={console.ids['research_id']}",
    ]  # fmt: skip
    for path in paths:
        headers = client.session.get(console.url + path).headers
        assert "default-src 'none'" in headers.get("content-security-policy", ""), path
        assert headers["x-content-type-options"] == "nosniff", path


class TestAfterTheLogOut:
    """Who comes to the same browser afterwards sees nothing."""

    def test_private_pages_are_not_kept_and_files_are_forgotten(
        self, institute: ServedDesk
    ) -> None:
        client = ConsoleClient(institute.url)
        client.log_in("ada", PASSWORD)
        assert client.get("/papers").response.headers["cache-control"] == "no-store"
        left = client.post("/logout", follow=False)
        assert left.response.headers["clear-site-data"] == '"cache"'

    def test_a_local_desk_has_nobody_to_hide_from(self, client: ConsoleClient) -> None:
        assert client.get("/papers").response.headers["cache-control"] == "private, no-cache"

    def test_going_back_does_not_show_the_page_of_before(
        self, browser: Any, institute: ServedDesk
    ) -> None:
        keeping = browser.browser_type.launch(
            executable_path=CHROMIUM,
            args=["--no-sandbox"] if os.geteuid() == 0 else [],
            ignore_default_args=["--disable-back-forward-cache"],
        )
        try:
            page = keeping.new_context().new_page()
            page.goto(f"{institute.url}/login?next=/account")
            page.fill("[name=username]", "ada")
            page.fill("[name=password]", PASSWORD)
            page.click("form[action='/login'] button")
            page.wait_for_url("**/account")
            page.click("details.person summary")
            page.click("form[action='/logout'] button")
            page.wait_for_url("**/login")
            page.go_back(wait_until="commit")
            page.wait_for_url("**/login?next=**")
            assert page.locator("[name=password]").is_visible()
        finally:
            keeping.close()


def test_on_https_every_cookie_is_bound_to_the_host(tmp_path: Path) -> None:
    public = {"public_url": "https://desk.example.org"}
    settings = desk_settings(tmp_path / "home", auth={"mode": "builtin"}, server=public)
    add_user(settings, "ada", frozenset({"admin"}))
    host = {"host": "desk.example.org", "accept": "text/html"}
    own = {**host, "sec-fetch-site": "same-origin", "origin": "https://desk.example.org"}
    with serve_desk(settings) as url, httpx2.Client(base_url=url) as session:
        cookies = dict[str, str]()

        def send(path: str, **form: str) -> httpx2.Response:
            given = {"cookie": "; ".join(f"{name}={text}" for name, text in cookies.items())}
            answer = (
                session.post(path, data=form, headers={**own, **given})
                if form
                else session.get(path, headers={**host, **given})
            )
            for line in answer.headers.get_list("set-cookie"):
                assert line.startswith("__Host-"), line
                assert "; Secure" in line, line
                assert "; HttpOnly" in line, line
                name, _, text = line.partition(";")[0].partition("=")
                cookies[name] = text
            return answer

        def token(path: str) -> str:
            return re.search(r'name="csrf" content="(\w+)"', send(path).text)[1]  # type: ignore[index]

        csrf = token("/login")
        assert send("/login", csrf=csrf, username="ada", password=PASSWORD).status_code == 303
        csrf = token("/account")
        kept = send("/preferences", csrf=csrf, language="de", theme="dark", next="/")
        assert kept.status_code == 303
        assert '<html lang="de" data-theme="dark"' in send("/account").text
        told = send("/do/add_user", csrf=csrf, name="ben", scopes="papers:read", _next="/admin")
        assert told.status_code == 303
        ended = send("/admin/users/ben", csrf=csrf, action="disable")
        assert ended.status_code == 303
        assert "__Host-carrel-notice" in cookies
        assert "ben" in send("/admin/users").text
        assert send("/logout", csrf=csrf).status_code == 303


def test_a_paper_by_an_author_without_a_name_can_be_read(console: ServedDesk) -> None:
    text = (
        '---\ntitle: Cold hands of nobody\nauthors: [", Ben", ",", " , , "]\nyear: 2001\n---\nText.'
    )
    paper_id = console.call("add_paper", markdown=text)["paper_id"]
    page = ConsoleClient(console.url).get(f"/papers/paper/{paper_id}")
    assert page.status == 200
    assert "Cold hands of nobody" in page.text


def test_half_a_character_in_a_form_breaks_no_page(client: ConsoleClient) -> None:
    client.get("/references/edit/cold3")
    fields = {"csrf": client.token, "base": '{"title":"\\ud800"}', "do": "check", "type": "book"}
    assert client.send("/references/edit/cold3", fields).status < 500


def test_live_views_of_one_person_with_other_rights_share_no_state() -> None:
    """A token with fewer scopes must not be sent what was read with more."""

    class Asked(Question):
        id: str

    class Seen(Answer):
        scopes: list[str]

    async def read(question: Asked, call: Call) -> Seen:
        return Seen(scopes=sorted(call.caller.scopes))

    async def welcome() -> Caller:
        return Caller("ada", frozenset({"papers:read"}))

    async def story() -> list[bytes]:
        operation = Operation(
            "look", "papers", "Look", "Look.", Asked, Seen, read, frozenset({"papers:read"})
        )
        view = LiveView("look", "look", lambda key: {"id": key}, lambda state: False, None, 0.01)
        clock = SystemClock()
        gate = Gate(LocalIdentity(), NoLimits(), _NoAudit(), clock)
        views = LiveViews({"look": view}, {"look": operation}, gate, clock)
        visit = Visit("http", "request-1")
        mighty = Caller("ada", frozenset({"papers:read", "admin"}))
        streams = [
            await views.open("look", "a", caller, visit, welcome)
            for caller in (mighty, await welcome())
        ]
        for stream in streams:
            assert (await anext(stream)).startswith(b"retry")
        seen = [await anext(stream) for stream in streams]
        for stream in streams:
            await stream.aclose()
        return seen

    mighty, meek = run_apart(lambda: asyncio.run(story()))
    assert b"admin" in mighty
    assert b"admin" not in meek


def test_a_draft_is_not_offered_to_the_next_person(page: Any, library: ServedDesk) -> None:
    def log_in(name: str) -> None:
        page.goto(f"{library.url}/login?next=/references/new")
        page.fill("[name=username]", name)
        page.fill("[name=password]", PASSWORD)
        page.click("form[action='/login'] button")
        page.wait_for_url("**/references/new")

    log_in("ada")
    page.fill("[name='f.title']", "What only ada knows")
    page.wait_for_function(
        "() => Object.values(sessionStorage).some((text) => text.includes('only ada'))"
    )
    page.on("dialog", lambda dialog: dialog.accept())
    page.click("details.person summary")
    page.click("form[action='/logout'] button")
    page.wait_for_url("**/login")
    log_in("ben")
    page.wait_for_selector("[data-change-type]", state="hidden")
    assert page.locator(".removed-notice").count() == 0
    page.click("details.person summary")
    page.click("form[action='/logout'] button")
    page.wait_for_url("**/login")
    log_in("ada")
    page.wait_for_selector(".removed-notice")


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ServedDesk]:
    """A desk where two people log in who both write references."""
    settings = desk_settings(tmp_path_factory.mktemp("library"), auth={"mode": "builtin"})
    for name in ("ada", "ben"):
        add_user(settings, name, frozenset({"references:write"}))
    with serve_desk(settings) as url:
        yield ServedDesk(url, settings)


class TestListedPages:
    """A page in server.allowed_origins may call the server with a token; the console is not its."""

    # First, since the log counts a flood of refusals together.
    @pytest.mark.parametrize(
        ("headers", "code"),
        [({"origin": LISTED_PAGE}, "origin_not_allowed"), ({}, "stale_form")],
    )
    def test_what_is_refused_is_written_down(
        self, listed: ServedDesk, headers: dict[str, str], code: str
    ) -> None:
        client = ConsoleClient(listed.url)
        client.get("/")
        sent = {"sec-fetch-site": "cross-site", **headers} if headers else {}
        client.send("/do/save_knowledge", {"csrf": "0" * 80, "title": "x"}, **sent)
        rows = client.call("find_audit_calls", error_code=code, limit=1).json()
        assert rows["result"]["calls"][0]["resource"] == "/do/save_knowledge"

    @pytest.mark.parametrize("site", ["cross-site", "same-site", "none", ""])
    @pytest.mark.parametrize(
        "path", ["/do/save_knowledge", "/knowledge/new", "/preferences", "/login", "/logout"]
    )
    def test_its_forms_are_refused(self, listed: ServedDesk, path: str, site: str) -> None:
        client = ConsoleClient(listed.url)
        client.get("/")
        fields = {"csrf": client.token, "title": "forged", "content": "forged"}
        sent = {"origin": LISTED_PAGE, "accept": "text/html"}
        answer = client.session.post(
            listed.url + path,
            data=fields,
            headers={**sent, "sec-fetch-site": site} if site else sent,
        )
        assert answer.status_code == 403
        assert "access-control-allow-origin" not in answer.headers

    def test_its_scripts_may_not_call_or_follow(self, listed: ServedDesk) -> None:
        client = ConsoleClient(listed.url)
        client.get("/")
        body = {"operation": "save_knowledge", "arguments": {"title": "x", "content": "x"}}
        headers = {"origin": LISTED_PAGE, "x-csrf": client.token}
        assert client.session.post(f"{listed.url}/call", json=body, headers=headers).is_error
        asked = {"origin": LISTED_PAGE, "access-control-request-method": "POST"}
        preflight = client.session.options(f"{listed.url}/call", headers=asked)
        assert "access-control-allow-origin" not in preflight.headers


@pytest.fixture(scope="module")
def listed(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ServedDesk]:
    """A local desk that another page may ask."""
    settings = desk_settings(
        tmp_path_factory.mktemp("listed"), server={"allowed_origins": [LISTED_PAGE]}
    )
    with serve_desk(settings) as url:
        yield ServedDesk(url, settings)


def test_a_script_with_few_scopes_does_not_touch_its_persons_access(institute: ServedDesk) -> None:
    """A token that may read papers ended every session of the person that it acts for."""
    ada = ConsoleClient(institute.url)
    ada.log_in("ada", PASSWORD)
    wish = {"name": "reader of ada", "scopes": ["papers:read"], "user": "ada"}
    secret = ada.call("create_token", **wish).json()["result"]["secret"]
    script = ConsoleClient(institute.url)
    script.session.headers["authorization"] = f"Bearer {secret}"
    assert script.get("/papers").status == 200
    for operation, arguments in (
        ("get_own_access", {}),
        ("revoke_own_token", {"name": "reader of ada"}),
        ("revoke_own_grant", {"grant_id": "g0"}),
        ("end_own_sessions", {}),
    ):
        answer = script.call(operation, **arguments)
        assert (answer.status_code, operation) == (403, operation)
    assert ada.get("/papers").response.url.path == "/papers"


class TestCookies:
    """Cookies of other programs of the host come along; theirs must not cost or break ours."""

    @staticmethod
    def _read(header: bytes, name: str) -> str | None:
        request = _request("/")
        request.headers[b"cookie"] = header
        return read_cookie(request, name)

    @pytest.mark.parametrize(
        "header",
        [
            b"carrel-theme=dark",
            b"a=b; carrel-theme=dark; c=d",
            b"a=b;carrel-theme=dark",
            b'broken[]={"a": 1}; =; ;; x; carrel-theme=dark',
            b"\xff=\xfe; carrel-theme=dark",
            b"carrel-theme=light; carrel-theme=dark",
        ],
    )
    def test_ours_is_found_among_any_others(self, header: bytes) -> None:
        assert self._read(header, "carrel-theme") == "dark"

    @pytest.mark.parametrize(
        "header", [b"", b"xcarrel-theme=dark", b"carrel-theme", b"a=carrel-theme=x"]
    )
    def test_what_only_looks_like_it_is_not_ours(self, header: bytes) -> None:
        assert self._read(header, "carrel-theme") is None

    def test_a_header_of_thousands_is_read_without_a_parser(self) -> None:
        """http.cookies took 25 ms for each of the six cookies that a page looks for."""
        made = _count_calls(lambda: self._read(b"; ".join([b"a=b"] * 6_000), "carrel-theme"))
        assert made < 20


def _count_calls(work: Callable[[], object]) -> int:
    """How many functions written in Python are called."""
    count = 0

    def see(frame: FrameType, event: str, argument: object) -> None:
        nonlocal count
        count += event == "call"

    before = sys.getprofile()
    sys.setprofile(see)
    try:
        work()
    finally:
        sys.setprofile(before)
    return count


class TestNamesWithDots:
    """A browser takes `..` out of an address: a name of others must not lead a form elsewhere."""

    @pytest.mark.parametrize(
        "name",
        ["../../logout", "a/../../../logout", "./x", "x/..", "..\\..\\logout", "../%2e%2e/x"],
    )
    def test_an_address_stays_what_it_is(self, name: str) -> None:
        address = local_address("/references/edit", name)
        seen = urlsplit(urljoin("http://desk.example/", address)).path
        assert unquote(seen) == f"/references/edit/{name}"

    def test_the_usual_slashes_of_names_are_left(self) -> None:
        assert local_address("/papers/paper", "10.1000/x.y") == "/papers/paper/10.1000/x.y"

    def test_the_form_of_a_reference_does_not_lead_to_the_log_out(
        self, library: ServedDesk
    ) -> None:
        client = ConsoleClient(library.url)
        client.log_in("ada", PASSWORD)
        hostile = "@book{../../logout, title = {Dots}, author = {Dot, Ann}, year = {2001}}"
        added = client.call("add_references", input=hostile).json()["result"]["added"]
        assert added[0]["id"] == "../../logout"
        assert 'href="/references/item/..%2F..%2Flogout"' in client.get("/references").html
        page = client.get("/references/edit/..%2F..%2Flogout")
        assert page.status == 200
        assert 'action="/references/edit/..%2F..%2Flogout"' in page.html

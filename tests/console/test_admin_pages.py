"""The admin pages: who may see them, what they never show, and the work of an administrator."""

from __future__ import annotations

import asyncio
import io
import re
import secrets
import tarfile
from collections.abc import Awaitable, Callable, Coroutine, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import Any

import httpx2
import pytest

from carrel.core.background_jobs import JobProgress, JobRecord
from carrel.core.caller import Caller, Visit
from carrel.core.clock import SystemClock
from carrel.core.errors import CarrelError
from carrel.doors.web.admin import admin_pages
from carrel.policy.authorization.models import (
    AuthorizationCode,
    Client,
    ClientKind,
    Grant,
    RefreshToken,
    Session,
    User,
)
from carrel.policy.identity import StaticToken, hash_secret
from carrel.policy.scopes import ALL_SCOPES
from carrel.rooms.references.lookup_job import LookupInput, LookupProgress, Work
from carrel.rooms.references.models import AddedReferences
from carrel.settings import Settings
from carrel.stores.sql.access import SqlAccess
from carrel.stores.sql.jobs import SqlJobs
from carrel.wiring.access import open_access_store
from carrel.wiring.audit import open_audit_reader
from carrel.wiring.console_admin import admin_operations
from carrel.wiring.desk import open_desk
from carrel.wiring.home import open_driver
from tests.access.support import CHEAP_HASH, PASSWORD
from tests.console.checks import assert_accessible, assert_fits, tab_through
from tests.console.client import ConsoleClient
from tests.console.served_desk import (
    HOSTILE,
    ServedDesk,
    desk_settings,
    serve_desk,
)

pytestmark = pytest.mark.promise("V1")

PAGES = [
    "/admin",
    "/admin/users",
    "/admin/users/dora",
    "/admin/users/dora/leave",
    "/admin/quotas",
    "/admin/tokens",
    "/admin/clients",
    "/admin/limits",
    "/admin/audit",
    "/admin/audit?refused=1",
    "/admin/jobs",
    "/admin/storage",
    "/admin/backups",
]
FORMS = [
    "/admin",
    "/admin/users",
    "/admin/users/dora",
    "/admin/users/dora/leave",
    "/admin/quotas",
    "/account",
    "/admin/tokens",
    "/admin/audit/verify",
    "/admin/backups",
    "/do/revoke_token",
    "/do/revoke_grant",
    "/do/cancel_any_job",
    "/do/add_user",
    "/do/create_token",
    "/do/download_backup",
]
NOW = SystemClock().now().timestamp()
SECRET_PASSWORD = re.compile(r"[a-z2-9]{5}(?:-[a-z2-9]{5}){3}")
SECRET_TOKEN = re.compile(r"carrel_[A-Za-z0-9_-]{43}")


@pytest.fixture(scope="module")
def office(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ServedDesk]:
    """A desk of its own: people, hostile programs, tokens, and a job of dora's that runs."""
    settings = desk_settings(
        tmp_path_factory.mktemp("office") / "home",
        auth={"mode": "builtin"},
        quotas={"enabled": True},
        rooms=["knowledge", "references"],
    )
    add_user(settings, "ada", frozenset({"admin"}))
    add_user(settings, "ben", frozenset({"papers:read"}))
    add_user(settings, "dora", frozenset(ALL_SCOPES - {"admin"}))
    with_store(settings, fill_access)
    with_jobs(settings, fill_jobs)
    with serve_desk(settings) as url:
        yield ServedDesk(url, settings)


async def fill_access(store: SqlAccess) -> None:
    """A program with a hostile name that dora allowed something, and tokens."""
    await store.add_client(
        Client(
            "c_evil",
            f"Evil {HOSTILE}",
            ("http://127.0.0.1/cb",),
            ClientKind.REGISTERED,
            NOW,
            None,
            "https://evil.example",
        )
    )
    for number, (user, client) in enumerate(
        (("dora", "c_evil"), ("dora", "https://program.example/client.json"), ("ben", "c_evil"))
    ):
        name = f"g{number}"
        grant = Grant(name, client, user, frozenset({"papers:read"}), "https://desk/mcp", NOW)
        code = AuthorizationCode(name, name, "http://127.0.0.1/cb", "x", NOW + 60)
        assert await store.begin_grant(grant, code, CHEAP_HASH)
        assert await store.use_code(name, NOW, RefreshToken(name, name, NOW, NOW + 86_400))
    for owner in ("dora", "ben", None):
        name = f"of {owner or 'nobody'}"
        token = StaticToken(name, f"hash {name}", frozenset({"papers:read"}), NOW, None, owner)
        assert await store.add_token(token)


async def fill_jobs(store: SqlJobs) -> None:
    record = JobRecord(
        "job_running",
        "add_references",
        "dora",
        "running",
        "Begun.",
        LookupInput(
            works=(Work(kind="doi", value="10.1/x", sources=("input of a job",)),)
        ).model_dump_json(),
        "2026-11-18T10:00:00+00:00",
        "2026-11-18T10:00:00+00:00",
    )
    await store.add(record, "another worker", 3600)
    made = LookupProgress(answer=AddedReferences.empty()).model_dump_json()
    progress = JobProgress(made, 3, 10, f"Looking up {HOSTILE}")
    assert await store.save(record.id, "another worker", progress, record.updated_at)
    ended = replace(record, id="job_ended", owner="ben")
    await store.add(ended, "another worker", 3600)
    await store.end(ended.id, "failed", f"{HOSTILE} is no file", "x", ended.updated_at, None)


def add_user(settings: Settings, name: str, scopes: frozenset[str]) -> None:
    user = User(name, CHEAP_HASH, scopes, NOW)
    assert with_store(settings, lambda store: store.add_user(user))


def with_store(settings: Settings, story: Callable[[SqlAccess], Awaitable[Any]]) -> Any:
    async def run() -> Any:
        store = open_access_store(settings)
        try:
            return await story(store)
        finally:
            await store.close()

    return run_alone(run)


def run_alone(story: Callable[[], Coroutine[Any, Any, Any]]) -> Any:
    """In a thread of its own: playwright has a loop in this one."""
    with ThreadPoolExecutor(1) as thread:
        return thread.submit(lambda: asyncio.run(story())).result()


def with_jobs(settings: Settings, story: Callable[[SqlJobs], Awaitable[Any]]) -> Any:
    async def run() -> Any:
        store = SqlJobs(open_driver(settings, "jobs", SqlJobs.schema_steps))
        try:
            return await story(store)
        finally:
            await store.close()

    return run_alone(run)


def new_session(desk: ServedDesk, name: str) -> str:
    """A session as the log-in makes one, without its limits against guessing."""
    secret = secrets.token_urlsafe(32)
    session = Session(hash_secret(secret), name, NOW + 3600)
    assert with_store(desk.settings, lambda store: store.add_session(session, CHEAP_HASH))
    return secret


def enter(desk: ServedDesk, name: str = "ada") -> ConsoleClient:
    """Somebody who has logged in."""
    client = ConsoleClient(desk.url)
    client.session.cookies.set("carrel-session", new_session(desk, name))
    client.get("/account")
    return client


def enter_browser(page: Any, desk: ServedDesk, name: str = "ada") -> None:
    cookie = {"name": "carrel-session", "value": new_session(desk, name), "url": desk.url}
    page.context.add_cookies([cookie])


# Refusals.


@pytest.mark.parametrize("path", [*PAGES, "/admin/audit/export", "/account"])
def test_a_stranger_sees_no_admin_page(office: ServedDesk, path: str) -> None:
    page = ConsoleClient(office.url).get(path)
    assert page.response.url.path == "/login"
    assert "admin-tabs" not in page.html


@pytest.mark.parametrize("path", FORMS)
def test_a_stranger_sends_no_form(office: ServedDesk, path: str) -> None:
    assert ConsoleClient(office.url).send(path, {"name": "x"}).status in {401, 403}


@pytest.mark.parametrize("path", [*PAGES, "/admin/audit/export"])
def test_a_person_who_is_no_administrator_sees_no_admin_page(office: ServedDesk, path: str) -> None:
    page = enter(office, "ben").get(path)
    assert page.status == 403
    assert "admin-tabs" not in page.html
    assert 'href="/admin"' not in page.html, "the navigation does not name it"


def test_every_operation_refuses_who_is_no_administrator_and_that_is_written_down(
    office: ServedDesk,
) -> None:
    client = enter(office, "ben")
    own = {
        *("get_own_access", "revoke_own_token", "revoke_own_grant", "end_own_sessions"),
        *("get_own_quota", "create_own_token", "change_own_password"),
    }
    names = {each.name for each in admin_operations(open_desk(office.settings))} - own
    assert len(names) > 20
    for name in sorted(names):
        answer = client.call(name)
        assert answer.status_code == 403, name
        assert "insufficient_permissions" in answer.text, name
    log = b"".join(open_audit_reader(office.settings).lines())
    assert b'"user_id":"ben"' in log
    assert b'"error_code":"insufficient_permissions"' in log


@pytest.mark.parametrize("path", FORMS)
def test_a_form_without_its_token_or_from_another_page_does_nothing(
    office: ServedDesk, path: str
) -> None:
    client = enter(office)
    client.get("/admin")
    fields = {"name": "of nobody", "action": "disable", "job_id": "job_running", "grant_id": "g0"}
    assert client.send(path, fields).status == 403
    assert client.send(path, {**fields, "csrf": "0" * 64}).status == 403
    token = {**fields, "csrf": client.token}
    foreign = {"origin": "https://evil.example", "sec-fetch-site": "cross-site"}
    assert client.send(path, token, **foreign).status == 403
    neighbour = {"origin": "http://localhost:3000", "sec-fetch-site": "same-site"}
    assert client.send(path, token, **neighbour).status == 403


@pytest.mark.parametrize("path", ["/admin/users", "/admin/tokens", "/admin/backups"])
def test_nothing_is_changed_by_a_link(office: ServedDesk, path: str) -> None:
    client = enter(office)
    query = "?name=linked&kind=admin&action=make&days=never"
    page = client.get(path + query)
    assert page.status == 200
    assert not SECRET_PASSWORD.search(page.text)
    assert not SECRET_TOKEN.search(page.text)
    assert "linked" not in page.text
    for do in ("/do/add_user", "/do/create_token", "/do/download_backup", "/admin/audit/verify"):
        assert client.get(do + query).status == 405


def test_a_program_with_every_right_may_not_change_who_has_access(office: ServedDesk) -> None:
    desk = open_desk(office.settings)
    operations = {each.name: each for each in admin_operations(desk)}
    program = Caller("ada", ALL_SCOPES, client_id="c_evil")
    attempts: dict[str, dict[str, object]] = {
        "add_user": {"name": "mallory", "scopes": ["admin"]},
        "reset_password": {"name": "dora"},
        "set_user_scopes": {"name": "dora", "scopes": ["admin"]},
        "disable_user": {"name": "dora"},
        "enable_user": {"name": "dora"},
        "end_user_sessions": {"name": "dora"},
        "create_token": {"name": "mallory", "scopes": ["admin"]},
        "revoke_token": {"name": "of dora"},
        "revoke_grant": {"grant_id": "g0"},
        "download_backup": {"name": "x.tar.gz"},
        "remove_backup": {"name": "x.tar.gz"},
        "get_own_access": {},
        "revoke_own_token": {"name": "of dora"},
        "revoke_own_grant": {"grant_id": "g0"},
        "end_own_sessions": {},
    }

    async def run() -> None:
        try:
            for name, arguments in attempts.items():
                with pytest.raises(CarrelError, match="Programs may not") as refusal:
                    await desk.gate.call(operations[name], arguments, program, Visit("http", "r"))
                assert refusal.value.code == "insufficient_permissions"
        finally:
            await desk.close()

    run_alone(run)


def test_nobody_ends_what_is_anothers(office: ServedDesk) -> None:
    client = enter(office, "ben")
    assert client.post("/do/revoke_own_token", name="of dora").status == 404
    assert client.post("/do/revoke_own_token", name="of nobody").status == 404
    assert client.post("/do/revoke_own_grant", grant_id="g0").status == 404
    tokens = with_store(office.settings, lambda store: store.tokens())
    assert all(token.revoked_at is None for token in tokens if token.name.startswith("of "))
    page = client.get("/account")
    assert "of ben" in page.text
    assert "of dora" not in page.text


def test_an_administrator_cannot_lock_themselves_out(office: ServedDesk) -> None:
    client = enter(office)
    page = client.post("/admin/users/ada", action="disable")
    assert page.status == 409
    assert "You cannot lock yourself out" in page.text
    page = client.post("/admin/users/ada", action="scopes", kind="member")
    assert page.status == 409
    assert enter(office).get("/admin").status == 200


@pytest.mark.parametrize(
    "name",
    ["../access.sqlite", "..%2faccess.sqlite", "/etc/passwd", "x.tar.gz", "", "a\x00.tar.gz"],
)
def test_a_backup_is_named_by_its_file_alone(office: ServedDesk, name: str) -> None:
    client = enter(office)
    for action in ("download", "check", "remove"):
        assert client.post("/admin/backups", action=action, name=name).status in {400, 404}
    assert (office.settings.home / "access.sqlite").exists()


def test_what_programs_and_callers_write_stays_text(office: ServedDesk) -> None:
    httpx2.post(
        f"{office.url}/mcp/invoke",
        json={"tool_name": HOSTILE, "params": {}},
        headers={"user-agent": HOSTILE},
    )
    client = enter(office)
    client.call("search_knowledge", query=HOSTILE)
    client.call(HOSTILE)
    client.get(f"/admin/audit?user={HOSTILE}")
    seen = ""
    for path in [*PAGES, "/admin/audit?user=anonymous", "/admin/clients"]:
        html = client.get(path).html
        assert "<script>document.title" not in html, path
        assert "<img" not in html, path
        seen += html
    assert "&lt;img src=x onerror=" in seen, "they were shown as text"


def test_an_unknown_user_place_or_state_is_an_answer_and_no_error(office: ServedDesk) -> None:
    client = enter(office)
    assert client.get("/admin/users/nobody").status == 404
    assert client.get(f"/admin/users/{HOSTILE}").status == 404
    assert client.get("/admin/audit?from=nonsense").status == 400
    assert client.get("/admin/jobs?state=nonsense").status == 200
    assert client.post("/do/cancel_any_job", job_id="job_none").status == 404
    assert client.post("/admin/users/nobody", action="disable").status == 404


# Secrets.


def test_a_password_is_shown_once_and_works(office: ServedDesk) -> None:
    client = enter(office)
    page = client.post("/admin/users", name="carla", kind="reader")
    assert page.status == 200
    assert page.response.headers["cache-control"] == "no-store"
    found = SECRET_PASSWORD.search(page.text)
    assert found is not None
    password = found[0]
    for path in ("/admin/users", "/admin/users/carla", "/admin/audit?action=tool:add_user"):
        assert password not in client.get(path).html
    assert password.encode() not in b"".join(open_audit_reader(office.settings).lines())
    carla = ConsoleClient(office.url)
    assert carla.log_in("carla", password).status == 200
    assert carla.get("/admin").status == 403
    again = client.post("/admin/users", name="Carla", kind="reader")
    assert again.status == 409
    assert 'value="Carla"' in again.html, "nothing typed is lost"
    reset = client.post("/admin/users/carla", action="reset")
    assert reset.response.headers["cache-control"] == "no-store"
    renewed = SECRET_PASSWORD.search(reset.text)
    assert renewed is not None
    assert renewed[0] != password
    assert carla.get("/account").response.url.path == "/login", "the old session has ended"
    assert carla.log_in("carla", password).status == 401
    assert carla.log_in("carla", renewed[0]).status == 200


def test_a_tokens_secret_is_shown_once_and_works_until_it_is_revoked(office: ServedDesk) -> None:
    client = enter(office)
    wrong = client.post("/admin/tokens", name="mine", kind="chosen", days="30")
    assert wrong.status == 400
    assert "Choose at least one scope" in wrong.text
    assert 'value="mine"' in wrong.html
    beyond = client.post("/admin/tokens", name="mine", kind="admin", days="30", user="ben")
    assert beyond.status == 400
    page = client.post("/admin/tokens", name="mine", kind="reader", days="30")
    assert page.response.headers["cache-control"] == "no-store"
    found = SECRET_TOKEN.search(page.html)
    assert found is not None
    assert found[0] not in client.get("/admin/tokens").html
    assert found[0].encode() not in b"".join(open_audit_reader(office.settings).lines())
    bearer = {"authorization": f"Bearer {found[0]}"}
    body = {"tool_name": "list_knowledge", "params": {}}
    assert httpx2.post(f"{office.url}/mcp/invoke", json=body, headers=bearer).status_code == 200
    assert "revoked" in client.post("/do/revoke_token", name="mine", _next="/admin/tokens").text
    (token,) = (
        token
        for token in with_store(office.settings, lambda store: store.tokens())
        if token.name == "mine"
    )
    assert token.revoked_at is not None


# The work of an administrator.


def test_scopes_sessions_and_the_lock_of_a_user(office: ServedDesk) -> None:
    add_user(office.settings, "fred", frozenset({"papers:read"}))
    fred, client = enter(office, "fred"), enter(office)
    page = client.post(
        "/admin/users/fred", action="scopes", kind="chosen", scope=["knowledge:read"]
    )
    assert "from now on" in page.text
    user = with_store(office.settings, lambda store: store.user("fred"))
    assert user.scopes == {"knowledge:read"}
    assert "1 session ended" in client.post("/admin/users/fred", action="sessions").text
    assert fred.get("/account").response.url.path == "/login"
    assert "locked out" in client.post("/admin/users/fred", action="disable").text
    assert ConsoleClient(office.url).log_in("fred", PASSWORD).status == 401
    assert "disabled" in client.get("/admin/users").text
    assert "come in again" in client.post("/admin/users/fred", action="enable").text
    assert ConsoleClient(office.url).log_in("fred", PASSWORD).status == 200


def test_a_person_takes_back_what_they_allowed_and_logs_out_everywhere(office: ServedDesk) -> None:
    add_user(office.settings, "gina", frozenset({"papers:read"}))

    async def allow(store: SqlAccess) -> None:
        grant = Grant("gg", "c_evil", "gina", frozenset({"papers:read"}), "https://desk", NOW)
        code = AuthorizationCode("gg", "gg", "http://127.0.0.1/cb", "x", NOW + 60)
        assert await store.begin_grant(grant, code, CHEAP_HASH)
        assert await store.use_code("gg", NOW, RefreshToken("gg", "gg", NOW, NOW + 86_400))
        token = StaticToken("of gina", "hg", frozenset({"papers:read"}), NOW, None, "gina")
        assert await store.add_token(token)

    with_store(office.settings, allow)
    here, there = enter(office, "gina"), enter(office, "gina")
    page = here.get("/account")
    assert "Evil <img" in page.text
    assert "of gina" in page.text
    page = here.post(
        "/do/revoke_own_grant", grant_id="gg", _next="/account", _notice="admin.account.taken_back"
    )
    assert "Taken back" in page.text
    assert "You have allowed nothing" in page.text
    assert here.post("/do/revoke_own_token", name="of gina", _next="/account").status == 200
    page = here.post("/do/end_own_sessions", _next="/login")
    assert page.response.url.path == "/login"
    assert there.get("/account").response.url.path == "/login"
    assert with_store(office.settings, lambda store: store.sessions("gina", NOW)) == []


def test_an_administrator_takes_back_a_grant(office: ServedDesk) -> None:
    client = enter(office)
    assert "program.example" in client.get("/admin/clients").text
    page = client.post(
        "/do/revoke_grant", grant_id="g1", _next="/admin/clients", _notice="admin.clients.revoked"
    )
    assert "The consent is taken back" in page.text
    assert "program.example" not in page.text


def test_the_audit_log_is_filtered_paged_verified_and_exported(office: ServedDesk) -> None:
    client = enter(office)
    for number in range(70):
        client.call("search_knowledge", query=f"paged {number}")
    # What changes something is answered when all before it is on the disk.
    assert client.call("revoke_token", name="none").status_code == 404
    path, seen = "/admin/audit?action=tool:search_knowledge&user=ada", list[str]()
    for _ in range(5):
        page = client.get(path)
        seen += re.findall(r"paged (\d+)", page.text)
        further = re.search(r'rel="next" href="([^"]+)"', page.html)
        if further is None:
            break
        path = further[1].replace("&amp;", "&")
    assert seen == [str(number) for number in range(69, -1, -1)], "each once, newest first"
    refused = client.get("/admin/audit?refused=1&code=insufficient_permissions")
    assert "missing scope" in refused.text
    assert "done" not in refused.text
    check = client.post("/admin/audit/verify")
    assert "The log is whole" in check.text
    assert "carrel-audit-head:" in check.text
    exported = client.get("/admin/audit/export?format=csv&action=tool:search_knowledge")
    assert exported.response.headers["content-type"] == "text/csv; charset=utf-8"
    assert exported.response.headers["cache-control"] == "no-store"
    assert "attachment" in exported.response.headers["content-disposition"]
    assert exported.html.count("paged") == 70
    lines = client.get("/admin/audit/export?user=ben").html.splitlines()
    assert lines
    assert all('"user_id":"ben"' in line for line in lines)


def test_a_changed_line_of_the_log_is_drawn_as_a_break(tmp_path: Path) -> None:
    settings = desk_settings(tmp_path / "home", rooms=["knowledge"])
    with serve_desk(settings) as url:
        client = ConsoleClient(url)
        client.call("search_knowledge", query="honest words")
        assert "The log is whole" in client.post("/admin/audit/verify").text
        file = settings.audit_file
        file.write_bytes(file.read_bytes().replace(b"honest words", b"forged words"))
        page = client.post("/admin/audit/verify")
        assert "The log is not whole" in page.text
        assert "verdict-danger" in page.html
        assert "does not fit its hash" in page.text


def test_a_job_of_anybody_is_listed_without_its_input_and_cancelled(office: ServedDesk) -> None:
    client = enter(office)
    page = client.get("/admin/jobs?state=running")
    assert "job_running" in page.text
    assert "dora" in page.text
    assert "input of a job" not in page.html
    assert "job_ended" not in page.text
    page = client.post(
        "/do/cancel_any_job",
        job_id="job_running",
        _next="/admin/jobs?state=cancelled",
        _notice="admin.jobs.cancelled",
    )
    assert "The job was told to stop" in page.text
    assert "job_running" in page.text
    record = with_jobs(office.settings, lambda store: store.get("job_running"))
    assert (record.state, record.owner) == ("cancelled", "dora")
    assert client.get("/admin/jobs?state=failed").text.count("job_ended") == 1


def test_runs_of_research_are_among_the_jobs(client: ConsoleClient) -> None:
    page = client.get("/admin/jobs?state=completed")
    assert "Research run" in page.text
    assert "This machine" in page.text


def test_limits_tell_who_is_refused(office: ServedDesk) -> None:
    for _ in range(3):
        ConsoleClient(office.url).log_in("ben", "a wrong password")
    page = enter(office).get("/admin/limits")
    assert "wrong password" in page.text
    assert "100 000 / min" in page.text


def test_storage_tells_every_part_and_the_disk(office: ServedDesk) -> None:
    client = enter(office)
    page = client.get("/admin/storage")
    assert "Users and tokens" in page.text
    assert "access.sqlite" in page.text
    assert "free of" in page.text


def test_the_overview_looks_at_a_glance_and_thoroughly(office: ServedDesk) -> None:
    client = enter(office)
    page = client.get("/admin")
    assert "All well" in page.text
    assert "At a glance" in page.text
    assert "builtin" in page.text
    examined = client.post("/admin")
    assert "Examined thoroughly" in examined.text
    assert "SQLite" in examined.text


def test_on_ones_own_machine_the_pages_say_how_to_let_others_in(client: ConsoleClient) -> None:
    users = client.get("/admin/users")
    assert "One person, on this machine" in users.text
    assert "carrel users add NAME --admin" in users.text
    assert "No tokens are needed" in client.get("/admin/tokens").text
    assert "No program logs in here" in client.get("/admin/clients").text
    assert "No limits on this machine" in client.get("/admin/limits").text
    assert "You are the one person" in client.get("/account").text
    assert client.post("/admin/users", name="x", kind="member").status == 503


def test_every_page_is_told_in_german_too(office: ServedDesk) -> None:
    client = enter(office)
    for path in [*PAGES, "/account"]:
        page = client.get(path, **{"accept-language": "de"})
        assert page.status == 200, path
        assert '<html lang="de"' in page.html


def test_every_page_of_the_administration_is_tried_here() -> None:
    tried = {path.partition("?")[0] for path in [*PAGES, *FORMS]}
    known = {page.path.replace("{name}", "dora") for page in admin_pages().pages}
    assert known - tried == {"/admin/audit/export"}


# In a browser.


def test_a_backup_is_made_checked_downloaded_and_removed(page: Any, office: ServedDesk) -> None:
    enter_browser(page, office)
    page.goto(f"{office.url}/admin/backups")
    page.get_by_role("button", name="Make a backup now").click()
    page.get_by_text("is whole").first.wait_for()
    name = page.locator("th.mono").first.inner_text()
    with page.expect_download() as started:
        page.get_by_role("button", name=f"Download: {name}").click()
    body = Path(started.value.path()).read_bytes()
    file = office.settings.home / "backups" / name
    assert body == file.read_bytes()
    assert file.stat().st_mode & 0o077 == 0, "it holds secrets"
    with tarfile.open(fileobj=io.BytesIO(body)) as archive:
        assert "home/access.sqlite" in archive.getnames()
    page.get_by_role("button", name=f"Check: {name}").click()
    page.locator(".work-list li").nth(1).wait_for()
    page.once("dialog", lambda dialog: dialog.accept())
    page.get_by_role("button", name=f"Delete: {name}").click()
    page.get_by_text(f"{name} is deleted.").wait_for()
    assert not file.exists()


def test_a_token_is_made_with_keys_alone_and_copied(page: Any, office: ServedDesk) -> None:
    enter_browser(page, office)
    page.goto(f"{office.url}/admin/tokens")
    stops = tab_through(page)
    assert any("Make the token" in stop for stop in stops)
    page.locator("#field-name").focus()
    page.keyboard.type("made with keys")
    for key in ("Tab", "Tab", "Tab", "ArrowDown"):
        page.keyboard.press(key)
    assert page.locator("input[value=member]").is_checked()
    page.keyboard.press("Enter")
    page.locator("#secret").wait_for()
    secret = page.locator("#secret").inner_text()
    page.get_by_role("button", name="Copy").focus()
    page.keyboard.press("Enter")
    page.locator(".copied").wait_for()
    assert page.evaluate("() => navigator.clipboard.readText()") == secret
    page.go_back()
    page.goto(f"{office.url}/admin/tokens")
    assert secret not in page.content()


def test_users_are_added_and_their_password_seen_without_scripts(
    no_script: Any, office: ServedDesk
) -> None:
    enter_browser(no_script, office)
    no_script.goto(f"{office.url}/admin/users")
    no_script.fill("#field-name", "hanna")
    no_script.check("input[name=kind][value=chosen]")
    no_script.check("input[value='papers:read']")
    no_script.get_by_role("button", name="Add the user").click()
    assert SECRET_PASSWORD.fullmatch(no_script.locator("#secret").inner_text())
    no_script.get_by_role("link", name="I have kept it").click()
    assert no_script.get_by_role("link", name="hanna").count() == 1


def test_the_log_is_searched_on_a_phone(phone: Any, office: ServedDesk) -> None:
    assert enter(office, "ben").call("get_limits").status_code == 403, "something to find"
    enter_browser(phone, office)
    phone.goto(f"{office.url}/admin/audit")
    assert phone.locator(".admin-tabs [aria-current]").is_visible()
    phone.check("[name=refused]")
    phone.get_by_role("button", name="Show").click()
    phone.wait_for_url("**refused=1**")
    phone.locator(".audit-more summary").first.click()
    assert phone.locator(".audit-more[open] dd").first.is_visible()
    assert phone.title() != "broken"


def test_every_page_fits_a_phone_and_400_percent(page: Any, office: ServedDesk) -> None:
    enter_browser(page, office)
    for path in [*PAGES, "/account"]:
        page.goto(office.url + path)
        assert page.title() != "broken"
        assert_fits(page)


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_nothing(inspected: Any, office: ServedDesk, scheme: str) -> None:
    inspected.emulate_media(color_scheme=scheme)
    enter_browser(inspected, office)
    for path in [*PAGES, "/account"]:
        inspected.goto(office.url + path)
        assert_accessible(inspected)
    inspected.goto(f"{office.url}/admin/audit")
    inspected.get_by_role("button", name="Verify the chain").click()
    inspected.locator(".verdict").wait_for()
    assert_accessible(inspected)


def test_axe_finds_nothing_on_the_page_of_a_secret(inspected: Any, office: ServedDesk) -> None:
    enter_browser(inspected, office)
    inspected.goto(f"{office.url}/admin/tokens")
    inspected.fill("#field-name", "inspected")
    inspected.get_by_role("button", name="Make the token").click()
    inspected.locator("#secret").wait_for()
    assert_accessible(inspected)

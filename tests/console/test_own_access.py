"""What people do with their own access, and administrators with that of each."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx2
import pytest

from carrel.doors.web.messages import read_messages
from carrel.policy.scopes import ALL_SCOPES
from tests.access.support import PASSWORD
from tests.console.client import ConsoleClient
from tests.console.served_desk import ServedDesk, desk_settings, serve_desk
from tests.console.test_admin_pages import (
    SECRET_TOKEN,
    add_user,
    fill_access,
    with_store,
)
from tests.stores.test_libraries_in_a_database import carrel

pytestmark = pytest.mark.promise("V1")
NEW_PASSWORD = "another long password"


@pytest.fixture(scope="module")
def office(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ServedDesk]:
    settings = desk_settings(
        tmp_path_factory.mktemp("own") / "home",
        auth={"mode": "builtin"},
        quotas={"calls_per_day": 100},
        rooms=["knowledge"],
    )
    add_user(settings, "ada", frozenset({"admin"}))
    add_user(settings, "ben", frozenset({"papers:read"}))
    add_user(settings, "dora", frozenset(ALL_SCOPES - {"admin"}))
    add_user(settings, "eric", frozenset({"knowledge:write"}))
    add_user(settings, "fay", frozenset({"papers:read"}))
    with_store(settings, fill_access)
    with serve_desk(settings) as url:
        yield ServedDesk(url, settings)


@pytest.fixture(scope="module")
def ada(office: ServedDesk) -> ConsoleClient:
    """Logged in once: many log-ins of one address are refused for a while."""
    return enter(office, "ada")


def enter(office: ServedDesk, name: str) -> ConsoleClient:
    client = ConsoleClient(office.url)
    assert client.log_in(name, PASSWORD).status == 200
    return client


def test_nobody_makes_a_token_with_more_than_they_have(office: ServedDesk) -> None:
    ben = enter(office, "ben")
    more = ben.call("create_own_token", name="x", scopes=["knowledge:write"], days=30)
    assert more.status_code == 403
    assert ben.call("create_own_token", name="x", scopes=["admin"], days=30).status_code == 403
    endless = ben.call("create_own_token", name="x", scopes=["papers:read"], days=4000)
    assert endless.status_code == 400
    page = ben.get("/account")
    assert 'value="papers:read"' in page.html and 'value="knowledge:write"' not in page.html


def test_a_token_of_ones_own_is_shown_once_works_and_makes_no_others(office: ServedDesk) -> None:
    ben = enter(office, "ben")
    page = ben.post("/account", action="token", name="mine", kind="chosen", scope="papers:read")
    assert page.status == 200 and page.response.headers["cache-control"] == "no-store"
    secret = SECRET_TOKEN.search(page.text)
    assert secret is not None
    assert secret[0] not in ben.get("/account").html
    bearer = {"authorization": f"Bearer {secret[0]}"}
    assert httpx2.get(f"{office.url}/mcp/tools", headers=bearer).status_code == 200
    asked = {"operation": "create_own_token", "arguments": {"name": "y", "scopes": ["papers:read"]}}
    assert httpx2.post(f"{office.url}/call", json=asked, headers=bearer).status_code in {401, 403}
    assert ben.post("/do/revoke_own_token", name="ben: mine", _next="/account").status == 200
    rows = ben.call("get_own_access").text
    assert '"revoked"' in rows, "and it stops within seconds"


def test_a_password_is_changed_by_whoever_knows_the_present_one(office: ServedDesk) -> None:
    eric, elsewhere = enter(office, "eric"), enter(office, "eric")
    wrong = eric.post("/account", action="password", password="wrong", new_password=NEW_PASSWORD)
    assert wrong.status == 401
    short = eric.post("/account", action="password", password=PASSWORD, new_password="short")
    assert short.status == 400 and "at least 10" in short.text
    done = eric.post("/account", action="password", password=PASSWORD, new_password=NEW_PASSWORD)
    assert done.response.url.path == "/login", done.text
    assert elsewhere.get("/account").response.url.path == "/login", "every session has ended"
    assert ConsoleClient(office.url).log_in("eric", PASSWORD).status == 401
    assert ConsoleClient(office.url).log_in("eric", NEW_PASSWORD).status == 200


def used(client: ConsoleClient, quota: int = 100) -> int:
    """The calls of today that the person's own page shows."""
    page = client.get("/account").text
    found = re.search(rf"(\d+) / {quota}\b", page)
    assert found is not None, page
    return int(found[1])


def test_what_is_left_of_a_quota_is_on_ones_page_and_set_by_administrators(
    office: ServedDesk,
) -> None:
    ada, dora = enter(office, "ada"), enter(office, "dora")
    before = used(dora)
    assert dora.call("list_knowledge").status_code == 200
    assert used(dora) == before + 1
    nonsense = ada.post("/admin/quotas", action="set", name="dora", whose="person", calls="many")
    assert nonsense.status == 400
    assert (
        ada.post(
            "/admin/quotas", action="set", name="dora", whose="person", calls="1", cost=""
        ).status
        == 200
    )
    refused = dora.call("list_knowledge")
    assert refused.status_code == 429 and int(refused.headers.get("retry-after", "1")) > 0
    assert used(dora, quota=1) == before + 1, "one's own page costs nothing, nor does a refusal"
    assert "dora" in ada.get("/admin/quotas").text
    ada.post("/admin/quotas", action="clear", name="dora", whose="person")
    assert dora.call("list_knowledge").status_code == 200


def test_an_administrator_ends_everything_that_acts_for_somebody(office: ServedDesk) -> None:
    ada, dora = enter(office, "ada"), enter(office, "dora")
    page = ada.post("/admin/users/dora", action="revoke_all")
    assert "1 tokens, 2 programs" in page.text, page.text
    assert dora.get("/account").response.url.path == "/login"
    assert enter(office, "dora").get("/account").status == 200, "who may log in again"


def test_an_account_handed_over_to_nobody_is_not_erased(ada: ConsoleClient) -> None:
    forms: tuple[dict[str, Any], ...] = ({"action": "hand_over", "other": ""}, {}, {"action": "x"})
    for form in forms:
        refused = ada.post("/admin/users/dora/leave", **form, confirmed_name="dora")
        assert refused.status == 400, refused.text
        assert '"dora"' in ada.call("list_users").text


def test_who_gets_what_somebody_leaves_is_chosen_and_stays_chosen_after_a_mistake(
    ada: ConsoleClient,
) -> None:
    page = ada.get("/admin/users/dora/leave")
    assert re.search(r'<option value=""\s+selected>', page.html), "nobody is chosen beforehand"
    wrong = ada.post(
        "/admin/users/dora/leave", action="hand_over", other="eric", confirmed_name="Dora"
    )
    assert re.search(r'<option value="eric"\s+selected>', wrong.html)


def test_what_somebody_leaves_is_named_in_the_language_of_the_page(ada: ConsoleClient) -> None:
    counts = ada.call("count_left_behind", name="dora").json()["result"]["counts"]
    messages = read_messages(["carrel.doors.web.admin"])
    for language in ("en", "de"):
        unnamed = [k for k in counts if not messages[language].has(f"admin.leaving.kinds.{k}")]
        assert not unnamed, language
    page = ada.get("/admin/users/ben/leave", **{"accept-language": "de"})
    assert "Erlaubnisse für Programme" in page.text and "grants" not in page.text


def test_a_quota_is_shown_as_it_was_set(ada: ConsoleClient) -> None:
    ada.post("/admin/quotas", action="set", name="eric", whose="person", calls="1000", cost="12.5")
    assert "/ 12.50" in ada.get("/admin/quotas").text
    ada.post("/admin/quotas", action="clear", name="eric", whose="person")


def test_the_page_of_ones_access_sends_nobody_elsewhere_for_what_it_does(
    office: ServedDesk,
) -> None:
    page = enter(office, "fay").get("/account")
    assert "Change your password" in page.text
    assert "To change your password" not in page.text


@pytest.mark.parametrize(
    ("section", "typed"),
    [
        ("make-token", {"name": "mine"}),
        ("password", {"password": "wrong", "new_password": NEW_PASSWORD}),
    ],
)
def test_what_was_wrong_with_a_form_of_ones_access_is_seen_beside_it(
    office: ServedDesk, phone: Any, section: str, typed: dict[str, str]
) -> None:
    phone.goto(f"{office.url}/login")
    phone.fill("input[name=username]", "fay")
    phone.fill("input[name=password]", PASSWORD)
    phone.click("main button[type=submit]")
    phone.goto(f"{office.url}/account")
    form = phone.locator(f"#{section} form")
    for name, text in typed.items():
        form.locator(f"input[name={name}]").fill(text)
    form.get_by_role("button").click()
    phone.wait_for_load_state("networkidle")
    told = phone.locator(f"#{section} [role=alert]").bounding_box()
    assert told is not None and 0 <= told["y"] <= 800 - told["height"], told
    phone.problems.clear()


def test_an_account_ends_when_its_name_is_typed(office: ServedDesk) -> None:
    ada, dora = enter(office, "ada"), enter(office, "dora")
    saved = dora.call("save_knowledge", title="Hers", content="What dora thought")
    assert saved.status_code == 200
    page = ada.get("/admin/users/dora/leave")
    assert page.status == 200 and "notes" in page.text and "audit log" in page.text, page.text
    assert ada.get("/admin/users/nobody/leave").status == 404
    wrong = ada.post(
        "/admin/users/dora/leave", action="hand_over", other="ben", confirmed_name="Dora"
    )
    assert wrong.status == 409 and "nothing was changed" in wrong.text
    own = ada.post("/admin/users/ada/leave", action="erase", confirmed_name="ada")
    assert own.status == 409
    done = ada.post(
        "/admin/users/dora/leave", action="hand_over", other="eric", confirmed_name="dora"
    )
    assert done.status == 200 and "eric has what dora left" in done.text, done.text
    assert '"dora"' not in ada.call("list_users").text
    assert dora.get("/account").response.url.path == "/login"


def test_people_are_listed_shown_and_revoked_at_the_command_line(tmp_path: Path) -> None:
    settings = desk_settings(tmp_path / "home", auth={"mode": "builtin"})
    add_user(settings, "ada", frozenset({"admin"}))
    add_user(settings, "ben", frozenset({"papers:read"}))
    add_user(settings, "dora", frozenset({"papers:read"}))
    with_store(settings, fill_access)
    home = settings.home
    unknown = carrel(home, "", "people", "show", "nobody")
    assert unknown.returncode == 3
    others = carrel(home, "", "people", "revoke", "ben", "--grant", "g0")
    assert others.returncode == 3, "that grant is dora's"
    others = carrel(home, "", "people", "revoke", "ben", "--token", "of dora")
    assert others.returncode == 3
    assert carrel(home, "", "people", "link", "ben", "--subject", "s").returncode != 0
    shown = carrel(home, "", "people", "show", "dora", "--json")
    facts = json.loads(shown.stdout)
    assert [token["name"] for token in facts["tokens"]] == ["of dora"]
    assert {grant["client"] for grant in facts["grants"]} == {
        "c_evil",
        "https://program.example/client.json",
    }
    assert "hash" not in shown.stdout
    done = carrel(home, "", "people", "revoke", "dora", "--all", "--json")
    assert json.loads(done.stdout) == {"name": "dora", "tokens": 1, "grants": 2, "sessions": 0}
    listed = json.loads(carrel(home, "", "people", "list", "--json").stdout)
    counts = {each["name"]: (each["tokens"], each["grants"]) for each in listed}
    assert counts == {"ada": (0, 0), "ben": (1, 1), "dora": (0, 0)}
    table = carrel(home, "", "people", "show", "ben")
    assert "of ben" in table.stdout and "program" in table.stdout
    linked = carrel(
        home, "", "people", "link", "ben", "--subject", "s-1",
        CARREL_AUTH_OIDC_ISSUER="https://login.example.edu",
    )  # fmt: skip
    assert linked.returncode == 0, linked.stderr
    shown = carrel(home, "", "people", "show", "ben", "--json")
    assert json.loads(shown.stdout)["subject"] == "s-1"
    institute = {"CARREL_AUTH_OIDC_ISSUER": "https://login.example.edu"}
    again = carrel(home, "", "people", "link", "ada", "--subject", "s-1", **institute)
    assert again.returncode == 6 and "has the account ben" in again.stderr
    step = "users leave ben --hand-over-to ada --yes"
    assert step in again.stderr
    assert carrel(home, "", *step.split()).returncode == 0
    linked = carrel(home, "", "people", "link", "ada", "--subject", "s-1", **institute)
    assert linked.returncode == 0, linked.stderr

"""Tags, collections, read state and the history of the library in the console."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest

from tests.access.support import PASSWORD
from tests.console.checks import assert_accessible, assert_fits, axe_source
from tests.console.client import ConsoleClient
from tests.console.served_desk import HOSTILE, ServedDesk, add_user, desk_settings, serve_desk

pytestmark = [pytest.mark.promise("V1"), pytest.mark.promise("L10")]

_PAGES = (
    "/references?collection=Thesis",
    "/references/organize?id=k002&id=k003",
    "/references/groups",
    "/references/history",
    "/references/item/k002",
)


def _items() -> list[dict[str, Any]]:
    return [
        {
            "id": f"k{at:03}",
            "type": "book",
            "title": f"Title {at:03}",
            "custom": {
                "tags": ["even" if at % 2 == 0 else "odd", HOSTILE[:190]],
                "collections": ["Thesis/Chapter 1/Draft"] if at < 5 else ["Rest"],
                "read_state": "read" if at == 7 else "unread",
            },
        }
        for at in range(140)
    ]


@pytest.fixture
def library(tmp_path: Any) -> Iterator[ServedDesk]:
    path = tmp_path / "library.json"
    path.write_text(json.dumps(_items(), indent=1), "utf-8")
    settings = desk_settings(tmp_path / "home", rooms=("references",), references={"library": path})
    with serve_desk(settings) as url:
        yield ServedDesk(url, settings)


def test_who_may_only_read_sees_groups_and_changes_and_can_change_nothing(tmp_path: Any) -> None:
    settings = desk_settings(tmp_path / "home", rooms=("references",), auth={"mode": "builtin"})
    add_user(settings, "rea", frozenset({"references:read"}))
    with serve_desk(settings) as url:
        rea = ConsoleClient(url)
        rea.log_in("rea", PASSWORD)
        for path in ("/references/groups", "/references/history"):
            page = rea.get(path)
            assert page.status == 200
            assert 'action="/references' not in page.html
        assert rea.get("/references/organize?id=x").status == 403
        assert rea.post("/references/organize", id="x", add_tags="t").status == 403
        assert rea.post("/references/groups", kind="tag", group="x", new_name="y").status == 403
        assert rea.post("/references/history", revision="1").status == 403


@pytest.mark.parametrize(
    ("path", "fields"),
    [
        ("/references/organize", {"id": "k001", "add_tags": "forged"}),
        ("/references/groups", {"kind": "tag", "group": "odd", "action": "remove"}),
        ("/references/history", {}),
    ],
)
def test_a_form_of_another_site_changes_nothing(
    library: ServedDesk, path: str, fields: dict[str, str]
) -> None:
    reader = ConsoleClient(library.url)
    token = reader.get("/references").csrf
    assert reader.send(path, fields).status in {400, 403}
    foreign = {"origin": "https://evil.example", "sec-fetch-site": "cross-site"}
    assert reader.send(path, {**fields, "csrf": token}, **foreign).status in {400, 403}
    found = library.call("get_reference", id="k001")["reference"]["custom"]["tags"]
    assert found[0] == "odd" and "forged" not in found


@pytest.mark.parametrize(
    ("path", "fields", "status"),
    [
        ("/references/organize", {"id": "nobody", "add_tags": "x"}, 404),
        ("/references/organize", {"id": "k001", "add_collections": "A//B"}, 400),
        ("/references/groups", {"kind": "tag", "group": "no such", "new_name": "x"}, 404),
        ("/references/groups", {"kind": "verse", "group": "odd", "new_name": "x"}, 400),
        ("/references/groups", {"kind": "tag", "group": "odd", "new_name": ""}, 400),
        ("/references/history", {"revision": "4711"}, 404),
    ],
)
def test_what_cannot_be_done_says_so(
    library: ServedDesk, path: str, fields: dict[str, Any], status: int
) -> None:
    assert ConsoleClient(library.url).post(path, **fields).status == status


def test_a_selection_is_organized_renamed_and_undone_without_scripts(
    no_script: Any, library: ServedDesk
) -> None:
    page = no_script
    page.goto(f"{library.url}/references")
    page.locator(".collections").get_by_role("link", name="Chapter 1").click()
    assert page.locator(".library-table tbody tr").count() == 5
    page.check("input[value=k002]")
    page.check("input[value=k003]")
    page.get_by_role("button", name="Organize").click()
    page.fill("input[name=add_tags]", "fresh, second")
    page.check("input[name=remove_tag][value=even]")
    page.fill("input[name=add_collections]", "Talks/Berlin")
    page.select_option("select[name=read_state]", "reading")
    page.get_by_role("button", name="Apply").click()
    assert "2 references were changed" in page.inner_text("body")
    page.locator("section.facet", has_text="Collections").get_by_role("link", name="Berlin").click()
    assert page.locator(".read-reading").count() == 2
    custom = library.call("get_reference", id="k002")["reference"]["custom"]
    assert custom["tags"][-2:] == ["fresh", "second"] and "even" not in custom["tags"]

    page.goto(f"{library.url}/references/groups")
    line = page.locator(".group-list li", has=page.get_by_role("link", name="fresh", exact=True))
    line.locator("summary").click()
    line.locator("input[name=new_name]").fill("renamed")
    line.get_by_role("button", name="Rename").click()
    assert page.get_by_role("link", name="renamed", exact=True).count() == 1

    page.get_by_role("link", name="Changes of the library").click()
    page.get_by_role("button", name="Undo change").first.click()
    assert "was undone" in page.inner_text("body")
    tags = library.call("get_reference", id="k003")["reference"]["custom"]["tags"]
    assert "fresh" in tags and "renamed" not in tags


def test_read_state_is_set_on_the_page_of_a_reference_and_seen_in_its_versions(
    no_script: Any, library: ServedDesk
) -> None:
    page = no_script
    page.goto(f"{library.url}/references/item/k009")
    page.get_by_role("button", name="Mark as read", exact=True).click()
    assert page.get_by_role("button", name="Mark as unread").count() == 1
    page.goto(f"{library.url}/references/versions/k009")
    assert "unread" in page.inner_text("del") and "read" in page.inner_text("ins")


def test_rows_that_are_drawn_later_show_their_read_state(page: Any, library: ServedDesk) -> None:
    library.call("organize_references", ids=["k120", "k139"], read_state="read")
    page.goto(f"{library.url}/references?sort=key")
    page.locator("#library-window").evaluate("pane => { pane.scrollTop = pane.scrollHeight; }")
    page.wait_for_selector("input[value=k139]")
    row = page.locator("tr", has=page.locator("input[value=k139]"))
    assert row.locator(".read-read").count() == 1
    other = page.locator("tr", has=page.locator("input[value=k138]"))
    assert other.locator(".read-mark").count() == 0


def test_hostile_names_stay_inert(library: ServedDesk, page: Any) -> None:
    for path in _PAGES:
        page.goto(f"{library.url}{path}")
        page.wait_for_load_state("networkidle")
        assert "broken" not in page.title(), path


@pytest.mark.parametrize("path", _PAGES)
def test_every_page_fits_a_phone(library: ServedDesk, phone: Any, path: str) -> None:
    phone.goto(f"{library.url}{path}")
    assert_fits(phone)


def test_pages_speak_german(library: ServedDesk) -> None:
    reader = ConsoleClient(library.url)
    german = {"accept-language": "de"}
    assert "Sammlungen" in reader.get("/references/groups", **german).text
    assert "Änderungen der Bibliothek" in reader.get("/references/history", **german).text


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_nothing(library: ServedDesk, inspected: Any, scheme: str) -> None:
    if axe_source() is None:
        assert_accessible(inspected)
    inspected.emulate_media(color_scheme=scheme)
    for path in _PAGES:
        inspected.goto(f"{library.url}{path}")
        inspected.wait_for_load_state("networkidle")
        assert_accessible(inspected)

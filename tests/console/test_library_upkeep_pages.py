"""Duplicates, keys, files and shared libraries in the console, without scripts."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.access.support import PASSWORD
from tests.console.checks import assert_accessible, assert_fits
from tests.console.client import ConsoleClient, Page
from tests.console.served_desk import HOSTILE, ServedDesk, add_user, desk_settings, serve_desk

pytestmark = [pytest.mark.promise("V1"), pytest.mark.promise("L10")]

_PAGES = (
    "/references/duplicates",
    "/references/merge?keep=one&other=two",
    "/references/keys?pattern={author}{year}",
    "/references/files",
    "/references/item/one",
    "/references/libraries",
)


def _items() -> list[dict[str, Any]]:
    same = {
        "type": "article-journal",
        "title": "Rivers of the North and their tides",
        "author": [{"family": "Doe", "given": "Jane"}],
        "issued": {"date-parts": [[2019]]},
        "DOI": "10.1234/rivers",
    }
    return [
        {"id": "one", **same, "volume": "3"},
        {"id": "two", **same, "volume": "33", "custom": {"tags": ["kept"]}},
        {"id": "bad", "type": "book", "title": f"Bad {HOSTILE}"},
    ]


@pytest.fixture
def library(tmp_path: Path) -> Iterator[ServedDesk]:
    path = tmp_path / "library.json"
    path.write_text(json.dumps(_items(), indent=1), "utf-8")
    left = tmp_path / "library-attachments" / "left"
    left.mkdir(parents=True)
    (left / "old.pdf").write_bytes(b"%PDF-1.4 left")
    settings = desk_settings(
        tmp_path / "home",
        rooms=("references",),
        references={"library": path, "allowed_folders": [tmp_path]},
    )
    with serve_desk(settings) as url:
        yield ServedDesk(url, settings)


@pytest.fixture
def people(tmp_path: Path) -> Iterator[ServedDesk]:
    """A desk with log-ins: ada, bob and eve may write, rea may only read."""
    settings = desk_settings(tmp_path / "home", rooms=("references",), auth={"mode": "builtin"})
    read = frozenset({"references:read"})
    for name in ("ada", "bob", "eve"):
        add_user(settings, name, read | {"references:write"})
    add_user(settings, "rea", read)
    with serve_desk(settings) as url:
        yield ServedDesk(url, settings)


def _logged_in(desk: ServedDesk, name: str) -> ConsoleClient:
    client = ConsoleClient(desk.url)
    client.log_in(name, PASSWORD)
    return client


def _post(person: ConsoleClient, path: str, form: dict[str, str]) -> Page:
    if not person.token:
        person.get("/")
    return person.send(path, {"csrf": person.token, **form})


def test_who_may_only_read_is_refused_every_change(people: ServedDesk) -> None:
    rea = _logged_in(people, "rea")
    for path in ("/references/duplicates", "/references/files", "/references/libraries"):
        page = rea.get(path)
        assert page.status == 200 and "<form" not in page.html.partition("<main")[2], path
    for path in ("/references/keys", "/references/merge?keep=a&other=b"):
        assert rea.get(path).status == 403, path
    for path, form in (
        ("/references/merge", {"keep": "a", "other": "b"}),
        ("/references/keys", {"pattern": "{author}"}),
        ("/references/files", {"file": "x"}),
        ("/references/libraries", {"name": "Mine"}),
    ):
        assert _post(rea, path, form).status == 403, path


@pytest.mark.promise("L12")
def test_a_stranger_finds_no_page_of_a_shared_library(people: ServedDesk) -> None:
    ada, bob, eve = (_logged_in(people, name) for name in ("ada", "bob", "eve"))
    page = ada.post("/references/libraries", name="Lab papers")
    path = page.response.url.path
    assert "Lab papers" in page.text
    library = path.rpartition("/")[2]
    assert eve.get(path).status == 404
    assert eve.post(path, input="@misc{k, title={T}}").status == 404
    assert "Lab papers" not in eve.get("/references/libraries").text
    joining = {"library": library, "member": "eve", "_next": path}
    assert _post(eve, "/do/set_library_member", joining).status == 404
    # A reader reads and cannot add; a writer can; the library of each stays as it was.
    ada.post("/do/set_library_member", library=library, member="bob", role="reader", _next=path)
    ada.post(path, input="@book{tides, title={Tides of the lab}, author={Doe, Jane}}")
    assert "Tides of the lab" in bob.get(path).text
    assert bob.post(path, input="@misc{k, title={T}}").status == 403
    ada.post("/do/set_library_member", library=library, member="bob", role="writer", _next=path)
    bob.post(path, input="@misc{ebb, title={Ebb of the lab}}")
    assert "Ebb of the lab" in ada.get(f"{path}?q=ebb").text
    assert "Tides" not in ada.get(f"{path}?q=ebb").text
    bob.post("/do/undo_library_change", shared_library=library, _next=path)
    assert "Ebb of the lab" not in ada.get(path).text
    assert "Tides" not in bob.get("/references").text
    # The last owner cannot leave, and deleting needs the tick.
    assert ada.post("/do/leave_library", library=library, _next=path).status == 409
    assert ada.post("/do/delete_library", library=library, _next=path).status == 400
    ada.post("/do/hand_over_library", library=library, member="bob", _next=path)
    assert ada.post("/do/delete_library", library=library, force="1", _next=path).status == 403
    bob.post("/do/delete_library", library=library, force="1", _next="/references/libraries")
    assert bob.get(path).status == ada.get(path).status == 404


def test_a_merge_is_looked_at_chosen_done_and_undone(library: ServedDesk) -> None:
    person = ConsoleClient(library.url)
    found = person.get("/references/duplicates")
    assert "One work" in found.text
    preview = person.get("/references/merge?keep=one&other=two")
    assert "3" in preview.text and "33" in preview.text
    assert library.call("list_references")["total"] == 3
    chosen = {"keep": "one", "other": "two", "field-volume": "two"}
    assert _post(person, "/references/merge", chosen).status == 303
    done = person.get("/references/history")
    assert "was merged into one" in done.text
    merged = library.call("get_reference", id="two")["reference"]
    assert (merged["id"], merged["volume"], merged["custom"]["tags"]) == ("one", "33", ["kept"])
    person.post("/references/history", revision="")
    assert library.call("get_reference", id="one")["reference"]["volume"] == "3"
    assert library.call("list_references")["total"] == 3


def test_keys_are_shown_before_they_are_renamed_and_old_ones_lead_on(library: ServedDesk) -> None:
    person = ConsoleClient(library.url)
    shown = person.get("/references/keys?pattern=%7Bauthor%7C&q=")
    assert shown.status == 200 and "pattern" in shown.text.lower()
    shown = person.get("/references/keys?pattern=%7Bauthor%7D-%7Byear%7D&q=id:one")
    assert "doe-2019" in shown.text
    assert library.call("get_reference", id="one")["reference"]["id"] == "one"
    person.post("/references/keys", pattern="{author}-{year}", q="id:one")
    assert library.call("get_reference", id="one")["reference"]["id"] == "doe-2019"
    person.post("/do/rename_reference", id="two", new_id="zwei", _next="/references/item/zwei")
    assert "zwei" in person.get("/references/item/two").text


def test_files_are_attached_saved_detached_and_orphans_removed(
    library: ServedDesk, tmp_path: Path
) -> None:
    person = ConsoleClient(library.url)
    assert "left/old.pdf" in person.get("/references/files").text
    for name in ("paper.pdf", "table.csv"):
        (tmp_path / name).write_bytes(b"%PDF-1.4 x" if name.endswith("pdf") else b"a,b\n")
        given = {"id": "one", "path": str(tmp_path / name), "_next": "/references/item/one"}
        assert _post(person, "/do/attach_file", given).status == 303
    page = person.get("/references/item/one")
    assert "table.csv" in page.text and "fulltext.pdf" in page.text
    saved = person.get("/references/attached/one?name=table.csv")
    assert saved.response.content == b"a,b\n"
    assert saved.response.headers["content-type"] == "application/octet-stream"
    assert "attachment" in saved.response.headers["content-disposition"]
    assert person.get("/references/attached/one?name=../x").status == 404
    page = person.post("/do/detach_file", id="one", name="table.csv", _next="/references/item/one")
    assert "table.csv" not in page.text
    page = person.post("/references/files", file="left/old.pdf")
    assert "left/old.pdf" not in page.text
    assert not (tmp_path / "library-attachments" / "left" / "old.pdf").exists()


@pytest.mark.parametrize("path", _PAGES)
def test_every_page_is_accessible_fits_a_phone_and_runs_nothing_of_others(
    library: ServedDesk, page: Any, phone: Any, path: str
) -> None:
    phone.goto(f"{library.url}{path}")
    assert_fits(phone)
    page.goto(f"{library.url}{path}")
    assert page.title() != "broken"
    assert_accessible(page)


def test_a_page_of_a_shared_library_is_accessible_and_fits_a_phone(
    library: ServedDesk, page: Any, phone: Any
) -> None:
    made = library.call("create_library", name=HOSTILE[:90])
    library.call("set_library_member", library=made["id"], member="bob")
    long = {
        "id": "imported0123456789abcdef0123456789",
        "type": "book",
        "title": "Polyunsaturated acids " * 8,
        "author": [{"family": "Featherstonehaughvillalobos"}],
        "issued": {"date-parts": [[1980]]},
    }
    library.call("add_references", input=json.dumps([long]), shared_library=made["id"])
    for browser in (page, phone):
        browser.goto(f"{library.url}/references/libraries/{made['id']}")
        assert browser.title() != "broken"
    assert_fits(phone)
    assert_accessible(page)


def test_a_search_without_a_hit_does_not_call_a_shared_library_empty(library: ServedDesk) -> None:
    made = library.call("create_library", name="Lab")
    library.call("add_references", input="@misc{k, title={T}}", shared_library=made["id"])
    path = f"/references/libraries/{made['id']}"
    person = ConsoleClient(library.url)
    assert "Remove a filter or a word" in person.get(f"{path}?q=nowhere").text
    assert "Nothing is here" not in person.get(f"{path}?q=nowhere").text


def test_what_a_shared_library_did_not_take_is_told_and_kept(people: ServedDesk) -> None:
    ada = _logged_in(people, "ada")
    path = ada.post("/references/libraries", name="Lab").response.url.path
    page = ada.post(path, input="no identifier\nnor this")
    assert "0 added" in page.text and "2 failed" in page.text
    assert "no identifier\nnor this" in page.html, "what was typed can be sent again"
    torn = ada.post(path, input="@book{tides, title={Tides}}\n@book{broken, title={No end")
    assert "added" in torn.text and "line 2" in torn.text


def test_a_shared_library_offers_nothing_that_must_fail(people: ServedDesk, no_script: Any) -> None:
    ada, page = _logged_in(people, "ada"), no_script
    path = ada.post("/references/libraries", name="Lab").response.url.path
    empty = ada.get(path)
    assert "/do/undo_library_change" not in empty.html and "/do/leave_library" not in empty.html
    assert "the only owner" in empty.text
    ada.post(path, input="@book{tides, title={Tides}}")
    library = path.rpartition("/")[2]
    ada.post("/do/set_library_member", library=library, member="bob", role="owner", _next=path)
    full = ada.get(path)
    assert "/do/undo_library_change" in full.html and "/do/leave_library" in full.html
    page.goto(f"{people.url}/login")
    page.fill("input[name=username]", "ada")
    page.fill("input[name=password]", PASSWORD)
    page.click("main button[type=submit]")
    page.goto(f"{people.url}{path}")
    page.locator("summary", has_text="Rename or delete").click()
    page.get_by_role("button", name="Delete for everybody").click()
    assert ada.get(path).status == 200 and page.url.endswith(path), "not before the tick"


def test_more_keys_than_are_listed_are_told_before_they_are_renamed(library: ServedDesk) -> None:
    many = [{"id": f"k{at}", "type": "book", "title": f"Title {at}"} for at in range(230)]
    library.call("add_references", input=json.dumps(many))
    shown = ConsoleClient(library.url).get("/references/keys?pattern=%7Btitle%7D")
    assert "233 keys would change" in shown.text and "and 33 more" in shown.text


def test_values_that_differ_near_their_ends_are_told_apart_before_a_merge(
    library: ServedDesk, phone: Any
) -> None:
    for key, end in (("one", "first end"), ("two", "other end")):
        text = "An abstract of many words. " * 40 + end
        library.call("edit_reference", id=key, changes={"abstract": text})
    phone.goto(f"{library.url}/references/merge?keep=one&other=two")
    told = phone.inner_text("form[action='/references/merge']")
    assert "first end" in told and "other end" in told
    for radio in phone.locator("input[type=radio]").all():
        box = radio.bounding_box()
        assert box is not None and abs(box["width"] - box["height"]) < 1, box


def test_an_empty_library_counts_nothing_and_leads_to_shared_ones(tmp_path: Path) -> None:
    settings = desk_settings(tmp_path / "home", rooms=("references",))
    with serve_desk(settings) as url:
        person = ConsoleClient(url)
        for path in ("/references/duplicates", "/references/files"):
            assert not re.search(r"\b0 [a-z]", person.get(path).text), path
        assert person.get("/references").html.count('href="/references/libraries"') == 1


def test_files_are_deleted_only_when_it_was_meant(library: ServedDesk, page: Any) -> None:
    page.goto(f"{library.url}/references/files")
    page.check("input[value='left/old.pdf']")
    page.on("dialog", lambda dialog: dialog.dismiss())
    page.get_by_role("button", name="Delete the chosen files").click()
    assert page.locator("input[value='left/old.pdf']").is_checked()
    assert ConsoleClient(library.url).get("/references/files").text.count("left/old.pdf") > 0
    assert "13 B" in page.inner_text("#orphans")


def test_pages_speak_german(library: ServedDesk) -> None:
    person = ConsoleClient(library.url)
    for path in _PAGES:
        page = person.get(path, **{"accept-language": "de"})
        told = page.text.replace("references.allowed_folders", "")
        assert page.status == 200 and "references." not in told, path

"""The library in the console: its table, editor, import and citations."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from html import unescape
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest

from tests.access.support import PASSWORD
from tests.console.checks import assert_accessible, assert_fits, axe_source, tab_through
from tests.console.client import ConsoleClient
from tests.console.served_desk import HOSTILE, ServedDesk, add_user, desk_settings, serve_desk
from tests.rooms.references.works_server import doi, works_server

pytestmark = pytest.mark.promise("V1")

_COUNT = 360
_HOSTILE_BIB = (
    "@article{{{key}, title = {{Bad {hostile}}}, author = {{Eve, {hostile}}}, "
    "journal = {{J {hostile}}}, url = {{javascript:document.title='broken'}}, "
    "keywords = {{\"><script>document.title='broken'</script>}}, year = 1999}}"
)


def _items() -> list[dict[str, Any]]:
    return [
        {
            "id": f"row{at:03}",
            "type": "book" if at % 4 == 0 else "article-journal",
            "title": f"Title {at:03} of the long list",
            "author": [
                {"family": f"Family{(at * 7) % _COUNT:03}", "given": "Ann"},
                {"literal": "The Long Organisation"},
            ],
            "issued": {"date-parts": [[1900 + at % 100, 5, 17]]},
            "container-title": "Journal of Lists",
            "volume": at,
            "DOI": f"10.5555/row.{at}",
            "custom": {"created_at": f"2026-01-01T00:{at // 60:02}:{at % 60:02}Z"},
        }
        for at in range(_COUNT)
    ]


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ServedDesk]:
    """A local desk with references and notes, and a library of several pages."""
    folder = tmp_path_factory.mktemp("library")
    path = folder / "library.json"
    path.write_text(json.dumps(_items(), indent=1), "utf-8")
    settings = desk_settings(
        folder / "home",
        rooms=("references", "knowledge"),
        references={"library": path, "allowed_folders": [folder]},
    )
    with serve_desk(settings) as url:
        yield ServedDesk(url, settings)


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ServedDesk]:
    """A desk with log-ins: rea may only read references, will may change them, eve nothing."""
    folder = tmp_path_factory.mktemp("shared")
    settings = desk_settings(folder / "home", rooms=("references",), auth={"mode": "builtin"})
    read = frozenset({"references:read"})
    add_user(settings, "rea", read)
    add_user(settings, "will", read | {"references:write"})
    add_user(settings, "eve", frozenset())
    with serve_desk(settings) as url:
        yield ServedDesk(url, settings)


@pytest.fixture
def reader(library: ServedDesk) -> ConsoleClient:
    return ConsoleClient(library.url)


def _logged_in(desk: ServedDesk, name: str) -> ConsoleClient:
    client = ConsoleClient(desk.url)
    client.log_in(name, PASSWORD)
    return client


def _add(desk: ServedDesk, text: str) -> str:
    added = desk.call("add_references", input=text)
    assert added["added"], added
    return str(added["added"][0]["id"])


def _field(html: str, name: str) -> str:
    found = re.search(rf'<input[^>]*name="{re.escape(name)}" value="([^"]*)"', html)
    assert found is not None, name
    return unescape(found[1])


# Refusals.


@pytest.mark.parametrize(
    "path", ["/references", "/references/item/x", "/references/edit/x", "/references/export"]
)
def test_a_stranger_is_sent_to_log_in(shared: ServedDesk, path: str) -> None:
    page = ConsoleClient(shared.url).get(path)
    assert urlsplit(str(page.response.url)).path == "/login"


def test_who_may_not_read_references_sees_nothing_of_them(shared: ServedDesk) -> None:
    eve = _logged_in(shared, "eve")
    page = eve.get("/references")
    assert page.status == 403
    assert "library-table" not in page.html
    assert 'href="/references"' not in eve.get("/").html


def test_who_may_only_read_is_offered_no_change_and_cannot_make_one(shared: ServedDesk) -> None:
    will, rea = _logged_in(shared, "will"), _logged_in(shared, "rea")
    assert "1 added" in will.post("/references/import", input="@book{his, title={His own}}").text
    # Each has a library of their own.
    assert rea.get("/references/item/his").status == 404
    page = rea.get("/references")
    assert "/references/import" not in page.html and "/references/new" not in page.html
    for path in ("/references/new", "/references/import", "/references/remove?id=his"):
        assert rea.get(path).status == 403, path
    refused = rea.post("/references/import", input="@book{x, title={X}}")
    assert refused.status == 403
    assert rea.post("/references/remove", id="his").status == 403
    assert will.get("/references/item/his").status == 200


@pytest.mark.parametrize(
    ("path", "fields"),
    [
        ("/references/remove", {"id": "row001"}),
        ("/references/import", {"input": "@book{forged, title={Forged}}"}),
        ("/references/edit/row001", {"base": "{}", "do": "save"}),
        ("/references/restore", {"id": "row001"}),
    ],
)
def test_a_form_of_another_site_changes_nothing(
    library: ServedDesk, reader: ConsoleClient, path: str, fields: dict[str, str]
) -> None:
    token = reader.get("/references").csrf
    assert reader.send(path, fields).status in {400, 403}
    foreign = {"origin": "https://evil.example", "sec-fetch-site": "cross-site"}
    assert reader.send(path, {**fields, "csrf": token}, **foreign).status in {400, 403}
    assert library.call("get_reference", id="row001")["reference"]["id"] == "row001"


def test_hostile_references_stay_inert_on_every_page(library: ServedDesk, page: Any) -> None:
    key = _add(library, _HOSTILE_BIB.format(key="evil", hostile=HOSTILE.replace("'", "")))
    for path in (
        "/references?q=bad",
        f"/references/item/{key}",
        f"/references/edit/{key}",
        f"/references/edit/{key}?view=json",
        f"/references/versions/{key}",
        f"/references/cite?id={key}&style=ieee",
        f"/references/remove?id={key}",
    ):
        page.goto(f"{library.url}{path}")
        page.wait_for_load_state("networkidle")
        assert page.title() != "broken", path
        assert page.locator("main img, main script").count() == 0, path
        assert page.locator("main [href^='javascript']").count() == 0, path
        assert "script" in page.locator("main").inner_html(), path
    library.call("remove_reference", id=key, force=True)


def test_a_hostile_report_of_an_import_stays_inert(library: ServedDesk, page: Any) -> None:
    page.goto(f"{library.url}/references/import")
    page.fill("#field-input", f"{HOSTILE}\nnot an identifier <b>at all</b>")
    page.get_by_role("button", name="Import").click()
    page.wait_for_selector("#report-section")
    assert page.locator("#report img, #report script, #report b").count() == 0
    assert "not read" in page.inner_text("#report")


@pytest.mark.parametrize(
    "query",
    ["?at=-1", "?at=x", "?from=abc", "?sort=year&after=spring&after_id=row001", "?to=99999"],
)
def test_an_address_that_makes_no_sense_says_so(reader: ConsoleClient, query: str) -> None:
    page = reader.get(f"/references{query}")
    assert page.status in {400, 422}
    assert "Traceback" not in page.html


def test_a_reference_that_is_not_there_is_told(reader: ConsoleClient) -> None:
    for path in ("item", "edit", "text", "file", "versions"):
        assert reader.get(f"/references/{path}/nobody-2099").status == 404, path


# Without scripts.


def test_pages_follow_each_other_by_links_and_lead_back(reader: ConsoleClient) -> None:
    seen: list[str] = []
    page = reader.get("/references?sort=author")
    first = page.html
    while True:
        seen += re.findall(r'name="id" value="([^"]+)"', page.html)[:100]
        following = re.search(r'rel="next" href="([^"]+)"', page.html)
        if following is None:
            break
        page = reader.get(unescape(following[1]))
    rows = [name for name in dict.fromkeys(seen) if name.startswith("row")]
    assert len(rows) == _COUNT
    families = [(int(name[3:]) * 7) % _COUNT for name in rows]
    assert families == sorted(families)
    for _ in range(3):
        back = re.search(r'rel="prev" href="([^"]+)"', page.html)
        assert back is not None
        page = reader.get(unescape(back[1]))
    assert re.findall(r"aria-rowindex=.(\d+)", page.html) == re.findall(
        r"aria-rowindex=.(\d+)", first
    )


def test_filters_stand_in_the_address_and_can_be_taken_back(no_script: Any, library: Any) -> None:
    page = no_script
    page.goto(f"{library.url}/references")
    page.get_by_role("link", name=re.compile("^Book")).click()
    assert "type=book" in page.url
    page.fill("input[name=from]", "1950")
    page.fill("input[name=to]", "1960")
    page.get_by_role("button", name="Apply").click()
    years = page.locator(".library-table tbody td:nth-child(4)").all_inner_texts()
    assert years and all(1950 <= int(year) <= 1960 for year in years)
    page.fill("#search-q", "title 052")
    page.get_by_role("button", name="Search", exact=True).click()
    assert "from=1950" in page.url and "type=book" in page.url
    assert page.locator(".library-table tbody tr").count() == 1
    page.locator(".chip", has_text="Book").click()
    assert "type=" not in page.url


def test_import_edit_cite_export_and_remove_without_scripts(no_script: Any, library: Any) -> None:
    page = no_script
    page.goto(f"{library.url}/references/import")
    page.fill(
        "#field-input",
        "@article{plain, title={A plain article}, author={Doe, Jane}, year=2001}\n"
        "@article{again, title={x}, doi={10.5555/row.7}}",
    )
    page.get_by_role("button", name="Import").click()
    assert "1 added" in page.inner_text("#report") and "1 already here" in page.inner_text(
        "#report"
    )
    page.get_by_role("link", name="A plain article").click()
    assert "Doe, J. (2001)" in page.inner_text("#citation")
    page.fill("#field-style", "ieee")
    page.get_by_role("button", name="Show").click()
    assert "J. Doe" in page.inner_text("#citation")

    page.get_by_role("link", name="Edit").click()
    page.get_by_role("button", name="Add a name").first.click()
    page.locator("[name='n.author.1.family']").fill("Roe")
    page.locator("[name='f.volume']").fill("12")
    page.locator("#new-field").select_option("publisher")
    page.get_by_role("button", name="Add", exact=True).click()
    assert page.input_value("[name='n.author.1.family']") == "Roe"
    page.locator("[name='f.publisher']").fill("House of Lists")
    page.locator(".sticky-foot").get_by_role("button", name="Save").click()
    assert page.inner_text("h1") == "A plain article"
    saved = library.call("get_reference", id="plain")["reference"]
    assert [person["family"] for person in saved["author"]] == ["Doe", "Roe"]
    assert saved["volume"] == "12" and saved["publisher"] == "House of Lists"

    page.goto(f"{library.url}/references?q=plain")
    page.get_by_role("checkbox", name="A plain article").check()
    page.get_by_role("button", name="Cite").click()
    assert "House of Lists" in page.inner_text("#citation") or "Doe" in page.inner_text("#citation")
    page.goto(f"{library.url}/references?q=plain")
    page.get_by_role("checkbox", name="A plain article").check()
    page.locator(".selection-bar").get_by_role("button", name="Export").click()
    with page.expect_download() as download:
        page.get_by_role("link", name="RIS").click()
    assert "TY  - JOUR" in Path(download.value.path()).read_text("utf-8")
    page.goto(f"{library.url}/references/item/plain")
    page.get_by_role("link", name="Remove").click()
    page.get_by_role("button", name="Remove").click()
    assert "was removed" in page.inner_text(".removed-notice")
    page.get_by_role("button", name="Undo").click()
    assert page.inner_text("h1") == "A plain article"
    library.call("remove_reference", id="plain", force=True)


def test_full_texts_are_attached_read_saved_and_detached(
    library: ServedDesk, reader: ConsoleClient
) -> None:
    assert library.settings.references.library is not None
    folder = library.settings.references.library.parent
    (folder / "paper.pdf").write_bytes(b"%PDF-1.4 whole")
    (folder / "paper.md").write_text(f"# Body\n\n{HOSTILE} **bold** text", "utf-8")
    token = reader.get("/references").csrf

    def attach(row: str, path: str) -> str:
        fields = {"csrf": token, "id": row, "path": path, "_next": f"/references/item/{row}"}
        sent = reader.send("/do/attach_fulltext", {**fields, "_notice": "references.item.attached"})
        if not sent.response.is_redirect:
            return sent.text
        return reader.get(sent.response.headers["location"]).text

    assert "references.allowed_folders" in attach("row050", "/etc/hostname.pdf")
    for name, row in (("paper.pdf", "row050"), ("paper.md", "row051")):
        assert "The file is attached." in attach(row, str(folder / name))
    saved = reader.get("/references/file/row050").response
    assert saved.content == b"%PDF-1.4 whole"
    assert saved.headers["content-disposition"].startswith("attachment")
    read = reader.get("/references/text/row051")
    assert "<strong>bold</strong>" in read.html
    assert "<script>document" not in read.html and "<img src=x" not in read.html
    for row in ("row050", "row051"):
        reader.post("/do/detach_fulltext", id=row, _next=f"/references/item/{row}")
        assert "No full text is attached." in reader.get(f"/references/item/{row}").text


def test_an_unknown_style_offers_those_with_its_words(reader: ConsoleClient) -> None:
    page = reader.get("/references/item/row001?style=medical+imaging")
    assert page.status == 200
    assert "IEEE Transactions on Medical Imaging" in page.text


# The editor.


def test_a_stale_editor_never_overwrites_and_keeps_what_was_typed(
    library: ServedDesk, reader: ConsoleClient
) -> None:
    opened = reader.get("/references/edit/row020").html
    base = _field(opened, "base")
    library.call("edit_reference", id="row020", changes={"title": "Theirs", "issue": "9"})
    typed: dict[str, Any] = {
        "base": base,
        "type": "book",
        "f.title": "Mine",
        "f.volume": "77",
        "f.issue": "",
    }
    page = reader.post("/references/edit/row020", do="save", **typed)
    assert page.status == 409
    assert library.call("get_reference", id="row020")["reference"]["title"] == "Theirs"
    # What both changed is told; what only they changed is taken over; what was typed stays.
    assert "Now there: Theirs" in page.text
    assert _field(page.html, "f.title") == "Mine"
    assert _field(page.html, "f.volume") == "77"
    assert _field(page.html, "f.issue") == "9"
    again = reader.post(
        "/references/edit/row020",
        do="save",
        **{**typed, "base": _field(page.html, "base"), "f.issue": "9"},
    )
    assert again.status == 200
    saved = library.call("get_reference", id="row020")["reference"]
    assert (saved["title"], saved["volume"], saved["issue"]) == ("Mine", "77", "9")


def test_the_view_of_the_whole_record_is_refused_when_stale_too(
    library: ServedDesk, reader: ConsoleClient
) -> None:
    opened = reader.get("/references/edit/row021?view=json").html
    base = _field(opened, "base")
    mine = {**json.loads(base), "title": "Mine as JSON"}
    library.call("edit_reference", id="row021", changes={"note": "Theirs"})
    form: dict[str, Any] = {"base": base, "view": "json", "json": json.dumps(mine)}
    page = reader.post("/references/edit/row021", **form)
    assert page.status == 409
    merged = re.search(r'<textarea id="field-json"[^>]*>\s*(.*?)</textarea>', page.html, re.DOTALL)
    assert merged is not None
    item = json.loads(unescape(merged[1]))
    assert (item["title"], item["note"]) == ("Mine as JSON", "Theirs")
    wrong = reader.post("/references/edit/row021", base=base, view="json", json='{"title": ')
    assert wrong.status == 422 and "not JSON" in wrong.text
    protected = reader.post(
        "/references/edit/row021", base=base, view="json", json=json.dumps({**mine, "id": "x"})
    )
    assert protected.status == 422 and "cannot be edited" in protected.text


def test_what_was_not_touched_keeps_its_exact_form(
    library: ServedDesk, reader: ConsoleClient
) -> None:
    ranged = {"date-parts": [[2019, 5], [2020, 1]], "circa": True}
    library.call(
        "edit_reference",
        id="row022",
        changes={
            "issued": ranged,
            "author": [{"family": "Berg", "non-dropping-particle": "van den", "given": "A"}],
        },
    )
    before = library.call("get_reference", id="row022")["reference"]
    html = reader.get("/references/edit/row022").html
    form: dict[str, Any] = {
        name: unescape(value)
        for name, value in re.findall(r'<input[^>]*name="([^"]+)" value="([^"]*)"', html)
        if name not in {"csrf", "do"}
    }
    form["f.edition"] = "2"
    reader.post("/references/edit/row022", do="save", type="article-journal", **form)
    after = library.call("get_reference", id="row022")["reference"]
    assert after == {**before, "edition": "2"}
    assert after["volume"] == 22


@pytest.mark.parametrize(
    ("name", "value", "told"),
    [
        ("d.issued.year", "soon", "whole numbers"),
        ("d.issued.month", "17", "a month from 1 to 12"),
    ],
)
def test_an_error_stands_at_its_field_and_nothing_typed_is_lost(
    library: ServedDesk, reader: ConsoleClient, name: str, value: str, told: str
) -> None:
    base = _field(reader.get("/references/edit/row023").html, "base")
    form: dict[str, Any] = {"base": base, "type": "article-journal", "f.title": "Typed and kept"}
    form |= {"d.issued.year": "1923", "d.issued.month": "5", "d.issued.day": "17", name: value}
    page = reader.post("/references/edit/row023", do="save", **form)
    assert page.status == 422
    error = re.search(r'id="error-issued">(.*?)</p>', page.html, re.DOTALL)
    assert error is not None and told in error[1]
    assert _field(page.html, "f.title") == "Typed and kept"
    assert _field(page.html, name) == value
    present = library.call("get_reference", id="row023")["reference"]
    assert present["title"].startswith("Title 023")


def test_a_new_reference_is_added_once(library: ServedDesk, reader: ConsoleClient) -> None:
    form: dict[str, Any] = {
        "type": "book",
        "f.title": "A new book",
        "n.author.0.family": "Doe",
        "key": "newbook",
    }
    page = reader.post("/references/new", do="save", **form)
    assert page.response.url.path == "/references/item/newbook"
    again = reader.post("/references/new", do="save", **form)
    assert "already" in again.text and _field(again.html, "f.title") == "A new book"
    empty = reader.post("/references/new", do="save", type="book")
    assert empty.status == 422
    library.call("remove_reference", id="newbook", force=True)


def test_a_preview_follows_what_is_typed_and_a_draft_survives_its_page(
    library: ServedDesk, page: Any
) -> None:
    page.goto(f"{library.url}/references/edit/row030")
    page.fill("[name='f.title']", "Typed just now")
    page.wait_for_function(
        "() => document.getElementById('preview').textContent.includes('just now')"
    )
    page.get_by_role("button", name="Add a name").first.click()
    page.keyboard.type("Newcomer")
    page.wait_for_function(
        "() => document.getElementById('preview').textContent.includes('Newcomer')"
    )
    page.fill("[data-style-input]", "ieee")
    page.wait_for_selector(".style-options [role=option]")
    page.keyboard.press("ArrowDown")
    page.wait_for_function("() => document.getElementById('preview').textContent.startsWith('[1]')")
    page.wait_for_function(
        "() => Object.keys(sessionStorage).some((key) => key.includes('row030'))"
    )
    page.on("dialog", lambda dialog: dialog.accept())
    page.goto(f"{library.url}/references")
    page.goto(f"{library.url}/references/edit/row030")
    page.get_by_role("button", name="Bring it back").click()
    page.wait_for_load_state("networkidle")
    assert page.input_value("[name='f.title']") == "Typed just now"
    assert page.input_value("[name='n.author.2.family']") == "Newcomer"


# The table as one window.


def test_the_window_draws_few_rows_and_the_right_ones(library: ServedDesk, page: Any) -> None:
    page.goto(f"{library.url}/references?sort=key")
    pane = page.locator("#library-window.is-endless")
    pane.wait_for()
    assert page.locator(".pager").is_hidden()
    pane.evaluate("(node) => { node.scrollTop = node.scrollHeight; }")
    page.wait_for_selector("a[href='/references/item/row359']")
    drawn = page.locator(".library-table tbody:not(.spacer) tr")
    assert 0 < drawn.count() <= 300
    numbers = drawn.evaluate_all("(rows) => rows.map((row) => +row.getAttribute('aria-rowindex'))")
    assert numbers == list(range(numbers[0], numbers[0] + len(numbers)))
    page.wait_for_function("() => location.search.includes('at=3')")
    page.reload()
    page.wait_for_selector("a[href='/references/item/row350']")


def test_rows_are_chosen_by_keys_and_stay_chosen_out_of_sight(
    library: ServedDesk, page: Any
) -> None:
    page.goto(f"{library.url}/references?sort=key")
    page.locator("#library-window.is-endless").wait_for()
    page.focus("a[href='/references/item/row000']")
    page.keyboard.press("x")
    page.keyboard.press("ArrowDown")
    page.keyboard.press("ArrowDown")
    page.keyboard.press("x")
    assert "2 selected" in page.inner_text(".selection-text")
    pane = page.locator("#library-window")
    pane.evaluate("(node) => { node.scrollTop = node.scrollHeight; }")
    page.wait_for_selector("a[href='/references/item/row359']")
    page.focus("a[href='/references/item/row359']")
    page.keyboard.press("x")
    page.locator(".selection-bar").get_by_role("button", name="Cite").focus()
    page.keyboard.press("Enter")
    page.wait_for_selector("#citation .citation >> nth=2")
    chosen = re.findall(r"id=(row\d+)", page.url)
    assert sorted(chosen) == ["row000", "row002", "row359"]


def test_tab_reaches_the_filters_past_hundreds_of_rows(library: ServedDesk, page: Any) -> None:
    page.goto(f"{library.url}/references?sort=key")
    page.locator("#library-window.is-endless").wait_for()
    stops = tab_through(page, 60)
    rows = [stop for stop in stops if "of the long list" in stop]
    assert len(rows) == 1, rows
    assert any("Without full text" in stop for stop in stops)
    page.focus("a[href='/references/item/row000']")
    for _ in range(40):
        page.keyboard.press("ArrowDown")
    focused = page.evaluate("() => document.activeElement.getAttribute('href')")
    assert focused == "/references/item/row040"
    page.keyboard.press("Enter")
    page.wait_for_selector("h1:has-text('Title 040')")


def test_a_style_is_found_by_keys_and_shown_at_once(library: ServedDesk, page: Any) -> None:
    page.goto(f"{library.url}/references/item/row005")
    page.focus("#field-style")
    page.keyboard.press("Control+A")
    page.keyboard.type("medical imaging")
    page.wait_for_selector(".style-options [role=option]")
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")
    page.wait_for_function("() => location.search.includes('medical-imaging')")
    page.wait_for_function(
        "() => document.getElementById('citation').textContent.includes('vol. 5')"
    )
    page.get_by_role("button", name="BibTeX").click()
    copied = page.evaluate("navigator.clipboard.readText()")
    assert copied.startswith("@") and "row005" in copied


def test_a_chosen_file_is_imported(library: ServedDesk, page: Any) -> None:
    page.goto(f"{library.url}/references/import")
    ris = "TY  - JOUR\nTI  - From a file\nAU  - Doe, Jane\nPY  - 2003\nER  - \n"
    page.set_input_files(
        "#import-files", [{"name": "one.ris", "mimeType": "text/plain", "buffer": ris.encode()}]
    )
    page.get_by_role("link", name="From a file").click()
    page.wait_for_selector("h1:has-text('From a file')")


def test_files_of_this_computer_are_attached_and_a_larger_one_is_told(
    library: ServedDesk, page: Any
) -> None:
    page.goto(f"{library.url}/references/item/row060")
    files = [
        {"name": name, "mimeType": kind, "buffer": content}
        for name, kind, content in [
            ("paper.pdf", "application/pdf", b"%PDF-1.4 \xff whole"),
            ("data.csv", "text/csv", b"a,b\n1,2\n"),
        ]
    ]
    with page.expect_navigation():
        page.set_input_files("#attach-files", files)
    rows = page.inner_text(".attached-files")
    assert "fulltext.pdf" in rows and "data.csv" in rows
    listed = library.call("list_attachments", id="row060")["files"]
    assert [(each["name"], each["size_bytes"]) for each in listed] == [
        ("fulltext.pdf", 16),
        ("data.csv", 8),
    ]
    large = {"name": "large.pdf", "mimeType": "application/pdf", "buffer": b"x" * 3_000_001}
    page.set_input_files("#attach-files", [large])
    page.wait_for_selector("#announcements:has-text('large.pdf is larger than 3 MB')")
    library.call("detach_fulltext", id="row060")
    library.call("detach_file", id="row060", name="data.csv")


def test_a_large_file_is_imported_piece_by_piece(library: ServedDesk, page: Any) -> None:
    note = "words " * 400
    entries = [
        f"@article{{big{at}, title = {{Big {at} {{\\'e}}\n@ in a line}}, journal = jol, "
        f"author = {{Doe, Jane}}, year = {1900 + at % 100}, note = {{{note}}}}}\n"
        for at in range(1400)
    ]
    text = "@string{jol = {Journal of Lists}}\n" + "".join(entries)
    assert len(text) > 3_000_000
    page.goto(f"{library.url}/references/import")
    page.set_input_files(
        "#import-files",
        [{"name": "big.bib", "mimeType": "text/plain", "buffer": text.encode()}],
    )
    page.wait_for_selector("#report .live-over", timeout=120_000)
    assert "Done: 1400 added, 0 already here, 0 not read" in page.inner_text("#report")
    for at in (0, 700, 1399):
        added = library.call("get_reference", id=f"big{at}")["reference"]
        assert added["container-title"] == "Journal of Lists", at
    ids = [f"big{at}" for at in range(1400)]
    for first in range(0, 1400, 200):
        library.call("remove_references", ids=ids[first : first + 200], force=True)


def test_a_large_file_whose_entries_need_each_other_is_not_divided(
    library: ServedDesk, page: Any
) -> None:
    filler = "words " * 600_000
    text = f"@inbook{{part, title={{P}}, crossref={{whole}}}}\n@book{{whole, note={{{filler}}}}}\n"
    page.goto(f"{library.url}/references/import")
    page.set_input_files(
        "#import-files",
        [{"name": "linked.bib", "mimeType": "text/plain", "buffer": text.encode()}],
    )
    page.wait_for_selector(".toast:has-text('carrel references add linked.bib')")


def test_works_that_are_still_looked_up_arrive_in_the_report(tmp_path: Path, page: Any) -> None:
    with works_server() as works:
        works.held = {doi(1)}
        settings = desk_settings(
            tmp_path / "home",
            rooms=("references",),
            references={
                "lookup_wait_seconds": 0.0,
                "task_after_seconds": 0.0,
                "services": works.services,
            },
        )
        with serve_desk(settings) as url:
            page.goto(f"{url}/references/import")
            page.fill("#field-input", f"{doi(1)}\n{doi(2)}")
            page.get_by_role("button", name="Import").click()
            page.wait_for_selector("[data-import-job][data-state=running]")
            works.release.set()
            page.wait_for_selector("[data-import-job].live-over")
            assert "2 added" in page.inner_text("#report")
            page.goto(f"{url}/references")
            assert page.locator(".library-table tbody tr").count() == 2


# On a phone, and by axe.


@pytest.mark.parametrize(
    "path",
    [
        "/references",
        "/references?q=nothing-like-this",
        "/references/item/row040",
        "/references/edit/row040",
        "/references/edit/row040?view=json",
        "/references/new",
        "/references/import",
        "/references/export",
        "/references/cite?id=row040&id=row041",
        "/references/remove?id=row040",
        "/references/versions/row040",
    ],
)
def test_every_page_fits_a_phone(library: ServedDesk, phone: Any, path: str) -> None:
    phone.goto(f"{library.url}{path}")
    assert_fits(phone)


def test_on_a_phone_a_reference_is_found_and_cited(library: ServedDesk, phone: Any) -> None:
    phone.goto(f"{library.url}/references")
    phone.fill("#search-q", "title 044")
    phone.get_by_role("button", name="Search", exact=True).tap()
    phone.locator("input[value=row044]").tap()
    phone.locator(".selection-bar").get_by_role("button", name="Cite").tap()
    phone.wait_for_selector("#citation .citation")
    assert "Title 044" in phone.inner_text("#citation")


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_nothing(library: ServedDesk, inspected: Any, scheme: str) -> None:
    if axe_source() is None:
        assert_accessible(inspected)
    inspected.emulate_media(color_scheme=scheme)
    for path in (
        "/references",
        "/references?q=title&type=book",
        "/references/item/row040",
        "/references/edit/row040",
        "/references/new",
        "/references/import",
        "/references/cite?id=row040&id=row041",
        "/references/remove?id=row040",
        "/references/versions/row040",
    ):
        inspected.goto(f"{library.url}{path}")
        inspected.wait_for_load_state("networkidle")
        assert_accessible(inspected)


def test_the_first_page_and_the_search_lead_to_references(
    library: ServedDesk, reader: ConsoleClient
) -> None:
    home = reader.get("/")
    assert home.status == 200
    assert 'href="/references"' in home.html
    assert "references" in home.text
    found = reader.get("/find?q=row044")
    assert "/references/item/row044" in found.html, found.text

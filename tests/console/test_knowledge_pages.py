"""Notes in the console: strangers, hostile texts, and edits that cannot be lost."""

from __future__ import annotations

import re
from html import unescape
from typing import Any
from urllib.parse import quote

import pytest

from tests.access.support import PASSWORD
from tests.console.checks import assert_accessible, assert_fits, tab_through
from tests.console.client import ConsoleClient, Page
from tests.console.served_desk import HOSTILE, ServedDesk

LONG_TITLE = "A very long title of a note that goes on, " * 4 + "x" * 120
HOSTILE_TEXT = (
    f"{HOSTILE}\n\n<svg onload=\"document.title='broken'\"></svg>\n\n"
    "[click](javascript:document.title='broken') [[a|<b>c</b>]] [[\"><script>]] "
    "![x](https://example.org/a.png) $\\text{<svg/onload=document.title='broken'>}$ "
    "$\\href{javascript:document.title='broken'}{x}$\n\n<<<<<<< [[x](javascript:1)]]"
)


def field(page: Page, name: str) -> str:
    """The value of an input of the page."""
    found = re.search(rf'<input[^>]*name="{name}" value="([^"]*)"', page.html)
    assert found, name
    return unescape(found[1])


def area(page: Page, name: str = "content") -> str:
    """The text of a text area that is shown."""
    found = re.search(rf'<textarea id="field-{name}"[^>]*>\n(.*?)</textarea>', page.html, re.DOTALL)
    assert found, name
    return unescape(found[1])


def save(desk: ServedDesk, title: str, content: str, **more: Any) -> dict[str, Any]:
    return dict(desk.call("save_knowledge", title=title, content=content, **more))


def change(desk: ServedDesk, note_id: str, content: str) -> dict[str, Any]:
    """Somebody else saves a newer state."""
    newest = desk.call("get_knowledge", id=note_id)
    return dict(
        desk.call("save_knowledge", id=note_id, updated_at=newest["updated_at"], content=content)
    )


def test_strangers_and_people_without_the_scope_see_no_notes(institute: ServedDesk) -> None:
    paths = ("/knowledge", "/knowledge/new", "/knowledge/proposals", "/knowledge/note/abc")
    stranger = ConsoleClient(institute.url)
    for path in paths:
        assert 'name="password"' in stranger.get(path).html
    ben = ConsoleClient(institute.url)
    ben.log_in("ben", PASSWORD)
    for path in paths:
        refused = ben.get(path)
        assert refused.status == 403, path
        assert "knowledge:" in refused.text
    assert "/knowledge" not in re.findall(r'<a href="([^"]+)"', ben.get("/papers").html)
    refused = ben.post("/knowledge/new", content="mine", title="t")
    assert refused.status == 422 and area(refused) == "mine"


def test_a_note_is_not_saved_by_a_page_of_somebody_else(console: ServedDesk) -> None:
    client = ConsoleClient(console.url)
    client.get("/knowledge/new")
    form = {"content": "forged", "title": "Forged"}
    assert client.send("/knowledge/new", form).status == 403
    signed = {**form, "csrf": client.token}
    assert client.send("/knowledge/new", signed, **{"sec-fetch-site": "cross-site"}).status == 403
    assert client.get("/knowledge/new?content=x&step=save").status == 200
    assert "Forged" not in client.get("/knowledge?q=Forged").text.replace("for Forged", "")


def test_a_note_is_written_read_changed_compared_and_deleted_without_scripts(
    console: ServedDesk, no_script: Any
) -> None:
    page = no_script
    page.goto(f"{console.url}/knowledge")
    page.get_by_role("link", name="New note").first.click()
    page.get_by_label("Title").fill("Plain journey")
    page.get_by_label(re.compile("^Text")).fill("# Plain journey\n\nfirst line\n\nsecond **line**")
    page.get_by_label("Tags").fill("journeys, #plain/deep")
    page.get_by_role("button", name="Preview").click()
    assert page.locator("#note-preview strong").inner_text() == "line"
    assert page.get_by_label("Title").input_value() == "Plain journey"
    page.get_by_role("button", name="Save").click()
    assert page.locator("h1").inner_text() == "Plain journey"
    assert page.locator(".notice-good").inner_text() == "Saved."
    assert page.locator(".note-text h2").count() == 0
    assert page.locator(".note-tag").all_inner_texts() == ["#journeys", "#plain/deep"]
    page.get_by_role("link", name="Edit").click()
    text = page.get_by_label(re.compile("^Text"))
    text.fill(text.input_value().replace("first", "changed"))
    page.get_by_role("button", name="Save").click()
    page.get_by_role("link", name="History").click()
    assert page.locator("del").all_inner_texts() == ["first"]
    assert page.locator("ins").all_inner_texts() == ["changed"]
    page.get_by_role("link", name="Edit from the older version").click()
    assert "first line" in page.get_by_label(re.compile("^Text")).input_value()
    page.get_by_role("button", name="Save").click()
    page.get_by_role("link", name="Delete").click()
    page.get_by_role("button", name="Delete for good").click()
    assert "deleted" in page.locator(".notice-good").inner_text()
    page.goto(f"{console.url}/knowledge?q={quote('Plain journey')}&tag=journeys")
    assert page.get_by_text("No note fits").is_visible()


def test_a_newer_state_is_never_overwritten_unseen_and_both_are_shown(
    client: ConsoleClient, console: ServedDesk
) -> None:
    note = save(console, "Conflict", "one\ntwo\nthree\nfour\n", tags=["a"])
    opened = client.get(f"/knowledge/edit/{note['id']}")
    mine: dict[str, Any] = {
        "updated_at": field(opened, "updated_at"),
        "title": "Conflict",
        "tags": "a, b",
        "content": "ONE\ntwo\nthree\nfour\n",
    }
    change(console, note["id"], "one\ntwo\nthree\nfour\nfive\n")
    shown = client.post(f"/knowledge/edit/{note['id']}", **mine)
    assert shown.status == 409
    assert "five" in shown.html and "ONE" in shown.html
    assert area(shown) == "ONE\ntwo\nthree\nfour\nfive\n"
    assert "touch different lines" in shown.text
    assert console.call("get_knowledge", id=note["id"])["content"].startswith("one")
    merged: dict[str, Any] = {
        **mine,
        "updated_at": field(shown, "updated_at"),
        "content": area(shown),
    }
    saved = client.post(f"/knowledge/edit/{note['id']}", **merged)
    assert saved.status == 200
    newest = console.call("get_knowledge", id=note["id"])
    assert newest["content"] == "ONE\ntwo\nthree\nfour\nfive\n"
    assert newest["tags"] == ["a", "b"]
    # The same form again, as after an answer that was lost: it is saved, and says so.
    again = client.post(f"/knowledge/edit/{note['id']}", **merged)
    assert again.status == 200 and "Saved." in again.text
    assert console.call("get_knowledge", id=note["id"])["updated_at"] == newest["updated_at"]


def test_where_both_changed_a_line_both_are_kept_and_mine_can_be_saved_over_it(
    client: ConsoleClient, console: ServedDesk
) -> None:
    note = save(console, "Same line", "one\n")
    version = field(client.get(f"/knowledge/edit/{note['id']}"), "updated_at")
    change(console, note["id"], "theirs\n")
    mine: dict[str, Any] = {
        "updated_at": version,
        "title": "Same line",
        "tags": "",
        "content": "mine\n",
    }
    shown = client.post(f"/knowledge/edit/{note['id']}", **mine)
    assert shown.status == 409
    assert "<<<<<<< my text\nmine\n=======\ntheirs\n>>>>>>>" in area(shown)
    newest = console.call("get_knowledge", id=note["id"])["updated_at"]
    client.post(f"/knowledge/edit/{note['id']}", **{**mine, "updated_at": newest})
    history = console.call("get_knowledge_history", id=note["id"])
    assert [version["content"] for version in history] == ["mine\n", "theirs\n", "one\n"]


def test_what_was_typed_comes_back_with_every_refusal(
    client: ConsoleClient, console: ServedDesk
) -> None:
    typed = "kept text " + HOSTILE
    long = "x" * 200_001
    refused = client.post("/knowledge/new", title="Too long", content=long, tags="t")
    assert refused.status == 422
    assert area(refused) == long and field(refused, "title") == "Too long"
    many = ", ".join(f"tag{number}" for number in range(101))
    refused = client.post("/knowledge/new", title="Tags", content=typed, tags=many)
    assert refused.status == 422 and area(refused) == typed
    assert area(client.post("/knowledge/new", title="Empty", content="  \n")) == "  \n"
    note = save(console, "Soon deleted", "text")
    opened = client.get(f"/knowledge/edit/{note['id']}")
    version = field(opened, "updated_at")
    console.call("delete_knowledge", id=note["id"])
    gone = client.post(f"/knowledge/edit/{note['id']}", updated_at=version, content=typed)
    assert gone.status == 422 and area(gone) == typed
    assert 'action="/knowledge/new"' in gone.html and "deleted while you wrote" in gone.text


def test_what_was_typed_outlives_the_session_and_a_stale_token(institute: ServedDesk) -> None:
    ada = ConsoleClient(institute.url)
    ada.log_in("ada", PASSWORD)
    ada.get("/knowledge/new")
    typed = f"kept\n{HOSTILE}"
    form = {"csrf": ada.token, "title": "Outlived", "content": typed, "password": "never shown"}
    for name in list(ada.session.cookies):
        if "session" in name:
            ada.session.cookies.delete(name)
    ended = ada.send("/knowledge/new", form)
    assert ended.status == 401 and area(ended) == typed
    assert field(ended, "title") == "Outlived" and "never shown" not in ended.html
    assert field(ended, "csrf") == form["csrf"] and "<script>document" not in ended.html
    foreign = ada.send("/knowledge/new", form, **{"sec-fetch-site": "cross-site"})
    assert foreign.status == 403 and typed not in unescape(foreign.html)
    ada.log_in("ada", PASSWORD)
    stale = ada.send("/knowledge/new", {**form, "csrf": "0" * 64})
    assert stale.status == 403 and area(stale) == typed
    fresh = {**form, "csrf": field(stale, "csrf")}
    saved = ada.send("/knowledge/new", fresh)
    assert saved.status == 303
    assert "Outlived" in ada.get(saved.response.headers["location"]).text


def test_hostile_text_stays_inert_on_every_page(console: ServedDesk, page: Any) -> None:
    note = save(console, f"Hostile {HOSTILE}", HOSTILE_TEXT, tags=["<script>", HOSTILE[:90]])
    save(console, "Points at hostile", f"[[note:{note['id']}]]", tags=["x"])
    change(console, note["id"], f"{HOSTILE_TEXT}\n\nmore {HOSTILE}")
    console.call("propose_knowledge", id=note["id"])
    asked = quote(HOSTILE)
    for path in (
        f"/knowledge/note/{note['id']}?depth=2",
        f"/knowledge/history/{note['id']}",
        f"/knowledge/edit/{note['id']}",
        f"/knowledge/delete/{note['id']}",
        "/knowledge/proposals",
        f"/knowledge?q={asked}&tag={asked}",
        f"/knowledge/new?title={asked}&content={asked}&tags={asked}",
        f"/knowledge/nodes?names={asked}",
    ):
        page.goto(console.url + path)
        page.wait_for_load_state("networkidle")
        assert page.evaluate("document.title") != "broken", path
        found = page.evaluate(
            "() => [...document.querySelectorAll('main a[href]')]"
            ".map((link) => link.getAttribute('href'))"
            ".filter((href) => !/^(\\/(?!\\/)|#|https?:)/.test(href))"
        )
        assert found == [], path
        foreign = "img[src^='http'], main script, main [onerror], main [onload], .reading svg"
        assert page.locator(foreign).count() == 0, path
    shown = page.request.get(f"{console.url}/knowledge/note/{note['id']}")
    assert "trusted-types" in shown.headers["content-security-policy"]


def test_a_draft_survives_a_crash_and_goes_when_the_save_is_acknowledged(
    console: ServedDesk, page: Any
) -> None:
    note = save(console, "Draft journey", "saved text")
    page.goto(f"{console.url}/knowledge/edit/{note['id']}")
    text = page.get_by_label(re.compile("^Text"))
    text.fill("typed and not saved")
    page.get_by_text("Draft kept in this browser").wait_for()
    page.reload()
    assert text.input_value() == "saved text"
    page.get_by_text("A draft that was not saved").wait_for()
    page.get_by_role("button", name="Restore it").click()
    assert text.input_value() == "typed and not saved"
    page.keyboard.press("Control+s")
    page.wait_for_url(f"**/knowledge/note/{note['id']}")
    page.locator(".notice-good").wait_for()
    assert page.locator(".note-text").inner_text().strip() == "typed and not saved"
    assert page.evaluate("() => Object.keys(localStorage).length") == 0
    page.goto(f"{console.url}/knowledge/edit/{note['id']}")
    page.wait_for_load_state("networkidle")
    assert page.locator(".draft-offers .notice").count() == 0


def test_a_draft_from_before_a_newer_state_leads_to_the_conflict(
    console: ServedDesk, page: Any
) -> None:
    note = save(console, "Old draft", "one\ntwo\n\nthree\n")
    page.goto(f"{console.url}/knowledge/edit/{note['id']}")
    text = page.get_by_label(re.compile("^Text"))
    text.fill("one\ntwo\n\nthree, mine\n")
    page.get_by_text("Draft kept in this browser").wait_for()
    change(console, note["id"], "one, theirs\ntwo\n\nthree\n")
    page.goto(f"{console.url}/knowledge/edit/{note['id']}")
    page.get_by_text("begun from an earlier version").wait_for()
    page.get_by_role("button", name="Restore it").click()
    page.get_by_role("button", name="Save", exact=True).click()
    page.get_by_role("heading", name="The note changed while you wrote").wait_for()
    page.problems.clear()
    page.get_by_role("button", name="Save the merged text").click()
    page.wait_for_url(f"**/knowledge/note/{note['id']}")
    assert console.call("get_knowledge", id=note["id"])["content"] == (
        "one, theirs\ntwo\n\nthree, mine\n"
    )
    assert page.evaluate("() => Object.keys(localStorage).length") == 0


def test_a_link_that_names_a_draft_as_saved_does_not_remove_one_that_was_not_sent(
    console: ServedDesk, page: Any
) -> None:
    note = save(console, "Not sent", "text")
    page.goto(f"{console.url}/knowledge/edit/{note['id']}")
    page.get_by_label(re.compile("^Text")).fill("not sent yet")
    page.get_by_text("Draft kept in this browser").wait_for()
    token = page.locator("input[name=draft]").input_value()
    page.goto(f"{console.url}/knowledge/note/{note['id']}?saved={token}")
    page.wait_for_url(f"**/knowledge/note/{note['id']}")
    assert page.evaluate("() => Object.keys(localStorage).length") == 1


def test_the_preview_follows_typing_and_links_are_inserted_by_search(
    console: ServedDesk, page: Any
) -> None:
    save(console, "Insertable target", "about rheology")
    page.goto(f"{console.url}/knowledge/new")
    text = page.get_by_label(re.compile("^Text"))
    text.fill("Some **bold** words and $x^2$")
    page.locator("#note-preview strong", has_text="bold").wait_for()
    assert page.locator("#note-preview math").count() == 1
    assert page.get_by_role("button", name="Preview").count() == 0
    page.get_by_text("Insert a link").click()
    page.get_by_label("Find a paper, reference or note").fill("Insertable target")
    page.get_by_role("button", name="Insertable target").click()
    assert text.input_value() == "Some **bold** words and $x^2$ [[Insertable target]]"
    page.get_by_label("Title").fill("With a link")
    page.get_by_role("button", name="Save").click()
    page.locator(".link-list a", has_text="Insertable target").first.click()
    assert page.locator("h1").inner_text() == "Insertable target"
    assert page.locator(".link-list").last.inner_text() == "With a link"


def test_links_are_inserted_without_scripts(console: ServedDesk, no_script: Any) -> None:
    save(console, "Plain target", "about plainness")
    page = no_script
    page.goto(f"{console.url}/knowledge/new")
    page.get_by_label(re.compile("^Text")).fill("see")
    page.get_by_text("Insert a link").click()
    page.get_by_label("Find a paper, reference or note").fill("Plain target")
    page.locator("button[value=find]").click()
    page.locator("button[name=insert]", has_text="Plain target").first.click()
    assert page.get_by_label(re.compile("^Text")).input_value() == "see [[Plain target]]"


def test_filters_stand_in_the_address_and_pages_follow(console: ServedDesk, page: Any) -> None:
    for number in range(27):
        save(console, f"Paged {number}", f"paged body {number}", tags=["paged", f"n{number % 2}"])
    page.goto(f"{console.url}/knowledge")
    page.locator("aside .facet a", has_text=re.compile("^paged")).click()
    assert "tag=paged" in page.url
    assert page.get_by_text("27 notes").is_visible()
    assert page.locator(".result").count() == 25
    page.get_by_role("link", name="Next").click()
    assert page.locator(".result").count() == 2
    page.get_by_role("link", name="Previous").click()
    page.locator("aside .facet a", has_text="n1").click()
    assert page.locator(".chip").count() == 2
    assert page.get_by_text("13 notes").is_visible()
    page.locator(".chip").first.click()
    page.get_by_label("Search notes").fill('text:"paged body" 7')
    page.get_by_role("button", name="Search").click()
    assert "tag=n1" in page.url
    assert page.locator(".result-title").first.inner_text().startswith("Paged")
    assert page.locator("mark").count() > 0


def test_a_question_that_cannot_be_read_says_why(client: ConsoleClient) -> None:
    wrong = client.get("/knowledge?q=%23")
    assert wrong.status == 422 and "a tag is required after #" in wrong.text
    assert client.get("/knowledge?whose=nobody").status == 400
    assert client.get("/knowledge/note/..%2Fetc").status in {400, 404}
    assert client.get("/knowledge/note/missing").status == 404


def test_proposals_show_what_changes_for_the_team_and_are_shared_or_declined(
    console: ServedDesk, page: Any
) -> None:
    first = save(console, "Shared protocol", "Rest for 20 minutes.\n", tags=["protocol"])
    console.call("propose_knowledge", id=first["id"])
    console.call("promote_knowledge", id=first["id"])
    change(console, first["id"], "Rest for 30 minutes.\n")
    console.call("propose_knowledge", id=first["id"])
    second = save(console, "Unwanted idea", "an idea")
    console.call("propose_knowledge", id=second["id"])
    page.goto(f"{console.url}/knowledge/proposals")
    card = page.locator("article", has_text="Shared protocol")
    assert card.locator("del").all_inner_texts() == ["20"]
    assert card.locator("ins").all_inner_texts() == ["30"]
    card.get_by_role("button", name="Share with the team").click()
    assert "team's note now" in page.locator(".notice-good").inner_text()
    page.once("dialog", lambda dialog: dialog.accept())
    page.locator("article", has_text="Unwanted idea").get_by_role("button", name="Decline").click()
    page.locator(".notice-good", has_text="Declined").wait_for()
    assert page.locator("article", has_text="Unwanted idea").count() == 0
    team = console.call("list_knowledge", query="Shared protocol", whose="team")
    assert "30" in team["notes"][0]["snippet"]
    assert console.call("get_knowledge", id=second["id"])["status"] == "draft"


def test_a_proposal_that_changed_since_it_was_shown_is_not_shared(
    client: ConsoleClient, console: ServedDesk
) -> None:
    note = save(console, "Moving proposal", "seen")
    seen = console.call("propose_knowledge", id=note["id"])["updated_at"]
    change(console, note["id"], "unseen")
    console.call("propose_knowledge", id=note["id"])
    refused = client.post("/do/promote_knowledge", id=note["id"], updated_at=seen)
    assert refused.status == 409
    assert console.call("get_knowledge", id=note["id"])["status"] == "proposed"
    client.post(f"/knowledge/note/{note['id']}")
    assert console.call("get_knowledge", id=note["id"])["status"] == "draft"


def test_the_graph_is_a_drawing_and_a_list_of_the_same(console: ServedDesk, page: Any) -> None:
    save(console, "Graph far", "end")
    save(console, "Graph near", "to [[Graph far]]")
    middle = save(console, "Graph middle", "to [[Graph near]] and [[Graph nowhere]]")
    save(console, "Graph back", "to [[Graph middle]]")
    page.goto(f"{console.url}/knowledge/note/{middle['id']}")
    assert page.locator(".note-graph a").count() == 3
    page.get_by_role("link", name="Two links away").click()
    drawn = page.locator(".note-graph .graph-box title").all_text_contents()
    assert sorted(text.rpartition(" (")[0] for text in drawn) == [
        *("Graph back", "Graph far", "Graph middle", "Graph near", "Graph nowhere")
    ]
    page.get_by_text("The same as a list").click()
    listed = page.locator(".graph-list a").all_inner_texts()
    assert set(listed) == {"Graph back", "Graph far", "Graph near", "Graph nowhere"}
    page.locator(".graph-list a", has_text="Graph nowhere").click()
    assert page.get_by_label("Title").input_value() == "Graph nowhere"


def open_conflict(page: Any, console: ServedDesk) -> None:
    """The page of a conflict, with hostile and long words in both texts."""
    note = save(console, f"Conflict {HOSTILE}", f"{HOSTILE_TEXT}\n{'v' * 300}\n")
    page.goto(f"{console.url}/knowledge/edit/{note['id']}")
    change(console, note["id"], f"theirs {HOSTILE_TEXT}")
    page.get_by_label(re.compile("^Text")).fill(f"mine {HOSTILE_TEXT} {'u' * 300}")
    page.get_by_role("button", name="Save", exact=True).click()
    page.get_by_role("heading", name="The note changed while you wrote").wait_for()
    assert page.evaluate("document.title") != "broken"
    # The browser writes down that the answer was a conflict.
    page.problems.clear()


def _every_path(console: ServedDesk) -> list[str]:
    text = f"## Only a second heading\n\nsee [[Graph x]] {'y' * 300}\n\n$$ {'a+' * 90}a $$\n"
    note = save(console, LONG_TITLE, text, tags=["z" * 90])
    change(console, note["id"], f"{text}\nchanged [[{LONG_TITLE[:150]}]] {'w' * 400}")
    console.call("propose_knowledge", id=note["id"])
    return [
        "/knowledge",
        "/knowledge?q=zzzzz",
        f"/knowledge?tag={'z' * 90}",
        "/knowledge/new",
        "/knowledge/proposals",
        "/knowledge/nodes?names=blood%20viscosity,none",
        f"/knowledge/note/{note['id']}?depth=2",
        f"/knowledge/edit/{note['id']}",
        f"/knowledge/history/{note['id']}",
        f"/knowledge/delete/{note['id']}",
    ]


def test_every_page_fits_a_phone(console: ServedDesk, phone: Any) -> None:
    for path in _every_path(console):
        phone.goto(console.url + path)
        assert_fits(phone)
    open_conflict(phone, console)
    assert_fits(phone)


def test_every_page_is_reached_by_keys(console: ServedDesk, page: Any) -> None:
    for path in _every_path(console):
        page.goto(console.url + path)
        assert len(tab_through(page)) > 5, path


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_every_page_is_accessible(console: ServedDesk, inspected: Any, scheme: str) -> None:
    inspected.emulate_media(color_scheme=scheme)
    for path in _every_path(console):
        inspected.goto(console.url + path)
        assert_accessible(inspected)
    open_conflict(inspected, console)
    assert_accessible(inspected)


def test_pages_speak_german(client: ConsoleClient, console: ServedDesk) -> None:
    for path in _every_path(console):
        shown = client.get(path, **{"accept-language": "de"})
        assert shown.status == 200 and 'lang="de"' in shown.html
        assert "Notizen" in shown.text or "Notiz" in shown.text


def test_the_first_page_tells_of_notes(client: ConsoleClient, console: ServedDesk) -> None:
    note = save(console, "Newest of all", "text")
    console.call("propose_knowledge", id=note["id"])
    home = client.get("/")
    assert f'href="/knowledge/note/{note["id"]}"' in home.html
    assert 'href="/knowledge/proposals"' in home.html

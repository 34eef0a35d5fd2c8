"""The papers in the console: search, reader, doubtful records, corrections."""

from __future__ import annotations

import base64
import re
from pathlib import Path
from typing import Any

import pytest

from tests.access.support import PASSWORD
from tests.console.checks import assert_accessible, assert_fits
from tests.console.client import ConsoleClient
from tests.console.served_desk import HOSTILE, ServedDesk, desk_settings, serve_desk
from tests.services.pdf_files import make_pdf

pytestmark = pytest.mark.promise("V1")

_SENTENCE = "Snails carry their spiral houses over wet stones in every weather of the year. "
_LONG = "---\ntitle: Snails at length\nauthors: [Ann Slow]\nyear: 2019\n---\n" + "\n\n".join(
    f"## Walk {walk}\n\n" + "\n\n".join(_SENTENCE * 8 + f"Step {walk}.{at}." for at in range(6))
    for walk in range(1, 13)
)
_NEEDLE = "A wombat crossed the path of the snails exactly once."
_HOSTILE_TEXT = (
    f"---\ntitle: Inert things\nauthors: [Eve]\nyear: 2011\n---\n## Head {HOSTILE}\n\n"
    f"Fiendish {HOSTILE} [link](javascript:alert(1)) $\\text{{<svg/onload=alert(1)>}}$ "
    "![x](https://evil.example/a.png)\n\n" + "W" * 400
)


def paper_of(desk: ServedDesk, title: str) -> str:
    found = desk.call("search_papers", query=f'"{title}"', limit=1)
    found = found if isinstance(found, list) else found["result"]
    return str(found[0]["paper_id"])


@pytest.fixture(scope="module")
def snails(console: ServedDesk) -> str:
    text = _LONG.replace("Step 9.3.", f"Step 9.3.\n\n{_NEEDLE}")
    return str(console.call("add_paper", markdown=text)["paper_id"])


@pytest.fixture(scope="module")
def printed(console: ServedDesk) -> str:
    page = [(18, "A printed paper on snails"), (11, "Ann Able"), *[(11, _SENTENCE)] * 20]
    content = make_pdf([page, [(11, _SENTENCE)] * 30])
    added = console.call("add_paper", pdf_base64=base64.b64encode(content).decode())
    return str(added["paper_id"])


@pytest.fixture(scope="module")
def inert(console: ServedDesk) -> str:
    return str(console.call("add_paper", markdown=_HOSTILE_TEXT)["paper_id"])


@pytest.fixture
def doubtful(console: ServedDesk) -> str:
    """A paper whose title nobody states; the same text is the same paper."""
    text = "Only a text without a heading about gastropods. It has another sentence, too.\n"
    return str(console.call("add_paper", markdown=text)["paper_id"])


def test_a_stranger_reads_nothing(institute: ServedDesk) -> None:
    for path in ("/papers", "/papers/paper/x", "/papers/review", "/papers/export?format=ris"):
        page = ConsoleClient(institute.url).get(path)
        assert page.response.url.path == "/login", path


def test_who_may_only_read_is_offered_no_change_and_refused_one(institute: ServedDesk) -> None:
    client = ConsoleClient(institute.url)
    client.log_in("ben", PASSWORD)
    for path in ("/papers", "/papers?q=cold", "/papers/review"):
        page = client.get(path)
        assert page.status == 200
        for action in ("/papers/add", "/do/", "/papers/correct"):
            assert f'action="{action}' not in page.html, (path, action)
    found = re.search(r'href="(/papers/paper/[^"?]+)', client.get("/papers?q=cold").html)
    assert found
    paper = client.get(found[1])
    assert paper.status == 200
    assert 'action="/papers/correct' not in paper.html
    path = found[1].replace("/papers/paper/", "/papers/correct/")
    assert client.post(path, field="title", value="Stolen").status == 403
    assert client.post("/papers/add", identifier="10.1/x").status == 403
    assert client.post("/do/edit_paper", action="remove", paper_id="x").status == 403


def test_a_form_of_another_page_changes_nothing(console: ServedDesk, snails: str) -> None:
    client = ConsoleClient(console.url)
    client.get("/papers")
    fields = {"field": "title", "value": "Forged"}
    assert client.send(f"/papers/correct/{snails}", fields).status == 403
    forged = {"csrf": client.token, **fields}
    evil = {"origin": "http://localhost:3000", "sec-fetch-site": "same-site"}
    assert client.send(f"/papers/correct/{snails}", forged, **evil).status == 403
    assert console.call("get_paper_metadata", paper_id=snails)["title"] == "Snails at length"


def test_a_correction_leads_to_no_other_host(client: ConsoleClient, snails: str) -> None:
    page = client.post(
        f"/papers/correct/{snails}",
        follow=False,
        field="tags",
        value="slow",
        next="//evil.example/x",
    )
    assert page.response.headers["location"] == "/"


@pytest.mark.parametrize(
    "path",
    [
        "/papers/paper/unknown-paper",
        "/papers/correct/unknown-paper",
        "/papers/paper/{snails}?part=999",
        "/papers/paper/{snails}?passage={snails}~0000000000",
        "/papers/paper/{snails}?section=Nowhere",
        "/papers/page/1/{snails}",
        "/papers/page/99/{printed}",
        "/papers/figure/{snails}?label=Figure+9",
    ],
)
def test_what_is_not_there_is_said_with_a_next_step(
    client: ConsoleClient, snails: str, printed: str, path: str
) -> None:
    page = client.get(path.format(snails=snails, printed=printed))
    assert page.status == 404
    assert "<h1" in page.html


@pytest.mark.parametrize("query", ["from=x", "page=0", "page=99999999", "to=-3"])
def test_a_wrong_number_in_the_address_is_refused(client: ConsoleClient, query: str) -> None:
    assert client.get(f"/papers?q=cold&{query}").status == 400


@pytest.mark.parametrize(
    "path",
    [
        "/papers?q=Hostile",
        "/papers?q=<script>document.title='broken'</script>",
        '/papers?author=<img src=x onerror=alert(1)>&q="><script>alert(1)</script>',
        "/papers/paper/{hostile}",
        "/papers/paper/{inert}",
        "/papers/paper/{inert}?q=<script>alert(1)</script>",
        "/papers/paper/{inert}?q=fiendish&tab=found",
        "/papers/paper/{inert}?tab=similar",
        "/papers/correct/{hostile}",
        "/papers/review",
    ],
)
def test_hostile_text_stays_text(console: ServedDesk, page: Any, inert: str, path: str) -> None:
    hostile = paper_of(console, "Hostile")
    page.goto(console.url + path.format(hostile=hostile, inert=inert))
    page.wait_for_load_state("networkidle")
    assert page.title() != "broken"
    assert page.locator("main script, main svg[onload], main img[onerror]").count() == 0
    assert page.locator("main a[href^='javascript']").count() == 0
    assert page.locator("main img[src*='evil']").count() == 0


def test_a_search_is_narrowed_by_links_without_script(console: ServedDesk, no_script: Any) -> None:
    no_script.goto(f"{console.url}/papers")
    no_script.get_by_label("Search papers").fill("cold")
    no_script.keyboard.press("Enter")
    no_script.wait_for_url("**q=cold")
    assert no_script.locator(".result").count() > 3
    assert no_script.locator(".result mark").count() > 0
    assert "Found in" in no_script.locator(".result").first.inner_text()
    before = no_script.locator(".results-count").inner_text()
    facet = no_script.locator(".facet a").first
    label = facet.locator(".facet-label").inner_text()
    facet.click()
    assert "from=" in no_script.url
    assert label in no_script.locator(".chip").inner_text()
    assert no_script.locator(".results-count").inner_text() != before
    no_script.locator(".chip").click()
    assert no_script.locator(".results-count").inner_text() == before
    no_script.get_by_role("link", name="Most cited here").click()
    assert "sort=cited" in no_script.url
    assert no_script.get_by_role("link", name="Best match").is_visible()


def test_a_search_that_finds_nothing_says_why(client: ConsoleClient) -> None:
    page = client.get("/papers?q=xylophonistically")
    assert page.status == 200
    assert "No paper found" in page.text


def test_found_papers_are_saved_as_a_bibliography(client: ConsoleClient, snails: str) -> None:
    file = client.get(f"/papers/export?id={snails}&format=bibtex")
    assert "attachment" in file.response.headers["content-disposition"]
    assert "Snails at length" in file.response.text
    several = client.get("/papers/export?q=cold&format=ris").response.text
    assert several.count("TY  - ") > 1


def test_with_keys_alone_from_a_search_to_passage_after_passage(
    console: ServedDesk, page: Any, snails: str
) -> None:
    page.goto(f"{console.url}/papers")
    page.keyboard.press("/")
    page.keyboard.type("wombat snails")
    page.keyboard.press("Enter")
    page.wait_for_selector(".result")
    while page.evaluate("!document.activeElement.closest('.result-title')"):
        page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    page.wait_for_function("() => document.activeElement?.matches('.is-found')")
    assert _NEEDLE in page.locator(".is-found:focus").inner_text()
    assert page.evaluate("CSS.highlights.get('query-words').size") > 0
    first = page.evaluate("document.activeElement.id")
    page.keyboard.press("n")
    page.wait_for_function(
        "(id) => document.activeElement?.matches('.is-found') && document.activeElement.id !== id",
        arg=first,
    )
    page.keyboard.press("p")
    page.wait_for_function("(id) => document.activeElement?.id === id", arg=first)
    page.keyboard.press("Escape")
    assert page.evaluate("document.activeElement.id") == "main"


def test_a_long_text_is_read_on_while_scrolling(
    console: ServedDesk, page: Any, snails: str
) -> None:
    page.goto(f"{console.url}/papers/paper/{snails}")
    parts = int(page.locator(".text-part").first.get_attribute("data-parts"))
    assert parts > 2
    for part in range(2, parts + 1):
        page.locator(".text-part").last.evaluate("(node) => node.scrollIntoView({block: 'end'})")
        page.wait_for_selector(f"#part-{part}")
    assert "Step 12.5." in page.locator(f"#part-{parts}").text_content()
    page.get_by_role("button", name="Outline").click()
    page.locator(".reader-outline a", has_text="Walk 2").first.click()
    page.wait_for_function(
        "() => [...document.querySelectorAll('.text-part h2')]"
        ".find((node) => node.textContent === 'Walk 2').getBoundingClientRect().top < innerHeight"
    )


def test_a_long_text_is_read_on_by_links_without_script(
    console: ServedDesk, no_script: Any, snails: str
) -> None:
    no_script.goto(f"{console.url}/papers/paper/{snails}?q=wombat")
    assert _NEEDLE in no_script.locator(".is-found").first.inner_text()
    no_script.goto(f"{console.url}/papers/paper/{snails}")
    no_script.locator("a[rel=next]").click()
    assert no_script.locator(".text-part").get_attribute("data-part") == "2"
    no_script.locator(".reader-margin .tabs a", has_text="Cited by").click()
    assert no_script.locator(".text-part").get_attribute("data-part") == "2"
    assert no_script.locator(".margin-body").inner_text()


def test_a_page_of_the_pdf_stands_beside_the_text(
    console: ServedDesk, page: Any, printed: str
) -> None:
    page.goto(f"{console.url}/papers/paper/{printed}")
    page.locator(".page-mark a", has_text="p. 2").click()
    image = page.locator(".page-image img")
    image.wait_for()
    page.wait_for_function("() => document.querySelector('.page-image img').naturalWidth === 800")
    assert "Page 2 of 2" in page.locator(".page-steps").inner_text()
    page.locator(".page-steps a[rel=prev]").click()
    page.get_by_text("Page 1 of 2").wait_for()
    assert "tab=pages" in page.url


def test_a_claim_is_checked_in_the_margin(console: ServedDesk, page: Any, snails: str) -> None:
    page.goto(f"{console.url}/papers/paper/{snails}")
    page.locator(".reader-margin .tabs a", has_text="Claim").click()
    page.get_by_label("A claim").fill("Snails carry spiral houses over wet stones.")
    page.get_by_role("button", name="Check").click()
    page.locator(".claim-answer .evidence").first.wait_for()
    page.locator(".claim-answer .evidence a").first.click()
    page.wait_for_function("() => document.activeElement?.matches('.is-found')")
    assert "passage=" in page.url


def test_a_doubtful_title_is_corrected_in_place_and_undone(
    console: ServedDesk, page: Any, doubtful: str
) -> None:
    page.goto(f"{console.url}/papers/paper/{doubtful}")
    before = page.locator("h1 .doubt").inner_text()
    page.locator("h1 .doubt-note").click()
    panel = page.locator("#doubt-title")
    panel.get_by_label("Another value").fill("Gastropods without a heading")
    panel.get_by_role("button", name="Save").click()
    page.get_by_text("can be undone").wait_for()
    assert page.locator("h1").inner_text() == "Gastropods without a heading"
    page.goto(f"{console.url}/papers/correct/{doubtful}")
    page.get_by_role("button", name="Undo").first.click()
    page.get_by_text("Undone.").wait_for()
    page.goto(f"{console.url}/papers/paper/{doubtful}")
    assert page.locator("h1 .doubt").inner_text() == before


def test_doubtful_records_are_worked_through_without_script(
    console: ServedDesk, no_script: Any, doubtful: str
) -> None:
    no_script.goto(f"{console.url}/papers/review?kind=guess")
    card = no_script.locator(f"#paper-{doubtful}")
    card.get_by_label("Another value").first.fill("Settled by hand")
    card.get_by_role("button", name="Save").first.click()
    assert no_script.url.endswith("/papers/review?kind=guess")
    assert no_script.locator(f"#paper-{doubtful}").count() == 0
    decided = console.call("paper_history", paper_id=doubtful)["decisions"][0]
    assert decided["changes"][0]["after"] == "Settled by hand"
    console.call("edit_paper", action="undo", number=decided["number"])


def test_a_refused_correction_keeps_what_was_typed(client: ConsoleClient, snails: str) -> None:
    page = client.post(f"/papers/correct/{snails}", doi="no doi at all", doi_before="")
    assert page.status == 400
    assert 'value="no doi at all"' in page.html
    assert 'aria-invalid="true"' in page.html
    unknown = client.post(f"/papers/correct/{snails}", title="", title_before="Snails at length")
    assert unknown.status == 400


def test_two_people_do_not_overwrite_each_other(
    console: ServedDesk, client: ConsoleClient, snails: str
) -> None:
    form = client.get(f"/papers/correct/{snails}").html
    version = re.search(r'name="version" value="([^"]+)"', form)
    assert version
    console.call("edit_paper", action="edit", paper_id=snails, venue="Slow Journal")
    page = client.post(
        f"/papers/correct/{snails}", version=version[1], volume="9", volume_before=""
    )
    assert page.status == 400
    assert 'value="9"' in page.html


def test_a_paper_becomes_a_reference(client: ConsoleClient, snails: str) -> None:
    page = client.post(
        "/do/add_references",
        input=snails,
        _next=f"/papers/paper/{snails}",
        _notice="papers.in_library",
    )
    assert page.response.url.path == f"/papers/paper/{snails}"
    assert "in your library" in page.text


def test_a_paper_that_is_in_the_library_leads_there(
    client: ConsoleClient, console: ServedDesk
) -> None:
    found = console.call("search_papers", query='doi:"10.5555/cold.3"')
    paper_id = found[0]["paper_id"]
    page = client.get(f"/papers/paper/{paper_id}")
    assert "In the library" in page.text
    assert "Journal article" in page.text
    assert 'href="/references/item/cold3"' in page.html
    assert "/do/add_references" not in page.html.split("</header>")[1]


def test_papers_before_the_years_drawn_are_counted(tmp_path: Path) -> None:
    settings = desk_settings(tmp_path / "home")
    with serve_desk(settings) as url:
        desk = ServedDesk(url, settings)
        for year in (1959, 2019, 2020):
            desk.call("add_paper", markdown=f"---\ntitle: Of {year}\nyear: {year}\n---\nA text.")
        page = ConsoleClient(url).get("/papers")
        assert "1 paper from before 2019" in page.text
        assert "Of 1959" in ConsoleClient(url).get("/papers?to=2018").text


def test_a_pasted_text_is_added_and_opened(client: ConsoleClient) -> None:
    text = "---\ntitle: Pasted by hand\nauthors: [Ann]\nyear: 2020\n---\nSome words.\n"
    page = client.post("/papers/add", markdown=text)
    assert page.response.url.path.startswith("/papers/paper/")
    assert "Pasted by hand" in page.text
    assert "was added" in page.text


def test_on_a_phone_outline_and_margin_are_sheets(
    console: ServedDesk, phone: Any, snails: str
) -> None:
    phone.goto(f"{console.url}/papers/paper/{snails}")
    assert not phone.locator("#outline").is_visible()
    phone.get_by_role("button", name="Outline").click()
    phone.locator("#outline a", has_text="Walk 2").first.click()
    phone.locator("#outline").wait_for(state="hidden")
    phone.locator(".sheet-button[popovertarget=margin]").click()
    phone.locator("#margin .tabs a", has_text="Similar").click()
    phone.locator("#margin h3").first.wait_for()
    assert phone.locator("#margin").is_visible()


@pytest.mark.parametrize(
    "path",
    [
        "/papers",
        "/papers?q=cold",
        "/papers/paper/{inert}",
        "/papers/paper/{printed}?tab=pages",
        "/papers/paper/{snails}?q=wombat",
        "/papers/review",
        "/papers/correct/{inert}",
    ],
)
def test_every_page_fits_a_phone_and_is_accessible(
    console: ServedDesk,
    inspected: Any,
    inert: str,
    printed: str,
    snails: str,
    doubtful: str,
    path: str,
) -> None:
    inspected.goto(console.url + path.format(inert=inert, printed=printed, snails=snails))
    for width in (320, 390):
        inspected.set_viewport_size({"width": width, "height": 800})
        assert_fits(inspected)
    inspected.set_viewport_size({"width": 1440, "height": 900})
    assert_accessible(inspected)


def test_a_selected_sentence_is_copied_with_its_source_and_checked(
    console: ServedDesk, page: Any, printed: str
) -> None:
    page.goto(f"{console.url}/papers/paper/{printed}")
    page.evaluate(
        "() => document.getSelection().selectAllChildren("
        "[...document.querySelectorAll('.text-part p:not(.page-mark)')].at(-1))"
    )
    page.evaluate(
        "() => { const all = document.getSelection(); const range = all.getRangeAt(0);"
        " const node = document.createTreeWalker(range.startContainer, 4).nextNode();"
        " all.setBaseAndExtent(node, 0, node, 30); }"
    )
    page.get_by_role("button", name="Copy with source").click()
    page.get_by_text("The quotation is copied.").wait_for()
    copied = page.evaluate("() => navigator.clipboard.readText()")
    assert copied.startswith("“Snails carry their")
    assert copied.endswith("p. 2)")
    page.locator("[data-quote-claim]").click()
    page.locator("#field-claim").wait_for()
    assert page.locator("#field-claim").input_value().startswith("Snails carry")

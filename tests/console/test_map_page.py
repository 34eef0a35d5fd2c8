"""The map of the corpus in the console: drawn in a job, looked at, selected from, also by keys."""

from __future__ import annotations

import re
from typing import Any

import httpx2
import pytest

from tests.access.support import PASSWORD
from tests.console.checks import assert_accessible, assert_fits
from tests.console.client import ConsoleClient
from tests.console.served_desk import ServedDesk

pytestmark = pytest.mark.promise("V1")


@pytest.fixture(scope="module")
def drawn(console: ServedDesk) -> ServedDesk:
    """A desk whose map is drawn, by the button of the page."""
    client = ConsoleClient(console.url)
    if console.call("get_paper_map")["state"] == "none":
        before = client.get("/papers/map")
        assert "There is no map yet" in before.text
        started = client.post("/papers/map")
        job = re.search(r'data-job="([^"]+)"', started.html)
        assert job is not None
        ended = console.call("get_job", job_id=job[1], wait_seconds=60)
        assert ended["state"] == "completed", ended
        assert ended["result"]["is_drawn_anew"]
    return console


def open_map(page: Any, desk: ServedDesk, address: str = "/papers/map") -> None:
    page.goto(desk.url + address)
    page.locator("#map-stage[data-tiles]").wait_for()


def test_a_stranger_and_one_without_the_scope_see_no_map(institute: ServedDesk) -> None:
    stranger = ConsoleClient(institute.url)
    assert stranger.get("/papers/map").response.url.path == "/login"
    assert stranger.get("/papers/map/tile/x/0-0-0").response.url.path == "/login"
    eve = ConsoleClient(institute.url)
    eve.log_in("eve", PASSWORD)
    assert eve.get("/papers/map").status == 403
    assert 'href="/papers/map"' not in eve.get("/").html


def test_who_only_reads_may_not_draw_it(institute: ServedDesk) -> None:
    ben = ConsoleClient(institute.url)
    ben.log_in("ben", PASSWORD)
    page = ben.get("/papers/map")
    assert "Whoever may change papers can draw it" in page.text
    assert ben.post("/papers/map").status == 403


def test_a_form_of_another_site_draws_nothing(console: ServedDesk) -> None:
    answer = httpx2.post(
        f"{console.url}/papers/map", data={"again": "1"}, headers={"origin": "https://evil.example"}
    )
    assert answer.status_code == 403


@pytest.mark.parametrize(
    "tile", ["9-0-0", "0-0-0%2f..%2f..", "..%2fpaper_map.db", "0-0-0'--", "x" * 500]
)
def test_a_tile_that_is_not_there_is_refused(drawn: ServedDesk, tile: str) -> None:
    page = ConsoleClient(drawn.url).get(f"/papers/map/tile/v/{tile}")
    assert page.status in {400, 404, 422}


def test_a_job_of_somebody_else_or_of_nobody_shows_the_map(drawn: ServedDesk) -> None:
    page = ConsoleClient(drawn.url).get("/papers/map?job=job_nobody")
    assert page.status == 200
    assert "map-job" not in re.findall(r'id="([^"]+)"', page.html)


def test_hostile_titles_stay_inert_on_the_map(drawn: ServedDesk, page: Any) -> None:
    open_map(page, drawn, "/papers/map?q=hostile")
    page.locator("#map-hits-list li").first.wait_for()
    page.locator("[data-tool=box]").click()
    drag(page, (0.02, 0.15), (0.98, 0.98))
    page.locator("#map-selection-list li").first.wait_for()
    assert page.title().startswith("Map of the corpus")
    assert page.locator("#map-selection-list img, #map-selection-list script").count() == 0


def test_without_scripts_the_map_is_a_list_of_regions_with_searches(
    drawn: ServedDesk, no_script: Any
) -> None:
    no_script.goto(drawn.url + "/papers/map?q=cold+finger")
    assert no_script.locator("#map-static").is_visible()
    assert not no_script.locator("#map-tools").is_visible()
    assert not no_script.locator("#map-colour").is_visible()
    assert no_script.locator("#map-hits-list a").count() > 0
    told = drawn.call("get_paper_map")
    counts = no_script.locator("#map-regions .facet-count").all_inner_texts()
    assert [int(re.sub(r"\D", "", text)) for text in counts] == [
        region["papers"] for region in told["regions"]
    ]
    no_script.locator("#map-regions a").first.click()
    assert no_script.locator(".result").count() > 0


def test_a_lasso_makes_a_reading_list_that_goes_to_the_library(
    drawn: ServedDesk, page: Any
) -> None:
    open_map(page, drawn)
    page.locator("[data-tool=lasso]").click()
    drag(page, (0.05, 0.2), (0.95, 0.2), (0.95, 0.95), (0.05, 0.95))
    listed = page.locator("#map-selection-list li")
    listed.first.wait_for()
    total = drawn.call("get_paper_map")["papers"]
    shown = page.locator("#map-selection-count").inner_text()
    assert 0 < int(re.sub(r"\D", "", shown.split(",")[0])) <= total
    with page.expect_download() as download:
        page.locator("[data-act=bibtex]").click()
    assert download.value.suggested_filename == "reading-list.bib"
    page.locator("[data-act=add]").click()
    page.locator(".toast", has_text="sent to your library").wait_for()
    title = listed.first.locator("a").inner_text()
    listed.first.locator("a").click()
    page.locator("h1", has_text=title[:40]).wait_for()


def test_the_keys_reach_everything_the_pointer_does(drawn: ServedDesk, page: Any) -> None:
    open_map(page, drawn)
    stage = page.locator("#map-stage")
    page.locator("h1").click()
    for _ in range(60):
        page.keyboard.press("Tab")
        if page.evaluate("() => document.activeElement.id") == "map-stage":
            break
    assert page.evaluate("() => document.activeElement.id") == "map-stage"
    page.keyboard.press("+")
    page.keyboard.press("ArrowLeft")
    page.keyboard.press("0")
    page.keyboard.press("r")
    for key in ("ArrowLeft", "ArrowUp") * 12:
        page.keyboard.press(key)
    for key in ("Shift+ArrowRight", "Shift+ArrowDown") * 30:
        page.keyboard.press(key)
    page.keyboard.press("Enter")
    page.locator("#map-selection-list li").first.wait_for()
    assert page.evaluate("() => document.activeElement.id") == "map-selection-title"
    page.locator("#map-clear").press("Enter")
    assert page.locator("#map-selection").is_hidden()
    assert stage.get_attribute("data-tool") == "move"


def test_a_title_is_shown_where_the_cross_is_and_enter_opens_it(
    drawn: ServedDesk, page: Any
) -> None:
    paper = drawn.call("locate_on_map", points=[1])[0]
    open_map(page, drawn)
    page.locator("#map-q").focus()
    page.keyboard.press("Shift+Tab")
    while page.evaluate("() => document.activeElement.id") != "map-stage":
        page.keyboard.press("Shift+Tab")
    box = page.locator("#map-stage").bounding_box()
    scale = min(box["width"], box["height"]) - 10
    for axis, keys in (
        (paper["x"], ("ArrowLeft", "ArrowRight")),
        (paper["y"], ("ArrowUp", "ArrowDown")),
    ):
        for _ in range(round(abs(axis - 0.5) * scale / 60)):
            page.keyboard.press(keys[axis > 0.5])
    page.locator("#map-card:not([hidden]) .map-card-title").wait_for()
    title = page.locator(".map-card-title").inner_text()
    page.locator("#map-status", has_text=title[:30]).wait_for(state="attached")
    page.keyboard.press("Enter")
    page.locator("h1", has_text=title[:30]).wait_for()


def test_colours_change_with_a_legend_and_a_search_lights_up_its_papers(
    drawn: ServedDesk, page: Any
) -> None:
    open_map(page, drawn)
    page.locator("#map-colour [value=year]").check()
    assert page.locator("#map-years li").count() > 1
    page.locator("#map-q").fill("cold finger")
    page.locator("#map-q").press("Enter")
    page.locator("#map-hits-list li").first.wait_for()
    assert page.locator("#map-colour [value=query]").is_checked()
    assert "q=cold+finger" in page.url
    page.locator("#map-regions .map-goto").first.click()
    assert page.locator("#map-regions li[data-lit='1']").count() == 1


def test_hypotheses_are_bridges_between_regions(drawn: ServedDesk, page: Any) -> None:
    open_map(page, drawn)
    page.locator("#map-project").select_option(drawn.ids["research_id"])
    page.locator("#map-bridge-list li").first.wait_for()
    assert page.locator(".map-bridge").count() == page.locator("#map-bridge-list li").count()
    page.locator("#map-bridge-list a").first.click()
    page.locator("h1").wait_for()
    assert "/research/" in page.url


def test_a_map_that_is_behind_says_so_and_places_what_is_new(drawn: ServedDesk, page: Any) -> None:
    before = drawn.call("get_paper_map")
    drawn.call("add_paper", markdown="# Cold fingers once more\n\nBlood viscosity in cold fingers.")
    open_map(page, drawn)
    page.get_by_role("button", name="Place new papers").click()
    page.wait_for_url("**/papers/map")
    page.locator("#map-stage[data-tiles]").wait_for()
    after = drawn.call("get_paper_map")
    assert after["is_current"]
    assert after["papers"] == before["papers"] + 1
    assert page.get_by_role("button", name="Place new papers").count() == 0


def test_it_fits_a_phone_where_a_finger_shows_a_title_first(drawn: ServedDesk, phone: Any) -> None:
    open_map(phone, drawn)
    assert_fits(phone)
    paper = drawn.call("locate_on_map", points=[2])[0]
    box = phone.locator("#map-stage").bounding_box()
    scale = min(box["width"], box["height"]) - 10
    x = box["x"] + box["width"] / 2 + (paper["x"] - 0.5) * scale
    y = box["y"] + box["height"] / 2 + (paper["y"] - 0.5) * scale
    phone.touchscreen.tap(x, y)
    phone.locator("#map-card:not([hidden])").wait_for()
    assert phone.url.endswith("/papers/map")


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_nothing(drawn: ServedDesk, inspected: Any, scheme: str) -> None:
    inspected.emulate_media(color_scheme=scheme)
    open_map(inspected, drawn, f"/papers/map?q=cold&project={drawn.ids['research_id']}")
    inspected.locator("#map-bridge-list li").first.wait_for()
    assert_accessible(inspected)


def drag(page: Any, *corners: tuple[float, float]) -> None:
    """Draws over the stage by the mouse, through places in parts of its width and height."""
    box = page.locator("#map-stage").bounding_box()
    places = [(box["x"] + x * box["width"], box["y"] + y * box["height"]) for x, y in corners]
    page.mouse.move(*places[0])
    page.mouse.down()
    for x, y in places[1:]:
        page.mouse.move(x, y, steps=6)
    page.mouse.up()

"""Views of MCP Apps drawn by a small host of our own in Chromium, over a real desk.

`make judge-views` runs the same journeys in the official bridge, in both eras.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise
from typing import Any

import pytest

from tests.console.checks import assert_accessible
from tests.console.conftest import open_page
from tests.console.served_desk import ServedDesk, desk_settings, fill_home, fill_rooms, serve_desk
from tests.console.views.host_pages import HostPages, serve_host
from tests.console.views.journeys import CHECKS, DRIVES, ViewStage

pytestmark = pytest.mark.promise("V2")

_TALLEST_INLINE_PX = 500
_OVERFLOW = "node => node.scrollWidth - node.clientWidth"


@pytest.fixture(scope="module")
def host() -> Iterator[HostPages]:
    with serve_host() as pages:
        yield pages


@pytest.fixture(scope="module")
def desk(tmp_path_factory: pytest.TempPathFactory, host: HostPages) -> Iterator[ServedDesk]:
    """A desk of its own, because views write; it lets the host page call it, as a chat would."""
    folder = tmp_path_factory.mktemp("views")
    # In a thread of its own, because Playwright keeps an event loop running in this one.
    with ThreadPoolExecutor(1) as worker:
        worker.submit(fill_home, folder / "home", folder / "files").result()
    settings = desk_settings(folder / "home", server={"allowed_origins": [host.origin]})
    with serve_desk(settings) as url:
        served = ServedDesk(url, settings)
        fill_rooms(served)
        yield served


@pytest.fixture(params=["legacy", "modern"])
def era(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
def stage(page: Any, host: HostPages, desk: ServedDesk, era: str) -> ViewStage:
    page.set_viewport_size({"width": 700, "height": 700})
    return ViewStage(page, host, desk, era)


@pytest.fixture
def one_stage(page: Any, host: HostPages, desk: ServedDesk) -> ViewStage:
    page.set_viewport_size({"width": 700, "height": 700})
    return ViewStage(page, host, desk, "modern")


def test_a_message_from_another_frame_is_nobodys(one_stage: ViewStage) -> None:
    view = one_stage.open("search_papers", {"query": "marine oil"}, deliver={"result": "none"})
    forged = {
        "jsonrpc": "2.0",
        "method": "ui/notifications/tool-result",
        "params": {"structuredContent": {"result": [{"paper_id": "x", "title": "Forged"}]}},
    }
    # From the view's own window, and from a page that is not the frame around it.
    view.locator("html").evaluate("(_, forged) => postMessage(forged, '*')", forged)
    one_stage.page.evaluate("forged => frames[0].frames[0].postMessage(forged, '*')", forged)
    view.locator("tbody tr").first.wait_for()
    assert view.get_by_text("Forged").count() == 0


def test_without_leave_to_call_tools_there_are_no_buttons(one_stage: ViewStage) -> None:
    view = one_stage.open("search_papers", {"query": "marine oil", "limit": 3}, capabilities={})
    view.locator("tbody tr").first.wait_for()
    assert view.get_by_role("button").count() == 0
    assert view.get_by_role("link").count() == 0


def test_at_a_rooms_own_door_a_view_offers_only_what_the_room_has(one_stage: ViewStage) -> None:
    desk, host, page = one_stage.desk, one_stage.host, one_stage.page
    papers = ViewStage(page, host, desk, "modern", "/papers/mcp")
    view = papers.open("search_papers", {"query": "marine oil", "limit": 3})
    view.locator("tbody tr").first.wait_for()
    assert view.get_by_role("button", name="Add to library").count() == 0
    # There the tools have other names, and the view knows them.
    references = ViewStage(page, host, desk, "modern", "/references/mcp")
    view = references.open("cite", {"ids": ["cold1"]})
    view.get_by_label("Style", exact=True).select_option("ieee")
    view.locator(".entries li", has_text="[1]").wait_for()
    calls = [params["name"] for params in references.find_messages("tools/call")]
    assert calls == ["cite"]


def test_works_from_outside_are_kept_by_the_tool_of_their_own_room(one_stage: ViewStage) -> None:
    stage = ViewStage(one_stage.page, one_stage.host, one_stage.desk, "modern", "/literature/mcp")
    works = [
        {"id": "no-such-work", "title": "Cold hands", "authors": ["A"], "year": 2020, "ids": {}},
        {"id": "w2", "title": "Warm hands", "year": None, "ids": {}, "in_library": "frost-1991"},
    ]
    found = {"total": 2, "page": 1, "limit": 10, "works": works, "coverage": []}
    given = {"content": [], "structuredContent": found}
    view = stage.open("search_literature", {"query": "hands"}, deliver={"given": given})
    view.get_by_text("In library: frost-1991").wait_for()
    view.get_by_role("button", name="Add to library: Cold hands").press("Enter")
    view.locator("#status.danger").wait_for()
    (called,) = stage.find_messages("tools/call")
    assert called == {
        "name": "add",
        "arguments": {"identifiers": ["no-such-work"], "into": "library"},
    }


def test_arguments_that_are_still_being_written_are_not_asked_for(one_stage: ViewStage) -> None:
    silent = {"result": "none", "input": False}
    view = one_stage.open("search_papers", {}, deliver=silent)
    tell = "([kind, query]) => tellInput(kind, {query})"
    for part in ("m", "mar", "marine o"):
        one_stage.page.evaluate(tell, ["tool-input-partial", part])
    one_stage.page.evaluate(tell, ["tool-input", "marine oil"])
    view.locator("tbody tr").first.wait_for()
    queries = [call["arguments"]["query"] for call in one_stage.find_messages("tools/call")]
    assert queries == ["marine oil"]


def test_a_refusal_is_shown_with_what_to_do_next(one_stage: ViewStage) -> None:
    view = one_stage.open("list_hypotheses", {"research_id": "res_none"})
    view.locator(".notice.danger").wait_for()
    assert "res_none" in view.locator("main").inner_text()


@pytest.mark.parametrize("drive", DRIVES.values(), ids=DRIVES)
def test_a_view_is_drawn_and_its_button_reaches_the_desk(
    drive: Callable[[ViewStage], None], stage: ViewStage
) -> None:
    drive(stage)


@pytest.mark.parametrize("check", CHECKS.values(), ids=CHECKS)
def test_a_view_copes_with_every_host(
    check: Callable[[ViewStage], None], one_stage: ViewStage
) -> None:
    check(one_stage)


_SHOWN: dict[str, Callable[[ViewStage], dict[str, object]]] = {
    "search_papers": lambda stage: {"query": "cold finger disease", "limit": 20},
    "check_claim": lambda stage: {"text": "Marine oil lowers blood viscosity."},
    "find_passages": lambda stage: {"query": "marine oil"},
    "cite_references": lambda stage: {"ids": [f"cold{at}" for at in range(1, 20)]},
    "list_hypotheses": lambda stage: {"research_id": stage.research_id},
    "get_results": lambda stage: {"research_id": stage.research_id},
    "get_research_status": lambda stage: {"research_id": stage.research_id},
}


@pytest.mark.parametrize("tool", _SHOWN)
@pytest.mark.parametrize("width", [320, 700])
def test_a_view_fits_a_chat(tool: str, width: int, one_stage: ViewStage) -> None:
    one_stage.page.set_viewport_size({"width": width, "height": 700})
    view = one_stage.open(tool, _SHOWN[tool](one_stage))
    view.locator("main[data-state=drawn]").wait_for()
    one_stage.wait_for("ui/notifications/size-changed")
    assert view.locator("html").evaluate(_OVERFLOW) == 0
    assert view.locator("html").evaluate("node => node.offsetHeight") <= _TALLEST_INLINE_PX
    sizes = one_stage.find_messages("ui/notifications/size-changed")
    assert len(sizes) <= 4 and sizes[-1]["height"] <= _TALLEST_INLINE_PX


@pytest.mark.parametrize("tool", _SHOWN)
@pytest.mark.parametrize("theme", ["light", "dark"])
def test_a_view_is_accessible(
    tool: str, theme: str, browser: Any, host: HostPages, desk: ServedDesk
) -> None:
    problems: list[str] = []
    page = open_page(browser, problems, viewport={"width": 390, "height": 800}, bypass_csp=True)
    try:
        stage = ViewStage(page, host, desk, "legacy")
        view = stage.open(tool, _SHOWN[tool](stage), context={"theme": theme})
        view.locator("main[data-state=drawn]").wait_for()
        assert_accessible(page.frames[-1])
    finally:
        page.context.close()
    assert not problems, problems


def open_rejection(stage: ViewStage) -> None:
    view = stage.open("list_hypotheses", {"research_id": stage.research_id})
    # Of the last one, which no other journey decides about.
    view.locator(".line").last.press("Enter")
    view.get_by_role("button", name="Reject", exact=True).press("Enter")
    view.get_by_label("Why is it rejected?").wait_for()


def open_question(stage: ViewStage) -> None:
    mute = {"result": "none", "input": False}
    view = stage.open("check_claim", {}, deliver=mute)
    view.get_by_label("What shall the papers say something about?").wait_for()


def open_refusal(stage: ViewStage) -> None:
    view = stage.open("get_results", {"research_id": "res_none"})
    view.locator(".notice.danger").wait_for()


@pytest.mark.parametrize("reach", [open_rejection, open_question, open_refusal])
def test_a_view_is_accessible_in_every_state(
    reach: Callable[[ViewStage], None], browser: Any, host: HostPages, desk: ServedDesk
) -> None:
    page = open_page(browser, [], viewport={"width": 390, "height": 800}, bypass_csp=True)
    try:
        reach(ViewStage(page, host, desk, "legacy"))
        assert_accessible(page.frames[-1])
    finally:
        page.context.close()


_FOCUS = """() => {
  const at = document.activeElement;
  if (!at || at === document.body) return null;
  const box = at.getBoundingClientRect();
  return { name: at.getAttribute('aria-label') ?? at.textContent, top: box.top,
           isSmall: box.width < 24 || box.height < 24,
           isSeen: getComputedStyle(at).outlineStyle !== 'none' };
}"""


@pytest.mark.parametrize("tool", ["search_papers", "list_hypotheses", "cite_references"])
def test_the_tab_key_reaches_every_control_in_order(tool: str, one_stage: ViewStage) -> None:
    one_stage.page.set_viewport_size({"width": 390, "height": 800})
    view = one_stage.open(tool, _SHOWN[tool](one_stage))
    view.locator("main[data-state=drawn]").wait_for()
    frame = one_stage.page.frames[-1]
    controls = view.locator("button, input, select, a[href]").count()
    stops = []
    for _ in range(controls):
        one_stage.page.keyboard.press("Tab")
        stops.append(frame.evaluate(_FOCUS))
    assert controls > 2 and all(stops)
    assert all(stop["isSeen"] and not stop["isSmall"] for stop in stops), stops
    assert len({(stop["name"], stop["top"]) for stop in stops}) == controls
    tops = [stop["top"] for stop in stops]
    assert all(later > sooner - 30 for sooner, later in pairwise(tops)), stops

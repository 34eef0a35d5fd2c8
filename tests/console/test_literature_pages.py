"""The literature pages: what each service said, what is added, and what leaves this machine."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from contextlib import contextmanager
from html import escape
from pathlib import Path
from typing import Any

import pytest

from tests.access.support import PASSWORD
from tests.console.checks import assert_accessible, assert_fits, tab_through
from tests.console.client import ConsoleClient
from tests.console.served_desk import HOSTILE, ServedDesk, desk_settings, serve_desk
from tests.loopback_server import Asked, Canned
from tests.rooms.literature.outside import SERVICES, XGEN, Outside
from tests.services.literature.recorded import needs_recordings

pytestmark = [pytest.mark.promise("V1"), needs_recordings]

SEARCH = "/literature?q=large+language+models+chemistry"
# Adapters take tags away and turn entities into signs, so both are sent.
_TWICE = f"{HOSTILE} {escape(HOSTILE)}"
_RETRACTED = "10.1007/s40278-023-41815-2"


class HostileOutside(Outside):
    """Services as recorded, and one whose titles, abstracts and addresses want to run."""

    def answer(self, asked: Asked) -> Canned:
        if "hostile" not in asked.path:
            return super().answer(asked)
        self.asked.append(asked)
        if not asked.path.startswith("/openalex/"):
            return 404, {}, b""
        work = {
            "id": "https://openalex.org/W666",
            "doi": "https://doi.org/10.5555/hostile",
            "display_name": f"Work {_TWICE}",
            "title": f"Work {_TWICE}",
            "publication_year": 2024,
            "type": "article",
            "ids": {"openalex": "https://openalex.org/W666"},
            "authorships": [{"author": {"display_name": f"Eve {_TWICE}"}}],
            "primary_location": {
                "landing_page_url": "javascript:alert(1)",
                "source": {"display_name": f"Journal {_TWICE}"},
            },
            "abstract_inverted_index": {"hostile": [0], _TWICE: [1]},
            "cited_by_count": 1,
        }
        is_one = "/works/" in asked.path
        body = work if is_one else {"meta": {"count": 1, "next_cursor": None}, "results": [work]}
        return 200, {"content-type": "application/json"}, json.dumps(body).encode()


@contextmanager
def serve_with(world: Outside, home: Path, **sections: Any) -> Iterator[ServedDesk]:
    """A local desk whose literature services are this world."""
    literature = world.settings(home).literature.model_dump()
    settings = desk_settings(home, literature=literature, **sections)
    with serve_desk(settings) as url:
        yield ServedDesk(url, settings)


@pytest.fixture(scope="module")
def outside() -> Iterator[Outside]:
    with Outside() as world:
        world.faults["pubmed"] = (503, {}, b"")
        yield world


@pytest.fixture(scope="module")
def desk(outside: Outside, tmp_path_factory: pytest.TempPathFactory) -> Iterator[ServedDesk]:
    """A desk with one reference, at which PubMed does not answer."""
    with serve_with(outside, tmp_path_factory.mktemp("literature") / "home") as served:
        served.call(
            "add_references",
            input="@article{xg, title = {High-throughput screening of human genetic variants by "
            f"pooled prime editing}}, doi = {{{XGEN}}}}}",
        )
        yield served


@pytest.fixture
def reader(desk: ServedDesk) -> ConsoleClient:
    return ConsoleClient(desk.url)


def test_who_may_not_read_literature_is_refused_at_every_page(institute: ServedDesk) -> None:
    ben = ConsoleClient(institute.url)
    ben.log_in("ben", PASSWORD)
    for path in (
        "/literature", SEARCH, "/literature/alerts", "/literature/retractions?scope=corpus",
        "/literature/completion", f"/literature/work/{XGEN}", f"/literature/text/{XGEN}",
    ):  # fmt: skip
        page = ben.get(path)
        assert page.status == 403, path
        assert "literature:read" in page.text
    refused = ben.post("/literature/add", identifiers=XGEN, into="library")
    assert refused.status == 403


def test_a_form_of_another_site_adds_nothing(reader: ConsoleClient, desk: ServedDesk) -> None:
    reader.get("/literature")
    before = desk.call("list_references", limit=1)["total"]
    stolen = {"csrf": reader.token, "identifiers": XGEN, "into": "library"}
    page = reader.send("/literature/add", stolen, **{"sec-fetch-site": "cross-site"})
    assert page.status == 403
    assert reader.send("/literature/add", {"identifiers": XGEN}).status == 403
    assert desk.call("list_references", limit=1)["total"] == before


def test_where_the_network_is_off_the_page_says_so_and_what_to_do(
    outside: Outside, tmp_path: Path
) -> None:
    with serve_with(outside, tmp_path / "home", network=False) as desk:
        client = ConsoleClient(desk.url)
        for path in (SEARCH, f"/literature/work/{XGEN}", f"/literature/citations/{XGEN}"):
            page = client.get(path)
            assert page.status == 503, path
            assert "The network is off." in page.text
            assert "CARREL_NETWORK=true" in page.text
        client.post("/do/save_alert", query="sleep", _next="/literature/alerts")
        ran = client.post("/literature/alerts")
        assert "The network is off." in ran.text


def test_hostile_titles_abstracts_and_addresses_stay_text(page: Any, tmp_path: Path) -> None:
    with HostileOutside() as world, serve_with(world, tmp_path / "home") as desk:
        page.goto(desk.url + "/literature?q=hostile")
        page.get_by_role("link", name="Work").first.wait_for()
        _assert_inert(page)
        page.goto(desk.url + "/literature/work/10.5555/hostile")
        _assert_inert(page)


def _assert_inert(page: Any) -> None:
    assert page.title() != "broken"
    assert page.locator("main img, main script:not([type='application/json'])").count() == 0
    assert page.locator("a[href^='javascript:' i]").count() == 0


def test_an_alert_with_a_hostile_name_stays_text(page: Any, desk: ServedDesk) -> None:
    desk.call("save_alert", query="sleep", name=HOSTILE[:100])
    page.goto(desk.url + "/literature/alerts")
    page.get_by_role("link", name="<img src=x").wait_for()
    _assert_inert(page)
    desk.call("remove_alert", name=HOSTILE[:100])


def test_a_query_with_markup_is_shown_as_it_was_typed(reader: ConsoleClient) -> None:
    page = reader.get("/literature?q=%3Cscript%3Ealert(1)%3C/script%3E")
    assert "<script>alert" not in page.html
    assert 'value="&lt;script&gt;alert(1)&lt;/script&gt;"' in page.html


def test_back_leads_only_to_pages_of_the_room(reader: ConsoleClient) -> None:
    for back in ("https://evil.example", "//evil.example", "/literaturex", "/admin"):
        page = reader.post("/literature/add", identifiers="10.5555/none", into="library", back=back)
        assert 'href="/literature"' in page.html
        assert back not in re.sub(r'href="/admin"', "", page.html)


def test_every_service_says_what_became_of_the_question(reader: ConsoleClient) -> None:
    page = reader.get(SEARCH)
    assert page.status == 200
    assert "4 of 5 services answered" in page.text
    assert "PubMed could not answer" in page.text or "PubMed is not asked" in page.text
    assert "all:large AND all:language AND all:models AND all:chemistry" in page.text
    assert "Could not say:" in page.text
    assert "$0.001" in page.text
    assert "Semantic Scholar" in page.text
    assert "set literature.semantic_scholar_api_key" in page.text
    # What the desk has is marked, and what was sent is there word for word.
    assert 'href="/references/item/xg"' in page.html
    assert "GET http://127.0.0.1" in page.text


def test_nothing_is_known_where_no_service_answers(tmp_path: Path) -> None:
    with Outside() as world, serve_with(world, tmp_path / "home") as desk:
        world.faults.update(dict.fromkeys(SERVICES, (500, {}, b"")))
        page = ConsoleClient(desk.url).get(SEARCH)
    assert page.status == 503
    assert "No literature service answered" in page.text
    assert "No service has anything" not in page.text


def test_a_desk_without_network_says_so_once_and_plainly(tmp_path: Path) -> None:
    with Outside() as world:
        literature = world.settings(tmp_path / "home").literature.model_dump()
    # The world has ended: its addresses answer nobody.
    settings = desk_settings(tmp_path / "home", literature=literature)
    with serve_desk(settings) as url:
        page = ConsoleClient(url).get(SEARCH)
    assert page.status == 503
    assert "perhaps this machine has no network now" in page.text
    notice = page.html.split('class="notice')[1].split('class="coverage')[0]
    assert "http" not in notice


def test_an_alert_that_nobody_answered_is_not_told_as_nothing_new(tmp_path: Path) -> None:
    with Outside() as world:
        literature = world.settings(tmp_path / "home").literature.model_dump()
    settings = desk_settings(tmp_path / "home", literature=literature)
    with serve_desk(settings) as url:
        ServedDesk(url, settings).call("save_alert", query="cold fingers", name="cold")
        page = ConsoleClient(url).post("/literature/alerts", name="cold")
    assert "nothing is known of new works" in page.text
    assert "0 new works by" not in page.text


def test_filters_live_in_the_address(reader: ConsoleClient) -> None:
    address = "/literature?q=chemistry&services=crossref&order=newest&no_preprints=1"
    page = reader.get(address)
    assert re.search(r'value="crossref" checked', page.html)
    assert re.search(r'value="newest" selected', page.html)
    assert "not among the services of this call" in page.text


def test_a_work_is_shown_whole_with_who_said_what(reader: ConsoleClient) -> None:
    page = reader.get(f"/literature/work/doi:{XGEN}")
    assert page.status == 200
    assert "High-throughput screening of human genetic variants" in page.text
    assert "https://doi.org/10.1016/j.xgen.2025.100814" in page.html
    assert "Which service said what" in page.text
    assert reader.get("/literature/work?id=" + XGEN).response.url.path.endswith(XGEN)


def test_citations_outside_are_listed_with_their_services(reader: ConsoleClient) -> None:
    page = reader.get(f"/literature/citations/{XGEN}")
    assert page.status == 200
    assert "1 234 OpenAlex" in page.text
    assert "Not every service gave its whole list." in page.text


def test_works_are_added_without_script(no_script: Any, desk: ServedDesk) -> None:
    no_script.goto(desk.url + SEARCH)
    no_script.locator("li[data-work*='s40278-023-41815-2'] input[name=identifiers]").check()
    no_script.get_by_role("button", name="Add the chosen").click()
    assert "added" in no_script.locator("main").inner_text()
    no_script.get_by_role("link", name="in the library").first.wait_for()
    no_script.get_by_role("link", name="Back", exact=True).click()
    assert no_script.url.endswith(SEARCH.replace("+", "+"))
    held = no_script.locator("li[data-work*='s40278-023-41815-2']")
    assert "in the library" in held.inner_text()


def test_a_long_addition_goes_on_as_a_job_that_is_followed(page: Any, tmp_path: Path) -> None:
    hurried = {"add_wait_seconds": 0.001}
    with Outside() as world, serve_with(world, tmp_path / "home", papers=hurried) as desk:
        client = ConsoleClient(desk.url)
        added = client.post(
            "/literature/add", identifiers=[XGEN, _RETRACTED], into="library", back=SEARCH
        )
        assert added.response.url.path.startswith("/literature/addition/")
        page.goto(f"{desk.url}{added.response.url.raw_path.decode()}")
        page.get_by_text("2 added.", exact=True).wait_for()
        assert page.locator("main .badge-good").count() == 2
        assert page.get_by_role("link", name="Back", exact=True).get_attribute("href") == SEARCH
        # In place, the row itself follows its job.
        page.goto(desk.url + SEARCH)
        row = page.locator("li[data-work*='s42256-024-00832-8']")
        row.locator("[data-add-one]").click()
        row.locator("[data-outcome] .badge-good").wait_for()


def test_nothing_chosen_adds_nothing_and_says_so(reader: ConsoleClient) -> None:
    reader.get(SEARCH)
    page = reader.post("/literature/add", into="library")
    assert page.status == 400
    assert "No work was chosen" in page.text


def test_a_work_is_added_in_place_with_the_keyboard(page: Any, desk: ServedDesk) -> None:
    page.goto(desk.url + "/literature")
    page.keyboard.press("/")
    page.keyboard.type("large language models chemistry")
    page.keyboard.press("Enter")
    page.wait_for_url("**/literature?q=*")
    row = page.locator("li[data-work*='s42256-024-00832-8']")
    row.locator("[data-add-one]").focus()
    page.keyboard.press("Enter")
    row.locator("[data-outcome] .badge-good").wait_for()
    assert row.locator("[data-outcome] a").get_attribute("href").startswith("/references/item/")
    assert desk.call("search_references", query="doi:10.1038/s42256-024-00832-8")["total"] == 1


def test_the_tab_key_reaches_the_search_and_every_hit(page: Any, desk: ServedDesk) -> None:
    page.goto(desk.url + SEARCH)
    stops = tab_through(page)
    assert any("Augmenting large language models" in stop for stop in stops)
    assert any("Add the chosen" in stop for stop in stops)


def test_an_alert_is_saved_run_seen_and_removed_at_a_phones_width(
    phone: Any, desk: ServedDesk
) -> None:
    phone.goto(desk.url + SEARCH)
    phone.get_by_role("link", name="Follow this search: be told of new works").click()
    assert phone.get_by_label("Search required").input_value() == "large language models chemistry"
    phone.get_by_label("Name", exact=True).fill("Chemistry by phone")
    phone.get_by_role("button", name="Save the alert").click()
    phone.get_by_text("The alert is saved.").wait_for()
    phone.get_by_role("button", name="Ask now: Chemistry by phone").click()
    phone.get_by_text("Not everything was answered").wait_for()
    assert_fits(phone)
    phone.on("dialog", lambda dialog: dialog.accept())
    phone.get_by_role("button", name="Remove: Chemistry by phone").click()
    phone.get_by_text("The alert is removed.").wait_for()
    assert "Chemistry by phone" not in phone.locator("main").inner_text()


def test_a_digest_is_saved_as_a_file_and_tells_nothing(
    reader: ConsoleClient, desk: ServedDesk
) -> None:
    desk.call("save_alert", query="sleep", name="Digested")
    page = reader.post("/literature/alerts/digest", name="Digested", days="7")
    assert page.response.headers["content-type"] == "text/markdown; charset=utf-8"
    assert "attachment" in page.response.headers["content-disposition"]
    assert page.html == "Nothing new.\n"
    feed = reader.post("/literature/alerts/digest", format="atom")
    assert feed.html.startswith("<?xml")
    assert reader.post("/literature/alerts/digest", days="0").status == 400
    desk.call("remove_alert", name="Digested")


def test_retractions_are_checked_in_a_draft_that_is_in_no_address(reader: ConsoleClient) -> None:
    without_table = reader.get("/literature/retractions?scope=library")
    assert without_table.status == 503
    assert "nothing was checked" in without_table.text
    page = reader.post("/literature/retractions", text=f"We rely on {_RETRACTED}.", outside="1")
    assert page.status == 200
    assert "work checked" in page.text
    assert "Retraction Watch table is not loaded" in page.text
    assert str(page.response.url).endswith("/literature/retractions")


def test_a_gap_is_proposed_decided_and_taken_back(reader: ConsoleClient, desk: ServedDesk) -> None:
    page = reader.post("/literature/completion", target="reference", do="look")
    assert "1 proposal" in page.text
    assert "Cell Genomics" in page.text
    assert "container-title" not in desk.call("get_reference", id="xg")["reference"]
    unticked = reader.post("/literature/completion", target="reference", do="apply")
    assert "nothing was changed" in unticked.text
    home = reader.get("/")
    assert "1 proposal for the library to decide" in home.text
    filled = reader.post("/literature/completion", target="reference", do="apply", ids="xg")
    assert "1 record completed." in filled.text
    assert desk.call("get_reference", id="xg")["reference"]["container-title"] == "Cell Genomics"
    undone = reader.post("/literature/completion", target="reference", do="undo", one="xg")
    assert "1 record as before." in undone.text
    assert "container-title" not in desk.call("get_reference", id="xg")["reference"]


def test_an_open_text_is_fetched_only_when_asked_for(
    reader: ConsoleClient, outside: Outside
) -> None:
    before = len(outside.asked)
    offer = reader.get(f"/literature/text/{XGEN}")
    assert (offer.status, len(outside.asked)) == (200, before)
    found = reader.post(f"/literature/text/{XGEN}")
    assert found.status == 200
    assert "places were looked at" in found.text or "place was looked at" in found.text


@pytest.mark.parametrize(
    "path",
    [
        "/literature", SEARCH, f"/literature/work/doi:{XGEN}", f"/literature/citations/{XGEN}",
        "/literature/alerts", "/literature/retractions?scope=library&outside=1",
        "/literature/retractions?scope=draft", "/literature/completion",
        f"/literature/text/{XGEN}",
    ],
)  # fmt: skip
def test_every_page_fits_and_is_accessible(inspected: Any, desk: ServedDesk, path: str) -> None:
    inspected.goto(desk.url + path)
    assert_fits(inspected)
    for scheme in ("light", "dark"):
        inspected.emulate_media(color_scheme=scheme)
        assert_accessible(inspected)


def test_what_is_no_identifier_is_a_slip_of_the_reader_and_not_of_the_services(
    reader: ConsoleClient,
) -> None:
    page = reader.get("/literature/work/xx")
    assert page.status == 400
    assert "no identifier" in page.text

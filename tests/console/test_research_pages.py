"""The pages of the research room: refusals first, then journeys in a browser."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from carrel.rooms.research.safety import check_goal
from tests.access.support import PASSWORD
from tests.console.checks import assert_accessible, assert_fits, tab_through
from tests.console.client import ConsoleClient
from tests.console.served_desk import HOSTILE, ServedDesk, free_port, serve_desk
from tests.libraries.discovery.small_corpus import GOAL
from tests.rooms.research.test_held_goals import IN_DOUBT
from tests.rooms.research.test_outside import Outside, settings_outside

pytestmark = pytest.mark.promise("V1")

VIEWS = ("hypotheses", "tournament", "evidence", "tasks", "record")


def hypothesis_path(console: ServedDesk) -> str:
    return f"/research/hypothesis/{console.ids['hypothesis_id']}"


def project_path(console: ServedDesk, view: str = "") -> str:
    return f"/research/project/{console.ids['research_id']}" + (f"?view={view}" if view else "")


@pytest.fixture
def hostile_id(console: ServedDesk) -> str:
    """A person's hypothesis full of markup, in the finished project."""
    title = f"Cold {HOSTILE[:200]}"
    research_id = console.ids["research_id"]
    for row in console.call("list_hypotheses", research_id=research_id):
        if row["title"] == title:
            return str(row["id"])
    added = console.call(
        "submit_hypothesis",
        research_id=research_id,
        title=title,
        summary=f"It says {HOSTILE}",
        rationale=f"Because {HOSTILE}\n1. one {HOSTILE}\n   [x](javascript:alert(1))",
        experimental_protocol=f"First {HOSTILE}",
    )
    return str(added["id"])


class TestRefusals:
    def test_a_stranger_sees_no_page_and_a_person_without_the_scope_is_refused(
        self, institute: ServedDesk
    ) -> None:
        client = ConsoleClient(institute.url)
        for path in ("/research", "/research/start", "/research/goals", "/research/claim"):
            assert client.get(path).response.url.path == "/login", path
        client.log_in("ben", PASSWORD)
        for path in ("/research", "/research/tasks", "/research/goals"):
            assert client.get(path).status == 403, path
        # Checking a claim needs no more than papers.
        assert client.get("/research/claim").status == 200

    def test_what_is_not_there_is_said_to_be_missing(self, client: ConsoleClient) -> None:
        for path in (
            "/research/project/res_none",
            "/research/hypothesis/hyp_none",
            "/research/report/res_none",
            "/research/export/res_none",
            "/research/submit/res_none",
            "/research/reject/hyp_none",
        ):
            assert client.get(path).status == 404, path

    def test_a_write_by_get_changes_nothing(
        self, console: ServedDesk, client: ConsoleClient
    ) -> None:
        name = console.ids["hypothesis_id"]
        for path in (f"/research/note/{name}", f"/research/evolve/{name}"):
            assert client.get(path).status == 405, path
        assert client.get(f"/do/approve_hypothesis?hypothesis_id={name}").status == 405

    def test_a_form_without_the_token_starts_nothing(
        self, console: ServedDesk, client: ConsoleClient
    ) -> None:
        before = console.call("get_research_overview")["projects"]
        refused = client.send("/research/start", {"goal": GOAL, "csrf": "0" * 64})
        assert refused.status == 403
        assert console.call("get_research_overview")["projects"] == before

    def test_hostile_texts_stay_texts(
        self, console: ServedDesk, page: Any, hostile_id: str
    ) -> None:
        paths = [
            f"/research/hypothesis/{hostile_id}",
            f"/research/reject/{hostile_id}",
            *(project_path(console, view) for view in VIEWS),
            f"/research/report/{console.ids['research_id']}?limit=200",
            "/research/claim?text=%3Cscript%3Edocument.title%3D'broken'%3C%2Fscript%3E+cold",
            "/research/contradictions?q=%22%3E%3Cimg+src%3Dx+onerror%3Dalert(1)%3E",
            "/research/start?goal=%3Cscript%3Edocument.title%3D'broken'%3C/script%3E+cold+fingers",
        ]
        for path in paths:
            page.goto(console.url + path)
            assert page.title() != "broken", path
            assert page.locator("main script, main img").count() == 0, path
            assert page.locator("main a[href^='javascript:']").count() == 0, path
        page.problems[:] = [one for one in page.problems if "status of 4" not in one]

    def test_a_hostile_goal_is_shown_before_it_starts_and_keeps_what_was_typed(
        self, client: ConsoleClient
    ) -> None:
        page = client.get("/research/start?goal=short&hypothesis_count=7")
        assert page.status == 400
        assert 'value="7"' in page.html and ">short</textarea>" in page.html.replace("\n", "")
        assert client.get("/research/start?goal=x&hypothesis_count=nine").status == 400
        assert client.get("/research/start?goal=x&hypothesis_count=101").status == 400


class TestStarting:
    def test_a_goal_is_shown_as_understood_with_every_setting_before_it_starts(
        self, console: ServedDesk, no_script: Any
    ) -> None:
        before = console.call("get_research_overview")["projects"]
        no_script.goto(f"{console.url}/research")
        no_script.get_by_label("What is to be found out?").fill(GOAL)
        no_script.get_by_role("button", name="Read the goal").click()
        text = no_script.locator("main").inner_text()
        for said in ("The goal as understood", "Who thinks", "Expected time", "playing matches"):
            assert said in text, said
        assert console.call("get_research_overview")["projects"] == before
        no_script.get_by_label("Hypotheses").fill("2")
        no_script.get_by_role("button", name="Read it again").click()
        no_script.get_by_role("button", name="Start", exact=True).click()
        assert "/research/project/" in no_script.url
        assert "The run has started." in no_script.locator("main").inner_text()
        assert console.call("get_research_overview")["projects"] == before + 1

    def test_a_run_is_followed_to_its_end_without_loading_the_page(
        self, console: ServedDesk, page: Any
    ) -> None:
        started = console.call("start_research", goal=GOAL, hypothesis_count=4)
        page.goto(f"{console.url}/research/project/{started['research_id']}")
        page.evaluate("() => { window.isSamePage = true; }")
        page.locator("#run .live-over").wait_for()
        assert page.evaluate("() => window.isSamePage")
        assert page.locator(".ranked").count() > 0
        assert "completed" in page.locator(".live-text").inner_text()

    def test_a_goal_in_doubt_waits_and_an_administrator_rejects_it_with_a_reason(
        self, console: ServedDesk, client: ConsoleClient
    ) -> None:
        goal = next(goal for goal in IN_DOUBT if check_goal(goal).outcome == "hold")
        shown = client.get(f"/research/start?goal={goal}")
        assert "would wait for an administrator" in shown.text
        page = client.post("/research/start", goal=goal, hypothesis_count="2")
        assert "waits for approval" in page.text
        held = client.get("/research/goals")
        assert goal in held.text
        found = re.search(r'name="research_id" value="(res_\w+)"', held.html)
        assert found is not None
        empty = client.post("/do/reject_goal", research_id=found[1], reason="")
        assert empty.status == 400
        done = client.post(
            "/do/reject_goal", research_id=found[1], reason="no need", _next="/research/goals"
        )
        assert goal not in done.text
        status = console.call("get_research_status", research_id=found[1])
        assert status["status"] == "cancelled" and "no need" in status["problem"]

    def test_an_empty_desk_looks_outside_and_the_page_says_who_answered(
        self, tmp_path: Path
    ) -> None:
        with Outside() as outside:
            server = {"port": free_port()}
            settings = settings_outside(tmp_path, outside, server=server)
            with serve_desk(settings) as url:
                client = ConsoleClient(url)
                assert client.get(f"/research/start?goal={GOAL}").status == 400
                shown = client.get(f"/research/start?goal={GOAL}&look_outside=1")
                assert shown.status == 200 and "looks outside first" in shown.text
                page = client.post(
                    "/research/start", goal=GOAL, hypothesis_count="3", look_outside="1"
                )
                research_id = page.response.url.path.rpartition("/")[2]
                desk = ServedDesk(url, settings)
                desk.call("get_research_status", research_id=research_id, wait_seconds=50)
                record = client.get(f"/research/project/{research_id}?view=record")
                assert "new papers joined the corpus" in record.text
                assert "crossref did not answer" in record.text


class TestProject:
    def test_every_view_is_read_without_script(self, console: ServedDesk, no_script: Any) -> None:
        for view in VIEWS:
            no_script.goto(console.url + project_path(console, view))
            assert no_script.locator("h1").inner_text() == GOAL
            assert no_script.locator(".tabs [aria-current]").count() == 1

    def test_the_table_is_sorted_by_links_and_has_an_interval_in_every_row(
        self, console: ServedDesk, page: Any
    ) -> None:
        page.goto(console.url + project_path(console, "tournament"))
        rows = page.locator(".tournament tbody tr")
        assert rows.count() == page.locator(".tournament .interval").count() > 0
        page.get_by_role("link", name="Hypothesis", exact=True).click()
        titles = page.locator(".tournament tbody th a").all_inner_texts()
        assert titles == sorted(titles, key=str.casefold)
        assert page.locator("th[aria-sort='ascending']").inner_text().strip() == "Hypothesis"
        page.get_by_role("link", name="Hypothesis", exact=True).click()
        assert page.locator(".tournament tbody th a").all_inner_texts() == titles[::-1]

    def test_hypotheses_stand_in_the_order_of_the_tournament(
        self, console: ServedDesk, no_script: Any
    ) -> None:
        no_script.goto(console.url + project_path(console))
        listed = no_script.locator(".ranked h2").all_inner_texts()
        no_script.goto(console.url + project_path(console, "tournament"))
        assert no_script.locator(".tournament tbody th").all_inner_texts() == listed

    def test_a_row_and_its_line_point_at_each_other(self, console: ServedDesk, page: Any) -> None:
        page.goto(console.url + project_path(console, "tournament"))
        page.locator(".tournament tbody th a").first.focus()
        assert page.locator(".plot-line.picked").count() > 0

    def test_a_report_is_read_printed_and_kept_as_files(
        self, console: ServedDesk, client: ConsoleClient, page: Any
    ) -> None:
        research_id = console.ids["research_id"]
        page.goto(f"{console.url}/research/report/{research_id}")
        page.emulate_media(media="print")
        assert not page.locator(".shell").is_visible()
        assert page.locator(".sign").is_visible()
        page.emulate_media(media="screen")
        for name, begins in (
            ("html", "<!doctype html>"),
            ("markdown", "#"),
            ("json", "{"),
            ("bibtex", "@"),
        ):
            file = client.get(f"/research/export/{research_id}?format={name}")
            assert file.status == 200
            assert "attachment" in file.response.headers["content-disposition"]
            assert file.html.lstrip().startswith(begins), name
        assert client.get(f"/research/export/{research_id}?format=exe").status == 400

    def test_tasks_say_what_waits_and_how_to_connect_an_assistant(
        self, console: ServedDesk, client: ConsoleClient
    ) -> None:
        started = console.call("start_research", goal=GOAL, hypothesis_count=2)
        console.call("get_research_status", research_id=started["research_id"], wait_seconds=20)
        task = console.call(
            "next_research_task", research_id=started["research_id"], take_over=True
        )
        page = client.get("/research/tasks")
        assert (
            "in work" in client.get(f"/research/project/{started['research_id']}?view=tasks").text
        )
        assert task["role"] in {"generate", "review", "compare", "evolve", "summarise"}
        assert 'href="/#connect"' in page.html
        assert "tasks are left" in page.text and started["research_id"] in page.text


class TestHypothesis:
    def test_every_sentence_leads_to_its_paper_and_every_edge_to_its_sentence(
        self, console: ServedDesk, page: Any
    ) -> None:
        page.goto(console.url + hypothesis_path(console))
        cards = page.locator(".sides .evidence")
        assert cards.count() > 0
        for at in range(cards.count()):
            path = cards.nth(at).locator(".byline a").get_attribute("href")
            assert path.startswith("/papers/paper/")
        edges = page.locator(".bridge.only-wide a.bridge-edge")
        assert edges.count() > 0
        for at in range(edges.count()):
            anchor = edges.nth(at).get_attribute("href").removeprefix("#")
            assert page.locator(f"[id='{anchor}']").count() == 1
        edges.first.click()
        assert page.locator(".anchor:focus").count() == 1

    def test_the_passage_of_a_sentence_opens(
        self, console: ServedDesk, client: ConsoleClient
    ) -> None:
        html = client.get(hypothesis_path(console)).html
        paths = re.findall(r'href="(/papers/paper/[^"]+\?passage=[^"]+)"', html)
        assert paths
        assert client.get(paths[0].replace("&amp;", "&")).status == 200

    def test_it_is_approved_rated_and_rejected_with_a_reason_by_keyboard(
        self, console: ServedDesk, page: Any
    ) -> None:
        added = console.call(
            "submit_hypothesis",
            research_id=console.ids["research_id"],
            title="Warm gloves ease cold finger disease",
            summary="They keep the fingers warm, which is all that is wrong with them.",
        )
        page.goto(f"{console.url}/research/hypothesis/{added['id']}")
        page.get_by_role("button", name="Approve").press("Enter")
        page.get_by_text("Approved.").wait_for()
        # Nothing is chosen before: a click by mistake records no score.
        assert page.get_by_label("Your score").input_value() == ""
        page.get_by_label("Your score").select_option("0.9")
        page.get_by_role("button", name="Rate", exact=True).press("Enter")
        page.get_by_text("Your rating is kept").wait_for()
        page.get_by_role("link", name="Reject").press("Enter")
        dialog = page.locator("#reject-dialog")
        dialog.get_by_label("Why?").fill("known already")
        dialog.get_by_role("button", name="Reject").press("Enter")
        page.get_by_text("Rejected. It stays visible").wait_for()
        assert "known already" in page.locator(".hypothesis").inner_text()
        found = console.call("get_hypothesis", hypothesis_id=added["id"])
        assert (found["approval"], found["approval_reason"]) == ("rejected", "known already")

    def test_it_is_rejected_without_script(self, console: ServedDesk, no_script: Any) -> None:
        added = console.call(
            "submit_hypothesis",
            research_id=console.ids["research_id"],
            title="Cold water eases cold finger disease",
            summary="It does not, but somebody has to say so first.",
        )
        no_script.goto(f"{console.url}/research/hypothesis/{added['id']}")
        no_script.get_by_role("link", name="Reject").click()
        no_script.get_by_label("Why?").fill("it does not")
        no_script.get_by_role("button", name="Reject").click()
        assert "it does not" in no_script.locator("main").inner_text()

    def test_it_is_saved_as_a_note_and_evolved(
        self, console: ServedDesk, client: ConsoleClient
    ) -> None:
        name = console.ids["hypothesis_id"]
        noted = client.post(f"/research/note/{name}")
        assert noted.response.url.path.startswith("/knowledge/note/")
        evolved = client.post(f"/research/evolve/{name}", strategy="simplify")
        # A strategy that would change nothing says so on the same page.
        assert evolved.status in {200, 409}
        assert evolved.response.url.path.startswith("/research/")

    def test_what_cannot_be_done_is_said_on_the_page_of_the_hypothesis(
        self, console: ServedDesk, client: ConsoleClient
    ) -> None:
        name = console.ids["hypothesis_id"]
        page = client.post(f"/research/evolve/{name}", strategy="nonsense")
        assert page.status == 409
        assert "strategy" in page.text and "sticky-foot" in page.html
        assert client.post("/research/evolve/hyp_none", strategy="refine").status == 404
        assert client.post("/research/note/hyp_none").status == 404

    def test_a_persons_own_is_added_and_what_was_typed_survives_a_mistake(
        self, console: ServedDesk, page: Any
    ) -> None:
        page.goto(f"{console.url}/research/submit/{console.ids['research_id']}")
        page.get_by_label("Statement").fill("Marine oil thins the blood of cold fingers")
        page.get_by_label("Summary").fill("It lowers viscosity, and that is what is raised there.")
        page.get_by_label("Papers").last.fill("no-such-paper")
        page.get_by_role("button", name="Add it").click()
        page.get_by_role("alert").wait_for()
        page.problems.clear()
        assert page.get_by_label("Statement").input_value().startswith("Marine oil thins")
        page.get_by_label("Papers").last.fill("")
        page.get_by_role("button", name="Add it").click()
        assert "a person's own" in page.locator(".badges").first.inner_text()

    def test_hypotheses_of_the_earlier_system_are_imported(self, client: ConsoleClient) -> None:
        entry = {"id": "old-1", "summary": f"Old idea {HOSTILE}", "elo_rating": 1250}
        page = client.post("/research/import", hypotheses=json.dumps([entry]), goal="")
        assert page.status == 200 and "Open the project" in page.text
        wrong = client.post("/research/import", hypotheses="{not json", goal="")
        assert wrong.status == 400 and "not JSON" in wrong.text


class TestClaims:
    def test_a_claim_is_checked_for_and_against_with_sentences_that_open(
        self, console: ServedDesk, page: Any
    ) -> None:
        page.goto(f"{console.url}/research/claim")
        page.get_by_label("Claim or paragraph").fill("Marine oil lowers blood viscosity.")
        page.get_by_role("button", name="Check it").click()
        page.locator(".statement-check").first.wait_for()
        assert "text=Marine" in page.url
        links = page.locator(".statement-check .evidence .byline a")
        assert links.count() > 0
        assert (links.first.get_attribute("href") or "").startswith("/papers/paper/")

    def test_a_long_paragraph_is_checked_without_an_address(self, client: ConsoleClient) -> None:
        page = client.post("/research/claim", text="Marine oil lowers blood viscosity. " * 60)
        assert page.status == 200 and "statement-check" in page.html

    def test_contradictions_say_what_was_covered(self, client: ConsoleClient) -> None:
        assert "papers covered" not in client.get("/research/contradictions").text
        assert "papers covered" in client.get("/research/contradictions?q=marine+oil").text


class TestEveryPage:
    def paths(self, console: ServedDesk) -> list[str]:
        return [
            "/research",
            f"/research/start?goal={GOAL}",
            "/research/goals",
            "/research/tasks",
            "/research/import",
            "/research/claim?text=Marine+oil+lowers+blood+viscosity.",
            "/research/contradictions?q=marine+oil",
            f"/research/submit/{console.ids['research_id']}",
            f"/research/report/{console.ids['research_id']}",
            *(project_path(console, view) for view in VIEWS),
            hypothesis_path(console),
        ]

    def test_nothing_runs_over_the_edge_of_a_phone(
        self, console: ServedDesk, phone: Any, hostile_id: str
    ) -> None:
        for path in (*self.paths(console), f"/research/hypothesis/{hostile_id}"):
            phone.goto(console.url + path)
            assert_fits(phone)

    def test_keys_reach_everything_and_show_where_they_are(
        self, console: ServedDesk, page: Any
    ) -> None:
        page.goto(console.url + hypothesis_path(console))
        stops = " ".join(tab_through(page))
        for name in ("Approve", "Reject", "Rate", "Save as a note"):
            assert name in stops, name

    @pytest.mark.parametrize(("scheme", "width"), [("light", 1280), ("dark", 1280), ("dark", 390)])
    def test_axe_finds_nothing(
        self, console: ServedDesk, inspected: Any, scheme: str, width: int
    ) -> None:
        inspected.emulate_media(color_scheme=scheme)
        inspected.set_viewport_size({"width": width, "height": 800})
        for path in self.paths(console):
            inspected.goto(console.url + path)
            assert_accessible(inspected)

    def test_every_page_is_told_in_german(self, console: ServedDesk, client: ConsoleClient) -> None:
        for path in self.paths(console):
            page = client.get(path, **{"accept-language": "de"})
            assert page.status == 200, path
            assert '<html lang="de"' in page.html


def test_the_first_page_counts_projects_and_says_what_waits(client: ConsoleClient) -> None:
    text = client.get("/").text
    assert re.search(r"\d+ research project", text)
    assert "hypothes" in text

"""Journeys through every view, the same in our own host and in the official bridge.

Each opens a view of a served desk, looks at what it draws, presses its button by keyboard and sees
what the desk has kept.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from tests.console.served_desk import ServedDesk
from tests.console.views.host_pages import HostPages

_HOSTILE = """---
title: "Hostile <img src=x onerror=alert(1)> paper"
authors: ["Eve <b>Bold</b>"]
year: 2001
---

Hostile text <script>alert(1)</script> here.
"""
GOAL = "Find novel therapeutic targets for cold finger disease"
_HARMLESS = "() => document.querySelectorAll('img, script[src], b').length"


@dataclass(frozen=True, slots=True)
class ViewStage:
    """A host page over a served desk, in one era of the protocol."""

    page: Any
    host: HostPages
    desk: ServedDesk
    era: str
    path: str = "/desk/mcp"

    def open(self, tool: str, args: object, **more: Any) -> Any:
        server = f"{self.desk.url}{self.path}"
        return self.host.open_view(self.page, server, tool, args, era=self.era, **more)

    def find_messages(self, method: str) -> list[Any]:
        """What the host was asked or told by this method."""
        rows = self.page.evaluate("log")
        return [params for name, params in rows if name == method]

    @property
    def research_id(self) -> str:
        """A project of the desk that has hypotheses."""
        projects = self.desk.call("list_research_projects")
        return str(next(each["id"] for each in projects if each["hypothesis_count"]))

    def wait_for(self, method: str) -> None:
        self.page.wait_for_function("name => log.some(([each]) => each === name)", arg=method)


def drive_papers(stage: ViewStage) -> None:
    """A hostile title stays text, and a paper is added to the library by keyboard."""
    stage.desk.call("add_paper", markdown=_HOSTILE)
    view = stage.open("search_papers", {"query": "hostile onerror", "limit": 3})
    row = view.locator("tbody tr", has_text="Hostile <img src=x onerror=alert(1)> paper")
    row.wait_for()
    assert view.locator("main").evaluate(_HARMLESS) == 0
    button = row.get_by_role("button", name="Add to library")
    button.focus()
    button.press("Enter")
    row.locator(".outcome.good").wait_for()
    stage.wait_for("ui/update-model-context")
    told = stage.find_messages("ui/update-model-context")[-1]["content"][0]["text"]
    assert "to the library" in told and "<img" not in told
    listed = stage.desk.call("search_references", query="hostile paper")
    assert "onerror" in str(listed)


def drive_evidence(stage: ViewStage) -> None:
    """The sentences for a claim with verdict, paper and place; one is read in its place."""
    view = stage.open("check_claim", {"text": "Marine oil lowers blood viscosity."})
    view.locator(".badge", has_text="supported").wait_for()
    assert view.locator("blockquote").count() >= 1
    view = stage.open("find_passages", {"query": "marine oil blood viscosity"})
    around = view.get_by_role("button", name="Read around it").first
    around.focus()
    around.press("Enter")
    view.locator(".evidence.asked").wait_for()
    view.get_by_role("button", name="Back").press("Enter")
    view.get_by_role("heading", name="Passages").wait_for()


def drive_bibliography(stage: ViewStage) -> None:
    """The same works again in a style that was picked, and in one that was searched for."""
    view = stage.open("cite_references", {"ids": ["cold1", "cold2"]})
    view.locator(".entries li").first.wait_for()
    assert "(1991)" in view.locator(".entries").inner_text()
    view.get_by_label("Style", exact=True).select_option("ieee")
    view.locator(".entries li", has_text="[1]").wait_for()
    view.get_by_label("Another style").fill("vancouver brackets")
    view.get_by_label("Another style").press("Enter")
    view.get_by_role("status").get_by_text("Style:").wait_for()
    view.get_by_role("button", name="Copy all").press("Enter")
    view.get_by_role("status").get_by_text("Copied 2 entries").wait_for()


def drive_tournament(stage: ViewStage) -> None:
    """A person rejects with a reason and approves; the desk keeps both."""
    started = stage.desk.call("start_research", goal=GOAL, hypothesis_count=2)
    research_id = started["research_id"]
    stage.desk.call("get_research_status", research_id=research_id, wait_seconds=60)
    for what in ("gloves", "baths"):
        stage.desk.call(
            "submit_hypothesis",
            research_id=research_id,
            title=f"Warm {what} <b>help</b> against cold finger disease",
            summary=f"Warm {what} lower the count of attacks in winter.",
        )
    view = stage.open("list_hypotheses", {"research_id": research_id})
    first, second = view.locator(".line").nth(0), view.locator(".line").nth(1)
    first.wait_for()
    assert view.locator("main").evaluate(_HARMLESS) == 0
    view.get_by_role("button", name="Approve", exact=True).press("Enter")
    view.locator("li").nth(0).locator(".badge", has_text="approved").wait_for()
    second.press("Enter")
    view.get_by_role("button", name="Reject", exact=True).press("Enter")
    view.get_by_label("Why is it rejected?").fill("Not testable here")
    view.get_by_label("Why is it rejected?").press("Enter")
    view.locator("li").nth(1).locator(".badge", has_text="rejected").wait_for()
    rows = stage.desk.call("list_hypotheses", research_id=research_id)
    kept = {(row["approval"], row.get("approval_reason", "")) for row in rows}
    assert ("rejected", "Not testable here") in kept
    assert "approved" in {approval for approval, _ in kept}


def drive_progress(stage: ViewStage) -> None:
    """A run is followed to its end without anybody asking, and its results are asked for."""
    view = stage.open("start_research", {"goal": GOAL, "hypothesis_count": 2})
    view.locator(".badge", has_text="completed").wait_for()
    view.locator(".card").wait_for()
    view.get_by_role("button", name="Show the results").press("Enter")
    stage.wait_for("ui/message")
    assert "res_" in stage.find_messages("ui/message")[0]["content"][0]["text"]


DRIVES: dict[str, Callable[[ViewStage], None]] = {
    "papers": drive_papers,
    "evidence": drive_evidence,
    "bibliography": drive_bibliography,
    "tournament": drive_tournament,
    "progress": drive_progress,
}


def check_answer_as_text(stage: ViewStage) -> None:
    """A host that drops structuredContent shows the same papers."""
    args = {"query": "marine oil", "limit": 3}
    view = stage.open("search_papers", args, deliver={"result": "text"})
    view.locator("tbody tr").nth(2).wait_for()


def check_silent_host(stage: ViewStage) -> None:
    """Without a result the view asks by itself; without anything the person can ask."""
    silent = {"result": "none"}
    view = stage.open("search_papers", {"query": "marine oil"}, deliver=silent)
    assert view.get_by_text("Searching for marine oil").count() == 1
    view.locator("tbody tr").first.wait_for()
    mute = {"result": "none", "input": False}
    view = stage.open("search_papers", {"query": "marine oil"}, deliver=mute)
    assert view.locator("main").inner_text().strip()
    view.get_by_label("What are you looking for?").fill("marine oil")
    view.get_by_label("What are you looking for?").press("Enter")
    view.locator("tbody tr").first.wait_for()
    for tool in ("list_hypotheses", "get_research_status"):
        research = {"research_id": stage.research_id}
        view = stage.open(tool, research, deliver=mute)
        view.get_by_text("cold finger disease").first.wait_for()
    view = stage.open("cite_references", {"ids": ["cold1"]}, deliver=mute)
    view.locator(".entries li").first.wait_for()


def check_repeated_results(stage: ViewStage) -> None:
    """Results may come again, and the newest is shown."""
    view = stage.open("search_papers", {"query": "marine oil", "limit": 3})
    view.locator("tbody tr").nth(2).wait_for()
    rows = [{"paper_id": "p1", "title": "Another paper", "year": "2020", "authors": [], "total": 1}]
    result = {"content": [], "structuredContent": {"result": rows}}
    for _ in range(2):
        stage.page.evaluate("result => sendResult(result)", result)
    view.get_by_text("Another paper").wait_for()
    assert view.locator("tbody tr").count() == 1


def check_hostile_text(stage: ViewStage) -> None:
    """Markup in any field of any answer stays text, also where HTML was asked for."""
    bad = "<img src=x onerror=\"document.title='broken'\"><script>document.title='broken'</script>"
    sentence = {"paper_id": bad, "title": bad, "section": bad, "page": bad, "sentence": bad}
    statement = {"statement": bad, "verdict": bad, "message": bad, "supporting": [sentence]}
    strength = {"value": 0, "low": -1, "high": 1}
    hypothesis = {"id": bad, "title": bad, "summary": bad, "approval": bad, "place": bad}
    paper = {"paper_id": bad, "title": bad, "year": bad, "venue": bad, "snippet_markdown": bad}
    answers: dict[str, dict[str, Any]] = {
        "search_papers": {"result": [{**paper, "authors": [bad], "doi": bad}]},
        "check_claim": {"statements": [statement]},
        "find_passages": {"result": [{"passage_id": bad, "text": bad, **sentence}]},
        "cite_references": {
            "style": bad,
            "format": "html",
            "kind": "bibliography",
            "text": bad,
            "entries": [{"id": bad, "text": f"{bad} works"}],
        },
        "list_hypotheses": {"result": [{**hypothesis, "strength": strength}]},
        "get_research_status": {
            "research_id": bad,
            "goal": bad,
            "status": "completed",
            "hypotheses_generated": 1,
            "problem": bad,
            "top_hypothesis": {"title": bad},
        },
    }
    for tool, answer in answers.items():
        given = {"content": [{"type": "text", "text": bad}], "structuredContent": answer}
        view = stage.open(tool, {}, deliver={"given": given})
        view.locator("main[data-state=drawn]").wait_for()
        assert view.locator("main").evaluate(_HARMLESS) == 0, tool
        assert view.locator("html").evaluate("() => document.title") != "broken"


def check_retractions(stage: ViewStage) -> None:
    """A retraction that an answer tells of stands beside its work."""
    notice = [{"kind": "retraction", "service": "crossref"}]
    entries = [{"id": "a", "text": "Winter (1990). Cold."}]
    answers = {
        "search_papers": {"result": [{"paper_id": "a", "title": "Cold", "notices": notice}]},
        "find_passages": {"result": [{"passage_id": "a", "text": "Cold.", "notices": notice}]},
        "cite_references": {
            "style": "apa",
            "kind": "bibliography",
            "text": "Winter (1990). Cold.",
            "entries": entries,
            "work_notices": {"a": notice},
        },
    }
    for tool, answer in answers.items():
        given = {"content": [], "structuredContent": answer}
        view = stage.open(tool, {}, deliver={"given": given})
        view.locator(".badge.danger", has_text="retracted").wait_for()


def check_appearance(stage: ViewStage) -> None:
    """Theme and colours of the host are taken, unreadable ones are not."""
    view = stage.open("search_papers", {"query": "marine oil"})
    view.locator("tbody tr").first.wait_for()
    ground = "node => getComputedStyle(node).backgroundColor"
    body = view.locator("body")
    assert body.evaluate(ground) == "rgb(255, 255, 255)"
    stage.page.evaluate("changeContext({theme: 'dark'})")
    view.locator("html[data-theme=dark]").wait_for()
    assert body.evaluate(ground) == "rgb(26, 31, 29)"
    good = {"--color-background-primary": "rgb(10, 10, 30)", "--color-text-primary": "#fafafa"}
    stage.page.evaluate("variables => changeContext({theme: 'dark', styles: {variables}})", good)
    view.locator("html[style*='--surface']").wait_for()
    assert body.evaluate(ground) == "rgb(10, 10, 30)"
    bad = {"--color-background-primary": "rgb(98, 201, 189)", "--color-text-primary": "#fff"}
    stage.page.evaluate("variables => changeContext({theme: 'dark', styles: {variables}})", bad)
    view.locator("html:not([style*='--surface'])").wait_for()
    stage.page.evaluate("changeContext({locale: 'de-DE'})")
    view.get_by_role("heading", name="Arbeiten").wait_for()


def check_end(stage: ViewStage) -> None:
    """Teardown is answered, and the view is quiet afterwards."""
    view = stage.open("search_papers", {"query": "marine oil"})
    view.locator("tbody tr").first.wait_for()
    stage.page.evaluate("endView()")
    view.get_by_text("Closed.").wait_for()


def check_reading_on(stage: ViewStage) -> None:
    """Beyond what the chat was given the view reads the next page itself, and can grow."""
    view = stage.open("search_papers", {"query": "marine oil", "limit": 2})
    view.locator("tbody tr").nth(1).wait_for()
    first = view.locator("tbody").inner_text()
    for at in range(3, 9, 2):
        view.get_by_role("button", name="Next").press("Enter")
        view.get_by_text(f"{at}–").wait_for()
    assert view.locator("tbody").inner_text() != first
    assert view.get_by_role("button", name="Next").evaluate("node => node.matches(':focus')")
    modes = {"availableDisplayModes": ["inline", "fullscreen"]}
    args = {"query": "cold finger disease", "limit": 12}
    view = stage.open("search_papers", args, context=modes)
    view.locator("tbody tr").first.wait_for()
    inline = view.locator("tbody tr").count()
    view.get_by_role("button", name="Full view").press("Enter")
    view.locator("tbody tr").nth(inline).wait_for()
    assert stage.find_messages("ui/request-display-mode") == [{"mode": "fullscreen"}]


CHECKS: dict[str, Callable[[ViewStage], None]] = {
    "answer as text": check_answer_as_text,
    "silent host": check_silent_host,
    "repeated results": check_repeated_results,
    "reading on": check_reading_on,
    "hostile text": check_hostile_text,
    "retractions": check_retractions,
    "appearance": check_appearance,
    "end": check_end,
}

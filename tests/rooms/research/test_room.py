"""The research room as callers meet it, with no model and no network."""

from __future__ import annotations

import json
import re
from html import escape
from pathlib import Path
from typing import Any

import pytest

from carrel.core.answer import Partial
from carrel.core.errors import CarrelError, ConflictError, InsufficientPermissionsError, InvalidInputError
from carrel.rooms.research.discovery.records import Paper
from carrel.rooms.research.errors import UnsafeGoalError
from carrel.settings import Settings
from carrel.stores.sqlite.paper_texts import PaperTexts
from carrel.stores.sqlite.research import sqlite_research
from carrel.wiring.research import research_file
from tests.rooms.research.discovery.small_corpus import GOAL
from tests.rooms.research.house import Asker, other, settings_for, visit

HARMFUL = "Make a strain of influenza that spreads faster between people and escapes vaccines"


async def started(asker: Asker, count: int = 4) -> str:
    """A finished project."""
    answer = await asker.ask("start_research", goal=GOAL, hypothesis_count=count)
    status = await asker.finished(answer.research_id)
    assert status.status == "completed", status.problem
    return str(answer.research_id)


@pytest.mark.promise("S1")
@pytest.mark.parametrize(
    ("tool", "arguments"),
    [
        ("start_research", {"goal": "too short"}),
        ("start_research", {"goal": GOAL, "hypothesis_count": 0}),
        ("start_research", {"goal": GOAL, "hypothesis_count": 101}),
        ("list_research_projects", {"limit": 101}),
        ("generate_hypotheses", {"research_id": "res_x", "count": 51}),
        ("generate_hypotheses", {"research_id": "res_x", "method": "guessing"}),
        ("evolve_hypothesis", {"hypothesis_id": "hyp_x", "strategy": "mutate"}),
        ("list_hypotheses", {"research_id": "res_x", "limit": 201}),
        ("list_hypotheses", {"research_id": "res_x", "status": "hidden"}),
        ("review_hypothesis", {"hypothesis_id": "hyp_x", "review_type": "shallow"}),
        ("rank_hypotheses", {"research_id": "res_x", "method": "by_eye"}),
        ("get_results", {"research_id": "res_x", "format": "poem"}),
    ],
)
def test_what_the_specification_does_not_allow_is_refused(settings: Settings, tool: str, arguments: dict[str, Any]) -> None:
    async def story(asker: Asker) -> None:
        with pytest.raises(InvalidInputError):
            await asker.ask(tool, **arguments)

    visit(settings, story)


@pytest.mark.promise("S1")
@pytest.mark.parametrize(
    ("tool", "arguments", "scopes"),
    [
        ("start_research", {"goal": GOAL}, {"research:read"}),
        ("get_research_status", {"research_id": "x"}, {"papers:read"}),
        ("generate_hypotheses", {"research_id": "x"}, {"hypotheses:read", "research:write"}),
        ("evolve_hypothesis", {"hypothesis_id": "x"}, {"hypotheses:generate"}),
        ("list_hypotheses", {"research_id": "x"}, {"research:read"}),
        ("review_hypothesis", {"hypothesis_id": "x"}, {"reviews:read"}),
        ("rank_hypotheses", {"research_id": "x"}, {"hypotheses:generate"}),
        ("get_results", {"research_id": "x"}, {"research:read"}),
    ],
)
def test_every_tool_asks_for_its_scopes(settings: Settings, tool: str, arguments: dict[str, Any], scopes: set[str]) -> None:
    async def story(asker: Asker) -> None:
        with pytest.raises(InsufficientPermissionsError):
            await asker.ask(tool, **arguments)

    visit(settings, story, frozenset(scopes))


@pytest.mark.promise("S6")
def test_an_unsafe_goal_is_refused_with_a_reason_and_every_check_is_written_down(settings: Settings) -> None:
    async def story(asker: Asker) -> None:
        with pytest.raises(UnsafeGoalError) as refused:
            await asker.ask("start_research", goal=HARMFUL)
        assert refused.value.code == "unsafe_goal"
        assert refused.value.details["reason"]
        assert refused.value.next_step
        assert await asker.ask("list_research_projects") == []
        research_id = await started(asker, 3)
        with pytest.raises(UnsafeGoalError):
            await asker.ask("submit_hypothesis", research_id=research_id, title=HARMFUL, summary=HARMFUL)

    visit(settings, story)

    async def look(asker: Asker) -> None:
        memory = sqlite_research(research_file(settings))
        checks = await memory.safety("ada")
        await memory.close()
        assert [(one.subject, one.is_allowed) for one in checks][:2] == [("goal", False), ("goal", True)]
        assert sum(one.subject == "hypothesis" and one.is_allowed for one in checks) >= 3
        assert not checks[-1].is_allowed

    visit(settings, look)


@pytest.mark.promise("A6")
@pytest.mark.promise("S9")
def test_to_everybody_else_a_project_does_not_exist(settings: Settings) -> None:
    async def story(asker: Asker) -> None:
        research_id = await started(asker, 2)
        (first, *_) = await asker.ask("list_hypotheses", research_id=research_id)
        stranger = other(asker)
        by_project = ("get_research_status", "generate_hypotheses", "list_hypotheses", "rank_hypotheses", "get_results")
        people = ("pause_research", "resume_research", "cancel_research", "delete_research", "export_research")
        by_hypothesis = ("evolve_hypothesis", "review_hypothesis", "approve_hypothesis", "reject_hypothesis")
        asked: list[tuple[str, dict[str, Any]]] = [(tool, {"research_id": research_id}) for tool in (*by_project, *people)]
        asked.extend((tool, {"hypothesis_id": first.id}) for tool in by_hypothesis)
        asked.append(("rate_hypothesis", {"hypothesis_id": first.id, "score": 1.0}))
        for tool, arguments in asked:
            with pytest.raises(CarrelError) as refused:
                await stranger.ask(tool, **arguments)
            assert refused.value.code == "resource_not_found", tool
        for uri in (f"research://projects/{research_id}", f"hypothesis://{first.id}"):
            with pytest.raises(CarrelError, match="not found"):
                await stranger.read(uri)
        assert await stranger.ask("list_research_projects") == []

    visit(settings, story)


@pytest.mark.promise("S1")
@pytest.mark.promise("S7")
def test_a_goal_becomes_ranked_hypotheses_that_cite_only_what_is_there(settings: Settings, snapshot: Path) -> None:
    async def story(asker: Asker) -> None:
        answer = await asker.ask("start_research", goal=GOAL, hypothesis_count=4)
        assert answer.status == "initializing"
        assert answer.domain == "medicine"
        assert answer.estimated_time_hours > 0
        assert re.fullmatch(r"res_\w+", answer.research_id)
        status = await asker.finished(answer.research_id)
        assert (status.status, status.progress) == ("completed", 1.0)
        assert status.hypotheses_generated == status.hypotheses_reviewed == status.hypotheses_in_tournament
        assert status.top_hypothesis is not None
        rows = await asker.in_full(answer.research_id)
        assert rows[0].id == status.top_hypothesis.id
        assert [row.elo_score for row in rows] == sorted((row.elo_score for row in rows), reverse=True)
        assert sum(row.elo_score for row in rows) == pytest.approx(1000.0 * len(rows))
        corpus = {paper.id: paper for paper, _ in PaperTexts(snapshot).everything()}
        for row in rows:
            assert re.fullmatch(r"hyp_\w+", row.id)
            assert 50 <= len(row.summary.split()) <= 100
            assert row.origin == "literature-based discovery over the paper snapshot"
            assert row.bridges and row.evidence and row.citations and row.predictions and row.experimental_protocol
            assert set(row.citations) <= set(corpus)
            assert all(_says(corpus[piece.paper_id], piece.sentence) for piece in row.evidence)
        (listed,) = await asker.ask("list_research_projects", status="completed")
        assert (listed.id, listed.hypothesis_count) == (answer.research_id, len(rows))
        high = await asker.ask("list_hypotheses", research_id=answer.research_id, min_elo=1000.001)
        assert high and all(row.elo_score > 1000 for row in high)
        evolved = await asker.ask("list_hypotheses", research_id=answer.research_id, status="evolved")
        assert evolved and all(row.parents for row in evolved)

    visit(settings, story)


def _says(paper: Paper, sentence: str) -> bool:
    return sentence in f"{paper.title}\n{paper.abstract}" or sentence == "; ".join(paper.keywords)


@pytest.mark.promise("S3")
def test_every_method_type_and_strategy_answers_with_its_own(settings: Settings) -> None:
    async def story(asker: Asker) -> None:
        research_id = await started(asker, 2)
        for method in ("literature_based", "debate", "assumptions", "expansion"):
            try:
                rows = await asker.ask("generate_hypotheses", research_id=research_id, count=1, method=method)
            except CarrelError as error:
                assert error.code == "no_connection_found"
                continue
            assert all((row.method, row.elo_score, row.status) == (method, 1000.0, "pending") for row in rows)
        first = next(row for row in await asker.in_full(research_id) if row.title.startswith("Marine oil"))
        for kind in ("initial", "deep_verification", "simulation"):
            review = await asker.ask("review_hypothesis", hypothesis_id=first.id, review_type=kind)
            assert (review.review_type, review.hypothesis_id) == (kind, first.id)
            assert all(0 <= value <= 1 for value in review.scores.model_dump().values())
            assert bool(review.quotations) is (kind != "initial")
            if kind == "simulation":
                assert any("Weakest link" in weakness for weakness in review.weaknesses)
        # What the run itself evolved from it is not made a second time.
        made = {row.method for row in await asker.in_full(research_id) if first.id in row.parents}
        for strategy in ("refine", "combine", "simplify", "paradigm_shift"):
            try:
                child = await asker.ask("evolve_hypothesis", hypothesis_id=first.id, strategy=strategy)
            except CarrelError as error:
                assert error.code == "nothing_to_evolve"
                continue
            assert (child.method, child.status) == (strategy, "evolved")
            assert first.id in child.parents
            made.add(strategy)
        assert {"refine", "simplify"} <= made
        kept = {row.id: row for row in await asker.in_full(research_id)}
        assert kept[first.id].summary == first.summary

    visit(settings, story)


@pytest.mark.promise("S3")
@pytest.mark.promise("S8")
def test_ranking_lets_everyone_play_and_keeps_every_verdict(settings: Settings) -> None:
    async def story(asker: Asker) -> None:
        research_id = await started(asker, 3)
        for method in ("tournament", "direct_comparison"):
            before = (await asker.ask("get_research_status", research_id=research_id)).matches_played
            rows = await asker.ask("rank_hypotheses", research_id=research_id, method=method)
            assert [row.elo_score for row in rows] == sorted((row.elo_score for row in rows), reverse=True)
            assert all(row.wins + row.losses + row.draws > 0 for row in rows)
            assert all(row.strength.low < row.strength.value < row.strength.high for row in rows)
            whole = json.loads((await asker.ask("export_research", research_id=research_id)).body)
            # An exact judge is asked about a pair once; comparing by reviews adds its own.
            assert len(whole["matches"]) > before or method == "tournament"
            assert [match["number"] for match in whole["matches"]] == list(range(len(whole["matches"])))
            assert all(match["reason"] for match in whole["matches"])

    visit(settings, story)


@pytest.mark.promise("S4")
def test_results_come_in_three_forms_with_their_bibliography(settings: Settings) -> None:
    async def story(asker: Asker) -> None:
        research_id = await started(asker, 4)
        summary = await asker.ask("get_results", research_id=research_id, top_n=2)
        assert len(summary.top_hypotheses) == 2 < summary.total_hypotheses
        assert summary.top_hypotheses[0].experimental_protocol is None
        assert {item["id"] for item in summary.bibliography} == {name for row in summary.top_hypotheses for name in row.citations}
        assert summary.bibliography_bibtex.count("@") == len(summary.bibliography)
        assert summary.top_hypotheses[0].title in summary.markdown
        assert all(f"[{item['id']}]" in summary.markdown.partition("## Bibliography")[2] for item in summary.bibliography)
        detailed = await asker.ask("get_results", research_id=research_id, format="detailed")
        assert all(row.experimental_protocol and row.reviews for row in detailed.top_hypotheses)
        assert "**Protocol**" in detailed.markdown
        aims = (await asker.ask("get_results", research_id=research_id, format="nih_aims")).nih_aims
        assert aims is not None
        assert 1 <= len(aims.aims) <= 3
        assert all(aim.goal and aim.hypothesis and aim.reasoning for aim in aims.aims)
        assert aims.disease_description and aims.unmet_need and aims.proposed_solution and aims.pilot_evaluation
        assert aims.articles and all(article.summary and article.relevance for article in aims.articles)
        page = (await asker.ask("export_research", research_id=research_id, format="html")).body
        assert page.startswith("<!doctype html>")
        assert "<polyline" in page and "<line" in page and "http://" not in page.replace("http://www.w3.org/2000/svg", "")
        whole = await asker.in_full(research_id)
        assert all(f'id="{row.id}"' in page for row in whole)
        assert all(f'id="paper-{paper_id}"' in page for row in whole for paper_id in row.citations)
        assert all(escape(match.reason) in page for row in whole for match in row.matches)
        assert re.search(r"<h2>Papers</h2>.*acid-\d+ \(\d{4}\)\. Omega acid", page)

    visit(settings, story)


@pytest.mark.promise("S9")
def test_people_add_rate_approve_and_reject_and_nothing_is_hidden(settings: Settings) -> None:
    async def story(asker: Asker) -> None:
        research_id = await started(asker, 3)
        rows = await asker.in_full(research_id)
        cited = rows[0].citations[:1]
        own = await asker.ask(
            "submit_hypothesis",
            research_id=research_id,
            title="Marine oil eases cold finger disease",
            summary="Marine oil may ease cold finger disease because both bear on vessel tone.",
            citations=cited,
        )
        assert (own.origin, own.citations, own.elo_score) == ("submitted by ada", cited, 1000.0)
        assert "Steps: none were given." in own.experimental_protocol
        with pytest.raises(ConflictError, match=own.id):
            await asker.ask("submit_hypothesis", research_id=research_id, title=own.title, summary=own.summary)
        with pytest.raises(InvalidInputError, match="none in it"):
            await asker.ask("import_hypotheses", hypotheses="[]")
        with pytest.raises(InvalidInputError, match="no paper of this corpus"):
            await asker.ask(
                "submit_hypothesis",
                research_id=research_id,
                title="Another one",
                summary="With an invented paper.",
                citations=["x"],
            )
        rating = await asker.ask("rate_hypothesis", hypothesis_id=own.id, score=0.9, comment="Worth a pilot")
        assert (rating.reviewer, rating.scores.overall, rating.strengths) == ("ada", 0.9, ["Worth a pilot"])
        assert (rating.scores.plausibility, rating.scores.novelty) == (None, None)
        assert (await asker.ask("review_hypothesis", hypothesis_id=own.id)).citations
        approved = await asker.ask("approve_hypothesis", hypothesis_id=own.id, reason="Feasible")
        assert (approved.approval, approved.approval_reason) == ("approved", "Feasible")
        await asker.ask("reject_hypothesis", hypothesis_id=rows[0].id, reason="Known already")
        ranked = {row.id: row for row in await asker.ask("rank_hypotheses", research_id=research_id)}
        assert ranked[rows[0].id].approval == "rejected"
        assert ranked[rows[0].id].wins == rows[0].wins
        assert ranked[own.id].wins + ranked[own.id].losses + ranked[own.id].draws > 0
        assert (await asker.ask("get_results", research_id=research_id)).approved == [own.id]
        whole = json.loads((await asker.ask("export_research", research_id=research_id)).body)
        assert {"submitted", "rated", "approved", "rejected"} <= {event["kind"] for event in whole["events"]}
        assert {"generation", "reflection", "ranking", "evolution", "proximity", "meta-review"} <= {
            output["agent"] for output in whole["agent_outputs"]
        }
        with pytest.raises(InvalidInputError, match="force"):
            await asker.ask("delete_research", research_id=research_id)
        await asker.ask("delete_research", research_id=research_id, force=True)
        with pytest.raises(CarrelError, match="not found"):
            await asker.ask("get_research_status", research_id=research_id)

    visit(settings, story)


@pytest.mark.promise("S9")
def test_a_run_is_paused_resumed_and_cancelled(settings: Settings) -> None:
    async def story(asker: Asker) -> None:
        research_id = (await asker.ask("start_research", goal=GOAL, hypothesis_count=6)).research_id
        assert (await asker.ask("pause_research", research_id=research_id)).status == "paused"
        assert (await asker.ask("get_research_status", research_id=research_id)).status == "paused"
        with pytest.raises(CarrelError) as refused:
            await asker.ask("pause_research", research_id=research_id)
        assert refused.value.code == "conflict"
        await asker.ask("resume_research", research_id=research_id)
        assert (await asker.finished(research_id)).status == "completed"
        second = (await asker.ask("start_research", goal=GOAL, hypothesis_count=6)).research_id
        assert (await asker.ask("cancel_research", research_id=second)).status == "cancelled"
        assert (await asker.finished(second)).status == "cancelled"

    visit(settings, story)


@pytest.mark.promise("S1")
def test_a_call_that_takes_too_long_answers_with_what_is_done(snapshot: Path, tmp_path: Path) -> None:
    async def story(asker: Asker) -> None:
        research_id = (await asker.ask("start_research", goal=GOAL, hypothesis_count=1)).research_id
        answer = await asker.ask("generate_hypotheses", research_id=research_id, count=3)
        assert isinstance(answer, Partial)
        assert answer.pending > 0
        assert answer.job_id.startswith("job_")
        assert "list_hypotheses" in answer.next_step

    visit(settings_for(snapshot, tmp_path, research={"patience_seconds": 0.001}), story)


@pytest.mark.promise("S7")
def test_a_goal_the_papers_do_not_speak_of_is_said_to_be_so(settings: Settings) -> None:
    async def story(asker: Asker) -> None:
        with pytest.raises(CarrelError) as refused:
            await asker.ask("start_research", goal="Understand xylophone zymurgy quasars")
        assert refused.value.code == "goal_not_in_corpus"
        assert refused.value.details["not_found"] == ["xylophone zymurgy quasars"]
        assert await asker.ask("list_research_projects") == []

    visit(settings, story)


@pytest.mark.promise("S1")
def test_resources_and_prompts_have_the_headings_of_the_specification(settings: Settings) -> None:
    async def story(asker: Asker) -> None:
        research_id = await started(asker, 2)
        (first, *_) = await asker.in_full(research_id)
        page = await asker.read(f"research://projects/{research_id}")
        assert _in_order(
            page, f"# Research Project: {research_id}", "## Goal", "## Status", "## Statistics", "- Hypotheses Generated: "
        )
        assert _in_order(page, "- Average ELO Score: ", "## Top Hypotheses", "1. **", "(ELO: ")
        page = await asker.read(f"hypothesis://{first.id}")
        assert _in_order(page, "# Hypothesis: ", f"**ID**: {first.id}", "**ELO Score**: ", "**Status**: ", "## Rationale")
        assert _in_order(
            page,
            "## Experimental Protocol",
            "## Predictions",
            "1. ",
            "## Literature Grounding",
            f"- paper://{first.citations[0]}",
        )
        workflow = await asker.prompt("research-workflow")
        steps = [
            "# AI Co-Scientist Research Workflow", "## 1. Start Research Project", "`start_research`", "## 2. Generate Initial Hypotheses",
            "`generate_hypotheses`", "## 3. Monitor Progress", "`get_research_status`", "## 4. Review Hypotheses", "`review_hypothesis`",
            "## 5. Rank Hypotheses", "`rank_hypotheses`", 'method="tournament"', "## 6. Evolve Top Hypotheses", "`evolve_hypothesis`",
            "## 7. Iterate", "## 8. Export Results", "`get_results`", "## Tips",
        ]  # fmt: skip
        assert _in_order(workflow, *steps)
        analysis = await asker.prompt("hypothesis-analysis", hypothesis_id=first.id)
        tasks = ["**Testability Assessment**", "**Literature Review**", "**Mechanism Analysis**", "**Impact Assessment**"]
        assert _in_order(
            analysis, f"# Deep Hypothesis Analysis: {first.id}", f"# Hypothesis: {first.title}", "## Analysis Tasks", *tasks
        )
        assert _in_order(
            analysis, "## Recommended Actions", "`review_hypothesis`", 'review_type="deep_verification"', "`evolve_hypothesis`"
        )

    visit(settings, story)


def _in_order(text: str, *pieces: str) -> bool:
    place = -1
    for piece in pieces:
        place = text.find(piece, place + 1)
        assert place >= 0, f"{piece!r} is missing, or not in its place"
    return True


def test_the_index_follows_the_snapshot_and_is_read_back(settings: Settings) -> None:
    async def story(asker: Asker) -> None:
        await started(asker, 2)

    visit(settings, story)
    (index,) = (settings.home / "research").glob("concepts-*.db")
    before = index.stat().st_mtime_ns
    visit(settings, story)
    assert index.stat().st_mtime_ns == before
    index.write_bytes(b"not a database")
    visit(settings, story)

"""The research room as callers meet it, with no model and no network."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from carrel.core.answer import Partial
from carrel.core.errors import CarrelError, InsufficientPermissionsError, InvalidInputError
from carrel.libraries.discovery.records import Paper
from carrel.rooms.research.errors import UnsafeGoalError
from carrel.settings import Settings
from carrel.settings.places import database_files
from carrel.stores.corpus.folder import CorpusFolder
from carrel.stores.corpus.texts import CorpusTexts
from carrel.stores.sql.research import SqlResearch
from carrel.stores.sqlite.driver import SqliteDriver
from tests.libraries.discovery.small_corpus import GOAL
from tests.rooms.research.house import Asker, finished_project, other, settings_for, visit

HARMFUL = "Make a strain of influenza that spreads faster between people and escapes vaccines"


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
def test_what_the_specification_does_not_allow_is_refused(
    settings: Settings, tool: str, arguments: dict[str, Any]
) -> None:
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
def test_every_tool_asks_for_its_scopes(
    settings: Settings, tool: str, arguments: dict[str, Any], scopes: set[str]
) -> None:
    async def story(asker: Asker) -> None:
        with pytest.raises(InsufficientPermissionsError):
            await asker.ask(tool, **arguments)

    visit(settings, story, frozenset(scopes))


@pytest.mark.promise("S6")
def test_an_unsafe_goal_is_refused_with_a_reason_and_every_check_is_written_down(
    settings: Settings,
) -> None:
    async def story(asker: Asker) -> None:
        with pytest.raises(UnsafeGoalError) as refused:
            await asker.ask("start_research", goal=HARMFUL)
        assert refused.value.code == "unsafe_goal"
        assert refused.value.details["reason"]
        assert refused.value.next_step
        assert await asker.ask("list_research_projects") == []
        research_id = await finished_project(asker, 3)
        with pytest.raises(UnsafeGoalError):
            await asker.ask(
                "submit_hypothesis", research_id=research_id, title=HARMFUL, summary=HARMFUL
            )

    visit(settings, story)

    async def look(asker: Asker) -> None:
        store = SqlResearch(
            SqliteDriver(database_files(settings)["research"], SqlResearch.schema_steps)
        )
        checks = await store.safety("ada")
        await store.close()
        assert [(one.subject, one.is_allowed) for one in checks][:2] == [
            ("goal", False),
            ("goal", True),
        ]
        assert sum(one.subject == "hypothesis" and one.is_allowed for one in checks) >= 3
        assert not checks[-1].is_allowed

    visit(settings, look)


@pytest.mark.promise("A6")
@pytest.mark.promise("S9")
def test_to_everybody_else_a_project_does_not_exist(settings: Settings) -> None:
    async def story(asker: Asker) -> None:
        research_id = await finished_project(asker, 2)
        (first, *_) = await asker.ask("list_hypotheses", research_id=research_id)
        stranger = other(asker)
        by_project = (
            "get_research_status",
            "generate_hypotheses",
            "list_hypotheses",
            "rank_hypotheses",
            "get_results",
        )
        people = (
            "pause_research",
            "resume_research",
            "cancel_research",
            "delete_research",
            "export_research",
        )
        by_hypothesis = (
            "evolve_hypothesis",
            "review_hypothesis",
            "approve_hypothesis",
            "reject_hypothesis",
        )
        asked: list[tuple[str, dict[str, Any]]] = [
            (tool, {"research_id": research_id}) for tool in (*by_project, *people)
        ]
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
def test_a_goal_becomes_ranked_hypotheses_that_cite_only_what_is_there(
    settings: Settings, snapshot: Path
) -> None:
    async def story(asker: Asker) -> None:
        answer = await asker.ask("start_research", goal=GOAL, hypothesis_count=4)
        assert answer.status == "initializing"
        assert answer.domain == "medicine"
        assert answer.estimated_time_hours > 0
        assert re.fullmatch(r"res_\w+", answer.research_id)
        status = await asker.finished(answer.research_id)
        assert (status.status, status.progress) == ("completed", 1.0)
        assert (
            status.hypotheses_generated
            == status.hypotheses_reviewed
            == status.hypotheses_in_tournament
        )
        assert status.top_hypothesis is not None
        rows = await asker.in_full(answer.research_id)
        assert rows[0].id == status.top_hypothesis.id
        assert [row.elo_score for row in rows] == sorted(
            (row.elo_score for row in rows), reverse=True
        )
        assert sum(row.elo_score for row in rows) == pytest.approx(1000.0 * len(rows))
        corpus = {
            paper.id: paper for paper, _ in CorpusTexts(CorpusFolder(snapshot.parent)).everything()
        }
        for row in rows:
            assert re.fullmatch(r"hyp_\w+", row.id)
            assert 50 <= len(row.summary.split()) <= 100
            assert row.origin == "literature-based discovery over the paper snapshot"
            assert (
                row.bridges
                and row.evidence
                and row.citations
                and row.predictions
                and row.experimental_protocol
            )
            assert set(row.citations) <= set(corpus)
            assert all(_says(corpus[piece.paper_id], piece.sentence) for piece in row.evidence)
        (listed,) = await asker.ask("list_research_projects", status="completed")
        assert (listed.id, listed.hypothesis_count) == (answer.research_id, len(rows))
        high = await asker.ask("list_hypotheses", research_id=answer.research_id, min_elo=1000.001)
        assert high and all(row.elo_score > 1000 for row in high)
        evolved = await asker.ask(
            "list_hypotheses", research_id=answer.research_id, status="evolved"
        )
        assert evolved and all(row.parents for row in evolved)

    visit(settings, story)


def _says(paper: Paper, sentence: str) -> bool:
    return sentence in f"{paper.title}\n{paper.abstract}" or sentence == "; ".join(paper.keywords)


@pytest.mark.promise("S3")
def test_every_method_type_and_strategy_answers_with_its_own(settings: Settings) -> None:
    async def story(asker: Asker) -> None:
        research_id = await finished_project(asker, 2)
        for method in ("literature_based", "debate", "assumptions", "expansion"):
            try:
                rows = await asker.ask(
                    "generate_hypotheses", research_id=research_id, count=1, method=method
                )
            except CarrelError as error:
                assert error.code == "no_connection_found"
                continue
            assert all(
                (row.method, row.elo_score, row.status) == (method, 1000.0, "pending")
                for row in rows
            )
        first = next(
            row for row in await asker.in_full(research_id) if row.title.startswith("Marine oil")
        )
        for kind in ("initial", "deep_verification", "simulation"):
            review = await asker.ask("review_hypothesis", hypothesis_id=first.id, review_type=kind)
            assert (review.review_type, review.hypothesis_id) == (kind, first.id)
            assert all(0 <= value <= 1 for value in review.scores.model_dump().values())
            assert review.quotations and review.statements
            if kind == "simulation":
                assert any("Weakest link" in weakness for weakness in review.weaknesses)
        # What the run itself evolved from it is not made a second time.
        made = {row.method for row in await asker.in_full(research_id) if first.id in row.parents}
        for strategy in ("refine", "combine", "simplify", "paradigm_shift"):
            try:
                child = await asker.ask(
                    "evolve_hypothesis", hypothesis_id=first.id, strategy=strategy
                )
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
        research_id = await finished_project(asker, 3)
        for method in ("tournament", "direct_comparison"):
            before = (
                await asker.ask("get_research_status", research_id=research_id)
            ).matches_played
            rows = await asker.ask("rank_hypotheses", research_id=research_id, method=method)
            assert [row.elo_score for row in rows] == sorted(
                (row.elo_score for row in rows), reverse=True
            )
            assert all(row.wins + row.losses + row.draws > 0 for row in rows)
            assert all(row.strength.low < row.strength.value < row.strength.high for row in rows)
            whole = json.loads((await asker.ask("export_research", research_id=research_id)).body)
            # An exact judge is asked about a pair once; comparing by reviews adds its own.
            assert len(whole["matches"]) > before or method == "tournament"
            assert [match["number"] for match in whole["matches"]] == list(
                range(len(whole["matches"]))
            )
            assert all(match["reason"] for match in whole["matches"])

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
def test_a_call_that_takes_too_long_answers_with_what_is_done(
    snapshot: Path, tmp_path: Path
) -> None:
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


def test_the_index_follows_the_snapshot_and_is_read_back(settings: Settings) -> None:
    async def story(asker: Asker) -> None:
        await finished_project(asker, 2)

    visit(settings, story)
    (index,) = (settings.home / "research").glob("concepts-*.tables")
    before = index.stat().st_mtime_ns
    visit(settings, story)
    assert index.stat().st_mtime_ns == before
    index.write_bytes(b"not tables")
    visit(settings, story)

"""A project from the inside: plan, tournament, evidence, record, tasks and held goals."""

from __future__ import annotations

import pytest

from carrel.core.errors import CarrelError
from carrel.policy.scopes import ALL_SCOPES
from carrel.rooms.research.drawings import (
    BridgeSpan,
    RatingCourse,
    plot_bridge,
    plot_ratings,
)
from carrel.rooms.research.safety import check_goal
from carrel.settings import Settings
from tests.libraries.discovery.small_corpus import GOAL
from tests.rooms.research.house import Asker, finished_project, other, visit
from tests.rooms.research.test_held_goals import IN_DOUBT

OF_A_PROJECT = ("get_tournament", "list_evidence", "get_research_record", "list_research_tasks")


def test_a_stranger_finds_nothing_of_a_project_and_no_goals_that_wait(settings: Settings) -> None:
    async def story(asker: Asker) -> None:
        research_id = await finished_project(asker)
        bob = other(asker, "bob")
        for name in OF_A_PROJECT:
            with pytest.raises(CarrelError) as refused:
                await bob.ask(name, research_id=research_id)
            assert refused.value.code == "resource_not_found", name
        plain = other(asker, "ada", ALL_SCOPES - {"admin"})
        with pytest.raises(CarrelError) as refused:
            await plain.ask("list_held_goals")
        assert refused.value.code == "insufficient_permissions"

    visit(settings, story)


def test_evidence_of_a_hypothesis_of_another_project_is_not_found(settings: Settings) -> None:
    async def story(asker: Asker) -> None:
        first = await finished_project(asker)
        second = await finished_project(asker)
        (theirs, *_) = await asker.ask("list_hypotheses", research_id=second)
        for name in ("hyp_none", theirs.id):
            with pytest.raises(CarrelError) as refused:
                await asker.ask("list_evidence", research_id=first, hypothesis_id=name)
            assert refused.value.code == "resource_not_found"

    visit(settings, story)


def test_a_plan_says_every_setting_and_starts_nothing(settings: Settings) -> None:
    async def story(asker: Asker) -> None:
        plan = await asker.ask("plan_research", goal=GOAL, hypothesis_count=4)
        assert (plan.outcome, plan.hypothesis_count, plan.mind) == ("start", 4, "discovery")
        assert plan.is_domain_inferred and plan.domain
        assert plan.corpus_papers > 0 and plan.outside_problem
        assert {phase.kind for phase in plan.phases} >= {"generate", "review", "match"}
        assert await asker.ask("list_research_projects") == []
        named = await asker.ask("plan_research", goal=GOAL, domain="physics")
        assert (named.domain, named.is_domain_inferred) == ("physics", False)

    visit(settings, story)


def test_a_goal_in_doubt_is_planned_as_held_and_listed_for_administrators(
    settings: Settings,
) -> None:
    goal = next(goal for goal in IN_DOUBT if check_goal(goal).outcome == "hold")

    async def story(asker: Asker) -> None:
        plan = await asker.ask("plan_research", goal=goal)
        assert plan.outcome == "hold" and plan.outcome_reason
        bob = other(asker, "bob")
        started = await bob.ask("start_research", goal=goal, hypothesis_count=2)
        (held,) = await asker.ask("list_held_goals")
        assert (held.research_id, held.owner, held.goal) == (started.research_id, "bob", goal)
        await asker.ask("reject_goal", research_id=held.research_id, reason="no need for it")
        assert await asker.ask("list_held_goals") == []

    visit(settings, story)


def test_the_tournament_has_every_match_and_ends_at_the_ratings(settings: Settings) -> None:
    async def story(asker: Asker) -> None:
        research_id = await finished_project(asker)
        tournament = await asker.ask("get_tournament", research_id=research_id)
        status = await asker.ask("get_research_status", research_id=research_id)
        assert len(tournament.matches) == status.matches_played > 0
        assert [one.rank for one in tournament.entrants] == [
            *range(1, len(tournament.entrants) + 1)
        ]
        for one in tournament.entrants:
            played = [each for each in tournament.matches if one.id in {each.first, each.second}]
            assert [step.match for step in one.course] == [0, *(each.number for each in played)]
            assert one.course[-1].elo == pytest.approx(one.elo_score, abs=0.01)

    visit(settings, story)


def test_evidence_names_the_statement_of_each_edge_and_the_passage_of_sentences(
    settings: Settings,
) -> None:
    async def story(asker: Asker) -> None:
        research_id = await finished_project(asker)
        found = await asker.ask("list_evidence", research_id=research_id, limit=2)
        assert [one.rank for one in found] == [1, 2]
        best = found[0]
        for link in best.bridge.links:
            near, far = best.statements[link.near], best.statements[link.far]
            assert near.statement == f"{best.bridge.start} is linked to {link.concept}"
            assert far.statement == f"{link.concept} is linked to {best.bridge.end}"
        sentences = [
            each
            for one in best.statements
            for each in (*one.supporting, *one.contradicting, *one.bearing)
        ]
        assert sentences and all(each.title for each in sentences)
        for each in sentences:
            if each.passage_id is not None:
                passage = await asker.ask("read_passage", passage_id=each.passage_id)
                assert any(each.sentence in one.text for one in passage.passages)
        (one,) = await asker.ask(
            "list_evidence", research_id=research_id, hypothesis_id=best.hypothesis_id
        )
        assert one == best

    visit(settings, story)


def test_the_record_counts_the_phases_and_tells_the_events(settings: Settings) -> None:
    async def story(asker: Asker) -> None:
        research_id = await finished_project(asker)
        record = await asker.ask("get_research_record", research_id=research_id)
        assert all(phase.done == phase.expected > 0 for phase in record.phases)
        assert record.events[0].kind == "started" and record.events[0].message == GOAL
        assert "How to repeat it" in [section.heading for section in record.sections]
        assert await asker.ask("list_research_tasks", research_id=research_id) == []

    visit(settings, story)


def test_the_overview_counts_what_is_here_and_what_waits(settings: Settings) -> None:
    async def story(asker: Asker) -> None:
        research_id = await finished_project(asker)
        rows = await asker.ask("list_hypotheses", research_id=research_id)
        before = await asker.ask("get_research_overview")
        assert (before.projects, before.hypotheses) == (1, len(rows))
        assert before.newest[0].research_id == research_id
        await asker.ask("approve_hypothesis", hypothesis_id=rows[0].id)
        after = await asker.ask("get_research_overview")
        assert after.undecided == before.undecided - 1
        assert (await other(asker, "bob").ask("get_research_overview")).projects == 0

    visit(settings, story)


def test_tasks_are_listed_while_held_and_after_they_are_answered(settings: Settings) -> None:
    async def story(asker: Asker) -> None:
        started = await asker.ask("start_research", goal=GOAL, hypothesis_count=3)
        await asker.finished(started.research_id)
        task = await asker.ask(
            "next_research_task", research_id=started.research_id, take_over=True
        )
        (listed,) = await asker.ask("list_research_tasks", research_id=started.research_id)
        assert (listed.role, listed.state) == (task.role, "leased")
        assert listed.worker and listed.lease_until

    visit(settings, story)


def test_a_plot_keeps_its_lines_and_edges_inside(settings: Settings) -> None:
    courses = [
        RatingCourse(f"h{n}", f"Title {n}", [(0, 1000.0), (n + 1, 1000.0 + 10 * n)])
        for n in range(12)
    ]
    plot = plot_ratings(courses, 12, width=360, height=240)
    assert len(plot.lines) == 8
    for line in plot.lines:
        for pair in line.points.split():
            x, y = map(float, pair.split(","))
            assert 0 <= x <= plot.width and 0 <= y <= plot.height
    bridge = plot_bridge("a", "c " * 40, [BridgeSpan("b", 1, 10_000)])
    assert bridge.spans[0].far.thickness == 8.0
    assert len(bridge.end.lines) == 2

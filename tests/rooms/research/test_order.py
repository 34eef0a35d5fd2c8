"""Who leads: never a hypothesis that a person rejected, never one that has not been compared."""

from __future__ import annotations

import json
from collections import Counter
from typing import Any

import pytest

from carrel.libraries.ranking import EloRatings
from carrel.rooms.research.hypothesis_views import (
    place_of,
    rank_by_strength,
    sort_by_elo,
    sort_by_place,
)
from carrel.rooms.research.records import Decision, Hypothesis, Rating
from carrel.settings import Settings
from tests.libraries.discovery.small_corpus import GOAL
from tests.rooms.research.house import Asker, visit
from tests.stores.contracts.research import hypothesis

_OWN = {
    "title": "Marine oil eases cold finger disease",
    "summary": "Marine oil may ease cold finger disease because both bear on vessel tone.",
}


def rated(name: str, elo: float, wins: int = 1, *, is_rejected: bool = False) -> Hypothesis:
    return hypothesis(name).model_copy(
        update={
            "rating": Rating(elo_score=elo, wins=wins),
            "decision": Decision(approval="rejected" if is_rejected else "undecided"),
        }
    )


@pytest.mark.promise("S9")
def test_the_rejected_come_last_and_who_has_not_played_before_them() -> None:
    those = [
        rated("rejected", 1300.0, is_rejected=True),
        rated("new", 1000.0, wins=0),
        rated("low", 950.0),
        rated("high", 1100.0),
    ]
    assert [made.id for made in sort_by_place(those)] == ["high", "low", "new", "rejected"]
    assert [made.id for made in sort_by_elo(those)] == ["rejected", "high", "new", "low"]
    assert [made.id for made in rank_by_strength(those)] == ["high", "low"]
    assert [place_of(made) for made in sort_by_place(those)] == [
        "ranked",
        "ranked",
        "not yet compared",
        "rejected",
    ]
    assert [made.id for made in rank_by_strength(those[:2])] == ["new"]


async def _finished(asker: Asker, count: int) -> str:
    research_id = str(
        (await asker.ask("start_research", goal=GOAL, hypothesis_count=count)).research_id
    )
    assert (await asker.finished(research_id)).status == "completed"
    return research_id


@pytest.mark.promise("S1")
@pytest.mark.parametrize("count", [1, 2, 3, 5])
def test_a_run_makes_no_more_hypotheses_than_were_asked_for(settings: Settings, count: int) -> None:
    async def story(asker: Asker) -> None:
        research_id = await _finished(asker, count)
        rows = await asker.ask("list_hypotheses", research_id=research_id, limit=50)
        assert 1 <= len(rows) <= count
        assert [row.elo_score for row in rows] == sorted(
            (row.elo_score for row in rows), reverse=True
        )

    visit(settings, story)


@pytest.mark.promise("S9")
def test_a_rejected_leader_stays_visible_and_leads_nothing(settings: Settings) -> None:
    async def story(asker: Asker) -> None:
        research_id = await _finished(asker, 4)
        first, second, *_ = await asker.ask("list_hypotheses", research_id=research_id)
        await asker.ask("reject_hypothesis", hypothesis_id=first.id, reason="Known already")
        status = await asker.ask("get_research_status", research_id=research_id)
        assert status.top_hypothesis.id == second.id
        results = await asker.ask(
            "get_results", research_id=research_id, format="nih_aims", top_n=50
        )
        *_, last = results.top_hypotheses
        assert (last.id, last.place, last.approval) == (first.id, "rejected", "rejected")
        assert results.top_hypotheses[0].id == second.id
        assert second.title in results.executive_summary
        assert first.id not in {aim.hypothesis_id for aim in results.nih_aims.aims}
        assert results.nih_aims.aims[0].hypothesis_id == second.id
        rows = await asker.ask("list_hypotheses", research_id=research_id)
        assert [row.elo_score for row in rows] == sorted(
            (row.elo_score for row in rows), reverse=True
        )
        assert first.id in {row.id for row in rows}
        for row in await asker.ask("list_hypotheses", research_id=research_id):
            if row.id != first.id:
                await asker.ask("reject_hypothesis", hypothesis_id=row.id)
        assert (
            await asker.ask("get_research_status", research_id=research_id)
        ).top_hypothesis is None
        results = await asker.ask("get_results", research_id=research_id, format="nih_aims")
        assert results.nih_aims.aims == []
        assert len(results.top_hypotheses) == results.total_hypotheses

    visit(settings, story)


@pytest.mark.promise("S9")
def test_one_that_has_not_been_compared_stands_after_all_that_have(settings: Settings) -> None:
    async def story(asker: Asker) -> None:
        research_id = await _finished(asker, 3)
        own = await asker.ask("submit_hypothesis", research_id=research_id, **_OWN)
        rows = await asker.ask("list_hypotheses", research_id=research_id)
        assert [row.elo_score for row in rows] == sorted(
            (row.elo_score for row in rows), reverse=True
        )
        assert any(row.elo_score < own.elo_score for row in rows), (
            "one that has not played stands where its start rating puts it"
        )
        results = await asker.ask(
            "get_results", research_id=research_id, format="nih_aims", top_n=50
        )
        assert (results.top_hypotheses[-1].id, results.top_hypotheses[-1].place) == (
            own.id,
            "not yet compared",
        )
        assert own.id not in {aim.hypothesis_id for aim in results.nih_aims.aims}
        assert (
            "not yet compared"
            in (await asker.ask("get_results", research_id=research_id, top_n=50)).markdown
        )

    visit(settings, story)


@pytest.mark.promise("S8")
@pytest.mark.promise("S9")
def test_a_run_that_is_complete_has_reviewed_and_compared_what_people_added_meanwhile(
    settings: Settings,
) -> None:
    async def story(asker: Asker) -> None:
        research_id = (await asker.ask("start_research", goal=GOAL, hypothesis_count=5)).research_id
        await asker.ask("pause_research", research_id=research_id)
        own = await asker.ask("submit_hypothesis", research_id=research_id, **_OWN)
        assert "resume_research" in own.next_step
        made = await asker.ask("generate_hypotheses", research_id=research_id, count=1)
        await asker.ask("resume_research", research_id=research_id)
        status = await asker.ask("get_research_status", research_id=research_id, wait_seconds=60)
        assert status.status == "completed"
        leader = status.top_hypothesis
        whole = await asker.ask("get_hypothesis", hypothesis_id=leader.id)
        assert leader.title == whole.title
        assert (
            status.hypotheses_generated
            == status.hypotheses_reviewed
            == status.hypotheses_in_tournament
        )
        rows = {row.id: row for row in await asker.ask("list_hypotheses", research_id=research_id)}
        for one in (own.id, *(each.id for each in made)):
            assert rows[one].review_count == 1
            assert rows[one].wins + rows[one].losses + rows[one].draws >= 3
            assert rows[one].strength.low < rows[one].strength.high

    visit(settings, story)


@pytest.mark.promise("S8")
def test_every_rating_follows_from_the_matches_and_no_pair_is_decided_twice(
    settings: Settings,
) -> None:
    async def story(asker: Asker) -> None:
        research_id = await _finished(asker, 6)
        whole = await _whole(asker, research_id)
        _check(whole)
        pairs = Counter(frozenset((match["first"], match["second"])) for match in whole["matches"])
        assert max(pairs.values()) == 1
        first, *_ = await asker.ask("list_hypotheses", research_id=research_id)
        await asker.ask("reject_hypothesis", hypothesis_id=first.id)
        await asker.ask("submit_hypothesis", research_id=research_id, **_OWN)
        for method in ("tournament", "direct_comparison"):
            await asker.ask("rank_hypotheses", research_id=research_id, method=method)
            _check(await _whole(asker, research_id))

    visit(settings, story)


async def _whole(asker: Asker, research_id: str) -> dict[str, Any]:
    whole: dict[str, Any] = json.loads(
        (await asker.ask("export_research", research_id=research_id)).body
    )
    return whole


def _check(whole: dict[str, Any]) -> None:
    ratings = EloRatings(made["id"] for made in whole["hypotheses"])
    tallies: Counter[tuple[str, str]] = Counter()
    for match in whole["matches"]:
        ratings.record(
            match["first"],
            match["second"],
            {"first": 1.0, "second": 0.0, "draw": 0.5}[match["verdict"]],
        )
        assert (match["first_elo"], match["second_elo"]) == (
            ratings[match["first"]],
            ratings[match["second"]],
        )
        for one, won in ((match["first"], "first"), (match["second"], "second")):
            tallies[
                one,
                "draws"
                if match["verdict"] == "draw"
                else "wins"
                if match["verdict"] == won
                else "losses",
            ] += 1
    for made in whole["hypotheses"]:
        assert made["standing"]["elo_score"] == ratings[made["id"]]
        assert all(
            made["standing"][kind] == tallies[made["id"], kind]
            for kind in ("wins", "losses", "draws")
        )

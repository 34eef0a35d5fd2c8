"""People count: ratings, approvals and rejections weigh in ranks and in what is proposed next."""

from __future__ import annotations

import json
from typing import Any

import pytest

from carrel.core.errors import InvalidInputError
from carrel.rooms.research.errors import NoConnectionFoundError
from carrel.rooms.research.people import (
    APPROVAL_LOG_ODDS,
    MOST_LOG_ODDS,
    leave_out_rejected,
    list_remarks,
    weigh_people,
)
from carrel.rooms.research.records import Decision, Hypothesis
from carrel.settings import Settings
from tests.libraries.discovery.small_corpus import GOAL
from tests.rooms.research.house import OWN_DOI, Asker, visit
from tests.stores.contracts.research import hypothesis, review

pytestmark = pytest.mark.promise("S13")

_OWN = {
    "title": "Warm gloves relieve the complaint",
    "summary": "Warm gloves may relieve the complaint, which no paper at hand speaks of.",
}


async def _finished(asker: Asker, count: int) -> str:
    research_id = (await asker.ask("start_research", goal=GOAL, hypothesis_count=count)).research_id
    assert (await asker.finished(research_id)).status == "completed"
    return str(research_id)


async def _ranks(asker: Asker, research_id: str) -> dict[str, Any]:
    results = await asker.ask("get_results", research_id=research_id, top_n=50)
    return {row.id: row for row in results.top_hypotheses}


def test_an_experts_approved_hypothesis_does_not_lose_to_counts_of_papers(
    settings: Settings,
) -> None:
    async def story(asker: Asker) -> None:
        research_id = await _finished(asker, 6)
        lost = await asker.ask("submit_hypothesis", research_id=research_id, **_OWN)
        await asker.ask("rank_hypotheses", research_id=research_id)
        before = await asker.ask("get_hypothesis", hypothesis_id=lost.id)
        assert before.wins == 0 and before.losses >= 3
        rank = (await _ranks(asker, research_id))[lost.id].rank
        # Approved after the matches: the verdicts stay, the strength counts the person's word.
        told = await asker.ask("approve_hypothesis", hypothesis_id=lost.id, reason="I saw it work")
        assert "pproved by" in told.people_count_as
        assert f"{APPROVAL_LOG_ODDS:+.2f}" in told.people_count_as
        assert told.strength.value > before.strength.value
        assert (await _ranks(asker, research_id))[lost.id].rank <= rank
        # Approved before: the judge takes the person's word, and says so.
        kept = await asker.ask(
            "submit_hypothesis", research_id=research_id, title="Wool socks", summary="Wool socks."
        )
        await asker.ask("approve_hypothesis", hypothesis_id=kept.id, reason="Works on my ward")
        await asker.ask("rank_hypotheses", research_id=research_id)
        after = await asker.ask("get_hypothesis", hypothesis_id=kept.id)
        assert after.wins > after.losses
        assert any("pproved by" in match.reason for match in after.matches)
        assert all(match.judged_by == "discovery" for match in after.matches)
        assert (await _ranks(asker, research_id))[kept.id].people_count_as

    visit(settings, story)


def test_a_rating_moves_the_strength_and_the_chances_to_be_best_add_up(settings: Settings) -> None:
    async def story(asker: Asker) -> None:
        research_id = await _finished(asker, 5)
        rows = await asker.ask("list_hypotheses", research_id=research_id)
        assert sum(row.strength.chance_to_be_best for row in rows) == pytest.approx(1.0, abs=0.01)
        assert all(1 <= row.strength.best_rank <= row.strength.worst_rank for row in rows)
        last = rows[-1]
        strengths = [last.strength.value]
        for score in (1.0, 0.0):
            await asker.ask("rate_hypothesis", hypothesis_id=last.id, score=score, comment="So")
            found = await asker.ask("get_hypothesis", hypothesis_id=last.id)
            assert f"ated {score:.2f} by" in found.people_count_as
            strengths.append(found.strength.value)
        unrated, liked, disliked = strengths
        assert liked > unrated > disliked

    visit(settings, story)


def test_what_a_person_rejected_is_not_proposed_again_nor_its_kind_and_it_is_said(
    settings: Settings,
) -> None:
    async def story(asker: Asker) -> None:
        research_id = await _finished(asker, 4)
        rows = await asker.ask("list_hypotheses", research_id=research_id)
        bridge = rows[0].bridges[0]
        await asker.ask(
            "reject_hypothesis", hypothesis_id=rows[0].id, reason=f"Nothing runs through {bridge}"
        )
        there = {row.id for row in rows}
        said = []
        for method in ("literature_based", "expansion"):
            try:
                await asker.ask(
                    "generate_hypotheses", research_id=research_id, count=3, method=method
                )
            except NoConnectionFoundError as error:
                said.append(error.message)
        for row in await asker.ask("list_hypotheses", research_id=research_id, limit=50):
            assert row.id in there or bridge not in row.bridges
        whole = json.loads((await asker.ask("export_research", research_id=research_id)).body)
        said += [event["says"] for event in whole["events"] if event["kind"] == "avoided"]
        assert len(said) >= 2 and all(rows[0].id in says and bridge in says for says in said)

    visit(settings, story)


def made(name: str, title: str, **decision: Any) -> Hypothesis:
    one = hypothesis(name)
    draft = one.draft.model_copy(update={"title": title, "bridges": (), "connection": None})
    return one.model_copy(update={"draft": draft, "decision": Decision(**decision)})


def test_kinds_are_told_by_the_words_of_the_reason_and_by_rewording_but_not_by_the_goal() -> None:
    goal = "Slow the fibrosis of the liver"
    rejected = made(
        "hyp_1",
        "Curcumin slows fibrosis through autophagy",
        approval="rejected",
        reason="Curcumin is a nuisance compound, fibrosis or not",
    )
    drafts = [
        made("a", "Curcumin spares hepatocytes").draft,
        made("b", "Autophagy through curcumin slows fibrosis").draft,
        made("c", "Metformin slows fibrosis by AMPK").draft,
    ]
    kept, left = leave_out_rejected(drafts, goal, [rejected])
    assert [draft.title for draft in kept] == ["Metformin slows fibrosis by AMPK"]
    assert all("hyp_1" in one.reason and "nuisance" in one.reason for one in left)
    assert leave_out_rejected(drafts, goal, [made("d", "Any", approval="approved")])[0] == drafts


def test_the_weight_of_people_is_bounded_and_the_latest_rating_of_a_person_counts() -> None:
    one = made("hyp_1", "Any", approval="approved", by="ann", reason="Seen")
    said = [
        review(f"rev_{number}", "hyp_1").model_copy(
            update={
                "review_type": "person",
                "reviewer": "ben",
                "strengths": ("Good",),
                "scores": review("r", "hyp_1").scores.model_copy(update={"overall": score}),
            }
        )
        for number, score in enumerate((0.0, 1.0))
    ]
    weight = weigh_people([one], said)["hyp_1"]
    assert weight.log_odds == MOST_LOG_ODDS
    assert "ann" in weight.says and "ben" in weight.says
    assert list_remarks(one, said) == ["Seen", "Good"]
    assert weigh_people([made("hyp_2", "Any")], said) == {}


def test_a_submitted_hypothesis_may_cite_a_paper_by_its_doi(
    settings: Settings,
) -> None:
    async def story(asker: Asker) -> None:
        research_id = await _finished(asker, 2)
        for name in (OWN_DOI, f"https://doi.org/{OWN_DOI.upper()}", f"doi:{OWN_DOI}"):
            own = await asker.ask(
                "submit_hypothesis",
                research_id=research_id,
                title=f"By {name}",
                summary="Cited by its DOI.",
                citations=[name],
            )
            whole = json.loads((await asker.ask("export_research", research_id=research_id)).body)
            (stored,) = (one for one in whole["hypotheses"] if one["id"] == own.id)
            assert len(stored["draft"]["citations"]) == 1
        with pytest.raises(InvalidInputError, match=r"10\.1234/none"):
            await asker.ask(
                "submit_hypothesis",
                research_id=research_id,
                title="By none",
                summary="Cites what is not here.",
                citations=["10.1234/none"],
            )

    visit(settings, story)

"""Callers see how their goal was read, and a hypothesis of somebody else is reviewed for what it
says or not at all.
"""

from __future__ import annotations

import json
from typing import Any

import pytest

from carrel.core.errors import CarrelError
from carrel.libraries.discovery import ReviewType
from carrel.libraries.discovery.connections.candidates import ExperimentalProtocol
from carrel.rooms.research.errors import WrongStateError
from carrel.rooms.research.reasoners.discovery import write_meta_review
from carrel.rooms.research.records import Draft, Hypothesis, Rating
from carrel.settings import Settings
from tests.libraries.discovery.small_corpus import GOAL
from tests.rooms.research.house import Asker, visit

PAIR = "Could marine oil ease cold finger disease?"


async def finished(asker: Asker, goal: str, count: int = 4) -> str:
    answer = await asker.ask("start_research", goal=goal, hypothesis_count=count)
    status = await asker.finished(answer.research_id)
    assert status.status == "completed", status.problem
    return str(answer.research_id)


@pytest.mark.promise("S1")
@pytest.mark.promise("S4")
def test_how_a_goal_was_read_is_shown_wherever_the_project_is(settings: Settings) -> None:
    async def story(asker: Asker) -> None:
        await finished(asker, GOAL, 1)
        started = await asker.ask("start_research", goal=PAIR, hypothesis_count=3)
        assert started.understood_as is not None
        read = started.understood_as
        assert (read.question, read.start, read.end) == (
            "closed",
            "cold finger disease",
            "marine oil",
        )
        assert read.says.startswith(
            "Read as: what joins marine oil (15 papers) with cold finger disease (12 papers)?"
        )
        status = await asker.finished(started.research_id)
        assert status.understood_as == read
        for form in ("summary", "detailed", "nih_aims"):
            results = await asker.ask("get_results", research_id=started.research_id, format=form)
            assert results.understood_as == read
            assert read.says in results.executive_summary
            assert read.says in results.markdown
        page = (
            await asker.ask("export_research", research_id=started.research_id, format="html")
        ).body
        assert "Read as: what joins marine oil" in page
        rows = await asker.ask("list_research_projects")
        assert rows[0].read_as == "marine oil with cold finger disease"

    visit(settings, story)


@pytest.mark.promise("S13")
def test_every_part_of_a_goal_is_used_or_said_not_to_be(settings: Settings) -> None:
    async def story(asker: Asker) -> None:
        await finished(asker, GOAL, 1)
        goal = (
            "Could marine oil ease cold finger disease via vessel tone, excluding ginger root, "
            "once zeppelin upholstery is accounted for?"
        )
        dry = await asker.ask("understand_goal", goal=goal)
        read = dry.understood_as
        assert dry.can_start and read.asked_for == "a mechanism"
        assert {(one.name, one.use) for one in read.subjects} == {
            ("marine oil", "used"),
            ("cold finger disease", "used"),
            ("vessel tone", "used"),
            ("zeppelin upholstery", "not in the corpus"),
        }
        held = {one.text: one for one in read.constraints}
        assert held["through vessel tone"].is_used
        assert held["not ginger root"].is_used
        assert "ginger root (" in held["not ginger root"].says
        assert not held["zeppelin upholstery held equal"].is_used
        assert all(one.says in read.says for one in read.constraints)
        started = await asker.ask("start_research", goal=goal, hypothesis_count=4)
        assert started.understood_as == read
        await asker.finished(started.research_id)
        for row in await asker.in_full(started.research_id):
            assert "ginger" not in row.title.lower()
        rows = await asker.ask("list_research_projects")
        assert "not used: zeppelin upholstery held equal" in rows[0].read_as

    visit(settings, story)


@pytest.mark.promise("S13")
@pytest.mark.parametrize(
    ("goal", "code", "said"),
    [
        ("Is it good for cold finger disease?", "goal_unclear", "What is “it”"),
        (
            "Explain cold finger disease and find uses of ginger root",
            "goal_unclear",
            "the second is “find uses of ginger root”",
        ),
        (
            "Could zeppelin upholstery ease cold finger disease?",
            "goal_not_in_corpus",
            "“zeppelin upholstery” is in no title, abstract or keyword",
        ),
    ],
)
def test_a_goal_that_cannot_be_read_whole_is_asked_back_before_any_work(
    settings: Settings, goal: str, code: str, said: str
) -> None:
    async def story(asker: Asker) -> None:
        await finished(asker, GOAL, 1)
        with pytest.raises(CarrelError) as asked:
            await asker.ask("start_research", goal=goal)
        assert (asked.value.code, said in asked.value.message) == (code, True)
        assert asked.value.next_step
        dry = await asker.ask("understand_goal", goal=goal)
        assert (dry.can_start, said in dry.problem, bool(dry.next_step)) == (False, True, True)
        assert len(await asker.ask("list_research_projects")) == 1

    visit(settings, story)


@pytest.mark.promise("S1")
def test_a_reading_that_took_too_long_to_wait_for_is_kept_by_the_run(
    settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("carrel.rooms.research.service.READ_WITHIN_SECONDS", 0.0)

    async def story(asker: Asker) -> None:
        started = await asker.ask("start_research", goal=PAIR, hypothesis_count=2)
        assert started.understood_as.end is None
        assert [one.name for one in started.understood_as.subjects] == [
            "marine oil",
            "cold finger disease",
        ]
        assert "by its wording so far" in started.understood_as.says
        status = await asker.finished(started.research_id)
        assert status.understood_as is not None
        assert status.understood_as.end == "marine oil"
        lost = await asker.ask("start_research", goal="Understand xylophone zymurgy quasars")
        failed = await asker.finished(lost.research_id)
        assert (failed.status, "“xylophone zymurgy quasars”" in str(failed.problem)) == (
            "failed",
            True,
        )

    visit(settings, story)


@pytest.mark.promise("S3")
@pytest.mark.promise("S7")
def test_a_closed_goal_gives_hypotheses_on_the_pair_and_says_why_there_are_fewer(
    settings: Settings,
) -> None:
    async def story(asker: Asker) -> None:
        research_id = await finished(asker, PAIR, 12)
        rows = await asker.in_full(research_id)
        made = [row for row in rows if row.status != "evolved"]
        on_pair = [
            row
            for row in made
            if "marine oil" in row.title.lower() and "cold finger disease" in row.title.lower()
        ]
        assert len(on_pair) >= 3
        assert len({row.bridges[0] for row in on_pair}) == len(on_pair)
        for row in made:
            assert row in on_pair or "Widened: " in row.rationale
        assert len(made) < 12
        summary = (await asker.ask("get_results", research_id=research_id)).executive_summary
        assert "12 were asked for: " in summary

    visit(settings, story)


@pytest.mark.promise("S9")
def test_a_review_says_what_of_a_submitted_hypothesis_it_looked_at(settings: Settings) -> None:
    async def story(asker: Asker) -> None:
        research_id = await finished(asker, GOAL, 2)
        title = "Marine oil eases cold finger disease via vessel tone"
        own = await asker.ask(
            "submit_hypothesis",
            research_id=research_id,
            title=title,
            summary="It may widen the vessels.",
        )
        for kind in ReviewType:
            review = await asker.ask(
                "review_hypothesis", hypothesis_id=own.id, review_type=kind.value
            )
            said = (
                "Looked at: marine oil (15 papers) and cold finger disease (12 papers), joined "
                "here by vessel tone"
            )
            assert review.weaknesses[0].startswith(said)
            assert review.scores.overall is not None
            assert {
                "plausibility",
                "novelty",
                "testability",
                "specificity",
                "relevance",
                "overall",
            } <= set(review.reasons)
        for strategy in ("refine", "simplify"):
            child = await asker.ask("evolve_hypothesis", hypothesis_id=own.id, strategy=strategy)
            assert child.title.startswith(title)
            assert child.summary.startswith(title)
            assert 50 <= len(child.summary.split()) <= 100
            assert "It may widen the vessels." in child.rationale
            assert child.bridges[0] == "vessel tone"

    visit(settings, story)


@pytest.mark.promise("S9")
@pytest.mark.parametrize(
    ("title", "says"),
    [
        ("Perovskite cells outlast silicon panels", "no paper here speaks of “Perovskite cells"),
        (
            "Cold finger disease is inherited",
            "only cold finger disease is what papers here are about",
        ),
        ("Cold finger disease ends bird song", "nothing joins"),
        (
            "Marine oil and zeppelin upholstery ease cold finger disease",
            "not in these papers: “zeppelin upholstery”",
        ),
    ],
)
def test_what_the_papers_do_not_cover_is_not_scored(
    settings: Settings, title: str, says: str
) -> None:
    async def story(asker: Asker) -> None:
        research_id = await finished(asker, GOAL, 2)
        own = await asker.ask(
            "submit_hypothesis", research_id=research_id, title=title, summary=f"{title}."
        )
        review = await asker.ask(
            "review_hypothesis", hypothesis_id=own.id, review_type="deep_verification"
        )
        scores: dict[str, Any] = review.scores.model_dump()
        assert [name for name, value in scores.items() if value is not None] == ["safety"]
        assert review.weaknesses[0].startswith("Not covered by the concepts of this corpus: ")
        assert says in review.weaknesses[0]
        with pytest.raises(CarrelError) as refused:
            await asker.ask("evolve_hypothesis", hypothesis_id=own.id)
        assert refused.value.code == "nothing_to_evolve"
        assert says in refused.value.message
        results = await asker.ask(
            "get_results", research_id=research_id, format="detailed", top_n=50
        )
        assert "not covered by the corpus" in results.markdown
        await asker.ask("rank_hypotheses", research_id=research_id, method="direct_comparison")

    visit(settings, story)


def ranked(name: str, bridge: str, elo: float) -> Hypothesis:
    draft = Draft(
        title=name, summary=name, rationale="", protocol=ExperimentalProtocol("", ()),
        bridges=(bridge,),
        origin="a test", method="debate",
    )  # fmt: skip
    rating = Rating(elo_score=elo, wins=1)
    return Hypothesis(
        id=name,
        research_id="r",
        draft=draft,
        start_elo=1000,
        created_at="",
        review_count=1,
        rating=rating,
    )


@pytest.mark.promise("S5")
def test_a_meta_review_says_in_words_what_its_advice_names() -> None:
    written = write_meta_review(
        [ranked("one", "Vessel tone", 1100), ranked("two", "blood viscosity", 900)], ()
    )
    assert written.advice.strong == ("Vessel tone",)
    assert "Carry the leading hypotheses: Vessel tone." in written.text.splitlines()


@pytest.mark.promise("S5")
def test_what_the_meta_review_says_is_used_and_named_by_the_next_generation(
    settings: Settings,
) -> None:
    async def story(asker: Asker) -> None:
        research_id = await finished(asker, PAIR, 1)
        whole = json.loads((await asker.ask("export_research", research_id=research_id)).body)
        told = [
            output["answered"]
            for output in whole["agent_outputs"]
            if output["agent"] == "meta-review"
        ][-1]
        opening = "Carry the leading hypotheses: "
        (line,) = [line for line in told.splitlines() if line.startswith(opening)]
        strong = line.removeprefix(opening).rstrip(".").lower()
        rows = await asker.ask("generate_hypotheses", research_id=research_id, count=2)
        said = (
            f"goes the way of {strong}, which carries leading hypotheses, as the meta-review says."
        )
        whole_rows = [await asker.ask("get_hypothesis", hypothesis_id=row.id) for row in rows]
        assert any(said in row.rationale for row in whole_rows)

    visit(settings, story)


@pytest.mark.promise("S5")
def test_expansion_does_not_claim_a_ranking_that_was_not_held(settings: Settings) -> None:
    async def story(asker: Asker) -> None:
        earlier = json.dumps([{"id": "h1", "summary": "Something else altogether."}])
        imported = await asker.ask("import_hypotheses", hypotheses=earlier, goal=GOAL)
        (first,) = await asker.ask("generate_hypotheses", research_id=imported.research_id, count=1)
        (beside,) = await asker.ask(
            "generate_hypotheses", research_id=imported.research_id, count=1, method="expansion"
        )
        assert "marine oil" in first.title.lower()
        seed = (
            "A neighbour of marine oil (an end proposed before; nothing has been reviewed or "
            "ranked yet)."
        )
        assert seed in beside.rationale
        research_id = await finished(asker, GOAL, 3)
        (later, *_) = await asker.ask(
            "generate_hypotheses", research_id=research_id, count=1, method="expansion"
        )
        assert (
            "(an end of one of the hypotheses that lead the tournament so far)" in later.rationale
        )

    visit(settings, story)


@pytest.mark.promise("S9")
def test_a_statement_off_the_goal_is_not_taken_for_relevant(settings: Settings) -> None:
    async def story(asker: Asker) -> None:
        research_id = await finished(asker, PAIR, 2)
        titles = (
            "Marine oil eases cold finger disease via vessel tone",
            "Ginger root eases sleep via platelet aggregation",
        )
        shares = []
        for title in titles:
            own = await asker.ask(
                "submit_hypothesis",
                research_id=research_id,
                title=title,
                summary="It may well be so.",
            )
            shares.append(
                (await asker.ask("review_hypothesis", hypothesis_id=own.id)).scores.relevance
            )
        assert shares[0] == 1.0
        assert shares[1] is None or shares[1] < 0.5

    visit(settings, story)


@pytest.mark.promise("S9")
def test_nothing_is_made_from_what_a_person_rejected(settings: Settings) -> None:
    async def story(asker: Asker) -> None:
        research_id = await finished(asker, GOAL, 2)
        (first, *_) = await asker.ask("list_hypotheses", research_id=research_id)
        await asker.ask("reject_hypothesis", hypothesis_id=first.id, reason="Known already")
        with pytest.raises(WrongStateError, match="rejected"):
            await asker.ask("evolve_hypothesis", hypothesis_id=first.id, strategy="simplify")

    visit(settings, story)

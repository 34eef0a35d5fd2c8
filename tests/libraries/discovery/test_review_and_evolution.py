"""Reviews count what can be counted; evolution makes children and leaves parents alone."""

import re
from dataclasses import replace
from math import prod

import pytest

from carrel.libraries.discovery import (
    CandidateConnection,
    Evidence,
    EvolutionStrategy,
    LinkJudgement,
    NothingToEvolveError,
    NoveltySearch,
    Paper,
    Relevance,
    ReviewType,
    Testing,
    evolve,
    render,
    review,
    score,
)
from carrel.libraries.discovery.writing.wording import named
from carrel.rooms.research.safety import safety_score
from tests.libraries.discovery.small_corpus import (
    GOAL,
    discovery_of,
    small_discovery,
    small_papers,
)

DISCOVERY = small_discovery()
FOUND = DISCOVERY.generate(GOAL, count=3)
BEST = FOUND[0]
# One more way from the disease, so that a shift has somewhere to go.
WIDER = discovery_of(
    [
        *small_papers(),
        *(
            Paper(
                f"{name}-{number}",
                f"Nerve firing in {name}",
                f"Here nerve firing and {name} were seen together.",
                (name, "nerve firing"),
                year=2011 + number,
            )
            for name in ("cold finger disease", "vapor bath")
            for number in range(4)
        ),
    ]
)
WIDER_FOUND = WIDER.generate(GOAL, count=3)
WIDER_BEST = next(found for found in WIDER_FOUND if found.end.key == "marine oil")


def with_direct(connection: CandidateConnection, papers: int) -> CandidateConnection:
    searched = connection.novelty
    return replace(
        connection, novelty=NoveltySearch(searched.documents_searched, 12, 12, papers, 5.0, ())
    )


def test_scores_lie_between_nothing_and_one() -> None:
    for connection in FOUND:
        scores = score(connection)
        values = (
            scores.plausibility,
            scores.novelty,
            scores.testability,
            scores.specificity,
            scores.safety,
            scores.overall,
        )
        assert all(0 <= value <= 1 for value in values)


def test_direct_papers_take_novelty_away() -> None:
    novelties = [score(with_direct(BEST, papers)).novelty for papers in (0, 1, 3, 10)]
    assert novelties == sorted(novelties, reverse=True)
    assert novelties[0] == 1.0
    assert novelties[-1] < 0.05


def test_fewer_bridges_are_less_plausible() -> None:
    assert score(replace(BEST, bridges=BEST.bridges[:1])).plausibility < score(BEST).plausibility


def test_without_methods_it_is_hardly_testable() -> None:
    assert BEST.methods
    assert score(replace(BEST, methods=())).testability < score(BEST).testability


def test_what_the_safety_check_refuses_scores_nothing() -> None:
    unsafe = replace(BEST, goal="Weaponize anthrax to kill many people in the subway")
    assert score(unsafe, safety_score).overall == 0
    assert score(BEST, safety_score).overall > 0


def test_deep_verification_quotes_every_link() -> None:
    report = review(BEST, ReviewType.DEEP_VERIFICATION)
    assert len(report.links) == 2 * len(BEST.bridges)
    said = [link for link in report.links if link.judgement is LinkJudgement.SAID]
    assert said
    assert all(link.quotations for link in said)
    assert set(report.citations) == set(BEST.citations)


def test_simulation_walks_the_chain_and_names_its_weakest_link() -> None:
    report = review(BEST, ReviewType.SIMULATION)
    assert report.weakest_link is not None
    assert report.chain_strength is not None
    assert 0 <= report.chain_strength <= 1
    assert any(report.weakest_link.from_label in weakness for weakness in report.weaknesses)


def test_the_initial_review_is_short() -> None:
    report = review(BEST, ReviewType.INITIAL)
    assert report.links == ()
    assert report.strengths
    assert report.recommendations


@pytest.mark.parametrize("strategy", list(EvolutionStrategy))
def test_a_child_names_its_parents_and_says_what_changed(strategy: EvolutionStrategy) -> None:
    before, parent = WIDER_BEST.key, render(WIDER_BEST)
    child = evolve(
        WIDER, WIDER_BEST, strategy, next(found for found in WIDER_FOUND if found is not WIDER_BEST)
    )
    text = render(child)
    assert WIDER_BEST.key == before
    assert child.key != WIDER_BEST.key
    assert WIDER_BEST.key in child.origin.parents
    assert child.origin.made_by is strategy
    assert child.origin.change
    assert child.origin.change in text.title
    assert text.title != parent.title
    assert text.summary != parent.summary
    assert text.protocol != parent.protocol
    assert set(child.citations)
    assert 50 <= len(text.summary.split()) <= 100


def test_simplify_leaves_one_bridge_with_one_link_to_test_and_then_has_nothing_to_do() -> None:
    child = evolve(DISCOVERY, BEST, EvolutionStrategy.SIMPLIFY)
    steps = render(child).protocol.methodology
    assert len(child.bridges) == 1
    assert len(steps) < len(render(BEST).protocol.methodology)
    assert not any("whole chain" in step or "other link" in step for step in steps)
    with pytest.raises(NothingToEvolveError):
        evolve(DISCOVERY, child, EvolutionStrategy.SIMPLIFY)


def test_combine_needs_another() -> None:
    with pytest.raises(NothingToEvolveError):
        evolve(DISCOVERY, BEST, EvolutionStrategy.COMBINE)


def test_a_combination_counts_each_end_for_itself_and_searches_for_both() -> None:
    child = evolve(DISCOVERY, BEST, EvolutionStrategy.COMBINE, FOUND[1])
    (arm,) = child.arms
    index = DISCOVERY.reader.index

    def having(*keys: str) -> int:
        numbers = [index.number(key) for key in keys]
        postings = [set(index.documents(number)) for number in numbers if number is not None]
        return len(set.intersection(*postings))

    assert {child.end.key, arm.end.key} == {BEST.end.key, FOUND[1].end.key}
    assert [end.key for end in child.also_ends] == [arm.end.key]
    assert arm.with_end == having(child.end.key, arm.end.key)
    assert child.novelty.end_documents == having(child.end.key) + having(arm.end.key) - arm.with_end
    for end, bridges in ((child.end, child.bridges), (arm.end, arm.bridges)):
        for bridge in bridges:
            together = having(end.key, bridge.concept.key, child.start.key)
            assert bridge.far_documents == having(end.key, bridge.concept.key) - together
    text = render(child)
    assert f"{arm.bridges[0].far_documents} paper" in text.summary
    assert child.bridges[0].far_documents != arm.bridges[0].far_documents
    assert named(arm.end) in text.novelty
    assert named(child.end) in text.novelty


def test_refining_to_a_narrower_end_counts_its_papers_alone() -> None:
    narrow = [
        Paper(
            f"arctic-{number}",
            f"Arctic marine oil lowers {bridge}",
            f"Arctic marine oil lowered {bridge}.",
            ("arctic marine oil", bridge),
            year=2010,
        )
        for number, bridge in enumerate(("blood viscosity", "platelet aggregation") * 2)
    ]
    discovery = discovery_of([*small_papers(), *narrow])
    parent = next(
        found for found in discovery.generate(GOAL, count=5) if found.end.key == "marine oil"
    )
    child = evolve(discovery, parent, EvolutionStrategy.REFINE)
    assert child.end.key == "arctic marine oil"
    assert child.novelty.end_documents == 4
    assert "narrowed from marine oil" in render(child).title


def test_refining_to_one_model_system_counts_only_its_papers() -> None:
    child = evolve(DISCOVERY, BEST, EvolutionStrategy.REFINE)
    lead, of_parent = child.bridges[0], BEST.bridges[0]
    assert child.scope == "in mice"
    assert 2 <= lead.near_documents < of_parent.near_documents
    assert child.novelty.documents_searched == BEST.novelty.documents_searched
    assert child.novelty.start_documents == BEST.novelty.start_documents
    assert "in mice" in render(child).title
    with pytest.raises(NothingToEvolveError):
        evolve(DISCOVERY, child, EvolutionStrategy.REFINE)


def test_a_paradigm_shift_has_none_of_the_parents_bridges() -> None:
    child = evolve(WIDER, WIDER_BEST, EvolutionStrategy.PARADIGM_SHIFT)
    theirs = {bridge.concept.key for bridge in WIDER_BEST.bridges}
    assert not theirs & {bridge.concept.key for bridge in child.bridges}


def test_the_protocol_tests_first_the_link_that_simulation_names() -> None:
    for connection in (*FOUND, *WIDER_FOUND):
        weakest = review(connection, ReviewType.SIMULATION).weakest_link
        assert weakest is not None
        protocol = render(connection).protocol
        step = next(step for step in protocol.methodology if step.startswith("Weakest link first"))
        assert f"{weakest.from_label} – {weakest.to_label}" in step
        assert f"{weakest.from_label} – {weakest.to_label}" in protocol.objective
        assert connection.bridges[0].concept.label in protocol.objective


@pytest.mark.promise("S3")
@pytest.mark.parametrize("review_type", list(ReviewType))
def test_every_score_has_its_reason_and_overall_follows_from_what_is_shown(
    review_type: ReviewType,
) -> None:
    report = review(BEST, review_type)
    shown = {
        name: getattr(report.scores, name)
        for name in ("plausibility", "novelty", "testability", "specificity", "relevance")
    }
    assert set(report.reasons) == {*shown, "safety", "overall"}
    assert all(report.reasons.values())
    powers = {
        name: float(power)
        for name, power in re.findall(r"(\w+)\^([\d.]+)", report.reasons["overall"])
    }
    assert set(powers) == set(shown)
    assert report.scores.overall == pytest.approx(
        prod(max(value, 0.01) ** powers[name] for name, value in shown.items())
    )


@pytest.mark.promise("S3")
def test_the_three_reviews_judge_plausibility_by_different_things() -> None:
    found = {kind: review(BEST, kind) for kind in ReviewType}
    assert len({round(report.scores.plausibility, 6) for report in found.values()}) == 3
    assert (
        found[ReviewType.SIMULATION].scores.plausibility
        == found[ReviewType.SIMULATION].chain_strength
    )
    assert "link by link" in found[ReviewType.DEEP_VERIFICATION].reasons["plausibility"]


@pytest.mark.promise("S3")
def test_deep_verification_believes_a_denied_chain_less_than_a_said_one() -> None:
    def judged(*, is_contrary: bool) -> float:
        def marked(evidence: tuple[Evidence, ...]) -> tuple[Evidence, ...]:
            return tuple(
                replace(one, speaks_of_both=True, is_contrary=is_contrary) for one in evidence
            )

        bridges = tuple(
            replace(
                bridge,
                near_evidence=marked(bridge.near_evidence),
                far_evidence=marked(bridge.far_evidence),
            )
            for bridge in BEST.bridges
        )
        return review(
            replace(BEST, bridges=bridges), ReviewType.DEEP_VERIFICATION
        ).scores.plausibility

    assert judged(is_contrary=True) < 0.5 * judged(is_contrary=False)


@pytest.mark.promise("S3")
def test_testability_tells_connections_apart() -> None:
    assert BEST.testing is not None
    reached = replace(
        BEST,
        testing=Testing(
            6, 6, ("flow cytometry", "confocal microscopy"), "substance", can_change_end=True
        ),
    )
    one_sided = replace(BEST, testing=Testing(6, 3, (), "substance", can_change_end=True))
    unchangeable = replace(BEST, testing=Testing(6, 3, (), "unknown", can_change_end=False))
    values = [score(connection).testability for connection in (reached, one_sided, unchangeable)]
    assert values == sorted(values, reverse=True)
    assert len(set(values)) == 3
    assert "3 of 6 links" in review(one_sided, ReviewType.INITIAL).reasons["testability"]


@pytest.mark.promise("S3")
def test_where_the_pair_was_asked_for_the_way_is_what_is_new() -> None:
    def novelty(way: int | None) -> float:
        return score(
            replace(BEST, novelty=replace(with_direct(BEST, 10).novelty, way_documents=way))
        ).novelty

    assert novelty(None) < 0.05
    assert novelty(0) == pytest.approx(0.5, abs=0.05)
    assert novelty(3) < novelty(0)


@pytest.mark.promise("S3")
def test_what_leaves_the_goal_aside_scores_less_and_says_so() -> None:
    aside = replace(
        BEST,
        relevance=Relevance(
            0.3 * BEST.relevance.share,
            "The goal names ginger root as well, which this leaves aside.",
        ),
    )
    assert score(aside).overall < score(BEST).overall
    assert aside.relevance.says in review(aside, ReviewType.INITIAL).weaknesses

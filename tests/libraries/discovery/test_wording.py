"""Titles, summaries and protocols: proper sentences, worded for what they join, with what the cited
papers use.
"""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from carrel.libraries.discovery import (
    Arm,
    Bench,
    BridgeEvidence,
    CandidateConnection,
    Concept,
    Evidence,
    GenerationMethod,
    Kind,
    NoveltySearch,
    Origin,
    Place,
    Standing,
    TestMethod,
    evolve,
    render,
    weakest_link,
)
from carrel.libraries.discovery.connections.candidates import EvolutionStrategy
from carrel.libraries.discovery.writing.wording import (
    counted,
    counted_first,
    listed,
    number,
    sentence_case,
    with_article,
)
from tests.libraries.discovery.small_corpus import GOAL, small_discovery

DISCOVERY = small_discovery()


NO_BENCH = Bench()
BENCH = Bench(
    6,
    (TestMethod("mice", 4, ("mouse-paper",)),),
    (TestMethod("immunostaining", 2, ("stain-paper",)),),
)


def concept(label: str, kind: Kind = Kind.UNKNOWN) -> Concept:
    return Concept(label.lower(), label, Standing.NAMED, 40, kind)


def said(id: str, year: int = 2020) -> tuple[Evidence, ...]:
    return (Evidence(id, year, Place.TITLE, 0, "One names the other", True, False),)


def joined(
    start: Concept,
    bridge: Concept,
    end: Concept,
    near: Bench = NO_BENCH,
    far: Bench = NO_BENCH,
    near_papers: int = 3,
) -> CandidateConnection:
    return CandidateConnection(
        "goal",
        start,
        end,
        (
            BridgeEvidence(
                bridge, 0.01234567, 0.2, near_papers, 5, said("near"), said("far"), near, far
            ),
        ),
        NoveltySearch(1000, 20, 30, 0, 0.004, ()),
        (),
        0.0,
        Origin(GenerationMethod.LITERATURE_BASED),
    )


@pytest.mark.parametrize(
    "changeless", [Kind.DISEASE, Kind.EVENT, Kind.METHOD, Kind.ANATOMY, Kind.UNKNOWN]
)
@pytest.mark.parametrize("other", [Kind.DISEASE, Kind.EVENT, Kind.UNKNOWN])
def test_what_cannot_be_changed_is_compared_never_blocked_or_given(
    changeless: Kind, other: Kind
) -> None:
    text = render(
        joined(
            concept("stiff wing", other),
            concept("the bridge", changeless),
            concept("long winter", other),
        )
    )
    told = " ".join(
        (*text.protocol.methodology, *text.predictions, *text.refutations, text.summary)
    ).lower()
    assert not re.search(r"\b(give|knock down|inhibit|deplete|restrict|assign|block)\b", told)
    assert re.search(r"\b(compare|sort|sample|apply)\b", told)


@pytest.mark.parametrize(
    ("kind", "verb"),
    [
        (Kind.SUBSTANCE, "give zobblewick at a low and a high dose"),
        (Kind.GENE, "knock down or delete zobblewick"),
        (Kind.CELL, "deplete or silence zobblewick"),
        (Kind.PROCESS, "inhibit zobblewick"),
        (Kind.EXPOSURE, "assign two levels or kinds of zobblewick"),
    ],
)
def test_what_can_be_changed_is_changed_as_its_kind_allows(kind: Kind, verb: str) -> None:
    text = render(
        joined(
            concept("stiff wing", Kind.DISEASE),
            concept("zobblewick", kind),
            concept("pond", Kind.ANATOMY),
            BENCH,
        )
    )
    assert any(verb in step for step in text.protocol.methodology)


@pytest.mark.promise("S7")
def test_a_protocol_says_model_comparison_readout_and_decision_with_papers_that_use_them() -> None:
    connection = joined(
        concept("stiff wing", Kind.DISEASE),
        concept("Zob1", Kind.GENE),
        concept("moss", Kind.SUBSTANCE),
        BENCH,
        BENCH,
    )
    weakest, decision = render(connection).protocol.methodology[1:3]
    assert "in mice (named by 4 of 6 papers read on this link, such as mouse-paper)" in weakest
    assert "Comparison: a control construct" in weakest
    assert "Readout: the frequency and severity of stiff wing, by immunostaining" in weakest
    assert decision.startswith("Decide: go on only if")
    assert "speaks against the connection" in decision
    assert {"mouse-paper", "stain-paper"} <= set(connection.citations)


def test_genes_are_not_changed_in_people() -> None:
    people = Bench(4, (TestMethod("people", 4, ("p",)), TestMethod("mice", 1, ("m",))), ())
    connection = joined(
        concept("stiff wing", Kind.DISEASE),
        concept("Zob1", Kind.GENE),
        concept("moss", Kind.SUBSTANCE),
        people,
    )
    assert weakest_link(connection).effect.label == "stiff wing"
    assert "in mice" in render(connection).protocol.methodology[1]


def test_what_is_given_acts_on_what_can_only_be_seen_whichever_the_goal_named() -> None:
    drug, illness, bridge = (
        concept("moss", Kind.SUBSTANCE),
        concept("stiff wing", Kind.DISEASE),
        concept("Zob1", Kind.GENE),
    )
    assert render(joined(illness, bridge, drug)).title == "Moss may act on stiff wing through Zob1"
    assert render(joined(drug, bridge, illness)).title == "Moss may act on stiff wing through Zob1"


def test_one_method_in_three_spellings_is_told_once() -> None:
    plain = joined(concept("wing"), concept("zob"), concept("moss"))
    spelt = tuple(
        TestMethod(label, 3, ("x",)) for label in ("RNA sequencing", "rna seq", "transcriptomic")
    )
    needed = " ".join(
        render(CandidateConnection(**{**vars(plain), "methods": spelt})).protocol.required_resources
    )
    assert needed.count("RNA sequencing") == 1
    assert "transcriptomic" not in needed


@pytest.mark.parametrize("method", list(GenerationMethod))
def test_summaries_share_few_sentences_and_have_no_slips(method: GenerationMethod) -> None:
    texts = [render(found).summary for found in DISCOVERY.generate(GOAL, method, count=5)]
    assert len(set(texts)) == len(texts)
    for text in texts:
        assert text.lower().count("candidate connection") == 1
        assert not re.search(r"\b1 papers|\b[a-z]+s bears\b|\?\.|\b0\.0\b|\.\.", text)
    shared = (
        set.intersection(*(set(re.split(r"(?<=\.) ", text)) for text in texts))
        if len(texts) > 1
        else set()
    )
    assert sum(len(sentence.split()) for sentence in shared) <= 25


@given(st.lists(st.integers(1, 9), min_size=5, max_size=5), st.integers(0, 10**6))
def test_no_names_make_the_summary_of_a_combination_too_long_and_each_end_keeps_its_own_counts(
    words: list[int], papers: int
) -> None:
    start, bridge, end, other_bridge, other_end = (
        concept(" ".join([f"n{place}"] * count)) for place, count in enumerate(words)
    )
    single = joined(start, bridge, end)
    way = BridgeEvidence(other_bridge, 0.1, 0.1, papers, 777, (), ())
    searched = NoveltySearch(1000, 20, 30, 1, 2.0, ())
    combined = CandidateConnection(
        **{
            **vars(single),
            "arms": (Arm(other_end, (way,), searched, 0, 0),),
            "also_ends": (other_end,),
            "novelty": searched,
        }
    )
    text = render(combined).summary
    assert 50 <= len(text.split()) <= 100
    assert "777" in text
    assert f"{papers:,}" in text or papers == 0


def test_a_summary_has_counts_years_novelty_and_a_test() -> None:
    text = render(
        joined(
            concept("wing", Kind.DISEASE),
            concept("Zob1", Kind.GENE),
            concept("moss"),
            near_papers=1,
        )
    ).summary
    assert "only 1 paper; in one sentence in 2020" in text
    assert "5 papers; in one sentence in 2020" in text
    assert "None of 1,000 papers speaks of both ends (fewer than 0.1 expected by chance)" in text
    assert "First test: " in text


def test_titles_begin_with_a_capital_unless_the_name_is_written_its_own_way() -> None:
    assert sentence_case("liver fibrosis may") == "Liver fibrosis may"
    assert sentence_case("mTOR may") == "mTOR may"
    assert sentence_case("p53 may") == "p53 may"
    assert sentence_case("5 HT receptors") == "5 HT receptors"
    assert [counted_first(count, "paper") for count in (0, 1, 3, 19)] == [
        "No papers",
        "One paper",
        "Three papers",
        "19 papers",
    ]
    for strategy in EvolutionStrategy:
        found = DISCOVERY.generate(GOAL, count=2)
        if strategy is not EvolutionStrategy.PARADIGM_SHIFT:
            assert render(evolve(DISCOVERY, found[0], strategy, found[1])).title[0].isupper()


def test_weights_are_told_with_two_digits() -> None:
    assert (
        "(weights 0.012 and 0.2)"
        in render(joined(concept("wing"), concept("zob"), concept("moss"))).rationale
    )


@given(st.integers(1, 10**7))
def test_counts_agree_with_their_noun(count: int) -> None:
    told = counted(count, "hypothesis")
    assert told.endswith("hypothesis" if count == 1 else "hypotheses")
    assert int(told.split(" ")[0].replace(",", "")) == count


@given(st.floats(0, 10**6))
def test_numbers_have_few_digits_and_never_tell_nothing_as_nought(value: float) -> None:
    told = number(value)
    assert (
        told == "fewer than 0.1"
        if value < 0.1
        else float(told.replace(",", "")) == pytest.approx(value, rel=0.5)
    )


def test_articles_agree_with_their_noun() -> None:
    told = [with_article(noun) for noun in ("intervention", "drug", "exposure", "unit")]
    assert told == ["an intervention", "a drug", "an exposure", "a unit"]


def test_lists_end_with_and() -> None:
    assert [listed(("a",)), listed(("a", "b")), listed(("a", "b", "c"))] == [
        "a",
        "a and b",
        "a, b and c",
    ]

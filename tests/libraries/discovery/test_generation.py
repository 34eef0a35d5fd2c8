"""Generation: real connections, real citations, four ways that differ."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import TypeAdapter

from carrel.libraries.discovery import (
    BridgeEvidence,
    CandidateConnection,
    Concept,
    ConceptIndex,
    Discovery,
    GenerationMethod,
    GoalNotInCorpusError,
    NoConnectionError,
    NoveltySearch,
    Origin,
    Paper,
    Place,
    Standing,
    render,
)
from carrel.libraries.discovery.connections.sentences import sentences
from tests.libraries.discovery.small_corpus import GOAL, Shelf, small_discovery, small_papers

DISCOVERY = small_discovery()
PAPERS = {paper.id: paper for paper in small_papers()}


def test_a_goal_is_read_by_its_longest_concept() -> None:
    reading = DISCOVERY.read_goal(GOAL)
    assert reading.start_concept.key == "cold finger disease"
    assert len(reading.start.documents) == 12


def test_a_goal_the_corpus_does_not_know_is_refused_by_name() -> None:
    with pytest.raises(GoalNotInCorpusError) as refused:
        DISCOVERY.read_goal("Find treatments for xylophone elbow")
    assert refused.value.searched == ("xylophone", "elbow")


def test_the_hidden_connection_is_found_first_with_its_bridges() -> None:
    first = DISCOVERY.generate(GOAL, count=1)[0]
    assert first.end.key == "marine oil"
    assert {bridge.concept.key for bridge in first.bridges} >= {
        "blood viscosity",
        "platelet aggregation",
        "vessel tone",
    }
    assert first.novelty.direct_documents == 0
    assert first.novelty.documents_searched == len(PAPERS)


@pytest.mark.parametrize("method", list(GenerationMethod))
def test_every_method_cites_only_papers_of_the_index_and_quotes_them_word_for_word(
    method: GenerationMethod,
) -> None:
    for connection in DISCOVERY.generate(GOAL, method, count=5):
        assert connection.origin.made_by is method
        assert connection.citations
        assert set(connection.citations) <= set(PAPERS)
        for bridge in connection.bridges:
            for evidence in (*bridge.near_evidence, *bridge.far_evidence):
                paper = PAPERS[evidence.document_id]
                if evidence.place is Place.ABSTRACT:
                    assert (
                        sentences(paper.abstract)[evidence.sentence_number - 1] == evidence.sentence
                    )
                elif evidence.place is Place.TITLE:
                    assert evidence.sentence == paper.title


@pytest.mark.parametrize("method", list(GenerationMethod))
def test_every_summary_has_fifty_to_a_hundred_words_and_says_what_it_is(
    method: GenerationMethod,
) -> None:
    for connection in DISCOVERY.generate(GOAL, method, count=5):
        text = render(connection)
        assert 50 <= len(text.summary.split()) <= 100
        assert "candidate connection" in text.summary.lower()
        assert text.predictions
        assert text.refutations
        assert "1. " in text.protocol.as_text()


_LABELS = st.lists(
    st.text(st.characters(categories=["L", "N"]), min_size=1, max_size=12), min_size=1, max_size=9
).map(" ".join)


@settings(max_examples=80)
@given(_LABELS, _LABELS, st.lists(_LABELS, min_size=1, max_size=6), st.integers(0, 10**6))
def test_no_label_makes_a_summary_too_short_or_too_long(
    start: str, end: str, bridges: list[str], papers: int
) -> None:
    def concept(label: str) -> Concept:
        return Concept(label.lower(), label, Standing.NAMED, papers)

    connection = CandidateConnection(
        "goal",
        concept(start),
        concept(end),
        tuple(BridgeEvidence(concept(label), 0.1, 0.1, papers, 1, (), ()) for label in bridges),
        NoveltySearch(papers, papers, papers, 0, 0.0, ()),
        (),
        0.0,
        Origin(GenerationMethod.LITERATURE_BASED),
    )
    assert 50 <= len(render(connection).summary.split()) <= 100


def test_a_debate_has_pleas_and_objections_with_evidence() -> None:
    connection = DISCOVERY.generate(GOAL, GenerationMethod.DEBATE, count=1)[0]
    speakers = [turn.speaker.split(" ")[0] for turn in connection.origin.turns]
    assert speakers == ["for", "for", "against", "against"]
    assert any(turn.evidence for turn in connection.origin.turns)
    assert connection.bridges[0].concept.label in connection.origin.note


def test_assumptions_leave_the_usual_bridge_out() -> None:
    for connection in DISCOVERY.generate(GOAL, GenerationMethod.ASSUMPTIONS, count=3):
        questioned = connection.origin.note.removeprefix("Assumption questioned: ").split(", in ")[
            0
        ]
        assert questioned not in {bridge.concept.label for bridge in connection.bridges}


def test_expansion_leads_to_neighbours_of_the_best_and_names_the_parent() -> None:
    best = DISCOVERY.generate(GOAL, count=1)
    for connection in DISCOVERY.generate(GOAL, GenerationMethod.EXPANSION, count=3, best=best):
        assert connection.origin.parents == (best[0].key,)
        assert connection.end.key != best[0].end.key


def test_ends_to_avoid_are_avoided() -> None:
    found = DISCOVERY.generate(GOAL, count=5, avoid={"marine oil"})
    assert "marine oil" not in {connection.end.key for connection in found}


def test_both_ends_given_are_bridged_and_direct_evidence_is_told() -> None:
    papers = [
        *small_papers(),
        Paper(
            "direct",
            "Marine oil in cold finger disease",
            "It helped.",
            ("marine oil", "cold finger disease"),
        ),
    ]
    discovery = Discovery(ConceptIndex.build(papers), Shelf(papers))
    connection = discovery.connect("Does it help?", "cold finger disease", "marine oil")
    assert connection.novelty.direct_documents == 1
    assert [evidence.document_id for evidence in connection.novelty.direct_evidence] == ["direct"]
    assert "direct" in render(connection).novelty


def test_a_corpus_with_nothing_to_join_says_so() -> None:
    papers = [Paper(str(number), "Lonely thing", keywords=("lonely thing",)) for number in range(4)]
    discovery = Discovery(ConceptIndex.build(papers), Shelf(papers))
    with pytest.raises(NoConnectionError):
        discovery.generate("Explain the lonely thing")


def test_discovery_follows_the_index_as_it_changes() -> None:
    papers = small_papers()
    index = ConceptIndex.build(papers)
    discovery = Discovery(index, Shelf(papers))
    discovery.generate(GOAL, count=1)
    for paper in papers:
        if paper.id.startswith("oil"):
            index.remove(paper.id)
    assert all(
        connection.end.key != "marine oil" for connection in discovery.generate(GOAL, count=3)
    )


@pytest.mark.parametrize("method", list(GenerationMethod))
def test_a_connection_goes_to_json_and_back_unchanged(method: GenerationMethod) -> None:
    adapter = TypeAdapter(CandidateConnection)
    for connection in DISCOVERY.generate(GOAL, method, count=3):
        again = adapter.validate_json(adapter.dump_json(connection))
        assert again == connection
        assert again.key == connection.key

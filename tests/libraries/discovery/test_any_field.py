"""S13: concepts of any field, from texts that have no keywords."""

from collections.abc import Sequence

import pytest

from carrel.libraries.discovery import (
    ConceptIndex,
    Discovery,
    GoalNotInCorpusError,
    NoConnectionError,
    Paper,
)
from carrel.libraries.discovery.concepts.short_forms import defined_in
from carrel.libraries.discovery.concepts.term_scores import is_generic
from carrel.libraries.discovery.concepts.words import normal_phrase
from carrel.libraries.discovery.connections.naming import is_proper_name
from carrel.libraries.discovery.records import Tier

SENTENCES = (
    "We study {one} and show that {one} depends on {other} in most of the settings.",
    "The cost of {other} limits {one}. A wide range of state-of-the-art approaches was compared.",
    "In contrast to earlier work, {other} is what makes {one} fast. We evaluate {other} again.",
    "A better {one} was obtained through {other}, and {other} is cheap to compute.",
)
MEETINGS = (
    ("machine translation", "subword segmentation"),
    ("machine translation", "beam search"),
    ("speech recognition", "beam search"),
    ("speech recognition", "subword segmentation"),
    ("bond pricing", "interest rate swap"),
    ("central bank", "interest rate swap"),
    ("grain boundary", "creep resistance"),
    ("turbine blade", "creep resistance"),
)


class Shelf:
    def __init__(self, papers: Sequence[Paper]) -> None:
        self._papers = {paper.id: paper for paper in papers}

    def paper(self, id: str) -> Paper | None:
        return self._papers.get(id)


def papers_of(meetings: Sequence[tuple[str, str]], each: int) -> list[Paper]:
    return [
        Paper(
            f"{one}-{other}-{number}".replace(" ", "_"),
            f"On {one} by {other}, part {number}",
            " ".join(
                SENTENCES[(number + place) % len(SENTENCES)].format(one=one, other=other)
                for place in range(2)
            ),
            year=2000 + number,
        )
        for one, other in meetings
        for number in range(each)
    ]


@pytest.mark.parametrize(
    ("goal", "end"),
    [
        ("machine translation", "speech recognition"),
        ("bond pricing", "central bank"),
        ("grain boundary", "turbine blade"),
    ],
)
def test_a_corpus_without_keywords_leads_on_in_computing_economics_and_materials_s13(
    goal: str, end: str
) -> None:
    papers = papers_of(MEETINGS, each=8)
    found = Discovery(ConceptIndex.build(papers), Shelf(papers)).generate(goal, count=3)
    assert found[0].end.key == end
    said = {bridge.concept.key for one in found for bridge in one.bridges}
    assert not any(is_generic(key) for key in said)
    assert not said & {"wide range", "art approach", "range"}


@pytest.mark.parametrize("each", [1, 6])
def test_few_papers_give_an_answer_or_say_why_not_s13(each: int) -> None:
    papers = papers_of(MEETINGS[:5] if each == 1 else MEETINGS, each)
    discovery = Discovery(ConceptIndex.build(papers), Shelf(papers))
    try:
        assert discovery.generate("machine translation", count=3)
    except (NoConnectionError, GoalNotInCorpusError) as error:
        assert each == 1, error


def test_one_added_paper_changes_scores_as_if_all_had_been_read_at_once() -> None:
    papers = papers_of(MEETINGS, each=6)
    grown = ConceptIndex.build(papers[:-1])
    assert grown.number("creep resistance") is not None
    grown.add(papers[-1:])
    whole = ConceptIndex.build(papers)
    for key in ("machine translation", "creep resistance", "beam search", "cost"):
        one, other = grown.number(key), whole.number(key)
        assert one is not None and other is not None
        assert grown.tier(one) is whole.tier(other)


@pytest.mark.parametrize(
    "phrase", ["wide range", "mice lacking", "key role", "mediated inhibition", "novel approach"]
)
def test_generic_phrases_are_neither_ends_nor_bridges_s13(phrase: str) -> None:
    assert is_generic(normal_phrase(phrase))


@pytest.mark.parametrize(
    "phrase",
    [
        "machine learning",
        "magnetic field",
        "interest rate",
        "cell cycle",
        "specific heat",
        "dopamine",
    ],
)
def test_terms_made_of_common_words_are_not_called_generic_s13(phrase: str) -> None:
    assert not is_generic(normal_phrase(phrase))


def test_fixed_expressions_leave_no_piece_behind_s13() -> None:
    papers = papers_of(MEETINGS, each=6)
    index = ConceptIndex.build(papers)
    assert index.number("art approach") is None
    number = index.number("subword segmentation")
    assert number is not None and index.tier(number) is Tier.END


@pytest.mark.parametrize(
    ("label", "is_name"),
    [("South Africa", True), ("World Bank", True), ("Director", True), ("Notch", False),
     ("Hippo pathway", False), ("NMDA receptor", False), ("fish oil", False)],
)  # fmt: skip
def test_places_and_bodies_are_told_from_terms_s13(label: str, is_name: bool) -> None:
    assert is_proper_name(label) is is_name


def test_short_forms_and_spellings_of_one_thing_are_one_concept_s13() -> None:
    texts = (
        "MicroRNAs (miRNAs) silence genes, and miRNAs are short.",
        "A microRNA (miRNA) binds messengers.",
        "We found a miRNA in serum.",
        "Here microRNAs were measured in tumours.",
        "One micro-RNA was found in a tumor.",
        "Such a micro-RNA is rare.",
    )
    index = ConceptIndex.build(
        Paper(f"p{number}", "A study", text) for number, text in enumerate(texts)
    )
    one = index.number("microrna")
    assert one is not None and one == index.number("mirna")
    assert set(map(index.id_of, index.documents(one))) == {f"p{number}" for number in range(6)}
    assert normal_phrase("signalling of oestrogen") == normal_phrase("signaling of estrogen")


def test_a_short_form_means_what_its_own_paper_says_s13() -> None:
    usual = [
        Paper(f"u{number}", "Leukemia", "Acute myeloid leukemia (AML) is treated. AML recurs.")
        for number in range(10)
    ]
    other = Paper("other", "Laundering", "Anti money laundering (AML) rules. AML costs banks.")
    bare = Paper("bare", "A note", "The course of AML was followed.")
    index = ConceptIndex.build([*usual, other, bare])
    number = index.number("acute myeloid leukemia")
    assert number is not None
    held = {index.id_of(document) for document in index.documents(number)}
    assert "bare" in held and "other" not in held


@pytest.mark.parametrize(
    "text",
    [
        "They support models, large language ones, and rules (LLM).",
        "It ends in Acid. Myeloid was (AML) not.",
    ],
)
def test_no_definition_crosses_a_comma_or_the_end_of_a_sentence(text: str) -> None:
    assert list(defined_in(text)) == []

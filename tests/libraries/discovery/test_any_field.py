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
from carrel.libraries.discovery.concepts.extraction import defined_in
from carrel.libraries.discovery.concepts.term_scores import is_generic
from carrel.libraries.discovery.concepts.words import names_no_subject, normal_phrase
from carrel.libraries.discovery.connections.naming import is_name_in_use, is_proper_name
from carrel.libraries.discovery.connections.sentences import PaperReader
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


ASKED = ("{}", "Find new approaches to {}", "What could influence {}?", "Propose hypotheses on {}")


# In every field each subject meets two others, so that it may lead to two more.
RINGS = (
    ("machine translation", "subword segmentation", "speech recognition", "beam search", "dialog"),
    ("bond pricing", "interest rate swap", "central bank", "money supply", "inflation"),
    ("grain boundary", "creep resistance", "turbine blade", "thermal coating", "oxidation"),
)
RING_MEETINGS = [(one, ring[place - 1]) for ring in RINGS for place, one in enumerate(ring)]


@pytest.mark.parametrize("form", ASKED)
def test_every_subject_of_twenty_papers_leads_on_however_it_is_asked_s13(form: str) -> None:
    papers = papers_of(RING_MEETINGS, each=10)
    discovery = Discovery(ConceptIndex.build(papers), Shelf(papers))
    for subject in (name for ring in RINGS for name in ring):
        found = discovery.generate(form.format(subject), count=2)
        assert found and found[0].start.key == subject


@pytest.mark.parametrize("form", ASKED)
@pytest.mark.parametrize("word", ["segmentation", "creep", "pricing", "coating"])
def test_a_word_that_a_person_types_is_searched_though_texts_use_it_in_passing_s13(
    form: str, word: str
) -> None:
    papers = papers_of(RING_MEETINGS, each=10)
    discovery = Discovery(ConceptIndex.build(papers), Shelf(papers))
    assert word in discovery.understand(form.format(word)).start.label
    assert discovery.generate(form.format(word), count=1)


def test_a_word_of_one_paper_is_said_to_be_rare_not_vague_s13() -> None:
    papers = [
        *papers_of(MEETINGS, each=12),
        Paper("one", "A note", "We heard of superconductivity."),
    ]
    discovery = Discovery(ConceptIndex.build(papers), Shelf(papers))
    with pytest.raises(GoalNotInCorpusError, match=r"superconductivity.* is in 1 paper"):
        discovery.understand("superconductivity")


def test_a_goal_that_a_corpus_without_keywords_lacks_is_told_what_it_has_s13() -> None:
    papers = papers_of(MEETINGS, each=12)
    discovery = Discovery(ConceptIndex.build(papers), Shelf(papers))
    with pytest.raises(GoalNotInCorpusError) as refused:
        discovery.understand("Cure malaria")
    assert any(subject in refused.value.next_step for pair in MEETINGS for subject in pair)


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


@pytest.mark.parametrize(
    "phrase",
    ["Oral session 3 symposium", "annual meeting", "board members", "geographers", "policy makers",
     "conservation biologists", "2016The", "2005a", "December 2009", "21st century", "Costa Rica",
     "southern California", "chapter 4", "H 2", "GeV", "federal", "seldom", "odds ratio",
     "developing countries", "covariates", "ages 40", "highest quartile", "United States"],
)  # fmt: skip
def test_people_places_meetings_times_and_glued_tokens_are_no_subjects_s13(phrase: str) -> None:
    assert names_no_subject(normal_phrase(phrase))


@pytest.mark.parametrize(
    "phrase",
    ["machine translation", "central bank", "water table", "circuit board", "neural progenitor",
     "receptive field", "gene promoter", "grain boundary", "interest rate", "language model",
     "session type", "vitamin D", "carbon 14 dating", "random forest", "monetary policy"],
)  # fmt: skip
def test_terms_of_any_field_are_not_taken_for_people_or_meetings_s13(phrase: str) -> None:
    assert not names_no_subject(normal_phrase(phrase))


def test_a_short_form_is_not_read_as_the_word_it_looks_like() -> None:
    assert names_no_subject("fret") and not names_no_subject("fret", is_short_form=True)


@pytest.mark.parametrize(
    ("name", "sentence", "is_name"),
    [
        ("Milwaukee", "Papers were read in Milwaukee, and staff met in Milwaukee.", True),
        ("Terborgh", "This was said by John Terborgh and others.", True),
        ("Elizabeth Biggs", "A field trip, led by Elizabeth Biggs, was held.", True),
        ("Terborgh", "This was held (Terborgh 1999), and so by Terborgh et al. later.", True),
        ("Social Policy", "See Social Policy, Vol. 2, and Global Social Policy, Vol. 3.", True),
        ("Notch", "We find that Notch signaling depends on Notch receptors.", False),
        ("Large Language Models", "Tests of Large Language Models are hard.", False),
        ("Bitcoin", "A Bitcoin transaction pays a fee, and Bitcoin nodes check it.", False),
    ],
)
def test_names_of_people_and_places_are_told_by_their_use_s13(
    name: str, sentence: str, is_name: bool
) -> None:
    read = PaperReader(Shelf([Paper("1", "A title", f"Here it is. {sentence}")])).paper("1")
    assert read is not None
    assert is_name_in_use(read.sentences, normal_phrase(name)) is is_name


@pytest.mark.parametrize(
    ("sentence", "tier"),
    [
        ("The NSF grant was given. Members of the NSF met, and the NSF annual meeting ended.", 0),
        (
            "Release of GABA rose. The release of GABA is slow, and GABA binds to GABA receptors.",
            2,
        ),
    ],
)
def test_short_forms_of_bodies_are_neither_ends_nor_bridges_s13(sentence: str, tier: int) -> None:
    papers = [Paper(f"p{n}", f"Study {n}", f"{sentence} It was so.") for n in range(16)]
    index = ConceptIndex.build(papers)
    number = index.number("nsf" if tier == 0 else "gaba")
    assert number is not None
    assert (index.tier(number) is Tier.NEITHER) is (tier == 0)


def test_texts_in_another_language_give_no_terms_beside_english_ones_s13() -> None:
    foreign = (
        "As memórias da floresta mostram que os riscos do campo e da cidade crescem quando os "
        "governos não cuidam das memórias, e os riscos sobem com as memórias que todos perdem."
    )
    papers = [
        *papers_of(MEETINGS, each=6),
        *(Paper(f"f{n}", "As memórias", foreign) for n in range(4)),
    ]
    index = ConceptIndex.build(papers)
    number = index.number(normal_phrase("memórias"))
    assert number is not None and index.tier(number) is Tier.NEITHER
    alone = ConceptIndex.build(papers[-4:])
    assert alone.is_english(0)


def test_markup_of_formulas_is_no_part_of_a_phrase_s13() -> None:
    text = "We find $\\varepsilon$ and b\\bar{b} pairs with T_2 relaxation at r^2 of one."
    index = ConceptIndex.build(Paper(f"p{n}", "On pairs", text) for n in range(3))
    assert index.number("varepsilon") is None and index.number("bar") is None
    assert index.number("t 2 relaxation") is None


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

"""Every known name is looked for in every text, and names of one thing are one concept."""

import pytest

from carrel.libraries.discovery import ConceptIndex, Paper, Standing, Term, Vocabulary
from carrel.libraries.discovery.concepts.extraction import defined_in
from carrel.libraries.discovery.connections.methods import tells_nothing
from carrel.libraries.discovery.paths.literatures import Reader, are_alike

SAID = "We recorded from the slow ventral motor nucleus (SVMN) of rodents."
ALSO = "Cells of the slow ventral motor nucleus (SVMN) fire."


def ids(index: ConceptIndex, key: str) -> set[str]:
    number = index.number(key)
    return (
        set() if number is None else {index.id_of(document) for document in index.documents(number)}
    )


def concept(index: ConceptIndex, key: str) -> int:
    number = index.number(key)
    assert number is not None, key
    return number


def test_a_long_name_one_paper_gives_is_found_in_the_abstracts_of_all_others() -> None:
    named = Paper("named", "On movement", keywords=("slow ventral motor nucleus",))
    silent = Paper("silent", "Firing", "The slow, ventral motor nucleus of the cord.")
    index = ConceptIndex.build([Paper("before", "Firing", SAID), silent])
    index.add([named, Paper("after", "Rest", "In slow ventral motor nuclei nothing fired.")])
    assert ids(index, "slow ventral motor nucleus") == {"named", "before", "after"}
    index.remove("named")
    assert "after" not in ids(index, "slow ventral motor nucleus")


def test_a_name_with_small_words_and_an_adjective_of_a_name_are_found() -> None:
    index = ConceptIndex.build(
        [
            Paper("1", "Play", keywords=("sense of place", "neurodegeneration")),
            Paper("2", "Walks", "They had a sense of place and a neurodegenerative disorder."),
        ]
    )
    assert ids(index, "sense of place") == ids(index, "neurodegeneration") == {"1", "2"}


def test_a_short_form_that_papers_define_alike_is_its_long_form() -> None:
    papers = [
        Paper("1", "One", SAID),
        Paper("2", "Two", ALSO),
        Paper("3", "Three", "Rest of the SVMN is long."),
    ]
    index = ConceptIndex.build(papers)
    assert ids(index, "slow ventral motor nucleus") == ids(index, "svmn") == {"1", "2", "3"}
    assert index.forms(concept(index, "svmn")) == ("slow ventral motor nucleus", "svmn")


def test_a_short_form_with_two_meanings_is_neither() -> None:
    other = "The small vertebrate muscle network (SVMN) tires."
    texts = (SAID, ALSO, other, other.replace("tires", "rests"), "Rest of the SVMN is long.")
    index = ConceptIndex.build(
        [Paper(str(place), "On rest", text) for place, text in enumerate(texts)]
    )
    assert ids(index, "slow ventral motor nucleus") == {"0", "1"}


def test_capitals_of_an_ordinary_word_are_not_that_word() -> None:
    texts = [
        "Basal ganglion rest (BAR) was seen.",
        "We saw basal ganglion rest (BAR) here.",
        *(f"A bar was pressed in session {number}." for number in range(4)),
    ]
    index = ConceptIndex.build(
        [Paper(str(place), "On rest", text) for place, text in enumerate(texts)]
    )
    assert ids(index, "bar") == {"2", "3", "4", "5"}
    assert ids(index, "basal ganglion rest") == {"0", "1"}


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("lifespan", "life span"),
        ("Alzheimer’s disease", "Alzheimer's diseases"),
        ("SARS-CoV-2", "SARS-CoV2"),
        ("TGF-β", "TGF beta"),
        ("E. coli", "Escherichia coli"),
        ("ageing", "aging"),
    ],
)
def test_spellings_of_one_name_are_one_concept(one: str, other: str) -> None:
    papers = [
        Paper(f"{number}", f"On {name} and more", keywords=(name,))
        for number, name in enumerate((one, other, one, other))
    ]
    index = ConceptIndex.build(papers)
    shared = [
        number
        for number in range(index.size)
        if index.frequency(number) == 4 and index.named_in(number) == 4
    ]
    assert len(shared) == 1


def test_a_full_stop_behind_a_single_capital_ends_no_phrase() -> None:
    index = ConceptIndex.build(
        [Paper(str(number), "Growth", "In E. coli cells. Growth is fast.") for number in range(2)]
    )
    assert ids(index, "e coli") == {"0", "1"}


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("acute myeloid leukemia (AML) cells", [("AML", "acute myeloid leukemia")]),
        ("in the medial prefrontal cortex (mPFC; n = 3)", [("mPFC", "medial prefrontal cortex")]),
        ("induced pluripotent stem cells (iPSCs)", [("iPSC", "induced pluripotent stem cells")]),
        ("severe acute respiratory syndrome coronavirus 2 (SARS-CoV-2)", [("sar cov 2", "severe acute respiratory syndrome coronavirus 2")]),  # noqa: E501
        ("three animals (rats) and two (Figure 1)", []),
        ("nothing that fits (XYZ)", []),
    ],
)  # fmt: skip
def test_definitions_are_read_from_brackets(text: str, found: list[tuple[str, str]]) -> None:
    assert list(defined_in(text)) == found


VOCABULARY = Vocabulary(
    [
        Term("1", "Microscopy, Electron, Wide Field", ("WISP",), ("E05.1",)),
        Term("2", "Leukemia, Myeloid, Acute", ("Hodgkin's Marrow Disease", "QML"), ("C04.1",)),
        Term("3", "Hodgkin Disease", (), ("C04.2",)),
        Term("4", "DNA", (), ("D13.1",)),
    ]
)


def test_a_short_form_of_a_vocabulary_is_not_the_word_in_small_letters() -> None:
    papers = [
        *(Paper(f"word-{number}", "A wisp of smoke", "A wisp rose.") for number in range(3)),
        Paper("short", "On smoke", "We took images by WISP."),
        Paper("long", "On QML", "QML and DNA were seen."),
    ]
    index = ConceptIndex.build(papers, VOCABULARY)
    assert ids(index, "wide field electron microscopy") == set()
    assert ids(index, "wisp") == {"word-0", "word-1", "word-2"}
    assert ids(index, "acute myeloid leukemia") == ids(index, "dna") == {"long"}
    assert index.standing(concept(index, "dna")) is Standing.TERM


def test_labels_of_a_vocabulary_read_as_people_write() -> None:
    labels = [
        VOCABULARY.label(key)
        for key in ("acute myeloid leukemia", "hodgkin disease", "dna", "nothing")
    ]
    assert labels == ["acute myeloid leukemia", "Hodgkin disease", "DNA", None]


def test_pieces_of_names_settings_and_general_words_tell_nothing() -> None:
    texts = [
        f"Here marrow stem cells divide. The underlying mechanisms of growth in Oslo biobank "
        f"{number}."
        for number in range(6)
    ]
    papers = [
        Paper(str(place), f"On growth {place}", text, ("Oslo biobank", "Series of letters"))
        for place, text in enumerate(texts)
    ]
    index = ConceptIndex.build(
        [*papers, *(Paper(f"x{place}", "Marrow stem cells") for place in range(2))]
    )
    reader = Reader(index)
    telling = {
        key: tells_nothing(reader, concept(index, key))
        for key in (
            "marrow stem",
            "marrow stem cell",
            "underlying mechanism",
            "oslo biobank",
            "series of letter",
            "growth",
        )
    }
    assert telling == {
        "marrow stem": True,
        "marrow stem cell": False,
        "underlying mechanism": True,
        "oslo biobank": True,
        "series of letter": True,
        "growth": False,
    }


def test_names_within_names_and_names_of_the_same_papers_are_alike() -> None:
    papers = [
        Paper(str(number), "Orexin and hypocretin", "Fat tissue of mice.") for number in range(6)
    ]
    index = ConceptIndex.build(
        [*papers, *(Paper(f"x{number}", "On fat and sleep") for number in range(9))]
    )
    pairs = [("orexin", "hypocretin"), ("fat", "fat tissue"), ("sleep", "orexin")]
    assert [
        are_alike(index, concept(index, one), concept(index, other)) for one, other in pairs
    ] == [True, True, False]

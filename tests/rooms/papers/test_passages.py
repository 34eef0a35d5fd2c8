"""Passages of papers: found, read and located, always word for word as they are stored."""

from __future__ import annotations

import random
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from pydantic import ValidationError

from carrel.libraries.query.papers import parse_paper_query
from carrel.rooms.papers.empty_searches import _echo, _filters
from carrel.rooms.papers.errors import (
    PaperNotFoundError,
    PassageNotFoundError,
    SectionNotFoundError,
    SourceNotAvailableError,
)
from tests.rooms.papers.desk import Desk, SegmentsDesk
from tests.rooms.papers.segments import write_segments
from tests.rooms.papers.snapshots import Generation, SamplePaper, write_snapshot

pytestmark = pytest.mark.promise("P13")

_WORDS = """
ribosome stalls magnesium depletion control culture grows rate change replicates protein folding
membrane gradient kinase signal neuron cortex synapse plasticity
""".split()  # noqa: SIM905 - words to choose from


def _prose(seed: int, sentences: int) -> str:
    chance = random.Random(seed)
    return " ".join(
        " ".join(chance.choices(_WORDS, k=12)).capitalize() + "." for _ in range(sentences)
    )


SLEEP = SamplePaper(
    title="Sleep of small mammals",
    authors=("Ada Doe", "Ben Roe", "Cy Poe", "Di Moe"),
    year="2020",
    doi="10.1000/sleep.1",
    arxiv="2001.00001",
    source=(
        "# Sleep of small mammals\n\n<!-- page 1 -->\n\n## Abstract\n\n" + _prose(1, 9) + "\n\n"
        "<!-- page 2 -->\n\n## Methods\n\n### Animals\n\n" + _prose(2, 30) + "\n\n"
        "Shrews were weighed every dawn with the “efﬁcient” balance of the northern station.\n\n"
        "<!-- page 3 -->\n\n## Results\n\nThe shrews slept for 3.5 hours, vs. 4 h in Fig. 2.\n\n"
        + _prose(3, 20)
        + "\n"
    ),
)
CELLS = SamplePaper(
    title="Cells under stress",
    authors=("Eve Coe",),
    year="2018",
    doi="10.1000/cells.2",
    source="## Introduction\n\n" + _prose(4, 40) + "\n\n## Outlook\n\nShrews are not cells.\n",
)
BARE = SamplePaper(
    title="A record without text", summaries={"simple": "Shrews hibernate in winter, it says."}
)


@pytest.fixture(scope="module", params=["older", "newer", "segments"])
def desk(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Desk]:
    folder = tmp_path_factory.mktemp(request.param)
    if request.param == "segments":
        with SegmentsDesk(write_segments(folder, (SLEEP, CELLS, BARE))) as desk:
            yield desk
        return
    generation: Generation = request.param
    snapshot = write_snapshot(folder, (SLEEP, CELLS, BARE), generation=generation)
    with Desk(snapshot, folder / "paper-static") as desk:
        yield desk


def test_a_passage_is_found_with_its_section_page_and_words(desk: Desk) -> None:
    hit = desk.ask("find_passages", query="where were shrews weighed")[0]
    assert (hit.paper_id, hit.section, hit.page) == (SLEEP.paper_id, "Methods > Animals", 2)
    assert hit.authors == ("Ada Doe", "Ben Roe", "Cy Poe")
    assert SLEEP.source is not None
    assert SLEEP.source[hit.start : hit.end] == hit.text
    assert "balance of the northern station" in hit.text


def test_a_paper_without_text_is_found_by_its_abstract(desk: Desk) -> None:
    hits = desk.ask("find_passages", query="hibernate winter")
    assert [hit.paper_id for hit in hits] == [BARE.paper_id]
    assert hits[0].text == "Shrews hibernate in winter, it says."


@pytest.mark.parametrize("name", ["10.1000/cells.2", "https://doi.org/10.1000/CELLS.2"])
def test_within_keeps_to_the_papers_that_are_named(desk: Desk, name: str) -> None:
    assert {hit.paper_id for hit in desk.ask("find_passages", query="shrews", within=name)} == {
        CELLS.paper_id
    }
    both = desk.ask("find_passages", query="shrews", within=[CELLS.paper_id, SLEEP.paper_id])
    assert {hit.paper_id for hit in both} == {CELLS.paper_id, SLEEP.paper_id}


def test_pages_of_an_answer_follow_one_another(desk: Desk) -> None:
    whole = [hit.passage_id for hit in desk.ask("find_passages", query="ribosome", limit=8)]
    parts = [
        hit.passage_id
        for page in (1, 2)
        for hit in desk.ask("find_passages", query="ribosome", limit=4, page=page)
    ]
    assert parts == whole
    assert len(set(whole)) == 8


@settings(
    max_examples=40, suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None
)
@given(query=st.lists(st.sampled_from([*_WORDS, "shrews", "3.5", "Fig."]), max_size=6))
def test_every_passage_that_is_answered_is_verbatim_in_the_text(
    desk: Desk, query: list[str]
) -> None:
    texts = {SLEEP.paper_id: SLEEP.source, CELLS.paper_id: CELLS.source}
    texts[BARE.paper_id] = BARE.summaries["simple"]
    for hit in desk.ask("find_passages", query=" ".join(query), limit=50):
        text = texts[hit.paper_id]
        assert text is not None
        assert text[hit.start : hit.end] == hit.text
        read = desk.ask("read_passage", passage_id=hit.passage_id)
        assert [each.text for each in read.passages] == [hit.text]


def test_a_passage_is_read_with_its_neighbours(desk: Desk) -> None:
    hit = desk.ask("find_passages", query="shrews weighed dawn")[0]
    read = desk.ask("read_passage", passage_id=hit.passage_id, before=1, after=2)
    assert [each.is_asked for each in read.passages] == [False, True, False, False]
    assert read.passages[1].text == hit.text
    assert read.passages[2].text.startswith("The shrews slept")
    assert (read.title, read.year) == (SLEEP.title, "2020")
    first = desk.ask("read_passage", id=hit.passage_id, before=10, after=0).passages
    assert first[0].section == "Abstract"


@pytest.mark.parametrize(
    "passage_id",
    [
        f"{SLEEP.paper_id}~0123456789",
        "unknown~0123456789",
        "nothing",
        "../../etc/passwd~0123456789",
        f"{SLEEP.paper_id}~../..",
    ],
)
def test_a_passage_that_is_not_there_says_how_to_find_it(desk: Desk, passage_id: str) -> None:
    with pytest.raises(PassageNotFoundError) as missing:
        desk.ask("read_passage", passage_id=passage_id)
    assert "locate_quote" in missing.value.next_step


@pytest.mark.parametrize(
    ("quotation", "exactness", "page"),
    [
        ("The shrews slept for 3.5 hours, vs. 4 h in Fig. 2.", "exact", 3),
        (
            'weighed every dawn with the "efficient" balance of the nor-\nthern station',
            "same words",
            2,
        ),
        ("Shrews were weighed … of the northern station.", "same words", 2),
        ("Shrews were weighed each dawn with the balance of the northern station", "near", 2),
    ],
)
def test_a_quotation_is_located(desk: Desk, quotation: str, exactness: str, page: int) -> None:
    answer = desk.ask("locate_quote", text=quotation)
    assert answer.is_found
    place = answer.places[0]
    assert (place.paper_id, place.exactness, place.page) == (SLEEP.paper_id, exactness, page)
    assert SLEEP.source is not None
    assert SLEEP.source[place.start : place.end] == place.text
    passage = desk.ask("read_passage", passage_id=place.passage_id).passages[0]
    assert passage.start <= place.start < passage.end
    assert place.text in place.sentence and place.sentence in SLEEP.source
    assert place.sentence.endswith((" station.", " Fig. 2."))
    assert place.sentence.startswith(("Shrews were weighed", "The shrews slept"))
    if exactness == "near":
        assert ("each", "every") in {(each.quoted, each.stored) for each in place.differences}


def test_a_place_much_less_like_the_quotation_is_not_one_of_its_places(tmp_path: Path) -> None:
    said = "We weighed nine shrews at dawn with the old balance of the northern station"
    other = "We weighed nine voles at noon with the new balance of the northern garden"
    papers = [
        SamplePaper(title="Weights of shrews", source=f"# Text\n\n{said} in May.\n"),
        SamplePaper(title="Weights of voles", source=f"# Text\n\n{other} in June.\n"),
    ]
    with SegmentsDesk(write_segments(tmp_path, papers)) as desk:
        answer = desk.ask("locate_quote", text=said.replace("nine", "ten"))
    assert answer.is_found
    assert [each.title for each in answer.places] == ["Weights of shrews"]
    assert answer.places[0].sentence == f"{said} in May."
    assert [each.title for each in answer.nearest] == ["Weights of voles"]


def test_a_quotation_that_nobody_wrote_is_not_found_and_the_nearest_is_shown(desk: Desk) -> None:
    answer = desk.ask("locate_quote", text="Shrews were never weighed at noon by anybody else here")
    assert not answer.is_found
    assert answer.places == []
    assert "No text" in answer.message
    assert answer.nearest[0].paper_id == SLEEP.paper_id
    nothing = desk.ask("locate_quote", text="zzzz qqqq xxxx wwww")
    assert (nothing.is_found, nothing.nearest) == (False, [])
    assert "any of these words" in nothing.message


def test_a_quotation_is_looked_for_within_a_paper(desk: Desk) -> None:
    answer = desk.ask("locate_quote", text="Shrews are not cells.", within=[SLEEP.paper_id])
    assert not answer.is_found
    assert desk.ask("locate_quote", text="Shrews are not cells.", within="10.1000/cells.2").is_found


def test_an_outline_names_sections_pages_and_lengths(desk: Desk) -> None:
    outline = desk.ask("get_paper_source", paper_id=SLEEP.paper_id, outline=True).body
    assert "- 2 Methods (p. 2, " in outline
    assert "  - 2.1 Animals (p. 2, " in outline
    assert "section" in outline.splitlines()[0]


@pytest.mark.parametrize("section", ["2.1", "Animals", "animals", "§ 2.1", "anim"])
def test_one_section_is_read_by_number_or_heading(desk: Desk, section: str) -> None:
    text = desk.ask("get_paper_source", paper_id="10.1000/sleep.1", section=section).body
    assert text.startswith("### Animals")
    assert "northern station" in text
    assert "## Results" not in text
    part = desk.ask("get_paper_source", paper_id=SLEEP.paper_id, section=section, max_chars=20)
    assert part.body.startswith("### Animals\n\n")
    assert part.body.endswith("more chars]")


def test_a_section_that_is_not_there_names_those_that_are(desk: Desk) -> None:
    with pytest.raises(SectionNotFoundError, match="Discussion") as missing:
        desk.ask("get_paper_source", paper_id=SLEEP.paper_id, section="Discussion")
    assert "2.1 Animals" in missing.value.next_step


@pytest.mark.parametrize(
    "name",
    [
        SLEEP.paper_id,
        "10.1000/sleep.1",
        "doi:10.1000/SLEEP.1",
        "https://doi.org/10.1000/sleep.1",
        "2001.00001",
        "arXiv:2001.00001v2",
        "https://arxiv.org/abs/2001.00001",
        f"paper://{SLEEP.paper_id}/source",
        f"paper://{SLEEP.paper_id}",
        f"{SLEEP.paper_id}~0123456789",
    ],
)
def test_a_paper_goes_by_its_id_doi_arxiv_id_and_address(desk: Desk, name: str) -> None:
    if "arxiv" in name.lower() or name.startswith("2001."):
        known = desk.ask("get_paper_metadata", paper_id=SLEEP.paper_id).arxiv_id
        if known is None:
            pytest.skip("older snapshots do not say it")
    assert desk.ask("get_paper_metadata", paper_id=name).paper_id == SLEEP.paper_id
    assert desk.ask("get_paper_source", paper_id=name, max_chars=5).body.startswith("# Sle")
    assert "Sleep" in desk.ask("get_paper_bibtex", paper_id=name).body
    assert "A summary" in desk.ask("get_paper_summary", paper_id=name).body


def test_a_doi_in_an_address_is_understood(desk: Desk) -> None:
    text = desk.read("paper://10.1000%2Fsleep.1/source")
    assert text.body.startswith("# Sleep")


@pytest.mark.parametrize("name", ["10.1000/unknown", "arXiv:1706.03762"])
def test_an_unknown_identifier_says_what_to_do(desk: Desk, name: str) -> None:
    with pytest.raises(PaperNotFoundError) as missing:
        desk.ask("get_paper_source", paper_id=name)
    assert missing.value.code == "paper_not_found"
    assert missing.value.details["paper_id"] == name
    assert "add_paper" in missing.value.next_step


@pytest.mark.parametrize("name", ["../x", "a b", "", "x" * 301, "paper://", "/etc/passwd"])
def test_what_can_name_no_paper_is_refused(desk: Desk, name: str) -> None:
    with pytest.raises(ValidationError):
        desk.ask("get_paper_metadata", paper_id=name)


def test_a_paper_without_source_says_so(desk: Desk) -> None:
    for arguments in ({}, {"outline": True}, {"section": "1"}):
        with pytest.raises(SourceNotAvailableError):
            desk.ask("get_paper_source", paper_id=BARE.paper_id, **arguments)


@pytest.mark.parametrize("name", ["search_papers", "find_passages"])
def test_an_empty_answer_says_which_word_nothing_has_and_what_comes_near(
    desk: Desk, name: str
) -> None:
    answer = desk.ask_whole(name, query="ribosme")
    assert answer.result == []
    facts = answer.explanation
    assert (facts.searched, facts.documents) == ("papers", 3)
    assert facts.unmatched_words == ["ribosme"]
    assert facts.did_you_mean == {"ribosme": ["ribosome"]}
    assert any(SLEEP.paper_id in each for each in facts.nearest)
    assert "ribosome" in facts.next_step
    filtered = desk.ask_whole("search_papers", query="shrews year:1890").explanation
    assert filtered.unmatched_filters == ["year:1890"]
    assert "year:1890" in filtered.message


@pytest.mark.parametrize("query", ["AND", "*", '""', "(((", "\N{MICROSCOPE}"])
@pytest.mark.parametrize("name", ["search_papers", "find_passages"])
def test_a_question_without_words_says_so(desk: Desk, name: str, query: str) -> None:
    answer = desk.ask_whole(name, query=query)
    assert answer.result == []
    assert "No word was asked for." in answer.explanation.message
    assert "Every word occurs" not in answer.explanation.message


@pytest.mark.parametrize("query", ["the", "what is the"])
def test_words_too_common_to_search_by_are_named_as_such(desk: Desk, query: str) -> None:
    facts = desk.ask_whole("search_papers", query=f"{query} year:1066").explanation
    assert (facts.unmatched_words, facts.did_you_mean) == ([], {})
    answer = desk.ask_whole("find_passages", query=query, within=[BARE.paper_id])
    assert "Only words too common to search by were asked for." in answer.explanation.message


@pytest.mark.parametrize(
    ("query", "told"),
    [
        ("10.5555/not-here", "No paper here has the DOI 10.5555/not-here."),
        ("doi:10.5555/not-here", "No paper here has the DOI 10.5555/not-here."),
        ("arXiv:2101.99999", "No paper here has the arXiv id 2101.99999."),
    ],
)
def test_an_identifier_that_no_paper_has_is_told(desk: Desk, query: str, told: str) -> None:
    answer = desk.ask_whole("search_papers", query=query)
    assert answer.result == []
    assert told in answer.explanation.message
    assert answer.explanation.unmatched_words == []


def test_a_search_within_papers_says_that_it_was_limited(desk: Desk) -> None:
    answer = desk.ask_whole("find_passages", query="ribosome", within=[BARE.paper_id])
    assert answer.result == []
    assert answer.explanation.documents == 1
    assert "within limited the search to 1 paper." in answer.explanation.message


def test_a_name_with_a_comma_that_nobody_has_is_told(desk: Desk) -> None:
    answer = desk.ask_whole("search_papers", query='author:"Nobody, Nina"')
    assert answer.explanation.unmatched_filters == ['author:"Nobody, Nina"']


@pytest.mark.parametrize(
    "typed", ["tag:chapter-2", 'tag:"chapter 2"', "journal:Nowhere", 'author:"Nobody, Nina"']
)
def test_a_filter_is_named_as_it_was_typed(typed: str) -> None:
    query = parse_paper_query(f"{typed} whales")
    (part,) = _filters(query)
    assert _echo(part, query.text) == typed

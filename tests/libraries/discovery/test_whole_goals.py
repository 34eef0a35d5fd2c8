"""Goals are mapped whole: names with letters and numbers, populations, and what is wanted."""

import pytest

from carrel.libraries.discovery import ConceptIndex, Discovery, NoConnectionError, Paper
from carrel.libraries.discovery.goals.goal_language import is_population
from carrel.libraries.discovery.goals.statement import parse_goal

PAIRS = (
    ("Vitamin D", "bone strength", "Vitamin D raises bone strength in {who}."),
    ("Vitamin E", "skin tone", "Vitamin E raises skin tone in {who}."),
    ("Interleukin 6", "joint swelling", "Interleukin 6 raises joint swelling in {who}."),
    ("C. elegans", "neuron loss", "Neuron loss was seen in C. elegans and {who}."),
    ("Type 2 diabetes", "nerve pain", "Type 2 diabetes causes nerve pain in {who}."),
    ("Bone strength", "fall risk", "Bone strength lowers fall risk in {who}."),
)


class Shelf:
    def __init__(self, papers: list[Paper]) -> None:
        self.paper = {paper.id: paper for paper in papers}.get


@pytest.fixture(scope="module")
def discovery() -> Discovery:
    papers = [
        Paper(f"{one}-{other}-{n}", f"{one} and {other}, case {n}", said.format(who="older adults"))
        for one, other, said in PAIRS
        for n in range(12)
    ]
    papers.extend(
        Paper(f"rest-{n}", f"Notes on rivers {n}", "Rivers were drawn.") for n in range(40)
    )
    return Discovery(ConceptIndex.build(papers), Shelf(papers))


@pytest.mark.promise("S13")
@pytest.mark.parametrize(
    ("goal", "start", "end"),
    [
        ("How does vitamin D affect fall risk?", "fall risk", "vitamin D"),
        ("How does interleukin 6 affect nerve pain?", "nerve pain", "interleukin 6"),
        ("Does type 2 diabetes cause skin tone?", "skin tone", "type 2 diabetes"),
    ],
)
def test_a_name_with_a_letter_or_number_is_read_whole(
    discovery: Discovery, goal: str, start: str, end: str
) -> None:
    reading = discovery.read_goal(goal)
    assert reading.end is not None
    assert {reading.start.label.lower(), reading.end.label.lower()} == {start.lower(), end.lower()}
    assert not reading.missing


@pytest.mark.promise("S13")
def test_an_adopted_name_grows_with_the_index() -> None:
    papers = [Paper(f"d-{n}", "On vitamin D", "Vitamin D was measured.") for n in range(4)]
    index = ConceptIndex.build(papers)
    assert index.number("vitamin d") is None
    assert index.adopt("vitamin d", "vitamin D", 5) is None
    number = index.adopt("vitamin d", "vitamin D", 3)
    assert number is not None and (index.label(number), index.frequency(number)) == ("vitamin D", 4)
    index.add([Paper("d-9", "More on vitamin D", "Vitamin D rose.")])
    again = index.adopt("vitamin d", "vitamin D", 3)
    assert again is not None and index.frequency(again) == 5
    index.remove("d-9")
    again = index.adopt("vitamin d", "vitamin D", 3)
    assert again is not None and index.frequency(again) == 4


@pytest.mark.promise("S13")
@pytest.mark.parametrize(
    "name", ["older adults", "children", "patients with sepsis", "Geographers", "injured workers"]
)
def test_populations_are_told_from_what_acts(name: str) -> None:
    assert is_population(name)


@pytest.mark.parametrize("name", ["dopamine agonists", "heart failure", "pacemaker", "obesity"])
def test_things_are_no_populations(name: str) -> None:
    assert not is_population(name)


@pytest.mark.promise("S13")
def test_a_population_is_no_end(discovery: Discovery) -> None:
    reading = discovery.understand("What could lower fall risk in older adults?")
    assert reading.end is None and reading.start.label == "fall risk"
    try:
        found = discovery.generate("What could lower fall risk in older adults?")
    except NoConnectionError:
        found = ()
    assert not any("adult" in one.end.key for one in found)


@pytest.mark.promise("S13")
@pytest.mark.parametrize(
    ("goal", "direction"),
    [
        ("What could slow the loss of dopaminergic neurons?", 1),
        ("What could slow the growth of tumours?", -1),
        ("Find treatments for gout", -1),
        ("Find treatments for the loss of hearing", 1),
        ("What could protect reefs?", 1),
        ("What could protect against floods?", -1),
        ("What raises blood pressure?", 1),
        ("What causes the decline of bees?", -1),
        ("How does sleep affect mood?", 0),
    ],
)
def test_the_wanted_direction_is_the_net_of_the_wording(goal: str, direction: int) -> None:
    assert parse_goal(goal).direction == direction


@pytest.mark.promise("S13")
def test_what_is_wanted_of_an_answer_follows_the_direction(discovery: Discovery) -> None:
    reading = discovery.understand("What could slow the loss of bone strength?")
    assert reading.wanted_effect == 1

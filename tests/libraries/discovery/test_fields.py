"""Titles, protocols and goals speak of the field at hand, or of none."""

from __future__ import annotations

import gzip
import json
import re
from pathlib import Path

import pytest

from carrel.libraries.discovery import ConceptIndex, Discovery, Paper, render
from carrel.libraries.discovery.connections.methods import BenchReader
from carrel.libraries.discovery.connections.sentences import PaperReader
from carrel.libraries.discovery.errors import NoConnectionError
from carrel.libraries.discovery.records import Kind

SERVICES = Path(__file__).parents[3].parent / "shared" / "data" / "services"
ARXIV = SERVICES / "arxiv" / "010-arxiv-py-q-testing-s0-m100.body.xml.gz"
OF_LIFE = re.compile(
    r"\b(mice|rats|patients?|subjects|knock(ed)? down|delete|dose|vehicle|deplete|inhibit\w*|"
    r"sham|hosts|cohort|animals|batch(es)?)\b"
)


class Papers:
    """A corpus in memory."""

    def __init__(self, papers: list[Paper]) -> None:
        self._papers = {paper.id: paper for paper in papers}

    def paper(self, id: str) -> Paper | None:
        return self._papers.get(id)


def discovery_of(papers: list[Paper]) -> Discovery:
    return Discovery(ConceptIndex.build(papers), Papers(papers))


def papers_of(sides: dict[str, str], filler: str, count: int = 6) -> list[Paper]:
    """Papers that name two ends with a bridge, each on its own side, and others beside them."""
    made = [
        Paper(f"{name}{number}", text, f"{text}. {filler}", (), (), 2020)
        for name, text in sides.items()
        for number in range(count)
    ]
    others = ("river gauges", "city trams", "bird calls", "oak panels", "glass kilns", "tide mills")
    made.extend(
        Paper(f"o{number}", f"A study of {name}", f"{name} were counted.", (), (), 2019)
        for number, name in enumerate(others * 4)
    )
    return made


@pytest.mark.promise("S13")
@pytest.mark.parametrize(
    ("near", "far", "goal", "filler"),
    [
        (
            "Query optimisation and cardinality estimation",
            "Cardinality estimation and learned indexes",
            "How are query optimisation and learned indexes related?",
            "An ablation study on a benchmark shows it.",
        ),
        (
            "Minimum wages and job vacancies",
            "Job vacancies and housing rents",
            "How are minimum wages and housing rents related?",
            "Panel data and a linear regression show it.",
        ),
        (
            "Grain boundary and oxygen diffusion",
            "Oxygen diffusion and nickel superalloys",
            "How are grain boundary and nickel superalloys related?",
            "X-ray diffraction and tensile testing show it.",
        ),
    ],
)
def test_a_protocol_of_another_field_has_no_words_of_the_life_sciences(
    near: str, far: str, goal: str, filler: str
) -> None:
    (connection, *_) = discovery_of(papers_of({"n": near, "f": far}, filler)).generate(goal)
    text = render(connection)
    whole = " ".join((text.title, text.summary, text.protocol.as_text(), *text.predictions))
    assert not OF_LIFE.search(whole.lower()), whole
    assert connection.start.kind in {Kind.THING, Kind.MATERIAL, Kind.EXPOSURE, Kind.EVENT}
    # The methods are those that these papers name.
    named = {one.label for one in connection.bridges[0].near_bench.methods}
    assert named
    assert any(method in text.protocol.as_text() for method in named)


@pytest.mark.promise("S13")
def test_a_protocol_of_biology_still_speaks_of_its_systems() -> None:
    filler = "This was in mice, in liver tissue, by RNA sequencing of cells."
    sides = {"n": "Kinase zobA and liver fibrosis", "f": "Kinase zobA and fenozine"}
    found = discovery_of(papers_of(sides, filler)).generate(
        "How are fenozine and liver fibrosis related?"
    )
    assert re.search(r"\bmice\b", render(found[0]).protocol.as_text())


@pytest.mark.promise("S13")
@pytest.mark.parametrize(
    ("abstract", "systems", "is_of_life"),
    [
        ("Users move the mouse faster on large screens.", (), False),
        ("The effect was seen in mice.", ("mice",), True),
        ("Protein levels in tissue of a mouse model.", ("mice",), True),
        ("A genetic algorithm for routing.", (), False),
    ],
)
def test_a_mouse_is_an_animal_only_where_the_paper_says_so(
    abstract: str, systems: tuple[str, ...], is_of_life: bool
) -> None:
    papers = [Paper("p1", "A title", f"{abstract} More follows here.")]
    read = PaperReader(Papers(papers)).paper("p1")
    assert read is not None
    bench = BenchReader().bench([read])
    assert tuple(one.label for one in bench.systems) == systems
    assert bool(bench.life_papers) is is_of_life


@pytest.mark.promise("S13")
@pytest.mark.parametrize("name", ["climate change", "protected areas", "market mechanisms"])
def test_a_name_with_a_word_that_asks_is_read_whole_where_the_goal_names_it(name: str) -> None:
    papers = papers_of({"n": f"{name} and fishing rights", "f": "Fishing rights and ports"}, "")
    reading = discovery_of(papers).read_goal(f"What may be connected to {name}?")
    assert reading.start.label.lower() == name


@pytest.mark.promise("S13")
@pytest.mark.skipif(not ARXIV.exists(), reason="../shared/data/services is not beside the checkout")
def test_real_abstracts_of_computing_give_hypotheses_in_their_own_words() -> None:
    entries = re.findall(
        r"<entry>.*?<title>(.*?)</title>.*?<summary>(.*?)</summary>",
        gzip.decompress(ARXIV.read_bytes()).decode(),
        re.DOTALL,
    )
    papers = [
        Paper(f"a{number}", " ".join(title.split()), " ".join(summary.split()))
        for number, (title, summary) in enumerate(entries)
    ]
    assert len(papers) > 50
    discovery = discovery_of(papers)
    texts = []
    for start in ("software testing", "test generation", "machine learning"):
        try:
            texts += [render(one) for one in discovery.generate(f"Find out about {start}", count=3)]
        except NoConnectionError:
            continue
    assert texts
    for text in texts:
        whole = " ".join((text.title, text.protocol.as_text(), *text.predictions)).lower()
        assert not OF_LIFE.search(whole), whole
        assert not re.search(r"\bart (approach|method)", json.dumps(whole))

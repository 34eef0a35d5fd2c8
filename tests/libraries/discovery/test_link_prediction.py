"""Link prediction: the same whatever the order of papers, nothing known is new, and it says why."""

from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from carrel.libraries.discovery import ConceptIndex, Paper
from carrel.libraries.discovery.generation.discovery import Discovery
from carrel.libraries.discovery.paths.abc_paths import bridges, ends
from carrel.libraries.discovery.paths.link_prediction import shared_company
from carrel.libraries.discovery.paths.literatures import Reader
from carrel.libraries.discovery.tuned import PATHS
from carrel.libraries.discovery.writing.rendering import rationale
from tests.libraries.discovery.small_corpus import GOAL, Shelf, small_discovery, small_papers

_NAMES = tuple(
    f"{first} {second}"
    for first in ("amber", "basalt", "copper", "dune")
    for second in ("ladder", "orchard", "quarry", "vessel")
)
_CORPORA = st.lists(
    st.sets(st.sampled_from(_NAMES), min_size=2, max_size=4), min_size=20, max_size=40
)


def papers_of(named: list[set[str]]) -> list[Paper]:
    return [
        Paper(f"p{place}", f"Study {place}", keywords=tuple(sorted(own)), year=2000 + place % 9)
        for place, own in enumerate(named)
    ]


def ranked_ends(papers: list[Paper], start: str) -> list[str]:
    reader = Reader(ConceptIndex.build(papers))
    literature = reader.literature([start])
    return (
        []
        if literature is None
        else [reader.index.key(end.concept) for end in ends(reader, literature, 100)]
    )


@given(st.randoms(use_true_random=False))
@settings(max_examples=8, deadline=None)
def test_the_order_of_papers_changes_neither_ends_nor_bridges(random: Random) -> None:
    def found(papers: list[Paper]) -> tuple[list[str], list[str]]:
        reader = Reader(ConceptIndex.build(papers))
        a, c = reader.literature(["cold finger disease"]), reader.literature(["marine oil"])
        assert a is not None and c is not None
        return (
            [reader.index.key(end.concept) for end in ends(reader, a, 100)],
            [reader.index.key(bridge.concept) for bridge in bridges(reader, a, c)],
        )

    papers = small_papers()
    expected = found(papers)
    random.shuffle(papers)
    assert found(papers) == expected
    assert all(expected)


@pytest.mark.promise("S7")
@given(_CORPORA, st.sampled_from(_NAMES))
@settings(max_examples=40, deadline=None)
def test_what_papers_join_more_than_by_chance_is_never_proposed_as_new(
    named: list[set[str]], start: str
) -> None:
    for end in ranked_ends(papers_of(named), start):
        both = sum(start in own and end in own for own in named)
        alone = sum(start in own for own in named) * sum(end in own for own in named)
        assert both == 0 or (both <= PATHS.rare_documents and both * len(named) <= alone)


def test_a_hypothesis_says_what_its_ends_have_in_common() -> None:
    discovery = small_discovery()
    [first, *_] = discovery.generate(GOAL, count=3)
    reader = discovery.reader
    numbers = [reader.index.number(one.key) for one in (first.start, first.end)]
    start, end = [reader.company(number) for number in numbers if number is not None]
    count = len(shared_company(start.mentioned, end.mentioned))
    told = next(line for line in rationale(first).splitlines() if "Predicted from" in line)
    assert f"share {count} concepts" in told
    assert first.bridges[0].concept.label.lower() in told.lower()


def test_without_keywords_ends_are_ranked_and_explained_too() -> None:
    papers = [
        Paper(paper.id, paper.title, paper.abstract, year=paper.year) for paper in small_papers()
    ]
    discovery = Discovery(ConceptIndex.build(papers), Shelf(papers))
    made = discovery.generate("What could help in cold finger disease?", count=3)
    assert made
    assert "Predicted from" in rationale(made[0])

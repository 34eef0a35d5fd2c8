"""The concept index: the same whatever way it came to be."""

from collections.abc import Iterable
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from multiprocessing import get_context
from random import Random

from hypothesis import given, settings
from hypothesis import strategies as st

from carrel.libraries.discovery import (
    ConceptIndex,
    ConceptRow,
    DocumentRow,
    Paper,
    Standing,
    Term,
    Vocabulary,
    read_chunk,
)
from tests.libraries.discovery.small_corpus import small_papers

_WORDS = st.sampled_from(
    [
        "calcium channel",
        "nerve",
        "mice",
        "mouse",
        "of",
        "the",
        "blood flow",
        "TNF-α",
        "rapidly",
        "protein kinase",
        "slow calcium channel current",
        "slow calcium channel current (SCC)",
        "SCC",
        "scc",
        "red blood flow index",
        "bloodflow",
        "hypoxia",
        "hypoxic",
        "inflammatory",
        "inflammation",
        "a slow calcium current (SCC)",
        ".",
        "NERVE",
        "CC",
        "E. coli",
        "Escherichia coli",
        "e coli",
        "Eimeria coli",
    ]
)
_TEXTS = st.lists(_WORDS, max_size=8).map(" ".join)
PAPERS = st.lists(
    st.builds(
        Paper,
        id=st.integers(0, 8).map(str),
        title=_TEXTS,
        abstract=_TEXTS,
        keywords=st.lists(_WORDS, max_size=2).map(tuple),
        year=st.none() | st.integers(1990, 2020),
    ),
    max_size=12,
)
VOCABULARY = Vocabulary(
    [
        Term("1", "Calcium Channels", ("Channel, Calcium",), ("D12.776",)),
        Term("2", "Neurons", ("Nerve",), ("A11.671",)),
    ]
)


def latest(papers: Iterable[Paper]) -> list[Paper]:
    return list({paper.id: paper for paper in papers}.values())


@settings(max_examples=60, deadline=None)
@given(
    PAPERS, st.lists(st.integers(0, 8).map(str), max_size=5), st.sampled_from([None, VOCABULARY])
)
def test_an_index_grown_and_shrunk_equals_one_built_at_once(
    papers: list[Paper], gone: list[str], vocabulary: Vocabulary | None
) -> None:
    grown = ConceptIndex(vocabulary)
    for paper in papers:
        grown.add([paper])
    for one in gone:
        grown.remove(one)
    left = [paper for paper in latest(papers) if paper.id not in gone]
    assert grown.holdings() == ConceptIndex.build(left, vocabulary).holdings()


def test_a_short_form_that_its_only_paper_defines_is_not_held_apart_from_its_meaning() -> None:
    text = "We measured the slow calcium channel current (SCC)."
    grown = ConceptIndex()
    grown.add([Paper("0", "", text), Paper("1", "", text)])
    grown.remove("0")
    once = ConceptIndex.build([Paper("1", "", text)])
    assert grown.holdings() == once.holdings()
    assert "scc" not in once.holdings()


@dataclass(frozen=True)
class Kept:
    """Rows as a store would keep them."""

    concepts: tuple[ConceptRow, ...]
    kept_words: tuple[str, ...]
    documents: tuple[DocumentRow, ...]

    def concept_rows(self) -> Iterable[ConceptRow]:
        return self.concepts

    def words(self) -> Iterable[str]:
        return self.kept_words

    def document_rows(self) -> Iterable[DocumentRow]:
        return self.documents


@settings(max_examples=40, deadline=None)
@given(PAPERS, PAPERS)
def test_rows_bring_the_same_index_back_and_it_goes_on_growing(
    papers: list[Paper], more: list[Paper]
) -> None:
    index = ConceptIndex.build(latest(papers))
    again = ConceptIndex.from_rows(
        Kept(tuple(index.concept_rows()), tuple(index.words()), tuple(index.document_rows()))
    )
    assert again.holdings() == index.holdings()
    index.add(more)
    again.add(more)
    assert again.holdings() == index.holdings()


def test_chunks_may_be_read_apart_and_merged_in_any_order() -> None:
    papers = small_papers()
    chunks = [read_chunk(papers[start : start + 13]) for start in range(0, len(papers), 13)]
    Random(3).shuffle(chunks)
    merged = ConceptIndex()
    for chunk in chunks:
        merged.merge(chunk)
    assert merged.holdings() == ConceptIndex.build(papers).holdings()


def test_adding_a_paper_again_replaces_it() -> None:
    index = ConceptIndex.build(
        [
            Paper("1", "On lipid droplets", keywords=("lipid droplet",)),
            Paper("2", "On lipid droplets"),
        ]
    )
    index.add([Paper("1", "On bird song")])
    number = index.number("lipid droplet")
    assert number is not None
    assert [index.id_of(document) for document in index.documents(number)] == ["2"]
    assert index.named_in(number) == 0


def test_keywords_stand_higher_than_phrases_and_terms_highest() -> None:
    papers = [
        Paper(str(one), "Calcium channels and odd findings in cell walls", keywords=("Cell walls",))
        for one in range(2)
    ]
    index = ConceptIndex.build(papers, VOCABULARY)
    standings = {
        key: index.standing(number)
        for key in ("calcium channel", "cell wall")
        if (number := index.number(key)) is not None
    }
    assert standings == {"calcium channel": Standing.TERM, "cell wall": Standing.NAMED}


def test_two_processes_build_the_same_index() -> None:
    papers = small_papers()
    with ProcessPoolExecutor(2, mp_context=get_context("spawn")) as executor:
        index = ConceptIndex.build(papers, VOCABULARY, executor.map)
    assert index.holdings() == ConceptIndex.build(papers, VOCABULARY).holdings()

"""Ranking of papers and passages over the search index."""

from __future__ import annotations

import random
from collections.abc import Sequence
from pathlib import Path

import pytest

from carrel.libraries.query.papers import PaperIdentifier, parse_paper_query
from carrel.libraries.text.abbreviations import AbbreviationTable
from carrel.stores.search.engine import MatchCount
from carrel.stores.search.parts import PartWriter
from carrel.stores.search.ranking import PaperRanking, RankedPassage
from carrel.stores.search.schema import IndexedDocument
from carrel.stores.search.views import View, open_view
from carrel.stores.search.vocabulary import Vocabulary

PAPERS = {
    1: ("Sleep and memory", "Sleep strengthens memories of rats.", 2019, "Ann Lee", ()),
    2: (
        "Methods of imaging",
        "We image neurons of mice.",
        2020,
        "Bo Kim",
        (
            "The microscope was calibrated with fluorescent beads before each session.",
            "Memory was not tested. Interleukin 6 was measured by assay.",
        ),
    ),
    3: ("Memory in mice", "Mice remember mazes for weeks.", 2021, "Ann Kim", ()),
    4: (
        "The role of the gene in the plant",
        "Genes of plants, pre-trained by tumours.",
        2022,
        "Cy Roe",
        ("Beads of glass are no microscope.", "知識管理の方法を述べる。"),
    ),
    5: ("On the role of genes in plants of the desert", "Cacti.", 0, "Cy Roe", ()),
    6: ("知識", "知識管理", 2001, "王 伟", ()),
}
IDENTIFIERS = {"10.1000/one": 1, "10.1000/gone": 99}


def rows_of(identifiers: Sequence[PaperIdentifier]) -> list[int]:
    return [IDENTIFIERS[each.value] for each in identifiers if each.value in IDENTIFIERS]


@pytest.fixture(scope="module")
def views(tmp_path_factory: pytest.TempPathFactory) -> tuple[View, View]:
    home = tmp_path_factory.mktemp("corpus")
    with PartWriter(home / "papers") as papers, PartWriter(home / "passages") as passages:
        for row, (title, abstract, year, author, texts) in PAPERS.items():
            papers.add(
                IndexedDocument(
                    row=row,
                    title=title,
                    text=abstract,
                    body="\n".join(texts),
                    year=year,
                    facets={"author": [author], "keyword": ["brain"] if row < 4 else []},
                )
            )
            for number, text in enumerate(texts or [abstract], 1):
                passages.add(IndexedDocument(row, text, title, title_times=1, number=number))
    return (
        open_view([home / "papers"], home / "views"),
        open_view([home / "passages"], home / "views"),
    )


@pytest.fixture
def ranking(views: tuple[View, View]) -> PaperRanking:
    return PaperRanking(*views, rows_of_identifiers=rows_of)


def found_rows(ranking: PaperRanking, query: str, count: int = 10) -> list[int]:
    return [paper.row for paper in ranking.search(parse_paper_query(query), 0, count)]


def test_a_sentence_of_the_full_text_finds_its_paper_and_passage(ranking: PaperRanking) -> None:
    query = parse_paper_query("The microscope was calibrated with fluorescent beads")
    best = ranking.search(query, 0, 10)[0]
    assert (best.row, best.passage) == (2, 1)


def test_a_topical_word_finds_the_paper_about_it_before_the_one_that_mentions_it(
    ranking: PaperRanking,
) -> None:
    assert found_rows(ranking, "memory")[-1] == 2
    assert set(found_rows(ranking, "memory")) == {1, 2, 3}


@pytest.mark.parametrize(
    ("query", "rows"),
    [
        ("memory author:Lee", {1}),
        ("author:kim", {2, 3}),
        ('author:"ann kim"', {3}),
        ("year:2019..2020", {1, 2}),
        ("memory year:..2019", {1}),
        ("keyword:brain NOT year:2021", {1, 2}),
        ("mice AND NOT calibrated", {3}),
        ("mice AND calibrated", {2}),
        ("mice OR cacti", {2, 3, 5}),
        ('"role of the gene"', {4}),
        ('"role of the"', {4}),
        ('"of the"', {4, 5}),
        ('"fluorescent beads"', {2}),
        ('"beads fluorescent"', set()),
        ("fluoresc*", {2}),
        ("title:memory", {1, 3}),
        ("title:mem*", {1, 3}),
        ("pretrained", {4}),
        ("tumor", {4}),
        ("識", {4, 6}),
        ("知識", {4, 6}),
        ("author:王", {6}),
        ("doi:10.1000/one", {1}),
        ("doi:10.1000/none", set()),
        ("qwertz", set()),
        ("year:1900", set()),
    ],
)
def test_filters_phrases_and_beginnings(ranking: PaperRanking, query: str, rows: set[int]) -> None:
    assert set(found_rows(ranking, query)) == rows


def test_identifiers_and_titles_come_first(ranking: PaperRanking) -> None:
    assert found_rows(ranking, "10.1000/one") == [1]
    assert found_rows(ranking, "memory in mice")[0] == 3
    assert found_rows(ranking, "the role of the gene in")[0] == 4


def test_filters_alone_list_the_newest_first(ranking: PaperRanking) -> None:
    assert found_rows(ranking, "year:2019..2022") == [4, 3, 2, 1]


def test_pages_continue_each_other(ranking: PaperRanking) -> None:
    query = parse_paper_query("memory mice role beads")
    whole = ranking.search(query, 0, 10)
    pages = [paper for first in range(6) for paper in ranking.search(query, first, 1)]
    assert pages == whole
    assert len({paper.row for paper in whole}) == len(whole) == 5


def test_deleted_rows_are_left_out_of_every_page(views: tuple[View, View]) -> None:
    ranking = PaperRanking(*views, deleted={1, 3}, rows_of_identifiers=rows_of)
    assert found_rows(ranking, "memory") == [2]
    assert found_rows(ranking, "10.1000/one") == []
    assert found_rows(ranking, "memory in mice")[0] != 3
    assert found_rows(ranking, "year:2019..2022") == [4, 2]


def test_passages_are_found_within_papers_and_with_filters(ranking: PaperRanking) -> None:
    passages = ranking.passages

    def found(query: str, within: list[int] | None = None) -> list[tuple[int, int]]:
        hits: list[RankedPassage] = passages.search(parse_paper_query(query), within, 0, 10)
        return [(hit.row, hit.number) for hit in hits]

    assert set(found("microscope beads")) == {(2, 1), (4, 1)}
    assert found("microscope beads", [4])[0] == (4, 1)
    assert found("microscope beads author:roe") == [(4, 1)]
    assert found("microscope", [1]) == []
    assert found("interleukin assay")[0] == (2, 2)
    assert passages.count(parse_paper_query("microscope")) == MatchCount(2)


def test_totals_are_told(ranking: PaperRanking) -> None:
    assert ranking.count(parse_paper_query("memory")) == MatchCount(3)
    assert ranking.count(parse_paper_query("year:2019..2020")) == MatchCount(2)
    assert ranking.count(parse_paper_query("qwertz")) == MatchCount(0)


def test_an_abbreviation_finds_its_long_form(views: tuple[View, View]) -> None:
    table = AbbreviationTable([("ILX", "interleukin", 5)])
    assert found_rows(PaperRanking(*views), "ILX") == []
    assert found_rows(PaperRanking(*views, abbreviations=table), "ILX") == [2]


def test_unmatched_words_and_suggestions(views: tuple[View, View]) -> None:
    words = Vocabulary(views[0])
    assert words.unmatched_words("microscope qwertz 知識 pre-trained") == ["qwertz"]
    assert words.suggest("microscpoe") == ["microscope"]
    assert words.suggest("xyz") == []


@pytest.mark.parametrize(
    "query",
    ["", "*", '""', "AND", "NOT", "the", "((((", "a" * 5000, "x " * 3000, "year:", "\x00 *a"],
)
def test_odd_input_is_answered(ranking: PaperRanking, query: str) -> None:
    assert isinstance(found_rows(ranking, query), list)
    assert isinstance(ranking.passages.search(parse_paper_query(query), None, 0, 5), list)
    assert ranking.count(parse_paper_query(query)).count >= 0


_WORDS = "grain riots grain-riots il 6 il6 IL-6 IL hsp90 HSP-90 modelling models author palermo"
_OTHER_WORDS = (
    "the of pre-trained pre trained 2.5 TNF-α alpha 長安城 长安 安城 城 人口 長 knowledge"
)
_VOCABULARY = (*_WORDS.split(), *_OTHER_WORDS.split())
_QUERIES = (
    *(
        "grain-riots",
        "IL-6",
        "hsp90",
        "Author:FERRANTE",
        "foo:bar palermo",
        "長安城",
        "长安城有多少人口",
    ),
    *(
        "the",
        "of the",
        "model*",
        "grain rio*",
        "grain OR riots",
        "palermo year:2001",
        "城",
        "TNF-α",
    ),
    *(
        "author:lee",
        "grain NOT riots",
        "IL-6 author:kim",
        "pre-trained models",
        "2.5 grain",
        "长安",
    ),
    *("tag:history", '"grain riots"', "il6 year:2000..2001", "h*", "title:grain", "interleukin"),
)


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("has_texts", [True, False])
def test_a_count_is_the_number_of_hits_on_all_pages(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, seed: int, has_texts: bool
) -> None:
    # Small numbers of candidates, so that a small corpus has papers past them.
    monkeypatch.setattr("carrel.stores.search.ranking.CANDIDATES", 4)
    monkeypatch.setattr("carrel.stores.search.ranking.FILTERED_CANDIDATES", 5)
    monkeypatch.setattr("carrel.stores.search.ranking.CLOSER", 2)
    monkeypatch.setattr("carrel.stores.search.compiler.MAX_PREFIX_WORDS", 2)
    chance = random.Random(seed)

    def some_words(most: int) -> str:
        return " ".join(chance.choices(_VOCABULARY, k=chance.randint(1, most)))

    titles = []
    with PartWriter(tmp_path / "papers") as papers, PartWriter(tmp_path / "passages") as passages:
        for row in range(1, 25):
            title, text = some_words(3), some_words(4)
            texts = [some_words(5) for _ in range(chance.randint(0, 3) if has_texts else 0)]
            titles.append(title)
            facets = {"author": [chance.choice(["Ann Lee", "Bo Kim"])], "tag": ["history"]}
            papers.add(IndexedDocument(row, text, title, texts, year=1999 + row % 4, facets=facets))
            for number, each in enumerate(texts or [text], 1):
                passages.add(IndexedDocument(row, each, title, title_times=1, number=number))
    ranking = PaperRanking(
        open_view([tmp_path / "papers"], tmp_path / "views"),
        open_view([tmp_path / "passages"], tmp_path / "views"),
    )
    asked = [some_words(3) for _ in range(20)]
    for typed in (*_QUERIES, *titles, *asked, *(f"{each} year:2001" for each in asked)):
        query = parse_paper_query(typed)
        gathered: list[int] = []
        while page := ranking.search(query, len(gathered), 3):
            gathered += [paper.row for paper in page]
        assert len(set(gathered)) == len(gathered), typed
        assert ranking.count(query) == MatchCount(len(gathered)), typed

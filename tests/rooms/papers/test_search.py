"""Finding papers, in snapshots of both generations."""

from __future__ import annotations

import pytest
from pydantic import ValidationError

from carrel.core.errors import InvalidInputError
from tests.rooms.papers.conftest import LIDAR, RESIDUAL, TRANSFORMER, UNDATED
from tests.rooms.papers.desk import Desk
from tests.rooms.papers.snapshots import Generation


@pytest.mark.promise("P8")
@pytest.mark.parametrize(
    "arguments",
    [
        {"query": "x" * 501},
        {"query": "x", "limit": 101},
        {"query": "x", "page_size": 101},
        {"query": "x", "limit": 0},
        {"query": "x", "page": 0},
        {"query": "x", "limit": 5, "page_size": 5},
    ],
)
def test_a_question_beyond_the_limits_is_refused(desk: Desk, arguments: dict[str, object]) -> None:
    with pytest.raises(ValidationError):
        desk.ask("search_papers", **arguments)


@pytest.mark.promise("P8")
@pytest.mark.parametrize("name", ["search_papers", "search_papers_by_keyword"])
def test_nothing_past_item_ten_thousand_is_listed_and_the_limit_is_named(
    desk: Desk, name: str
) -> None:
    text = {"query": "transformer"} if name == "search_papers" else {"keyword": "transformer"}
    assert desk.ask(name, **text, page=100, limit=100) == []
    with pytest.raises(InvalidInputError, match="10000") as refused:
        desk.ask(name, **text, page=101, limit=100)
    assert refused.value.code == "invalid_input"
    assert refused.value.details["max_items"] == 10_000


@pytest.mark.promise("P1")
def test_a_hit_has_every_field_and_marks_the_match(desk: Desk, generation: Generation) -> None:
    (hit, *_) = desk.ask("search_papers", query="residual networks")
    assert hit.model_dump(exclude={"total"}) == {
        "paper_id": RESIDUAL.paper_id,
        "title": "Deep Residual Learning",
        "year": "2016",
        "venue": "CVPR",
        "snippet_markdown": "**Residual networks** ease the training of deep image models.",
        "authors": ("Kaiming He",),
        "doi": "10.1109/cvpr.2016.90" if generation == "newer" else None,
    }


@pytest.mark.promise("P1")
def test_a_match_in_the_title_counts_more_than_one_in_the_text(desk: Desk) -> None:
    assert desk.search("attention")[0] == TRANSFORMER.title
    assert desk.search("deep")[0] == RESIDUAL.title


@pytest.mark.promise("P1")
def test_papers_with_all_words_come_before_papers_with_some(desk: Desk) -> None:
    assert desk.search("residual transformer attention")[0] in {TRANSFORMER.title, RESIDUAL.title}
    assert set(desk.search("residual transformer genes")) == {
        TRANSFORMER.title,
        RESIDUAL.title,
        UNDATED.title,
    }


@pytest.mark.promise("P1")
def test_pages_show_every_paper_once(desk: Desk) -> None:
    whole = desk.search("transformer residual deep")
    pages = [
        title
        for page in (1, 2, 3, 4)
        for title in desk.search("transformer residual deep", page=page, page_size=1)
    ]
    assert pages == whole
    assert len(set(whole)) == len(whole) == 3


@pytest.mark.promise("P10")
@pytest.mark.parametrize(
    ("typed", "found"),
    [
        ("10.1109/CVPR.2016.90", RESIDUAL),
        ("https://doi.org/10.1109/cvpr.2016.90", RESIDUAL),
        ("doi:10.1109/cvpr.2016.90.", RESIDUAL),
        ("arXiv:1706.03762v5", TRANSFORMER),
        ("https://arxiv.org/pdf/1706.03762", TRANSFORMER),
        ("10.48550/arXiv.1706.03762", TRANSFORMER),
        (TRANSFORMER.paper_id, TRANSFORMER),
        ("attention is all you need", TRANSFORMER),
        ("Deep residual learning.", RESIDUAL),
        (LIDAR.title, LIDAR),
        ("muller", UNDATED),
        ("MÜLLER", UNDATED),
        ("нейронные", UNDATED),
        ("ελληνικά", UNDATED),
        ("激光雷达", LIDAR),
        ("学习 定位", LIDAR),
    ],
)
def test_what_is_pasted_finds_its_paper_first(desk: Desk, typed: str, found: object) -> None:
    assert desk.search(typed)[0] == getattr(found, "title", None)


@pytest.mark.promise("P10")
@pytest.mark.parametrize(
    ("typed", "found"),
    [
        ("author:muller", {TRANSFORMER, UNDATED}),
        ('author:"jörg müller"', {UNDATED}),
        ("author:王伟", {LIDAR}),
        ("venue:cvpr", {RESIDUAL}),
        ("tag:survey", {TRANSFORMER}),
        ("keyword:transformer", {TRANSFORMER, RESIDUAL, UNDATED}),
        ("keyword:residu*", {RESIDUAL}),
        ("institution:google", {TRANSFORMER}),
        ("year:2016..2017", {TRANSFORMER, RESIDUAL}),
        ("year:2017", {TRANSFORMER}),
        ("year:2017..", {TRANSFORMER, LIDAR}),
        ("year:..2016", {RESIDUAL}),
        ("transformer year:2017", {TRANSFORMER}),
        ("doi:10.1109/cvpr.2016.90", {RESIDUAL}),
        ("title:attention", {TRANSFORMER}),
        ("transformer AND residual", {RESIDUAL}),
        ("transformer NOT author:muller", {RESIDUAL}),
        ("genes OR residual", {RESIDUAL, UNDATED}),
        ("author:he OR genes", {RESIDUAL, UNDATED}),
        ("(genes OR residual) AND year:2016", {RESIDUAL}),
        ("NOT transformer", {LIDAR}),
        ("NOT author:muller", {RESIDUAL, LIDAR}),
        ('"residual networks"', {RESIDUAL}),
        ('"networks residual"', set()),
        ("resid*", {RESIDUAL}),
    ],
)
def test_fields_and_operators_decide(desk: Desk, typed: str, found: set[object]) -> None:
    assert set(desk.search(typed)) == {getattr(paper, "title", None) for paper in found}


@pytest.mark.promise("P10")
@pytest.mark.parametrize(
    "typed",
    [
        "and",
        "a AND",
        '"',
        "-",
        ":",
        "NOT",
        "(",
        ")",
        "author:",
        "*",
        "AND OR NOT",
        "''",
        "year:x",
        "",
        "   ",
    ],
)
def test_nothing_that_is_typed_fails(desk: Desk, typed: str) -> None:
    assert isinstance(desk.search(typed), list)


@pytest.mark.promise("P10")
def test_chinese_snippets_have_no_stray_spaces(desk: Desk) -> None:
    (hit,) = desk.ask("search_papers", query="学习方法")
    assert hit.snippet_markdown == "深度**学习方法**用于定位。"


@pytest.mark.promise("P1")
def test_papers_without_a_year_come_last_where_nothing_ranks(desk: Desk) -> None:
    assert desk.search("keyword:transformer") == [TRANSFORMER.title, RESIDUAL.title, UNDATED.title]


@pytest.mark.promise("P1")
def test_a_keyword_finds_exact_values_first_then_values_that_contain_it(desk: Desk) -> None:
    hits = desk.ask("search_papers_by_keyword", keyword="  TRANSFORMER ")
    assert [hit.title for hit in hits] == [TRANSFORMER.title, UNDATED.title, RESIDUAL.title]
    assert hits[0].snippet_markdown.startswith("**transformer**")
    assert hits[2].snippet_markdown.startswith("**transformer** variants")


@pytest.mark.promise("P1")
def test_a_keyword_finds_tags_and_never_parts_of_words(desk: Desk) -> None:
    assert [hit.title for hit in desk.ask("search_papers_by_keyword", keyword="survey")] == [
        TRANSFORMER.title
    ]
    assert desk.ask("search_papers_by_keyword", keyword="transform") == []
    assert desk.ask("search_papers_by_keyword", keyword="-") == []


@pytest.mark.promise("P4")
def test_facets_are_counted_most_papers_first(desk: Desk) -> None:
    keywords = desk.ask("list_top_facets", category="keyword", limit=2)
    assert [(facet.value, facet.paper_count) for facet in keywords] == [
        ("transformer", 2),
        ("attention mechanism", 1),
    ]
    assert {facet.value for facet in desk.ask("list_top_facets", category="tag")} == {
        "survey",
        "method",
    }
    years = [
        (facet.value, facet.paper_count) for facet in desk.ask("list_top_facets", category="year")
    ]
    assert dict(years) == {
        each.year: each.paper_count
        for each in desk.ask("get_corpus_statistics").years
        if each.year.isdigit()
    }
    assert years == sorted(years, key=lambda each: (-each[1], -int(each[0])))
    assert len(desk.ask("list_top_facets", category="year", limit=1)) == min(1, len(years))
    with pytest.raises(ValidationError):
        desk.ask("list_top_facets", category="colour")


@pytest.mark.promise("P10")
@pytest.mark.parametrize(
    ("typed", "title"),
    [
        ("10.48550/arXiv.1706.03762", "Attention Is All You Need"),
        ("1706.03762", "Attention Is All You Need"),
        ("激光雷达", "深度学习在激光雷达定位中的应用"),
        ("author:zhang", "Deep Residual Learning for Image Recognition"),
        (
            'Table Heavy: A/B Results & "Quotes" <Tags>',
            'Table Heavy: A/B Results & "Quotes" <Tags>',
        ),
    ],
)
def test_the_genuine_snapshot_is_searched(demo: Desk, typed: str, title: str) -> None:
    assert demo.search(typed)[0] == title


@pytest.mark.promise("P1")
@pytest.mark.parametrize(
    "query", ["transformer", "residual networks", "year:2016", "author:müller"]
)
def test_every_hit_says_how_many_papers_match_in_all(desk: Desk, query: str) -> None:
    everything = desk.ask("search_papers", query=query, limit=100)
    totals = {hit.total for hit in desk.ask("search_papers", query=query, limit=1)}
    assert totals <= {len(everything), None}


@pytest.mark.promise("P10")
@pytest.mark.parametrize(
    "query", ["author:He", "AUTHOR:HE", 'Author:"Kaiming He"', 'author:"He, Kaiming"']
)
def test_an_author_is_found_in_any_case_and_order(desk: Desk, query: str) -> None:
    assert desk.search(query) == [RESIDUAL.title]


@pytest.mark.promise("P10")
def test_years_before_and_after_are_filters(desk: Desk) -> None:
    assert RESIDUAL.title in desk.search("residual year:>2015")
    assert RESIDUAL.title in desk.search("residual year:<=2016")
    assert desk.search("year:>2015 residual year:<2016") == []


@pytest.mark.promise("P10")
def test_a_year_that_is_none_is_told_beside_the_answer(desk: Desk) -> None:
    found = desk.ask_whole("search_papers", query="residual year:soon")
    assert [hit.title for hit in found.result] == desk.search("residual")
    assert "year:soon was not understood" in found.explanation.message
    empty = desk.ask_whole("search_papers", query="year:soon")
    assert empty.result == []
    assert "year:soon was not understood" in empty.explanation.message

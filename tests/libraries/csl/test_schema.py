"""CSL-JSON's rules: what is allowed passes, what is not is named by its field."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from carrel.libraries.csl.schema import ITEM_TYPES, check_calendar, check_item, describe

ALLOWED: list[dict[str, object]] = [
    {
        "type": "article-journal",
        "title": "T",
        "volume": 12,
        "issue": "3",
        "page": "1-9",
        "edition": 2,
    },
    {
        "author": [
            {"family": "Curie", "given": "Marie"},
            {"literal": "WHO"},
            {"family": "King", "suffix": "Jr.", "comma-suffix": True},
        ]
    },
    {"issued": {"date-parts": [[2020]]}, "accessed": {"date-parts": [["2020", "5", 17]]}},
    {"issued": {"date-parts": [[2019, 12], [2020, 1]], "circa": True}},
    {
        "issued": {"raw": "May 2020"},
        "original-date": {"literal": "in press"},
        "submitted": {"season": 1, "date-parts": [[2020]]},
    },
    {"issued": {"date-parts": [[-44, 3, 15]]}},
    {"categories": ["a"], "custom": {"anything": [1, None, {"deep": True}]}},
    {"author": []},
    {"id": 5, "part": 1.5, "title": ""},
    {"author": [{"given": "Plato", "static-ordering": 1, "parse-names": "false"}]},
    {"issued": {"date-parts": [[2020, 1, 1], [2020, 12, 31]], "season": 1}},
    {"issued": {"date-parts": [[2020, 24]]}},
    {"issued": {"date-parts": [[2020.0, " 5 ", "17"]]}},
    {"issued": {"edtf": "2020?"}, "accessed": {"season": "Trinity"}},
    {"issued": {"date-parts": [["-44"]], "circa": "yes"}},
    {"issued": {"date-parts": [["1" * 60]], "circa": 1}},
]
REFUSED: list[tuple[dict[str, object], str]] = [
    ({"type": "journal"}, "type"),
    ({"type": 5}, "type"),
    ({"type": ""}, "type"),
    ({"author": "not a list"}, "author"),
    ({"author": {"family": "Curie"}}, "author"),
    ({"editor": ["Curie"]}, "editor[0]"),
    ({"author": [{"family": "Curie"}, {}]}, "author[1]"),
    ({"author": [{"family": ["Curie"], "given": "Marie"}]}, "author[0].family"),
    ({"author": [{"familly": "Curie", "given": "Marie"}]}, "author[0].familly"),
    ({"issued": 2020}, "issued"),
    ({"issued": []}, "issued"),
    ({"issued": {}}, "issued"),
    ({"issued": {"year": 2020, "raw": "2020"}}, "issued.year"),
    ({"issued": {"date-parts": [2020]}}, "issued.date-parts[0]"),
    ({"issued": {"date-parts": [[2020], [2021], [2022]]}}, "issued.date-parts"),
    ({"issued": {"date-parts": [[]], "raw": "x"}}, "issued.date-parts[0]"),
    ({"issued": {"date-parts": [["next year"]]}}, "issued.date-parts[0]"),
    ({"issued": {"date-parts": [[2020, 31]]}}, "issued.date-parts[0][1]"),
    ({"issued": {"date-parts": [[2020, 5, 99]]}}, "issued.date-parts[0][2]"),
    ({"issued": {"date-parts": [[True]]}}, "issued.date-parts[0]"),
    ({"title": 5}, "title"),
    ({"title": ["T"]}, "title"),
    ({"DOI": {"value": "10.1/x"}}, "DOI"),
    ({"volume": True}, "volume"),
    ({"volume": [1]}, "volume"),
    ({"volume": float("nan")}, "volume"),
    ({"titel": "T"}, "titel"),
    ({"categories": "a"}, "categories"),
    ({"custom": "a"}, "custom"),
    ({"categories": ["a", 5]}, "categories"),
    ({"custom": ["a"]}, "custom"),
    ({"id": [5]}, "id"),
    ({"volume": None}, "volume"),
    ({"volume": float("inf")}, "volume"),
    ({"author": [{"family": " ", "suffix": "Jr."}]}, "author[0]"),
    ({"author": [{"family": "A", "suffix": 5}]}, "author[0].suffix"),
    ({"author": [{"family": "A", "comma-suffix": []}]}, "author[0].comma-suffix"),
    ({"author": [{"family": "A", "comma-suffix": float("nan")}]}, "author[0].comma-suffix"),
    ({"issued": {"date-parts": [], "raw": "x"}}, "issued.date-parts"),
    ({"issued": {"date-parts": "2020"}}, "issued.date-parts"),
    ({"issued": {"date-parts": [[2020, 5, 1, 1]]}}, "issued.date-parts[0]"),
    ({"issued": {"date-parts": [[2020], "2021"]}}, "issued.date-parts[1]"),
    ({"issued": {"date-parts": [[2020], [2020, 0]]}}, "issued.date-parts[1][1]"),
    ({"issued": {"date-parts": [[2020, 25]]}}, "issued.date-parts[0][1]"),
    ({"issued": {"date-parts": [[2020, 5, 0]]}}, "issued.date-parts[0][2]"),
    ({"issued": {"date-parts": [[2020, 5, 32]]}}, "issued.date-parts[0][2]"),
    ({"issued": {"date-parts": [[2020.5]]}}, "issued.date-parts[0]"),
    ({"issued": {"date-parts": [["1" * 61]]}}, "issued.date-parts[0]"),
    ({"issued": {"date-parts": [[None]]}}, "issued.date-parts[0]"),
    ({"issued": {"raw": "2020", "season": [1]}}, "issued.season"),
    ({"issued": {"raw": "2020", "circa": []}}, "issued.circa"),
    ({"issued": {"raw": 2020}}, "issued.raw"),
    ({"issued": {"literal": ["x"]}}, "issued.literal"),
    ({"issued": {"circa": True}}, "issued"),
]
CALENDAR: list[tuple[dict[str, object], list[str]]] = [
    ({"date-parts": [[2020, 2, 29]]}, []),
    ({"date-parts": [[2000, 2, 29]]}, []),
    ({"date-parts": [[-4, 2, 29]]}, []),
    ({"date-parts": [[2021, 2, 29]]}, ["issued.date-parts[0][2]"]),
    ({"date-parts": [[1900, 2, 29]]}, ["issued.date-parts[0][2]"]),
    ({"date-parts": [[2020, 4, 30], ["2020", "4", "31"]]}, ["issued.date-parts[1][2]"]),
    ({"date-parts": [[2020, 12, 31]]}, []),
    ({"date-parts": [[2020, 13]]}, ["issued.date-parts[0][1]"]),
    ({"date-parts": [[2020, 20]]}, ["issued.date-parts[0][1]"]),
    ({"date-parts": [[2020, 21]]}, []),
    ({"date-parts": [[2020, 24]]}, []),
    ({"date-parts": [[2020, 21, 5]]}, ["issued.date-parts[0][2]"]),
    ({"date-parts": [[2020]], "season": 1}, []),
    ({"season": "4"}, []),
    ({"raw": "2020", "season": 0}, ["issued.season"]),
    ({"season": 5}, ["issued.season"]),
    ({"season": "Trinity"}, []),
    ({"raw": "31 February 2020"}, []),
]


@pytest.mark.parametrize("item", ALLOWED)
def test_what_the_schema_allows_passes(item: dict[str, object]) -> None:
    assert check_item(item) == []


@pytest.mark.parametrize(("item", "field"), REFUSED)
def test_what_the_schema_does_not_allow_is_named(item: dict[str, object], field: str) -> None:
    problems = check_item(item)
    assert field == problems[0].field
    assert len(problems) == 1
    assert all(problem.expected and problem.found for problem in problems)


@pytest.mark.parametrize(("date", "fields"), CALENDAR)
def test_a_day_that_no_calendar_has_is_named(date: dict[str, object], fields: list[str]) -> None:
    assert check_item({"issued": date}) == []
    assert [problem.field for problem in check_calendar({"issued": date})] == fields


def test_the_calendar_is_asked_for_dates_alone() -> None:
    assert check_calendar({"issued": "2020", "title": {"season": 9}, "volume": 9}) == []
    both = check_calendar({"submitted": {"season": 9}, "accessed": {"season": 9}})
    assert [problem.sentence() for problem in both] == [
        "accessed.season must be a season, 1 to 4, and is the number 9",
        "submitted.season must be a season, 1 to 4, and is the number 9",
    ]


@pytest.mark.parametrize(
    ("value", "words"),
    [
        (None, "null"), (True, "true"), (5, "the number 5"), (1.5, "the number 1.5"),
        ("x", "the text 'x'"), ("", "an empty text"), ([], "an empty list"), ([1], "a list"),
        ((), "an empty list"), ({}, "an object"), ("x" * 99, f"the text '{'x' * 60}'"),
    ],
)  # fmt: skip
def test_a_value_is_described_by_its_kind_and_its_beginning(value: object, words: str) -> None:
    assert describe(value) == words


def test_the_problem_says_what_should_be_there() -> None:
    expected = {
        "type": ("x", "one of CSL's types"),
        "categories": ("x", "a list of texts"),
        "custom": ("x", "an object"),
        "volume": ([], "a text or a number"),
        "id": ([], "a text or a number"),
        "title": (5, "a text"),
        "qqqqqq": (5, "a CSL variable"),
    }
    for name, (value, words) in expected.items():
        assert check_item({name: value})[0].expected == words


def test_a_type_that_is_nearly_right_is_answered_with_the_right_one() -> None:
    assert (
        "article-journal"
        in check_item({"type": "journal-article"})[0].expected
        + check_item({"type": "article_journal"})[0].expected
    )
    assert "title" in check_item({"titel": "T"})[0].expected


json_values = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(), st.floats(), st.text(max_size=20)),
    lambda inner: st.one_of(
        st.lists(inner, max_size=3), st.dictionaries(st.text(max_size=10), inner, max_size=3)
    ),
    max_leaves=8,
)


@given(
    st.dictionaries(
        st.sampled_from(
            ["type", "author", "issued", "title", "volume", "custom", "categories", "x"]
        ),
        json_values,
    )
)
def test_no_value_whatever_breaks_the_check(item: dict[str, object]) -> None:
    for problem in check_item(item):
        assert problem.field.split("[")[0].split(".")[0] in item
        assert problem.sentence()


def test_every_type_of_csl_is_known() -> None:
    assert len(ITEM_TYPES) == 45

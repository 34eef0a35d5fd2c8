"""CSL-JSON's rules: what is allowed passes, what is not is named by its field."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from carrel.libraries.csl.schema import ITEM_TYPES, check_item

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
]
REFUSED: list[tuple[dict[str, object], str]] = [
    ({"type": "journal"}, "type"),
    ({"type": 5}, "type"),
    ({"type": ""}, "type"),
    ({"author": "not a list"}, "author"),
    ({"author": {"family": "Curie"}}, "author"),
    ({"editor": ["Curie"]}, "editor[0]"),
    ({"author": [{"family": "Curie"}, {}]}, "author[1]"),
    ({"author": [{"family": ["Curie"]}]}, "author[0].family"),
    ({"author": [{"familly": "Curie", "given": "Marie"}]}, "author[0].familly"),
    ({"issued": 2020}, "issued"),
    ({"issued": []}, "issued"),
    ({"issued": {}}, "issued"),
    ({"issued": {"year": 2020, "raw": "2020"}}, "issued.year"),
    ({"issued": {"date-parts": [2020, 5]}}, "issued.date-parts[0]"),
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
]


@pytest.mark.parametrize("item", ALLOWED)
def test_what_the_schema_allows_passes(item: dict[str, object]) -> None:
    assert check_item(item) == []


@pytest.mark.parametrize(("item", "field"), REFUSED)
def test_what_the_schema_does_not_allow_is_named(item: dict[str, object], field: str) -> None:
    problems = check_item(item)
    assert field in [problem.field for problem in problems]
    assert all(problem.expected and problem.found for problem in problems)


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

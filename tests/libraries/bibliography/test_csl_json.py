"""CSL-JSON as others write it."""

# Samples keep the lines that programs write.

import json

import pytest

from carrel.libraries.bibliography.csl_json import read_csl_json, write_csl_json


def test_a_list_one_item_and_wrapped_lists() -> None:
    item = '{"id": "a", "type": "book", "title": "T", "custom": {"x": [1, null]}}'
    for text in (
        item,
        f"[{item}]",
        f'{{"items": [{item}]}}',
        f'{{"references": [{item}], "other": 1}}',
    ):
        answer = read_csl_json(text)
        assert [imported.item for imported in answer.items] == [
            {"id": "a", "type": "book", "title": "T", "custom": {"x": [1, None]}}
        ]


def test_items_of_a_list_have_their_lines() -> None:
    answer = read_csl_json(
        '[\n  {"id": "a", "type": "book", "title": "{[\\"x"},\n\n  7,\n  {"id": "b", "type": '
        '"book", "n": {"deep": {}}}\n]'
    )
    assert [imported.line for imported in answer.items] == [2, 5]
    assert len(answer.failures) == 1


def test_what_the_world_writes_is_made_csl() -> None:
    item = (
        read_csl_json(
            '{"id": 7, "type": "journal-article", "title": ["T"], "ISSN": ["1", "2"], "keyword": '
            '["a", "b"], "issued": {"date-parts": [["1999", "2", null]]}, '
            '"accessed": "2020-01-02", "author": [{"name": "Group"}, "Plain", {"family": "F"}], '
            '"short-container-title": ["J"], "original-date": {"date-parts": [1990]}}'
        )
        .items[0]
        .item
    )
    assert item == {
        "id": "7", "type": "article-journal", "title": "T", "ISSN": "1, 2", "keyword": "a; b",
        "issued": {"date-parts": [[1999, 2]]}, "accessed": {"date-parts": [[2020, 1, 2]]},
        "author": [{"literal": "Group"}, {"literal": "Plain"}, {"family": "F"}],
        "container-title-short": "J", "original-date": {"date-parts": [[1990]]},
    }  # fmt: skip


def test_an_item_without_a_type_is_taken_and_said() -> None:
    answer = read_csl_json('[{"title": "T"}, {}]')
    assert answer.items[0].item == {"title": "T", "type": "document"}
    assert len(answer.warnings) == 1
    assert len(answer.failures) == 1


def test_json_that_is_broken_fails_with_its_line() -> None:
    answer = read_csl_json('[\n{"id": "a",\n]')
    assert not answer.items
    assert answer.failures[0].line == 3


def test_items_one_per_line_are_read() -> None:
    answer = read_csl_json('{"id": "a", "type": "book"}\n{"id": "b", "type": "book"}\n')
    assert [imported.item["id"] for imported in answer.items] == ["a", "b"]


def test_a_library_is_written_as_libraries_are_stored() -> None:
    assert (
        write_csl_json([{"id": "ä", "type": "book"}])
        == '[\n  {\n    "id": "ä",\n    "type": "book"\n  }\n]\n'
    )


@pytest.mark.parametrize(
    ("name", "parts", "said"),
    [
        ("accessed", [[2020, 2, 31]], "a day from 1 to 29, and is the number 31"),
        ("issued", [[2019, 1], [2019, 13]], "a month from 1 to 12"),
        ("issued", [["20155"]], "a year of more than four digits in issued: 20155"),
    ],
)
def test_dates_of_no_calendar_are_kept_with_a_warning(
    name: str, parts: list[list[object]], said: str
) -> None:
    item = {"id": "a", "type": "book", name: {"date-parts": parts}}
    answer = read_csl_json(json.dumps([{"id": "z", "type": "book"}, item]))
    (warning,) = answer.warnings
    assert "'a'" in warning.message and said in warning.message
    assert str(answer.items[1].item[name]["date-parts"][0][0]) == str(parts[0][0])


@pytest.mark.parametrize("parts", [[[2020, 2, 29]], [[-44, 3, 15]], [[2020, 22]], [[0]], [["x"]]])
def test_ordinary_dates_are_no_matter_of_warnings(parts: object) -> None:
    item = {"id": "a", "type": "book", "issued": {"date-parts": parts}}
    assert read_csl_json(json.dumps([item])).warnings == []


@pytest.mark.parametrize("date", [[[2020, 0, 5]], [[2020, -1, 5]], [[2020, 1, 1, 1]], [[None]], 7])
def test_dates_that_are_none_stop_no_import(date: object) -> None:
    item = {"id": "a", "type": "book", "accessed": {"date-parts": date}}
    assert len(read_csl_json(json.dumps([item])).items) == 1

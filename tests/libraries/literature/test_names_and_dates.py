"""Names of authors and dates as services write them."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from carrel.libraries.literature.dates import (
    earliest_date,
    iso_date,
    read_date_parts,
    read_date_text,
    without_first_day,
)
from carrel.libraries.literature.people import (
    make_author,
    read_author,
    read_author_with_initials,
    read_orcid,
)
from carrel.libraries.literature.records import Author
from tests.libraries.literature.odd_json import odd_values


@pytest.mark.parametrize("value", ["", "  ", None, 7.5e30, [], {}, ";", ","])
def test_no_name_is_no_author(value: object) -> None:
    assert read_author(value) is None
    assert read_author_with_initials(value) is None
    assert make_author(value, value, literal=value) is None


@pytest.mark.parametrize(
    ("written", "author"),
    [
        ("Ann B. Smith", Author("Smith", "Ann B.")),
        ("Smith, Ann B.", Author("Smith", "Ann B.")),
        ("Ludwig van Beethoven", Author("van Beethoven", "Ludwig")),
        ("The ENCODE Consortium", Author(literal="The ENCODE Consortium")),
        ("World Bank", Author(literal="World Bank")),
        ("Alain Bureau", Author("Bureau", "Alain")),
        ("J. M. Board", Author("Board", "J. M.")),
        ("The Editorial Board", Author(literal="The Editorial Board")),
        ("Plato", Author(literal="Plato")),
        ("M&uuml;ller, <i>Hans</i>", Author("Müller", "Hans")),
    ],
)
def test_names_are_people_or_groups(written: str, author: Author) -> None:
    assert read_author(written) == author


@pytest.mark.parametrize(
    ("written", "author"),
    [
        ("Smith AB", Author("Smith", "AB")),
        ("van der Berg G Jr", Author("van der Berg", "G", suffix="Jr")),
        ("Lin X.-Y.", Author("Lin", "X.-Y")),
        ("Smith, Ann", Author("Smith", "Ann")),
        ("WHO Group", Author(literal="WHO Group")),
    ],
)
def test_initials_behind_a_family_name_are_a_given_name(written: str, author: Author) -> None:
    assert read_author_with_initials(written) == author


def test_a_name_of_braces_alone_is_kept_as_it_is() -> None:
    author = read_author("{" * 250)
    assert author is not None
    assert author.literal == "{" * 250


def test_a_given_name_alone_is_a_literal_and_blanks_are_nothing() -> None:
    assert make_author("", " Suharto ") == Author(literal="Suharto")
    assert make_author(" ", None, literal=" A  Group ") == Author(literal="A Group")


def test_orcids_are_checked_by_their_last_digit() -> None:
    assert read_orcid("http://orcid.org/0000-0002-1825-0097") == "0000-0002-1825-0097"
    assert read_orcid("000000021825009X") is None
    assert read_orcid("0000-0002-1694-233x") == "0000-0002-1694-233X"


@pytest.mark.parametrize(
    ("value", "written"),
    [
        ({"date-parts": [[2019, 5, 17]]}, "2019-05-17"),
        ({"date-parts": [[2019, 5]]}, "2019-05"),
        ({"date-parts": [["2019"]]}, "2019"),
        ({"date-parts": [[2019, 2, 31]]}, "2019-02"),
        ({"date-parts": [[2019, 13]]}, "2019"),
        ({"date-parts": [[None]]}, None),
        ({"date-parts": [[]]}, None),
        ({"date-parts": []}, None),
        ({"date-parts": [[0]]}, None),
        (None, None),
    ],
)
def test_date_parts_of_one_to_three_numbers(value: object, written: str | None) -> None:
    assert read_date_parts(value) == written


@pytest.mark.parametrize(
    ("text", "written"),
    [
        ("2018", "2018"),
        ("2018-06", "2018-06"),
        ("2015-03-09T12:00:00Z", "2015-03-09"),
        ("20190517", "2019-05-17"),
        ("12 March 1999", "1999-03-12"),
        ("2000 Spring", "2000"),
        ("2000 Dec-2001 Jan", "2000-12"),
        ("0000", None),
        ("n.d.", None),
        ("2014a", "2014"),
    ],
)
def test_dates_as_text(text: str, written: str | None) -> None:
    assert read_date_text(text) == written


def test_the_earliest_date_is_as_precise_as_any_of_its_time() -> None:
    assert earliest_date(["2019", "2019-05", None, "2019-03-02"]) == "2019-03-02"
    assert earliest_date(["2019-05-17", "2019"]) == "2019-05-17"
    assert earliest_date(["2019", "2018-12-30"]) == "2018-12-30"
    assert earliest_date([None]) is None
    assert [without_first_day(each) for each in ("2019-01-01", "2019-05-01", "2019-05-17")] == [
        "2019",
        "2019-05",
        "2019-05-17",
    ]


@given(odd_values, odd_values, odd_values)
def test_odd_values_make_iso_dates_or_none(year: object, month: object, day: object) -> None:
    for found in (
        iso_date(year, month, day),
        read_date_parts({"date-parts": [[year, month, day]]}),
        read_date_text(year),
    ):
        assert found is None or re.fullmatch(r"\d{4}(-\d\d){0,2}", found)


@given(st.text(max_size=60))
def test_any_name_is_an_author_or_none(name: str) -> None:
    for author in (read_author(name), read_author_with_initials(name)):
        assert author is None or bool(author.family) != bool(author.literal)

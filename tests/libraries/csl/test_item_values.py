"""How the values of an item are read: dates, seasons, name lists that go on, notes and numbers."""

from __future__ import annotations

from typing import Any

import pytest

from carrel.libraries.csl.date_values import DateValue, Parts, read_date, read_text_date
from carrel.libraries.csl.disambiguation import GivenNames
from carrel.libraries.csl.items import CitedItem, citation_label
from carrel.libraries.csl.name_lists import (
    ends_in_et_al,
    et_al_variables,
    is_et_al,
    mark_et_al,
    move_et_al,
    names_of,
    without_et_al,
)
from carrel.libraries.csl.name_values import PersonName, initials, read_name
from carrel.libraries.csl.numbers import is_numeric, read_numbers
from carrel.libraries.csl.person import FAMILY_ONLY, FULL, INITIALS

OPEN = (0, 0, 0)
SINGLE_DATES: list[tuple[str, Parts]] = [
    ("2020-05-17", (2020, 5, 17)),
    ("2020-05-17T10:00:00Z", (2020, 5, 17)),
    ("y12020-03", (12020, 3, 0)),
    ("-0044-03-15", (-44, 3, 15)),
    ("19xx", (1900, 0, 0)),
    ("198u", (1980, 0, 0)),
    ("2020-uu-uu", (2020, 0, 0)),
    ("2020-05-uu", (2020, 5, 0)),
    ("2020-12-31", (2020, 12, 31)),
    ("2020-01-01", (2020, 1, 1)),
    ("2020-12-32", (2020, 12, 0)),
    ("2020-00-10", (2020, 0, 0)),
    ("2020-13", (2020, 13, 0)),
    ("2020-16-05", (2020, 16, 0)),
    ("2020-17", (2020, 0, 0)),
    ("2020-21-05", (2020, 13, 0)),
    ("2020-24", (2020, 16, 0)),
    ("2020-25", (2020, 0, 0)),
    ("17th of May 2020", (2020, 5, 17)),
    ("May 17, 2020", (2020, 5, 17)),
    ("Sept. 2020", (2020, 9, 0)),
    ("Dec 2020", (2020, 12, 0)),
    ("spring 2020", (2020, 13, 0)),
    ("fall 2020", (2020, 15, 0)),
    ("Winter 2020", (2020, 16, 0)),
    ("17 May 44 BC", (-44, 5, 17)),
    ("44 BCE", (-44, 0, 0)),
    ("100 AD", (100, 0, 0)),
    ("79", (79, 0, 0)),
    ("5/17/2020", (2020, 5, 17)),
    ("17/5/2020", (2020, 5, 17)),
    ("12/5/2020", (2020, 12, 5)),
    ("13/12/2020", (2020, 12, 13)),
    ("2020/5/17", (2020, 5, 17)),
    ("2020/5/31", (2020, 5, 31)),
    ("2020/5/2021", (2020, 5, 0)),
    ("100.5", (100, 5, 0)),
    ("1/1/100", (100, 1, 1)),
]
DATE_RANGES: list[tuple[str, Parts, Parts]] = [
    ("2020/2021", (2020, 0, 0), (2021, 0, 0)),
    ("2020-05/2021-02-03", (2020, 5, 0), (2021, 2, 3)),
    ("2020/", (2020, 0, 0), OPEN),
    ("2020/..", (2020, 0, 0), OPEN),
    ("May 2019 - June 2020", (2019, 5, 0), (2020, 6, 0)),
    ("May - June 2020", (2020, 5, 0), (2020, 6, 0)),
    ("2019–20", (2019, 0, 0), (2020, 0, 0)),
    ("100-99", (100, 0, 0), (199, 0, 0)),
    ("99–20", (99, 0, 0), (20, 0, 0)),
    ("1900–100", (1900, 0, 0), (100, 0, 0)),
    ("5 - 6 BC", (5, 0, 0), (-6, 0, 0)),
]


@pytest.mark.parametrize(("text", "start"), SINGLE_DATES)
def test_a_date_in_edtf_or_in_words_is_read_to_the_day_it_names(text: str, start: Parts) -> None:
    assert read_text_date(f" {text} ") == DateValue(start)


@pytest.mark.parametrize(("text", "start", "end"), DATE_RANGES)
def test_a_range_of_dates_has_both_its_ends(text: str, start: Parts, end: Parts) -> None:
    read = read_text_date(text)
    assert read == DateValue(start, end)
    assert read.is_open == (end == OPEN)


@pytest.mark.parametrize(
    ("text", "end"),
    [
        *((text, None) for text in ("~2020", "2020?", "2020 ?", "ca. 2020", "circa 2020")),
        ("2020?/2021", (2021, 0, 0)),
        ("2020/2021~", (2021, 0, 0)),
        ("2020?/", OPEN),
        ("ca 2020 - 2021", (2021, 0, 0)),
        ("2020 - ca 2021", (2021, 0, 0)),
    ],
)
def test_doubt_about_either_end_is_doubt_about_the_date(text: str, end: Parts | None) -> None:
    assert read_text_date(text) == DateValue((2020, 0, 0), end, is_uncertain=True)


@pytest.mark.parametrize(
    "text",
    [
        "1985xx", "2020/x", "x/2020", "bc 44", "May 79", "17 May", "May", "7 79", "17 2020",
        "May 17 2020 5 6", "1 2 3", "5/17/20", "99.5", "1/1/99", "mayo 2020", "ma 2020", "0",
        "in press", "x - 2020", "100 bc 5", "1 " * 99 + "22", "x" * 201,
    ],
)  # fmt: skip
def test_what_is_no_date_stays_as_it_is_written(text: str) -> None:
    assert read_text_date(text) == DateValue(literal=text)


def test_a_text_of_two_hundred_characters_is_read_and_a_longer_one_is_not() -> None:
    assert read_text_date("May 2020" + " of" * 64) == DateValue((2020, 5, 0))
    longer = "May 2020" + " of" * 64 + " "
    assert read_text_date(f"{longer}.") == DateValue(literal=f"{longer}.")


YEAR = (2020, 0, 0)


@pytest.mark.parametrize(
    ("value", "date"),
    [
        (2020, DateValue(YEAR)),
        ("2020", DateValue(YEAR)),
        ({"raw": 2020}, DateValue(YEAR)),
        ({"edtf": "2020?", "raw": "1999"}, DateValue(YEAR, None, True)),
        ({"raw": "May 2020", "circa": True}, DateValue((2020, 5, 0), None, True)),
        ({"raw": "2020/2021"}, DateValue(YEAR, (2021, 0, 0))),
        ({"raw": "soon"}, DateValue(literal="soon")),
        ({"raw": " ", "literal": " in press "}, DateValue(literal="in press")),
        ({"literal": "2020", "circa": True}, DateValue(literal="2020", is_uncertain=True)),
        ({"date-parts": [["2020", " 5 ", "17"]]}, DateValue((2020, 5, 17))),
        ({"date-parts": [[2020, "x", 5]]}, DateValue(YEAR)),
        ({"date-parts": [[2020, 5, 17, 9]]}, DateValue((2020, 5, 17))),
        ({"date-parts": [["1234567890"]]}, DateValue((123456789, 0, 0))),
        ({"date-parts": [[2020], [2020]]}, DateValue(YEAR)),
        ({"date-parts": [[2020], [2021], [2022]]}, DateValue(YEAR, (2021, 0, 0))),
        ({"date-parts": [[0]], "raw": "2020"}, DateValue(YEAR)),
        ({"date-parts": [1999], "raw": "2020"}, DateValue(YEAR)),
        ({"date-parts": "1999", "raw": "2020"}, DateValue(YEAR)),
        ({"date-parts": [[2020, 5]], "season": 1}, DateValue((2020, 5, 0))),
        ({"season": "3", "circa": True}, DateValue(season="season-03", is_uncertain=True)),
        ({"season": "Trinity"}, DateValue(season="Trinity")),
    ],
)
def test_a_date_is_read_from_the_first_part_that_says_one(value: Any, date: DateValue) -> None:
    assert read_date(value) == date


@pytest.mark.parametrize(
    "value",
    ["", " ", True, False, None, [2020], {}, {"date-parts": []}, {"season": ""}, {"raw": ["x"]}],
)
def test_a_value_without_a_date_is_none(value: Any) -> None:
    assert read_date(value) is None


@pytest.mark.parametrize(
    ("season", "read"),
    [
        (1, "season-01"), (4, "season-04"), (5, "5"), (20, "20"), ("21", "season-01"),
        ("24", "season-04"), (25, "25"), (0, ""), ("Autumn term", "season-03"),
        (" summer ", "season-02"), ("Trinity", "Trinity"),
    ],
)  # fmt: skip
def test_a_season_beside_a_year_is_one_of_four_or_its_own_words(season: Any, read: str) -> None:
    assert read_date({"date-parts": [[2020]], "season": season}) == DateValue(YEAR, season=read)


@pytest.mark.parametrize(
    ("circa", "is_uncertain"),
    [(1, True), ("yes", True), (0, False), ("0", False), ("False", False), ("no", False)],
)
def test_circa_is_said_by_anything_but_a_no(circa: Any, is_uncertain: bool) -> None:
    read = read_date({"date-parts": [[2020]], "circa": circa})
    assert read == DateValue(YEAR, is_uncertain=is_uncertain)


def test_a_season_or_a_literal_alone_is_not_an_empty_date() -> None:
    assert DateValue().is_empty
    assert not DateValue(season="Trinity").is_empty
    assert not DateValue(literal="soon").is_empty
    assert not DateValue(YEAR).is_empty


@pytest.mark.parametrize(
    "text",
    ["et al.", "et al", "Et al.,", "et. al.", "et alii", "and others", "& others", "others"],
)
def test_a_marker_of_further_names_is_no_name(text: str) -> None:
    assert is_et_al(f" {text} ")
    assert ends_in_et_al([{"family": "Kuhn"}, {"literal": text}])
    assert ends_in_et_al([{"family": text, "given": ""}])


@pytest.mark.parametrize("text", ["Others", "al.", "", "others of us", "et al." + "." * 40])
def test_a_name_that_only_looks_like_the_marker_stays(text: str) -> None:
    assert not is_et_al(text)
    assert not ends_in_et_al([{"literal": text}])


def test_a_marker_of_forty_characters_is_one_and_a_longer_text_is_not() -> None:
    assert is_et_al("et al" + "." * 35)
    assert not is_et_al("et al" + "." * 36)


@pytest.mark.parametrize(
    "names",
    [
        None, "et al.", [], ["et al."], [{"literal": 5}], [{"given": "others"}], [{}],
        [{"family": "others", "given": "Ann"}], [{"literal": "others"}, {"family": "Kuhn"}],
    ],
)  # fmt: skip
def test_only_a_last_name_of_one_part_can_be_the_marker(names: Any) -> None:
    assert not ends_in_et_al(names)


def test_the_marker_is_taken_off_a_list_of_texts_and_remembered() -> None:
    assert without_et_al(["A", "B"]) == (["A", "B"], False)
    assert without_et_al(["A", "et al.", " "]) == (["A"], True)
    assert without_et_al(["A", "others", "et al."]) == (["A"], True)
    assert without_et_al(["A", "et al.", ""]) == (["A"], True)
    assert without_et_al(["A", ""]) == (["A"], False)
    assert without_et_al(["A", "B, et al."]) == (["A", "B"], True)
    assert without_et_al(["B and others"]) == (["B"], True)
    assert without_et_al(["x" * 60 + " et al."]) == (["x" * 60], True)
    assert without_et_al([", et al."]) == ([", et al."], False)
    assert without_et_al(["others"]) == ([], True)
    assert without_et_al([]) == ([], False)


def test_lists_that_go_on_are_those_marked_and_those_that_end_in_the_marker() -> None:
    others = [{"family": "Kuhn"}, {"literal": "others"}]
    assert et_al_variables({"author": others}) == {"author"}
    assert et_al_variables({"custom": {"et_al": ["editor", 7, "title"]}}) == {"editor"}
    assert et_al_variables({"custom": {"et_al": "editor"}}) == set()
    assert et_al_variables({"custom": ["et_al"]}) == set()
    assert et_al_variables({"title": others}) == set()
    assert names_of(others) == [{"family": "Kuhn"}]
    assert names_of([{"family": "Kuhn"}, "x"]) == [{"family": "Kuhn"}]
    assert names_of("Kuhn") == []


def test_marking_a_list_keeps_what_else_is_there() -> None:
    item: dict[str, Any] = {"custom": {"kept": 1, "et_al": ["editor", 5]}}
    mark_et_al(item, "author")
    assert item == {"custom": {"kept": 1, "et_al": ["author", "editor"]}}
    for broken in ({}, {"custom": "x"}, {"custom": {"et_al": "x"}}):
        item = dict(broken)
        mark_et_al(item, "author")
        assert item == {"custom": {"et_al": ["author"]}}


def test_moving_the_marker_leaves_the_names_and_drops_a_list_of_nobody() -> None:
    item: dict[str, Any] = {
        "author": [{"family": "Kuhn"}, {"literal": "et al."}],
        "editor": [{"literal": "others"}],
        "translator": [{"family": "Lem"}],
    }
    move_et_al(item)
    assert item == {
        "author": [{"family": "Kuhn"}],
        "translator": [{"family": "Lem"}],
        "custom": {"et_al": ["author", "editor"]},
    }


@pytest.mark.parametrize(
    ("value", "name"),
    [
        (" WHO ", PersonName(literal="WHO")),
        (" ", None),
        ({}, None),
        ({"literal": "WHO"}, PersonName(literal="WHO")),
        ({"literal": "WHO", "family": "Kuhn"}, PersonName("Kuhn")),
        ({"literal": "WHO", "given": "Ann"}, PersonName(given="Ann")),
        ({"given": 7}, PersonName(given="7")),
        ({"family": True}, None),
        ({"suffix": "Jr."}, PersonName(suffix="Jr.")),
        ({"dropping-particle": "de"}, PersonName(dropping="de")),
        ({"non-dropping-particle": "de"}, PersonName(non_dropping="de")),
        ({"family": "WHO", "isInstitution": "true"}, PersonName(literal="WHO")),
        ({"family": "WHO", "isInstitution": "false"}, PersonName("WHO")),
        ({"family": "W", "given": "H", "isInstitution": 1}, PersonName("W", "H")),
        ({"family": "van Gogh", "given": "V."}, PersonName("Gogh", "V.", non_dropping="van")),
        ({"family": "van Gogh"}, PersonName("van Gogh")),
        ({"family": "van Gogh", "parse-names": False}, PersonName("van Gogh")),
        (
            {"family": "van Gogh", "given": "V.", "parse-names": 1},
            PersonName("Gogh", "V.", non_dropping="van"),
        ),
        ({"family": '"van Gogh"'}, PersonName("van Gogh")),
        ({"family": '"'}, PersonName('"')),
        ({"family": '"x'}, PersonName('"x')),
        ({"family": "van gogh"}, PersonName("van gogh")),
        (
            {"family": "von Gogh", "non-dropping-particle": "van"},
            PersonName("von Gogh", non_dropping="van"),
        ),
        ({"family": "d'Arc", "given": "J."}, PersonName("Arc", "J.", non_dropping="d'")),
        ({"family": "de' Medici", "given": "J."}, PersonName("Medici", "J.", non_dropping="de' ")),
        ({"family": "al-Hakim", "given": "J."}, PersonName("Hakim", "J.", non_dropping="al-")),
        ({"family": "A", "given": "Jean de"}, PersonName("A", "Jean", "de")),
        (
            {"family": "A", "given": "Jean de", "dropping-particle": "la"},
            PersonName("A", "Jean de", "la"),
        ),
        ({"family": "A", "given": "Ann, Jr."}, PersonName("A", "Ann", suffix="Jr.")),
        (
            {"family": "A", "given": "Ann,! Jr."},
            PersonName("A", "Ann", suffix="Jr.", comma_suffix=True),
        ),
        (
            {"family": "A", "given": "Ann, B.", "suffix": "Jr."},
            PersonName("A", "Ann, B.", suffix="Jr."),
        ),
        ({"family": "A", "comma-suffix": "0"}, PersonName("A")),
        ({"family": "A", "comma-suffix": True}, PersonName("A", comma_suffix=True)),
        ({"family": "A", "static-ordering": 1}, PersonName("A", static_ordering=True)),
        (
            {"family": "van " + "G" * 296, "given": "V."},
            PersonName("G" * 296, "V.", non_dropping="van"),
        ),
        ({"family": "van " + "G" * 297}, PersonName("van " + "G" * 297)),
        ({"family": "A", "given": "G" * 297 + " de"}, PersonName("A", "G" * 297, "de")),
        ({"family": "A", "given": "G" * 298 + " de"}, PersonName("A", "G" * 298 + " de")),
    ],
)
def test_a_name_is_told_apart_into_its_parts(value: Any, name: PersonName | None) -> None:
    assert read_name(value) == name


@pytest.mark.parametrize("value", [7, None, ["Kuhn"]])
def test_what_is_no_name_is_refused(value: Any) -> None:
    with pytest.raises(TypeError, match="family"):
        read_name(value)


@pytest.mark.parametrize(
    ("given", "initialize", "hyphen", "written"),
    [
        ("Jean Paul", True, True, "J.P."),
        ("Jean-Paul", True, True, "J.-P."),
        ("Jean-Paul", True, False, "J.P."),
        ("Jean-paul", True, True, "J."),
        ("J.P.", True, True, "J.P."),
        ("Ph. Ts. A.", True, True, "Ph.Ts.A."),
        ("TSerendorj", True, True, "Ts."),
        ("Ludwig van", True, True, "L. van"),
        ("van L", True, True, "van L."),
        ("a.", True, True, "A."),
        ("a", True, True, "A."),
        ("(Ann) Bea", True, True, "(Ann) B."),
        ("Bea [Ann]", True, True, "B. [Ann]"),
        ("'Ann", True, True, "A."),
        ("Jean A. B", False, True, "Jean A.B."),
        ("J-P Ann", False, True, "J.P. Ann"),
        ("é", True, True, "É."),
        ("Ann " * 75, True, True, "A." * 75),
        ("A" + "n" * 300, True, True, "A" + "n" * 300),
    ],
)
def test_given_names_become_initials(
    given: str, initialize: bool, hyphen: bool, written: str
) -> None:
    assert initials(given, ".", initialize, hyphen) == written


def test_a_note_gives_fields_that_the_item_does_not_have_and_its_dates() -> None:
    item = CitedItem(
        {
            "id": "x",
            "type": "book",
            "publisher": "Own",
            "issued": {"date-parts": [[2020]]},
            "note": "type: map\npublisher: Other\nissued: 1999\nDOI: 10.1/x\nevent place: Rome\n"
            "author: Kuhn || Thomas\neditor: WHO\n\nrest: of {:volume: 7} it\ntitle: read, too",
        }
    )
    assert item.type == "map"
    assert item.fields["publisher"] == "Own"
    assert item.dates["issued"].start == (1999, 0, 0)
    assert item.fields["DOI"] == "10.1/x"
    assert item.fields["event-place"] == "Rome"
    assert item.fields["volume"] == "7"
    assert item.names["author"] == [PersonName("Kuhn", "Thomas")]
    assert item.names["editor"] == [PersonName(literal="WHO")]
    # Of its own the item has this one; what it would have been stays to be read.
    assert item.fields["note"] == "publisher: Other\n\nrest: of  it"
    assert item.fields["title"] == "read, too"


def test_a_note_of_fields_alone_is_used_up_and_one_without_fields_stays() -> None:
    assert "note" not in CitedItem({"id": "x", "note": "volume: 7"}).fields
    for note in ("seen: there", "no colon", "no colon\nno colon\nvolume: 7"):
        assert CitedItem({"id": "x", "note": note}).fields == {"note": note}


def test_fields_may_stand_below_a_first_line_of_text() -> None:
    item = CitedItem({"id": "x", "note": "Read twice.\nvolume: 7\nlast words"})
    assert item.fields == {"volume": "7", "note": "Read twice.\nlast words"}


def test_numbers_and_texts_are_read_as_text_and_empty_ones_left_out() -> None:
    item = CitedItem(
        {
            "id": 5, "type": 7, "volume": 2.0, "issue": 2.5, "edition": 3, "title": "  T ",
            "genre": "  ", "medium": True, "archive": None, "page": " 12-15", "shortTitle": "S",
            "journalAbbreviation": "J", "event-title": "E", "keyword": ["k"],
        }
    )  # fmt: skip
    assert (item.id, item.type) == ("5", "")
    assert item.fields == {
        "volume": "2", "issue": "2.5", "edition": "3", "title": "T", "page": "12-15",
        "page-first": "12", "title-short": "S", "container-title-short": "J", "event": "E",
    }  # fmt: skip
    assert item.present == {*item.fields, "event-title"}
    assert CitedItem({"page": "3", "page-first": "9"}).fields["page-first"] == "9"


def test_a_list_that_goes_on_has_only_its_names() -> None:
    item = CitedItem({"author": [{"family": "Kuhn"}, {"literal": "others"}], "editor": [{}]})
    assert item.names == {"author": [PersonName("Kuhn")]}
    assert item.et_al == {"author"}


@pytest.mark.parametrize(
    ("fields", "label"),
    [
        ({"author": ["Kuhnert"]}, "Kuhn20"),
        ({"author": ["Kuhn", "Lem"]}, "KuLe20"),
        ({"author": ["Kuhn", "Lem", "Mach"]}, "KuLM20"),
        ({"author": ["Kuhn", "Lem", "Mach", "Noether"]}, "KLMN20"),
        ({"author": ["Kuhn", "Lem", "Mach", "Noether", "Ohm"]}, "KLMN20"),
        ({"editor": ["De Vries"]}, "DeVr20"),
        ({"author": ["Kuhn"], "issued": {"raw": "soon"}}, "Kuhn00"),
        ({"title": "A study of things"}, "Astu20"),
        ({"title": "Ω"}, "Ω20"),
        ({"author": ["Kuhn"], "issued": -5}, "Kuhn05"),
        ({"author": ["Kuhn"], "citation-label": "Own"}, "Own"),
        ({}, "20"),
    ],
)
def test_a_citation_label_is_made_of_names_and_year(fields: dict[str, Any], label: str) -> None:
    assert citation_label(CitedItem({"issued": 2020, **fields})) == label


def _known(rule: str, *lists: list[str]) -> GivenNames:
    """The names of cites with people such as `Ann Kuhn`."""
    known = GivenNames(rule)
    for people in lists:
        known.add_list([_person(person) for person in people])
    return known


def _person(name: str) -> PersonName:
    given, _, family = name.partition(" ")
    return PersonName(family, given)


@pytest.mark.parametrize(
    ("rule", "can_initialize", "others", "level"),
    [
        ("all-names", True, ["Ann Lem"], FAMILY_ONLY),
        ("all-names", True, ["Ann Kuhn"], FAMILY_ONLY),
        ("all-names", True, ["Bea Kuhn"], INITIALS),
        ("all-names", False, ["Bea Kuhn"], FULL),
        ("all-names", True, ["Amy Kuhn"], FULL),
        ("all-names-with-initials", True, ["Bea Kuhn"], INITIALS),
        ("all-names-with-initials", True, ["Amy Kuhn"], FAMILY_ONLY),
        ("all-names-with-initials", True, ["Bea Lem"], FAMILY_ONLY),
        ("all-names", True, ["Max Mach", "Bea Kuhn"], INITIALS),
        ("primary-name", True, ["Max Mach", "Bea Kuhn"], INITIALS),
    ],
)
def test_a_given_name_is_shown_as_far_as_it_tells_two_people_apart(
    rule: str, can_initialize: bool, others: list[str], level: int
) -> None:
    known = _known(rule, ["Ann Kuhn"], *([other] for other in others))
    assert known.level(_person("Ann Kuhn"), 0, FAMILY_ONLY, can_initialize) == level


def test_a_primary_rule_looks_at_first_names_alone() -> None:
    cites = [["Ann Kuhn", "Bea Kuhn"], ["Max Mach", "Cleo Mach"]]
    primary, everyone = _known("primary-name", *cites), _known("all-names", *cites)
    assert primary.level(_person("Ann Kuhn"), 0, FAMILY_ONLY, True) == FAMILY_ONLY
    assert everyone.level(_person("Ann Kuhn"), 0, FAMILY_ONLY, True) == INITIALS
    two = _known("primary-name", *cites, ["Dora Kuhn"])
    assert two.level(_person("Ann Kuhn"), 0, FAMILY_ONLY, True) == INITIALS
    assert two.level(_person("Bea Kuhn"), 1, FAMILY_ONLY, True) == FAMILY_ONLY


def test_a_particle_makes_no_other_family_and_a_name_without_given_name_is_nobodys_double() -> None:
    """As citeproc-js 2.4.63 has it: J. van Gogh and A. Gogh, but Gogh beside Gogh, Ann."""
    known = _known("all-names", ["Ann Gogh"])
    known.add(PersonName(literal="WHO"))
    known.add(PersonName("Gogh"))
    assert known.level(PersonName("Gogh", "Ann"), 0, FAMILY_ONLY, True) == FAMILY_ONLY
    assert known.level(PersonName("Nobody", "Ann"), 0, FAMILY_ONLY, True) == FAMILY_ONLY
    known.add(PersonName("Gogh", "Bea", non_dropping="van"))
    assert known.level(PersonName("Gogh", "Ann"), 0, FAMILY_ONLY, True) == INITIALS


def test_names_of_the_bibliography_are_told_apart_from_those_before_them() -> None:
    known = _known("all-names", ["Ann Kuhn"])
    listed = known.copy()
    assert listed.level_once_added(_person("Ann Kuhn"), 0, INITIALS, True) == FAMILY_ONLY
    assert listed.level_once_added(_person("Amy Kuhn"), 0, INITIALS, True) == FULL
    assert known.level(_person("Ann Kuhn"), 0, INITIALS, True) == FAMILY_ONLY


def test_by_cite_only_initials_of_one_work_are_written_out() -> None:
    known = _known("by-cite", ["Ann Kuhn", "Amy Kuhn"])
    assert known.level(_person("Ann Kuhn"), 0, INITIALS, True) == FULL
    assert known.level(_person("Ann Kuhn"), 0, FAMILY_ONLY, True) == FAMILY_ONLY


@pytest.mark.parametrize(
    ("text", "numeric", "plural", "first"),
    [
        ("12", True, False, 12), ("12a", True, False, 12), ("12-15", True, True, 12),
        ("12, 15", True, True, 12), ("iv", True, False, 0), ("A12", True, False, 0),
        ("twelve", False, False, 0), ("12, many", False, True, 12), ("12-x y", True, True, 12),
        ("", False, False, 0), ("12 pp", False, False, 12), (r"12\-15", True, False, 12),
        ("12, p. 5", True, False, 12),
    ],
)  # fmt: skip
def test_a_field_is_numeric_plural_and_begins_with_a_number_or_not(
    text: str, numeric: bool, plural: bool, first: int
) -> None:
    read = read_numbers(text)
    assert (read.is_numeric, read.is_plural, read.first) == (numeric, plural, first)
    assert is_numeric(text) is numeric


@pytest.mark.parametrize(
    ("text", "is_range"),
    [
        ("12-15", True), ("12–15", True), ("12--15", True), ("12 – 15", True), ("12 - 15", True),
        ("a1-a5", True), ("a1-b5", False), ("iv-xi", True), ("12-15-18", False), ("12-x y", False),
        ("1 & 2", False), ("12—15", False), ("a12-15", False), ("a12-a15", True), ("XI-XII", True),
    ],
)  # fmt: skip
def test_a_dash_between_two_numbers_of_a_kind_is_a_range(text: str, is_range: bool) -> None:
    assert read_numbers(text).is_range(0, in_pages=True) is is_range
    # But in pages a long dash is the author's own: `12–15` of a locator stays as it is.
    assert read_numbers(text).is_range(0) is (is_range and "–" not in text)


def test_labels_are_read_off_the_numbers() -> None:
    read = read_numbers("vol. 3, pp. 5-6")
    assert (read.label, read.texts, read.labels) == ("volume", ("3", "5", "6"), ("", "page", ""))
    assert read_numbers("1" * 1000).texts == ("1" * 1000,)
    long = "p. 1, " * 167
    assert read_numbers(long).texts == (long.strip(),)

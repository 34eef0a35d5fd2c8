"""Which texts under a title are names of people, and where one name ends."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from carrel.libraries.pdf_layout.person_names import (
    is_group_name,
    is_person_name,
    is_place,
    split_names,
    tidy_name,
)


@pytest.mark.parametrize(
    "name",
    [
        "Ana Gómez",
        "Mark A. van de Wiel",
        "J.J. Allaire",
        "R. Woodrow Setzer",
        "Ivo H. M. van Stokkum",
        "CV Radhakrishnan",
        "Jean-Pierre d’Ormesson",
        "Francisco Javier Cuadrado",
        "George E. P. Box",
        "KATHARINE MULLEN",
        "И. И. Иванов",
        "Иванов Иван Иванович",
        "Ιωάννης Μαντζουράτος",
        "王小明",
        "李 凌",
        "山田 太郎",
        "김철수",
        "Walter Maldonado Jr",
    ],
)
def test_a_name_is_known_by_its_shape(name: str) -> None:
    assert is_person_name(name)


@pytest.mark.parametrize(
    "text",
    [
        "Monash University",
        "Vrije Universiteit Amsterdam",
        "Mayo Clinic",
        "FH Technikum Wien",
        "TU Darmstadt",
        "Department of Statistics",
        "January 2023",
        "Version Two",
        "User Guide",
        "Yerseke",
        "The Netherlands",
        "ana@hydro.example",
        "Room 12",
        "清华大学",
        "of Sea Research",
        "Terry Therneau Cynthia Crowson Elizabeth Atkinson",
        "",
    ],
)
def test_places_dates_and_notes_are_no_names(text: str) -> None:
    assert not is_person_name(text)


def test_a_name_made_of_the_documents_common_words_is_none() -> None:
    assert is_person_name("Getting Started")
    assert not is_person_name("Getting Started", frozenset({"getting", "started"}))
    assert is_person_name("John Fox", frozenset({"fox"}))


@pytest.mark.parametrize(
    ("line", "names"),
    [
        ("Ann Archer and Bob Other", ["Ann Archer", "Bob Other"]),
        ("Ann Archer, Bob Other, and Cy Third", ["Ann Archer", "Bob Other", "Cy Third"]),
        (
            "Josip Rodin, Osamu Aoki, y Innocent De Marchi",
            ["Josip Rodin", "Osamu Aoki", "Innocent De Marchi"],
        ),
        ("Anna Ahn und Bea Bär", ["Anna Ahn", "Bea Bär"]),
        ("Ann Archer* & Bob Other†", ["Ann Archer", "Bob Other"]),
        ("Texas A&M University", ["Texas A&M University"]),
        ("Ann Archer, PhD, Bob Other, MD", ["Ann Archer", "Bob Other"]),
        ("Ann Archer, Member, IEEE, and Bob Other", ["Ann Archer", "Bob Other"]),
        ("by Ann Archer", ["Ann Archer"]),
        ("Prof. Dr. Ann Archer", ["Ann Archer"]),
        ("Ann Archer · Bob Other | Cy Third", ["Ann Archer", "Bob Other", "Cy Third"]),
        ("李凌、郑原真、周默和杨博远", ["李凌", "郑原真", "周默", "杨博远"]),
    ],
)
def test_a_line_is_cut_between_names(line: str, names: list[str]) -> None:
    assert split_names(line) == names


def test_teams_are_groups_and_universities_are_not() -> None:
    assert is_group_name("zoo Development Team")
    assert is_group_name("The ATLAS Collaboration")
    assert not is_group_name("University Research Network")
    assert not is_group_name("Team")


def test_countries_are_places() -> None:
    assert is_place("The Netherlands")
    assert not is_place("Ann Archer")


@pytest.mark.parametrize(
    ("printed", "name"),
    [
        ("ROGER KOENKER", "Roger Koenker"),
        ("BEN VAN DER BERG", "Ben van der Berg"),
        ("J.-P. O’NEILL", "J.-P. O’Neill"),
        ("Ann Archer", "Ann Archer"),
        ("王小明", "王小明"),
    ],
)
def test_capitals_become_mixed_case(printed: str, name: str) -> None:
    assert tidy_name(printed) == name


@given(st.text(max_size=300))
def test_any_text_is_cut_without_harm(text: str) -> None:
    for piece in split_names(text):
        is_person_name(piece)
        assert tidy_name(piece) is not None

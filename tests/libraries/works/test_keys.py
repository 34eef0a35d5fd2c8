"""Keys under which two descriptions of a work meet."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from carrel.libraries.works.cited_works import CitedWork
from carrel.libraries.works.keys import family_key, make_work_keys, title_key, work_keys


@pytest.mark.parametrize(
    "name",
    [
        "van den Berg, P.",
        "P. van den Berg",
        "Pieter van den Berg",
        "Berg P",
        "BERG, Pieter van den",
        "Berg PJ",
        "Berg P.-J.",
        "P. Berg, Jr.",
        "Pieter Berg Jr.",
        "Bérg, P",
    ],
)
def test_a_family_name_has_one_key_in_every_habit_of_writing(name: str) -> None:
    assert family_key(name) == "berg"


@pytest.mark.parametrize(
    ("name", "key"),
    [
        ("Müller-Lüdenscheidt, H.", "mullerludenscheidt"),
        ("García López, José", "lopez"),
        ("José García López", "lopez"),
        ("Straße K", "strasse"),
        ("Li X", "li"),
        ("X. Li", "li"),
        ("LI X", "li"),
        ("王小明", "王小明"),
        ("World Health Organization", "organization"),
        ("...", None),
        ("", None),
    ],
)
def test_family_names_of_other_habits(name: str, key: str | None) -> None:
    assert family_key(name) == key


def test_spelling_case_and_dashes_do_not_change_a_title_key() -> None:
    first = title_key("Attention Is All You Need: on self–attention in <i>deep</i> nets")
    second = title_key("attention is all you need - On Self-Attention in deep nets.")
    assert first == second is not None


def test_parts_of_a_series_have_different_title_keys() -> None:
    stem = "Theory of the spatial structure of nonlinear lasers, part "
    assert title_key(stem + "I") != title_key(stem + "II") != title_key(stem + "2")


def test_titles_that_name_many_works_have_no_key() -> None:
    assert title_key("Editorial") is None
    assert title_key("深度学习综述与展望") is not None


def test_identifiers_of_one_work_meet() -> None:
    by_doi = make_work_keys(doi="https://doi.org/10.48550/ARXIV.1706.03762")
    by_number = make_work_keys(arxiv_id="1706.03762v5")
    assert set(by_doi.identifiers) == set(by_number.identifiers)
    assert make_work_keys(doi="none", arxiv_id="x", pmid="y").identifiers == ()


def test_the_keys_of_a_cited_work() -> None:
    cited = CitedWork(
        title="A method for the analysis of things",
        authors=("Smith, J.", "Doe, A."),
        year=1999,
        doi="10.1000/ABC",
        pmid="PMID: 123",
    )
    keys = work_keys(cited)
    assert keys.identifiers == ("doi:10.1000/abc", "pmid:123")
    assert (keys.title, keys.year, keys.person) == ("amethodfortheanalysisofthings", 1999, "smith")


@given(st.text(max_size=4_000))
def test_any_text_gives_a_bounded_key_or_none(text: str) -> None:
    key = title_key(text)
    assert key is None or (len(key.split("#")[0]) <= 40 and " " not in key)
    name = family_key(text)
    assert name is None or (name and not any(letter.isspace() for letter in name))

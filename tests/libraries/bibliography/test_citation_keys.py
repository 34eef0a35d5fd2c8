"""Keys follow the rules of the libraries they join, and no name is lost for its script."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from carrel.libraries.bibliography.citation_keys import MAX_KEY_LENGTH, distinct_key, make_key


@pytest.mark.parametrize(
    ("family", "year", "title", "key"),
    [
        ("Smith", 2024, "Ignored", "smith-2024"),
        ("van der Berg", 2001, None, "van_der_berg-2001"),
        ("O'Neil-Brown", 1999, None, "oneilbrown-1999"),
        ("Müller", 1999, None, "muller-1999"),
        ("Łukasiewicz", 1999, None, "lukasiewicz-1999"),
        ("Достоевский", 1866, None, "dostoevskiy-1866"),
        ("Παπαδόπουλος", 2010, None, "papadopoylos-2010"),
        ("山田", 2001, None, "shantian-2001"),
        ("محمد", 2001, None, "mhmd-2001"),
        (None, 2001, "The Origin of Species", "anon-2001-origin_species"),
        ("Smith", None, "<i>Homo</i> sapiens", "smith-nd-homo_sapiens"),
        (None, None, None, "anon-nd"),
        ("!!!", 2000, "Title", "anon-2000-title"),
    ],
)
def test_a_key_is_family_and_year(
    family: str | None, year: int | None, title: str | None, key: str
) -> None:
    assert make_key(family, year, title) == key


@given(
    family=st.text(max_size=60),
    year=st.none() | st.integers(-3000, 3000),
    title=st.text(max_size=80),
)
def test_a_key_has_only_signs_that_keys_may_have(family: str, year: int | None, title: str) -> None:
    key = make_key(family, year, title)
    assert re.fullmatch(r"[a-z0-9_-]+", key)
    assert len(key) <= MAX_KEY_LENGTH


def test_a_taken_key_gets_letters_in_order() -> None:
    taken: set[str] = set()
    keys = []
    for _ in range(30):
        key = distinct_key("Smith-2024", taken)
        keys.append(key)
        taken.add(key.lower())
    assert keys[:3] == ["Smith-2024", "Smith-2024a", "Smith-2024b"]
    assert keys[26:29] == ["Smith-2024z", "Smith-2024aa", "Smith-2024ab"]


def test_a_long_key_stays_within_the_limit_when_it_clashes() -> None:
    key = make_key("a" * 60, 2000, None)
    assert len(distinct_key(key, {key})) == MAX_KEY_LENGTH

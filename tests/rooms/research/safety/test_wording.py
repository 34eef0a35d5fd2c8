"""A text is read as it would stand without disguise, and ordinary words stay as they are."""

import pytest

from carrel.rooms.research.safety.evidence import sentences
from carrel.rooms.research.safety.spelling import mended, plain_wording


@pytest.mark.parametrize(
    ("disguised", "plain"),
    [
        ("s-a-r-i-n", "sarin"),
        ("k i l l i n g", "killing"),
        ("a b0mb", "a bomb"),
        ("p@thogen", "pathogen"),
        ("untracable poisen", "untraceable poison"),
        ("fentanil", "fentanyl"),
    ],
)
def test_a_disguise_is_seen_through(disguised: str, plain: str) -> None:
    assert plain_wording(disguised) == plain


@pytest.mark.parametrize(
    "word",
    ["H5N1", "p53", "SARS-CoV-2", "plaque", "content", "poisson", "prison", "influence", "herein"],
)
def test_an_ordinary_word_is_left_as_it_is(word: str) -> None:
    assert plain_wording(word) == word
    assert mended(word.lower()) == word.lower()


def test_figures_are_read_as_letters_only_where_a_word_that_matters_comes_out() -> None:
    assert sentences("v4ccinated but not h3k27 or p53") == [
        ["vaccinated", "but", "not", "h3k27", "or", "p53"]
    ]

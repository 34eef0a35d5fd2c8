"""Normal forms of words and phrases."""

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from carrel.libraries.discovery.concepts.words import (
    may_end_a_concept,
    normal_phrase,
    normal_word,
    nouns_behind,
)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Haemorrhages", "hemorrhage"),
        ("tumours", "Tumor"),
        ("β-blockers", "beta blocker"),
        ("Raynaud’s disease", "raynaud diseases"),
        ("oestrogens", "estrogen"),
        ("analyses", "analysis"),
        ("naïve mice", "naive mouse"),
        ("5-Hydroxytryptamine", "5 hydroxytryptamine"),
    ],
)
def test_names_of_one_thing_meet_in_one_normal_form(one: str, other: str) -> None:
    assert normal_phrase(one) == normal_phrase(other)


@pytest.mark.parametrize("word", ["virus", "analysis", "species", "stress", "diabetes", "dna"])
def test_words_that_only_look_plural_stay(word: str) -> None:
    assert normal_word(word) == word


@given(st.text(max_size=40))
@example("vitaminᴬ")
def test_a_normal_phrase_never_has_stray_spaces_or_capitals(text: str) -> None:
    phrase = normal_phrase(text)
    assert phrase == " ".join(phrase.split())
    assert phrase == phrase.lower() or not phrase.isascii()


def test_adjectives_know_the_nouns_they_come_from() -> None:
    assert "hypoxia" in nouns_behind("hypoxic")
    assert "thrombosis" in nouns_behind("thrombotic")


def test_adverbs_participles_and_numbers_head_no_concept() -> None:
    assert not any(may_end_a_concept(word) for word in ("rapidly", "treated", "12", "venous"))
    assert may_end_a_concept("viscosity")

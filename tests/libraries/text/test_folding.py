"""One fold for all rooms: spellings of one word meet, and folding is stable."""

from __future__ import annotations

import sys
import unicodedata
from collections.abc import Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st

from carrel.libraries.text.folding import fold_in_place, fold_text, text_key
from carrel.libraries.text.words import split_words


def every_character() -> Iterator[str]:
    return (chr(code) for code in range(sys.maxunicode + 1) if not 0xD800 <= code <= 0xDFFF)


@pytest.mark.parametrize(
    ("written", "folded"),
    [
        ("Ørsted", "orsted"),
        ("STRASSE straße", "strasse strasse"),
        ("Łódź, Đorđe, Æsir, Œuvre, Þór, Iğdır", "lodz, dorde, aesir, oeuvre, thor, igdir"),
        ("O’Brien o´brien 3′-UTR", "o'brien o'brien 3'-utr"),
        ("1990–2000 non‑linear −5", "1990-2000 non-linear -5"),
        ("ﬁne ＣＡＰＳ x²", "fine caps x2"),
        ("  two \u00a0 spaces\n", "two spaces"),
        ("Ὀδυσσεύς", "οδυσσευσ"),
        ("שָׁלוֹם", "שלום"),
        ("مُحَمَّد", "محمد"),
        ("が か", "が か"),
        ("क्षेत्र", "क्षेत्र"),
        ("한국어", "한국어"),
    ],
)
def test_spellings_of_one_word_meet(written: str, folded: str) -> None:
    assert fold_text(written) == folded


def test_folding_any_character_twice_changes_nothing() -> None:
    for letter in every_character():
        assert fold_text(fold_text(letter)) == fold_text(letter), hex(ord(letter))


@given(st.text(max_size=60))
def test_folding_any_text_twice_changes_nothing(text: str) -> None:
    assert fold_text(fold_text(text)) == fold_text(text)


@given(st.text(max_size=60))
def test_composed_and_decomposed_text_fold_alike(text: str) -> None:
    composed, decomposed = (unicodedata.normalize(form, text) for form in ("NFC", "NFD"))
    assert fold_text(composed) == fold_text(decomposed) == fold_text(text)


@given(st.text(max_size=60))
def test_case_does_not_matter(text: str) -> None:
    assert fold_text(text) == fold_text(text.casefold())


@given(st.text(max_size=60))
def test_folding_in_place_keeps_every_position(text: str) -> None:
    assert len(fold_in_place(text)) == len(text)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Self-Attention: a survey", "self attention — A Survey"),
        ("Naïve Bayes", "naive bayes."),
        ("Müller", "MULLER"),
    ],
)
def test_titles_that_differ_in_spelling_have_one_key(one: str, other: str) -> None:
    assert text_key(one) == text_key(other) != ""


def test_texts_of_signs_alone_keep_apart() -> None:
    assert text_key("???") != text_key("!!!")
    assert fold_text("C++") != fold_text("C#")


@given(st.text(max_size=60))
def test_a_key_is_its_own_key_and_holds_words_only(text: str) -> None:
    key = text_key(text)
    assert text_key(key) == key
    assert key == fold_text(text) or "".join(split_words(key)) == key

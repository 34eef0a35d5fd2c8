"""One analysis for all rooms: the forms in which a word is written meet, in every script."""

from __future__ import annotations

import sys
from functools import cache

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from carrel.libraries.text.analysis import (
    MAX_TERM_CHARACTERS,
    AskedWord,
    analyze_document,
    analyze_query,
    exact_words,
    ranking_text,
)
from carrel.libraries.text.folding import fold_text
from carrel.libraries.text.words import STOP_WORDS


@cache
def every_letter() -> list[str]:
    """Without the stroke that lengthens an Arabic word and is no letter of it."""
    return [
        chr(code) for code in range(sys.maxunicode + 1) if chr(code).isalnum() and code != 0x640
    ]


def meets(word: AskedWord, terms: set[str]) -> bool:
    return any(set(choice) <= terms for choice in word.choices)


def finds(query: str, document: str) -> bool:
    terms = set(analyze_document(document))
    asked = analyze_query(query)
    return bool(asked) and all(meets(word, terms) for word in asked)


FORMS = [
    ["pre-trained", "pretrained", "pre‑trained", "Pre–Trained", "pre trained"],
    ["COVID-19", "covid19", "Covid 19", "covid‐19"],
    ["IL-6", "IL6", "il-6"],
    ["5-HT", "5HT", "5‑ht"],
    ["p53", "P53"],
    ["TNF-α", "TNFα", "TNF-alpha", "TNF alpha", "tnf-Α"],
    ["NF-κB", "NFκB", "NF-kappaB", "NF-kappa-B"],
    ["summarisation", "summarization"],
    ["Alzheimer's", "Alzheimer", "Alzheimer’s"],
    ["O'Brien", "OBrien", "O’Brien"],
    ["10,000", "10000"],
    ["U.S.A.", "USA"],
    ["naïve", "naive", "nai\u0308ve"],
    ["co-operate", "cooperate", "co operate"],
    ["٢٠٢٠", "2020"],
    ["β-catenin", "beta-catenin", "beta catenin"],
    ["inter-\nnational", "international"],
    ["so\u00adft", "soft"],
]


@pytest.mark.parametrize("forms", FORMS, ids=lambda forms: forms[0])
def test_every_form_of_a_word_finds_every_other(forms: list[str]) -> None:
    missed = [(one, other) for one in forms for other in forms if not finds(one, other)]
    assert missed == []


@pytest.mark.parametrize(
    ("query", "document"),
    [
        ("TNFa", "TNF-α"),
        ("TNF-a", "TNFα"),
        ("NFkB", "NF-κB"),
        ("um", "5 µm"),
        ("PD1", "an anti-PD-1 antibody"),
        ("cov2", "SARS-CoV-2"),
        ("IL 6", "IL6"),
        ("5 HT", "5-HT"),
        ("TNF alpha", "TNFalpha"),
        ("知", "知識管理"),
        ("識管", "知識管理"),
        ("知識管理", "個人の知識管理の方法"),
        ("ไทย", "ภาษาไทย"),
        ("한국", "한국어"),
        ("IFNG", "IFN-γ"),
    ],
)
def test_a_form_that_people_type_finds_the_printed_one(query: str, document: str) -> None:
    assert finds(query, document)


def test_a_different_word_is_not_found() -> None:
    assert not finds("exercise", "exorcism")
    assert not finds("管知", "知識管理")
    assert not finds("overtime", "over time")
    assert not finds("IL-6", "IL-8 and 60 patients")


def test_terms_are_in_order_and_a_compound_has_its_parts_and_the_whole() -> None:
    assert analyze_document("A pre-trained model of tumours.") == [
        "pre", "trained", "pretrained", "model", "tumors",
    ]  # fmt: skip
    assert exact_words("A pre-trained model of tumours.") == [
        "a", "pre", "trained", "model", "of", "tumors",
    ]  # fmt: skip


def test_a_question_is_its_words_of_meaning() -> None:
    asked = analyze_query("What reduces liver fibrosis in mice?")
    assert [word.typed for word in asked] == ["reduces", "liver", "fibrosis", "mice"]


def test_a_query_of_stop_words_alone_asks_for_them() -> None:
    assert [word.typed for word in analyze_query("to be or not to be")][:2] == ["to", "be"]
    assert analyze_query("") == () == analyze_query("— !")


def test_every_letter_and_digit_of_unicode_is_a_term_and_can_be_asked() -> None:
    lost = [
        character
        for character in every_letter()
        if any(part.isalnum() for part in fold_text(character))
        if not exact_words(character) or not analyze_query(character)
    ]
    assert lost == []


def test_every_letter_is_found_inside_a_text() -> None:
    lost = [
        character
        for character in every_letter()[::7]
        if character.isalpha() and fold_text(character).isalnum()
        if analyze_query(character)[0].terms[0] not in STOP_WORDS
        and not finds(character, f"one {character} two")
    ]
    assert lost == []


@given(st.text())
@example("a'b-c.d,e")
@example("µm Ångström")
@example("_x_é")
def test_the_query_of_a_word_always_meets_its_document(text: str) -> None:
    for word in text.split():
        terms = set(analyze_document(word)) | set(exact_words(word))
        assert all(meets(asked, terms) for asked in analyze_query(word))


@given(st.text())
def test_analysing_twice_changes_nothing(text: str) -> None:
    once = set(exact_words(text))
    assert set(exact_words(" ".join(sorted(once)))) <= once | set(analyze_document(text))


@given(st.text())
def test_terms_are_short_and_without_spaces(text: str) -> None:
    for term in analyze_document(text) + exact_words(text):
        assert 0 < len(term) <= 4 * MAX_TERM_CHARACTERS
        assert term == term.strip() and len(term.split()) == 1


@pytest.mark.parametrize(
    "piece", ["a-", "a.", "a'", "1,", "pre ", "α", "知", "e\u0301", "\u200d", "-\n", "x_", "ก"]
)
def test_a_million_characters_of_one_kind_are_read(piece: str) -> None:
    text = piece * (1_000_000 // len(piece))
    assert len(ranking_text(text)) <= 6 * len(text)
    assert len(ranking_text(f"é {text}")) <= 6 * len(text)

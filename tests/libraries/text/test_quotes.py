"""Quotations are found however they were copied, and nothing else is taken for them."""

from __future__ import annotations

import random
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from carrel.libraries.text.quotes import NEAR, Difference, QuoteFinder
from carrel.libraries.text.sentences import sentence_ends
from tests.libraries.text.elife_texts import elife_texts

pytestmark = pytest.mark.promise("P13")

TEXT = """# A study

<!-- page 1 -->

It began. The efﬁcient “inter-
esting” method of *Doe* et al. (2004) was used, see [here](https://a.b/c), to show that mice,
rats and other small animals of the northern plains do not sleep.

<!-- page 2 -->

知識は力である。研究は続く。
"""


@pytest.mark.parametrize(
    ("quotation", "stored"),
    [
        ("mice,\nrats and other", "mice,\nrats and other"),
        ("  It began.  ", "It began."),
        ("知識は力である。", "知識は力である。"),
    ],
)
def test_the_same_characters_are_exact(quotation: str, stored: str) -> None:
    found = QuoteFinder(quotation).find(TEXT)
    assert found is not None
    assert (found.exactness, TEXT[found.start : found.end]) == ("exact", stored)


@pytest.mark.parametrize(
    "quotation",
    [
        'the efficient "interesting" method of Doe et al. (2004)',
        "The efﬁcient ‘inter- esting’ method of Doe et al 2004",
        "was used, see here, to show that mice, rats and other small animals",
        "MICE RATS AND OTHER SMALL ANIMALS",
        "mice, rats and oth-\ner small ani­mals",
        "do not sleep. 知識は 力である",
    ],
)
def test_ligatures_hyphens_line_ends_quotes_and_marks_change_no_words(quotation: str) -> None:
    found = QuoteFinder(quotation).find(TEXT)
    assert found is not None
    assert (found.exactness, found.similarity, found.differences) == ("same words", 1.0, ())


@pytest.mark.parametrize("dots", ["…", "...", " [...] ", "[…]", " . . . ", "(…)"])
def test_an_ellipsis_leaves_words_out_and_shows_them(dots: str) -> None:
    found = QuoteFinder(f"It began. The efficient {dots} to show that mice, rats").find(TEXT)
    assert found is not None
    assert found.exactness == "same words"
    assert TEXT[found.start : found.end].startswith("It began. The ef")
    assert TEXT[found.start : found.end].endswith("mice,\nrats")
    (left_out,) = found.differences
    assert left_out.quoted == "…"
    assert "method of *Doe*" in left_out.stored


def test_words_that_differ_or_are_missing_are_shown() -> None:
    found = QuoteFinder("mice, rats and many small animals of the plains do not sleep").find(TEXT)
    assert found is not None
    assert found.exactness == "near"
    assert NEAR < found.similarity < 1
    assert found.differences == (Difference("many", "other"), Difference("", "northern"))
    assert TEXT[found.start : found.end].startswith("mice,")
    assert TEXT[found.start : found.end].endswith("sleep")


BREAD = (
    "The war went on. The price of bread had doubled in eleven months. The people went\n"
    "to the mill.\n\n## After\n\nThe mill was closed."
)
SENTENCE = "The price of bread had doubled in eleven months"


@pytest.mark.parametrize(
    ("quotation", "stored", "differences"),
    [
        (SENTENCE.replace("eleven", "twelve"), SENTENCE, [("twelve", "eleven")]),
        (SENTENCE.replace("The", "A"), SENTENCE, [("A", "The")]),
        (SENTENCE.replace("months", "weeks"), SENTENCE, [("weeks", "months")]),
        (
            "That cost of bread had doubled in eleven long weeks",
            SENTENCE,
            [("That cost", "The price"), ("long weeks", "months")],
        ),
        (f"However {SENTENCE} since", SENTENCE, [("However", ""), ("since", "")]),
        (
            f"{SENTENCE.replace('eleven', 'ten')}. Many",
            f"{SENTENCE}. The",
            [("ten", "eleven"), ("Many", "The")],
        ),
        ("Some people went to the house", "The people went\nto the mill", None),
    ],
)
def test_changed_words_at_the_ends_are_shown_with_what_stands_there(
    quotation: str, stored: str, differences: list[tuple[str, str]] | None
) -> None:
    found = QuoteFinder(f"{quotation}.").find(BREAD)
    assert found is not None
    assert BREAD[found.start : found.end] == stored
    if differences is not None:
        assert [(each.quoted, each.stored) for each in found.differences] == differences


@pytest.mark.parametrize(
    "quotation",
    ["gan", "the capital of France is Paris and so it was", "", "…", "ice rat", "thod of"],
)
def test_what_is_not_there_or_only_inside_of_words_is_not_found(quotation: str) -> None:
    found = QuoteFinder(quotation).find(TEXT)
    assert found is None or found.similarity < NEAR


@given(st.text(max_size=400), st.data())
def test_every_stretch_between_words_is_found_exactly(text: str, data: st.DataObject) -> None:
    start = data.draw(st.integers(0, len(text)))
    end = data.draw(st.integers(start, len(text)))
    quotation = text[start:end].strip()
    found = QuoteFinder(quotation).find(text)
    if found is not None and found.exactness == "exact":
        assert text[found.start : found.end] == quotation


def _sentences(texts: dict[str, str]) -> list[tuple[str, str]]:
    chance = random.Random(4)
    found: list[tuple[str, str]] = []
    for name, text in texts.items():
        ends = [0, *sentence_ends(text, 0, len(text))]
        spans = [
            text[a:b].strip()
            for a, b in pairwise(ends)
            if 80 < b - a < 400 and "\n" not in text[a:b].strip() and "doi" not in text[a:b]
        ]
        found += [(name, each) for each in chance.sample(spans, min(3, len(spans)))]
    return found


def test_sentences_of_real_papers_are_found_after_a_fifth_of_their_words_changed() -> None:
    texts = elife_texts(20)
    chance = random.Random(15)
    asked = _sentences(texts)
    found_again = 0
    for name, sentence in asked:
        words = sentence.split()
        for at in chance.sample(range(len(words)), len(words) // 5):
            words[at] = "otherwise"
        found = QuoteFinder(" ".join(words)).find(texts[name])
        if found is not None and found.similarity >= NEAR:
            inside = texts[name][found.start : found.end]
            found_again += sum(word in inside for word in sentence.split()) > 0.6 * len(words)
    assert found_again >= 0.97 * len(asked)


def test_other_papers_are_not_taken_for_the_source_of_a_sentence() -> None:
    texts = elife_texts(20)
    names = list(texts)
    wrong = 0
    for name, sentence in _sentences(texts):
        other = texts[names[(names.index(name) + 7) % len(names)]]
        found = QuoteFinder(sentence).find(other)
        wrong += found is not None and found.similarity >= NEAR
    assert wrong == 0


def test_an_endless_repetition_costs_little(tmp_path: Path) -> None:
    finder = QuoteFinder("a b " * 900)
    found = finder.find("b a c " * 30_000)
    assert found is not None

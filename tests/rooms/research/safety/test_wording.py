"""A text is read as it would stand without disguise, and ordinary words stay as they are."""

import pytest

from carrel.rooms.research.safety.evidence import read, read_passages, sentences, stem
from carrel.rooms.research.safety.wording import mended, plain_wording


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


def test_a_text_is_cut_into_sentences_of_plain_small_words() -> None:
    assert sentences("It WON'T burn. Can't it? The fox's den isn't: 3.5 grams") == [
        ["it", "will", "not", "burn"],
        ["cannot", "it"],
        ["the", "fox", "den", "is", "not"],
        ["3", "5", "grams"],
    ]
    assert sentences("") == sentences(" . ") == []


def test_a_sentence_without_an_end_is_cut_after_so_many_words() -> None:
    assert [len(words) for words in sentences("cat " * 241)] == [120, 120, 1]
    assert [len(words) for words in sentences("cat " * 120)] == [120]


@pytest.mark.parametrize(
    ("word", "short"),
    [
        ("infecting", "infect"), ("infected", "infect"), ("infects", "infect"), ("using", "using"),
        ("mutations", "mut"), ("cats", "cat"), ("gas", "gas"), ("toxins", "toxin"), ("us", "us"),
        ("skies", "ski"), ("fly", "fly"),
    ],
)  # fmt: skip
def test_forms_of_one_word_meet_in_its_stem(word: str, short: str) -> None:
    assert stem(word) == short


def test_a_long_text_is_read_passage_by_passage() -> None:
    sentence = "the cat sat on a mat in the sun. "
    assert len(read_passages(sentence * 8)) == 1
    assert len(read_passages(sentence * 9)) == 2
    assert [*read_passages(sentence * 8)[0]] == [*read(sentence * 8)]
    words = read("cats sat")
    assert set(words) >= {"w:cat", "w:sat", "w:cat sat"}
    assert "w: cat" not in words

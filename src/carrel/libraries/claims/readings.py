"""Sentences read by the word lists of the library: stems, classes, negations, numbers."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

from carrel.libraries.text.analysis import analyze_document, analyze_query
from carrel.libraries.text.folding import fold_text
from carrel.libraries.text.spelling import unify_spelling
from carrel.libraries.text.stems import light_stem

DATA = Path(__file__).parent / "data"


@dataclass(frozen=True, slots=True)
class Opposites:
    """Two sets of stems; a word of one says the opposite of a word of the other."""

    name: str
    one: frozenset[str]
    other: frozenset[str]


@dataclass(frozen=True, slots=True)
class WordLists:
    """Synonyms by stem, opposites, and the words of negation, hedging and conclusions."""

    synonyms: Mapping[str, frozenset[int]]
    opposites: tuple[Opposites, ...]
    negations: frozenset[str]
    negation_phrases: tuple[str, ...]
    negation_exceptions: tuple[str, ...]
    hedges: frozenset[str]
    conclusions: tuple[str, ...]
    backgrounds: tuple[str, ...]
    raising: frozenset[str]
    lowering: frozenset[str]
    joining: frozenset[str]
    general: frozenset[str]
    through: tuple[str, ...]

    @property
    def linking(self) -> frozenset[str]:
        """Stems of every verb that joins two things."""
        return self.raising | self.lowering | self.joining


def stem_word(word: str) -> str:
    """The form in which words of lists and texts are compared."""
    return light_stem(unify_spelling(word))


@lru_cache(1)
def load_word_lists() -> WordLists:
    """The lists that come with the library."""
    return parse_word_lists(_read("synonyms.toml"), _read("polarity.toml"))


def parse_word_lists(synonyms: Mapping[str, Any], polarity: Mapping[str, Any]) -> WordLists:
    """Lists in the shape of `data/synonyms.toml` and `data/polarity.toml`."""
    by_stem: dict[str, set[int]] = {}
    for number, words in enumerate(synonyms["classes"]):
        for stem in _stems(words):
            by_stem.setdefault(stem, set()).add(number)
    negation, links = polarity["negation"], polarity["links"]
    return WordLists(
        synonyms={stem: frozenset(classes) for stem, classes in by_stem.items()},
        opposites=tuple(
            Opposites(each["name"], _stems(each["one"]), _stems(each["other"]))
            for each in polarity["opposites"]
        ),
        negations=_stems(negation["words"]),
        negation_phrases=_folded(negation["phrases"]),
        negation_exceptions=_folded(negation["exceptions"]),
        hedges=_stems(polarity["hedge"]["words"]),
        conclusions=_folded(polarity["conclusion"]["phrases"]),
        backgrounds=_folded(polarity["background"]["phrases"]),
        raising=_stems(links["raises"]),
        lowering=_stems(links["lowers"]),
        joining=_stems(links["joins"]),
        general=_stems(polarity["general"]["words"]),
        through=_folded(links["through"]),
    )


def _read(name: str) -> dict[str, Any]:
    return tomllib.loads((DATA / name).read_text(encoding="utf-8"))


def _stems(words: str) -> frozenset[str]:
    return frozenset(stem_word(fold_text(word)) for word in words.split())


def _folded(phrases: Iterable[str]) -> tuple[str, ...]:
    return tuple(fold_text(phrase) for phrase in phrases)


# Longer sentences are read as far as this; a table in one line is no sentence.
MAX_SENTENCE_CHARACTERS = 2_000
_CACHED_READINGS = 4_096
# A negation reaches this many words to either side of what it turns round.
NEGATION_REACH = 6

# "One" is left out: it is a number in few sentences.
SPELLED_NUMBERS = {
    word: str(number)
    for number, word in enumerate(
        (
            "two",
            "three",
            "four",
            "five",
            "six",
            "seven",
            "eight",
            "nine",
            "ten",
            "eleven",
            "twelve",
        ),
        2,
    )
} | {"half": "50%", "twice": "2", "doubled": "2", "twofold": "2", "two-fold": "2"}
_WORD = re.compile(r"[^\W_]+(?:['.-][^\W_]+)*")
_NUMBER = re.compile(r"(?<![\w.])(\d+(?:[.,]\d+)*)\s*(%|percent|per cent|[^\W\d_]+)?")


@dataclass(frozen=True, slots=True)
class StatementWord:
    """A content word of a statement, with the sets of stems that each stand for it."""

    typed: str
    choices: tuple[frozenset[str], ...]
    classes: frozenset[int]


@dataclass(frozen=True, slots=True)
class Reading:
    """A sentence read for claim checking; positions are of words."""

    terms: frozenset[str]
    classes: frozenset[int]
    words: tuple[str, ...]
    stems: tuple[str, ...]
    negations: tuple[int, ...]
    hedges: tuple[int, ...]
    numbers: frozenset[str]
    concludes: bool
    is_background: bool

    def word_of(self, stem: str) -> str:
        """A word as written, by its stem."""
        return self.words[self.stems.index(stem)]


@lru_cache(_CACHED_READINGS)
def read_sentence(text: str) -> Reading:
    """The reading of a sentence with the lists of the library."""
    lists = load_word_lists()
    text = text[:MAX_SENTENCE_CHARACTERS]
    folded = fold_text(text)
    words = _WORD.findall(folded)
    stems = tuple(map(stem_word, words))
    terms = frozenset(map(light_stem, analyze_document(text)))
    return Reading(
        terms=terms,
        classes=frozenset(each for term in terms for each in lists.synonyms.get(term, ())),
        words=tuple(words),
        stems=stems,
        negations=_find_negations(words, stems, lists),
        hedges=tuple(at for at, stem in enumerate(stems) if stem in lists.hedges),
        numbers=frozenset(_numbers(folded)),
        concludes=_has_phrase(folded, lists.conclusions),
        is_background=folded.startswith(lists.backgrounds),
    )


@lru_cache(_CACHED_READINGS)
def read_statement(text: str) -> tuple[StatementWord, ...]:
    """The content words of a statement, each once."""
    lists = load_word_lists()
    found: dict[tuple[frozenset[str], ...], StatementWord] = {}
    for word in analyze_query(text[:MAX_SENTENCE_CHARACTERS]):
        choices = tuple(frozenset(map(light_stem, choice)) for choice in word.choices)
        classes = frozenset(
            each for choice in choices for term in choice for each in lists.synonyms.get(term, ())
        )
        found.setdefault(choices, StatementWord(word.typed, choices, classes))
    return tuple(found.values())


def _find_negations(words: list[str], stems: tuple[str, ...], lists: WordLists) -> tuple[int, ...]:
    spaced = f" {' '.join(words)} "
    if not _has_phrase(spaced, lists.negation_phrases) and not lists.negations.intersection(stems):
        return tuple(at for at, word in enumerate(words) if word.endswith("n't"))
    skipped = {at for phrase in lists.negation_exceptions for at in _places(spaced, phrase)}
    found = {
        at
        for at, (word, stem) in enumerate(zip(words, stems, strict=True))
        if (stem in lists.negations or word.endswith("n't")) and at not in skipped
    }
    found.update(at for phrase in lists.negation_phrases for at in _places(spaced, phrase))
    return tuple(sorted(found))


def _places(spaced: str, phrase: str) -> list[int]:
    """The numbers of the words at which a phrase begins."""
    return [
        spaced.count(" ", 0, found.start() + 1) - 1
        for found in re.finditer(f" {re.escape(phrase)}(?= )", spaced)
    ]


def _has_phrase(folded: str, phrases: tuple[str, ...]) -> bool:
    return _compile_phrases(phrases).search(folded) is not None


@lru_cache(8)
def _compile_phrases(phrases: tuple[str, ...]) -> re.Pattern[str]:
    return re.compile(rf"(?<!\w)(?:{'|'.join(map(re.escape, phrases))})(?!\w)")


def _numbers(folded: str) -> list[str]:
    """Numbers, in figures and in words; percentages are told apart."""
    spelled = [SPELLED_NUMBERS[word] for word in folded.split() if word in SPELLED_NUMBERS]
    return spelled + [
        found[1].replace(",", "") + ("%" if _is_percent(found[2]) else "")
        for found in _NUMBER.finditer(folded)
    ]


def _is_percent(unit: str | None) -> bool:
    return unit in {"%", "percent", "per cent"}

"""Word lists of claim checking, read from the data files beside this module."""

from __future__ import annotations

import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

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

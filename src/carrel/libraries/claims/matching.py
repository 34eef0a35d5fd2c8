"""How well sentences and papers match the words of a statement, best sentences first."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

from carrel.libraries.claims.readings import (
    Reading,
    StatementWord,
    read_sentence,
    read_statement,
)
from carrel.libraries.claims.records import PaperText, RankedSentence, Statement
from carrel.libraries.claims.weights import load_weights
from carrel.libraries.claims.word_lists import load_word_lists, stem_word
from carrel.libraries.discovery.concepts.words import general_levels
from carrel.libraries.text.folding import fold_text

MAX_SENTENCES_PER_PAPER = 400
# A word that the table of general words has not stands in fewer than one of 5,000 texts.
RAREST = math.log(5_000)
HALF_OCTAVE = math.log(2) / 2


@dataclass(frozen=True, slots=True)
class ReadPaper:
    """A paper with its sentences read; `terms` and `classes` are of the title and all of them."""

    paper: PaperText
    title: Reading
    sentences: tuple[Reading, ...]
    terms: frozenset[str]
    classes: frozenset[int]


@dataclass(frozen=True, slots=True)
class WeighedStatement:
    """The words of a statement with their rarity among the sentences read; shares sum to 1."""

    words: tuple[StatementWord, ...]
    shares: tuple[float, ...]


def read_papers(papers: Sequence[PaperText]) -> list[ReadPaper]:
    """Read the sentences of papers, the first few hundred of each."""
    return [_read_paper(paper) for paper in papers]


def weigh_statement(statement: Statement, papers: Sequence[ReadPaper]) -> WeighedStatement:
    """Weigh each word by how few of the sentences have it, and by its rarity in general English."""
    words = read_statement(statement.text)
    readings = [reading for paper in papers for reading in paper.sentences]
    total = len(readings)
    counts = [sum(has_word(word, reading.terms) for reading in readings) for word in words]
    weights = [
        math.log(1 + (total - count + 0.5) / (count + 0.5)) * _rate_rarity(word)
        for word, count in zip(words, counts, strict=True)
    ]
    whole = sum(weights) or 1.0
    return WeighedStatement(words, tuple(weight / whole for weight in weights))


def measure_generality(term: str) -> int:
    """Half octaves by which all fields use a term more than one text in 5,000; else 0."""
    return _levels_by_stem().get(term, 0)


def rate_term(term: str) -> float:
    """How rare a term is in the prose of all fields: the log of one in so many texts."""
    return RAREST - HALF_OCTAVE * measure_generality(term)


def _rate_rarity(word: StatementWord) -> float:
    return max(
        (min(map(rate_term, choice), default=RAREST) for choice in word.choices), default=RAREST
    )


@lru_cache(1)
def _levels_by_stem() -> Mapping[str, int]:
    levels: dict[str, int] = {}
    for word, level in general_levels().items():
        stem = stem_word(word)
        levels[stem] = max(level, levels.get(stem, 0))
    return levels


def weigh_evenly(statement: Statement) -> WeighedStatement:
    """Words that name things count twice as much as those of every field."""
    lists = load_word_lists()
    weak = lists.general | lists.linking | lists.negations | lists.hedges
    words = read_statement(statement.text)
    weights = [1.0 if stem_word(fold_text(word.typed)) in weak else 2.0 for word in words]
    whole = sum(weights) or 1.0
    return WeighedStatement(words, tuple(weight / whole for weight in weights))


def has_word(word: StatementWord, terms: frozenset[str]) -> bool:
    return any(choice <= terms for choice in word.choices)


def measure_words(statement: WeighedStatement, terms: frozenset[str]) -> float:
    """The share of the statement whose very words are among the terms."""
    return sum(
        share
        for word, share in zip(statement.words, statement.shares, strict=True)
        if has_word(word, terms)
    )


def measure_synonyms(
    statement: WeighedStatement, terms: frozenset[str], classes: frozenset[int]
) -> float:
    """The share of the statement that only a synonym stands for."""
    return sum(
        share
        for word, share in zip(statement.words, statement.shares, strict=True)
        if word.classes & classes and not has_word(word, terms)
    )


def _read_paper(paper: PaperText) -> ReadPaper:
    title = read_sentence(paper.title)
    sentences = tuple(map(read_sentence, paper.sentences[:MAX_SENTENCES_PER_PAPER]))
    return ReadPaper(
        paper,
        title,
        sentences,
        title.terms.union(*(each.terms for each in sentences)),
        title.classes.union(*(each.classes for each in sentences)),
    )


MAX_PAPERS = 200


def rank_sentences(statement: Statement, papers: Sequence[PaperText]) -> list[RankedSentence]:
    """Every sentence that shares a word with the statement, the best first."""
    model = load_weights().sentence
    ranked = [
        RankedSentence(
            paper_id=paper.paper.paper_id,
            number=number,
            text=paper.paper.sentences[number],
            score=model.score(features),
            coverage=features["words"] + features["synonyms"],
            title=paper.paper.title,
        )
        for paper, number, features in measure_sentences(statement, papers)
        if features["words"] + features["synonyms"] > 0
    ]
    return sorted(ranked, key=lambda each: (-each.score, each.paper_id, each.number))


def measure_sentences(
    statement: Statement, papers: Sequence[PaperText]
) -> Iterator[tuple[ReadPaper, int, dict[str, float]]]:
    """Each sentence by its paper and number, with the features by which it is ranked."""
    read = read_papers(papers[:MAX_PAPERS])
    weighed = weigh_statement(statement, read)
    numbers = read_sentence(statement.text).numbers
    for paper in read:
        whole = measure_words(weighed, paper.terms)
        for number in range(len(paper.sentences)):
            features = _measure_sentence(weighed, paper, number)
            features["whole_paper"] = whole
            features["number"] = float(bool(numbers & paper.sentences[number].numbers))
            yield paper, number, features


def _measure_sentence(
    statement: WeighedStatement, paper: ReadPaper, number: int
) -> dict[str, float]:
    reading = paper.sentences[number]
    words = measure_words(statement, reading.terms)
    return {
        "words": words,
        "synonyms": measure_synonyms(statement, reading.terms, reading.classes),
        "title": measure_words(statement, reading.terms | paper.title.terms) - words,
        "place": (number + 1) / len(paper.sentences),
        "conclusion": float(reading.concludes),
        "background": float(reading.is_background),
        "hedge": float(bool(reading.hedges)),
        "length": math.log(1 + len(reading.stems)),
        "rank": -math.log(max(1, paper.paper.rank)),
    }

"""Rank the sentences of papers by how much of a statement they have."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence

from carrel.libraries.claims.readings import (
    Reading,
    StatementWord,
    read_sentence,
    read_statement,
)
from carrel.libraries.claims.records import PaperText, RankedSentence, Statement

# From the facts sheet, not fitted: a synonym counts half, later sentences and conclusions more,
# papers that the search ranks first more.
SYNONYM_SHARE = 0.5
PLACE_WEIGHT = 0.25
CONCLUSION_WEIGHT = 0.15
PRIOR_WEIGHT = 0.5
MAX_SENTENCES = 20_000


def rank_sentences(statement: Statement, papers: Sequence[PaperText]) -> list[RankedSentence]:
    """Every sentence that shares a word with the statement, the best first."""
    words = read_statement(statement.text)
    sentences = [
        (paper, number, text)
        for paper in papers
        for number, text in enumerate(paper.sentences)
        if text.strip()
    ][:MAX_SENTENCES]
    readings = [read_sentence(text) for _, _, text in sentences]
    rarity = _weigh_words(words, readings)
    ranked = []
    for (paper, number, text), reading in zip(sentences, readings, strict=True):
        coverage = measure_coverage(words, reading, rarity)
        if coverage > 0:
            factor = _weigh_place(paper, number, reading) * (1 + PRIOR_WEIGHT / max(1, paper.rank))
            ranked.append(
                RankedSentence(
                    paper.paper_id, number, text, coverage * factor, coverage, paper.title
                )
            )
    return sorted(ranked, key=lambda each: (-each.score, each.paper_id, each.number))


def measure_coverage(
    words: Sequence[StatementWord], reading: Reading, rarity: Sequence[float]
) -> float:
    """The share of a statement, by rarity of its words, that a sentence has (0 to 1)."""
    total = sum(rarity)
    if not total:
        return 0.0
    return (
        sum(weight * _match(word, reading) for word, weight in zip(words, rarity, strict=True))
        / total
    )


def _match(word: StatementWord, reading: Reading) -> float:
    if any(choice <= reading.terms for choice in word.choices):
        return 1.0
    return SYNONYM_SHARE if word.classes & reading.classes else 0.0


def _weigh_words(words: Sequence[StatementWord], readings: Sequence[Reading]) -> list[float]:
    """How rare each word is among the sentences read."""
    counts = Counter(
        at
        for reading in readings
        for at, word in enumerate(words)
        if any(choice <= reading.terms for choice in word.choices)
    )
    total = len(readings)
    return [
        math.log(1 + (total - counts[at] + 0.5) / (counts[at] + 0.5)) for at in range(len(words))
    ]


def _weigh_place(paper: PaperText, number: int, reading: Reading) -> float:
    place = (number + 1) / len(paper.sentences)
    return 1 + PLACE_WEIGHT * place + (CONCLUSION_WEIGHT if reading.concludes else 0.0)

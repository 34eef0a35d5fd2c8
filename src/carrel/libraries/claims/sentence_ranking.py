"""Rank the sentences of papers by how likely they decide a statement."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

from carrel.libraries.claims.matching import (
    ReadPaper,
    WeighedStatement,
    measure_synonyms,
    measure_words,
    read_papers,
    weigh_statement,
)
from carrel.libraries.claims.readings import read_sentence
from carrel.libraries.claims.records import PaperText, RankedSentence, Statement
from carrel.libraries.claims.weights import load_weights

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

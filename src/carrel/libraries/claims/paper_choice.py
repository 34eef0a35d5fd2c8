"""Queries for a statement, and which of the papers found are read."""

from __future__ import annotations

import math
import re
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from heapq import nlargest

from carrel.libraries.claims.matching import (
    ReadPaper,
    WeighedStatement,
    measure_synonyms,
    measure_words,
    rate_term,
    read_papers,
    weigh_statement,
)
from carrel.libraries.claims.records import PaperText, Statement
from carrel.libraries.claims.weights import load_weights
from carrel.libraries.claims.word_lists import load_word_lists, stem_word
from carrel.libraries.text.folding import fold_text

# Papers that are asked for per query, and read per statement.
PAPERS_PER_QUERY = 30
PAPERS_READ = 5
MAX_QUERY_CHARACTERS = 500
# The second query keeps at least this many words; with fewer it would ask for anything.
_LEAST_WORDS = 3
# Reciprocal rank fusion; the second query counts half.
FUSION_OFFSET = 10
_LATER_QUERY_WEIGHT = 0.5
# No word of a statement is an operator of the query language: quotes, brackets, colons, minus.
_WORD = re.compile(r"[^\W_]+(?:[-.'][^\W_]+)*")


def write_queries(statement: Statement) -> tuple[str, ...]:
    """The searches for a statement: its words, then its words without what joins the things."""
    words = [word.lower() for word in _WORD.findall(statement.text)]
    lists = load_word_lists()
    general = lists.general | lists.linking | lists.negations | lists.hedges
    things = [word for word in words if stem_word(fold_text(word)) not in general]
    queries = [words, things] if len(things) >= _LEAST_WORDS else [words]
    found = (" ".join(query)[:MAX_QUERY_CHARACTERS].strip() for query in queries)
    return tuple(dict.fromkeys(query for query in found if query))


def fuse_rankings(rankings: Sequence[Sequence[str]]) -> list[str]:
    """One order of the ids that several searches found, the best first."""
    scores: dict[str, float] = {}
    for number, ranking in enumerate(rankings):
        weight = 1.0 if number == 0 else _LATER_QUERY_WEIGHT
        for place, found in enumerate(ranking, 1):
            scores[found] = scores.get(found, 0.0) + weight / (FUSION_OFFSET + place)
    return sorted(scores, key=lambda each: -scores[each])


# The papers found first lend this many of their words to the comparison of all.
FEEDBACK_PAPERS = 10
FEEDBACK_WORDS = 100
# A synonym counts half as much as the word itself; from the facts sheet, not fitted.
SYNONYM_SHARE = 0.5


def choose_papers(
    statement: Statement, candidates: Sequence[PaperText], limit: int = PAPERS_READ
) -> list[PaperText]:
    """The candidates that are likeliest to decide a statement, best first, ranked anew from 1.

    Candidates stand in the order of the search, with what the search shows of their texts.
    """
    model = load_weights().paper
    features = measure_papers(statement, candidates)
    order = sorted(range(len(candidates)), key=lambda at: -model.score(features[at]))
    return [
        PaperText(candidates[at].paper_id, candidates[at].title, rank, candidates[at].sentences)
        for rank, at in enumerate(order[:limit], 1)
    ]


def measure_papers(
    statement: Statement, candidates: Sequence[PaperText]
) -> list[Mapping[str, float]]:
    """The features of each candidate, by which papers are chosen."""
    papers = read_papers(candidates)
    weighed = weigh_statement(statement, papers)
    alike = _compare_with_first(weighed, papers)
    return [
        _measure_paper(weighed, paper, place) | {"like_the_first": alike[place - 1]}
        for place, paper in enumerate(papers, 1)
    ]


def _measure_paper(statement: WeighedStatement, paper: ReadPaper, place: int) -> dict[str, float]:
    shares = sorted(
        (_share(statement, each.terms, each.classes) for each in paper.sentences), reverse=True
    )
    return {
        "place_in_search": -math.log(place),
        "whole_paper": _share(statement, paper.terms, paper.classes),
        "best_two_sentences": sum(shares[:2]),
        "title": _share(statement, paper.title.terms, paper.title.classes),
    }


def _share(statement: WeighedStatement, terms: frozenset[str], classes: frozenset[int]) -> float:
    synonyms = measure_synonyms(statement, terms, classes)
    return measure_words(statement, terms) + SYNONYM_SHARE * synonyms


def _weigh_terms(terms: frozenset[str]) -> dict[str, float]:
    """Terms by their rarity, as a vector of length 1."""
    weights = {term: rate_term(term) for term in terms}
    length = math.sqrt(sum(weight * weight for weight in weights.values())) or 1.0
    return {term: weight / length for term, weight in weights.items()}


def _compare_with_first(statement: WeighedStatement, papers: Sequence[ReadPaper]) -> list[float]:
    """How much each paper has of the words that the other first papers share (0 to 1)."""
    asked = frozenset(
        term for word in statement.words for choice in word.choices for term in choice
    )
    counts = Counter(term for paper in papers for term in paper.terms)
    vectors = [_weigh_terms(paper.terms - asked) for paper in papers]
    centre: dict[str, float] = defaultdict(float)
    for place, vector in enumerate(vectors[:FEEDBACK_PAPERS]):
        for term, weight in vector.items():
            if counts[term] > 1:
                centre[term] += weight / (1 + place / 2)
    common = dict(nlargest(FEEDBACK_WORDS, centre.items(), key=lambda each: each[1]))
    found = []
    for place, vector in enumerate(vectors):
        own = 1 / (1 + place / 2) if place < FEEDBACK_PAPERS else 0.0
        found.append(
            sum(
                (weight - own * vector[term]) * vector[term]
                for term, weight in common.items()
                if term in vector
            )
        )
    highest = max(found, default=0.0) or 1.0
    return [value / highest for value in found]

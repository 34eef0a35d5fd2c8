"""Queries for a statement, the papers that are read for it, and their best sentences."""

from __future__ import annotations

import math
import re
import tomllib
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from heapq import nlargest
from pathlib import Path

from carrel.libraries.claims.readings import (
    Reading,
    StatementWord,
    load_word_lists,
    read_sentence,
    read_statement,
    stem_word,
)
from carrel.libraries.claims.records import PaperText, RankedSentence, Statement
from carrel.libraries.discovery.concepts.words import general_levels
from carrel.libraries.text.folding import fold_text

WEIGHTS_FILE = Path(__file__).parent / "data" / "weights.toml"


@dataclass(frozen=True, slots=True)
class LinearModel:
    """A weighted sum of named features."""

    weights: Mapping[str, float]
    constant: float = 0.0

    def score(self, features: Mapping[str, float]) -> float:
        return self.constant + sum(weight * features[name] for name, weight in self.weights.items())

    def probability(self, features: Mapping[str, float]) -> float:
        return 1 / (1 + math.exp(-max(-30.0, min(30.0, self.score(features)))))


@dataclass(frozen=True, slots=True)
class ClaimWeights:
    """Every fitted number; the file says on what each was fitted."""

    paper: LinearModel
    sentence: LinearModel
    bearing: LinearModel
    least_bearing: float
    agreeing: LinearModel
    opposing: LinearModel
    least_supporting: float
    least_contradicting: float


@lru_cache(1)
def load_weights() -> ClaimWeights:
    """The weights that come with the library."""
    table = tomllib.loads(WEIGHTS_FILE.read_text(encoding="utf-8"))

    def model(name: str) -> LinearModel:
        return LinearModel(table[name]["weights"], table[name].get("constant", 0.0))

    return ClaimWeights(
        paper=model("paper"),
        sentence=model("sentence"),
        bearing=model("bearing"),
        least_bearing=table["bearing"]["least"],
        agreeing=model("agreeing"),
        opposing=model("opposing"),
        least_supporting=table["agreeing"]["least"],
        least_contradicting=table["opposing"]["least"],
    )


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

"""The order of found works: fused ranks of the services, then our own search over what was found.

rank_works(merged, parse_paper_query("sleep memory year:2015.."))
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

from carrel.libraries.literature.merging import order_of_work
from carrel.libraries.literature.records import MergedWork, WorkRecord
from carrel.libraries.query.papers import PaperQuery, QueryNode, positive_phrases
from carrel.libraries.text.analysis import AskedWord, analyze_document, analyze_query
from carrel.libraries.text.folding import text_key
from carrel.libraries.text.stems import light_stem
from carrel.libraries.text.words import Phrase

# Reciprocal rank fusion: how little the first places differ (the usual value; facts, section 8).
FUSION_CONSTANT = 60
# As in our index, so that both orders agree.
_K1 = 1.2
_B = 0.75
_MARK = re.compile(r"</?(?:i|b|sub|sup)>")


@dataclass(frozen=True, slots=True)
class RankingWeights:
    """What counts in the order of found works."""

    # The share of our own score; the rest is that of the fused ranks.
    text: float
    # A word of the title counts as this many of the abstract.
    title: float
    # Quoted words and neighbours of the question that are neighbours in the text.
    neighbours: float


# Chosen on one half of SciFact's questions and of its titles as questions, over simulated services;
# the other half and what else was tried: `make judge-merging`, decision 59.
WEIGHTS = RankingWeights(text=0.7, title=2.0, neighbours=0.5)


def rank_works(
    works: Sequence[MergedWork], query: PaperQuery, weights: RankingWeights = WEIGHTS
) -> list[MergedWork]:
    """The works with their scores, best first, whatever order they came in.

    The work that the query names by identifier or whole title is first; false copies are last.
    """
    fused = _scale([fuse_ranks(work) for work in works])
    own = _scale(score_texts([work.work for work in works], query, weights))
    share = weights.text if any(own) else 0.0
    scored = [
        replace(work, score=round(share * text + (1 - share) * rank, 6))
        for work, text, rank in zip(works, own, fused, strict=True)
    ]
    return sorted(
        scored,
        key=lambda work: (
            work.copy_of is not None,
            not _is_named(work.work, query),
            -work.score,
            order_of_work(work),
        ),
    )


def fuse_ranks(work: MergedWork) -> float:
    """The sum over services of 1 / (60 + best rank there)."""
    best: dict[str, int] = {}
    for record in work.records:
        if record.rank is not None:
            best[record.service] = min(record.rank, best.get(record.service, record.rank))
    return sum(1 / (FUSION_CONSTANT + rank) for rank in best.values())


def score_texts(
    works: Sequence[WorkRecord], query: PaperQuery, weights: RankingWeights = WEIGHTS
) -> list[float]:
    """How well title and abstract of each work answer the words of a query; 0 for no word."""
    wanted = list(_list_wanted(query))
    if not wanted or not works:
        return [0.0] * len(works)
    texts = [_WorkText.read(work) for work in works]
    lengths = [weights.title * len(text.title) + len(text.abstract) for text in texts]
    average = max(1.0, sum(lengths) / len(lengths))
    scores = [0.0] * len(works)
    for each in wanted:
        counts = [each.count(text, weights.title) for text in texts]
        having = sum(count > 0 for count in counts)
        rarity = math.log(1 + (len(works) - having + 0.5) / (having + 0.5))
        factor = weights.neighbours if each.is_pair else 1.0
        for at, count in enumerate(counts):
            if count:
                norm = _K1 * (1 - _B + _B * lengths[at] / average)
                scores[at] += factor * rarity * count * (_K1 + 1) / (count + norm)
    return scores


@dataclass(frozen=True, slots=True)
class _WorkText:
    """The stems of a work's title and abstract, how often each comes, and neighbours."""

    title: list[str]
    abstract: list[str]
    title_counts: Counter[str]
    abstract_counts: Counter[str]

    @classmethod
    def read(cls, work: WorkRecord) -> _WorkText:
        title = list(map(light_stem, analyze_document(_MARK.sub("", work.title))))
        words = _MARK.sub("", f"{work.abstract} {' '.join(work.keywords)}")
        abstract = list(map(light_stem, analyze_document(words)))
        return cls(title, abstract, Counter(title), Counter(abstract))

    def count(self, term: str, title_weight: float) -> float:
        return title_weight * self.title_counts[term] + self.abstract_counts[term]

    def count_run(self, run: tuple[str, ...], title_weight: float) -> float:
        if any(not (self.title_counts[term] or self.abstract_counts[term]) for term in run):
            return 0.0
        return title_weight * _count_in(self.title, run) + _count_in(self.abstract, run)


def _count_in(words: Sequence[str], run: tuple[str, ...]) -> int:
    first, size = run[0], len(run)
    return sum(
        word == first and tuple(words[at : at + size]) == run for at, word in enumerate(words)
    )


@dataclass(frozen=True, slots=True)
class _Wanted:
    """A word that is asked for in any of its forms, or neighbours."""

    choices: tuple[tuple[str, ...], ...]
    is_pair: bool = False
    in_title: bool = False

    def count(self, text: _WorkText, title_weight: float) -> float:
        if self.in_title:
            text = _WorkText(text.title, [], text.title_counts, Counter())
        if self.is_pair:
            return text.count_run(self.choices[0], title_weight)
        return max(
            min(text.count(term, title_weight) for term in choice) for choice in self.choices
        )


def _list_wanted(query: PaperQuery) -> Iterator[_Wanted]:
    """The words that rank, and which of them should be neighbours."""
    loose = " ".join(word for phrase in query.loose for word in phrase.words)
    found = analyze_query(loose)
    yield from _read_words(found)
    for phrase in _list_phrases(query.strict):
        asked = analyze_query(" ".join(phrase.words))
        yield from _read_words(asked, in_title=phrase.in_title)
    yield from _pair_neighbours(found)
    for phrase in _list_phrases(query.strict):
        yield from _pair_neighbours(analyze_query(" ".join(phrase.words)))


def _list_phrases(node: QueryNode | None) -> list[Phrase]:
    return list(positive_phrases(node))


def _read_words(words: Sequence[AskedWord], *, in_title: bool = False) -> Iterator[_Wanted]:
    for word in words:
        yield _Wanted(
            tuple(tuple(map(light_stem, choice)) for choice in word.choices), in_title=in_title
        )


def _pair_neighbours(words: Sequence[AskedWord]) -> Iterator[_Wanted]:
    stems = [tuple(map(light_stem, word.choices[0])) for word in words]
    for one, other in pairwise(stems):
        yield _Wanted(((*one, *other),), is_pair=True)


def _scale(values: Sequence[float]) -> list[float]:
    most = max(values, default=0.0)
    return [value / most for value in values] if most > 0 else [0.0] * len(values)


def _is_named(work: WorkRecord, query: PaperQuery) -> bool:
    """Whether the query is the identifier or the whole title of a work."""
    for asked in query.identifiers:
        value = getattr(work.ids, asked.kind, None)
        if value is not None and value.lower() == asked.value.lower():
            return True
    title = _MARK.sub("", work.title)
    return len(title.split()) > 1 and bool(query.title_key) and text_key(title) == query.title_key

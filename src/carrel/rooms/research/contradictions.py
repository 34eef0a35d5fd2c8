"""Pairs of sentences of different papers that deny each other, as far as words tell."""

from __future__ import annotations

import asyncio
import math
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import islice

from carrel.libraries.claims import Relation, Statement, judge_stance
from carrel.libraries.discovery.records import Paper
from carrel.libraries.text.analysis import analyze_document
from carrel.libraries.text.budget import until_cancelled
from carrel.libraries.text.stems import light_stem
from carrel.libraries.text.words import STOP_WORDS
from carrel.rooms.research.claim_models import (
    Contradiction,
    ContradictionsFound,
    FindContradictions,
    QuotedSentence,
)
from carrel.rooms.research.claim_search import ClaimSearch, split_sentences
from carrel.rooms.research.corpus import Corpus
from carrel.rooms.research.errors import CorpusEmptyError, PaperToReadNotFoundError
from carrel.rooms.research.ports import EvidencePassages

# Bounds of one call: papers compared, hits of a search, sentences of a paper and pairs judged.
MAX_PAPERS = 2_000
SEARCH_HITS = 100
_SENTENCES_PER_PAPER = 12
_MAX_PAIRS = 60_000
# Two sentences are compared where the words they share weigh this much of the shorter one; chosen
# by hand on pairs of eLife abstracts, where below it most pairs speak of other things.
_LEAST_SHARED = 0.5
# A word of more sentences than this share says little about whether two are on one subject.
_COMMON_SHARE = 0.02
_LEAST_COMMON = 20
_LEAST_TERMS = 4


@dataclass(frozen=True, slots=True)
class _Sentence:
    paper: Paper
    number: int
    text: str
    terms: frozenset[str]


@dataclass(frozen=True, slots=True)
class _Pair:
    one: _Sentence
    other: _Sentence
    confidence: float
    reasons: tuple[str, ...]


class Contradictions:
    """Compares the abstracts of papers sentence by sentence."""

    def __init__(self, corpus: Corpus, search: ClaimSearch, passages: EvidencePassages) -> None:
        self._corpus = corpus
        self._search = search
        self._passages = passages

    async def find(self, question: FindContradictions) -> ContradictionsFound:
        """The surest pairs; CorpusEmptyError, PaperToReadNotFoundError."""
        total = await self._search.count_papers()
        if not total:
            raise CorpusEmptyError(
                "There are no papers yet to compare", next_step="add_paper adds the first."
            )
        papers = await self._choose_papers(question)
        sentences, pairs, compared = await asyncio.to_thread(_compare, papers)
        shown = pairs[: question.limit]
        asked_for = bool(question.within or question.query.strip())
        left_out = 0 if asked_for else max(0, total - len(papers))
        return ContradictionsFound(
            message=_explain(len(papers), left_out, sentences, len(pairs), len(shown)),
            contradictions=[
                Contradiction(
                    one=await self._quote(pair.one),
                    other=await self._quote(pair.other),
                    confidence=round(pair.confidence, 3),
                    reasons=list(pair.reasons),
                )
                for pair in shown
            ],
            papers_covered=len(papers),
            papers_left_out=left_out,
            sentences_compared=sentences,
            pairs_compared=compared,
        )

    async def _choose_papers(self, question: FindContradictions) -> list[Paper]:
        if question.within:
            ids = await self._search.find_ids(question.within)
            missing = [name for name, found in zip(question.within, ids, strict=True) if not found]
            if missing:
                raise PaperToReadNotFoundError(missing)
            return await self._corpus.papers([one for one in dict.fromkeys(ids) if one])
        if question.query.strip():
            return await self._corpus.search(question.query, SEARCH_HITS)
        return await self._corpus.newest_papers(MAX_PAPERS)

    async def _quote(self, sentence: _Sentence) -> QuotedSentence:
        passage = await self._passages.find(sentence.paper.id, sentence.text)
        return QuotedSentence(
            paper_id=sentence.paper.id,
            title=sentence.paper.title,
            year=sentence.paper.year,
            passage_id=None if passage is None else passage.passage_id,
            section=f"abstract, sentence {sentence.number}",
            page=None if passage is None else passage.page,
            sentence=sentence.text,
            confidence=1.0,
        )


def _compare(papers: Sequence[Paper]) -> tuple[int, list[_Pair], int]:
    """How many sentences were read, the pairs that deny each other, how many were compared."""
    sentences = [one for paper in until_cancelled(papers) for one in _read(paper)]
    weights = _weigh(sentences)
    candidates = list(islice(_candidates(sentences, weights), _MAX_PAIRS))
    pairs: dict[tuple[str, str], _Pair] = {}
    for one, other in until_cancelled(candidates):
        found = _judge(one, other)
        if found is None:
            continue
        key = (min(one.paper.id, other.paper.id), max(one.paper.id, other.paper.id))
        if key not in pairs or pairs[key].confidence < found.confidence:
            pairs[key] = found
    surest = sorted(pairs.values(), key=lambda each: (-each.confidence, each.one.paper.id))
    return len(sentences), surest, len(candidates)


def _read(paper: Paper) -> list[_Sentence]:
    """The last sentences of an abstract, where results and conclusions stand."""
    numbered = list(enumerate(split_sentences(paper.abstract), 1))
    read = [
        _Sentence(paper, number, text, _read_terms(text))
        for number, text in numbered[-_SENTENCES_PER_PAPER:]
    ]
    return [one for one in read if len(one.terms) >= _LEAST_TERMS]


def _read_terms(text: str) -> frozenset[str]:
    return frozenset(map(light_stem, analyze_document(text))) - STOP_WORDS


def _weigh(sentences: Sequence[_Sentence]) -> dict[str, float]:
    counts = Counter(term for one in sentences for term in one.terms)
    return {term: math.log(1 + len(sentences) / count) for term, count in counts.items()}


def _candidates(
    sentences: Sequence[_Sentence], weights: dict[str, float]
) -> Iterable[tuple[_Sentence, _Sentence]]:
    """Pairs of different papers that share enough of their rarer words, each pair once."""
    having: dict[str, list[int]] = defaultdict(list)
    for at, one in enumerate(sentences):
        for term in one.terms:
            having[term].append(at)
    most = max(_LEAST_COMMON, int(len(sentences) * _COMMON_SHARE))
    sizes = [sum(weights[term] for term in one.terms) for one in sentences]
    for at, one in until_cancelled(list(enumerate(sentences))):
        shared: dict[int, float] = defaultdict(float)
        for term in one.terms:
            if len(having[term]) <= most:
                for other in having[term]:
                    if other > at:
                        shared[other] += weights[term]
        for other, weight in shared.items():
            is_near = weight >= _LEAST_SHARED * min(sizes[at], sizes[other])
            if is_near and sentences[other].paper.id != one.paper.id:
                yield one, sentences[other]


def _judge(one: _Sentence, other: _Sentence) -> _Pair | None:
    """The pair if either sentence, read as a statement, is denied by the other."""
    found = [
        (stance.confidence, stance.reasons)
        for statement, sentence in ((one, other), (other, one))
        for stance in [judge_stance(Statement(statement.text), sentence.text, sentence.paper.title)]
        if stance.relation is Relation.CONTRADICTS
    ]
    if not found:
        return None
    confidence, reasons = max(found)
    return _Pair(one, other, confidence, reasons)


def _explain(papers: int, left_out: int, sentences: int, found: int, shown: int) -> str:
    covered = f"{papers:,} paper{'' if papers == 1 else 's'} compared, {sentences:,} sentences"
    rest = (
        f"; {left_out:,} older papers of the corpus were not: give a query or papers to reach them"
        if left_out
        else ""
    )
    if not found:
        return f"{covered}{rest}. No two of them deny each other, as far as words tell."
    more = f", the surest {shown} shown" if shown < found else ""
    pairs = "1 pair denies" if found == 1 else f"{found} pairs deny"
    return f"{covered}{rest}. {pairs} each other, as far as words tell{more}: read both."

"""Pairs of sentences of different papers that say the opposite of the same two things."""

from __future__ import annotations

import asyncio
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice

from carrel.libraries.claims import Denial, StatedEffect, compare_effects, read_effects
from carrel.libraries.discovery.records import Paper
from carrel.libraries.text.budget import until_cancelled
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
# The share of pairs that were right, read one by one; docs/decisions/0055 says which.
_SURE, _UNSURE = 0.7, 0.3
_TITLE = "title"


@dataclass(frozen=True, slots=True)
class _Sentence:
    paper: Paper
    number: int
    text: str
    effect: StatedEffect


@dataclass(frozen=True, slots=True)
class _Pair:
    one: _Sentence
    other: _Sentence
    denial: Denial


@dataclass(frozen=True, slots=True)
class _Compared:
    """The pairs found, the surest first, and what was looked at."""

    pairs: list[_Pair]
    effect_count: int
    compared_count: int
    is_cut: bool


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
        found = await asyncio.to_thread(_compare, papers)
        shown = found.pairs[: question.limit]
        asked_for = bool(question.within or question.query.strip())
        left_out = 0 if asked_for else max(0, total - len(papers))
        return ContradictionsFound(
            message=_explain(len(papers), left_out, found, len(shown)),
            contradictions=[
                Contradiction(
                    one=await self._quote(pair.one),
                    other=await self._quote(pair.other),
                    confidence=_SURE if pair.denial.is_sure else _UNSURE,
                    reasons=_say_why(pair),
                )
                for pair in shown
            ],
            papers_covered=len(papers),
            papers_left_out=left_out,
            sentences_compared=found.effect_count,
            pairs_compared=found.compared_count,
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
            section=f"abstract, sentence {sentence.number}" if sentence.number else _TITLE,
            page=None if passage is None else passage.page,
            sentence=sentence.text,
            confidence=1.0,
        )


def _compare(papers: Sequence[Paper]) -> _Compared:
    """The pairs of papers with a sentence each that deny one another."""
    sentences = [one for paper in until_cancelled(papers) for one in _read(paper)]
    candidates = list(islice(_candidates(sentences), _MAX_PAIRS + 1))
    pairs: dict[tuple[str, str], _Pair] = {}
    for one, other in until_cancelled(candidates[:_MAX_PAIRS]):
        denial = compare_effects(one.effect, other.effect)
        if denial is None:
            continue
        key = (min(one.paper.id, other.paper.id), max(one.paper.id, other.paper.id))
        if key not in pairs or denial.is_sure > pairs[key].denial.is_sure:
            pairs[key] = _Pair(one, other, denial)
    surest = sorted(pairs.values(), key=lambda each: (not each.denial.is_sure, each.one.paper.id))
    compared = min(len(candidates), _MAX_PAIRS)
    return _Compared(surest, len(sentences), compared, len(candidates) > _MAX_PAIRS)


def _read(paper: Paper) -> list[_Sentence]:
    """The effects stated in the title and the last sentences of an abstract: there results are."""
    numbered = list(enumerate(split_sentences(paper.abstract), 1))
    return [
        _Sentence(paper, number, text, effect)
        for number, text in ((0, paper.title), *numbered[-_SENTENCES_PER_PAPER:])
        for effect in read_effects(text)
    ]


def _candidates(sentences: Sequence[_Sentence]) -> Iterator[tuple[_Sentence, _Sentence]]:
    """Pairs of different papers whose effects have one subject and one head of the object."""
    by_names: dict[tuple[str, str], list[int]] = defaultdict(list)
    for at, one in enumerate(sentences):
        for name in one.effect.subject.keys:
            by_names[name, one.effect.object.head].append(at)
    for at, one in until_cancelled(list(enumerate(sentences))):
        near = {
            other
            for name in one.effect.subject.keys
            for other in by_names[name, one.effect.object.head]
        }
        for other in sorted(near):
            if other > at and sentences[other].paper.id != one.paper.id:
                yield one, sentences[other]


def _say_why(pair: _Pair) -> list[str]:
    if pair.denial.is_sure:
        return [pair.denial.reason]
    return [
        pair.denial.reason,
        "one may speak of a special case of what the other speaks of: "
        f"{pair.one.effect.object.name} and {pair.other.effect.object.name}",
    ]


def _explain(papers: int, left_out: int, found: _Compared, shown: int) -> str:
    covered = (
        f"{papers:,} paper{'' if papers == 1 else 's'} compared by title and abstract, "
        f"{found.effect_count:,} effects"
    )
    if left_out:
        covered += f"; {left_out:,} older ones were not: give a query or papers to reach them"
    if found.is_cut:
        covered += f"; only the first {_MAX_PAIRS:,} pairs were judged: give a query or papers"
    few = "Only effects in plain words are compared, so others may be there."
    if not found.pairs:
        return f"{covered}. No two of them deny each other, as far as words tell. {few}"
    count, sure = len(found.pairs), sum(each.denial.is_sure for each in found.pairs)
    told = f"{count} pair{'' if count == 1 else 's'} may deny each other"
    if sure < count:
        told += f" ({sure} of them on the very same two things)"
    more = f"; {shown} shown" if shown < count else ""
    return f"{covered}. {told}, as far as words tell{more}: read both. {few}"

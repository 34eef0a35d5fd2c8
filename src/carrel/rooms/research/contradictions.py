"""Pairs of sentences of different papers that say the opposite of the same two things."""

from __future__ import annotations

import asyncio
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice

from carrel.libraries.discovery.concepts.general_words import general_level
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
from carrel.rooms.research.relation_sides import SignedLink, compare_links, read_links

# Bounds of one call: papers compared, hits of a search, sentences of a paper and pairs judged.
MAX_PAPERS = 1_000
SEARCH_HITS = 100
_SENTENCES_PER_PAPER = 12
_MAX_PAIRS = 60_000
# Both sentences must share a word of the subject and one of the object that name something: words
# that all fields use more often than this (mechanism, effect, level) do not. Set by hand.
_GENERAL_LEVEL = 8
# How alike both subjects, and both objects, must be. Set by hand on pairs of eLife's abstracts.
_LEAST_LIKE = 0.5
# Of a word that more relations have than this, only the first ones are compared.
_MOST_HAVING = 400


@dataclass(frozen=True, slots=True)
class _Sentence:
    paper: Paper
    number: int
    text: str
    link: SignedLink


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
    candidates = list(islice(_candidates(sentences), _MAX_PAIRS))
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
    """The signed relations in the last sentences of an abstract, where results stand."""
    numbered = list(enumerate(split_sentences(paper.abstract), 1))
    return [
        _Sentence(paper, number, text, link)
        for number, text in numbered[-_SENTENCES_PER_PAPER:]
        for link in read_links(text)
        # "diet-induced" says what sort a thing is, not what was found.
        if link.sign and "-" not in link.verb
    ]


def _candidates(sentences: Sequence[_Sentence]) -> Iterator[tuple[_Sentence, _Sentence]]:
    """Pairs of different papers that name something in common on both sides, each pair once."""
    subjects = _list_by_word(one.link.subject for one in sentences)
    objects = _list_by_word(one.link.object for one in sentences)
    for at, one in until_cancelled(list(enumerate(sentences))):
        by_subject = {other for word in one.link.subject for other in subjects.get(word, ())}
        by_object = {other for word in one.link.object for other in objects.get(word, ())}
        for other in sorted(by_subject & by_object):
            if other > at and sentences[other].paper.id != one.paper.id:
                yield one, sentences[other]


def _list_by_word(words: Iterable[frozenset[str]]) -> dict[str, list[int]]:
    """The numbers of the relations that have each word that names something."""
    found: dict[str, list[int]] = defaultdict(list)
    for at, several in enumerate(words):
        for word in several:
            if general_level(word) <= _GENERAL_LEVEL and len(found[word]) < _MOST_HAVING:
                found[word].append(at)
    return found


def _judge(one: _Sentence, other: _Sentence) -> _Pair | None:
    """The pair if it relates the same two things on opposite sides."""
    compared = compare_links(one.link, other.link)
    if compared is None or not compared.is_opposite:
        return None
    subjects = _likeness(one.link.subject, other.link.subject)
    objects = _likeness(one.link.object, other.link.object)
    if min(subjects, objects) < _LEAST_LIKE:
        return None
    return _Pair(one, other, subjects * objects, (compared.reason,))


def _likeness(one: frozenset[str], other: frozenset[str]) -> float:
    """Dice's coefficient: short names inside long ones are not alike."""
    return 2 * len(one & other) / (len(one) + len(other))


def _explain(papers: int, left_out: int, sentences: int, found: int, shown: int) -> str:
    covered = f"{papers:,} paper{'' if papers == 1 else 's'} compared, {sentences:,} relations"
    rest = (
        f"; {left_out:,} older papers of the corpus were not: give a query or papers to reach them"
        if left_out
        else ""
    )
    if not found:
        return f"{covered}{rest}. No two of them deny each other, as far as words tell."
    more = f", the surest {shown} shown" if shown < found else ""
    pairs = "1 pair" if found == 1 else f"{found} pairs"
    return f"{covered}{rest}. {pairs} may deny each other, as far as words tell{more}: read both."

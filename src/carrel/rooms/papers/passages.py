"""Passages of papers: found, read with their neighbours, and located by their own words."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass

from carrel.core.nothing_found import NothingFound
from carrel.libraries.query.papers import PaperQuery, parse_paper_query
from carrel.libraries.text.budget import until_cancelled
from carrel.libraries.text.passages import LONG_WHOLE, Passage, cut_passages, passage_ids
from carrel.libraries.text.quotes import NEAR, QuoteFinder, QuoteMatch
from carrel.libraries.text.sentences import surrounding_sentences
from carrel.libraries.text.text_ranking import rank_texts
from carrel.libraries.text.words import STOP_WORDS
from carrel.rooms.papers.errors import (
    AssetFetchFailedError,
    PaperNotFoundError,
    PassageNotFoundError,
)
from carrel.rooms.papers.models import (
    SHOWN_AUTHORS,
    LocatedQuote,
    Paper,
    PassageHit,
    PassageInContext,
    PassageText,
    QuoteDifference,
    QuotePlace,
)
from carrel.rooms.papers.paper_names import split_passage_id
from carrel.rooms.papers.ports import PaperStore, PassageSearch, StoredPassage
from carrel.rooms.papers.service import Papers

# Papers whose passages are ranked where the corpus has no index of passages.
_CANDIDATE_PAPERS = 20
# Papers in which a quotation is looked for, and words of it that papers are searched by.
_QUOTE_CANDIDATES = 12
_QUOTE_WORDS = 60
_QUOTE_PHRASE_WORDS = 6
_MOST_PLACES = 10
# Passages among which the best one of each found paper is looked for.
_BEST_PASSAGES = 50
_MOST_NEAREST = 3
# A place that is so much less like the quotation than the best one is another sentence. Chosen by
# hand: of twenty words three more differ.
_FARTHEST_FROM_BEST = 0.15
_FOUND_MESSAGES: dict[str, str] = {
    "exact": "Found word for word.",
    "same words": "Found with the same words; spaces, signs or omissions differ.",
    "near": "Found nearly: differences shows the words that differ.",
}


@dataclass(frozen=True, slots=True)
class _CutPaper:
    """A paper with its text and passages."""

    paper: Paper
    text: str
    passages: list[Passage]
    ids: list[str]

    def at(self, position: int) -> int | None:
        """The passage that holds a position of the text."""
        return next(
            (at for at, each in enumerate(self.passages) if each.start <= position < each.end),
            None,
        )


class PaperPassages:
    """Passages, from an index of them where there is one, else cut when they are asked for."""

    def __init__(
        self, papers: Papers, store: PaperStore, search: PassageSearch | None = None
    ) -> None:
        self._papers = papers
        self._store = store
        self._search = search

    async def find(
        self, text: str, within: Sequence[str], *, page: int, limit: int
    ) -> list[PassageHit]:
        """Passages that match, best first. PaperNotFoundError for a paper that does not exist."""
        query, first = parse_paper_query(text), (page - 1) * limit
        chosen = [await self._papers.find_paper(name) for name in within]
        if query.is_empty:
            return []
        found: Sequence[StoredPassage] | None = None
        if self._search is not None:
            ids = [paper.metadata.paper_id for paper in chosen]
            found = await self._search.search_passages(query, within=ids, first=first, count=limit)
        if found is not None:
            named = dict.fromkeys(each.paper_id for each in found)
            known = {paper_id: await self._papers.find_paper(paper_id) for paper_id in named}
            return [_hit(known[each.paper_id], each) for each in found]
        return await self._rank(query, chosen or await self._candidates(query), first, limit)

    async def first(self, name: str, count: int) -> list[PassageHit]:
        """The first passages of a paper. PaperNotFoundError, AssetFetchFailedError."""
        paper = await self._papers.find_paper(name)
        cut = await asyncio.to_thread(_cut_text, paper, await self._text(paper))
        return [_cut_hit(cut, number) for number in range(min(count, len(cut.passages)))]

    async def explain_empty(self, text: str, within: Sequence[str] = ()) -> NothingFound:
        """Why no passage was found."""
        return await self._papers.explain_empty(text, within=len(set(within)))

    async def best_texts(self, text: str) -> dict[str, str]:
        """The best passage of each of some papers, by paper; empty without an index of passages."""
        query = parse_paper_query(text)
        if self._search is None or query.is_empty:
            return {}
        found = await self._search.search_passages(query, within=(), first=0, count=_BEST_PASSAGES)
        best: dict[str, str] = {}
        for each in found or ():
            best.setdefault(each.paper_id, each.text)
        return best

    async def read(self, passage_id: str, *, before: int, after: int) -> PassageInContext:
        """A passage with neighbours. PassageNotFoundError where the text has it no more."""
        named = split_passage_id(passage_id)
        if named is None:
            raise PassageNotFoundError(passage_id)
        try:
            paper = await self._papers.find_paper(named[0])
        except PaperNotFoundError as error:
            raise PassageNotFoundError(passage_id) from error
        cut = await asyncio.to_thread(_cut_text, paper, await self._text(paper))
        wanted = f"{paper.metadata.paper_id}~{named[1]}"
        if wanted not in cut.ids:
            cut = await self._cut_other(paper, wanted)
        if wanted not in cut.ids:
            raise PassageNotFoundError(passage_id)
        at = cut.ids.index(wanted)
        shown = range(max(0, at - before), min(len(cut.ids), at + after + 1))
        facts = paper.metadata
        return PassageInContext(
            paper_id=facts.paper_id,
            title=facts.title,
            authors=facts.authors[:SHOWN_AUTHORS],
            year=facts.year,
            doi=facts.doi,
            passages=[_passage_text(cut, number, is_asked=number == at) for number in shown],
            inferred=facts.inferred,
        )

    async def _cut_other(self, paper: Paper, wanted: str) -> _CutPaper:
        """The text that has a passage, of those that papers had that became part of this one."""
        cut = _CutPaper(paper, "", [], [])
        for text in await self._papers.other_texts(paper):
            cut = await asyncio.to_thread(_cut_text, paper, text)
            if wanted in cut.ids:
                break
        return cut

    async def locate(self, quotation: str, within: Sequence[str]) -> LocatedQuote:
        """Every place of a quotation in the corpus, or in these papers; else the nearest ones."""
        finder = QuoteFinder(quotation)
        papers = [await self._papers.find_paper(name) for name in within]
        if not papers:
            papers = await self._quote_candidates(finder.search_words)
        texts = [(paper, await self._text_or_none(paper, bool(within))) for paper in papers]
        read = [(paper, text) for paper, text in texts if text is not None]
        found = await asyncio.to_thread(_look_for_quote, finder, read)
        best = max((each.match.similarity for each in found), default=0.0)
        least = max(NEAR, best - _FARTHEST_FROM_BEST)
        good = [each for each in found if each.match.similarity >= least]
        others = [each for each in found if each.match.similarity < least]
        return LocatedQuote(
            is_found=bool(good),
            message=_explain_places(good, len(read), is_within=bool(within)),
            places=[each.show() for each in good[:_MOST_PLACES]],
            nearest=[each.show() for each in others[:_MOST_NEAREST] if not good or _is_near(each)],
        )

    async def _candidates(self, query: PaperQuery) -> list[Paper]:
        hits = await self._store.search(query, first=0, count=_CANDIDATE_PAPERS)
        found = [await self._store.find(hit.paper_id) for hit in hits]
        return [paper for paper in found if paper is not None]

    async def _quote_candidates(self, words: Sequence[str]) -> list[Paper]:
        """Papers that have runs of the quotation's words, then papers that have most of them."""
        content = [word for word in words if word.lower() not in STOP_WORDS] or list(words)
        texts = [f'"{" ".join(run)}"' for run in _spread_runs(words)]
        texts.append(" ".join(_plain_words(content)[:_QUOTE_WORDS]))
        ids: dict[str, None] = {}
        for text in texts:
            query = parse_paper_query(text)
            if query.is_empty:
                continue
            if self._search is not None:
                passages = await self._search.search_passages(
                    query, within=(), first=0, count=_QUOTE_CANDIDATES
                )
                ids |= dict.fromkeys(each.paper_id for each in passages or ())
            hits = await self._store.search(query, first=0, count=_QUOTE_CANDIDATES)
            ids |= dict.fromkeys(hit.paper_id for hit in hits)
        found = [await self._store.find(paper_id) for paper_id in [*ids][: 2 * _QUOTE_CANDIDATES]]
        return [paper for paper in found if paper is not None]

    async def _rank(
        self, query: PaperQuery, papers: Sequence[Paper], first: int, count: int
    ) -> list[PassageHit]:
        texts = [(paper, await self._text_or_none(paper, False)) for paper in papers]
        read = [(paper, text) for paper, text in texts if text is not None]
        words = dict.fromkeys(word for phrase in query.phrases for word in phrase.words)
        return await asyncio.to_thread(_ranked_hits, " ".join(words), read, first, count)

    async def _text_or_none(self, paper: Paper, is_named: bool) -> str | None:
        """A paper's text; one of many that cannot be had is left out, one asked for is not."""
        try:
            return await self._text(paper)
        except AssetFetchFailedError:
            if is_named:
                raise
            return None

    async def _text(self, paper: Paper) -> str:
        """The source; the abstract or title of a paper without one."""
        text = await self._papers.source_text(paper)
        if text is not None:
            return text
        return await self._store.abstract(paper.metadata.paper_id) or paper.metadata.title


@dataclass(frozen=True, slots=True)
class _FoundQuote:
    match: QuoteMatch
    paper: Paper
    text: str

    def show(self) -> QuotePlace:
        return _place(self.match, _cut_text(self.paper, self.text))


def _is_near(found: _FoundQuote) -> bool:
    """Whether it would be a place of the quotation if no other were much better."""
    return found.match.similarity >= NEAR


def _look_for_quote(finder: QuoteFinder, texts: Sequence[tuple[Paper, str]]) -> list[_FoundQuote]:
    """The best place in each text, best first; where one is exact, the exact ones alone."""
    exact = [
        _FoundQuote(match, paper, text)
        for paper, text in texts
        if (match := finder.find_exact(text)) is not None
    ]
    if exact:
        return exact
    found = [
        _FoundQuote(match, paper, text)
        for paper, text in until_cancelled(texts)
        if (match := finder.find(text)) is not None
    ]
    return sorted(found, key=lambda each: each.match.order)


def _cut_text(paper: Paper, text: str) -> _CutPaper:
    # As the index has it: an abstract is one passage unless it is as long as several.
    is_one = paper.source_hash is None and len(text) <= LONG_WHOLE
    passages = [Passage(1, (), None, 0, len(text))] if is_one else cut_passages(text)
    return _CutPaper(paper, text, passages, passage_ids(paper.metadata.paper_id, text, passages))


def _ranked_hits(
    words: str, texts: Sequence[tuple[Paper, str]], first: int, count: int
) -> list[PassageHit]:
    cuts = [_cut_text(paper, text) for paper, text in until_cancelled(texts)]
    places = [(cut, number) for cut in cuts for number in range(len(cut.passages))]
    passages = [
        cut.text[cut.passages[number].start : cut.passages[number].end] for cut, number in places
    ]
    ranked = rank_texts(words, passages)[first : first + count]
    return [_cut_hit(*places[at]) for at, _ in ranked]


def _cut_hit(cut: _CutPaper, number: int) -> PassageHit:
    facts, passage = cut.paper.metadata, cut.passages[number]
    return PassageHit(
        passage_id=cut.ids[number],
        paper_id=facts.paper_id,
        title=facts.title,
        authors=facts.authors[:SHOWN_AUTHORS],
        year=facts.year,
        doi=facts.doi,
        section=passage.section,
        page=passage.page,
        start=passage.start,
        end=passage.end,
        text=cut.text[passage.start : passage.end],
        inferred=facts.inferred,
    )


def _hit(paper: Paper, found: StoredPassage) -> PassageHit:
    facts = paper.metadata
    return PassageHit(
        passage_id=found.id,
        paper_id=facts.paper_id,
        title=facts.title,
        authors=facts.authors[:SHOWN_AUTHORS],
        year=facts.year,
        doi=facts.doi,
        section=found.section,
        page=found.page,
        start=found.start,
        end=found.end,
        text=found.text,
        inferred=facts.inferred,
    )


def _passage_text(cut: _CutPaper, number: int, *, is_asked: bool) -> PassageText:
    passage = cut.passages[number]
    return PassageText(
        passage_id=cut.ids[number],
        section=passage.section,
        page=passage.page,
        start=passage.start,
        end=passage.end,
        text=cut.text[passage.start : passage.end],
        is_asked=is_asked,
    )


def _place(found: QuoteMatch, cut: _CutPaper) -> QuotePlace:
    facts, at = cut.paper.metadata, cut.at(found.start)
    passage = None if at is None else cut.passages[at]
    return QuotePlace(
        paper_id=facts.paper_id,
        title=facts.title,
        authors=facts.authors[:SHOWN_AUTHORS],
        year=facts.year,
        doi=facts.doi,
        passage_id=None if at is None else cut.ids[at],
        section="" if passage is None else passage.section,
        page=None if passage is None else passage.page,
        start=found.start,
        end=found.end,
        exactness=found.exactness,
        similarity=found.similarity,
        inferred=facts.inferred,
        text=cut.text[found.start : found.end],
        sentence=cut.text[slice(*surrounding_sentences(cut.text, found.start, found.end))],
        differences=[
            QuoteDifference(quoted=each.quoted, stored=each.stored) for each in found.differences
        ],
    )


def _explain_places(good: Sequence[_FoundQuote], searched: int, *, is_within: bool) -> str:
    if good:
        return _FOUND_MESSAGES[good[0].match.exactness]
    where = "these papers" if is_within else "the corpus"
    if not searched:
        return f"No paper of {where} has any of these words."
    read = f"{searched} texts that come near were"
    if searched == 1:
        read = "1 text that comes near was"
    return (
        f"No text of {where} has this quotation, word for word or nearly; {read} read. nearest "
        "shows what is closest."
    )


def _plain_words(words: Sequence[str]) -> list[str]:
    """Words that the query language takes for words."""
    return [word for word in words if word not in {"AND", "OR", "NOT"}]


def _spread_runs(words: Sequence[str]) -> list[list[str]]:
    """Runs of neighbouring words from the beginning, the middle and the end."""
    size = _QUOTE_PHRASE_WORDS
    if len(words) <= size:
        return [list(words)]
    starts = dict.fromkeys((0, (len(words) - size) // 2, len(words) - size))
    return [list(words[start : start + size]) for start in starts]

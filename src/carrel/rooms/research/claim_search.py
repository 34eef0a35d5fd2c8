"""Search and reading for claim checking: the papers of a statement, and their sentences."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from carrel.libraries.claims import (
    PAPERS_PER_QUERY,
    PAPERS_READ,
    PaperText,
    Statement,
    choose_papers,
    fuse_rankings,
    write_queries,
)
from carrel.libraries.discovery.records import Paper
from carrel.libraries.text.sentences import sentence_ends
from carrel.rooms.research.corpus import Corpus
from carrel.rooms.research.ports import FoundPassage, LibraryWork, PassageSearch

# Of a full text these many passages are read beside the abstract, and of a text of the library
# these many characters.
_PASSAGES_PER_PAPER = 6
_LIBRARY_CHARACTERS = 60_000
_LONGEST_SENTENCE = 2_000
_QUERY_CHARACTERS = 500
_WORD = re.compile(r"\w+")
_PARAGRAPH = re.compile(r"\n[ \t]*\r?\n|\f")


@dataclass(frozen=True, slots=True)
class SentencePlace:
    """Where a sentence stands: a passage of the corpus, or a sentence of the abstract."""

    passage_id: str | None
    section: str
    page: int | None


@dataclass(frozen=True, slots=True)
class ReadPaper:
    """A paper with the sentences that were read and their places."""

    text: PaperText
    year: int | None
    places: tuple[SentencePlace, ...]
    # The name that somebody cited it by, where it was cited.
    cited_as: str | None = None
    is_in_corpus: bool = True


@dataclass(frozen=True, slots=True)
class CitedWork:
    """A work that a text cites: a paper of the corpus, or a reference with a text of its own."""

    name: str
    paper_id: str | None
    work: LibraryWork | None = None


@dataclass(frozen=True, slots=True)
class ReadPapers:
    """What was searched for and read for a statement."""

    queries: tuple[str, ...]
    papers: tuple[ReadPaper, ...]


class ClaimSearch:
    """Finds the papers that may decide a statement, and reads them."""

    def __init__(self, corpus: Corpus, passages: PassageSearch) -> None:
        self._corpus = corpus
        self._passages = passages

    async def count_papers(self) -> int:
        return await self._passages.count_papers()

    async def find_ids(self, names: Sequence[str]) -> list[str | None]:
        """The papers that ids, DOIs and other names name; None for what is not here."""
        return await self._corpus.find_ids(names)

    async def read(
        self, statement: Statement, within: Sequence[str], cited: Sequence[CitedWork]
    ) -> ReadPapers:
        """The papers of a statement with their sentences: all that are cited, then the best."""
        queries = tuple(filter(None, map(_plain_words, write_queries(statement))))
        known = [each.paper_id for each in cited if each.paper_id is not None]
        found = [] if not queries else await self._choose(statement, queries, within)
        chosen = list(dict.fromkeys([*known, *[one for one in found if one not in known]]))
        chosen = chosen[: max(PAPERS_READ, len(known))]
        papers = {paper.id: paper for paper in await self._corpus.papers(chosen)}
        names = {each.paper_id: each.name for each in cited}
        read = [
            await self._read_paper(papers[paper_id], rank, queries[:1], names.get(paper_id))
            for rank, paper_id in enumerate((one for one in chosen if one in papers), 1)
        ]
        outside = [_read_work(each.name, each.work) for each in cited if each.work is not None]
        return ReadPapers(queries, tuple(one for one in (*outside, *read) if one.text.sentences))

    async def _choose(
        self, statement: Statement, queries: Sequence[str], within: Sequence[str]
    ) -> list[str]:
        """The papers that are likeliest to decide it, of those that the queries find."""
        rankings: list[list[str]] = []
        texts: dict[str, str] = {}
        for query in queries:
            passages = await self._passages.search_passages(query, within, PAPERS_PER_QUERY)
            found = list(dict.fromkeys(each.paper_id for each in passages))
            if not within:
                hits = await self._corpus.search(query, PAPERS_PER_QUERY)
                found = fuse_rankings([found, [paper.id for paper in hits]])
            rankings.append(found)
            for each in passages:
                texts[each.paper_id] = f"{texts.get(each.paper_id, '')}\n\n{each.text}"
        papers = await self._corpus.papers(fuse_rankings(rankings))
        candidates = [
            PaperText(paper.id, paper.title, rank, tuple(_shown_sentences(paper, texts)))
            for rank, paper in enumerate(papers, 1)
        ]
        chosen = await asyncio.to_thread(choose_papers, statement, candidates)
        return [each.paper_id for each in chosen]

    async def _read_paper(
        self, paper: Paper, rank: int, queries: Sequence[str], cited_as: str | None
    ) -> ReadPaper:
        passages: list[FoundPassage] = []
        for query in queries:
            passages = await self._passages.search_passages(query, [paper.id], _PASSAGES_PER_PAPER)
        if not passages:
            passages = await self._passages.first_passages(paper.id, _PASSAGES_PER_PAPER)
        return await asyncio.to_thread(_join_sentences, paper, rank, passages, cited_as)


def _plain_words(text: str) -> str:
    # Not a query: quotation marks, colons and capital AND must not be taken for operators.
    return " ".join(_WORD.findall(text.lower()))[:_QUERY_CHARACTERS].strip()


def split_sentences(text: str) -> Iterator[str]:
    """The sentences of a text, spaces made single; a table in one line is none."""
    at = 0
    for border in [*(found.end() for found in _PARAGRAPH.finditer(text)), len(text)]:
        for end in sentence_ends(text, at, border):
            sentence = " ".join(text[at:end].split())
            at = end
            if 1 < len(sentence) <= _LONGEST_SENTENCE:
                yield sentence


def _shown_sentences(paper: Paper, texts: Mapping[str, str]) -> Iterator[str]:
    """What the search shows of a paper: its abstract and the passages that were found."""
    yield from dict.fromkeys(split_sentences(f"{paper.abstract}\n\n{texts.get(paper.id, '')}"))


def _join_sentences(
    paper: Paper, rank: int, passages: Sequence[FoundPassage], cited_as: str | None
) -> ReadPaper:
    """The sentences of a paper's passages, and of its abstract where these do not hold it."""
    found: dict[str, SentencePlace] = {}
    for passage in passages:
        place = SentencePlace(passage.passage_id, passage.section, passage.page)
        for sentence in split_sentences(passage.text):
            found.setdefault(sentence, place)
    of_abstract = list(split_sentences(paper.abstract))
    for number, sentence in enumerate(of_abstract, 1):
        found.setdefault(sentence, SentencePlace(None, f"abstract, sentence {number}", None))
    if not found:
        found[paper.title] = SentencePlace(None, "title", None)
    is_whole_abstract = found.keys() <= set(of_abstract)
    places = (
        [
            SentencePlace(place.passage_id, place.section or f"abstract, sentence {number}", None)
            for number, place in enumerate(found.values(), 1)
        ]
        if is_whole_abstract
        else list(found.values())
    )
    return ReadPaper(
        PaperText(paper.id, paper.title, rank, tuple(found)), paper.year, tuple(places), cited_as
    )


def _read_work(name: str, work: LibraryWork) -> ReadPaper:
    """A reference that the corpus has not, by its abstract or attached text."""
    sentences = tuple(dict.fromkeys(split_sentences(work.text[:_LIBRARY_CHARACTERS])))
    places = tuple(SentencePlace(None, "reference", None) for _ in sentences)
    text = PaperText(f"ref:{work.key}", work.title, 1, sentences)
    return ReadPaper(text, work.year, places, name, is_in_corpus=False)

"""The operations of the papers room."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from carrel.core.answer import Explained, Explanation, Text
from carrel.core.caller import Call, Caller
from carrel.core.decorators import operation
from carrel.core.errors import InvalidInputError
from carrel.core.note_links import NoNotes, NotesAbout, find_notes
from carrel.core.paging import explain_past_end
from carrel.core.quoting import QuotedSource
from carrel.core.work_notices import NoNotices
from carrel.libraries.query.papers import parse_paper_query
from carrel.rooms.papers.figures import PaperFigures
from carrel.rooms.papers.models import (
    CorpusStatistics,
    ExportPapers,
    FacetCount,
    GetPaperSource,
    GetPaperSummary,
    ListTopFacets,
    NoQuestion,
    OnePaper,
    PaperHit,
    PaperMetadata,
    SearchPapers,
    SearchPapersByKeyword,
)
from carrel.rooms.papers.resources import SCOPES, named_paper
from carrel.rooms.papers.service import Papers
from carrel.rooms.papers.work_notices import PaperNotices


def _found_papers(
    arguments: Mapping[str, Any], answer: list[PaperHit], caller: Caller
) -> Iterable[QuotedSource]:
    return [QuotedSource("paper", hit.paper_id, hit.title) for hit in answer]


def _described_paper(
    arguments: Mapping[str, Any], answer: PaperMetadata, caller: Caller
) -> Iterable[QuotedSource]:
    return [QuotedSource("paper", answer.paper_id, answer.title)]


_CORPUS = (QuotedSource("corpus", "papers"),)


def _corpus(arguments: Mapping[str, Any], answer: object, caller: Caller) -> Iterable[QuotedSource]:
    return _CORPUS


class PapersOperations:
    """The reading operations of the papers room, over its service."""

    def __init__(
        self,
        papers: Papers,
        notes: NotesAbout | None = None,
        figures: PaperFigures | None = None,
        notices: PaperNotices | None = None,
    ) -> None:
        self._papers = papers
        self._notices = notices or PaperNotices(papers, NoNotices())
        self._figures = figures
        self._notes = notes or NoNotes()

    @operation(
        title="Search papers",
        description=(
            "Full-text search of the paper corpus, best first; total counts all matches. Takes "
            'plain words, a title, a DOI or an arXiv id; also "exact phrases", AND OR NOT, '
            "prefix*, author: venue: tag: keyword: institution: year:2019..2024."
        ),
        scopes=SCOPES,
        quotes=_found_papers,
        command="search",
        next_command=(
            "carrel papers show PAPER_ID says more of one, carrel papers source PAPER_ID reads it."
        ),
        phrases=(
            "find papers about a topic; look for articles on a subject; search the literature "
            "here; which papers talk about; what has been published on; papers that discuss a "
            "subject; articles on a topic; which papers do we have on …; what has been written "
            "about …; literature about …; papers about … published after a year; search papers "
            "for …; what is known in the literature about …; what do we have on …; studies on …; "
            "recent trials about …; articles by an author from a year; "
            "papers by … in a year"
        ),
    )
    async def search_papers(self, question: SearchPapers, call: Call) -> list[PaperHit] | Explained:
        hits = await self._papers.search(question.query, page=question.page, limit=question.limit)
        if hits:
            return _tell_unread(await self._notices.mark_hits(hits), question.query)
        first = (
            [] if question.page == 1 else await self._papers.search(question.query, page=1, limit=1)
        )
        return Explained(hits, await self._explain_nothing(question.query, question, first))

    @operation(
        title="Search papers by keyword",
        description=(
            "Papers that have a keyword or tag: exact matches first. list_top_facets shows "
            "which exist."
        ),
        scopes=SCOPES,
        quotes=_found_papers,
        command="keyword",
        next_command="carrel papers show PAPER_ID says more of one.",
        phrases=(
            "papers with an exact keyword; papers tagged with a keyword; list articles by author "
            "keyword; exact term … in the corpus; papers with the keyword …; keyword … in the "
            "papers; everything indexed under the keyword …; articles with the author keyword …"
        ),
    )
    async def search_papers_by_keyword(
        self, question: SearchPapersByKeyword, call: Call
    ) -> list[PaperHit] | Explained:
        hits = await self._papers.search_by_keyword(
            question.keyword, page=question.page, limit=question.limit
        )
        if hits:
            return await self._notices.mark_hits(hits)
        first = (
            []
            if question.page == 1
            else await self._papers.search_by_keyword(question.keyword, page=1, limit=1)
        )
        return Explained(hits, await self._explain_nothing(question.keyword, question, first))

    async def _explain_nothing(
        self, text: str, question: SearchPapers | SearchPapersByKeyword, first: list[PaperHit]
    ) -> Explanation:
        """Why a page is empty; `first` is what page 1 begins with, where another was asked for."""
        if not first:
            return await self._papers.explain_empty(text)
        return explain_past_end(question.page, question.limit, first[0].total, "papers")

    @operation(
        title="Get paper metadata",
        description=(
            "Authors, venue, year, DOI and keywords of a paper, and which summary templates and "
            "texts it has."
        ),
        scopes=SCOPES,
        quotes=_described_paper,
        command="show",
        phrases=(
            "who wrote this paper; authors year journal and DOI of a paper; details of one paper; "
            "when was it published; bibliographic data of a paper; title and authors of a paper; "
            "publication date of a paper; who are the authors and when did it come out; DOI of "
            "this article; in which journal was it published; tags and keywords of this paper; "
            "licence of an article; is it open access; notes on this paper; identifiers of a "
            "paper; which version is published"
        ),
    )
    async def get_paper_metadata(self, question: OnePaper, call: Call) -> PaperMetadata:
        paper = await self._papers.metadata(question.paper_id)
        keys = {"paper": paper.paper_id, "doi": paper.doi, "arxiv": paper.arxiv_id}
        targets = [f"{kind}:{key}" for kind, key in keys.items() if key]
        targets += [f"paper:{paper_id}" for paper_id in paper.former_ids]
        found = await find_notes(self._notes, targets, call.caller)
        counts = await self._figures.counts(paper.paper_id) if self._figures else {}
        notices = await self._notices.about(paper)
        more = {**({"notes": found} if found else {}), **counts}
        if notices:
            more["notices"] = notices
        return paper.model_copy(update=more) if more else paper

    @operation(
        title="Get paper summary",
        description=(
            "A paper's summary as JSON text. Call get_paper_metadata first to discover "
            "available templates; without template the preferred one is used."
        ),
        scopes=SCOPES,
        quotes=named_paper,
        is_whole=True,
        command="summary",
        phrases=(
            "summarise a paper; short overview of an article; what is this paper about; key "
            "points of a paper; paper in a nutshell; main findings of an article; summary in "
            "another language; I have no time to read the paper; what does it say in short; give "
            "me the gist; explain the article briefly"
        ),
    )
    async def get_paper_summary(self, question: GetPaperSummary, call: Call) -> Text | Explained:
        text = await self._papers.summary(
            question.paper_id,
            question.template,
            offset=question.offset,
            max_chars=question.max_chars,
        )
        return _tell_rest(text, question.offset, question.max_chars)

    @operation(
        title="Get paper source",
        description=(
            "A paper's full text as Markdown. Content can be large: outline shows its headings, "
            "section reads one, max_chars limits it, offset reads on."
        ),
        scopes=SCOPES,
        quotes=named_paper,
        command="source",
        phrases=(
            "read the full text of a paper; open the whole article; show the methods section of a "
            "paper; text of a paper; original text of the paper; complete paper as Markdown; read "
            "the results section of a paper; outline of a paper; headings of an article; table of "
            "contents of a paper; read a section of the article; discussion of a paper; which "
            "sections does it have; print the entire text; read the abstract and introduction"
        ),
    )
    async def get_paper_source(self, question: GetPaperSource, call: Call) -> Text | Explained:
        if question.outline:
            return await self._papers.outline(question.paper_id)
        text = await self._papers.source(
            question.paper_id,
            section=question.section,
            offset=question.offset,
            max_chars=question.max_chars,
        )
        return _tell_rest(text, question.offset, question.max_chars)

    @operation(
        title="List top facets",
        description=(
            "The most frequent authors, venues, keywords, institutions, tags or years, with paper "
            "counts."
        ),
        scopes=SCOPES,
        quotes=_corpus,
        command="facets",
        phrases=(
            "most frequent authors; which journals or venues are most common; most common "
            "keywords in the corpus; top institutions; most common topics in the corpus; most "
            "productive authors; which topics are covered; who publishes most; institutions with "
            "most papers; all tags in use; which tags or keywords are there; distribution of "
            "venues"
        ),
    )
    async def list_top_facets(self, question: ListTopFacets, call: Call) -> list[FacetCount]:
        return await self._papers.top_facets(question.category, question.limit)

    @operation(
        title="Get paper BibTeX",
        description="A paper's BibTeX entry: the stored one, else one made from its metadata.",
        scopes=SCOPES,
        quotes=named_paper,
        command="bibtex",
        is_listed=False,
        phrases=(
            "BibTeX of a paper; bib entry for one article; BibTeX record of an arXiv paper for "
            "LaTeX; BibTeX of a corpus paper; bib entry of this article for Overleaf or LaTeX; "
            "bibtex key of a paper"
        ),
    )
    async def get_paper_bibtex(self, question: OnePaper, call: Call) -> Text:
        return await self._papers.bibtex(question.paper_id)

    @operation(
        title="Export papers",
        description=("Papers as JSON lines of their metadata, or as BibTeX, CSL-JSON or RIS text."),
        scopes=SCOPES,
        quotes=_corpus,
        command="export",
        is_listed=False,
        phrases=(
            "export papers to a file; save search results as RIS or BibTeX; download the papers "
            "as a bibliography; write papers out as CSL-JSON; export papers about … as RIS; all "
            "matching papers as a file; download all papers with a tag as a bib file; write the "
            "whole corpus to RIS; all papers in a spreadsheet or reference manager file; hand the "
            "papers over to Zotero"
        ),
    )
    async def export_papers(self, question: ExportPapers, call: Call) -> Text:
        if question.ids and question.query is not None:
            raise InvalidInputError(
                "Give either query or ids", next_step="Leave one of them out and call again."
            )
        if question.ids:
            return Text(await self._papers.export_named(question.format, question.ids))
        return Text(
            await self._papers.export(
                question.format, question.query, page=question.page, limit=question.limit
            )
        )

    @operation(
        title="Get corpus statistics",
        description=(
            "How many papers, authors, venues and keywords there are, papers by year, and how "
            "they are indexed."
        ),
        scopes=SCOPES,
        command="stats",
        is_listed=False,
        phrases=(
            "how many papers are there; size of the corpus; statistics of my collection; papers "
            "per year; overview of the corpus; how large is the collection; which years does the "
            "corpus cover; how many articles do I have; articles from each year; how big is my "
            "collection; how many papers have full text; the corpus in numbers; what does the "
            "corpus contain"
        ),
    )
    async def get_corpus_statistics(self, question: NoQuestion, call: Call) -> CorpusStatistics:
        return await self._papers.statistics()


def _tell_rest(text: Text, offset: int, max_chars: int | None) -> Text | Explained:
    """The text, with a word beside it on where to read on and which of its lines is ours."""
    if not text.left_out:
        return text
    told = (
        f"The last line of that text, [truncated: …], is not the paper's own. {text.left_out} "
        f"characters are left: call again with offset {offset + (max_chars or 0)}."
    )
    return Explained(text, Explanation(message=told))


def _tell_unread(hits: list[PaperHit], query: str) -> list[PaperHit] | Explained:
    """The hits, with what of the query was not understood beside them."""
    told = parse_paper_query(query).notices
    return Explained(hits, Explanation(message=" ".join(told))) if told else hits

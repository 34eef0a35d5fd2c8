"""The papers room as the catalogue shows it: every tool described once."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from carrel.core.answer import Text
from carrel.core.caller import Call, Caller
from carrel.core.catalogue import Room
from carrel.core.operation import Operation
from carrel.core.quoting import QuotedSource
from carrel.rooms.papers import ROOM
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
from carrel.rooms.papers.resources import SCOPES, named_paper, resources
from carrel.rooms.papers.service import Papers


def _found_papers(
    arguments: Mapping[str, Any], answer: list[PaperHit], caller: Caller
) -> Iterable[QuotedSource]:
    return [QuotedSource("paper", hit.paper_id, hit.title) for hit in answer]


def _described_paper(
    arguments: Mapping[str, Any], answer: PaperMetadata, caller: Caller
) -> Iterable[QuotedSource]:
    return [QuotedSource("paper", answer.paper_id, answer.title)]


def _corpus(arguments: Mapping[str, Any], answer: object, caller: Caller) -> Iterable[QuotedSource]:
    return [QuotedSource("corpus", "papers")]


def room(papers: Papers) -> Room:
    """The room over one service."""

    async def search_papers(question: SearchPapers, call: Call) -> list[PaperHit]:
        return await papers.search(question.query, page=question.page, limit=question.limit)

    async def search_papers_by_keyword(
        question: SearchPapersByKeyword, call: Call
    ) -> list[PaperHit]:
        return await papers.search_by_keyword(
            question.keyword, page=question.page, limit=question.limit
        )

    async def get_paper_metadata(question: OnePaper, call: Call) -> PaperMetadata:
        return await papers.metadata(question.paper_id)

    async def get_paper_summary(question: GetPaperSummary, call: Call) -> Text:
        return await papers.summary(
            question.paper_id,
            question.template,
            offset=question.offset,
            max_chars=question.max_chars,
        )

    async def get_paper_source(question: GetPaperSource, call: Call) -> Text:
        return await papers.source(
            question.paper_id, offset=question.offset, max_chars=question.max_chars
        )

    async def list_top_facets(question: ListTopFacets, call: Call) -> list[FacetCount]:
        return await papers.top_facets(question.category, question.limit)

    async def get_paper_bibtex(question: OnePaper, call: Call) -> Text:
        return await papers.bibtex(question.paper_id)

    async def export_papers(question: ExportPapers, call: Call) -> Text:
        return Text(
            await papers.export(
                question.format, question.query, page=question.page, limit=question.limit
            )
        )

    async def get_corpus_statistics(question: NoQuestion, call: Call) -> CorpusStatistics:
        return await papers.statistics()

    return Room(
        ROOM,
        operations=(
            Operation(
                name="search_papers",
                phrases=(
                    "find papers about a topic",
                    "look for articles on a subject",
                    "search the literature here",
                    "which papers talk about",
                    "what has been published on",
                    "papers that discuss a subject",
                    "articles on a topic",
                    "which papers do we have on …",
                    "what has been written about …",
                    "literature about …",
                    "papers about … published after a year",
                    "search papers for …",
                    "what is known in the literature about …",
                ),
                room="papers",
                title="Search papers",
                description=(
                    "Full-text search of the paper corpus, best first. Takes plain words, a "
                    "title, a DOI or an arXiv id; also "
                    '"exact phrases", AND OR NOT, prefix*, author: venue: tag: keyword: '
                    "institution: year:2019..2024."
                ),
                question=SearchPapers,
                answer=list[PaperHit],
                run=search_papers,
                scopes=SCOPES,
                quotes=_found_papers,
                command="search",
            ),
            Operation(
                name="search_papers_by_keyword",
                phrases=(
                    "papers with an exact keyword",
                    "papers tagged with a keyword",
                    "list articles by author keyword",
                    "exact term … in the corpus",
                    "papers with the keyword …",
                    "keyword … in the papers",
                ),
                room="papers",
                title="Search papers by keyword",
                description="Papers that have a keyword or tag: exact matches first. "
                "list_top_facets shows which exist.",
                question=SearchPapersByKeyword,
                answer=list[PaperHit],
                run=search_papers_by_keyword,
                scopes=SCOPES,
                quotes=_found_papers,
                command="keyword",
            ),
            Operation(
                name="get_paper_metadata",
                phrases=(
                    "who wrote this paper",
                    "authors year journal and DOI of a paper",
                    "details of one paper",
                    "when was it published",
                    "bibliographic data of a paper",
                    "title and authors of a paper",
                    "publication date of a paper",
                ),
                room="papers",
                title="Get paper metadata",
                description="Authors, venue, year, DOI and keywords of a paper, and which summary "
                "templates and texts it has.",
                question=OnePaper,
                answer=PaperMetadata,
                run=get_paper_metadata,
                scopes=SCOPES,
                quotes=_described_paper,
                command="show",
            ),
            Operation(
                name="get_paper_summary",
                phrases=(
                    "summarise a paper",
                    "short overview of an article",
                    "what is this paper about",
                    "key points of a paper",
                    "paper in a nutshell",
                    "main findings of an article",
                    "summary in another language",
                ),
                room="papers",
                title="Get paper summary",
                description=(
                    "A paper's summary as JSON text. Call get_paper_metadata first to discover "
                    "available templates; "
                    "without template the preferred one is used."
                ),
                question=GetPaperSummary,
                answer=Text,
                run=get_paper_summary,
                scopes=SCOPES,
                quotes=named_paper,
                command="summary",
            ),
            Operation(
                name="get_paper_source",
                phrases=(
                    "read the full text of a paper",
                    "open the whole article",
                    "show the methods section of a paper",
                    "text of a paper",
                    "original text of the paper",
                    "complete paper as Markdown",
                    "read the results section of a paper",
                ),
                room="papers",
                title="Get paper source",
                description="A paper's full text as Markdown. Content can be large: max_chars "
                "limits it, offset reads on.",
                question=GetPaperSource,
                answer=Text,
                run=get_paper_source,
                scopes=SCOPES,
                quotes=named_paper,
                command="source",
            ),
            Operation(
                name="list_top_facets",
                phrases=(
                    "most frequent authors",
                    "which journals or venues are most common",
                    "most common keywords in the corpus",
                    "top institutions",
                    "most common topics in the corpus",
                    "most productive authors",
                    "which topics are covered",
                ),
                room="papers",
                title="List top facets",
                description="The most frequent authors, venues, keywords, institutions or tags, "
                "with paper counts.",
                question=ListTopFacets,
                answer=list[FacetCount],
                run=list_top_facets,
                scopes=SCOPES,
                quotes=_corpus,
                command="facets",
            ),
            Operation(
                name="get_paper_bibtex",
                phrases=(
                    "BibTeX of a paper",
                    "bib entry for one article",
                    "BibTeX record of an arXiv paper for LaTeX",
                    "BibTeX of a corpus paper",
                ),
                room="papers",
                title="Get paper BibTeX",
                description="A paper's BibTeX entry: the stored one, else one made from its "
                "metadata.",
                question=OnePaper,
                answer=Text,
                run=get_paper_bibtex,
                scopes=SCOPES,
                quotes=named_paper,
                command="bibtex",
            ),
            Operation(
                name="export_papers",
                phrases=(
                    "export papers to a file",
                    "save search results as RIS or BibTeX",
                    "download the papers as a bibliography",
                    "write papers out as CSL-JSON",
                    "export papers about … as RIS",
                    "all matching papers as a file",
                ),
                is_listed=False,
                room="papers",
                title="Export papers",
                description="Papers as JSON lines of their metadata, or as BibTeX, CSL-JSON or "
                "RIS text.",
                question=ExportPapers,
                answer=Text,
                run=export_papers,
                scopes=SCOPES,
                quotes=_corpus,
                command="export",
            ),
            Operation(
                name="get_corpus_statistics",
                phrases=(
                    "how many papers are there",
                    "size of the corpus",
                    "statistics of my collection",
                    "papers per year",
                    "overview of the corpus",
                    "how large is the collection",
                    "which years does the corpus cover",
                ),
                is_listed=False,
                room="papers",
                title="Get corpus statistics",
                description="How many papers, authors, venues and keywords there are, papers by "
                "year, and how they are indexed.",
                question=NoQuestion,
                answer=CorpusStatistics,
                run=get_corpus_statistics,
                scopes=SCOPES,
                command="stats",
            ),
        ),
        resources=resources(papers),
    )

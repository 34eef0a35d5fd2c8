"""Citations inside the corpus: of one paper, between papers, and of all papers."""

from __future__ import annotations

from collections.abc import Sequence

from carrel.core.paging import explain_past_end
from carrel.libraries.query.papers import parse_paper_query
from carrel.libraries.works.cited_works import CitedWork
from carrel.rooms.papers.citation_drawings import write_drawing
from carrel.rooms.papers.citation_models import (
    BriefPaper,
    CitationAnswer,
    CitationPath,
    Direction,
    FindCitationPath,
    GetCitations,
    ListedReference,
    RankedCitedPaper,
    RankingMeasure,
    RelatedPaper,
)
from carrel.rooms.papers.citation_ports import (
    CitationCoverage,
    CitationStore,
    CitingPage,
    LinkedReference,
)
from carrel.rooms.papers.errors import CitationsUnknownError
from carrel.rooms.papers.service import Papers, first_of_page

_LONGEST_TEXT = 500


class PaperCitations:
    """Answers about citations, over the room's service and the store of citations."""

    def __init__(self, papers: Papers, store: CitationStore) -> None:
        self._papers = papers
        self._store = store

    async def get(self, question: GetCitations) -> CitationAnswer:
        """What a paper cites and what cites it. PaperNotFoundError."""
        paper = await self._papers.stored_metadata(question.paper_id)
        direction, limit = question.direction, question.limit
        first = first_of_page(question.page, limit)
        coverage = await self._store.count_coverage()
        references = await self._store.list_references(paper.paper_id)
        citing: CitingPage | None = None
        versions: list[BriefPaper] = []
        if coverage.with_references:
            versions = await self._store.list_versions(paper.paper_id)
            if direction != "out":
                citing = await self._store.list_citing(paper.paper_id, first=first, count=limit)
        linked = (
            None if references is None else sum(each.paper_id is not None for each in references)
        )
        shown = references if direction != "in" else None
        if shown is not None and question.in_corpus:
            shown = [each for each in shown if each.paper_id is not None or each.may_be]
        message = _explain(coverage, references, citing, direction, paper.has_source)
        longest = max(len(shown or ()), citing.count if citing else 0)
        if 0 < longest <= first:
            past = explain_past_end(question.page, limit, longest, "entries of the longer list")
            message = f"{message} {past.message}"
        return CitationAnswer(
            paper_id=paper.paper_id,
            title=paper.title,
            message=message,
            references_known=references is not None,
            reference_count=None if references is None else len(references),
            linked_count=linked,
            references=None
            if shown is None
            else [_listed(each) for each in shown[first : first + limit]],
            cited_by_count=None if citing is None else citing.count,
            cited_by=None if citing is None else list(citing.papers),
            unclear_count=0 if citing is None else citing.unclear_count,
            versions=versions,
            papers_with_references=coverage.with_references,
            papers=coverage.papers,
            papers_with_text=coverage.with_text,
        )

    async def find_related(self, names: Sequence[str], by: str, limit: int) -> list[RelatedPaper]:
        """Papers near others. PaperNotFoundError; CitationsUnknownError where no list is known."""
        ids = await self.find_ids(names)
        coverage = await self.need_lists()
        if by == "coupling":
            if not await self._store.keep_with_references(ids):
                raise CitationsUnknownError(coverage.papers, of_papers=ids)
            return await self._store.find_coupled(ids, limit)
        return await self._store.find_co_cited(ids, limit)

    async def find_path(self, question: FindCitationPath) -> CitationPath:
        """A chain of citations. PaperNotFoundError, CitationsUnknownError."""
        start, end = await self.find_ids([question.from_paper, question.to_paper])
        coverage = await self.need_lists()
        steps = await self._store.find_path(start, end, question.max_steps, question.direction)
        if steps is None:
            message = (
                f"No chain of at most {question.max_steps} citations joins them; "
                f"{_known_lists(coverage)}."
            )
        else:
            message = f"{len(steps) - 1:,} step{'' if len(steps) == 2 else 's'}."
        return CitationPath(steps=steps, message=message)

    async def rank(
        self, query: str | None, by: RankingMeasure, limit: int
    ) -> list[RankedCitedPaper]:
        """Papers by PageRank or by how many cite them. CitationsUnknownError."""
        await self.need_lists()
        parsed = None if query is None else parse_paper_query(query)
        if parsed is not None and parsed.is_empty:
            return []
        return await self._store.rank_papers(parsed, by, limit)

    async def draw(self, name: str, form: str, limit: int) -> str:
        """The neighbourhood of a paper as Mermaid or DOT text. PaperNotFoundError."""
        paper = await self._papers.stored_metadata(name)
        await self.need_lists()
        near = (await self._store.list_neighbours([paper.paper_id]))[paper.paper_id]
        cited, citing = near.cited[:limit], near.citing[:limit]
        known = await self._store.describe_papers(
            [paper.paper_id, *dict.fromkeys((*cited, *citing))]
        )
        notes = []
        if not await self._store.keep_with_references([paper.paper_id]):
            notes.append("What it cites is not known")
        left_out = len(near.cited) + len(near.citing) - len(cited) - len(citing)
        if left_out:
            notes.append(f"{left_out:,} more are not drawn")
        arrows = [
            *((paper.paper_id, each) for each in cited),
            *((each, paper.paper_id) for each in citing),
        ]
        return write_drawing({each.paper_id: each for each in known}, arrows, form, notes)

    async def find_ids(self, names: Sequence[str]) -> list[str]:
        """The ids of papers by any of their names. PaperNotFoundError."""
        return [(await self._papers.stored_metadata(name)).paper_id for name in names]

    async def need_lists(self) -> CitationCoverage:
        """Of how many papers lists are known; CitationsUnknownError where of none."""
        coverage = await self._store.count_coverage()
        if not coverage.with_references:
            raise CitationsUnknownError(coverage.papers)
        return coverage


def _explain(
    coverage: CitationCoverage,
    references: list[LinkedReference] | None,
    citing: CitingPage | None,
    direction: Direction,
    has_text: bool,
) -> str:
    """What is known and what is not, in whole sentences."""
    told = []
    if direction != "in":
        told.append(_explain_references(references, has_text))
    if direction != "out":
        told.append(
            "Nothing is known of who cites it: no paper of the corpus has a known reference list."
            if citing is None
            else f"Cited by {citing.count:,} of the corpus; {_known_lists(coverage)}."
        )
        if citing is not None and citing.unclear_count:
            told.append(
                f"{citing.unclear_count:,} more may cite it: title and author alone do not decide."
            )
    if coverage.papers_to_renew:
        told.append(
            f"{coverage.papers_to_renew:,} papers are in files of an earlier version and are "
            "linked by DOI and arXiv id alone: `carrel papers index` renews them."
        )
    return " ".join(told)


def _explain_references(references: list[LinkedReference] | None, has_text: bool) -> str:
    if references is None:
        return f"What it cites is not known: {_explain_unknown(has_text)}"
    linked = sum(each.paper_id is not None for each in references)
    unclear = sum(bool(each.may_be) for each in references)
    several = f", {unclear:,} may be and are not linked" if unclear else ""
    here = "1 is" if linked == 1 else f"{linked:,} are"
    return f"It has {len(references):,} references: {here} in the corpus{several}."


def _explain_unknown(has_text: bool) -> str:
    if has_text:
        return "no reference list was found in its text. A JATS file or a .bib of it may have one."
    return "none of its sources has a reference list. Add its PDF or JATS file."


def _known_lists(coverage: CitationCoverage) -> str:
    """Of how many papers lists are known, and why not of the others."""
    known = (
        f"{coverage.with_references:,} of {coverage.papers:,} papers have a known reference list"
    )
    if coverage.with_references >= coverage.papers:
        return known
    without_text = coverage.papers - coverage.with_text
    if not without_text:
        return f"{known}, and in the texts of the others none was found"
    if not coverage.with_text:
        return f"{known}, and none has a full text"
    has = "has" if without_text == 1 else "have"
    return f"{known}; {without_text:,} {has} no full text, in the other texts none was found"


def _listed(reference: LinkedReference) -> ListedReference:
    work = reference.work
    return ListedReference(
        number=reference.number,
        label=work.label,
        text=describe_work(work),
        year=work.year,
        doi=work.doi,
        paper_id=reference.paper_id,
        linked_by=reference.linked_by,
        may_be=reference.may_be,
    )


def describe_work(work: CitedWork) -> str:
    """An entry of a reference list as printed, else put together from its fields."""
    if work.text:
        return work.text[:_LONGEST_TEXT]
    first = work.authors[0] if work.authors else None
    people = f"{first} et al." if first and len(work.authors) > 1 else first
    year = f"({work.year})" if work.year else None
    head = " ".join(filter(None, (people, year)))
    parts = (head, work.title, work.container, work.doi and f"doi:{work.doi}")
    return ". ".join(part.rstrip(".") for part in parts if part)[:_LONGEST_TEXT]

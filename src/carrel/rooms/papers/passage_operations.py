"""The operations on passages of papers."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from carrel.core.answer import Explained
from carrel.core.caller import Call, Caller
from carrel.core.decorators import operation
from carrel.core.paging import explain_past_end
from carrel.core.quoting import QuotedSource
from carrel.rooms.papers.models import (
    FindPassages,
    LocatedQuote,
    LocateQuote,
    PassageHit,
    PassageInContext,
    ReadPassage,
)
from carrel.rooms.papers.passages import PaperPassages
from carrel.rooms.papers.ports import PassageTasks
from carrel.rooms.papers.resources import SCOPES
from carrel.rooms.papers.work_notices import PaperNotices


def _found_passages(
    arguments: Mapping[str, Any], answer: list[PassageHit], caller: Caller
) -> Iterable[QuotedSource]:
    return [QuotedSource("paper", hit.paper_id, hit.title) for hit in answer]


def _read_passage(
    arguments: Mapping[str, Any], answer: PassageInContext, caller: Caller
) -> Iterable[QuotedSource]:
    return [QuotedSource("paper", answer.paper_id, answer.title)]


def _located(
    arguments: Mapping[str, Any], answer: LocatedQuote, caller: Caller
) -> Iterable[QuotedSource]:
    return [
        QuotedSource("paper", each.paper_id, each.title)
        for each in (*answer.places, *answer.nearest)
    ]


class PassageOperations:
    """Finding, reading and locating passages."""

    def __init__(
        self, passages: PaperPassages, tasks: PassageTasks, notices: PaperNotices | None = None
    ) -> None:
        self._passages = passages
        self._tasks = tasks
        self._notices = notices

    @operation(
        title="Find passages",
        description=(
            "The passages of papers that answer a question, word for word, best first, with "
            "section, page and an id to cite; within limits it to some papers."
        ),
        scopes=SCOPES,
        quotes=_found_passages,
        command="passages",
        next_command="carrel papers passage PASSAGE_ID --before 1 --after 1 reads on around one.",
        phrases=(
            "find the passage that says …; where in the papers is … discussed; which paragraph "
            "mentions …; evidence for a statement in the papers; quote from papers about …; "
            "sentences in the corpus that answer a question; paragraphs about … in this paper; "
            "search inside the full texts; find text inside one paper; studies that say …; exact "
            "wording in the papers; where does the text mention …; sentences about …"
        ),
    )
    async def find_passages(
        self, question: FindPassages, call: Call
    ) -> list[PassageHit] | Explained:
        hits = await self._passages.find(
            question.query, question.within, page=question.page, limit=question.limit
        )
        if question.task_id is not None:
            await self._tasks.keep_found(question.task_id, hits, call)
        if hits:
            return hits if self._notices is None else await self._notices.mark_hits(hits)
        if question.page > 1 and await self._passages.find(
            question.query, question.within, page=1, limit=1
        ):
            past = explain_past_end(question.page, question.limit, None, "passages")
            return Explained(hits, past)
        return Explained(hits, await self._passages.explain_empty(question.query, question.within))

    @operation(
        title="Read a passage",
        description=(
            "One passage by its id (from find_passages), with the passages before and after it."
        ),
        scopes=SCOPES,
        quotes=_read_passage,
        command="passage",
        phrases=(
            "read on around a passage; show the context of a passage; what stands before and "
            "after this paragraph; open a passage by its id; the paragraph after this one; more "
            "text around a snippet; what comes after this paragraph; surrounding text of a hit; "
            "read more of this passage"
        ),
    )
    async def read_passage(self, question: ReadPassage, call: Call) -> PassageInContext:
        return await self._passages.read(
            question.passage_id, before=question.before, after=question.after
        )

    @operation(
        title="Locate a quote",
        description=(
            "Check a quotation: which paper, passage and page it comes from, and whether it is "
            "exact, the same words, or near with the words that differ."
        ),
        scopes=SCOPES,
        quotes=_located,
        command="quote",
        cost=2.0,
        phrases=(
            "which paper is this quote from; find the source of a quotation; check that a quote "
            "is correct; is this sentence really in the paper; where does this sentence come "
            "from; verify a quotation; on which page is this quote; page number of a quoted "
            "sentence; is this quotation word for word in the paper; page of this sentence; did "
            "the authors really write this"
        ),
    )
    async def locate_quote(self, question: LocateQuote, call: Call) -> LocatedQuote:
        return await self._passages.locate(question.text, question.within)

"""Corrects papers of a corpus in use (edit, merge, split, remove, undo) and tells their history."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Mapping
from typing import Any

from carrel.core.caller import Call, Caller
from carrel.core.decorators import operation
from carrel.core.operation import Effect
from carrel.core.quoting import QuotedSource
from carrel.rooms.papers.correction_models import (
    EditPaper,
    PaperCorrected,
    PaperHistory,
    PaperHistoryOf,
)
from carrel.rooms.papers.ports import CorrectPaper, TellHistory


def _quote_history(
    arguments: Mapping[str, Any], answer: PaperHistory, caller: Caller
) -> Iterable[QuotedSource]:
    """Titles of records and decisions are quoted; a history without any is numbers alone."""
    has_words = answer.title or answer.records or answer.decisions
    return [QuotedSource("corpus", "papers")] if has_words else []


class PaperCorrections:
    """Corrections, one at a time, each written down with who made it."""

    def __init__(self, correct: CorrectPaper, tell_history: TellHistory) -> None:
        self._correct = correct
        self._tell_history = tell_history
        self._lock = asyncio.Lock()

    @operation(
        title="Correct a paper",
        description=(
            "Corrects the corpus. edit: set fields of a paper, or clear them (lists such as tags "
            "and keywords are replaced: send all); merge: papers become part of paper_id, whose id "
            "and text stay, with the keywords and tags of all; split: records of a paper become "
            "another; remove; undo: a decision by number, or the paper's last. Answers with the "
            "number to undo it by. Builds keep corrections; old ids keep working. dry_run shows "
            "what would change."
        ),
        scopes=frozenset({"papers:write"}),
        effect=Effect.DESTROYS,
        is_listed=False,
        cost=2.0,
        timeout_seconds=300.0,
        command="correct",
        next_command="carrel papers history lists what was decided; carrel papers undo undoes it.",
        phrases=(
            "correct the title of a paper; fix the authors or the year of a paper; edit a paper's "
            "metadata; the DOI of this paper is wrong; change the venue of an article; merge two "
            "papers that are the same; these two records are duplicates; combine duplicate "
            "papers; split a paper that is two works; separate records that were joined by "
            "mistake; undo the last change to a paper; take back a correction; put a removed "
            "paper back; tag a paper; label a paper; tag papers; set the tags or keywords of an "
            "article; add a tag or keyword to a paper; put an article under a label; remove a tag "
            "from a paper; the year of the article is wrong; author of a paper misspelt; set the "
            "DOI of a paper that lacks one; replace the abstract of a paper; preprint and "
            "published version are one work; join two versions of the same article; undo a merge; "
            "undo my correction; revert an edit of a paper; restore a deleted paper; separate "
            "papers that were mixed up; fill in missing pages, volume or issue of an article"
        ),
    )
    async def edit_paper(self, question: EditPaper, call: Call) -> PaperCorrected:
        async with self._lock:
            return await self._correct(question, call.caller.user_id)

    @operation(
        title="History of a paper",
        description=(
            "What a paper is made of (records with their sources) and what was decided about it, "
            "newest first: who, when, what, and the number to undo it by. Without paper_id all "
            "decisions of the corpus; action=split lists what never becomes one paper again."
        ),
        scopes=frozenset({"papers:read"}),
        quotes=_quote_history,
        is_listed=False,
        command="history",
        phrases=(
            "history of a paper; who changed this paper; what was corrected in the corpus; why "
            "are these one paper; which sources is this paper made of; list merged papers; list "
            "papers that were split; what can be undone; which papers were removed; corrections "
            "made so far; log of decisions about papers; where does the metadata of a paper come "
            "from; number of a decision to undo; who merged these two papers; who edited a paper; "
            "when was a paper merged; undo history of the corpus"
        ),
    )
    async def paper_history(self, question: PaperHistoryOf, call: Call) -> PaperHistory:
        return await self._tell_history(question)

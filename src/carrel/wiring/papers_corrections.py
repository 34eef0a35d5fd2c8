"""Corrections of the corpus in a folder; what builds need is imported with the first of them."""

from __future__ import annotations

import asyncio
from pathlib import Path

from carrel.rooms.papers.correction_models import (
    EditPaper,
    PaperCorrected,
    PaperHistory,
    PaperHistoryOf,
)
from carrel.rooms.papers.corrections import PaperCorrections


def paper_corrections(into: Path) -> PaperCorrections:
    """Corrects the corpus in `into`."""

    async def correct(question: EditPaper, who: str) -> PaperCorrected:
        return await asyncio.to_thread(_correct_here, into, question, who)

    async def tell(question: PaperHistoryOf) -> PaperHistory:
        return await asyncio.to_thread(_tell_here, into, question)

    return PaperCorrections(correct, tell)


def _correct_here(into: Path, question: EditPaper, who: str) -> PaperCorrected:
    from carrel.wiring.papers_build import correct_paper

    return correct_paper(into, question, who)


def _tell_here(into: Path, question: PaperHistoryOf) -> PaperHistory:
    from carrel.wiring.papers_build import tell_history

    return tell_history(into, question)

"""Operations that list and show the figures and tables of papers."""

from __future__ import annotations

from carrel.core.answer import Blocks, Explained, Explanation
from carrel.core.caller import Call
from carrel.core.decorators import operation
from carrel.rooms.papers.figures import FigureEntry, GetPaperFigure, PaperFigures
from carrel.rooms.papers.models import OnePaper
from carrel.rooms.papers.resources import SCOPES, named_paper

_NONE_KNOWN = Explanation(
    message="No figure or table of this paper is known: its source has none, or it was read from "
    "a list, or by an earlier version. get_paper_source reads its text."
)


class FigureOperations:
    """The figures and tables of papers, over their service."""

    def __init__(self, figures: PaperFigures) -> None:
        self._figures = figures

    @operation(
        title="List paper figures",
        description="The figures and tables of a paper with label, page and caption.",
        scopes=SCOPES,
        quotes=named_paper,
        command="figures",
        next_command="carrel papers figure PAPER_ID LABEL reads one; --to FILE writes its image.",
        is_listed=False,
        phrases=(
            "which figures does the paper have; list the tables of an article; figure captions of "
            "a paper; all illustrations in the paper; how many figures and tables; captions; "
            "which tables are in this article; list of figures"
        ),
    )
    async def list_paper_figures(
        self, question: OnePaper, call: Call
    ) -> list[FigureEntry] | Explained:
        entries = await self._figures.list_entries(question.paper_id)
        return entries or Explained(entries, _NONE_KNOWN)

    @operation(
        title="Get paper figure",
        description=(
            "One figure or table of a paper by its label or number: caption, page, and the image, "
            "or the table as Markdown."
        ),
        scopes=SCOPES,
        quotes=named_paper,
        command="figure",
        is_listed=False,
        phrases=(
            "show figure 3 of the paper; look at a figure; see the image of a plot; read table 2 "
            "of the article; table as Markdown; picture from a paper; open the diagram in an "
            "article; view an illustration; let me look at figure …; numbers in a table; show me "
            "the table; values of table …"
        ),
    )
    async def get_paper_figure(self, question: GetPaperFigure, call: Call) -> Blocks:
        return await self._figures.show(question.paper_id, question.figure)

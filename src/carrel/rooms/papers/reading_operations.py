"""Operations with which people read papers: part by part, and page by page."""

from __future__ import annotations

from carrel.core.answer import Blocks
from carrel.core.caller import Call
from carrel.core.decorators import operation
from carrel.rooms.papers.models import OnePaper
from carrel.rooms.papers.page_images import GetPaperPage, PageImages, PaperPages
from carrel.rooms.papers.reading import PaperPart, PaperPartReader, ReadPaperPart
from carrel.rooms.papers.resources import SCOPES, named_paper


class ReadingOperations:
    """Texts in parts, and pictures of pages."""

    def __init__(self, reader: PaperPartReader, pages: PageImages) -> None:
        self._reader = reader
        self._pages = pages

    @operation(
        title="Read a paper part by part",
        description=(
            "A part of a paper's text in pieces, with its outline and, where query or passage_id "
            "say what is looked for, every place of it."
        ),
        scopes=SCOPES,
        quotes=named_paper,
        command="part",
        is_listed=False,
        is_for_people=True,
        phrases="read a paper part by part; open a paper where it speaks of …",
    )
    async def read_paper_part(self, question: ReadPaperPart, call: Call) -> PaperPart:
        return await self._reader.read(question)

    @operation(
        title="Count the pages of a paper",
        description="How many pages the kept PDF of a paper has; 0 where none is kept.",
        scopes=SCOPES,
        command="page-count",
        is_listed=False,
        is_for_people=True,
        timeout_seconds=60.0,
        phrases="how many pages does the PDF of a paper have",
    )
    async def count_paper_pages(self, question: OnePaper, call: Call) -> PaperPages:
        return await self._pages.count(question.paper_id)

    @operation(
        title="Get a page of a paper",
        description="A page of a paper's PDF as a PNG picture.",
        scopes=SCOPES,
        quotes=named_paper,
        command="page",
        is_listed=False,
        is_for_people=True,
        timeout_seconds=60.0,
        phrases="picture of a page of the paper; show page 3 of the PDF",
    )
    async def get_paper_page(self, question: GetPaperPage, call: Call) -> Blocks:
        return await self._pages.show(question)

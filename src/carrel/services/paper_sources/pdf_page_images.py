"""Draws single pages of PDFs as PNG in a child process with limits of time and memory."""

from __future__ import annotations

import pypdfium2

from carrel.libraries.pdf_layout.content import Box
from carrel.rooms.papers.page_images import DrawnPage
from carrel.services.paper_sources.pdf_figures import render_region
from carrel.services.parser_process import ParserProcesses

_SECONDS = 4.0
# A page may be a long strip; what is wider than high stays within the asked width anyway.
_TALLEST_PIXELS = 4_000


class PdfPageDrawings:
    """The drawing of pages; the owner must close it."""

    def __init__(self) -> None:
        self._parsers = ParserProcesses()

    async def draw(self, pdf: bytes, page: int, width: int) -> DrawnPage:
        pages, image = await self._parsers.run(draw_page, pdf, page, width, size=len(pdf))
        return DrawnPage(pages, image)

    def close(self) -> None:
        self._parsers.close()


def draw_page(pdf: bytes, page: int, width: int) -> tuple[int, bytes | None]:
    """The number of pages, 0 of what PDFium cannot open, and a PNG of one of them."""
    try:
        document = pypdfium2.PdfDocument(pdf)
    except pypdfium2.PdfiumError:
        return 0, None
    with document:
        count = len(document)
        if not 1 <= page <= count:
            return count, None
        try:
            drawn = document[page - 1]
        except pypdfium2.PdfiumError:
            return count, None
        try:
            full_width, full_height = drawn.get_size()
            if full_width < 1 or full_height < 1:
                return count, None
            scale = min(width / full_width, _TALLEST_PIXELS / full_height)
            region = Box(0.0, 0.0, full_width, full_height)
            return count, render_region(drawn, region, scale, _SECONDS)
        finally:
            drawn.close()

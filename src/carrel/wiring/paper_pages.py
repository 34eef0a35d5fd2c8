"""The drawing of PDF pages, which is imported and started where somebody first looks at one."""

from __future__ import annotations

from typing import TYPE_CHECKING

from carrel.rooms.papers.page_images import DrawnPage

if TYPE_CHECKING:
    from carrel.services.paper_sources.pdf_page_images import PdfPageDrawings


class LazyPageDrawings:
    """Draws pages in child processes; the owner must close it."""

    def __init__(self) -> None:
        self._drawings: PdfPageDrawings | None = None

    async def draw(self, pdf: bytes, page: int, width: int) -> DrawnPage:
        # Imported here: PDFium takes a tenth of a second, and most servers draw no page.
        from carrel.services.paper_sources.pdf_page_images import PdfPageDrawings

        if self._drawings is None:
            self._drawings = PdfPageDrawings()
        return await self._drawings.draw(pdf, page, width)

    def close(self) -> None:
        if self._drawings is not None:
            self._drawings.close()

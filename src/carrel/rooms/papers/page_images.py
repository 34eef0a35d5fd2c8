"""Pages of a paper's PDF as pictures; PDFium works in a process of its own."""

from __future__ import annotations

from collections import OrderedDict
from dataclasses import dataclass
from typing import Annotated, Protocol

from pydantic import Field

from carrel.core.answer import Binary, Blocks, Text
from carrel.core.operation import Answer
from carrel.rooms.papers.errors import (
    AssetFetchFailedError,
    PageNotDrawnError,
    PageNotFoundError,
)
from carrel.rooms.papers.models import OnePaper
from carrel.rooms.papers.ports import Assets
from carrel.rooms.papers.service import Papers

# Widths in pixels: a thumbnail, a page beside the text, a page to read alone.
NARROWEST, DEFAULT_WIDTH, WIDEST = 120, 800, 1_600
# Pictures that are kept for the next reader; a page of text takes about 150 kB.
_MOST_KEPT_BYTES = 24_000_000


class GetPaperPage(OnePaper):
    """One page of the PDF."""

    page: Annotated[int, Field(ge=1, le=100_000)]
    width: Annotated[int, Field(ge=NARROWEST, le=WIDEST, description="In pixels")] = DEFAULT_WIDTH


class PaperPages(Answer):
    """How many pages a paper's PDF has; none where no PDF is kept."""

    paper_id: str
    pages: int


@dataclass(frozen=True, slots=True)
class DrawnPage:
    """A page as PNG, and how many pages there are; no picture where it cannot be drawn."""

    pages: int
    image: bytes | None


class PdfPages(Protocol):
    """Draws pages of PDFs of strangers, in a process that can be ended."""

    async def draw(self, pdf: bytes, page: int, width: int) -> DrawnPage:
        """Raises CostlyInputError. Page 0 only counts; a page past the end has no picture."""
        ...


class PageImages:
    """Pages by the hash of their PDF; the pictures drawn last are kept in memory."""

    def __init__(self, papers: Papers, assets: Assets, pdf_pages: PdfPages) -> None:
        self._papers = papers
        self._assets = assets
        self._pdf_pages = pdf_pages
        self._kept: OrderedDict[tuple[str, int, int], DrawnPage] = OrderedDict()
        self._kept_bytes = 0

    async def count(self, paper_id: str) -> PaperPages:
        """PaperNotFoundError, AssetFetchFailedError."""
        paper = await self._papers.find_paper(paper_id)
        name = paper.metadata.paper_id
        if paper.pdf_hash is None:
            return PaperPages(paper_id=name, pages=0)
        return PaperPages(paper_id=name, pages=(await self._draw(name, paper.pdf_hash, 0, 0)).pages)

    async def show(self, question: GetPaperPage) -> Blocks:
        """PaperNotFoundError, PageNotFoundError, PageNotDrawnError, AssetFetchFailedError."""
        paper = await self._papers.find_paper(question.paper_id)
        name = paper.metadata.paper_id
        if paper.pdf_hash is None:
            raise PageNotFoundError(name, question.page, 0)
        drawn = await self._draw(name, paper.pdf_hash, question.page, question.width)
        if question.page > drawn.pages:
            raise PageNotFoundError(name, question.page, drawn.pages)
        if drawn.image is None:
            raise PageNotDrawnError(name, question.page)
        told = Text(f"Page {question.page} of {drawn.pages}.")
        return Blocks((told, Binary(drawn.image, "image/png")))

    async def _draw(self, paper_id: str, pdf_hash: str, page: int, width: int) -> DrawnPage:
        key = (pdf_hash, page, width)
        if key in self._kept:
            self._kept.move_to_end(key)
            return self._kept[key]
        body = await self._read(paper_id, f"pdf/{pdf_hash}.pdf")
        drawn = await self._pdf_pages.draw(body, page, width)
        self._keep(key, drawn)
        return drawn

    def _keep(self, key: tuple[str, int, int], drawn: DrawnPage) -> None:
        self._kept[key] = drawn
        self._kept_bytes += len(drawn.image or b"")
        while self._kept_bytes > _MOST_KEPT_BYTES:
            _, oldest = self._kept.popitem(last=False)
            self._kept_bytes -= len(oldest.image or b"")

    async def _read(self, paper_id: str, name: str) -> bytes:
        try:
            return await self._assets.read(name)
        except FileNotFoundError as error:
            raise AssetFetchFailedError(paper_id, "PDF", "not_found") from error
        except TimeoutError as error:
            raise AssetFetchFailedError(paper_id, "PDF", "timed_out") from error
        except OSError as error:
            raise AssetFetchFailedError(paper_id, "PDF", "unreadable") from error

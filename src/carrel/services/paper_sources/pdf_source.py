"""PDF files among other sources; their reader is imported where one is read."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from carrel.rooms.papers.building.models import Reading, SourcePart
from carrel.rooms.papers.building.ports import AssetStore

NAME = "pdf"
VERSION = 3


class PdfSource:
    """A PDF alone; one beside a text of the same name belongs to that text."""

    name = NAME
    version = VERSION

    def __init__(self, grobid_url: str | None = None, docling_url: str | None = None) -> None:
        self._grobid_url = grobid_url
        self._docling_url = docling_url

    def accepts(self, path: Path, head: bytes) -> bool:
        return path.suffix.lower() == ".pdf"

    def parts(self, path: Path, companions: tuple[Path, ...]) -> Iterator[SourcePart]:
        yield SourcePart(path)

    def read(self, part: SourcePart, assets: AssetStore) -> Reading:
        # PDFium takes a fifth of a second, which an addition of a text need not pay.
        from carrel.services.paper_sources.pdf import read_pdf
        from carrel.services.paper_sources.pdf_services import PdfServices

        return read_pdf(part.path, assets, PdfServices(self._grobid_url, self._docling_url))

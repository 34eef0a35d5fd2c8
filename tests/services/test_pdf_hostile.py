"""PDFs made to hurt: they cost one file, and never the reader."""

from __future__ import annotations

from pathlib import Path

import pytest

from carrel.rooms.papers.building.models import SourcePart
from carrel.services.paper_sources.pdf_content import read_content
from carrel.services.paper_sources.pdf_source import PdfSource
from tests.services.pdf_files import make_page, make_pdf
from tests.services.test_paper_sources import Shelf

WORDS = b"BT /F1 10 Tf 60 700 Td (Some words of a page that can be read by anybody) Tj ET\n"


def pieces(count: int, text: bytes, step: float, x: float = 10.0, y: float = 500.0) -> bytes:
    return b"".join(
        b"BT /F1 8 Tf %.2f %.2f Td (%s) Tj ET\n" % (x + step * at, y, text) for at in range(count)
    )


HOSTILE = {
    "ten thousand columns": pieces(10_000, b"a b", 40.0),
    "ten thousand captions on one line": pieces(10_000, b"Figure 1: a", 0.5),
    "ten thousand page numbers": pieces(10_000, b"7", 0.05, y=830.0),
    "accents without letters": pieces(400, b"\xa8" * 100, 0.0),
    "a font as large as a city": b"BT /F1 1000000000 Tf 60 700 Td (Large) Tj ET\n",
    "a font of no size": b"BT /F1 0 Tf 60 700 Td (Small) Tj ET\n",
    "a matrix that folds everything": b"0 0 0 0 50 50 cm\n" + WORDS,
    "a matrix of infinity": b"1e38 0 0 1e38 0 0 cm 1e38 0 0 1e38 0 0 cm\n" + WORDS,
    "brackets without end": b"q " * 20_000 + WORDS,
    "twenty thousand paths": b"10 10 5 5 re S 300 300 m 310 320 l S\n" * 10_000,
    "text far outside the page": b"BT /F1 10 Tf -99999999 99999999 Td (Where) Tj ET\n",
}


@pytest.mark.parametrize("name", HOSTILE)
def test_a_hostile_page_is_read_or_refused(tmp_path: Path, name: str) -> None:
    path = tmp_path / "a.pdf"
    path.write_bytes(make_page(WORDS + HOSTILE[name]))
    shelf = Shelf()
    reading = PdfSource().read(SourcePart(path), shelf)
    assert reading.problems or reading.records
    for text in shelf.texts:
        text.encode("utf-8")


def test_a_pdf_without_pages_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "a.pdf"
    path.write_bytes(make_pdf([]))
    reading = PdfSource().read(SourcePart(path), Shelf())
    assert reading.records == ()
    assert reading.problems[0].is_fatal


def test_places_are_those_of_the_page_as_it_is_seen(tmp_path: Path) -> None:
    path = tmp_path / "a.pdf"
    for turn, matrix in (
        (0, b"1 0 0 1 60 700"),
        (90, b"0 1 -1 0 142 60"),
        (270, b"0 -1 1 0 453 782"),
    ):
        content = b"BT /F1 10 Tf %s Tm (Words to be read) Tj ET" % matrix
        path.write_bytes(make_page(content, extra=b"/Rotate %d" % turn))
        (page,) = read_content(path).pages
        (line,) = page.lines
        assert (line.text, line.angle) == ("Words to be read", 0), turn
        assert line.box.width > line.box.height
        assert 0 < line.box.x0 < page.width and 0 < line.baseline < page.height

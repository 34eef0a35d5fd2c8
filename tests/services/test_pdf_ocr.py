"""Scans are read with Tesseract where it is installed."""

from __future__ import annotations

from pathlib import Path

import pytest

from carrel.libraries.pdf_layout.title_page import Found, TitlePage
from carrel.rooms.papers.building.models import SourcePart
from carrel.rooms.papers.building.paper_records import (
    CITED_FIELDS,
    MIN_CITED_CONFIDENCE,
    is_guess,
)
from carrel.services.paper_sources.pdf import _OCR_CERTAINTY, _field_origins
from carrel.services.paper_sources.pdf_ocr import find_program, read_word_table
from carrel.services.paper_sources.pdf_source import PdfSource
from tests.services.test_paper_sources import Shelf

SCANS = Path(__file__).parents[2] / ".." / "shared" / "data" / "services" / "pdfs"
TABLE = "\n".join(
    [
        "level\tpage_num\tblock_num\tpar_num\tline_num\tword_num\tleft\ttop\twidth\theight\tconf\ttext",
        "1\t1\t0\t0\t0\t0\t0\t0\t1000\t1400\t-1\t",
        "5\t1\t1\t1\t1\t1\t100\t200\t60\t40\t96.5\tTwo",
        "5\t1\t1\t1\t1\t2\t170\t200\t80\t40\t91\twords",
        "5\t1\t1\t1\t2\t1\t100\t260\t90\t40\t12\tdoubted",
        "5\t1\t1\t1\t2\t2\t200\t260\t90\t40\t88\tlitera-",
        "broken row",
        "5\t1\t1\t1\t2\t3\tx\t260\t90\t40\t88\tnonsense",
    ]
)


def test_a_table_of_words_gives_lines_with_places_and_leaves_doubtful_words_out() -> None:
    first, second = read_word_table(TABLE, page=3, scale=2.0)
    assert (first.text, first.page, first.box.x0, first.box.y1) == ("Two words", 3, 50.0, 120.0)
    assert (second.text, second.has_hyphen) == ("litera-", True)


@pytest.mark.skipif(find_program() is None, reason="tesseract is not installed")
@pytest.mark.skipif(not SCANS.is_dir(), reason="the shared data is not here")
@pytest.mark.parametrize("name", ["scan-ocr-test.pdf", "scan-ocr-test-rotated-90.pdf"])
def test_a_scan_is_read_and_said_to_be(name: str) -> None:
    shelf = Shelf()
    reading = PdfSource().read(SourcePart(SCANS / name), shelf)
    assert "text_by_ocr" in [problem.code for problem in reading.problems]
    assert "Docling bundles PDF document conversion" in shelf.texts[0]
    (record,) = reading.records
    assert record.confidence < MIN_CITED_CONFIDENCE


@pytest.mark.skipif(find_program() is None, reason="tesseract is not installed")
@pytest.mark.skipif(not SCANS.is_dir(), reason="the shared data is not here")
def test_every_field_read_by_ocr_is_a_guess() -> None:
    (record,) = PdfSource().read(SourcePart(SCANS / "scan-ocr-test.pdf"), Shelf()).records
    known = [name for name in CITED_FIELDS if getattr(record, name)]
    assert known
    assert [name for name in known if not is_guess(record.origin_of(name))] == []
    assert "title" in record.inferred


def test_the_surest_field_read_by_ocr_is_a_guess() -> None:
    sure = Found("A title", 1.0)
    (origin,) = _field_origins(TitlePage(title=sure), _OCR_CERTAINTY)
    assert is_guess(origin)


@pytest.mark.skipif(not SCANS.is_dir(), reason="the shared data is not here")
def test_a_scan_says_so_where_nothing_can_read_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "")
    reading = PdfSource().read(SourcePart(SCANS / "scan-ocr-test.pdf"), Shelf())
    assert [problem.code for problem in reading.problems] == ["no_text_layer"]
    assert "tesseract" in reading.problems[0].message

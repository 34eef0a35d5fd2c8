"""Reads scanned pages with Tesseract, where it is installed: words with places, as layout rules
need them.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import time
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import pypdfium2

from carrel.libraries.pdf_layout.content import Box, Line, PageContent, Span
from carrel.services.paper_sources.pdf_figures import render_region

PROGRAM = "tesseract"
# 200 dots an inch: half the time of 300 and as good on print of ten points.
_SCALE = 200 / 72
_LONGEST_SIDE_PIXELS = 3_500
_SECONDS_PER_PAGE = 60.0
# By the clock, so that a reader's process ends before its caller gives it up.
_SECONDS_FOR_ALL = 200.0
_MOST_PAGES = 400
_MOST_LANGUAGES = 4
_LEAST_CONFIDENCE = 30.0
# The height of a line of words with ascenders and descenders, in sizes of its font.
_SIZE_OF_HEIGHT = 0.75
_WORD_LEVEL = "5"
_COLUMNS = 12


@dataclass(frozen=True, slots=True)
class ScannedPages:
    """What was read; `missed` are pages for which time or the program did not do."""

    pages: tuple[PageContent, ...]
    missed: tuple[int, ...] = ()


def find_program() -> str | None:
    """Where Tesseract is installed; None where it is not."""
    return shutil.which(PROGRAM)


def read_scanned_pages(document: pypdfium2.PdfDocument, program: str) -> ScannedPages:
    """The lines of every page, as far as the time does."""
    ends = time.monotonic() + _SECONDS_FOR_ALL
    languages = "+".join(_list_languages(program)) or "eng"
    pages: list[PageContent] = []
    missed: list[int] = []
    for number in range(1, len(document) + 1):
        left = min(_SECONDS_PER_PAGE, ends - time.monotonic())
        page = None
        if left > 0 and number <= _MOST_PAGES:
            page = _read_page(document, number, program, languages, left)
        if page is None:
            missed.append(number)
            page = PageContent(number, 0.0, 0.0)
        pages.append(page)
    return ScannedPages(tuple(pages), tuple(missed))


def _list_languages(program: str) -> list[str]:
    """The languages that are installed, English first."""
    try:
        answer = subprocess.run(
            [program, "--list-langs"], capture_output=True, timeout=20, check=False, text=True
        )
    except (OSError, subprocess.TimeoutExpired):
        return []
    names = [each.strip() for each in answer.stdout.splitlines()[1:]]
    known = sorted({each for each in names if each.isidentifier() and each not in {"osd", "equ"}})
    return sorted(known, key=lambda name: name != "eng")[:_MOST_LANGUAGES]


def _read_page(
    document: pypdfium2.PdfDocument, number: int, program: str, languages: str, seconds: float
) -> PageContent | None:
    try:
        page = document[number - 1]
    except pypdfium2.PdfiumError:
        return None
    try:
        width, height = page.get_size()
        scale = min(_SCALE, _LONGEST_SIDE_PIXELS / max(width, height, 1.0))
        image = render_region(page, Box(0.0, 0.0, width, height), scale, seconds)
    finally:
        page.close()
    if image is None:
        return None
    # One thread: builds read several files at once.
    environment = {"PATH": os.environ.get("PATH", ""), "OMP_THREAD_LIMIT": "1"}
    if folder := os.environ.get("TESSDATA_PREFIX"):
        environment["TESSDATA_PREFIX"] = folder
    try:
        answer = subprocess.run(
            [
                program,
                "-",
                "-",
                "-l",
                languages,
                "--psm",
                "1",
                "--dpi",
                str(round(scale * 72)),
                "tsv",
            ],
            input=image,
            capture_output=True,
            timeout=seconds,
            check=False,
            env=environment,
        )
    except (OSError, subprocess.TimeoutExpired):
        return None
    if answer.returncode != 0:
        return None
    lines = tuple(read_word_table(answer.stdout.decode("utf-8", "replace"), number, scale))
    return PageContent(number, width, height, lines)


def read_word_table(table: str, page: int, scale: float) -> Iterator[Line]:
    """The lines of Tesseract's table of words (TSV); words that it doubts are left out."""
    key: tuple[str, ...] = ()
    words: list[tuple[Box, str]] = []
    for cells in _rows(table):
        if cells[0] != _WORD_LEVEL or not cells[11].strip():
            continue
        try:
            left, top, width, height, confidence = (float(cells[at]) for at in range(6, 11))
        except ValueError:
            continue
        if confidence < _LEAST_CONFIDENCE:
            continue
        if tuple(cells[1:5]) != key and words:
            yield _make_line(words, page)
            words = []
        key = tuple(cells[1:5])
        box = Box(left / scale, top / scale, (left + width) / scale, (top + height) / scale)
        words.append((box, cells[11].strip()))
    if words:
        yield _make_line(words, page)


def _rows(table: str) -> Iterable[list[str]]:
    for row in table.splitlines():
        cells = row.split("\t")
        if len(cells) == _COLUMNS:
            yield cells


def _make_line(words: list[tuple[Box, str]], page: int) -> Line:
    box = Box(
        min(each.x0 for each, _ in words),
        min(each.y0 for each, _ in words),
        max(each.x1 for each, _ in words),
        max(each.y1 for each, _ in words),
    )
    size = max(1.0, round(box.height * _SIZE_OF_HEIGHT))
    text = " ".join(word for _, word in words)
    # Without a name, a font would pass for one of TeX's bitmaps.
    span = Span(text, box, size, "Scan")
    return Line((span,), box, page, box.y1 - 0.2 * box.height, 0, text.endswith("-"))

"""Rules, images and drawings of a PDF page."""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Iterator

import pypdfium2
from pypdfium2 import raw as pdfium

from carrel.libraries.pdf_layout.content import Box, Picture
from carrel.libraries.pdf_layout.drawings import group_drawings

# A plot of points has thousands of paths; beyond these the page is read as far as seen.
_MOST_OBJECTS = 4_000
_MOST_PICTURES = 60
_MOST_RULES = 400
_THICKEST_RULE = 2.5
_SHORTEST_RULE = 15.0

Place = Callable[[float, float, float, float], Box]


def read_drawings(
    page: pypdfium2.PdfPage, place: Place
) -> tuple[tuple[Box, ...], tuple[Picture, ...]]:
    """The rules of a page (thin lines), and its images and clusters of drawn paths."""
    rules: list[Box] = []
    images: list[Box] = []
    paths: list[Box] = []
    for kind, box in _objects(page, place):
        if kind in (pdfium.FPDF_PAGEOBJ_IMAGE, pdfium.FPDF_PAGEOBJ_FORM):
            images.append(box)
        elif min(box.width, box.height) <= _THICKEST_RULE:
            if max(box.width, box.height) >= _SHORTEST_RULE:
                rules.append(box)
            paths.append(box)
        else:
            paths.append(box)
    width, height = page.get_size()
    pictures = [Picture(box) for box in images[:_MOST_PICTURES]]
    pictures += [
        Picture(box, is_drawing=True)
        for box in group_drawings(paths, width, height)[: _MOST_PICTURES - len(pictures)]
    ]
    return tuple(rules[:_MOST_RULES]), tuple(pictures)


def _objects(page: pypdfium2.PdfPage, place: Place) -> Iterator[tuple[int, Box]]:
    """Kind and place of images, paths, shadings and forms."""
    left, bottom = ctypes.c_float(), ctypes.c_float()
    right, top = ctypes.c_float(), ctypes.c_float()
    seen = 0
    for at in range(pdfium.FPDFPage_CountObjects(page)):
        item = pdfium.FPDFPage_GetObject(page, at)
        kind = pdfium.FPDFPageObj_GetType(item)
        if kind == pdfium.FPDF_PAGEOBJ_TEXT:
            continue
        seen += 1
        if seen > _MOST_OBJECTS:
            return
        if pdfium.FPDFPageObj_GetBounds(item, left, bottom, right, top):
            yield kind, place(left.value, bottom.value, right.value, top.value)

"""Renders the places of figures on a PDF's pages as PNG images, bounded in size, count and time."""

from __future__ import annotations

import ctypes
import struct
import time
import zlib
from collections.abc import Sequence

import pypdfium2
from pypdfium2 import raw as pdfium

from carrel.libraries.pdf_layout.content import Box
from carrel.libraries.pdf_layout.figures import PrintedFigure
from carrel.libraries.works.figures import PaperFigure
from carrel.rooms.papers.building.paper_records import KeptImage
from carrel.rooms.papers.building.ports import AssetStore

# 144 dots an inch, as far as the picture stays within these bounds.
_SCALE = 2.0
_LONGEST_SIDE_PIXELS = 1_400
_MOST_IMAGES = 60
_MOST_PIXELS = 40_000_000
# A drawing of a million paths is given up after this much computing, and so are further ones.
_SECONDS_PER_IMAGE = 1.0
_SECONDS_FOR_ALL = 8.0
_SMALLEST_SIDE = 16.0
_WHITE = 0xFFFFFFFF
_CHANNELS = 4


def keep_figures(
    document: pypdfium2.PdfDocument, printed: Sequence[PrintedFigure], assets: AssetStore
) -> tuple[list[PaperFigure], list[KeptImage]]:
    """The figures with images of those whose place is known; tables have no image of their own."""
    renderer = _Renderer(document)
    figures: list[PaperFigure] = []
    images: list[KeptImage] = []
    for each in printed:
        image = None
        if each.region is not None and each.markdown is None:
            content = renderer.render(each.page, each.region)
            if content is not None:
                sha256 = assets.keep_image_bytes(content, "png")
                image = f"images/{sha256}.png"
                images.append(KeptImage(image, "png", sha256))
        figures.append(
            PaperFigure(each.kind, each.label, each.caption, each.page, image, each.markdown)
        )
    return figures, images


class _Renderer:
    """Draws regions of pages until its bounds are reached."""

    def __init__(self, document: pypdfium2.PdfDocument) -> None:
        self._document = document
        self._images_left = _MOST_IMAGES
        self._pixels_left = _MOST_PIXELS
        self._seconds_left = _SECONDS_FOR_ALL

    def render(self, number: int, region: Box) -> bytes | None:
        """A PNG of a region; None where a bound is reached or PDFium cannot draw it."""
        if min(region.width, region.height) < _SMALLEST_SIDE or not self._images_left:
            return None
        scale = min(_SCALE, _LONGEST_SIDE_PIXELS / max(region.width, region.height))
        pixels = round(region.width * scale) * round(region.height * scale)
        if pixels > self._pixels_left or self._seconds_left <= 0:
            return None
        self._images_left -= 1
        self._pixels_left -= pixels
        started = time.thread_time()
        try:
            page = self._document[number - 1]
        except pypdfium2.PdfiumError:
            return None
        try:
            seconds = min(_SECONDS_PER_IMAGE, self._seconds_left)
            return render_region(page, region, scale, seconds)
        finally:
            page.close()
            self._seconds_left -= time.thread_time() - started


def render_region(
    page: pypdfium2.PdfPage, region: Box, scale: float, seconds: float
) -> bytes | None:
    """A PNG of a region of a page; None where drawing it takes more than `seconds`."""
    full_width, full_height = page.get_size()
    width, height = round(region.width * scale), round(region.height * scale)
    if width < 1 or height < 1:
        return None
    bitmap = pdfium.FPDFBitmap_Create(width, height, 0)
    if not bitmap:
        return None
    try:
        pdfium.FPDFBitmap_FillRect(bitmap, 0, 0, width, height, _WHITE)
        ends = time.thread_time() + seconds
        pause = pdfium.IFSDK_PAUSE()
        pause.version = 1
        callback_type = dict(pdfium.IFSDK_PAUSE._fields_)["NeedToPauseNow"]
        pause.NeedToPauseNow = callback_type(lambda _: time.thread_time() > ends)
        status = pdfium.FPDF_RenderPageBitmap_Start(
            bitmap,
            page,
            -round(region.x0 * scale),
            -round(region.y0 * scale),
            round(full_width * scale),
            round(full_height * scale),
            0,
            pdfium.FPDF_ANNOT | pdfium.FPDF_REVERSE_BYTE_ORDER,
            pause,
        )
        pdfium.FPDF_RenderPage_Close(page)
        if status != pdfium.FPDF_RENDER_DONE:
            return None
        stride = pdfium.FPDFBitmap_GetStride(bitmap)
        pixels = ctypes.string_at(pdfium.FPDFBitmap_GetBuffer(bitmap), stride * height)
    finally:
        pdfium.FPDFBitmap_Destroy(bitmap)
    return write_png(pixels, width, height, stride)


def write_png(pixels: bytes, width: int, height: int, stride: int) -> bytes:
    """Rows of RGBX pixels as a PNG of RGB, or of grey where there is no colour."""
    red, green, blue = (pixels[channel::_CHANNELS] for channel in range(3))
    is_grey = red == green == blue
    row_pixels = stride // _CHANNELS
    if is_grey:
        plane, step = red, 1
    else:
        mixed = bytearray(3 * len(red))
        mixed[0::3], mixed[1::3], mixed[2::3] = red, green, blue
        plane, step = bytes(mixed), 3
    rows = b"".join(
        b"\x00" + plane[at * row_pixels * step : (at * row_pixels + width) * step]
        for at in range(height)
    )
    header = struct.pack(">IIBBBBB", width, height, 8, 0 if is_grey else 2, 0, 0, 0)
    return (
        b"\x89PNG\r\n\x1a\n"
        + _chunk(b"IHDR", header)
        + _chunk(b"IDAT", zlib.compress(rows, 6))
        + _chunk(b"IEND", b"")
    )


def _chunk(name: bytes, content: bytes) -> bytes:
    check = zlib.crc32(name + content)
    return struct.pack(">I", len(content)) + name + content + struct.pack(">I", check)

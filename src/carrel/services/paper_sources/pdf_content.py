"""Reads what layout rules need from a PDF with PDFium: characters with fonts and places, pictures,
outline and metadata.
"""

from __future__ import annotations

import ctypes
import math
import mmap
import struct
from collections.abc import Iterator
from pathlib import Path

import pypdfium2
from pypdfium2 import raw as pdfium

from carrel.libraries.pdf_layout.content import (
    Box,
    Line,
    OutlineEntry,
    PageContent,
    PdfContent,
)
from carrel.libraries.pdf_layout.glyph_repairs import (
    ASCII_ACCENTS,
    SPACING_ACCENTS,
    Glyph,
    GlyphStyle,
    decode_nameless_fonts,
    expand_ligature,
    pair_halves,
    place_accents,
)
from carrel.libraries.pdf_layout.line_grouping import group_glyphs
from carrel.libraries.text.budget import current_budget
from carrel.services.paper_sources.pdf_drawings import read_drawings

MOST_PAGES = 3_000
# A page of small print has some 10,000 characters; of a page with more the rest is not read.
MOST_CHARACTERS_PER_PAGE = 200_000
_MOST_OUTLINE_ENTRIES = 2_000
_DEEPEST_OUTLINE = 8
_LONGEST_OUTLINE_TITLE = 500
_MOST_LINKS = 200
_LONGEST_ADDRESS = 2_000
_LONGEST_INFORMATION = 10_000
_XMP_START, _XMP_END = b"<x:xmpmeta", b"</x:xmpmeta>"
_LONGEST_XMP_BYTES = 1_000_000
_BOLD_WEIGHT = 600
_BOLD_NAMES = ("bold", "cmbx", "sfbx", "cmssbx", "black", "heavy", "semibold", "-demi")
_ITALIC_NAMES = ("italic", "oblique", "cmti", "sfti", "slanted", "cmsl", "sfsl", "cmmi")
_MONO_NAMES = (
    "mono", "courier", "cmtt", "sftt", "sfst", "sfit", "cmitt", "cmsltt", "cmvtt",
    "typewriter", "consol", "menlo",
    "lmtt", "txtt", "zi4", "ectt", "nimbusmon", "lettergothic", "andale", "fixed", "t1xtt",
)  # fmt: skip
_FLAG_FIXED_PITCH, _FLAG_ITALIC, _FLAG_FORCE_BOLD = 1, 1 << 6, 1 << 18
_NARROW, _WIDE = "il.,;:'|", "mwMW"
_BREAK_HYPHENS = frozenset({0x02, 0xFFFE})
# A page is damaged where at least this share of its characters has no meaning.
_DAMAGED_SHARE = 0.25

_RECTANGLE = struct.Struct("4f")
_Place = tuple[float, ...]
_NO_STYLE = GlyphStyle("", 0.0)
# The same functions as of `pdfium`, taking addresses as numbers: a third of the time of a call.
_Integers = ctypes.PYFUNCTYPE(ctypes.c_uint32, ctypes.c_void_p, ctypes.c_int)
_Pointers = ctypes.PYFUNCTYPE(ctypes.c_void_p, ctypes.c_void_p, ctypes.c_int)
_Fillers = ctypes.PYFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_int, ctypes.c_void_p)


def _address(function: object) -> int:
    address = ctypes.cast(function, ctypes.c_void_p).value  # type: ignore[arg-type]
    assert address is not None
    return address


_get_unicode = _Integers(_address(pdfium.FPDFText_GetUnicode))
_get_text_object = _Pointers(_address(pdfium.FPDFText_GetTextObject))
_get_loose_box = _Fillers(_address(pdfium.FPDFText_GetLooseCharBox))


def read_content(path: Path) -> PdfContent:
    """All of a PDF; raises PdfiumError where it cannot be opened."""
    with pypdfium2.PdfDocument(path) as document:
        return read_document_content(document, path)


def read_document_content(document: pypdfium2.PdfDocument, path: Path) -> PdfContent:
    """All of an open PDF. A page that PDFium cannot load has size 0 and no lines."""
    count = min(len(document), MOST_PAGES)
    return PdfContent(
        tuple(_read_page(document, number) for number in range(1, count + 1)),
        tuple(_read_outline(document)),
        {
            name: _mend_text(value)[:_LONGEST_INFORMATION]
            for name, value in document.get_metadata_dict(skip_empty=True).items()
        },
        _read_xmp(path),
        tuple(_read_first_page_links(document)),
    )


def _mend_text(text: str) -> str:
    return text.encode("utf-8", "replace").decode()


def _read_page(document: pypdfium2.PdfDocument, number: int) -> PageContent:
    try:
        page = document[number - 1]
    except pypdfium2.PdfiumError:
        return PageContent(number, 0.0, 0.0)
    try:
        geometry = PageGeometry(page)
        try:
            text_page = page.get_textpage()
        except pypdfium2.PdfiumError:
            return PageContent(number, 0.0, 0.0)
        try:
            lines, is_damaged = _PageReader(text_page, geometry).read(number)
        finally:
            text_page.close()
        rules, pictures = read_drawings(page, geometry.place)
    finally:
        page.close()
    return PageContent(
        number, geometry.width, geometry.height, tuple(lines), rules, pictures, is_damaged
    )


class PageGeometry:
    """The page as it is seen: where its corner lies and how it is turned."""

    def __init__(self, page: pypdfium2.PdfPage) -> None:
        bounds = pdfium.FS_RECTF()
        if not pdfium.FPDF_GetPageBoundingBox(page, bounds):
            bounds.left, bounds.bottom = 0.0, 0.0
            bounds.right, bounds.top = page.get_size()
        self.rotation = page.get_rotation() % 360
        self._left, self._right = bounds.left, bounds.right
        self._bottom, self._top = bounds.bottom, bounds.top
        width, height = self._right - self._left, self._top - self._bottom
        self.width, self.height = (width, height) if self.rotation % 180 == 0 else (height, width)

    def place(self, left: float, bottom: float, right: float, top: float) -> Box:
        """A box of the file as a box on the page as seen."""
        match self.rotation:
            case 90:
                return Box(
                    bottom - self._bottom, left - self._left, top - self._bottom, right - self._left
                )
            case 180:
                return Box(
                    self._right - right,
                    bottom - self._bottom,
                    self._right - left,
                    top - self._bottom,
                )
            case 270:
                return Box(
                    self._top - top, self._right - right, self._top - bottom, self._right - left
                )
            case _:
                return Box(
                    left - self._left, self._top - top, right - self._left, self._top - bottom
                )


class _PageReader:
    """The characters of one page; facts of fonts are asked once for each text object."""

    def __init__(self, text_page: pypdfium2.PdfTextPage, geometry: PageGeometry) -> None:
        self._text_page = text_page
        self._geometry = geometry
        self._handle = _address(text_page.raw)
        self._styles: dict[GlyphStyle, GlyphStyle] = {}
        self._fonts: dict[int, tuple[str, bool, bool, bool]] = {}
        # Style, baseline on the page as seen, and number of the font of each text object.
        self._objects: dict[int, tuple[GlyphStyle, float, int]] = {}

    def read(self, number: int) -> tuple[list[Line], bool]:
        """The lines, and whether much of the text has no meaning or was not read."""
        count = self._text_page.count_chars()
        # A form that draws itself twice, nested, makes gigabytes of text out of a few lines.
        current_budget().spend_output(count)
        is_cut = count > MOST_CHARACTERS_PER_PAGE
        count = min(count, MOST_CHARACTERS_PER_PAGE)
        glyphs = self._read_glyphs(count)
        lines = group_glyphs(glyphs, number)
        return lines, is_cut or _is_damaged(glyphs)

    def _read_glyphs(self, count: int) -> list[Glyph]:
        handle = self._handle
        boxes = ctypes.create_string_buffer(max(1, count) * _RECTANGLE.size)
        start = ctypes.addressof(boxes)
        for at in range(count):
            _get_loose_box(handle, at, start + at * _RECTANGLE.size)
        codes = [_get_unicode(handle, at) for at in range(count)]
        objects = [_get_text_object(handle, at) or 0 for at in range(count)]
        places = list(_RECTANGLE.iter_unpack(boxes.raw[: count * _RECTANGLE.size]))
        for own, at in {own: at for at, own in enumerate(objects)}.items():
            self._objects[own] = self._read_object(own, at)
        is_simple = (
            self._geometry.rotation == 0
            and all(
                style.font and not style.angle
                for own, (style, _, _) in self._objects.items()
                if own
            )
            and not _needs_repair(codes, places)
        )
        if is_simple:
            return self._read_runs(codes, objects, places)
        return self._read_each(codes, objects, places)

    def _read_runs(self, codes: list[int], objects: list[int], places: list[_Place]) -> list[Glyph]:
        """Runs of characters of one text object, where no single character needs a repair."""
        glyphs: list[Glyph] = []
        origin = self._geometry.place(0.0, 0.0, 0.0, 0.0)
        dx, dy = origin.x0, origin.y0
        texts: list[str] = []
        own, has_space, before_left, x0, x1, y0, y1 = -1, False, 0.0, 0.0, 0.0, 0.0, 0.0
        style, baseline, _ = self._objects.get(0, (_NO_STYLE, 0.0, 0))
        for code, its, (left, top, right, bottom) in zip(codes, objects, places, strict=True):
            if code <= 32 and code != 2:
                has_space = has_space or code == 32
                continue
            gap = left - x1
            if its == own and (-0.5 * style.size < gap < 0.75 * style.size or left == before_left):
                if has_space or gap > 0.35 * style.size:
                    texts.append(" ")
                    has_space = False
            else:
                if texts:
                    glyphs.append(
                        Glyph("".join(texts), x0 + dx, dy - y1, x1 + dx, dy - y0, baseline, style)
                    )
                if has_space:
                    glyphs.append(Glyph(" ", 0.0, 0.0, 0.0, 0.0, 0.0, style))
                style, baseline, _ = self._objects[its]
                texts, own, has_space, x0, y0, y1 = [], its, False, left, bottom, top
            before_left, x1 = left, right
            if code in _BREAK_HYPHENS:
                texts.append("-")
                box = (x0 + dx, dy - y1, x1 + dx, dy - y0)
                glyphs.append(Glyph("".join(texts), *box, baseline, style, True))
                texts, own = [], -1
            elif not 0x7F <= code <= 0x9F:
                character = chr(code)
                texts.append(character if code < 0xE000 else expand_ligature(character))
        if texts:
            glyphs.append(
                Glyph("".join(texts), x0 + dx, dy - y1, x1 + dx, dy - y0, baseline, style)
            )
        return glyphs

    def _read_each(self, codes: list[int], objects: list[int], places: list[_Place]) -> list[Glyph]:
        """Every character alone, with all repairs."""
        nameless: list[tuple[int, int, int]] = []
        glyphs: list[Glyph] = []
        for at, (left, top, right, bottom) in enumerate(places):
            code = codes[at]
            if code == 0 or (code in (10, 13) and pdfium.FPDFText_IsGenerated(self._text_page, at)):
                continue
            style, baseline, font = self._objects[objects[at]]
            box = self._geometry.place(left, bottom, right, top)
            is_hyphen = code in _BREAK_HYPHENS
            if is_hyphen and not pdfium.FPDFText_IsHyphen(self._text_page, at):
                is_hyphen = code == 0xFFFE
            if not style.font and objects[at] and not is_hyphen:
                nameless.append((len(glyphs), code, font))
            text = "-" if is_hyphen else expand_ligature(chr(code))
            glyphs.append(Glyph(text, box.x0, box.y0, box.x1, box.y1, baseline, style, is_hyphen))
        if nameless:
            _decode_nameless(glyphs, nameless)
        for glyph in glyphs:
            if len(glyph.text) == 1 and (glyph.text < " " or "\x7f" <= glyph.text <= "\x9f"):
                glyph.text = ""
        pair_halves(glyphs)
        place_accents(glyphs)
        return glyphs

    def _read_object(self, own: int, at: int) -> tuple[GlyphStyle, float, int]:
        """Style and baseline of the text object of a character."""
        page = self._text_page
        font, (name, is_bold, is_italic, is_mono) = self._read_font(own, at)
        matrix = pdfium.FS_MATRIX()
        scale = 1.0
        if pdfium.FPDFText_GetMatrix(page, at, matrix):
            scale = abs(matrix.d) if abs(matrix.d) > abs(matrix.b) * 0.1 else abs(matrix.b)
        size = round(pdfium.FPDFText_GetFontSize(page, at) * (scale or 1.0), 2)
        radians = pdfium.FPDFText_GetCharAngle(page, at)
        degrees = round(math.degrees(radians)) if radians > 0 else 0
        # PDFium counts clockwise, as pages are turned; lines count the other way.
        angle = (-degrees - self._geometry.rotation) % 360
        # Letters of slanted scans lean by a few degrees.
        angle = 0 if angle <= 3 or angle >= 357 else angle
        style = GlyphStyle(name, size, is_bold, is_italic, is_mono, angle)
        style = self._styles.setdefault(style, style)
        x, y = ctypes.c_double(), ctypes.c_double()
        pdfium.FPDFText_GetCharOrigin(page, at, x, y)
        origin = self._geometry.place(x.value, y.value, x.value, y.value)
        return style, origin.y0, font

    def _read_font(self, own: int, at: int) -> tuple[int, tuple[str, bool, bool, bool]]:
        handle = ctypes.cast(own, pdfium.FPDF_PAGEOBJECT) if own else None
        font = _address(pdfium.FPDFTextObj_GetFont(handle)) if handle else 0
        known = self._fonts.get(font)
        if known is None:
            flags = ctypes.c_int()
            buffer = ctypes.create_string_buffer(256)
            length = pdfium.FPDFText_GetFontInfo(self._text_page, at, buffer, 256, flags)
            name = buffer.value.decode("utf-8", "replace") if 0 < length <= 256 else ""
            # Parts of fonts are named `ABCDEF+Name`.
            name = name[7:] if len(name) > 7 and name[6] == "+" else name
            folded = name.casefold()
            weight = pdfium.FPDFText_GetFontWeight(self._text_page, at)
            known = (
                name,
                weight >= _BOLD_WEIGHT
                or bool(flags.value & _FLAG_FORCE_BOLD)
                or any(part in folded for part in _BOLD_NAMES),
                bool(flags.value & _FLAG_ITALIC) or any(part in folded for part in _ITALIC_NAMES),
                bool(flags.value & _FLAG_FIXED_PITCH)
                or any(part in folded for part in _MONO_NAMES),
            )
            if font:
                self._fonts[font] = known
        return font, known


def _needs_repair(codes: list[int], places: list[_Place]) -> bool:
    """Whether there are halves of characters, or accents over letters of their own."""
    used = set(codes)
    if used & SPACING_ACCENTS or any(0xD800 <= code <= 0xDFFF for code in used):
        return True
    if not used & ASCII_ACCENTS:
        return False
    return any(
        places[other][0] < (places[at][0] + places[at][2]) / 2 < places[other][2]
        for at, code in enumerate(codes)
        if code in ASCII_ACCENTS
        for other in (at - 1, at + 1)
        if 0 <= other < len(codes)
    )


def _decode_nameless(glyphs: list[Glyph], nameless: list[tuple[int, int, int]]) -> None:
    """Decode the characters of fonts without names, and tell typewriter fonts by their widths."""
    texts = decode_nameless_fonts(
        [code for _, code, _ in nameless], [font for _, _, font in nameless]
    )
    narrow: dict[int, float] = {}
    wide: dict[int, float] = {}
    for (at, _, font), text in zip(nameless, texts, strict=True):
        glyph = glyphs[at]
        glyph.text = expand_ligature(text)
        if text in _NARROW and text:
            narrow[font] = max(narrow.get(font, 0.0), glyph.x1 - glyph.x0)
        elif text in _WIDE and text:
            wide[font] = max(wide.get(font, 0.0), glyph.x1 - glyph.x0)
    mono = {
        font
        for font, width in wide.items()
        if font in narrow and abs(width - narrow[font]) < 0.05 * width
    }
    for at, _, font in nameless:
        if font in mono:
            style = glyphs[at].style
            glyphs[at].style = GlyphStyle("", style.size, False, style.is_italic, True, style.angle)


def _is_damaged(glyphs: list[Glyph]) -> bool:
    visible = [glyph.text for glyph in glyphs if glyph.text and not glyph.text.isspace()]
    lost = sum(1 for text in visible if text == "\ufffd" or "\ue000" <= text <= "\uf8ff")
    lost += sum(1 for glyph in glyphs if not glyph.text)
    return lost > _DAMAGED_SHARE * max(1, len(visible))


def _read_outline(document: pypdfium2.PdfDocument) -> Iterator[OutlineEntry]:
    entries = document.get_toc(max_depth=_DEEPEST_OUTLINE)
    for _ in range(_MOST_OUTLINE_ENTRIES):
        try:
            entry = next(entries)
            title = " ".join(_mend_text(entry.get_title()).replace("\x00", "").split())
            target = entry.get_dest()
            index = target.get_index() if target else None
        except StopIteration:
            return
        except (pypdfium2.PdfiumError, ValueError):
            continue
        if title:
            page = index + 1 if index is not None and index >= 0 else None
            yield OutlineEntry(entry.level + 1, title[:_LONGEST_OUTLINE_TITLE], page)


def _read_xmp(path: Path) -> str:
    """The XMP packet, if it is stored uncompressed, as publishers do."""
    with path.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as content:
        start = content.find(_XMP_START)
        if start < 0:
            return ""
        end = content.find(_XMP_END, start, start + _LONGEST_XMP_BYTES)
        return content[start : end + len(_XMP_END)].decode("utf-8", "replace") if end > 0 else ""


def _read_first_page_links(document: pypdfium2.PdfDocument) -> list[str]:
    """Addresses that links of the first page lead to, each once, in their order."""
    try:
        page = document[0]
    except pypdfium2.PdfiumError:
        return []
    found: dict[str, None] = {}
    try:
        position = ctypes.c_int(0)
        link = pdfium.FPDF_LINK()
        for _ in range(_MOST_LINKS):
            if not pdfium.FPDFLink_Enumerate(page, position, link):
                break
            action = pdfium.FPDFLink_GetAction(link)
            length = pdfium.FPDFAction_GetURIPath(document, action, None, 0) if action else 0
            if 0 < length <= _LONGEST_ADDRESS:
                buffer = ctypes.create_string_buffer(length)
                pdfium.FPDFAction_GetURIPath(document, action, buffer, length)
                found[buffer.value.decode("utf-8", "replace")] = None
    finally:
        page.close()
    return [address for address in found if address]

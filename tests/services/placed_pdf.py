"""Writes PDFs whose lines stand where a test puts them, with links and XMP, by hand."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from tests.services.pdf_files import write_objects

_FONTS = {
    "": "Times-Roman",
    "b": "Times-Bold",
    "i": "Times-Italic",
    "s": "Helvetica",
    "sb": "Helvetica-Bold",
    "m": "Courier",
}


@dataclass(frozen=True)
class Put:
    """Text at a place from the upper left corner, in a font; `^a^` in it is a raised mark."""

    x: float
    y: float
    size: float
    text: str
    font: str = ""
    angle: int = 0


def put_block(
    x: float, y: float, size: float, lines: Sequence[str], font: str = "", step: float = 1.25
) -> list[Put]:
    """Lines below one another."""
    return [Put(x, y + at * step * size, size, line, font) for at, line in enumerate(lines)]


def make_placed_pdf(
    pages: Sequence[Sequence[Put]],
    *,
    information: dict[str, str] | None = None,
    xmp: str = "",
    links: Sequence[str] = (),
    width: int = 595,
    height: int = 842,
) -> bytes:
    """A PDF of these pages; the links are on the first."""
    names = list(_FONTS)
    objects = [
        b"<< /Type /Font /Subtype /Type1 /BaseFont /%s /Encoding /WinAnsiEncoding >>"
        % _FONTS[name].encode()
        for name in names
    ]
    fonts = b" ".join(b"/F%d %d 0 R" % (at, at + 1) for at in range(len(names)))
    notes = []
    for link in links:
        objects.append(
            b"<< /Type /Annot /Subtype /Link /Rect [500 780 540 800] /A << /S /URI /URI (%s) >> >>"
            % _escape(link)
        )
        notes.append(b"%d 0 R" % len(objects))
    extra = b""
    if xmp:
        packet = xmp.encode()
        objects.append(
            b"<< /Type /Metadata /Subtype /XML /Length %d >>\nstream\n%s\nendstream"
            % (len(packet), packet)
        )
        extra = b" /Metadata %d 0 R" % len(objects)
    tree = len(objects) + 2 * len(pages) + 1
    kids = []
    for number, lines in enumerate(pages):
        content = b"\n".join(_draw(put, names, height) for put in lines)
        objects.append(b"<< /Length %d >>\nstream\n%s\nendstream" % (len(content), content))
        annotations = b" /Annots [%s]" % b" ".join(notes) if notes and not number else b""
        objects.append(
            b"<< /Type /Page /Parent %d 0 R /MediaBox [0 0 %d %d] /Contents %d 0 R "
            b"/Resources << /Font << %s >> >>%s >>"
            % (tree, width, height, len(objects), fonts, annotations)
        )
        kids.append(b"%d 0 R" % len(objects))
    objects.append(b"<< /Type /Pages /Kids [%s] /Count %d >>" % (b" ".join(kids), len(kids)))
    objects.append(b"<< /Type /Catalog /Pages %d 0 R%s >>" % (tree, extra))
    trailer = b"/Root %d 0 R" % len(objects)
    if information:
        entries = b" ".join(
            b"/%s (%s)" % (name.encode(), _escape(value)) for name, value in information.items()
        )
        objects.append(b"<< %s >>" % entries)
        trailer += b" /Info %d 0 R" % len(objects)
    return write_objects(objects, trailer)


def _escape(text: str) -> bytes:
    safe = text.replace("\\", "\\\\").replace("(", "\\(").replace(")", "\\)")
    return safe.encode("cp1252")


def _draw(put: Put, names: Sequence[str], height: int) -> bytes:
    font = names.index(put.font)
    place = (
        b"0 1 -1 0 %.1f %.1f Tm" % (put.x, height - put.y)
        if put.angle
        else b"1 0 0 1 %.1f %.1f Tm" % (put.x, height - put.y)
    )
    parts = [b"BT", place]
    for at, text in enumerate(put.text.split("^")):
        if not text:
            continue
        is_mark = at % 2 == 1
        size = 0.65 * put.size if is_mark else put.size
        rise = 0.35 * put.size if is_mark else 0.0
        parts.append(b"/F%d %.2f Tf %.2f Ts (%s) Tj" % (font, size, rise, _escape(text)))
    parts.append(b"ET")
    return b" ".join(parts)

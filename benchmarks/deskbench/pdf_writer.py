"""Writes PDFs of pages of text in Helvetica, the same bytes for the same text."""

from __future__ import annotations

import textwrap
from dataclasses import dataclass

_TOP, _LEFT = 790.0, 60.0
_FONTS = {"plain": "F1", "bold": "F2"}


@dataclass(frozen=True)
class TextBlock:
    """A paragraph in one size and weight, with the space that follows it."""

    text: str
    size: float = 10.0
    weight: str = "plain"
    space_after: float = 8.0


def write_pdf(pages: list[list[TextBlock]], title: str) -> bytes:
    """A PDF whose pages hold the blocks from top to bottom."""
    font = "<< /Type /Font /Subtype /Type1 /BaseFont /%s /Encoding /WinAnsiEncoding >>"
    objects = [(font % name).encode() for name in ("Helvetica", "Helvetica-Bold")]
    tree = len(objects) + 2 * len(pages) + 1
    kids = []
    for blocks in pages:
        content = draw_blocks(blocks)
        objects.append(b"<< /Length %d >>\nstream\n%s\nendstream" % (len(content), content))
        page = (
            b"<< /Type /Page /Parent %d 0 R /MediaBox [0 0 595 842] /Contents %d 0 R "
            b"/Resources << /Font << /F1 1 0 R /F2 2 0 R >> >> >>"
        )
        objects.append(page % (tree, len(objects)))
        kids.append(len(objects))
    children = b" ".join(b"%d 0 R" % kid for kid in kids)
    objects.append(b"<< /Type /Pages /Kids [%s] /Count %d >>" % (children, len(kids)))
    objects.append(b"<< /Type /Catalog /Pages %d 0 R >>" % tree)
    objects.append(b"<< /Title (%s) >>" % _escape(title))
    return _write_objects(objects)


def draw_blocks(blocks: list[TextBlock]) -> bytes:
    """The content stream of a page."""
    height, drawn = _TOP, []
    for block in blocks:
        columns = int(950 / block.size * (0.92 if block.weight == "bold" else 1))
        for line in textwrap.wrap(block.text, columns, break_on_hyphens=False):
            height -= block.size * 1.25
            place = f"BT /{_FONTS[block.weight]} {block.size} Tf {_LEFT:.0f} {height:.1f} Td ("
            drawn.append(place.encode() + _escape(line) + b") Tj ET")
        height -= block.space_after
    return b"\n".join(drawn)


def _escape(text: str) -> bytes:
    return text.encode("cp1252").replace(b"\\", b"\\\\").replace(b"(", b"\\(").replace(b")", b"\\)")


def _write_objects(objects: list[bytes]) -> bytes:
    written, places = bytearray(b"%PDF-1.4\n%\xe2\xe3\xcf\xd3\n"), []
    for number, body in enumerate(objects, start=1):
        places.append(len(written))
        written += b"%d 0 obj\n%s\nendobj\n" % (number, body)
    table, size = len(written), len(objects) + 1
    written += b"xref\n0 %d\n0000000000 65535 f \n" % size
    written += b"".join(b"%010d 00000 n \n" % place for place in places)
    trailer = b"/Root %d 0 R /Info %d 0 R" % (len(objects) - 1, len(objects))
    written += b"trailer\n<< /Size %d %s >>\nstartxref\n%d\n%%%%EOF\n" % (size, trailer, table)
    return bytes(written)

"""Makes small PDFs for tests, written by hand so that nothing but the reader is tried."""

from __future__ import annotations

Line = tuple[int, str]


def make_pdf(pages: list[list[Line]], title: str | None = None) -> bytes:
    """A PDF whose pages hold lines of a size and a text, top to bottom."""
    objects: list[bytes] = [
        b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica /Encoding /WinAnsiEncoding >>"
    ]
    tree = 2 * len(pages) + 2
    kids = []
    for lines in pages:
        height, drawn = 800.0, []
        for size, text in lines:
            height -= size * 1.3
            safe = text.replace("\\", "\\\\").replace("(", "\\(").replace(")", "\\)")
            drawn.append(f"BT /F1 {size} Tf 50 {height:.0f} Td ({safe}) Tj ET")
        content = "\n".join(drawn).encode("latin-1")
        objects.append(b"<< /Length %d >>\nstream\n%s\nendstream" % (len(content), content))
        page = (
            b"<< /Type /Page /Parent %d 0 R /MediaBox [0 0 595 842] /Contents %d 0 R "
            b"/Resources << /Font << /F1 1 0 R >> >> >>"
        )
        objects.append(page % (tree, len(objects)))
        kids.append(len(objects))
    objects.append(
        b"<< /Type /Pages /Kids [%s] /Count %d >>"
        % (b" ".join(b"%d 0 R" % kid for kid in kids), len(kids))
    )
    objects.append(b"<< /Type /Catalog /Pages %d 0 R >>" % tree)
    root = len(objects)
    trailer = b"/Root %d 0 R" % root
    if title is not None:
        objects.append(b"<< /Title (%s) >>" % title.encode("latin-1"))
        trailer += b" /Info %d 0 R" % len(objects)
    return write_objects(objects, trailer)


def make_form_bomb(levels: int) -> bytes:
    """A PDF of a few lines whose only page draws a text 2 ** levels times: each form draws the one
    before it twice.
    """
    form = (
        b"<< /Type /XObject /Subtype /Form /BBox [0 0 595 842] /Resources << %s >> /Length %d "
        b">>\nstream\n%s\nendstream"
    )
    words, twice = b"BT /F1 10 Tf 50 700 Td (the words of the page) Tj ET", b"/X Do /X Do"
    objects = [
        b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>",
        form % (b"/Font << /F1 1 0 R >>", len(words), words),
    ]
    for _ in range(levels):
        objects.append(form % (b"/XObject << /X %d 0 R >>" % len(objects), len(twice), twice))
    last = len(objects)
    page = (
        b"<< /Type /Page /Parent %d 0 R /MediaBox [0 0 595 842] /Contents %d 0 R /Resources << "
        b"/XObject << /X %d 0 R >> >> >>"
    )
    objects += [b"<< /Length 5 >>\nstream\n/X Do\nendstream", page % (last + 3, last + 1, last)]
    objects += [
        b"<< /Type /Pages /Kids [%d 0 R] /Count 1 >>" % (last + 2),
        b"<< /Type /Catalog /Pages %d 0 R >>" % (last + 3),
    ]
    return write_objects(objects, b"/Root %d 0 R" % len(objects))


def write_objects(objects: list[bytes], trailer: bytes) -> bytes:
    """The objects as a PDF with its table of places."""
    written = bytearray(b"%PDF-1.4\n")
    places = []
    for number, body in enumerate(objects, start=1):
        places.append(len(written))
        written += b"%d 0 obj\n%s\nendobj\n" % (number, body)
    table = len(written)
    written += b"xref\n0 %d\n0000000000 65535 f \n" % (len(objects) + 1)
    written += b"".join(b"%010d 00000 n \n" % place for place in places)
    written += b"trailer\n<< /Size %d %s >>\nstartxref\n%d\n%%%%EOF\n" % (
        len(objects) + 1,
        trailer,
        table,
    )
    return bytes(written)


def make_page(content: bytes, extra: bytes = b"") -> bytes:
    """A PDF of one page with this content stream; `extra` goes into the page's dictionary."""
    objects = [
        b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>",
        b"<< /Length %d >>\nstream\n%s\nendstream" % (len(content), content),
        b"<< /Type /Page /Parent 4 0 R /MediaBox [0 0 595 842] /Contents 2 0 R "
        b"/Resources << /Font << /F1 1 0 R >> >> %s >>" % extra,
        b"<< /Type /Pages /Kids [3 0 R] /Count 1 >>",
        b"<< /Type /Catalog /Pages 4 0 R >>",
    ]
    return write_objects(objects, b"/Root 5 0 R")

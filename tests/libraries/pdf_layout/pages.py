"""Pages of lines for tests of layout rules."""

from __future__ import annotations

from carrel.libraries.pdf_layout.content import (
    Box,
    Line,
    OutlineEntry,
    PageContent,
    PdfContent,
    Picture,
    Span,
)

WIDTH, HEIGHT = 600.0, 800.0


def line(
    text: str,
    y: float,
    x: float = 70.0,
    *,
    width: float | None = None,
    size: float = 10.0,
    font: str = "Times",
    page: int = 1,
    is_bold: bool = False,
    is_monospaced: bool = False,
) -> Line:
    """One line in one style; as wide as half a size for each character unless told."""
    right = x + (width if width is not None else 0.5 * size * len(text))
    box = Box(x, y - 0.8 * size, right, y + 0.2 * size)
    span = Span(text, box, size, font, is_bold, False, is_monospaced)
    return Line((span,), box, page, y, 0, text.endswith("-"))


def prose(
    texts: list[str], y: float, x: float = 70.0, width: float = 460.0, page: int = 1
) -> list[Line]:
    """Lines that fill a column, but the last."""
    last = len(texts) - 1
    return [
        line(
            text,
            y + 12 * at,
            x,
            width=width if at < last or len(texts) == 1 else 0.5 * width,
            page=page,
        )
        for at, text in enumerate(texts)
    ]


def document(
    *pages: list[Line],
    outline: tuple[OutlineEntry, ...] = (),
    rules: tuple[Box, ...] = (),
    pictures: tuple[Picture, ...] = (),
) -> PdfContent:
    return PdfContent(
        tuple(
            PageContent(number, WIDTH, HEIGHT, tuple(lines), rules, pictures)
            for number, lines in enumerate(pages, start=1)
        ),
        outline,
    )

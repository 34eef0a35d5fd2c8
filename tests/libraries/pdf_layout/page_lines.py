"""Makes pages of lines for tests of layout rules, without a PDF."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from carrel.libraries.pdf_layout.content import Box, Line, PageContent, PdfContent, Span

WIDTH, HEIGHT = 595.0, 842.0


@dataclass(frozen=True)
class Printed:
    """A line: text, size, and where it stands; without `x` it is centred."""

    text: str
    size: float = 10.0
    y: float | None = None
    x: float | None = None
    is_bold: bool = False
    is_italic: bool = False
    angle: int = 0


def measure(text: str, size: float) -> float:
    return 0.5 * size * len(text)


def make_line(printed: Printed, y: float, page: int = 1) -> Line:
    """A line of spans; `^a^` in the text is a raised mark, a tab a gap of one and a half sizes."""
    size = printed.size
    plain = printed.text.replace("^", "").replace("\t", "   ")
    x = printed.x if printed.x is not None else (WIDTH - measure(plain, size)) / 2
    start, spans = x, []
    for gap_part, part in enumerate(printed.text.split("\t")):
        gap = 1.5 * size if gap_part else 0.0
        x += gap
        for at, text in enumerate(part.split("^")):
            if not text:
                continue
            is_mark = at % 2 == 1
            own = size * 0.7 if is_mark else size
            width = measure(text, own)
            box = Box(x, y - size, x + width, y + 0.2 * size)
            spans.append(
                Span(
                    text,
                    box,
                    own,
                    "Serif",
                    printed.is_bold,
                    printed.is_italic,
                    False,
                    0.35 * size if is_mark else 0.0,
                    gap,
                )
            )
            x, gap = x + width, 0.0
    return Line(tuple(spans), Box(start, y - size, x, y + 0.2 * size), page, y, printed.angle)


def make_page(lines: Sequence[Printed | str], number: int = 1, top: float = 60.0) -> PageContent:
    """A page whose lines stand below one another where no place is given."""
    y, made = top, []
    for each in lines:
        printed = Printed(each, x=72.0) if isinstance(each, str) else each
        y = printed.y if printed.y is not None else y + 1.4 * printed.size
        if printed.text:
            made.append(make_line(printed, y, number))
    return PageContent(number, WIDTH, HEIGHT, tuple(made))


def make_content(
    *pages: Sequence[Printed | str],
    information: dict[str, str] | None = None,
    xmp: str = "",
    links: tuple[str, ...] = (),
) -> PdfContent:
    made = tuple(make_page(lines, number) for number, lines in enumerate(pages, start=1))
    return PdfContent(made, (), information or {}, xmp, links)


PROSE = (
    "We study how engines of different kinds are built and what they are used for in",
    "practice, and we show that the way in which an engine is made has an effect on the",
    "work that it does, which was not known before and is of some importance to those",
    "who make engines for a living, as well as to those who only use them at home.",
)

"""What a PDF's pages hold, as layout rules see it: lines of text, rules and pictures with places.

Places are in points from the upper left corner of the page as it is seen (rotation undone): `x`
grows to the right, `y` downwards.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property


@dataclass(frozen=True, slots=True)
class Box:
    x0: float
    y0: float
    x1: float
    y1: float

    @property
    def width(self) -> float:
        return self.x1 - self.x0

    @property
    def height(self) -> float:
        return self.y1 - self.y0


@dataclass(frozen=True, slots=True)
class Span:
    """Characters of one line in one font and size, ligatures and accents already mended.

    `size` is the font size as drawn. `rise` is how far the baseline lies above the line's
    (superscripts are above 0). `gap_before` is the empty space before it on the line, in points.
    """

    text: str
    box: Box
    size: float
    font: str = ""
    is_bold: bool = False
    is_italic: bool = False
    is_monospaced: bool = False
    rise: float = 0.0
    gap_before: float = 0.0


@dataclass(frozen=True)
class Line:
    """One printed line (of one column: a wide gap ends a line). `angle` is in degrees.

    `has_hyphen` says that a hyphen at its end was put there, or may have been, by line breaking.
    """

    spans: tuple[Span, ...]
    box: Box
    page: int
    baseline: float
    angle: int = 0
    has_hyphen: bool = False

    @cached_property
    def text(self) -> str:
        return "".join(span.text for span in self.spans)

    @cached_property
    def size(self) -> float:
        """The size of most of its characters."""
        sizes: dict[float, int] = {}
        for span in self.spans:
            sizes[span.size] = sizes.get(span.size, 0) + len(span.text.strip())
        return max(sizes, key=lambda size: sizes[size], default=0.0)

    @cached_property
    def is_bold(self) -> bool:
        """Whether most of its characters are bold."""
        bold = sum(len(span.text.strip()) for span in self.spans if span.is_bold)
        return bold * 2 > sum(len(span.text.strip()) for span in self.spans)


@dataclass(frozen=True, slots=True)
class Picture:
    """An image, or a cluster of drawn paths, on a page."""

    box: Box
    is_drawing: bool = False


@dataclass(frozen=True)
class PageContent:
    """One page; `lines` are in the order of the file, not yet in reading order."""

    number: int
    width: float
    height: float
    lines: tuple[Line, ...] = ()
    rules: tuple[Box, ...] = ()
    pictures: tuple[Picture, ...] = ()
    is_damaged: bool = False


@dataclass(frozen=True, slots=True)
class OutlineEntry:
    """A bookmark; level 1 is the highest, `page` counts from 1."""

    level: int
    title: str
    page: int | None = None


@dataclass(frozen=True)
class PdfContent:
    """A whole document. `information` is its information dictionary, `xmp` the packet as text."""

    pages: tuple[PageContent, ...]
    outline: tuple[OutlineEntry, ...] = ()
    information: dict[str, str] = field(default_factory=dict)
    xmp: str = ""
    # Addresses that links on the first page lead to.
    first_page_links: tuple[str, ...] = ()

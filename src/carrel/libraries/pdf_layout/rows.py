"""Rows: lines of one column that share a baseline, from left to right."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property

from carrel.libraries.pdf_layout.content import Box, Line, PdfContent

# In sizes of the font.
_SAME_BASELINE = 0.35


@dataclass(frozen=True)
class Row:
    """What stands beside one another in a column; most rows are one line."""

    lines: tuple[Line, ...]
    box: Box
    baseline: float
    page: int

    @cached_property
    def text(self) -> str:
        return " ".join(line.text.strip() for line in self.lines)

    @cached_property
    def size(self) -> float:
        return max(self.lines, key=lambda line: len(line.text)).size

    @cached_property
    def is_bold(self) -> bool:
        letters = bold = 0
        for line in self.lines:
            for span in line.spans:
                own = sum(sign.isalpha() for sign in span.text)
                letters += own
                bold += own * span.is_bold
        return letters > 0 and bold >= 0.9 * letters

    @cached_property
    def is_italic(self) -> bool:
        return _share(self, "is_italic") > 0.8

    @cached_property
    def is_monospaced(self) -> bool:
        return _share(self, "is_monospaced") > 0.8

    @cached_property
    def is_partly_monospaced(self) -> bool:
        return _share(self, "is_monospaced") > 0.5

    @cached_property
    def font(self) -> str:
        """The font of most of its characters."""
        counts: Counter[str] = Counter()
        for line in self.lines:
            for span in line.spans:
                counts[span.font] += len(span.text)
        return counts.most_common(1)[0][0] if counts else ""

    @property
    def has_hyphen(self) -> bool:
        return self.lines[-1].has_hyphen


def _share(row: Row, name: str) -> float:
    marked = total = 0
    for line in row.lines:
        for span in line.spans:
            own = len(span.text.replace(" ", ""))
            total += own
            marked += own * bool(getattr(span, name))
    return marked / total if total else 0.0


def make_rows(lines: Iterable[Line]) -> list[Row]:
    """The rows of one column from the top."""
    rows: list[Row] = []
    waiting: list[Line] = []
    for line in sorted(lines, key=lambda line: (line.baseline, line.box.x0)):
        if waiting:
            first = waiting[0]
            near = _SAME_BASELINE * min(first.size, line.size)
            if line.baseline - first.baseline > near:
                rows.append(_close(waiting))
                waiting = []
        waiting.append(line)
    if waiting:
        rows.append(_close(waiting))
    return rows


def _close(lines: Sequence[Line]) -> Row:
    ordered = tuple(sorted(lines, key=lambda line: line.box.x0))
    box = Box(
        ordered[0].box.x0,
        min(line.box.y0 for line in ordered),
        max(line.box.x1 for line in ordered),
        max(line.box.y1 for line in ordered),
    )
    longest = max(ordered, key=lambda line: len(line.text))
    return Row(ordered, box, longest.baseline, ordered[0].page)


def find_body_size(content: PdfContent) -> float:
    """The size of most characters; typewriter fonts count only where there is nothing else."""
    counts: Counter[float] = Counter()
    mono: Counter[float] = Counter()
    for page in content.pages:
        for line in page.lines:
            if line.angle:
                continue
            for span in line.spans:
                (mono if span.is_monospaced else counts)[round(span.size, 1)] += len(span.text)
    best = (counts or mono).most_common(1)
    return best[0][0] if best else 0.0

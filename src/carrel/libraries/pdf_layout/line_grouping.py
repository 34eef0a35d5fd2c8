"""Groups the characters of a page into printed lines of spans."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from carrel.libraries.pdf_layout.content import Box, Line, Span
from carrel.libraries.pdf_layout.glyph_repairs import Glyph

# All in sizes of the font, chosen by looking at the lines of the gold set's PDFs.
# Characters of one line have baselines this near, but for super- and subscripts.
_SAME_BASELINE = 0.3
# A script's box lies in the line's by at least this share of its height.
_SCRIPT_OVERLAP = 0.4
_SCRIPT_SIZE = 0.92
_WIDEST_GAP = 2.0
_WIDEST_STEP_BACK = 0.6
_WIDEST_SCRIPT_STEP_BACK = 2.5
# A gap this wide begins a span of its own: wider than spaces within a sentence that is not
# justified; names side by side may stand two spaces apart.
_SPAN_GAP = 0.55
# A gap is a space although the file has none, between two fonts or within one.
_SPACE_BETWEEN_STYLES = 0.17
_SPACE_IN_STYLE = 0.35
# Pieces of one line that are written apart are joined over a gap of a space.
_JOINED_GAP = 0.6
_MIN_RISE = 0.12
_HYPHENS = ("-", "\u2010", "\u00ad")


@dataclass(slots=True)
class _OpenLine:
    """A line while it is gathered, from left to right; spaces are kept as characters before it."""

    glyphs: list[tuple[bool, Glyph]] = field(default_factory=list)
    baseline: float = 0.0
    size: float = 0.0
    x0: float = 0.0
    y0: float = 0.0
    x1: float = 0.0
    y1: float = 0.0

    def add(self, glyph: Glyph, has_space: bool) -> None:
        size = glyph.style.size
        if not self.glyphs:
            self.x0, self.y0, self.y1 = glyph.x0, glyph.y0, glyph.y1
            self.baseline, self.size = glyph.baseline, size
        elif size > self.size * 1.05:
            self.baseline, self.size = glyph.baseline, size
        self.x0 = min(self.x0, glyph.x0)
        self.y0 = min(self.y0, glyph.y0)
        self.y1 = max(self.y1, glyph.y1)
        self.x1 = glyph.x1
        self.glyphs.append((has_space, glyph))

    def continues(self, glyph: Glyph) -> bool:
        """Whether a character that is next in the file also stands next on this line."""
        size = max(self.size, glyph.style.size)
        before = self.glyphs[-1][1]
        if glyph.x0 == before.x0 and glyph.x1 == before.x1 and glyph.baseline == before.baseline:
            # Letters of one ligature, which PDFium gives one place.
            return True
        gap = glyph.x0 - self.x1
        if gap > _WIDEST_GAP * size:
            return False
        is_script = glyph.style.size < self.size * _SCRIPT_SIZE or (
            self.size < glyph.style.size * _SCRIPT_SIZE
        )
        if gap < -(_WIDEST_SCRIPT_STEP_BACK if is_script else _WIDEST_STEP_BACK) * size:
            return False
        if abs(glyph.baseline - self.baseline) <= _SAME_BASELINE * size:
            return True
        if not is_script and abs(glyph.baseline - before.baseline) > 0.1 * size:
            return False
        shared = min(self.y1, glyph.y1) - max(self.y0, glyph.y0)
        lower = min(self.y1 - self.y0, glyph.y1 - glyph.y0)
        return shared > _SCRIPT_OVERLAP * lower


def group_glyphs(glyphs: Iterable[Glyph], page: int) -> list[Line]:
    """The lines of a page in the order of the file; pieces of one line written apart are joined.

    A glyph whose text is a space only says that one stands there.
    """
    upright: list[_OpenLine] = []
    turned: list[Line] = []
    current = _OpenLine()
    has_space = is_ended = False
    turned_run: list[tuple[bool, Glyph]] = []
    for glyph in glyphs:
        if not glyph.text or glyph.text.isspace():
            has_space = has_space or bool(glyph.text)
            continue
        if glyph.style.angle:
            if turned_run and not _continues_turned(turned_run[-1][1], glyph):
                turned.append(_close_turned(turned_run, page))
                turned_run = []
            turned_run.append((has_space and bool(turned_run), glyph))
            has_space = False
            continue
        if current.glyphs and (is_ended or not current.continues(glyph)):
            upright.append(current)
            current, has_space = _OpenLine(), False
        current.add(glyph, has_space)
        has_space, is_ended = False, glyph.is_break_hyphen
    if current.glyphs:
        upright.append(current)
    if turned_run:
        turned.append(_close_turned(turned_run, page))
    return [_close(line, page) for line in _join_pieces(upright)] + turned


def _join_pieces(lines: Sequence[_OpenLine]) -> list[_OpenLine]:
    """Lines in the order of the file, those on one baseline and a space apart made one."""
    by_place = sorted(range(len(lines)), key=lambda at: (lines[at].baseline, lines[at].x0))
    gone: set[int] = set()
    for place, at in enumerate(by_place):
        if at in gone:
            continue
        line = lines[at]
        for other_at in by_place[place + 1 : place + 12]:
            other = lines[other_at]
            size = min(line.size, other.size)
            if other.baseline - line.baseline > _SAME_BASELINE * size:
                break
            gap = other.x0 - line.x1
            if other_at not in gone and -0.2 * size < gap < _JOINED_GAP * size:
                _extend(line, other)
                gone.add(other_at)
    return [line for at, line in enumerate(lines) if at not in gone]


def _extend(line: _OpenLine, other: _OpenLine) -> None:
    for place, (has_space, glyph) in enumerate(other.glyphs):
        gap = glyph.x0 - line.x1
        line.add(glyph, has_space or (place == 0 and gap > _SPACE_BETWEEN_STYLES * line.size))


def _close(line: _OpenLine, page: int) -> Line:
    spans: list[Span] = []
    run: list[Glyph] = []
    texts: list[str] = []
    gap_before = 0.0

    def close_span() -> None:
        first = run[0]
        rise = line.baseline - first.baseline
        box = Box(
            min(glyph.x0 for glyph in run),
            min(glyph.y0 for glyph in run),
            max(glyph.x1 for glyph in run),
            max(glyph.y1 for glyph in run),
        )
        style = first.style
        spans.append(
            Span(
                "".join(texts),
                box,
                style.size,
                style.font,
                style.is_bold,
                style.is_italic,
                style.is_monospaced,
                rise if abs(rise) > _MIN_RISE * line.size else 0.0,
                gap_before,
            )
        )

    for has_space, glyph in line.glyphs:
        if run:
            before = run[-1]
            gap = glyph.x0 - before.x1
            is_same = glyph.style is before.style or glyph.style == before.style
            is_level = abs(glyph.baseline - before.baseline) < _MIN_RISE * line.size
            wide = _SPACE_IN_STYLE if is_same and is_level else _SPACE_BETWEEN_STYLES
            if has_space or gap > wide * max(glyph.style.size, before.style.size):
                texts.append(" ")
            if not is_same or not is_level or gap > _SPAN_GAP * line.size:
                close_span()
                run, texts, gap_before = [], [], max(0.0, gap)
        run.append(glyph)
        texts.append(glyph.text)
    close_span()
    last = line.glyphs[-1][1]
    has_hyphen = last.is_break_hyphen or last.text in _HYPHENS
    return Line(
        tuple(spans),
        Box(
            min(span.box.x0 for span in spans),
            line.y0,
            max(span.box.x1 for span in spans),
            line.y1,
        ),
        page,
        line.baseline,
        0,
        has_hyphen,
    )


def _continues_turned(before: Glyph, glyph: Glyph) -> bool:
    """Whether turned text goes on: at the same angle, near the character before."""
    if glyph.style.angle != before.style.angle:
        return False
    reach = _WIDEST_GAP * max(before.style.size, glyph.style.size)
    is_near_x = glyph.x0 - before.x1 < reach and before.x0 - glyph.x1 < reach
    is_near_y = glyph.y0 - before.y1 < reach and before.y0 - glyph.y1 < reach
    return is_near_x and is_near_y


def _close_turned(run: Sequence[tuple[bool, Glyph]], page: int) -> Line:
    text = "".join((" " if has_space else "") + glyph.text for has_space, glyph in run)
    first = run[0][1]
    box = Box(
        min(glyph.x0 for _, glyph in run),
        min(glyph.y0 for _, glyph in run),
        max(glyph.x1 for _, glyph in run),
        max(glyph.y1 for _, glyph in run),
    )
    style = first.style
    span = Span(
        text,
        box,
        style.size,
        style.font,
        style.is_bold,
        style.is_italic,
        style.is_monospaced,
    )
    return Line((span,), box, page, first.baseline, style.angle)

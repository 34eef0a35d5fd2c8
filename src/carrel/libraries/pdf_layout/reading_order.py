"""The order in which a reader takes the rows of pages: column by column, without running heads."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from statistics import median

from carrel.libraries.pdf_layout.content import Box, Line, PageContent, PdfContent, Span
from carrel.libraries.pdf_layout.rows import Row, find_body_size, make_rows
from carrel.libraries.pdf_layout.running_heads import find_running_heads

# Where a gutter may lie, as shares of the page's width, and how it is told from gaps in tables:
# tried on the 12 files of two columns of the gold set and looked at.
_GUTTER_FROM, _GUTTER_TO, _GUTTER_STEP = 0.35, 0.65, 0.01
_GUTTER_HALF_WIDTH = 3.0
_FEWEST_COLUMN_LINES = 6
_FEWEST_LINES_OF_A_KNOWN_GUTTER = 2
# Lines of text fill their column; cells of tables and entries of contents pages do not.
_FILLED_COLUMN = 0.7
_NARROWEST_COLUMN = 0.22
# A footnote is smaller than the text and stands in the lower part of the page.
_NOTE_SIZE = 0.93
_NOTES_BELOW = 0.45
_FOOT_BELOW = 0.88
_RULE_NEAR = 14.0
# Bounds of searches on a page, far beyond what is printed on one.
_MOST_FLOWS_BELOW = 60
_MOST_SIDE_CAPTIONS = 20
_MOST_LINES_BESIDE = 200
_NOTE_MARK = re.compile(r"[\d*∗†‡§¶‖#]{1,3}(?:\s|[^\W\d_])|[a-z]\s[A-Z]|\(\d{1,2}\)\s")
CAPTION = re.compile(
    r"(?P<name>fig(?:ure|\.|ura)?|abb(?:ildung|\.)|table|tab(?:elle|leau|la|\.)|listing|algorithm|scheme"
    r"|exhibit|plate|cuadro|figuur|tabel|chart|box|рис(?:унок|\.)|табл(?:ица|\.)|图|表|図|그림|표)"
    r"\s*(?P<number>[A-Z]?\.?\d{1,3}(?:[.\-–]\d{1,3}){0,2}[a-z]?|[IVXL]{1,6})\s*(?P<sign>[.:|)。：—–-]|\s|$)",
    re.IGNORECASE,
)


@dataclass(frozen=True)
class Flow:
    """Rows of one column of one page, from the top; `left` and `right` are the column's edges."""

    page: int
    rows: tuple[Row, ...]
    left: float
    right: float


@dataclass(frozen=True)
class PageOrder:
    """One page in reading order. `notes` are its footnotes, `turned` its text at an angle."""

    page: PageContent
    flows: tuple[Flow, ...]
    notes: tuple[Row, ...] = ()
    heads: tuple[Line, ...] = ()
    turned: tuple[Line, ...] = ()


@dataclass(frozen=True)
class ReadingOrder:
    """The pages in reading order; `leading` is the usual distance of two baselines."""

    pages: tuple[PageOrder, ...]
    body_size: float
    leading: float


def order_pages(content: PdfContent) -> ReadingOrder:
    """Every line of a document in the order of reading."""
    body_size = find_body_size(content)
    heads = find_running_heads(content)
    kept = [
        [line for at, line in enumerate(page.lines) if at not in own and not line.angle]
        for page, own in zip(content.pages, heads, strict=True)
    ]
    gutters = [_find_gutter(page, lines) for page, lines in zip(content.pages, kept, strict=True)]
    usual = _usual_gutter(gutters)
    pages: list[PageOrder] = []
    for page, lines, own, gutter in zip(content.pages, kept, heads, gutters, strict=True):
        own_gutter = gutter
        if gutter is None and usual is not None and _fits_gutter(lines, usual):
            own_gutter = usual
        flows = _split_columns(page, lines, own_gutter)
        flows, notes = _take_notes(page, flows, body_size)
        pages.append(
            PageOrder(
                page,
                tuple(flows),
                tuple(notes),
                tuple(page.lines[at] for at in sorted(own)),
                tuple(line for line in page.lines if line.angle),
            )
        )
    return ReadingOrder(tuple(pages), body_size, _find_leading(pages, body_size))


def _find_gutter(page: PageContent, lines: Sequence[Line]) -> float | None:
    """The middle of the empty band between two columns."""
    best: tuple[int, float] | None = None
    steps = int((_GUTTER_TO - _GUTTER_FROM) / _GUTTER_STEP) + 1
    spans = [(line.box.x0, line.box.x1) for line in lines]
    for step in range(steps):
        x = page.width * (_GUTTER_FROM + step * _GUTTER_STEP)
        crossing = sum(
            x0 < x + _GUTTER_HALF_WIDTH and x1 > x - _GUTTER_HALF_WIDTH for x0, x1 in spans
        )
        if best is None or crossing < best[0]:
            best = (crossing, x)
    if best is None:
        return None
    x = _middle_of_band(best[1], spans)
    left = [line for line in lines if line.box.x1 <= x]
    right = [line for line in lines if line.box.x0 >= x]
    if min(len(left), len(right)) < _FEWEST_COLUMN_LINES:
        return None
    if not (_is_filled(page, left) and _is_filled(page, right)):
        return None
    return x if best[0] <= len(left) + len(right) else None


def _middle_of_band(x: float, spans: Sequence[tuple[float, float]]) -> float:
    left = max((x1 for x0, x1 in spans if x1 <= x), default=x)
    right = min((x0 for x0, x1 in spans if x0 >= x), default=x)
    return (left + right) / 2


def _is_filled(page: PageContent, lines: Sequence[Line]) -> bool:
    """Whether a column is wide, and a quarter of its lines nearly as wide as it."""
    left, right = min(line.box.x0 for line in lines), max(line.box.x1 for line in lines)
    widths = sorted(line.box.width for line in lines)
    wide = widths[len(widths) * 3 // 4]
    return right - left >= _NARROWEST_COLUMN * page.width and wide >= _FILLED_COLUMN * (
        right - left
    )


def _usual_gutter(gutters: Iterable[float | None]) -> float | None:
    found = [each for each in gutters if each is not None]
    return median(found) if found else None


def _fits_gutter(lines: Sequence[Line], x: float) -> bool:
    """Whether a page with little text has the columns of the other pages."""
    left = [line for line in lines if line.box.x1 <= x]
    right = [line for line in lines if line.box.x0 >= x]
    crossing = len(lines) - len(left) - len(right)
    enough = min(len(left), len(right)) >= _FEWEST_LINES_OF_A_KNOWN_GUTTER
    return enough and crossing * 3 < len(lines)


def _split_columns(page: PageContent, lines: Sequence[Line], gutter: float | None) -> list[Flow]:
    if not lines:
        return []
    if gutter is None:
        return _split_side_captions(page, lines)
    flows: list[Flow] = []
    waiting: tuple[list[Line], list[Line], list[Line]] = ([], [], [])
    left, across, right = waiting

    def close_columns() -> None:
        for column in (left, right):
            if column:
                flows.append(_make_flow(page, column))
                column.clear()

    def close_across() -> None:
        if across:
            flows.append(_make_flow(page, across))
            across.clear()

    pieces = [piece for line in lines for piece in _split_at(line, gutter)]
    for line in sorted(pieces, key=lambda line: line.baseline):
        if line.box.x0 < gutter - 1 and line.box.x1 > gutter + 1:
            close_columns()
            across.append(line)
            continue
        # Beside a line across the columns, on its baseline, nothing of a column stands.
        if across and abs(line.baseline - across[-1].baseline) < 0.3 * line.size:
            across.append(line)
            continue
        close_across()
        (left if line.box.x0 < gutter else right).append(line)
    close_columns()
    close_across()
    return flows


def _split_side_captions(page: PageContent, lines: Sequence[Line]) -> list[Flow]:
    """One flow, and behind it the captions that stand beside the text."""
    beside: set[int] = set()
    captions: list[list[Line]] = []
    ordered = sorted(lines, key=lambda line: line.baseline)
    for at, line in enumerate(ordered):
        if id(line) in beside or len(captions) >= _MOST_SIDE_CAPTIONS:
            continue
        if not CAPTION.match(line.text) or not _has_neighbour(ordered, at):
            continue
        own = [line]
        for other in ordered[at + 1 : at + _MOST_LINES_BESIDE]:
            if other.baseline - own[-1].baseline > 1.6 * line.size:
                break
            is_below = abs(other.box.x0 - line.box.x0) < 1.5 * line.size
            if is_below and other.baseline - own[-1].baseline > 0.5 * line.size:
                own.append(other)
        captions.append(own)
        beside.update(id(each) for each in own)
    rest = [line for line in lines if id(line) not in beside]
    return [_make_flow(page, each) for each in (rest, *captions) if each]


def _has_neighbour(lines: Sequence[Line], at: int) -> bool:
    """Whether another line of some length stands beside a line."""
    line = lines[at]
    for other in lines[max(0, at - 4) : at + 5]:
        is_apart = other.box.x1 < line.box.x0 - 4 or other.box.x0 > line.box.x1 + 4
        if is_apart and abs(other.baseline - line.baseline) < 0.7 * line.size:
            return len(other.text) > 20
    return False


def _split_at(line: Line, gutter: float) -> Iterable[Line]:
    """A line that was written across the gutter, with a gap there, as two."""
    for at, span in enumerate(line.spans):
        starts = span.box.x0
        if (
            at
            and span.gap_before > line.size * 0.8
            and starts - span.gap_before <= gutter <= starts
        ):
            return (_part(line, line.spans[:at], False), _part(line, line.spans[at:], True))
    return (line,)


def _part(line: Line, chosen: tuple[Span, ...], is_last: bool) -> Line:
    box = Box(
        min(span.box.x0 for span in chosen),
        min(span.box.y0 for span in chosen),
        max(span.box.x1 for span in chosen),
        max(span.box.y1 for span in chosen),
    )
    ends = chosen[-1].text.rstrip()
    has_hyphen = line.has_hyphen if is_last else ends.endswith(("-", "\u2010"))
    return Line(chosen, box, line.page, line.baseline, line.angle, has_hyphen)


def _make_flow(page: PageContent, lines: Sequence[Line]) -> Flow:
    rows = make_rows(lines)
    return Flow(
        page.number,
        tuple(rows),
        min(row.box.x0 for row in rows),
        max(row.box.x1 for row in rows),
    )


def _take_notes(
    page: PageContent, flows: Sequence[Flow], body_size: float
) -> tuple[list[Flow], list[Row]]:
    """The flows without the footnotes at their ends, and these."""
    kept: list[Flow] = []
    notes: list[Row] = []
    for at, flow in enumerate(flows):
        is_last = not any(
            other.rows[0].box.y0 > flow.rows[-1].box.y1
            and other.rows[0].box.y0 < _FOOT_BELOW * page.height
            and other.left < flow.right
            and flow.left < other.right
            for other in flows[at + 1 : at + _MOST_FLOWS_BELOW]
        )
        start = _notes_start(page, flow, body_size) if is_last else len(flow.rows)
        if flow.rows[0].box.y0 > _FOOT_BELOW * page.height and all(
            _is_small(row, body_size) for row in flow.rows
        ):
            start = 0
        notes += flow.rows[start:]
        if start:
            kept.append(Flow(flow.page, flow.rows[:start], flow.left, flow.right))
    return kept, notes


def _notes_start(page: PageContent, flow: Flow, body_size: float) -> int:
    """Where the footnotes of a column begin; its length where there are none."""
    foot = _foot_start(page, flow, body_size)
    start = foot
    while start and _is_small(flow.rows[start - 1], body_size):
        row = flow.rows[start - 1]
        if row.box.y0 < _NOTES_BELOW * page.height:
            break
        start -= 1
    # Where the whole column is in small print, as a reference list is, a number begins no note.
    is_all_small = bool(start) and _is_small(flow.rows[start - 1], body_size)
    while start < foot:
        row = flow.rows[start]
        is_marked = _has_raised_mark(row) or (
            not is_all_small and bool(_NOTE_MARK.match(row.text.strip()))
        )
        if not CAPTION.match(row.text) and (is_marked or _is_under_rule(page, row, flow)):
            return start if start or _is_under_rule(page, row, flow) else foot
        start += 1
    return foot


def _foot_start(page: PageContent, flow: Flow, body_size: float) -> int:
    """Where small print at the very foot of the page begins, apart from the text above it."""
    start = len(flow.rows)
    while start > 1 and _is_small(flow.rows[start - 1], body_size):
        row, above = flow.rows[start - 1], flow.rows[start - 2]
        if row.box.y0 < _FOOT_BELOW * page.height:
            break
        start -= 1
        # Below text of the same size, as of a reference list, it is the next paragraph.
        is_smaller = row.size < _NOTE_SIZE * above.size
        if is_smaller and row.baseline - above.baseline > 1.7 * body_size:
            return start
    return len(flow.rows)


def _is_small(row: Row, body_size: float) -> bool:
    return row.size < _NOTE_SIZE * body_size


def _has_raised_mark(row: Row) -> bool:
    first = row.lines[0].spans[0]
    return first.rise > 0 and len(first.text.strip()) <= 3 and len(row.text) > 5


def _is_under_rule(page: PageContent, row: Row, flow: Flow) -> bool:
    """Whether a short rule at the left of the column stands just above."""
    width = flow.right - flow.left
    return any(
        rule.height <= 2.5
        and 20 < rule.width < 0.6 * width
        and abs(rule.x0 - flow.left) < 15
        and 0 <= row.box.y0 - rule.y0 + 3 < _RULE_NEAR
        for rule in page.rules
    )


def _find_leading(pages: Sequence[PageOrder], body_size: float) -> float:
    """The usual distance of the baselines of two rows of the text."""
    steps = [
        below.baseline - above.baseline
        for order in pages[:60]
        for flow in order.flows
        for above, below in zip(flow.rows, flow.rows[1:], strict=False)
        if abs(above.size - body_size) < 0.6
        and abs(below.size - body_size) < 0.6
        and 0.5 * body_size < below.baseline - above.baseline < 2.5 * body_size
    ]
    return median(steps) if steps else 1.2 * body_size

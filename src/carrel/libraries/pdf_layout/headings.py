"""Finds the headings of a document: by its outline where it has one, else by numerals and type."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from carrel.libraries.pdf_layout.content import OutlineEntry, PdfContent
from carrel.libraries.pdf_layout.heading_words import (
    LEADERS,
    is_contents_entry,
    is_contents_name,
    is_known_name,
    may_be_heading,
    split_number,
    squash,
)
from carrel.libraries.pdf_layout.reading_order import CAPTION, Flow, ReadingOrder
from carrel.libraries.pdf_layout.rows import Row

# Chosen on half of the gold set (by a hash of the file's name); see docs/decisions/0033.
# A larger type than that of the text, as a share of its size.
LARGER = 1.08
# The space above a heading, in usual distances of two baselines, and against the space below it.
_GAP_ABOVE = 1.2
_ABOVE_TO_BELOW = 1.05
# An outline counts where this many of its entries, and this share, stand on their pages.
_FEWEST_MATCHES = 2
_MATCHED_SHARE = 0.5
_MOST_ROWS_OF_A_HEADING = 3
# A style that this share of all rows has is that of text.
_MOST_ROWS_IN_STYLE = 0.12
_MAX_LEVEL = 6
# Bounds of the search for the sequence of numerals, and how many may be missing in it.
_MOST_NUMBERED = 1_500
_LONGEST_BREAK = 60
_MOST_MISSED = 2
# How many rows of a contents page may look like none of its entries in a row.
_MISSES_IN_CONTENTS = 2

# A heading and the first words of its paragraph on one row ("2.1. Operators. The usual ...").
_RUN_IN = re.compile(r"[^\W\d_]{3}[.] [A-Z].{12}")

Place = tuple[int, int, int]
Style = tuple[str, float, bool]


@dataclass(frozen=True, slots=True)
class PrintedHeading:
    """A heading where it is printed: `rows` of one flow; level 1 is the highest."""

    level: int
    text: str
    page: int
    place: Place
    row_count: int = 1


@dataclass(slots=True)
class _Candidate:
    place: Place
    rows: list[Row]
    number: str
    text: str
    gap_above: float
    gap_below: float
    style: Style
    is_before_text: bool = False
    depth: int = field(default=0)


def find_headings(
    content: PdfContent, order: ReadingOrder, title: str | None = None
) -> list[PrintedHeading]:
    """The headings in reading order; the title of the document is none of them."""
    contents = find_contents_rows(order)
    by_outline = _match_outline(content.outline, order, contents)
    used = squash(title or "")
    if len(by_outline) >= _FEWEST_MATCHES and len(by_outline) >= _MATCHED_SHARE * len(
        [entry for entry in content.outline if entry.level <= 2]
    ):
        found = by_outline + _known_beside(by_outline, order, contents)
    else:
        found = _find_by_type(order, contents, used)
    kept = [each for each in found if not used or squash(each.text) != used or each.page > 2]
    return sorted(kept, key=lambda heading: heading.place)


def each_row(order: ReadingOrder) -> Iterator[tuple[Place, Flow, Row]]:
    """Every row with its place: number of page, of flow and of row, from 0."""
    for page_at, page in enumerate(order.pages):
        for flow_at, flow in enumerate(page.flows):
            for row_at, row in enumerate(flow.rows):
                yield (page_at, flow_at, row_at), flow, row


def find_contents_rows(order: ReadingOrder) -> frozenset[Place]:
    """The rows of tables of contents, their headings included."""
    found: set[Place] = set()
    is_open, misses = False, 0
    led_page: int | None = None
    waiting: list[Place] = []
    for place, _, row in each_row(order):
        text = row.text.strip()
        if is_contents_name(text):
            is_open, misses, waiting, led_page = True, 0, [], None
            found.add(place)
            continue
        if not is_open:
            continue
        if is_contents_entry(text):
            if LEADERS.search(text):
                led_page = place[0]
            # Behind the pages with leaders, a row that only ends with a number may be text.
            if led_page is None or led_page == place[0]:
                found.update(waiting)
                found.add(place)
                waiting, misses = [], 0
                continue
        misses += 1
        waiting.append(place)
        if misses > _MISSES_IN_CONTENTS:
            is_open = False
    return frozenset(found)


def _match_outline(
    outline: Sequence[OutlineEntry], order: ReadingOrder, contents: frozenset[Place]
) -> list[PrintedHeading]:
    """The entries of the outline that stand on their pages, each at its place."""
    index = _index_rows(order, contents)
    taken: set[Place] = set()
    found: list[PrintedHeading] = []
    for entry in outline:
        bare = split_number(entry.title)[1]
        wanted = squash(bare) or squash(entry.title)
        pages = [entry.page + step for step in (0, 1, -1)] if entry.page else [None]
        options = [
            option
            for page in pages
            for option in index.get(wanted, ())
            if (page is None or option[0][0] + 1 == page) and option[0] not in taken
        ]
        if not options:
            continue
        best = max(
            enumerate(options),
            key=lambda pair: (_stands_out(pair[1][1], order), -pair[0]),
        )[1]
        place, rows = best
        taken.add(place)
        text = " ".join(row.text.strip() for row in rows)
        found.append(
            PrintedHeading(min(entry.level, _MAX_LEVEL), text, place[0] + 1, place, len(rows))
        )
    return found


def _index_rows(
    order: ReadingOrder, contents: frozenset[Place]
) -> dict[str, list[tuple[Place, list[Row]]]]:
    """Rows, and rows with the next ones, by their words without a numeral."""
    index: dict[str, list[tuple[Place, list[Row]]]] = defaultdict(list)
    for place, flow, row in each_row(order):
        if place in contents or len(row.text) > 200:
            continue
        for count in range(1, _MOST_ROWS_OF_A_HEADING + 1):
            rows = list(flow.rows[place[2] : place[2] + count])
            if len(rows) < count or any(abs(each.size - row.size) > 0.6 for each in rows):
                break
            text = " ".join(each.text.strip() for each in rows)
            if len(text) > 300:
                break
            key = squash(split_number(text)[1])
            if key:
                index[key].append((place, rows))
    return index


def _stands_out(rows: Sequence[Row], order: ReadingOrder) -> int:
    row = rows[0]
    return (row.size > LARGER * order.body_size) + row.is_bold - row.is_monospaced


def _style(row: Row) -> Style:
    return (row.font, round(row.size, 1), row.is_bold)


def _known_beside(
    matched: Sequence[PrintedHeading], order: ReadingOrder, contents: frozenset[Place]
) -> list[PrintedHeading]:
    """Well-known names ("References") in the type of headings that the outline leaves out."""
    taken = {
        (heading.place[0], heading.place[1], heading.place[2] + step)
        for heading in matched
        for step in range(heading.row_count)
    }
    levels = {
        _style(order.pages[heading.place[0]].flows[heading.place[1]].rows[heading.place[2]]): (
            heading.level
        )
        for heading in reversed(matched)
    }
    found: list[PrintedHeading] = []
    for place, _, row in each_row(order):
        if place not in taken and place not in contents and is_known_name(row.text):
            stands_out = row.is_bold or row.size > LARGER * order.body_size
            if stands_out and not row.is_monospaced:
                level = levels.get(_style(row), 1)
                found.append(PrintedHeading(level, row.text.strip(), place[0] + 1, place))
    return found


def _find_by_type(
    order: ReadingOrder, contents: frozenset[Place], title: str
) -> list[PrintedHeading]:
    candidates = list(_candidates(order, contents, title))
    numbered = [each for each in candidates if _is_numbered_heading(each, order)]
    numbered = _in_sequence(numbered)
    styles = Counter(each.style for each in numbered)
    taken = {each.place for each in numbered}
    others = [
        each
        for each in candidates
        if each.place not in taken and _is_unnumbered_heading(each, order, styles)
    ]
    chosen = sorted([*numbered, *others], key=lambda each: each.place)
    levels = _levels(chosen, numbered)
    return [
        PrintedHeading(level, each.text, each.place[0] + 1, each.place, len(each.rows))
        for each, level in zip(chosen, levels, strict=True)
    ]


def _candidates(
    order: ReadingOrder, contents: frozenset[Place], title: str
) -> Iterator[_Candidate]:
    """Rows in another type than the text, with the spaces around them."""
    counts = Counter(_style(row) for _, _, row in each_row(order))
    total = sum(counts.values())
    has_text = False
    skipped: set[Place] = set()
    for place, flow, row in each_row(order):
        page_at, flow_at, row_at = place
        has_text = has_text or _is_text_run(flow, row_at, order)
        if place in contents or place in skipped or row.is_partly_monospaced:
            continue
        if not may_be_heading(row.text) or CAPTION.match(row.text):
            continue
        is_other = row.is_bold or row.size > LARGER * order.body_size or is_known_name(row.text)
        number, _ = split_number(row.text.strip())
        if not (is_other or number) or row.size < 0.85 * order.body_size:
            continue
        if counts[_style(row)] > max(60, _MOST_ROWS_IN_STYLE * total) and not number:
            continue
        rows = [row]
        while len(rows) < _MOST_ROWS_OF_A_HEADING and _continues(flow, row_at + len(rows), row):
            rows.append(flow.rows[row_at + len(rows)])
        skipped.update((page_at, flow_at, row_at + step) for step in range(1, len(rows)))
        above = row.baseline - flow.rows[row_at - 1].baseline if row_at else 99.0
        after = row_at + len(rows)
        below = flow.rows[after].baseline - rows[-1].baseline if after < len(flow.rows) else 99.0
        text = " ".join(each.text.strip() for each in rows)
        if title and squash(text) and page_at <= 1 and squash(text) in title:
            continue
        yield _Candidate(place, rows, number, text, above, below, _style(row), not has_text)


def _is_text_run(flow: Flow, row_at: int, order: ReadingOrder) -> bool:
    """Whether the text has begun: two rows of its size that fill the column."""
    rows = flow.rows[row_at : row_at + 2]
    width = flow.right - flow.left
    return len(rows) == 2 and all(
        abs(row.size - order.body_size) < 0.6
        and row.box.width > 0.8 * width
        and not row.is_bold
        and len(row.text) > 35
        for row in rows
    )


def _continues(flow: Flow, at: int, first: Row) -> bool:
    """Whether the next row goes on with a heading: the same type, near, no numeral of its own."""
    if at >= len(flow.rows):
        return False
    row, above = flow.rows[at], flow.rows[at - 1]
    if _style(row) != _style(first) or split_number(row.text.strip())[0]:
        return False
    is_near = row.baseline - above.baseline < 1.45 * row.size
    is_full = above.box.width > 0.6 * (flow.right - flow.left)
    return is_near and is_full and not is_known_name(row.text) and may_be_heading(row.text)


def _is_numbered_heading(each: _Candidate, order: ReadingOrder) -> bool:
    row = each.rows[0]
    if not each.number or (each.text.rstrip().endswith((".", ":")) and len(each.text) > 80):
        return False
    is_other = row.is_bold or row.size > LARGER * order.body_size
    if _RUN_IN.search(each.text):
        return False
    if is_other:
        return each.gap_above > 0.9 * order.leading
    # Fonts without names tell no weight: ask for space on both sides and no sentence.
    has_space = each.gap_above > 1.4 * order.leading and each.gap_below > 1.15 * order.leading
    is_short = len(each.rows) == 1 and ". " not in each.text[6:]
    return has_space and is_short and not row.font and not each.text.rstrip().endswith(".")


def _is_unnumbered_heading(each: _Candidate, order: ReadingOrder, styles: Counter[Style]) -> bool:
    row = each.rows[0]
    text = each.text.strip()
    has_space = (
        each.gap_above > _GAP_ABOVE * order.leading
        and each.gap_above > _ABOVE_TO_BELOW * each.gap_below
    )
    is_other = row.is_bold or row.size > LARGER * order.body_size
    if is_known_name(text):
        return is_other or (each.gap_above > 1.3 * order.leading and each.gap_below < 50)
    if each.is_before_text or each.number or text.endswith((".", ":")) or not is_other:
        return False
    if each.style in styles and styles:
        return each.gap_above > order.leading
    if sum(styles.values()) >= 3:
        return False
    return has_space and text[:1].isalnum()


def _in_sequence(numbered: Sequence[_Candidate]) -> list[_Candidate]:
    """Without numerals that do not follow: those of lists, of years and of formulas.

    Of all chains of numerals that may follow one another, the one with most headings.
    """
    known = [(each, number) for each in numbered if (number := _parse(each.number)) is not None]
    known = known[:_MOST_NUMBERED]
    best: list[int] = []
    before: list[int] = []
    for at, (each, number) in enumerate(known):
        chains = [
            (best[other], other)
            for other in range(max(0, at - _LONGEST_BREAK), at)
            if _may_follow(known[other][1], number)
        ]
        length, other = max(chains, default=(0, -1))
        best.append(length + (2 if each.rows[0].is_bold else 1) + 2 * (each.text[:1] != "("))
        before.append(other)
    chain: set[Place] = set()
    at = max(range(len(best)), key=lambda place: best[place], default=-1)
    while at >= 0:
        chain.add(known[at][0].place)
        at = before[at]
    unknown = {each.place for each in numbered if _parse(each.number) is None}
    return [each for each in numbered if each.place in chain or each.place in unknown]


def _parse(number: str) -> tuple[int, ...] | None:
    """The numbers of a numeral; None for letters and Roman ones."""
    parts = number.split(".")
    if parts and not parts[0].isdigit():
        return None
    return tuple(int(part) for part in parts if part)


def _may_follow(last: tuple[int, ...], number: tuple[int, ...]) -> bool:
    """Whether a numeral may come after another: its child, or the next of it or of its parents.

    A few may be missing between them, not found on their pages.
    """
    for depth, (old, new) in enumerate(zip(last, number, strict=False)):
        if new != old:
            is_step = 0 < new - old <= _MOST_MISSED + 1
            return is_step and all(each <= 2 for each in number[depth + 1 :])
    return len(number) > len(last) and all(each <= 2 for each in number[len(last) :])


def _levels(chosen: Sequence[_Candidate], numbered: Sequence[_Candidate]) -> list[int]:
    """Levels by the depth of numerals, else by the type of numbered ones, else by size."""
    known: dict[Style, Counter[int]] = defaultdict(Counter)
    for each in numbered:
        known[each.style][each.number.count(".") + 1] += 1
    by_size = sorted({(each.style[1], each.style[2]) for each in chosen}, reverse=True)
    levels: list[int] = []
    for each in chosen:
        if each.number and each in numbered:
            level = each.number.count(".") + 1
        elif each.style in known:
            level = known[each.style].most_common(1)[0][0]
        elif is_known_name(each.text):
            level = 1
        else:
            level = by_size.index((each.style[1], each.style[2])) + 1
        levels.append(min(level, _MAX_LEVEL))
    return levels


def heading_rows(headings: Iterable[PrintedHeading]) -> dict[Place, PrintedHeading | None]:
    """The headings by the places of their rows; rows that continue one have None."""
    found: dict[Place, PrintedHeading | None] = {}
    for heading in headings:
        found[heading.place] = heading
        for step in range(1, heading.row_count):
            page, flow, row = heading.place
            found[page, flow, row + step] = None
    return found

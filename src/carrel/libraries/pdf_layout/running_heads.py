"""Finds running heads, feet and page numbers: what stands at the edge of page after page."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections import Counter
from collections.abc import Callable, Sequence
from itertools import pairwise
from statistics import median

from carrel.libraries.pdf_layout.content import Line, PageContent, PdfContent
from carrel.libraries.pdf_layout.rows import find_body_size

# Shares of the page's height, and how many pages make a repetition (facts of the gold set).
_TOP_BAND, _BOTTOM_BAND = 0.12, 0.90
_FEWEST_PAGES = 3
_LONGEST_HEAD = 200
_SHORTEST_TEXT = 25
# How many pages are counted by a number at one edge.
_FEWEST_COUNTED = 2
_LARGEST_HEAD = 1.2
_MOST_BAND_LINES = 100
# A first line at one place on this share of the pages is a running head although its words change,
# if the gap below it is this many times its size. Where the text of other pages begins at this
# place, without a gap, it is text itself.
_SAME_PLACE_SHARE = 0.5
_WITHOUT_GAP_SHARE = 0.15
_PLACES_NEAR = 4
# The gap is wider than the usual distance of lines on the page, which may be set with double space.
_WIDER_THAN_USUAL = 1.25
_FEWEST_DISTANCES = 5
_GAP_BELOW = 1.9
_PAGE_NUMBER = re.compile(
    r"(?:page|seite|p\.|стр\.)?[\s\-–—\[(|]*(?:\d{1,4}|[ivxlc]{1,7})[\s\-–—\])|]*"
    r"(?:(?:of|von|/|sur|de)\s*\d{1,4})?",
    re.IGNORECASE,
)
_DIGITS = re.compile(r"\d+|\b[ivxlc]{1,7}\b")
_SPACES = re.compile(r"\s+")


def find_running_heads(content: PdfContent) -> list[frozenset[int]]:
    """For each page, the positions in `lines` of what is repeated from page to page."""
    largest = _LARGEST_HEAD * find_body_size(content)
    bands = [_band_lines(page, largest) for page in content.pages]
    seen: Counter[tuple[str, bool]] = Counter()
    for page, band in zip(content.pages, bands, strict=True):
        keys = {(_fold(page.lines[at].text), is_top) for at, is_top in band}
        seen.update(keys)
    numbers = _find_page_numbers(content)
    firsts = [_first_line(page) for page in content.pages]
    tops = [
        at if at is not None and _is_apart(page, at, largest) else None
        for page, at in zip(content.pages, firsts, strict=True)
    ]
    places = Counter(_place(page, at) for at, page in _known(tops, content))
    texts = Counter(_place(page, at) for at, page in _known(firsts, content)) - places
    found: list[frozenset[int]] = []
    for page, band, top, number in zip(content.pages, bands, tops, numbers, strict=True):
        own = {
            at
            for at, is_top in band
            if seen[_fold(page.lines[at].text), is_top] >= _FEWEST_PAGES
            or _is_page_number(page, at)
        } | number
        if top is not None:
            place = _place(page, top)
            count = sum(places[place + step] for step in (-1, 0, 1))
            near = range(place - _PLACES_NEAR, place + _PLACES_NEAR + 1)
            others = sum(texts[each] for each in near)
            is_usual = count >= max(_FEWEST_PAGES, _SAME_PLACE_SHARE * len(content.pages))
            if is_usual and others <= _WITHOUT_GAP_SHARE * count:
                own |= _beside(page, top)
        if not any(at not in own and not line.angle for at, line in enumerate(page.lines)):
            # A page of nothing but such lines keeps what says more than a number.
            own = {at for at in own if len(page.lines[at].text) < _SHORTEST_TEXT}
        found.append(frozenset(own))
    return found


def _known(tops: Sequence[int | None], content: PdfContent) -> list[tuple[int, PageContent]]:
    return [(at, page) for at, page in zip(tops, content.pages, strict=True) if at is not None]


def _band_lines(page: PageContent, largest: float) -> list[tuple[int, bool]]:
    """The lines at the upper and lower edge, and whether each is at the upper.

    What is larger than the text is a heading that begins a page ("Chapter 3").
    """
    found: list[tuple[int, bool]] = []
    for at, line in enumerate(page.lines):
        if len(found) >= _MOST_BAND_LINES:
            break
        if line.angle or len(line.text) > _LONGEST_HEAD or line.size > largest:
            continue
        if line.box.y1 < _TOP_BAND * page.height:
            found.append((at, True))
        elif line.box.y0 > _BOTTOM_BAND * page.height:
            found.append((at, False))
    return found


def _fold(text: str) -> str:
    return _SPACES.sub(" ", _DIGITS.sub("#", text.casefold())).strip()


def _find_page_numbers(content: PdfContent) -> list[set[int]]:
    """For each page, its first or last line where these count the pages, wherever they stand."""
    found: list[set[int]] = [set() for _ in content.pages]
    for choose in (min, max):
        edges = [_edge_number(page, choose) for page in content.pages]
        steps = Counter(value - page.number for (_, value), page in _numbered(edges, content))
        for place, edge in enumerate(edges):
            if edge is not None:
                step = edge[1] - content.pages[place].number
                if steps[step] >= _FEWEST_COUNTED:
                    found[place].add(edge[0])
    return found


def _numbered(
    edges: Sequence[tuple[int, int] | None], content: PdfContent
) -> list[tuple[tuple[int, int], PageContent]]:
    return [
        (edge, page) for edge, page in zip(edges, content.pages, strict=True) if edge is not None
    ]


def _edge_number(page: PageContent, choose: Callable[..., int]) -> tuple[int, int] | None:
    """The first or last line of a page and its number, if it is one."""
    upright = [at for at, line in enumerate(page.lines) if not line.angle and line.text.strip()]
    if len(upright) < 2:
        return None
    at = choose(upright, key=lambda at: page.lines[at].baseline)
    text = page.lines[at].text.strip(" -–—[]()")
    return (at, int(text)) if text.isascii() and text.isdigit() and len(text) <= 4 else None


def _is_page_number(page: PageContent, at: int) -> bool:
    """Whether a line is only a number and nothing stands beyond it."""
    line = page.lines[at]
    if not _PAGE_NUMBER.fullmatch(line.text.strip()):
        return False
    is_top = line.box.y1 < page.height / 2
    return not any(
        (other.baseline < line.baseline - 1 if is_top else other.baseline > line.baseline + 1)
        and not _PAGE_NUMBER.fullmatch(other.text.strip())
        for other in page.lines
        if not other.angle and abs(other.baseline - line.baseline) < _TOP_BAND * page.height
    )


def _place(page: PageContent, at: int) -> int:
    return round(page.lines[at].baseline / 2)


def _first_line(page: PageContent) -> int | None:
    upright = [at for at, line in enumerate(page.lines) if not line.angle and line.text.strip()]
    return min(upright, key=lambda at: page.lines[at].baseline, default=None)


def _is_apart(page: PageContent, at: int, largest: float) -> bool:
    """Whether the first line of a page stands at the edge, with a wide gap below."""
    line = page.lines[at]
    is_large = len(line.text) > _LONGEST_HEAD or line.size > largest
    if line.box.y1 >= _TOP_BAND * page.height or is_large:
        return False
    baselines = sorted(
        other.baseline for other in page.lines if not other.angle and other.text.strip()
    )
    least = 0.4 * line.size
    steps = [after - before for before, after in pairwise(baselines) if after - before > least]
    below = bisect_right(baselines, line.baseline + least)
    if below == len(baselines):
        return False
    gap = baselines[below] - line.baseline
    usual = median(steps) if len(steps) >= _FEWEST_DISTANCES else 0.0
    return gap >= max(_GAP_BELOW * max(line.size, 1.0), _WIDER_THAN_USUAL * usual)


def _beside(page: PageContent, at: int) -> set[int]:
    """The line and those on its baseline."""
    line: Line = page.lines[at]
    return {
        other_at
        for other_at, other in enumerate(page.lines)
        if not other.angle and abs(other.baseline - line.baseline) < 0.4 * line.size
    }

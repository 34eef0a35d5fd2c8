"""Passages: a text cut at paragraph borders into pieces that can be found, read and cited alone."""

from __future__ import annotations

import hashlib
import math
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import pairwise
from typing import Literal

from carrel.libraries.text.outline import (
    Block,
    HeadingLine,
    PageMark,
    document_title,
    read_parts,
    trim,
)
from carrel.libraries.text.sentences import sentence_ends
from carrel.libraries.text.tokenizer import case_key
from carrel.libraries.text.words import CJK

# Sizes are in characters, one of Chinese, Japanese or Korean counting as three: about 60 to 200
# words. Chosen from the 292 full texts of eLife, whose paragraphs have a median of 150 words.
SHORT = 400
LONG = 1_400
_CJK_WEIGHT = 3
# A table or a code block is kept whole up to this size.
LONG_WHOLE = 4_000
# How full the pieces of a long paragraph are, so that none needs to pass the bound.
_FILLED = 0.75
# A line this short behind a long paragraph (a formula), or before a table (a caption), joins it.
_TINY = 200
# A few entries of a list of references.
_REFERENCES = 500
_ID_HEX = 10
SECTION_JOINT = " > "
REFERENCES = "References"

PassageKind = Literal["text", "table", "code", "references"]

_LINE = re.compile(r"[^\r\n]*(?:\r\n|[\r\n]|$)")
_SPACE = re.compile(r"\s(?=\S)")
_HEADING_NUMBER = re.compile(r"^(?:\d{1,2}(?:\.\d{1,2}){0,3}|[IVX]{1,5})[.):]?\s+")
_REFERENCE_HEADINGS = frozenset(
    {
        "references",
        "reference",
        "reference list",
        "references cited",
        "references and notes",
        "bibliography",
        "works cited",
        "literature cited",
        "literature",
        "cited literature",
        "literatur",
        "literaturverzeichnis",
        "références",
        "bibliographie",
        "referencias",
        "bibliografía",
        "referências",
        "riferimenti bibliografici",
        "bibliografia",
        "литература",
        "список литературы",
        "参考文献",
        "參考文獻",
        "참고문헌",
        "المراجع",
    }
)
_ENTRY = re.compile(r"(?m)^[ \t]{0,8}(?:\[[^\]\r\n]{1,40}\]|\(?\d{1,4}[.)]|[-*+•])[ \t]*\S")


@dataclass(frozen=True, slots=True)
class Passage:
    """A piece of a text, `text[start:end]`; `page` is None where the text has no page marks."""

    number: int
    headings: tuple[str, ...]
    page: int | None
    start: int
    end: int
    kind: PassageKind = "text"

    @property
    def section(self) -> str:
        """The headings above the passage in one line, empty where there are none."""
        return SECTION_JOINT.join(self.headings)


@dataclass(frozen=True, slots=True)
class _Piece:
    """A stretch that is not cut further."""

    start: int
    end: int
    size: int
    kind: PassageKind


def cut_passages(text: str) -> list[Passage]:
    """All passages in order; they hold every visible character but headings and page marks."""
    parts = read_parts(text)
    title = document_title(parts)
    found: list[Passage] = []
    open_headings: list[HeadingLine] = []
    blocks: list[Block] = []
    page: int | None = None

    def close() -> None:
        headings = tuple(each.title for each in open_headings if each.title)
        is_references = any(is_reference_heading(each) for each in headings)
        shown = (REFERENCES,) if is_references else headings
        for group in _group(_pieces(text, blocks, is_references), is_references):
            number = len(found) + 1
            found.append(Passage(number, shown, page, group.start, group.end, group.kind))
        blocks.clear()

    for part in parts:
        match part:
            case Block():
                blocks.append(part)
            case PageMark():
                close()
                page = part.page
            case HeadingLine():
                close()
                while open_headings and open_headings[-1].level >= part.level:
                    open_headings.pop()
                if part is not title:
                    open_headings.append(part)
    close()
    return found


def passage_ids(document_id: str, text: str, passages: Sequence[Passage]) -> list[str]:
    """`<document id>~<hash of the words>`; the second equal passage of a text gets `.2`."""
    seen: dict[str, int] = {}
    found: list[str] = []
    for passage in passages:
        words = case_key(text[passage.start : passage.end]).encode("utf-8", "surrogatepass")
        mark = hashlib.sha256(words).hexdigest()[:_ID_HEX]
        seen[mark] = seen.get(mark, 0) + 1
        found.append(f"{document_id}~{mark}" + (f".{seen[mark]}" if seen[mark] > 1 else ""))
    return found


def is_reference_heading(title: str) -> bool:
    """Whether a heading stands above a list of references, in one of many languages."""
    return _HEADING_NUMBER.sub("", title).strip(" :.").casefold() in _REFERENCE_HEADINGS


@cache
def _cjk_character() -> re.Pattern[str]:
    """Compiled at the first text that needs it: the class is large."""
    return re.compile(f"[{CJK}\U00020000-\U0003ffff]")


def _size(text: str, start: int, end: int) -> int:
    stretch = text[start:end]
    if stretch.isascii():
        return end - start
    return end - start + (_CJK_WEIGHT - 1) * len(_cjk_character().findall(stretch))


def _pieces(text: str, blocks: Iterable[Block], is_references: bool) -> Iterator[_Piece]:
    for block in blocks:
        size = _size(text, block.start, block.end)
        if block.kind != "text":
            if size <= LONG_WHOLE:
                yield _Piece(block.start, block.end, size, block.kind)
            else:
                yield from _fill(text, block, _line_ends(text, block), size, LONG_WHOLE)
        elif is_references:
            yield from _entries(text, block)
        elif size <= LONG:
            yield _Piece(block.start, block.end, size, "text")
        else:
            ends = sentence_ends(text, block.start, block.end)
            yield from _fill(text, block, ends, size, LONG)


def _line_ends(text: str, block: Block) -> Iterator[int]:
    for line in _LINE.finditer(text, block.start, block.end):
        if line.end() > line.start():
            yield line.end()


def _entries(text: str, block: Block) -> Iterator[_Piece]:
    """The entries of a list of references by their numbers or bullets, else whole paragraphs."""
    starts = [found.start() for found in _ENTRY.finditer(text, block.start, block.end)]
    borders = sorted({block.start, *starts, block.end})
    for first, last in pairwise(borders):
        start, end = trim(text, first, last)
        size = _size(text, start, end)
        if size > LONG:
            ends = sentence_ends(text, start, end)
            entry = Block(start, end, "text")
            for piece in _fill(text, entry, ends, size, LONG):
                yield _Piece(piece.start, piece.end, piece.size, "references")
        elif start < end:
            yield _Piece(start, end, size, "references")


def _fill(
    text: str, block: Block, ends: Iterable[int], size: int, largest: int
) -> Iterator[_Piece]:
    """A long block in pieces of about equal size, cut at the ends that are offered."""
    wanted = size / math.ceil(size / (largest * _FILLED))
    start, last, length, left = block.start, block.start, 0, size
    for end in _bounded_ends(text, block.start, ends, largest):
        step = _size(text, last, end)
        # Cut before this stretch where that is nearer to the wanted size, or else too much.
        is_nearer = length + step - wanted > wanted - length
        is_enough = length >= SHORT and left - length >= SHORT
        if length and (length + step > largest or (is_nearer and is_enough)):
            yield from _piece(text, start, last, block.kind)
            start, left, length = last, left - length, 0
        last, length = end, length + step
    yield from _piece(text, start, block.end, block.kind)


def _piece(text: str, start: int, end: int, kind: PassageKind) -> Iterator[_Piece]:
    start, end = trim(text, start, end)
    if start < end:
        yield _Piece(start, end, _size(text, start, end), kind)


def _bounded_ends(text: str, start: int, ends: Iterable[int], largest: int) -> Iterator[int]:
    """The same ends with more between them, at spaces, where two are too far apart."""
    # Three times as dense script needs stretches a third as long.
    longest = largest // _CJK_WEIGHT
    for end in ends:
        while end - start > largest or (
            end - start > longest and _size(text, start, end) > largest
        ):
            cut = -1
            for space in _SPACE.finditer(text, start + longest // 2, start + longest):
                cut = space.end()
            start = cut if cut > 0 else start + longest
            yield start
        if end > start:
            yield end
            start = end


@dataclass(slots=True)
class _Group:
    """Neighbouring pieces that become one passage, of the kind of their largest."""

    start: int
    end: int
    size: int
    kind: PassageKind
    largest: int

    def extend(self, other: _Group) -> None:
        self.start, self.end = min(self.start, other.start), max(self.end, other.end)
        self.size += other.size
        if other.largest > self.largest:
            self.largest, self.kind = other.largest, other.kind


def _group(pieces: Iterable[_Piece], is_references: bool) -> list[_Group]:
    """Short neighbours joined; what is long enough stands alone, but for a line beside it."""
    enough = _REFERENCES if is_references else SHORT
    groups: list[_Group] = []
    run: list[_Group] = []
    for piece in pieces:
        if piece.size < enough:
            _add_short(run, piece, enough)
            continue
        own = _Group(piece.start, piece.end, piece.size, piece.kind, piece.size)
        if _is_line(run) and piece.kind in {"table", "code"}:
            own.extend(run.pop())
        _close_run(groups, run)
        groups.append(own)
    _close_run(groups, run)
    return groups


def _is_line(run: Sequence[_Group]) -> bool:
    return len(run) == 1 and run[0].size < _TINY


def _add_short(run: list[_Group], piece: _Piece, enough: int) -> None:
    own = _Group(piece.start, piece.end, piece.size, piece.kind, piece.size)
    if run and run[-1].size < enough and run[-1].size + piece.size <= LONG:
        run[-1].extend(own)
    else:
        run.append(own)


def _close_run(groups: list[_Group], run: list[_Group]) -> None:
    """Take over a run of short groups; a lone line and a short rest go to what is before them."""
    if len(run) > 1 and run[-1].size < SHORT and run[-2].size + run[-1].size <= LONG:
        last = run.pop()
        run[-1].extend(last)
    if _is_line(run) and groups and groups[-1].size + run[0].size <= LONG + _TINY:
        groups[-1].extend(run.pop())
    groups.extend(run)
    run.clear()

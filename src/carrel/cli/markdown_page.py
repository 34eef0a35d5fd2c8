"""Markdown as parts of a page: headings, paragraphs, lists and quotes; the rest verbatim."""

from __future__ import annotations

import re
from collections.abc import Iterator

from carrel.cli.page import (
    Heading,
    Inline,
    Item,
    Paragraph,
    Part,
    Span,
    Table,
    Verbatim,
    plain_text,
)

_HEADING = re.compile(r"(#{1,6})[ \t]+(.*?)[ \t]*#*[ \t]*")
_BULLET = re.compile(r"(?P<indent> {0,12})(?P<marker>[-*+]|\d{1,4}[.)])[ \t]+(?P<text>.*)")
_QUOTE = re.compile(r" {0,3}> ?(.*)")
_FENCE = re.compile(r" {0,3}(```+|~~~+)")
_EMPHASIS = re.compile(r"\*\*(?=\S)(?P<strong>[^*\n]+?)(?<=\S)\*\*|`(?P<code>[^`\n]+)`")
_KEPT_AS_IS = re.compile(r" {0,3}(\||\$\$|<)|(    |\t)\S")

_RULE = re.compile(r" {0,3}\|[ \t]*:?-+:?[ \t]*(\|[ \t]*:?-+:?[ \t]*)*\|?[ \t]*")
_CELL_END = re.compile(r"(?<!\\)\|")
_LEAST_TABLE_LINES = 3


def parse_markdown(text: str) -> Iterator[Part]:
    """The parts of a text; what has no part of its own (code, formulas) stays as it is."""
    lines = text.replace("\r\n", "\n").split("\n")
    place = 0
    while place < len(lines):
        line = lines[place]
        if not line.strip():
            place += 1
            continue
        part, place = _read_block(lines, place)
        yield part


def _read_block(lines: list[str], place: int) -> tuple[Part, int]:
    line = lines[place]
    if fence := _FENCE.match(line):
        return _read_fenced(lines, place, fence[1])
    if heading := _HEADING.fullmatch(line):
        return Heading(read_emphasis(heading[2])), place + 1
    if bullet := _BULLET.fullmatch(line):
        end = _end_of_paragraph(lines, place + 1)
        marker = "•" if bullet["marker"] in {"-", "*", "+"} else bullet["marker"]
        indent = " " * len(bullet["indent"])
        return Item(f"{indent}{marker}", (_join(bullet["text"], lines[place + 1 : end]),)), end
    if _QUOTE.fullmatch(line):
        end = place
        quoted = []
        while end < len(lines) and (found := _QUOTE.fullmatch(lines[end])):
            quoted.append(found[1])
            end += 1
        return Paragraph(read_emphasis(" ".join(quoted)), indent=4), end
    if _KEPT_AS_IS.match(line):
        end = place + 1
        while end < len(lines) and lines[end].strip():
            end += 1
        return _read_table(lines[place:end]) or Verbatim("\n".join(lines[place:end])), end
    end = _end_of_paragraph(lines, place + 1)
    return _join(line, lines[place + 1 : end]), end


def _read_fenced(lines: list[str], place: int, fence: str) -> tuple[Part, int]:
    end = place + 1
    while end < len(lines) and not lines[end].lstrip().startswith(fence):
        end += 1
    return Verbatim("\n".join(lines[place + 1 : end])), min(end + 1, len(lines))


def _read_table(lines: list[str]) -> Table | None:
    """A table with a line below its column names; None for what is none, or is not regular."""
    if len(lines) < _LEAST_TABLE_LINES or not _RULE.fullmatch(lines[1]):
        return None
    rows = [_cells(line) for line in lines]
    del rows[1]
    if len({len(row) for row in rows}) != 1:
        return None
    return Table([plain_text(name) for name in rows[0]], rows[1:])


def _cells(line: str) -> list[Inline]:
    inner = line.strip().removeprefix("|").removesuffix("|")
    return [read_emphasis(cell.strip().replace("\\|", "|")) for cell in _CELL_END.split(inner)]


def _end_of_paragraph(lines: list[str], place: int) -> int:
    while place < len(lines) and lines[place].strip() and not _starts_block(lines[place]):
        place += 1
    return place


def _starts_block(line: str) -> bool:
    patterns = (_HEADING, _BULLET, _QUOTE)
    return any(pattern.fullmatch(line) for pattern in patterns) or bool(_FENCE.match(line))


def _join(first: str, others: list[str]) -> Paragraph:
    """A paragraph of several lines as one; a line that ends in two spaces keeps its end."""
    text = first
    for line in others:
        text = f"{text.rstrip()}{chr(10) if text.endswith('  ') else ' '}{line.strip()}"
    return Paragraph(read_emphasis(text.rstrip()))


def read_emphasis(text: str) -> Inline:
    """A text whose `**strong**` words and `code` stand without marks; the rest as it is."""
    pieces: list[str | Span] = []
    place = 0
    for found in _EMPHASIS.finditer(text):
        pieces += [text[place : found.start()]] if found.start() > place else []
        pieces.append(Span(found["strong"], "strong") if found["strong"] else found["code"])
        place = found.end()
    if not pieces:
        return text
    return (*pieces, text[place:]) if place < len(text) else tuple(pieces)

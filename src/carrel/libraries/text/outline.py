"""The structure of a Markdown or page-marked text: headings, pages, paragraphs, tables, code."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

BlockKind = Literal["text", "table", "code"]

_LINE_END = re.compile(r"\r\n|[\r\n\f]")
_HEADING = re.compile(r" {0,3}(#{1,6})(?:[ \t]+(\S.*))?$")
_UNDERLINE = re.compile(r" {0,3}(?:(=+)|-{3,})[ \t]*$")
_NOT_UNDERLINED = re.compile(r" {0,3}(?:[-*+>|#]|\d{1,9}[.)][ \t])")
_FENCE = re.compile(r" {0,3}(`{3,}|~{3,})(.*)$")
_TABLE_ROW = re.compile(r" {0,3}\|")
# As the PDF reader marks pages (libraries/pdf_layout/markdown_writer.py), and common converters do.
_PAGE_MARK = re.compile(
    r"[ \t]*<!--[ \t]*page(?:number)?[ \t]*[:=]?[ \t]*\"?(\d{1,6})\"?[ \t]*-->[ \t]*$",
    re.IGNORECASE,
)
_INLINE_MARKS = re.compile(r"[*_`]+|!?\[([^\[\]]*+)\]\([^()]*+\)")
_LONGEST_HEADING = 300
# A text with so many marked headings has marked them all.
_FEWEST_MARKED_HEADINGS = 4
# Headings of a text whose only structure is its pages, as PDF text layers give them.
_NUMBER_BEFORE = re.compile(r"[ \t]*(?:\d{1,2}(?:\.\d{1,2}){0,3}\.?|[IVX]{1,5}\.)[ \t]+")
_KNOWN_HEADINGS = frozenset(
    name.strip()
    for name in """
    abstract; summary; introduction; general introduction; background; related work; related works;
    materials and methods; material and methods; patients and methods; subjects and methods;
    data and methods; methods; method; methods and materials; methodology; experimental;
    experimental procedures; experimental section; experimental setup; experiments; evaluation;
    results; result; results and discussion; discussion; general discussion; conclusion;
    conclusions; conclusion and future work; conclusions and future work; conclusions and outlook;
    concluding remarks; limitations; future work; acknowledgments; acknowledgements;
    acknowledgment; acknowledgement; author contributions; data availability; code availability;
    data availability statement; appendix; appendices; appendix a; appendix b; appendix c;
    supplementary material; supplementary materials; supplementary information; references;
    references cited; bibliography; works cited; literature; literature cited; einleitung;
    methoden; ergebnisse; diskussion; zusammenfassung; literatur; literaturverzeichnis; références;
    résumé; méthodes; résultats; bibliografía; referencias; resumen; introducción; resultados;
    métodos; discusión; conclusiones; 参考文献; 摘要; 引言; 结论; 方法; 结果; 讨论; 緒言; 結論; 考察
    """.replace("\n", " ").split(";")
)
_NUMBERED_HEADING = re.compile(r"[ \t]*(\d{1,2}(?:\.\d{1,2}){0,3})\.?[ \t]+([^\W\d_][^\n]{1,78})$")
_PRINTED_NUMBER = re.compile(r"(?:\u00a7\s*)?(\d{1,2}(?:\.\d{1,2}){0,5})[.):]?\s+(?=\S)")
# One heading alone may begin with a number for another reason ("3 mice").
_FEWEST_PRINTED_NUMBERS = 2
_SENTENCE_SIGN = re.compile(r"[.!?;,]$|[.;] |\d{2}.*\d{2}|[=|]")


@dataclass(frozen=True, slots=True)
class Block:
    """A paragraph, a table or a fenced code block, from its first to its last visible character."""

    start: int
    end: int
    kind: BlockKind


@dataclass(frozen=True, slots=True)
class HeadingLine:
    """A heading; `is_in_text` where it was only guessed, and its line is part of a paragraph."""

    start: int
    end: int
    level: int
    title: str
    is_in_text: bool = False


@dataclass(frozen=True, slots=True)
class PageMark:
    """The beginning of a page."""

    start: int
    end: int
    page: int


@dataclass(frozen=True, slots=True)
class Section:
    """A heading with its stretch of the text, sections below it included."""

    number: str
    level: int
    title: str
    start: int
    end: int
    page: int | None


Part = Block | HeadingLine | PageMark


def outline(text: str) -> list[Section]:
    """The sections in order, numbered `2.1`; a title that stands above everything is left out."""
    parts = read_parts(text)
    title = document_title(parts)
    page: int | None = None
    opened: list[tuple[HeadingLine, str, int | None]] = []
    found: list[Section] = []
    counts: list[int] = []
    levels: list[int] = []
    for part in parts:
        if isinstance(part, PageMark):
            page = part.page
        elif isinstance(part, HeadingLine) and part is not title:
            while levels and levels[-1] >= part.level:
                levels.pop()
            levels.append(part.level)
            del counts[len(levels) :]
            counts.extend([0] * (len(levels) - len(counts)))
            counts[-1] += 1
            opened.append((part, ".".join(map(str, counts)), page))
    ends = _section_ends([heading for heading, _, _ in opened], len(text))
    for (heading, number, on_page), end in zip(opened, ends, strict=True):
        found.append(Section(number, heading.level, heading.title, heading.start, end, on_page))
    return found


def printed_number(title: str) -> str | None:
    """The number that a heading itself begins with."""
    found = _PRINTED_NUMBER.match(title)
    return found[1] if found else None


def section_numbers(sections: list[Section]) -> list[str]:
    """The number that a reader knows each section by; empty where it has none.

    Where headings carry printed numbers these count, and one without is counted below the printed
    number above it; in all other texts it is the place in the outline.
    """
    printed = [printed_number(section.title) for section in sections]
    if sum(number is not None for number in printed) < _FEWEST_PRINTED_NUMBERS:
        return [section.number for section in sections]
    known = {section.number: own for section, own in zip(sections, printed, strict=True)}
    taken = set(printed)
    found: list[str] = []
    for section, own in zip(sections, printed, strict=True):
        above, _, last = section.number.rpartition(".")
        counted = f"{known[above]}.{last}" if known.get(above) else None
        if own is None and counted not in taken:
            known[section.number] = counted
        found.append(known[section.number] or "")
    return found


def number_heading(section: Section, number: str) -> str:
    """The heading with its number, once."""
    if not number or printed_number(section.title) == number:
        return section.title
    return f"{number} {section.title}"


def _section_ends(headings: list[HeadingLine], end: int) -> list[int]:
    """Where each section ends: at the next heading of its level or above."""
    ends = [end] * len(headings)
    waiting: list[int] = []
    for at, heading in enumerate(headings):
        while waiting and headings[waiting[-1]].level >= heading.level:
            ends[waiting.pop()] = heading.start
        waiting.append(at)
    return ends


def document_title(parts: list[Part]) -> HeadingLine | None:
    """The first heading, where it is the only one of the first level."""
    headings = [part for part in parts if isinstance(part, HeadingLine)]
    if headings and headings[0].level == 1 and all(each.level > 1 for each in headings[1:]):
        return headings[0]
    return None


def read_parts(text: str) -> list[Part]:
    """Headings, page marks and blocks in order; every visible character outside marks is in one."""
    return list(_PartReader(text).read())


class _PartReader:
    """One pass over the lines of a text."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._lines = list(_split_lines(text))
        self._closable = _closable_fences(text, self._lines)
        has_pages = "\f" in text or any(
            _PAGE_MARK.match(text, start, end) for start, end in self._lines if end - start < 60
        )
        # Where headings are marked, a numbered line is an item of a list.
        marked = sum(text.startswith("#", start) for start, _ in self._lines)
        self._may_guess = has_pages and marked < _FEWEST_MARKED_HEADINGS
        self._page = 1
        self._section_number: tuple[int, ...] = (0,)
        self._begin = self._finish = -1
        self._line_count = 0
        self._kind: BlockKind = "text"
        self._fence = ""

    def read(self) -> Iterator[Part]:
        if "\f" in self._text:
            yield PageMark(0, 0, 1)
        for at, (start, end) in enumerate(self._lines):
            yield from self._read_line(at, start, end)
            if end < len(self._text) and self._text[end] == "\f" and not self._fence:
                yield from self._close()
                self._page += 1
                yield PageMark(end, end + 1, self._page)
        yield from self._close()

    def _read_line(self, at: int, start: int, end: int) -> Iterator[Part]:
        text = self._text
        if self._fence:
            self._extend(start, end)
            if _closes(text[start:end], self._fence):
                self._fence = ""
                yield from self._close()
            return
        if not text[start:end].strip():
            yield from self._close()
        elif at in self._closable:
            yield from self._close()
            self._fence = self._closable[at]
            self._kind = "code"
            self._extend(start, end)
        elif (mark := self._mark(start, end)) is not None:
            if isinstance(mark, HeadingLine) and mark.start < start:
                self._begin = -1
            yield from self._close()
            yield mark
            if isinstance(mark, HeadingLine) and mark.is_in_text:
                self._extend(start, end)
        else:
            kind: BlockKind = "table" if _TABLE_ROW.match(text, start, end) else "text"
            if kind != self._kind:
                yield from self._close()
                self._kind = kind
            self._extend(start, end)

    def _mark(self, start: int, end: int) -> Part | None:
        """The heading or page mark on a line, if it is one."""
        if end - start > _LONGEST_HEADING:
            return None
        line = self._text[start:end]
        if found := _HEADING.match(line):
            return HeadingLine(start, end, len(found[1]), _heading_title(found[2] or ""))
        if page := _PAGE_MARK.match(line):
            self._page = int(page[1])
            return PageMark(start, end, self._page)
        if (
            self._line_count == 1
            and self._kind == "text"
            and (found := _UNDERLINE.match(line))
            and self._finish - self._begin <= _LONGEST_HEADING
            and not _NOT_UNDERLINED.match(self._text, self._begin)
        ):
            title = _heading_title(self._text[self._begin : self._finish])
            return HeadingLine(self._begin, end, 1 if found[1] else 2, title)
        return self._guessed_heading(start, end, line) if self._may_guess else None

    def _guessed_heading(self, start: int, end: int, line: str) -> HeadingLine | None:
        """A well-known heading, or one whose number follows the last one's."""
        numbered = _NUMBERED_HEADING.match(line)
        number = tuple(map(int, numbered[1].split("."))) if numbered else ()
        is_next = bool(number) and number in _numbers_after(self._section_number)
        if numbered and is_next and not _SENTENCE_SIGN.search(numbered[2].rstrip()):
            self._section_number = number
        elif _NUMBER_BEFORE.sub("", line, count=1).strip(" \t:").casefold() not in _KNOWN_HEADINGS:
            return None
        elif number:
            self._section_number = number
        return HeadingLine(
            start, end, 1 + max(1, len(number)), " ".join(line.split()), is_in_text=True
        )

    def _extend(self, start: int, end: int) -> None:
        if self._begin < 0:
            self._begin = start
            self._line_count = 0
        self._line_count += 1
        self._finish = end

    def _close(self) -> Iterator[Block]:
        if self._begin >= 0:
            start, end = trim(self._text, self._begin, self._finish)
            if start < end:
                yield Block(start, end, self._kind)
        self._begin = -1
        self._line_count = 0
        self._kind = "text"


def trim(text: str, start: int, end: int) -> tuple[int, int]:
    """A stretch without the white space at its ends."""
    stretch = text[start:end]
    return start + len(stretch) - len(stretch.lstrip()), end - len(stretch) + len(stretch.rstrip())


def _split_lines(text: str) -> Iterator[tuple[int, int]]:
    at = 0
    for found in _LINE_END.finditer(text):
        yield at, found.start()
        at = found.end()
    yield at, len(text)


def _closable_fences(text: str, lines: list[tuple[int, int]]) -> dict[int, str]:
    """The lines that could open a code block, because a line below closes it, with their fence."""
    found: dict[int, str] = {}
    longest = {"`": 0, "~": 0}
    for at in range(len(lines) - 1, -1, -1):
        start, end = lines[at]
        fence = _FENCE.match(text, start, end)
        if fence is None:
            continue
        marks, behind = fence[1], fence[2]
        if longest[marks[0]] >= len(marks) and not (marks[0] == "`" and "`" in behind):
            found[at] = marks
        if not behind.strip():
            longest[marks[0]] = max(longest[marks[0]], len(marks))
    return found


def _closes(line: str, fence: str) -> bool:
    found = _FENCE.match(line)
    return found is not None and found[1].startswith(fence) and not found[2].strip()


def _heading_title(written: str) -> str:
    kept = written.rstrip(" \t").rstrip("#").rstrip(" \t") or written[:1]
    bare = _INLINE_MARKS.sub(lambda piece: piece[1] or "", kept)
    return " ".join((bare if bare.strip() else kept).split())


def _numbers_after(number: tuple[int, ...]) -> set[tuple[int, ...]]:
    """The section numbers that may follow one: its first child, its next, its parents' next."""
    following = {(*number[:depth], number[depth] + 1) for depth in range(len(number))}
    return following | {(*number, 1)}

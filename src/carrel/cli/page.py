"""Pages of the command line: parts that say what is shown, drawn by `carrel.cli.output`."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

Style = Literal["strong", "dim", "mark", "good", "bad", "doubt"]


@dataclass(frozen=True, slots=True)
class Span:
    """A piece of a line in a style, which only a terminal shows."""

    text: str
    style: Style


Inline = str | Sequence[str | Span]
"""Text of one line: a string, or pieces of which some have a style."""


@dataclass(frozen=True, slots=True)
class Heading:
    """A heading in bold; a blank line stands before it."""

    text: Inline


@dataclass(frozen=True, slots=True)
class Line:
    """One line of our own words; lines follow each other without a blank line."""

    text: Inline
    indent: int = 0


@dataclass(frozen=True, slots=True)
class Paragraph:
    """Running text, wrapped on a terminal; its own line ends are kept."""

    text: Inline
    indent: int = 0


@dataclass(frozen=True, slots=True)
class Fields:
    """Labels and their values; pairs without a value are left out."""

    rows: Sequence[tuple[str, Inline]]
    indent: int = 0


@dataclass(frozen=True, slots=True)
class Column:
    """A column of a table: numbers stand right, and what is `whole` (an id) is never broken.

    A column of pictures, such as bars, is `drawn_only`: where it does not fit it is left out.
    """

    name: str
    align: Literal["left", "right"] = "left"
    whole: bool = False
    drawn_only: bool = False


@dataclass(frozen=True, slots=True)
class Table:
    """Rows below column names; in a pipe rows alone, their cells separated by tabs."""

    columns: Sequence[str | Column]
    rows: Sequence[Sequence[Inline]]


@dataclass(frozen=True, slots=True)
class Verbatim:
    """Text to paste or to read back: never wrapped, never coloured."""

    text: str


@dataclass(frozen=True, slots=True)
class Markdown:
    """Markdown, readable on a terminal; a pipe gets it as it is."""

    text: str


@dataclass(frozen=True, slots=True)
class Note:
    """A remark beside the answer, dim on a terminal; in a pipe it goes to standard error."""

    text: Inline


@dataclass(frozen=True, slots=True)
class Item:
    """One entry of a list: a marker such as `3.` and, beside it, its parts."""

    marker: str
    parts: Sequence[Part]


Part = Heading | Line | Paragraph | Fields | Table | Verbatim | Markdown | Note | Item


@dataclass(frozen=True, slots=True)
class Page:
    """What a command shows of an answer.

    `next_step` goes to standard error after it: None for the operation's own, empty for none.
    """

    parts: Sequence[Part]
    next_step: str | None = None


@dataclass(frozen=True, slots=True)
class PageOfQuestion:
    """Makes a page of an answer and of the arguments that were given for it."""

    draw: Callable[[Any, Mapping[str, Any]], Page | str]


MakePage = Callable[[Any], Page | str] | PageOfQuestion


def make_page(make: MakePage, answer: Any, arguments: Mapping[str, Any]) -> Page | str:
    """The page of an answer."""
    return make.draw(answer, arguments) if isinstance(make, PageOfQuestion) else make(answer)


def strong(text: str) -> Span:
    return Span(text, "strong")


def dim(text: str) -> Span:
    return Span(text, "dim")


def plain_text(inline: Inline) -> str:
    """The characters alone."""
    if isinstance(inline, str):
        return inline
    return "".join(piece if isinstance(piece, str) else piece.text for piece in inline)


def join_inline(pieces: Sequence[Inline], separator: str = " · ") -> Inline:
    """The pieces that are not empty, with a separator between them."""
    joined: list[str | Span] = []
    for piece in pieces:
        if not plain_text(piece):
            continue
        if joined:
            joined.append(separator)
        joined.extend([piece] if isinstance(piece, str) else piece)
    return tuple(joined)


def mark_matches(markdown: str) -> Inline:
    """A snippet whose matched words stand between double asterisks, as spans without them."""
    pieces = [_ESCAPED.sub(r"\1", piece) for piece in _MARKS.split(markdown)]
    if len(pieces) % 2 == 0:
        return markdown
    return tuple(
        piece if number % 2 == 0 else Span(piece, "mark")
        for number, piece in enumerate(pieces)
        if piece
    )


# Asterisks that are no mark are written with a backslash before them.
_MARKS = re.compile(r"(?<!\\)\*\*")
_ESCAPED = re.compile(r"\\([\\`*_{}\[\]<>()#+\-.!|~])")


def column_of(column: str | Column) -> Column:
    return Column(column) if isinstance(column, str) else column


def is_apart(before: Part, after: Part) -> bool:
    """Whether a blank line stands between two parts."""
    match before, after:
        case Heading(), _:
            return isinstance(after, Heading)
        case (Line() | Note(), Line() | Note()):
            return False
        case Item(), Item():
            return len(before.parts) > 1 or len(after.parts) > 1
        case _:
            return True

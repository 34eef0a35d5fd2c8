"""What commands print: pages, text of others that a terminal must not obey, and the next step."""

from __future__ import annotations

import os
import re
import shlex
import shutil
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TextIO

from carrel.cli.page import Page, Table
from carrel.cli.page_text import list_notes, write_page_text
from carrel.libraries.text.control_characters import escape_controls
from carrel.libraries.text.surrogates import whole_text

_NARROWEST_TERMINAL = 20


def show(
    text: object = "", *, file: TextIO | None = None, end: str = "\n", flush: bool = False
) -> None:
    """Print; escapes control characters on a terminal, a pipe gets every byte."""
    stream = sys.stdout if file is None else file
    shown = str(text)
    if stream.isatty():
        shown = escape_controls(shown.replace("\r\n", "\n"))
    print(shown, file=stream, end=end, flush=flush)


def show_page(page: Page | str, *, file: TextIO | None = None) -> None:
    """Print a page: drawn on a terminal, as plain text elsewhere; its notes are never piped."""
    stream = sys.stdout if file is None else file
    if isinstance(page, str):
        show(whole_text(page), file=stream, end="" if page.endswith("\n") else "\n")
        return
    if not page.parts:
        return
    if is_drawn(stream):
        # Only here: rich takes longer to import than most commands take to run.
        from carrel.cli.page_drawing import draw_page

        draw_page(page, stream, terminal_width(stream), has_colour=has_colour(stream))
        return
    text = whole_text(write_page_text(page))
    if text:
        show(text, file=stream)
    for note in list_notes(page.parts):
        show(whole_text(note), file=sys.stderr)


def is_drawn(stream: TextIO) -> bool:
    """Whether pages are drawn on it: on a terminal, and where colour is forced elsewhere."""
    return stream.isatty() or has_colour(stream)


def has_colour(stream: TextIO, environment: Mapping[str, str] = os.environ) -> bool:
    """Whether it shows colours: NO_COLOR forbids, FORCE_COLOR and CLICOLOR_FORCE demand."""
    if environment.get("NO_COLOR"):
        return False
    if any(environment.get(name, "0") not in {"", "0"} for name in _FORCING):
        return True
    if environment.get("CLICOLOR") == "0" or environment.get("TERM") in {"dumb", "unknown"}:
        return False
    return stream.isatty()


_FORCING = ("FORCE_COLOR", "CLICOLOR_FORCE")


def terminal_width(stream: TextIO) -> int:
    """The columns of the terminal, or as COLUMNS says."""
    columns = os.environ.get("COLUMNS", "")
    if columns.isdecimal() and int(columns) > 0:
        return max(_NARROWEST_TERMINAL, int(columns))
    try:
        measured = os.get_terminal_size(stream.fileno()).columns
    except (OSError, ValueError, AttributeError):
        measured = 0
    return max(_NARROWEST_TERMINAL, measured or shutil.get_terminal_size().columns)


def show_table(
    columns: Sequence[str],
    rows: Iterable[Sequence[str]],
    format_line: Callable[[Sequence[str]], str] | None = None,
) -> None:
    """A table on a terminal; elsewhere one line per row, separated by tabs by default."""
    if format_line is not None and not is_drawn(sys.stdout):
        for row in rows:
            print(format_line(row))
        return
    show_page(Page((Table(columns, tuple(rows)),)))


def say_next_step(text: str, **names: str) -> None:
    """Print the next step on standard error, with the known names as words of a shell."""
    for placeholder, value in names.items():
        parts = re.split(rf"(?<!\w){re.escape(placeholder)}(?!\w)", text)
        text = shlex.quote(value).join(parts)
    show(f"Next: {text}", file=sys.stderr)

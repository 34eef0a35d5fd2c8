"""What commands print: text of others that a terminal must not obey, tables, and the next step."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Sequence
from typing import TextIO

from carrel.libraries.text.control_characters import escape_controls


def show(
    text: object = "", *, file: TextIO | None = None, end: str = "\n", flush: bool = False
) -> None:
    """Print; escapes control characters on a terminal, a pipe gets every byte."""
    stream = sys.stdout if file is None else file
    shown = str(text)
    if stream.isatty():
        shown = escape_controls(shown.replace("\r\n", "\n"))
    print(shown, file=stream, end=end, flush=flush)


def show_table(
    columns: Sequence[str],
    rows: Iterable[Sequence[str]],
    format_line: Callable[[Sequence[str]], str] = "\t".join,
) -> None:
    """A table on a terminal; elsewhere one line per row, separated by tabs by default."""
    if not sys.stdout.isatty():
        for row in rows:
            print(format_line(row))
        return
    # Only here: a command that prints no table starts without it.
    from rich import box
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, header_style="bold")
    for column in columns:
        table.add_column(column, overflow="fold")
    for row in rows:
        # Text, not str: what others wrote may hold rich's markup, which must stay text.
        table.add_row(*(Text(escape_controls(cell)) for cell in row))
    Console(highlight=False).print(table)


def say_next_step(text: str, **names: str) -> None:
    """Print the next step on standard error, with the known names filled in."""
    for placeholder, value in names.items():
        text = text.replace(placeholder, value)
    print(f"Next: {text}", file=sys.stderr)

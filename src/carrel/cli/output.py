"""What commands print: text of others that a terminal must not obey, tables, and the next step."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Sequence
from typing import TextIO

from carrel.libraries.text.control_characters import escape_controls


def show(
    text: object = "", *, file: TextIO | None = None, end: str = "\n", flush: bool = False
) -> None:
    """Like print; on a terminal control characters are shown by number, a pipe gets every byte."""
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
    """A table on a terminal; elsewhere a line for each row, with tabs unless told otherwise."""
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


_NEXT: dict[str, str] = {
    "papers build": 'carrel papers search "WORDS" asks it, carrel connect CLIENT --write gives it '
    "to an assistant, carrel serve serves it.",
    "papers index": 'carrel papers search "WORDS" uses it.',
    "papers add": "carrel papers show PAPER_ID shows it.",
    "papers search": "carrel papers show PAPER_ID says more of one, carrel papers source PAPER_ID "
    "reads it.",
    "papers keyword": "carrel papers show PAPER_ID says more of one.",
    "references add": "carrel references cite ID --style vancouver cites one, carrel references "
    "export writes a bibliography.",
    "references search": "carrel references cite ID cites one.",
    "references attach": "carrel references fulltext ID reads it back.",
    "knowledge import": 'carrel knowledge search "WORDS" finds them; run it again to bring in '
    "what changed; "
    "--source team imports for everybody.",
    "knowledge import-nodes": 'carrel knowledge nodes "NAME" shows one.',
    "knowledge save": "carrel knowledge propose ID offers it to the team, carrel knowledge "
    "promote ID shares it.",
    "knowledge propose": "carrel knowledge promote ID shares it with the team.",
    "research start": "carrel research watch RESEARCH_ID goes on with it and shows it (a running "
    "server goes on by itself).",
    "research results": "carrel research export RESEARCH_ID writes a report.",
    "users add": "carrel tokens create NAME --scopes … makes a token for a script; people log in "
    "when their client sends them.",
    "tokens create": "Send it as the header Authorization: Bearer TOKEN.",
    "backup": "carrel restore FILE puts it in place, here or on another machine.",
    "restore": "carrel doctor{HOME} says what is on the desk now.",
}


def say_next_step(command: str, **names: str) -> None:
    """Prints what comes after `command` on standard error, with the known names filled in."""
    text = _NEXT.get(command)
    if text is None:
        return
    for placeholder, value in names.items():
        text = text.replace(placeholder, value)
    print(f"Next: {text}", file=sys.stderr)

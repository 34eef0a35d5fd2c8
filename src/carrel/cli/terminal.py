"""Prints what others wrote: on a terminal nothing of it is a command."""

from __future__ import annotations

import sys
from typing import TextIO

from carrel.libraries.text.control_characters import escape_controls


def show(
    text: object = "", *, file: TextIO | None = None, end: str = "\n", flush: bool = False
) -> None:
    """Like print. On a terminal control characters are shown by their numbers; into a file or a
    pipe goes every byte.
    """
    stream = sys.stdout if file is None else file
    shown = str(text)
    if stream.isatty():
        shown = escape_controls(shown.replace("\r\n", "\n"))
    print(shown, file=stream, end=end, flush=flush)

"""`carrel papers figure PAPER LABEL`, `carrel papers page PAPER PAGE`: `--to` writes the image."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from carrel.cli import rooms
from carrel.cli.options import usual_file_modes
from carrel.cli.output import show
from carrel.core.answer import Binary, Blocks, Embedded, Text

_FAILED = 1


def run(words: list[str]) -> int:
    """With `--to FILE` the image, else the table, is written into a new file."""
    asked = rooms.ask_operation("papers", words, _add_options)
    target: Path | None = asked.options.to
    if target is None:
        return rooms.show_answer(asked)
    answer = asked.answer
    assert isinstance(answer, Blocks)
    content = _content(answer)
    if content is None:
        show(_text(answer))
        print("carrel: there is no image or table to write", file=sys.stderr)
        return _FAILED
    try:
        with usual_file_modes(), target.open("xb") as file:
            file.write(content)
    except FileExistsError:
        print(f"carrel: {target} is there already; name another file", file=sys.stderr)
        return _FAILED
    except OSError as error:
        reason = error.strerror or error
        print(f"carrel: {target} cannot be written: {reason}", file=sys.stderr)
        return _FAILED
    show(_text(answer))
    print(f"carrel: {len(content):,} bytes written to {target}", file=sys.stderr)
    return 0


def _add_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--to", type=Path, metavar="FILE", help="write the image, else the table, to a new file"
    )


def _content(answer: Blocks) -> bytes | None:
    """The image, else the table; None where there is the caption alone."""
    for part in answer.parts:
        body = part.content if isinstance(part, Embedded) else part
        if isinstance(body, Binary):
            return body.body
    text = _text(answer)
    has_table = any(line.startswith("|") for line in text.splitlines())
    return f"{text}\n".encode() if has_table else None


def _text(answer: Blocks) -> str:
    return "\n".join(part.body for part in answer.parts if isinstance(part, Text))

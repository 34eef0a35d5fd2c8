"""Commands in a Markdown page, in the order in which a reader types them, and what the page says
that each needs.

Commands stand in blocks marked `sh`, in the rows of a table whose last column is `needs`, and in
running text. One that cannot be
typed on a fresh machine says so in the page: `# needs network` in a block, `(needs network)` after
it in the text, and the cell
`needs network` in a table. Words in capitals (`PAPER_ID`) make a command a description of how to
type it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

PROGRAMS = {
    "carrel",
    "claude",
    "curl",
    "docker",
    "fastmcp",
    "make",
    "npx",
    "pip",
    "pipx",
    "python3",
    "uv",
}
_SPAN = re.compile(r"`([^`]+)`(?:\s*\((needs [^)]*)\))?")
_ASSIGNMENTS = re.compile(r"^(?:[A-Z_]+=(?:\$\([^)]*\)|\S*)\s*)+")
_PLACEHOLDER = re.compile(r"(?<![\w$=-])[A-Z][A-Z_]+(?![\w=])|…")
_NEEDS = re.compile(r"\s+#\s+(needs .+)$")

Place = Literal["block", "table", "text"]
Kind = Literal["shell", "python", "description"]


@dataclass(frozen=True, slots=True)
class Written:
    """A command as a page has it."""

    text: str
    place: Place
    kind: Kind = "shell"
    needs: str | None = None


class UnclearPageError(Exception):
    """The page holds something of which a reader could not say whether it can be typed."""


def commands(page: str) -> list[Written]:
    """Every command of a page; one in running text only where no block or table has it."""
    found = list(_walk(page.splitlines()))
    shown = {each.text for each in found if each.place != "text"}
    kept: list[Written] = []
    for each in found:
        if each.place == "text" and (each.text in shown or each in kept):
            continue
        kept.append(each)
    return kept


def _walk(lines: list[str]) -> Iterator[Written]:
    paragraph: list[str] = []
    header: list[str] | None = None
    number = 0
    while number < len(lines):
        line = lines[number]
        number += 1
        if line.startswith("```"):
            end = lines.index("```", number)
            yield from _block(line[3:].strip(), lines[number:end])
            number = end + 1
        elif line.startswith("|"):
            cells = [cell.strip() for cell in line.strip("|").split("|")]
            if header is None:
                header = cells
            elif not set(line) <= set("|-: "):
                yield from _row(header, cells)
            continue
        elif line.startswith("    ") and not paragraph:
            raise UnclearPageError(
                f"mark blocks with ```sh, ```python or another language: {line.strip()}"
            )
        elif line.strip():
            paragraph.append(line)
            continue
        header = None
        yield from _text(" ".join(paragraph))
        paragraph = []
    yield from _text(" ".join(paragraph))


def _block(language: str, lines: list[str]) -> Iterator[Written]:
    if language == "python":
        yield Written("\n".join(lines), "block", "python")
    if language != "sh":
        return
    for line in filter(str.strip, lines):
        needs = _NEEDS.search(line)
        yield Written(_NEEDS.sub("", line).strip(), "block", "shell", needs[1] if needs else None)


def _row(header: list[str], cells: list[str]) -> Iterator[Written]:
    for span, marked in _SPAN.findall(" ".join(cells)):
        if not is_command(span):
            continue
        if header[-1] != "needs":
            raise UnclearPageError(f"a table with commands has `needs` as its last column: {span}")
        if not cells[-1].startswith(("nothing", "needs ")):
            raise UnclearPageError(
                f"a cell of `needs` begins with nothing, or with needs: {cells[-1]}"
            )
        cell = cells[-1] if cells[-1].startswith("needs ") else None
        yield Written(span, "table", kind_of(span), marked or cell)


def _text(paragraph: str) -> Iterator[Written]:
    for span, needs in _SPAN.findall(paragraph):
        if is_command(span):
            yield Written(span, "text", kind_of(span), needs or None)


def is_command(span: str) -> bool:
    """A program with at least one word after it: the name alone is a name."""
    assigned = _ASSIGNMENTS.match(span)
    words = _ASSIGNMENTS.sub("", span).split()
    return bool(assigned and "$(" in assigned[0]) or (len(words) > 1 and words[0] in PROGRAMS)


def kind_of(span: str) -> Kind:
    plain = re.sub(r"\$\w+|'[^']*'|\"[^\"]*\"", "", _ASSIGNMENTS.sub("", span))
    return "description" if _PLACEHOLDER.search(plain) else "shell"

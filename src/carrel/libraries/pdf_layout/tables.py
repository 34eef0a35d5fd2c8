"""Tables of printed rows as Markdown, where columns can be told from the gaps between cells."""

from __future__ import annotations

from collections.abc import Sequence

from carrel.libraries.pdf_layout.blocks import row_cells
from carrel.libraries.pdf_layout.rows import Row

_MOST_COLUMNS = 30
_MOST_ROWS = 400
# Columns are told where this share of the rows has each cell in one column of its own.
_CLEAR_ROWS = 0.7
_GAP = 2.0


def make_table(rows: Sequence[Row]) -> str | None:
    """The rows as a Markdown table; None where its columns cannot be told."""
    cells = [row_cells(row) for row in rows[:_MOST_ROWS]]
    full = [each for each in cells if len(each) > 1]
    if len(full) < 2 or len(rows) > _MOST_ROWS:
        return None
    columns = _find_columns(full)
    if not 2 <= len(columns) <= _MOST_COLUMNS:
        return None
    placed = [_place(each, columns) for each in cells]
    clear = [each for each in placed if each is not None]
    if len(clear) < max(2, _CLEAR_ROWS * len(placed)):
        return None
    table = [
        each
        if each is not None
        else [" ".join(text for _, _, text in own)] + [""] * (len(columns) - 1)
        for each, own in zip(placed, cells, strict=True)
    ]
    return _write(_join_wrapped(table))


def _find_columns(rows: Sequence[Sequence[tuple[float, float, str]]]) -> list[tuple[float, float]]:
    """The stretches of x that cells cover in rows with most cells, apart from one another."""
    most = max(len(row) for row in rows)
    wide = [row for row in rows if len(row) >= max(2, most - 1)]
    stretches = sorted((left, right) for row in wide for left, right, _ in row)
    columns: list[tuple[float, float]] = []
    for left, right in stretches:
        if columns and left < columns[-1][1] + _GAP:
            columns[-1] = (columns[-1][0], max(columns[-1][1], right))
        else:
            columns.append((left, right))
    return columns


def _place(
    cells: Sequence[tuple[float, float, str]], columns: Sequence[tuple[float, float]]
) -> list[str] | None:
    """One text for each column; None where a cell lies in several, or two in one."""
    placed = [""] * len(columns)
    for left, right, text in cells:
        touched = [
            at
            for at, (begin, end) in enumerate(columns)
            if left < end + _GAP and right > begin - _GAP
        ]
        if len(touched) != 1 or placed[touched[0]]:
            return None
        placed[touched[0]] = text
    return placed


def _join_wrapped(table: Sequence[Sequence[str]]) -> list[list[str]]:
    """Rows without a first cell and with one cell alone go on with the row above."""
    joined: list[list[str]] = []
    for row in table:
        filled = [at for at, cell in enumerate(row) if cell]
        if joined and len(filled) == 1 and filled[0] > 0 and joined[-1][filled[0]]:
            joined[-1][filled[0]] += " " + row[filled[0]]
        else:
            joined.append(list(row))
    return joined


def _write(table: Sequence[Sequence[str]]) -> str:
    lines = ["| " + " | ".join(_escape(cell) for cell in row) + " |" for row in table]
    rule = "|" + " --- |" * len(table[0])
    return "\n".join([lines[0], rule, *lines[1:]])


def _escape(cell: str) -> str:
    return " ".join(cell.replace("\\", "\\\\").replace("|", "\\|").split())

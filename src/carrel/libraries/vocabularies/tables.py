"""Tables of terms: tabs, commas or semicolons between columns, synonyms with `|`."""

import csv
from collections.abc import Iterable, Iterator
from itertools import chain, islice

from carrel.libraries.vocabularies.entries import VocabularyEntry, VocabularyFileError

_COLUMNS = {
    "id": ("id", "identifier", "uri", "code", "notation"),
    "label": ("label", "term", "name", "preflabel", "preferred", "preferred label", "concept"),
    "synonyms": ("synonyms", "synonym", "altlabel", "altlabels", "alternatives", "variants"),
    "trees": ("trees", "tree", "tree numbers"),
    "broader": ("broader", "parent", "parents", "is_a"),
}
# Without a heading, by how many columns there are.
_ORDERS = {
    1: ("label",),
    2: ("label", "synonyms"),
    3: ("id", "label", "synonyms"),
    4: ("id", "label", "synonyms", "trees"),
}
_LINES_LOOKED_AT = 20


def read_table(lines: Iterable[str]) -> Iterator[VocabularyEntry]:
    """Rows of id, label, synonyms, tree numbers; of term and synonyms; or as the heading says."""
    supply = (line for line in lines if line.strip() and not line.startswith("#"))
    first = list(islice(supply, _LINES_LOOKED_AT))
    if not first:
        return
    delimiter = next((mark for mark in "\t;," if all(mark in line for line in first)), "\t")
    try:
        rows = csv.reader(
            chain(first, supply),
            delimiter=delimiter,
            quoting=csv.QUOTE_NONE if delimiter == "\t" else csv.QUOTE_MINIMAL,
        )
        yield from _read_rows(rows)
    except csv.Error as error:
        raise VocabularyFileError(f"a row cannot be read ({error})") from error


def _read_rows(rows: Iterator[list[str]]) -> Iterator[VocabularyEntry]:
    head = next(rows)
    columns = _heading(head)
    rest: Iterator[list[str]] = rows
    if columns is None:
        order = _ORDERS[min(max(len(head), 1), 4)]
        columns = {name: place for place, name in enumerate(order)}
        rest = chain([head], rows)
    for row in rest:
        cells = {name: row[place].strip() for name, place in columns.items() if place < len(row)}
        label = cells.get("label", "")
        if label:
            yield VocabularyEntry(
                cells.get("id") or label,
                label,
                _several(cells.get("synonyms", "")),
                _several(cells.get("trees", "")),
                _several(cells.get("broader", "")),
            )


def _heading(cells: list[str]) -> dict[str, int] | None:
    given = [cell.strip().lower() for cell in cells]
    found = {
        column: given.index(name)
        for column, names in _COLUMNS.items()
        for name in names[:1] + names[1:]
        if name in given
    }
    return found if ("label" in found and len(found) == len(given)) or len(found) > 1 else None


def _several(cell: str) -> tuple[str, ...]:
    mark = "|" if "|" in cell else ";" if ";" in cell else "|"
    return tuple(dict.fromkeys(name.strip() for name in cell.split(mark) if name.strip()))

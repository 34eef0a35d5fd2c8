"""Reads named nodes from JSON lines or CSV, and reports every bad line."""

from __future__ import annotations

import csv
import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import orjson

from carrel.rooms.knowledge.notes import BadRow, Node

_NAMES = ("name", "title", "node_name", "label")
_TYPES = ("node_type", "type")
_CONTENTS = ("content", "knowledge", "text")
_MOST_NAME_CHARACTERS = 500
_MOST_CONTENT_CHARACTERS = 200_000
_MOST_FIELD_CHARACTERS = 10_000_000


def read_nodes(file: Path) -> Iterator[Node | BadRow]:
    """The nodes of a file: `.csv` and `.tsv` with a heading, else one JSON object a line."""
    ending = file.suffix.lower()
    if ending in {".csv", ".tsv"}:
        yield from _from_table(file, "\t" if ending == ".tsv" else ",")
    else:
        yield from _from_lines(file)


def _from_lines(file: Path) -> Iterator[Node | BadRow]:
    with file.open("rb") as lines:
        for number, raw in enumerate(lines, 1):
            if not raw.strip():
                continue
            try:
                facts = json.loads(raw.decode("utf-8-sig" if number == 1 else "utf-8"))
            except UnicodeDecodeError:
                yield BadRow(number, "not UTF-8 text")
            except (ValueError, RecursionError) as error:
                yield BadRow(number, f"not JSON: {error}")
            else:
                yield (
                    _node(facts, number)
                    if isinstance(facts, dict)
                    else BadRow(number, "not a JSON object")
                )


def _from_table(file: Path, delimiter: str) -> Iterator[Node | BadRow]:
    csv.field_size_limit(_MOST_FIELD_CHARACTERS)
    with file.open(encoding="utf-8-sig", newline="", errors="replace") as lines:
        rows = csv.DictReader(lines, delimiter=delimiter)
        while True:
            try:
                row = next(rows, None)
            except csv.Error as error:
                yield BadRow(rows.line_num, str(error))
                continue
            if row is None:
                return
            facts: dict[str, Any] = {
                name.strip(): value for name, value in row.items() if name and value
            }
            yield _node(_with_metadata(facts), rows.line_num)


def _with_metadata(facts: dict[str, Any]) -> dict[str, Any]:
    """A table's metadata is JSON in its own column."""
    try:
        known = json.loads(facts.get("metadata", "{}"))
    except (ValueError, RecursionError):
        return facts
    return {**facts, "metadata": known} if isinstance(known, dict) else facts


def _node(facts: Mapping[str, Any], line: int) -> Node | BadRow:
    name = " ".join(_text(facts, _NAMES).split())
    if not name:
        return BadRow(line, "no name")
    if len(name) > _MOST_NAME_CHARACTERS or not name.isprintable():
        return BadRow(line, "a name that is too long or cannot be printed")
    content = _text(facts, _CONTENTS)
    if len(content) > _MOST_CONTENT_CHARACTERS:
        return BadRow(line, f"longer than {_MOST_CONTENT_CHARACTERS} characters")
    known = facts.get("metadata")
    metadata: dict[str, object] = (
        dict(known) if isinstance(known, dict) else {} if known is None else {"metadata": known}
    )
    used = {"metadata", "description", *_NAMES, *_TYPES, *_CONTENTS}
    metadata.update(
        {key: value for key, value in facts.items() if key not in used and value not in (None, "")}
    )
    node = Node(name, _text(facts, _TYPES), _text(facts, ("description",)), content, metadata)
    try:
        is_storable = b"\\u0000" not in orjson.dumps(
            [node.name, node.node_type, node.description, node.content, node.metadata]
        )
    except TypeError as error:
        return BadRow(line, f"cannot be stored: {error}")
    return node if is_storable else BadRow(line, "contains the character U+0000")


def _text(facts: Mapping[str, Any], names: tuple[str, ...]) -> str:
    for name in names:
        value = facts.get(name)
        if (
            isinstance(value, str | int | float)
            and not isinstance(value, bool)
            and str(value).strip()
        ):
            return str(value).replace("\x00", "")
    return ""

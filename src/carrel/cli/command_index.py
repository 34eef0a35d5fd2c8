"""The index of all commands, for help and completion: reading it imports no command.

`python -m carrel.cli.command_index` writes it again from the parsers of the commands and
`command_texts.toml`, as `make docs` does; a test fails when it is out of date.
"""

from __future__ import annotations

import json
import sys
from functools import cache
from pathlib import Path
from typing import Any

from carrel.cli.command_descriptions import ArgumentDescription, CommandDescription

INDEX = Path(__file__).with_name("command_index.json")


@cache
def read_index() -> dict[str, CommandDescription]:
    """Every command by the words that name it, in the order of help."""
    raw: dict[str, Any] = json.loads(INDEX.read_text(encoding="utf-8"))
    return {path: _parse(path, facts) for path, facts in raw.items()}


def find_command(words: list[str]) -> CommandDescription | None:
    """The command that the first words name, the longest such name."""
    index = read_index()
    for count in (2, 1):
        if len(words) >= count and " ".join(words[:count]) in index:
            return index[" ".join(words[:count])]
    return None


def _parse(path: str, facts: dict[str, Any]) -> CommandDescription:
    return CommandDescription(
        path,
        meaning=facts.get("meaning", ""),
        details=facts.get("details", ""),
        examples=tuple(facts.get("examples", ())),
        arguments=tuple(_parse_argument(each) for each in facts.get("arguments", ())),
        common=tuple(facts.get("common", ())),
        commands=facts.get("commands", {}),
    )


def _parse_argument(facts: dict[str, Any]) -> ArgumentDescription:
    lists = {name: tuple(facts.get(name, ())) for name in ("names", "choices")}
    return ArgumentDescription(**{**facts, **lists})


if __name__ == "__main__":
    from carrel.cli.command_index_writer import write_index

    sys.exit(write_index())

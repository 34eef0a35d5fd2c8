"""Change one entry of another program's configuration file and leave every other byte alone."""

from __future__ import annotations

from collections.abc import Mapping
from types import ModuleType
from typing import Any, Protocol, cast

Path = tuple[str, ...]
"""Keys from the top of the file to an entry, such as ("mcpServers", "carrel")."""


class UnreadableTextError(ValueError):
    """The text is not of its format, or holds something else at the place of the entry."""


class UneditableTextError(ValueError):
    """The text is right, but written in a way that cannot be changed without rewriting it."""


class Format(Protocol):
    """How one file format is read and changed; every function is pure."""

    def parse(self, text: str) -> dict[str, Any]:
        """The values of a text, an empty one for an empty text; raises UnreadableTextError."""

    def put_entry(self, text: str, path: Path, entry: Mapping[str, Any]) -> str:
        """The text with the entry added or replaced."""

    def take(self, text: str, path: Path, *, keep_empty: bool) -> str:
        """The text without the entry; tables it leaves empty go too, unless `keep_empty`."""

    def render(self, path: Path, entry: Mapping[str, Any]) -> str:
        """The entry alone, as a person would paste it."""


def file_format(name: str) -> Format:
    """The format called `json`, `jsonc`, `toml` or `yaml`."""
    module: ModuleType
    match name:
        case "json":
            from carrel.libraries.configuration import plain_json as module
        case "jsonc":
            from carrel.libraries.configuration import jsonc as module
        case "toml":
            from carrel.libraries.configuration import toml as module
        case "yaml":
            from carrel.libraries.configuration import yaml as module
        case _:
            raise ValueError(f"no such format: {name}")
    return cast("Format", module)


def find_entry(values: Mapping[str, Any], path: Path) -> object:
    """The value at a path, or None where there is none; raises UnreadableTextError."""
    found: Any = values
    for depth, key in enumerate(path):
        if not isinstance(found, dict):
            raise UnreadableTextError(f"{'.'.join(path[:depth])} is not a table of entries")
        if found.get(key) is None:
            return None
        found = found[key]
    return cast("object", found)


def change_values(values: Any, path: Path, entry: Mapping[str, Any] | None) -> dict[str, Any]:
    """The values with an entry at a path, or without it where it is None."""
    known = values if isinstance(values, dict) else {}
    key, rest = path[0], path[1:]
    if rest:
        return {**known, key: change_values(known.get(key), rest, entry)}
    if entry is None:
        return {name: value for name, value in known.items() if name != key}
    return {**known, key: dict(entry)}


def newline_of(text: str) -> str:
    """The line end a text uses: the one that it uses first."""
    first = text.find("\n")
    return "\r\n" if first > 0 and text[first - 1] == "\r" else "\n"

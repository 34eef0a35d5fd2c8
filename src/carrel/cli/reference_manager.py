"""`reference-manager mcp [--library PATH]`: the references room alone, with its known settings."""

from __future__ import annotations

import os
import tomllib
from pathlib import Path

import platformdirs

from carrel.cli.mcp import speak
from carrel.cli.parsers import CommandParser
from carrel.settings import SettingsError, read_settings

_CONFIG = ".reference-manager.config.toml"


def run(words: list[str]) -> int:
    parser = CommandParser(
        prog="reference-manager", description="The references room of Carrel, alone."
    )
    commands = parser.add_subparsers(dest="command", required=True)
    mcp = commands.add_parser("mcp", help="speak MCP over standard input and output")
    mcp.add_argument("--library", metavar="PATH", help="library file instead of the configured one")
    options = parser.parse_args(words)
    configured = _configured()
    library = (
        options.library
        or os.environ.get("REFERENCE_MANAGER_LIBRARY")
        or configured.get(("references", "library"))
    )
    flags: dict[tuple[str, ...], object] = {
        **configured,
        ("rooms",): ["references"],
        ("references", "library"): library,
    }
    return speak(read_settings(flags))


def _configured() -> dict[tuple[str, ...], object]:
    """The relevant settings of the other tool's own file."""
    places = (
        Path(_CONFIG),
        Path(os.environ.get("REFERENCE_MANAGER_CONFIG") or _CONFIG),
        platformdirs.user_config_path("reference-manager") / "config.toml",
    )
    file = next((place for place in places if place.is_file()), None)
    if file is None:
        return {}
    try:
        values = tomllib.loads(file.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise SettingsError(
            f"{file} cannot be read: {error}", next_step="Mend the file; it must be TOML in UTF-8."
        ) from None
    found: dict[tuple[str, ...], object] = {}
    for keys, setting in _MEANS.items():
        value: object = values
        for key in keys:
            value = value.get(key) if isinstance(value, dict) else None
        if isinstance(value, list):
            value = value[0] if value else None
        if isinstance(value, str):
            is_path = setting[-1] in {"library", "attachments", "styles"}
            found[setting] = (
                str((file.parent / Path(value).expanduser()).absolute()) if is_path else value
            )
    return found


_MEANS = {
    ("library",): ("references", "library"),
    ("citation", "default_style"): ("references", "default_style"),
    ("citation", "default_locale"): ("references", "default_locale"),
    ("citation", "csl_directory"): ("references", "styles"),
    ("attachments", "directory"): ("references", "attachments"),
    ("pubmed", "email"): ("references", "contact"),
    ("pubmed", "api_key"): ("references", "pubmed_api_key"),
}

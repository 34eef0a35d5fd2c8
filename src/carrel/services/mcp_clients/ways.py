"""The two ways to a desk, written as entries of clients' files and read back from them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import PurePath
from typing import Any
from urllib.parse import urlsplit

_BRIDGE = "mcp-remote"
# How Python starts a program by its module.
OWN_MODULE = ("-m", "carrel")


@dataclass(frozen=True, slots=True)
class Http:
    """A running server, and the headers it wants, such as a token."""

    url: str
    headers: Mapping[str, str] = field(default_factory=dict)

    def describe(self) -> str:
        return self.url


@dataclass(frozen=True, slots=True)
class Stdio:
    """A command that the client starts itself."""

    command: str
    arguments: tuple[str, ...]
    environment: Mapping[str, str] = field(default_factory=dict)

    def describe(self) -> str:
        return bridged_address(self) or " ".join((self.command, *self.arguments))


Way = Http | Stdio


def bridged_address(way: Stdio) -> str | None:
    """The address behind a bridge that turns a command into a running server."""
    names = [PurePath(word).name.partition("@")[0] for word in way.arguments]
    if _BRIDGE not in names:
        return None
    return next((word for word in way.arguments if word.startswith(("http://", "https://"))), None)


def bridge_to(way: Http) -> Stdio:
    """The command of the bridge, for a client whose file takes commands only; needs Node.js."""
    words = ["-y", _BRIDGE, way.url]
    if way.url.startswith("http://"):
        words.append("--allow-http")
    environment: dict[str, str] = {}
    for name, value in way.headers.items():
        # Arguments with spaces fail on some systems, so the value goes through a variable.
        variable = f"CARREL_{name.upper().replace('-', '_')}"
        words += ["--header", f"{name}:${{{variable}}}"]
        environment[variable] = value
    return Stdio("npx", tuple(words), environment)


def read_way(entry: object) -> Way | None:
    """The way that an entry of any client's file describes; None where it describes none."""
    if not isinstance(entry, dict):
        return None
    command = entry.get("command", entry.get("cmd"))
    if isinstance(command, str) and command:
        words = entry.get("args") or []
        arguments = tuple(str(word) for word in words) if isinstance(words, list) else ()
        return Stdio(command, arguments, _strings(entry, "env", "envs"))
    for key in ("url", "httpUrl", "serverUrl", "uri"):
        if isinstance(entry.get(key), str) and entry[key]:
            return Http(entry[key], _strings(entry, "headers", "http_headers"))
    return None


def is_ours(name: str, way: Way, wanted: str) -> bool:
    """Whether an entry leads to a desk: by its name, its program or its address."""
    if name == wanted:
        return True
    if isinstance(way, Stdio) and bridged_address(way) is None:
        return is_own_program(way)
    return urlsplit(way.describe()).path.endswith("/desk/mcp")


def is_own_program(way: Stdio) -> bool:
    """Whether a command is Carrel itself, wherever it is or was installed."""
    program = PurePath(way.command.replace("\\", "/")).stem
    return program == "carrel" or way.arguments[:2] == OWN_MODULE


def _strings(entry: Mapping[str, Any], *keys: str) -> dict[str, str]:
    for key in keys:
        found = entry.get(key)
        if isinstance(found, dict) and found:
            return {str(name): str(value) for name, value in found.items()}
    return {}

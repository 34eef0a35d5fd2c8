"""The table of clients: file, format, keys and shape of an entry, and how to tell it is there."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from carrel.services.mcp_clients import places
from carrel.services.mcp_clients.places import Machine
from carrel.services.mcp_clients.ways import Http, Stdio, Way, bridge_to

Entry = dict[str, Any]
_GOOSE_TIMEOUT_SECONDS = 300
_DESCRIPTION = "Carrel: papers, references, knowledge and research"


@dataclass(frozen=True, slots=True)
class Client:
    """One program that can use a desk; the first of its scopes is the usual one."""

    name: str
    title: str
    format: str
    keys: tuple[str, ...]
    scopes: Mapping[str, Callable[[Machine], Path]]
    make_entry: Callable[[str, Way], Entry]
    programs: tuple[str, ...]
    refresh: str
    applications: tuple[str, ...] = ()

    def file(self, machine: Machine, scope: str | None = None) -> Path:
        """The file of a scope; the usual one where none is named."""
        return self.scopes[scope or next(iter(self.scopes))](machine)

    def is_installed(self, machine: Machine) -> bool:
        """Whether its program, its application or its folder of settings is on this machine."""
        if any(shutil.which(program) for program in self.programs):
            return True
        roots = (Path("/Applications"), machine.home / "Applications")
        if any((root / name).exists() for root in roots for name in self.applications):
            return True
        file = self.file(machine)
        own = {file.name, f"{file.name}.before-carrel"}
        folder = machine.home / ".claude" if file.parent == machine.home else file.parent
        # A folder in which only what we wrote lies says nothing of the program.
        return folder.is_dir() and any(found.name not in own for found in folder.iterdir())


def _command_entry(way: Stdio) -> Entry:
    entry: Entry = {"command": way.command, "args": list(way.arguments)}
    if way.environment:
        entry["env"] = dict(way.environment)
    return entry


def _address_entry(way: Http, key: str = "url", headers: str = "headers") -> Entry:
    return {key: way.url, **({headers: dict(way.headers)} if way.headers else {})}


def _claude_code(name: str, way: Way) -> Entry:
    if isinstance(way, Http):
        return {"type": "http", **_address_entry(way)}
    return _command_entry(way)


def _claude_desktop(name: str, way: Way) -> Entry:
    return _command_entry(bridge_to(way) if isinstance(way, Http) else way)


def _plain(name: str, way: Way) -> Entry:
    return _address_entry(way) if isinstance(way, Http) else _command_entry(way)


def _vscode(name: str, way: Way) -> Entry:
    if isinstance(way, Http):
        return {"type": "http", **_address_entry(way)}
    return {"type": "stdio", **_command_entry(way)}


def _codex(name: str, way: Way) -> Entry:
    if isinstance(way, Http):
        return _address_entry(way, headers="http_headers")
    return _command_entry(way)


def _gemini(name: str, way: Way) -> Entry:
    return _address_entry(way, "httpUrl") if isinstance(way, Http) else _command_entry(way)


def _windsurf(name: str, way: Way) -> Entry:
    return _address_entry(way, "serverUrl") if isinstance(way, Http) else _command_entry(way)


def _cline(name: str, way: Way) -> Entry:
    if isinstance(way, Http):
        # Without a type Cline takes an address for the older transport.
        return {"type": "streamableHttp", **_address_entry(way)}
    return _command_entry(way)


def _zed(name: str, way: Way) -> Entry:
    if isinstance(way, Http):
        return _address_entry(way)
    # Versions before addresses were taken ask for the source; later ones ignore it.
    return {"source": "custom", "env": {}, **_command_entry(way)}


def _goose(name: str, way: Way) -> Entry:
    entry: Entry = {"enabled": True, "name": name, "description": _DESCRIPTION}
    if isinstance(way, Http):
        entry |= {"type": "streamable_http", "uri": way.url, "headers": dict(way.headers)}
        entry["envs"] = {}
    else:
        entry |= {"type": "stdio", "cmd": way.command, "args": list(way.arguments)}
        entry["envs"] = dict(way.environment)
    return {**entry, "env_keys": [], "timeout": _GOOSE_TIMEOUT_SECONDS}


def _in_home(*parts: str) -> Callable[[Machine], Path]:
    return lambda machine: machine.home.joinpath(*parts)


def _in_folder(*parts: str) -> Callable[[Machine], Path]:
    return lambda machine: machine.folder.joinpath(*parts)


_SERVERS = ("mcpServers",)
_ALL = (
    Client(
        "claude-code",
        "Claude Code",
        "json",
        _SERVERS,
        {"user": places.claude_code_user_file, "project": _in_folder(".mcp.json")},
        _claude_code,
        ("claude",),
        "Start Claude Code again to use it.",
    ),
    Client(
        "claude-desktop",
        "Claude Desktop",
        "json",
        _SERVERS,
        {"user": places.claude_desktop_file},
        _claude_desktop,
        (),
        "Quit Claude Desktop and start it again to use it.",
        ("Claude.app",),
    ),
    Client(
        "cursor",
        "Cursor",
        "jsonc",
        _SERVERS,
        {"user": _in_home(".cursor", "mcp.json"), "project": _in_folder(".cursor", "mcp.json")},
        _plain,
        ("cursor",),
        "Start Cursor again to use it.",
        ("Cursor.app",),
    ),
    Client(
        "vscode",
        "VS Code",
        "jsonc",
        ("servers",),
        {"user": places.vscode_file, "project": _in_folder(".vscode", "mcp.json")},
        _vscode,
        ("code",),
        "In VS Code, MCP: List Servers starts it.",
        ("Visual Studio Code.app",),
    ),
    Client(
        "codex",
        "Codex",
        "toml",
        ("mcp_servers",),
        {"user": places.codex_file, "project": _in_folder(".codex", "config.toml")},
        _codex,
        ("codex",),
        "Start Codex again to use it.",
    ),
    Client(
        "gemini",
        "Gemini CLI",
        "jsonc",
        _SERVERS,
        {
            "user": _in_home(".gemini", "settings.json"),
            "project": _in_folder(".gemini", "settings.json"),
        },
        _gemini,
        ("gemini",),
        "Start Gemini again to use it.",
    ),
    Client(
        "windsurf",
        "Windsurf",
        "jsonc",
        _SERVERS,
        {"user": _in_home(".codeium", "windsurf", "mcp_config.json")},
        _windsurf,
        ("windsurf",),
        "Press refresh in Windsurf's list of MCP servers to use it.",
        ("Windsurf.app",),
    ),
    Client(
        "cline",
        "Cline",
        "json",
        _SERVERS,
        {"user": places.cline_file, "cli": places.cline_program_file},
        _cline,
        ("cline",),
        "Cline reads the file by itself.",
    ),
    Client(
        "zed",
        "Zed",
        "jsonc",
        ("context_servers",),
        {"user": places.zed_file, "project": _in_folder(".zed", "settings.json")},
        _zed,
        ("zed", "zeditor"),
        "Zed reads the file by itself.",
        ("Zed.app",),
    ),
    Client(
        "goose",
        "Goose",
        "yaml",
        ("extensions",),
        {"user": places.goose_file},
        _goose,
        ("goose",),
        "Start a new Goose session to use it.",
        ("Goose.app",),
    ),
)
CLIENTS = {client.name: client for client in _ALL}
# Its settings are rows of a database behind its own pages, so there is no file to write.
WITHOUT_FILE = "open-webui"
NAMES = (*CLIENTS, WITHOUT_FILE)

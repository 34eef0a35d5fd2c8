"""What the first page of the console gives to connect an assistant with this desk."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import platformdirs

from carrel.services.mcp_clients.clients import CLIENTS, Client
from carrel.services.mcp_clients.places import this_machine
from carrel.services.mcp_clients.snippets import make_snippet
from carrel.services.mcp_clients.ways import Http
from carrel.settings import Settings

DESK_PATH = "/desk/mcp"
_SERVER_NAME = "carrel"
# In the order of the tabs; `carrel connect` knows more.
_SHOWN = ("claude-code", "claude-desktop", "cursor", "codex", "gemini", "vscode")


@dataclass(frozen=True, slots=True)
class ConsoleConnection:
    """One assistant: a command to type, a part of its file to paste, or the address alone.

    `place` is the file that it goes into, `refresh` what makes the assistant see it.
    """

    client: str
    title: str
    text: str
    kind: Literal["command", "paste", "address"]
    place: str = ""
    refresh: str = ""


def console_connections(settings: Settings) -> Sequence[ConsoleConnection]:
    """How each assistant reaches this desk. A secret of the desk is never part of it."""
    address = f"{settings.base_url}{DESK_PATH}"
    is_local = settings.auth.mode in {None, "local"}
    has_secret = is_local and settings.auth.local_secret
    shown = [
        _describe_command(CLIENTS[name], settings, address, has_secret=has_secret)
        if has_secret or (is_local and name == "claude-desktop")
        else _describe_paste(CLIENTS[name], address, is_local=is_local)
        for name in _SHOWN
    ]
    return (*shown, ConsoleConnection("http", "HTTP", address, "address"))


def _describe_paste(client: Client, address: str, *, is_local: bool) -> ConsoleConnection:
    text = make_snippet(client, _SERVER_NAME, Http(address)).strip()
    if client.name == "claude-code":
        return ConsoleConnection(client.name, client.title, text, "command", "", client.refresh)
    place = _describe_place(client, is_local=is_local)
    return ConsoleConnection(client.name, client.title, text, "paste", place, client.refresh)


def _describe_place(client: Client, *, is_local: bool) -> str:
    """The client's file; its path on this machine only where the person sits at it."""
    try:
        file = client.file(this_machine())
    except RuntimeError:
        # In a container the account often has no home folder.
        return ""
    return _shorten_path(file) if is_local else file.name


def _describe_command(
    client: Client, settings: Settings, address: str, *, has_secret: bool
) -> ConsoleConnection:
    """`carrel connect` on this machine: it reads the secret itself, or starts the desk by stdio."""
    words = ["carrel", "connect", client.name]
    if has_secret:
        words += ["--url", address]
    elif settings.home != platformdirs.user_data_path("carrel"):
        words += ["--home", str(settings.home)]
    text = shlex.join([*words, "--write"])
    return ConsoleConnection(client.name, client.title, text, "command", "", client.refresh)


def _shorten_path(file: Path) -> str:
    try:
        return f"~/{file.relative_to(Path.home()).as_posix()}"
    except ValueError:
        return str(file)

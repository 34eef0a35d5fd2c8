"""Which clients of this machine are connected to a desk, and with which program."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from carrel.core.errors import CarrelError
from carrel.services.mcp_clients.clients import CLIENTS, Client
from carrel.services.mcp_clients.places import Machine
from carrel.services.mcp_clients.ways import (
    Stdio,
    Way,
    bridged_address,
    is_ours,
    is_own_program,
    read_way,
)

_NAME = "carrel"
# No client's file is larger; one that is, is not read to answer a question about it.
_MOST_BYTES = 64 * 1024 * 1024


@dataclass(frozen=True, slots=True)
class Connection:
    """An entry of a client's file that leads to a desk."""

    client: Client
    file: Path
    name: str
    way: Way

    @property
    def is_program_missing(self) -> bool:
        return isinstance(self.way, Stdio) and shutil.which(self.way.command) is None

    @property
    def address(self) -> str | None:
        """The server that it leads to, if any, directly or over a bridge."""
        return bridged_address(self.way) if isinstance(self.way, Stdio) else self.way.url

    @property
    def starts_carrel(self) -> bool:
        """Whether the client starts Carrel itself, and no bridge, container or other launcher."""
        return isinstance(self.way, Stdio) and is_own_program(self.way)


def find_connections(machine: Machine) -> Iterator[Connection]:
    """Every entry of a known client's file; files that cannot be read have none."""
    for client in CLIENTS.values():
        for scope in client.scopes:
            file = client.file(machine, scope)
            try:
                yield from _connections_in(client, file)
            except (CarrelError, OSError, ValueError):
                continue


def _connections_in(client: Client, file: Path) -> Iterator[Connection]:
    if not file.is_file() or file.stat().st_size > _MOST_BYTES:
        return
    content = file.read_bytes()
    if _NAME.encode() not in content and b"/desk/mcp" not in content:
        return
    # Only now: what parses every kind of file is slow to import.
    from carrel.libraries.configuration import find_entry
    from carrel.wiring.clients import open_client_file

    servers = find_entry(open_client_file(file, client.format).read(), client.keys)
    for name, entry in servers.items() if isinstance(servers, dict) else ():
        way = read_way(entry)
        if way is not None and is_ours(str(name), way, _NAME):
            yield Connection(client, file, str(name), way)

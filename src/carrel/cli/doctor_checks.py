"""What only the command line looks at: the server's port and the clients of this machine."""

from __future__ import annotations

import socket

from carrel.cli.connections import Connection, find_connections
from carrel.core.health import Health
from carrel.services.mcp_clients.places import this_machine

_FIX = "carrel doctor --fix"


def is_port_taken(host: str, port: int) -> bool:
    """Whether something answers where the server would listen."""
    try:
        with socket.create_connection((host, port), timeout=0.3):
            return True
    except (OSError, OverflowError):
        return False


def broken_connections() -> list[Connection]:
    """Entries of clients whose program is not there."""
    return [each for each in find_connections(this_machine()) if each.is_program_missing]


def check_assistants() -> dict[str, Health]:
    """The clients of this machine that are connected, or whose program is not there."""
    found = list(find_connections(this_machine()))
    broken = {
        f"client {each.client.name}": Health(
            False,
            f"{each.file} starts {each.way.describe().split(' ')[0]}, which is not there",
            f"{_FIX} names this program instead." if each.starts_carrel else "Install it.",
        )
        for each in found
        if each.is_program_missing
    }
    well = sorted({each.client.name for each in found if not each.is_program_missing})
    if not broken:
        says = f"connected: {', '.join(well)}" if well else "none connected"
        step = "" if well else "carrel connect CLIENT --write connects one."
        return {"assistants": Health(True, says, step, note="" if well else "none")}
    return broken

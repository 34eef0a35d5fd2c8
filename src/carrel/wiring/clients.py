"""What `carrel connect` needs from outside: clients' files, and servers that can be asked."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import platformdirs

from carrel.stores.client_files import Change, ClientFile, EntryMissingError

if TYPE_CHECKING:
    from carrel.services.mcp_probe import ProbeError, ProbeReport

__all__ = ["Change", "ClientFile", "EntryMissingError"]


def open_client_file(file: Path, format_name: str) -> ClientFile:
    """A client's file, changed under a lock that all homes of this account share."""
    locks = platformdirs.user_cache_path("carrel", appauthor=False) / "connect-locks"
    return ClientFile(file, format_name, locks)


def probe_command(
    command: str,
    arguments: Sequence[str],
    environment: Mapping[str, str],
    folder: str,
    seconds: float,
) -> ProbeReport | ProbeError:
    """What a command answers as an MCP server, or why it does not."""
    from carrel.services import mcp_probe

    try:
        return mcp_probe.probe_command(command, arguments, environment, folder, seconds)
    except mcp_probe.ProbeError as error:
        return error


def probe_address(url: str, headers: Mapping[str, str], seconds: float) -> ProbeReport | ProbeError:
    """What a server answers at its address, or why it does not."""
    from carrel.services import mcp_probe

    try:
        return mcp_probe.probe_address(url, headers, seconds)
    except mcp_probe.ProbeError as error:
        return error

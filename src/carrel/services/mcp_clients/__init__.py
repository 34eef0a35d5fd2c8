"""Programs that can use a desk: where their files lie, and what stands in them for a server."""

from __future__ import annotations

from carrel.services.mcp_clients.clients import CLIENTS, NAMES, WITHOUT_FILE, Client
from carrel.services.mcp_clients.snippets import lines_to_paste, make_snippet, open_webui_text
from carrel.services.mcp_clients.ways import Http, Stdio, Way

__all__ = [
    "CLIENTS",
    "NAMES",
    "WITHOUT_FILE",
    "Client",
    "Http",
    "Stdio",
    "Way",
    "lines_to_paste",
    "make_snippet",
    "open_webui_text",
]

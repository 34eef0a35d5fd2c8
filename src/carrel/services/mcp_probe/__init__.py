"""Asks an MCP server what a client would ask: both eras of the protocol, its tools, one call."""

from __future__ import annotations

from carrel.services.mcp_probe.addresses import probe_address
from carrel.services.mcp_probe.commands import probe_command
from carrel.services.mcp_probe.protocol import ProbeError, ProbeReport

__all__ = ["ProbeError", "ProbeReport", "probe_address", "probe_command"]

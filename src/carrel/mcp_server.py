"""The desk as a FastMCP server (extra `fastmcp`): `fastmcp run` this file, or mount `mcp`."""

from carrel.settings import read_settings
from carrel.wiring.mcp import fastmcp_app

mcp = fastmcp_app(read_settings())

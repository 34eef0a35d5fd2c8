"""The desk as an importable FastMCP server: `fastmcp run src/carrel/mcp_server.py`, or mount `mcp`
into a server of your own.
"""

from carrel.settings import read_settings
from carrel.wiring.mcp import fastmcp_app

mcp = fastmcp_app(read_settings())

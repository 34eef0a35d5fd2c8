"""DeskBench: jobs of a researcher's week over a fixed desk, on any MCP server."""

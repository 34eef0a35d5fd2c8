"""MCP over HTTP and stdio, and the same catalogue as a FastMCP server (extra `fastmcp`)."""

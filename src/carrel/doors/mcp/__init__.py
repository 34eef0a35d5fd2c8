"""MCP over HTTP and stdio: our own lane for the hot methods, FastMCP behind it for the rest."""

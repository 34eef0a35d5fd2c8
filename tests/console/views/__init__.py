"""Hosts that draw the views of MCP Apps in a browser, and journeys through every view."""

"""Views in the chat (MCP Apps): which tools have one, and the documents that hosts draw."""

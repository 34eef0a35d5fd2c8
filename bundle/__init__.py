"""What others install Carrel from: the bundle for one click (.mcpb) and the registry's server.json.

Both are generated from the running server and pyproject.toml: `make bundle`.
"""

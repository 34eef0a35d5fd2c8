"""The entry for the MCP registry: where the package is and how a client starts it."""

from __future__ import annotations

from typing import Any

from bundle.description import Description

SCHEMA = "https://static.modelcontextprotocol.io/schemas/2025-12-11/server.schema.json"
# The registry takes at most 100 characters.
LONGEST_DESCRIPTION = 100
_HOME = {
    "name": "CARREL_HOME",
    "description": "Where Carrel keeps its data; without it, the usual place of this system",
    "format": "filepath",
    "isRequired": False,
}


def registry_entry(description: Description) -> dict[str, Any]:
    """The server.json."""
    project = description.project
    about = project["description"]
    if len(about) > LONGEST_DESCRIPTION:
        raise ValueError(
            f"The description in pyproject.toml has {len(about)} characters, and the "
            f"registry takes {LONGEST_DESCRIPTION}"
        )
    package = {
        "registryType": "pypi",
        "identifier": project["name"],
        "version": description.version,
        "runtimeHint": "uvx",
    }
    port = {
        "type": "named",
        "name": "--port",
        "description": "Port to listen on",
        "format": "number",
        "default": "8080",
        "valueHint": "port",
    }
    return {
        "$schema": SCHEMA,
        "name": description.registry_name,
        "title": description.title,
        "description": about,
        "version": description.version,
        "packages": [
            {
                **package,
                "transport": {"type": "stdio"},
                "packageArguments": [{"type": "positional", "value": "mcp"}],
                "environmentVariables": [_HOME],
            },
            {
                **package,
                "transport": {
                    "type": "streamable-http",
                    "url": "http://127.0.0.1:{port}/desk/mcp",
                },
                "packageArguments": [{"type": "positional", "value": "serve"}, port],
                "environmentVariables": [_HOME],
            },
        ],
        "remotes": [
            {
                "type": "streamable-http",
                "url": "https://{host}/desk/mcp",
                "variables": {
                    "host": {
                        "description": "The machine of your institute that serves Carrel",
                        "placeholder": "carrel.example.org",
                        "isRequired": True,
                    }
                },
                "headers": [
                    {
                        "name": "Authorization",
                        "description": "A token made by carrel tokens create; not needed where "
                        "people log in",
                        "value": "Bearer {token}",
                        "isRequired": False,
                        "variables": {
                            "token": {"description": "The token", "isSecret": True},
                        },
                    }
                ],
            }
        ],
    }

"""What a person pastes: a command, a part of a client's file, or the fields of a page."""

from __future__ import annotations

import json
import shlex

from carrel.libraries.configuration import file_format
from carrel.services.mcp_clients.clients import CLIENTS, Client
from carrel.services.mcp_clients.ways import Http, Stdio, Way


def make_snippet(client: Client, name: str, way: Way, scope: str | None = None) -> str:
    """The text to paste: a command for Claude Code, else a part of the client's file."""
    if client.name == "claude-code":
        return claude_command(name, way, scope or "user")
    return file_format(client.format).render((*client.keys, name), client.make_entry(name, way))


def claude_command(name: str, way: Way, scope: str) -> str:
    """The command that gives Claude Code a server."""
    start = ["claude", "mcp", "add", "--scope", scope]
    match way:
        case Http(url, headers):
            words = [*start, "--transport", "http", name, url]
            for key, value in headers.items():
                words += ["--header", f"{key}: {value}"]
        case Stdio(command, arguments, environment):
            words = [*start, name]
            for key, value in environment.items():
                words += ["--env", f"{key}={value}"]
            words += ["--", command, *arguments]
    return shlex.join(words)


def open_webui_text(name: str, way: Http) -> str:
    """What to enter on Open WebUI's page, and the same as its environment variable."""
    scheme, _, token = way.headers.get("Authorization", "").partition(" ")
    key = token if scheme == "Bearer" else ""
    others = {key: value for key, value in way.headers.items() if key != "Authorization"}
    connection = {
        "type": "mcp",
        "url": way.url,
        "path": "",
        "auth_type": "bearer" if key else "none",
        "key": key,
        **({"headers": others} if others else {}),
        "config": {"enable": True},
        "info": {"id": name, "name": name, "description": "Carrel, a research desk"},
    }
    auth = f"Bearer, {key}" if key else "None (OAuth 2.1 where people log in)"
    variable = shlex.quote(json.dumps([connection]))
    return (
        f"In Open WebUI, Admin Settings, External Tools (or Integrations), add a server:\n"
        f"  Type  MCP (Streamable HTTP)\n"
        f"  URL   {way.url}\n"
        f"  Auth  {auth}\n"
        f"  ID    {name}\n"
        f"  Name  {name}\n"
        f"or start a new Open WebUI with\n"
        f"  TOOL_SERVER_CONNECTIONS={variable}"
    )


def lines_to_paste(url: str, secret: str | None = None) -> str:
    """What the server prints when it starts."""
    way = Http(f"{url}/desk/mcp", {"Authorization": f"Bearer {secret}"} if secret else {})
    others = ", ".join(name for name in CLIENTS if name not in {"claude-code", "claude-desktop"})

    def entry(name: str) -> str:
        client = CLIENTS[name]
        return json.dumps({client.keys[0]: {"carrel": client.make_entry("carrel", way)}})

    return "\n".join(
        (
            f"Claude Code:     {claude_command('carrel', way, 'user')}",
            f"Claude Desktop:  {entry('claude-desktop')}",
            "                 (or let it start Carrel itself: carrel connect claude-desktop "
            "--write)",
            f"Cursor:          {entry('cursor')}",
            f"Any client:      carrel connect CLIENT --url {way.url} --write ({others})",
        )
    )

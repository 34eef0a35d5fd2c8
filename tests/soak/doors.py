"""Reads everything back, page by page, through each door."""

from __future__ import annotations

import json
import subprocess
from collections import Counter
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from typing import Any

import httpx2

from tests.soak.servers import CARREL, run_carrel

Ask = Callable[[str, dict[str, Any]], Any]
# Pages of MCP doors are cut to what a model can take.
_PAGE, _LARGE_PAGE = 25, 100


@dataclass(frozen=True, slots=True)
class Door:
    """A way in. MCP doors have no operations for people: there each note is asked for, elsewhere
    notes are listed.
    """

    ask: Ask
    has_lists: bool

    def read(self, kind: str, names: Collection[str]) -> Counter[str]:
        """The names that are there, with how often each is."""
        if kind == "reference":
            return _list_references(self.ask, _LARGE_PAGE if self.has_lists else _PAGE)
        if kind == "paper":
            return _find_papers(self.ask)
        whose = "team" if kind == "team-note" else "mine"
        if self.has_lists:
            return _list_notes(self.ask, whose)
        found: Counter[str] = Counter()
        for name in names:
            hits = self.ask("search_knowledge", {"query": name, "whose": whose, "limit": 5})
            found.update(hit["title"] for hit in hits if hit["title"] == name)
        return found


def _find_papers(ask: Ask) -> Counter[str]:
    found: Counter[str] = Counter()
    page = 1
    while True:
        rows = ask("search_papers", {"query": "nobody else wrote", "limit": _PAGE, "page": page})
        found.update(row["title"] for row in rows)
        page += 1
        if len(rows) < _PAGE:
            return found


def _list_notes(ask: Ask, whose: str) -> Counter[str]:
    found: Counter[str] = Counter()
    while True:
        question = {
            "whose": whose,
            "limit": _LARGE_PAGE,
            "offset": found.total(),
            "order": "newest",
        }
        rows = ask("list_knowledge", question)["notes"]
        found.update(row["title"] for row in rows)
        if len(rows) < _LARGE_PAGE:
            return found


def _list_references(ask: Ask, limit: int) -> Counter[str]:
    found: Counter[str] = Counter()
    page = 1
    while True:
        answer = ask("list_references", {"limit": limit, "page": page})
        items = answer["references"]
        found.update(item["title"].removeprefix("The book of ") for item in items)
        page += 1
        if len(items) < limit:
            return found


def rest_door(client: httpx2.Client, headers: Mapping[str, str]) -> Ask:
    def ask(tool: str, params: dict[str, Any]) -> Any:
        body = {"tool_name": tool, "params": params}
        answer = client.post("/mcp/invoke", json=body, headers=dict(headers))
        answer.raise_for_status()
        return answer.json()["result"]

    return ask


def mcp_door(client: httpx2.Client, headers: Mapping[str, str]) -> Ask:
    def ask(tool: str, params: dict[str, Any]) -> Any:
        answer = client.post(
            "/desk/mcp",
            json=_call(tool, params),
            headers={**headers, "Accept": "application/json", "MCP-Protocol-Version": "2025-11-25"},
        )
        answer.raise_for_status()
        return _content(answer.json())

    return ask


def command_door(environment: Mapping[str, str], user: str) -> Ask:
    """The command line beside the servers, acting for the user who wrote."""

    def ask(tool: str, params: dict[str, Any]) -> Any:
        words = ["call", tool, json.dumps(params), "--user", user, "--json"]
        return json.loads(run_carrel(environment, *words))

    return ask


class StdioDoor:
    """A server over standard input and output on the same database."""

    def __init__(self, environment: Mapping[str, str], *words: str) -> None:
        self._process = subprocess.Popen(
            [*CARREL, "mcp", *words],
            env=dict(environment),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
        )
        hello = {
            "protocolVersion": "2025-11-25",
            "capabilities": {},
            "clientInfo": {"name": "soak", "version": "1"},
        }
        self._exchange({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": hello})
        self._send({"jsonrpc": "2.0", "method": "notifications/initialized"})

    def ask(self, tool: str, params: dict[str, Any]) -> Any:
        return _content(self._exchange(_call(tool, params)))

    def close(self) -> None:
        assert self._process.stdin is not None
        self._process.stdin.close()
        self._process.wait(timeout=60)

    def _exchange(self, message: dict[str, Any]) -> Any:
        self._send(message)
        assert self._process.stdout is not None
        while line := self._process.stdout.readline():
            answer = json.loads(line)
            if answer.get("id") == message["id"]:
                return answer
        raise RuntimeError("the server on standard input and output ended")

    def _send(self, message: dict[str, Any]) -> None:
        assert self._process.stdin is not None
        self._process.stdin.write(json.dumps(message).encode() + b"\n")
        self._process.stdin.flush()


def _call(tool: str, params: dict[str, Any]) -> dict[str, Any]:
    arguments = {"name": tool, "arguments": params}
    return {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": arguments}


def _content(answer: dict[str, Any]) -> Any:
    result = answer.get("result")
    if result is None or result.get("isError"):
        raise RuntimeError(json.dumps(answer)[:500])
    content = result["structuredContent"]
    return content.get("result", content)

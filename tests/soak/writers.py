"""Clients that write without end, each write once and under a name of its own."""

from __future__ import annotations

import json
import random
import threading
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import httpx2

_PAUSE_SECONDS = 0.05
# What `ada` writes for herself, what is the team's, references of her library, and some papers,
# which are published one by one.
KINDS = ("note", "team-note", "reference", "note", "team-note", "reference", "paper")


@dataclass(slots=True)
class Outcome:
    """What came of the writes of one kind: names by whether they were acknowledged."""

    acknowledged: list[str] = field(default_factory=list)
    unknown: set[str] = field(default_factory=set)
    refused: Counter[str] = field(default_factory=Counter)


class Writers:
    """Threads that write through the proxy. A write that fails is never sent again: what it left
    behind may be there once or not at all, what was acknowledged must be there once.
    """

    def __init__(
        self, client: httpx2.Client, token: str, count: int, seed: int, kinds: tuple[str, ...]
    ) -> None:
        self.outcomes = {kind: Outcome() for kind in sorted(set(kinds))}
        self.slowest_seconds = 0.0
        self._client = client
        self._headers = {"Authorization": f"Bearer {token}"}
        self._count = count
        self._seed = seed
        self._kinds = kinds
        self._is_over = threading.Event()
        self._lock = threading.Lock()

    @contextmanager
    def writing(self) -> Iterator[None]:
        threads = [threading.Thread(target=self._write, args=(one,)) for one in range(self._count)]
        for thread in threads:
            thread.start()
        try:
            yield
        finally:
            self._is_over.set()
            for thread in threads:
                thread.join()

    def acknowledged(self) -> int:
        return sum(len(each.acknowledged) for each in self.outcomes.values())

    def _write(self, writer: int) -> None:
        chance = random.Random(self._seed * 1000 + writer)
        number = 0
        while not self._is_over.is_set():
            number += 1
            kind = chance.choice(self._kinds)
            name = f"{kind}-{writer}-{number:05d}"
            began = time.monotonic()
            outcome = self.outcomes[kind]
            try:
                answer = self._send(kind, name, through_mcp=chance.random() < 0.5)
                problem = _problem_of(answer, kind)
            except httpx2.HTTPError as error:
                problem = type(error).__name__
            with self._lock:
                self.slowest_seconds = max(self.slowest_seconds, time.monotonic() - began)
                if problem is None:
                    outcome.acknowledged.append(name)
                else:
                    outcome.unknown.add(name)
                    outcome.refused[problem] += 1
            self._is_over.wait(_PAUSE_SECONDS if problem is None else 0.3)

    def _send(self, kind: str, name: str, *, through_mcp: bool) -> httpx2.Response:
        tool, params = _write_of(kind, name)
        if not through_mcp:
            body = {"tool_name": tool, "params": params}
            return self._client.post("/mcp/invoke", json=body, headers=self._headers)
        message = {
            "jsonrpc": "2.0",
            "id": 1,
            "method": "tools/call",
            "params": {"name": tool, "arguments": params},
        }
        headers = {
            **self._headers,
            "Accept": "application/json",
            "MCP-Protocol-Version": "2025-11-25",
        }
        return self._client.post("/desk/mcp", json=message, headers=headers)


def _write_of(kind: str, name: str) -> tuple[str, dict[str, Any]]:
    if kind == "note":
        return "save_knowledge", {"title": name, "content": f"What was seen in {name}."}
    if kind == "team-note":
        text = f"What everybody saw in {name}."
        return "save_knowledge", {"title": name, "content": text, "source": "team"}
    if kind == "paper":
        text = f"# {name}\n\nA text that nobody else wrote: {name}.\n"
        return "add_paper", {"markdown": text}
    item = {"id": name, "type": "book", "title": f"The book of {name}", "publisher": "Nobody"}
    return "add_references", {"input": json.dumps([item])}


def _problem_of(answer: httpx2.Response, kind: str) -> str | None:
    """Why a write was not acknowledged; None where it was."""
    if answer.status_code != 200:
        return f"{answer.status_code} {_code_of(answer)}"
    body = answer.json()
    result = body.get("result") or {}
    if body.get("error") or result.get("isError"):
        return f"200 {_code_of(answer)}"
    content = result.get("structuredContent", result)
    if kind == "paper" and "pending" in content:
        return "pending"
    if kind == "reference" and len(content.get("added", ())) != 1:
        return f"not added: {json.dumps(content)[:200]}"
    return None


def _code_of(answer: httpx2.Response) -> str:
    try:
        body = answer.json()
    except ValueError:
        return answer.text[:80]
    result = body.get("result") or {}
    error = body.get("error") or result.get("structuredContent", {}).get("error")
    if isinstance(error, dict):
        return str(error.get("code") or error.get("message"))[:80]
    return str(error or body)[:80]

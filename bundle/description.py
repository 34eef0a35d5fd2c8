"""What the product says of itself: pyproject.toml, and the lists of a server that is started."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import tomllib
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

from carrel import __version__

ROOT = Path(__file__).resolve().parents[1]
_GREETING = {
    "protocolVersion": "2025-06-18",
    "capabilities": {},
    "clientInfo": {"name": "carrel-bundle", "version": __version__},
}


class ServerRefusal(Exception):  # noqa: N818 - an answer of the protocol, not a failure here
    """A server answered with an error."""


class StdioServer:
    """A server that is started and asked over standard input and output."""

    def __init__(
        self, words: Sequence[str], variables: dict[str, str], folder: Path | None = None
    ) -> None:
        # A file, since nobody reads what a server logs while it is asked.
        self._log = tempfile.TemporaryFile(mode="w+", encoding="utf-8")  # noqa: SIM115
        self._program = subprocess.Popen(
            list(words),
            env=variables,
            cwd=folder,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._log,
            text=True,
            encoding="utf-8",
        )
        self._asked = 0

    def __enter__(self) -> Self:
        self.greeting = self.ask("initialize", _GREETING)
        self._write({"jsonrpc": "2.0", "method": "notifications/initialized"})
        return self

    def __exit__(self, *_: object) -> None:
        self._program.communicate(timeout=120)
        self._log.close()

    def ask(self, method: str, params: Mapping[str, object]) -> dict[str, Any]:
        """The result of a request; raises where there is none."""
        self._asked += 1
        self._write({"jsonrpc": "2.0", "id": self._asked, "method": method, "params": params})
        assert self._program.stdout is not None
        for line in self._program.stdout:
            answer = json.loads(line)
            if answer.get("id") != self._asked:
                continue
            if "result" not in answer:
                raise ServerRefusal(answer["error"]["message"])
            return dict(answer["result"])
        self._program.communicate(timeout=120)
        self._log.seek(0)
        raise ServerRefusal(f"The server ended: {self._log.read()[-2000:]}")

    def _write(self, message: dict[str, object]) -> None:
        assert self._program.stdin is not None
        with suppress(BrokenPipeError):
            self._program.stdin.write(json.dumps(message) + "\n")
            self._program.stdin.flush()


@dataclass(frozen=True, slots=True)
class Prompt:
    """A prompt with its text, in which `${arguments.NAME}` stands for an argument."""

    name: str
    description: str
    arguments: list[str]
    text: str


@dataclass(frozen=True, slots=True)
class Description:
    """Everything that a manifest says of the product."""

    project: dict[str, Any]
    registry_name: str
    title: str
    tools: list[tuple[str, str]]
    prompts: list[Prompt]
    has_other_prompts: bool
    version: str = __version__


def describe_product() -> Description:
    """Read pyproject.toml and ask a server with an empty desk."""
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
    with tempfile.TemporaryDirectory() as home:
        variables = {"PATH": os.environ["PATH"], "HOME": home, "CARREL_HOME": f"{home}/desk"}
        with StdioServer([sys.executable, "-m", "carrel", "mcp"], variables) as server:
            info = server.greeting["serverInfo"]
            tools = server.ask("tools/list", {})["tools"]
            listed = server.ask("prompts/list", {})["prompts"]
            prompts = [found for each in listed if (found := _read_prompt(server, each))]
    return Description(
        project=settings["project"],
        registry_name=settings["tool"]["carrel"]["registry-name"],
        title=info.get("title", info["name"]),
        tools=[(tool["name"], _first_sentence(tool["description"])) for tool in tools],
        prompts=prompts,
        has_other_prompts=len(prompts) < len(listed),
    )


def _read_prompt(server: StdioServer, listed: dict[str, Any]) -> Prompt | None:
    """A prompt with placeholders for arguments; None where the server must see them first."""
    names = [argument["name"] for argument in listed.get("arguments", [])]
    filled = {name: f"${{arguments.{name}}}" for name in names}
    try:
        answer = server.ask("prompts/get", {"name": listed["name"], "arguments": filled})
    except ServerRefusal:
        return None
    text = "\n\n".join(message["content"]["text"] for message in answer["messages"])
    if any(placeholder not in text for placeholder in filled.values()):
        return None
    return Prompt(listed["name"], listed["description"], names, text)


def _first_sentence(text: str) -> str:
    """What a list of tools shows beside a name."""
    head, dot, _ = " ".join(text.split()).partition(". ")
    return head + "." if dot and not head.endswith(".") else head

"""An assistant behind an OpenAI-compatible address of chat completions with tools."""

from __future__ import annotations

import json
import os
import re
import urllib.error
import urllib.request
from typing import Any

from benchmarks.deskbench.jobs import PREAMBLE, Job
from benchmarks.deskbench.mcp_client import ServerError
from benchmarks.deskbench.runs import Desk, JobRecord

_PATIENCE_SECONDS = 900
# Rounds in which a model may go on calling tools; calls themselves are limited by the harness.
_ROUNDS = 30


class ModelAssistant:
    """Sends the list of tools and the job, runs what the model calls, until it answers."""

    def __init__(self, url: str, model: str, key: str, tool_limit: int = 0) -> None:
        self.name = f"openai:{model}"
        self._url = url.rstrip("/") + "/chat/completions"
        self._model = model
        self._key = key
        self._tool_limit = tool_limit

    @classmethod
    def from_environment(cls) -> ModelAssistant:
        """DESKBENCH_MODEL_URL, DESKBENCH_MODEL, DESKBENCH_MODEL_KEY of the environment.

        DESKBENCH_TOOL_LIMIT keeps only the first tools of the list, for models whose window is too
        small for all of them; a log says so in the assistant's name.
        """
        url, model = os.environ.get("DESKBENCH_MODEL_URL"), os.environ.get("DESKBENCH_MODEL")
        if not url or not model:
            raise SystemExit("deskbench: set DESKBENCH_MODEL_URL and DESKBENCH_MODEL")
        limit = int(os.environ.get("DESKBENCH_TOOL_LIMIT", "0"))
        made = cls(url, model, os.environ.get("DESKBENCH_MODEL_KEY", ""), limit)
        if limit:
            made.name += f":first-{limit}-tools"
        return made

    def do(self, job: Job, desk: Desk, record: JobRecord) -> str:
        tools = desk.tools[: self._tool_limit or None]
        functions = [
            {
                "type": "function",
                "function": {
                    "name": re.sub(r"[^A-Za-z0-9_-]", "_", tool["name"])[:64],
                    "description": tool["description"],
                    "parameters": tool["inputSchema"],
                },
            }
            for tool in tools
        ]
        names = {
            function["function"]["name"]: tool["name"]  # type: ignore[index]
            for function, tool in zip(functions, tools, strict=True)
        }
        system = f"{PREAMBLE}\n\n{desk.instructions}".strip()
        messages: list[dict[str, Any]] = [
            {"role": "system", "content": system},
            {"role": "user", "content": job.text},
        ]
        for _ in range(_ROUNDS):
            message = self._complete(messages, functions, record)
            calls = message.get("tool_calls") or []
            if not calls:
                return str(message.get("content") or "")
            messages.append(message)
            messages += [
                {"role": "tool", "tool_call_id": call["id"]}
                | {"content": run_call(desk, names, call["function"])}
                for call in calls
            ]
        return ""

    def _complete(
        self, messages: list[dict[str, Any]], functions: list[dict[str, Any]], record: JobRecord
    ) -> dict[str, Any]:
        body = {"model": self._model, "messages": messages, "tools": functions, "temperature": 0}
        request = urllib.request.Request(
            self._url,
            json.dumps(body).encode(),
            {"content-type": "application/json", "authorization": f"Bearer {self._key}"},
        )
        try:
            with urllib.request.urlopen(request, timeout=_PATIENCE_SECONDS) as response:
                answer = json.load(response)
        except urllib.error.HTTPError as error:
            told = error.read().decode(errors="replace")[:300]
            raise ServerError(f"the model's address answered {error.code}: {told}") from error
        except OSError as error:
            raise ServerError(f"the model cannot be reached: {error}") from error
        usage = answer.get("usage") or {}
        if usage:
            record.tokens_from = "the API"
            record.tokens_in += int(usage.get("prompt_tokens", 0))
            record.tokens_out += int(usage.get("completion_tokens", 0))
        return dict(answer["choices"][0]["message"])


def run_call(desk: Desk, names: dict[str, str], function: dict[str, Any]) -> str:
    """The text that goes back to the model; what it got wrong is said to it."""
    try:
        arguments = json.loads(function.get("arguments") or "{}")
    except ValueError:
        return "error: the arguments are not JSON"
    if not isinstance(arguments, dict):
        return "error: the arguments are not an object"
    answer = desk.call(names.get(function["name"], function["name"]), arguments)
    return f"error: {answer.text}" if answer.is_error else answer.text

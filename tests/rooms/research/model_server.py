"""A local server that answers in each provider's format, from a script, and remembers what it was
asked.
"""

from __future__ import annotations

import http.server
import json
import re
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

SUMMARY = " ".join(f"word{number}" for number in range(60)) + "."


@dataclass(frozen=True)
class Asked:
    """One request, whatever its format."""

    path: str
    key: str | None
    instructions: str
    material: str
    shape: str
    most_tokens: int
    way: str = ""

    @property
    def paper_ids(self) -> list[str]:
        return re.findall(r"\[id: (\w+)\]", self.material)


@dataclass(frozen=True)
class Cut:
    """An answer that ends too early."""

    text: str


@dataclass
class Script:
    """What the server says by the shape that is asked for; `first` is said before anything else, as
    (status, headers, body).
    """

    url: str = ""
    asked: list[Asked] = field(default_factory=list)
    first: list[tuple[int, dict[str, str], bytes]] = field(default_factory=list)
    answers: dict[str, Callable[[Asked], Any]] = field(default_factory=dict)


def hypothesis(asked: Asked, number: int = 0, **more: Any) -> dict[str, Any]:
    return {
        "title": f"Idea {len(asked.material)}-{number}",
        "summary": SUMMARY,
        "rationale": "Because the papers say so.",
        "objective": "Test it",
        "steps": ["One", "Two"],
        "required_resources": [],
        "success_metrics": [],
        "potential_challenges": [],
        "safety_considerations": [],
        "predictions": ["It rises"],
        "refutations": ["It falls"],
        "assumptions": [],
        "novelty": "None found.",
        "citations": [*asked.paper_ids[:2], "invented-2024"],
        **more,
    }


def texts(asked: Asked) -> list[str]:
    """The texts whose safety is asked for."""
    return re.findall(r"^\d+\. (.+)$", asked.material, re.MULTILINE)


def opinions(
    asked: Asked, is_allowed: Callable[[str], bool], reason: str = "Harmless."
) -> dict[str, Any]:
    """An opinion on each of them."""
    said = enumerate(texts(asked), start=1)
    return {
        f"text_{number}": {"allowed": is_allowed(text), "reason": reason} for number, text in said
    }


def usual_answers() -> dict[str, Callable[[Asked], Any]]:
    def wanted(asked: Asked) -> int:
        found = re.search(r"Propose (\d+) new", asked.instructions)
        return int(found[1]) if found else 1

    return {
        "WrittenHypotheses": lambda asked: {"hypotheses": [hypothesis(asked, n) for n in range(wanted(asked))]},  # noqa: E501
        "WrittenHypothesis": hypothesis,
        "WrittenDebate": lambda asked: {"turns": [{"speaker": "A chemist", "says": "Objection!"}]},
        "WrittenReview": lambda asked: {
            "plausibility": 0.7, "novelty": 0.9, "testability": 0.5, "safety": 1.0,
            "strengths": ["Clear"], "weaknesses": ["Thin"],
            "recommendations": [], "quotations": ["Nobody ever wrote this."],
            "citations": [*asked.paper_ids[:1], "made-up"],
        },
        "WrittenVerdict": lambda asked: {"winner": "first", "reason": "Better."},
        "WrittenSafety": lambda asked: opinions(asked, lambda text: True),
        "WrittenMetaReview": lambda asked: {"text": "Be bolder about vessels."},
    }  # fmt: skip


def _read(path: str, headers: Any, body: dict[str, Any]) -> Asked:
    if path.endswith("/chat/completions"):
        system, user = (message["content"] for message in body["messages"])
        wanted = body["response_format"]
        shape = wanted.get("json_schema") or {
            "name": wanted["schema"]["title"],
            "strict": True,
            "schema": wanted["schema"],
        }
        assert shape["strict"] is True
        assert shape["schema"]["additionalProperties"] is False
        return Asked(
            path,
            headers.get("authorization"),
            system,
            user,
            shape["name"],
            body["max_tokens"],
            wanted["type"],
        )
    if path.endswith("/v1/messages"):
        assert headers["anthropic-version"]
        assert body["tool_choice"]["name"] == body["tools"][0]["name"]
        texts = (body["system"], body["messages"][0]["content"])
        return Asked(
            path, headers.get("x-api-key"), *texts, body["tools"][0]["name"], body["max_tokens"]
        )
    texts = (body["systemInstruction"]["parts"][0]["text"], body["contents"][0]["parts"][0]["text"])
    config = body["generationConfig"]
    return Asked(
        path,
        headers.get("x-goog-api-key"),
        *texts,
        config["responseJsonSchema"]["title"],
        config["maxOutputTokens"],
    )


def _written(path: str, answer: Any) -> dict[str, Any]:
    is_cut = isinstance(answer, Cut)
    text = answer.text if is_cut else answer if isinstance(answer, str) else json.dumps(answer)
    if path.endswith("/chat/completions"):
        message = {"role": "assistant", "content": text}
        choice = {"index": 0, "message": message, "finish_reason": "length" if is_cut else "stop"}
        return {"choices": [choice], "usage": {"prompt_tokens": 100, "completion_tokens": 10}}
    if path.endswith("/v1/messages"):
        used = {"type": "tool_use", "id": "t", "name": "answer", "input": answer}
        part = {"type": "text", "text": text} if is_cut or isinstance(answer, str) else used
        reason = "max_tokens" if is_cut else "tool_use"
        return {
            "content": [part],
            "stop_reason": reason,
            "usage": {"input_tokens": 100, "output_tokens": 10},
        }
    candidate = {
        "content": {"parts": [{"text": text}], "role": "model"},
        "finishReason": "MAX_TOKENS" if is_cut else "STOP",
    }
    return {
        "candidates": [candidate],
        "usageMetadata": {"promptTokenCount": 100, "candidatesTokenCount": 10},
    }


@contextmanager
def model_server() -> Iterator[Script]:
    script = Script(answers=usual_answers())

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["content-length"])))
            asked = _read(self.path, self.headers, body)
            script.asked.append(asked)
            if script.first:
                status, headers, sent = script.first.pop(0)
            else:
                status, headers = 200, {}
                sent = json.dumps(_written(self.path, script.answers[asked.shape](asked))).encode()
            self.send_response(status)
            for name, value in {
                "content-type": "application/json",
                "content-length": str(len(sent)),
                **headers,
            }.items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(sent)

        def log_message(self, format: str, *args: Any) -> None:
            return None

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    script.url = f"http://127.0.0.1:{server.server_port}"
    try:
        yield script
    finally:
        server.shutdown()
        thread.join()
        server.server_close()

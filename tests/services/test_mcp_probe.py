"""Probing strangers' servers: whatever they answer, or never end to answer, is named and ends."""

from __future__ import annotations

import contextlib
import json
import os
import select
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from carrel.services.mcp_probe import ProbeError, probe_address, probe_command

pytestmark = pytest.mark.timeout(120)

Answer = Callable[[BaseHTTPRequestHandler, dict[str, Any]], None]


@contextmanager
def serving(answer: Answer) -> Iterator[str]:
    """A server at a free port that answers every request so."""

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            asked = json.loads(self.rfile.read(int(self.headers["content-length"])))
            with contextlib.suppress(BrokenPipeError, ConnectionResetError):
                answer(self, asked)

        def log_message(self, *_: object) -> None:
            """Say nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}/mcp"
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def send(handler: BaseHTTPRequestHandler, body: bytes, kind: str = "application/json") -> None:
    handler.send_response(200)
    handler.send_header("content-type", kind)
    handler.end_headers()
    handler.wfile.write(body)


def result(value: object) -> Answer:
    def answer(handler: BaseHTTPRequestHandler, asked: dict[str, Any]) -> None:
        send(
            handler, json.dumps({"jsonrpc": "2.0", "id": asked.get("id"), "result": value}).encode()
        )

    return answer


ODD_RESULTS: tuple[object, ...] = (
    None,
    [],
    "text",
    {"serverInfo": "text", "tools": "text"},
    {"serverInfo": ["x"], "tools": [1, None, {}, {"name": 3}]},
    {"tools": [{"name": "a", "annotations": [], "inputSchema": 5}]},
    {"tools": [{"name": "a", "annotations": {"readOnlyHint": True}}], "isError": 1, "content": 7},
)


@pytest.mark.parametrize("value", ODD_RESULTS, ids=repr)
def test_odd_results_are_reported_or_refused(value: object) -> None:
    with serving(result(value)) as url, contextlib.suppress(ProbeError):
        report = probe_address(url, {}, 10)
        assert all(isinstance(name, str) for name in report.tools)


@pytest.mark.parametrize(
    ("body", "kind"),
    [
        (b"<html>hello</html>", "text/html"),
        (b"", "application/json"),
        (b"[" * 100_000, "application/json"),
        (b"data: not json\n\n", "text/event-stream"),
        (b"\xff\xfe", "application/json"),
        (b'"text"', "application/json"),
    ],
)
def test_garbage_is_named(body: bytes, kind: str) -> None:
    with (
        serving(lambda handler, _: send(handler, body, kind)) as url,
        pytest.raises(ProbeError, match="not MCP"),
    ):
        probe_address(url, {}, 10)


def test_an_error_that_is_no_object_is_a_refusal() -> None:
    body = b'{"jsonrpc": "2.0", "id": 1, "error": "no"}'
    with (
        serving(lambda handler, _: send(handler, body)) as url,
        pytest.raises(ProbeError, match="initialize: no answer"),
    ):
        probe_address(url, {}, 10)


def test_a_stream_may_begin_with_an_empty_event() -> None:
    def answer(handler: BaseHTTPRequestHandler, asked: dict[str, Any]) -> None:
        found = {"tools": [{"name": "look"}], "serverInfo": {"name": "one"}}
        text = json.dumps({"jsonrpc": "2.0", "id": asked.get("id"), "result": found})
        send(handler, f"id: 1\ndata:\n\ndata: {text}\n\n".encode(), "text/event-stream")

    with serving(answer) as url:
        assert probe_address(url, {}, 10).tools == ("look",)


@pytest.mark.parametrize("kind", ["application/json", "text/event-stream", "text/html"])
def test_an_answer_without_an_end_is_left(kind: str) -> None:
    def answer(handler: BaseHTTPRequestHandler, _: dict[str, Any]) -> None:
        send(handler, b"", kind)
        while True:
            handler.wfile.write(b": " + b"x" * 1_000_000 + b"\n")

    with serving(answer) as url, pytest.raises(ProbeError, match=r"without an end|did not answer"):
        probe_address(url, {}, 30)


def test_an_answer_in_drops_is_left_when_its_time_is_over() -> None:
    over = threading.Event()

    def answer(handler: BaseHTTPRequestHandler, _: dict[str, Any]) -> None:
        send(handler, b"", "text/event-stream")
        while not over.wait(0.05):
            handler.wfile.write(b": still there\n")
            handler.wfile.flush()

    with serving(answer) as url:
        try:
            with pytest.raises(ProbeError, match=r"did not answer in 0\.5 seconds"):
                probe_address(url, {}, 0.5)
        finally:
            over.set()


def test_a_header_that_cannot_be_sent_is_named() -> None:
    with serving(result({})) as url, pytest.raises(ProbeError, match="header"):
        probe_address(url, {"X-Name": "é"}, 10)


def test_a_redirect_is_not_followed_with_the_headers() -> None:
    seen: list[str] = []

    def redirect(handler: BaseHTTPRequestHandler, _: dict[str, Any]) -> None:
        seen.append(handler.headers["authorization"])
        handler.send_response(307)
        handler.send_header("location", other)
        handler.send_header("content-length", "0")
        handler.end_headers()

    def other_answer(handler: BaseHTTPRequestHandler, _: dict[str, Any]) -> None:
        seen.append("elsewhere")
        send(handler, b"{}")

    with (
        serving(other_answer) as other,
        serving(redirect) as url,
        pytest.raises(ProbeError, match="307 and not MCP"),
    ):
        probe_address(url, {"Authorization": "Bearer x"}, 10)
    assert seen == ["Bearer x"]


def ask_program(code: str, folder: Path, seconds: float) -> None:
    probe_command(sys.executable, ["-c", code], dict(os.environ), str(folder), seconds)


@pytest.mark.parametrize(
    ("code", "said"),
    [
        ("print('hello')", "does not speak MCP: hello"),
        ("print('[' * 100000)", "does not speak MCP"),
        ("import os\nos.close(0)\nprint('hello')", "does not speak MCP: hello"),
        ("raise SystemExit(3)", "ended with code 3"),
        ("import sys\nwhile True: print('{}')", "did not answer"),
        ("import sys\nwhile True: sys.stderr.write('x' * 100000)", "did not answer"),
    ],
)
def test_a_program_that_is_no_server_is_named_and_ended(
    code: str, said: str, tmp_path: Path
) -> None:
    with pytest.raises(ProbeError, match=said.replace("[", r"\[")):
        ask_program(code, tmp_path, 2)


def has_ended(process_id: int) -> bool:
    """Whether a process that has been killed ends; the kernel may need a moment."""
    try:
        descriptor = os.pidfd_open(process_id)
    except ProcessLookupError:
        return True
    try:
        return bool(select.select([descriptor], [], [], 60)[0])
    finally:
        os.close(descriptor)


@pytest.mark.skipif(os.name != "posix", reason="groups of processes are of POSIX")
def test_what_a_program_started_is_ended_with_it(tmp_path: Path) -> None:
    code = (
        "import subprocess, sys\n"
        "inner = [sys.executable, '-c', 'import signal; signal.pause()']\n"
        "child = subprocess.Popen(inner)\n"
        "open('child', 'w').write(str(child.pid))\n"
        "child.wait()"
    )
    with pytest.raises(ProbeError, match="did not answer"):
        ask_program(code, tmp_path, 2)
    child = int((tmp_path / "child").read_text())
    assert has_ended(child)

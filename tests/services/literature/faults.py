"""A local server that goes wrong in every way that services and hosts were seen to.

The path names the fault: `http://127.0.0.1:port/empty`. `asked` holds the paths in order.
"""

from __future__ import annotations

import contextlib
import gzip
import io
import socket
import socketserver
import struct
import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cache
from types import TracebackType
from typing import Self

PAGE = b"<!DOCTYPE html><html><body>Service is being maintained</body></html>"
LOGIN_PAGE = b"<html><body><form><input type='password' name='p'>Sign in</form></body></html>"
_PIECE = b" " * 65_536
_BOMB_BYTES = 300_000_000
_MANY = 100_000


def http(status: int, headers: Mapping[str, str], body: bytes = b"") -> bytes:
    """A whole answer."""
    lines = [f"HTTP/1.1 {status} Reason", *(f"{name}: {value}" for name, value in headers.items())]
    if "content-length" not in {name.lower() for name in headers}:
        lines.append(f"Content-Length: {len(body)}")
    lines.append("Connection: close")
    return "\r\n".join(lines).encode() + b"\r\n\r\n" + body


@cache
def bomb() -> bytes:
    """Some hundred thousand bytes that unpack to some hundred million."""
    packed = io.BytesIO()
    with gzip.GzipFile(fileobj=packed, mode="wb", compresslevel=9, mtime=0) as file:
        for _ in range(_BOMB_BYTES // len(_PIECE)):
            file.write(_PIECE)
    return packed.getvalue()


JSON = {"Content-Type": "application/json"}
XML = {"Content-Type": "application/atom+xml"}
PDF = {"Content-Type": "application/pdf"}
ANSWERS: dict[str, bytes] = {
    "/good": http(200, JSON, b'{"results": []}'),
    "/good.xml": http(200, XML, b"<feed><entry/></feed>"),
    "/good.pdf": http(200, PDF, b"%PDF-1.7\n" + b"x" * 5000),
    "/429": http(429, {"Content-Type": "text/html"}, b"Rate exceeded."),
    "/429-seconds": http(429, {"Retry-After": "7"}),
    "/429-long": http(429, {"Retry-After": "600"}),
    "/429-absurd": http(429, {"Retry-After": "99999999999"}),
    "/429-nonsense": http(429, {"Retry-After": "soon"}),
    "/503-seconds": http(503, {"Retry-After": "3"}),
    "/503-date": http(503, {"Retry-After": "Thu, 01 Jan 1970 00:00:09 GMT"}),
    "/503-negative": http(503, {"Retry-After": "-5"}),
    "/401": http(401, JSON, b'{"error": "Invalid or missing API key"}'),
    "/403": http(403, JSON, b'{"message": "Forbidden"}'),
    "/404": http(404, {"Content-Type": "text/plain"}, b"Resource not found."),
    "/500": http(500, {}, b"error"),
    "/empty": http(200, JSON),
    "/blank": http(200, JSON, b" \n "),
    "/page": http(200, {"Content-Type": "text/html"}, PAGE),
    "/page-as-json": http(200, JSON, PAGE),
    "/page-as-pdf": http(200, PDF, PAGE),
    "/login-as-pdf": http(200, PDF, LOGIN_PAGE),
    "/cut-json": http(200, JSON, b'{"results": [{"title": "A'),
    "/cut-xml": http(200, XML, b"<feed><entry><title>A"),
    "/short": http(200, {**JSON, "Content-Length": "5000"}, b'{"results": []}'),
    "/short.pdf": http(200, {**PDF, "Content-Length": "5000"}, b"%PDF-1.7"),
    "/damaged-gzip": http(200, {**JSON, "Content-Encoding": "gzip"}, b"no gzip at all"),
    "/brotli.pdf": http(200, {**PDF, "Content-Encoding": "br"}, b"\x0b\x02\x80"),
    "/loop": http(302, {"Location": "/loop"}),
    "/to-loopback": http(302, {"Location": "http://127.0.0.1/secret"}),
    "/to-other-port": http(302, {"Location": "http://127.0.0.1:9/secret"}),
    "/to-metadata": http(302, {"Location": "http://169.254.169.254/latest/meta-data/"}),
    "/to-private": http(302, {"Location": "https://10.0.0.1/"}),
    "/to-decimal": http(302, {"Location": "http://2130706433/"}),
    "/to-mapped": http(302, {"Location": "http://[::ffff:127.0.0.1]/"}),
    "/to-file": http(302, {"Location": "file:///etc/passwd"}),
    "/to-userinfo": http(302, {"Location": "http://me:pass@example.org/"}),
    "/to-pirates": http(302, {"Location": "https://sci-hub.se/10.1000/1"}),
    "/to-rebinding": http(302, {"Location": "http://rebinding.example/secret"}),
    "/to-nowhere": http(302, {}),
    "/to-good": http(302, {"Location": "/good"}),
}


def _slow_head(connection: socket.socket, stop: threading.Event) -> None:
    connection.sendall(b"HTTP/1.1 200 OK\r\n")
    stop.wait(30)


def _slow_body(connection: socket.socket, stop: threading.Event) -> None:
    connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 1000000\r\n\r\n{")
    for _ in range(_MANY):
        if stop.wait(0.02):
            return
        connection.sendall(b" ")


def _endless_body(connection: socket.socket, stop: threading.Event) -> None:
    connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n\r\n[")
    while not stop.is_set():
        connection.sendall(_PIECE)


def _endless_head(connection: socket.socket, stop: threading.Event) -> None:
    connection.sendall(b"HTTP/1.1 200 OK\r\n")
    while not stop.is_set():
        connection.sendall(b"X-Filler: " + b"a" * 4000 + b"\r\n")


def _bomb(connection: socket.socket, _: threading.Event) -> None:
    connection.sendall(http(200, {**JSON, "Content-Encoding": "gzip"}, bomb()))


def _pdf_bomb(connection: socket.socket, _: threading.Event) -> None:
    connection.sendall(http(200, {**PDF, "Content-Encoding": "gzip"}, bomb()))


def _reset(connection: socket.socket, _: threading.Event) -> None:
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    connection.close()


def _garbage(connection: socket.socket, _: threading.Event) -> None:
    connection.sendall(b"\x00\x01\x02 what is this\r\n\r\n")


PLAYS: dict[str, Callable[[socket.socket, threading.Event], None]] = {
    "/slow-head": _slow_head,
    "/slow-body": _slow_body,
    "/endless": _endless_body,
    "/endless-head": _endless_head,
    "/bomb": _bomb,
    "/bomb.pdf": _pdf_bomb,
    "/reset": _reset,
    "/garbage": _garbage,
}


@dataclass
class FaultServer:
    """Open it with `with`; `first` holds paths whose faults are given to the next requests."""

    asked: list[str] = field(default_factory=list)
    first: list[str] = field(default_factory=list)

    def __enter__(self) -> Self:
        faults, stop = self, threading.Event()
        # Packed before anybody waits for it.
        bomb()

        class Handler(socketserver.StreamRequestHandler):
            def handle(self) -> None:
                path = self.rfile.readline().split()[1].decode()
                length = 0
                while (line := self.rfile.readline().strip()) != b"":
                    if line.lower().startswith(b"content-length:"):
                        length = int(line.split(b":")[1])
                self.rfile.read(length)
                faults.asked.append(path)
                name = (faults.first.pop(0) if faults.first else path).split("?")[0]
                with contextlib.suppress(OSError):
                    if name in PLAYS:
                        PLAYS[name](self.connection, stop)
                    else:
                        self.connection.sendall(ANSWERS.get(name, ANSWERS["/404"]))

        class Server(socketserver.ThreadingTCPServer):
            daemon_threads = True
            block_on_close = False

            def handle_error(self, *_: object) -> None:
                pass

        self._stop = stop
        self._server = Server(("127.0.0.1", 0), Handler)
        self._thread = threading.Thread(target=self._server.serve_forever, daemon=True)
        self._thread.start()
        self.origin = f"127.0.0.1:{self._server.server_address[1]}"
        self.url = f"http://{self.origin}"
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._stop.set()
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()

"""A real served desk with small limits, and sockets that say to it exactly what a test wants."""

from __future__ import annotations

import os
import re
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import orjson

from tests.processes import warm

ROOT = Path(__file__).resolve().parents[2]
COMMAND = [
    sys.executable,
    "-c",
    "import sys; from carrel.cli import main; sys.exit(main(sys.argv[1:]))",
]
PATIENCE_SECONDS = 60
PING = b'{"jsonrpc":"2.0","id":1,"method":"ping"}'


@dataclass(frozen=True, slots=True)
class Server:
    """A running `carrel serve`."""

    port: int
    pid: int
    home: Path

    def connect(self, source: str = "127.0.0.1") -> socket.socket:
        return socket.create_connection(
            ("127.0.0.1", self.port), timeout=PATIENCE_SECONDS, source_address=(source, 0)
        )

    def ask(self, request: bytes, source: str = "127.0.0.1") -> bytes:
        """Everything the server says until it closes, on a connection of its own."""
        with self.connect(source) as connection:
            connection.sendall(request)
            return read_to_end(connection)

    def ping_status(self, source: str = "127.0.0.1") -> int:
        """What a well-behaved client sees."""
        return status_of(self.ask(post("/mcp", PING, "Connection: close"), source))

    def resident_bytes(self) -> int:
        status = Path(f"/proc/{self.pid}/status").read_text(encoding="ascii")
        found = re.search(r"VmRSS:\s+(\d+)", status)
        assert found is not None
        return int(found.group(1)) * 1024

    def audit_records(self) -> list[dict[str, object]]:
        return [
            orjson.loads(line)
            for line in (self.home / "audit" / "audit.jsonl").read_bytes().splitlines()
        ]


@contextmanager
def served(home: Path, *words: str, **environment: str) -> Iterator[Server]:
    """`carrel serve` without rooms; the environment holds settings."""
    base = {
        name: value
        for name, value in os.environ.items()
        if not name.startswith(("CARREL_", "DATABASE_URL", "PORT"))
    }
    home.mkdir(parents=True, exist_ok=True)
    process = warm.start(
        [*COMMAND, "serve", "--port", "0", *words],
        env={
            **base,
            "PYTHONPATH": str(ROOT / "src"),
            "CARREL_HOME": str(home),
            "CARREL_ROOMS": "",
            **environment,
        },
        cwd=home,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert process.stderr is not None
    try:
        said = ""
        for line in process.stderr:
            said += line
            if "Cursor:" in line:
                break
        found = re.search(r"at http://[^:]+:(\d+)", said)
        assert found is not None, said
        yield Server(int(found.group(1)), process.pid, home)
    finally:
        process.terminate()
        process.communicate(timeout=PATIENCE_SECONDS)


def post(path: str, body: bytes, *headers: str, host: str = "localhost") -> bytes:
    """A well-formed request with a JSON body."""
    lines = [
        f"POST {path} HTTP/1.1",
        f"Host: {host}",
        "Content-Type: application/json",
        f"Content-Length: {len(body)}",
        *headers,
    ]
    return "\r\n".join(lines).encode("latin-1") + b"\r\n\r\n" + body


def read_to_end(connection: socket.socket) -> bytes:
    """What comes until the other side closes, however it does that."""
    said = b""
    try:
        while chunk := connection.recv(65536):
            said += chunk
    except (ConnectionResetError, BrokenPipeError):
        pass
    return said


def read_response(connection: socket.socket) -> bytes:
    """One response with a declared length."""
    said = b""
    while b"\r\n\r\n" not in said:
        chunk = connection.recv(65536)
        assert chunk, said
        said += chunk
    found = re.search(rb"content-length: (\d+)", said)
    whole = said.index(b"\r\n\r\n") + 4 + (int(found.group(1)) if found else 0)
    while len(said) < whole:
        said += connection.recv(65536)
    return said


def status_of(response: bytes) -> int:
    """The status of a response; 0 where there was none."""
    return int(response.split(b" ", 2)[1]) if response.startswith(b"HTTP/1.1 ") else 0


def is_closed(connection: socket.socket) -> bool:
    """Whether the other side closes; waits for it."""
    read_to_end(connection)
    return True

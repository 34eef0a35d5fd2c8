"""The sample room in a process of its own: `python -m tests.doors.sample_process stdio` or `… http PORT`."""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from carrel.doors.http.server import listen, run_server
from carrel.doors.logs import configure_logs
from carrel.doors.mcp.stdio import ProtocolOutput, serve_stdio
from carrel.settings import Settings
from carrel.wiring.desk import Desk, OpenRoom, open_desk
from carrel.wiring.http import http_app
from carrel.wiring.mcp import stdio_lane
from tests.sample_room import sample_room


ROOT = Path(__file__).resolve().parents[2]
ENVIRONMENT = {**os.environ, "PYTHONPATH": f"{ROOT / 'src'}{os.pathsep}{ROOT}"}
STDIO = [sys.executable, "-m", "tests.doors.sample_process", "stdio"]


@contextmanager
def started(*words: str) -> Iterator[subprocess.Popen[bytes]]:
    """The process, with pipes to it; gone when the test is over, however that ends."""
    command = [sys.executable, "-m", "tests.doors.sample_process", *words]
    pipe = subprocess.PIPE
    with subprocess.Popen(command, stdin=pipe, stdout=pipe, stderr=pipe, cwd=ROOT, env=ENVIRONMENT) as process:
        try:
            yield process
        finally:
            process.kill()


def sample_desk(home: str) -> Desk:
    return open_desk(Settings(rooms=(), home=Path(home)), [OpenRoom(sample_room())])


async def speak(home: str, output: ProtocolOutput) -> None:
    async with sample_desk(home).opened() as desk:
        await serve_stdio(stdio_lane(desk), desk.gate, sys.stdin.fileno(), output.write_line)


def main() -> None:
    with tempfile.TemporaryDirectory() as home:
        if sys.argv[1] == "stdio":
            output = ProtocolOutput()
            configure_logs("info", "text")
            asyncio.run(speak(home, output))
        else:
            configure_logs("info", "text")
            listener = listen("127.0.0.1", int(sys.argv[2]))
            print(f"listening on {listener.getsockname()[1]}", file=sys.stderr, flush=True)
            run_server(http_app(sample_desk(home)), listener, workers=1, drain_seconds=10)


if __name__ == "__main__":
    main()

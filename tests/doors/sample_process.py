"""The sample room in a process of its own: `python -m tests.doors.sample_process stdio`, `… http
PORT`, or
`… sound PORT` without the operations that break or wait on purpose."""

from __future__ import annotations

import asyncio
import logging
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

from carrel.doors.http.server import listen, run_server
from carrel.doors.logs import configure_logs
from carrel.doors.mcp.stdio import ProtocolOutput, serve_stdio
from carrel.policy.http_limits import ConnectionLimits
from carrel.settings import ServerSettings, Settings
from carrel.wiring.desk import Desk, OpenRoom, open_desk
from carrel.wiring.http import http_app
from carrel.wiring.mcp import stdio_dispatcher
from tests.processes import warm
from tests.sample_room import sample_room

ROOT = Path(__file__).resolve().parents[2]
ENVIRONMENT = {**os.environ, "PYTHONPATH": f"{ROOT / 'src'}{os.pathsep}{ROOT}"}
UNSOUND = frozenset({"fail", "answer_nonsense", "reach", "dawdle", "hold", "wait_until_held"})
STDIO = [sys.executable, "-m", "tests.doors.sample_process", "stdio"]


@contextmanager
def started(*words: str) -> Iterator[subprocess.Popen[bytes]]:
    """The process, with pipes to it; gone when the test is over, however that ends."""
    command = [sys.executable, "-m", "tests.doors.sample_process", *words]
    pipe = subprocess.PIPE
    with warm.start(
        command, stdin=pipe, stdout=pipe, stderr=pipe, cwd=ROOT, env=ENVIRONMENT
    ) as process:
        try:
            yield process
        finally:
            process.kill()


def sample_desk(
    home: str, leave_out: frozenset[str] = frozenset(), server: ServerSettings | None = None
) -> Desk:
    room = sample_room()
    operations = tuple(
        operation for operation in room.operations if operation.name not in leave_out
    )
    return open_desk(
        Settings(rooms=(), home=Path(home), server=server or ServerSettings()),
        [OpenRoom(replace(room, operations=operations))],
    )


async def speak(home: str, output: ProtocolOutput) -> None:
    async with sample_desk(home).session() as desk:
        await serve_stdio(stdio_dispatcher(desk), desk.gate, sys.stdin.fileno(), output.write_line)


def main() -> None:
    with tempfile.TemporaryDirectory() as home:
        if sys.argv[1] == "stdio":
            output = ProtocolOutput()
            configure_logs("info", "text")
            asyncio.run(speak(home, output))
        else:
            configure_logs("info", "text")
            logging.getLogger("uvicorn").setLevel("INFO")
            listener = listen("127.0.0.1", int(sys.argv[2]))
            print(f"listening on {listener.getsockname()[1]}", file=sys.stderr, flush=True)
            delay = float(sys.argv[3]) if len(sys.argv) > 3 else None
            left_out = UNSOUND if sys.argv[1] == "sound" else frozenset[str]()
            server = ServerSettings(stop_delay_seconds=delay)
            run_server(
                http_app(sample_desk(home, left_out, server)),
                listener,
                workers=1,
                drain_seconds=10,
                limits=ConnectionLimits(),
            )


if __name__ == "__main__":
    main()

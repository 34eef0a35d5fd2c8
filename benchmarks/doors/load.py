"""Requests per second and server CPU per request over loopback, with wrk at 1, 16, 64 and 1,024
connections, beside FastMCP, a Starlette route, an ASGI function and a bare socket; then memory.
"""

from __future__ import annotations

import os
import re
import shutil
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from benchmarks.doors.subjects import call

SECONDS = 4
_APPS = {
    "Carrel": "benchmarks.doors.serve_carrel",
    "FastMCP": "benchmarks.doors.factories:fastmcp",
    "Starlette": "benchmarks.doors.factories:starlette",
    "raw ASGI": "benchmarks.doors.factories:raw",
    "socket": "benchmarks.doors.bare_socket",
}
_CONNECTIONS = (1, 16, 64, 1024)


def _command(served: str, port: int) -> list[str]:
    """Carrel is served as it is shipped, bounds and all; others as uvicorn serves a factory."""
    if ":" not in served:
        return [sys.executable, "-m", served, str(port)]
    options = [
        "--port",
        str(port),
        "--loop",
        "uvloop",
        "--http",
        "httptools",
        "--log-level",
        "error",
        "--no-access-log",
    ]
    return [sys.executable, "-m", "uvicorn", served, "--factory", *options]


@contextmanager
def _serving(factory: str, home: Path) -> Iterator[tuple[int, str]]:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    environment = {**os.environ, "CARREL_BENCH_HOME": str(home)}
    process = subprocess.Popen(_command(factory, port), env=environment)
    try:
        for _ in range(1200):
            with socket.socket() as probe:
                if probe.connect_ex(("127.0.0.1", port)) == 0:
                    break
            time.sleep(0.1)
        yield process.pid, f"http://127.0.0.1:{port}/mcp"
    finally:
        process.terminate()
        process.wait(timeout=30)


def _cpu_seconds(pid: int) -> float:
    fields = Path(f"/proc/{pid}/stat").read_text(encoding="ascii").rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def _resident_megabytes(pid: int) -> float:
    status = Path(f"/proc/{pid}/status").read_text(encoding="ascii")
    found = re.search(r"VmRSS:\s+(\d+)", status)
    return int(found.group(1)) / 1024 if found else 0.0


def _script() -> str:
    body, headers = call(is_modern=False)
    lines = [
        f'wrk.headers["{name.decode()}"] = "{value.decode()}"'
        for name, value in headers
        if name != b"host"
    ]
    return "\n".join(['wrk.method = "POST"', *lines, f"wrk.body = [[{body.decode()}]]"])


def _wrk(script: Path, url: str, connections: int, seconds: int) -> tuple[int, str]:
    command = [
        "wrk",
        "-t1",
        f"-c{connections}",
        f"-d{seconds}s",
        "--latency",
        "-s",
        str(script),
        url,
    ]
    shown = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    if "Non-2xx" in shown:
        raise RuntimeError(shown)
    requests = int(re.search(r"(\d+) requests in", shown).group(1))  # type: ignore[union-attr]
    middle = re.search(r"^\s+50%\s+(\S+)", shown, re.MULTILINE)
    tail = re.search(r"^\s+99%\s+(\S+)", shown, re.MULTILINE)
    return (
        requests,
        f"p50 {middle.group(1) if middle else '?'}, p99 {tail.group(1) if tail else '?'}",
    )


def run(home: Path) -> None:
    if shutil.which("wrk") is None:
        print("\nLoad: skipped, wrk is not installed (apt-get install wrk)")
        return
    with tempfile.TemporaryDirectory() as folder:
        script = Path(folder) / "call.lua"
        script.write_text(_script(), encoding="utf-8")
        print(f"\ntools/call over loopback, one worker, wrk for {SECONDS} s each")
        spent: dict[str, dict[int, float]] = {}
        for name, factory in _APPS.items():
            with _serving(factory, home) as (pid, url):
                _wrk(script, url, 8, 1)
                spent[name] = {}
                for connections in _CONNECTIONS:
                    before = _cpu_seconds(pid)
                    requests, latency = _wrk(script, url, connections, SECONDS)
                    spent[name][connections] = (_cpu_seconds(pid) - before) / requests * 1e6
                    print(
                        f"{name:10}{connections:>5} connections {requests / SECONDS:>8.0f}/s  "
                        f"{spent[name][connections]:>6.1f} µs CPU each  {latency}"
                    )
                if name == "Carrel":
                    _memory(script, url, pid)
        for name, rows in spent.items():
            shares = "  ".join(
                f"{connections}: {rows[connections] / spent['Carrel'][connections]:.2f}"
                for connections in _CONNECTIONS
            )
            print(f"CPU of {name:10} over that of Carrel, by connections  {shares}")


def _memory(script: Path, url: str, pid: int) -> None:
    made = 0
    while made < 20_000:
        made += _wrk(script, url, 16, 2)[0]
    early, at = _resident_megabytes(pid), made
    while made < at + 80_000:
        made += _wrk(script, url, 16, 4)[0]
    late = _resident_megabytes(pid)
    growth = (late / early - 1) * 100
    print(
        f"Carrel    resident memory {early:.1f} MB after {at:,} calls, {late:.1f} MB after "
        f"{made:,}: {growth:+.1f} %"
    )

"""How long until the first answer over stdio: a new process, one initialize, its reply."""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
import time
from pathlib import Path

import orjson

from benchmarks.doors.subjects import message

RUNS = 9


def _seconds(command: list[str], environment: dict[str, str]) -> float:
    params = {
        "protocolVersion": "2025-11-25",
        "capabilities": {},
        "clientInfo": {"name": "bench", "version": "1"},
    }
    body, _ = message("initialize", params, is_modern=False)
    began = time.perf_counter()
    with subprocess.Popen(
        command,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        env=environment,
    ) as process:
        if process.stdin is None or process.stdout is None:
            raise RuntimeError("no pipes")
        process.stdin.write(body + b"\n")
        process.stdin.flush()
        line = process.stdout.readline()
        spent = time.perf_counter() - began
        process.stdin.close()
        process.wait(timeout=30)
    if "result" not in orjson.loads(line):
        raise RuntimeError(f"{command} answered {line!r}")
    return spent


def run(home: Path) -> None:
    environment = {**os.environ, "CARREL_HOME": str(home)}
    carrel = [str(Path(sys.executable).with_name("carrel")), "mcp"]
    peer = [sys.executable, "-m", "benchmarks.doors.subjects", "stdio"]
    ours = statistics.median(_seconds(carrel, environment) for _ in range(RUNS))
    theirs = statistics.median(_seconds(peer, environment) for _ in range(RUNS))
    print(f"\nFirst answer over stdio (median of {RUNS} processes)")
    print(
        f"carrel mcp {ours * 1000:.0f} ms, FastMCP hello-world {theirs * 1000:.0f} ms: "
        f"1/{theirs / ours:.1f}"
    )

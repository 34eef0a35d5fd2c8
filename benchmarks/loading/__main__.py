"""Loads a dump as a user does and says how fast, in how much memory and on how much disk.

    python -m benchmarks.loading SERVICE FOLDER --home HOME [--kill-after SECONDS] [-- OPTIONS]

Prints one line of JSON: seconds of wall clock and of CPU, records a second, the greatest memory of
the command and of all its processes together, and the size of the corpus. With `--kill-after`, the
command is first killed (SIGKILL) after so many seconds and then run again.
"""

from __future__ import annotations

import argparse
import os
import resource
import signal
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path

import orjson

_LOOK_SECONDS = 0.5


@dataclass(slots=True)
class Memory:
    """The greatest memory seen, in MB: of the command, and of it with its children."""

    command: float = 0.0
    together: float = 0.0

    def look(self, process: int) -> None:
        own = _resident(process)
        self.command = max(self.command, own)
        self.together = max(self.together, own + sum(map(_resident, _children(process))))


def _resident(process: int) -> float:
    try:
        for line in Path(f"/proc/{process}/status").read_text().splitlines():
            if line.startswith("VmRSS:"):
                return int(line.split()[1]) / 1024
    except OSError:
        pass
    return 0.0


def _children(process: int) -> list[int]:
    found: list[int] = []
    try:
        for task in Path(f"/proc/{process}/task").iterdir():
            named = (task / "children").read_text().split()
            found += [int(each) for each in named]
    except OSError:
        pass
    return found


def run_command(words: list[str], home: Path, memory: Memory, kill_after: float | None) -> str:
    """The output of the command; empty where it was killed."""
    environment = {**os.environ, "CARREL_HOME": str(home)}
    started = time.monotonic()
    with subprocess.Popen(
        [sys.executable, "-m", "carrel", *words],
        env=environment,
        stdout=subprocess.PIPE,
        text=True,
        start_new_session=True,
    ) as process:
        while process.poll() is None:
            memory.look(process.pid)
            if kill_after is not None and time.monotonic() - started > kill_after:
                os.killpg(process.pid, signal.SIGKILL)
                process.wait()
                return ""
            time.sleep(_LOOK_SECONDS)
        assert process.stdout is not None
        return process.stdout.read()


def measure(
    service: str, folder: Path, home: Path, more: list[str], kill_after: float | None
) -> dict[str, object]:
    memory = Memory()
    words = ["papers", "load", service, str(folder), "--json", "--quiet", *more]
    if kill_after is not None:
        run_command(words, home, memory, kill_after)
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    started = time.monotonic()
    report = orjson.loads(run_command(words, home, memory, None))
    seconds = time.monotonic() - started
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    corpus = home / "papers"
    files = [path for path in corpus.rglob("*") if path.is_file()]
    return {
        "service": service,
        "records": report["records"],
        "papers": report["papers"],
        "seconds": round(seconds, 1),
        "cpu_seconds": round(cpu, 1),
        "records_a_second": round(report["records"] / seconds),
        "memory_mb": round(memory.command),
        "memory_with_readers_mb": round(memory.together),
        "disk_mb": round(sum(path.stat().st_size for path in files) / 1e6),
        "state_mb": round(sum(p.stat().st_size for p in files if p.name == "state.db") / 1e6),
        "bad": report["bad"],
        "was_killed": kill_after is not None,
    }


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("service")
    parser.add_argument("folder", type=Path)
    parser.add_argument("--home", type=Path, required=True)
    parser.add_argument("--kill-after", type=float)
    parser.add_argument("more", nargs="*")
    options = parser.parse_args()
    facts = measure(options.service, options.folder, options.home, options.more, options.kill_after)
    print(orjson.dumps(facts).decode())

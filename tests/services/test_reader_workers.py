"""Processes that read files end with the build that started them."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

_BUILD = """
import os, sys
from carrel.services.paper_sources.reading_processes import _pool

def equip():
    return (), None

if __name__ == "__main__":
    pool = _pool(equip, 1)
    print(pool.submit(os.getpid).result(), flush=True)
    sys.stdin.read()
"""


def test_workers_end_when_the_build_is_killed(tmp_path: Path) -> None:
    script = tmp_path / "build.py"
    script.write_text(_BUILD, "utf-8")
    build = subprocess.Popen(
        [sys.executable, str(script)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    assert build.stdout is not None
    worker = int(build.stdout.readline())
    assert worker != build.pid
    build.kill()
    # The worker holds the same output open: its end is the end of the worker.
    rest, _ = build.communicate(timeout=60)
    assert rest == ""

"""`python -m benchmarks.doors`: all measurements of the doors in one run."""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

from benchmarks.doors import cpu, layers, load, stdio, tail

_PARTS = {
    "cpu": cpu.run,
    "layers": layers.run,
    "stdio": stdio.run,
    "load": load.run,
    "tail": tail.run,
}


def main(parts: list[str]) -> int:
    with tempfile.TemporaryDirectory() as folder:
        for part in parts or list(_PARTS):
            _PARTS[part](Path(folder))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

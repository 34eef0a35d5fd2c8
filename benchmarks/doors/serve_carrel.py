"""`python -m benchmarks.doors.serve_carrel PORT`: the shipped server as `carrel serve` runs it, on
the demonstration corpus.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path

from benchmarks.doors.subjects import carrel_app
from carrel.doors.http.server import listen, run_server
from carrel.policy.http_limits import ConnectionLimits

if __name__ == "__main__":
    app = carrel_app(Path(os.environ["CARREL_BENCH_HOME"]))
    run_server(
        app,
        listen("127.0.0.1", int(sys.argv[1])),
        workers=1,
        drain_seconds=2,
        limits=ConnectionLimits(max_connections=4096, max_connections_per_address=4096),
    )

"""The compared servers as factories that uvicorn can import."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from benchmarks.doors.subjects import carrel_app, fastmcp_app, starlette_app


def carrel() -> Any:
    return carrel_app(Path(os.environ["CARREL_BENCH_HOME"]))


def fastmcp() -> Any:
    return fastmcp_app()


def starlette() -> Any:
    return starlette_app()

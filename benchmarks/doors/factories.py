"""The compared servers as factories that uvicorn can import."""

from __future__ import annotations

from typing import Any

from benchmarks.doors.subjects import fastmcp_app, starlette_app


def fastmcp() -> Any:
    return fastmcp_app()


def starlette() -> Any:
    return starlette_app()

"""A real server process for tests of the command line, and calls to it as a client makes them."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import threading
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from tests.processes import warm

CARREL = [sys.executable, "-m", "carrel"]


@contextmanager
def serve(home: Path, mode: str, *words: str, **environment: str) -> Iterator[str]:
    """The address of `carrel serve` on that home, until the block ends."""
    environment = {
        **os.environ,
        "CARREL_AUTH_MODE": mode,
        "PYTHONUNBUFFERED": "1",
        **environment,
    }
    server = warm.start(
        [*CARREL, "serve", "--port", "0", "--home", str(home), *words],
        env=environment,
        text=True,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
    )
    assert server.stderr is not None
    try:
        said = ""
        for line in server.stderr:
            said += line
            if found := re.search(r" at (http://\S+) \(MCP", line):
                # Nobody reads its log from here on, and a full pipe would stop it.
                threading.Thread(target=server.stderr.read, daemon=True).start()
                yield found.group(1)
                return
        raise AssertionError(f"the server did not start: {said}")
    finally:
        server.terminate()
        server.wait(timeout=60)


def invoke(url: str, token: str | None, tool: str, **params: object) -> dict[str, Any]:
    """The answer of the REST gateway to a call, also where it refuses."""
    headers = {"content-type": "application/json"}
    if token is not None:
        headers["authorization"] = f"Bearer {token}"
    body = json.dumps({"tool_name": tool, "params": params}).encode()
    request = urllib.request.Request(f"{url}/mcp/invoke", body, headers)
    try:
        with urllib.request.urlopen(request, timeout=60) as answer:
            return dict(json.load(answer))
    except urllib.error.HTTPError as refused:
        return dict(json.load(refused))

"""`carrel serve` in a process of its own, asked over REST."""

from __future__ import annotations

import contextlib
import http.client
import json
import os
import re
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from tests.processes import warm

ROOT = Path(__file__).resolve().parents[3]
PROGRAM = [sys.executable, "-c", "import sys; from carrel.cli import main; sys.exit(main())"]


class Server:
    """`carrel serve` in a process of its own."""

    def __init__(self, process: subprocess.Popen[str], port: int) -> None:
        self.process = process
        self.port = port

    def ask(self, tool: str, **arguments: Any) -> Any:
        answer = self.invoke(tool, **arguments)
        assert answer["success"], answer
        return answer["result"]

    def invoke(self, tool: str, **arguments: Any) -> dict[str, Any]:
        """The whole body of the answer, whether the call succeeded or not."""
        with contextlib.closing(
            http.client.HTTPConnection("127.0.0.1", self.port, timeout=60)
        ) as connection:
            body = json.dumps({"tool_name": tool, "params": arguments})
            connection.request("POST", "/mcp/invoke", body, {"content-type": "application/json"})
            answer = json.loads(connection.getresponse().read())
        return dict(answer)


@contextlib.contextmanager
def serving(snapshot: Path, home: Path, **more: str) -> Iterator[Server]:
    words = [
        *PROGRAM,
        "serve",
        "--port",
        "0",
        "--home",
        str(home),
        "--snapshot",
        str(snapshot),
        "--rooms",
        "papers,research",
    ]
    environment = {
        **os.environ,
        **more,
        "PYTHONPATH": os.pathsep.join([str(ROOT / "src"), *filter(None, [more.get("PYTHONPATH")])]),
    }
    with warm.start(words, stderr=subprocess.PIPE, text=True, env=environment, cwd=ROOT) as process:
        try:
            assert process.stderr is not None
            found = next(
                found
                for line in process.stderr
                if (found := re.search(r"http://127\.0\.0\.1:(\d+)", line))
            )
            # Nobody reads its log; a full pipe would stop it.
            threading.Thread(target=process.stderr.read, daemon=True).start()
            yield Server(process, int(found[1]))
        finally:
            process.kill()

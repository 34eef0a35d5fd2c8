"""OAuth judged by others: the conformance suite's authorization judge, the Inspector and both
TypeScript SDKs.

`python -m tests.interop.oauth [--tools FOLDER]` (part of `make interop`). The folder keeps what npm
installs; a script fills
in the real log-in and consent forms, as a person would.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import httpx2

from tests.access.serving import Served, serving, sign_in_and_allow, visit_callback
from tests.access.support import operation_for

PACKAGES = {
    "node": "node@22.23.3",
    "@modelcontextprotocol/conformance": "@modelcontextprotocol/conformance@0.2.0-alpha.12",
    "@modelcontextprotocol/inspector": "@modelcontextprotocol/inspector@2.12.0",
    "@modelcontextprotocol/sdk": "@modelcontextprotocol/sdk@1.32.2",
    "@modelcontextprotocol/client": "@modelcontextprotocol/client@2.4.0",
}
READ = operation_for("papers:read")
_ADDRESS = re.compile(r"http://127\.0\.0\.1:\d+/authorize\S*")
_CALLBACK_PORT = 3999


class FailedError(Exception):
    """A judge said no."""


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "--tools", type=Path, default=Path(os.environ.get("CARREL_INTEROP_TOOLS", ".run/interop"))
    )
    tools = parser.parse_args().tools.resolve()
    install(tools)
    failures = 0
    judges: dict[str, Callable[[Served, Path], str]] = {
        "conformance authorization": conformance,
        "inspector": inspector,
        "TypeScript SDK v1": lambda served, tools: typescript(served, tools, "v1"),
        "TypeScript SDK v2": lambda served, tools: typescript(served, tools, "v2"),
    }
    for name, judge in judges.items():
        with tempfile.TemporaryDirectory() as home, serving(Path(home)) as served:
            try:
                print(f"ok    {name}: {judge(served, tools)}", flush=True)
            except (FailedError, subprocess.TimeoutExpired, AssertionError) as error:
                failures += 1
                print(f"FAIL  {name}: {error}", flush=True)
    return 1 if failures else 0


def install(tools: Path) -> None:
    """Fetches what is missing."""
    if all(_holder(tools, name) is not None for name in PACKAGES):
        return
    tools.mkdir(parents=True, exist_ok=True)
    if not (tools / "package.json").exists():
        (tools / "package.json").write_text('{"private": true}', encoding="utf-8")
    command = ["npm", "install", "--no-audit", "--no-fund", *PACKAGES.values()]
    subprocess.run(command, cwd=tools, check=True, stdout=subprocess.DEVNULL)


def _holder(tools: Path, name: str) -> Path | None:
    """The folder whose node_modules hold a package: the tools' own, or one inside it."""
    places = [tools, *sorted(tools.glob("*/"))]
    return next(
        (place for place in places if (place / "node_modules" / name / "package.json").exists()),
        None,
    )


def _modules(tools: Path, name: str) -> Path:
    holder = _holder(tools, name)
    if holder is None:
        raise FailedError(f"{name} is not installed")
    return holder / "node_modules"


def _environment(tools: Path, **more: str) -> dict[str, str]:
    return {
        **os.environ,
        "PATH": f"{_modules(tools, 'node') / '.bin'}{os.pathsep}{os.environ['PATH']}",
        **more,
    }


def conformance(served: Served, tools: Path) -> str:
    """Metadata and the code grant, as the official suite sees them."""
    facts = {
        "client_name": "conformance",
        "redirect_uris": [f"http://127.0.0.1:{_CALLBACK_PORT}/callback"],
    }
    client_id = httpx2.post(f"{served.url}/register", json=facts).json()["client_id"]
    with tempfile.TemporaryDirectory() as folder:
        name = "@modelcontextprotocol/conformance"
        suite = _modules(tools, name) / name / "dist" / "index.js"
        command = [
            "node",
            str(suite),
            "authorization",
            "--url",
            served.url,
            "--client-id",
            client_id,
        ]
        command += ["--resource", f"{served.url}/mcp", "--port", str(_CALLBACK_PORT), "-o", folder]
        process = subprocess.Popen(
            command,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            env=_environment(tools),
        )
        assert process.stdout is not None
        text = []
        for line in process.stdout:
            text.append(line)
            found = _ADDRESS.search(line)
            if found:
                visit_callback(sign_in_and_allow(found.group(0)))
        if process.wait(60) != 0:
            raise FailedError("".join(text[-15:]))
        checks = [
            check
            for file in Path(folder).rglob("checks.json")
            for check in json.loads(file.read_text(encoding="utf-8"))
        ]
    worse = [check["id"] for check in checks if check["status"] not in {"SUCCESS", "INFO"}]
    if worse or len(checks) < 3:
        raise FailedError(f"{worse or 'too few checks'}")
    return f"{len(checks)} checks passed"


def inspector(served: Served, tools: Path) -> str:
    """The Inspector's command line opens a browser, which is a script; then it works from what it
    has stored.
    """
    with tempfile.TemporaryDirectory() as folder:
        shim = Path(folder) / "xdg-open"
        root = Path(__file__).parents[2]
        shim.write_text(
            f'#!/bin/sh\nexec "{sys.executable}" -m tests.interop.oauth_browser "$1" </dev/null '
            f">/dev/null 2>&1 &\n"
        )
        shim.chmod(0o755)
        for name in ("open", "x-www-browser", "sensible-browser"):
            shutil.copy(shim, Path(folder) / name)
        environment = _environment(
            tools,
            HOME=folder,
            BROWSER=str(shim),
            MCP_AUTO_OPEN_ENABLED="true",
            MCP_INSPECTOR_SECRET_STORE="file",
            PYTHONPATH=f"{root / 'src'}{os.pathsep}{root}",
        )
        environment["PATH"] = f"{folder}{os.pathsep}{environment['PATH']}"
        command = [
            str(_modules(tools, "@modelcontextprotocol/inspector") / ".bin" / "mcp-inspector"),
            "--cli",
            "--server-url",
            f"{served.url}/mcp",
        ]
        command += [
            "--transport",
            "http",
            "--format",
            "json",
            "--method",
            "tools/call",
            "--tool-name",
            READ,
        ]
        for more in (["--relogin"], ["--stored-auth-only"]):
            done = subprocess.run(
                [*command, *more],
                env=environment,
                cwd=folder,
                capture_output=True,
                text=True,
                timeout=90,
                check=False,
            )
            if done.returncode != 0 or "hello ada" not in done.stdout:
                raise FailedError(
                    f"{more}: exit {done.returncode}: {(done.stderr or done.stdout)[-500:]}"
                )
    return "logged in, called, and called again from what it had stored"


def typescript(served: Served, tools: Path, generation: str) -> str:
    """Discovery, registration, PKCE, token, call and refresh with one of the TypeScript SDKs."""
    script = Path(__file__).with_name("oauth_client.mjs")
    process = subprocess.Popen(
        [
            "node",
            str(script),
            generation,
            str(_modules(tools, "@modelcontextprotocol/client").parent),
            f"{served.url}/mcp",
            READ,
        ],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        env=_environment(tools),
    )
    assert process.stdin is not None
    assert process.stdout is not None
    result: dict[str, Any] = {}
    text = []
    for line in process.stdout:
        text.append(line)
        if line.startswith("VISIT "):
            process.stdin.write(sign_in_and_allow(line.removeprefix("VISIT ").strip()) + "\n")
            process.stdin.flush()
        elif line.startswith("RESULT "):
            result = json.loads(line.removeprefix("RESULT "))
    process.wait(30)
    wanted = {
        "first": "hello ada",
        "second": "hello ada",
        "visits": 1,
        "refreshed": True,
        "rotated": True,
    }
    if result != wanted:
        raise FailedError(f"{result or ''.join(text[-20:])}")
    return "one log-in, two calls, one refresh"


if __name__ == "__main__":
    sys.exit(main())

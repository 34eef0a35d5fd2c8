"""`make interop`: judges and clients that others wrote, against the shipped server and the test
build. One line a check.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import socket
import subprocess
import sys
import tempfile
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import orjson
from anyio.from_thread import start_blocking_portal

from carrel.settings import Settings
from carrel.wiring.papers_build import with_demo
from tests.interop.conformance import (
    FASTMCP,
    FIXTURES,
    REVISIONS,
    SHIPPED_COMMON,
    SHIPPED_DESK,
    SUITE,
    Finding,
    Suite,
    Target,
    conformance_page,
)
from tests.journeys.doors import (
    ENVIRONMENT,
    MCP_DOORS,
    PROGRAM,
    FastMcpDoor,
    Said,
    SdkDoor,
    desk_options,
    opened,
)
from tests.libraries.discovery.small_corpus import GOAL
from tests.rooms.research.house import build_snapshot

ROOT = Path(__file__).resolve().parents[2]
SCRATCH = ROOT / ".run" / "interop"
PACKAGES = (
    "node@22.23.3",
    SUITE,
    "@modelcontextprotocol/inspector@2.12.0",
    "@modelcontextprotocol/sdk@1.32.2",
    "@modelcontextprotocol/client@2.4.0",
    "@modelcontextprotocol/ext-tasks@0.2.2",
)
TASKS_CLIENT = "fastmcp[tasks]==4.1.2"
MODULES = SCRATCH / "node_modules"
NODE = MODULES / ".bin" / "node"
TASKS_PYTHON = SCRATCH / "tasks" / "bin" / "python"


class Report:
    """Prints each check as it is made, and counts."""

    def __init__(self) -> None:
        self.passed = 0
        self.failed = 0

    def tell(self, name: str, is_good: bool, says: str = "") -> None:
        self.passed += is_good
        self.failed += not is_good
        print(f"{'ok  ' if is_good else 'FAIL'} {name}{': ' + says if says else ''}", flush=True)

    def check(self, name: str, look: Callable[[], str]) -> None:
        """Makes one check; whatever it raises is its failure."""
        try:
            self.tell(name, True, look())
        except Exception as problem:  # noqa: BLE001 - a judge's every complaint is a finding
            self.tell(name, False, f"{type(problem).__name__}: {problem}"[:2000])


def install() -> None:
    """The judges and clients, by pinned name, into a scratch folder."""
    stamp = SCRATCH / "installed"
    if not stamp.exists() or stamp.read_text(encoding="utf-8") != "\n".join(PACKAGES):
        npm = shutil.which("npm")
        if npm is None:
            raise SystemExit("make interop needs npm (any version that can install packages)")
        SCRATCH.mkdir(parents=True, exist_ok=True)
        (SCRATCH / "package.json").write_text(
            '{"private": true, "type": "module"}', encoding="utf-8"
        )
        subprocess.run(
            [npm, "install", "--no-audit", "--no-fund", "--save-exact", *PACKAGES],
            cwd=SCRATCH,
            check=True,
        )
        stamp.write_text("\n".join(PACKAGES), encoding="utf-8")
    for name in ("ts_client.mjs", "ts_tasks.mjs", "tasks_client.py"):
        shutil.copy(ROOT / "tests" / "interop" / name, SCRATCH / name)
    if not TASKS_PYTHON.exists():
        # In an environment of its own: it brings a job queue that nothing of ours needs.
        subprocess.run([sys.executable, "-m", "venv", str(TASKS_PYTHON.parents[1])], check=True)
        subprocess.run(
            [str(TASKS_PYTHON), "-m", "pip", "install", "--quiet", TASKS_CLIENT], check=True
        )


@contextmanager
def running(command: list[str], port: int, **environment: str) -> Iterator[None]:
    """A server process until the block ends; it is ready when it answers."""
    log = SCRATCH / f"server-{port}.log"
    with (
        log.open("wb") as shown,
        subprocess.Popen(
            command, stdout=shown, stderr=shown, cwd=ROOT, env=_environment(**environment)
        ) as process,
    ):
        try:
            _wait_for(process, port, log)
            yield
        finally:
            process.terminate()
            process.wait(30)


def _wait_for(process: subprocess.Popen[bytes], port: int, log: Path) -> None:
    """Returns when the server answers; raises RuntimeError with its log when it does not."""
    for _ in range(600):
        with (
            contextlib.suppress(OSError),
            urllib.request.urlopen(f"http://127.0.0.1:{port}/health", timeout=30),
        ):
            return
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(0.1)
            break
    raise RuntimeError(f"the server did not start: {log.read_text(encoding='utf-8')}")


def _environment(**more: str) -> dict[str, str]:
    path = f"{ROOT / 'src'}{os.pathsep}{ROOT}"
    return {
        **ENVIRONMENT,
        "PYTHONPATH": path,
        "PATH": f"{NODE.parent}{os.pathsep}{os.environ['PATH']}",
        "HOME": str(SCRATCH),
        **more,
    }


def free_port() -> int:
    with contextlib.closing(socket.socket()) as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def said_by(command: list[str]) -> Any:
    """What a program prints, as JSON."""
    done = subprocess.run(
        command,
        capture_output=True,
        text=True,
        env=_environment(),
        cwd=SCRATCH,
        timeout=120,
        check=False,
    )
    if done.returncode != 0:
        raise RuntimeError(f"exit code {done.returncode}: {done.stderr[-800:]}")
    return orjson.loads(done.stdout)


def conformance(report: Report, shipped: int, fixtures: int, fastmcp: int) -> None:
    """Every scored scenario of both revisions at every server; writes docs/conformance.md."""
    out = Path(tempfile.mkdtemp(dir=SCRATCH))
    script = MODULES / "@modelcontextprotocol" / "conformance" / "dist" / "index.js"
    suite = Suite(NODE, script, out)
    urls = {
        SHIPPED_DESK: f"http://127.0.0.1:{shipped}/desk/mcp",
        SHIPPED_COMMON: f"http://127.0.0.1:{shipped}/mcp",
        FIXTURES: f"http://127.0.0.1:{fixtures}/fixtures/mcp",
        FASTMCP: f"http://127.0.0.1:{fastmcp}/fixtures/mcp",
    }
    found: dict[tuple[Target, str], list[Finding]] = {}
    for revision in REVISIONS:
        for target, url in urls.items():
            findings = found[target, revision] = list(suite.judge(target, url, revision))
            for finding in findings:
                name = f"conformance {revision} {target.name} {finding.scenario}"
                report.tell(name, finding.is_as_expected, finding.says)
    tasks = list(suite.tasks(urls[FIXTURES], REVISIONS[-1]))
    for finding in tasks:
        report.tell(f"conformance tasks {finding.scenario}", finding.is_as_expected, finding.says)
    page = conformance_page(found, tasks, datetime.now(UTC).date().isoformat())
    (ROOT / "docs" / "conformance.md").write_text(page, encoding="utf-8")


@contextmanager
def judged_servers() -> Iterator[tuple[int, int, int]]:
    """`carrel serve` in an empty home, the fixture build, and the fixtures served by FastMCP."""
    shipped, fixtures, fastmcp = free_port(), free_port(), free_port()
    fixture_server = [sys.executable, "-m", "tests.interop.fixture_server"]
    with (
        tempfile.TemporaryDirectory(dir=SCRATCH) as home,
        running([*PROGRAM, "serve", "--home", home, "--port", str(shipped)], shipped),
        running([*fixture_server, str(fixtures)], fixtures),
        running([*fixture_server, "fastmcp", str(fastmcp)], fastmcp),
    ):
        yield shipped, fixtures, fastmcp


def inspector(report: Report, url: str, stdio: list[str]) -> None:
    """The Inspector's command line, over HTTP and stdio, in both eras."""
    base = [str(NODE), str(MODULES / ".bin" / "mcp-inspector"), "--cli", "-q", "--format", "json"]
    for era in ("legacy", "modern"):
        for way, before, after in (
            ("HTTP", ["--server-url", url, "--transport", "http"], []),
            ("stdio", [], ["--", *stdio]),
        ):

            def ask(
                *words: str, before: list[str] = before, after: list[str] = after, era: str = era
            ) -> Any:
                return said_by([*base, *before, "--protocol-era", era, *words, *after])["result"]

            def read(ask: Callable[..., Any] = ask) -> str:
                hit = _hit(
                    ask(
                        "--method",
                        "tools/call",
                        "--tool-name",
                        "search_papers",
                        "--tool-arg",
                        "query=memory",
                    )
                )
                contents = ask(
                    "--method", "resources/read", "--uri", f"paper://{hit['paper_id']}/metadata"
                )["contents"]
                return str(orjson.loads(contents[0]["text"])["title"])

            def count(ask: Callable[..., Any] = ask) -> str:
                return f"{len(ask('--method', 'tools/list')['tools'])} tools"

            name = f"Inspector {era} {way}"
            report.check(f"{name} tools/list", count)
            report.check(f"{name} tools/call, resources/read", read)


def _hit(result: Any) -> Any:
    return result["structuredContent"]["result"][0]


def typescript(report: Report, url: str, stdio: list[str]) -> None:
    """Both TypeScript SDKs; the first speaks the handshake only."""
    for sdk, era in (("v1", "legacy"), ("v2", "legacy"), ("v2", "modern")):
        for way, target in (("HTTP", [url]), ("stdio", stdio)):

            def visit(sdk: str = sdk, era: str = era, target: list[str] = target) -> str:
                saw = said_by([str(NODE), "ts_client.mjs", sdk, era, *target])
                assert saw["readTitle"] == saw["title"], saw
                assert saw["missing"] == {"isError": True, "code": "paper_not_found"}, saw
                assert saw["unknown"] == -32602, saw
                assert saw["revision"] in {
                    None,
                    "2026-07-28" if era == "modern" else "2025-11-25",
                }, saw
                return (
                    f"{len(saw['tools'])} tools, {len(saw['templates'])} templates, read "
                    f"{saw['title']!r}"
                )

            report.check(f"TypeScript SDK {sdk} {era} {way} list, call, read", visit)


def python(report: Report, settings: Settings, port: int) -> None:
    """The Python SDK and FastMCP's client, over HTTP and stdio, both eras, and in memory."""
    with start_blocking_portal() as portal:
        for name in MCP_DOORS:

            def visit(name: str = name) -> str:
                for door in opened(name, settings, port, portal):
                    assert isinstance(door, (SdkDoor, FastMcpDoor))
                    found = door.ask("search_papers", query="memory", limit=1)
                    assert isinstance(found, Said)
                    title = orjson.loads(
                        door.read(f"paper://{found.value[0]['paper_id']}/metadata")
                    )["title"]
                    assert title == found.value[0]["title"]
                    seen = (
                        f"{len(door.tools())} tools, {len(door.templates())} templates, read "
                        f"{title!r}"
                    )
                return seen

            report.check(f"Python {name} list, call, read", visit)


def tasks(report: Report) -> None:
    """The tasks extension by the official TypeScript package and by FastMCP's client, at both
    addresses that offer it.
    """
    with tempfile.TemporaryDirectory(dir=SCRATCH) as home:
        snapshot = build_snapshot(Path(home) / "papers")
        port = free_port()
        options = [
            "--home",
            home,
            "--rooms",
            "papers,research",
            "--snapshot",
            str(snapshot),
            "--port",
            str(port),
        ]
        with running([*PROGRAM, "serve", *options], port, CARREL_RESEARCH_TASK_AFTER_SECONDS="0"):
            for path in ("/research/mcp", "/desk/mcp"):
                for name, program in (
                    ("TypeScript", [str(NODE), "ts_tasks.mjs"]),
                    ("FastMCP", [str(TASKS_PYTHON), "tasks_client.py"]),
                ):

                    def visit(program: list[str] = program, path: str = path) -> str:
                        saw = said_by([*program, f"http://127.0.0.1:{port}{path}", GOAL])
                        assert saw["tasks"] >= 1, saw
                        assert saw["made"] == 1, saw
                        assert saw["ranked"] >= 1, saw
                        assert saw["wrong"] == "resource_not_found", saw
                        return f"{saw['tasks']} calls were tasks"

                    report.check(f"tasks {name} {path} call, follow, cancel", visit)


# Schemathesis does not know the media type of resumable uploads by itself: bytes as they are.
_UPLOAD_PIECES = """
import schemathesis

schemathesis.serializer.alias("application/offset+octet-stream", "application/octet-stream")
"""

# What this server was not given (a table of retractions, a cluster) is 503, and said.
_EXPECTED = """
[checks]
not_a_server_error.expected-statuses = ["2xx", "3xx", "4xx", "503"]
"""


def schemathesis(report: Report, port: int) -> None:
    """The REST door. What a page and a limit make together is beyond a schema, and one text is
    taken for a list of texts, so what is accepted and refused is judged by `make test`.
    """

    def judge() -> str:
        command = [
            sys.executable,
            "-m",
            "schemathesis.cli",
            "--config-file",
            str(SCRATCH / "schemathesis.toml"),
            "run",
            f"http://127.0.0.1:{port}/openapi.json",
            "--no-color",
        ]
        options = [
            "--max-examples",
            "100",
            "--seed",
            "1",
            "--exclude-checks",
            "positive_data_acceptance,negative_data_rejection",
        ]
        hooks = SCRATCH / "upload_pieces.py"
        hooks.write_text(_UPLOAD_PIECES, encoding="utf-8")
        (SCRATCH / "schemathesis.toml").write_text(_EXPECTED, encoding="utf-8")
        done = subprocess.run(
            [*command, *options],
            capture_output=True,
            text=True,
            cwd=SCRATCH,
            env={**os.environ, "SCHEMATHESIS_HOOKS": str(hooks)},
            timeout=300,
            check=False,
        )
        assert done.returncode == 0, done.stdout[-1500:]
        assert "Unresolvable references" not in done.stdout, done.stdout[-1500:]
        return next(line.strip() for line in done.stdout.splitlines() if " generated, " in line)

    report.check("schemathesis REST", judge)


def main() -> int:
    install()
    report = Report()
    with judged_servers() as ports:
        conformance(report, *ports)
    if "conformance" in sys.argv[1:]:
        return 1 if report.failed else 0
    with tempfile.TemporaryDirectory(dir=SCRATCH) as home:
        settings = with_demo(Settings(home=Path(home), rooms=("papers",)))
        options = desk_options(settings)
        shipped = free_port()
        with running([*PROGRAM, "serve", *options, "--port", str(shipped)], shipped):
            url = f"http://127.0.0.1:{shipped}/mcp"
            stdio = [*PROGRAM, "mcp", *options]
            inspector(report, url, stdio)
            typescript(report, url, stdio)
            python(report, settings, shipped)
            schemathesis(report, shipped)
    tasks(report)
    print(f"{report.passed} passed, {report.failed} failed")
    return 1 if report.failed else 0


if __name__ == "__main__":
    sys.exit(main())

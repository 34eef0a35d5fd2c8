"""Traces of stdio and of commands, and metrics of several workers, as their users see them."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import urllib.request
from pathlib import Path

import orjson
import pytest

from carrel.libraries.telemetry.instruments import Registry
from tests.observability.collector import Collector, attributes_of
from tests.processes import warm

TRACE, SPAN = "4bf92f3577b34da6a3ce929d0e0e4736", "00f067aa0ba902b7"
PROGRAM = [sys.executable, "-m", "carrel"]


def environment_of(home: Path, variables: dict[str, str]) -> dict[str, str]:
    kept = {
        name: value
        for name, value in os.environ.items()
        if not name.startswith(("OTEL_", "CARREL_"))
    }
    return {**kept, "CARREL_HOME": str(home), **variables}


def run(
    command: list[str], home: Path, variables: dict[str, str], given: bytes = b""
) -> subprocess.CompletedProcess[bytes]:
    return warm.run(
        [*PROGRAM, *command],
        input=given,
        env=environment_of(home, variables),
        capture_output=True,
        timeout=150,
        check=False,
    )


def test_a_command_is_refused_where_the_network_is_and_traces_would_leave(tmp_path: Path) -> None:
    variables = {"OTEL_EXPORTER_OTLP_ENDPOINT": "https://otel.example", "CARREL_NETWORK": "false"}
    done = run(["knowledge", "search", "x"], tmp_path, variables)
    assert done.returncode == 2
    assert b"network = false" in done.stderr
    assert b"OTEL_SDK_DISABLED" in done.stderr


@pytest.mark.promise("D21")
def test_a_command_is_a_span(tmp_path: Path) -> None:
    with Collector() as collector:
        variables = {
            "OTEL_EXPORTER_OTLP_ENDPOINT": collector.base,
            "OTEL_SERVICE_NAME": "ada's desk",
        }
        done = run(["knowledge", "save", "--title", "Private", "words"], tmp_path, variables)
        assert done.returncode == 0, done.stderr
    (span,) = collector.spans
    assert (span.name, int(span.kind)) == ("execute_tool save_knowledge", 1)
    assert attributes_of(span)["carrel.door"] == "cli"
    assert "Private" not in collector.asked[0].body


def test_a_collector_that_is_gone_delays_a_command_and_fails_nothing(tmp_path: Path) -> None:
    variables = {"OTEL_EXPORTER_OTLP_ENDPOINT": "http://127.0.0.1:9"}
    done = run(["knowledge", "save", "--title", "Kept", "words"], tmp_path, variables)
    assert done.returncode == 0
    assert b"telemetry not sent" in done.stderr


def test_a_session_over_stdio_is_traced_to_its_end(tmp_path: Path) -> None:
    messages = [
        {
            "jsonrpc": "2.0",
            "id": 1,
            "method": "initialize",
            "params": {
                "protocolVersion": "2025-11-25",
                "capabilities": {},
                "clientInfo": {"name": "test", "version": "1"},
            },
        },
        {
            "jsonrpc": "2.0",
            "id": 2,
            "method": "tools/call",
            "params": {
                "name": "search_knowledge",
                "arguments": {"query": "x"},
                "_meta": {"traceparent": f"00-{TRACE}-{SPAN}-01"},
            },
        },
    ]
    given = b"".join(orjson.dumps(each) + b"\n" for each in messages)
    with Collector() as collector:
        variables = {"CARREL_OBSERVABILITY_OTLP_ENDPOINT": collector.base}
        done = run(["mcp"], tmp_path, variables, given)
        assert done.returncode == 0, done.stderr
        assert len(done.stdout.splitlines()) == 2
    traced = {span.name: span for span in collector.spans}
    span = traced["tools/call search_knowledge"]
    assert (span.trace_id.hex(), span.parent_span_id.hex()) == (TRACE, SPAN)
    assert attributes_of(span)["network.transport"] == "pipe"


_COUNT = """
import sys
from pathlib import Path
from carrel.services.telemetry.shared_numbers import WorkerNumbers
from carrel.libraries.telemetry.instruments import Registry
numbers = WorkerNumbers(Path(sys.argv[1]))
registry = Registry(numbers.values, numbers.name_series)
registry.counter("calls", "{call}", "Calls", ("who",)).add(("a",), 2)
registry.gauge("busy", "{call}", "Busy").add()
registry.histogram("wait", "s", "Waits", (), (1.0,)).observe((), 0.5)
print("ready", flush=True)
sys.stdin.read()
"""


@pytest.mark.skipif(sys.platform == "win32", reason="workers share metrics on POSIX systems")
def test_counts_of_killed_workers_stay_and_their_gauges_go(tmp_path: Path) -> None:
    from carrel.services.telemetry.shared_numbers import WorkerNumbers

    def begin() -> subprocess.Popen[bytes]:
        worker = warm.start(
            [sys.executable, "-c", _COUNT, str(tmp_path)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
        )
        assert worker.stdout is not None
        assert worker.stdout.readline() == b"ready\n"
        return worker

    numbers = WorkerNumbers(tmp_path)
    Registry(numbers.values, numbers.name_series).counter("calls", "", "", ("who",)).add(("b",))
    living = begin()
    for _ in range(10):
        killed = begin()
        killed.send_signal(signal.SIGKILL)
        killed.communicate()
    found = {family.description.name: family for family in numbers.read()}
    assert found["calls"].series == {("a",): [22.0], ("b",): [1.0]}
    assert found["wait"].series == {(): [5.5, 11.0, 0.0]}
    assert found["busy"].series == {(): [1.0]}
    # Files of the dead do not pile up.
    assert len(list(tmp_path.glob("*.values"))) < 10
    living.communicate()
    found = {family.description.name: family for family in numbers.read()}
    assert found["calls"].series == {("a",): [22.0], ("b",): [1.0]}
    assert "busy" not in found


@pytest.mark.promise("D20")
@pytest.mark.skipif(sys.platform == "win32", reason="workers share metrics on POSIX systems")
def test_one_worker_tells_of_all(tmp_path: Path) -> None:
    parser = pytest.importorskip("prometheus_client.parser")
    variables = {"CARREL_OBSERVABILITY_METRICS": "prometheus", "CARREL_ROOMS": "knowledge"}
    server = warm.start(
        [*PROGRAM, "serve", "--port", "0", "--workers", "2"],
        env=environment_of(tmp_path, variables),
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        assert server.stderr is not None
        greeting = next(line for line in server.stderr if "is serving" in line)
        base = greeting.split(" at ")[1].split(" ")[0]

        def get(path: str) -> str:
            with urllib.request.urlopen(base + path, timeout=100) as answer:
                return str(answer.read().decode())

        # Each connection is new, so that the workers share them.
        for _ in range(60):
            get("/mcp/tools")
        families = list(parser.text_string_to_metric_families(get("/metrics")))
        count = sum(
            sample.value
            for family in families
            for sample in family.samples
            if sample.name == "http_server_request_duration_seconds_count"
            and sample.labels["http_route"] == "/mcp/tools"
        )
        assert count == 60
    finally:
        server.terminate()
        server.communicate(timeout=60)

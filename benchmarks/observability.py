"""What metrics and traces cost a call: `python -m benchmarks.observability`.

One process has the shipped server several times, each with its own settings, and asks them in turn;
the CPU time of all its threads is counted, from the bytes of a request to those of its answer, with
those that encode and send. Beside it stands what the observer alone takes for the same call, since
differences of a few per cent drown where others work on the machine; such a loop runs the same
instructions about twice as fast as a call does, so it is a lower bound. The collector is a process
of its own. The kernel is left out, so that a share of a call over a network is smaller than what is
printed. Promised: metrics under 1 %, traces of one call in ten under 3 %, of every call under 6 %.
"""

from __future__ import annotations

import multiprocessing
import random
import statistics
import sys
import tempfile
from collections.abc import Callable, Mapping
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from multiprocessing.connection import Connection
from pathlib import Path
from time import perf_counter, process_time
from typing import Any

import orjson
import uvloop

from benchmarks.doors.subjects import call
from benchmarks.doors.wire import WireClient, as_bytes, guarded_client
from carrel.core.call_observer import CallObserver
from carrel.core.caller import Visit
from carrel.core.telemetry import DeskMetrics, Tracer
from carrel.doors.http.server import spare_collections
from carrel.libraries.telemetry import otlp
from carrel.libraries.telemetry.instruments import Registry
from carrel.libraries.telemetry.spans import BoundedBuffer, Span
from carrel.libraries.telemetry.trace_context import Ids, Sampler
from carrel.settings import read_settings
from carrel.wiring.desk import Desk, open_desk
from carrel.wiring.http import http_app
from carrel.wiring.papers_build import with_demo

ROUNDS = 40
CALLS = 500
BUDGETS = {"metrics": 1.0, "traces, one in ten": 3.0, "traces, every call": 6.0}
OFF = "nothing"
# What a caller who traces sends along, of whom nothing is sampled twice.
_TRACED = {"traceparent": "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"}


ALONE: dict[str, Callable[[], float]] = {
    "metrics": lambda: _observer_alone(0.0, has_metrics=True),
    "traces, one in ten": lambda: _observer_alone(0.1, has_metrics=False),
    "traces, every call": lambda: _observer_alone(1.0, has_metrics=False),
    "metrics and every trace": lambda: _observer_alone(1.0, has_metrics=True),
}


class _Discard(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_POST(self) -> None:
        self.rfile.read(int(self.headers.get("content-length") or 0))
        self.send_response(200)
        self.send_header("content-length", "2")
        self.end_headers()
        self.wfile.write(b"{}")

    def log_message(self, format: str, *args: object) -> None: ...


def _collect(told: Connection) -> None:
    server = ThreadingHTTPServer(("127.0.0.1", 0), _Discard)
    told.send(server.server_address[1])
    server.serve_forever()


def _subjects(collector: str) -> dict[str, dict[tuple[str, ...], Any]]:
    section = "observability"
    traced: dict[tuple[str, ...], Any] = {
        (section, "otlp_endpoint"): collector,
        (section, "batch_delay_ms"): 500,
        (section, "queue_size"): 20_000,
    }
    return {
        OFF: {},
        "metrics": {(section, "metrics"): ("prometheus",)},
        "traces, one in ten": {
            **traced,
            (section, "sampler"): "traceidratio",
            (section, "sampler_ratio"): 0.1,
        },
        "traces, every call": traced,
        "metrics and every trace": {**traced, (section, "metrics"): ("prometheus",)},
    }


def _observer_alone(share: float, *, has_metrics: bool) -> float:
    """CPU microseconds of what doors and observer do for a call; of a share of calls a span is
    made and encoded. The best of some rounds.
    """
    metrics = DeskMetrics(Registry()) if has_metrics else None
    spans: BoundedBuffer[Span] = BoundedBuffer(2000)
    chance = random.Random(1)
    tracer = Tracer(Sampler("traceidratio", share, chance.random), spans) if share else None
    ids = Ids(chance, share)
    observer = CallObserver(metrics, tracer)
    observer.know({"tools/call"}, {"list_top_facets"}, ())
    body, sent = call(is_modern=False)
    message, headers = orjson.loads(body), dict(sent)
    request = (message["id"], message["method"], message["params"])
    visit = Visit("http", "1")
    source = otlp.Source({"service.name": "carrel"}, "carrel", "1")
    best = float("inf")
    for _ in range(ROUNDS):
        began = process_time()
        for _ in range(1000):
            visit.began = perf_counter()
            observer.under_way += 1
            if observer.reads_context and b"traceparent" in headers:
                observer.read_context(visit, headers, ())
            visit.mcp_request = request
            visit.mcp_code = None
            observer.under_way -= 1
            observer.mcp_answered(visit, request, "/mcp", 200)
        otlp.encode_spans(source, spans.take(1000), ids)
        best = min(best, (process_time() - began) / 1000 * 1e6)
    return best


async def _measure(collector: str, folder: Path) -> Mapping[str, list[float]]:
    request = as_bytes(*call(is_modern=False))
    desks: dict[str, Desk] = {}
    clients: dict[str, WireClient] = {}
    for name, chosen in _subjects(collector).items():
        home = folder / str(len(desks))
        settings = with_demo(
            read_settings({("home",): home, ("log", "level"): "warning", **chosen}, environment={})
        )
        desks[name] = open_desk(settings)
        clients[name] = guarded_client(http_app(desks[name]))
        if (telemetry := desks[name].telemetry) is not None:
            await telemetry.start()
    spare_collections()
    found: dict[str, list[float]] = {name: [] for name in clients}
    for client in clients.values():
        await client.cpu_microseconds(request, CALLS)
    for turn in range(ROUNDS):
        names = list(clients)
        # Whoever comes first in a round may find the machine in another mood.
        for name in names[turn % len(names) :] + names[: turn % len(names)]:
            found[name].append(await clients[name].cpu_microseconds(request, CALLS))
    for desk in desks.values():
        await desk.close()
    return found


def main() -> int:
    ours, theirs = multiprocessing.Pipe()
    collector = multiprocessing.get_context("spawn").Process(
        target=_collect, args=(theirs,), daemon=True
    )
    collector.start()
    try:
        if not ours.poll(60):
            raise RuntimeError("the collector did not start")
        address = f"http://127.0.0.1:{ours.recv()}"
        with tempfile.TemporaryDirectory() as folder:
            found = uvloop.run(_measure(address, Path(folder)))
    finally:
        collector.terminate()
        collector.join()
    _print(found)
    return 0


def _print(found: Mapping[str, list[float]]) -> None:
    plain = found[OFF]
    print(
        f"CPU of a tools/call from bytes to bytes, {ROUNDS} rounds of {CALLS} calls in turn; "
        f"what is added is the median over rounds"
    )
    print(f"{OFF:26}{min(plain):8.2f} µs best, {statistics.median(plain):8.2f} µs median")
    for name, rounds in found.items():
        if name == OFF:
            continue
        added = statistics.median(mine - base for mine, base in zip(rounds, plain, strict=True))
        share = added / statistics.median(plain) * 100
        best = (min(rounds) - min(plain)) / min(plain) * 100
        alone = ALONE[name]()
        budget = f"promised under {BUDGETS[name]:g} %" if name in BUDGETS else ""
        print(
            f"{name:26}{added:+8.2f} µs {share:+6.2f} %  (best rounds {best:+.2f} %)  "
            f"observer alone {alone:.2f} µs, {alone / min(plain) * 100:.2f} %  {budget}"
        )


if __name__ == "__main__":
    sys.exit(main())

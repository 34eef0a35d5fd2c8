"""What the client of literature services costs: a kept answer, a turn, a question in all.

    python -m benchmarks.literature.client_costs

Asks a server on this machine, so that what is left is ours.
"""

from __future__ import annotations

import asyncio
import http.server
import multiprocessing
import statistics
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from carrel.services.literature.answers import AnswerKind
from carrel.services.literature.cache import AnswerCache
from carrel.services.literature.governor import Governor, GovernorTurn, Outcome
from carrel.services.literature.recordings import Recordings
from carrel.services.literature.service_client import ServiceClient
from carrel.services.literature.service_limits import ServiceLimits

_BODY = b'{"results": [' + b",".join([b'{"title": "A title of some length"}'] * 1000) + b"]}"
_CALLS = 1000
_FREE = ServiceLimits(max_concurrent=10, interval_seconds=0.0)


class _Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True

    def do_GET(self) -> None:
        self.send_response(200)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(_BODY)))
        self.end_headers()
        self.wfile.write(_BODY)

    def log_message(self, format: str, *args: object) -> None:
        pass


@contextmanager
def _serving() -> Iterator[str]:
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), _Handler)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    yield f"http://127.0.0.1:{server.server_address[1]}"
    server.shutdown()
    server.server_close()
    thread.join()


def _turns(path: Path, count: int) -> list[float]:
    governor, taken = Governor(path), []
    for _ in range(count):
        start = time.perf_counter()
        turn = governor.take("a.org", _FREE, patience_seconds=10.0, lease_seconds=10.0)
        assert isinstance(turn, GovernorTurn)
        governor.give_back("a.org", turn, Outcome(True))
        taken.append(time.perf_counter() - start)
    governor.close()
    return taken


def _turns_beside(path: Path, count: int) -> None:
    _show("a turn, beside another process", _turns(path, count))


async def _questions(
    client: ServiceClient, url: str, count: int, kind: AnswerKind, is_same: bool
) -> list[float]:
    taken = []
    for number in range(count):
        params = {"search": "same" if is_same else str(number)}
        start = time.perf_counter()
        await client.ask(
            "openalex", url, params=params, accept="application/json", kind=kind, limits=_FREE
        )
        taken.append(time.perf_counter() - start)
    return taken


async def _measure_client(folder: Path, url: str) -> None:
    cache, governor = AnswerCache(folder / "answers"), Governor(folder / "governor.db")
    async with ServiceClient(cache=cache, governor=governor) as client:
        _show("asked, kept", await _questions(client, url, _CALLS, AnswerKind.SEARCH, False))
        _show("from the cache", await _questions(client, url, _CALLS, AnswerKind.SEARCH, False))
        _show("asked, not kept", await _questions(client, url, _CALLS, AnswerKind.PROBE, True))
    recordings = Recordings(folder / "recordings")
    async with ServiceClient(mode="record", recordings=recordings) as client:
        await _questions(client, url, _CALLS, AnswerKind.SEARCH, False)
    async with ServiceClient(mode="replay", recordings=recordings) as client:
        _show("from a recording", await _questions(client, url, _CALLS, AnswerKind.SEARCH, False))


def _show(what: str, taken: list[float]) -> None:
    ordered = sorted(taken)
    middle, late = statistics.median(ordered), ordered[int(len(ordered) * 0.99)]
    print(f"{what:32} median {middle * 1e6:7.0f} µs   99 % {late * 1e6:7.0f} µs", flush=True)


def main() -> None:
    with tempfile.TemporaryDirectory() as name, _serving() as url:
        folder = Path(name)
        _show("a turn (taken and given back)", _turns(folder / "turns.db", _CALLS))
        spawn = multiprocessing.get_context("spawn")
        others = [
            spawn.Process(target=_turns_beside, args=(folder / "shared.db", _CALLS))
            for _ in range(2)
        ]
        for process in others:
            process.start()
        for process in others:
            process.join()
        print(f"answers of {len(_BODY):,} bytes:")
        asyncio.run(_measure_client(folder, url))


if __name__ == "__main__":
    main()

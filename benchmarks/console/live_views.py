"""Many people look at one run: memory, processor time, and how late each of them sees a change.

`python -m benchmarks.console.live_views --viewers 1000` starts a server with a desk of its own and
a live view that changes twice a second, opens the viewers in this process, and prints a table.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import orjson


def _serve(home: Path, port: int, viewers: int) -> subprocess.Popen[bytes]:
    environment = {**os.environ, "CARREL_HOME": str(home)}
    environment["CARREL_SERVER_MAX_CONNECTIONS"] = str(viewers + 200)
    environment["CARREL_SERVER_MAX_CONNECTIONS_PER_ADDRESS"] = str(viewers + 200)
    return subprocess.Popen(
        [sys.executable, "-m", "benchmarks.console.live_server", str(port)],
        env=environment,
    )


def _memory_and_cpu(pid: int) -> tuple[float, float]:
    """Megabytes in memory, seconds of processor time."""
    status = Path(f"/proc/{pid}/status").read_text()
    kilobytes = int(status.split("VmRSS:")[1].split()[0])
    ticks = Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
    return kilobytes / 1024, (int(ticks[11]) + int(ticks[12])) / os.sysconf("SC_CLK_TCK")


async def _wait_until_ready(port: int) -> None:
    for _ in range(300):
        try:
            _, writer = await asyncio.open_connection("127.0.0.1", port)
        except OSError:
            await asyncio.sleep(0.1)
            continue
        writer.close()
        return
    raise SystemExit("the server did not start")


async def _view(port: int, lags: list[float], seconds: float) -> None:
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    writer.write(
        b"GET /live/tick?id=one HTTP/1.1\r\nhost: 127.0.0.1:%d\r\naccept: text/event-stream\r\n\r\n"
        % port
    )
    await writer.drain()
    ends = time.monotonic() + seconds
    is_first = True
    while time.monotonic() < ends:
        try:
            line = await asyncio.wait_for(reader.readline(), ends - time.monotonic())
        except TimeoutError:
            break
        if not line:
            raise SystemExit("a viewer was sent away")
        if line.startswith(b"data: "):
            at = orjson.loads(line[6:])["at"]
            # The first state is as old as the topic; only changes tell how late they come.
            if not is_first:
                lags.append((time.time() - at) * 1000)
            is_first = False
    writer.close()


async def _measure(port: int, pid: int, viewers: int, seconds: float) -> dict[str, float]:
    await _wait_until_ready(port)
    await _view(port, [], 2.0)
    memory_before, cpu_before = _memory_and_cpu(pid)
    lags: list[float] = []
    tasks = [asyncio.create_task(_view(port, lags, seconds)) for _ in range(viewers)]
    await asyncio.sleep(seconds - 1)
    memory_after, cpu_after = _memory_and_cpu(pid)
    await asyncio.gather(*tasks)
    lags.sort()
    return {
        "viewers": viewers,
        "memory_mb": round(memory_after - memory_before, 1),
        "share_of_core": round((cpu_after - cpu_before) / (seconds - 1), 3),
        "events": len(lags),
        "median_ms": round(statistics.median(lags), 1),
        "p99_ms": round(lags[int(len(lags) * 0.99)], 1),
        "most_ms": round(lags[-1], 1),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--viewers", type=int, default=1000)
    parser.add_argument("--seconds", type=float, default=12.0)
    parser.add_argument("--port", type=int, default=8491)
    options = parser.parse_args()
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = options.viewers + 500
    if soft < wanted:
        resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, max(hard, wanted)))
    with tempfile.TemporaryDirectory() as home:
        server = _serve(Path(home), options.port, options.viewers)
        try:
            found = asyncio.run(
                _measure(options.port, server.pid, options.viewers, options.seconds)
            )
        finally:
            server.terminate()
            server.wait(30)
    print(json.dumps(found, indent=1))


if __name__ == "__main__":
    main()

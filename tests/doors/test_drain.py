"""SIGTERM: what is in flight is finished, what comes after is not taken. A real process, real
sockets.
"""

from __future__ import annotations

import http.client
import signal
import threading

import orjson
import pytest

from tests.doors.sample_process import started

JSON = {"content-type": "application/json"}
LONGEST_WAIT_SECONDS = 30


def invoke(connection: http.client.HTTPConnection, name: str) -> tuple[int, object]:
    connection.request("POST", "/mcp/invoke", orjson.dumps({"tool_name": name}), JSON)
    answer = connection.getresponse()
    return answer.status, orjson.loads(answer.read())


@pytest.mark.promise("D8")
def test_sigterm_finishes_what_is_in_flight() -> None:
    with started("http", "0") as process:
        assert process.stderr is not None
        log = process.stderr
        port = int(log.readline().split()[-1])
        shown: list[bytes] = []
        is_stopping = threading.Event()

        def watch() -> None:
            for line in log:
                shown.append(line)
                if b"shutting down" in line.lower():
                    is_stopping.set()

        watcher = threading.Thread(target=watch)
        watcher.start()
        held: list[tuple[int, object]] = []
        holding = http.client.HTTPConnection("127.0.0.1", port, timeout=LONGEST_WAIT_SECONDS)
        waiting = threading.Thread(target=lambda: held.append(invoke(holding, "hold")))
        releasing = http.client.HTTPConnection("127.0.0.1", port, timeout=LONGEST_WAIT_SECONDS)
        waiting.start()
        assert invoke(releasing, "wait_until_held")[0] == 200
        # A request that has begun keeps its place: the rest of this one arrives after the signal.
        body = orjson.dumps({"tool_name": "release"})
        releasing.putrequest("POST", "/mcp/invoke")
        releasing.putheader("content-type", "application/json")
        releasing.putheader("content-length", str(len(body)))
        releasing.putheader("expect", "100-continue")
        releasing.endheaders()
        assert releasing.sock.recv(100).startswith(b"HTTP/1.1 100")
        process.send_signal(signal.SIGTERM)
        assert is_stopping.wait(LONGEST_WAIT_SECONDS), b"".join(shown)
        releasing.send(body)
        assert releasing.getresponse().status == 200
        waiting.join(LONGEST_WAIT_SECONDS)
        assert held == [(200, {"success": True, "result": "released", "error": None})]
        assert process.wait(timeout=LONGEST_WAIT_SECONDS) in {0, -signal.SIGTERM}
        watcher.join(LONGEST_WAIT_SECONDS)
        assert b"Traceback" not in b"".join(shown)
        with pytest.raises(ConnectionRefusedError):
            http.client.HTTPConnection("127.0.0.1", port, timeout=LONGEST_WAIT_SECONDS).connect()


def _get(port: int, path: str) -> http.client.HTTPResponse:
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=LONGEST_WAIT_SECONDS)
    connection.request("GET", path)
    return connection.getresponse()


@pytest.mark.promise("D8")
def test_after_sigterm_ready_says_no_while_connections_are_still_taken() -> None:
    # Longer than any test: only the second signal ends it.
    with started("http", "0", "300") as process:
        assert process.stderr is not None
        port = int(process.stderr.readline().split()[-1])
        early = http.client.HTTPConnection("127.0.0.1", port, timeout=LONGEST_WAIT_SECONDS)
        early.request("GET", "/ready")
        before = early.getresponse()
        assert (before.status, before.getheader("connection")) == (200, None)
        before.read()
        process.send_signal(signal.SIGTERM)
        for line in process.stderr:
            if b"stopping soon" in line:
                break
        refused = _get(port, "/ready")
        assert refused.status == 503
        assert orjson.loads(refused.read())["status"] == "stopping"
        # New connections and old ones are served once more, and told to go elsewhere.
        served = _get(port, "/health")
        assert (served.status, served.getheader("connection")) == (200, "close")
        early.request("POST", "/mcp/invoke", orjson.dumps({"tool_name": "none"}), JSON)
        last = early.getresponse()
        assert (last.status, last.getheader("connection")) == (400, "close")
        last.read()
        process.send_signal(signal.SIGTERM)
        assert process.wait(timeout=LONGEST_WAIT_SECONDS) in {0, -signal.SIGTERM}
        with pytest.raises(ConnectionRefusedError):
            http.client.HTTPConnection("127.0.0.1", port, timeout=LONGEST_WAIT_SECONDS).connect()

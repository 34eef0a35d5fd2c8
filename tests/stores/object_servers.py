"""Servers that speak S3, for the length of a test session: one that keeps its word and one that
does not.
"""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys
import threading
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from tests.stores.postgres_server import free_port

BUCKET = "desk"
_START_SECONDS = 60.0


class NoObjectServerError(Exception):
    """No such server can be started here; says why."""


def object_environment(endpoint: str) -> dict[str, str]:
    """What a process needs to reach a local server."""
    return {
        "AWS_ENDPOINT_URL": endpoint,
        "AWS_ACCESS_KEY_ID": "test",
        "AWS_SECRET_ACCESS_KEY": "test-secret",
        "AWS_REGION": "us-east-1",
    }


@contextmanager
def moto_server() -> Iterator[str]:
    """The address of a moto server with an empty bucket."""
    try:
        import moto.server  # noqa: F401
    except ImportError as error:
        raise NoObjectServerError("moto[server] is not installed") from error
    port = free_port()
    words = [sys.executable, "-m", "moto.server", "-H", "127.0.0.1", "-p", str(port)]
    # It must not ask for anything outside.
    environment = {**os.environ, "MOTO_CALL_RESET_API": "false", "AWS_EC2_METADATA_DISABLED": "1"}
    server = subprocess.Popen(
        words, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    endpoint = f"http://127.0.0.1:{port}"
    try:
        wait_until_it_answers(endpoint, server)
        make_bucket(endpoint, BUCKET)
        yield endpoint
    finally:
        server.terminate()
        server.wait(timeout=30)


def wait_until_it_answers(endpoint: str, server: subprocess.Popen[bytes]) -> None:
    until = time.monotonic() + _START_SECONDS
    while time.monotonic() < until:
        if server.poll() is not None:
            raise NoObjectServerError(f"it ended with {server.returncode}")
        try:
            with urllib.request.urlopen(endpoint, timeout=5):
                return
        except urllib.error.HTTPError:
            return
        except OSError:
            time.sleep(0.1)
    raise NoObjectServerError("it does not answer")


def make_bucket(endpoint: str, name: str) -> None:
    request = urllib.request.Request(f"{endpoint}/{name}", method="PUT")
    urllib.request.urlopen(request, timeout=30).close()


@contextmanager
def careless_server() -> Iterator[str]:
    """A server that takes every write whatever its condition says, as some small ones do."""
    objects: dict[str, bytes] = {}

    class Careless(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_PUT(self) -> None:
            objects[self.path] = self.rfile.read(int(self.headers["content-length"]))
            self._answer(200, b"", objects[self.path])

        def do_GET(self) -> None:
            found = objects.get(self.path)
            self._answer(404 if found is None else 200, found or b"", found or b"")

        def do_HEAD(self) -> None:
            self.do_GET()

        def do_DELETE(self) -> None:
            objects.pop(self.path, None)
            self._answer(204, b"", b"")

        def _answer(self, status: int, body: bytes, content: bytes) -> None:
            self.send_response(status)
            self.send_header("ETag", f'"{hashlib.md5(content).hexdigest()}"')
            self.send_header("Last-Modified", "Wed, 18 Nov 2026 20:00:00 GMT")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            if self.command != "HEAD":
                self.wfile.write(body)

        def log_message(self, format: str, *args: object) -> None:
            return None

    server = ThreadingHTTPServer(("127.0.0.1", 0), Careless)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}"
    finally:
        server.shutdown()
        server.server_close()
        thread.join()

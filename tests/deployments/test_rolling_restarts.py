"""Two replicas on one PostgreSQL behind a proxy are restarted in turn, and no write fails."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx2
import pytest

from tests.deployments.test_proxies import CADDY, NGINX, Proxy, find_program, proxy_running
from tests.deployments.units import await_answer, free_port
from tests.processes import warm

pytestmark = pytest.mark.timeout(400)

NAME = "desk.example.org"
PROXIES = [
    Proxy(NGINX / "carrel-replicas.conf", "nginx", f"https://{NAME}"),
    Proxy(CADDY / "Caddyfile.replicas", "caddy", f"https://{NAME}"),
]
_CARREL = (sys.executable, "-m", "carrel")
WRITERS = 8
ROUNDS = 2


class Replica:
    """One server that can be stopped as a supervisor stops it, and started again."""

    def __init__(self, folder: Path, database: str) -> None:
        self.port = free_port()
        self._folder = folder
        self._environment = {
            "PATH": os.environ["PATH"],
            "HOME": str(folder),
            "CARREL_HOME": str(folder),
            "DATABASE_URL": database,
            "CARREL_AUTH_MODE": "tokens",
            "CARREL_LIMITS_PER_MINUTE": "1000000",
            "CARREL_LIMITS_BURST": "1000000",
            "CARREL_SERVER_PUBLIC_URL": f"https://{NAME}",
            "CARREL_SERVER_TRUSTED_PROXIES": "127.0.0.1",
            "CARREL_SERVER_REPLICAS": "2",
            "CARREL_SERVER_STOP_DELAY_SECONDS": "3",
            "CARREL_SERVER_KEEP_ALIVE_SECONDS": "75",
        }
        self._process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        """Returns when it answers."""
        with (self._folder / "serve.log").open("ab") as log:
            self._process = warm.start(
                [*_CARREL, "serve", "--rooms", "knowledge", "--port", str(self.port)],
                env=self._environment,
                cwd=self._folder,
                stdout=log,
                stderr=log,
            )
        await_answer(f"http://127.0.0.1:{self.port}/ready", {"Host": NAME})

    def stop(self) -> None:
        """SIGTERM, and the end of the process."""
        if self._process is not None:
            self._process.terminate()
            self._process.wait(timeout=60)
            self._process = None


def make_token(folder: Path, database: str) -> str:
    """A token in the shared database for somebody who may write notes."""
    done = warm.run(
        [*_CARREL, "tokens", "create", "ada", "--scopes", "knowledge:read,knowledge:write"],
        env={"PATH": os.environ["PATH"], "CARREL_HOME": str(folder), "DATABASE_URL": database},
        capture_output=True,
        text=True,
        check=True,
    )
    return done.stdout.strip()


@contextmanager
def replicas_running(folder: Path, database: str) -> Iterator[list[Replica]]:
    replicas = []
    for name in ("first", "second"):
        (folder / name).mkdir()
        replicas.append(Replica(folder / name, database))
    try:
        for replica in replicas:
            replica.start()
        yield replicas
    finally:
        for replica in replicas:
            replica.stop()


class Writers:
    """Threads that save one note after another until they are told to stop."""

    def __init__(self, client: httpx2.Client, token: str) -> None:
        self._client = client
        self._token = {"Authorization": f"Bearer {token}"}
        self._is_over = threading.Event()
        self.saved: list[str] = []
        self.failures: list[str] = []

    @contextmanager
    def writing(self) -> Iterator[None]:
        threads = [threading.Thread(target=self._write, args=(one,)) for one in range(WRITERS)]
        for thread in threads:
            thread.start()
        try:
            yield
        finally:
            self._is_over.set()
            for thread in threads:
                thread.join()

    def _write(self, writer: int) -> None:
        number = 0
        while not self._is_over.is_set():
            title = f"note {writer} {number}"
            number += 1
            try:
                answer = self.call("save_knowledge", title=title, content=title)
            except httpx2.HTTPError as error:
                self.failures.append(f"{type(error).__name__}: {error}")
                continue
            if answer.status_code == 200:
                self.saved.append(title)
            else:
                self.failures.append(f"{answer.status_code}: {answer.text[:300]}")

    def call(self, tool: str, **params: object) -> httpx2.Response:
        body = {"tool_name": tool, "params": params}
        return self._client.post("/mcp/invoke", json=body, headers=self._token)


@pytest.mark.parametrize("proxy", PROXIES, ids=lambda proxy: proxy.program)
def test_restarts_in_turn_fail_no_write_and_lose_none(
    proxy: Proxy, tmp_path: Path, postgres_url: str
) -> None:
    if find_program(proxy.program) is None:
        pytest.skip(f"{proxy.program} is not installed")
    psycopg = pytest.importorskip("psycopg", reason="the extra `postgres` is not installed")
    (tmp_path / "proxy").mkdir()
    token = make_token(tmp_path, postgres_url)
    with replicas_running(tmp_path, postgres_url) as replicas:
        ports = [replica.port for replica in replicas]
        with proxy_running(proxy, tmp_path / "proxy", *ports) as client:
            writers = Writers(client, token)
            with writers.writing():
                for _ in range(ROUNDS):
                    for replica in replicas:
                        replica.stop()
                        replica.start()
    assert writers.failures == []
    with psycopg.connect(postgres_url) as connection:
        rows = connection.execute("SELECT title FROM knowledge_notes").fetchall()
    assert sorted(row[0] for row in rows) == sorted(writers.saved)
    assert len(writers.saved) > WRITERS


@pytest.mark.parametrize("proxy", PROXIES, ids=lambda proxy: proxy.program)
def test_who_asks_while_every_replica_is_away_is_told_when_to_ask_again(
    proxy: Proxy, tmp_path: Path
) -> None:
    if find_program(proxy.program) is None:
        pytest.skip(f"{proxy.program} is not installed")
    with proxy_running(proxy, tmp_path, free_port(), free_port()) as client:
        answer = client.post("/mcp/invoke", json={"tool_name": "list_references", "params": {}})
    assert answer.status_code in {502, 503}
    assert int(answer.headers["retry-after"]) > 0
    assert "max-age" in answer.headers["strict-transport-security"]

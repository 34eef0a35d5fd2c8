"""A job that add_references begins is followed and cancelled at every door, and outlives the server
that began it.
"""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx2
import pytest
from anyio.from_thread import BlockingPortal, start_blocking_portal

from carrel.settings import Settings
from carrel.stores.csl_json.library_file import LibraryFile
from tests.journeys.doors import (
    ENVIRONMENT,
    PROGRAM,
    RestDoor,
    Said,
    SdkDoor,
    serving,
    stdio_parameters,
)
from tests.processes import warm
from tests.rooms.references.works_server import WorksServer, doi, works_server

mcp = pytest.importorskip("mcp")
TASKS = "io.modelcontextprotocol/tasks"
BIBTEX = "@book{knuth84, title={The book}, author={Knuth, Donald E.}, year=1984}"


@pytest.fixture
def works() -> Iterator[WorksServer]:
    with works_server() as server:
        server.held = {doi(1)}
        yield server


@pytest.fixture
def settings(tmp_path: Path, works: WorksServer) -> Settings:
    """The same in a file, for the programs that read one."""
    home = tmp_path / "home"
    home.mkdir()
    lines = ["[references]", "lookup_wait_seconds = 0.0", "[references.services]"]
    lines += [f'{name} = "{address}"' for name, address in works.services.items()]
    lines += ["[jobs]", "lease_seconds = 1.0", "look_every_seconds = 0.1"]
    (home / "carrel.toml").write_text("\n".join(lines), encoding="utf-8")
    return Settings.model_validate(
        {
            "home": home,
            "rooms": ("references",),
            "references": {
                "lookup_wait_seconds": 0.0,
                "task_after_seconds": 0.0,
                "services": works.services,
            },
            "jobs": {"lease_seconds": 1.0, "look_every_seconds": 0.1},
        }
    )


@pytest.fixture
def portal() -> Iterator[BlockingPortal]:
    with start_blocking_portal() as running:
        yield running


def options(settings: Settings) -> list[str]:
    return ["--home", str(settings.home), "--config", str(settings.home / "carrel.toml")]


def library(settings: Settings) -> list[str]:
    """What is acknowledged; the file of a killed server follows when the library is next used."""
    items = LibraryFile(settings.home / "references" / "library.json").read().document.items()
    return sorted(str(item.get("DOI") or item["id"]) for item in items)


def value(said: object) -> Any:
    assert isinstance(said, Said), said
    return said.value


def follow(door: Any, works: WorksServer, tool: str = "add_references") -> None:
    """Begins, sees it running, lets the service answer, and waits for the end."""
    begun = value(door.ask(tool, input=[BIBTEX, doi(1)]))
    assert ([added["id"] for added in begun["added"]], begun["pending"], begun["waiting"]) == (
        ["knuth84"],
        1,
        [doi(1)],
    )
    assert value(door.ask("get_job", job_id=begun["job_id"]))["state"] == "running"
    works.release.set()
    ended = value(door.ask("get_job", job_id=begun["job_id"], wait_seconds=60))
    assert (ended["state"], ended["done"], ended["total"]) == ("completed", 1, 1)
    assert [added["source"] for added in ended["result"]["added"]][1:] == [doi(1)]
    assert value(door.ask("cancel_job", job_id=begun["job_id"]))["state"] == "completed"


@pytest.mark.promise("S1")
def test_over_rest(settings: Settings, works: WorksServer) -> None:
    with serving(settings) as port:
        follow(RestDoor(port), works)
    assert library(settings) == [doi(1), "knuth84"]


@pytest.mark.promise("S1")
@pytest.mark.parametrize(("path", "tool"), [("/mcp", "add_references"), ("/references/mcp", "add")])
def test_over_mcp_at_the_common_and_at_the_rooms_own_address(
    settings: Settings, works: WorksServer, portal: BlockingPortal, path: str, tool: str
) -> None:
    with serving(settings) as port:
        client = mcp.Client(f"http://127.0.0.1:{port}{path}", mode="legacy")
        with portal.wrap_async_context_manager(client):
            follow(SdkDoor(portal, client), works, tool)
    assert library(settings) == [doi(1), "knuth84"]


@pytest.mark.promise("S1")
def test_over_stdio(settings: Settings, works: WorksServer, portal: BlockingPortal) -> None:
    client = mcp.Client(stdio_parameters(options(settings)), mode="legacy")
    with portal.wrap_async_context_manager(client):
        follow(SdkDoor(portal, client), works)
    assert library(settings) == [doi(1), "knuth84"]


@pytest.mark.promise("S1")
def test_on_the_command_line_whoever_typed_it_waits_for_the_end(
    settings: Settings, works: WorksServer
) -> None:
    words = [*PROGRAM, "references", "add", *options(settings), "--json", BIBTEX, doi(1)]
    with warm.start(
        words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=ENVIRONMENT
    ) as typed:
        assert typed.stderr is not None
        assert typed.stderr.readline().startswith("carrel: ")
        works.release.set()
        said, _ = typed.communicate(timeout=60)
    answer = json.loads(said)
    assert (typed.returncode, answer["pending"], answer["job_id"]) == (0, 0, None)
    assert library(settings) == [doi(1), "knuth84"]


@pytest.mark.promise("S1")
def test_where_the_tasks_extension_is_spoken_the_job_is_the_task(
    settings: Settings, works: WorksServer
) -> None:
    meta = {
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientCapabilities": {"extensions": {TASKS: {}}},
    }

    def send(port: int, method: str, **params: Any) -> Any:
        message = {"jsonrpc": "2.0", "id": 1, "method": method, "params": {"_meta": meta, **params}}
        headers = {
            "mcp-protocol-version": "2026-07-28",
            "accept": "application/json, text/event-stream",
        }
        name = params.get("name") or params.get("taskId")
        headers |= {"mcp-method": method, **({"mcp-name": name} if name else {})}
        answer = httpx2.post(
            f"http://127.0.0.1:{port}/references/mcp", json=message, headers=headers, timeout=60
        )
        return answer.json()["result"]

    with serving(settings) as port:
        task = send(port, "tools/call", name="add", arguments={"input": [doi(1)]})
        assert (task["resultType"], task["status"]) == ("task", "working")
        assert value(RestDoor(port).ask("get_job", job_id=task["taskId"]))["state"] == "running"
        works.release.set()
        value(RestDoor(port).ask("get_job", job_id=task["taskId"], wait_seconds=60))
        ended = send(port, "tasks/get", taskId=task["taskId"])
    assert ended["status"] == "completed"
    assert [added["source"] for added in ended["result"]["structuredContent"]["added"]] == [doi(1)]


@contextlib.contextmanager
def server_process(settings: Settings) -> Iterator[tuple[subprocess.Popen[str], int]]:
    """`carrel serve` in a process of its own."""
    words = [*PROGRAM, "serve", *options(settings), "--rooms", "references", "--port", "0"]
    with warm.start(
        words, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, env=ENVIRONMENT
    ) as process:
        try:
            yield process, _port(process)
        finally:
            process.kill()


def _port(process: subprocess.Popen[str]) -> int:
    assert process.stdout is not None
    for line in process.stdout:
        if "http://127.0.0.1:" in line:
            return int(line.split("http://127.0.0.1:")[1].split("/")[0].split()[0].rstrip(".,"))
    raise AssertionError("the server said no address")


@pytest.mark.promise("S1")
@pytest.mark.skipif(sys.platform == "win32", reason="there is no kill -9")
def test_a_job_survives_kill_9_of_its_server_and_loses_nothing_it_had_kept(
    settings: Settings, works: WorksServer
) -> None:
    with server_process(settings) as (process, port):
        door = RestDoor(port)
        begun = value(door.ask("add_references", input=[BIBTEX, doi(2), doi(1)]))
        while value(door.ask("get_job", job_id=begun["job_id"], wait_seconds=1))["done"] < 1:
            pass
        os.kill(process.pid, signal.SIGKILL)
        process.wait(30)
    assert library(settings) == [doi(2), "knuth84"]
    works.release.set()
    with server_process(settings) as (_, port):
        ended = value(RestDoor(port).ask("get_job", job_id=begun["job_id"], wait_seconds=60))
    assert ended["state"] == "completed"
    assert sorted(added["source"] for added in ended["result"]["added"])[:2] == [doi(1), doi(2)]
    assert library(settings) == [doi(1), doi(2), "knuth84"]

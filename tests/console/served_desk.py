"""A real desk on a real socket, with something in every room."""

from __future__ import annotations

import asyncio
import contextlib
import io
import json
import shutil
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

import httpx2
import uvicorn

from carrel.cli import main as carrel
from carrel.core.clock import SystemClock
from carrel.demo import PAPERS_FOLDER
from carrel.doors.http.server import listen, server_config
from carrel.policy.authorization.models import User
from carrel.settings import Settings
from carrel.settings.network_rules import connection_limits
from carrel.wiring.access import open_access_store
from carrel.wiring.desk import open_desk
from carrel.wiring.http import http_app
from tests.access.support import CHEAP_HASH
from tests.libraries.discovery.small_corpus import GOAL, small_papers

HOSTILE = '<img src=x onerror="document.title=\'broken\'"><script>document.title="broken"</script>'
ResultT = TypeVar("ResultT")
ENDED = {"completed", "failed", "cancelled", "paused"}


@dataclass(frozen=True, slots=True)
class ServedDesk:
    """Where the desk is, and the ids of what lies on it."""

    url: str
    settings: Settings
    ids: dict[str, str] = field(default_factory=dict)

    def call(self, operation: str, **arguments: Any) -> Any:
        """The answer of an operation at the REST gateway of a local desk."""
        answer = httpx2.post(
            f"{self.url}/mcp/invoke",
            json={"tool_name": operation, "params": arguments},
            timeout=120,
        ).json()
        assert answer["success"], answer
        return answer["result"]


def fill_home(home: Path, folder: Path) -> None:
    """Papers of the demonstration, a corpus with a hidden connection, and references."""
    folder.mkdir(parents=True, exist_ok=True)
    shutil.copytree(PAPERS_FOLDER, folder / "demo", dirs_exist_ok=True)
    lines = [
        json.dumps(
            {
                "title": paper.title,
                "abstract": paper.abstract,
                "keywords": list(paper.keywords),
                "year": paper.year,
                "authors": [f"Ann {paper.id}", "Ben Long-Author"],
                "venue": "Journal of Cold Fingers",
            }
        )
        for paper in small_papers()
    ]
    hostile = {
        "title": f"Hostile {HOSTILE}",
        "abstract": f"Hostile abstract {HOSTILE}",
        "year": 2001,
    }
    lines.append(json.dumps({**hostile, "authors": [f"Eve {HOSTILE}"]}))
    (folder / "papers.jsonl").write_text("\n".join(lines), encoding="utf-8")
    (folder / "refs.bib").write_text(_references(), encoding="utf-8")
    with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
        status = run_apart(lambda: carrel(["add", str(folder), "--home", str(home)]))
    assert not status, status


def run_apart(work: Callable[[], ResultT]) -> ResultT:
    """In a thread of its own: an open browser keeps an event loop running in the tests' thread."""
    with ThreadPoolExecutor(1) as thread:
        return thread.submit(work).result()


def _references() -> str:
    entries = [
        f"@article{{cold{at}, title = {{Cold fingers and the {at}th winter}}, "
        f"author = {{Winter, Ann and Frost, Ben}}, journal = {{Cold}}, year = {{{1990 + at}}}, "
        f"doi = {{10.5555/cold.{at}}}}}"
        for at in range(30)
    ]
    entries.append(
        "@article{hostile, title = {Hostile <script>document.title='broken'</script>}, "
        "author = {Eve, <b>Bold</b>}, url = {javascript:alert(1)}, year = {1999}}"
    )
    return "\n".join(entries)


@contextmanager
def serve_desk(settings: Settings) -> Iterator[str]:
    """The application under our own server configuration, at the port of the settings."""
    listener = listen("127.0.0.1", settings.server.port)
    started = threading.Event()

    class Server(uvicorn.Server):
        async def startup(self, sockets: Any = None) -> None:
            await super().startup(sockets)
            started.set()

    app = http_app(open_desk(settings))
    server = Server(server_config(app, connection_limits(settings), drain_seconds=2))
    thread = threading.Thread(target=server.run, args=([listener],), daemon=True)
    thread.start()
    try:
        assert started.wait(60), "the server did not start"
        yield f"http://127.0.0.1:{settings.server.port}"
    finally:
        server.should_exit = True
        thread.join(timeout=15)


def free_port() -> int:
    with listen("127.0.0.1", 0) as listener:
        return int(listener.getsockname()[1])


def desk_settings(home: Path, **sections: Any) -> Settings:
    server = {"port": free_port(), **sections.pop("server", {})}
    limits = {"per_minute": 100_000, "burst": 100_000}
    return Settings.model_validate({"home": home, "limits": limits, "server": server, **sections})


def fill_rooms(desk: ServedDesk) -> None:
    """Notes, a proposal, and a research run that has ended."""
    note = desk.call(
        "save_knowledge",
        title="Cold fingers, first thoughts",
        content="# Idea\n\nViscosity **matters**; see [[Second note]].\n\n$E = mc^2$",
        tags=["cold", "viscosity"],
    )
    hostile = desk.call(
        "save_knowledge",
        title=f"Second note {HOSTILE}",
        content=f"{HOSTILE}\n\n[click](javascript:alert(1)) ![x](https://example.org/a.png) "
        "$\\text{<svg/onload=document.title='broken'>}$",
        tags=["cold"],
    )
    started = desk.call("start_research", goal=GOAL, hypothesis_count=3)
    desk.ids.update(
        note_id=note["id"],
        hostile_note_id=hostile["id"],
        research_id=started["research_id"],
        id="cold1",
    )
    while True:
        status = desk.call("get_research_status", research_id=started["research_id"])
        if status["status"] in ENDED:
            break
        time.sleep(0.1)
    rows = desk.call("list_hypotheses", research_id=started["research_id"])
    papers = desk.call("search_papers", query="cold finger disease")
    papers = papers if isinstance(papers, list) else papers["results"]
    desk.ids.update(hypothesis_id=rows[0]["id"], paper_id=papers[0]["paper_id"])


def add_user(settings: Settings, name: str, scopes: frozenset[str]) -> None:
    """A person with the common password of tests."""

    async def add() -> None:
        store = open_access_store(settings)
        await store.add_user(User(name, CHEAP_HASH, scopes, SystemClock().now().timestamp()))
        await store.close()

    run_apart(lambda: asyncio.run(add()))

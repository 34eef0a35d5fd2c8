"""A desk in use is carried to another folder: a real server takes writes all the while, and then
everything is there.
"""

from __future__ import annotations

import json
import os
import re
import signal
import sqlite3
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

import httpx2
import pytest

from tests.access.serving import sign_in_and_allow
from tests.access.support import REDIRECT, Pkce, answer_in, authorize_url, bearer
from tests.processes import warm
from tests.stores.first_home import PASSWORD, TOKEN, first_home

SOURCE = str(Path(__file__).parents[2] / "src")
COMMAND = [
    sys.executable,
    "-c",
    "import sys; from carrel.cli import main; sys.exit(main(sys.argv[1:]))",
]
BIBTEX = (
    "@article{{{key}, title={{{title}}}, author={{Frost, Ada}}, journal={{Cold Letters}}, "
    "year={{2024}}}}"
)


def environment(home: Path) -> dict[str, str]:
    base = {
        name: value
        for name, value in os.environ.items()
        if not name.startswith(("CARREL_", "DATABASE_URL", "PORT"))
    }
    return {
        **base,
        "PYTHONPATH": SOURCE,
        "CARREL_HOME": str(home),
        "CARREL_AUTH_MODE": "builtin",
        "CARREL_LIMITS_PER_MINUTE": "100000",
        "CARREL_LIMITS_BURST": "100000",
        "CARREL_REFERENCES_ALLOWED_FOLDERS": str(home.parent),
        # Small, so that the log changes files while it is copied.
        "CARREL_AUDIT_MAX_FILE_BYTES": "20000",
    }


def carrel(home: Path, *words: str) -> str:
    done = warm.run(
        [*COMMAND, *words],
        env=environment(home),
        cwd=home.parent,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


@contextmanager
def serving(home: Path, port: int = 0) -> Iterator[httpx2.Client]:
    """A client at a running `carrel serve` with two workers, as Ada with her token."""
    process = warm.start(
        [*COMMAND, "serve", "--port", str(port), "--workers", "2"],
        env=environment(home),
        cwd=home.parent,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert process.stderr is not None
    said = ""
    for line in process.stderr:
        said += line
        if "Cursor:" in line:
            break
    # Nobody reads on, and a full pipe would stop the server.
    threading.Thread(target=process.stderr.read, daemon=True).start()
    try:
        found = re.search(r"at (http://\S+) \(MCP", said)
        assert found is not None, said
        transport = httpx2.HTTPTransport(retries=8)
        with httpx2.Client(
            base_url=found.group(1), headers=bearer(TOKEN), transport=transport, timeout=60
        ) as client:
            yield client
    finally:
        process.send_signal(signal.SIGTERM)
        process.wait(timeout=60)


def ask(client: httpx2.Client, tool: str, **params: object) -> Any:
    answer = client.post("/mcp/invoke", json={"tool_name": tool, "params": params})
    assert answer.status_code == 200, answer.text
    return answer.json()["result"]


class Writer:
    """Somebody who saves notes and references, one after the other, until told to stop; and
    remembers what was acknowledged.
    """

    def __init__(self, client: httpx2.Client) -> None:
        self._client = client
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._write)
        self.notes: list[str] = []
        self.references: list[str] = []
        self.trouble: BaseException | None = None
        self._some = threading.Event()

    def __enter__(self) -> Writer:
        self._thread.start()
        assert self._some.wait(60), "nothing was written"
        return self

    def __exit__(self, *_: object) -> None:
        self._stop.set()
        self._thread.join(60)

    def _write(self) -> None:
        try:
            for number in range(100_000):
                if self._stop.is_set():
                    return
                note = ask(
                    self._client,
                    "save_knowledge",
                    content=f"note {number} " * 50,
                    title=f"n{number}",
                    tags=["kept"],
                )
                self.notes.append(note["id"])
                if number % 5 == 0:
                    key = f"ref{number}"
                    ask(
                        self._client,
                        "add_references",
                        input=[BIBTEX.format(key=key, title=f"Reference {number}")],
                    )
                    self.references.append(f"Reference {number}")
                if number == 20:
                    self._some.set()
        except BaseException as error:  # noqa: BLE001  told by the test, which runs in another thread
            self.trouble = error
            self._some.set()


def logged_in(client: httpx2.Client) -> str:
    """An access token of the built-in authorization server, got as a person does."""
    url = str(client.base_url).rstrip("/")
    client_id = client.post(
        "/register", json={"client_name": "x", "redirect_uris": [REDIRECT]}
    ).json()["client_id"]
    pkce = Pkce()
    address = url + authorize_url(client_id, pkce, resource=f"{url}/mcp", scope="papers:read")
    code = answer_in(sign_in_and_allow(address, "ada", PASSWORD))["code"]
    form = {
        "grant_type": "authorization_code",
        "code": code,
        "code_verifier": pkce.verifier,
        "client_id": client_id,
    }
    return str(client.post("/token", data=form).json()["access_token"])


@pytest.mark.promise("Q5")
def test_everything_is_carried_while_the_server_takes_writes(tmp_path: Path) -> None:
    old, new = first_home(tmp_path / "old"), tmp_path / "new"
    carrel(old, "papers", "index")
    (tmp_path / "text.md").write_text("# Whole text\n\nIce melts at the rim.", encoding="utf-8")
    with serving(old) as client:
        granted = logged_in(client)
        note = ask(
            client, "save_knowledge", content="Ice lenses need boiled water", title="Clear ice"
        )
        ask(client, "add_references", input=[BIBTEX.format(key="frost2024", title="Clear ice")])
        ask(client, "attach_fulltext", id="frost2024", path=str(tmp_path / "text.md"))
        hypotheses = json.dumps(
            [{"id": "h9", "summary": "Boiled water freezes clear because it holds less air."}]
        )
        project = ask(
            client,
            "import_hypotheses",
            hypotheses=hypotheses,
            goal="Why boiled water freezes clear",
        )["research_id"]
        exported = ask(client, "export_research", research_id=project)
        cited = ask(client, "cite_references", ids=["frost2024"])
        with Writer(client) as writer:
            notes, references = list(writer.notes), list(writer.references)
            carrel(old, "backup", "desk.tar.gz")
            assert len(writer.notes) > len(notes), "the server went on"
        assert writer.trouble is None
        port = client.base_url.port
    assert len(list((old / "audit").glob("audit.*.jsonl"))) > 1, "the log changed files"

    carrel(new, "restore", "desk.tar.gz")
    for file in (path for path in new.rglob("*") if path.suffix in {".db", ".sqlite"}):
        with closing(sqlite3.connect(file)) as connection:
            assert connection.execute("PRAGMA integrity_check").fetchone() == ("ok",), file
    carrel(new, "audit", "verify")
    with serving(new, port or 0) as client:
        assert client.get("/ready").status_code == 200
        assert [paper["title"] for paper in ask(client, "search_papers", query="ice")] == [
            "Lenses of ice"
        ]
        assert (
            ask(client, "get_knowledge", id=note["id"])["content"] == "Ice lenses need boiled water"
        )
        for saved in notes:
            assert ask(client, "get_knowledge", id=saved)["id"] == saved
        titles = {
            found["title"] for found in ask(client, "list_references", limit=100)["references"]
        }
        assert {"Clear ice", *references} <= titles
        assert ask(client, "cite_references", ids=["frost2024"]) == cited
        assert "Ice melts at the rim" in json.dumps(ask(client, "get_fulltext", id="frost2024"))
        assert ask(client, "export_research", research_id=project) == exported
        query = {"query": {"match": {"title": "clear"}}}
        assert (
            ask(client, "elasticsearch", index="knowledge", query=query)["hits"]["total"]["value"]
            == 1
        ), "the index is made again"
        assert client.get("/mcp/tools", headers=bearer(granted)).status_code == 200, (
            "an access token of before is still good"
        )
        assert client.get("/mcp/tools", headers=bearer("carrel_wrong")).status_code == 401
        logged_in(client)
        added = ask(client, "add_paper", markdown="---\ntitle: Frozen rims\n---\n\nMore of ice.")
        assert {paper["title"] for paper in ask(client, "search_papers", query="ice")} == {
            "Lenses of ice",
            "Frozen rims",
        }, added
    assert carrel(new, "audit", "verify").rstrip().endswith(": whole")

"""`carrel alerts`, typed, against a local server that speaks as Crossref and OpenAlex do."""

from __future__ import annotations

import json
import os
import re
import signal
import sqlite3
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit
from xml.etree import ElementTree

import pytest

from tests.loopback_server import Asked, Canned, LoopbackServer
from tests.processes import warm

TODAY = datetime.now(UTC).date().isoformat()
Answer = tuple[int, dict[str, Any]]


def crossref(works: list[dict[str, Any]]) -> dict[str, Any]:
    items = [
        {
            "DOI": each["doi"],
            "type": "journal-article",
            "title": [each["title"]],
            "author": [{"family": "Moor", "given": "Ada"}],
            "issued": {"date-parts": [[2026, 3, 2]]},
            "container-title": ["Journal of Sleep"],
        }
        for each in works
    ]
    return {"status": "ok", "message": {"total-results": len(items), "items": items}}


def openalex(works: list[dict[str, Any]]) -> dict[str, Any]:
    results = [
        {
            "id": f"https://openalex.org/W{each['number']}",
            "doi": f"https://doi.org/{each['doi']}",
            "title": each["title"],
            "publication_year": 2026,
            "publication_date": "2026-03-02",
            "type": "article",
            "authorships": [{"author": {"display_name": "Ada Moor"}}],
        }
        for each in works
    ]
    meta = {"count": len(results), "next_cursor": None, "per_page": 100}
    return {"meta": meta, "results": results}


@dataclass
class News(LoopbackServer):
    """What each service has; `before` is called with the name of the service that is asked."""

    works: dict[str, list[dict[str, Any]]] = field(default_factory=dict)
    failing: set[str] = field(default_factory=set)
    before: Callable[[str], None] = lambda name: None
    asked: list[str] = field(default_factory=list)

    def answer(self, asked: Asked) -> Canned:
        status, body = self._answer(asked.path)
        return status, {"content-type": "application/json"}, json.dumps(body).encode()

    def _answer(self, path: str) -> Answer:
        self.asked.append(path)
        service = urlsplit(path).path.split("/")[1]
        self.before(service)
        if service in self.failing:
            return 400, {"error": "no"}
        # Works before the alert are another question.
        is_earlier = f"{TODAY}" not in str(parse_qs(urlsplit(path).query).get("filter"))
        works = [] if is_earlier else self.works.get(service, [])
        return 200, crossref(works) if service == "crossref" else openalex(works)


@pytest.fixture
def news() -> Iterator[News]:
    with News() as said:
        yield said


@dataclass
class Terminal:
    home: Path
    news: News

    def start(self, *words: str) -> subprocess.Popen[str]:
        settings = {
            "CARREL_HOME": str(self.home),
            "CARREL_LITERATURE_SERVICES": "crossref,openalex",
            "CARREL_LITERATURE_ADDRESSES_CROSSREF": f"{self.news.base}/crossref",
            "CARREL_LITERATURE_ADDRESSES_OPENALEX": f"{self.news.base}/openalex",
        }
        return warm.start(
            [sys.executable, "-m", "carrel", *words],
            env={**os.environ, **settings},
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )

    def type(self, *words: str, code: int = 0) -> str:
        process = self.start(*words)
        out, err = process.communicate(timeout=120)
        assert process.returncode == code, (out, err)
        return out

    def forget_answers(self) -> None:
        """A day passes: cached answers to searches are old."""
        for path in (self.home / "cache").rglob("*"):
            if path.is_file():
                path.unlink()


@pytest.fixture
def terminal(tmp_path: Path, news: News) -> Terminal:
    return Terminal(tmp_path / "home", news)


def work(number: int, title: str) -> dict[str, Any]:
    return {"number": number, "doi": f"10.5555/sleep.{number}", "title": title}


@pytest.mark.promise("W2")
def test_a_search_is_saved_run_told_once_and_fed(terminal: Terminal, news: News) -> None:
    assert json.loads(terminal.type("alerts", "list", "--json")) == {"alerts": []}
    terminal.type("alerts", "run", "nobody", code=3)
    terminal.type("alerts", "add", "sleep", "--services", "nobody", code=2)
    terminal.type("alerts", "add", "sleep", "--name", "s")
    news.works["crossref"] = [work(1, "Sleep of whales in the sea")]
    news.works["openalex"] = [
        work(1, "Sleep of whales in the sea"),
        work(2, "Sleep of seals on the ice"),
    ]
    ran = json.loads(terminal.type("alerts", "run", "--json"))
    assert ran["new"] == 2
    assert {mark["complete_until"] for mark in ran["runs"][0]["marks"]} == {TODAY}
    feed = terminal.home / "feed.xml"
    terminal.type("alerts", "feed", "--into", str(feed))
    entries = ElementTree.parse(feed).getroot().findall("{http://www.w3.org/2005/Atom}entry")
    assert len(entries) == 2
    terminal.type("references", "add", '[{"id":"w","type":"article-journal","title":"Sleep",'
                  '"DOI":"10.5555/sleep.1"}]')  # fmt: skip
    told = terminal.type("alerts", "digest")
    assert len(re.findall("Sleep of", told)) == 2
    assert "ref:w" in told.replace("\\", "")
    assert "Nothing new." in terminal.type("alerts", "digest")
    assert len(re.findall("Sleep of", terminal.type("alerts", "digest", "--days", "3"))) == 2
    terminal.type("alerts", "remove", "s")
    assert json.loads(terminal.type("alerts", "list", "--json")) == {"alerts": []}


@pytest.mark.promise("W2")
def test_a_service_that_fails_is_told_and_all_failing_ends_with_5(
    terminal: Terminal, news: News
) -> None:
    terminal.type("alerts", "add", "sleep", "--name", "s")
    news.works["crossref"] = [work(1, "Sleep of whales in the sea")]
    news.failing = {"openalex"}
    ran = json.loads(terminal.type("alerts", "run", "--json"))
    assert (ran["new"], ran["runs"][0]["state"]) == (1, "incomplete")
    marks = {mark["service"]: mark for mark in ran["runs"][0]["marks"]}
    assert marks["openalex"]["reason"]
    assert "openalex" in terminal.type("alerts", "list", "--json")
    news.failing = {"openalex", "crossref"}
    terminal.forget_answers()
    terminal.type("alerts", "run", code=5)


@pytest.mark.promise("W2")
@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="needs SIGKILL")
def test_a_run_that_is_killed_between_answer_and_mark_loses_nothing(
    terminal: Terminal, news: News
) -> None:
    terminal.type("alerts", "add", "sleep", "--name", "s")
    news.works = {
        "crossref": [work(1, "Sleep of whales in the sea")],
        "openalex": [work(2, "Sleep of seals on the ice")],
    }
    running: list[subprocess.Popen[str]] = []
    is_started = threading.Event()

    def kill_at_openalex(service: str) -> None:
        # Crossref has two questions, this is the second of OpenAlex: some are answered by then.
        if service == "openalex" and sum("/openalex/" in path for path in news.asked) == 2:
            is_started.wait(30)
            running[0].send_signal(signal.SIGKILL)

    news.before = kill_at_openalex
    running.append(terminal.start("alerts", "run"))
    is_started.set()
    running[0].communicate(timeout=120)
    assert running[0].returncode == -signal.SIGKILL
    news.before = lambda name: None
    database = terminal.home / "literature" / "literature.db"
    with sqlite3.connect(database) as rows:
        assert rows.execute("SELECT count(*) FROM literature_alert_works").fetchone() == (0,)
        assert rows.execute("SELECT count(*) FROM literature_alert_marks").fetchone() == (0,)
    held = json.loads(terminal.type("alerts", "run", "--json"))
    assert held["runs"][0]["state"] == "skipped"
    with sqlite3.connect(database) as rows:
        # Two minutes pass: the leases of the dead process have ended, also those on its services.
        rows.execute("UPDATE literature_leases SET lease_until = 0, lease_ticks = 0")
    terminal.forget_answers()
    ran = json.loads(terminal.type("alerts", "run", "--json"))
    assert ran["new"] == 2, ran["runs"][0]["marks"]
    assert len(re.findall("Sleep of", terminal.type("alerts", "digest"))) == 2
    assert "Nothing new." in terminal.type("alerts", "digest")

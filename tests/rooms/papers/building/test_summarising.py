"""Summaries that a model writes, asked for over a real connection from a server that speaks the
chat format.
"""

from __future__ import annotations

import asyncio
import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from carrel.cli.papers_summarise import run
from carrel.core.errors import CarrelError
from carrel.services.language_models.summaries import SummaryWriter
from tests.rooms.papers.building.conftest import Corpus


class ChatServer(ThreadingHTTPServer):
    """Summarises by repeating the title, and can be told to refuse."""

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), ChatHandler)
        self.asked: list[str] = []
        self.statuses: list[int] = []
        self.refused_title = ""

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_port}/v1"


class ChatHandler(BaseHTTPRequestHandler):
    server: ChatServer

    def do_POST(self) -> None:
        asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))["messages"][1][
            "content"
        ]
        title = asked.partition("\n")[0]
        self.server.asked.append(title)
        status = self.server.statuses.pop(0) if self.server.statuses else 200
        if self.server.refused_title == title:
            status = 400
        choice = {
            "message": {"content": f"## Question\n\nIt asks about {title}."},
            "finish_reason": "stop",
        }
        body = json.dumps(
            {"choices": [choice], "usage": {"prompt_tokens": 100, "completion_tokens": 10}}
        ).encode()
        self.send_response(status)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *arguments: object) -> None:
        return None


@pytest.fixture
def chat() -> Iterator[ChatServer]:
    server = ChatServer()
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    yield server
    server.shutdown()
    thread.join()
    server.server_close()


@pytest.fixture
def three(corpus: Corpus) -> Corpus:
    for name in ("Whales", "Bread", "Engines"):
        corpus.write(
            f"{name}.md",
            f"---\ntitle: {name}\nabstract: About {name}.\n---\n{name} and more. {'x' * 500}\n",
        )
    corpus.write_lines("list.jsonl", {"title": "Nothing to read"})
    corpus.build()
    return corpus


def summarise(corpus: Corpus, chat: ChatServer, *more: str) -> int:
    given = ["--into", str(corpus.into), "--model", "small", "--model-url", chat.url]
    return run(
        [
            "summarise",
            *given,
            "--template",
            "deep_read",
            "--price-in",
            "2",
            "--price-out",
            "10",
            *more,
        ]
    )


def test_a_model_fills_a_template_and_the_corpus_shows_it(
    three: Corpus, chat: ChatServer, capsys: pytest.CaptureFixture[str]
) -> None:
    assert summarise(three, chat, "--max-characters", "50") == 0
    shown = capsys.readouterr().out
    assert "3 summaries written, 0 there before, 1 paper without text." in shown
    assert "300 tokens read, 30 written." in shown
    assert "Cost: 0.0009" in shown
    [(paper_id, preferred)] = three.ask(
        "SELECT paper_id, preferred_summary_template FROM paper WHERE title = 'Whales'"
    )
    assert preferred == "simple"
    summary = three.static_json(f"summary/{paper_id}/deep_read.json")
    assert str(summary["summary"]).startswith("## Question\n\nIt asks about Whales.")
    assert "Only the first 50 characters" in str(summary["summary"])
    assert (summary["model"], summary["provider"]) == ("small", "127.0.0.1")
    assert three.ask("SELECT count(*) FROM paper_fts WHERE paper_fts MATCH '\"asks about\"'") == [
        (3,)
    ]


def test_without_a_folder_the_papers_of_the_desk_itself_are_summarised(
    three: Corpus,
    chat: ChatServer,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setenv("CARREL_PAPERS_SNAPSHOT", str(three.into / "paper_snapshot.db"))
    assert (
        run(["summarise", "--model", "small", "--model-url", chat.url, "--template", "deep_read"])
        == 0
    )
    assert "3 summaries written" in capsys.readouterr().out


def test_a_run_that_stops_early_goes_on_where_it_was_and_asks_nothing_twice(
    three: Corpus, chat: ChatServer
) -> None:
    assert summarise(three, chat, "--limit", "2", "--parallel", "1") == 0
    assert summarise(three, chat) == 0
    assert sorted(chat.asked) == ["Bread", "Engines", "Whales"]
    three.write("Bread.md", "# Bread\n\nAnother text altogether.\n")
    three.build()
    chat.asked.clear()
    assert summarise(three, chat) == 0
    assert chat.asked == ["Bread"]


def test_one_paper_that_fails_costs_only_itself_and_is_named(
    three: Corpus, chat: ChatServer, capsys: pytest.CaptureFixture[str]
) -> None:
    chat.refused_title = "Bread"
    assert summarise(three, chat) == 1
    assert "status 400" in capsys.readouterr().out
    assert three.one("SELECT count(*) FROM paper_summary WHERE template_tag = 'deep_read'") == 2


def test_without_a_model_or_with_an_unknown_template_nothing_is_written(
    three: Corpus, chat: ChatServer
) -> None:
    assert run(["summarise", "--into", str(three.into), "--template", "deep_read"]) == 2
    assert summarise(three, chat, "--template", "poem") == 2
    assert chat.asked == []


def test_a_busy_address_is_asked_again_after_a_pause_and_then_given_up(chat: ChatServer) -> None:
    pauses: list[float] = []

    async def pause(seconds: float) -> None:
        pauses.append(seconds)

    async def run() -> None:
        async with SummaryWriter(chat.url, "small", "key", pause=pause) as model:
            chat.statuses[:] = [429, 503]
            assert (await model.write("rules", "Whales")).tokens_in == 100
            assert pauses == [1.0, 2.0]
            chat.statuses[:] = [500, 500, 500, 500]
            with pytest.raises(CarrelError, match="status 500"):
                await model.write("rules", "Whales")
            chat.statuses[:] = [401]
            with pytest.raises(CarrelError, match="refused the key"):
                await model.write("rules", "Whales")

    asyncio.run(run())

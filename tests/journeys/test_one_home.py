"""One home: what any door adds, changes or removes, every other sees at once, without a restart.

A server, a client's own process and the command line work on one home, which was empty when the
first two started.
"""

from __future__ import annotations

import contextlib
import io
import itertools
import json
import os
import shlex
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from carrel.cli import main
from carrel.cli.command_names import command_line
from tests.cli.served import CARREL, invoke, serve
from tests.processes import warm

Ask = Callable[..., Any]
DOORS = ("rest", "stdio", "command line")
_numbers = itertools.count(1)


class _Stdio:
    """`carrel mcp` as a client starts it, asked one call at a time."""

    def __init__(self, home: Path) -> None:
        self._process = warm.start(
            [*CARREL, "mcp", "--home", str(home)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
        )
        self._call(
            "initialize",
            protocolVersion="2025-06-18",
            capabilities={},
            clientInfo={"name": "test", "version": "1"},
        )

    def ask(self, tool: str, **arguments: Any) -> Any:
        answer = self._call("tools/call", name=tool, arguments=arguments)
        assert "result" in answer, answer
        result = answer["result"]
        assert not result.get("isError"), result
        facts = result.get("structuredContent")
        if facts is None:
            return result["content"][0]["text"]
        return facts.get("result", facts)

    def close(self) -> None:
        self._process.communicate(timeout=60)

    def _call(self, method: str, **params: Any) -> dict[str, Any]:
        number = next(_numbers)
        assert self._process.stdin is not None and self._process.stdout is not None
        message = {"jsonrpc": "2.0", "id": number, "method": method, "params": params}
        self._process.stdin.write(json.dumps(message) + "\n")
        self._process.stdin.flush()
        for line in self._process.stdout:
            answer: dict[str, Any] = json.loads(line)
            if answer.get("id") == number:
                return answer
        raise AssertionError("carrel mcp ended")


def _typed(tool: str, **arguments: Any) -> Any:
    """The same call as a command of its own."""
    words = shlex.split(command_line(tool, arguments))[1:]
    at = words.index("--") if "--" in words else len(words)
    told = io.StringIO()
    with contextlib.redirect_stdout(told):
        assert main([*words[:at], "--json", *words[at:]]) == 0
    text = told.getvalue()
    return json.loads(text) if text.startswith(("{", "[")) else text


@pytest.fixture(scope="module")
def doors(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, Ask]]:
    home = tmp_path_factory.mktemp("desk") / "home"
    before = os.environ.get("CARREL_HOME")
    os.environ["CARREL_HOME"] = str(home)
    with serve(home, "local") as url:
        stdio = _Stdio(home)

        def rest(tool: str, **params: Any) -> Any:
            answer = invoke(url, None, tool, **params)
            assert answer["success"], answer
            return answer["result"]

        yield {"rest": rest, "stdio": stdio.ask, "command line": _typed}
        stdio.close()
    if before is None:
        del os.environ["CARREL_HOME"]
    else:
        os.environ["CARREL_HOME"] = before


def _word() -> str:
    """A word that nothing else on the desk has."""
    return f"zymurgon{'abcdefghij'[next(_numbers) % 10]}{next(_numbers)}x"


def _seen(ask: Ask, tool: str, word: str, key: str | None = None) -> bool:
    answer = ask(tool, query=word)
    return word in json.dumps(answer if key is None else answer[key])


def _seen_by(doors: dict[str, Ask], tool: str, word: str, key: str | None = None) -> list[str]:
    return [
        door
        for door, ask in doors.items()
        if _seen(ask, tool, word, key) and _seen(ask, "search_desk", word, "hits")
    ]


def _unseen_by(doors: dict[str, Ask], tool: str, word: str, key: str | None = None) -> list[str]:
    return [
        door
        for door, ask in doors.items()
        if not _seen(ask, tool, word, key) and not _seen(ask, "search_desk", word, "hits")
    ]


def _finish(ask: Ask, answer: Any) -> Any:
    """What a job ends with, where the call did not wait for it."""
    if isinstance(answer, dict) and answer.get("job_id"):
        report = ask("get_job", job_id=answer["job_id"], wait_seconds=60)
        assert report["state"] == "done", report
        return report["result"]
    return answer


@pytest.mark.promise("D17")
@pytest.mark.parametrize("adder", DOORS)
def test_a_note_is_seen_changed_and_gone_at_every_door(doors: dict[str, Ask], adder: str) -> None:
    ask, first, second = doors[adder], _word(), _word()
    saved = ask("save_knowledge", content=f"A note on {first}.", title=first)
    assert _seen_by(doors, "search_knowledge", first) == list(DOORS)
    changed = ask(
        "save_knowledge",
        content=f"A note on {second}.",
        title=second,
        id=saved["id"],
        updated_at=saved["updated_at"],
    )
    assert _seen_by(doors, "search_knowledge", second) == list(DOORS)
    assert _unseen_by(doors, "search_knowledge", first) == list(DOORS)
    ask("delete_knowledge", id=saved["id"], updated_at=changed["updated_at"])
    assert _unseen_by(doors, "search_knowledge", second) == list(DOORS)


@pytest.mark.promise("D17")
@pytest.mark.parametrize("adder", DOORS)
def test_a_reference_is_seen_changed_and_gone_at_every_door(
    doors: dict[str, Ask], adder: str
) -> None:
    ask, first, second = doors[adder], _word(), _word()
    key, entry = f"k{next(_numbers)}", f"title={{Of {first}}}, author={{Doe, J}}, year=2001"
    ask("add_references", input=[f"@book{{{key}, {entry}}}"])
    assert _seen_by(doors, "search_references", first, "references") == list(DOORS)
    ask("edit_reference", id=key, changes={"title": f"Of {second}"})
    assert _seen_by(doors, "search_references", second, "references") == list(DOORS)
    assert _unseen_by(doors, "search_references", first, "references") == list(DOORS)
    for viewer in doors.values():
        assert second in json.dumps(viewer("cite_references", ids=[key]))
    ask("remove_reference", id=key, force=True)
    assert _unseen_by(doors, "search_references", second, "references") == list(DOORS)


@pytest.mark.promise("D17")
@pytest.mark.parametrize("adder", DOORS)
def test_a_paper_is_seen_changed_and_gone_at_every_door(doors: dict[str, Ask], adder: str) -> None:
    ask, first, second = doors[adder], _word(), _word()
    text = (
        f"# Studies of {first}\n\nAda Lovelace\n\n## Abstract\n\n"
        f"It was measured twice in one year. The result was the same both times.\n"
    )
    added = _finish(ask, ask("add_paper", markdown=text))
    paper_id = added["paper_id"]
    assert _seen_by(doors, "search_papers", first) == list(DOORS)
    ask("edit_paper", action="edit", paper_id=paper_id, title=f"Studies of {second}")
    assert _seen_by(doors, "search_papers", second) == list(DOORS)
    for viewer in doors.values():
        assert viewer("get_paper_metadata", paper_id=paper_id)["title"] == f"Studies of {second}"
    ask("remove_paper", paper_id=paper_id)
    assert _unseen_by(doors, "search_papers", second) == list(DOORS)


@pytest.mark.promise("D17")
@pytest.mark.parametrize("adder", DOORS)
def test_a_project_is_seen_changed_and_gone_at_every_door(
    doors: dict[str, Ask], adder: str
) -> None:
    ask, word = doors[adder], _word()
    project = ask("start_research", goal=f"Find out what {word} does to yeast")["research_id"]
    for viewer in doors.values():
        listed = viewer("list_research_projects")
        assert project in json.dumps(listed)
        assert _seen(viewer, "search_desk", word, "hits")
    ask("delete_research", research_id=project, force=True)
    for viewer in doors.values():
        listed = viewer("list_research_projects")
        assert project not in json.dumps(listed)
        assert not _seen(viewer, "search_desk", word, "hits")

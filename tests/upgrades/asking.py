"""What is asked of a home, by any version: the same questions, reduced to facts that must never
change.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Generator
from pathlib import Path
from typing import Any

from tests.processes import warm

PASSWORD = "a long enough password"
ROOT = Path(__file__).parents[2]
# Calls of one room, sent the answers of each list of them, until it has what it tells.
Calls = list[tuple[str, dict[str, Any]]]
Questions = Generator[Calls, list[dict[str, Any]], Any]
_RUN = "import sys; from carrel.cli import main; sys.exit(main())"


def carrel(home: Path, *words: str, text: str = "") -> str:
    """Runs a command on a home; answers what it printed."""
    done = warm.run(
        [sys.executable, "-c", _RUN, *words],
        input=text,
        capture_output=True,
        text=True,
        timeout=170,
        check=False,
        env=_environment(home),
        cwd=home,
    )
    assert done.returncode == 0, f"carrel {' '.join(words)}: {done.stdout}{done.stderr}"
    return done.stdout


def tools(home: Path, calls: Calls) -> list[dict[str, Any]]:
    """Calls tools over stdio; answers their structured contents, and fails where one failed."""
    start = {
        "protocolVersion": "2025-06-18",
        "capabilities": {},
        "clientInfo": {"name": "upgrades", "version": "1"},
    }
    messages: list[dict[str, Any]] = [
        {"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": start},
        {"jsonrpc": "2.0", "method": "notifications/initialized"},
    ]
    for number, (name, arguments) in enumerate(calls, 1):
        params = {"name": name, "arguments": arguments}
        messages.append({"jsonrpc": "2.0", "id": number, "method": "tools/call", "params": params})
    lines = carrel(
        home, "mcp", text="".join(json.dumps(message) + "\n" for message in messages)
    ).splitlines()
    answers = {answer["id"]: answer for answer in map(json.loads, lines) if "id" in answer}
    found = []
    for number, (name, arguments) in enumerate(calls, 1):
        result = answers[number].get("result", answers[number])
        assert "content" in result and not result.get("isError"), f"{name} {arguments}: {result}"
        found.append(result.get("structuredContent") or {"text": result["content"][0]["text"]})
    return found


def ask_all(home: Path) -> dict[str, Any]:
    """Every fact that the home holds, read through the doors.

    The questions of all rooms share two processes: the second opens what the first upgraded.
    """
    asking = [_ask_papers(), _ask_references(), _ask_knowledge(), _ask_nodes(), _ask_research()]
    papers, references, knowledge, nodes, research = _ask_together(home, asking)
    users = carrel(home, "users", "list")
    return {
        "papers": papers,
        "references": references,
        "knowledge": knowledge,
        "nodes": nodes,
        "research": research,
        "users": sorted(name for name in ("ada", "bob") if name in users),
    }


def ask_papers(home: Path) -> list[dict[str, Any]]:
    (papers,) = _ask_together(home, [_ask_papers()])
    return list(papers)


def _ask_together(home: Path, asking: list[Questions]) -> list[Any]:
    """Put the questions of all to one process, what they ask upon the answers to the next, and so
    on; gives what each found.
    """
    found: dict[int, Any] = {}
    waiting = {at: (each, next(each)) for at, each in enumerate(asking)}
    while waiting:
        answers = iter(tools(home, [call for _, calls in waiting.values() for call in calls]))
        now, waiting = waiting, {}
        for at, (each, calls) in now.items():
            try:
                waiting[at] = (each, each.send([next(answers) for _ in calls]))
            except StopIteration as end:
                found[at] = end.value
    return [found[at] for at in range(len(asking))]


def _ask_papers() -> Questions:
    words = (
        "paper",
        "search",
        "citation",
        "commit",
        "identifiers",
        "reproducibility",
        "fish oil",
        "Raynaud",
        "magnesium",
        "migraine",
    )
    answers = yield [("search_papers", {"query": word, "limit": 100}) for word in words]
    ids = sorted({hit["paper_id"] for answer in answers for hit in _rows(answer)})
    told = yield [
        (name, {"paper_id": paper})
        for name in ("get_paper_metadata", "get_paper_source")
        for paper in ids
    ]
    metadata, texts = told[: len(ids)], told[len(ids) :]
    return [
        {
            "paper_id": paper,
            **{name: facts[name] for name in ("title", "authors", "year")},
            "text": text.get("content", text.get("text")),
        }
        for paper, facts, text in zip(ids, metadata, texts, strict=True)
    ]


def _ask_references() -> Questions:
    listed, text = yield [
        ("list_references", {"format": "json", "limit": 100}),
        ("get_fulltext", {"id": "ostrom1990"}),
    ]
    return {
        "items": sorted(listed["references"], key=lambda item: str(item["id"])),
        "fulltext": text["markdown"],
    }


def _ask_knowledge() -> Questions:
    titles = (
        "Imported first",
        "Imported second",
        "A personal note",
        "A note for the team",
        "A proposed note",
    )
    answers = yield [("search_knowledge", {"query": title}) for title in titles]
    ids = sorted({hit["id"] for answer in answers for hit in _rows(answer)})
    kept = (
        "id",
        "title",
        "content",
        "tags",
        "source",
        "user_id",
        "status",
        "created_at",
        "updated_at",
    )
    notes = yield [("get_knowledge", {"id": found}) for found in ids]
    return [{name: note[name] for name in kept if name in note} for note in notes]


def _ask_nodes() -> Questions:
    names = ["Liver fibrosis", "Gremlin-1"]
    (answer,) = yield [
        ("node_knowledge_retriever", {"node_names": names, "include_metadata": True})
    ]
    return list(answer["results"])


def _ask_research() -> Questions:
    (listed,) = yield [("list_research_projects", {})]
    projects = _rows(listed)
    answers = yield [
        ("list_hypotheses", {"research_id": project["id"], "limit": 50}) for project in projects
    ]
    return [
        {
            "research_id": project["id"],
            "hypotheses": {one["id"]: one["summary"] for one in _rows(answer)},
        }
        for project, answer in zip(projects, answers, strict=True)
    ]


def _rows(answer: dict[str, Any]) -> list[dict[str, Any]]:
    """The one list of an answer, whatever it is called; what newer versions say beside it does not
    count.
    """
    beside = {"quoted_from", "notices", "warnings"}
    (rows,) = (
        value for name, value in answer.items() if isinstance(value, list) and name not in beside
    )
    return list(rows)


def _environment(home: Path) -> dict[str, str]:
    kept = {
        name: value
        for name, value in os.environ.items()
        if not name.startswith(("CARREL_", "DATABASE_URL", "PORT"))
    }
    snapshot = str(home / "papers" / "paper_snapshot.db")
    return {
        **kept,
        "PYTHONPATH": str(ROOT / "src"),
        "CARREL_HOME": str(home),
        "CARREL_PAPERS_SNAPSHOT": snapshot,
    }

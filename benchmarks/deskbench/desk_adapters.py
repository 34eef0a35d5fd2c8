"""Reads the desk after a job through a connection of its own; one adapter for each server."""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Callable
from pathlib import Path
from typing import Any

from benchmarks.deskbench.checks import DeskState
from benchmarks.deskbench.desk import DATA
from benchmarks.deskbench.mcp_client import McpClient

# Longer lists are cut by Carrel's own limit on the size of an answer.
_PAGE = 15
Adapter = Callable[[McpClient, Path], DeskState]


def read_carrel(client: McpClient, desk: Path) -> DeskState:
    """Carrel's desk, through its tools."""
    papers = _read_carrel_papers(client)
    titles = {paper["id"]: paper["title"] for paper in papers}
    projects, hypotheses = _read_carrel_research(client, titles)
    return DeskState(
        notes=_read_carrel_notes(client, titles),
        references=_read_carrel_references(client),
        papers=papers,
        projects=projects,
        hypotheses=hypotheses,
    )


def read_folder(client: McpClient, desk: Path) -> DeskState:
    """Notes of a server that works on the desk's folder itself: Markdown files below notes/."""
    notes = []
    for path in sorted((desk / "notes").rglob("*.md")):
        text = path.read_text("utf-8")
        head = re.match(r"---\n(.*?)\n---\n", text, re.DOTALL)
        tags = re.findall(r"[\w/-]+", head[1].partition(":")[2]) if head else []
        tags += re.findall(r"(?<!\S)#([\w/-]+)", text)
        title = re.search(r"^# (.+)$", text, re.MULTILINE)
        links = re.findall(r"\[\[([^\]|]+)", text)
        notes.append(
            {"title": title[1] if title else path.stem, "content": text, "tags": tags}
            | {"status": "draft", "links": links}
        )
    return DeskState(notes=notes)


ADAPTERS: dict[str, Adapter] = {"carrel": read_carrel, "folder": read_folder}


def adapter_of(server: str) -> Adapter:
    """The adapter that capabilities.toml names for a server."""
    listed = tomllib.loads((DATA / "capabilities.toml").read_text("utf-8"))
    return ADAPTERS[listed[server]["adapter"]]


def _ask(client: McpClient, name: str, **arguments: Any) -> Any:
    answer = client.call(name, arguments)
    if answer.is_error:
        raise RuntimeError(f"{name} {arguments}: {answer.text[:500]}")
    return answer.read_json()


def _read_carrel_papers(client: McpClient) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = []
    for page in range(1, 100):
        arguments = {"format": "jsonl", "limit": _PAGE, "page": page}
        answer = client.call("run_operation", {"name": "export_papers", "arguments": arguments})
        if answer.is_error:
            raise RuntimeError(f"export_papers: {answer.text[:500]}")
        lines = [line for line in answer.text.splitlines() if line.startswith('{"paper_id"')]
        rows += [json.loads(line) for line in lines]
        if len(lines) < _PAGE:
            break
    return [
        {"id": row["paper_id"], "title": row["title"], "authors": row["authors"]}
        | {"year": row["year"], "doi": row["doi"], "tags": row["tags"]}
        for row in rows
    ]


def _read_carrel_notes(client: McpClient, titles: dict[str, str]) -> list[dict[str, Any]]:
    hits = _ask(client, "search_knowledge", query="*", limit=100)
    notes = [_ask(client, "get_knowledge", id=hit["id"]) for hit in hits]
    own = {note["id"]: note["title"] for note in notes}
    return [
        {"title": note["title"], "content": note["content"], "tags": note["tags"]}
        | {"status": note["status"]}
        | {"links": [_link_title(link, own | titles) for link in note.get("links", [])]}
        for note in notes
    ]


def _link_title(link: dict[str, Any], titles: dict[str, str]) -> str:
    """The title of what a link leads to, empty where it leads nowhere."""
    place = str(link.get("id") or "").split("~")[0]
    return titles.get(place) or (str(link.get("title") or link["target"]) if place else "")


def _read_carrel_references(client: McpClient) -> list[dict[str, Any]]:
    items: list[dict[str, Any]] = []
    for page in range(1, 100):
        listed = _ask(client, "list_references", limit=_PAGE, page=page)
        items += listed["references"]
        if len(items) >= listed["total"]:
            break
    return [
        {"id": item["id"], "title": item.get("title", ""), "doi": item.get("DOI", "")}
        | {"pages": item.get("page", "")}
        | {"year": str(item.get("issued", {}).get("date-parts", [[""]])[0][0])}
        for item in items
    ]


def _read_carrel_research(
    client: McpClient, titles: dict[str, str]
) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """Projects with the titles of their hypotheses, best first, and the hypotheses themselves."""
    projects, hypotheses = [], []
    for project in _ask(client, "list_research_projects"):
        listed = _ask(client, "list_hypotheses", research_id=project["id"])
        projects.append(
            {"goal": project["goal"], "status": project["status"]}
            | {"hypotheses": [row["title"] for row in listed]}
        )
        for row in listed:
            whole = _ask(client, "get_hypothesis", hypothesis_id=row["id"])
            cited = [titles[name] for name in _cited_papers(whole) if name in titles]
            hypotheses.append({"goal": project["goal"], "title": row["title"], "citations": cited})
    return projects, hypotheses


def _cited_papers(hypothesis: dict[str, Any]) -> list[str]:
    return [
        str(citation.get("paper_id") if isinstance(citation, dict) else citation)
        for citation in hypothesis.get("citations", [])
    ]

"""Carrel as its users have it: a home filled on the command line, asked through the gate."""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from pydantic import BaseModel

from benchmarks.retrieval.data import Document
from benchmarks.retrieval.peers import DEPTH, folder_bytes
from carrel.cli.calls import Terminal, at_terminal
from carrel.core.answer import Explained
from carrel.settings import Settings, read_settings
from carrel.wiring.desk import open_desk


@dataclass(frozen=True, slots=True)
class Built:
    """What it cost to fill a home."""

    documents_per_second: float
    size_bytes: int


def run_command(*arguments: object, environment: Mapping[str, str] | None = None) -> None:
    """Run `carrel …`; what it says is shown only when it fails."""
    command = [str(Path(sys.executable).with_name("carrel")), *map(str, arguments)]
    surroundings = {**os.environ, **(environment or {})}
    done = subprocess.run(command, capture_output=True, text=True, check=False, env=surroundings)
    if done.returncode:
        raise SystemExit(f"{' '.join(command)}\n{done.stdout}\n{done.stderr}")


def fill(home: Path, documents: int, part: Path, *arguments: object) -> Built:
    """Run a command that fills the home, and measure it; `part` is what it writes to."""
    start = time.perf_counter()
    run_command(*arguments, "--home", home)
    seconds = time.perf_counter() - start
    return Built(documents / seconds, folder_bytes(part) if part.is_dir() else 0)


def write_papers(documents: Sequence[Document], path: Path) -> None:
    """Abstracts as JSON lines, named by a DOI made from the document's name."""
    with path.open("w", encoding="utf-8") as file:
        for document in documents:
            record = {
                "title": document.title,
                "abstract": document.text,
                "doi": f"10.5555/{document.name}",
            }
            file.write(json.dumps(record) + "\n")


@dataclass(slots=True)
class CarrelDesk:
    """An open desk, asked by name of operation."""

    runner: asyncio.Runner
    terminal: Terminal
    paper_names: dict[str, str] = field(default_factory=dict)

    def has(self, operation: str) -> bool:
        return operation in self.terminal.desk.catalogue.operations

    def call(self, operation: str, **arguments: object) -> Any:
        answer = self.runner.run(self.terminal.ask(operation, **arguments))
        return _plain(answer)

    def name_paper(self, paper_id: str) -> str:
        """The name of a paper's document, which is the last part of its DOI."""
        if paper_id not in self.paper_names:
            record = self.call("get_paper_metadata", paper_id=paper_id)
            last = str(record["doi"]).rsplit("/", 1)[-1]
            self.paper_names[paper_id] = last.replace("elife.", "elife-")
        return self.paper_names[paper_id]

    def search_papers(self, text: str) -> list[str]:
        """Ids of Carrel's own; `named` turns them into names outside of the time measured."""
        return _ids(self.call("search_papers", query=text, limit=DEPTH), "paper_id")

    def find_passages(self, text: str) -> list[str]:
        return _ids(self.call("find_passages", query=text, limit=20), "paper_id")

    def search_notes(self, text: str) -> list[str]:
        return _ids(self.call("search_knowledge", query=text, limit=10), "id")

    def search_references(self, text: str) -> list[str]:
        return _ids(self.call("search_references", query=text, limit=10), "id")

    def search_desk(self, text: str) -> list[str]:
        """Ids as `room:id`, in the order in which the answer ranks them."""
        rows = _rows(self.call("search_desk", query=text))
        return [f"{row.get('room')}:{row.get('id')}" for row in rows]


@contextmanager
def open_home(home: Path, library: Path | None = None) -> Iterator[CarrelDesk]:
    with open_desk_with(
        read_settings({("home",): home, ("references", "library"): library})
    ) as desk:
        yield desk


@contextmanager
def open_desk_with(settings: Settings) -> Iterator[CarrelDesk]:
    with asyncio.Runner() as runner:
        session = open_desk(settings).session()
        desk = runner.run(session.__aenter__())
        try:
            yield CarrelDesk(runner, runner.run(at_terminal(desk)))
        finally:
            runner.run(session.__aexit__(None, None, None))


def note_names(home: Path, scratch: Path) -> dict[str, str]:
    """The path of each imported note by its id, from what an export remembers."""
    run_command("knowledge", "export", scratch, "--home", home)
    kept = json.loads((scratch / ".carrel-notes.json").read_text(encoding="utf-8"))
    return {str(note["id"]): str(path) for path, note in kept["notes"].items()}


def named(answers: list[list[str]], name: Callable[[str], str]) -> list[list[str]]:
    return [[name(found) for found in answer] for answer in answers]


def _plain(answer: object) -> Any:
    """An answer as a door writes it."""
    match answer:
        case Explained():
            return {"result": _plain(answer.result), "explanation": _plain(answer.explanation)}
        case BaseModel():
            return answer.model_dump(mode="json")
        case list() | tuple():
            return [_plain(part) for part in answer]
        case _:
            return answer


def _rows(answer: object) -> list[Mapping[str, Any]]:
    """The hits of an answer: itself, or the first list of objects in it."""
    if isinstance(answer, Mapping) and "explanation" in answer:
        answer = answer["result"]
    if isinstance(answer, list):
        return [row for row in answer if isinstance(row, Mapping)]
    if isinstance(answer, Mapping):
        for value in answer.values():
            if isinstance(value, list) and value and isinstance(value[0], Mapping):
                return value
    return []


def _ids(answer: object, field_name: str) -> list[str]:
    """The ids of the hits, each once."""
    return list(dict.fromkeys(str(row[field_name]) for row in _rows(answer)))

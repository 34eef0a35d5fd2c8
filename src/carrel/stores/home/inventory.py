"""What a home holds, counted without opening a room: reads alone, and imports no store.

The command `carrel` must answer at once. A test holds its counts to what the operations say.
"""

from __future__ import annotations

import sqlite3
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import orjson

from carrel.core.caller import LOCAL_USER
from carrel.stores.home.database_reading import open_to_read

_PAPERS = "papers"
_MANIFEST = "manifest.json"
_SNAPSHOT = "paper_snapshot.db"
_STATE = Path(".carrel-build") / "state.db"
_LIBRARY = Path("references") / "library.json"
_NOTES = "knowledge.sqlite"
_RESEARCH = Path("research") / "research.db"
_LITERATURE = Path("literature") / "literature.db"

_DOUBTFUL = (
    "SELECT DISTINCT row FROM facet JOIN paper_facet ON facet = number WHERE category = 'doubt'"
)
_PROBLEMS = (
    "SELECT path, problems FROM part JOIN source ON source.number = part.source "
    "WHERE CAST(problems AS TEXT) <> '[]' ORDER BY path, part.number"
)
_UNTOLD = (
    "SELECT count(*) FROM literature_alert_works AS w JOIN literature_alerts AS a "
    "ON a.id = w.alert_id WHERE a.owner = ? AND w.told_at = ''"
)
# Problems that cost no paper, yet leave something of the file unread; all others are mere notes.
_READ_IN_PART = {
    "front_matter_not_valid",
    "front_matter_too_long",
    "not_utf8",
    "pages_damaged",
    "pages_not_readable",
    "source_missing",
}


@dataclass(frozen=True, slots=True)
class Shelf:
    """How much there is of one thing, what came last and when."""

    count: int = 0
    newest: str = ""
    changed_at: str = ""
    is_readable: bool = True


@dataclass(frozen=True, slots=True)
class UnreadFile:
    """A file of papers that was not read, or only in part, and why."""

    path: str
    reason: str


@dataclass(frozen=True, slots=True)
class Inventory:
    """What is on a desk; `unreadable` names what could not be counted, and why."""

    papers: Shelf
    references: Shelf
    notes: Shelf
    projects: Shelf
    doubtful_papers: int = 0
    unread_files: tuple[UnreadFile, ...] = ()
    # Works that the operator's alerts found and no digest told yet.
    new_works: int = 0
    unreadable: tuple[str, ...] = ()

    @property
    def is_empty(self) -> bool:
        shelves = (self.papers, self.references, self.notes, self.projects)
        return not self.unreadable and not any(shelf.count for shelf in shelves)


_UNREADABLE = Shelf(is_readable=False)


def take_inventory(home: Path) -> Inventory:
    """Counts what lies in a home that nobody configured otherwise."""
    unreadable: list[str] = []

    def count(name: str, read: Any, place: Path) -> Any:
        try:
            return read(place)
        except (OSError, ValueError, KeyError, TypeError, sqlite3.Error) as error:
            unreadable.append(f"{name}: {place} cannot be read ({error})")
            return None

    papers = home / _PAPERS
    return Inventory(
        papers=count("papers", _papers, papers) or _UNREADABLE,
        references=count("references", _references, home / _LIBRARY) or _UNREADABLE,
        notes=count("notes", _notes, home / _NOTES) or _UNREADABLE,
        projects=count("research", _projects, home / _RESEARCH) or _UNREADABLE,
        doubtful_papers=count("papers to review", _doubtful, papers) or 0,
        unread_files=count("files of papers", _unread, papers / _STATE) or (),
        new_works=count("alerts", _untold, home / _LITERATURE) or 0,
        unreadable=tuple(dict.fromkeys(unreadable)),
    )


def _papers(folder: Path) -> Shelf:
    if not (folder / _MANIFEST).is_file():
        with open_to_read(folder / _SNAPSHOT) as rows:
            count = rows.execute("SELECT count(*) FROM paper").fetchone()[0] if rows else 0
            return Shelf(count)
    manifest = orjson.loads((folder / _MANIFEST).read_bytes())
    count = sum(each["papers"] - len(each["deleted"]) for each in manifest["segments"])
    return Shelf(count, changed_at=str(manifest["built_at"]))


def _doubtful(folder: Path) -> int:
    if not (folder / _MANIFEST).is_file():
        return 0
    found = 0
    for each in orjson.loads((folder / _MANIFEST).read_bytes())["segments"]:
        with open_to_read(folder / "segments" / each["name"] / "records.db") as rows:
            marked = {row for (row,) in rows.execute(_DOUBTFUL)} if rows else set()
        found += len(marked.difference(each["deleted"]))
    return found


def _unread(file: Path) -> tuple[UnreadFile, ...]:
    """The files that lost something; one that is no longer there is nobody's concern."""
    found: dict[str, UnreadFile] = {}
    with open_to_read(file) as rows:
        for path, problems in rows.execute(_PROBLEMS) if rows else ():
            if path in found or not Path(path).exists():
                continue
            for problem in orjson.loads(problems):
                if problem["is_fatal"] or problem["code"] in _READ_IN_PART:
                    found[path] = UnreadFile(path, str(problem["message"]))
                    break
    return tuple(found.values())


def _references(file: Path) -> Shelf:
    if not file.is_file():
        return Shelf()
    items = orjson.loads(file.read_bytes())
    newest = max(items, key=_added_at, default=None)
    if newest is None:
        return Shelf()
    return Shelf(len(items), str(newest.get("title") or newest.get("id")), _added_at(newest))


def _added_at(item: dict[str, Any]) -> str:
    own = item.get("custom")
    return str(own.get("created_at", "")) if isinstance(own, dict) else ""


def _notes(file: Path) -> Shelf:
    return _newest(file, "SELECT count(*) FROM notes", "SELECT title FROM notes ORDER BY number")


def _projects(file: Path) -> Shelf:
    shelf = _newest(
        file,
        "SELECT count(*) FROM research_projects",
        "SELECT body FROM research_projects ORDER BY created_at",
    )
    if not shelf.newest:
        return shelf
    return Shelf(shelf.count, str(orjson.loads(shelf.newest).get("goal", "")))


def _untold(file: Path) -> int:
    with open_to_read(file) as rows:
        return int(rows.execute(_UNTOLD, (LOCAL_USER,)).fetchone()[0]) if rows else 0


def _newest(file: Path, count: str, names: str) -> Shelf:
    with open_to_read(file) as rows:
        if rows is None:
            return Shelf()
        newest = rows.execute(f"{names} DESC LIMIT 1").fetchone()
        return Shelf(rows.execute(count).fetchone()[0], str(newest[0]) if newest else "")

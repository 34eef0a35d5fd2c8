"""Numbers of several worker processes, in files that all of them map into memory.

Each worker has a file of numbers and one that names them, and holds a lock on the first while it
lives. Whoever is asked for metrics reads all: counters and histograms of ended workers stay, gauges
of theirs do not.
"""

from __future__ import annotations

import mmap
import os
import secrets
from collections.abc import Iterator, MutableSequence
from contextlib import suppress
from pathlib import Path
from typing import Any, BinaryIO, cast

import orjson

try:
    import fcntl
except ImportError:  # Windows: there each worker knows its own numbers alone, and nobody asks here.
    fcntl = None  # type: ignore[assignment]

from carrel.libraries.telemetry.instruments import MOST_NUMBERS, Description, Family, Labels

_NUMBER_BYTES = 8
_VALUES, _NAMES = ".values", ".names"
# Files of ended workers that are kept apart; beyond it they are added to one.
_MOST_ENDED = 8
_PAST = "past.json"


class WorkerNumbers:
    """The numbers of this process, visible to its siblings."""

    def __init__(self, folder: Path) -> None:
        name = f"{os.getpid()}-{secrets.token_hex(4)}"
        self._folder = folder
        with _FolderLock(folder):
            _merge_ended(folder)
            self._file = (folder / f"{name}{_VALUES}").open("w+b")
            fcntl.flock(self._file, fcntl.LOCK_EX)
            self._file.truncate(MOST_NUMBERS * _NUMBER_BYTES)
            self._names = (folder / f"{name}{_NAMES}").open("wb")
        self._memory = mmap.mmap(self._file.fileno(), MOST_NUMBERS * _NUMBER_BYTES)
        self.values = cast(MutableSequence[float], memoryview(self._memory).cast("d"))

    def name_series(self, description: Description, labels: Labels, at: int) -> None:
        """Write down what the numbers from `at` on are."""
        row = {
            "at": at,
            "name": description.name,
            "kind": description.kind,
            "unit": description.unit,
            "help": description.help,
            "labels": description.labels,
            "bounds": description.bounds,
            "series": labels,
        }
        self._names.write(orjson.dumps(row, option=orjson.OPT_APPEND_NEWLINE))
        self._names.flush()

    def read(self) -> list[Family]:
        """The numbers of all workers together."""
        with _FolderLock(self._folder):
            families = _read_past(self._folder)
            for values in sorted(self._folder.glob(f"*{_VALUES}")):
                _add_worker(families, values)
        return list(families.values())


class _FolderLock:
    """Held for moments only: files come and go inside."""

    def __init__(self, folder: Path) -> None:
        self._path = folder / "lock"
        self._file: BinaryIO | None = None

    def __enter__(self) -> None:
        self._file = self._path.open("ab")
        fcntl.flock(self._file, fcntl.LOCK_EX)

    def __exit__(self, *_: object) -> None:
        if self._file is not None:
            self._file.close()


def _has_ended(values: Path) -> bool:
    """Whether the worker of a file is gone: its lock went with it."""
    with values.open("rb") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        return True


def _add_worker(families: dict[str, Family], values: Path) -> None:
    is_gone = _has_ended(values)
    numbers = memoryview(values.read_bytes()).cast("d")
    for description, labels, at in _read_names(values.with_suffix(_NAMES)):
        if is_gone and description.kind == "gauge":
            continue
        family = families.setdefault(description.name, Family(description))
        found = numbers[at : at + description.width].tolist()
        is_other = bool(labels) and set(labels) == {"_OTHER"}
        if any(found) or not is_other:
            family.add(labels, found)


def _read_names(file: Path) -> Iterator[tuple[Description, Labels, int]]:
    for line in file.read_bytes().splitlines():
        # A line that is being written is no JSON yet; the next reader sees it.
        with suppress(orjson.JSONDecodeError):
            row = orjson.loads(line)
            yield _description(row), tuple(row["series"]), row["at"]


def _description(row: dict[str, Any]) -> Description:
    return Description(
        row["name"],
        row["kind"],
        row["unit"],
        row["help"],
        tuple(row["labels"]),
        tuple(row["bounds"]),
    )


def _read_past(folder: Path) -> dict[str, Family]:
    families: dict[str, Family] = {}
    file = folder / _PAST
    if file.exists():
        for row in orjson.loads(file.read_bytes()):
            family = families.setdefault(row["name"], Family(_description(row)))
            family.add(tuple(row["series"]), row["numbers"])
    return families


def _merge_ended(folder: Path) -> None:
    """Add up ended workers once there are many, so that their files do not pile up."""
    ended = [values for values in sorted(folder.glob(f"*{_VALUES}")) if _has_ended(values)]
    if len(ended) < _MOST_ENDED:
        return
    families = _read_past(folder)
    for values in ended:
        _add_worker(families, values)
    rows = [
        {
            "name": family.description.name,
            "kind": family.description.kind,
            "unit": family.description.unit,
            "help": family.description.help,
            "labels": family.description.labels,
            "bounds": family.description.bounds,
            "series": labels,
            "numbers": numbers,
        }
        for family in families.values()
        for labels, numbers in family.series.items()
    ]
    draft = folder / f"{_PAST}.draft"
    draft.write_bytes(orjson.dumps(rows))
    draft.replace(folder / _PAST)
    for values in ended:
        values.unlink(missing_ok=True)
        values.with_suffix(_NAMES).unlink(missing_ok=True)

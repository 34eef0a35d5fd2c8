"""Fetched texts on disk for some days, so that reading on and adding cost no second download."""

from __future__ import annotations

import asyncio
import hashlib
import time
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path

import orjson

from carrel.rooms.literature.fulltext_ports import FetchedText, ShelvedText
from carrel.services.atomic_files import write_atomically

_KEPT_SECONDS = 7 * 86_400
_MOST_TEXTS = 500
_ENTRY = ".text.json"


class FolderShelf:
    """One file an entry, beside the downloaded files; what is too old or too much is removed."""

    def __init__(self, folder: Path, now: Callable[[], float] = time.time) -> None:
        self._folder = folder
        self._now = now

    async def find(self, key: str) -> ShelvedText | None:
        return await asyncio.to_thread(self._find, key)

    async def put(self, key: str, shelved: ShelvedText) -> None:
        await asyncio.to_thread(self._put, key, shelved)

    def _find(self, key: str) -> ShelvedText | None:
        """None where there is none, it is too old, or its file is gone."""
        path = self._path(key)
        try:
            facts = orjson.loads(path.read_bytes())
            if facts["key"] != key or self._now() - facts["at"] > _KEPT_SECONDS:
                return None
            text = facts["text"]
            text["file"] = self._folder / text["file"]
            text["remarks"] = tuple(text["remarks"])
            found = FetchedText(**text)
            is_there = found.file.is_file()
        except (OSError, ValueError, KeyError, TypeError):
            return None
        return ShelvedText(found, facts["item"], tuple(facts["places"])) if is_there else None

    def _put(self, key: str, shelved: ShelvedText) -> None:
        text = asdict(shelved.text) | {"file": shelved.text.file.name}
        facts = {
            "key": key,
            "at": self._now(),
            "text": text,
            "item": shelved.item,
            "places": shelved.places,
        }
        self._folder.mkdir(parents=True, exist_ok=True)
        write_atomically(self._path(key), orjson.dumps(facts))
        self._sweep()

    def _sweep(self) -> None:
        """Remove what nobody asked for lately, and files that no entry names."""
        entries = sorted(self._folder.glob(f"*{_ENTRY}"), key=_age, reverse=True)
        oldest = self._now() - _KEPT_SECONDS
        named: set[str] = set()
        for place, path in enumerate(entries):
            if place >= _MOST_TEXTS or _age(path) < oldest:
                path.unlink(missing_ok=True)
                continue
            try:
                named.add(orjson.loads(path.read_bytes())["text"]["file"])
            except (OSError, ValueError, KeyError, TypeError):
                path.unlink(missing_ok=True)
        for path in self._folder.iterdir():
            is_kept = path.name in named or path.name.endswith((_ENTRY, ".part"))
            # A file that was just downloaded is read before it has an entry.
            if not is_kept and _age(path) < self._now() - 3_600:
                path.unlink(missing_ok=True)

    def _path(self, key: str) -> Path:
        return self._folder / f"{hashlib.sha256(key.encode()).hexdigest()[:40]}{_ENTRY}"


def _age(path: Path) -> float:
    try:
        return path.stat().st_mtime
    except OSError:
        return 0.0

"""The folders of notes that were imported, in a JSON file of the home folder."""

from __future__ import annotations

import json
import os
import tempfile
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

from carrel.core.errors import UnavailableError
from carrel.rooms.knowledge.folder_import import ImportSource
from carrel.rooms.knowledge.import_sources import KnownFolder
from carrel.stores.file_lock import hold_lock

FILE_NAME = "note-folders.json"
_VERSION = 1
_WAIT_SECONDS = 60.0


class NoteFoldersFile:
    """Read and replaced as a whole, under the lock of `hold`."""

    def __init__(self, file: Path) -> None:
        self._file = file

    @contextmanager
    def hold(self) -> Iterator[None]:
        self._file.parent.mkdir(parents=True, exist_ok=True)
        lock = self._file.with_name(f".{self._file.name}.lock")
        with hold_lock(lock, wait_seconds=_WAIT_SECONDS):
            yield

    def all(self) -> list[KnownFolder]:
        try:
            facts = json.loads(self._file.read_text(encoding="utf-8"))
            rows = facts["folders"] if facts["version"] == _VERSION else None
        except FileNotFoundError:
            return []
        except (OSError, ValueError, KeyError, TypeError) as error:
            raise self._unreadable() from error
        if rows is None:
            raise self._unreadable()
        return [
            KnownFolder(row["user_id"], row["folder"], ImportSource(row["name"], row["key"]))
            for row in rows
        ]

    def replace(self, known: Iterable[KnownFolder]) -> None:
        rows = [
            {
                "user_id": row.user_id,
                "folder": row.folder,
                "name": row.source.name,
                "key": row.source.key,
            }
            for row in known
        ]
        text = (
            json.dumps({"version": _VERSION, "folders": rows}, ensure_ascii=False, indent=1) + "\n"
        )
        self._file.parent.mkdir(parents=True, exist_ok=True)
        descriptor, draft = tempfile.mkstemp(dir=self._file.parent, prefix=f".{FILE_NAME}.")
        try:
            with os.fdopen(descriptor, "w", encoding="utf-8") as stream:
                stream.write(text)
                stream.flush()
                os.fsync(stream.fileno())
            Path(draft).replace(self._file)
        except BaseException:
            Path(draft).unlink(missing_ok=True)
            raise

    def is_there(self, known: KnownFolder) -> bool:
        return Path(known.folder).is_dir()

    def _unreadable(self) -> UnavailableError:
        return UnavailableError(
            f"{self._file} cannot be read",
            next_step="Mend it, or move it away: folders that are imported from the same place "
            "again are still recognised.",
        )

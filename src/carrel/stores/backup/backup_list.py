"""Backups that were made of a home folder, remembered so that an error can name the newest."""

from __future__ import annotations

import json
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path

KNOWN_BACKUPS_NAME = ".carrel-backups.json"
# Where the console keeps those it makes; a restore that brings nothing for it leaves it alone.
BACKUPS_FOLDER_NAME = "backups"
_MOST = 50


def remember_backup(home: Path, file: Path) -> None:
    """Adds a backup to the list of the home folder, if that can be written."""
    names = [name for name in _names(home) if name != str(file)][-_MOST + 1 :]
    with suppress(OSError):
        (home / KNOWN_BACKUPS_NAME).write_text(
            json.dumps([*names, str(file)], ensure_ascii=False), encoding="utf-8"
        )


def newest_backup(homes: Iterable[Path]) -> Path | None:
    """The newest backup that is still where it was written, or that lies in one of the folders."""
    found: dict[Path, float] = {}
    for home in homes:
        folders = (home, home / BACKUPS_FOLDER_NAME)
        beside = [file for folder in folders for file in folder.glob("carrel-*.tar.gz")]
        for file in (*(Path(name) for name in _names(home)), *beside):
            with suppress(OSError):
                found[file] = file.stat().st_mtime
    return max(found, key=lambda file: found[file], default=None)


def _names(home: Path) -> list[str]:
    try:
        names = json.loads((home / KNOWN_BACKUPS_NAME).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return []
    return [str(name) for name in names] if isinstance(names, list) else []

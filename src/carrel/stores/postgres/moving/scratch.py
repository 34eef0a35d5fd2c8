"""Copies of a home's files that may be brought forward and read, so that the home stays as it is.

Whoever copies holds the home alone: nobody writes these files meanwhile.
"""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from pathlib import Path

from carrel.stores.csl_json.working_folder import locate_library
from carrel.stores.database_identity import refuse_replaced
from carrel.stores.sqlite.schema import UpgradeStep, upgrade_schema

_COMPANIONS = ("", "-wal", "-journal")


def copy_database(file: Path, steps: Sequence[UpgradeStep], folder: Path) -> Path | None:
    """A copy of this version's tables, or None where there is no database.

    Raises DatabaseReplacedError where the database is not the one that was kept there.
    """
    refuse_replaced(file)
    if not file.exists():
        return None
    folder.mkdir(parents=True)
    for suffix in _COMPANIONS:
        part = file.with_name(f"{file.name}{suffix}")
        if part.exists():
            shutil.copyfile(part, folder / part.name)
    copy = folder / file.name
    upgrade_schema(copy, steps)
    return copy


def copy_library(path: Path, folder: Path) -> Path:
    """A copy of a library with its history; it may be read as any library is."""
    location = locate_library(path)
    folder.mkdir(parents=True)
    copy = folder / location.target.name
    if location.target.exists():
        shutil.copyfile(location.target, copy)
    if location.folder.is_dir():
        shutil.copytree(
            location.folder,
            copy.with_name(location.folder.name),
            ignore=shutil.ignore_patterns("search", "lock"),
        )
    return copy

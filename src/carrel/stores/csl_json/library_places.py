"""Where a library, its search index and its attached files are."""

from __future__ import annotations

import os
from pathlib import Path

from carrel.core.caller import library_name
from carrel.stores.csl_json.working_folder import locate_library

LIBRARY_NAME = "library.json"


def search_folder(path: Path) -> Path:
    """The folder of the search index beside a library; it can be deleted at any time."""
    return locate_library(path).folder / "search"


def user_library_path(users: Path, user_id: str) -> Path:
    """The library of a user other than the local one."""
    return users / library_name(user_id) / LIBRARY_NAME


def attachments_folder(path: Path) -> Path:
    """The folder of attached files: beside the path, or beside the file that a link leads to."""
    beside = path.with_name(f"{path.stem}-attachments")
    if not path.is_symlink() or beside.is_dir():
        return beside
    target = Path(os.path.realpath(path))
    return target.with_name(f"{target.stem}-attachments")

"""Where a library really is: links are followed, so that every path to one file shares its lock,
journal and versions.
"""

from __future__ import annotations

import errno
import os
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True)
class LibraryLocation:
    """The file behind a path, and the folder of working files beside it."""

    target: Path

    @property
    def workshop(self) -> Path:
        return self.target.with_name(f".{self.target.name}.carrel")

    @property
    def lock_file(self) -> Path:
        return self.workshop / "lock"

    @property
    def draft(self) -> Path:
        return self.workshop / "draft"

    @property
    def versions(self) -> Path:
        return self.workshop / "versions"

    @property
    def ledger(self) -> Path:
        return self.workshop / "ledger.jsonl"

    @property
    def notices(self) -> Path:
        return self.workshop / "notices.jsonl"


def locate_library(path: Path) -> LibraryLocation:
    """Follows links to the file, which need not exist yet. OSError says where a link leads
    nowhere.
    """
    target = Path(os.path.realpath(path))
    if target.is_symlink():
        raise OSError(errno.ELOOP, "the links that lead to it form a loop", str(path))
    if path.is_symlink() and not target.parent.is_dir():
        raise FileNotFoundError(
            errno.ENOENT,
            f"the link leads to a folder that does not exist: {target.parent}",
            str(path),
        )
    return LibraryLocation(target)


def check_writable(location: LibraryLocation) -> None:
    """Raises PermissionError, before anything is touched, where the file may not be written."""
    if location.target.exists() and not os.access(location.target, os.W_OK):
        raise PermissionError(
            errno.EACCES, f"the file is read-only: {location.target}", str(location.target)
        )
    folder = location.workshop if location.workshop.is_dir() else location.target.parent
    if folder.is_dir() and not os.access(folder, os.W_OK):
        raise PermissionError(errno.EACCES, f"the folder is read-only: {folder}", str(folder))

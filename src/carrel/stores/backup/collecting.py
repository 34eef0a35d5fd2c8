"""Finds what is to be carried in a folder, and what is not because it is made again by itself."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from carrel.stores.backup.copying import FoundFile
from carrel.stores.backup.errors import BackupFailedError

WhyNot = Callable[[Path], str | None]

_BESIDE_SQLITE = ("-wal", "-shm", "-journal")


@dataclass(frozen=True, slots=True)
class LeftOut:
    """Something that is not carried, and why."""

    path: Path
    name: str
    reason: str


@dataclass(slots=True)
class Findings:
    """Files in the order of their names, and what was left out, with the reason."""

    files: list[FoundFile] = field(default_factory=list)
    left_out: list[LeftOut] = field(default_factory=list)

    @property
    def size_bytes(self) -> int:
        return sum(_size(found.path) for found in self.files)


def collect(folder: Path, name: str, why_not: WhyNot, findings: Findings) -> None:
    """Adds everything below a folder, which has this name in the archive. `why_not` says of a path
    why it is left out.

    Links are followed, since the product follows them too; what a link leads to is carried as if it
    were here.
    """
    _collect(folder, name, why_not, findings, frozenset())


def _collect(
    folder: Path, name: str, why_not: WhyNot, findings: Findings, inside: frozenset[Path]
) -> None:
    real = folder.resolve()
    if real in inside:
        return
    try:
        paths = sorted(folder.iterdir())
    except OSError as error:
        raise BackupFailedError(
            f"{folder} cannot be read: {error.strerror}",
            next_step="Mend that and run it again; no backup was made.",
        ) from error
    for path in paths:
        below = f"{name}/{path.name}"
        reason = why_not(path)
        if reason is not None:
            findings.left_out.append(LeftOut(path, below, reason))
        elif path.is_dir():
            _collect(path, below, why_not, findings, inside | {real})
        elif not path.is_file():
            findings.left_out.append(LeftOut(path, below, "neither a file nor a folder"))
        elif not _is_beside_sqlite(path):
            findings.files.append(FoundFile(path, below))


def _is_beside_sqlite(path: Path) -> bool:
    """The helpers of a SQLite file; what they hold is in the copy of that file."""
    return any(
        path.name.endswith(suffix) and path.with_name(path.name.removesuffix(suffix)).exists()
        for suffix in _BESIDE_SQLITE
    )


def _size(path: Path) -> int:
    try:
        return path.stat().st_size
    except OSError:
        return 0

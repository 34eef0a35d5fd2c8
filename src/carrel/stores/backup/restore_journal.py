"""Atomic restore: a kill at any moment leaves the old state or the new one.

Everything is first unpacked beside its place. Then a journal lists the renames, and whoever opens
the home folder next completes them. Before the journal exists nothing has changed.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import BinaryIO

from pydantic import BaseModel, ConfigDict

from carrel.core.errors import InvalidInputError
from carrel.stores.backup.archive import Advance, Manifest, read_archive
from carrel.stores.backup.backup_list import KNOWN_BACKUPS_NAME
from carrel.stores.backup.errors import (
    BackupFailedError,
    HomeInUseError,
    RestoreUnderWayError,
    UnsafeBackupError,
)
from carrel.stores.csl_json.file_replacement import sync_folder
from carrel.stores.home.lock import (
    LOCK_NAME,
    RESTORE_FOLDER_NAME,
    has_unfinished_restore,
    hold_home_alone,
)

ASIDE_PREFIX = "before-restore-"
_JOURNAL_NAME = "journal.json"
_WORKSHOPS_NAME = "workshops.json"
_SPARE_BYTES = 16 * 1024 * 1024

Locate = Callable[[str], tuple[Path, PurePosixPath]]


class _Record(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class Move(_Record):
    """One name: what is at `to` goes `aside`, and what is at `new`, if anything, comes to `to`."""

    new: Path | None
    to: Path
    aside: Path


class Journal(_Record):
    """Every move of a restore, in order, and the folders it was prepared in."""

    backup: str
    moves: tuple[Move, ...]
    workshops: tuple[Path, ...]


@dataclass(frozen=True, slots=True)
class Root:
    """A folder that gets something. `owned` are the names in it that are ours to move aside."""

    folder: Path
    owned: Sequence[str]

    @property
    def workshop(self) -> Path:
        return self.folder / RESTORE_FOLDER_NAME

    @property
    def staging(self) -> Path:
        return self.workshop / "new"


def is_reserved(name: str) -> bool:
    """Whether a name in a home belongs to restoring itself, so that it is not carried or moved."""
    return name in {RESTORE_FOLDER_NAME, KNOWN_BACKUPS_NAME} or name.startswith(
        (LOCK_NAME, ASIDE_PREFIX)
    )


def begin(home: Path, roots: Iterable[Root]) -> None:
    """Create empty staging folders, recorded so that they can be cleared away."""
    every_root = list(roots)
    clear_away(home)
    (home / RESTORE_FOLDER_NAME).mkdir(parents=True, exist_ok=True)
    _write_durably(
        home / RESTORE_FOLDER_NAME / _WORKSHOPS_NAME,
        _Workshops(workshops=tuple(root.workshop for root in every_root)),
    )
    for root in every_root:
        root.staging.mkdir(parents=True)


def stage(file: Path, manifest: Manifest, locate: Locate, advance: Advance) -> None:
    """Unpacks every file into the staging area of its folder, with its time and permissions."""
    facts = {carried.path: carried for carried in manifest.files}

    def target(name: str) -> Path:
        folder, relative = locate(name)
        if is_reserved(relative.parts[0]):
            raise UnsafeBackupError(file, f"{name!r} is a name of our own")
        return folder / RESTORE_FOLDER_NAME / "new" / relative

    def put(name: str) -> BinaryIO:
        path = target(name)
        path.parent.mkdir(parents=True, exist_ok=True)
        try:
            return os.fdopen(
                os.open(
                    path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_CLOEXEC", 0), 0o600
                ),
                "wb",
            )
        except FileExistsError:
            raise InvalidInputError(
                f"Two files of the backup would become {locate(name)[0] / locate(name)[1]}",
                next_step="Name another place for the one that was outside the home folder: "
                "--snapshot, --library or --static.",
            ) from None

    again = read_archive(file, advance, put)
    if again != manifest:
        raise BackupFailedError(
            f"{file} was changed while it was being read",
            next_step="Nothing was changed; run it again.",
        )
    for name, carried in facts.items():
        path = target(name)
        path.chmod(carried.mode & 0o777)
        os.utime(path, ns=(carried.modified_ns, carried.modified_ns))


def need_space(roots: Sequence[Root], manifest: Manifest, locate: Locate) -> None:
    """Refuses before anything is unpacked where there is no room for it."""
    wanted: dict[Path, int] = {root.folder: _SPARE_BYTES for root in roots}
    for carried in manifest.files:
        wanted[locate(carried.path)[0]] += carried.size_bytes
    for folder, size in wanted.items():
        free = shutil.disk_usage(folder).free
        if free < size:
            raise BackupFailedError(
                f"{folder} has {free:,} bytes free, and {size:,} are needed",
                next_step="Make room; nothing was changed.",
            )


def moves_for(root: Root, stamp: str) -> list[Move]:
    """The renames in one folder; raises InvalidInputError for a name that is a mount of its own."""
    aside = root.folder / f"{ASIDE_PREFIX}{stamp}"
    fresh = sorted(path.name for path in root.staging.iterdir())
    moves = [
        Move(new=root.staging / name, to=root.folder / name, aside=aside / name) for name in fresh
    ]
    moves += [
        Move(new=None, to=root.folder / name, aside=aside / name)
        for name in sorted(set(root.owned) - set(fresh))
    ]
    moves = [move for move in moves if move.new is not None or os.path.lexists(move.to)]
    device = root.folder.stat().st_dev
    for move in moves:
        if os.path.lexists(move.to) and (move.to.lstat().st_dev != device or move.to.is_mount()):
            raise InvalidInputError(
                f"{move.to} is a mounted folder and cannot be moved aside",
                next_step="Restore into another --home, or unmount it; nothing was changed.",
            )
    return moves


def commit(home: Path, backup: str, roots: Sequence[Root], moves: Sequence[Move]) -> None:
    """Write the journal; from here on the restore completes even if this process dies."""
    # Unpacked files are many; one call that waits for all of them is quicker than one for each.
    if hasattr(os, "sync"):
        os.sync()
    journal = Journal(
        backup=backup, moves=tuple(moves), workshops=tuple(root.workshop for root in roots)
    )
    _write_durably(home / RESTORE_FOLDER_NAME / _JOURNAL_NAME, journal)
    carry_out(home)


def carry_out(home: Path) -> Journal | None:
    """Complete the renames of a journal; the caller has the home folder's exclusive lock."""
    file = home / RESTORE_FOLDER_NAME / _JOURNAL_NAME
    if not file.exists():
        return None
    journal = Journal.model_validate_json(file.read_bytes())
    for move in journal.moves:
        if move.new is None:
            if os.path.lexists(move.to) and not os.path.lexists(move.aside):
                _move_aside(move)
        elif os.path.lexists(move.new):
            if os.path.lexists(move.to):
                _move_aside(move)
            move.new.rename(move.to)
    for folder in {move.to.parent for move in journal.moves} | {
        move.aside.parent for move in journal.moves
    }:
        if folder.is_dir():
            sync_folder(folder)
    file.unlink()
    sync_folder(file.parent)
    clear_away(home)
    return journal


def _move_aside(move: Move) -> None:
    aside, number = move.aside, 1
    aside.parent.mkdir(exist_ok=True)
    while os.path.lexists(aside):
        number += 1
        aside = move.aside.with_name(f"{move.aside.name}.{number}")
    move.to.rename(aside)


def clear_away(home: Path) -> None:
    """Removes what a restore prepared and did not use."""
    file = home / RESTORE_FOLDER_NAME / _WORKSHOPS_NAME
    if file.exists():
        for workshop in _Workshops.model_validate_json(file.read_bytes()).workshops:
            if workshop != file.parent:
                shutil.rmtree(workshop, ignore_errors=True)
    shutil.rmtree(file.parent, ignore_errors=True)


def recover(home: Path) -> str | None:
    """Finishes a killed restore, or clears away what it had prepared; describes what was done."""
    if not has_unfinished_restore(home):
        return None
    try:
        with hold_home_alone(home):
            journal = carry_out(home)
            if journal is not None:
                return f"The restore of {journal.backup}, which was interrupted, is finished now."
            clear_away(home)
            return (
                "A restore was interrupted before it had changed anything; what it had "
                "prepared is cleared away."
            )
    except HomeInUseError:
        if (home / RESTORE_FOLDER_NAME / _JOURNAL_NAME).exists():
            raise RestoreUnderWayError(home) from None
        return None


class _Workshops(_Record):
    workshops: tuple[Path, ...]


def _write_durably(file: Path, record: BaseModel) -> None:
    draft = file.with_name(f"{file.name}.part")
    with draft.open("w", encoding="utf-8") as stream:
        stream.write(record.model_dump_json())
        stream.flush()
        os.fsync(stream.fileno())
    draft.replace(file)
    sync_folder(file.parent)

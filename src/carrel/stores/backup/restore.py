"""Restore: replaces the present data by a backup, or changes nothing."""

from __future__ import annotations

import hashlib
import json
import shutil
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from carrel.core.clock import Clock
from carrel.core.progress import Progress
from carrel.stores.backup.archive import Manifest
from carrel.stores.backup.database import DATABASE_PREFIX, DatabaseCopies, need_database
from carrel.stores.backup.errors import HomeNotEmptyError, NewerBackupError
from carrel.stores.backup.places import (
    BUILD_NAME,
    SETTINGS_NAME,
    STAGED_DATABASE_NAME,
    Places,
)
from carrel.stores.backup.restore_journal import (
    ASIDE_PREFIX,
    Root,
    begin,
    clear_away,
    commit,
    moves_for,
    need_space,
    recover,
    stage,
)
from carrel.stores.backup.writer import check_backup, no_build
from carrel.stores.home.lock import hold_home_alone
from carrel.stores.sql.access import SCRIPTS as ACCESS
from carrel.stores.sql.research.schema import SCRIPTS as RESEARCH
from carrel.stores.sqlite.knowledge import STEPS as KNOWLEDGE

# What this product can open. A file of a newer version is better refused now than when the old data
# are aside.
_VERSIONS = {
    "home/access.sqlite": len(ACCESS),
    "home/knowledge.sqlite": len(KNOWLEDGE),
    "home/research/research.db": len(RESEARCH),
}


# Rebuilds the index of a snapshot, with vectors where it had some; returns what is left to do.
RebuildIndex = Callable[[Path, bool], list[str]]


@dataclass(frozen=True, slots=True)
class IndexRebuilder:
    """Rebuilds an index; `embed` is None where sentence vectors cannot be made here."""

    index: Callable[[Path], None]
    embed: Callable[[Path], None] | None

    def rebuild(self, snapshot: Path, has_vectors: bool) -> list[str]:
        self.index(snapshot)
        if has_vectors and self.embed is None:
            return [
                "The vectors of meaning were not made again: carrel papers index --meaning, with "
                "the extra semantic."
            ]
        if has_vectors and self.embed is not None:
            self.embed(snapshot)
        return []


@dataclass(frozen=True, slots=True)
class Restored:
    """What was put in place, where the data from before are, and what is left to do."""

    manifest: Manifest
    aside: tuple[Path, ...]
    left_to_do: tuple[str, ...]
    recovered: str | None


def restore_backup(
    places: Places,
    file: Path,
    *,
    rebuild_index: RebuildIndex,
    may_move_aside: bool,
    progress: Progress,
    clock: Clock,
    database: DatabaseCopies | None = None,
) -> Restored:
    """Checks all of the backup, unpacks it beside its place, and changes names at the end.

    A database in it is filled before the names change: killed in between, the next restore of the
    same backup finds it there and goes on with the files.
    """
    recovered = recover(places.home)
    manifest = check_backup(file, progress)
    _refuse_newer(file, manifest)
    names = [carried.path for carried in manifest.files]
    mark = f"backup {_digest(manifest)}"
    has_database = any(name.startswith(f"{DATABASE_PREFIX}/") for name in names)
    if has_database:
        need_database(database).refuse_filled(mark)
    with hold_home_alone(places.home):
        roots = places.roots(names)
        present = [
            root.folder / name
            for root in roots
            for name in root.owned
            if _is_data(places, root, name)
        ]
        if present and not may_move_aside:
            raise HomeNotEmptyError(present)
        for root in roots:
            root.folder.mkdir(parents=True, exist_ok=True)
        _wait_for_builds(roots)
        try:
            begin(places.home, roots)
            need_space(roots, manifest, places.locate)
            progress.begin("unpacking", file.stat().st_size, "bytes")
            stage(file, manifest, places.locate, progress.advance)
            progress.end()
            left_to_do = _rebuild_indexes(manifest, places, rebuild_index)
            staged = Root(places.home, ()).staging / STAGED_DATABASE_NAME
            stamp = clock.now().strftime("%Y%m%dT%H%M%S")
            moves = [
                move for root in roots for move in moves_for(root, stamp) if move.new != staged
            ]
            _wait_for_builds(roots)
            if has_database:
                _load_database(need_database(database), places, mark, progress)
        except BaseException:
            clear_away(places.home)
            raise
        commit(places.home, file.name, roots, moves)
    aside = {root.folder / f"{ASIDE_PREFIX}{stamp}" for root in roots}
    return Restored(
        manifest,
        tuple(sorted(path for path in aside if path.is_dir())),
        tuple(left_to_do),
        recovered,
    )


def _load_database(database: DatabaseCopies, places: Places, mark: str, progress: Progress) -> None:
    staged = Root(places.home, ()).staging / STAGED_DATABASE_NAME
    progress.begin("filling the database", None, "bytes")
    database.load(staged, mark)
    progress.end()
    shutil.rmtree(staged)


def _digest(manifest: Manifest) -> str:
    """What tells this backup from every other."""
    facts = json.dumps(manifest.model_dump())
    return hashlib.sha256(facts.encode()).hexdigest()


def _is_data(places: Places, root: Root, name: str) -> bool:
    """Whether a name is data; a settings file in the home folder is not."""
    return (root.folder / name).exists() and not (
        root.folder == places.home and name == SETTINGS_NAME
    )


def _wait_for_builds(roots: list[Root]) -> None:
    """Wait for running builds, which do not hold the lock of the home folder.

    Their lock is not kept: it is a file in the folder that is moved.
    """
    for root in roots:
        for workshop in (*root.folder.glob(BUILD_NAME), *root.folder.glob(f"*/{BUILD_NAME}")):
            with no_build(workshop):
                pass


def _refuse_newer(file: Path, manifest: Manifest) -> None:
    for carried in manifest.files:
        known = _VERSIONS.get(carried.path)
        if known is not None and (carried.schema_version or 0) > known:
            raise NewerBackupError(
                file,
                f"{carried.path} has version {carried.schema_version}, known {known}; Carrel "
                f"{manifest.carrel}",
            )


def _rebuild_indexes(manifest: Manifest, places: Places, rebuild: RebuildIndex) -> list[str]:
    """Rebuilds left-out indexes beside the unpacked snapshots, so that they arrive with them."""
    left_to_do = []
    for index in manifest.indexes:
        folder, relative = places.locate(index.snapshot)
        snapshot = Root(folder, ()).staging / relative
        if snapshot.is_file():
            left_to_do += rebuild(snapshot, index.has_vectors)
    return left_to_do

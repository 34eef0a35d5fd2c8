"""`carrel restore`: a backup in place of what is there, or nothing changed."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from pathlib import Path

from carrel.core.clock import Clock
from carrel.rooms.papers.building.ports import Progress
from carrel.settings import Settings
from carrel.stores.backup.archive import Manifest
from carrel.stores.backup.errors import HomeNotEmptyError, NewerBackupError
from carrel.stores.backup.occupancy import alone
from carrel.stores.backup.restoring import (
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
from carrel.stores.sql.access import SCRIPTS as ACCESS
from carrel.stores.sql.research import SCRIPTS as RESEARCH
from carrel.stores.sqlite.knowledge import STEPS as KNOWLEDGE
from carrel.wiring.backup import check_backup, no_build
from carrel.wiring.backup_places import BUILD_NAME, SETTINGS_NAME, Places
from carrel.wiring.papers_index import add_meaning, bring_index_up_to_date, has_meaning, shown_by

# What this product can open. A file of a newer version is better refused now than when the old data
# are aside.
_VERSIONS = {
    "home/access.sqlite": len(ACCESS),
    "home/knowledge.sqlite": len(KNOWLEDGE),
    "home/research/research.db": len(RESEARCH),
}


@dataclass(frozen=True, slots=True)
class Restored:
    """What was put in place, where the data from before are, and what is left to do."""

    manifest: Manifest
    aside: tuple[Path, ...]
    left_to_do: tuple[str, ...]
    recovered: str | None


def restore_backup(
    settings: Settings, file: Path, *, may_move_aside: bool, progress: Progress, clock: Clock
) -> Restored:
    """Checks all of the backup, unpacks it beside its place, and changes names at the end."""
    places = Places(settings)
    recovered = recover(places.home)
    manifest = check_backup(file, progress)
    _refuse_newer(file, manifest)
    names = [carried.path for carried in manifest.files]
    with alone(places.home):
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
            left_to_do = _make_indexes(manifest, places, progress)
            stamp = clock.now().strftime("%Y%m%dT%H%M%S")
            moves = [move for root in roots for move in moves_for(root, stamp)]
            _wait_for_builds(roots)
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


def _is_data(places: Places, root: Root, name: str) -> bool:
    """Settings that an operator has put into an empty home folder are not data yet."""
    return (root.folder / name).exists() and not (
        root.folder == places.home and name == SETTINGS_NAME
    )


def _wait_for_builds(roots: list[Root]) -> None:
    """A build does not open the home folder as such, and would go on in a folder that is no longer
    there.

    It is asked for and not held: the lock is a file in the very folder that is moved.
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


def _make_indexes(manifest: Manifest, places: Places, progress: Progress) -> list[str]:
    """The indexes that were left out, made again in the workshop, so that they arrive with their
    snapshots.
    """
    left_to_do = []
    for index in manifest.indexes:
        folder, relative = places.locate(index.snapshot)
        snapshot = Root(folder, ()).staging / relative
        if not snapshot.is_file():
            continue
        shown_by(progress, "indexing", partial(bring_index_up_to_date, snapshot))
        if index.has_vectors and has_meaning():
            shown_by(progress, "embedding", partial(add_meaning, snapshot))
        elif index.has_vectors:
            left_to_do.append(
                "The vectors of meaning were not made again: carrel papers index --meaning, with "
                "the extra semantic."
            )
    return left_to_do

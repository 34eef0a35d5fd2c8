"""The end of an upgrade: what an earlier version left beside the segments is verified and removed.

An earlier version kept a corpus as a snapshot, a static folder and an index. The next build writes
segments from the same records and texts; from then on readers read those. The old files go when
everything in them was found in the segments.
"""

from __future__ import annotations

import hashlib
import logging
import re
import shutil
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

from carrel.core.errors import describe_error
from carrel.rooms.papers.building.papers import asset_paths
from carrel.rooms.papers.errors import SnapshotUnavailableError
from carrel.stores.corpus.assets import read_asset
from carrel.stores.corpus.folder import CorpusFolder, CorpusSession
from carrel.stores.corpus.manifest import has_manifest
from carrel.stores.corpus.papers import stored_papers
from carrel.stores.sqlite.connection import connect
from carrel.stores.sqlite.papers import SNAPSHOT_NAME, STATIC_NAME, WORKSHOP_NAME
from carrel.stores.sqlite.papers.index_manifest import index_folder
from carrel.stores.static_folder import write_whole

log = logging.getLogger("carrel.papers")

_HASHED = re.compile(r"(?:^|/)([0-9a-f]{64})\.[^/]+$")


def note_earlier_snapshot(folder: Path) -> None:
    """Remember that the snapshot in this folder is our own, before segments take its place."""
    snapshot, note = folder / SNAPSHOT_NAME, _note(folder)
    if not has_manifest(folder) and snapshot.exists():
        write_whole(note, _build_id(snapshot).encode())


def finish_upgrade(folder: Path) -> bool:
    """Remove the earlier version's files if the segments hold everything; whether they went.

    Whoever calls holds the build lock. Killed half-way, the next call goes on. A snapshot that is
    not the one of `note_earlier_snapshot` is somebody else's and stays.
    """
    snapshot, note = folder / SNAPSHOT_NAME, _note(folder)
    if not note.exists() or not has_manifest(folder):
        return False
    if not snapshot.exists() or _build_id(snapshot) != note.read_text(encoding="utf-8"):
        note.unlink()
        return False
    problem = _find_problem(folder)
    if problem is not None:
        log.warning(
            "files of an earlier version are kept: the segments lack something",
            extra={"folder": str(folder), "cause": problem},
        )
        return False
    shutil.rmtree(index_folder(snapshot), ignore_errors=True)
    shutil.rmtree(folder / STATIC_NAME, ignore_errors=True)
    # Last, so that an interrupted removal is taken up again.
    for suffix in ("-wal", "-shm", "-journal", ""):
        snapshot.with_name(f"{SNAPSHOT_NAME}{suffix}").unlink(missing_ok=True)
    note.unlink()
    return True


def _note(folder: Path) -> Path:
    return folder / WORKSHOP_NAME / "earlier-snapshot"


def _build_id(snapshot: Path) -> str:
    """The build id that a snapshot says it has, empty where it says none."""
    try:
        with closing(connect(snapshot, "immutable")) as connection:
            row = connection.execute(
                "SELECT value FROM snapshot_meta WHERE key = 'snapshot_build_id'"
            ).fetchone()
    except sqlite3.Error:
        return ""
    return str(row[0]) if row else ""


def _find_problem(folder: Path) -> str | None:
    """The first thing that the segments of a corpus lack, or None."""
    corpus = CorpusFolder(folder)
    try:
        with corpus.current().session() as session:
            return next(_missing(session), None)
    except (SnapshotUnavailableError, sqlite3.Error) as error:
        return describe_error(error)
    finally:
        corpus.close()


def _missing(session: CorpusSession) -> Iterator[str]:
    """What the segments lack: papers that were published, and texts and files whole."""
    workshop = session.version.folder / WORKSHOP_NAME
    present: dict[int, str] = {}
    for row, stored in stored_papers(session):
        present[row] = stored.paper_id
        for name in asset_paths(stored.record):
            content = read_asset(session, name)
            hashed = _HASHED.search(name)
            if content is None:
                yield f"{name} is missing"
            elif hashed and hashlib.sha256(content).hexdigest() != hashed.group(1):
                yield f"{name} is not as it was"
    for paper_id, row in _published(workshop / "state.db"):
        if present.get(row) != paper_id:
            yield f"paper {paper_id} is missing"


def _published(state: Path) -> list[tuple[str, int]]:
    """The papers of the last publication, by the build state."""
    with closing(connect(state, "read")) as connection:
        return connection.execute(
            "SELECT paper_id, row FROM published WHERE removed_at IS NULL"
        ).fetchall()

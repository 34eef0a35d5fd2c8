"""The folder of a corpus that is built here: where its stores lie, and all of them opened."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from pathlib import Path

from carrel.core.errors import InvalidInputError
from carrel.libraries.works.block_lists import (
    NO_BLOCK_LIST,
    BadBlockListError,
    BlockList,
    read_block_list,
)
from carrel.rooms.papers.building.models import BuildOptions
from carrel.rooms.papers.building.ports import BuildStores
from carrel.rooms.papers.errors import BuildInProgressError, ForeignSnapshotError
from carrel.stores.corpus import MANIFEST_NAME
from carrel.stores.corpus.publication import STAGED_NAME, SegmentedCorpus, WorkshopAssets
from carrel.stores.corpus.upgrade import finish_upgrade, note_earlier_snapshot
from carrel.stores.sqlite.papers import (
    INBOX_NAME,
    SNAPSHOT_NAME,
    STATIC_NAME,
    SUMMARIES_NAME,
    WORKSHOP_NAME,
)
from carrel.stores.sqlite.papers.build_locks import BuildLockFile
from carrel.stores.sqlite.papers.build_state import SqlitePaperBuildState
from carrel.stores.static_folder import SummaryFiles


def staged_folder(into: Path) -> Path:
    """Where texts wait that were read and are not in a segment yet."""
    return into / WORKSHOP_NAME / STAGED_NAME


# Works that are never joined though they look alike, in the folder of the corpus.
NEVER_JOIN_NAME = "never_join.txt"


@contextmanager
def open_build_stores(into: Path, options: BuildOptions) -> Iterator[BuildStores]:
    """The stores of the corpus in `into`.

    Raises ForeignSnapshotError where the folder holds a corpus that was built elsewhere, or whose
    build state is lost.
    """
    workshop = into / WORKSHOP_NAME
    assets = WorkshopAssets(into, staged_folder(into), into / STATIC_NAME)
    with SqlitePaperBuildState(workshop / "state.db") as state, closing(assets):
        foreign = _foreign_file(into)
        if foreign is not None and not state.has_published():
            raise ForeignSnapshotError(foreign)
        lock = BuildLockFile(workshop / "lock.db")
        with suppress(BuildInProgressError), lock.held():
            note_earlier_snapshot(into)
        yield BuildStores(
            into / INBOX_NAME,
            state,
            SegmentedCorpus(into, assets, options.before_swap),
            assets,
            SummaryFiles(into / SUMMARIES_NAME),
            lock,
            _read_block_list(into / NEVER_JOIN_NAME),
        )
    with suppress(BuildInProgressError), lock.held():
        finish_upgrade(into)


def _foreign_file(into: Path) -> str | None:
    """What lies here that a build would replace, and that only a build of ours may have made."""
    return next((name for name in (MANIFEST_NAME, SNAPSHOT_NAME) if (into / name).exists()), None)


def _read_block_list(path: Path) -> BlockList:
    """The operator's own false twins, one entry a line; none without the file."""
    if not path.is_file():
        return NO_BLOCK_LIST
    try:
        return read_block_list(path.read_text("utf-8", "replace").splitlines())
    except BadBlockListError as error:
        raise InvalidInputError(
            f"{path.name}: {error}.", next_step="Correct this line of the file and build again."
        ) from error

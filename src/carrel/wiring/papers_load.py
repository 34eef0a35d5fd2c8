"""Puts together what loads dumps of literature services into the corpus of one folder."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path

from carrel.core.clock import SystemClock
from carrel.core.errors import InvalidInputError
from carrel.core.progress import Progress
from carrel.rooms.papers.building.models import BuildOptions
from carrel.rooms.papers.building.publisher import CorpusPublisher
from carrel.rooms.papers.errors import DamagedCorpusError
from carrel.rooms.papers.loading.models import DUMP_SERVICES, DumpReach, LoadReport
from carrel.rooms.papers.loading.ports import LoadStores
from carrel.rooms.papers.loading.service import MOST_IN_SEGMENT, DumpLoader, DumpToLoad
from carrel.services.dumps.folder import DumpFolder
from carrel.services.dumps.reading import read_records
from carrel.settings import Settings
from carrel.stores.corpus.publication import WorkshopAssets
from carrel.stores.corpus.published.errors import NoCopyToChangeError
from carrel.stores.free_memory import release_memory
from carrel.stores.quarantine import QuarantineFile
from carrel.stores.sqlite.errors import translate_damage, translate_full_disk
from carrel.stores.sqlite.papers import WORKSHOP_NAME
from carrel.stores.sqlite.papers.build_locks import wait_for_other_additions
from carrel.stores.sqlite.papers.build_state import SqlitePaperBuildState
from carrel.stores.sqlite.papers.corpus_folder import open_build_stores
from carrel.stores.sqlite.papers.dump_entries import pack_records
from carrel.stores.sqlite.papers.dump_tables import read_reaches
from carrel.wiring.papers import snapshot_path
from carrel.wiring.papers_published import find_copy

SET_ASIDE_NAME = "set-aside"


_USUAL = BuildOptions()


def load_dump(
    into: Path, dump: DumpToLoad, progress: Progress, options: BuildOptions = _USUAL
) -> LoadReport:
    """Loads a dump into the corpus in `into`, from where an earlier load was stopped."""
    if not dump.folder.exists():
        raise InvalidInputError(
            f"There is no {dump.folder}", next_step="Name the folder that the dump lies in."
        )
    if find_copy(into) is not None:
        raise NoCopyToChangeError
    with _open_loader(into, dump, options) as loader:
        return loader.load(progress)


@contextmanager
def _open_loader(into: Path, dump: DumpToLoad, options: BuildOptions) -> Iterator[DumpLoader]:
    workshop = into / WORKSHOP_NAME
    clock = SystemClock()
    with (
        translate_full_disk(workshop),
        translate_damage(partial(DamagedCorpusError, f"a database in {into}")),
        open_build_stores(into, options) as stores,
    ):
        assert isinstance(stores.state, SqlitePaperBuildState)
        assert isinstance(stores.assets, WorkshopAssets)
        read = partial(read_records, dump.service, dump.filters)
        yield DumpLoader(
            dump,
            LoadStores(
                DumpFolder(dump.service, dump.folder, partial(pack_records, dump.service, read)),
                stores.state,
                stores.state.dumps,
                stores.corpus,
                CorpusPublisher(stores, clock, MOST_IN_SEGMENT),
                stores.assets.references,
                QuarantineFile(workshop / SET_ASIDE_NAME / f"{dump.service}.jsonl"),
                stores.lock,
                partial(wait_for_other_additions, workshop),
                release_memory,
            ),
            clock,
        )


def list_reaches(into: Path) -> tuple[DumpReach, ...]:
    """How far each dump that was loaded into the corpus in `into` reaches; none without one."""
    return read_reaches(into / WORKSHOP_NAME / "state.db", DUMP_SERVICES)


def dump_reaches(settings: Settings) -> tuple[DumpReach, ...]:
    """How far each dump reaches that was loaded into the desk's own corpus."""
    return list_reaches(snapshot_path(settings).parent)

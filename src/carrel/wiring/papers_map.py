"""The map of the corpus: where it is kept, who draws it, and the operations on it."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from carrel.core.clock import SystemClock
from carrel.core.progress import Progress
from carrel.rooms.papers.map_jobs import KIND, MapJob, MapJobs
from carrel.rooms.papers.map_models import MapReport
from carrel.rooms.papers.map_operations import MapOperations
from carrel.settings import Settings
from carrel.stores.corpus.current import CheckedStore, CorpusPlace
from carrel.stores.paper_map.reader import StoredMapReader
from carrel.wiring.jobs import open_jobs

if TYPE_CHECKING:
    from carrel.libraries.discovery.records import Paper


@dataclass(frozen=True, slots=True)
class OpenMap:
    """The operations on a map, and the jobs that draw it."""

    operations: MapOperations
    jobs: MapJobs


def open_map(settings: Settings, place: CorpusPlace, papers: CheckedStore) -> OpenMap:
    """The map of the corpus at a place; nothing is read yet."""
    snapshot = place.snapshot.path

    async def draw(again: bool, progress: Progress) -> MapReport:
        from carrel.services.reporting_process import run_in_process

        return await run_in_process(partial(draw_map, snapshot, again), progress)

    async def read_state() -> str:
        return await asyncio.to_thread(corpus_state, place)

    async def count_papers() -> int:
        return (await papers.statistics()).papers

    jobs = MapJobs(open_jobs(settings, {KIND: MapJob(draw)}, SystemClock()))
    reader = StoredMapReader(place.folder.path)
    return OpenMap(MapOperations(reader, jobs, read_state, count_papers), jobs)


def corpus_state(place: CorpusPlace) -> str:
    """A text that changes when the corpus at a place does."""
    if place.has_segments():
        version = place.folder.current()
        return f"{version.build_id} {version.manifest.generation}"
    return " ".join(map(str, place.snapshot.signature()))


class CorpusMapTexts:
    """The papers of the corpus at a place, whichever kind lies there."""

    def __init__(self, place: CorpusPlace) -> None:
        self._place = place

    def state(self) -> str:
        return corpus_state(self._place)

    def everything(self) -> Iterator[tuple[Paper, str]]:
        if self._place.has_segments():
            from carrel.stores.corpus.texts import CorpusTexts

            return CorpusTexts(self._place.folder).everything()
        from carrel.stores.sqlite.papers.texts import PaperTexts

        return PaperTexts(self._place.snapshot).everything()


def draw_map(snapshot: Path, again: bool, progress: Progress) -> MapReport:
    """Bring the map beside a corpus up to date in this process; raises as DrawMap does."""
    from carrel.rooms.papers.map_drawing import MapMaker
    from carrel.stores.paper_map.file import PaperMapFile

    place = CorpusPlace(snapshot)
    try:
        file = PaperMapFile(place.folder.path)
        with file.hold():
            maker = MapMaker(CorpusMapTexts(place), file, SystemClock())
            return maker.update(again=again, progress=progress)
    finally:
        place.close()

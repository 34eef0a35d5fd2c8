"""The papers room on a SQLite snapshot, with its texts from a folder or over HTTP."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from carrel.core.catalogue import Room
from carrel.core.errors import CarrelError
from carrel.core.health import Health
from carrel.core.operation import Effect
from carrel.policy.persistence import HomeNotPersistentError, without_home
from carrel.rooms.papers import ROOM
from carrel.rooms.papers.bibliography import PaperBibliographies
from carrel.rooms.papers.operations import PaperAddition, PapersOperations
from carrel.rooms.papers.resources import PaperResources
from carrel.rooms.papers.service import Papers
from carrel.services.static_assets import FolderAssets
from carrel.settings import Settings
from carrel.stores.sqlite.papers.search import OpenRanking
from carrel.stores.sqlite.papers.store import SqlitePaperStore
from carrel.wiring.desk import OpenRoom
from carrel.wiring.lookups import LazyLiterature
from carrel.wiring.papers_cluster import PaperCluster
from carrel.wiring.papers_index import open_index

if TYPE_CHECKING:
    from carrel.rooms.papers.building.adding import PaperAdder
    from carrel.rooms.papers.building.models import AddedPaper
    from carrel.services.http_assets import HttpAssets

SNAPSHOT_NAME = "paper_snapshot.db"
STATIC_NAME = "paper-static"
EMPTY = "empty"
NEXT_STEP_WITHOUT_PAPERS = "carrel papers build FOLDER adds papers; the server sees them at once."


class AdderAtNeed:
    """Adds papers with the builder, whose readers are imported when the first paper is added."""

    def __init__(self, folder: Path, settings: Settings) -> None:
        self._folder = folder
        self._settings = settings
        self._adder: PaperAdder | None = None
        self._services = LazyLiterature(settings)

    async def add(
        self, *, identifier: str | None, markdown: str | None, pdf_base64: str | None
    ) -> AddedPaper:
        if self._adder is None:
            from carrel.wiring.papers_build import index_papers, paper_adder

            self._adder = paper_adder(self._folder, self._services, index_papers)
        return await self._adder.add(
            identifier=identifier, markdown=markdown, pdf_base64=pdf_base64
        )

    async def close(self) -> None:
        await self._services.close()


def snapshot_path(settings: Settings) -> Path:
    """The snapshot that is set, or the one that lives in the home folder."""
    return settings.papers.snapshot or settings.home / "papers" / SNAPSHOT_NAME


@dataclass(frozen=True, slots=True)
class PapersService:
    """The service with what it holds open."""

    service: Papers
    store: SqlitePaperStore
    assets: FolderAssets | HttpAssets
    cluster: PaperCluster | None = None

    async def close(self) -> None:
        await self.store.close()
        if self.cluster is not None:
            await asyncio.to_thread(self.cluster.close)
        await self.assets.close()


def papers_service(settings: Settings) -> PapersService:
    """Nothing is read yet: a snapshot that is missing is said by the first call."""
    path = snapshot_path(settings)
    cluster: PaperCluster | None = None
    open_ranking: OpenRanking | None = None
    match settings.papers.search:
        case "auto":
            open_ranking = open_index
        case "elasticsearch":
            cluster = PaperCluster(settings)
            open_ranking = cluster.open_ranking
        case "fts5":
            pass
    store, assets = SqlitePaperStore(path, open_ranking=open_ranking), _assets(settings, path)
    return PapersService(Papers(store, assets, PaperBibliographies()), store, assets, cluster)


def open_papers(settings: Settings) -> OpenRoom:
    """The room; a snapshot that is missing is said by the first call, and by the doctor."""
    path = snapshot_path(settings)
    papers = papers_service(settings)

    async def check() -> Health:
        try:
            await papers.store.check()
            if papers.cluster is not None:
                # Only a question shows whether the cluster answers, and for this very snapshot.
                await papers.service.search("papers", page=1, limit=1)
        except CarrelError as error:
            return Health(False, f"{path}: {error.message}", _action(settings, path))
        return Health(True, str(path))

    adder = AdderAtNeed(path.parent, settings)
    described = Room.collect(
        ROOM,
        PapersOperations(papers.service),
        PaperAddition(adder),
        PaperResources(papers.service),
    )
    if not settings.keeps_home:
        reading = [
            operation.name for operation in described.operations if operation.effect is Effect.READS
        ]
        reading.extend(resource.name for resource in described.resources)
        described = without_home(
            described,
            HomeNotPersistentError("Added papers are", has_database=bool(settings.database.url)),
            still_served=reading,
        )

    async def probe() -> Health:
        # A room without papers is ready for the first; a snapshot that was named and is not there
        # is a fault.
        if settings.papers.snapshot is None and not await asyncio.to_thread(path.exists):
            return Health(True, f"{path} (no papers yet)", NEXT_STEP_WITHOUT_PAPERS, note=EMPTY)
        return await check()

    async def close() -> None:
        await adder.close()
        await papers.close()

    return OpenRoom(described, {"papers": check}, close, probes={"papers": probe})


def _action(settings: Settings, path: Path) -> str:
    """What an operator does about a corpus that cannot be used."""
    if settings.papers.search == "elasticsearch" and path.exists():
        return (
            "Start Elasticsearch or correct elasticsearch.url, then fill it with carrel search "
            "sync."
        )
    if settings.papers.snapshot is not None:
        return (
            "Correct papers.snapshot (PAPER_DB_SNAPSHOT_DB, --snapshot), or make the file "
            "again with carrel papers build FOLDER."
        )
    return (
        NEXT_STEP_WITHOUT_PAPERS
        if not path.exists()
        else "Make it again with carrel papers build FOLDER."
    )


def _assets(settings: Settings, snapshot: Path) -> FolderAssets | HttpAssets:
    static = settings.papers.static or str(snapshot.parent / STATIC_NAME)
    limit = settings.papers.max_asset_bytes
    if static.startswith(("http://", "https://")):
        from carrel.services.http_assets import HttpAssets

        return HttpAssets(
            static, timeout_seconds=settings.papers.asset_timeout_seconds, max_bytes=limit
        )
    return FolderAssets(Path(static).expanduser(), max_bytes=limit)

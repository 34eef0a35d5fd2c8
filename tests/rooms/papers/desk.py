"""The papers room over a real store and real files, asked the way a door asks it."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self, TypeVar

from carrel.core.answer import Text, split_explanation
from carrel.core.caller import LOCAL_USER, Call, Caller, Visit
from carrel.core.catalogue import Catalogue, Room
from carrel.rooms.papers import ROOM
from carrel.rooms.papers.operations import PapersOperations
from carrel.rooms.papers.passage_operations import PassageOperations
from carrel.rooms.papers.passages import PaperPassages
from carrel.rooms.papers.ports import Assets
from carrel.rooms.papers.resources import PaperResources
from carrel.rooms.papers.service import Papers
from carrel.services.static_assets import FolderAssets
from carrel.stores.corpus.assets import CorpusAssets
from carrel.stores.corpus.current import CheckedStore
from carrel.stores.corpus.folder import CorpusFolder
from carrel.stores.corpus.ranking import open_corpus_ranking
from carrel.stores.corpus.store import CorpusPaperStore
from carrel.stores.sqlite.papers.search import OpenRanking
from carrel.stores.sqlite.papers.snapshot import PaperSnapshot
from carrel.stores.sqlite.papers.store import SqlitePaperStore
from carrel.wiring.note_links import LateTasks

if TYPE_CHECKING:
    from carrel.stores.elasticsearch.papers.cluster import PaperCluster

AnswerT = TypeVar("AnswerT")

CALL = Call(Caller(LOCAL_USER, frozenset({"papers:read"})), Visit("test", "1"))
DEMO = Path(__file__).parents[4] / "shared" / "data" / "snapshots" / "demo"


class Desk:
    """Asks operations and reads addresses, one at a time, on a loop of its own."""

    def __init__(
        self, snapshot: Path, static: Path | Assets, open_ranking: OpenRanking | None = None
    ) -> None:
        self.snapshot = PaperSnapshot(snapshot)
        store = SqlitePaperStore(self.snapshot, threads=2, open_ranking=open_ranking)
        assets = FolderAssets(static) if isinstance(static, Path) else static
        self._open(store, assets, self.snapshot.close)

    def _open(self, store: CheckedStore, assets: Assets, close: Callable[[], None]) -> None:
        self._runner = asyncio.Runner()
        self._close = close
        self.store = store
        papers = Papers(store, assets)
        self.room = Room.collect(
            ROOM,
            PapersOperations(papers),
            PassageOperations(PaperPassages(papers, store, store), LateTasks()),
            PaperResources(papers),
        )
        self._catalogue = Catalogue([self.room])

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._runner.run(self.store.close())
        self._close()
        self._runner.close()

    def ask(self, name: str, **arguments: object) -> Any:
        """The answer without the explanation beside it."""
        return split_explanation(self.ask_whole(name, **arguments))[0]

    def ask_whole(self, name: str, **arguments: object) -> Any:
        operation = self._catalogue.operations[name]
        return self._await(operation.run(operation.question.model_validate(arguments), CALL))

    def search(self, query: str, **arguments: object) -> list[str]:
        return [hit.title for hit in self.ask("search_papers", query=query, **arguments)]

    def read(self, uri: str) -> Text:
        for resource in self._catalogue.resources.values():
            names = resource.matcher()(uri)
            if names is not None:
                answer = self._await(resource.read(names, CALL))
                assert isinstance(answer, Text)
                return answer
        raise LookupError(uri)

    def _await(self, awaited: Awaitable[AnswerT]) -> AnswerT:
        async def wait() -> AnswerT:
            return await awaited

        return self._runner.run(wait())


class SegmentsDesk(Desk):
    """The same over the segments of a corpus folder."""

    def __init__(self, corpus: Path) -> None:
        folder = CorpusFolder(corpus)
        store = CorpusPaperStore(
            folder, lambda session: open_corpus_ranking(session, corpus / "views"), threads=2
        )
        assets = CorpusAssets(folder, timeout_seconds=10.0, max_bytes=32 * 1024 * 1024)
        self._open(store, assets, folder.close)


class ClusterDesk(Desk):
    """The same over a cluster alone, without any corpus."""

    def __init__(self, cluster: PaperCluster) -> None:
        from carrel.stores.elasticsearch.papers.assets import ClusterAssets
        from carrel.stores.elasticsearch.papers.store import ClusterPaperStore

        store = ClusterPaperStore(cluster.ranking)
        assets = ClusterAssets(cluster.papers, timeout_seconds=10.0, max_bytes=32 * 1024 * 1024)
        self._open(store, assets, cluster.close)

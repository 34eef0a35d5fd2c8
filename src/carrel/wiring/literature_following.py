"""What follows literature: checks for retractions, alerts, completion of records."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from carrel.rooms.literature.retraction_operations import RetractionOperations
from carrel.rooms.literature.retraction_ports import DeskWork
from carrel.rooms.literature.retractions import Retractions
from carrel.rooms.literature.service_choice import SearchPolicy
from carrel.rooms.papers.errors import PaperNotFoundError
from carrel.rooms.papers.work_notices import paper_work_keys
from carrel.services.literature.catalogue import LazyServices
from carrel.settings import Settings
from carrel.wiring.papers import OpenCorpus
from carrel.wiring.work_notices import DeskNotices


@dataclass(frozen=True, slots=True)
class CorpusWorksAtHand:
    """The papers of the corpus, as checks for retractions see them."""

    corpus: OpenCorpus

    async def find_by_keys(self, keys: Sequence[str]) -> dict[str, str]:
        if not self.corpus.place.exists():
            return {}
        return await self.corpus.service.ids_by_keys(keys)

    async def find(self, paper_id: str) -> DeskWork | None:
        try:
            paper = await self.corpus.service.stored_metadata(paper_id)
        except PaperNotFoundError:
            return None
        return DeskWork(paper.paper_id, paper.title, paper_work_keys(paper))

    async def count(self) -> tuple[int, int]:
        if not self.corpus.place.exists():
            return 0, 0
        found = await self.corpus.service.statistics()
        return found.papers, found.with_doi

    async def list_works(self, first: int, count: int) -> list[DeskWork]:
        if not self.corpus.place.exists():
            return []
        ids = await self.corpus.store.list_ids(first=first, count=count)
        found = [await self.find(each) for each in ids]
        return [each for each in found if each is not None]


class Following:
    """The parts of the room that keep tables; what is opened here is closed with the corpus."""

    def __init__(
        self, settings: Settings, corpus: OpenCorpus, services: LazyServices, policy: SearchPolicy
    ) -> None:
        notices = corpus.notices
        assert isinstance(notices, DeskNotices)
        retractions = Retractions(
            notices.stored,
            notices.store.notices,
            CorpusWorksAtHand(corpus),
            corpus.links.libraries,
            services,
            policy,
        )
        self.holders: list[object] = [RetractionOperations(retractions)]

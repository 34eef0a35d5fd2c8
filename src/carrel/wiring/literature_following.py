"""What follows literature: checks for retractions, alerts, completion of records."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import timedelta
from functools import partial

from carrel.core.caller import Call
from carrel.core.catalogue import Room
from carrel.core.clock import SystemClock
from carrel.core.errors import NotConfiguredError
from carrel.policy.persistence import without_home
from carrel.rooms.literature import ROOM
from carrel.rooms.literature.alert_digest import AlertDigests
from carrel.rooms.literature.alert_operations import AlertOperations
from carrel.rooms.literature.alert_search import AlertSearch
from carrel.rooms.literature.alerts import Alerts
from carrel.rooms.literature.completion import Completion
from carrel.rooms.literature.completion_operations import CompletionOperations
from carrel.rooms.literature.completion_search import CompletionSearch
from carrel.rooms.literature.repeated_work import (
    ALERTS_EVERY_SECONDS,
    COMPLETION_EVERY_SECONDS,
    TABLE_EVERY_SECONDS,
    RepeatedWork,
)
from carrel.rooms.literature.retraction_operations import RetractionOperations
from carrel.rooms.literature.retraction_ports import DeskWork
from carrel.rooms.literature.retractions import Retractions
from carrel.rooms.literature.search import LiteratureSearch
from carrel.rooms.literature.service_choice import SearchPolicy
from carrel.rooms.papers.errors import PaperNotFoundError
from carrel.rooms.papers.work_notices import paper_work_keys
from carrel.services.literature.catalogue import LazyServices
from carrel.settings import Settings
from carrel.settings.home_rules import refuse_home
from carrel.wiring.literature_completion import PapersToComplete, ReferencesToComplete
from carrel.wiring.papers import OpenCorpus
from carrel.wiring.papers_corrections import paper_corrections
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


@dataclass(frozen=True, slots=True)
class HoldingsAtHand:
    """What corpus and library have, for callers who may read them."""

    corpus: OpenCorpus

    async def find(self, works: Sequence[Sequence[str]], call: Call) -> list[tuple[str, ...]]:
        papers: Mapping[str, str] = {}
        references: dict[str, str] = {}
        if "papers:read" in call.caller.scopes:
            keys = list(dict.fromkeys(key for each in works for key in each))
            papers = await CorpusWorksAtHand(self.corpus).find_by_keys(keys)
        if "references:read" in call.caller.scopes:
            with suppress(NotConfiguredError):
                for each in await self.corpus.links.libraries.list_works(call.caller):
                    references.update((key, each.name) for key in each.keys)
        return [
            tuple(
                dict.fromkeys(
                    [
                        *(f"paper:{papers[key]}" for key in keys if key in papers),
                        *(f"ref:{references[key]}" for key in keys if key in references),
                    ]
                )
            )
            for keys in works
        ]


class Following:
    """The parts of the room that keep tables; their store is closed with the corpus."""

    def __init__(
        self,
        settings: Settings,
        corpus: OpenCorpus,
        services: LazyServices,
        search: LiteratureSearch,
        policy: SearchPolicy,
    ) -> None:
        notices = corpus.notices
        assert isinstance(notices, DeskNotices)
        store, clock = notices.store, SystemClock()
        self._notices = notices
        self._settings = settings
        retractions = Retractions(
            notices.stored,
            store.notices,
            CorpusWorksAtHand(corpus),
            corpus.links.libraries,
            services,
            policy,
        )
        alerts = Alerts(store.alerts, store.leases, AlertSearch(services, policy), clock)
        digests = AlertDigests(alerts, store.alerts, HoldingsAtHand(corpus), clock, notices)
        by_identifier = CompletionSearch(services, search, policy)
        corrections = paper_corrections(corpus.place.folder.path)
        refuse = None if settings.keeps_papers else partial(refuse_home, settings, "papers")
        papers, references = (
            Completion(store.completions, store.leases, records, by_identifier, clock)
            for records in (
                PapersToComplete(corpus, corrections, refuse),
                ReferencesToComplete(corpus),
            )
        )
        self.holders: list[object] = [
            RetractionOperations(retractions),
            AlertOperations(alerts, digests),
            CompletionOperations(papers, references),
        ]
        self._repeated: list[RepeatedWork] = []
        if settings.literature.retraction_watch is not None and notices.keeps_tables:
            # A changed table is loaded before somebody has to wait for it.
            refresh = RepeatedWork(
                "retractions", notices.stored.refresh, lambda: True, TABLE_EVERY_SECONDS
            )
            self._repeated.append(refresh)
        if not policy.is_network_allowed or not notices.keeps_tables:
            return
        if (hours := settings.literature.alerts_every_hours) is not None:
            run_due = partial(alerts.run_due, timedelta(hours=hours))
            self._repeat("alerts", run_due, ALERTS_EVERY_SECONDS)
        for completion in (papers, references):
            run_queue = partial(completion.run_queue, None)
            self._repeat("completion", run_queue, COMPLETION_EVERY_SECONDS)

    def _repeat(
        self, name: str, work: Callable[[], Awaitable[object]], every_seconds: float
    ) -> None:
        self._repeated.append(RepeatedWork(name, work, self._notices.has_store, every_seconds))

    def refuse_without_home(self, room: Room) -> Room:
        """The room with what needs tables refused, where there is no place for them that lasts."""
        if self._notices.keeps_tables:
            return room
        own = Room.collect(ROOM, *self.holders)
        names = {each.name for each in own.operations}
        served = [each.name for each in room.operations if each.name not in names]
        error = refuse_home(self._settings, "alerts")
        return without_home(room, error, still_served=served, is_searched=True)

    async def start(self) -> None:
        """Runs alerts from now on, where settings say how often, and what waits to be completed."""
        for each in self._repeated:
            each.start()

    async def close(self) -> None:
        for each in self._repeated:
            await each.close()

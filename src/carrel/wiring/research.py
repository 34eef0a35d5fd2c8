"""The research room: its store in SQLite or PostgreSQL, the paper snapshot as its corpus, and a
mind.
"""

from __future__ import annotations

import secrets
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from pathlib import Path

from carrel.core.catalogue import Room
from carrel.core.clock import SystemClock
from carrel.core.errors import CarrelError
from carrel.core.health import Health
from carrel.policy.persistence import HomeNotPersistentError, not_served, without_home
from carrel.rooms.research import ROOM
from carrel.rooms.research.agents import AgentContext
from carrel.rooms.research.agents.supervisor import Supervisor
from carrel.rooms.research.jobs import Patience
from carrel.rooms.research.operations import ResearchOperations
from carrel.rooms.research.ports import Corpus, ResearchStore
from carrel.rooms.research.reasoners import Reasoner
from carrel.rooms.research.reasoners.discovery import DiscoveryReasoner
from carrel.rooms.research.resources import ResearchResources
from carrel.rooms.research.runner import Runner
from carrel.rooms.research.service import ResearchRoom
from carrel.settings import Settings, SettingsError
from carrel.settings.places import database_files
from carrel.stores.sql.research import SqlResearch
from carrel.stores.worker_identity import WorkerIdentity
from carrel.wiring.desk import OpenRoom
from carrel.wiring.drivers import POSTGRES_ACTION, open_driver
from carrel.wiring.papers import OpenCorpus
from carrel.wiring.research_corpus import SnapshotCorpus


def research_file(settings: Settings) -> Path:
    return database_files(settings)["research"]


def open_store(settings: Settings) -> ResearchStore:
    """PostgreSQL where one is named, else a file in the home folder."""
    return SqlResearch(open_driver(settings, "research", SqlResearch.schema_steps))


@dataclass(frozen=True, slots=True)
class ResearchService:
    """The service with what it holds open."""

    service: ResearchRoom
    runner: Runner
    store: ResearchStore
    close: Callable[[], Awaitable[None]]


def research_service(settings: Settings, papers: OpenCorpus) -> ResearchService:
    """Nothing is read or made yet; the first call does."""
    chosen = settings.research
    clock = SystemClock()
    store = open_store(settings)
    corpus = SnapshotCorpus(
        papers.snapshot,
        settings.cache_folder / "research",
        papers.service,
        settings.references,
        vocabulary=chosen.vocabulary,
    )
    reasoner, close_model = _open_reasoner(settings, store, corpus)
    supervisor = Supervisor(AgentContext(store, reasoner, clock, chosen.start_elo))
    worker = WorkerIdentity(settings.home / "research" / "workers")
    runner = Runner(
        store,
        supervisor,
        clock,
        worker.name,
        max_concurrent_runs=chosen.most_projects_at_once,
        lease_seconds=chosen.lease_seconds,
        is_gone=worker.has_ended,
        before_first=worker.take,
    )
    patience = Patience(chosen.patience_seconds, follower_seconds=chosen.task_after_seconds)
    service = ResearchRoom(store, corpus, supervisor, runner, clock, _new_id, patience)

    async def close() -> None:
        await runner.close()
        worker.close()
        if close_model is not None:
            await close_model()
        await store.close()

    return ResearchService(service, runner, store, close)


def open_research(settings: Settings, corpus: OpenCorpus) -> OpenRoom:
    """The room; work that waits in its store is taken up when the process that opens it stays."""
    research = research_service(settings, corpus)
    store = research.store

    async def check() -> Health:
        if settings.database.url is None and not research_file(settings).exists():
            return Health(
                True, f"{database_files(settings)['research']} (made by the first project)"
            )
        try:
            waiting = await store.open_jobs()
        except CarrelError as error:
            return Health(
                False, error.message, POSTGRES_ACTION if settings.database.url else error.next_step
            )
        return Health(True, f"{len(waiting)} jobs under way")

    async def start() -> None:
        research.runner.look_for_work(
            lambda: settings.database.url is not None or research_file(settings).exists()
        )

    service = research.service
    described = Room.collect(
        ROOM, ResearchOperations(service), ResearchResources(service), jobs=service.jobs
    )
    if settings.database.url is None and not settings.keeps_home:
        error = HomeNotPersistentError(
            "Research projects are", has_database=bool(settings.database.url)
        )
        unserved = {"research": not_served(error)}
        return OpenRoom(without_home(described, error), unserved, research.close)
    return OpenRoom(described, {"research": check}, research.close, start)


def _open_reasoner(
    settings: Settings, store: ResearchStore, corpus: Corpus
) -> tuple[Reasoner, Callable[[], Awaitable[None]] | None]:
    """A language model where one is set up, and how to let go of it; otherwise the papers alone."""
    chosen = settings.model
    if chosen.provider is None:
        return DiscoveryReasoner(corpus), None
    from carrel.rooms.research.reasoners.language_model import LanguageModelReasoner
    from carrel.rooms.research.reasoners.model_calls import Budget
    from carrel.wiring.research_model import ConfiguredModel

    if not chosen.name:
        raise SettingsError(
            f"model.provider is {chosen.provider} but model.name is not set",
            next_step="Name a model.",
        )
    model = ConfiguredModel(chosen)
    budget = Budget(settings.research.max_model_calls, settings.research.max_cost)
    reasoner = LanguageModelReasoner(
        model, corpus, store, SystemClock(), budget, judges_safety=chosen.safety_check
    )
    return reasoner, model.close


def _new_id(prefix: str) -> str:
    return f"{prefix}_{secrets.token_hex(8)}"

"""The knowledge room, built: which store of notes and nodes, and which search engine."""

from __future__ import annotations

import secrets
import string
from collections.abc import Awaitable, Callable, Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from carrel.core.catalogue import Room
from carrel.core.clock import SystemClock
from carrel.core.errors import CarrelError
from carrel.core.health import Check, Health
from carrel.policy.persistence import HomeNotPersistentError, not_served, without_home
from carrel.rooms.knowledge import ROOM
from carrel.rooms.knowledge.documents import DocumentSource, NodeDocuments, NoteDocuments
from carrel.rooms.knowledge.errors import KnowledgeStoreError
from carrel.rooms.knowledge.nodes import Nodes
from carrel.rooms.knowledge.operations import KnowledgeOperations
from carrel.rooms.knowledge.ports import NoConcepts, NodeStore, NoteStore, Searcher
from carrel.rooms.knowledge.service import Knowledge
from carrel.settings import Settings, SettingsError
from carrel.stores.sqlite.papers.keywords import SnapshotConcepts
from carrel.stores.sqlite.schema import holds_rows
from carrel.wiring.desk import OpenRoom
from carrel.wiring.drivers import POSTGRES_ACTION
from carrel.wiring.knowledge_neighbours import Neighbours, embedded_neighbours
from carrel.wiring.papers import OpenCorpus

if TYPE_CHECKING:
    from elasticsearch import AsyncElasticsearch

    from carrel.stores.elasticsearch.search import RemoteSearch

OWN_INDICES = ("papers", "references", "knowledge", "nodes")
# Whoever may ask these may read all of them.
PUBLIC_INDICES = frozenset({"papers", "nodes"})
# What an operator does where a store does not answer; callers are told by the error itself to try
# again.
_OPERATOR_ACTIONS = {
    "postgres": POSTGRES_ACTION,
    "firestore": "Correct knowledge.project and knowledge.database, or the credentials: gcloud "
    "auth application-default login.",
    "elasticsearch": "Start Elasticsearch, or correct elasticsearch.url and elasticsearch.api_key.",
}
_LETTERS = string.ascii_letters + string.digits


@dataclass(slots=True)
class KnowledgeStores:
    """The stores of the room. Closing the notes closes what they share."""

    notes: NoteStore
    nodes: NodeStore

    @property
    def sources(self) -> tuple[DocumentSource, ...]:
        return NoteDocuments(self.notes.changes), NodeDocuments(self.nodes.changes)


def open_knowledge(settings: Settings, corpus: OpenCorpus) -> OpenRoom:
    """The room with its stores, and what it shows of the rooms beside it."""
    clock = SystemClock()
    stores = open_stores(settings)
    searcher: Searcher
    action = _OPERATOR_ACTIONS.get(settings.knowledge_store, "")
    checks: dict[str, Check] = {"knowledge": _health(stores.notes.check, action)}
    probes: dict[str, Check] = {"knowledge": _health(lambda: _answers(stores.notes.ping), action)}
    neighbours = Neighbours()
    if settings.elasticsearch.address:
        remote = open_remote(settings, stores.sources)
        checks["elasticsearch"] = probes["elasticsearch"] = _health(
            remote.check, _OPERATOR_ACTIONS["elasticsearch"]
        )
        searcher = remote
    else:
        from carrel.stores.sqlite.database import DerivedDatabase
        from carrel.stores.sqlite.search import STEPS, EmbeddedSearch

        database = DerivedDatabase(
            settings.cache_folder / "search.sqlite",
            STEPS,
            describe=lambda reason: KnowledgeStoreError("SQLite", reason),
        )
        neighbours = embedded_neighbours(settings, corpus.snapshot)
        searcher = EmbeddedSearch(
            database, [*stores.sources, *neighbours.sources], clock, personal=neighbours.personal
        )
    knowledge = Knowledge(stores.notes, searcher, clock, new_id)
    concepts = SnapshotConcepts(corpus.snapshot) if "papers" in settings.rooms else NoConcepts()
    nodes = Nodes(stores.nodes, stores.notes, concepts, clock)

    described = Room.collect(ROOM, KnowledgeOperations(knowledge, nodes))
    if settings.knowledge_store == "sqlite" and not settings.keeps_home:
        error = HomeNotPersistentError(
            "Notes and nodes are", has_database=bool(settings.database.url)
        )
        described = without_home(described, error)
        checks["knowledge"] = probes["knowledge"] = not_served(error)

    async def close() -> None:
        await searcher.close()
        await neighbours.close()
        await stores.notes.close()

    return OpenRoom(described, checks, close, probes=probes)


def open_stores(settings: Settings) -> KnowledgeStores:
    """The store that is set; its driver is imported only then."""
    match settings.knowledge_store:
        case "sqlite":
            from carrel.stores.sqlite.knowledge import sqlite_knowledge

            return KnowledgeStores(*sqlite_knowledge(settings.home / "knowledge.sqlite"))
        case "postgres":
            return _postgres(settings)
        case "firestore":
            return _firestore(settings)


def _postgres(settings: Settings) -> KnowledgeStores:
    if not settings.database.url:
        raise SettingsError(
            "knowledge.store is postgres, and no database is named",
            next_step="Set DATABASE_URL, or database.url.",
            details={"setting": "database.url"},
        )
    _refuse_notes_in_a_file(settings)
    try:
        from carrel.stores.postgres.knowledge import postgres_knowledge
    except ImportError as error:
        raise _missing("postgres", error) from error
    return KnowledgeStores(*postgres_knowledge(settings.database.url))


def _refuse_notes_in_a_file(settings: Settings) -> None:
    """Raises SettingsError where `auto` now means PostgreSQL and the notes are in a file."""
    file = settings.home / "knowledge.sqlite"
    if settings.knowledge.store == "auto" and holds_rows(file, ("notes", "nodes")):
        raise SettingsError(
            f"There are notes in {file}, and DATABASE_URL says that notes are kept in PostgreSQL",
            next_step="Set knowledge.store (CARREL_KNOWLEDGE_STORE) to sqlite to go on with the "
            "file, or to postgres to use the database; carrel knowledge export FOLDER with the "
            "one and carrel knowledge import FOLDER with the other carries notes over.",
            details={"setting": "knowledge.store"},
        )


def _firestore(settings: Settings) -> KnowledgeStores:
    try:
        from google.cloud.firestore_v1 import AsyncClient

        from carrel.stores.firestore.knowledge import FirestoreNodeStore, FirestoreNoteStore
    except ImportError as error:
        raise _missing("firestore", error) from error
    knowledge = settings.knowledge
    # The client itself finds FIRESTORE_EMULATOR_HOST and the credentials of the machine.
    notes = FirestoreNoteStore(
        lambda: AsyncClient(project=knowledge.project, database=knowledge.database)
    )
    return KnowledgeStores(notes, FirestoreNodeStore(notes))


def open_remote(settings: Settings, sources: Iterable[DocumentSource] = ()) -> RemoteSearch:
    """The real Elasticsearch that is set, told of the sources before every answer."""
    try:
        from carrel.stores.elasticsearch.search import RemoteSearch
    except ImportError as error:
        raise _missing("elasticsearch", error) from error
    chosen = settings.elasticsearch
    return RemoteSearch(
        lambda: elasticsearch_client(settings),
        allowed=chosen.indices,
        own={name: f"{chosen.prefix}{name}" for name in OWN_INDICES},
        timeout_seconds=chosen.timeout,
        sources=sources,
        public=PUBLIC_INDICES,
    )


def elasticsearch_client(settings: Settings) -> AsyncElasticsearch:
    from elasticsearch import AsyncElasticsearch

    chosen = settings.elasticsearch
    if chosen.address is None:
        raise SettingsError(
            "No Elasticsearch is named",
            next_step="Set elasticsearch.url.",
            details={"setting": "elasticsearch.url"},
        )
    return AsyncElasticsearch(
        chosen.address, api_key=chosen.api_key, request_timeout=chosen.timeout + 2.0
    )


def new_id() -> str:
    """An id as Firestore makes them."""
    return "".join(secrets.choice(_LETTERS) for _ in range(20))


def _missing(extra: str, error: ImportError) -> SettingsError:
    return SettingsError(
        f"The driver for {extra} is not installed ({error.name})",
        next_step=f"Install it with pip install 'carrel[{extra}]'.",
    )


async def _answers(ping: Callable[[], Awaitable[None]]) -> str:
    await ping()
    return "answers"


def _health(ask: Callable[[], Awaitable[str]], action: str) -> Check:
    async def check() -> Health:
        try:
            return Health(True, await ask())
        except CarrelError as error:
            return Health(False, error.message, action or error.next_step)

    return check

"""The knowledge room, built: which store of notes and nodes, and which search engine."""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import AsyncGenerator, Awaitable, Callable, Sequence
from contextlib import AsyncExitStack
from functools import partial
from typing import TYPE_CHECKING

from carrel.core.catalogue import Room
from carrel.core.clock import Clock, SystemClock
from carrel.core.health import check_by
from carrel.core.progress import Progress
from carrel.policy.persistence import not_served, without_home
from carrel.rooms.knowledge import ROOM, documents
from carrel.rooms.knowledge.desk_search import NoteDeskSearch
from carrel.rooms.knowledge.list_operations import KnowledgeListOperations
from carrel.rooms.knowledge.nodes import Nodes
from carrel.rooms.knowledge.operations import KnowledgeOperations
from carrel.rooms.knowledge.ports import Concepts, KnowledgeStores, NoConcepts, Searcher
from carrel.rooms.knowledge.service import Knowledge
from carrel.settings import Settings, store_rules
from carrel.settings.home_rules import refuse_home
from carrel.stores.corpus.current import (
    CorpusPlace,
    CurrentConcepts,
    CurrentDocuments,
    ReaderByKind,
)
from carrel.stores.note_folders import FILE_NAME, NoteFoldersFile
from carrel.stores.sqlite.papers.keywords import SnapshotConcepts
from carrel.wiring.desk import OpenRoom
from carrel.wiring.home import POSTGRES_ACTION, pool_options
from carrel.wiring.note_index import open_finder, update_note_index
from carrel.wiring.papers import OpenCorpus, has_corpus, snapshot_path
from carrel.wiring.papers_published import follow_published
from carrel.wiring.references import library_path, open_library_rows, users_folder

if TYPE_CHECKING:
    from elasticsearch import AsyncElasticsearch

    from carrel.rooms.knowledge.local_operations import KnowledgeFolderOperations
    from carrel.stores.elasticsearch.follow import ClusterFollower
    from carrel.stores.elasticsearch.sync import ClusterSource
    from carrel.stores.elasticsearch.writing import Synced
    from carrel.stores.indexed_papers import PassageVectorSource

# What an operator does where a store does not answer; callers are told to try again.
_ACTIONS = {
    "postgres": POSTGRES_ACTION,
    "firestore": "Correct knowledge.project and knowledge.database, or the credentials: gcloud "
    "auth application-default login.",
    "elasticsearch": "Start Elasticsearch, or correct elasticsearch.url and elasticsearch.api_key.",
}


def open_knowledge(settings: Settings, corpus: OpenCorpus) -> OpenRoom:
    """The room with its stores, and what its search finds in the rooms beside it."""
    clock, stores, closing = SystemClock(), open_stores(settings), AsyncExitStack()
    closing.push_async_callback(stores.notes.close)
    action = _ACTIONS.get(settings.knowledge_store, "")
    checks = {"knowledge": check_by(stores.notes.check, action)}
    probes = {"knowledge": check_by(stores.notes.ping, action)}
    concepts = _open_concepts(corpus.place) if "papers" in settings.rooms else NoConcepts()
    searcher: Searcher
    follow: Callable[[], Awaitable[None]] | None = None
    if settings.elasticsearch.address:
        with store_rules.needs_driver("elasticsearch"):
            from carrel.stores.elasticsearch.search import RemoteSearch
        chosen = settings.elasticsearch
        searcher = remote = RemoteSearch(
            lambda: elasticsearch_client(settings),
            allowed=chosen.indices,
            own={name: f"{chosen.prefix}{name}" for name in documents.OWN_INDICES},
            timeout_seconds=chosen.timeout,
            sources=[*stores.sources, *_row_references(settings, closing)],
            public=documents.PUBLIC_INDICES,
        )
        checks["elasticsearch"] = check_by(remote.check, _ACTIONS["elasticsearch"])
        probes["elasticsearch"] = checks["elasticsearch"]
        followers = _open_followers(settings, stores, clock, closing)
        for name, follower in followers.items():
            probes[name], checks[name] = follower.health, follower.describe

        async def follow_all() -> None:
            for follower in followers.values():
                await follower.start()

        follow = follow_all
    else:
        from carrel.stores.sqlite.search.engine import EmbeddedSearch, search_cache

        sources, personal = _neighbours(settings, corpus, closing)
        cache = search_cache(settings.cache_folder / "search.sqlite")
        searcher = EmbeddedSearch(cache, [*stores.sources, *sources], clock, personal=personal)
    closing.push_async_callback(searcher.close)
    finder = open_finder(settings, stores)
    closing.push_async_callback(finder.close)
    knowledge = Knowledge(stores.notes, finder, searcher, clock, things=corpus.links.things)
    corpus.links.notes.bind(knowledge)
    nodes = Nodes(stores.nodes, stores.notes, concepts, clock)
    room = Room.collect(
        ROOM,
        KnowledgeOperations(knowledge, nodes),
        KnowledgeListOperations(knowledge),
        search=NoteDeskSearch(knowledge),
    )
    if settings.knowledge_store == "sqlite" and not settings.keeps_home:
        refusal = refuse_home(settings, "notes")
        room = without_home(room, refusal)
        checks["knowledge"] = probes["knowledge"] = not_served(refusal)
        return OpenRoom(room, checks, closing.aclose, follow, probes)

    async def start() -> None:
        # A file is made by the first save, and not by looking for notes.
        if _has_notes(settings):
            await finder.start()
        if follow is not None:
            await follow()

    return OpenRoom(room, checks, closing.aclose, start, probes)


def _has_library_files(settings: Settings) -> bool:
    """Whether libraries are files of this home."""
    return settings.keeps_home and not settings.has_library_rows


def _has_notes(settings: Settings) -> bool:
    """Whether there is a store of notes that may be asked without making one."""
    return settings.knowledge_store != "sqlite" or (settings.home / "knowledge.sqlite").exists()


def _open_followers(
    settings: Settings, stores: KnowledgeStores, clock: Clock, closing: AsyncExitStack
) -> dict[str, ClusterFollower]:
    """Keep the cluster as the stores are, while a server runs; by the names of their checks.

    Papers have a follower and a lease of their own: of several servers only some have a corpus.
    """
    from carrel.stores.elasticsearch.follow import ClusterFollower, ClusterLease

    client, prefix = elasticsearch_client(settings), settings.elasticsearch.prefix
    closing.push_async_callback(client.close)
    sources = _open_neighbours(settings, closing)
    if settings.knowledge_store == "postgres" or (
        settings.knowledge_store == "sqlite" and settings.keeps_home
    ):
        # Firestore bills every look; its notes are written before every answer, as all notes are.
        sources = [*stores.sources, *sources]
    names = {source.index: f"{prefix}{source.index}" for source in sources}
    holder = secrets.token_hex(16)

    def is_filled(index: str) -> bool:
        match index:
            case "papers":
                return has_papers(settings)
            case "knowledge" | "nodes":
                return _has_notes(settings)
            case _:
                return True

    def open_follower(followed: list[ClusterSource], lease_name: str) -> ClusterFollower:
        index = f"{prefix}sync-lease"
        lease = ClusterLease(lambda: client, index, holder, clock, name=lease_name)
        follower = ClusterFollower(
            lambda: client, followed, names, lease, clock, is_filled=is_filled
        )
        closing.push_async_callback(follower.close)
        return follower

    of_papers = [source for source in sources if source.index == "papers"]
    others = [source for source in sources if source.index != "papers"]
    followers = {"elasticsearch_sync": open_follower(others, "sync")}
    if of_papers:
        followers["elasticsearch_papers"] = open_follower(of_papers, "papers")
    return followers


def _neighbours(
    settings: Settings, corpus: OpenCorpus, closing: AsyncExitStack
) -> tuple[Sequence[documents.DocumentSource], Sequence[documents.PersonalSource]]:
    """Papers, and everybody's own references, as documents of the embedded search."""
    sources: list[documents.DocumentSource] = []
    personal: list[documents.PersonalSource] = []
    if "papers" in settings.rooms:
        sources.append(_open_documents(corpus.place))
    if "references" in settings.rooms and _has_library_files(settings):
        from carrel.stores.csl_json.search_documents import PersonalReferences

        references = PersonalReferences(library_path(settings), users_folder(settings))
        closing.push_async_callback(references.close)
        personal.append(references)
    return sources, personal


def _open_concepts(place: CorpusPlace) -> Concepts:
    def open_segments() -> Concepts:
        from carrel.stores.corpus.keywords import CorpusConcepts

        return CorpusConcepts(place.folder)

    return CurrentConcepts(ReaderByKind(place, SnapshotConcepts(place.snapshot), open_segments))


def _open_documents(place: CorpusPlace) -> documents.DocumentSource:
    from carrel.stores.sqlite.papers.documents import SnapshotDocuments

    def open_segments() -> documents.DocumentSource:
        from carrel.stores.corpus.documents import CorpusDocuments

        return CorpusDocuments(place.folder)

    of_snapshot = SnapshotDocuments(place.snapshot).source
    return CurrentDocuments(ReaderByKind(place, of_snapshot, open_segments))


def open_stores(settings: Settings) -> KnowledgeStores:
    """The store that is set; its driver is imported only then."""
    with store_rules.needs_driver(settings.knowledge_store):
        match settings.knowledge_store:
            case "sqlite":
                from carrel.stores.sqlite.knowledge import sqlite_knowledge

                return sqlite_knowledge(settings.home / "knowledge.sqlite")
            case "postgres":
                url = store_rules.need_database_url(settings, "knowledge.store is postgres")
                from carrel.stores.sqlite.schema import holds_rows

                store_rules.refuse_notes_in_file(settings, holds_rows)
                from carrel.stores.postgres.knowledge import postgres_knowledge

                return postgres_knowledge(url, pool_options(settings))
            case "firestore":
                from carrel.stores.firestore.knowledge import firestore_knowledge

                chosen = settings.knowledge
                return firestore_knowledge(chosen.project, chosen.database)


def elasticsearch_client(settings: Settings) -> AsyncElasticsearch:
    """A client of the cluster that is set, opened by its first call."""
    from carrel.stores.elasticsearch.search import open_cluster

    address = store_rules.need_elasticsearch(settings, "No Elasticsearch is named")
    return open_cluster(address, settings.elasticsearch.api_key, settings.elasticsearch.timeout)


def local_operations(settings: Settings) -> KnowledgeFolderOperations:
    """What `carrel knowledge` does with folders and files; a server imports none of it."""
    from carrel.rooms.knowledge.local_operations import KnowledgeFolderOperations
    from carrel.services.node_files import read_nodes
    from carrel.services.note_folder import MarkdownFolder

    return KnowledgeFolderOperations(
        partial(open_stores, settings),
        NoteFoldersFile(settings.home / FILE_NAME),
        MarkdownFolder,
        read_nodes,
        SystemClock(),
        partial(update_note_index, settings),
    )


async def sync_indices(
    settings: Settings, names: Sequence[str], progress: Progress, *, rebuild: bool = False
) -> AsyncGenerator[Synced, None]:
    """Brings the named indices up to date; without names all, but papers without a snapshot."""
    from carrel.stores.elasticsearch.sync import choose_sources, sync_all

    if "papers" in settings.rooms and settings.papers.store == "corpus":
        await asyncio.to_thread(follow_published, settings, snapshot_path(settings).parent)
    client = elasticsearch_client(settings)
    async with AsyncExitStack() as closing:
        closing.push_async_callback(client.close)
        left_out = () if has_papers(settings) else ("papers",)
        sources = choose_sources(_open_sources(settings, closing), names, left_out)
        prefix = settings.elasticsearch.prefix
        async for done in sync_all(client, sources, prefix, progress, rebuild=rebuild):
            yield done


def has_papers(settings: Settings) -> bool:
    """Whether a corpus is set, or one was made in the home folder."""
    if settings.papers.store == "elasticsearch":
        return False
    return settings.papers.snapshot is not None or has_corpus(settings)


def _open_sources(settings: Settings, closing: AsyncExitStack) -> list[ClusterSource]:
    """Notes, nodes, papers and all libraries, as documents of a cluster."""
    stores = open_stores(settings)
    closing.push_async_callback(stores.notes.close)
    return [*stores.sources, *_open_neighbours(settings, closing)]


def _open_neighbours(settings: Settings, closing: AsyncExitStack) -> list[ClusterSource]:
    """Papers with the words that search_papers ranks by, and all libraries."""
    sources: list[ClusterSource] = []
    if "papers" in settings.rooms and settings.papers.store == "corpus":
        from carrel.stores.corpus.version_to_index import version_to_index
        from carrel.stores.elasticsearch.papers.sync import PaperIndices

        place = CorpusPlace(snapshot_path(settings))
        closing.push_async_callback(asyncio.to_thread, place.close)
        sources.append(
            PaperIndices(
                partial(version_to_index, place),
                most_text_bytes=settings.papers.max_asset_bytes,
                open_vectors=_open_vectors(place),
            )
        )
    if "references" in settings.rooms and settings.has_library_rows:
        sources.append(_open_row_references(settings, closing))
    if "references" in settings.rooms and _has_library_files(settings):
        from carrel.stores.csl_json.search_documents import AllReferences

        references = AllReferences(library_path(settings), users_folder(settings))
        closing.push_async_callback(references.close)
        sources.append(references.source)
    return sources


def _open_vectors(place: CorpusPlace) -> Callable[[], PassageVectorSource | None]:
    """The vectors of the passages of a corpus, where the extra is installed and made some."""
    from carrel.services.sentence_vectors import is_installed, load_model

    if not is_installed():
        return lambda: None
    from carrel.stores.vectors.made_vectors import MadeVectorsFolder

    folder = MadeVectorsFolder(place.folder.path, load_model)
    return lambda: folder.now() if place.has_segments() else None


def _row_references(settings: Settings, closing: AsyncExitStack) -> list[documents.DocumentSource]:
    """Libraries whose changes are in the cluster before the next answer, as those of notes are."""
    if "references" not in settings.rooms or not settings.has_library_rows:
        return []
    return [_open_row_references(settings, closing)]


def _open_row_references(settings: Settings, closing: AsyncExitStack) -> documents.DocumentSource:
    """All libraries that are rows of the database."""
    from carrel.stores.sql.references.search_documents import RowReferences

    references = RowReferences(open_library_rows(settings))
    closing.push_async_callback(references.close)
    return references

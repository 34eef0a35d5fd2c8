"""Fills a real Elasticsearch from the local stores, from where the last run stopped."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Sequence
from contextlib import AsyncExitStack
from typing import TYPE_CHECKING

from carrel.core.errors import InvalidInputError
from carrel.core.progress import Progress
from carrel.rooms.knowledge.documents import DocumentSource
from carrel.settings import Settings
from carrel.stores.sqlite.papers.snapshot import PaperSnapshot
from carrel.wiring.knowledge import elasticsearch_client, open_stores
from carrel.wiring.papers import snapshot_path
from carrel.wiring.references import library_path, users_folder

if TYPE_CHECKING:
    from carrel.stores.elasticsearch.sync import Synced


async def sync_indices(
    settings: Settings, names: Sequence[str], progress: Progress
) -> AsyncGenerator[Synced, None]:
    """Brings the named indices up to date; without names all, but papers without a snapshot."""
    from carrel.stores.elasticsearch.sync import sync_all

    client = elasticsearch_client(settings)
    async with AsyncExitStack() as closing:
        closing.push_async_callback(client.close)
        sources = {source.index: source for source in _open_sources(settings, closing)}
        unknown = sorted(set(names) - set(sources))
        if unknown:
            raise InvalidInputError(
                f"There is no index {', '.join(unknown)}",
                next_step=f"Choose from {', '.join(sources)}.",
            )
        chosen = names or [name for name in sources if name != "papers" or has_papers(settings)]
        wanted = [source for name, source in sources.items() if name in chosen]
        async for done in sync_all(client, wanted, settings.elasticsearch.prefix, progress):
            yield done


def has_papers(settings: Settings) -> bool:
    """Whether a snapshot is set, or one was made in the home folder."""
    return settings.papers.snapshot is not None or snapshot_path(settings).exists()


def _open_sources(settings: Settings, closing: AsyncExitStack) -> list[DocumentSource]:
    """Notes, nodes, papers with the words that search_papers ranks by, and all libraries."""
    stores = open_stores(settings)
    closing.push_async_callback(stores.notes.close)
    sources = list(stores.sources)
    if "papers" in settings.rooms:
        from carrel.stores.elasticsearch.papers import RankedPapers

        snapshot = PaperSnapshot(snapshot_path(settings))
        closing.push_async_callback(asyncio.to_thread, snapshot.close)
        sources.append(RankedPapers(snapshot))
    if "references" in settings.rooms and settings.keeps_home:
        from carrel.stores.csl_json.search_documents import AllReferences

        references = AllReferences(library_path(settings), users_folder(settings))
        closing.push_async_callback(references.close)
        sources.append(references.source)
    return sources

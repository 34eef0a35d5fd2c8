"""Fills a real Elasticsearch from the local stores, from where the last run stopped."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Sequence
from typing import TYPE_CHECKING

from carrel.core.errors import InvalidInputError
from carrel.core.progress import Progress
from carrel.settings import Settings
from carrel.stores.sqlite.papers.snapshot import PaperSnapshot
from carrel.wiring.knowledge import elasticsearch_client, open_stores
from carrel.wiring.knowledge_neighbours import has_papers, synced_neighbours
from carrel.wiring.papers import snapshot_path

if TYPE_CHECKING:
    from carrel.stores.elasticsearch.sync import Synced


async def sync_indices(
    settings: Settings, names: Sequence[str], progress: Progress
) -> AsyncGenerator[Synced, None]:
    """Brings the named indices up to date; without names all, but papers without a snapshot."""
    from carrel.stores.elasticsearch.sync import sync_all

    snapshot = PaperSnapshot(snapshot_path(settings))
    stores, neighbours = open_stores(settings), synced_neighbours(settings, snapshot)
    client = elasticsearch_client(settings)
    try:
        sources = {source.index: source for source in (*stores.sources, *neighbours.sources)}
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
    finally:
        await client.close()
        await neighbours.close()
        await asyncio.to_thread(snapshot.close)
        await stores.notes.close()

"""Filling a real Elasticsearch from the local stores, from where the last run stopped."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Sequence
from dataclasses import dataclass

from carrel.core.errors import InvalidInputError
from carrel.core.progress import Progress
from carrel.settings import Settings
from carrel.wiring.knowledge import elasticsearch_client, open_stores
from carrel.wiring.knowledge_neighbours import has_papers, synced_neighbours


@dataclass(frozen=True, slots=True)
class SyncedIndex:
    """One index after a run: documents written and dropped, or the reason why it was left out."""

    name: str
    written: int = 0
    dropped: int = 0
    left_out: str | None = None


async def sync_indices(
    settings: Settings, wanted: Sequence[str], progress: Progress
) -> AsyncGenerator[SyncedIndex, None]:
    """Brings each index up to date, one after the other; all of them when none is named."""
    from carrel.stores.elasticsearch.sync import sync

    stores, neighbours = open_stores(settings), synced_neighbours(settings)
    client = elasticsearch_client(settings)
    try:
        sources = {source.index: source for source in (*stores.sources, *neighbours.sources)}
        unknown = sorted(set(wanted) - set(sources))
        if unknown:
            raise InvalidInputError(
                f"There is no index {', '.join(unknown)}",
                next_step=f"Choose from {', '.join(sources)}.",
            )
        for name, source in sources.items():
            if wanted and name not in wanted:
                continue
            if name == "papers" and not wanted and not has_papers(settings):
                yield SyncedIndex(name, left_out="there is no snapshot yet")
                continue
            progress.begin(name, None, "documents")
            counted = 0

            def report(count: int) -> None:
                nonlocal counted
                progress.advance(count - counted)
                counted = count

            done = await sync(client, source, f"{settings.elasticsearch.prefix}{name}", report)
            progress.end()
            yield SyncedIndex(done.index, done.put, done.dropped)
    finally:
        await client.close()
        await neighbours.close()
        await stores.notes.close()

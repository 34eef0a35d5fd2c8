"""`carrel search sync`: fills a real Elasticsearch from the local stores, and goes on where it stopped."""

from __future__ import annotations

import argparse
import asyncio

from carrel.cli.options import add_desk_options, settings_from
from carrel.cli.progress import Progress
from carrel.core.errors import InvalidInputError, NotConfiguredError
from carrel.settings import Settings
from carrel.wiring.knowledge import elasticsearch_client, open_stores
from carrel.wiring.knowledge_neighbours import has_papers, synced_neighbours


def run(words: list[str]) -> int:
    parser = argparse.ArgumentParser(prog="carrel search", description="The real Elasticsearch that elasticsearch.url names.")
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    sync = commands.add_parser("sync", help="fill it from the local stores, from where the last run stopped")
    sync.add_argument("--index", action="append", metavar="NAME", help="only this index; may be given more than once")
    add_desk_options(sync)
    options = parser.parse_args(words[1:])
    settings = settings_from(options)
    if settings.elasticsearch.address is None:
        raise NotConfiguredError("No Elasticsearch is named", next_step="Set elasticsearch.url or ELASTICSEARCH_URL.")
    return asyncio.run(_sync(settings, options.index))


async def _sync(settings: Settings, wanted: list[str] | None) -> int:
    from carrel.stores.elasticsearch.sync import sync

    stores, neighbours, progress = open_stores(settings), synced_neighbours(settings), Progress()
    client = elasticsearch_client(settings)
    try:
        sources = {source.index: source for source in (*stores.sources, *neighbours.sources)}
        unknown = sorted(set(wanted or ()) - set(sources))
        if unknown:
            raise InvalidInputError(f"There is no index {', '.join(unknown)}", next_step=f"Choose from {', '.join(sources)}.")
        for name, source in sources.items():
            if wanted and name not in wanted:
                continue
            if name == "papers" and not wanted and not has_papers(settings):
                print("papers: left out, there is no snapshot yet")
                continue
            progress.begin(name, None, "documents")
            told = 0

            def report(count: int) -> None:
                nonlocal told
                progress.advance(count - told)
                told = count

            done = await sync(client, source, f"{settings.elasticsearch.prefix}{name}", report)
            progress.end()
            print(f"{done.index}: {done.put} written, {done.dropped} dropped")
    finally:
        await client.close()
        await neighbours.close()
        await stores.notes.close()
    return 0

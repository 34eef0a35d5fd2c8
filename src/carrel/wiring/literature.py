"""The literature room: the services outside, and the corpus and libraries that works come into."""

from __future__ import annotations

from functools import partial

from carrel.core.catalogue import Room
from carrel.core.clock import SystemClock
from carrel.policy.persistence import without_home
from carrel.rooms.literature import ROOM
from carrel.rooms.literature.addition_job import (
    KIND,
    WorkAdditionJob,
    WorkAdditions,
    WorkAdditionWaits,
)
from carrel.rooms.literature.additions import DeskAdditions
from carrel.rooms.literature.citations import CitationSearch
from carrel.rooms.literature.desk_works import DeskWorks
from carrel.rooms.literature.fulltext_operations import FulltextOperations
from carrel.rooms.literature.lookup import LiteratureLookup
from carrel.rooms.literature.operations import LiteratureOperations
from carrel.rooms.literature.search import LiteratureSearch
from carrel.rooms.literature.service import Literature
from carrel.rooms.literature.service_choice import SearchPolicy
from carrel.services.literature.catalogue import LazyServices
from carrel.settings import Settings
from carrel.settings.home_rules import refuse_home
from carrel.wiring.desk import OpenRoom
from carrel.wiring.desk_works import AdditionsAtHand, CorpusAtHand
from carrel.wiring.jobs import has_jobs, open_jobs
from carrel.wiring.literature_client import open_client, service_access
from carrel.wiring.literature_following import Following
from carrel.wiring.literature_texts import open_full_texts
from carrel.wiring.papers import OpenCorpus


def open_services(settings: Settings) -> LazyServices:
    """The services with the keys, addresses and mode of the settings; nothing is opened yet."""
    return LazyServices(partial(open_client, settings), service_access(settings))


def open_literature_room(settings: Settings, corpus: OpenCorpus) -> OpenRoom:
    """Nothing is asked yet; services are opened by the first question."""
    services = open_services(settings)
    chosen = settings.literature
    policy = SearchPolicy(
        services=chosen.services,
        has_semantic_scholar_key=bool(chosen.semantic_scholar_api_key),
        has_contact=bool(chosen.contact),
        timeout_seconds=chosen.timeout_seconds,
        max_cost_usd=chosen.max_cost_usd,
        is_network_allowed=settings.network or chosen.mode in ("replay", "offline"),
    )
    desk = DeskWorks(CorpusAtHand(corpus), corpus.links.libraries)
    search = LiteratureSearch(services, policy)
    corpus.links.literature.search = search
    lookup = LiteratureLookup(services, policy)
    literature = Literature(search, lookup, desk, corpus.notices)
    corpus.links.citations.bind(CitationSearch(services, policy, desk))
    texts, downloads = open_full_texts(settings, corpus, services, lookup)
    clock = SystemClock()
    additions = DeskAdditions(
        literature,
        CorpusAtHand(corpus),
        AdditionsAtHand(corpus),
        corpus.links.libraries,
        texts,
    )
    jobs = open_jobs(settings, {KIND: WorkAdditionJob(additions)}, clock)
    waits = WorkAdditionWaits(settings.papers.add_wait_seconds, settings.papers.task_after_seconds)
    work_additions = WorkAdditions(jobs, waits)
    holders: list[object] = [
        LiteratureOperations(literature, work_additions),
        FulltextOperations(texts),
    ]
    following = Following(settings, corpus, services, search, policy)
    holders += following.holders
    # Each further part of the room adds its operations here, one line each; `services` has the
    # adapters (`services.all()`) and the client (`services.client`), both opened when first used.

    async def start() -> None:
        jobs.take_up_work(has_jobs(settings))
        await following.start()

    async def close() -> None:
        await following.close()
        await jobs.close()
        await downloads.close()
        await services.close()

    room = following.refuse_without_home(Room.collect(ROOM, *holders, jobs=work_additions))
    if not (settings.keeps_papers and settings.serves_libraries):
        error = refuse_home(settings, "works")
        served = [each.name for each in room.operations if each.name != "add_works"]
        room = without_home(room, error, still_served=served, is_searched=True)
    return OpenRoom(room, close=close, start=start)

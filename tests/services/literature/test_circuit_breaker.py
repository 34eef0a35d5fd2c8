"""A service that keeps failing is left alone, probed by one question, and asked again when it
answers.
"""

from __future__ import annotations

import asyncio

import pytest

from carrel.libraries.identifiers import ArxivId, Doi, Pmid
from carrel.services.literature.arxiv_items import ArxivItems
from carrel.services.literature.dois import CrossrefItems
from carrel.services.literature.errors import (
    ServiceFailedError,
    ServicePausedError,
    WorkLookupError,
    WorkNotFoundError,
)
from carrel.services.literature.pubmed_items import PubMedItems
from carrel.services.literature.service_client import ServiceClient
from carrel.services.literature.service_limits import (
    BreakerPolicy,
    Slots,
)
from carrel.services.retry import RetryPolicy
from tests.services.literature.fake_time import Waits
from tests.services.literature.services import Reply, running

ONCE = RetryPolicy(max_attempts=1)
POLICY = BreakerPolicy(failures_to_open=4, no_connection_counts_as=2, open_seconds=30)


def test_the_client_stops_asking_a_dead_service_and_comes_back_to_it() -> None:
    async def scene() -> None:
        waits = Waits()
        with running() as services:
            services.first += [Reply(500, b"")] * 4
            async with ServiceClient(
                retries=ONCE, breaker_policy=POLICY, sleep=waits.sleep, clock=waits.clock
            ) as client:
                crossref = CrossrefItems(client, services.url)
                for _ in range(4):
                    with pytest.raises(ServiceFailedError):
                        await crossref.look_up(Doi("10.1038/nature12373"))
                for _ in range(100):
                    with pytest.raises(ServicePausedError):
                        await crossref.look_up(Doi("10.1038/nature12373"))
                assert len(services.asked) == 4
                waits.time += 31
                assert (await crossref.look_up(Doi("10.1038/nature12373")))["volume"] == "500"

    asyncio.run(scene())


def test_a_service_that_says_when_to_come_back_is_left_alone_until_then() -> None:
    async def scene() -> None:
        waits = Waits()
        with running() as services:
            services.first += [Reply(429, b"", {"Retry-After": "600"})]
            async with ServiceClient(sleep=waits.sleep, clock=waits.clock) as client:
                crossref = CrossrefItems(client, services.url)
                for kind in (ServiceFailedError, ServicePausedError, ServicePausedError):
                    with pytest.raises(kind):
                        await crossref.look_up(Doi("10.1038/nature12373"))
                assert len(services.asked) == 1
                waits.time += 601
                await crossref.look_up(Doi("10.1038/nature12373"))

    asyncio.run(scene())


def test_slots_bound_what_runs_at_once_also_when_their_number_changes() -> None:
    async def scene() -> None:
        slots, running_now, most = Slots(2), 0, 0

        async def work() -> None:
            nonlocal running_now, most
            async with slots:
                running_now += 1
                most = max(most, running_now)
                await asyncio.sleep(0)
                running_now -= 1

        tasks = [asyncio.create_task(work()) for _ in range(10)]
        await asyncio.sleep(0)
        tasks[5].cancel()
        slots.resize(1)
        await asyncio.gather(*tasks, return_exceptions=True)
        assert most == 2
        await asyncio.wait_for(work(), 10)

    asyncio.run(scene())


def test_a_list_that_arxiv_refuses_for_one_id_is_asked_in_halves() -> None:
    async def scene() -> None:
        waits = Waits()
        with running() as services:
            async with ServiceClient(sleep=waits.sleep, clock=waits.clock) as client:
                arxiv = ArxivItems(client, services.url)
                names = [ArxivId("hep-ex/0307015"), ArxivId("2101.11111")]
                found = await asyncio.gather(
                    *(arxiv.look_up(name) for name in names), return_exceptions=True
                )
        assert isinstance(found[0], dict)
        assert isinstance(found[1], WorkNotFoundError)
        assert len(services.asked) == 3

    asyncio.run(scene())


def test_a_failed_batch_fails_for_all_who_asked_and_the_next_is_asked_anew() -> None:
    async def scene() -> None:
        waits = Waits()
        with running() as services:
            services.first += [Reply(500, b"")]
            async with ServiceClient(retries=ONCE, sleep=waits.sleep, clock=waits.clock) as client:
                pubmed = PubMedItems(client, services.url)
                failed = await asyncio.gather(
                    *(pubmed.look_up(Pmid(str(n))) for n in (1, 2, 3)), return_exceptions=True
                )
                assert all(isinstance(error, WorkLookupError) for error in failed)
                assert len(services.asked) == 1
                assert (await pubmed.look_up(Pmid("1")))["PMID"] == "1"

    asyncio.run(scene())

"""Whatever goes wrong at a service is a failure of the right kind, within bounds of time and
memory, and never an empty answer.
"""

from __future__ import annotations

import asyncio
import random
import tracemalloc
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from carrel.services.fetching import FetchLimits, Redirects
from carrel.services.literature.answers import AnswerKind, ServiceAnswer
from carrel.services.literature.cache import AnswerCache
from carrel.services.literature.errors import WorkLookupError
from carrel.services.literature.service_client import ServiceClient
from tests.services.literature.fake_time import LongestWaits, Waits
from tests.services.literature.faults import FaultServer

# Short enough for a test; what they end goes on for ever.
LIMITS = FetchLimits(
    total_seconds=0.6,
    max_bytes=2_000_000,
    read_seconds=0.3,
    connect_seconds=1.0,
    redirects=Redirects.ANY,
    max_redirects=5,
)


@pytest.fixture(scope="module")
def server() -> Iterator[FaultServer]:
    with FaultServer() as found:
        yield found


@pytest.fixture
def faults(server: FaultServer) -> FaultServer:
    server.asked.clear()
    server.first.clear()
    return server


def ask(
    url: str, waits: Waits | None = None, cache: AnswerCache | None = None, **options: Any
) -> ServiceAnswer:
    waits = waits or Waits()
    service = options.pop("service", "crossref")
    deadline = options.pop("deadline_seconds", 60.0)

    async def run() -> ServiceAnswer:
        async with ServiceClient(
            cache=cache,
            limits=LIMITS,
            sleep=waits.sleep,
            clock=waits.clock,
            now=lambda: 0.0,
            rng=LongestWaits(),
            deadline_seconds=deadline,
        ) as client:
            return await client.ask(service, url, **{"accept": "application/json", **options})

    return asyncio.run(run())


@pytest.mark.promise("W1")
@pytest.mark.parametrize(
    ("fault", "failure", "times_asked"),
    [
        ("/429", "rate_limited", 2),
        ("/429-nonsense", "rate_limited", 2),
        ("/429-long", "rate_limited", 1),
        ("/429-absurd", "rate_limited", 1),
        ("/503-date", "failed", 4),
        ("/503-negative", "failed", 4),
        ("/401", "key_refused", 1),
        ("/403", "failed", 1),
        ("/500", "failed", 2),
        ("/empty", "unreadable", 2),
        ("/blank", "unreadable", 2),
        ("/page", "unreadable", 1),
        ("/page-as-json", "unreadable", 1),
        ("/cut-json", "unreadable", 2),
        ("/short", "failed", 2),
        ("/damaged-gzip", "failed", 1),
        ("/slow-head", "timed_out", 3),
        ("/slow-body", "timed_out", 3),
        ("/endless", "unreadable", 1),
        ("/endless-head", "failed", None),
        ("/bomb", "unreadable", 1),
        ("/reset", "failed", 2),
        ("/garbage", "failed", 2),
        ("/loop", "failed", None),
        ("/to-loopback", "failed", 1),
        ("/to-other-port", "failed", 1),
        ("/to-metadata", "failed", 1),
        ("/to-private", "failed", 1),
        ("/to-decimal", "failed", 1),
        ("/to-mapped", "failed", 1),
        ("/to-file", "failed", 1),
    ],
)
def test_every_fault_is_a_failure_that_is_told_and_not_kept(
    faults: FaultServer, tmp_path: Path, fault: str, failure: str, times_asked: int | None
) -> None:
    cache = AnswerCache(tmp_path / "answers", clock=lambda: 0.0)
    with pytest.raises(WorkLookupError) as caught:
        ask(f"{faults.url}{fault}", cache=cache, kind=AnswerKind.SEARCH)
    assert caught.value.failure == failure
    assert "Crossref" in caught.value.reason
    if times_asked is not None:
        assert len(faults.asked) == times_asked
    assert not list(tmp_path.rglob("*.cached"))


def test_xml_that_breaks_off_or_is_a_page_is_unreadable(faults: FaultServer) -> None:
    assert ask(f"{faults.url}/good.xml", accept="application/atom+xml").status == 200
    for fault in ("/cut-xml", "/page", "/empty"):
        with pytest.raises(WorkLookupError) as caught:
            ask(f"{faults.url}{fault}", accept="application/atom+xml")
        assert caught.value.failure == "unreadable"


def test_a_status_about_the_question_is_an_answer_and_asked_once(faults: FaultServer) -> None:
    assert ask(f"{faults.url}/404").status == 404
    assert len(faults.asked) == 1


def test_a_redirect_at_the_same_host_is_followed(faults: FaultServer) -> None:
    assert ask(f"{faults.url}/to-good").status == 200
    assert ask(f"{faults.url}/to-good", secret_params={"api_key": "0123456789"}).status == 200


def test_with_a_key_no_redirect_leads_to_another_host(faults: FaultServer) -> None:
    with pytest.raises(WorkLookupError) as caught:
        ask(f"{faults.url}/to-private", secret_headers={"x-api-key": "0123456789"})
    assert "another host" in caught.value.reason


def test_retry_after_is_waited_for_and_an_absurd_one_told_within_a_day(
    faults: FaultServer,
) -> None:
    waits = Waits()
    faults.first += ["/429-seconds", "/503-date", "/503-seconds"]
    assert ask(f"{faults.url}/good", waits).status == 200
    assert waits.seconds == [7.0, 9.0, 3.0]
    with pytest.raises(WorkLookupError) as caught:
        ask(f"{faults.url}/429-absurd", waits)
    assert caught.value.retry_after_seconds == 86_400


def test_a_wait_beyond_the_deadline_is_not_waited(faults: FaultServer) -> None:
    waits = Waits()
    with pytest.raises(WorkLookupError) as caught:
        ask(f"{faults.url}/429-seconds", waits, deadline_seconds=5.0)
    assert caught.value.failure == "rate_limited"
    assert caught.value.retry_after_seconds == 7.0
    assert waits.seconds == []


def test_openalex_says_its_rate_by_403_and_its_budget_by_429(faults: FaultServer) -> None:
    with pytest.raises(WorkLookupError) as caught:
        ask(f"{faults.url}/403", service="openalex", secret_params={"api_key": "0123456789"})
    assert caught.value.failure == "rate_limited"
    assert len(faults.asked) == 2
    with pytest.raises(WorkLookupError) as caught:
        ask(f"{faults.url}/429-seconds", service="openalex")
    assert caught.value.failure == "budget_spent"
    assert len(faults.asked) == 3


def test_a_refused_key_is_told_apart(faults: FaultServer) -> None:
    with pytest.raises(WorkLookupError) as caught:
        ask(
            f"{faults.url}/403", service="semantic_scholar", secret_headers={"x-api-key": "bad-key"}
        )
    assert caught.value.failure == "key_refused"
    assert len(faults.asked) == 1


def test_jitter_is_full_and_owned_by_the_caller(faults: FaultServer) -> None:
    async def run(seed: int) -> list[float]:
        waits = Waits()
        client = ServiceClient(
            limits=LIMITS,
            sleep=waits.sleep,
            clock=waits.clock,
            now=lambda: 0.0,
            rng=random.Random(seed),
        )
        async with client:
            with pytest.raises(WorkLookupError):
                await client.ask("crossref", f"{faults.url}/503-negative")
        return waits.seconds

    first, again, other = (asyncio.run(run(seed)) for seed in (1, 1, 2))
    assert first == again != other
    assert all(0 <= wait <= most for wait, most in zip(first, (0.5, 1.0, 2.0), strict=True))


@pytest.mark.parametrize("fault", ["/endless", "/bomb"])
def test_memory_is_bounded_whatever_comes(faults: FaultServer, fault: str) -> None:
    tracemalloc.start()
    try:
        with pytest.raises(WorkLookupError):
            ask(f"{faults.url}{fault}")
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    # The server's own bomb is a megabyte; 300 were sent packed.
    assert peak < 100_000_000

"""Requests to a host take turns over all processes, and a killed process holds nothing."""

from __future__ import annotations

import asyncio
import multiprocessing
import os
import signal
from pathlib import Path

import pytest

from carrel.rooms.literature.ports import ServiceCost
from carrel.services.literature.announced_limits import Announced, read_announced, read_cost
from carrel.services.literature.errors import ServicePausedError
from carrel.services.literature.governor import Busy, Governor, GovernorTurn, Outcome, Refusal
from carrel.services.literature.service_client import ServiceClient
from carrel.services.literature.service_limits import BreakerPolicy, ServiceLimits
from tests.services.literature.fake_time import Waits
from tests.services.literature.services import running

POLICY = BreakerPolicy(failures_to_open=4, no_connection_counts_as=2, open_seconds=30)
KNOWN = ServiceLimits(max_concurrent=2, interval_seconds=1.0)
FAILED = Outcome(failure="500")


def take(
    governor: Governor, limits: ServiceLimits = KNOWN, patience: float = 100.0, lane: str = "a.org"
) -> GovernorTurn | Busy | Refusal:
    return governor.take(lane, limits, patience_seconds=patience, lease_seconds=20.0)


def turn(governor: Governor, limits: ServiceLimits = KNOWN, lane: str = "a.org") -> GovernorTurn:
    found = take(governor, limits, lane=lane)
    assert isinstance(found, GovernorTurn)
    return found


def test_turns_are_apart_and_lanes_do_not_wait_for_each_other() -> None:
    waits = Waits()
    governor = Governor(None, waits.clock)
    assert turn(governor).wait_seconds == 0
    assert turn(governor).wait_seconds == 1.0
    assert turn(governor, lane="b.org").wait_seconds == 0
    assert isinstance(take(governor), Busy)


def test_a_burst_is_saved_up_and_a_gap_is_kept() -> None:
    waits = Waits()
    governor = Governor(None, waits.clock)
    limits = ServiceLimits(max_concurrent=10, interval_seconds=1.0, burst=3, gap_seconds=0.1)
    begins = [turn(governor, limits).wait_seconds for _ in range(5)]
    assert begins == pytest.approx([0.0, 0.1, 0.2, 1.0, 2.0])


def test_nobody_reserves_a_turn_beyond_their_patience() -> None:
    governor = Governor(None, Waits().clock)
    slow = ServiceLimits(max_concurrent=5, interval_seconds=3.0)
    turn(governor, slow)
    refused = take(governor, slow, patience=2.0)
    assert isinstance(refused, Refusal)
    assert (refused.seconds, refused.kind) == (3.0, "rate_limited")
    assert turn(governor, slow).wait_seconds == 3.0, "the refused one took no turn"


def test_a_slot_that_nobody_gives_back_is_free_after_its_lease(tmp_path: Path) -> None:
    waits = Waits()
    one = ServiceLimits(max_concurrent=1)
    dead = Governor(tmp_path / "governor.db", waits.clock)
    turn(dead, one)
    other = Governor(tmp_path / "governor.db", waits.clock)
    assert isinstance(take(other, one), Busy)
    waits.time += 20.1
    assert isinstance(take(other, one), GovernorTurn)


def test_it_opens_after_failures_in_a_row_and_half_opens_for_one(tmp_path: Path) -> None:
    waits = Waits()
    one, two = (Governor(tmp_path / "governor.db", waits.clock, POLICY) for _ in range(2))
    limits = ServiceLimits(max_concurrent=9)
    for governor in (one, two, one, two):
        governor.give_back("a.org", turn(governor, limits), FAILED)
    for governor in (one, two):
        refused = take(governor, limits)
        assert refused == Refusal(30.0, "paused", "500"), "all processes know"
    waits.time += 30
    probe = turn(one, limits)
    assert isinstance(take(two, limits), Refusal), "one alone may probe"
    one.give_back("a.org", probe, FAILED)
    assert isinstance(take(two, limits), Refusal)
    waits.time += 30
    probe = turn(two, limits)
    two.give_back("a.org", probe, Outcome())
    probe = turn(one, limits)
    assert isinstance(take(two, limits), Refusal), "a probe given up leaves its place to another"
    one.give_back("a.org", probe, Outcome(True))
    turn(one, limits)
    turn(two, limits)


def test_no_connection_counts_more_and_a_success_between_keeps_it_closed() -> None:
    governor = Governor(None, Waits().clock, POLICY)
    limits = ServiceLimits(max_concurrent=9)
    for _ in range(10):
        governor.give_back("a.org", turn(governor, limits), FAILED)
        governor.give_back("a.org", turn(governor, limits), FAILED)
        governor.give_back("a.org", turn(governor, limits), Outcome(True))
    gone = Outcome(failure="no route", is_connected=False)
    governor.give_back("a.org", turn(governor, limits), gone)
    governor.give_back("a.org", turn(governor, limits), gone)
    assert isinstance(take(governor, limits), Refusal)


def test_what_an_answer_announces_holds_for_all_for_a_day(tmp_path: Path) -> None:
    waits = Waits()
    one, two = (Governor(tmp_path / "governor.db", waits.clock) for _ in range(2))
    announced = ServiceLimits(max_concurrent=1, interval_seconds=5.0)
    one.give_back("a.org", turn(one), Outcome(True, announced=announced, hold_seconds=2.0))
    found = turn(two)
    assert found.limits == announced
    assert found.wait_seconds == 2.0
    assert isinstance(take(one), Busy)
    two.give_back("a.org", found, Outcome(True))
    waits.time += 86_401
    assert turn(one).limits == KNOWN


def test_a_clock_that_was_set_back_stops_nobody(tmp_path: Path) -> None:
    waits = Waits()
    waits.time = 1e9
    governor = Governor(tmp_path / "governor.db", waits.clock)
    governor.give_back("a.org", turn(governor), Outcome(failure="x", pause_seconds=3600))
    turn(governor, lane="b.org")
    waits.time = 100.0
    assert turn(governor).wait_seconds <= 1.0
    assert turn(governor, lane="b.org").wait_seconds <= 1.0


def test_a_damaged_file_is_made_anew_and_an_unwritable_one_done_without(tmp_path: Path) -> None:
    path = tmp_path / "governor.db"
    path.write_bytes(b"this is no database, and long enough to be seen as none" * 100)
    assert isinstance(take(Governor(path)), GovernorTurn)
    assert path.read_bytes().startswith(b"SQLite")
    (tmp_path / "file").write_text("x")
    assert isinstance(take(Governor(tmp_path / "file" / "governor.db")), GovernorTurn)


def _ask_many(url: str, folder: str, count: int) -> None:
    async def run() -> None:
        governor = Governor(Path(folder) / "governor.db")
        async with ServiceClient(governor=governor) as client:
            for _ in range(count):
                limits = ServiceLimits(max_concurrent=1, interval_seconds=0.01)
                await client.ask("crossref", f"{url}/works/10.1038/nature12373", limits=limits)

    asyncio.run(run())


def _hold_a_slot(folder: str, ready: str) -> None:
    governor = Governor(Path(folder) / "governor.db")
    governor.take("a.org", ServiceLimits(max_concurrent=1), patience_seconds=1.0, lease_seconds=0.5)
    Path(ready).write_text("ready")
    signal.pause()


def test_many_questions_of_one_process_wait_for_each_other_as_long_as_it_takes() -> None:
    async def scene() -> None:
        waits = Waits()
        limits = ServiceLimits(max_concurrent=1, interval_seconds=3.0)
        with running() as services:
            async with ServiceClient(
                sleep=waits.sleep, clock=waits.clock, deadline_seconds=5.0
            ) as client:
                url = f"{services.url}/works/10.1038/nature12373"
                asking = [client.ask("crossref", url, limits=limits) for _ in range(10)]
                answers = await asyncio.gather(*asking)
                assert [answer.status for answer in answers] == [200] * 10
                assert waits.seconds == [3.0] * 9
                with client.deadline(2.0), pytest.raises(ServicePausedError) as caught:
                    await client.ask("crossref", url, limits=limits)
                assert caught.value.failure == "rate_limited"

    asyncio.run(scene())


def test_processes_share_turns_and_none_is_lost(tmp_path: Path) -> None:
    spawn = multiprocessing.get_context("spawn")
    with running() as services:
        processes = [
            spawn.Process(target=_ask_many, args=(services.url, str(tmp_path), 10))
            for _ in range(3)
        ]
        for process in processes:
            process.start()
        for process in processes:
            process.join(60)
        assert [process.exitcode for process in processes] == [0, 0, 0]
        assert len(services.asked) == 30
        assert services.most_at_once == 1


def test_a_killed_process_holds_its_slot_no_longer_than_its_lease(tmp_path: Path) -> None:
    spawn = multiprocessing.get_context("spawn")
    ready = tmp_path / "ready"
    process = spawn.Process(target=_hold_a_slot, args=(str(tmp_path), str(ready)))
    process.start()
    while not ready.exists():
        process.join(0.01)
        assert process.exitcode is None
    assert process.pid is not None
    os.kill(process.pid, signal.SIGKILL)
    process.join(60)
    governor = Governor(tmp_path / "governor.db")
    one = ServiceLimits(max_concurrent=1)
    while isinstance(take(governor, one), Busy):
        process.join(0.01)


@pytest.mark.parametrize(
    ("service", "headers", "announced"),
    [
        ("crossref", {}, Announced(KNOWN)),
        (
            "crossref",
            {
                "x-concurrency-limit": "1",
                "x-rate-limit-limit": "5",
                "x-rate-limit-interval": "1s",
                "x-api-pool": "public-single",
            },
            Announced(ServiceLimits(1, 0.2)),
        ),
        (
            "Crossref",
            {"x-ratelimit-limit": "50", "x-ratelimit-interval": "1s"},
            Announced(ServiceLimits(2, 0.02)),
        ),
        ("crossref", {"x-concurrency-limit": "10000"}, Announced(ServiceLimits(10, 1.0))),
        (
            "crossref",
            {"x-concurrency-limit": "0", "x-rate-limit-limit": "0", "x-rate-limit-interval": "x"},
            Announced(ServiceLimits(1, 1.0)),
        ),
        (
            "crossref",
            {"x-concurrency-limit": "²", "x-rate-limit-limit": "-5", "x-rate-limit-interval": "1s"},
            Announced(KNOWN),
        ),
        (
            "pubmed",
            {"x-ratelimit-limit": "10", "x-ratelimit-remaining": "8"},
            Announced(ServiceLimits(2, 0.1)),
        ),
        (
            "pubmed",
            {"x-ratelimit-limit": "3", "x-ratelimit-remaining": "0"},
            Announced(ServiceLimits(2, 1 / 3), 1.0),
        ),
        (
            "openalex",
            {
                "x-ratelimit-limit": "2000000",
                "x-ratelimit-remaining": "0",
                "x-ratelimit-reset": "9",
            },
            Announced(KNOWN),
        ),
        (
            "datacite",
            {"ratelimit-policy": '"default";q=1000;w=5000', "ratelimit": '"default";r=0;t=12'},
            Announced(ServiceLimits(2, 5.0), 12.0),
        ),
        ("datacite", {"ratelimit-policy": "3000;w=300"}, Announced(KNOWN)),
        (
            "dblp",
            {"x-ratelimit-remaining": "0", "x-ratelimit-reset": "1700000030"},
            Announced(KNOWN, 30.0),
        ),
        ("dblp", {"ratelimit": "limit=10, remaining=0, reset=7"}, Announced(KNOWN, 7.0)),
        ("dblp", {"ratelimit-remaining": "0", "ratelimit-reset": "86400"}, Announced(KNOWN, 600.0)),
    ],
)
def test_limits_are_those_that_the_answer_announces(
    service: str, headers: dict[str, str], announced: Announced
) -> None:
    assert read_announced(service, headers, KNOWN, now=1_700_000_000.0) == announced


def test_costs_and_budgets_are_read_from_headers() -> None:
    openalex = {
        "x-ratelimit-cost-usd": "0.0001",
        "x-ratelimit-remaining-usd": "199.7902",
        "x-ratelimit-prepaid-remaining-usd": "0.5",
        "x-ratelimit-remaining": "1997902",
        "x-ratelimit-reset": "41702",
    }
    assert read_cost("openalex", openalex, 0.0) == ServiceCost(0.0001, 200.2902, None, 41702.0)
    old = {"ratelimit-remaining": "99999", "ratelimit-reset": "33624"}
    assert read_cost("openalex", old, 0.0) == ServiceCost(None, None, 99999, 33624.0)
    second = {"x-ratelimit-limit": "10", "x-ratelimit-remaining": "8"}
    assert read_cost("pubmed", second, 0.0) == ServiceCost()
    assert read_cost("crossref", {"x-ratelimit-cost-usd": "free"}, 0.0) == ServiceCost()

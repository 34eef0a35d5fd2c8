"""Live views: states are sent as they change, to those who may see them, until the end."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from typing import Any

import httpx2
import pytest

from carrel.core.caller import Call, Caller, Visit
from carrel.core.clock import SystemClock
from carrel.core.errors import CarrelError, InsufficientPermissionsError, UnauthenticatedError
from carrel.core.operation import Answer, Operation, Question
from carrel.core.pages import LiveView
from carrel.doors.web.live import LiveViews
from carrel.policy.audit import Audit, AuditRecord
from carrel.policy.gate import Gate
from carrel.policy.identity import LocalIdentity
from carrel.policy.limits import NoLimits
from tests.access.support import PASSWORD
from tests.console.client import ConsoleClient
from tests.console.served_desk import ServedDesk

pytestmark = pytest.mark.promise("V1")


def test_a_run_that_has_ended_is_told_once_and_the_stream_ends(console: ServedDesk) -> None:
    with httpx2.stream(
        "GET", f"{console.url}/live/research?id={console.ids['research_id']}", timeout=30
    ) as answer:
        assert answer.headers["content-type"].startswith("text/event-stream")
        text = "".join(answer.iter_text())
    assert text.count("event: state") == 1
    assert text.rstrip().endswith("event: end\ndata: {}")
    data = next(line for line in text.splitlines() if line.startswith('data: {"'))
    assert json.loads(data.removeprefix("data: "))


@pytest.mark.parametrize("path", ["/live/nothing?id=x", "/live/research", "/live/"])
def test_what_is_no_live_view_is_refused(console: ServedDesk, path: str) -> None:
    assert httpx2.get(console.url + path).status_code in {400, 404}


def test_who_may_not_read_research_may_not_follow_it(institute: ServedDesk) -> None:
    client = ConsoleClient(institute.url)
    client.log_in("ben", PASSWORD)
    answer = client.session.get(f"{institute.url}/live/research?id=res_x")
    assert answer.status_code == 403


class CountQuestion(Question):
    """Which counter."""

    id: str


class CountState(Answer):
    """What a counter shows."""

    value: int


class Counters:
    """A counter that a test turns, and how often it was asked."""

    def __init__(self) -> None:
        self.value = 0
        self.asked = 0
        self.problem: CarrelError | None = None

    async def read(self, question: CountQuestion, call: Call) -> CountState:
        self.asked += 1
        if self.problem is not None:
            raise self.problem
        return CountState(value=self.value)


class _NoAudit(Audit):
    def write(self, record: AuditRecord) -> None:
        return None

    async def write_durably(self, record: AuditRecord) -> None:
        return None


CALLER = Caller("ada", frozenset({"papers:read"}))
VISIT = Visit("http", "request-1")


def open_views(counters: Counters) -> LiveViews:
    operation: Operation[Any] = Operation(
        "read_counter", "papers", "Read", "Read.", CountQuestion, CountState, counters.read,
        frozenset({"papers:read"}),
    )  # fmt: skip
    view = LiveView(
        "counter", "read_counter", lambda key: {"id": key}, lambda state: state.value >= 3,
        None, 0.01,
    )  # fmt: skip
    clock = SystemClock()
    gate = Gate(LocalIdentity(), NoLimits(), _NoAudit(), clock)
    return LiveViews({"counter": view}, {"read_counter": operation}, gate, clock)


async def _welcome() -> Caller:
    return CALLER


async def _next_event(stream: AsyncIterator[bytes], kind: bytes) -> bytes:
    async for piece in stream:
        if b"event: " + kind in piece:
            return piece
    raise AssertionError("the stream has ended")


def test_every_viewer_sees_every_newest_state_and_the_thing_is_asked_once_for_all() -> None:
    async def story() -> None:
        counters = Counters()
        views = open_views(counters)
        streams = [await views.open("counter", "a", CALLER, VISIT, _welcome) for _ in range(50)]
        for stream in streams:
            assert b'"value":0' in await _next_event(stream, b"state")
        asked = counters.asked
        counters.value = 1
        for stream in streams:
            assert b'"value":1' in await _next_event(stream, b"state")
        # Fifty opened it, each through the gate; after that one question is enough for all.
        assert counters.asked - asked < 50
        counters.value = 3
        for stream in streams:
            assert b'"value":3' in await _next_event(stream, b"state")
            assert b"event: end" in await _next_event(stream, b"end")

    asyncio.run(story())


def test_what_cannot_be_read_for_a_while_is_said_and_goes_on() -> None:
    async def story() -> None:
        counters = Counters()
        stream = await open_views(counters).open("counter", "a", CALLER, VISIT, _welcome)
        await _next_event(stream, b"state")
        counters.problem = InsufficientPermissionsError(frozenset({"x"}), frozenset())
        assert b"message" in await _next_event(stream, b"trouble")
        counters.problem, counters.value = None, 2
        assert b'"value":2' in await _next_event(stream, b"state")
        await stream.aclose()

    asyncio.run(story())


def test_viewers_of_other_people_do_not_share_a_state() -> None:
    async def story() -> None:
        counters = Counters()
        views = open_views(counters)
        mine = await views.open("counter", "a", CALLER, VISIT, _welcome)
        with pytest.raises(InsufficientPermissionsError):
            await views.open("counter", "a", Caller("eve", frozenset()), VISIT, _welcome)
        await mine.aclose()

    asyncio.run(story())


def test_streams_end_when_the_server_begins_to_stop() -> None:
    async def story() -> None:
        draining = asyncio.Event()
        views = open_views(Counters())
        stream = await views.open("counter", "a", CALLER, VISIT, _welcome, draining)
        await _next_event(stream, b"state")
        draining.set()
        rest = [piece async for piece in stream]
        assert not any(b"event: end" in piece for piece in rest)

    asyncio.run(asyncio.wait_for(story(), 10))


def test_a_session_that_has_ended_ends_its_stream(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("carrel.doors.web.live._RECHECK_SECONDS", 0.0)

    async def refused() -> Caller:
        raise UnauthenticatedError("gone", next_step="Log in.")

    async def story() -> None:
        counters = Counters()
        stream = await open_views(counters).open("counter", "a", CALLER, VISIT, refused)
        await _next_event(stream, b"state")
        counters.value = 1
        assert b"refused" in await _next_event(stream, b"refused")

    asyncio.run(story())

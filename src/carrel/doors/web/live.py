"""Live views: states of something that changes, sent to browsers as server-sent events.

However many people look at one thing, it is asked once per interval and encoded once. A viewer who
is slow gets the newest state, not all that were missed.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping
from contextlib import suppress
from typing import Any

import orjson

from carrel.core.answer import split_explanation
from carrel.core.answer_encoding import encode_answer
from carrel.core.caller import Call, Caller, Visit
from carrel.core.clock import Clock
from carrel.core.errors import CarrelError, InvalidInputError
from carrel.core.operation import Operation
from carrel.core.pages import LiveView
from carrel.doors.http.messages import Header, ServerBusyError
from carrel.doors.web.responses import NOTHING_POLICY, SECURITY_HEADERS
from carrel.policy.gate import Gate

log = logging.getLogger("carrel.web")

EVENT_HEADERS: tuple[Header, ...] = (
    (b"content-type", b"text/event-stream; charset=utf-8"),
    (b"cache-control", b"no-store"),
    (b"x-accel-buffering", b"no"),
    NOTHING_POLICY,
    *SECURITY_HEADERS,
)
_HEARTBEAT_SECONDS = 15.0
_RECHECK_SECONDS = 60.0
_MOST_TOPICS = 2_000
_LONGEST_ID = 300
# A store that does not answer is asked less and less often.
_MOST_SECONDS_BETWEEN = 30.0

# What is looked at, by whom, and with which rights.
_TopicKey = tuple[str, str, str, frozenset[str]]


class _Topic:
    """One thing that is looked at: its newest state, and who is told when it changes."""

    def __init__(self, arguments: Mapping[str, object]) -> None:
        self.arguments = dict(arguments)
        self.sequence = 0
        self.frame = b""
        self.body = b""
        self.is_over = False
        self.changed = asyncio.Event()
        self.viewers = 0
        self.poller: asyncio.Task[None] | None = None

    def publish(self, event: str, body: bytes, *, is_over: bool) -> None:
        if body == self.body and is_over == self.is_over and self.sequence:
            return
        self.sequence += 1
        self.body = body
        self.is_over = is_over
        self.frame = b"id: %d\nevent: %s\ndata: %s\n\n" % (self.sequence, event.encode(), body)
        self.wake()

    def wake(self) -> None:
        """Let every viewer look again."""
        changed, self.changed = self.changed, asyncio.Event()
        changed.set()


class LiveViews:
    """Opens streams of live views."""

    def __init__(
        self,
        views: Mapping[str, LiveView],
        operations: Mapping[str, Operation[Any]],
        gate: Gate,
        clock: Clock,
    ) -> None:
        self._views = views
        self._operations = operations
        self._gate = gate
        self._clock = clock
        self._topics: dict[_TopicKey, _Topic] = {}
        self._ending: asyncio.Task[None] | None = None

    async def open(
        self,
        name: str,
        identifier: str,
        caller: Caller,
        visit: Visit,
        check: Callable[[], Awaitable[Caller]],
        draining: asyncio.Event | None = None,
    ) -> AsyncGenerator[bytes, None]:
        """A stream of events; the first question passes the gate. Raises CarrelError."""
        view = self._views.get(name)
        operation = None if view is None else self._operations.get(view.operation)
        if view is None or operation is None or not 0 < len(identifier) <= _LONGEST_ID:
            raise InvalidInputError("There is no such live view", next_step="Load the page again.")
        arguments = view.arguments(identifier)
        first = await self._gate.call(operation, arguments, caller, visit)
        key = (name, identifier, caller.user_id, caller.scopes)
        if key not in self._topics and len(self._topics) >= _MOST_TOPICS:
            raise ServerBusyError("Too many live views are open")
        if draining is not None and self._ending is None:
            self._ending = asyncio.create_task(self._end_with(draining))
        return self._stream(key, first, view, operation, caller, visit, check, draining)

    async def _end_with(self, draining: asyncio.Event) -> None:
        """Wake all viewers once the server begins to stop, so that they end."""
        await draining.wait()
        for topic in self._topics.values():
            topic.wake()

    def _publish(
        self, topic: _Topic, view: LiveView, operation: Operation[Any], answer: Any
    ) -> None:
        state, _ = split_explanation(answer)
        body = (
            encode_answer(operation.answer, state)
            if view.summarise is None
            else orjson.dumps(view.summarise(state), default=str)
        )
        # A line break would end the event's data; JSON has none but between tokens.
        topic.publish("state", body.replace(b"\n", b" "), is_over=view.is_over(state))

    async def _stream(
        self,
        key: _TopicKey,
        first: Any,
        view: LiveView,
        operation: Operation[Any],
        caller: Caller,
        visit: Visit,
        check: Callable[[], Awaitable[Caller]],
        draining: asyncio.Event | None,
    ) -> AsyncGenerator[bytes, None]:
        # Only here: a viewer who hangs up before the first byte leaves nothing behind.
        topic = self._topics.get(key)
        if topic is None:
            topic = self._topics[key] = _Topic(view.arguments(key[1]))
        self._publish(topic, view, operation, first)
        topic.viewers += 1
        if topic.poller is None:
            topic.poller = asyncio.create_task(self._poll(topic, view, operation, caller, visit))
        seen = 0
        checked_at = self._clock.monotonic()
        try:
            yield b"retry: 3000\n\n"
            while True:
                changed = topic.changed
                if topic.sequence != seen:
                    seen = topic.sequence
                    yield topic.frame
                    continue
                if topic.is_over:
                    yield b"event: end\ndata: {}\n\n"
                    return
                if draining is not None and draining.is_set():
                    return
                try:
                    await asyncio.wait_for(changed.wait(), _HEARTBEAT_SECONDS)
                except TimeoutError:
                    yield b": still here\n\n"
                if self._clock.monotonic() - checked_at > _RECHECK_SECONDS:
                    checked_at = self._clock.monotonic()
                    if not await _is_still_welcome(check, operation):
                        yield b"event: refused\ndata: {}\n\n"
                        return
        finally:
            topic.viewers -= 1
            if topic.viewers == 0:
                self._topics.pop(key, None)
                if topic.poller is not None:
                    topic.poller.cancel()
                    with suppress(asyncio.CancelledError):
                        await topic.poller

    async def _poll(
        self,
        topic: _Topic,
        view: LiveView,
        operation: Operation[Any],
        caller: Caller,
        visit: Visit,
    ) -> None:
        """Ask again until it is over; the person's first question was charged and audited."""
        question = operation.question.model_validate(topic.arguments)
        wait = view.every_seconds
        while not topic.is_over:
            await asyncio.sleep(wait)
            try:
                answer = await asyncio.wait_for(
                    operation.run(question, Call(caller, visit)), operation.timeout_seconds
                )
                wait = view.every_seconds
            except (CarrelError, TimeoutError) as error:
                message = error.message if isinstance(error, CarrelError) else "No answer in time"
                body = orjson.dumps({"message": message})
                topic.publish("trouble", body, is_over=False)
                wait = min(_MOST_SECONDS_BETWEEN, wait * 2)
                continue
            except Exception:
                log.exception("a live view failed", extra={"view": view.name})
                topic.publish("trouble", b'{"message":"It could not be read"}', is_over=False)
                wait = _MOST_SECONDS_BETWEEN
                continue
            self._publish(topic, view, operation, answer)


async def _is_still_welcome(check: Callable[[], Awaitable[Caller]], operation: Any) -> bool:
    try:
        caller = await check()
    except CarrelError:
        return False
    return bool(operation.scopes <= caller.scopes)

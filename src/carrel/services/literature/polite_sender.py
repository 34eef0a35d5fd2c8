"""Sends a request when its turn has come, again where that may help, and learns from answers."""

from __future__ import annotations

import asyncio
import random
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Mapping
from contextlib import asynccontextmanager, contextmanager
from contextvars import ContextVar

from carrel.services.fetching import FetchLimits, HttpAnswer
from carrel.services.literature.announced_limits import read_announced
from carrel.services.literature.answer_checks import judge_answer
from carrel.services.literature.errors import (
    RateLimitedError,
    ServiceFailedError,
    ServicePausedError,
    ServiceTimeoutError,
    WorkLookupError,
)
from carrel.services.literature.governor import Busy, Governor, GovernorTurn, Outcome, Refusal
from carrel.services.literature.outgoing import Outgoing, Wire
from carrel.services.literature.service_limits import ServiceLimits, Slots
from carrel.services.retry import RetryPolicy, parse_retry_after

_RETRIED_STATUSES = frozenset({408, 425, 429, 502, 503, 504})
_LONGEST_RETRY_AFTER_SECONDS = 86_400.0
_BUSY_LOOK_SECONDS = 0.1
_LEASE_MARGIN_SECONDS = 5.0
# Until when whoever asks waits, on the clock of the sender.
_deadline: ContextVar[float | None] = ContextVar("literature_deadline", default=None)


class PoliteSender:
    """Sends within the limits of hosts and the deadline of whoever asks."""

    def __init__(
        self,
        wire: Wire,
        governor: Governor,
        *,
        retries: RetryPolicy,
        limits: FetchLimits,
        deadline_seconds: float,
        sleep: Callable[[float], Awaitable[None]],
        clock: Callable[[], float],
        now: Callable[[], float],
        rng: random.Random,
    ) -> None:
        self._wire = wire
        self._governor = governor
        self._retries = retries
        self._limits = limits
        self._deadline_seconds = deadline_seconds
        self._sleep = sleep
        self._clock = clock
        self._now = now
        self._random = rng
        self._slots: dict[str, Slots] = {}

    async def close(self) -> None:
        await self._wire.close()
        self._governor.close()

    @contextmanager
    def deadline(self, seconds: float) -> Iterator[None]:
        """Everything sent inside, also by tasks made there, ends within this."""
        token = _deadline.set(self._clock() + seconds)
        try:
            yield
        finally:
            _deadline.reset(token)

    @asynccontextmanager
    async def turn(self, request: Outgoing, limits: ServiceLimits) -> AsyncIterator[None]:
        """A turn for what is not sent here; raises where asking is refused."""
        async with self._slots_of(request, limits):
            turn = await self._wait_for_turn(request, limits, self._end_time())
            result = Outcome()
            try:
                if turn.wait_seconds:
                    await self._sleep(turn.wait_seconds)
                yield
                result = Outcome(True)
            finally:
                await self._give_back(request, turn, result)

    def _slots_of(self, request: Outgoing, limits: ServiceLimits) -> Slots:
        return self._slots.setdefault(request.lane, Slots(limits.max_concurrent))

    async def send(
        self, request: Outgoing, limits: ServiceLimits, validators: Mapping[str, str]
    ) -> HttpAnswer:
        """The service's final answer after at most so many tries, within the deadline."""
        slots = self._slots_of(request, limits)
        failure: WorkLookupError | None = None
        async with slots:
            # Many questions of one process wait here for each other, as long as it takes.
            ends_at = self._end_time()
            for attempt in range(1, self._retries.max_attempts + 1):
                outcome = await self._take_turn(request, limits, slots, validators, ends_at)
                if isinstance(outcome, HttpAnswer):
                    return outcome
                failure = outcome
                if attempt >= _allowed_attempts(failure, self._retries.max_attempts):
                    break
                wait = self._backoff_seconds(attempt, failure)
                if wait is None or wait >= ends_at - self._clock():
                    break
                await self._sleep(wait)
        raise failure or ServiceFailedError(request.service, "no attempt was allowed")

    async def _take_turn(
        self,
        request: Outgoing,
        limits: ServiceLimits,
        slots: Slots,
        validators: Mapping[str, str],
        ends_at: float,
    ) -> HttpAnswer | WorkLookupError:
        """One attempt when its turn has come; raises where asking is refused."""
        turn = await self._wait_for_turn(request, limits, ends_at)
        slots.resize(turn.limits.max_concurrent)
        result = Outcome()
        try:
            if turn.wait_seconds:
                await self._sleep(turn.wait_seconds)
            answer = await self._fetch(request, validators, ends_at - self._clock())
            if isinstance(answer, WorkLookupError):
                is_connected = answer.failure != "unreachable"
                result = Outcome(failure=answer.reason, is_connected=is_connected)
                return answer
            failure, result = self._judge(request, answer, turn)
            return answer if failure is None else failure
        finally:
            await self._give_back(request, turn, result)

    async def _give_back(self, request: Outgoing, turn: GovernorTurn, result: Outcome) -> None:
        await asyncio.shield(
            asyncio.to_thread(self._governor.give_back, request.lane, turn, result)
        )

    def _end_time(self) -> float:
        ends_at = self._clock() + self._deadline_seconds
        outer = _deadline.get()
        return ends_at if outer is None else min(ends_at, outer)

    async def _wait_for_turn(
        self, request: Outgoing, limits: ServiceLimits, ends_at: float
    ) -> GovernorTurn:
        while True:
            left = ends_at - self._clock()
            found = await self._take(request, limits, max(0.0, left))
            if isinstance(found, GovernorTurn):
                return found
            if isinstance(found, Refusal):
                raise ServicePausedError(request.service, found.reason, found.seconds, found.kind)
            if left <= 0:
                cause = "as many requests are under way as it allows"
                raise RateLimitedError(request.service, cause)
            # Other processes have all slots, and nothing tells us when they end.
            await self._sleep(_BUSY_LOOK_SECONDS * self._random.uniform(0.5, 1.5))

    async def _take(
        self, request: Outgoing, limits: ServiceLimits, left_seconds: float
    ) -> GovernorTurn | Busy | Refusal:
        """What the governor says; a turn that comes after whoever asked has gone is given back."""
        lease = min(left_seconds, self._limits.total_seconds) + _LEASE_MARGIN_SECONDS
        taking = asyncio.ensure_future(
            asyncio.to_thread(
                self._governor.take,
                request.lane,
                limits,
                patience_seconds=left_seconds,
                lease_seconds=lease,
            )
        )
        try:
            return await asyncio.shield(taking)
        except asyncio.CancelledError:
            taking.add_done_callback(lambda taken: self._return_unused(request, taken))
            raise

    def _return_unused(
        self, request: Outgoing, taken: asyncio.Future[GovernorTurn | Busy | Refusal]
    ) -> None:
        if not taken.cancelled() and taken.exception() is None:
            turn = taken.result()
            if isinstance(turn, GovernorTurn):
                self._governor.give_back(request.lane, turn, Outcome())

    async def _fetch(
        self, request: Outgoing, validators: Mapping[str, str], left_seconds: float
    ) -> HttpAnswer | WorkLookupError:
        try:
            async with asyncio.timeout(max(0.0, left_seconds)):
                return await self._wire.send(request, validators)
        except TimeoutError:
            return ServiceTimeoutError(request.service, "no answer within the time there was")
        except WorkLookupError as error:
            return error

    def _judge(
        self, request: Outgoing, answer: HttpAnswer, turn: GovernorTurn
    ) -> tuple[WorkLookupError | None, Outcome]:
        """Whether the answer is one, and what the governor should know of it."""
        now = self._now()
        retry_after = parse_retry_after(answer.headers.get("retry-after"), now)
        if retry_after is not None:
            retry_after = min(retry_after, _LONGEST_RETRY_AFTER_SECONDS)
        announced = read_announced(request.service, answer.headers, turn.limits, now)
        news = announced.limits if announced.limits != turn.limits else None
        failure = judge_answer(
            request.service,
            answer,
            request.accept,
            has_key=request.has_key,
            retry_after_seconds=retry_after,
        )
        if failure is None:
            return None, Outcome(True, announced=news, hold_seconds=announced.hold_seconds)
        hold, pause = announced.hold_seconds, 0.0
        if retry_after is not None and failure.failure != "budget_spent":
            is_short = retry_after <= self._retries.max_backoff_seconds
            hold, pause = (retry_after, 0.0) if is_short else (hold, retry_after)
        elif answer.status == 429 and failure.failure == "rate_limited":
            hold = self._retries.backoff_seconds(2)
        # Says something about this one question or key, and nothing about the service's health.
        is_neutral = failure.failure in {"key_refused", "budget_spent", "unreadable"}
        told = "" if is_neutral else failure.reason
        return failure, Outcome(
            failure=told, announced=news, hold_seconds=hold, pause_seconds=pause
        )

    def _backoff_seconds(self, attempt: int, failure: WorkLookupError) -> float | None:
        """How long to wait before the next attempt, with full jitter; None: do not try again."""
        after = failure.retry_after_seconds
        if after is not None:
            return after if after <= self._retries.max_backoff_seconds else None
        longest = self._retries.backoff_seconds(attempt)
        if failure.failure == "rate_limited":
            # Whoever sends no Retry-After wants more than half a second of peace.
            longest = self._retries.backoff_seconds(attempt + 2)
            return self._random.uniform(longest / 2, longest)
        return self._random.uniform(0.0, longest)


def _allowed_attempts(failure: WorkLookupError, most: int) -> int:
    """How often a request that failed like this is sent in all."""
    status = getattr(failure, "status", None)
    if failure.failure in {"unreachable", "timed_out"}:
        return min(3, most)
    if failure.is_final or failure.failure in {"key_refused", "budget_spent"}:
        return 1
    if status is None:
        return min(2, most)
    if failure.failure == "rate_limited" and failure.retry_after_seconds is None:
        return min(2, most)
    if status in _RETRIED_STATUSES:
        return most
    # What rarely goes away by itself is asked once more and not oftener.
    is_once_more = status == 500 or failure.failure == "rate_limited"
    return min(2, most) if is_once_more else 1

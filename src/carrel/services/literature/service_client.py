"""Asks a literature service over HTTP: in turn, with retries, a cache, and modes to repeat it."""

from __future__ import annotations

import asyncio
import json
import random
import time
from collections.abc import Awaitable, Callable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from types import TracebackType
from typing import Any, Literal, Self

from carrel.rooms.literature.errors import LiteratureServiceError
from carrel.rooms.literature.ports import SentRequest
from carrel.services.fetching import FetchLimits, HttpAnswer, Redirects
from carrel.services.literature.announced_limits import read_announced, read_cost, service_key
from carrel.services.literature.answer_checks import judge_answer
from carrel.services.literature.answers import AnswerKind, ServiceAnswer
from carrel.services.literature.cache import AnswerCache, CachedAnswer
from carrel.services.literature.errors import (
    NetworkOffError,
    NotRecordedError,
    RateLimitedError,
    ReplayedFailureError,
    ServiceFailedError,
    ServicePausedError,
    ServiceTimeoutError,
    UnreadableAnswerError,
    WorkLookupError,
    WorkNotFoundError,
)
from carrel.services.literature.governor import Busy, Governor, Outcome, Refusal, Turn
from carrel.services.literature.outgoing import Outgoing, Wire, read_time, show_time
from carrel.services.literature.recordings import Exchange, Recordings
from carrel.services.literature.service_limits import BreakerPolicy, ServiceLimits, Slots
from carrel.services.retry import RetryPolicy, parse_retry_after

Mode = Literal["live", "record", "replay", "offline"]
RETRIES = RetryPolicy(max_attempts=4, initial_backoff_seconds=0.5, max_backoff_seconds=20.0)
LIMITS = FetchLimits(
    total_seconds=45.0,
    max_bytes=20_000_000,
    read_seconds=15.0,
    connect_seconds=4.0,
    redirects=Redirects.ANY,
    max_redirects=10,
)
DEADLINE_SECONDS = 60.0
_KEPT_STATUSES = frozenset({200, 404, 410})
_NEGATIVE_STATUSES = frozenset({404, 410})
_RETRIED_STATUSES = frozenset({408, 425, 429, 502, 503, 504})
# What rarely goes away by itself: asked once more and not oftener.
_RETRIED_ONCE = frozenset({403, 500})
_LONGEST_RETRY_AFTER_SECONDS = 86_400.0
_BUSY_LOOK_SECONDS = 0.1
_LEASE_MARGIN_SECONDS = 5.0

_deadline: ContextVar[float | None] = ContextVar("literature_deadline", default=None)


class ServiceClient:
    """The one client of literature services; `contact` is a mail address.

    `network=False` lets nothing leave. Time and randomness are those given.
    """

    def __init__(
        self,
        contact: str = "",
        cache: AnswerCache | None = None,
        *,
        mode: Mode = "live",
        recordings: Recordings | None = None,
        governor: Governor | None = None,
        network: bool = True,
        proxy: str | None = None,
        retries: RetryPolicy = RETRIES,
        limits: FetchLimits = LIMITS,
        breaker_policy: BreakerPolicy | None = None,
        deadline_seconds: float = DEADLINE_SECONDS,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
        clock: Callable[[], float] = time.monotonic,
        now: Callable[[], float] = time.time,
        rng: random.Random | None = None,
    ) -> None:
        self.contact = contact
        self.mode = mode
        self._cache = cache
        self._recordings = recordings
        self._network = network
        self._retries = retries
        self._limits = limits
        self._deadline_seconds = deadline_seconds
        self._sleep = sleep
        self._clock = clock
        self._now = now
        # No secret depends on it.
        self._random = rng or random.Random()  # noqa: S311
        self._governor = governor or Governor(None, clock, breaker_policy or BreakerPolicy())
        self._slots: dict[str, Slots] = {}
        self._wire = Wire(contact, limits, proxy)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        await self.close()

    @property
    def is_forbidden(self) -> bool:
        """Whether settings let nothing leave, and no mode answers without it."""
        return not self._network and self.mode in {"live", "record"}

    async def close(self) -> None:
        await self._wire.close()
        self._governor.close()

    @contextmanager
    def deadline(self, seconds: float) -> Iterator[None]:
        """Everything asked inside, also by tasks made there, is answered or fails within this."""
        token = _deadline.set(self._clock() + seconds)
        try:
            yield
        finally:
            _deadline.reset(token)

    async def ask(
        self,
        service: str,
        address: str,
        *,
        params: Mapping[str, str] | None = None,
        accept: str = "*/*",
        limits: ServiceLimits | None = None,
        json_body: object = None,
        form_body: Mapping[str, str] | None = None,
        kind: AnswerKind = AnswerKind.RECORD,
        secret_params: Mapping[str, str] | None = None,
        secret_headers: Mapping[str, str] | None = None,
    ) -> ServiceAnswer:
        """The answer to a GET, or to a POST of `json_body` or `form_body`.

        Returns 200 with a whole body of the asked kind, or a status that is about the question,
        such as 400 or 404. Raises WorkLookupError, whose `failure` says why there is no answer.
        `secret_params` and `secret_headers` (keys, the contact address) go to the service and
        nowhere else. `limits` are those that hold while no answer announces others.
        """
        request = Outgoing.build(
            service,
            address,
            params=params,
            accept=accept,
            json_body=json_body,
            form_body=form_body,
            secret_params=secret_params,
            secret_headers=secret_headers,
            contact=self.contact,
        )
        if self.mode == "replay":
            return await self._replay(request)
        if self.mode == "offline":
            return await self._ask_cache(request)
        if self.is_forbidden:
            raise NetworkOffError(service, "Settings forbid the network (network = false)")
        cached = None
        if self._cache is not None and kind is not AnswerKind.PROBE:
            cached = await asyncio.to_thread(self._cache.get, request.digest)
        if cached is not None and self._is_fresh(cached, kind):
            return await self._give_cached(request, cached)
        try:
            answer = await self._ask_service(request, limits or ServiceLimits(), cached)
        except LiteratureServiceError as error:
            await self._record(request, _failed_exchange(request, error, self._now()))
            raise
        if cached is not None and answer.status == 304:
            await self._keep(request, cached.answer, kind, cached.answered_at)
            return await self._give_cached(request, cached)
        await self._keep(request, answer, kind)
        await self._record(request, request.exchange(answer, show_time(self._now())))
        return self._service_answer(request, answer, show_time(self._now()))

    async def _replay(self, request: Outgoing) -> ServiceAnswer:
        """The recorded answer, judged as if it came now."""
        found = None
        if self._recordings is not None:
            found = await asyncio.to_thread(self._recordings.find, request.key)
        if found is None:
            raise NotRecordedError(request.service, request.method, request.shown_url)
        if found.failure:
            raise ReplayedFailureError(request.service, found.failure, found.reason)
        answer = HttpAnswer(found.status, found.headers, found.body)
        failure = judge_answer(request.service, answer, request.accept, has_key=request.has_key)
        if failure is not None:
            raise failure
        return self._service_answer(request, answer, found.recorded, is_from_cache=True)

    async def _ask_cache(self, request: Outgoing) -> ServiceAnswer:
        found = None
        if self._cache is not None:
            found = await asyncio.to_thread(self._cache.get, request.digest)
        if found is None:
            cause = f"Off line no earlier answer to {request.method} {request.shown_url} is kept"
            raise NetworkOffError(request.service, cause)
        return await self._give_cached(request, found)

    async def _give_cached(self, request: Outgoing, cached: CachedAnswer) -> ServiceAnswer:
        answered_at = show_time(cached.answered_at)
        await self._record(request, request.exchange(cached.answer, answered_at))
        return self._service_answer(request, cached.answer, answered_at, is_from_cache=True)

    def _is_fresh(self, cached: CachedAnswer, kind: AnswerKind) -> bool:
        is_negative = cached.answer.status in _NEGATIVE_STATUSES
        most = min(
            kind.max_age_seconds,
            AnswerKind.NEGATIVE.max_age_seconds if is_negative else kind.max_age_seconds,
        )
        return 0 <= self._now() - cached.confirmed_at <= most

    async def _keep(
        self,
        request: Outgoing,
        answer: HttpAnswer,
        kind: AnswerKind,
        answered_at: float | None = None,
    ) -> None:
        is_kept = answer.status in _KEPT_STATUSES and kind is not AnswerKind.PROBE
        if self._cache is not None and is_kept:
            await asyncio.to_thread(self._cache.put, request.digest, answer, answered_at)

    async def _record(self, request: Outgoing, exchange: Exchange) -> None:
        if self.mode == "record" and self._recordings is not None:
            service = service_key(request.service)
            await asyncio.to_thread(self._recordings.save, service, exchange)

    def _service_answer(
        self,
        request: Outgoing,
        answer: HttpAnswer,
        answered_at: str,
        *,
        is_from_cache: bool = False,
    ) -> ServiceAnswer:
        sent = SentRequest(
            request.method,
            request.shown_url,
            is_from_cache=is_from_cache,
            answered_at=read_time(answered_at),
        )
        cost = read_cost(request.service, answer.headers, self._now())
        return ServiceAnswer(answer.status, answer.headers, answer.body, sent, cost)

    async def _ask_service(
        self, request: Outgoing, limits: ServiceLimits, cached: CachedAnswer | None
    ) -> HttpAnswer:
        """The service's final answer after at most so many tries, within the deadline."""
        ends_at = self._clock() + self._deadline_seconds
        outer = _deadline.get()
        ends_at = ends_at if outer is None else min(ends_at, outer)
        slots = self._slots.setdefault(request.lane, Slots(limits.max_concurrent))
        failure: WorkLookupError | None = None
        async with slots:
            for attempt in range(1, self._retries.max_attempts + 1):
                outcome = await self._take_turn(request, limits, slots, cached, ends_at)
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
        cached: CachedAnswer | None,
        ends_at: float,
    ) -> HttpAnswer | WorkLookupError:
        """One attempt when its turn has come; raises where asking is refused."""
        turn = await self._wait_for_turn(request, limits, ends_at)
        slots.resize(turn.limits.max_concurrent)
        result = Outcome()
        try:
            if turn.wait_seconds:
                await self._sleep(turn.wait_seconds)
            answer = await self._fetch(request, cached, ends_at - self._clock())
            if isinstance(answer, WorkLookupError):
                is_connected = answer.failure != "unreachable"
                result = Outcome(failure=answer.reason, is_connected=is_connected)
                return answer
            failure, result = self._judge(request, answer, turn)
            return answer if failure is None else failure
        finally:
            await asyncio.shield(
                asyncio.to_thread(self._governor.give_back, request.lane, turn, result)
            )

    async def _wait_for_turn(
        self, request: Outgoing, limits: ServiceLimits, ends_at: float
    ) -> Turn:
        while True:
            left = ends_at - self._clock()
            found = await asyncio.to_thread(
                self._governor.take,
                request.lane,
                limits,
                patience_seconds=max(0.0, left),
                lease_seconds=max(0.0, min(left, self._limits.total_seconds))
                + _LEASE_MARGIN_SECONDS,
            )
            if isinstance(found, Turn):
                return found
            if isinstance(found, Refusal):
                raise ServicePausedError(request.service, found.reason, found.seconds, found.kind)
            if left <= 0:
                cause = "as many requests are under way as it allows"
                raise RateLimitedError(request.service, cause)
            await self._wait_while_busy(found)

    async def _wait_while_busy(self, _: Busy) -> None:
        """Other processes have all slots, and nothing tells us when they end."""
        await self._sleep(_BUSY_LOOK_SECONDS * self._random.uniform(0.5, 1.5))

    async def _fetch(
        self, request: Outgoing, cached: CachedAnswer | None, left_seconds: float
    ) -> HttpAnswer | WorkLookupError:
        validators = cached.validators if cached is not None else {}
        try:
            async with asyncio.timeout(max(0.0, left_seconds)):
                return await self._wire.send(request, validators)
        except TimeoutError:
            return ServiceTimeoutError(request.service, "no answer within the time there was")
        except WorkLookupError as error:
            return error

    def _judge(
        self, request: Outgoing, answer: HttpAnswer, turn: Turn
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
    is_rate = failure.failure == "rate_limited"
    return min(2, most) if status == 500 or (status in _RETRIED_ONCE and is_rate) else 1


def _failed_exchange(request: Outgoing, error: LiteratureServiceError, now: float) -> Exchange:
    return Exchange(
        request.method,
        request.shown_url,
        0,
        request_body=request.body,
        recorded=show_time(now),
        failure=error.failure,
        reason=error.reason,
    )


def expect_found(service: str, identifier: str, answer: HttpAnswer) -> None:
    """Raises unless the service answered that it has the work."""
    if answer.status in {404, 410}:
        raise WorkNotFoundError(service, identifier)
    if answer.status != 200:
        raise ServiceFailedError(service, f"it answered with status {answer.status}", answer.status)


def json_object(service: str, identifier: str, answer: HttpAnswer) -> dict[str, Any]:
    """The JSON object of an answer that has the work."""
    expect_found(service, identifier, answer)
    try:
        found = json.loads(answer.body)
    except ValueError as error:
        raise UnreadableAnswerError(
            service, f"it is not JSON ({answer.content_type or 'no content type'})"
        ) from error
    if not isinstance(found, dict):
        raise UnreadableAnswerError(service, "it is not an object")
    return found

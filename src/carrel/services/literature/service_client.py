"""Asks a literature service over HTTP: in turn, with retries, a cache, and modes to repeat it."""

from __future__ import annotations

import asyncio
import random
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import AbstractContextManager, asynccontextmanager
from types import TracebackType
from typing import Any, Literal, Self

from carrel.core.errors import NotConfiguredError
from carrel.rooms.literature.errors import LiteratureServiceError
from carrel.rooms.literature.ports import SentRequest
from carrel.services.fetching import FetchLimits, HttpAnswer, Redirects
from carrel.services.literature.announced_limits import read_cost, service_key
from carrel.services.literature.answer_checks import is_worth_keeping, judge_answer
from carrel.services.literature.answers import AnswerKind, ServiceAnswer
from carrel.services.literature.cache import AnswerCache, CachedAnswer
from carrel.services.literature.errors import (
    NetworkOffError,
    NotRecordedError,
    ReplayedFailureError,
    ServiceFailedError,
    UnreadableAnswerError,
    WorkNotFoundError,
)
from carrel.services.literature.governor import Governor
from carrel.services.literature.lenient_json import decode_json
from carrel.services.literature.outgoing import (
    Outgoing,
    Wire,
    build_request,
    read_time,
    refuse_climbing,
    show_time,
)
from carrel.services.literature.polite_sender import PoliteSender
from carrel.services.literature.recordings import Exchange, Recordings
from carrel.services.literature.service_limits import BreakerPolicy, ServiceLimits
from carrel.services.retry import RetryPolicy

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
        # Told of every answer that a service gives, with the name that it was asked under.
        self.observer: Callable[[str, HttpAnswer], None] | None = None
        self._cache = cache
        self._recordings = recordings
        self._network = network
        self._now = now
        self._sender = PoliteSender(
            Wire(contact, limits, proxy),
            governor or Governor(None, clock, breaker_policy or BreakerPolicy()),
            retries=retries,
            limits=limits,
            deadline_seconds=deadline_seconds,
            sleep=sleep,
            clock=clock,
            now=now,
            # No secret depends on it.
            rng=rng or random.Random(),  # noqa: S311
        )

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
        await self._sender.close()

    def deadline(self, seconds: float) -> AbstractContextManager[None]:
        """Everything asked inside, also by tasks made there, is answered or fails within this."""
        return self._sender.deadline(seconds)

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
        refuse_climbing(service, address)
        request = build_request(
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
            validators = cached.validators if cached is not None else {}
            answer = await self._sender.send(request, limits or ServiceLimits(), validators)
        except LiteratureServiceError as error:
            await self._record(request, _failed_exchange(request, error, self._now()))
            raise
        if self.observer is not None:
            self.observer(service, answer)
        if cached is not None and answer.status == 304:
            await self._keep(request, cached.answer, kind, cached.answered_at)
            return await self._give_cached(request, cached)
        now = self._now()
        await self._keep(request, answer, kind, now)
        await self._record(request, request.exchange(answer, show_time(now)))
        return self._service_answer(request, answer, show_time(now))

    @asynccontextmanager
    async def turn(
        self, service: str, address: str, limits: ServiceLimits | None = None
    ) -> AsyncIterator[None]:
        """A turn at a service's host for a download; raises WorkLookupError as `ask` does."""
        if self.is_forbidden or self.mode in {"replay", "offline"}:
            raise NetworkOffError(service, "Settings let nothing leave, so nothing is downloaded")
        async with self._sender.turn(build_request(service, address), limits or ServiceLimits()):
            yield

    async def _replay(self, request: Outgoing) -> ServiceAnswer:
        """The recorded answer, judged as if it came now."""
        found = None
        if self._recordings is not None:
            found = await asyncio.to_thread(self._recordings.find, request.key)
        if found is None:
            raise NotRecordedError(request.service, request.method, request.shown_url)
        if found.failure:
            raise ReplayedFailureError(
                request.service, found.failure, found.reason, found.retry_after_seconds
            )
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
        if self._cache is not None and is_kept and is_worth_keeping(answer):
            await asyncio.to_thread(self._cache.put, request.digest, answer, answered_at)

    async def _record(self, request: Outgoing, exchange: Exchange) -> None:
        if self.mode == "record" and self._recordings is not None:
            service = service_key(request.service)
            try:
                await asyncio.to_thread(self._recordings.save, service, exchange)
            except OSError as error:
                raise NotConfiguredError(
                    f"Recordings cannot be written to {self._recordings.folder}",
                    next_step="Name another folder with literature.recordings.",
                ) from error

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
            is_recorded=self.mode == "replay",
        )
        cost = read_cost(request.service, answer.headers, self._now())
        return ServiceAnswer(answer.status, answer.headers, answer.body, sent, cost)


def _failed_exchange(request: Outgoing, error: LiteratureServiceError, now: float) -> Exchange:
    return Exchange(
        request.method,
        request.shown_url,
        0,
        request_body=request.body,
        recorded=show_time(now),
        failure=error.failure,
        reason=error.reason,
        retry_after_seconds=error.retry_after_seconds,
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
        found = decode_json(answer.body)
    except (ValueError, RecursionError) as error:
        raise UnreadableAnswerError(
            service, f"it is not JSON ({answer.content_type or 'no content type'})"
        ) from error
    if not isinstance(found, dict):
        raise UnreadableAnswerError(service, "it is not an object")
    return found

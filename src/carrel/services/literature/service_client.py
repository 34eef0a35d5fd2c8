"""Asks a literature service over HTTP: within its limits, with retries, a breaker and a cache."""

import asyncio
import hashlib
import json
import os
import tempfile
import time
from collections.abc import Awaitable, Callable, Mapping
from datetime import UTC, datetime
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import httpx2

from carrel import __version__
from carrel.core.secrets import mask_secrets
from carrel.rooms.literature.ports import SentRequest, ServiceCost
from carrel.services.fetching import (
    AnswerRefusedError,
    ConnectionFailedError,
    Fetcher,
    FetchLimits,
    FetchTimeoutError,
    HttpAnswer,
    Redirects,
)
from carrel.services.literature.answers import AnswerKind, ServiceAnswer
from carrel.services.literature.errors import (
    NetworkUnavailableError,
    ServiceFailedError,
    ServicePausedError,
    UnreadableAnswerError,
    WorkNotFoundError,
)
from carrel.services.literature.service_limits import (
    BreakerPolicy,
    CircuitBreaker,
    ServiceLimits,
    Slots,
    parse_announced_limits,
)
from carrel.services.retry import RetryPolicy, parse_retry_after

_RETRIED_STATUSES = frozenset({408, 425, 429, 500, 502, 503, 504})
_CACHED_STATUSES = frozenset({200, 404, 410})
# A Retry-After beyond the longest wait is not waited for: the service is left alone for that time.
RETRIES = RetryPolicy(max_attempts=3, initial_backoff_seconds=0.5, max_backoff_seconds=20.0)
LIMITS = FetchLimits(
    total_seconds=45.0,
    max_bytes=20_000_000,
    read_seconds=15.0,
    connect_seconds=4.0,
    redirects=Redirects.ANY,
    max_redirects=10,
)


class FileCache:
    """Cached answers in a folder, one file each; an unreadable file counts as absent."""

    def __init__(
        self,
        folder: Path,
        lifetime_seconds: float = 30 * 86_400,
        clock: Callable[[], float] = time.time,
    ) -> None:
        self._folder = folder
        self._lifetime_seconds = lifetime_seconds
        self._clock = clock

    def get(self, address: str) -> HttpAnswer | None:
        try:
            head, _, body = self._path(address).read_bytes().partition(b"\n")
            facts = json.loads(head)
            if facts["address"] != address or self._clock() - facts["at"] > self._lifetime_seconds:
                return None
            return HttpAnswer(facts["status"], {"content-type": facts["content_type"]}, body)
        except (OSError, ValueError, KeyError, TypeError):
            return None

    def put(self, address: str, answer: HttpAnswer) -> None:
        self._folder.mkdir(parents=True, exist_ok=True)
        facts = {
            "address": address,
            "at": self._clock(),
            "status": answer.status,
            "content_type": answer.content_type,
        }
        handle, name = tempfile.mkstemp(dir=self._folder, suffix=".part")
        with os.fdopen(handle, "wb") as file:
            file.write(json.dumps(facts).encode() + b"\n" + answer.body)
        Path(name).replace(self._path(address))

    def _path(self, address: str) -> Path:
        return self._folder / f"{hashlib.sha256(address.encode()).hexdigest()}.answer"


class _Service:
    """The state of one service in this process."""

    def __init__(self, limits: ServiceLimits, breaker: CircuitBreaker) -> None:
        self.limits = limits
        self.slots = Slots(limits.max_concurrent)
        self.breaker = breaker
        self.next_at = 0.0

    def follow(self, limits: ServiceLimits) -> None:
        if limits != self.limits:
            self.limits = limits
            self.slots.resize(limits.max_concurrent)


class ServiceClient:
    """HTTP client of lookup services: cache, retries, limits; `contact` is a mail address."""

    def __init__(
        self,
        contact: str = "",
        cache: FileCache | None = None,
        *,
        retries: RetryPolicy = RETRIES,
        limits: FetchLimits = LIMITS,
        breaker_policy: BreakerPolicy | None = None,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
        clock: Callable[[], float] = time.monotonic,
        now: Callable[[], float] = time.time,
    ) -> None:
        self.contact = contact
        self._cache = cache
        self._retries = retries
        self._breaker_policy = breaker_policy or BreakerPolicy()
        self._sleep = sleep
        self._clock = clock
        self._now = now
        self._services: dict[str, _Service] = {}
        user_agent = f"Carrel/{__version__}" + (f" (mailto:{contact})" if contact else "")
        self._fetcher = Fetcher(limits, headers={"User-Agent": user_agent})

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        await self.close()

    async def close(self) -> None:
        await self._fetcher.close()

    async def ask(
        self,
        service: str,
        address: str,
        *,
        params: Mapping[str, str] | None = None,
        accept: str = "*/*",
        limits: ServiceLimits | None = None,
        json_body: object = None,
        kind: AnswerKind = AnswerKind.RECORD,
        secret_params: Mapping[str, str] | None = None,
        secret_headers: Mapping[str, str] | None = None,
    ) -> ServiceAnswer:
        """The answer to a GET, or to a POST of `json_body`, from the cache or the service.

        Returns 200 with a whole body of the asked kind, or a status that is final, such as 400 or
        404. Raises WorkLookupError, whose `failure` says why. `secret_params` and `secret_headers`
        (keys, the contact address) go to the service and nowhere else. `limits` must be the same
        at every call for a service.
        """
        shown = str(httpx2.URL(address).copy_merge_params(dict(params or {})))
        url = str(httpx2.URL(shown).copy_merge_params(dict(secret_params or {})))
        method = "GET" if json_body is None else "POST"
        # The cache is a file, and an address may hold a key.
        key = f"{accept} {method} {mask_secrets(shown)} {json.dumps(json_body, sort_keys=True)}"
        if self._cache is not None:
            cached = await asyncio.to_thread(self._cache.get, key)
            if cached is not None:
                return _service_answer(cached, SentRequest(method, shown, is_from_cache=True))
        state = self._services.get(service)
        if state is None:
            breaker = CircuitBreaker(self._breaker_policy, self._clock)
            state = self._services[service] = _Service(limits or ServiceLimits(), breaker)
        async with state.slots:
            answer = await self._ask_with_retries(
                service, state, url, {"Accept": accept, **(secret_headers or {})}, json_body
            )
        is_kept = answer.status in _CACHED_STATUSES and kind is not AnswerKind.PROBE
        if self._cache is not None and is_kept:
            await asyncio.to_thread(self._cache.put, key, answer)
        answered_at = datetime.fromtimestamp(self._now(), UTC).isoformat(timespec="seconds")
        return _service_answer(answer, SentRequest(method, shown, answered_at=answered_at))

    async def _ask_with_retries(
        self,
        service: str,
        state: _Service,
        url: str,
        headers: Mapping[str, str],
        json_body: object,
    ) -> HttpAnswer:
        retries, breaker = self._retries, state.breaker
        for attempt in range(1, retries.max_attempts + 1):
            paused_seconds = breaker.refused_for_seconds()
            if paused_seconds is not None:
                raise ServicePausedError(service, breaker.reason, paused_seconds)
            try:
                await self._wait_for_turn(state)
                if breaker.is_open:
                    raise ServicePausedError(service, breaker.reason, retries.max_backoff_seconds)
                outcome = await self._attempt(service, state, url, headers, json_body)
            except BaseException:
                breaker.record_abandoned()
                raise
            if isinstance(outcome, HttpAnswer):
                breaker.record_success()
                return outcome
            is_connected = isinstance(outcome, ServiceFailedError)
            breaker.record_failure(str(outcome), is_connected=is_connected)
            retry_after = (
                outcome.retry_after_seconds if isinstance(outcome, ServiceFailedError) else None
            )
            is_too_long = retry_after is not None and retry_after > retries.max_backoff_seconds
            if is_too_long and retry_after is not None:
                breaker.open_for(retry_after)
            if attempt == retries.max_attempts or is_too_long:
                raise outcome
            await self._sleep(retries.backoff_seconds(attempt, retry_after))
        raise ServiceFailedError(service, "no attempt was allowed")

    async def _attempt(
        self,
        service: str,
        state: _Service,
        url: str,
        headers: Mapping[str, str],
        json_body: object,
    ) -> HttpAnswer | NetworkUnavailableError | ServiceFailedError:
        """An answer, or a failure that may be retried; raises for one that may not."""
        try:
            answer = await (
                self._fetcher.get(url, headers=headers)
                if json_body is None
                else self._fetcher.post_json(url, json_body, headers=headers)
            )
        except ConnectionFailedError as error:
            return NetworkUnavailableError(service, url, str(error))
        except FetchTimeoutError as error:
            return ServiceFailedError(service, str(error))
        except AnswerRefusedError as error:
            raise ServiceFailedError(service, str(error)) from error
        state.follow(parse_announced_limits(answer.headers, state.limits))
        if answer.status not in _RETRIED_STATUSES:
            return answer
        retry_after = parse_retry_after(answer.headers.get("retry-after"), self._now())
        return ServiceFailedError(
            service, f"it answered with status {answer.status}", answer.status, retry_after
        )

    async def _wait_for_turn(self, state: _Service) -> None:
        interval = state.limits.interval_seconds
        if not interval:
            return
        now = self._clock()
        begins_at = max(now, state.next_at)
        state.next_at = begins_at + interval
        if begins_at > now:
            await self._sleep(begins_at - now)


def _service_answer(answer: HttpAnswer, sent: SentRequest) -> ServiceAnswer:
    return ServiceAnswer(answer.status, answer.headers, answer.body, sent, ServiceCost())


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

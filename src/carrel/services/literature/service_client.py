"""Asks a service over HTTP: within its limits, with retries and a circuit breaker, and remembers
what it answered.
"""

import asyncio
import hashlib
import json
import os
import tempfile
import time
from collections import OrderedDict
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from email.utils import parsedate_to_datetime
from pathlib import Path
from types import TracebackType
from typing import Any, Protocol, Self

import httpx2

from carrel import __version__
from carrel.core.secrets import mask_secrets
from carrel.libraries.bibliography.csl_json import read_csl_json
from carrel.libraries.bibliography.imports import CslItem
from carrel.libraries.text.budget import InputTooCostlyError
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
    announced_limits,
)


@dataclass(frozen=True, slots=True)
class Answer:
    """What a service said: its status and the body."""

    status: int
    content_type: str
    body: bytes


class AnswerCache(Protocol):
    """Keeps answers by the address that was asked. Both methods may block for a moment: the client
    calls them in a thread.
    """

    def get(self, address: str) -> Answer | None: ...

    def put(self, address: str, answer: Answer) -> None: ...


class NoCache:
    """Remembers nothing."""

    def get(self, address: str) -> Answer | None:
        return None

    def put(self, address: str, answer: Answer) -> None:
        pass


class MemoryCache:
    """The latest answers, for as long as they live."""

    def __init__(
        self,
        max_answers: int = 1000,
        lifetime_seconds: float = 86_400,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._answers: OrderedDict[str, tuple[float, Answer]] = OrderedDict()
        self._max_answers = max_answers
        self._lifetime_seconds = lifetime_seconds
        self._clock = clock

    def get(self, address: str) -> Answer | None:
        kept = self._answers.get(address)
        if kept is None or self._clock() - kept[0] > self._lifetime_seconds:
            return None
        self._answers.move_to_end(address)
        return kept[1]

    def put(self, address: str, answer: Answer) -> None:
        self._answers[address] = (self._clock(), answer)
        self._answers.move_to_end(address)
        while len(self._answers) > self._max_answers:
            self._answers.popitem(last=False)


class FileCache:
    """Answers in a folder, one file each, that outlive the process. A file that cannot be read is
    as good as none.
    """

    def __init__(
        self,
        folder: Path,
        lifetime_seconds: float = 30 * 86_400,
        clock: Callable[[], float] = time.time,
    ) -> None:
        self._folder = folder
        self._lifetime_seconds = lifetime_seconds
        self._clock = clock

    def get(self, address: str) -> Answer | None:
        try:
            head, _, body = self._path(address).read_bytes().partition(b"\n")
            facts = json.loads(head)
            if facts["address"] != address or self._clock() - facts["at"] > self._lifetime_seconds:
                return None
            return Answer(facts["status"], facts["content_type"], body)
        except (OSError, ValueError, KeyError, TypeError):
            return None

    def put(self, address: str, answer: Answer) -> None:
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


def expect_found(service: str, identifier: str, answer: Answer) -> None:
    """Raises unless the service answered that it has the work."""
    if answer.status in {404, 410}:
        raise WorkNotFoundError(service, identifier)
    if answer.status != 200:
        raise ServiceFailedError(service, f"it answered with status {answer.status}", answer.status)


def json_of(service: str, answer: Answer) -> Any:
    try:
        return json.loads(answer.body)
    except ValueError as error:
        raise UnreadableAnswerError(
            service, f"it is not JSON ({answer.content_type or 'no content type'})"
        ) from error


def csl_item(service: str, answer: Answer) -> CslItem:
    """The one item of a CSL-JSON answer, without the key the service gave it."""
    try:
        imported = read_csl_json(answer.body)
    except InputTooCostlyError as error:
        raise UnreadableAnswerError(service, error.message) from error
    if len(imported.items) != 1:
        raise UnreadableAnswerError(
            service,
            imported.failures[0].reason if imported.failures else "it does not hold one item",
        )
    item = imported.items[0].item
    item.pop("id", None)
    return item


_RETRIED_STATUSES = frozenset({408, 425, 429, 500, 502, 503, 504})
_CACHED_STATUSES = frozenset({200, 404, 410})
_MAX_BODY_BYTES = 20_000_000


@dataclass(frozen=True, slots=True)
class RetryPolicy:
    """Timeouts, retries and contact address for calls to a lookup service. `contact` is whom
    services write to before they
    block; `timeout_seconds` bounds each pause of an answer and `total_seconds` one attempt as a
    whole."""

    contact: str = ""
    timeout_seconds: float = 15.0
    connect_seconds: float = 4.0
    total_seconds: float = 45.0
    max_attempts: int = 3
    initial_backoff_seconds: float = 0.5
    max_backoff_seconds: float = 20.0

    @property
    def user_agent(self) -> str:
        return (
            f"Carrel/{__version__} (mailto:{self.contact})"
            if self.contact
            else f"Carrel/{__version__}"
        )


class _Service:
    """What is remembered of one service in this process."""

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
    """Asks services on behalf of one installation. Open it with `async with`; whoever opens it
    closes it.
    """

    def __init__(
        self,
        policy: RetryPolicy | None = None,
        cache: AnswerCache | None = None,
        *,
        breaker_policy: BreakerPolicy | None = None,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
        clock: Callable[[], float] = time.monotonic,
        now: Callable[[], float] = time.time,
    ) -> None:
        self.policy = policy or RetryPolicy()
        self._cache = cache or NoCache()
        self._breaker_policy = breaker_policy or BreakerPolicy()
        self._sleep = sleep
        self._clock = clock
        self._now = now
        self._services: dict[str, _Service] = {}
        self._http = httpx2.AsyncClient(
            headers={"User-Agent": self.policy.user_agent},
            timeout=httpx2.Timeout(
                self.policy.timeout_seconds, connect=self.policy.connect_seconds
            ),
            follow_redirects=True,
            max_redirects=10,
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

    async def close(self) -> None:
        await self._http.aclose()

    async def ask(
        self,
        service: str,
        address: str,
        *,
        params: Mapping[str, str] | None = None,
        accept: str = "*/*",
        limits: ServiceLimits | None = None,
    ) -> Answer:
        """The answer to a GET, from the cache or the service. `limits` are those of the service and
        the same at every call.
        """
        full = str(httpx2.URL(address, params=dict(params)) if params else httpx2.URL(address))
        # The cache may be a file, and an address may hold a key.
        key = f"{accept} {mask_secrets(full)}"
        known = await asyncio.to_thread(self._cache.get, key)
        if known is not None:
            return known
        state = self._state(service, limits or ServiceLimits())
        async with state.slots:
            answer = await self._with_retries(service, state, full, accept)
        if answer.status in _CACHED_STATUSES:
            await asyncio.to_thread(self._cache.put, key, answer)
        return answer

    def _state(self, service: str, limits: ServiceLimits) -> _Service:
        found = self._services.get(service)
        if found is None:
            breaker = CircuitBreaker(self._breaker_policy, self._clock)
            found = self._services[service] = _Service(limits, breaker)
        return found

    async def _with_retries(
        self, service: str, state: _Service, address: str, accept: str
    ) -> Answer:
        policy = self.policy
        for attempt in range(1, policy.max_attempts + 1):
            paused = state.breaker.refused_for_seconds()
            if paused is not None:
                raise ServicePausedError(service, state.breaker.reason, paused)
            try:
                await self._wait_for_turn(state)
                if state.breaker.is_open:
                    raise ServicePausedError(
                        service, state.breaker.reason, self.policy.max_backoff_seconds
                    )
                outcome = await self._attempt(service, state, address, accept)
            except BaseException:
                state.breaker.record_abandoned()
                raise
            if isinstance(outcome, Answer):
                state.breaker.record_success()
                return outcome
            state.breaker.record_failure(
                str(outcome), is_connected=isinstance(outcome, ServiceFailedError)
            )
            wait = policy.initial_backoff_seconds * 2 ** (attempt - 1)
            if isinstance(outcome, ServiceFailedError) and outcome.retry_after_seconds is not None:
                wait = outcome.retry_after_seconds
                if wait > policy.max_backoff_seconds:
                    state.breaker.open_for(wait)
            if attempt == policy.max_attempts or wait > policy.max_backoff_seconds:
                raise outcome
            await self._sleep(wait)
        raise ServiceFailedError(service, "no attempt was allowed")

    async def _attempt(
        self, service: str, state: _Service, address: str, accept: str
    ) -> Answer | NetworkUnavailableError | ServiceFailedError:
        """The answer of one attempt, or what went wrong where another attempt may help. Raises
        where none would.
        """
        policy = self.policy
        try:
            async with asyncio.timeout(policy.total_seconds):
                answer, headers = await self._once(address, accept)
        except TimeoutError:
            return ServiceFailedError(
                service, f"no whole answer within {policy.total_seconds:g} seconds"
            )
        except (httpx2.ConnectTimeout, httpx2.PoolTimeout):
            return NetworkUnavailableError(service, address, "connecting took too long")
        except httpx2.TimeoutException:
            return ServiceFailedError(
                service, f"no answer within {policy.timeout_seconds:g} seconds"
            )
        except httpx2.TransportError as error:
            return NetworkUnavailableError(service, address, str(error) or type(error).__name__)
        except (httpx2.TooManyRedirects, httpx2.DecodingError, httpx2.InvalidURL) as error:
            raise ServiceFailedError(service, str(error)) from error
        state.follow(announced_limits(headers, state.limits))
        if answer.status in _RETRIED_STATUSES:
            retry_after = self._retry_after(headers.get("retry-after"))
            return ServiceFailedError(
                service, f"it answered with status {answer.status}", answer.status, retry_after
            )
        return answer

    async def _wait_for_turn(self, state: _Service) -> None:
        interval = state.limits.interval_seconds
        if not interval:
            return
        now = self._clock()
        begins_at = max(now, state.next_at)
        state.next_at = begins_at + interval
        if begins_at > now:
            await self._sleep(begins_at - now)

    async def _once(self, address: str, accept: str) -> tuple[Answer, httpx2.Headers]:
        async with self._http.stream("GET", address, headers={"Accept": accept}) as response:
            body = bytearray()
            async for piece in response.aiter_bytes():
                body += piece
                if len(body) > _MAX_BODY_BYTES:
                    raise httpx2.DecodingError(f"the answer is larger than {_MAX_BODY_BYTES} bytes")
            answer = Answer(
                response.status_code, response.headers.get("content-type", ""), bytes(body)
            )
            return answer, response.headers

    def _retry_after(self, text: str | None) -> float | None:
        """Seconds, or the time until a date; None when the service said neither."""
        if not text:
            return None
        if text.strip().isdigit():
            return float(text)
        try:
            return max(0.0, parsedate_to_datetime(text).timestamp() - self._now())
        except ValueError:
            return None

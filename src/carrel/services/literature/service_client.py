"""Asks a service over HTTP: within its limits, with retries and a circuit breaker, and remembers
what it answered.
"""

import asyncio
import time
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from email.utils import parsedate_to_datetime
from types import TracebackType
from typing import Self

import httpx2

from carrel import __version__
from carrel.core.secrets import mask_secrets
from carrel.services.literature.cache import Answer, AnswerCache, NoCache
from carrel.services.literature.circuit_breaker import BreakerPolicy, CircuitBreaker
from carrel.services.literature.errors import (
    NetworkUnavailableError,
    ServiceFailedError,
    ServicePausedError,
)
from carrel.services.literature.service_limits import ServiceLimits, Slots, announced_limits

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

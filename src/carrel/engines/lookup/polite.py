"""One HTTP client for all services: says who asks, waits its turn, tries again when asked to, and remembers."""

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
from carrel.engines.lookup.cache import Answer, AnswerCache, NoCache
from carrel.engines.lookup.errors import NetworkUnavailableError, ServiceFailedError

_TRIED_AGAIN = frozenset({408, 425, 429, 500, 502, 503, 504})
_REMEMBERED = frozenset({200, 404, 410})
_MAX_BODY_BYTES = 20_000_000


@dataclass(frozen=True, slots=True)
class Manners:
    """How to ask. `contact` is the address services write to before they block."""

    contact: str = ""
    timeout_seconds: float = 15.0
    tries: int = 3
    first_wait_seconds: float = 0.5
    longest_wait_seconds: float = 20.0

    @property
    def user_agent(self) -> str:
        return f"Carrel/{__version__} (mailto:{self.contact})" if self.contact else f"Carrel/{__version__}"


class PoliteClient:
    """Asks services on behalf of one installation. Open it with `async with`; whoever opens it closes it."""

    def __init__(
        self,
        manners: Manners | None = None,
        cache: AnswerCache | None = None,
        *,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
        clock: Callable[[], float] = time.monotonic,
        now: Callable[[], float] = time.time,
    ) -> None:
        self.manners = manners or Manners()
        self._cache = cache or NoCache()
        self._sleep = sleep
        self._clock = clock
        self._now = now
        self._turns: dict[str, asyncio.Lock] = {}
        self._asked_at: dict[str, float] = {}
        self._http = httpx2.AsyncClient(
            headers={"User-Agent": self.manners.user_agent},
            timeout=self.manners.timeout_seconds,
            follow_redirects=True,
            max_redirects=10,
        )

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        await self._http.aclose()

    async def ask(
        self,
        service: str,
        address: str,
        *,
        params: Mapping[str, str] | None = None,
        accept: str = "*/*",
        pause_seconds: float = 0.0,
    ) -> Answer:
        """The answer to a GET, from the cache or the service. `pause_seconds` is the least time between two questions to it."""
        full = str(httpx2.URL(address, params=dict(params)) if params else httpx2.URL(address))
        # The cache may be a file, and an address may hold a key.
        key = f"{accept} {mask_secrets(full)}"
        known = await asyncio.to_thread(self._cache.get, key)
        if known is not None:
            return known
        async with self._turns.setdefault(service, asyncio.Lock()) if pause_seconds else _NoTurn():
            answer = await self._with_patience(service, full, accept, pause_seconds)
        if answer.status in _REMEMBERED:
            await asyncio.to_thread(self._cache.put, key, answer)
        return answer

    async def _with_patience(self, service: str, address: str, accept: str, pause_seconds: float) -> Answer:
        manners = self.manners
        problem: NetworkUnavailableError | ServiceFailedError
        for attempt in range(1, manners.tries + 1):
            await self._wait_for_turn(service, pause_seconds)
            wait = manners.first_wait_seconds * 2 ** (attempt - 1)
            try:
                answer, retry_after = await self._once(address, accept)
            except httpx2.TimeoutException as error:
                if isinstance(error, (httpx2.ConnectTimeout, httpx2.PoolTimeout)):
                    problem = NetworkUnavailableError(service, address, "connecting took too long")
                else:
                    problem = ServiceFailedError(service, f"no answer within {manners.timeout_seconds:g} seconds")
            except httpx2.TransportError as error:
                problem = NetworkUnavailableError(service, address, str(error) or type(error).__name__)
            except (httpx2.TooManyRedirects, httpx2.DecodingError) as error:
                raise ServiceFailedError(service, str(error)) from error
            else:
                if answer.status not in _TRIED_AGAIN:
                    return answer
                problem = ServiceFailedError(service, f"it answered with status {answer.status}", answer.status, retry_after)
                if retry_after is not None:
                    wait = retry_after
            if attempt == manners.tries or wait > manners.longest_wait_seconds:
                raise problem
            await self._sleep(wait)
        raise ServiceFailedError(service, "no try was allowed")

    async def _wait_for_turn(self, service: str, pause_seconds: float) -> None:
        if not pause_seconds:
            return
        last = self._asked_at.get(service)
        if last is not None:
            rest = pause_seconds - (self._clock() - last)
            if rest > 0:
                await self._sleep(rest)
        self._asked_at[service] = self._clock()

    async def _once(self, address: str, accept: str) -> tuple[Answer, float | None]:
        async with self._http.stream("GET", address, headers={"Accept": accept}) as response:
            body = bytearray()
            async for piece in response.aiter_bytes():
                body += piece
                if len(body) > _MAX_BODY_BYTES:
                    raise httpx2.DecodingError(f"the answer is larger than {_MAX_BODY_BYTES} bytes")
            answer = Answer(response.status_code, response.headers.get("content-type", ""), bytes(body))
            return answer, self._retry_after(response.headers.get("retry-after"))

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


class _NoTurn:
    """Stands where a lock would, for services that need no queue."""

    async def __aenter__(self) -> None:
        return None

    async def __aexit__(self, *_: object) -> None:
        return None

"""How often: a token bucket per caller."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Protocol

from carrel.core.caller import Caller, Visit
from carrel.core.clock import Clock
from carrel.core.errors import RateLimitExceededError


@dataclass(frozen=True, slots=True)
class Rate:
    """How fast a bucket fills and how much it holds."""

    per_minute: float = 60.0
    burst: float = 10.0


@dataclass(frozen=True, slots=True)
class Allowance:
    """What is left to a caller after a charge, for the headers that say so."""

    limit: int
    remaining: int
    reset_seconds: int


class Limits(Protocol):
    """Charges a caller for a call. Raises RateLimitExceededError when nothing is left; None means unlimited."""

    async def charge(self, caller: Caller, visit: Visit, cost: float) -> Allowance | None: ...


def bucket_key(caller: Caller, visit: Visit) -> str:
    """Whose bucket a call is charged to: the user's, else the client's, else the address's."""
    if caller.user_id != "anonymous":
        return f"user:{caller.user_id}"
    if caller.client_id is not None:
        return f"client:{caller.client_id}"
    return f"address:{visit.address}"


class InProcessLimits:
    """Buckets in this process's memory. A bucket that is full again is forgotten."""

    def __init__(self, rate: Rate, clock: Clock, *, sweep_every: int = 1024) -> None:
        self._rate = rate
        self._clock = clock
        self._sweep_every = sweep_every
        self._charges = 0
        self._buckets: dict[str, tuple[float, float]] = {}

    async def charge(self, caller: Caller, visit: Visit, cost: float) -> Allowance | None:
        if not caller.is_limited:
            return None
        rate = self._rate
        per_second = rate.per_minute / 60.0
        now = self._clock.monotonic()
        self._charges += 1
        if self._charges % self._sweep_every == 0:
            self._forget_full_buckets(now)
        key = bucket_key(caller, visit)
        tokens, since = self._buckets.get(key, (rate.burst, now))
        tokens = min(rate.burst, tokens + (now - since) * per_second)
        if tokens < cost:
            self._buckets[key] = (tokens, now)
            raise RateLimitExceededError(math.ceil((cost - tokens) / per_second))
        tokens -= cost
        self._buckets[key] = (tokens, now)
        return Allowance(int(rate.burst), int(tokens), math.ceil((rate.burst - tokens) / per_second))

    def _forget_full_buckets(self, now: float) -> None:
        rate = self._rate
        full_after = rate.burst / (rate.per_minute / 60.0)
        self._buckets = {key: state for key, state in self._buckets.items() if now - state[1] < full_after}

"""Rate limits: a token bucket per caller, with separate rates for scopes and operations."""

from __future__ import annotations

import logging
import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import NamedTuple, Protocol

from carrel.core.caller import ANONYMOUS_USER, Allowance, Caller, Visit
from carrel.core.clock import Clock
from carrel.core.errors import RateLimitExceededError, UnavailableError
from carrel.core.health import Health
from carrel.core.operation import Entry

log = logging.getLogger("carrel.limits")


@dataclass(frozen=True, slots=True)
class Rate:
    """The refill rate and capacity of a bucket."""

    per_minute: float = 60.0
    burst: float = 10.0

    @property
    def per_second(self) -> float:
        return self.per_minute / 60.0


class TakeResult(NamedTuple):
    """Whether the bucket held enough, and its tokens now."""

    is_granted: bool
    tokens: float


class Buckets(Protocol):
    """Stores buckets; `take` is atomic, and a negative `cost` refunds."""

    async def take(self, key: str, cost: float, rate: Rate) -> TakeResult: ...


class InProcessBuckets:
    """Buckets in this process's memory. A bucket that is full again is forgotten."""

    def __init__(self, clock: Clock, *, sweep_every: int = 1024) -> None:
        self._clock = clock
        self._sweep_every = sweep_every
        self._until_sweep = sweep_every
        self._buckets: dict[str, tuple[float, float, float]] = {}

    def __len__(self) -> int:
        return len(self._buckets)

    async def take(self, key: str, cost: float, rate: Rate) -> TakeResult:
        now = self._clock.monotonic()
        self._until_sweep -= 1
        if self._until_sweep <= 0:
            self._until_sweep = self._sweep_every
            self._buckets = {name: state for name, state in self._buckets.items() if now < state[2]}
        per_second = rate.per_minute / 60.0
        burst = rate.burst
        state = self._buckets.get(key)
        tokens = burst if state is None else min(burst, state[0] + (now - state[1]) * per_second)
        is_granted = tokens >= cost
        if is_granted:
            tokens -= cost
        self._buckets[key] = (tokens, now, now + (burst - tokens) / per_second)
        return TakeResult(is_granted, tokens)


class FallbackBuckets:
    """Shared buckets, and this process's own while those cannot be reached."""

    def __init__(self, shared: Buckets, clock: Clock) -> None:
        self._shared = shared
        self._own = InProcessBuckets(clock)

    async def take(self, key: str, cost: float, rate: Rate) -> TakeResult:
        try:
            return await self._shared.take(key, cost, rate)
        except UnavailableError as error:
            log.error(
                "shared buckets cannot be reached, using this process's own",
                extra={"reason": error.message},
            )
            return await self._own.take(key, cost, rate)


class Limits(Protocol):
    """Charges a caller and adds the receipt to the visit; raises RateLimitExceededError.

    `check` charges nothing, and raises when the common bucket does not hold a single call.
    """

    async def charge(self, caller: Caller, visit: Visit, entry: Entry) -> None: ...

    async def check(self, caller: Caller, visit: Visit) -> None: ...


class NoLimits:
    """Charges nobody: for the one local user."""

    async def charge(self, caller: Caller, visit: Visit, entry: Entry) -> None:
        return None

    async def check(self, caller: Caller, visit: Visit) -> None:
        return None


def bucket_key(caller: Caller, visit: Visit) -> str:
    """The bucket of a call: the user's, else the client's, else the address's."""
    if caller.user_id != ANONYMOUS_USER:
        return f"user:{caller.user_id}"
    if caller.client_id is not None:
        return f"client:{caller.client_id}"
    return f"address:{visit.address_group}"


class BucketLimits:
    """Charges buckets; `rates` and `costs` are by operation name or scope."""

    def __init__(
        self,
        buckets: Buckets,
        clock: Clock,
        rate: Rate,
        *,
        rates: Mapping[str, Rate] | None = None,
        costs: Mapping[str, float] | None = None,
    ) -> None:
        self._buckets = FallbackBuckets(buckets, clock)
        self._rate = rate
        self._rates = dict(rates or {})
        self._costs = dict(costs or {})
        self._charges: dict[int, tuple[Entry, str, Rate, float]] = {}

    async def charge(self, caller: Caller, visit: Visit, entry: Entry) -> None:
        if not caller.is_limited:
            return
        found = self._charges.get(id(entry))
        if found is None:
            found = self._charges[id(entry)] = (entry, *self._price(entry))
        _, suffix, rate, cost = found
        if cost <= 0:
            return
        taken = await self._buckets.take(bucket_key(caller, visit) + suffix, cost, rate)
        reset = math.ceil((rate.burst - taken.tokens) / rate.per_second)
        visit.receipts.append(Allowance(int(rate.burst), int(taken.tokens), reset))
        if not taken.is_granted:
            raise RateLimitExceededError(math.ceil((cost - taken.tokens) / rate.per_second))

    async def check(self, caller: Caller, visit: Visit) -> None:
        if not caller.is_limited:
            return
        taken = await self._buckets.take(bucket_key(caller, visit), 0.0, self._rate)
        if taken.tokens < 1.0:
            raise RateLimitExceededError(math.ceil((1.0 - taken.tokens) / self._rate.per_second))

    def _price(self, entry: Entry) -> tuple[str, Rate, float]:
        names = (entry.name, *sorted(entry.scopes))
        own = next((name for name in names if name in self._rates), None)
        rate = self._rate if own is None else self._rates[own]
        cost = next((self._costs[name] for name in names if name in self._costs), entry.cost)
        return "" if own is None else f"|{own}", rate, min(cost, rate.burst)


class InProcessLimits(BucketLimits):
    """One rate for everything, in this process alone."""

    def __init__(self, rate: Rate, clock: Clock) -> None:
        super().__init__(InProcessBuckets(clock), clock, rate)


async def check_limits_of_instance() -> Health:
    """Without a shared database each instance that the platform starts counts for itself."""
    return Health(
        True,
        "counted by each instance for itself",
        "Set DATABASE_URL to count over all.",
        note="per_instance",
    )

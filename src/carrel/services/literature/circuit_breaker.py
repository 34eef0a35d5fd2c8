"""A circuit breaker: a service that keeps failing is left alone for a while, so that nobody waits
for it again and again.
"""

from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class BreakerPolicy:
    """When a breaker opens and how long it stays so.

    Chosen by calculation, not fitted: at three questions side by side a dead host opens it in the
    second round of attempts,
    and a service that fails half of its answers at random runs into eight failures in a row once in
    about 500 questions.
    """

    failures_to_open: int = 8
    no_connection_counts_as: int = 2
    open_seconds: float = 30.0


class CircuitBreaker:
    """The breaker of one service in this process: closed, open for a while, then half open for a
    single probe.
    """

    def __init__(self, policy: BreakerPolicy, clock: Callable[[], float]) -> None:
        self._policy = policy
        self._clock = clock
        self._failures = 0
        self._open_until: float | None = None
        self._is_probing = False
        self.reason = ""

    def refused_for_seconds(self) -> float | None:
        """How long the service is left alone from now; None where it may be asked, which half open
        is given to one caller.
        """
        if self._open_until is None:
            return None
        left = self._open_until - self._clock()
        if left > 0:
            return left
        if self._is_probing:
            return self._policy.open_seconds
        self._is_probing = True
        return None

    @property
    def is_open(self) -> bool:
        return self._open_until is not None and self._open_until > self._clock()

    def record_success(self) -> None:
        self._failures = 0
        self._open_until = None
        self._is_probing = False

    def record_failure(self, reason: str, *, is_connected: bool) -> None:
        self.reason = reason
        self._failures += 1 if is_connected else self._policy.no_connection_counts_as
        if self._is_probing or self._failures >= self._policy.failures_to_open:
            self.open_for(self._policy.open_seconds)

    def record_abandoned(self) -> None:
        """The question was given up before it had an outcome; somebody else may probe."""
        self._is_probing = False

    def open_for(self, seconds: float) -> None:
        """Leaves the service alone for this long, as when it says itself when to come back."""
        self._open_until = self._clock() + seconds
        self._is_probing = False

"""When a failed call over the network is tried again."""

from __future__ import annotations

from dataclasses import dataclass
from email.utils import parsedate_to_datetime


@dataclass(frozen=True, slots=True)
class RetryPolicy:
    """How often a call is tried, and how long to wait between: each time twice as long."""

    max_attempts: int = 4
    initial_backoff_seconds: float = 1.0
    max_backoff_seconds: float = 30.0

    def backoff_seconds(self, attempt: int, retry_after_seconds: float | None = None) -> float:
        """The wait after the attempt of that number, from 1; a Retry-After of the server wins."""
        wait = retry_after_seconds
        if wait is None:
            wait = self.initial_backoff_seconds * 2.0 ** (attempt - 1)
        return min(wait, self.max_backoff_seconds)


def parse_retry_after(header: str | None, now: float) -> float | None:
    """The seconds that a Retry-After header asks for, or those until its date; None without one."""
    text = (header or "").strip()
    if text.replace(".", "", 1).isdecimal():
        return float(text)
    try:
        return max(0.0, parsedate_to_datetime(text).timestamp() - now) if text else None
    except ValueError:
        return None

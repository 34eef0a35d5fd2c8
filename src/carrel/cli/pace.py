"""The pace of work, smoothed, so that the time left neither jumps nor stays behind."""

from __future__ import annotations

# Older work counts less: half after so many seconds, or after this share of the time so far.
_HALF_LIFE_SECONDS = 10.0
_HALF_LIFE_SHARE = 0.25
# Nothing is foretold before so much was seen: some seconds, and a share of the work or more of
# them. Chosen by eye, on builds of 20 to 2,000 files: readers take 1 to 3 s to start.
LEAST_SECONDS = 2.0
LEAST_SHARE = 0.03
_ENOUGH_SECONDS = 10.0
# The first pieces of several readers come at once, which is no pace either.
_LEAST_MEASURED_SECONDS = 1.0


class Pace:
    """How much work is done, and how fast it goes of late.

    What passes before the first piece is done is start-up and counts only until the second.
    """

    def __init__(self, started: float) -> None:
        self.done = 0.0
        self._started = self._seen = started
        self._has_begun = self._is_measured = False
        self._recent_work = self._recent_seconds = 0.0

    def add(self, now: float, work: float) -> None:
        passed = max(0.0, now - self._seen)
        if self._has_begun and not self._is_measured and passed > 0:
            self._recent_work = self._recent_seconds = 0.0
            self._is_measured = True
        half_life = max(_HALF_LIFE_SECONDS, _HALF_LIFE_SHARE * (now - self._started))
        kept = 0.5 ** (passed / half_life)
        self._recent_work = self._recent_work * kept + work
        self._recent_seconds = self._recent_seconds * kept + passed
        self._seen = now
        self._has_begun = True
        self.done += work

    def seconds_left(self, now: float, total: float) -> float | None:
        """How long the rest takes at this pace; None while too little was seen, and at the end."""
        rest = total - self.done
        passed = now - self._started
        is_early = passed < LEAST_SECONDS or (
            self.done < LEAST_SHARE * total and passed < _ENOUGH_SECONDS
        )
        is_burst = self._is_measured and self._recent_seconds < _LEAST_MEASURED_SECONDS
        if rest <= 0 or is_early or is_burst or not (self._recent_work and self._recent_seconds):
            return None
        expected = rest * self._recent_seconds / self._recent_work
        # What was counted down since the last piece was done.
        return max(0.0, expected - (now - self._seen))

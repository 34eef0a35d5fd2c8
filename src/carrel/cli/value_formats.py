"""Times and counts as people read them on a terminal, and as programs read them in a pipe."""

from __future__ import annotations

import sys
from datetime import UTC, datetime

from carrel.cli.output import is_drawn
from carrel.core.clock import Clock, SystemClock

_MINUTE, _HOUR, _DAY = 60, 3600, 86_400
# Older times are clearer as a date.
_LONGEST_AGO_SECONDS = 7 * _DAY
_CLOCK = SystemClock()


def is_for_people() -> bool:
    """Whether standard output is drawn for a reader, not read by a program."""
    return is_drawn(sys.stdout)


def format_time(moment: str | float, clock: Clock = _CLOCK) -> str:
    """A past time: "3 minutes ago" or local date and time for people, ISO 8601 elsewhere."""
    found = _read_moment(moment)
    if found is None:
        return str(moment)
    if not is_for_people():
        return str(moment) if isinstance(moment, str) else found.isoformat(timespec="seconds")
    seconds = (clock.now() - found).total_seconds()
    if 0 <= seconds < _LONGEST_AGO_SECONDS:
        return _describe_age(seconds)
    return f"{found.astimezone():%Y-%m-%d %H:%M}"


def format_exact_time(moment: str | float) -> str:
    """Local date and time to the second for people, ISO 8601 elsewhere."""
    found = _read_moment(moment)
    if found is None or not is_for_people():
        return str(moment)
    return f"{found.astimezone():%Y-%m-%d %H:%M:%S}"


def format_day(moment: str | float) -> str:
    """The local date for people, that of UTC elsewhere."""
    found = _read_moment(moment)
    if found is None:
        return str(moment)
    return str((found.astimezone() if is_for_people() else found).date())


def format_count(number: int) -> str:
    """A number with thousands separators for people, digits alone elsewhere."""
    return f"{number:,}" if is_for_people() else str(number)


def count_things(number: int, singular: str, plural: str = "") -> str:
    """A number and its noun: "1 note", "1,200 notes"."""
    return f"{format_count(number)} {singular if number == 1 else plural or f'{singular}s'}"


def _describe_age(seconds: float) -> str:
    if seconds < _MINUTE:
        return "just now"
    for unit, name in ((_DAY, "day"), (_HOUR, "hour"), (_MINUTE, "minute")):
        if seconds >= unit:
            count = int(seconds // unit)
            return f"{count} {name}{'' if count == 1 else 's'} ago"
    return "just now"


def _read_moment(moment: str | float) -> datetime | None:
    try:
        found = (
            datetime.fromisoformat(moment)
            if isinstance(moment, str)
            else datetime.fromtimestamp(moment, UTC)
        )
    except (ValueError, OverflowError, OSError):
        return None
    return found if found.tzinfo else found.replace(tzinfo=UTC)

"""Dates of search bodies: partial dates, date maths such as now-7d/d, and calendar intervals."""

from __future__ import annotations

import calendar
import re
from datetime import UTC, datetime, timedelta, timezone, tzinfo

from carrel.libraries.query.errors import UnsupportedClauseError, invalid_clause

_MATHS = re.compile(r"([+-]\d{0,6}|/)([yMwdhHms])")
_DATE = re.compile(
    r"(?P<year>\d{4})(?:-(?P<month>\d{2})(?:-(?P<day>\d{2})"
    r"(?:T(?P<hour>\d{2})?(?::(?P<minute>\d{2})(?::(?P<second>\d{2})(?:[.,](?P<fraction>\d{1,9}))?)?)?"
    r"(?P<zone>Z|[+-]\d{2}(?::?\d{2})?)?)?)?)?"
)
_OFFSET = re.compile(r"([+-])(\d{2})(?::?(\d{2}))?")
_UNITS = {"y": "year", "M": "month", "w": "week", "d": "day"} | {
    "h": "hour",
    "H": "hour",
    "m": "minute",
    "s": "second",
}
_PARTS = ("year", "month", "day", "hour", "minute", "second")
FORMATS = frozenset(
    {
        "strict_date_optional_time",
        "date_optional_time",
        "strict_date_optional_time_nanos",
        "strict_date",
        "date",
        "yyyy",
        "strict_year",
        "year",
        "yyyy-MM",
        "strict_year_month",
        "year_month",
        "yyyy-MM-dd",
        "yyyy-MM-dd'T'HH:mm:ss",
        "yyyy-MM-dd'T'HH:mm:ssZ",
        "yyyy-MM-dd'T'HH:mm:ss.SSSZ",
        "epoch_millis",
        "epoch_second",
    }
)
# What a key of a bucket can be written as.
KEY_FORMATS = {
    "yyyy": "%Y",
    "year": "%Y",
    "strict_year": "%Y",
    "yyyy-MM": "%Y-%m",
    "year_month": "%Y-%m",
    "strict_year_month": "%Y-%m",
    "yyyy-MM-dd": "%Y-%m-%d",
    "date": "%Y-%m-%d",
    "strict_date": "%Y-%m-%d",
}
CALENDAR_INTERVALS = {
    name: unit
    for unit, names in {
        "minute": "minute 1m",
        "hour": "hour 1h",
        "day": "day 1d",
        "week": "week 1w",
        "month": "month 1M",
        "quarter": "quarter 1q",
        "year": "year 1y",
    }.items()
    for name in names.split()
}
_FIXED = {"ms": 1, "s": 1000, "m": 60_000, "h": 3_600_000, "d": 86_400_000}
_EARLIEST, _LATEST = 1, 9999


def parse_formats(given: object) -> tuple[str, ...]:
    """The names of a `format`, parted by ||; an unknown one is refused by name."""
    names = tuple(part.strip() for part in str(given).split("||"))
    for name in names:
        if name not in FORMATS:
            raise UnsupportedClauseError(f"format {name[:50]}", "range", FORMATS)
    return names


def parse_time_zone(given: str | None) -> tzinfo:
    """`Z`, `UTC` or an offset like +01:00."""
    if given is None or given in {"Z", "UTC", "GMT"}:
        return UTC
    found = _OFFSET.fullmatch(given)
    if found is None or int(found[2]) > 18:
        raise UnsupportedClauseError("time_zone", "range", ("UTC", "an offset such as +01:00"))
    minutes = int(found[2]) * 60 + int(found[3] or 0)
    return timezone(timedelta(minutes=minutes if found[1] == "+" else -minutes))


def parse_moment(
    value: object,
    now: datetime,
    *,
    rounds_up: bool = False,
    formats: tuple[str, ...] = (),
    zone: tzinfo = UTC,
) -> int | None:
    """A date, partial date, number or date maths as milliseconds; None for anything else.

    What is left out of a time, and what `/d` rounds, becomes its last millisecond with `rounds_up`;
    a month or day that is left out is the first, as on a server.
    """
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        return None
    text = str(int(value)) if isinstance(value, float) and value.is_integer() else str(value)
    if text.startswith("now"):
        base, maths = now.astimezone(zone), text.removeprefix("now")
    else:
        written, _, maths = text.partition("||")
        found = _parse_date(written, rounds_up and not maths, formats, zone)
        if found is None or not maths:
            return None if found is None else _to_milliseconds(found)
        base = found
    try:
        moment = _apply_maths(base, maths, rounds_up)
    except (OverflowError, ValueError):
        raise invalid_clause("range", f"the date {text[:50]} is out of bounds") from None
    return None if moment is None else _to_milliseconds(moment)


def _to_milliseconds(moment: datetime) -> int:
    whole = moment - datetime(1970, 1, 1, tzinfo=UTC)
    return whole // timedelta(milliseconds=1)


def _parse_date(
    text: str, rounds_up: bool, formats: tuple[str, ...], zone: tzinfo
) -> datetime | None:
    found = _DATE.fullmatch(text)
    wants_epoch = bool(formats) and formats[0].startswith("epoch")
    if found is not None and not (wants_epoch and text.isdecimal()):
        return _from_parts(found, rounds_up, zone)
    if not re.fullmatch(r"-?\d{1,15}", text):
        return None
    scale = 1000 if "epoch_second" in formats else 1
    try:
        return datetime(1970, 1, 1, tzinfo=UTC) + timedelta(milliseconds=int(text) * scale)
    except OverflowError:
        return None


def _from_parts(found: re.Match[str], rounds_up: bool, zone: tzinfo) -> datetime | None:
    given = {name: int(found[name]) for name in _PARTS if found[name] is not None}
    whole = {"month": 1, "day": 1, "hour": 0, "minute": 0, "second": 0} | given
    fraction = (found["fraction"] or "")[:6].ljust(6, "0")
    if found["zone"]:
        zone = parse_time_zone(found["zone"])
    try:
        moment = datetime(**whole, microsecond=int(fraction), tzinfo=zone)
    except ValueError:
        return None
    if not rounds_up or found["fraction"]:
        return moment
    last = next((name for name in reversed(_PARTS[3:]) if name in given), "day")
    return _step(moment, last, 1) - timedelta(milliseconds=1)


def _apply_maths(base: datetime, maths: str, rounds_up: bool) -> datetime | None:
    at = 0
    while at < len(maths):
        found = _MATHS.match(maths, at)
        if found is None:
            return None
        at, unit = found.end(), _UNITS[found[2]]
        if found[1] == "/":
            base = floor_moment(base, unit)
            if rounds_up:
                base = _step(base, unit, 1) - timedelta(milliseconds=1)
        else:
            count = found[1] if found[1] not in {"+", "-"} else f"{found[1]}1"
            base = _step(base, unit, int(count))
    return base


def _step(moment: datetime, unit: str, count: int) -> datetime:
    match unit:
        case "year" | "quarter" | "month":
            months = count * {"year": 12, "quarter": 3, "month": 1}[unit]
            year, month = divmod(moment.year * 12 + moment.month - 1 + months, 12)
            if not _EARLIEST <= year <= _LATEST:
                raise OverflowError
            day = min(moment.day, calendar.monthrange(year, month + 1)[1])
            return moment.replace(year=year, month=month + 1, day=day)
        case _:
            return moment + timedelta(**{f"{unit}s": count})


def floor_moment(moment: datetime, unit: str) -> datetime:
    """The beginning of the unit that a moment lies in; weeks begin on Monday."""
    day = moment.replace(hour=0, minute=0, second=0, microsecond=0)
    match unit:
        case "year":
            return day.replace(month=1, day=1)
        case "quarter":
            return day.replace(month=moment.month - (moment.month - 1) % 3, day=1)
        case "month":
            return day.replace(day=1)
        case "week":
            return day - timedelta(days=day.weekday())
        case "day":
            return day
        case "hour":
            return moment.replace(minute=0, second=0, microsecond=0)
        case "minute":
            return moment.replace(second=0, microsecond=0)
        case _:
            return moment.replace(microsecond=0)


def floor_milliseconds(value: int, unit: str, zone: tzinfo) -> int:
    """The same for milliseconds, in a time zone."""
    moment = datetime(1970, 1, 1, tzinfo=UTC) + timedelta(milliseconds=value)
    return _to_milliseconds(floor_moment(moment.astimezone(zone), unit))


def next_milliseconds(value: int, unit: str, zone: tzinfo) -> int:
    """The beginning of the unit after the one that begins at `value`."""
    moment = datetime(1970, 1, 1, tzinfo=UTC) + timedelta(milliseconds=value)
    return _to_milliseconds(_step(moment.astimezone(zone), unit, 1))


def parse_fixed_interval(given: object) -> int:
    """`30m`, `12h` or `7d` in milliseconds."""
    found = re.fullmatch(r"(\d{1,6})(ms|s|m|h|d)", str(given))
    if found is None or not int(found[1]):
        raise invalid_clause("fixed_interval", "[fixed_interval] is a number with ms, s, m, h or d")
    return int(found[1]) * _FIXED[found[2]]


def write_moment(value: float, format_name: str = "", zone: tzinfo = UTC) -> str:
    """Milliseconds as Elasticsearch writes a date."""
    if format_name == "epoch_millis":
        return str(int(value))
    if not _NEAR[0] < value < _NEAR[1]:
        return _write_far_moment(value)
    moment = (datetime(1970, 1, 1, tzinfo=UTC) + timedelta(milliseconds=value)).astimezone(zone)
    if format_name in KEY_FORMATS:
        return moment.strftime(KEY_FORMATS[format_name])
    return moment.isoformat(timespec="milliseconds").replace("+00:00", "Z")


# 400 years, after which the calendar repeats itself; and what a date here can be, in any time zone.
_CYCLE_YEARS, _CYCLE_MILLISECONDS = 400, 146_097 * 86_400_000
_NEAR = (-62_135_500_000_000, 253_402_200_000_000)


def _write_far_moment(value: float) -> str:
    """A date outside the years 1 to 9999, as sums of dates are."""
    cycles, rest = divmod(int(value), _CYCLE_MILLISECONDS)
    near = datetime(1970, 1, 1, tzinfo=UTC) + timedelta(milliseconds=rest)
    year = near.year + cycles * _CYCLE_YEARS
    sign = "+" if year > 9999 else "-" if year < 0 else ""
    written = near.isoformat(timespec="milliseconds").replace("+00:00", "Z")
    return f"{sign}{abs(year):04d}{written[4:]}"

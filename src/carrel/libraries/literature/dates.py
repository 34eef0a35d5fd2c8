"""Dates of services as ISO dates that are as precise as they are known."""

from __future__ import annotations

import re
from collections.abc import Iterable
from datetime import date

from carrel.libraries.bibliography.dates import read_date
from carrel.libraries.literature.raw_fields import list_of, map_of, text_of

# Outside these years a number is a misprint and not a year of publication.
_FIRST_YEAR = 1400
_LAST_YEAR = 2100
_YEAR_WITHIN = re.compile(r"(?<!\d)(1[4-9]\d\d|20\d\d)(?!\d)")


def iso_date(year: object, month: object = None, day: object = None) -> str | None:
    """`2019`, `2019-05` or `2019-05-17`; what is no month or day is left out, as all behind it."""
    parts = [_whole(part) for part in (year, month, day)]
    if parts[0] is None or not _FIRST_YEAR <= parts[0] <= _LAST_YEAR:
        return None
    written = f"{parts[0]:04d}"
    if parts[1] is None or not 1 <= parts[1] <= 12:
        return written
    written += f"-{parts[1]:02d}"
    if parts[2] is None:
        return written
    try:
        return date(parts[0], parts[1], parts[2]).isoformat()
    except (ValueError, OverflowError):
        return written


def _whole(part: object) -> int | None:
    text = text_of(part)
    return int(text) if text.isascii() and text.isdigit() and len(text) < 10 else None


def read_date_parts(value: object) -> str | None:
    """The first date of `{"date-parts": [[2019, 5]]}`; None for `[[null]]` and the like."""
    points = list_of(map_of(value).get("date-parts"))
    parts = list_of(points[0])[:3] if points else []
    return iso_date(*parts) if parts else None


def read_date_text(text: object) -> str | None:
    """A date as text: ISO, with time, with names of months, a season or a range (its start)."""
    written = text_of(text)
    if not written:
        return None
    if len(written) == 8 and written.isascii() and written.isdigit():
        return iso_date(written[:4], written[4:6], written[6:])
    found = read_date_parts(read_date(written.split("T")[0] if written[:4].isdigit() else written))
    if found is not None:
        return found
    year = _YEAR_WITHIN.search(written[:200])
    return year.group() if year else None


def earliest_date(dates: Iterable[str | None]) -> str | None:
    """The earliest; of two that may be the same day, the more precise one."""
    best: str | None = None
    for each in dates:
        if each is None:
            continue
        if best is None or each.startswith(best) or (each < best and not best.startswith(each)):
            best = each
    return best


def without_first_day(date: str | None) -> str | None:
    """A date of services that write the first day where only the month or the year is known."""
    if date is None:
        return None
    return date.removesuffix("-01").removesuffix("-01") if date.endswith("-01") else date

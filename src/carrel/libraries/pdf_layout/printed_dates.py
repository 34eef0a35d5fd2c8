"""Dates as printed on title pages: years, months and days in several languages."""

from __future__ import annotations

import re
from dataclasses import dataclass

_MONTH_NAMES = {
    1: "january|januar|jänner|janvier|enero|gennaio|januari|janeiro|января|jan",
    2: "february|februar|février|febrero|febbraio|februari|fevereiro|февраля|feb",
    3: "march|märz|mars|marzo|maart|março|марта|mar",
    4: "april|avril|abril|aprile|апреля|apr",
    5: "may|mai|mayo|maggio|mei|maio|мая",
    6: "june|juni|juin|junio|giugno|junho|июня|jun",
    7: "july|juli|juillet|julio|luglio|julho|июля|jul",
    8: "august|août|agosto|augustus|августа|aug",
    9: "september|septembre|septiembre|settembre|setembro|сентября|sept|sep",
    10: "october|oktober|octobre|octubre|ottobre|outubro|октября|oct|okt",
    11: "november|novembre|noviembre|novembro|ноября|nov",
    12: "december|dezember|décembre|diciembre|dicembre|dezembro|декабря|dec|dez",
}
_MONTH_OF = {name: number for number, names in _MONTH_NAMES.items() for name in names.split("|")}
_MONTH = "|".join(sorted(_MONTH_OF, key=len, reverse=True))
_YEAR = r"(?:1[6-9]|20)\d{2}"
_DATES = (
    re.compile(rf"\b(?P<year>{_YEAR})[-–/.](?P<month>0?[1-9]|1[0-2])[-–/.](?P<day>\d{{1,2}})\b"),
    re.compile(
        rf"\b(?P<day>\d{{1,2}})(?:st|nd|rd|th|er|\.|º)?\s*(?:de\s+)?(?P<name>{_MONTH})\.?,?"
        rf"\s*(?:de\s+)?(?P<year>{_YEAR})\b",
        re.IGNORECASE,
    ),
    re.compile(
        rf"\b(?P<name>{_MONTH})\.?\s*(?P<day>\d{{1,2}})(?:\s?st|nd|rd|th)?,?\s*(?P<year>{_YEAR})\b",
        re.IGNORECASE,
    ),
    re.compile(
        rf"\b(?P<name>{_MONTH})\.?(?:\s*[-–/]\s*(?:{_MONTH})\.?)?,?\s*(?:de\s+|of\s+)?(?P<year>{_YEAR})\b",
        re.IGNORECASE,
    ),
    re.compile(
        r"(?P<year>(?:19|20)\d{2})\s?年\s?(?:(?P<month>\d{1,2})\s?月)?\s?(?:(?P<day>\d{1,2})\s?日)?"
    ),
    re.compile(rf"\b(?P<day>\d{{1,2}})[./](?P<month>\d{{1,2}})[./](?P<year>{_YEAR})\b"),
    re.compile(
        rf"\b(?P<name>spring|summer|fall|autumn|winter)\s+(?P<year>{_YEAR})\b", re.IGNORECASE
    ),
)
_BEGINS = re.compile(
    rf"^\W*(?:(?:\d{{1,2}}\.?\s*)?(?:{_MONTH})\.?[\s\d,–—-]{{1,12}}(?:(?:{_MONTH})\.?[\s\d,–—-]{{1,12}})?"
    rf"(?:19|20)\d{{2}}\b|{_YEAR}[-/.]\d{{1,2}}[-/.]\d{{1,2}})",
    re.IGNORECASE,
)
_YEAR_ALONE = re.compile(rf"(?<![\d.-])({_YEAR})(?![\d-])")


@dataclass(frozen=True, slots=True)
class PrintedDate:
    """A date as far as it is printed."""

    year: int
    month: int | None = None
    day: int | None = None

    def __str__(self) -> str:
        text = f"{self.year:04}"
        if self.month:
            text += f"-{self.month:02}"
            if self.day:
                text += f"-{self.day:02}"
        return text


def find_dates(text: str) -> list[PrintedDate]:
    """The dates with at least a month (or season) and a year, in order of place."""
    found: dict[int, PrintedDate] = {}
    taken: list[tuple[int, int]] = []
    for pattern in _DATES:
        for match in pattern.finditer(text[:1000]):
            if any(start < match.end() and match.start() < end for start, end in taken):
                continue
            if date := _read_match(match):
                found[match.start()] = date
                taken.append(match.span())
    return [found[at] for at in sorted(found)]


def _read_match(match: re.Match[str]) -> PrintedDate | None:
    parts = match.groupdict()
    month = _MONTH_OF.get((parts.get("name") or "").lower())
    if parts.get("month"):
        month = int(parts["month"])
    day = int(parts["day"]) if parts.get("day") else None
    if month is not None and month > 12:
        # 11/23/2020
        month, day = day, month
    if (month or 1) > 12 or (day or 1) > 31 or month == 0 or day == 0:
        return None
    return PrintedDate(int(parts["year"]), month, day if month else None)


def has_date(text: str) -> bool:
    """Whether the text is a date, with few words beside it."""
    return bool(find_dates(text)) and len(text) < 80


def begins_with_date(text: str) -> bool:
    """Whether the text is a date, perhaps with a place behind it."""
    start = _BEGINS.match(text[:60])
    return bool(start) and len(text) < 80


def find_years(text: str) -> list[int]:
    return [int(year) for year in _YEAR_ALONE.findall(text[:1000])]

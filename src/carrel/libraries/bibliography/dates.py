"""Dates as people and programs write them, to CSL dates."""

import re
from collections.abc import Iterator
from typing import Any

from carrel.libraries.csl.schema import DATE_VARIABLES, check_calendar, check_field

CslDate = dict[str, Any]

_MONTH_NAMES = {
    "jan": 1, "feb": 2, "mar": 3, "apr": 4, "may": 5, "jun": 6, "jul": 7, "aug": 8, "sep": 9,
    "oct": 10, "nov": 11, "dec": 12, "mär": 3, "mai": 5, "okt": 10, "dez": 12, "janv": 1, "fév": 2,
    "févr": 2, "avr": 4, "juin": 6, "juil": 7, "août": 8, "déc": 12, "ene": 1, "abr": 4, "ago": 8,
    "dic": 12, "gen": 1, "mag": 5, "giu": 6, "lug": 7, "set": 9, "ott": 10,
}  # fmt: skip
_SEASONS = {"spring": 1, "summer": 2, "autumn": 3, "fall": 3, "winter": 4}
_WORD = re.compile(r"[^\W\d_]+")
_NUMBER = re.compile(r"\d+")
_EDTF = re.compile(
    r"^([+-]?\d{3,12}|\d{2}[\dxXuU]{2})(?:-(\d{2}|[xXuU]{2}))?(?:-(\d{2}|[xXuU]{2}))?(?:T[\dZ].*| "
    r"\d\d:\d\d.*)?([~?%]?)$"
)
_LAST_YEAR, _LAST_MONTH, _LAST_DAY = 9999, 12, 31
# No date that people write is longer; what is longer stays as it is written.
_LONGEST_DATE = 200
_YEAR_IN_WORDS = re.compile(r"(?<!\d)(\d{4})(?!\d)")
_NUMERIC = re.compile(r"^(\d{4})[/.\-](\d{1,2})(?:[/.\-](\d{1,2}))?$")
_SPACED = re.compile(r"^(\d{4})\s+(\d{1,2})(?:\s+(\d{1,2}))?$")
_SLASHED = re.compile(r"^(\d{4})/(\d{0,2})/(\d{0,2})(?:/(.*))?$", re.DOTALL)
_SLASHED_DAYS = re.compile(r"^(\d{4})/(\d{1,2})/(\d{1,2})\s?[-–]\s?(\d{1,2})/?$")
_DAY_FIRST = re.compile(r"^(\d{1,2})[./](\d{1,2})[./](\d{4})$")
_BETWEEN_DATES = re.compile(r"\s*(?:--?|–|—|/| to )\s*")
_WEEKDAY = re.compile(
    r"^\s*(?:(?:mon|tues|wednes|thurs|fri|satur|sun)day|mon|tue|wed|thu|fri|sat|sun)[,.]\s*",
    re.IGNORECASE,
)
_BETWEEN = re.compile(r"\s*(?:--+|–|—|/| to )\s*")


def date_of(*parts: int) -> CslDate:
    return {"date-parts": [list(parts)]}


def export_date(value: object) -> CslDate:
    """A date of a CSL item for writing: its parts as integers, a raw text parsed; else empty."""
    if isinstance(value, str | int) and not isinstance(value, bool):
        return read_date(str(value))
    if not isinstance(value, dict):
        return {}
    points = value.get("date-parts")
    if isinstance(points, list) and points:
        numbers = [
            [_whole(part) for part in point]
            for point in points
            if isinstance(point, list) and point
        ]
        cut = [point[: point.index(None)] if None in point else point for point in numbers]
        known = [[part for part in point if part is not None] for point in cut if point]
        return (
            value | {"date-parts": known}
            if known
            else {name: text for name, text in value.items() if name != "date-parts"}
        )
    raw = value.get("raw")
    if isinstance(raw, str) and raw.strip() and not value.get("literal"):
        return {name: part for name, part in value.items() if name != "raw"} | read_date(raw)
    return value


def _whole(part: object) -> int | None:
    if isinstance(part, float) and part.is_integer():
        return int(part)
    if (
        isinstance(part, str)
        and (text := part.strip()).removeprefix("-").isdecimal()
        and len(text) < 10
    ):
        return int(text)
    return part if isinstance(part, int) and not isinstance(part, bool) else None


def doubtful_dates(item: dict[str, Any]) -> Iterator[str]:
    """What is odd about the dates of an item that are kept as they are: days that no month has,
    and years of more than four digits.
    """
    key = str(item.get("id", ""))[:100]
    named = f"The item {key!r}" if key else "The item"
    for name in sorted(DATE_VARIABLES & item.keys()):
        value = item[name]
        if not isinstance(value, dict) or any(check_field(name, value)):
            continue
        for problem in check_calendar({name: value}):
            yield f"{named} keeps a date that no calendar has: {problem.sentence()}"
        for point in value.get("date-parts") or ():
            year = _whole(point[0]) if point else None
            if year is not None and year > _LAST_YEAR:
                yield f"{named} keeps a year of more than four digits in {name}: {year}"


def month_number(text: str) -> int | None:
    """The month that a word or a number says."""
    word = text.strip().strip(".").lower()
    if len(word) > _LONGEST_DATE:
        return None
    if word.isascii() and word.isdigit():
        return int(word) if 1 <= int(word) <= 12 else None
    return _MONTH_NAMES.get(word[:4]) or _MONTH_NAMES.get(word[:3])


def season_number(text: str) -> int | None:
    return _SEASONS.get(text.strip().lower())


def read_edtf(text: str) -> CslDate | None:
    """An ISO 8601-2 date or range as BibLaTeX takes it; None when it is not one."""
    if len(text) > _LONGEST_DATE:
        return None
    first, slash, second = text.strip().partition("/")
    if slash and not _EDTF.match(first) and first.strip() not in {"", ".."}:
        return None
    start = _edtf_point(first)
    if not slash:
        return start
    end = _edtf_point(second)
    if start is None and end is None:
        return None
    if start is None:
        return {"literal": text.strip()}
    if end is None:
        if second.strip() not in {"", ".."}:
            return None
        return start | {"date-parts": [*start["date-parts"], [0]]}
    both = start | end
    both["date-parts"] = [*start["date-parts"], *end["date-parts"]]
    return both


def _edtf_point(text: str) -> CslDate | None:
    found = _EDTF.match(text.strip())
    if not found:
        return None
    year, month, day, doubt = found.groups()
    date: CslDate = {}
    digits = year.upper().replace("X", "0").replace("U", "0")
    parts = [int(digits)]
    if month and month.isdigit():
        number = int(month)
        if 21 <= number <= 24:
            date["season"] = number - 20
        elif 1 <= number <= 12:
            parts.append(number)
            if day and day.isdigit():
                if int(day) > _LAST_DAY:
                    return None
                parts += [int(day)] if int(day) else []
        elif number:
            return None
    date["date-parts"] = [parts]
    if doubt or digits != year.upper():
        date["circa"] = True
    return date


def read_date(text: str) -> CslDate:
    """Any date; what cannot be understood stays as it is written."""
    text = text.strip()
    if len(text) > _LONGEST_DATE:
        return {"literal": text}
    exact = read_edtf(text) or _numeric(text)
    if exact:
        return exact
    return _in_words(text) or {"literal": text}


def words_of_slashed_date(text: str) -> str:
    """The free words of a RIS date (`2010/05/12/Easter issue`), but for a season."""
    found = _SLASHED.match(text.strip())
    words = (found.group(4) or "").strip() if found else ""
    return "" if found and _said_by_words(found) else words


def _said_by_words(found: re.Match[str]) -> bool:
    """Whether the words of a slashed date are its season, which stands for a month."""
    return bool(season_number(found.group(4) or "")) and not int(found.group(2) or 0)


def _numeric(text: str) -> CslDate | None:
    found = _SLASHED_DAYS.match(text)
    if found:
        *of_month, first, last = (int(part) for part in found.groups())
        is_range = 1 <= of_month[1] <= _LAST_MONTH and 1 <= first < last <= _LAST_DAY
        return {"date-parts": [[*of_month, first], [*of_month, last]]} if is_range else None
    found = _SLASHED.match(text)
    if found:
        year, month, day, other = found.groups()
        if int(month or 0) > _LAST_MONTH or int(day or 0) > _LAST_DAY:
            return None
        if int(month or 0):
            return date_of(int(year), int(month), *([int(day)] if int(day or 0) else []))
        date = date_of(int(year))
        season = season_number(other or "")
        return date | ({"season": season} if season else {})
    found = _NUMERIC.match(text) or _SPACED.match(text)
    if found:
        year, month, day = found.groups()
        if 1 <= int(month) <= _LAST_MONTH and int(day or 0) <= _LAST_DAY:
            return date_of(*(int(part) for part in (year, month, day) if part and int(part)))
    found = _DAY_FIRST.match(text)
    if found:
        day, month, year = found.groups()
        if 1 <= int(month) <= _LAST_MONTH and int(day) <= _LAST_DAY:
            return date_of(int(year), int(month), int(day))
    return None


def _in_words(text: str) -> CslDate | None:
    """`12 March 1999`, `Mar 1999`, `1999 Jan-Feb`, `Spring 2001`, `c1999`, `[1987]`, `1999a`."""
    text = _WEEKDAY.sub("", text)
    years = list(_YEAR_IN_WORDS.finditer(text))
    if not years or len(years) > 2:
        return None
    year = years[0]
    rest = text[: year.start()] + " " + text[year.end() :]
    if len(years) == 2:
        between = text[year.end() : years[1].start()]
        if _BETWEEN.fullmatch(between) or between.strip() == "-":
            return {"date-parts": [[int(year.group())], [int(years[1].group())]]}
        return _range_in_words(text)
    month = read_month(rest)
    if month:
        return with_year(int(year.group()), month)
    if re.fullmatch(
        r"[\s\[\](),.;:©a-d?~]*(?:ca?\.?|circa|copyright)?[\s\[\](),.;:©a-d?~]*",
        rest,
        re.IGNORECASE,
    ):
        date = date_of(int(year.group()))
        is_circa = re.search(r"\bca?\.|circa|\?|~", rest, re.IGNORECASE)
        return date | ({"circa": True} if is_circa else {})
    return None


def _range_in_words(text: str) -> CslDate | None:
    """`1998 Dec-1999 Jan`, `Dec 1998 - Jan 1999`."""
    halves = _BETWEEN_DATES.split(text)
    if len(halves) != 2 or not all(len(_YEAR_IN_WORDS.findall(half)) == 1 for half in halves):
        return None
    points = [_in_words(half.strip()) or {} for half in halves]
    if any(point.keys() != {"date-parts"} or len(point["date-parts"]) != 1 for point in points):
        return None
    return {"date-parts": [point["date-parts"][0] for point in points]}


def read_month(text: str) -> CslDate | None:
    """What stands beside a year: `mar`, `OCT 1`, `July 18--22`, `Jan-Feb`, `Summer`, `03`."""
    if len(text) > _LONGEST_DATE:
        return None
    words = _WORD.findall(text)
    numbers = [int(number) for number in _NUMBER.findall(text)]
    months = [
        number for number in (month_number(word) for word in words if len(word) > 2) if number
    ]
    if not words and len(numbers) == 1 and 1 <= numbers[0] <= 12:
        return date_of(0, numbers[0])
    if words and len(words) == 1 and not months:
        season = season_number(words[0])
        if season and not numbers:
            return {"date-parts": [[0]], "season": season}
    meaningful = [
        word
        for word in words
        if word.lower() not in {"st", "nd", "rd", "th", "of", "and", "to", "the"}
    ]
    if not months or len(months) != len(meaningful) or len(months) > 2 or len(numbers) > 2:
        return None
    if any(not 1 <= number <= 31 for number in numbers):
        return None
    first = [0, months[0]]
    last = [0, months[-1]]
    if len(numbers) == 2:
        first, last = [*first, numbers[0]], [*last, numbers[1]]
    elif len(numbers) == 1 and len(months) == 1:
        first = last = [*first, numbers[0]]
    elif numbers:
        return None
    return {"date-parts": [first] if first == last else [first, last]}


def with_year(year: int, month: CslDate) -> CslDate:
    parts = [[year, *part[1:]] for part in month["date-parts"]]
    return month | {"date-parts": parts}


def read_year_and_month(year: str, month: str, day: str = "") -> CslDate | None:
    """The date that older files spread over fields."""
    year, month, day = year.strip(), month.strip(), day.strip()
    if not year:
        return {"literal": month} if month else None
    if not month:
        return read_date(year)
    base = read_date(year)
    if "date-parts" not in base or len(base["date-parts"]) != 1 or len(base["date-parts"][0]) != 1:
        return base
    beside = read_month(f"{month} {day}" if day and not _NUMBER.fullmatch(month) else month)
    if beside is None:
        return {"literal": " ".join(part for part in (day, month, year) if part)}
    date = base | with_year(base["date-parts"][0][0], beside)
    if (
        day.isascii()
        and day.isdigit()
        and len(day) <= 2
        and 1 <= int(day) <= 31
        and len(date["date-parts"]) == 1
        and len(date["date-parts"][0]) == 2
    ):
        date["date-parts"][0].append(int(day))
    return date

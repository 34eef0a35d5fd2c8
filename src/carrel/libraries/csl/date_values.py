"""Dates as items give them (parts, EDTF, free text), read into a start and an end."""

import re
from dataclasses import dataclass
from functools import lru_cache

Parts = tuple[int, int, int]  # year, month (13 to 16: seasons), day; 0 where unknown
NOTHING: Parts = (0, 0, 0)
SEASON = 12

_months = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_month_names = (
    " january february march april may june july august september october november december"
)
_seasons = {"spr": 1, "sum": 2, "aut": 3, "fal": 3, "win": 4}
_season_words = frozenset(
    {"spring", "summer", "autumn", "fall", "winter", "spr", "sum", "aut", "win"}
)
_edtf = re.compile(
    r"([~?%]?)(-?\d{4,}|y-?\d{5,}|\d{2}[xXuU]{2}|\d{3}[xXuU])(?:-(\d\d|[xXuU]{2})(?:-(\d\d|[xXuU]{2}))?)?([~?%]?)(?:T[\d:.Z+-]*)?"
)
_month_word = re.compile(r"\s*[^\W\d_]{3,}\.?(?=\s+\d)")
_leading_number = re.compile(r"\s*([+-]?\d{1,9})")
_word = re.compile(r"[^\W\d_]+|\d+|[?~]")


@dataclass(frozen=True, slots=True)
class DateValue:
    start: Parts = NOTHING
    end: Parts | None = None
    is_uncertain: bool = False
    literal: str = ""
    season: str = ""  # named beside the parts: the term of one of the four, or its own words

    @property
    def is_empty(self) -> bool:
        return self.start == NOTHING and not self.literal and not self.season

    @property
    def is_open(self) -> bool:
        """A range that has not ended."""
        return self.end == NOTHING


def read_date(value: object) -> DateValue | None:
    """The date in a CSL-JSON field, or None where there is none in it."""
    if isinstance(value, str | int) and not isinstance(value, bool):
        found = read_text_date(str(value))
        return None if found.is_empty else found
    if not isinstance(value, dict):
        return None
    uncertain = _is_true(value.get("circa"))
    parts = value.get("date-parts")
    if isinstance(parts, list) and parts:
        read = [_read_parts(part) for part in parts[:2] if isinstance(part, list)]
        if read and read[0] != NOTHING:
            start, end = read[0], read[1] if len(read) > 1 else None
            season = _season(value.get("season"))
            if end == start:
                end = None
            own = (
                ""
                if start[1]
                else f"season-{season:02d}"
                if season
                else str(value.get("season") or "")
            )
            return DateValue(start, end, uncertain, season=own)
    for key in ("edtf", "raw", "literal"):
        text = value.get(key)
        if isinstance(text, str | int) and str(text).strip():
            if key == "literal":
                return DateValue(literal=str(text).strip(), is_uncertain=uncertain)
            found = read_text_date(str(text))
            return DateValue(found.start, found.end, found.is_uncertain or uncertain, found.literal)
    alone = value.get("season")
    if alone:
        number = _season(alone)
        return DateValue(
            season=f"season-{number:02d}" if number else str(alone), is_uncertain=uncertain
        )
    return None


def _is_true(value: object) -> bool:
    return bool(value) and str(value).lower() not in {"0", "false", "no"}


def _season(value: object) -> int:
    text = str(value or "").strip().lower()
    if text.isdecimal():
        number = int(text)
        number = number - 20 if number > 20 else number
        return number if 1 <= number <= 4 else 0
    return _seasons.get(text[:3], 0)


def _read_parts(parts: list[object]) -> Parts:
    numbers = []
    for part in parts[:3]:
        found = _leading_number.match(str(part))
        if found is None:
            break
        numbers.append(int(found[1]))
    year, month, day = [*numbers, 0, 0, 0][:3]
    return normalize_date_parts(year, month, day)


def normalize_date_parts(year: int, month: int, day: int) -> Parts:
    if 21 <= month <= 24:
        month -= 8
    if not 1 <= month <= 16:
        month = 0
    if not 1 <= day <= 31 or not 1 <= month <= 12:
        day = 0
    return (year, month, day)


# No date that people write is longer; what is longer stays as it is written, and is not remembered.
_longest_date = 200


def read_text_date(text: str) -> DateValue:
    """A date in EDTF or in everyday writing; what cannot be read stays as it is written."""
    text = text.strip()
    return _read_short_date(text) if len(text) <= _longest_date else DateValue(literal=text)


@lru_cache(maxsize=2048)
def _read_short_date(text: str) -> DateValue:
    ends = text.split("/")
    if len(ends) == 2 and (_edtf.fullmatch(ends[0]) or _edtf.fullmatch(ends[1])):
        start, end = _read_edtf(ends[0]), _read_edtf(ends[1])
        if start is not None and ends[1] in {"", ".."}:
            return DateValue(start[0], NOTHING, start[1])
        if start is not None and end is not None:
            return DateValue(start[0], end[0], start[1] or end[1])
    single = _read_edtf(text)
    if single is not None:
        return DateValue(single[0], None, single[1])
    return _read_words(text)


def _read_edtf(text: str) -> tuple[Parts, bool] | None:
    found = _edtf.fullmatch(text)
    if not found:
        return None
    year = int(re.sub("[xXuU]", "0", found[2].removeprefix("y")))
    month = int(found[3]) if found[3] and found[3].isdigit() else 0
    day = int(found[4]) if found[4] and found[4].isdigit() else 0
    return normalize_date_parts(year, month, day), bool(found[1] or found[5])


def _read_words(text: str) -> DateValue:
    for splitter in (r"\s+[-–—]+\s+|\s*(?:–|—|--|\.\.)\s*|\s*/\s*", r"\s*-\s*"):
        halves = re.split(splitter, text)
        if len(halves) == 2 and all(halves) and re.search(r"\d", halves[1]):
            start, end = _one_date(halves[0]), _one_date(halves[1])
            month = _month_word.match(halves[0])
            if end is None and month and re.search(r"\d{4}", halves[1]):
                end = _one_date(f"{month[0]} {halves[1]}")  # May 3-9, 2001
            if end is not None and start is None:
                start = _one_date(f"{halves[0]} {end[0][0]}") if end[0][0] else None
            if start is not None and end is not None and end[0] != NOTHING:
                return DateValue(start[0], _complete(end[0], start[0]), start[1] or end[1])
    single = _one_date(text)
    return DateValue(single[0], None, single[1]) if single else DateValue(literal=text)


def _complete(end: Parts, start: Parts) -> Parts:
    if 0 < end[0] < 100 <= start[0] and not end[1]:
        return (start[0] - start[0] % 100 + end[0], 0, 0)
    return end


def _one_date(text: str) -> tuple[Parts, bool] | None:
    month = 0
    uncertain = False
    numbers: list[str] = []
    slashed = re.fullmatch(r"(\d{1,4})[/.-](\d{1,2})(?:[/.-](\d{1,4}))?", text.strip())
    if slashed:
        return _slashed(slashed)
    for word in _word.findall(text):
        lower = word.lower()
        if word.isdecimal():
            numbers.append(word)
        elif named := _month_or_season(lower):
            month = named
        elif lower in {"?", "~", "ca", "c", "circa", "cca"}:
            uncertain = True
        elif lower in {"bc", "bce"} and numbers:
            numbers[-1] = f"-{numbers[-1]}"
        elif lower not in {"ad", "ce", "st", "nd", "rd", "th", "of", "the"}:
            return None
    found = _year_and_day(numbers)
    if found is None:
        return None
    year, day = found
    if not year:
        if not numbers or month:
            return None
        year, day = int(numbers[0]), 0
    if day and not month:
        return None
    return (normalize_date_parts(year, month, day), uncertain) if year else None


def _year_and_day(numbers: list[str]) -> tuple[int, int] | None:
    """Which of the numbers is the year and which the day; None where there are too many."""
    year = day = 0
    for number in numbers:
        if len(number) >= 3 and not year:
            year = int(number[:9])
        elif not day and not number.startswith("-"):
            day = int(number)
        elif not year:
            year = int(number[:9])
        else:
            return None
    return year, day


def _month_or_season(word: str) -> int:
    """1 to 12 for months, 13 to 16 for seasons, 0 for anything else."""
    if word in _season_words:
        return SEASON + _seasons[word[:3]]
    is_month = word == "sept" or f" {word}" in _month_names
    return _months.index(word[:3]) + 1 if is_month and word[:3] in _months else 0


def _slashed(found: re.Match[str]) -> tuple[Parts, bool] | None:
    one, two, three = int(found[1]), int(found[2]), int(found[3] or 0)
    if len(found[1]) >= 3:
        return normalize_date_parts(one, two, three if three <= 31 else 0), False
    if three and len(found[3]) >= 3:
        month, day = (two, one) if one > 12 else (one, two)
        return normalize_date_parts(three, month, day), False
    return None

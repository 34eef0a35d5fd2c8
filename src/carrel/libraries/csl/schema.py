"""The rules of CSL-JSON: which types and variables there are, and what each variable may hold."""

from __future__ import annotations

import calendar
import difflib
import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

_item_types = """article article-journal article-magazine article-newspaper bill book broadcast
    chapter classic collection dataset document
    entry entry-dictionary entry-encyclopedia event figure graphic hearing interview legal_case
    legislation manuscript map
    motion_picture musical_score pamphlet paper-conference patent performance periodical
    personal_communication post post-weblog
    regulation report review review-book software song speech standard thesis treaty webpage"""
ITEM_TYPES = frozenset(_item_types.split())
_name_variables = """author chair collection-editor compiler composer container-author contributor
    curator director editor editor-translator
    editorial-director executive-producer guest host illustrator interviewer narrator organizer
    original-author performer producer
    recipient reviewed-author script-writer series-creator translator"""
NAME_VARIABLES = frozenset(_name_variables.split())
DATE_VARIABLES = frozenset(
    {"accessed", "available-date", "event-date", "issued", "original-date", "submitted"}
)
# Variables that the schema lets hold a number as well as a text.
_number_variables = """chapter-number citation-number collection-number edition
    first-reference-note-number issue locator number number-of-pages
    number-of-volumes page page-first part part-number printing printing-number supplement
    supplement-number volume"""
NUMBER_VARIABLES = frozenset(_number_variables.split())
_text_variables = """abstract annote archive archive_collection archive_location archive-place
    authority call-number citation-key citation-label
    collection-title collection-title-short container-title container-title-short dimensions
    division DOI event event-place
    event-title genre ISAN ISBN ISCI ISMN ISRC ISSN ISWC journalAbbreviation jurisdiction keyword
    language license medium note
    original-container-title original-publisher original-publisher-place original-title part-title
    PMCID PMID publisher
    publisher-place references reviewed-genre reviewed-title scale section shortTitle source status
    title title-short
    translated-title translated-title-short URL version volume-title volume-title-short
    year-suffix"""
TEXT_VARIABLES = frozenset(_text_variables.split())
VARIABLES = (
    NAME_VARIABLES
    | DATE_VARIABLES
    | NUMBER_VARIABLES
    | TEXT_VARIABLES
    | {"categories", "custom", "id", "type"}
)

_NAME_TEXTS = frozenset(
    {"family", "given", "dropping-particle", "non-dropping-particle", "suffix", "literal"}
)
_NAME_SWITCHES = frozenset({"comma-suffix", "static-ordering", "parse-names"})
NAME_PARTS = _NAME_TEXTS | _NAME_SWITCHES
_NAMING_PARTS = ("family", "given", "literal")
_DATE_PARTS = frozenset({"date-parts", "season", "circa", "literal", "raw", "edtf"})
_SAYING_PARTS = ("date-parts", "literal", "raw", "edtf")
_MOST_POINTS, _MOST_PARTS = 2, 3
# Months 13 to 16 and 21 to 24 are the seasons of citeproc and of EDTF.
_LAST_MONTH_OR_SEASON, _LAST_DAY = 24, 31
_FIRST_SEASON, _MONTHS, _SEASONS = 21, 12, 4
# The calendar repeats itself after so many years.
_CALENDAR_YEARS = 400
_LONGEST_SHOWN = 60

A_NAME_LIST = (
    'a list of names such as [{"family": "Curie", "given": "Marie"}] or [{"literal": '
    '"World Health Organization"}]'
)
A_DATE = (
    'a date such as {"date-parts": [[2020, 5, 17]]}, {"raw": "May 2020"} or {"literal": "in press"}'
)


@dataclass(frozen=True, slots=True)
class FieldProblem:
    """A field whose value CSL-JSON does not allow, with its place such as `author[0].given`."""

    field: str
    expected: str
    found: str

    def sentence(self) -> str:
        return f"{self.field} must be {self.expected}, and is {self.found}"


def check_item(fields: Mapping[str, object]) -> list[FieldProblem]:
    """Every field that breaks the schema. A field that is absent is no problem."""
    return [problem for name, value in fields.items() for problem in check_field(name, value)]


def check_calendar(fields: Mapping[str, object]) -> list[FieldProblem]:
    """Dates that the schema allows and no calendar has; for new edits, not for files."""
    problems: list[FieldProblem] = []
    for name in sorted(DATE_VARIABLES & fields.keys()):
        value = fields[name]
        if not isinstance(value, dict):
            continue
        for place, point in enumerate(value.get("date-parts") or ()):
            problems.extend(
                _check_point(
                    f"{name}.date-parts[{place}]", [_as_integer(part) or 0 for part in point]
                )
            )
        season = _as_integer(value.get("season"))
        if season is not None and not 1 <= season <= _SEASONS:
            problems.append(FieldProblem(f"{name}.season", "a season, 1 to 4", describe(season)))
    return problems


def _check_point(where: str, point: list[int]) -> Iterator[FieldProblem]:
    year, month, day = (*point, 0, 0)[:3]
    if _MONTHS < month < _FIRST_SEASON:
        yield FieldProblem(
            f"{where}[1]", "a month from 1 to 12, or a season from 21 to 24", describe(month)
        )
    elif month >= _FIRST_SEASON and day:
        yield FieldProblem(f"{where}[2]", "absent beside a season", describe(day))
    elif day:
        last = calendar.monthrange(_CALENDAR_YEARS + year % _CALENDAR_YEARS, month)[1]
        if day > last:
            yield FieldProblem(f"{where}[2]", f"a day from 1 to {last}", describe(day))


def check_field(name: str, value: object) -> Iterator[FieldProblem]:
    """What is wrong with the value of one field."""
    if name in NAME_VARIABLES:
        yield from _check_names(name, value)
    elif name in DATE_VARIABLES:
        yield from _check_date(name, value)
    elif name not in VARIABLES:
        expected = f"a CSL variable{_similar(name, VARIABLES)}"
        yield FieldProblem(name, expected, "none that CSL-JSON has")
    elif expected := _check_simple(name, value):
        yield FieldProblem(name, expected, describe(value))


def _check_simple(name: str, value: object) -> str:
    """What should be there instead of the value, or nothing where it is right."""
    if name == "type":
        is_right = isinstance(value, str) and value in ITEM_TYPES
        return "" if is_right else f"one of CSL's types{_similar(str(value), ITEM_TYPES)}"
    if name == "categories":
        is_right = isinstance(value, list) and all(isinstance(entry, str) for entry in value)
        return "" if is_right else "a list of texts"
    if name == "custom":
        return "" if isinstance(value, dict) else "an object"
    if name in NUMBER_VARIABLES or name == "id":
        return "" if isinstance(value, str) or _is_number(value) else "a text or a number"
    return "" if isinstance(value, str) else "a text"


def describe(value: object) -> str:
    """A value as an error may show it: its kind, and the beginning of it where it is short."""
    match value:
        case None:
            return "null"
        case bool():
            return str(value).lower()
        case int() | float():
            return f"the number {value}"[:_LONGEST_SHOWN]
        case str():
            return f"the text {value[:_LONGEST_SHOWN]!r}" if value else "an empty text"
        case list() | tuple():
            return "a list" if value else "an empty list"
        case _:
            return "an object"


def _check_names(variable: str, value: object) -> Iterator[FieldProblem]:
    if not isinstance(value, list):
        yield FieldProblem(variable, A_NAME_LIST, describe(value))
        return
    for place, person in enumerate(value):
        where = f"{variable}[{place}]"
        if not isinstance(person, dict):
            yield FieldProblem(
                where, 'a name such as {"family": "Curie", "given": "Marie"}', describe(person)
            )
            continue
        if not any(
            isinstance(text := person.get(part), str) and text.strip() for part in _NAMING_PARTS
        ):
            yield FieldProblem(where, "a name with family, given or literal", describe(person))
        for part, content in person.items():
            if part in _NAME_TEXTS:
                if not isinstance(content, str):
                    yield FieldProblem(f"{where}.{part}", "a text", describe(content))
            elif part in _NAME_SWITCHES:
                if not isinstance(content, str | bool) and not _is_number(content):
                    yield FieldProblem(f"{where}.{part}", "true or false", describe(content))
            else:
                yield FieldProblem(
                    f"{where}.{part}",
                    f"one of a name's parts{_similar(str(part), NAME_PARTS)}",
                    "none of them",
                )


def _check_date(variable: str, value: object) -> Iterator[FieldProblem]:
    if not isinstance(value, dict):
        yield FieldProblem(variable, A_DATE, describe(value))
        return
    if not any(value.get(part) for part in (*_SAYING_PARTS, "season")):
        yield FieldProblem(variable, A_DATE, "an object that says no date")
    for part, content in value.items():
        where = f"{variable}.{part}"
        if part == "date-parts":
            yield from _check_date_parts(where, content)
        elif part == "season":
            if not isinstance(content, str) and not _is_number(content):
                yield FieldProblem(where, "a season, 1 to 4", describe(content))
        elif part == "circa":
            if not isinstance(content, str | bool) and not _is_number(content):
                yield FieldProblem(where, "true or false", describe(content))
        elif part in _DATE_PARTS:
            if not isinstance(content, str):
                yield FieldProblem(where, "a text", describe(content))
        else:
            yield FieldProblem(
                where, f"one of a date's parts{_similar(str(part), _DATE_PARTS)}", "none of them"
            )


def _check_date_parts(where: str, value: object) -> Iterator[FieldProblem]:
    if not isinstance(value, list) or not 1 <= len(value) <= _MOST_POINTS:
        yield FieldProblem(
            where, "a list of one date or of two, such as [[2020, 5, 17]]", describe(value)
        )
        return
    for place, point in enumerate(value):
        if not isinstance(point, list) or not 1 <= len(point) <= _MOST_PARTS:
            yield FieldProblem(
                f"{where}[{place}]",
                "a list of year, month and day, such as [2020, 5, 17]",
                describe(point),
            )
            continue
        numbers = [_as_integer(part) for part in point]
        if None in numbers:
            yield FieldProblem(
                f"{where}[{place}]",
                "whole numbers for year, month and day",
                f"{point!r}"[:_LONGEST_SHOWN],
            )
            continue
        limits = (
            (_LAST_MONTH_OR_SEASON, "a month from 1 to 12"),
            (_LAST_DAY, "a day from 1 to 31"),
        )
        for at, (number, (most, expected)) in enumerate(
            zip(numbers[1:], limits, strict=False), start=1
        ):
            if number is None or not 1 <= number <= most:
                yield FieldProblem(f"{where}[{place}][{at}]", expected, describe(number))


def _as_integer(part: object) -> int | None:
    if isinstance(part, bool):
        return None
    if isinstance(part, int):
        return part
    if isinstance(part, float) and part.is_integer():
        return int(part)
    if (
        isinstance(part, str)
        and part.strip().removeprefix("-").isdecimal()
        and len(part) <= _LONGEST_SHOWN
    ):
        return int(part)
    return None


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)


def _similar(word: str, known: frozenset[str]) -> str:
    folded = {name.lower(): name for name in known}
    found = difflib.get_close_matches(word[:_LONGEST_SHOWN].lower(), folded, n=3, cutoff=0.6)
    return f", perhaps {' or '.join(folded[name] for name in found)}" if found else ""

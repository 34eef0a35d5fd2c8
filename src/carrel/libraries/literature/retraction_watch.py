"""Reads the Retraction Watch table (CSV) that Crossref publishes."""

from __future__ import annotations

import csv
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import date

from carrel.libraries.identifiers import Doi, NotAnIdentifierError, Pmid
from carrel.libraries.literature.records import Notice, NoticeKind

SERVICE = "retraction_watch"
# Without these a table is not this table.
NEEDED_COLUMNS = frozenset({"Record ID", "OriginalPaperDOI", "RetractionNature"})
# The longest field of the table is a list of addresses and notes; one that is longer is damage.
_MAX_FIELD_CHARACTERS = 1_000_000

_NONE = frozenset({"", "0", "0.0", "unavailable", "n/a", "na", "none", "nan", "null", "unknown"})
# The nature of a notice by a part of its name: "Retraction", "Expression of concern" …
_KINDS: tuple[tuple[str, NoticeKind], ...] = (
    ("retract", "retraction"),
    ("withdraw", "withdrawal"),
    ("remov", "removal"),
    ("concern", "expression_of_concern"),
    ("correct", "correction"),
    ("corrig", "correction"),
    ("errat", "correction"),
)
_REINSTATED = "reinstat"
_DAY = re.compile(r"^(\d{1,2})/(\d{1,2})/(\d{4}|\d{2})(?:\s.*)?$")
_ISO_DAY = re.compile(r"^(\d{4})-(\d{2})-(\d{2})(?:[T\s].*)?$")
_PLACES = re.compile(r"\.0+$")


class NotRetractionWatchError(ValueError):
    """The file is no Retraction Watch table; the message says what is missing."""


@dataclass(frozen=True, slots=True)
class RetractionRow:
    """One row: the keys of the work it is about, and the notice."""

    record: str
    keys: tuple[str, ...]
    notice: Notice


@dataclass(frozen=True, slots=True)
class ReinstatedRow:
    """A row that takes earlier notices about the work back."""

    keys: tuple[str, ...]
    date: str | None


@dataclass(frozen=True, slots=True)
class SkippedRow:
    """A row that names no work, or no kind of notice that is known."""

    line: int
    reason: str


def read_retraction_watch(
    lines: Iterable[str],
) -> Iterator[RetractionRow | ReinstatedRow | SkippedRow]:
    """Each row of the table as it comes. Raises NotRetractionWatchError for another file."""
    csv.field_size_limit(_MAX_FIELD_CHARACTERS)
    reader = csv.DictReader(lines)
    try:
        columns = {(name or "").strip().lstrip("\ufeff") for name in reader.fieldnames or ()}
        if not columns >= NEEDED_COLUMNS:
            missing = ", ".join(sorted(NEEDED_COLUMNS - columns))
            raise NotRetractionWatchError(f"The table has no column {missing}")
        for raw in reader:
            row = {
                (name or "").strip().lstrip("\ufeff"): value.strip()
                for name, value in raw.items()
                if isinstance(value, str)
            }
            found = _read_row(row)
            yield SkippedRow(reader.line_num, found) if isinstance(found, str) else found
    except csv.Error as error:
        raise NotRetractionWatchError(f"Line {reader.line_num} is not CSV: {error}") from error


def read_day(text: str) -> str | None:
    """`7/12/2023 0:00` (month first) as an ISO date; None for no day."""
    if iso := _ISO_DAY.match(text):
        year, month, day = (int(part) for part in iso.groups())
    elif found := _DAY.match(text):
        month, day, year = (int(part) for part in found.groups())
        if year < 100:
            year += 2000 if year < 70 else 1900
    else:
        return None
    try:
        return date(year, month, day).isoformat()
    except ValueError:
        return None


def drop_reinstated(
    rows: Iterable[RetractionRow], reinstated: Iterable[ReinstatedRow]
) -> list[RetractionRow]:
    """The rows that no later reinstatement takes back; a row without a date is taken back too."""
    until: dict[str, str] = {}
    for each in reinstated:
        for key in each.keys:
            until[key] = max(until.get(key, ""), each.date or "9999")
    return [
        row
        for row in rows
        if not any((row.notice.date or "") <= until.get(key, "-") for key in row.keys)
    ]


def _read_row(row: Mapping[str, str]) -> RetractionRow | ReinstatedRow | str:
    """The row, or why it is passed over."""
    nature = row.get("RetractionNature", "").strip().lower()
    keys = []
    if doi := _doi(row.get("OriginalPaperDOI", "")):
        keys.append(f"doi:{doi}")
    if pmid := _pmid(row.get("OriginalPaperPubMedID", "")):
        keys.append(f"pmid:{pmid}")
    if not keys:
        return "names no DOI and no PMID of the work"
    day = read_day(row.get("RetractionDate", ""))
    if _REINSTATED in nature:
        return ReinstatedRow(tuple(keys), day)
    kind = next((kind for part, kind in _KINDS if part in nature), None)
    if kind is None:
        return f"unknown nature {nature[:60]!r}"
    notice = Notice(
        kind=kind,
        date=day,
        doi=_doi(row.get("RetractionDOI", "")),
        pmid=_pmid(row.get("RetractionPubMedID", "")),
        reasons=_reasons(row.get("Reason", "")),
        service=SERVICE,
    )
    record = row.get("Record ID") or "+".join(keys)
    return RetractionRow(_PLACES.sub("", record), tuple(keys), notice)


def _doi(text: str) -> str | None:
    if text.strip().lower() in _NONE:
        return None
    try:
        return Doi.parse(text).value
    except NotAnIdentifierError:
        return None


def _pmid(text: str) -> str | None:
    # Programs that keep tables as numbers write 37476288.0.
    text = _PLACES.sub("", text.strip())
    if text.lower() in _NONE:
        return None
    try:
        return Pmid.parse(text).value
    except NotAnIdentifierError:
        return None


def _reasons(text: str) -> tuple[str, ...]:
    """`+Paper Mill;+Unreliable Results;` as a list, each once."""
    parts = (part.strip().lstrip("+").strip() for part in text.split(";"))
    return tuple(dict.fromkeys(part for part in parts if part and part.lower() not in _NONE))

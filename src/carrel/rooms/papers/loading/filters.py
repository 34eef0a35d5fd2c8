"""Which records of a dump are taken: by year, type, language and subject."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import get_args

import orjson

from carrel.core.errors import InvalidInputError
from carrel.libraries.literature.records import WorkKind, WorkRecord

# In `languages`: records that do not state theirs.
UNKNOWN = "unknown"
_YEARS = re.compile(r"(\d{4})?\s*(\.\.|-|:)?\s*(\d{4})?")
_BETWEEN_WORDS = re.compile(r"[^\w.]+")
_LANGUAGE = re.compile(r"[a-z]{2,3}")
_KINDS: tuple[str, ...] = get_args(WorkKind)
# Words of the services for our kinds.
_OTHER_NAMES = {
    "article": "article-journal",
    "journal-article": "article-journal",
    "book-chapter": "chapter",
    "conference": "paper-conference",
    "conference-paper": "paper-conference",
    "proceedings-article": "paper-conference",
    "dissertation": "thesis",
    "monograph": "book",
    "posted-content": "preprint",
}


@dataclass(frozen=True, slots=True)
class LoadFilters:
    """What is taken; an empty list and None take everything. All that is given must hold."""

    first_year: int | None = None
    last_year: int | None = None
    types: tuple[str, ...] = ()
    languages: tuple[str, ...] = ()
    subjects: tuple[str, ...] = ()

    def to_facts(self) -> dict[str, object]:
        """The filters that say something."""
        facts: dict[str, object] = {}
        if self.first_year is not None or self.last_year is not None:
            facts["years"] = [self.first_year, self.last_year]
        for name in ("types", "languages", "subjects"):
            if value := getattr(self, name):
                facts[name] = list(value)
        return facts

    def __str__(self) -> str:
        return orjson.dumps(self.to_facts()).decode()

    def leave_out(self, work: WorkRecord) -> str | None:
        """The name of the first filter that the work does not meet; None where it meets all."""
        for name, is_met in self._checks(work):
            if not is_met:
                return name
        return None

    def _checks(self, work: WorkRecord) -> Iterator[tuple[str, bool]]:
        if self.first_year is not None or self.last_year is not None:
            yield "years", self._has_year(work.year)
        if self.types:
            yield "types", (work.kind or "other") in self.types
        if self.languages:
            yield "languages", (work.language or UNKNOWN) in self.languages
        if self.subjects:
            names = [name.lower() for name in (*work.subjects, *work.keywords)]
            yield (
                "subjects",
                any(_names(wanted, name) for wanted in self.subjects for name in names),
            )

    def _has_year(self, year: int | None) -> bool:
        if year is None:
            return False
        return (self.first_year or 0) <= year <= (self.last_year or 9999)


NO_FILTERS = LoadFilters()


def _names(wanted: str, name: str) -> bool:
    """Whether a subject is meant: the same, one below it (`cs` of `cs.LG`), or its words in it."""
    if name == wanted or name.startswith(f"{wanted}."):
        return True
    words = " ".join(_BETWEEN_WORDS.split(name))
    return f" {wanted} " in f" {words} "


def make_filters(
    years: str | None,
    types: Sequence[str],
    languages: Sequence[str],
    subjects: Sequence[str],
) -> LoadFilters:
    """The filters of a caller's words; InvalidInputError where one cannot be understood."""
    first, last = _read_years(years)
    return LoadFilters(
        first,
        last,
        tuple(dict.fromkeys(_read_type(each) for each in _split(types))),
        tuple(dict.fromkeys(_read_language(each) for each in _split(languages))),
        tuple(dict.fromkeys(" ".join(each.lower().split()) for each in _split(subjects))),
    )


def _split(values: Sequence[str]) -> Iterator[str]:
    for value in values:
        yield from (part.strip() for part in value.split(",") if part.strip())


def _read_years(text: str | None) -> tuple[int | None, int | None]:
    if text is None or not text.strip():
        return None, None
    found = _YEARS.fullmatch(text.strip())
    first, joint, last = found.groups() if found else (None, None, None)
    if not first and not last:
        raise InvalidInputError(
            f"{text!r} are no years.", next_step="Write 2015..2024, 2015.., ..2024 or 2020."
        )
    if joint is None:
        year = int(first or last or 0)
        return year, year
    start, end = int(first) if first else None, int(last) if last else None
    if start is not None and end is not None and start > end:
        raise InvalidInputError(
            f"{text!r} ends before it begins.", next_step="Write the earlier year first."
        )
    return start, end


def _read_type(text: str) -> str:
    name = text.lower()
    name = _OTHER_NAMES.get(name, name)
    if name not in _KINDS:
        raise InvalidInputError(
            f"{text!r} is no type of work.", next_step=f"Types are {', '.join(_KINDS)}."
        )
    return name


def _read_language(text: str) -> str:
    name = text.lower()
    if name != UNKNOWN and not _LANGUAGE.fullmatch(name):
        raise InvalidInputError(
            f"{text!r} is no code of a language.",
            next_step="Write codes such as en or de, and unknown for records that state none.",
        )
    return name

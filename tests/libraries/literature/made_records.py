"""Records of services as tests make them: a work in few words."""

from __future__ import annotations

from typing import Any

from carrel.libraries.literature.records import (
    Author,
    ServiceRecord,
    Venue,
    WorkIds,
    WorkRecord,
)

TITLE = "Effects of sleep loss on memory consolidation in older adults"
PEOPLE = "Ann B. Smith; Carlos García; Wei Zhang"


def people(names: str) -> tuple[Author, ...]:
    """`Ann B. Smith; Wei Zhang` as authors."""
    parted = [name.strip().rpartition(" ") for name in names.split(";") if name.strip()]
    return tuple(Author(family=family, given=given) for given, _, family in parted)


def make_record(
    service: str,
    *,
    title: str = TITLE,
    authors: str = PEOPLE,
    issued: str | None = "2019",
    ids: dict[str, str] | None = None,
    venue: str = "",
    rank: int | None = None,
    citations: int | None = None,
    name: str = "",
    **fields: Any,
) -> ServiceRecord:
    known = WorkIds(**(ids or {}))
    work = WorkRecord(
        ids=known,
        title=title,
        authors=people(authors),
        issued=issued,
        venue=Venue(venue),
        **fields,
    )
    own = name or "/".join(known.keys()) or f"{title} {issued}"
    return ServiceRecord(service, own, work, rank, citations)

"""Which of the records of an answer belongs to which identifier that was asked for."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from carrel.libraries.identifiers import Identifier
from carrel.libraries.literature.records import CitedWorkRecord, Notice, ServiceRecord, WorkRecord
from carrel.libraries.literature.work_names import has_name

_MOST_NAMES = 10


def fits_quotes(identifier: Identifier) -> bool:
    """Whether it cannot end the quotation marks that it stands in, and so ask for other works.

    In a list with others it would crowd out their records.
    """
    return not set(identifier.value) & set('"\\')


def match_records(
    identifiers: Iterable[Identifier], records: Sequence[ServiceRecord]
) -> list[tuple[Identifier, ServiceRecord]]:
    """Each identifier with the first record that has it; those without one are left out."""
    found: list[tuple[Identifier, ServiceRecord]] = []
    for identifier in identifiers:
        record = next((each for each in records if has_name(each.work.ids, identifier)), None)
        if record is not None:
            found.append((identifier, record))
    return found


def list_notices(
    found: Iterable[tuple[Identifier, ServiceRecord]],
) -> tuple[tuple[Identifier, Notice], ...]:
    """The notices of records, each beside the identifier that was asked for."""
    return tuple(
        (identifier, notice) for identifier, record in found for notice in record.work.notices
    )


def as_cited_work(work: WorkRecord) -> CitedWorkRecord:
    """A whole record as the entry of a list of citations."""
    names = (author.literal or f"{author.given} {author.family}".strip() for author in work.authors)
    return CitedWorkRecord(
        ids=work.ids,
        title=work.title,
        authors=tuple(name for name, _ in zip(names, range(_MOST_NAMES), strict=False)),
        year=work.year,
        venue=work.venue.name,
    )

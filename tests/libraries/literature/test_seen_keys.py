"""A work is known again by identifiers of its records and versions, else by what names it."""

from __future__ import annotations

from carrel.libraries.literature.records import (
    Author,
    MergedWork,
    ServiceRecord,
    VersionPointer,
    WorkIds,
    WorkRecord,
)
from carrel.libraries.literature.seen_keys import list_seen_keys, list_title_keys

TITLE = "Sleep spindles of whales and other mammals of the sea"


def work(title: str = TITLE, issued: str | None = "2026", **ids: str) -> WorkRecord:
    return WorkRecord(WorkIds(**ids), title, authors=(Author("Moor", "Ada"),), issued=issued)


def merged(*records: WorkRecord) -> MergedWork:
    listed = tuple(ServiceRecord("crossref", str(at), each) for at, each in enumerate(records))
    return MergedWork(records[0], {}, listed)


def test_records_and_versions_give_keys() -> None:
    article = WorkRecord(
        WorkIds(doi="10.1/a", isbn="9780000000002"),
        TITLE,
        versions=(VersionPointer("published_as", WorkIds(doi="10.1/v")),),
    )
    keys = list_seen_keys(merged(article, work(arxiv="2603.00001")))
    assert {"doi:10.1/a", "doi:10.1/v", "arxiv:2603.00001", "doi:10.48550/arxiv.2603.00001"} <= set(
        keys
    )
    assert not any(key.startswith("isbn:") for key in keys)


def test_titles_are_keys_where_years_are_at_most_one_apart() -> None:
    def share(one: WorkRecord, other: WorkRecord) -> bool:
        return not set(list_title_keys(one)).isdisjoint(list_title_keys(other))

    assert share(work(), work(f"<i>{TITLE}</i>."))
    assert share(work(), work(issued="2027-01"))
    assert share(work(), work(issued="2025"))
    assert not share(work(), work(issued="2028"))
    assert not share(work(), work(f"{TITLE}, part II"))
    assert not share(work(), WorkRecord(title=TITLE, authors=(Author("Other"),), issued="2026"))


def test_titles_that_many_works_have_are_no_keys() -> None:
    for title in ("Editorial", f"Correction to: {TITLE}", "Reply", ""):
        assert list_title_keys(work(title)) == ()
    assert list_title_keys(work(issued=None)) == ()

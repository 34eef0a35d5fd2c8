"""Stands in for libraries.literature.merging until it is there."""

from collections.abc import Sequence
from typing import Any

from carrel.libraries.literature.records import MergedWork, ServiceRecord, WorkRecord
from carrel.libraries.query.papers import PaperQuery


def merge_records(records: Sequence[ServiceRecord]) -> list[MergedWork]:
    return [MergedWork(record.work, {}, (record,)) for record in records]


def rank_works(works: Sequence[MergedWork], query: PaperQuery) -> list[MergedWork]:
    return list(works)


def csl_item(work: WorkRecord) -> dict[str, Any]:
    return {"title": work.title, "DOI": work.ids.doi or ""}

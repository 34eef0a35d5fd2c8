"""Identifiers that a source claims and that belong to another paper."""

from __future__ import annotations

from dataclasses import replace

from carrel.rooms.papers.building.paper_groups import PaperGroup
from carrel.rooms.papers.building.paper_keys import KeyKind, paper_keys
from carrel.rooms.papers.building.paper_records import OtherValue, PaperRecord

_FIELDS = {
    KeyKind.DOI: "doi",
    KeyKind.ARXIV: "arxiv_id",
    KeyKind.PMID: "pmid",
    KeyKind.PMCID: "pmcid",
    KeyKind.OPENALEX: "openalex_id",
}


def drop_claimed(record: PaperRecord, group: PaperGroup) -> PaperRecord:
    """The record without identifiers that were refused it; they stay as what a source says."""
    if not group.conflicts:
        return record
    own = {key.value for key in group.keys}
    refused = {
        _FIELDS[key.kind]
        for key in paper_keys(record)
        if key.kind in _FIELDS and key.value not in own
    }
    claimed = {name: value for name in sorted(refused) if (value := getattr(record, name))}
    if not claimed:
        return record
    others = tuple(
        OtherValue(name, value, (origin := record.origin_of(name)).origin, origin.confidence)
        for name, value in claimed.items()
    )
    unknown: dict[str, None] = dict.fromkeys(claimed)
    return replace(record, other_values=(*record.other_values, *others), **unknown)  # type: ignore[arg-type]

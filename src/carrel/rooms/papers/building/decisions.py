"""Decisions of people about papers, and the records and fields that they are about."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from carrel.rooms.papers.building.paper_keys import KeyKind, PaperKey, paper_keys
from carrel.rooms.papers.building.paper_records import FieldOrigin, PaperRecord
from carrel.rooms.papers.paper_names import former_id_key

Action = Literal["edit", "merge", "split", "remove", "undo", "join"]
"""`join` is written by Carrel itself, where a published paper became part of another one."""

FieldValue = str | tuple[str, ...] | None

# The fields of a record that are lists, of those that a person may set or clear.
LIST_FIELDS = frozenset({"authors", "keywords", "tags", "institutions", "editors"})

# Sources of these readers hold one record, which is known by its file alone.
_ONE_RECORD_READERS = frozenset({"pdf", "markdown", "jats"})
_IDENTIFIERS = ("doi:", "arxiv:", "pmid:", "pmcid:", "openalex:")
_LABEL = "bib:"
_FIELD_OF_KEY = {"doi:": "doi", "arxiv:": "arxiv_id", "pmid:": "pmid", "pmcid:": "pmcid"}


@dataclass(frozen=True, slots=True)
class RecordAddress:
    """How a decision names a record, so that it is found after its source was read again.

    `file` is the hash of the PDF that the record was read from.
    """

    path: str
    reader: str
    place: int
    digest: str
    keys: tuple[str, ...]
    file: str | None = None

    def names(self) -> tuple[str, ...]:
        """Texts by which the decision and the record find each other, by any one of them."""
        found = [key for key in self.keys if not key.startswith(_LABEL)]
        # Labels such as `smith2020` are only unique within their file.
        found += [f"in:{self.path}\n{key}" for key in self.keys if key.startswith(_LABEL)]
        if self.reader in _ONE_RECORD_READERS:
            found.append(f"in:{self.path}")
        if self.file:
            found.append(f"file:{self.file}")
        return tuple(found)


def compare_addresses(decided: RecordAddress, found: RecordAddress) -> int:
    """How surely a record is the one that was decided about; 0 where it is not.

    The same content, wherever it lies, is surer than the same place with a common name, and that is
    surer than the same DOI elsewhere, which counts only where nothing better is left.
    """
    is_same_path = decided.path == found.path
    if decided.digest == found.digest:
        return 5 if is_same_path and decided.place == found.place else 4 if is_same_path else 3
    if decided.file and decided.file == found.file:
        return 3
    shared = set(decided.keys) & set(found.keys)
    if is_same_path and (shared or decided.reader in _ONE_RECORD_READERS):
        return 2
    return 1 if any(key.startswith(_IDENTIFIERS) for key in shared) else 0


def find_record(decided: RecordAddress, found: Mapping[int, RecordAddress]) -> frozenset[int]:
    """The records that an address names now: the surest ones, all of them where they are equal."""
    sureness = {
        record_id: sure
        for record_id, address in found.items()
        if (sure := compare_addresses(decided, address))
    }
    most = max(sureness.values(), default=0)
    return frozenset(record_id for record_id, sure in sureness.items() if sure == most)


@dataclass(frozen=True, slots=True)
class PaperThen:
    """A paper and its records when something was decided about it."""

    paper_id: str
    title: str
    records: tuple[RecordAddress, ...] = ()


@dataclass(frozen=True, slots=True)
class FieldChange:
    """A field that a person set, or cleared where `after` is None."""

    field: str
    before: FieldValue
    after: FieldValue


@dataclass(frozen=True, slots=True)
class Decision:
    """One decision. `counts` is false once it is undone.

    The papers of a merge are those that became one, the one whose id stays first; those of a split
    are the parts, the one that keeps the id first.
    """

    number: int
    at: str
    who: str
    action: Action
    papers: tuple[PaperThen, ...]
    changes: tuple[FieldChange, ...] = ()
    undoes: int | None = None
    counts: bool = True
    undone_by: int | None = None

    def records(self) -> tuple[RecordAddress, ...]:
        return tuple(record for paper in self.papers for record in paper.records)

    def names(self) -> frozenset[str]:
        """Texts by which whoever looks at a record or a paper finds the decision."""
        ids = (former_id_key(paper.paper_id) for paper in self.papers)
        edited = (key for key in _edited_keys(self.changes))
        records = (name for record in self.records() for name in record.names())
        return frozenset((*ids, *edited, *records))


def file_hash(record: PaperRecord) -> str | None:
    """The hash of the PDF that a record was read from; short texts are too often the same."""
    return record.pdf_sha256


def _edited_keys(changes: Iterable[FieldChange]) -> tuple[str, ...]:
    facts = {each.field: each.after for each in changes if each.field in _FIELD_OF_KEY.values()}
    record = replace(PaperRecord(""), **{name: value for name, value in facts.items() if value})  # type: ignore[arg-type]
    return tuple(key.value for key in paper_keys(record))


def apply_edits(record: PaperRecord, edits: Sequence[Decision]) -> PaperRecord:
    """The record with what people set; what they cleared is unknown, whatever a source says."""
    changes = {change.field: change.after for edit in edits for change in edit.changes}
    if not changes:
        return record
    values = {
        name: () if value is None and name in LIST_FIELDS else value
        for name, value in changes.items()
    }
    origins = tuple(origin for origin in record.origins if origin.field not in changes)
    decided = tuple(FieldOrigin(name, "person", 1.0) for name in values)
    others = tuple(other for other in record.other_values if other.field not in changes)
    return replace(
        record,
        **values,  # type: ignore[arg-type]
        origins=(*origins, *decided),
        other_values=others,
    )


def edited_record_keys(record: PaperRecord, edits: Sequence[Decision]) -> tuple[PaperKey, ...]:
    """The keys of a record with its edits, and the one of its title as the source has it.

    By that one, another copy of the source is still known as the same work.
    """
    own = paper_keys(record)
    if not edits:
        return own
    edited = paper_keys(apply_edits(record, edits))
    values = {key.value for key in edited}
    written = (key for key in own if key.kind is KeyKind.META and key.value not in values)
    return (*edited, *written)


def drop_replaced_keys(keys: Sequence[PaperKey], edits: Sequence[Decision]) -> tuple[PaperKey, ...]:
    """The keys of a paper without identifiers that people replaced or cleared."""
    changes = {change.field: change.after for edit in edits for change in edit.changes}
    replaced = {prefix for prefix, name in _FIELD_OF_KEY.items() if name in changes}
    kept = set(
        _edited_keys(tuple(FieldChange(name, None, after) for name, after in changes.items()))
    )
    return tuple(
        key
        for key in keys
        if key.value in kept or not any(key.value.startswith(prefix) for prefix in replaced)
    )

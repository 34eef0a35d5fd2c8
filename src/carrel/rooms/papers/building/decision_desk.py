"""Makes decisions about papers of a corpus, from what its build state knows of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import PurePath

from carrel.core.errors import ConflictError, InvalidInputError
from carrel.rooms.papers.building.decisions import (
    Action,
    Decision,
    FieldChange,
    FieldValue,
    PaperThen,
    RecordAddress,
    apply_edits,
)
from carrel.rooms.papers.building.merging import merge_records
from carrel.rooms.papers.building.paper_groups import RecordJoin
from carrel.rooms.papers.building.paper_keys import make_paper_id
from carrel.rooms.papers.building.paper_records import PaperRecord
from carrel.rooms.papers.building.planning import KnownPaper, LinkedRecords
from carrel.rooms.papers.building.ports import BuildState
from carrel.rooms.papers.errors import DecisionNotFoundError, PaperChangedError, PaperNotFoundError
from carrel.rooms.papers.paper_names import bare_paper_id, former_id_key, paper_keys

# Who decides what nobody decided.
OWN_NAME = "carrel"
_VERSION_HEX = 12
_MAX_PARTS = 100


@dataclass(frozen=True, slots=True)
class DecisionDraft:
    """A decision before it is known who makes it, and when."""

    action: Action
    papers: tuple[PaperThen, ...]
    changes: tuple[FieldChange, ...] = ()
    undoes: int | None = None

    def by(self, who: str, at: str) -> Decision:
        return Decision(0, at, who, self.action, self.papers, self.changes, self.undoes)


@dataclass(frozen=True, slots=True)
class PaperNow:
    """A paper after a decision: its merged record, its version, and where its records come from."""

    paper_id: str
    record: PaperRecord
    version: str
    records: tuple[RecordAddress, ...]


@dataclass(frozen=True, slots=True)
class DecisionResult:
    """A decision that was made, and the papers that it is about as they are now."""

    number: int
    decision: Decision
    papers: tuple[PaperNow, ...]
    is_changed: bool


@dataclass(frozen=True, slots=True)
class PublishedRecords:
    """A paper of the corpus with its records, in the order of trust."""

    paper_id: str
    version: str
    record_ids: tuple[int, ...]
    records: tuple[PaperRecord, ...]
    addresses: tuple[RecordAddress, ...]
    merged: PaperRecord

    def then(self) -> PaperThen:
        return PaperThen(self.paper_id, self.merged.title, self.addresses)


def version_name(digest: bytes) -> str:
    """The version of a paper, which changes whenever anything of it does."""
    return digest.hex()[:_VERSION_HEX]


class DecisionDesk:
    """Reads papers with their records and decisions, and drafts new ones. Changes nothing."""

    def __init__(self, state: BuildState) -> None:
        self._state = state

    def find(self, name: str, expected_version: str | None = None) -> PublishedRecords:
        """The paper of an id (also one that it had), a DOI, an arXiv id or an address.

        Raises PaperNotFoundError, and PaperChangedError where its version is not the expected one.
        """
        known = self._find_known(name)
        if known is None or known.is_removed or known.row is None:
            raise PaperNotFoundError(name, is_identifier=bool(paper_keys(name)))
        found = self._read(known)
        if expected_version is not None and expected_version != found.version:
            raise PaperChangedError(found.paper_id, expected_version, found.version)
        return found

    def removal(self, name: str, expected_version: str | None = None) -> DecisionDraft:
        return DecisionDraft("remove", (self.find(name, expected_version).then(),))

    def edit(
        self, name: str, values: Mapping[str, FieldValue], expected_version: str | None = None
    ) -> DecisionDraft:
        """Set fields, clear those whose value is None; InvalidInputError where nothing changes."""
        paper = self.find(name, expected_version)
        changes = tuple(
            FieldChange(field, _shown(paper.merged, field), value)
            for field, value in values.items()
            if _shown(paper.merged, field) != value
            or paper.merged.origin_of(field).origin != "person"
        )
        if not changes:
            raise InvalidInputError(
                "The paper says so already; nothing was changed.",
                next_step="Name a field with another value.",
                details={"paper_id": paper.paper_id, "fields": sorted(values)},
            )
        return DecisionDraft("edit", (paper.then(),), changes)

    def merge(self, names: Sequence[str], expected_version: str | None = None) -> DecisionDraft:
        """Make several papers one; the first keeps its id."""
        papers = {
            paper.paper_id: paper
            for at, name in enumerate(names)
            for paper in [self.find(name, expected_version if at == 0 else None)]
        }
        if len(papers) < 2:
            raise InvalidInputError(
                "These names are all of one paper already.",
                next_step="Name at least two different papers; carrel papers history PAPER shows "
                "what a paper is made of.",
                details={"paper_id": next(iter(papers))},
            )
        return DecisionDraft("merge", tuple(paper.then() for paper in papers.values()))

    def split(
        self,
        name: str,
        records: Sequence[int | str] = (),
        expected_version: str | None = None,
    ) -> DecisionDraft:
        """Take some records of a paper out as a paper of their own, or each one without any named.

        The part with most records keeps the id, of equal ones the one with the first record.
        """
        paper = self.find(name, expected_version)
        if len(paper.addresses) < 2:
            raise InvalidInputError(
                "The paper is made of one record and cannot be split.",
                next_step="edit corrects its fields, remove takes it out.",
                details={"paper_id": paper.paper_id},
            )
        parts = _choose_parts(paper, records)
        ids = self._ids_of_parts(paper, parts)
        return DecisionDraft(
            "split",
            tuple(
                PaperThen(
                    paper_id,
                    merge_records([paper.records[at] for at in part]).title,
                    tuple(paper.addresses[at] for at in part),
                )
                for paper_id, part in zip(ids, parts, strict=True)
            ),
        )

    def undo(self, name: str | None = None, number: int | None = None) -> DecisionDraft:
        """Undo a decision by its number, else the last one about a paper, else the last of all.

        Undoing an undoing makes the decision count again. Papers that Carrel joined by itself are
        split. Raises DecisionNotFoundError.
        """
        decision = self._find_to_undo(name, number)
        if not decision.counts:
            raise InvalidInputError(
                f"Decision {decision.number} is undone already, by decision {decision.undone_by}.",
                next_step=f"Undo {decision.undone_by} to make it count again.",
                details={"number": decision.number, "undone_by": decision.undone_by},
            )
        papers = tuple(PaperThen(each.paper_id, each.title) for each in decision.papers)
        if decision.action == "join":
            return DecisionDraft("split", decision.papers)
        return DecisionDraft("undo", papers, undoes=decision.number)

    def join(
        self, paper_id: str, gone_id: str, records: frozenset[int], linked: LinkedRecords
    ) -> DecisionDraft:
        """What to remember of a paper that became part of another by itself."""
        others = [at for at, each in linked.paper_of.items() if each == paper_id]
        return DecisionDraft(
            "join", (self._then(paper_id, others), self._then(gone_id, sorted(records)))
        )

    def returns(self, paper_id: str) -> list[DecisionDraft]:
        """The undoing of a removal by whoever adds the paper again."""
        return [
            DecisionDraft("undo", (PaperThen(paper_id, each.papers[0].title),), undoes=each.number)
            for each in self._state.decisions_about(paper_id, ())
            if each.action == "remove" and each.counts and each.papers[0].paper_id == paper_id
        ]

    def history(self, name: str) -> tuple[str, PublishedRecords | None, list[Decision]]:
        """A paper's id, the paper (None where it was removed), and its decisions, newest first."""
        known = self._find_known(name)
        if known is None:
            raise PaperNotFoundError(name, is_identifier=bool(paper_keys(name)))
        is_gone = known.is_removed or known.row is None
        paper = None if is_gone else self._read(known)
        record_ids = () if paper is None else paper.record_ids
        return known.paper_id, paper, self._state.decisions_about(known.paper_id, record_ids)

    def leads_to(self, former_id: str, paper_id: str) -> bool:
        """Whether an id has no paper of its own and stands for this one."""
        if self._state.known_paper(former_id) is not None:
            return False
        return self._state.paper_id_by_keys((former_id_key(former_id),)) == paper_id

    def joins(self, paper_id: str) -> tuple[RecordJoin, ...]:
        """Why records of a paper are one though no identifier says so."""
        return self._state.paper_links(paper_id).joins

    def all_decisions(self, count: int) -> list[Decision]:
        """The newest decisions about any paper."""
        return self._state.list_decisions(0, count)

    def _find_known(self, name: str) -> KnownPaper | None:
        keys, bare = paper_keys(name), bare_paper_id(name)
        if bare is not None:
            found = self._state.known_paper(bare)
            if found is not None:
                return found[0]
            keys = (former_id_key(bare), *keys)
        paper_id = self._state.paper_id_by_keys(keys)
        found = None if paper_id is None else self._state.known_paper(paper_id)
        return None if found is None else found[0]

    def _read(self, known: KnownPaper) -> PublishedRecords:
        found = self._state.known_paper(known.paper_id)
        assert found is not None
        linked = self._state.linked_with(found[1])
        order = {claim.record_id: claim.order for claim in linked.claims}
        record_ids = tuple(sorted(found[1], key=lambda record_id: order[record_id]))
        records = tuple(self._state.records(record_ids))
        merged = merge_records(records, linked.decided.places_of(record_ids))
        merged = apply_edits(merged, linked.decided.edits_of(record_ids))
        return PublishedRecords(
            known.paper_id,
            version_name(known.digest),
            record_ids,
            records,
            self._state.record_addresses(record_ids),
            merged,
        )

    def _then(self, paper_id: str, record_ids: Sequence[int]) -> PaperThen:
        records = self._state.records(record_ids)
        title = merge_records(records).title if records else ""
        return PaperThen(paper_id, title, self._state.record_addresses(record_ids))

    def _find_to_undo(self, name: str | None, number: int | None) -> Decision:
        if number is not None:
            found = self._state.find_decision(number)
            if found is None:
                raise DecisionNotFoundError(str(number))
            return found
        if name is None:
            candidates = self._state.list_decisions(0, _MAX_PARTS)
        else:
            candidates = self.history(name)[2]
        for each in candidates:
            # Of its own, `undo` goes back in time; it undoes an undoing only where asked to.
            if each.counts and each.action not in {"undo", "join"}:
                return each
        raise DecisionNotFoundError("none that can be undone")

    def _ids_of_parts(self, paper: PublishedRecords, parts: Sequence[Sequence[int]]) -> list[str]:
        """The paper's own id for the first part; for each other one that no paper has."""
        ids = [paper.paper_id]
        earlier = self._state.linked_with(paper.record_ids).decided.ids
        for part in parts[1:]:
            chosen = frozenset(paper.record_ids[at] for at in part)
            had = [each for each, records in earlier if records and records <= chosen]
            natives = [make_paper_id(key) for at in part for key in paper.addresses[at].keys]
            first = paper.addresses[part[0]]
            own = make_paper_id(f"record:{PurePath(first.path).name}:{first.place}:{first.digest}")
            ids.append(
                next(
                    each
                    for each in (*had, *natives, own, make_paper_id(f"{own}:{len(ids)}"))
                    if each not in ids and self._state.known_paper(each) is None
                )
            )
        return ids


def _choose_parts(paper: PublishedRecords, records: Sequence[int | str]) -> list[list[int]]:
    """Places of records by part, the part that keeps the id first."""
    places = range(len(paper.addresses))
    if not records:
        if len(paper.addresses) > _MAX_PARTS:
            raise InvalidInputError(
                f"The paper has {len(paper.addresses)} records.",
                next_step="Name the records that are another paper.",
                details={"paper_id": paper.paper_id, "records": len(paper.addresses)},
            )
        return [[at] for at in places]
    chosen = {at for name in records for at in _find_records(paper, name)}
    if len(chosen) == len(paper.addresses):
        raise InvalidInputError(
            "These are all records of the paper.",
            next_step="Leave out those that stay, or name none to make each a paper of its own.",
            details={"paper_id": paper.paper_id},
        )
    parts = [[at for at in places if at not in chosen], sorted(chosen)]
    return sorted(parts, key=lambda part: (-len(part), part[0]))


def _find_records(paper: PublishedRecords, name: int | str) -> list[int]:
    """The places of a record by its number in the history, or by the name of its source."""
    text = str(name).strip()
    if text.isdecimal() and 1 <= int(text) <= len(paper.addresses):
        return [int(text) - 1]
    found = [
        at
        for at, address in enumerate(paper.addresses)
        if text and text in {address.path, source_name(address)}
    ]
    if not found:
        raise ConflictError(
            f"The paper has no record {text[:120]!r}.",
            next_step="paper_history lists its records with their numbers and sources.",
            details={"paper_id": paper.paper_id, "records": len(paper.addresses)},
        )
    return found


def source_name(address: RecordAddress) -> str:
    """The name of a record's source, without the folders of this machine."""
    return PurePath(address.path).name


def _shown(record: PaperRecord, field: str) -> FieldValue:
    value: FieldValue = getattr(record, field)
    return value or None

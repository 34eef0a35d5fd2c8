"""What decisions mean for linked records: which are together, apart, edited or removed."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from carrel.rooms.papers.building.decisions import Decision, RecordAddress, find_record


@dataclass(frozen=True, slots=True)
class DecidedLinks:
    """What decisions mean for some linked records, by the numbers that the records have now.

    `together` are disjoint sets of records of one paper. Each entry of `apart` is a split: its
    parts are different papers, unless a later merge joined them. `edits` are in the order in which
    they were made. `ids` are identifiers with the records they stand for, the most telling first.
    `removed` and `restored` are papers whose removal counts, or counts no more. `leading` are the
    records of the papers that were named first in merges, the latest merge first.
    """

    together: tuple[frozenset[int], ...] = ()
    apart: tuple[tuple[frozenset[int], ...], ...] = ()
    edits: tuple[tuple[Decision, frozenset[int]], ...] = ()
    ids: tuple[tuple[str, frozenset[int]], ...] = ()
    removed: frozenset[str] = frozenset()
    restored: frozenset[str] = frozenset()
    leading: tuple[frozenset[int], ...] = ()

    def places_of(self, record_ids: Sequence[int]) -> tuple[int, ...]:
        """Whose word counts first among equals; nothing where no merge says so."""
        leads = [lead for lead in self.leading if lead.intersection(record_ids)]
        ranks = [tuple(record_id not in lead for lead in leads) for record_id in record_ids]
        ordered = sorted(set(ranks))
        return tuple(map(ordered.index, ranks)) if len(ordered) > 1 else ()

    def edits_of(self, record_ids: Iterable[int]) -> tuple[Decision, ...]:
        """The edits of a paper that is made of these records."""
        wanted = frozenset(record_ids)
        return tuple(edit for edit, records in self.edits if records & wanted)


NOTHING_DECIDED = DecidedLinks()


@dataclass(slots=True)
class _Union:
    """Records that belong together, and the parts of splits that they are in."""

    records: set[int]
    parts: dict[int, set[int]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class ResolvedDecision:
    """A decision, with the records that each of its papers has now."""

    decision: Decision
    records: tuple[frozenset[int], ...]

    @property
    def all_records(self) -> frozenset[int]:
        return frozenset().union(*self.records)


def resolve_decision(decision: Decision, found: Mapping[int, RecordAddress]) -> ResolvedDecision:
    """Find the records of a decision; one that fits several parts as well belongs to none."""
    records = [
        frozenset().union(*(find_record(address, found) for address in paper.records))
        for paper in decision.papers
    ]
    doubtful = {
        record_id
        for at, mine in enumerate(records)
        for other in records[at + 1 :]
        for record_id in mine & other
    }
    return ResolvedDecision(decision, tuple(mine - doubtful for mine in records))


def combine_decisions(resolved: Sequence[ResolvedDecision]) -> DecidedLinks:
    """What all decisions about some records mean together: a later one goes before earlier ones."""
    if not resolved:
        return NOTHING_DECIDED
    ordered = sorted(resolved, key=lambda each: each.decision.number)
    counting = [each for each in ordered if each.decision.counts]
    undone = [each for each in ordered if not each.decision.counts]
    together, apart = _combine_links(counting)
    return DecidedLinks(
        together,
        apart,
        tuple(_combine_edits(counting, undone)),
        tuple(_combine_ids(ordered, counting, undone)),
        *_combine_removals(ordered),
        leading=tuple(
            each.records[0] for each in reversed(counting) if each.decision.action == "merge"
        ),
    )


def _combine_links(
    counting: Sequence[ResolvedDecision],
) -> tuple[tuple[frozenset[int], ...], tuple[tuple[frozenset[int], ...], ...]]:
    unions: dict[int, _Union] = {}
    apart: list[tuple[frozenset[int], ...]] = []
    for each in reversed(counting):
        decision = each.decision
        if decision.action == "split":
            for part, records in enumerate(each.records):
                for record_id in records:
                    mine = unions.setdefault(record_id, _Union({record_id}))
                    mine.parts.setdefault(decision.number, set()).add(part)
            apart.append(each.records)
        elif decision.action == "merge":
            _unite(unions, sorted(each.all_records))
    distinct = {id(union): union for union in unions.values()}
    together = tuple(
        frozenset(union.records) for union in distinct.values() if len(union.records) > 1
    )
    return together, tuple(apart)


def _unite(unions: dict[int, _Union], record_ids: Sequence[int]) -> None:
    """Join each record with the first ones that no later split keeps it from."""
    for at, record_id in enumerate(record_ids):
        mine = unions.setdefault(record_id, _Union({record_id}))
        for other_id in record_ids[:at]:
            other = unions[other_id]
            if other is mine:
                break
            if any(
                not mine.parts[number] & other.parts[number]
                for number in mine.parts.keys() & other.parts.keys()
            ):
                continue
            other.records |= mine.records
            for number, parts in mine.parts.items():
                other.parts.setdefault(number, set()).update(parts)
            for joined in mine.records:
                unions[joined] = other
            break


def _combine_edits(
    counting: Sequence[ResolvedDecision], undone: Sequence[ResolvedDecision]
) -> Iterable[tuple[Decision, frozenset[int]]]:
    """Edits with the records that they still stand for.

    What left the edited paper by a later split has left the edit as well; so has what came into it
    by an earlier merge that was undone.
    """
    for each in counting:
        edit = each.decision
        if edit.action != "edit":
            continue
        paper_id = edit.papers[0].paper_id
        records = _without_undone_merges(paper_id, each.all_records, edit.number, undone)
        for split in counting:
            decision = split.decision
            is_later = decision.action == "split" and decision.number > edit.number
            if is_later and decision.papers[0].paper_id == paper_id:
                records = records.difference(*split.records[1:])
        if records:
            yield edit, records


def _without_undone_merges(
    paper_id: str, records: frozenset[int], number: int, undone: Sequence[ResolvedDecision]
) -> frozenset[int]:
    """Records of a paper in a decision, without those that an earlier, undone merge brought."""
    for each in undone:
        decision = each.decision
        is_earlier = decision.action == "merge" and decision.number < number
        if is_earlier and decision.papers[0].paper_id == paper_id:
            records = records.difference(*each.records[1:])
    return records


def _combine_ids(
    ordered: Sequence[ResolvedDecision],
    counting: Sequence[ResolvedDecision],
    undone: Sequence[ResolvedDecision],
) -> Iterable[tuple[str, frozenset[int]]]:
    """Identifiers by what counts, the latest merge or split first, then as they first were."""
    decisive = [each for each in counting if each.decision.action in {"merge", "split"}]
    for each in (*reversed(decisive), *ordered):
        decision = each.decision
        for at, (paper, records) in enumerate(zip(decision.papers, each.records, strict=True)):
            own = _without_undone_merges(paper.paper_id, records, decision.number, undone)
            # A merged paper keeps its id when the records that brought it are gone.
            is_left = at == 0 and decision.action == "merge" and decision.counts and not records
            yield paper.paper_id, each.all_records if is_left else own


def _combine_removals(
    ordered: Sequence[ResolvedDecision],
) -> tuple[frozenset[str], frozenset[str]]:
    removals = [each.decision for each in ordered if each.decision.action == "remove"]
    removed = frozenset(each.papers[0].paper_id for each in removals if each.counts)
    return removed, frozenset(each.papers[0].paper_id for each in removals) - removed

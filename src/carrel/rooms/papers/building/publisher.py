"""Links what was touched and publishes what that changed, in one new manifest."""

from __future__ import annotations

import uuid
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace

from carrel.core.caller import LOCAL_USER
from carrel.core.clock import Clock
from carrel.core.progress import Progress
from carrel.rooms.papers.building.build_reports import ReportLine
from carrel.rooms.papers.building.claimed_identifiers import drop_claimed
from carrel.rooms.papers.building.decision_desk import (
    OWN_NAME,
    DecisionDesk,
)
from carrel.rooms.papers.building.decisions import apply_edits
from carrel.rooms.papers.building.doubts import name_sources
from carrel.rooms.papers.building.link_reports import join_lines
from carrel.rooms.papers.building.merging import merge_records
from carrel.rooms.papers.building.paper_records import PaperRecord, RelatedWork
from carrel.rooms.papers.building.papers import (
    PaperVersion,
    PublishedPaper,
    add_summaries,
    asset_paths,
    collect_summaries,
)
from carrel.rooms.papers.building.planning import (
    LinkedPlan,
    LinkedRecords,
    PaperChange,
    PaperLink,
    PlannedPaper,
    plan_linked,
)
from carrel.rooms.papers.building.ports import BuildStores, Publication

# Papers of one segment of a whole build: 40 of them hold a million.
SEGMENT_PAPERS = 25_000


@dataclass(slots=True)
class PublicationOutcome:
    """What one publication changed."""

    build_id: str
    added: int = 0
    changed: int = 0
    removed: int = 0
    # Papers of the sources that somebody waits for.
    asked_for: list[PlannedPaper] = field(default_factory=list)
    joins: list[ReportLine] = field(default_factory=list)

    @property
    def is_changed(self) -> bool:
        return bool(self.added or self.changed or self.removed)


class CorpusPublisher:
    """Publishes one corpus; the caller holds its lock."""

    def __init__(
        self, stores: BuildStores, clock: Clock, segment_papers: int = SEGMENT_PAPERS
    ) -> None:
        self._state = stores.state
        self._corpus = stores.corpus
        self._assets = stores.assets
        self._summaries = stores.summaries
        self._block_list = stores.block_list
        self._clock = clock
        self._segment_papers = segment_papers
        # By record: texts of papers written since the last build that are kept and not shown.
        self.text_notes: dict[int, ReportLine] = {}

    def publish(
        self,
        progress: Progress,
        asked: Collection[str] = frozenset(),
        restored: Collection[str] = frozenset(),
        wanted: frozenset[int] = frozenset(),
        who: str = LOCAL_USER,
    ) -> PublicationOutcome:
        """Link what was touched and publish what that changed, in one new manifest.

        The outcome names the papers of the sources in `asked` and of the records in `wanted`; a
        paper that was removed comes back where one of its sources is in `restored`.
        """
        on_disk = self._corpus.build_id()
        is_current = on_disk is not None and self._state.published_build_id() == on_disk
        if not is_current and self._state.has_published():
            self._state.touch_everything()
        if is_current and on_disk is not None and not self._state.is_touched():
            self._clear_staged()
            return PublicationOutcome(on_disk)
        outcome = PublicationOutcome(on_disk or "")
        publication = self._begin(is_whole=not is_current)
        progress.begin("linking", self._state.touched_count(), "papers")
        is_writing = False
        waiting: list[tuple[PlannedPaper, PaperChange]] = []
        for linked, plan in self._plans(restored):
            outcome.asked_for += [
                planned
                for planned in plan.papers
                if (asked and any(source in asked for source in planned.group.sources))
                or wanted.intersection(planned.group.record_ids)
            ]
            if not is_writing:
                progress.advance(len(plan.papers))
            for planned in plan.papers:
                change = self._plan_change(planned, publication, outcome)
                self._state.promise([change])
                if planned.is_changed:
                    waiting.append((planned, change))
                    outcome.joins += join_lines(planned)
            self._end_papers(plan, publication, outcome)
            self._leave_out(plan.left_out, linked.published_ids, publication)
            self._write_down(plan, linked, who)
            if len(waiting) >= self._segment_papers:
                if not is_writing:
                    _begin_writing(progress, self._state.touched_count())
                    is_writing = True
                self._write(waiting[: self._segment_papers], publication, progress)
                del waiting[: self._segment_papers]
        if not is_writing:
            _begin_writing(progress, len(waiting))
        if waiting:
            self._write(waiting, publication, progress)
        if is_current and not outcome.is_changed:
            # Only which records belong to which paper may be different.
            self._state.prepare_publication(outcome.build_id)
            self._state.confirm_publication(on_disk)
            self._clear_staged()
        else:
            outcome.build_id = uuid.uuid4().hex
            self._finish(publication, outcome.build_id)
        progress.end()
        return outcome

    def rehearse(self, wanted: frozenset[int]) -> tuple[list[PlannedPaper], bool]:
        """Plan the same and change nothing: papers of these records, and whether any changes."""
        plans = [plan for _, plan in self._plans()]
        planned = [
            each
            for plan in plans
            for each in plan.papers
            if wanted.intersection(each.group.record_ids)
        ]
        is_changed = any(
            plan.gone or plan.removed or any(each.is_changed for each in plan.papers)
            for plan in plans
        )
        return planned, is_changed

    def touch_summarised(self) -> None:
        """Papers whose summaries were written or changed since they were published."""
        filed, known = self._summaries.stamps(), self._state.filed_stamps()
        changed = {
            paper_id
            for paper_id in {*filed, *known}
            if filed.get(paper_id, "") != known.get(paper_id, "")
        }
        self._state.touch_papers(changed)

    def merge(self, planned: PlannedPaper) -> PaperRecord:
        """The record of a planned paper, as people corrected it."""
        records = self._state.records(planned.group.record_ids)
        return _merge(records, planned)

    def _plans(
        self, restored: Collection[str] = frozenset()
    ) -> Iterator[tuple[LinkedRecords, LinkedPlan]]:
        for linked in self._state.linked_records():
            yield linked, plan_linked(linked, self._summaries.stamp, restored, self._block_list)

    def _end_papers(
        self, plan: LinkedPlan, publication: Publication, outcome: PublicationOutcome
    ) -> None:
        for paper in (*plan.gone, *plan.removed):
            outcome.removed += 1
            if paper.row is not None:
                publication.end_row(paper.row)
        self._state.promise_end(plan.gone)
        for paper in plan.removed:
            self._state.promise_removal(paper, self._clock.now().isoformat())

    def _write_down(self, plan: LinkedPlan, linked: LinkedRecords, who: str) -> None:
        """Remember which papers became part of others, and which came back by being added."""
        at, desk = self._clock.now().isoformat(), DecisionDesk(self._state)
        for paper_id, gone_id, records in plan.joined:
            draft = desk.join(paper_id, gone_id, records, linked)
            self._state.decide(draft.by(OWN_NAME, at))
        for planned in plan.papers:
            before = planned.before
            if before is None or not before.is_removed:
                continue
            if planned.paper_id in linked.decided.removed:
                for draft in desk.returns(planned.paper_id):
                    self._state.decide(draft.by(who, at))

    def _begin(self, *, is_whole: bool = False) -> Publication:
        self._state.drop_promises()
        numbers = self._state.greatest_numbers() if is_whole else (0, 0)
        return self._corpus.begin(*numbers, is_whole=is_whole)

    def _finish(self, publication: Publication, build_id: str) -> None:
        self._state.prepare_publication(build_id)
        self._corpus.publish(publication, build_id, self._clock.now().isoformat())
        self._state.confirm_publication(build_id)
        self._clear_staged()

    def _clear_staged(self) -> None:
        """Every record is in a segment now, or left out: nothing else needs its texts here."""
        if self._assets.has_staged():
            self._assets.clear_staged(self._state.left_out_assets())

    def _plan_change(
        self, planned: PlannedPaper, publication: Publication, outcome: PublicationOutcome
    ) -> PaperChange:
        """The paper's numbers, new ones where it must be written."""
        before = planned.before
        row = before.row if before is not None else None
        if planned.is_changed:
            if row is not None:
                publication.end_row(row)
            row = publication.take_row()
            outcome.added += planned.is_new
            outcome.changed += not planned.is_new
        return PaperChange(
            planned.paper_id,
            publication.take_index() if before is None else before.paper_index,
            planned.digest,
            row,
            planned.filed,
            (*(key.value for key in planned.group.keys), *planned.group.shared_keys),
            planned.group.record_ids,
            planned.group.conflicts,
            planned.group.joins,
            planned.doubtful,
            planned.versions,
        )

    def _leave_out(
        self,
        record_ids: Sequence[int],
        published_ids: frozenset[int],
        publication: Publication,
    ) -> None:
        """Keep the texts of records that were part of a paper and are no more."""
        leaving = [record_id for record_id in record_ids if record_id in published_ids]
        if not leaving:
            return
        for record in self._state.records(leaving):
            publication.keep_assets(asset_paths(record))
        self._state.promise_left_out(leaving)

    def _write(
        self,
        waiting: Sequence[tuple[PlannedPaper, PaperChange]],
        publication: Publication,
        progress: Progress,
    ) -> None:
        def versions() -> Iterable[PaperVersion]:
            for done, (planned, change) in enumerate(waiting, start=1):
                yield self._version(planned, change)
                # Only what is written for the first time: they may be asked for twice.
                if done > counted[0]:
                    counted[0] = done
                    progress.advance()

        counted = [0]
        publication.write(versions, len(waiting))
        progress.advance(len(waiting) - counted[0])

    def _version(self, planned: PlannedPaper, change: PaperChange) -> PaperVersion:
        records = self._state.records(planned.group.record_ids)
        merged = _add_versions(_merge(records, planned), planned.versions)
        record = add_summaries(merged, self._summaries.of(planned.paper_id))
        twins = planned.twins
        paper = PublishedPaper(
            planned.paper_id,
            change.paper_index,
            planned.group.keys,
            record,
            collect_summaries(record),
            planned.group.conflicts,
            name_sources(record, planned.group, twins),
            twins,
        )
        self._note_texts(planned.group.record_ids, records, record)
        names = {name for each in records for name in asset_paths(each)}
        more = tuple(sorted(names - set(asset_paths(record))))
        assert change.row is not None
        return PaperVersion(change.row, paper, more)

    def _note_texts(
        self, record_ids: Sequence[int], records: Sequence[PaperRecord], shown: PaperRecord
    ) -> None:
        others = {
            at: each.markdown_sha256
            for at, each in zip(record_ids, records, strict=True)
            if each.markdown_sha256 not in {None, shown.markdown_sha256}
        }
        for at, source in zip(others, self._state.record_sources(list(others)), strict=True):
            message = f"its text is kept and not shown: {shown.title[:80]!r} has a better one"
            self.text_notes[at] = ReportLine(source, "text_not_shown", message, is_skipped=False)


def _merge(records: Sequence[PaperRecord], planned: PlannedPaper) -> PaperRecord:
    merged = merge_records(records, planned.leads)
    return apply_edits(drop_claimed(merged, planned.group), planned.edits)


def _add_versions(record: PaperRecord, versions: Sequence[PaperLink]) -> PaperRecord:
    """The record with the versions of the paper that are in the corpus."""
    related = [RelatedWork(link.relation, "", link.paper_id) for link in versions if link.relation]
    return replace(record, files=(), related=(*record.related, *related))


def _begin_writing(progress: Progress, papers: int) -> None:
    """From linking to writing, which takes much longer."""
    progress.end()
    progress.begin("writing", papers, "papers")

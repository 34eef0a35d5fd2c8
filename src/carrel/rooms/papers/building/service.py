"""Builds a corpus: find sources, read new ones, link what was touched, publish what changed."""

from __future__ import annotations

import uuid
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path

from carrel.core.caller import LOCAL_USER
from carrel.core.clock import Clock
from carrel.core.progress import NoProgress, Progress
from carrel.rooms.papers.building.build_reports import BuildReport, ReportLine
from carrel.rooms.papers.building.decision_desk import (
    OWN_NAME,
    Decided,
    DecisionDesk,
    DecisionDraft,
    PaperNow,
    version_name,
)
from carrel.rooms.papers.building.decisions import Decision, apply_edits
from carrel.rooms.papers.building.doubts import name_sources
from carrel.rooms.papers.building.link_reports import join_lines, link_lines
from carrel.rooms.papers.building.merging import merge_records
from carrel.rooms.papers.building.models import FoundSource, KnownSource, PartJob, SkippedFile
from carrel.rooms.papers.building.paper_records import PaperRecord, PossibleTwin, RelatedWork
from carrel.rooms.papers.building.papers import (
    PaperVersion,
    PublishedPaper,
    add_summaries,
    asset_paths,
    collect_summaries,
)
from carrel.rooms.papers.building.planning import (
    WRITER_VERSION,
    LinkedPlan,
    LinkedRecords,
    PaperChange,
    PaperLink,
    PlannedPaper,
    plan_linked,
)
from carrel.rooms.papers.building.ports import BuildStores, PaperSources, Publication
from carrel.rooms.papers.building.source_changes import SourceSettler, removed_changes
from carrel.rooms.papers.errors import (
    BuildInProgressError,
    NothingToBuildError,
    PaperNotAddedError,
)
from carrel.rooms.papers.models import PaperAdded, PaperRemoved

# Papers of one segment of a whole build: 40 of them hold a million.
SEGMENT_PAPERS = 25_000
_BATCH_SIZE = 200
# How long whoever changes a corpus waits for whoever changes it now.
BUILD_WAIT_SECONDS = 240.0
_TEXT_NOT_TAKEN = (
    "The corpus has this paper with another text and kept that: the new text was not taken. If it "
    "is another paper, add it with a DOI, or with authors and year."
)
_TEXT_REPLACED = (
    "The corpus had this paper with another text: the new text is shown in its place. If it is "
    "another paper, add it with a DOI, or with authors and year."
)


@dataclass(slots=True)
class _Outcome:
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


class PaperBuilder:
    """Builds one folder's corpus, again and again, doing each time only what changed."""

    def __init__(self, sources: PaperSources, stores: BuildStores, clock: Clock) -> None:
        self._sources = sources
        self._inbox = stores.inbox
        self._state = stores.state
        self._corpus = stores.corpus
        self._assets = stores.assets
        self._summaries = stores.summaries
        self._lock = stores.lock
        self._clock = clock
        # By record: texts of papers written by this build that are kept and not shown.
        self._text_notes: dict[int, ReportLine] = {}
        self._settler = SourceSettler(sources, stores.state)
        self._block_list = stores.block_list

    def build(
        self, sources: Sequence[Path], progress: Progress, *, only: bool = False
    ) -> BuildReport:
        """Brings the corpus up to date with `sources`; with `only`, it holds nothing else then."""
        with self._held(progress):
            inbox = [self._inbox] if self._inbox.is_dir() else []
            report = self._build([*sources, *inbox], progress, is_everything=only)
            if self._corpus.needs_compaction():
                self._compact(progress)
            return report

    def refresh(self, progress: Progress) -> bool:
        """Publish again without reading sources; returns whether anything changed."""
        with self._held(progress):
            self._touch_summarised()
            return self._publish(progress).is_changed

    def add(self, file: Path, progress: Progress, who: str = LOCAL_USER) -> PaperAdded:
        """Add a file of the inbox and return its paper; PaperNotAddedError if there is none."""
        with self._held(progress):
            source = str(file.absolute())
            found, skipped = self._sources.find([file])
            for one in found:
                if not self._is_up_to_date(one, self._state.known_source(source)):
                    self._read([one], progress)
                self._state.touch_source(source)
            outcome = self._publish(progress, asked={source}, restored={source}, who=who)
            lines = [*skipped_lines(skipped), *self._problem_lines(source)]
            planned = outcome.asked_for[0] if outcome.asked_for else None
            if planned is None:
                # Whoever handed it in may have stopped waiting and removes nothing then.
                file.unlink(missing_ok=True)
                self._state.forget_sources([source])
                self._publish(progress)
                raise PaperNotAddedError(
                    lines[0].message if lines else "No paper was found in it.",
                    next_step="Correct what is wrong and send it again; nothing was added.",
                    details={
                        "problems": [line.to_facts() | {"source": file.name} for line in lines]
                    },
                )
            merged = self._merged(planned)
            text_notes = self._compare_texts(source, planned, merged)
        notes = [line.message for line in lines]
        notes += text_notes
        notes += [each.message for each in planned.group.conflicts if each.source == source]
        notes += [line.message for line in link_lines(planned)]
        return PaperAdded(
            paper_id=planned.paper_id, title=merged.title, is_new=planned.is_new, notes=notes
        )

    def _compare_texts(self, source: str, planned: PlannedPaper, merged: PaperRecord) -> list[str]:
        """What to say where other sources of the paper have another text than this one."""
        read = self._state.source_records(source)
        texts: dict[bool, set[str]] = {True: set(), False: set()}
        record_ids = planned.group.record_ids
        for at, record in zip(record_ids, self._state.records(record_ids), strict=True):
            if record.markdown_sha256:
                texts[at in read].add(record.markdown_sha256)
        mine, others = texts[True], texts[False]
        if not mine or not others - mine:
            return []
        return [_TEXT_REPLACED if merged.markdown_sha256 in mine else _TEXT_NOT_TAKEN]

    def remove(self, name: str, who: str = LOCAL_USER) -> PaperRemoved:
        """Take a paper (its id, DOI, arXiv id or address) out until somebody adds it again.

        Raises PaperNotFoundError where the corpus does not have it.
        """
        decided = self.decide(who, lambda desk: desk.removal(name), NoProgress())
        paper = decided.decision.papers[0]
        return PaperRemoved(paper_id=paper.paper_id, title=paper.title, decision=decided.number)

    def decide(
        self,
        who: str,
        make: Callable[[DecisionDesk], DecisionDraft],
        progress: Progress,
        *,
        is_rehearsal: bool = False,
    ) -> Decided:
        """Write down what somebody decided and publish what follows from it, in one step.

        A rehearsal answers the same and changes nothing. Raises what `make` raises.
        """
        with self._held(progress):
            decision = make(DecisionDesk(self._state)).by(who, self._clock.now().isoformat())
            number, records = self._state.decide(decision)
            if is_rehearsal:
                try:
                    return self._rehearse(decision, number, records)
                finally:
                    self._state.roll_back()
            outcome = self._publish(progress, wanted=records)
            shown = [self._show(planned) for planned in outcome.asked_for]
        return Decided(number, decision, tuple(shown), is_changed=outcome.is_changed)

    def _rehearse(self, decision: Decision, number: int, records: frozenset[int]) -> Decided:
        plans = [
            plan_linked(linked, self._summaries.stamp, block_list=self._block_list)
            for linked in self._state.linked_records()
        ]
        planned = [
            each
            for plan in plans
            for each in plan.papers
            if records.intersection(each.group.record_ids)
        ]
        is_changed = any(
            plan.gone or plan.removed or any(each.is_changed for each in plan.papers)
            for plan in plans
        )
        shown = tuple(self._show(each) for each in planned)
        return Decided(number, decision, shown, is_changed=is_changed)

    def _show(self, planned: PlannedPaper) -> PaperNow:
        record_ids = planned.group.record_ids
        record = self._merged(planned)
        return PaperNow(
            planned.paper_id,
            record,
            version_name(planned.digest),
            self._state.record_addresses(record_ids),
        )

    def _merged(self, planned: PlannedPaper) -> PaperRecord:
        records = self._state.records(planned.group.record_ids)
        return apply_edits(merge_records(records), planned.edits)

    def inspect(self) -> DecisionDesk:
        """The decisions and records of the corpus, to be read only."""
        return DecisionDesk(self._state)

    def compact(self, progress: Progress) -> tuple[int, int]:
        """Merge segments; returns how many there were and how many there are."""
        with self._wait_for_lock(progress):
            return self._compact(progress)

    def _compact(self, progress: Progress) -> tuple[int, int]:
        progress.begin("compacting", None, "segments")
        counts = self._corpus.compact(progress.advance)
        progress.end()
        return counts

    def reindex(self, progress: Progress) -> None:
        """Write segments again whose index is damaged or of another version."""
        with self._wait_for_lock(progress):
            progress.begin("indexing", None, "segments")
            self._corpus.reindex(progress.advance)
            progress.end()

    @contextmanager
    def _held(self, progress: Progress) -> Iterator[None]:
        """Hold the lock, after finding out whether the last publication came about.

        First of all, because it decides what counts as touched since then.
        """
        with self._wait_for_lock(progress):
            self._state.confirm_publication(self._corpus.build_id())
            yield

    @contextmanager
    def _wait_for_lock(self, progress: Progress) -> Iterator[None]:
        """Hold the lock, after whoever works on the corpus now; BuildInProgressError in the end."""
        with ExitStack() as held:
            try:
                held.enter_context(self._lock.held())
            except BuildInProgressError:
                progress.begin("waiting for another build of this corpus", None, "seconds")
                held.enter_context(self._lock.held(BUILD_WAIT_SECONDS))
                progress.end()
            yield

    def _build(
        self, sources: Sequence[Path], progress: Progress, is_everything: bool
    ) -> BuildReport:
        started = self._clock.monotonic()
        self._text_notes.clear()
        found, skipped = self._sources.find(sources)
        if not found and all(line.code == "not_found" for line in skipped):
            raise NothingToBuildError([str(source) for source in sources])
        known = self._state.known_sources()
        gone = known.keys() - {str(source.path) for source in found}
        if not is_everything:
            gone = {
                path
                for path in gone
                if any(Path(path).is_relative_to(source.absolute()) for source in sources)
            }
        # What cannot be reached now, such as a disk that is not mounted, has not left.
        unreachable = [line.path for line in skipped if line.code in {"not_found", "not_readable"}]
        gone = {
            path
            for path in gone
            if not any(Path(path).is_relative_to(place) for place in unreachable)
        }
        to_settle = [
            source
            for source in found
            if not self._is_up_to_date(source, known.get(str(source.path)))
        ]
        settled = self._settler.settle(to_settle, known, gone, knows_all=True)
        gone -= settled.moved_from
        self._state.forget_sources(gone)
        to_read = settled.to_read
        self._read(to_read, progress)
        read_at = self._clock.monotonic()
        self._touch_summarised()
        self._state.touch_outdated(WRITER_VERSION)
        outcome = self._publish(progress)
        return BuildReport(
            build_id=outcome.build_id,
            papers=self._corpus.paper_count(),
            papers_added=outcome.added,
            papers_changed=outcome.changed,
            papers_removed=outcome.removed,
            sources_read=len(to_read),
            sources_unchanged=len(found) - len(to_read),
            sources_removed=len(gone),
            records=self._state.record_count(),
            seconds_reading=read_at - started,
            seconds_writing=self._clock.monotonic() - read_at,
            is_changed=outcome.is_changed,
            lines=(
                *skipped_lines(skipped),
                *self._problem_lines(),
                *self._state.link_notes(),
                *outcome.joins,
                *self._text_notes.values(),
            ),
            papers_in_doubt=self._corpus.doubtful_count(),
            changes=(*settled.changes, *removed_changes(gone)),
        )

    def _is_up_to_date(self, source: FoundSource, known: KnownSource | None) -> bool:
        return known is not None and known.is_complete and self._sources.is_unchanged(known, source)

    def _read(self, sources: Sequence[FoundSource], progress: Progress) -> None:
        if not sources:
            return
        progress.begin("reading", sum(source.size_bytes for source in sources), "bytes")
        waiting: Counter[str] = Counter()
        cut: set[str] = set()
        contents: dict[str, bytes | None] = {}

        def jobs() -> Iterator[PartJob]:
            for source in sources:
                path = str(source.path)
                done = self._state.begin_source(source)
                contents[path] = self._sources.hash_content(source)
                remaining = source.size_bytes
                for part in self._sources.parts(source):
                    size = (
                        min(remaining, len(part.content)) if part.content is not None else remaining
                    )
                    remaining -= size
                    if part.number in done:
                        progress.advance(size)
                        continue
                    waiting[path] += 1
                    yield PartJob(source.reader, part, size)
                cut.add(path)
                if not waiting[path]:
                    self._state.complete_source(path, contents.pop(path))

        for read in self._sources.read(jobs()):
            self._state.add_part(read)
            waiting[read.source] -= 1
            if read.source in cut and not waiting[read.source]:
                self._state.complete_source(read.source, contents.pop(read.source))
            progress.advance(read.size_bytes)
        self._state.commit()
        progress.end()

    def _touch_summarised(self) -> None:
        """Papers whose summaries were written or changed since they were published."""
        filed, known = self._summaries.stamps(), self._state.filed_stamps()
        changed = {
            paper_id
            for paper_id in {*filed, *known}
            if filed.get(paper_id, "") != known.get(paper_id, "")
        }
        self._state.touch_papers(changed)

    def _publish(
        self,
        progress: Progress,
        asked: Collection[str] = frozenset(),
        restored: Collection[str] = frozenset(),
        wanted: frozenset[int] = frozenset(),
        who: str = LOCAL_USER,
    ) -> _Outcome:
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
            return _Outcome(on_disk)
        outcome = _Outcome(on_disk or "")
        publication = self._begin(is_whole=not is_current)
        progress.begin("writing", self._state.touched_count(), "papers")
        waiting: list[tuple[PlannedPaper, PaperChange]] = []
        for linked in self._state.linked_records():
            plan = plan_linked(linked, self._summaries.stamp, restored, self._block_list)
            outcome.asked_for += [
                planned
                for planned in plan.papers
                if (asked and any(source in asked for source in planned.group.sources))
                or wanted.intersection(planned.group.record_ids)
            ]
            for planned in plan.papers:
                change = self._plan_change(planned, publication, outcome)
                self._state.promise([change])
                if planned.is_changed:
                    waiting.append((planned, change))
                    outcome.joins += join_lines(planned)
            self._end_papers(plan, publication, outcome)
            self._leave_out(plan.left_out, linked.published_ids, publication)
            self._write_down(plan, linked, who)
            if len(waiting) >= SEGMENT_PAPERS:
                self._write(waiting[:SEGMENT_PAPERS], publication, progress)
                del waiting[:SEGMENT_PAPERS]
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

    def _end_papers(self, plan: LinkedPlan, publication: Publication, outcome: _Outcome) -> None:
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
        self, planned: PlannedPaper, publication: Publication, outcome: _Outcome
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
                if done % _BATCH_SIZE == 0:
                    progress.advance(_BATCH_SIZE)

        publication.write(versions, len(waiting))
        progress.advance(len(waiting) % _BATCH_SIZE)

    def _version(self, planned: PlannedPaper, change: PaperChange) -> PaperVersion:
        records = self._state.records(planned.group.record_ids)
        merged = self._with_versions(
            apply_edits(merge_records(records), planned.edits), planned.versions
        )
        record = add_summaries(merged, self._summaries.of(planned.paper_id))
        twins = tuple(
            PossibleTwin(link.paper_id, Path(link.other_source).name, link.reason)
            for link in planned.doubtful
        )
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

    def _with_versions(self, record: PaperRecord, versions: Sequence[PaperLink]) -> PaperRecord:
        """The record with the versions of the paper that are in the corpus."""
        related = [
            RelatedWork(link.relation, "", link.paper_id) for link in versions if link.relation
        ]
        return replace(record, files=(), related=(*record.related, *related))

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
            self._text_notes[at] = ReportLine(source, "text_not_shown", message, is_skipped=False)

    def _problem_lines(self, path: str | None = None) -> Iterator[ReportLine]:
        for source, problem in self._state.problems(path):
            yield ReportLine(source, problem.code, problem.message, problem.is_fatal, problem.line)


def skipped_lines(skipped: Sequence[SkippedFile]) -> list[ReportLine]:
    return [
        ReportLine(str(line.path), line.code, line.message, is_skipped=True) for line in skipped
    ]

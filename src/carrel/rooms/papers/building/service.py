"""Builds a corpus: find sources, read new ones, link what was touched, publish what changed."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path

from carrel.core.caller import LOCAL_USER
from carrel.core.clock import Clock
from carrel.core.progress import NoProgress, Progress
from carrel.libraries.works.file_kinds import KINDS_TAKEN
from carrel.libraries.works.given_names import given_name, name_file
from carrel.rooms.papers.building.build_reports import BuildReport, ReportLine
from carrel.rooms.papers.building.decision_desk import (
    DecisionDesk,
    DecisionDraft,
    DecisionResult,
    PaperNow,
    version_name,
)
from carrel.rooms.papers.building.link_reports import link_lines
from carrel.rooms.papers.building.models import FoundSource, SkippedFile
from carrel.rooms.papers.building.paper_records import PaperRecord
from carrel.rooms.papers.building.planning import (
    WRITER_VERSION,
    PlannedPaper,
)
from carrel.rooms.papers.building.ports import BuildStores, PaperSources
from carrel.rooms.papers.building.publisher import CorpusPublisher
from carrel.rooms.papers.building.source_changes import SourceSettler, removed_changes
from carrel.rooms.papers.building.source_loader import SourceLoader
from carrel.rooms.papers.errors import (
    BuildInProgressError,
    NothingToBuildError,
    PaperNotAddedError,
)
from carrel.rooms.papers.loading.models import DUMP_SOURCE
from carrel.rooms.papers.models import AddedPaper, PaperAdded, PaperRemoved

# Of papers that one call added, the answer names these.
LISTED_PAPERS = 100
_WHAT_IS_TAKEN = f"papers are made of {KINDS_TAKEN}."
# How long whoever changes a corpus waits for whoever changes it now.
BUILD_WAIT_SECONDS = 240.0
_TEXT_NOT_TAKEN = (
    "The corpus has this paper with another text and kept that: the new text was not taken. If it "
    "is another paper, split it off with edit_paper, or add it with its own DOI."
)
_TEXT_REPLACED = (
    "The corpus had this paper with another text: the new text is shown in its place. If it is "
    "another paper, split it off with edit_paper, or add it with its own DOI."
)

_IS_NOTE = "it is a note on the desk; carrel add FILE --as papers makes a paper of it"


class PaperBuilder:
    """Builds one folder's corpus, again and again, doing each time only what changed."""

    def __init__(self, sources: PaperSources, stores: BuildStores, clock: Clock) -> None:
        self._sources = sources
        self._inbox = stores.inbox
        self._state = stores.state
        self._corpus = stores.corpus
        self._lock = stores.lock
        self._clock = clock
        self._settler = SourceSettler(sources, stores.state, stores.inbox)
        self._loader = SourceLoader(sources, stores.state)
        self._publisher = CorpusPublisher(stores, clock)

    def build(
        self,
        sources: Sequence[Path],
        progress: Progress,
        *,
        only: bool = False,
        notes: Collection[str] = (),
    ) -> BuildReport:
        """Brings the corpus up to date with `sources`; with `only`, it holds nothing else then.

        Of `notes`, files that are notes on the desk, those are left that are no papers yet.
        """
        with self._held(progress):
            inbox = [self._inbox] if self._inbox.is_dir() else []
            report = self._build([*sources, *inbox], progress, only, notes)
            self._sources.finish_taken()
            if self._corpus.needs_compaction():
                self._compact(progress)
            return report

    def find_unread(self, sources: Sequence[Path]) -> list[FoundSource]:
        """The sources that a build would read now."""
        found, _ = self._sources.find(sources)
        known = self._state.known_sources()
        return [
            source
            for source in found
            if not self._loader.is_up_to_date(source, known.get(str(source.path)))
        ]

    def refresh(self, progress: Progress) -> bool:
        """Publish again without reading sources; returns whether anything changed."""
        with self._held(progress):
            self._publisher.touch_summarised()
            return self._publisher.publish(progress).is_changed

    def add(self, file: Path, progress: Progress, who: str = LOCAL_USER) -> PaperAdded:
        """Add a file of the inbox and return its paper; PaperNotAddedError if there is none."""
        with self._held(progress):
            source = str(file.absolute())
            found, skipped = self._sources.find([file])
            for one in found:
                known = self._state.known_source(source)
                if not self._loader.is_up_to_date(one, known):
                    settled = self._settler.settle([one], {source: known}, ())
                    self._loader.load(settled.to_read, progress)
                self._state.touch_source(source)
            outcome = self._publisher.publish(progress, asked={source}, restored={source}, who=who)
            lines = [*skipped_lines(skipped), *self._problem_lines(source)]
            planned = outcome.asked_for[0] if outcome.asked_for else None
            if planned is None:
                # Whoever handed it in may have stopped waiting and removes nothing then.
                file.unlink(missing_ok=True)
                self._state.forget_sources([source])
                self._publisher.publish(progress)
                shown = given_name(file) or file.name
                name_file(file).unlink(missing_ok=True)
                raise PaperNotAddedError(
                    lines[0].message if lines else f"No paper was found in it: {_WHAT_IS_TAKEN}",
                    next_step="Correct what is wrong and send it again; nothing was added.",
                    details={"problems": [line.to_facts() | {"source": shown} for line in lines]},
                )
            merged = self._publisher.merge(planned)
            text_notes = self._compare_texts(source, planned, merged)
            listed = [
                (each, self._publisher.merge(each).title)
                for each in outcome.asked_for[:LISTED_PAPERS]
            ]
        notes = [line.message for line in lines]
        notes += text_notes
        notes += [each.message for each in planned.group.conflicts if each.source == source]
        notes += [line.message for line in link_lines(planned)]
        papers = [
            AddedPaper(paper_id=each.paper_id, title=title, is_new=each.is_new)
            for each, title in listed
        ]
        return PaperAdded(
            paper_id=planned.paper_id,
            title=merged.title,
            is_new=planned.is_new,
            notes=notes,
            papers=papers if len(papers) > 1 else [],
            count=len(outcome.asked_for),
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
    ) -> DecisionResult:
        """Write down what somebody decided and publish what follows from it, in one step.

        A rehearsal answers the same and changes nothing. Raises what `make` raises.
        """
        with self._held(progress):
            decision = make(DecisionDesk(self._state)).by(who, self._clock.now().isoformat())
            number, records = self._state.decide(decision)
            if is_rehearsal:
                try:
                    planned, is_changed = self._publisher.rehearse(records)
                    shown = tuple(self._show(each) for each in planned)
                    return DecisionResult(number, decision, shown, is_changed=is_changed)
                finally:
                    self._state.roll_back()
            outcome = self._publisher.publish(progress, wanted=records)
            shown = tuple(self._show(planned) for planned in outcome.asked_for)
        return DecisionResult(number, decision, shown, is_changed=outcome.is_changed)

    def _show(self, planned: PlannedPaper) -> PaperNow:
        record_ids = planned.group.record_ids
        record = self._publisher.merge(planned)
        return PaperNow(
            planned.paper_id,
            record,
            version_name(planned.digest),
            self._state.record_addresses(record_ids),
        )

    def inspect(self) -> DecisionDesk:
        """The decisions and records of the corpus, to be read only."""
        return DecisionDesk(self._state)

    def compact(self, progress: Progress, most_runs: int | None = None) -> tuple[int, int]:
        """Merge segments, so many runs of them; returns how many there were and how many are."""
        with self._wait_for_lock(progress):
            return self._compact(progress, most_runs)

    def _compact(self, progress: Progress, most_runs: int | None = None) -> tuple[int, int]:
        progress.begin("compacting", None, "segments")
        counts = self._corpus.compact(progress.advance, most_runs)
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
        self,
        sources: Sequence[Path],
        progress: Progress,
        is_everything: bool,
        notes: Collection[str],
    ) -> BuildReport:
        started = self._clock.monotonic()
        self._publisher.text_notes.clear()
        found, skipped = self._sources.find(sources)
        if not found and all(line.code == "not_found" for line in skipped):
            raise NothingToBuildError([str(source) for source in sources])
        # Dumps are no folders: they stay, whatever is built.
        known = {
            path: source
            for path, source in self._state.known_sources().items()
            if not path.startswith(DUMP_SOURCE)
        }
        found, skipped = _leave_notes(found, skipped, {*notes} - known.keys())
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
        gone |= self._settler.find_former_copies(found, known.keys())
        to_settle = [
            source
            for source in found
            if not self._loader.is_up_to_date(source, known.get(str(source.path)))
        ]
        settled = self._settler.settle(to_settle, known, gone, knows_all=True)
        gone -= settled.moved_from
        self._state.forget_sources(gone)
        to_read = settled.to_read
        self._loader.load(to_read, progress)
        read_at = self._clock.monotonic()
        self._publisher.touch_summarised()
        self._state.touch_outdated(WRITER_VERSION)
        outcome = self._publisher.publish(progress)
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
                *self._publisher.text_notes.values(),
            ),
            papers_in_doubt=self._corpus.doubtful_count(),
            changes=(*settled.changes, *removed_changes(gone)),
        )

    def _problem_lines(self, path: str | None = None) -> Iterator[ReportLine]:
        for source, problem in self._state.problems(path):
            yield ReportLine(source, problem.code, problem.message, problem.is_fatal, problem.line)


def _leave_notes(
    found: Sequence[FoundSource], skipped: Sequence[SkippedFile], notes: Collection[str]
) -> tuple[list[FoundSource], list[SkippedFile]]:
    """The sources that are no notes; the others are named."""
    left = [
        SkippedFile(source.path, "is_note", _IS_NOTE)
        for source in found
        if str(source.path) in notes
    ]
    return [source for source in found if str(source.path) not in notes], [*skipped, *left]


def skipped_lines(skipped: Sequence[SkippedFile]) -> list[ReportLine]:
    return [
        ReportLine(str(line.path), line.code, line.message, is_skipped=True) for line in skipped
    ]

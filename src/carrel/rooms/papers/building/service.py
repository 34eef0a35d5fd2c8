"""Builds a corpus: find sources, read new ones, group records, write changes, swap."""

from __future__ import annotations

import hashlib
import uuid
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from carrel.core.clock import Clock
from carrel.core.progress import Progress
from carrel.rooms.papers.building.identity import PaperGroup, assign_ids, group_records
from carrel.rooms.papers.building.models import (
    BuildReport,
    FoundSource,
    KnownPaper,
    KnownSource,
    PartJob,
    ReportLine,
    SkippedFile,
)
from carrel.rooms.papers.building.papers import (
    PublishedPaper,
    add_summaries,
    collect_summaries,
    merge_records,
)
from carrel.rooms.papers.building.ports import (
    BuildStores,
    PaperSources,
)
from carrel.rooms.papers.errors import NothingToBuildError, PaperNotAddedError
from carrel.rooms.papers.models import PaperAdded

# Papers written by an older writer are written again when this grows.
WRITER_VERSION = 1
_REWRITE_SHARE = 0.3
_BATCH_SIZE = 200


@dataclass(frozen=True, slots=True)
class _PlannedPaper:
    """A paper of the next snapshot, and whether it differs from the last."""

    group: PaperGroup
    paper_id: str
    paper_index: int
    digest: str
    is_new: bool
    is_changed: bool

    @property
    def as_known(self) -> KnownPaper:
        return KnownPaper(
            self.paper_id,
            self.paper_index,
            self.digest,
            tuple(key.value for key in self.group.keys),
        )


@dataclass(frozen=True, slots=True)
class _Plan:
    papers: tuple[_PlannedPaper, ...]
    removed: tuple[str, ...]
    lines: tuple[ReportLine, ...]

    @property
    def added(self) -> int:
        return sum(paper.is_new for paper in self.papers)

    @property
    def changed(self) -> int:
        return sum(paper.is_changed for paper in self.papers)


class PaperBuilder:
    """Builds one folder's snapshot, again and again, doing each time only what changed."""

    def __init__(self, sources: PaperSources, stores: BuildStores, clock: Clock) -> None:
        self._sources = sources
        self._inbox = stores.inbox
        self._state = stores.state
        self._snapshots = stores.snapshots
        self._static = stores.static
        self._summaries = stores.summaries
        self._lock = stores.lock
        self._clock = clock

    def build(
        self, sources: Sequence[Path], progress: Progress, *, only: bool = False
    ) -> BuildReport:
        """Brings the corpus up to date with `sources`; with `only`, it holds nothing else then."""
        with self._lock.held():
            inbox = [self._inbox] if self._inbox.is_dir() else []
            return self._build([*sources, *inbox], progress, is_everything=only)[0]

    def refresh(self, progress: Progress) -> bool:
        """Publish again without reading sources; returns whether anything changed."""
        with self._lock.held():
            self._state.confirm_publication(self._snapshots.current_build_id())
            plan = self._write(progress)[1]
            return bool(plan.changed or plan.removed)

    def add(self, file: Path, progress: Progress) -> PaperAdded:
        """Add new files of the inbox, return the paper of `file`; PaperNotAddedError if none."""
        with self._lock.held():
            report, plan = self._build([self._inbox], progress, is_everything=False)
        source = str(file.absolute())
        lines = tuple(line for line in report.lines if line.source == source)
        planned = next((paper for paper in plan.papers if source in paper.group.sources), None)
        if planned is None:
            # Whoever handed it in may have stopped waiting and removes nothing then.
            file.unlink(missing_ok=True)
            raise PaperNotAddedError(
                lines[0].message if lines else "No paper was found in it.",
                next_step="Correct what is wrong and send it again; nothing was added.",
                details={"problems": [line.to_facts() | {"source": file.name} for line in lines]},
            )
        title = merge_records(self._state.records(planned.group.record_ids)).title
        return PaperAdded(
            paper_id=planned.paper_id,
            title=title,
            is_new=planned.is_new,
            notes=[line.message for line in lines],
        )

    def _build(
        self, sources: Sequence[Path], progress: Progress, is_everything: bool
    ) -> tuple[BuildReport, _Plan]:
        started = self._clock.monotonic()
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
        self._state.forget_sources(gone)
        to_read = [
            source
            for source in found
            if not self._is_up_to_date(source, known.get(str(source.path)))
        ]
        self._read(to_read, progress)
        read_at = self._clock.monotonic()
        self._state.confirm_publication(self._snapshots.current_build_id())
        build_id, plan = self._write(progress)
        report = BuildReport(
            build_id=build_id,
            papers=len(plan.papers),
            papers_added=plan.added,
            papers_changed=plan.changed - plan.added,
            papers_removed=len(plan.removed),
            sources_read=len(to_read),
            sources_unchanged=len(found) - len(to_read),
            sources_removed=len(gone),
            records=self._state.record_count(),
            seconds_reading=read_at - started,
            seconds_writing=self._clock.monotonic() - read_at,
            is_changed=bool(plan.changed or plan.removed),
            lines=(*_skipped_lines(skipped), *self._problem_lines(), *plan.lines),
        )
        return report, plan

    def _is_up_to_date(self, source: FoundSource, known: KnownSource | None) -> bool:
        return known is not None and known.is_complete and self._sources.is_unchanged(known, source)

    def _read(self, sources: Sequence[FoundSource], progress: Progress) -> None:
        if not sources:
            return
        progress.begin("reading", sum(source.size_bytes for source in sources), "bytes")
        waiting: Counter[str] = Counter()
        cut: set[str] = set()

        def jobs() -> Iterator[PartJob]:
            for source in sources:
                path = str(source.path)
                done = self._state.begin_source(source)
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
                    self._state.complete_source(path)

        for read in self._sources.read(jobs()):
            self._state.add_part(read)
            waiting[read.source] -= 1
            if read.source in cut and not waiting[read.source]:
                self._state.complete_source(read.source)
            progress.advance(read.size_bytes)
        self._state.commit()
        progress.end()

    def _write(self, progress: Progress) -> tuple[str, _Plan]:
        last_build_id, published = self._state.published()
        plan = self._plan(published)
        touched = plan.changed + len(plan.removed)
        if last_build_id is not None and not touched:
            return last_build_id, plan
        is_lost = last_build_id is None
        is_fresh = is_lost or touched > _REWRITE_SHARE * len(plan.papers)
        to_add = [paper for paper in plan.papers if is_fresh or paper.is_changed]
        build_id = uuid.uuid4().hex
        progress.begin("writing", len(to_add), "papers")
        with self._snapshots.draft(from_current=not is_fresh) as draft:
            if not is_fresh:
                draft.remove(
                    [*plan.removed, *(paper.paper_id for paper in to_add if not paper.is_new)]
                )
            for start in range(0, len(to_add), _BATCH_SIZE):
                batch = to_add[start : start + _BATCH_SIZE]
                papers = [self._paper(planned) for planned in batch]
                self._static.write(
                    [
                        paper
                        for planned, paper in zip(batch, papers, strict=True)
                        if planned.is_changed or is_lost
                    ]
                )
                draft.add(papers)
                progress.advance(len(papers))
            draft.finish(build_id, self._clock.now().isoformat())
        self._static.flush()
        self._state.prepare_publication(build_id, [paper.as_known for paper in plan.papers])
        self._snapshots.publish()
        self._state.confirm_publication(build_id)
        if plan.removed or plan.changed > plan.added:
            self._static.sweep(
                frozenset(paper.paper_id for paper in plan.papers), self._state.assets()
            )
        progress.end()
        return build_id, plan

    def _plan(self, published: dict[str, KnownPaper]) -> _Plan:
        every_group = group_records(self._state.claims())
        groups = [found for found in every_group if found.keys and found.has_title]
        paper_ids = assign_ids(
            groups, {key: paper.paper_id for paper in published.values() for key in paper.keys}
        )
        digests = self._state.digests()
        filed = self._summaries.stamps()
        next_index = max((paper.paper_index for paper in published.values()), default=0) + 1
        papers: list[_PlannedPaper] = []
        for found, paper_id in zip(groups, paper_ids, strict=True):
            before = published.get(paper_id)
            digest = _digest(found, paper_id, digests, filed.get(paper_id, ""))
            is_changed = before is None or before.digest != digest
            index = before.paper_index if before else next_index
            papers.append(_PlannedPaper(found, paper_id, index, digest, before is None, is_changed))
            next_index += before is None
        removed = tuple(sorted(published.keys() - set(paper_ids)))
        return _Plan(tuple(papers), removed, tuple(_group_lines(every_group)))

    def _paper(self, planned: _PlannedPaper) -> PublishedPaper:
        record = add_summaries(
            merge_records(self._state.records(planned.group.record_ids)),
            self._summaries.of(planned.paper_id),
        )
        return PublishedPaper(
            planned.paper_id,
            planned.paper_index,
            planned.group.keys,
            record,
            collect_summaries(record),
            planned.group.conflicts,
        )

    def _problem_lines(self) -> Iterator[ReportLine]:
        for source, problem in self._state.problems():
            yield ReportLine(source, problem.code, problem.message, problem.is_fatal, problem.line)


def _digest(found: PaperGroup, paper_id: str, digests: Mapping[int, str], filed: str) -> str:
    """A digest of everything that the paper is written from."""
    parts = [
        str(WRITER_VERSION),
        paper_id,
        filed,
        *(key.value for key in found.keys),
        *(digests[at] for at in found.record_ids),
    ]
    return hashlib.sha256(
        "\n".join([*parts, *(conflict.message for conflict in found.conflicts)]).encode()
    ).hexdigest()


def _group_lines(groups: Sequence[PaperGroup]) -> Iterator[ReportLine]:
    for found in groups:
        if not found.has_title:
            for source in found.sources:
                yield ReportLine(source, "no_title", "a record without a title", is_skipped=True)
        for conflict in found.conflicts:
            yield ReportLine(
                conflict.source, "id_claimed_twice", conflict.message, is_skipped=False
            )


def _skipped_lines(skipped: Sequence[SkippedFile]) -> list[ReportLine]:
    return [
        ReportLine(str(line.path), line.code, line.message, is_skipped=True) for line in skipped
    ]

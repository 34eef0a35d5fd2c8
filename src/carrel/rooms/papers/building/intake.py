"""Adds files to a corpus where they lie, and follows what changes in their folders."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from carrel.core.progress import Progress
from carrel.rooms.papers.building.build_reports import ReportLine, SourceChange
from carrel.rooms.papers.building.doubts import find_doubts
from carrel.rooms.papers.building.link_reports import link_lines
from carrel.rooms.papers.building.models import FoundSource, SkippedFile
from carrel.rooms.papers.building.planning import PlannedPaper
from carrel.rooms.papers.building.service import PaperBuilder, skipped_lines
from carrel.rooms.papers.building.source_changes import removed_changes

_FACTS = frozenset({"title", "authors"})
IsNote = Callable[[Path], bool]


@dataclass(frozen=True, slots=True)
class TakenPaper:
    """A paper that files were read for.

    `sources` are all files it is made of; `is_stated` says that nobody guessed its title and
    authors, or that it has a DOI, `is_doubtful` that the list to be reviewed has it.
    """

    paper_id: str
    title: str
    is_new: bool
    is_stated: bool
    sources: tuple[str, ...]
    notes: tuple[str, ...] = ()
    is_doubtful: bool = False

    @property
    def is_joined(self) -> bool:
        return len(self.sources) > 1


@dataclass(frozen=True, slots=True)
class Intake:
    """What became of files that were added or followed.

    `notes` are files that are notes and were left, `gone` files that are no more and whose papers
    stay; `in_doubt` counts the papers of the corpus that the list to be reviewed has.
    """

    papers: tuple[TakenPaper, ...]
    changes: tuple[SourceChange, ...]
    unchanged: int
    total: int
    removed: int = 0
    lines: tuple[ReportLine, ...] = ()
    notes: tuple[str, ...] = ()
    gone: tuple[str, ...] = ()
    in_doubt: int = 0

    @property
    def skipped(self) -> tuple[ReportLine, ...]:
        return tuple(line for line in self.lines if line.is_skipped)


class PaperIntake(PaperBuilder):
    """A builder that takes files one by one and knows which paper each became."""

    def take(
        self,
        sources: Sequence[Path],
        progress: Progress,
        *,
        within: Sequence[Path] | None = None,
        touched: int = 0,
        named: Sequence[Path] | None = None,
        folders: Sequence[Path] = (),
    ) -> Intake:
        """Add files and folders where they lie; nothing leaves the corpus.

        A file that is named brings its paper back if it was removed; one in a folder does not
        (`named` are the files of a longer list that somebody named).
        With `within`, only files that resolve into one of these folders are read. The papers of
        the first `touched` files are told even where nothing changed. Files that vanished from
        `folders` are named. So is what cannot be read, each time.
        """
        with self._held(progress):
            is_list = all(source.is_file() for source in sources)
            find = self._sources.find_files if is_list else self._sources.find
            found, skipped = find(sources)
            if within is not None:
                found, skipped = _keep_within(found, skipped, within)
            paths = {str(source.path) for source in found}
            by_name = sources if named is None else named
            asked = {str(source.absolute()) for source in by_name} & paths
            changes, unchanged, _ = self._settle_and_read(found, (), progress)
            refused = self._refused_before(paths - {change.path for change in changes})
            unread = {line.source for line in refused if not self._has_records(line.source)}
            for path in asked | {str(source.path) for source in found[:touched]}:
                self._state.touch_source(path)
            lines = [*skipped_lines(skipped), *refused]
            taken = self._publish_taken(
                paths, asked, changes, unchanged - len(unread), lines, progress
            )
            lines = [*taken.lines, *self._nameless(paths)]
            return replace(taken, gone=self._find_gone(folders), lines=tuple(lines))

    def _refused_before(self, paths: Collection[str]) -> list[ReportLine]:
        """What could not be read of files that have not changed since."""
        return [line for line in self._problem_lines() if line.is_skipped and line.source in paths]

    def _nameless(self, paths: Collection[str]) -> list[ReportLine]:
        """Records of these files that are no papers because they have no title."""
        notes = self._state.link_notes()
        return [line for line in notes if line.is_skipped and line.source in paths]

    def _has_records(self, path: str) -> bool:
        return bool(self._state.source_records(path))

    def _find_gone(self, folders: Sequence[Path]) -> tuple[str, ...]:
        if not folders:
            return ()
        return tuple(path for path in self.known_paths(folders) if not Path(path).exists())

    def sync(
        self,
        folders: Sequence[Path],
        progress: Progress,
        hold_back: Callable[[Sequence[str]], Collection[str]],
        is_note: IsNote | None = None,
    ) -> Intake:
        """Bring the corpus in step with everything below the folders, also where that is nothing.

        `hold_back` names those of the vanished files that have not left; new files that
        `is_note` tells are left, while what is a paper stays one.
        """
        with self._held(progress):
            found, skipped = self._sources.find(folders)
            at_hand = {str(source.path) for source in found}
            unreachable = [
                line.path for line in skipped if line.code in {"not_found", "not_readable"}
            ]
            gone = {
                path
                for path in self.known_paths(folders)
                if path not in at_hand
                and not any(Path(path).is_relative_to(place) for place in unreachable)
            }
            gone -= set(hold_back(sorted(gone)))
            changes, unchanged, notes = self._settle_and_read(found, gone, progress, is_note)
            lines = [line for line in skipped_lines(skipped) if line.code != "not_found"]
            taken = self._publish_taken((), (), changes, unchanged, lines, progress)
            return replace(taken, notes=notes)

    def follow(
        self, paths: Sequence[Path], progress: Progress, is_note: IsNote | None = None
    ) -> Intake:
        """Bring the corpus in step with files that came, changed or left.

        The cost is that of these files, however many others there are.
        """
        with self._held(progress):
            found, skipped = self._sources.find_beside(paths)
            at_hand = {str(source.path) for source in found}
            beside = {str(path) for source in found for path in source.companions}
            unreadable = {str(line.path) for line in skipped}
            gone = {
                path
                for path in {*map(str, paths), *beside} - at_hand - unreadable
                if self._state.known_source(path) is not None
            }
            changes, unchanged, notes = self._settle_and_read(found, gone, progress, is_note)
            taken = self._publish_taken(
                at_hand, (), changes, unchanged, skipped_lines(skipped), progress
            )
            return replace(taken, notes=notes)

    def known_paths(self, folders: Sequence[Path]) -> list[str]:
        """Every source below these folders that the corpus was made of."""
        places = [folder.absolute() for folder in folders]
        return [
            path
            for path in self._state.known_sources()
            if any(Path(path).is_relative_to(place) for place in places)
        ]

    def _settle_and_read(
        self,
        found: Sequence[FoundSource],
        gone: Collection[str],
        progress: Progress,
        is_note: IsNote | None = None,
    ) -> tuple[list[SourceChange], int, tuple[str, ...]]:
        """The changes, how many files have none, and the new files that are notes, not read."""
        known = {str(source.path): self._state.known_source(str(source.path)) for source in found}
        stale = [
            source
            for source in found
            if not self._loader.is_up_to_date(source, known[str(source.path)])
        ]
        settled = self._settler.settle(stale, known, gone)
        left = set(gone) - settled.moved_from
        self._state.forget_sources(left)
        notes = {
            change.path
            for change in settled.changes
            if is_note is not None and change.kind == "new" and is_note(Path(change.path))
        }
        to_read = [each for each in settled.to_read if str(each.path) not in notes]
        self._loader.load(to_read, progress)
        unchanged = len(found) - len(settled.changes)
        changes = [change for change in settled.changes if change.path not in notes]
        return [*changes, *removed_changes(left)], unchanged, tuple(sorted(notes))

    def _publish_taken(
        self,
        asked: Collection[str],
        restored: Collection[str],
        changes: Sequence[SourceChange],
        unchanged: int,
        skipped: Sequence[ReportLine],
        progress: Progress,
    ) -> Intake:
        outcome = self._publisher.publish(progress, asked=asked, restored=restored)
        lines = [*skipped]
        for change in changes:
            lines += self._problem_lines(change.path)
        return Intake(
            tuple(self._taken(planned) for planned in outcome.asked_for),
            tuple(changes),
            unchanged,
            self._corpus.paper_count(),
            outcome.removed,
            tuple(lines),
            in_doubt=self._corpus.doubtful_count(),
        )

    def _taken(self, planned: PlannedPaper) -> TakenPaper:
        group = planned.group
        record = self._publisher.merge(planned)
        is_named = bool(record.authors) and not _FACTS & set(record.inferred)
        is_stated = is_named or (record.doi is not None and "doi" not in record.inferred)
        notes = (
            *(conflict.message for conflict in group.conflicts),
            *(line.message for line in link_lines(planned)),
        )
        return TakenPaper(
            planned.paper_id,
            record.title,
            planned.is_new,
            is_stated,
            group.sources,
            notes,
            bool(find_doubts(record, group.conflicts, planned.twins)),
        )


def _keep_within(
    found: Sequence[FoundSource], skipped: Sequence[SkippedFile], folders: Sequence[Path]
) -> tuple[list[FoundSource], list[SkippedFile]]:
    """The sources whose files all resolve into one of the folders; the others are named."""
    places = [folder.resolve() for folder in folders]

    def is_inside(path: Path) -> bool:
        try:
            place = path.resolve()
        except (OSError, RuntimeError):
            return False
        return any(place.is_relative_to(folder) for folder in places)

    inside = [source for source in found if all(map(is_inside, (source.path, *source.companions)))]
    kept = {source.path for source in inside}
    out = [
        SkippedFile(source.path, "not_allowed", "it leads out of the folders that may be read")
        for source in found
        if source.path not in kept
    ]
    return inside, [*skipped, *out]

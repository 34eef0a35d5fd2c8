"""Publishes changes of a corpus: segments first, then one new manifest that names them."""

from __future__ import annotations

import os
import shutil
import sqlite3
import time
from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator
from contextlib import closing, suppress
from dataclasses import replace
from functools import partial
from pathlib import Path

from carrel.core.process_name import process_name
from carrel.rooms.papers.building.papers import PaperVersion
from carrel.stores.corpus import SEGMENTS_NAME
from carrel.stores.corpus.compaction import (
    merge_cheaply,
    merge_runs,
    needs_compaction,
    plan_reindexing,
    plan_runs,
)
from carrel.stores.corpus.doubts import count_doubtful
from carrel.stores.corpus.index_parts import INDEX_FORMAT, SegmentParts
from carrel.stores.corpus.manifest import (
    Manifest,
    SegmentEntry,
    read_manifest,
    segment_folder,
    write_manifest,
)
from carrel.stores.corpus.schema import META_PAPERS, META_PASSAGES
from carrel.stores.corpus.segment_writer import ASIDE, SegmentWriter, has_whole_index
from carrel.stores.corpus.segments import (
    open_segment,
    read_asset,
    read_segment_meta,
    size_of,
)
from carrel.stores.corpus.staged_references import StagedReferenceFiles
from carrel.stores.search.parts import BUILD_HEAP_BYTES, SMALL_HEAP_BYTES

# A reader that has opened a manifest opens its segments within this time; then it holds them.
GRACE_SECONDS = 600.0
STAGED_NAME = "staged"
# From here on a segment is worth more memory.
_MANY_PAPERS = 500

BeforeSwap = Callable[[Path], None]


class WorkshopAssets:
    """Texts and files of papers: just read, of an earlier version's folder, or in segments."""

    def __init__(self, folder: Path, staged: Path, earlier: Path) -> None:
        self._segments = folder / SEGMENTS_NAME
        self._folders = (staged, earlier)
        self._staged = staged
        self.references = StagedReferenceFiles(staged)
        self._opened: dict[str, sqlite3.Connection] = {}

    def read(self, name: str) -> bytes:
        if (waiting := self.references.read(name)) is not None:
            return waiting
        for folder in self._folders:
            with suppress(FileNotFoundError):
                return (folder / name).read_bytes()
        for segment in self._newest_segments():
            content = read_asset(self._segments / segment, self._opened[segment], name)
            if content is not None:
                return content
        raise FileNotFoundError(name)

    def stage(self, names: Iterable[str]) -> None:
        """Keep these beside the segments, for records that no segment will hold."""
        for name in names:
            target = self._staged / name
            if not target.exists():
                content = self.read(name)
                target.parent.mkdir(parents=True, exist_ok=True)
                aside = target.with_name(f".{target.name}.{process_name()}")
                aside.write_bytes(content)
                aside.replace(target)

    def has_staged(self) -> bool:
        return self._staged.is_dir()

    def clear_staged(self, keep: frozenset[str]) -> None:
        """Remove what is in segments now."""
        for name in keep:
            if self.references.read(name) is not None:
                self.stage([name])
        self.references.close()
        if not keep:
            shutil.rmtree(self._staged, ignore_errors=True)
            return
        for path in self._staged.rglob("*"):
            if path.is_file() and path.relative_to(self._staged).as_posix() not in keep:
                path.unlink()

    def close(self) -> None:
        self.references.close()
        while self._opened:
            self._opened.popitem()[1].close()

    def _newest_segments(self) -> Iterator[str]:
        """Every whole segment on disk, opened."""
        if not self._segments.is_dir():
            return
        found = sorted(
            (path for path in self._segments.iterdir() if not path.name.startswith(".")),
            key=lambda path: path.stat().st_mtime_ns,
            reverse=True,
        )
        for path in found:
            if path.name not in self._opened:
                self._opened[path.name] = open_segment(path)
            yield path.name


class SegmentedCorpus:
    """The segments and the manifest of one corpus folder, for whoever holds its build lock."""

    def __init__(
        self,
        folder: Path,
        assets: WorkshopAssets,
        before_swap: BeforeSwap | None = None,
        wall_clock: Callable[[], float] = time.time,
    ) -> None:
        self._folder = folder
        self._assets = assets
        self._before_swap = before_swap
        self._wall_clock = wall_clock

    def build_id(self) -> str | None:
        """The build id of the manifest on disk; None where there is none."""
        manifest = read_manifest(self._folder)
        return None if manifest is None else manifest.build_id

    def paper_count(self) -> int:
        manifest = read_manifest(self._folder)
        return 0 if manifest is None else manifest.papers

    def doubtful_count(self) -> int:
        manifest = read_manifest(self._folder)
        found = 0
        for entry in manifest.segments if manifest is not None else ():
            with closing(open_segment(segment_folder(self._folder, entry.name))) as connection:
                found += count_doubtful(connection, frozenset(entry.deleted))
        return found

    def begin(
        self, greatest_row: int, greatest_index: int, *, is_whole: bool = False
    ) -> Publication:
        """A publication upon the manifest on disk, or with `is_whole` instead of it.

        New rows and indexes are greater than these and those of the manifest.
        """
        self._remove_leftovers()
        manifest = read_manifest(self._folder) or Manifest("", "", 0)
        start = replace(
            manifest,
            next_row=max(manifest.next_row, greatest_row + 1),
            next_index=max(manifest.next_index, greatest_index + 1),
        )
        if is_whole:
            start = replace(start, segments=())
        return Publication(self._folder, start, self._assets)

    def publish(self, publication: Publication, build_id: str, built_at: str) -> None:
        """Replace the manifest, after merging what is cheap to merge."""
        segments = merge_cheaply(self._folder, publication.segments(), INDEX_FORMAT)
        manifest = replace(
            publication.manifest(), build_id=build_id, built_at=built_at, segments=segments
        )
        if self._before_swap is not None:
            self._before_swap(self._folder)
        write_manifest(self._folder, manifest)
        self._sweep(publication.before, manifest)

    def compact(
        self, report: Callable[[int], None], most_runs: int | None = None
    ) -> tuple[int, int]:
        """Merge segments until few and large ones are left; returns how many there were and are.

        Readers see the same papers before and after. What was merged is kept when this is stopped.
        With `most_runs` it ends after so many merges of neighbours.
        """
        return self._merge(lambda segments: plan_runs(segments)[:most_runs], report)

    def needs_compaction(self) -> bool:
        """Whether there are more segments than searches like."""
        return needs_compaction(self._folder)

    def reindex(self, report: Callable[[int], None]) -> None:
        """Write segments again whose index is damaged or of another version."""
        self._merge(partial(plan_reindexing, self._folder), report)

    def _merge(
        self,
        plan: Callable[[tuple[SegmentEntry, ...]], list[tuple[SegmentEntry, ...]]],
        report: Callable[[int], None],
    ) -> tuple[int, int]:
        self._remove_leftovers()
        manifest = read_manifest(self._folder)
        if manifest is None:
            return 0, 0
        count = len(manifest.segments)
        for segments in merge_runs(
            self._folder, manifest.segments, plan(manifest.segments), self._assets, INDEX_FORMAT
        ):
            changed = replace(manifest, segments=segments, generation=manifest.generation + 1)
            write_manifest(self._folder, changed)
            self._sweep(manifest, changed)
            manifest = changed
            report(1)
        self._sweep(manifest, manifest)
        return count, len(manifest.segments)

    def _remove_leftovers(self) -> None:
        """Remove half-written segments: nobody else writes, so whoever made them is dead."""
        for path in (self._folder / SEGMENTS_NAME).glob(f"{ASIDE}*"):
            shutil.rmtree(path, ignore_errors=True)

    def _sweep(self, before: Manifest, now: Manifest) -> None:
        sweep_segments(self._folder, before, now, self._wall_clock)


def sweep_segments(
    corpus: Path,
    before: Manifest,
    now: Manifest,
    wall_clock: Callable[[], float] = time.time,
) -> None:
    """Start the grace of segments that are used no more; remove those whose grace is over."""
    used = {entry.name for entry in now.segments}
    folder = corpus / SEGMENTS_NAME
    just_left = {entry.name for entry in before.segments} - used
    for path in folder.iterdir() if folder.is_dir() else ():
        if path.name in used or path.name.startswith("."):
            continue
        with suppress(OSError):
            if path.name in just_left:
                now_seconds = wall_clock()
                os.utime(path, (now_seconds, now_seconds))
            elif path.stat().st_mtime < wall_clock() - GRACE_SECONDS:
                shutil.rmtree(path)


class Publication:
    """Changes of a corpus that nobody sees yet."""

    def __init__(self, folder: Path, before: Manifest, assets: WorkshopAssets) -> None:
        self.before = before
        self._folder = folder
        self._assets = assets
        self._next_row = before.next_row
        self._next_index = before.next_index
        self._ended: list[int] = []
        self._new: list[SegmentEntry] = []
        used = {entry.name for entry in before.segments}
        segments = folder / SEGMENTS_NAME
        # What an interrupted build has written is used again.
        self._has_spare = segments.is_dir() and any(
            path.name not in used and not path.name.startswith(".") for path in segments.iterdir()
        )

    def take_row(self) -> int:
        self._next_row += 1
        return self._next_row - 1

    def take_index(self) -> int:
        self._next_index += 1
        return self._next_index - 1

    def end_row(self, row: int) -> None:
        """A version of a paper that is no more."""
        self._ended.append(row)

    def keep_assets(self, names: Iterable[str]) -> None:
        """Keep assets of records that no paper holds from now on."""
        self._assets.stage(names)

    def write(self, papers: Callable[[], Iterable[PaperVersion]], count: int) -> None:
        """Write one segment of `count` papers; `papers` may be asked for them twice."""
        heap = BUILD_HEAP_BYTES if count > _MANY_PAPERS else SMALL_HEAP_BYTES
        writer = SegmentWriter(
            self._folder, self._assets, partial(SegmentParts, heap_bytes=heap), INDEX_FORMAT
        )
        if self._has_spare:
            name = writer.name(papers())
            if has_whole_index(segment_folder(self._folder, name)):
                self._new.append(describe_segment(self._folder, name))
                return
        self._new.append(writer.write(papers()))

    def segments(self) -> tuple[SegmentEntry, ...]:
        """All segments, the new ones last, with their deleted rows; none that is empty."""
        entries = [*self.before.segments, *self._new]
        starts = [entry.first_row for entry in entries]
        ended: dict[int, list[int]] = {}
        for row in self._ended:
            ended.setdefault(bisect_right(starts, row) - 1, []).append(row)
        changed = [
            entry.without(ended[at]) if at in ended else entry for at, entry in enumerate(entries)
        ]
        return tuple(entry for entry in changed if entry.live_papers)

    def manifest(self) -> Manifest:
        return replace(
            self.before,
            generation=self.before.generation + 1,
            next_row=self._next_row,
            next_index=self._next_index,
        )


def describe_segment(corpus: Path, name: str) -> SegmentEntry:
    """The entry of a segment that is on disk."""
    folder = segment_folder(corpus, name)
    meta = read_segment_meta(folder)
    with closing(open_segment(folder)) as connection:
        first, last = connection.execute("SELECT min(row), max(row) FROM paper").fetchone()
    return SegmentEntry(
        name, int(meta[META_PAPERS]), int(meta[META_PASSAGES]), size_of(folder), first, last
    )

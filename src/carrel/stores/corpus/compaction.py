"""Which segments are merged: by tiers of ten, cheap ones at once, the rest when asked for."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import closing
from functools import partial
from pathlib import Path

from carrel.rooms.papers.building.papers import PaperVersion, asset_paths
from carrel.stores.corpus.index_parts import SegmentParts
from carrel.stores.corpus.manifest import SegmentEntry, read_manifest, segment_folder
from carrel.stores.corpus.merging import can_merge_segments, merge_segments
from carrel.stores.corpus.records import read_stored
from carrel.stores.corpus.schema import FORMAT_WITH_CITATIONS, META_FORMAT
from carrel.stores.corpus.segment_writer import AssetBytes, SegmentWriter, has_whole_index
from carrel.stores.corpus.segments import open_segment, read_segment_meta
from carrel.stores.search.parts import BUILD_HEAP_BYTES

# Segments of one tier that are merged; tantivy merges from eight on.
TIER_WIDTH = 10
# What an addition merges by the way: measured with benchmarks/paper_addition.py, 200 papers of
# full text take 0.1 s of CPU.
_CHEAP_PAPERS = 200
_CHEAP_BYTES = 64 * 1024 * 1024
# Where nobody compacts, a merge of this size comes every thousand additions.
_BEARABLE_PAPERS = 2_500
# A corpus of a million papers has about 40 segments of this size.
LARGEST_SEGMENT = 25_000
_MOST_SEGMENTS = 40
# A segment with more deleted rows than this share is written again when somebody asks.
_MOST_DELETED = 0.2

Segments = tuple[SegmentEntry, ...]


def merge_cheaply(corpus: Path, segments: Segments, index_format: int) -> Segments:
    """The segments after those merges that cost next to nothing."""
    while (run := _newest_tier(segments)) is not None:
        papers = sum(entry.papers for entry in run)
        size = sum(entry.bytes for entry in run)
        most = _BEARABLE_PAPERS if has_too_many(segments) else _CHEAP_PAPERS
        if papers > most or size > _CHEAP_BYTES or not can_merge_segments(corpus, run):
            break
        merged = merge_segments(corpus, run, index_format)
        segments = (*segments[: -len(run)], merged)
    return segments


def has_too_many(segments: Sequence[SegmentEntry]) -> bool:
    """Whether so many segments make searches slower."""
    return len(segments) > _MOST_SEGMENTS


def needs_compaction(corpus: Path) -> bool:
    """Whether the corpus in a folder has more segments than searches like."""
    manifest = read_manifest(corpus)
    return manifest is not None and has_too_many(manifest.segments)


def _newest_tier(segments: Sequence[SegmentEntry]) -> Segments | None:
    """The newest segments that are of one tier, where they are enough to be merged."""
    limit = TIER_WIDTH
    while segments and limit <= LARGEST_SEGMENT:
        run: list[SegmentEntry] = []
        for entry in reversed(segments):
            if entry.papers >= limit:
                break
            run.insert(0, entry)
        if len(run) >= TIER_WIDTH:
            return tuple(run)
        limit *= TIER_WIDTH
    return None


def merge_runs(
    corpus: Path,
    segments: Segments,
    runs: Sequence[Segments],
    assets: AssetBytes,
    index_format: int,
) -> Iterator[Segments]:
    """Merge each run of neighbours into one, yielding all segments after each merge."""
    for run in runs:
        is_copy = len(run) == 1 and not run[0].deleted and _has_whole_index(corpus, run[0])
        if is_copy or (len(run) >= TIER_WIDTH and can_merge_segments(corpus, run)):
            merged = merge_segments(corpus, run, index_format)
        else:
            merged = _write_again(corpus, run, assets, index_format)
        at = segments.index(run[0])
        segments = (*segments[:at], merged, *segments[at + len(run) :])
        yield segments


def plan_reindexing(corpus: Path, segments: Segments) -> list[Segments]:
    """The segments whose index cannot be read or that lack tables of this version, each alone."""
    return [
        (entry,)
        for entry in segments
        if not _has_whole_index(corpus, entry) or _lacks_tables(corpus, entry)
    ]


def _has_whole_index(corpus: Path, entry: SegmentEntry) -> bool:
    return has_whole_index(segment_folder(corpus, entry.name))


def _lacks_tables(corpus: Path, entry: SegmentEntry) -> bool:
    meta = read_segment_meta(segment_folder(corpus, entry.name))
    return int(meta[META_FORMAT]) < FORMAT_WITH_CITATIONS


def plan_runs(segments: Sequence[SegmentEntry]) -> list[Segments]:
    """Neighbours to merge: small ones up to the largest size, and those with many deleted rows.

    A large segment is left alone: writing it again would cost more than it gains.
    """
    total = sum(entry.live_papers for entry in segments)
    largest = max(LARGEST_SEGMENT, -(-total // _MOST_SEGMENTS))
    runs: list[list[SegmentEntry]] = []
    room = 0
    for entry in segments:
        is_small = entry.live_papers <= largest // 2 or _is_worn(entry)
        if is_small and entry.live_papers <= room:
            runs[-1].append(entry)
            room -= entry.live_papers
        else:
            runs.append([entry])
            room = largest - entry.live_papers if is_small else 0
    return [tuple(run) for run in runs if len(run) > 1 or _is_worn(run[0])]


def _is_worn(entry: SegmentEntry) -> bool:
    return len(entry.deleted) > _MOST_DELETED * entry.papers


def _write_again(
    corpus: Path, run: Segments, assets: AssetBytes, index_format: int
) -> SegmentEntry:
    open_index = partial(SegmentParts, heap_bytes=BUILD_HEAP_BYTES)
    writer = SegmentWriter(corpus, assets, open_index, index_format)
    return writer.write(_versions(corpus, run))


def _versions(corpus: Path, run: Segments) -> Iterator[PaperVersion]:
    for entry in run:
        dead = frozenset(entry.deleted)
        with closing(open_segment(segment_folder(corpus, entry.name))) as connection:
            for row, body in connection.execute("SELECT row, record FROM paper ORDER BY row"):
                if row in dead:
                    continue
                paper = read_stored(body).published_paper
                names = connection.execute(
                    "SELECT name FROM paper_asset JOIN asset ON number = asset WHERE row = ?",
                    (row,),
                )
                more = {name for (name,) in names} - set(asset_paths(paper.record))
                yield PaperVersion(row, paper, tuple(sorted(more)))

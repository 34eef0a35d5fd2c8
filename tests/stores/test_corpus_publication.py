"""Merging, compacting and sweeping of segments under readers."""

from __future__ import annotations

import random
from contextlib import closing
from pathlib import Path

import pytest

from carrel.rooms.papers.building.papers import PaperVersion
from carrel.stores.corpus.compaction import plan_runs
from carrel.stores.corpus.manifest import Manifest, SegmentEntry, read_manifest
from carrel.stores.corpus.publication import (
    GRACE_SECONDS,
    SegmentedCorpus,
    WorkshopAssets,
    describe_segment,
)
from carrel.stores.corpus.records import read_stored
from carrel.stores.corpus.segments import open_segment, read_asset, read_segment_meta
from carrel.stores.search.parts import has_part
from carrel.stores.search.views import open_view
from tests.stores.test_corpus_segments import TEXT, make_paper

pytestmark = pytest.mark.promise("P16")


class Disk:
    """A corpus folder with a clock of its own."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder / "corpus"
        self.staged = folder / "staged"
        (self.staged / "md").mkdir(parents=True)
        (self.staged / "md" / "whales.md").write_text(TEXT)
        (self.staged / "pdf").mkdir()
        (self.staged / "pdf" / "large.pdf").write_bytes(random.Random(1).randbytes(1_200_000))
        self.now = 1_000_000.0
        assets = WorkshopAssets(self.folder, self.staged, folder / "none")
        self.corpus = SegmentedCorpus(self.folder, assets, wall_clock=lambda: self.now)
        self.folder.mkdir()

    @property
    def manifest(self) -> Manifest:
        found = read_manifest(self.folder)
        assert found is not None
        return found

    def publish(self, *numbers: int, ended: tuple[int, ...] = (), **facts: object) -> None:
        publication = self.corpus.begin(0, 0)
        for row in ended:
            publication.end_row(row)
        if numbers:
            versions = [
                PaperVersion(publication.take_row(), make_paper(number, **facts))
                for number in numbers
            ]
            publication.write(lambda: versions, len(versions))
        self.corpus.publish(publication, f"build-{self.manifest_generation() + 1}", "2026-01-01")

    def manifest_generation(self) -> int:
        found = read_manifest(self.folder)
        return found.generation if found else 0

    def segments(self) -> set[str]:
        return {path.name for path in (self.folder / "segments").iterdir()}

    def live(self) -> dict[int, str]:
        found: dict[int, str] = {}
        for entry in self.manifest.segments:
            with closing(open_segment(self.folder / "segments" / entry.name)) as connection:
                for row, body in connection.execute("SELECT row, record FROM paper"):
                    if row not in entry.deleted:
                        found[row] = read_stored(body).record.title
        return found


@pytest.fixture
def disk(tmp_path: Path) -> Disk:
    return Disk(tmp_path)


def test_ten_small_segments_become_one_that_says_the_same(disk: Disk) -> None:
    disk.publish(0, markdown_sha256="whales", pdf_sha256="large")
    disk.publish(1, 2)
    for number in range(3, 10):
        disk.publish(number)
    before = disk.live()
    assert len(disk.manifest.segments) == 9
    disk.publish(10, ended=(2,))
    [entry] = disk.manifest.segments
    assert disk.live() == {row: title for row, title in before.items() if row != 2} | {
        11: "Paper 10"
    }
    assert (entry.papers, entry.deleted, entry.first_row, entry.last_row) == (10, (), 1, 11)
    folder = disk.folder / "segments" / entry.name
    meta = read_segment_meta(folder)
    assert (meta["papers"], meta["passages"], meta["with_source"]) == ("10", "11", "1")
    assert meta["years"] == '{"2017":10}'
    with closing(open_segment(folder)) as connection:
        assert read_asset(folder, connection, "md/whales.md") == TEXT.encode()
        assert read_asset(folder, connection, "pdf/large.pdf") is not None
        author = "SELECT papers FROM facet WHERE category = 'author'"
        assert connection.execute(author).fetchall() == [(10,)]
        texts = connection.execute(
            "SELECT count(*) FROM passage JOIN asset ON asset.number = passage.asset"
        )
        assert texts.fetchone() == (2,)
    for part, count in (("papers", 10), ("passages", 11)):
        assert open_view([folder / part], disk.folder / "views").document_count == count
    assert describe_segment(disk.folder, entry.name) == entry


def test_a_merged_segment_is_named_as_if_it_had_been_written_at_once(
    disk: Disk, tmp_path: Path
) -> None:
    for number in range(10):
        disk.publish(number)
    other = Disk(tmp_path / "other")
    other.publish(*range(10))
    assert disk.manifest.segments[0].name == other.manifest.segments[0].name


def test_compacting_drops_what_was_deleted_and_keeps_the_rest(disk: Disk) -> None:
    disk.publish(*range(20))
    disk.publish(*range(20, 23))
    disk.publish(ended=(1, 5, 21))
    before = disk.live()
    generation = disk.manifest.generation
    assert disk.corpus.compact(lambda done: None) == (2, 1)
    assert disk.live() == before
    assert disk.manifest.segments[0].deleted == ()
    assert disk.manifest.generation == generation + 1
    assert disk.corpus.compact(lambda done: None) == (1, 1)
    assert disk.manifest.generation == generation + 1


def test_a_segment_is_removed_only_when_no_reader_can_still_come_for_it(disk: Disk) -> None:
    disk.publish(1)
    [old] = disk.segments()
    disk.publish(2, ended=(1,))
    assert old in disk.segments()
    assert old not in {entry.name for entry in disk.manifest.segments}
    disk.now += GRACE_SECONDS - 1
    disk.publish(3)
    assert old in disk.segments()
    disk.now += 2
    disk.publish(4)
    assert old not in disk.segments()
    assert len(disk.live()) == 3


def test_what_a_killed_writer_left_half_done_is_removed(disk: Disk) -> None:
    disk.publish(1)
    half = disk.folder / "segments" / ".part-dead"
    half.mkdir()
    (half / "records.db").write_bytes(b"half")
    disk.publish(2)
    assert not half.exists()


def test_a_whole_segment_of_a_killed_build_is_used_again(disk: Disk) -> None:
    publication = disk.corpus.begin(0, 0)
    versions = [PaperVersion(publication.take_row(), make_paper(1))]
    publication.write(lambda: versions, 1)
    [name] = disk.segments()
    written = (disk.folder / "segments" / name / "records.db").stat().st_mtime_ns
    disk.publish(1)
    assert disk.manifest.segments[0].name == name
    assert (disk.folder / "segments" / name / "records.db").stat().st_mtime_ns == written


def test_a_damaged_index_is_made_again(disk: Disk) -> None:
    disk.publish(1, 2)
    [name] = disk.segments()
    part = disk.folder / "segments" / name / "passages"
    (part / "meta.json").write_text("{")
    assert not has_part(part)
    disk.corpus.reindex(lambda done: None)
    assert has_part(part)
    assert disk.live() == {1: "Paper 1", 2: "Paper 2"}


def entries(*sizes: int, deleted: int = 0) -> tuple[SegmentEntry, ...]:
    found: list[SegmentEntry] = []
    for at, size in enumerate(sizes):
        first = 1 + at * 1_000_000
        gone = tuple(range(first, first + deleted))
        found.append(SegmentEntry(f"{at:032x}", size, size, 1, first, first + size - 1, gone))
    return tuple(found)


@pytest.mark.parametrize(
    ("sizes", "runs"),
    [
        ((25_000,) * 40, []),
        ((25_000, 100, 10, 1), [(100, 10, 1)]),
        ((1, 25_000, 1), []),
        ((12_000, 12_000, 12_000), [(12_000, 12_000)]),
        ((5,), []),
        ((), []),
        ((25_000,) * 80, [(25_000, 25_000)] * 40),
    ],
)
def test_small_neighbours_are_merged_and_large_segments_left_alone(
    sizes: tuple[int, ...], runs: list[tuple[int, ...]]
) -> None:
    planned = plan_runs(entries(*sizes))
    assert [tuple(entry.papers for entry in run) for run in planned] == runs


def test_a_segment_of_many_deleted_rows_is_written_again_alone() -> None:
    assert plan_runs(entries(25_000, deleted=5_001)) == [entries(25_000, deleted=5_001)]
    assert plan_runs(entries(25_000, deleted=4_999)) == []

"""A corpus read by partitions is the corpus that one process would have made."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from carrel.core.progress import NoProgress
from carrel.rooms.papers.building import partitions
from carrel.rooms.papers.building.build_reports import BuildReport
from carrel.rooms.papers.building.models import BuildOptions
from carrel.rooms.papers.building.partitions import SourcePartition, cut_partitions
from carrel.rooms.papers.local_operations import PartsRead
from carrel.wiring.papers_build import build_papers, paper_builder
from carrel.wiring.papers_partitions import parts_folder, read_apart, read_share

PAPERS = 10


@pytest.fixture(autouse=True)
def few_sources_each(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(partitions, "_MOST_SOURCES", 3)


@pytest.fixture
def sources(tmp_path: Path) -> Path:
    folder = tmp_path / "sources"
    folder.mkdir()
    (folder / "figure.png").write_bytes(b"\x89PNG\r\n\x1a\n0000")
    for number in range(PAPERS):
        write(folder, number, "the first text")
    (folder / "list.bib").write_text("@article{a, title={On Boats}, year=2001, author={A, B}}")
    return folder


def write(folder: Path, number: int, text: str) -> None:
    (folder / f"{number}.md").write_text(
        f"---\ntitle: On ships, part {number}\nauthors: [Ada Example]\nyear: {1990 + number}\n---\n"
        f"# Ships\n\nThis is {text} of {number}.\n\n![a figure](figure.png)\n"
    )


def apart(into: Path, sources: Path, workers: int) -> PartsRead:
    return read_apart(
        paper_builder, into, [sources], BuildOptions(workers), "processes", None, NoProgress()
    )


def build(into: Path, sources: Path) -> BuildReport:
    return build_papers([sources], into, BuildOptions(workers=1))


def segments(into: Path) -> list[str]:
    return sorted(path.name for path in (into / "segments").iterdir())


def test_partitions_are_the_same_whatever_the_order_of_finding(sources: Path) -> None:
    with paper_builder(sources.parent / "corpus") as builder:
        found = builder.find_unread([sources])
    cut = list(cut_partitions(found))
    assert cut == list(cut_partitions(found[::-1]))
    assert [len(each.sources) for each in cut] == [3, 3, 3, 2]
    assert [SourcePartition.decode(each.encode()) for each in cut] == cut


@pytest.mark.promise("Q21")
def test_any_number_of_workers_makes_the_same_content(tmp_path: Path, sources: Path) -> None:
    build(tmp_path / "here", sources)
    for workers in (1, 2, 4):
        into = tmp_path / f"corpus-{workers}"
        assert apart(into, sources, workers) == PartsRead(4, 0, PAPERS + 1)
        assert build(into, sources).papers == PAPERS + 1
        assert segments(into) == segments(tmp_path / "here")
        assert not parts_folder(into).exists()


@pytest.mark.skipif("CARREL_TEST_RAY" not in os.environ, reason="make judge-ray runs it")
def test_a_cluster_of_ray_makes_the_same_content(tmp_path: Path, sources: Path) -> None:
    build(tmp_path / "here", sources)
    into = tmp_path / "corpus"
    done = read_apart(paper_builder, into, [sources], BuildOptions(2), "ray", None, NoProgress())
    assert done == PartsRead(4, 0, PAPERS + 1)
    build(into, sources)
    assert segments(into) == segments(tmp_path / "here")


def test_machines_read_their_shares_and_one_build_joins_them(tmp_path: Path, sources: Path) -> None:
    into = tmp_path / "corpus"
    for number in (1, 2, 1):
        done = read_share(
            paper_builder, into, [sources], BuildOptions(1), (number, 2), NoProgress()
        )
    assert (done.read, done.read_before) == (0, 2)
    assert apart(into, sources, 2) == PartsRead(0, 4, 0)
    build(into, sources)
    build(tmp_path / "here", sources)
    assert segments(into) == segments(tmp_path / "here")


def test_what_changed_since_a_worker_read_it_or_was_damaged_is_read_by_the_build(
    tmp_path: Path, sources: Path
) -> None:
    into = tmp_path / "corpus"
    apart(into, sources, 1)
    write(sources, 4, "another text, longer than before,")
    first, *_, last = sorted(parts_folder(into).glob("*.part"))
    first.write_bytes(first.read_bytes()[:-100])
    last.unlink()
    build(into, sources)
    build(tmp_path / "here", sources)
    assert segments(into) == segments(tmp_path / "here")
    assert not parts_folder(into).exists()

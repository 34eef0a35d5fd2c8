"""A build that dies at any point: nothing is lost, nothing is half there, and the next one goes on
from what was read.
"""

from __future__ import annotations

import multiprocessing
import os
import shutil
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import ClassVar

import pytest

from carrel.core.errors import CarrelError
from carrel.core.progress import NoProgress
from carrel.rooms.papers.building import service
from carrel.rooms.papers.building.models import BuildOptions
from carrel.stores.sqlite.papers.build_locks import BuildLockFile
from carrel.wiring.papers_build import build_papers
from tests.rooms.papers.building.conftest import Corpus


class Dying:
    """Progress that kills its process, as kill -9 would, at the given step of a phase."""

    def __init__(self, phase: str, steps: int) -> None:
        self._phase, self._steps = phase, steps
        self._now = ""

    def begin(self, phase: str, total: int | None, unit: str, work: float | None = None) -> None:
        self._now = phase

    def advance(self, amount: int = 1, work: float | None = None) -> None:
        if self._now == self._phase:
            self._steps -= 1
            if self._steps <= 0:
                os._exit(9)

    def end(self) -> None:
        return None


def build_and_die(sources: Path, into: Path, phase: str, steps: int) -> None:
    build_papers([sources], into, BuildOptions(workers=1), progress=Dying(phase, steps))


def build_and_die_before_the_swap(sources: Path, into: Path) -> None:
    build_papers([sources], into, BuildOptions(workers=1, before_swap=lambda draft: os._exit(9)))


def run(target: Callable[..., None], *arguments: object) -> int | None:
    process = multiprocessing.get_context("spawn").Process(target=target, args=arguments)
    process.start()
    process.join(60)
    return process.exitcode


@pytest.fixture
def many(corpus: Corpus) -> Corpus:
    corpus.write("first.md", "# The first paper\n")
    corpus.build()
    for at in range(80):
        corpus.write(f"{at:03}.md", f"# Paper {at}\n\nText {at}.\n")
    return corpus


def titles(corpus: Corpus) -> list[object]:
    return [title for (title,) in corpus.ask("SELECT title FROM paper ORDER BY 1")]


@pytest.mark.promise("P9")
def test_killed_while_reading_it_goes_on_from_what_was_read(many: Corpus) -> None:
    assert run(build_and_die, many.sources, many.into, "reading", 70) == 9
    assert titles(many) == ["The first paper"]
    report = many.build()
    assert (report.papers, report.sources_removed) == (81, 0)
    assert report.sources_read < 30, "what had been read before the end was read again"


def records_of_long_file(corpus: Corpus) -> set[int]:
    with closing(sqlite3.connect(corpus.into / ".carrel-build" / "state.db")) as connection:
        return {
            number
            for (number,) in connection.execute(
                "SELECT record_id FROM record JOIN source ON source.number = record.source "
                "WHERE path LIKE '%long.jsonl'"
            )
        }


@pytest.mark.promise("P9")
def test_killed_in_the_middle_of_a_long_file_it_goes_on_there(corpus: Corpus) -> None:
    corpus.write("first.md", "# The first paper\n")
    corpus.build()
    corpus.write_lines(
        "long.jsonl", *({"title": f"Paper {at}", "abstract": "x" * 4000} for at in range(800))
    )
    assert run(build_and_die, corpus.sources, corpus.into, "reading", 3) == 9
    kept = records_of_long_file(corpus)
    assert 0 < len(kept) < 800
    assert corpus.build(size_limit_bytes=10_000_000).papers == 801
    assert kept < records_of_long_file(corpus), "what had been read before the end was read again"
    assert corpus.one("SELECT count(DISTINCT title) FROM paper") == 801


@pytest.mark.promise("P9")
@pytest.mark.parametrize("where", ["writing", "swap"])
def test_killed_while_writing_the_old_snapshot_stands_and_nothing_is_read_again(
    many: Corpus, where: str
) -> None:
    if where == "writing":
        assert run(build_and_die, many.sources, many.into, "writing", 1) == 9
    else:
        assert run(build_and_die_before_the_swap, many.sources, many.into) == 9
    assert titles(many) == ["The first paper"]
    report = many.build()
    assert (report.papers, report.sources_read) == (81, 0)


@pytest.mark.promise("P9")
def test_killed_right_after_the_swap_the_new_snapshot_counts(many: Corpus, tmp_path: Path) -> None:
    workshop, then = many.into / ".carrel-build", tmp_path / "then"

    def remember(draft: Path) -> None:
        shutil.copytree(workshop, then)

    before = build_papers([many.sources], many.into, BuildOptions(workers=1, before_swap=remember))
    shutil.rmtree(workshop)
    shutil.move(then, workshop)
    report = many.build()
    assert (report.build_id, report.is_changed) == (before.build_id, False)


def test_a_disk_that_is_not_mounted_takes_no_papers_away(many: Corpus, tmp_path: Path) -> None:
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    (elsewhere / "far.md").write_text("# A paper far away\n")
    build_papers([many.sources, elsewhere], many.into, BuildOptions(workers=1))
    elsewhere.rename(tmp_path / "unmounted")
    report = build_papers([many.sources, elsewhere], many.into, BuildOptions(workers=1))
    assert [line.code for line in report.lines] == ["not_found"]
    assert "A paper far away" in titles(many)


def test_a_build_that_waited_long_enough_for_another_is_refused(
    many: Corpus, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(service, "BUILD_WAIT_SECONDS", 0.0)
    with (
        BuildLockFile(many.into / ".carrel-build" / "lock.db").held(),
        pytest.raises(CarrelError, match="Another build"),
    ):
        many.build()


def test_a_build_waits_for_another_and_says_so(many: Corpus) -> None:
    other = BuildLockFile(many.into / ".carrel-build" / "lock.db").held()
    other.__enter__()

    class Ending(NoProgress):
        """Lets the other build end as soon as somebody says that it waits for it."""

        phases: ClassVar[list[str]] = []

        def begin(
            self, phase: str, total: int | None, unit: str, work: float | None = None
        ) -> None:
            if not self.phases:
                other.__exit__(None, None, None)
            self.phases.append(phase)

    report = build_papers([many.sources], many.into, BuildOptions(workers=1), progress=Ending())
    assert (report.papers, Ending.phases[0]) == (81, "waiting for another build of this corpus")


@pytest.mark.promise("P16")
def test_a_lost_manifest_is_made_again_without_reading(many: Corpus) -> None:
    many.build()
    (many.into / "manifest.json").unlink()
    report = many.build()
    assert (report.sources_read, len(titles(many))) == (0, 81)


def test_reading_in_several_processes_gives_the_same(many: Corpus) -> None:
    report = many.build(workers=2)
    assert (report.papers, report.lines) == (81, ())

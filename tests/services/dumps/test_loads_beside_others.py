"""A load beside a full disk and beside others who change the corpus loses nothing of anybody."""

from __future__ import annotations

import threading
from pathlib import Path

import pytest

from carrel.core.errors import StorageFullError
from carrel.core.progress import NoProgress
from carrel.rooms.papers.building.models import BuildOptions
from carrel.rooms.papers.loading.service import DumpToLoad
from carrel.services.dumps import streams
from carrel.stores.corpus.manifest import read_manifest
from carrel.wiring.papers_build import add_paper_file
from carrel.wiring.papers_load import load_dump
from tests.services.dumps.dump_files import openalex_work, write_partition
from tests.stores.small_disk import small_disk

pytestmark = pytest.mark.promise("W3")


def papers_in(into: Path) -> int:
    manifest = read_manifest(into)
    return 0 if manifest is None else manifest.papers


def test_a_full_disk_is_told_and_loses_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(streams, "_CHUNK_RECORDS", 50)
    works = [openalex_work(number, f"Work {number} {'word ' * 40}") for number in range(300)]
    write_partition(tmp_path / "dump", "2026-05-01", works)
    with small_disk(tmp_path / "disk", "64M") as disk:
        into = disk.folder / "papers"
        dump = DumpToLoad("openalex", tmp_path / "dump", batch_records=100)
        swaps: list[Path] = []

        def fill_at_second(folder: Path) -> None:
            swaps.append(folder)
            if len(swaps) == 2:
                disk.fill()

        with pytest.raises(StorageFullError):
            load_dump(into, dump, NoProgress(), BuildOptions(before_swap=fill_at_second))
        assert papers_in(into) == 100, "what was published stays"
        disk.empty()
        report = load_dump(into, dump, NoProgress())
        assert (report.papers, papers_in(into)) == (300, 300)


def test_somebody_adds_a_paper_while_a_dump_is_loaded(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(streams, "_CHUNK_RECORDS", 20)
    works = [openalex_work(number, f"Work {number}") for number in range(200)]
    write_partition(tmp_path / "dump", "2026-05-01", works)
    into = tmp_path / "papers"
    file = into / "added" / "mine.md"
    file.parent.mkdir(parents=True)
    file.write_text("---\ndoi: 10.5555/oa.150\n---\n# Work 150\n\nWhales sing.\n")
    adding = threading.Thread(target=add_paper_file, args=(into, file))

    def add_meanwhile(_: Path) -> None:
        if not adding.ident:
            adding.start()

    report = load_dump(
        into,
        DumpToLoad("openalex", tmp_path / "dump", batch_records=20),
        NoProgress(),
        BuildOptions(before_swap=add_meanwhile),
    )
    adding.join()
    assert report.counts.new == 200
    assert papers_in(into) == 200, "the added text is one of the loaded papers"

"""The reader process that stays between files, and what ends it."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import pytest

from carrel.rooms.papers.building.models import PartJob, Reading, SourcePart
from carrel.rooms.papers.building.paper_records import PaperRecord
from carrel.rooms.papers.building.ports import AssetStore
from carrel.services.paper_sources.source_reader import SourceReader
from carrel.services.paper_sources.sources import READERS
from carrel.services.paper_sources.warm_reader import WarmReader
from carrel.stores.static_folder import PaperAssets
from tests.services.pdf_files import make_pdf

WORDS = "They sing in spring, and dive for squid in winter. " * 5
WELL = Reading((PaperRecord(title="Well"),))


class Misbehaving:
    """Reads a file by doing what its text says."""

    name = "misbehaving"
    version = 1

    def accepts(self, path: Path, head: bytes) -> bool:
        return True

    def parts(self, path: Path, companions: tuple[Path, ...]) -> Iterator[SourcePart]:
        yield SourcePart(path)

    def read(self, part: SourcePart, assets: AssetStore) -> Reading:
        match part.path.read_text():
            case "die":
                os.kill(os.getpid(), signal.SIGKILL)
            case "loop":
                while True:
                    pass
        return WELL


def equipment(folder: Path) -> tuple[tuple[SourceReader, ...], AssetStore]:
    return (*READERS, Misbehaving()), PaperAssets(folder / "assets")


@pytest.fixture
def reader() -> Iterator[WarmReader]:
    reader = WarmReader()
    yield reader
    reader.close()


def job(folder: Path, content: bytes | str, name: str = "misbehaving") -> PartJob:
    path = folder / f"file.{name}"
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return PartJob(name, SourcePart(path), path.stat().st_size)


def test_one_process_reads_file_after_file(tmp_path: Path, reader: WarmReader) -> None:
    equip = partial(equipment, tmp_path)
    pdf = make_pdf(
        [[(18, "On whales"), (11, "They sing in spring, and dive for squid in winter. " * 5)]],
        "On whales",
    )
    first = reader.read(job(tmp_path, pdf, "pdf"), equip)
    process = reader.process_id
    assert [record.title for record in first.records] == ["On whales"]
    assert reader.read(job(tmp_path, pdf, "pdf"), equip).records
    assert (reader.process_id, process is None) == (process, False)


def test_a_file_that_kills_its_reader_is_a_problem_and_the_next_is_read(
    tmp_path: Path, reader: WarmReader
) -> None:
    equip = partial(equipment, tmp_path)
    reader.read(job(tmp_path, "well"), equip)
    died = reader.read(job(tmp_path, "die"), equip)
    assert [problem.code for problem in died.problems] == ["reader_crashed"]
    assert reader.read(job(tmp_path, "well"), equip) == WELL


def test_a_process_that_was_killed_while_idle_costs_no_file(
    tmp_path: Path, reader: WarmReader
) -> None:
    equip = partial(equipment, tmp_path)
    reader.read(job(tmp_path, "well"), equip)
    assert reader.process_id is not None
    os.kill(reader.process_id, signal.SIGKILL)
    assert reader.read(job(tmp_path, "well"), equip) == WELL


def test_a_file_that_takes_too_long_is_ended(tmp_path: Path, reader: WarmReader) -> None:
    equip = partial(equipment, tmp_path)
    looped = reader.read(job(tmp_path, "loop"), equip, cpu_seconds=1.0)
    assert [problem.code for problem in looped.problems] == ["too_costly"]
    assert reader.read(job(tmp_path, "well"), equip) == WELL


def test_closing_ends_the_process(tmp_path: Path, reader: WarmReader) -> None:
    reader.read(job(tmp_path, "well"), partial(equipment, tmp_path))
    process = reader.process_id
    assert process is not None
    reader.close()
    assert reader.process_id is None
    with pytest.raises(ProcessLookupError):
        os.kill(process, 0)

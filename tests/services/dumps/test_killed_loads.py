"""A load that is killed at any moment goes on, and ends as one that was never stopped."""

from __future__ import annotations

import signal
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from carrel.services.dumps import streams
from carrel.stores.corpus.manifest import read_manifest
from carrel.wiring.papers_load import list_reaches
from tests.processes import warm
from tests.services.dumps.dump_files import openalex_work, write_partition
from tests.services.dumps.killed_load import BATCH_RECORDS, load

pytestmark = pytest.mark.promise("W3")
_ROOT = Path(__file__).parents[3]


def describe(into: Path) -> tuple[object, ...]:
    """All that two equal corpora have in common; segments are named by their content."""
    manifest = read_manifest(into)
    assert manifest is not None
    aside = into / ".carrel-build" / "set-aside" / "openalex.jsonl"
    reaches = list_reaches(into)
    return (
        [(each.name, each.deleted) for each in manifest.segments],
        (manifest.next_row, manifest.next_index),
        aside.read_text(),
        [(each.newest, each.papers, each.is_complete) for each in reaches],
    )


@pytest.fixture(scope="module")
def dump(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two partitions; the second has newer records of the first, and lines that are broken."""
    folder = tmp_path_factory.mktemp("dump")
    first = [openalex_work(number, f"First {number}") for number in range(90)]
    first.insert(50, b"{broken")  # type: ignore[arg-type]
    second = [
        openalex_work(number, f"Second {number}", updated_date="2026-06-01T00:00:00")
        for number in range(60, 150)
    ]
    second.append(b"{broken too")  # type: ignore[arg-type]
    write_partition(folder, "2026-05-01", first)
    write_partition(folder, "2026-06-01", second)
    return folder


@pytest.fixture(scope="module")
def uninterrupted(
    dump: Path, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[tuple[object, ...]]:
    into = tmp_path_factory.mktemp("whole")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(streams, "_CHUNK_RECORDS", 20)
        load(dump, into)
    yield describe(into)


@pytest.mark.parametrize(
    ("moment", "number"),
    [("chunk", 1), ("chunk", 3), ("chunk", 4), ("chunk", 8), ("swap", 1), ("swap", 2), ("swap", 4)],
)
def test_a_killed_load_ends_as_one_that_was_never_stopped(
    dump: Path,
    uninterrupted: tuple[object, ...],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    moment: str,
    number: int,
) -> None:
    start = (
        "from carrel.services.dumps import streams; streams._CHUNK_RECORDS = 20; "
        "import runpy; runpy.run_module('tests.services.dumps.killed_load', run_name='__main__')"
    )
    killed = warm.run(
        [sys.executable, "-c", start, str(dump), str(tmp_path), moment, str(number)],
        cwd=_ROOT,
        check=False,
        capture_output=True,
    )
    assert killed.returncode == -signal.SIGKILL, killed.stderr.decode()
    monkeypatch.setattr(streams, "_CHUNK_RECORDS", 20)
    load(dump, tmp_path)
    assert describe(tmp_path) == uninterrupted
    assert BATCH_RECORDS * 3 < 150, "the dump has several batches"

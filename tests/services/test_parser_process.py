"""Long inputs are read in a child process that can be ended; the server goes on."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from carrel.core.errors import CostlyInputError
from carrel.libraries.bibliography.formats import try_read_bibliography
from carrel.libraries.bibliography.imports import ImportResult
from carrel.services.parser_process import ParserProcesses

pytestmark = [pytest.mark.promise("D14"), pytest.mark.anyio]


@pytest.fixture
def processes() -> Iterator[ParserProcesses]:
    opened = ParserProcesses()
    yield opened
    opened.close()


def compute_for_ever(began: str) -> None:
    Path(began).touch()
    while True:
        pass


def take_all_memory() -> int:
    kept = []
    while True:
        kept.append(bytearray(64 * 1024**2))


def fail() -> None:
    raise KeyError("a bug")


async def test_a_bibliography_is_read_in_a_child_as_it_is_here(processes: ParserProcesses) -> None:
    text = "".join(f"@article{{k{number}, title = {{Title {number}}}}}\n" for number in range(50))
    assert await processes.run(
        try_read_bibliography, text, size=len(text)
    ) == try_read_bibliography(text)
    assert await processes.run(try_read_bibliography, "<a>", size=3) == try_read_bibliography("<a>")


@pytest.mark.skipif(sys.platform == "win32", reason="Windows takes no limit of computing time")
async def test_a_parser_that_never_ends_is_ended_by_the_operating_system(
    processes: ParserProcesses, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("carrel.services.parser_process.CPU_ALLOWANCE_SECONDS", 0.1)
    monkeypatch.setattr("carrel.services.parser_process._WALL_FACTOR", 10_000.0)
    with pytest.raises(CostlyInputError):
        await processes.run(compute_for_ever, str(tmp_path / "began"), size=0)
    assert await processes.run(
        try_read_bibliography, "@book{k, title={t}}", size=0
    ) == try_read_bibliography("@book{k, title={t}}")


@pytest.mark.skipif(
    not sys.platform.startswith("linux"), reason="only Linux holds a process to its address space"
)
async def test_a_parser_that_takes_all_memory_is_refused_and_the_next_input_is_read(
    processes: ParserProcesses,
) -> None:
    with pytest.raises(CostlyInputError) as refusal:
        await processes.run(take_all_memory, size=0)
    assert refusal.value.exceeded == "memory"
    assert await processes.run(
        try_read_bibliography, "@book{k, title={t}}", size=0
    ) == try_read_bibliography("@book{k, title={t}}")


async def test_when_the_caller_stops_waiting_the_child_is_ended(
    processes: ParserProcesses, tmp_path: Path
) -> None:
    began = tmp_path / "began"
    waiting = asyncio.create_task(processes.run(compute_for_ever, str(began), size=0))
    while not began.exists():
        await asyncio.to_thread(lambda: None)
    [child] = processes.working
    waiting.cancel()
    with pytest.raises(asyncio.CancelledError):
        await waiting
    assert child.has_ended
    assert not processes.working


async def test_a_bug_in_a_parser_is_an_error_here_and_not_a_dead_child(
    processes: ParserProcesses,
) -> None:
    with pytest.raises(RuntimeError, match="KeyError"):
        await processes.run(fail, size=0)


async def test_a_long_bomb_is_reported_with_the_entries_before_it(
    processes: ParserProcesses,
) -> None:
    good = "".join(f"@article{{k{number}, title = {{Title {number}}}}}\n" for number in range(2000))
    bomb = '@string{a0 = "xxxxxxxxxx"}\n' + "".join(
        f"@string{{a{n} = a{n - 1} # a{n - 1}}}\n" for n in range(1, 60)
    )
    text = good + bomb
    found = await processes.run(try_read_bibliography, text, size=len(text))
    assert isinstance(found, ImportResult)
    assert len(found.items) == 2000
    assert "characters" in found.failures[0].reason

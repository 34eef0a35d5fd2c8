"""The fixtures of the official CSL suite, as many of them as are beside this checkout."""

import subprocess
import sys
from pathlib import Path

import pytest

from carrel.libraries.csl.errors import CitationStyleError
from carrel.libraries.csl.suite import read_fixture, run_fixture

from .known_failures import KNOWN_FAILURES
from .shared_data import CITATIONS, ROOT, needs_data

SUITE = CITATIONS / "suite"


def _passes(path: Path) -> bool:
    fixture = read_fixture(path)
    try:
        return run_fixture(fixture) == fixture.result
    except CitationStyleError:
        return False


@needs_data
@pytest.mark.parametrize(
    "path", sorted(SUITE.glob("*.txt")) if SUITE.is_dir() else [], ids=lambda path: path.stem
)
def test_the_fixture_comes_out_as_its_result_says(path: Path) -> None:
    if path.stem in KNOWN_FAILURES:
        assert not _passes(path), f"{path.stem} passes now: take it off the list of known failures"
        return
    fixture = read_fixture(path)
    assert run_fixture(fixture) == fixture.result


@needs_data
def test_every_known_failure_is_a_fixture() -> None:
    assert {name for name in KNOWN_FAILURES if not (SUITE / f"{name}.txt").is_file()} == set()


@needs_data
def test_the_runner_prints_the_failing_names_and_then_the_count(tmp_path: Path) -> None:
    good, bad = SUITE / "affix_CommaAfterQuote.txt", SUITE / "date_NegativeDateSort.txt"
    for path in (good, bad):
        (tmp_path / path.name).write_bytes(path.read_bytes())
    command = [sys.executable, "-m", "carrel.libraries.csl.suite", str(tmp_path)]
    done = subprocess.run(
        command,
        capture_output=True,
        text=True,
        check=False,
        cwd=ROOT,
        env={"PYTHONPATH": "src"},
        timeout=60,
    )
    assert done.stdout.splitlines() == ["date_NegativeDateSort", "1 passed, 1 failed"]
    assert done.returncode == 1

"""A promise is kept by tests that ran, here or in a recorded run of a judge; a whole run fails
otherwise.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from tests.judges import JUDGES, Record, read_records, result_of_tests, write_records
from tests.promise_report import PROMISES, Outcomes, Promise, judge_promises, read_promises

ROOT = Path(__file__).parent.parent
CONFTEST = """
from pathlib import Path
from tests.promise_report import PromiseReport

HERE = Path(__file__).parent

def pytest_configure(config):
    config.addinivalue_line("markers", "promise(id): a promise")
    config.pluginmanager.register(PromiseReport(config, HERE / "promises.toml", HERE / "judges.toml"))
"""  # noqa: E501
TESTS = """
import pytest

@pytest.mark.promise("Z1")
def test_passes():
    pass

@pytest.mark.promise("Z2")
@pytest.mark.skip(reason="no moon tonight")
def test_is_skipped():
    pass
"""
SKIPPED = '[Z2]\nsentence = "The moon shines."\nstatus = "kept"\n'
KEPT = '[Z1]\nsentence = "It works."\nstatus = "kept"\n'


def run_pytest(
    folder: Path, promises: str, *words: str, records: str = ""
) -> subprocess.CompletedProcess[str]:
    (folder / "conftest.py").write_text(CONFTEST, encoding="utf-8")
    (folder / "test_it.py").write_text(TESTS, encoding="utf-8")
    (folder / "promises.toml").write_text(promises, encoding="utf-8")
    (folder / "judges.toml").write_text(records, encoding="utf-8")
    (folder / "pytest.ini").write_text("[pytest]\ntestpaths = .\n", encoding="utf-8")
    environment = {
        name: value for name, value in os.environ.items() if not name.startswith("PYTEST_")
    } | {"PYTHONPATH": str(ROOT)}
    return subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *words],
        cwd=folder,
        env=environment,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )


def test_a_whole_run_fails_when_every_test_of_a_kept_promise_was_skipped_also_in_workers(
    tmp_path: Path,
) -> None:
    ran = run_pytest(tmp_path, KEPT + SKIPPED, "-p", "xdist", "-n", "1")
    assert ran.returncode == 1
    assert "Z2: no test that cites it passed in this run: The moon shines." in ran.stdout
    assert "Z2: 1 × no moon tonight" in ran.stdout


def test_a_part_of_the_tests_enforces_nothing(tmp_path: Path) -> None:
    ran = run_pytest(tmp_path, KEPT + SKIPPED, "-k", "passes")
    assert ran.returncode == 0
    assert "NOT KEPT" not in ran.stdout


def test_a_promise_with_a_judge_rests_on_its_record_and_the_run_says_so(tmp_path: Path) -> None:
    record = '[interop]\ncommit = "0123456789abcdef"\ndate = "2026-01-02"\nresult = "passed"\n'
    ran = run_pytest(
        tmp_path,
        KEPT + 'judges = ["interop"]\n' + SKIPPED.replace("kept", "planned"),
        records=record,
    )
    assert ran.returncode == 0
    assert "Z1: interop (2026-01-02, 0123456789ab)" in ran.stdout


def test_a_judge_that_never_ran_keeps_nothing_and_the_way_to_run_it_is_said() -> None:
    (said,) = judge_promises(
        [Promise("Z1", "It works.", "kept", ("interop",))], Outcomes(proved={"Z1"}), {}
    ).broken
    assert "make judge NAME=interop" in said


def test_a_record_of_a_failure_keeps_nothing() -> None:
    promise = Promise("Z1", "It works.", "kept", ("interop",))
    proved = Outcomes(proved={"Z1"})
    assert judge_promises(
        [promise], proved, {"interop": Record("c", "2026-01-02", "3 of 9 failed")}
    ).broken
    assert not judge_promises(
        [promise], proved, {"interop": Record("c", "2026-01-02", "passed")}
    ).broken


def test_a_judge_that_ran_here_whole_needs_no_record_and_one_that_was_skipped_in_part_does() -> (
    None
):
    (file,) = JUDGES["firestore"].test_files
    promise = Promise("Z1", "It works.", "kept", ("firestore",))
    assert not judge_promises([promise], Outcomes(proved={"Z1"}, passed_files={file}), {}).broken
    assert judge_promises(
        [promise], Outcomes(proved={"Z1"}, passed_files={file}, unproved_files={file}), {}
    ).broken


def test_a_judge_of_which_a_part_was_skipped_has_not_judged(tmp_path: Path) -> None:
    report = tmp_path / "report.xml"
    for attributes, result in (
        ('tests="3" failures="0" errors="0" skipped="0"', "passed"),
        ('tests="3" failures="1" errors="0" skipped="0"', "1 of 3 failed"),
        ('tests="3" failures="0" errors="0" skipped="2"', "2 of 3 skipped"),
        ('tests="0" failures="0" errors="0" skipped="0"', "0 of 0 skipped"),
    ):
        report.write_text(f"<testsuites><testsuite {attributes}/></testsuites>", encoding="utf-8")
        assert result_of_tests(report) == result


def test_records_are_read_as_they_were_written(tmp_path: Path) -> None:
    records = {
        "interop": Record("a" * 40, "2026-01-02", "passed"),
        "firestore": Record("b" * 40, "2026-01-03", "1 of 3 failed"),
    }
    write_records(records, tmp_path / "judges.toml")
    assert read_records(tmp_path / "judges.toml") == records
    assert read_records(tmp_path / "absent.toml") == {}


def test_every_judge_that_a_promise_or_a_record_names_exists_and_so_do_its_tests() -> None:
    named = {name for promise in read_promises(PROMISES) for name in promise.judges} | set(
        read_records()
    )
    assert named <= set(JUDGES)
    assert all((ROOT / file).is_file() for judge in JUDGES.values() for file in judge.test_files)

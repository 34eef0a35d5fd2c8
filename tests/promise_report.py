"""Which promises this run proved, which rest on the record of a judge, and which on nothing: the
last fails a whole run.
"""

from __future__ import annotations

import tomllib
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from tests.judges import JUDGES, RECORDS, ROOT, Judge, Record, read_records

PROMISES = ROOT / "docs" / "promises.toml"
PROPERTY = "promise"


@dataclass(frozen=True, slots=True)
class Promise:
    """A line of docs/promises.toml."""

    number: str
    sentence: str
    status: str
    judges: tuple[str, ...] = ()

    @property
    def is_kept(self) -> bool:
        return self.status == "kept"


def read_promises(file: Path) -> list[Promise]:
    values = tomllib.loads(file.read_text(encoding="utf-8"))
    return [
        Promise(number, row["sentence"], row["status"], tuple(row.get("judges", ())))
        for number, row in values.items()
    ]


@dataclass(slots=True)
class Outcomes:
    """How the tests went: by the promise that they cite, and by the file that they stand in."""

    proved: set[str] = field(default_factory=set)
    skipped: dict[str, Counter[str]] = field(default_factory=dict)
    passed_files: set[str] = field(default_factory=set)
    unproved_files: set[str] = field(default_factory=set)
    """Files in which a test failed or was skipped."""

    def add(self, report: pytest.TestReport) -> None:
        file = report.nodeid.partition("::")[0]
        if not report.passed:
            self.unproved_files.add(file)
        numbers = [str(value) for name, value in report.user_properties if name == PROPERTY]
        if report.skipped:
            for number in numbers:
                self.skipped.setdefault(number, Counter())[_reason(report)] += 1
        elif report.when == "call" and report.passed:
            self.passed_files.add(file)
            self.proved.update(numbers)

    def has_run(self, judge: Judge) -> bool:
        """Whether all of a judge's tests ran here and passed."""
        files = set(judge.test_files)
        return bool(files) and files <= self.passed_files and not files & self.unproved_files


@dataclass(frozen=True, slots=True)
class Verdict:
    """What a run says of the promises."""

    recorded: list[str]
    broken: list[str]


def judge_promises(
    promises: Iterable[Promise], outcomes: Outcomes, records: Mapping[str, Record]
) -> Verdict:
    """A kept promise was proved by a test of this run, and by each of its judges: here, or in a
    recorded run that passed.
    """
    verdict = Verdict([], [])
    for promise in promises:
        if not promise.is_kept:
            continue
        absent = [name for name in promise.judges if not outcomes.has_run(JUDGES[name])]
        missing = [name for name in absent if name not in records or not records[name].has_passed]
        if missing:
            verdict.broken.append(
                f"{promise.number}: {', '.join(missing)} did not run here, and no run that passed "
                f"is recorded "
                f"(make judge NAME={missing[0]}, which needs {JUDGES[missing[0]].needs})"
            )
        elif promise.number not in outcomes.proved and not promise.judges:
            verdict.broken.append(
                f"{promise.number}: no test that cites it passed in this run: {promise.sentence}"
            )
        elif absent:
            said = ", ".join(
                f"{name} ({records[name].date}, {records[name].commit[:12]})" for name in absent
            )
            verdict.recorded.append(f"{promise.number}: {said}")
    return verdict


class PromiseReport:
    """The pytest plugin. A run that was given paths, marks or names says what it found and enforces
    nothing.
    """

    def __init__(
        self, config: pytest.Config, promises: Path = PROMISES, records: Path = RECORDS
    ) -> None:
        self._config = config
        self._promises = promises
        self._records = records
        self._outcomes = Outcomes()
        self._verdict: Verdict | None = None

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_setup(self, item: pytest.Item) -> None:
        # Properties travel with the reports of a worker to the process that counts.
        for mark in item.iter_markers("promise"):
            item.user_properties.extend((PROPERTY, str(number)) for number in mark.args)

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        self._outcomes.add(report)

    @pytest.hookimpl(tryfirst=True)
    def pytest_sessionfinish(self, session: pytest.Session, exitstatus: int) -> None:
        if hasattr(self._config, "workerinput") or not is_whole_run(self._config):
            return
        self._verdict = judge_promises(
            read_promises(self._promises), self._outcomes, read_records(self._records)
        )
        if self._verdict.broken and exitstatus == pytest.ExitCode.OK:
            session.exitstatus = pytest.ExitCode.TESTS_FAILED

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        if self._verdict is None:
            return
        terminalreporter.section("promises")
        for line in self._lines(self._verdict):
            terminalreporter.write_line(line)

    def _lines(self, verdict: Verdict) -> Iterator[str]:
        yield f"{len(self._outcomes.proved)} promises were proved by tests of this run."
        if verdict.recorded:
            yield "These rest on a record (docs/judges.toml):"
            yield from (f"  {line}" for line in verdict.recorded)
        if self._outcomes.skipped:
            yield "Tests of these were skipped:"
            for number, reasons in sorted(self._outcomes.skipped.items()):
                yield f"  {number}: " + "; ".join(
                    f"{count} × {reason}" for reason, count in reasons.most_common()
                )
        if verdict.broken:
            yield "THESE PROMISES ARE NOT KEPT, and the run fails:"
            yield from (f"  {line}" for line in verdict.broken)


def is_whole_run(config: pytest.Config) -> bool:
    """Whether everything was asked for: no paths, no marks, no names, nothing left out."""
    option = config.option
    narrowed = (
        option.keyword,
        option.markexpr,
        option.deselect,
        option.ignore,
        option.ignore_glob,
        option.collectonly,
    )
    again = (
        getattr(option, "lf", False),
        getattr(option, "failedfirst", False),
        getattr(option, "stepwise", False),
    )
    return config.args_source is not pytest.Config.ArgsSource.ARGS and not any((*narrowed, *again))


def _reason(report: pytest.TestReport) -> str:
    if isinstance(report.longrepr, tuple):
        return report.longrepr[2].removeprefix("Skipped: ")
    return str(report.longrepr)

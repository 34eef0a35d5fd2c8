"""Judges that `make test` cannot always call: what each runs, and when it last ran
(docs/judges.toml).

`python -m tests.judges run NAME` runs one and writes the commit, the day and the result down.
Nothing else writes that file.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from xml.etree import ElementTree

ROOT = Path(__file__).resolve().parent.parent
RECORDS = ROOT / "docs" / "judges.toml"
HEADING = """\
# The last run of each judge that `make test` cannot call on every machine. Written by `make judge NAME=name` after a run of a
# committed tree, never by hand. A promise that names a judge in promises.toml rests on its record where the judge cannot run.
"""  # noqa: E501


@dataclass(frozen=True, slots=True)
class Judge:
    """Something outside the ordinary tests that can say no: test files that need a service, or a
    program of its own.
    """

    needs: str
    test_files: tuple[str, ...] = ()
    module: str | None = None

    def command(self, report: Path) -> list[str]:
        if self.module is not None:
            return [sys.executable, "-m", self.module]
        return [
            sys.executable,
            "-m",
            "pytest",
            "-q",
            "-p",
            "no:cacheprovider",
            f"--junit-xml={report}",
            *self.test_files,
        ]


JUDGES: Mapping[str, Judge] = {
    "interop": Judge("npm and the network", module="tests.interop.run"),
    "interop-oauth": Judge("npm and the network", module="tests.interop.oauth"),
    "login": Judge(
        "npm's oidc-provider in CARREL_TEST_OPENID",
        test_files=("tests/access/test_real_provider.py",),
    ),
    "views": Judge("npm, the network and chromium", module="tests.interop.views"),
    "postgres": Judge(
        "PostgreSQL's programs", test_files=("tests/stores/test_postgres_knowledge.py",)
    ),
    "firestore": Judge(
        "Google's Firestore emulator", test_files=("tests/stores/test_firestore_knowledge.py",)
    ),
    "elasticsearch": Judge(
        "CARREL_TEST_ELASTICSEARCH_URL",
        test_files=(
            "tests/stores/test_elasticsearch_search.py",
            "tests/stores/test_elasticsearch_papers.py",
        ),
    ),
    "image": Judge(
        "CARREL_TEST_IMAGE_TOOL, which builds and runs images",
        module="tests.deployments.image_judge",
    ),
    "objects": Judge(
        "SeaweedFS in .run/objects (make judge-objects puts it there)",
        module="tests.stores.object_judge",
    ),
    "small-model": Judge(
        "CARREL_SMALL_MODEL (make small-model makes it)",
        test_files=("tests/rooms/research/test_small_model.py",),
    ),
}


@dataclass(frozen=True, slots=True)
class Record:
    """One run of a judge, as it was written down."""

    commit: str
    date: str
    result: str

    @property
    def has_passed(self) -> bool:
        return self.result == "passed"


def read_records(file: Path = RECORDS) -> dict[str, Record]:
    """The last run of every judge that ever ran."""
    if not file.exists():
        return {}
    return {
        name: Record(**values)
        for name, values in tomllib.loads(file.read_text(encoding="utf-8")).items()
    }


def write_records(records: Mapping[str, Record], file: Path = RECORDS) -> None:
    rows = (
        f'\n[{name}]\ncommit = "{record.commit}"\ndate = "{record.date}"\nresult = '
        f'"{record.result}"\n'
        for name, record in sorted(records.items())
    )
    file.write_text(HEADING + "".join(rows), encoding="utf-8")


def result_of_tests(report: Path) -> str:
    """What a JUnit report says of a judge: a judge of which any part was skipped has not judged."""
    suites = list(ElementTree.parse(report).iter("testsuite"))
    total, failed, skipped = (
        sum(int(suite.get(key, "0")) for suite in suites for key in keys)
        for keys in (("tests",), ("failures", "errors"), ("skipped",))
    )
    if failed:
        return f"{failed} of {total} failed"
    if skipped or not total:
        return f"{skipped} of {total} skipped"
    return "passed"


def run_judge(name: str) -> Record:
    """Runs a judge on the committed tree and says how it went."""
    changed = _git(
        "status", "--porcelain", "--untracked-files=no", "--", ".", f":!{RECORDS.relative_to(ROOT)}"
    )
    if changed:
        raise SystemExit(
            "the tree has changes that are not committed; a record names a commit, so commit first"
        )
    commit, judge = _git("rev-parse", "HEAD"), JUDGES[name]
    with tempfile.TemporaryDirectory() as folder:
        report = Path(folder) / "report.xml"
        status = subprocess.run(judge.command(report), cwd=ROOT, check=False).returncode
        result = (
            result_of_tests(report)
            if report.exists()
            else "passed"
            if status == 0
            else f"exit status {status}"
        )
    return Record(commit, datetime.now(UTC).date().isoformat(), result)


def _git(*words: str) -> str:
    return subprocess.run(
        ["git", *words], cwd=ROOT, capture_output=True, text=True, check=True
    ).stdout.strip()


def main(words: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(
        prog="python -m tests.judges", description="Run a judge and record its result."
    )
    commands = parser.add_subparsers(dest="command", required=True)
    commands.add_parser("list", help="every judge, what it needs and its last run")
    running = commands.add_parser(
        "run", help="run a judge on the committed tree and record commit, date and result"
    )
    running.add_argument("name", choices=sorted(JUDGES))
    options = parser.parse_args(words)
    records = read_records()
    if options.command == "list":
        for name, judge in JUDGES.items():
            last = records.get(name)
            when = f"{last.result}, {last.date}, {last.commit[:12]}" if last else "never recorded"
            print(f"{name:14} {when} (needs {judge.needs})")
        return 0
    record = run_judge(options.name)
    # Read again: another judge may have been recorded in the meantime.
    write_records({**read_records(), options.name: record})
    print(
        f"{options.name}: {record.result} at {record.commit[:12]}, written to "
        f"{RECORDS.relative_to(ROOT)}"
    )
    return 0 if record.has_passed else 1


if __name__ == "__main__":
    sys.exit(main())

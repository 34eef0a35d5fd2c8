"""Draws changes of logic by seed, runs the tests that reach each, and says how many were noticed.

    python -m tests.mutants [--seed 14] [--count 200] [--area policy] [--list]

A test that executes the changed line is found with coverage; where no test reaches it in this
process, all tests of the area are run. Changes that alter nothing are named, each with a reason,
in harmless.toml beside this file and are not counted.
"""

from __future__ import annotations

import argparse
import ast
import json
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import tomllib
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from queue import Queue

import coverage

from tests.mutants.areas import AREAS, ROOT
from tests.mutants.mutations import Mutation, mutations_of

HARMLESS = Path(__file__).with_name("harmless.toml")
_STYLES = ROOT / "src/carrel/libraries/csl/data"
AIM_PERCENT = 90
# A change that makes the tests hang is noticed: nobody would wait for them.
SECONDS_FOR_TESTS = 420
# Of the tests that reach a line, so many are asked, the quickest ones.
MOST_TESTS = 200


@dataclass(frozen=True, slots=True)
class Mutant:
    """A change in a file, and the area whose tests are asked."""

    area: str
    file: str
    mutation: Mutation

    @property
    def identity(self) -> tuple[str, str, str, str]:
        """What names the change in harmless.toml; lines move, so they are no part of it."""
        change = self.mutation
        return self.file, change.function, change.original, change.replacement

    def describe(self) -> str:
        before = " ".join(self.mutation.original.split())
        after = " ".join(self.mutation.replacement.split())
        return (
            f"{self.file}:{self.mutation.line} {self.mutation.function} "
            f"[{self.mutation.kind}] {before[:90]} -> {after[:90]}"
        )


def all_mutants(area: str) -> list[Mutant]:
    """Every change that can be made in an area; a few do not leave valid Python."""
    return [
        Mutant(area, str(path.relative_to(ROOT)), mutation)
        for path in AREAS[area].files()
        for mutation in mutations_of(path.read_text(encoding="utf-8"))
    ]


def _is_valid(mutant: Mutant) -> bool:
    try:
        ast.parse(mutant.mutation.apply((ROOT / mutant.file).read_text(encoding="utf-8")))
    except SyntaxError:
        return False
    return True


def harmless_changes() -> set[tuple[str, str, str, str]]:
    """The identities of the changes that alter nothing."""
    rows = tomllib.loads(HARMLESS.read_text(encoding="utf-8"))["harmless"]
    return {(row["file"], row["function"], row["original"], row["replacement"]) for row in rows}


def draw(areas: Sequence[str], count: int, seed: int) -> list[Mutant]:
    """The same number from each area, without repeats, without those that change nothing."""
    harmless = harmless_changes()
    drawn: list[Mutant] = []
    for number, area in enumerate(areas):
        share = count // len(areas) + (number < count % len(areas))
        pool = all_mutants(area)
        random.Random(f"{seed}:{area}").shuffle(pool)
        fitting = (each for each in pool if each.identity not in harmless and _is_valid(each))
        drawn += islice(fitting, share)
    return drawn


class TreeCopy:
    """A copy of the tracked tree in which one change at a time is tried."""

    def __init__(self, folder: Path) -> None:
        self.root = folder / "carrel"
        listed = subprocess.run(
            ["git", "ls-files", "-co", "--exclude-standard", "-z"],
            cwd=ROOT,
            capture_output=True,
            text=True,
            check=True,
        )
        for name in listed.stdout.split("\0"):
            if name and (ROOT / name).is_file():
                target = self.root / name
                target.parent.mkdir(parents=True, exist_ok=True)
                shutil.copy2(ROOT / name, target)
        # Made by the build and not tracked: citation styles.
        if _STYLES.is_dir():
            shutil.copytree(_STYLES, self.root / _STYLES.relative_to(ROOT), dirs_exist_ok=True)
        if (ROOT.parent / "shared").exists():
            (folder / "shared").symlink_to(ROOT.parent / "shared")

    def environment(self) -> dict[str, str]:
        path = os.pathsep.join([str(self.root / "src"), str(self.root)])
        return {**os.environ, "PYTHONPATH": path, "PYTHONDONTWRITEBYTECODE": "1"}

    def run(self, command: Sequence[str], seconds: float, **variables: str) -> int | None:
        """The exit status, or None where it did not end in time."""
        process = subprocess.Popen(
            [sys.executable, *command],
            cwd=self.root,
            env={**self.environment(), **variables},
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
        try:
            return process.wait(timeout=seconds)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()
            return None

    def notices(self, mutant: Mutant, tests: Sequence[str]) -> bool:
        """Whether any of the tests fails with the change made."""
        file = self.root / mutant.file
        source = file.read_text(encoding="utf-8")
        file.write_text(mutant.mutation.apply(source), encoding="utf-8")
        try:
            status = self.run([*_PYTEST, "-x", "--timeout=120", *tests], SECONDS_FOR_TESTS)
        finally:
            file.write_text(source, encoding="utf-8")
        # 5: nothing was collected, so nothing was asked.
        return status not in {0, 5}


_PYTEST = ("-m", "pytest", "-q", "-p", "no:cacheprovider")


class Reach:
    """Which tests of an area execute which line, measured once."""

    def __init__(self, area: str, tree: TreeCopy, folder: Path) -> None:
        self.tests = AREAS[area].tests
        data = folder / f"{area}.coverage"
        settings = folder / f"{area}.ini"
        settings.write_text(f"[run]\ndata_file = {data}\nsource = {tree.root / 'src' / 'carrel'}\n")
        seconds = folder / f"{area}.json"
        status = tree.run(
            [
                "-m",
                "coverage",
                "run",
                f"--rcfile={settings}",
                *_PYTEST,
                "-p",
                "tests.mutants.context_plugin",
                "--timeout=600",
                *self.tests,
            ],
            3600,
            CARREL_TEST_SECONDS=str(seconds),
        )
        if status != 0:
            raise SystemExit(f"the tests of {area} fail without any change (status {status})")
        self.seconds: dict[str, float] = json.loads(seconds.read_text(encoding="utf-8"))
        self.root = tree.root
        self.data = coverage.CoverageData(str(data))
        self.data.read()

    def tests_for(self, mutant: Mutant) -> list[str]:
        """Tests that reach the changed line, or all of the area where none is known to."""
        by_line = self.data.contexts_by_lineno(str(self.root / mutant.file))
        last = mutant.mutation.line + mutant.mutation.original.count("\n")
        found = {
            context
            for line in range(mutant.mutation.line, last + 1)
            for context in by_line.get(line, [])
            if context
        }
        # The quickest first: most changes are noticed by the first tests that reach them.
        ordered = sorted(found, key=lambda test: (self.seconds.get(test, 0.0), test))
        return ordered[:MOST_TESTS] or list(self.tests)


def judge(areas: Sequence[str], count: int, seed: int, workers: int) -> int:
    mutants = draw(areas, count, seed)
    with tempfile.TemporaryDirectory(prefix="carrel-mutants-") as name:
        folder = Path(name)
        free: Queue[TreeCopy] = Queue()
        for number in range(workers):
            free.put(TreeCopy(folder / str(number)))

        def measure(area: str) -> tuple[str, Reach]:
            tree = free.get()
            try:
                return area, Reach(area, tree, folder)
            finally:
                free.put(tree)

        def ask(mutant: Mutant) -> bool:
            tree = free.get()
            try:
                noticed = tree.notices(mutant, reach[mutant.area].tests_for(mutant))
            finally:
                free.put(tree)
            print("noticed  " if noticed else "UNNOTICED", mutant.describe(), flush=True)
            return noticed

        with ThreadPoolExecutor(workers) as executor:
            reach = dict(executor.map(measure, areas))
            noticed = list(executor.map(ask, mutants))
    return _report(areas, mutants, noticed)


def _report(areas: Sequence[str], mutants: Sequence[Mutant], noticed: Sequence[bool]) -> int:
    print()
    for area in areas:
        of_area = [
            seen for mutant, seen in zip(mutants, noticed, strict=True) if mutant.area == area
        ]
        print(f"{area:12} {sum(of_area)} of {len(of_area)} noticed")
    percent = 100 * sum(noticed) / len(noticed)
    print(f"{'all':12} {sum(noticed)} of {len(noticed)} noticed ({percent:.1f} %)")
    return 0 if percent >= AIM_PERCENT else 1


def main(words: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.mutants", description=__doc__)
    parser.add_argument("--seed", type=int, default=14)
    parser.add_argument("--count", type=int, default=200)
    parser.add_argument("--workers", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--area", action="append", choices=sorted(AREAS))
    parser.add_argument("--list", action="store_true", help="only say what would be changed")
    options = parser.parse_args(words)
    areas = options.area or list(AREAS)
    if options.list:
        for mutant in draw(areas, options.count, options.seed):
            print(mutant.describe())
        return 0
    return judge(areas, options.count, options.seed, options.workers)


if __name__ == "__main__":
    sys.exit(main())

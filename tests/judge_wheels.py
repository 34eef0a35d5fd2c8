"""Tries carrel-csl in an empty environment: its README, its types, the official suite.

`python -m tests.judge_wheels DIST SUITE` exits with 0 when all of it works.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import venv
from pathlib import Path

from tests.libraries.csl.known_failures import KNOWN_FAILURES

README = Path(__file__).parent.parent / "packaging" / "carrel-csl" / "README.md"
# Says how many examples ran, and fails where one prints something else.
_RUN_README = """
import doctest, sys
found = doctest.testfile(sys.argv[1], module_relative=False, encoding="utf-8")
print(f"{found.attempted} examples, {found.failed} failed")
sys.exit(bool(found.failed))
"""
# What a type checker must know of the package, and one mistake that it must see.
_TYPED_USE = """
from carrel_csl import Bibliography, Cite, CslItem, Document, RenderedText
item: CslItem = {"id": "a", "type": "book", "title": "T", "container-title": "C"}
document = Document("apa", [item])
shown: RenderedText | None = document.insert([Cite("a", locator="3"), "a"]).citation
listed: Bibliography = document.bibliography()
italic: list[bool] = [run.is_italic for entry in listed.entries for run in entry.content.runs]
Cite("a", locator=3)  # type: ignore[arg-type]
"""


def main(dist: str, suite: str) -> int:
    wheel = max(Path(dist).resolve().glob("carrel_csl-*.whl"), key=os.path.getmtime)
    with tempfile.TemporaryDirectory() as folder:
        venv.create(folder, with_pip=True)
        python = str(Path(folder) / ("Scripts" if os.name == "nt" else "bin") / "python")
        pip = [python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
        subprocess.run([*pip, "--no-index", str(wheel)], check=True, cwd=folder)
        readme = _run([python, "-c", _RUN_README, str(README)], folder)
        use = Path(folder) / "use.py"
        use.write_text(_TYPED_USE, encoding="utf-8")
        mypy = [sys.executable, "-m", "mypy", "--strict", "--config-file=", "--cache-dir=.mypy"]
        typed = _run([*mypy, "--python-executable", python, str(use)], folder)
        ran = _run([python, "-m", "carrel_csl.suite", str(Path(suite).resolve())], folder)
    *failed, summary = ran.stdout.splitlines() or [ran.stderr]
    print(f"{wheel.name} in an empty environment")
    print(f"README: {(readme.stdout or readme.stderr).strip()}")
    print(f"types of a strict user: {(typed.stdout or typed.stderr).strip()}")
    print(f"official suite: {summary}; known: {len(KNOWN_FAILURES)}")
    is_suite_right = " passed, " in summary and set(failed) <= set(KNOWN_FAILURES)
    return 0 if is_suite_right and not readme.returncode and not typed.returncode else 1


def _run(command: list[str], folder: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        command, cwd=folder, capture_output=True, text=True, check=False, timeout=600
    )


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))

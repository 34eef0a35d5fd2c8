"""Puts the desk onto a Carrel home with the real command, as a researcher would."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from benchmarks.deskbench.desk import write_desk

_LOADING_SECONDS = 600


def carrel_command() -> list[str]:
    """The command line of this checkout, whatever is on the path."""
    return [sys.executable, "-c", "from carrel.cli import main; raise SystemExit(main())"]


def carrel_environment(home: Path) -> dict[str, str]:
    """The environment of a Carrel process on this home, without settings of the caller's own."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("CARREL_")}
    return {**kept, "CARREL_HOME": str(home)}


def load_carrel(folder: Path, home: Path) -> None:
    """Writes the desk into the folder and adds it to the home."""
    write_desk(folder)
    run_carrel(home, ["add", str(folder / "papers"), "--only", "papers"])
    run_carrel(home, ["add", str(folder / "references.bib"), "--only", "references"])
    run_carrel(home, ["add", str(folder / "notes"), "--as", "notes"])


def run_carrel(home: Path, words: list[str]) -> str:
    """What the command printed; a RuntimeError where it failed."""
    done = subprocess.run(
        [*carrel_command(), *words],
        env=carrel_environment(home),
        capture_output=True,
        check=False,
        text=True,
        timeout=_LOADING_SECONDS,
    )
    if done.returncode != 0:
        raise RuntimeError(f"carrel {' '.join(words)} failed: {done.stderr.strip()[-2000:]}")
    return done.stdout


if __name__ == "__main__":
    load_carrel(Path(sys.argv[1]), Path(sys.argv[2]))

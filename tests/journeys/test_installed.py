"""The wheel installed alone: what it needs is what it names, and every way to start it works."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from tests.journeys.installed import install_wheel

_PAPER = (
    "---\ntitle: Fish oil and blood viscosity\nauthors: [Ada Example]\nyear: 1986\n---\nText.\n"
)


def run(program: list[str], home: Path, *words: str, cwd: Path | None = None) -> str:
    kept = {"PATH": os.environ["PATH"], "HOME": str(home), "CARREL_HOME": str(home / "desk")}
    done = subprocess.run(
        [*program, *words], env=kept, cwd=cwd, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_only_what_the_wheel_names_can_be_imported(installed_carrel: Path) -> None:
    python = str(installed_carrel.with_name("python"))
    found = subprocess.run(
        [python, "-c", "import carrel, tantivy, pydantic; print(carrel.__file__)"],
        capture_output=True,
        text=True,
        check=True,
    )
    assert found.stdout.strip().startswith(str(installed_carrel.parents[1]))
    for foreign in ("pytest", "fastmcp", "hatchling", "psycopg"):
        tried = subprocess.run(
            [python, "-c", f"import {foreign}"], capture_output=True, text=True, check=False
        )
        assert "ModuleNotFoundError" in tried.stderr


@pytest.mark.parametrize("form", ["program", "module"])
def test_a_paper_is_added_and_found(installed_carrel: Path, tmp_path: Path, form: str) -> None:
    module = [str(installed_carrel.with_name("python")), "-m", "carrel"]
    program = [str(installed_carrel)] if form == "program" else module
    (tmp_path / "papers").mkdir()
    (tmp_path / "papers" / "oil.md").write_text(_PAPER, encoding="utf-8")
    assert run(program, tmp_path, "--version").startswith("carrel ")
    run(program, tmp_path, "add", str(tmp_path / "papers"))
    assert "Fish oil" in run(program, tmp_path, "papers", "search", "viscosity")


def test_it_works_in_a_folder_with_spaces_and_letters_of_other_scripts(
    wheel: Path, tmp_path: Path
) -> None:
    folder = tmp_path / "Ein Ordner – 書斎"
    folder.mkdir()
    carrel = install_wheel(wheel, folder / "carrel")
    assert run([str(carrel)], folder, "--version", cwd=folder).startswith("carrel ")

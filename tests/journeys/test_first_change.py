"""The first change that CONTRIBUTING.md tells works as it is written."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parent.parent.parent
IMPORT = "from carrel.rooms.knowledge.models import (\n"


def test_the_first_change_of_the_contributors_page_works(tmp_path: Path) -> None:
    page = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    for name in ("src", "tests", "pyproject.toml"):
        copy = shutil.copytree if (ROOT / name).is_dir() else shutil.copy
        copy(ROOT / name, tmp_path / name)
    for path, code in re.findall(r"```python\n# (\S+)\n(.*?)```", page, re.DOTALL):
        file = tmp_path / path
        before = file.read_text(encoding="utf-8") if file.exists() else ""
        separator = "\n" if code.startswith(" ") else "\n\n"
        file.write_text(before + separator + code if before else code, encoding="utf-8")
    operations = tmp_path / "src/carrel/rooms/knowledge/operations.py"
    text = operations.read_text(encoding="utf-8")
    assert IMPORT in text
    operations.write_text(text.replace(IMPORT, f"{IMPORT}    NoteCount,\n"), encoding="utf-8")

    environment = {**os.environ, "CARREL_HOME": str(tmp_path / "home")}
    environment["PYTHONPATH"] = os.pathsep.join([str(tmp_path / "src"), str(tmp_path)])

    def run(*words: str) -> str:
        return subprocess.run(
            [sys.executable, *words],
            cwd=tmp_path,
            env=environment,
            capture_output=True,
            text=True,
            check=True,
            timeout=120,
        ).stdout

    command = ("-c", "from carrel.cli import main; main()", "knowledge")
    run(*command, "save", "--title", "Viscosity", "Blood viscosity falls with fish oil.")
    assert "1" in run(*command, "matches", "*")
    assert "2 passed" in run("-m", "pytest", "-q", "tests/rooms/knowledge/test_count.py")

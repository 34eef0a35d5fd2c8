"""`make` alone names every target that there is."""

from __future__ import annotations

import os
import re
import subprocess
from pathlib import Path

ROOT = Path(__file__).parent.parent


def test_help_names_every_target() -> None:
    text = (ROOT / "Makefile").read_text(encoding="utf-8")
    targets = set(re.findall(r"(?m)^([a-z][a-z-]*):(?!=)", text))
    shown = subprocess.run(
        ["make", "help"], cwd=ROOT, capture_output=True, text=True, timeout=60, check=True
    ).stdout
    assert set(re.findall(r"(?m)^make ([a-z-]+)\s+\S", shown)) == targets
    assert len(targets) > 20


def test_programs_that_make_starts_keep_their_byte_code() -> None:
    shown = subprocess.run(
        ["make", "--eval", "shown: ; @env", "shown"],
        cwd=ROOT,
        env={**os.environ, "PYTHONDONTWRITEBYTECODE": "1"},
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
    ).stdout
    assert "PATH=" in shown and "PYTHONDONTWRITEBYTECODE" not in shown

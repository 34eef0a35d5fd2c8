"""`make` alone names every target that there is."""

from __future__ import annotations

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

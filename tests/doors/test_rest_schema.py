"""Schemathesis against the REST door: what the OpenAPI document says is what happens, and nothing
else does.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tests.doors.sample_process import started


@pytest.mark.promise("D7")
def test_schemathesis_finds_nothing(tmp_path: Path) -> None:
    with started("sound", "0") as process:
        assert process.stderr is not None
        port = int(process.stderr.readline().split()[-1])
        process.stderr.close()
        found = subprocess.run(
            [
                *(
                    sys.executable,
                    "-m",
                    "schemathesis.cli",
                    "run",
                    f"http://127.0.0.1:{port}/openapi.json",
                ),
                *(
                    "--max-examples",
                    "20",
                    "--seed",
                    "1",
                    "--no-color",
                    "--generation-database",
                    ":memory:",
                ),
            ],
            capture_output=True,
            text=True,
            cwd=tmp_path,
            timeout=120,
            check=False,
        )
    assert found.returncode == 0, found.stdout
    assert "No issues found" in found.stdout
    assert "6 selected / 6 total" in found.stdout

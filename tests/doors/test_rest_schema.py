"""Schemathesis against the REST door: what the OpenAPI document says is what happens, and nothing
else does.
"""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from carrel.doors.schemas import describe
from carrel.settings import Settings
from carrel.wiring.desk import open_desk
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


def _references(node: Any) -> Iterator[str]:
    if isinstance(node, dict):
        for key, value in node.items():
            if key == "$ref" and isinstance(value, str):
                yield value
            elif key == "mapping" and isinstance(value, dict):
                yield from (each for each in value.values() if isinstance(each, str))
            yield from _references(value)
    elif isinstance(node, list):
        for each in node:
            yield from _references(each)


@pytest.mark.promise("D7")
def test_every_reference_of_the_whole_desk_leads_somewhere() -> None:
    catalogue = open_desk(Settings.model_validate({"audit": {"enabled": False}})).catalogue
    document = describe(catalogue, name="Carrel", version="1", public_url=None, needs_token=False)
    found = set(_references(document))
    assert any(".input." in each for each in found)
    assert any(".result." in each for each in found)
    for each in found:
        node: Any = document
        for part in each.removeprefix("#/").split("/"):
            assert part in node, each
            node = node[part]

"""The citation library as a wheel of its own, without anything else in the environment."""

from __future__ import annotations

import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from tests.judge_wheels import README

ROOT = Path(__file__).resolve().parents[2]
# Without site-packages, so that what is found is what the wheel brings.
_RUN_README = """
import doctest, sys
sys.path.insert(0, sys.argv[1])
found = doctest.testfile(sys.argv[2], module_relative=False, encoding="utf-8")
print(found.attempted, sorted(name for name in sys.modules if name.split(".")[0] == "carrel"))
sys.exit(bool(found.failed))
"""


@pytest.fixture(scope="module")
def unpacked(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("wheel")
    command = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(folder)]
    subprocess.run(
        command, cwd=ROOT / "packaging" / "carrel-csl", check=True, capture_output=True, timeout=300
    )
    (wheel,) = folder.glob("carrel_csl-*.whl")
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(folder / "unpacked")
    return folder / "unpacked"


def test_the_readme_runs_from_the_wheel_alone(unpacked: Path) -> None:
    ran = subprocess.run(
        [sys.executable, "-I", "-S", "-c", _RUN_README, str(unpacked), str(README)],
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
    )
    assert ran.returncode == 0, ran.stdout + ran.stderr
    examples, others = ran.stdout.split(" ", 1)
    assert int(examples) >= 5
    assert others.strip() == "[]"


def test_it_overlaps_with_no_other_package_and_says_its_licences(unpacked: Path) -> None:
    packages = sorted(each.name for each in unpacked.iterdir())
    assert packages[0] == "carrel_csl"
    assert len(packages) == 2
    metadata = (unpacked / packages[1] / "METADATA").read_text("utf-8")
    assert "License-Expression: Apache-2.0 AND CC-BY-SA-3.0" in metadata
    assert "Requires-Dist" not in metadata
    notice = (unpacked / packages[1] / "licenses" / "NOTICE").read_text("utf-8")
    assert "creativecommons.org/licenses/by-sa/3.0" in notice
    assert (unpacked / "carrel_csl" / "py.typed").is_file()

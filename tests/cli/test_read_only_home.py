"""A home on a file system that cannot be written: everything can be read, and nothing is lost."""

from __future__ import annotations

import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from carrel.cli import main
from tests.journeys.doors import ENVIRONMENT, PROGRAM

_ALONE = ["unshare", "--map-root-user", "--mount"]


def _can_mount() -> bool:
    if sys.platform != "linux" or shutil.which("unshare") is None:
        return False
    return subprocess.run([*_ALONE, "true"], capture_output=True, check=False).returncode == 0


def run_read_only(home: Path, *words: str) -> subprocess.CompletedProcess[str]:
    place = shlex.quote(str(home))
    mount = f"mount --bind {place} {place} && mount -o remount,ro,bind {place}"
    command = shlex.join([*PROGRAM, *words, "--home", str(home)])
    return subprocess.run(
        [*_ALONE, "sh", "-c", f"{mount} && {command}"],
        env=ENVIRONMENT, capture_output=True, text=True, check=False,
    )  # fmt: skip


@pytest.mark.skipif(not _can_mount(), reason="nothing can be mounted here")
def test_a_home_that_cannot_be_written_is_read(tmp_path: Path) -> None:
    home = tmp_path / "home"
    assert main(["knowledge", "save", "Gloves help", "--title", "Gloves", "--home", str(home)]) == 0
    found = run_read_only(home, "knowledge", "search", "gloves")
    assert (found.returncode, "Gloves help" in found.stdout) == (0, True), found.stderr
    everywhere = run_read_only(home, "find", "gloves")
    assert (everywhere.returncode, "note Gloves" in everywhere.stdout) == (0, True)
    # A database that was never made is an empty one, not a broken one.
    listed = run_read_only(home, "research", "list")
    assert (listed.returncode, listed.stdout) == (0, "")
    refused = run_read_only(home, "knowledge", "save", "More")
    assert (refused.returncode, refused.stderr.count("\n")) == (5, 1)
    doctor = run_read_only(home, "doctor")
    assert doctor.returncode == 1
    assert f"{home} cannot be written" in doctor.stdout

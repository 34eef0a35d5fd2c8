"""A real file system of a few megabytes that can be filled and emptied."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest


class SmallDisk:
    """A mounted folder."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._ballast = folder / "ballast"

    def fill(self) -> None:
        """Takes all the space that is left."""
        with self._ballast.open("ab", buffering=0) as file:
            for size in (1 << 20, 1 << 12, 1):
                try:
                    while file.write(b"x" * size):
                        pass
                except OSError:
                    continue

    def empty(self) -> None:
        self._ballast.unlink()


@contextmanager
def small_disk(folder: Path, size: str, user: str = "root") -> Iterator[SmallDisk]:
    """Mounts one; where that is not permitted the test is skipped and says so."""
    mount = shutil.which("mount")
    if mount is None or os.geteuid() != 0:
        pytest.skip("a file system of a few megabytes can only be mounted by root")
    folder.mkdir(parents=True, exist_ok=True)
    options = f"size={size},mode=0700,uid={user}"
    done = subprocess.run(
        [mount, "-t", "tmpfs", "-o", options, "none", str(folder)],
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode != 0:
        pytest.skip(f"tmpfs cannot be mounted here: {done.stderr.strip()}")
    try:
        yield SmallDisk(folder)
    finally:
        subprocess.run(["umount", "-l", str(folder)], check=True)

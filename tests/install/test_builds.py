"""The wheel builds wherever there are styles or a way to them, and elsewhere says what to do."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path

import pytest

from carrel.libraries.csl.archive import ARCHIVE

ROOT = Path(__file__).resolve().parents[2]
STYLES = "libraries/csl/data/styles.zip"


def hatchling(folder: Path, *words: str, **variables: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "hatchling", "build", *words],
        cwd=folder,
        env={**os.environ, **variables},
        capture_output=True,
        text=True,
        timeout=170,
        check=False,
    )


def copy_checkout(folder: Path) -> Path:
    """A checkout as it is cloned: what git does not keep is not there."""
    names = subprocess.run(
        ["git", "ls-files", "--cached", "--others", "--exclude-standard"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    ).stdout.splitlines()
    for name in names:
        wanted = name.startswith(("src/", "requirements/")) or "/" not in name
        if wanted and (ROOT / name).is_file():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(ROOT / name, folder / name)
    return folder


@pytest.fixture
def bare(tmp_path: Path) -> Path:
    return copy_checkout(tmp_path / "bare")


def test_a_wheel_is_built_from_a_source_distribution_without_network(
    bare: Path, tmp_path: Path
) -> None:
    (bare / "src" / "carrel" / STYLES).parent.mkdir(exist_ok=True)
    shutil.copy(ARCHIVE, bare / "src" / "carrel" / STYLES)
    made = hatchling(bare, "-t", "sdist", "-d", str(tmp_path / "sdist"))
    assert made.returncode == 0, made.stderr
    (archive,) = (tmp_path / "sdist").glob("carrel-*.tar.gz")
    with tarfile.open(archive) as tar:
        tar.extractall(tmp_path / "unpacked", filter="data")
    (folder,) = (tmp_path / "unpacked").iterdir()
    built = hatchling(folder, "-t", "wheel", "-d", str(tmp_path / "wheel"), PIP_NO_INDEX="1")
    assert built.returncode == 0, built.stderr
    (wheel,) = (tmp_path / "wheel").glob("carrel-*.whl")
    with zipfile.ZipFile(wheel) as packed:
        assert packed.read(f"carrel/{STYLES}") == ARCHIVE.read_bytes()


def test_without_styles_and_network_it_says_where_they_come_from(
    bare: Path, tmp_path: Path
) -> None:
    nowhere = {"PIP_NO_INDEX": "1", "PIP_FIND_LINKS": str(tmp_path), "PIP_CONFIG_FILE": os.devnull}
    built = hatchling(bare, "-t", "wheel", "-d", str(tmp_path / "wheel"), **nowhere)
    assert built.returncode != 0
    assert "The citation styles could not be fetched" in built.stderr
    assert "PIP_FIND_LINKS=FOLDER" in built.stderr
    assert not list((bare / "src" / "carrel" / "libraries" / "csl").glob("data/*"))


@pytest.mark.skipif(os.name == "nt", reason="Windows keeps no mode bits of folders")
def test_a_checkout_that_cannot_be_written_to_gives_a_whole_wheel(
    bare: Path, tmp_path: Path
) -> None:
    """The package source is a folder with what pip fetched; without one it is skipped."""
    wheels = tmp_path / "wheels"
    words = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "-d", str(wheels)]
    fetched = subprocess.run(
        [*words, "-r", str(ROOT / "requirements" / "styles.txt")],
        capture_output=True,
        text=True,
        timeout=170,
        check=False,
    )
    if fetched.returncode:
        pytest.skip("no package source gives the citation styles")
    # A file where the folder would be is as good as a folder that cannot be made, also for root.
    (bare / "src" / "carrel" / "libraries" / "csl" / "data").touch()
    source = {"PIP_NO_INDEX": "1", "PIP_FIND_LINKS": str(wheels)}
    built = hatchling(bare, "-t", "wheel", "-d", str(tmp_path / "wheel"), **source)
    assert built.returncode == 0, built.stderr
    (wheel,) = (tmp_path / "wheel").glob("carrel-*.whl")
    with zipfile.ZipFile(wheel) as packed:
        assert packed.read(f"carrel/{STYLES}") == ARCHIVE.read_bytes()

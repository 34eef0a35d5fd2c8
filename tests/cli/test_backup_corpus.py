"""`carrel backup` and `carrel restore` of a corpus of segments, and of an earlier version's."""

from __future__ import annotations

import os
import tarfile
from dataclasses import replace
from pathlib import Path

import pytest

from carrel.cli import main
from carrel.stores.backup import corpora
from carrel.stores.backup.errors import BackupFailedError
from carrel.stores.corpus.manifest import read_manifest, write_manifest
from carrel.stores.sqlite.papers.build_locks import BuildLockFile
from tests.upgrades.test_earlier_homes import DEMO, KEPT, read_papers

pytestmark = pytest.mark.promise("P16")


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A home with the papers of the demonstration."""
    for name in list(os.environ):
        if name.startswith(("CARREL_", "DATABASE_URL")):
            monkeypatch.delenv(name)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("CARREL_HOME", str(tmp_path / "home"))
    monkeypatch.setattr(corpora, "_BUILD_WAIT_SECONDS", 0.0)
    assert main(["papers", "build", str(DEMO), "--quiet"]) == 0
    return tmp_path / "home"


def test_a_corpus_of_segments_is_carried_and_restored_whole(home: Path, tmp_path: Path) -> None:
    segments = home / "papers" / "segments"
    (segments / ".part-of-a-dead-build").mkdir()
    (segments / ".part-of-a-dead-build" / "records.db").write_bytes(b"half")
    (segments / ("0" * 32)).mkdir()
    (segments / ("0" * 32) / "records.db").write_bytes(b"replaced long ago")
    assert main(["backup", "desk.tar.gz"]) == 0
    with tarfile.open("desk.tar.gz") as packed:
        names = packed.getnames()
    assert "home/papers/manifest.json" in names
    assert not [name for name in names if ".part-" in name or "0" * 32 in name]
    assert main(["restore", "desk.tar.gz", "--home", "second"]) == 0
    assert read_papers(tmp_path / "second") == read_papers(home)
    assert main(["papers", "build", str(DEMO), "--quiet", "--home", "second"]) == 0
    assert read_papers(tmp_path / "second") == read_papers(home)


def test_a_corpus_is_carried_while_a_build_runs(home: Path, tmp_path: Path) -> None:
    with BuildLockFile(home / "papers" / ".carrel-build" / "lock.db").held():
        assert main(["backup", "desk.tar.gz"]) == 0
    assert main(["restore", "desk.tar.gz", "--home", "second"]) == 0
    assert read_papers(tmp_path / "second") == read_papers(home)


def test_what_a_build_publishes_meanwhile_fails_the_backup(home: Path) -> None:
    folder = home / "papers"
    manifest = read_manifest(folder)
    assert manifest is not None
    with (
        pytest.raises(BackupFailedError, match="meanwhile"),
        corpora.keep_manifest(folder),
    ):
        write_manifest(folder, replace(manifest, generation=manifest.generation + 1))


def test_a_missing_segment_fails_the_backup_and_leaves_none(
    home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    segment = next((home / "papers" / "segments").iterdir())
    segment.rename(segment.with_name("f" * 32))
    assert main(["backup", "desk.tar.gz"]) != 0
    assert "is missing" in capsys.readouterr().err
    assert not Path("desk.tar.gz").exists()


def test_a_backup_of_an_earlier_version_replaces_a_corpus_of_segments(
    home: Path, tmp_path: Path
) -> None:
    with tarfile.open(KEPT[0]) as packed:
        packed.extractall(tmp_path / "earlier", filter="data")
    earlier = tmp_path / "earlier" / "home"
    before = read_papers(earlier)
    assert main(["backup", "earlier.tar.gz", "--home", str(earlier)]) == 0
    assert main(["restore", "earlier.tar.gz", "--force"]) == 0
    assert not (home / "papers" / "manifest.json").exists()
    assert read_papers(home) == before


def test_a_corpus_folder_outside_of_the_home_is_carried(home: Path, tmp_path: Path) -> None:
    (home / "papers").rename(tmp_path / "outside")
    outside = str(tmp_path / "outside")
    assert main(["backup", "desk.tar.gz", "--snapshot", outside]) == 0
    elsewhere = tmp_path / "else" / "where"
    elsewhere.mkdir(parents=True)
    words = ["restore", "desk.tar.gz", "--home", "second", "--snapshot", str(elsewhere)]
    assert main(words) == 0
    assert (elsewhere / "manifest.json").is_file()
    assert main(["papers", "search", "search", "--snapshot", str(elsewhere)]) == 0

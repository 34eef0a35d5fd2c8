"""Killed at any moment, a backup leaves no file that could be taken for one, and a restore leaves
the old state or the new.
"""

from __future__ import annotations

import os
import signal
import sys
from pathlib import Path

import pytest

from carrel.cli import main
from carrel.stores.backup.restore_journal import recover
from tests.processes import warm

SOURCE = str(Path(__file__).parents[2] / "src")

# Runs a command of carrel and kills itself just before the n-th call of a function of the system.
_KILLED = """
import os, pathlib, signal, sqlite3, sys, tempfile
from carrel.cli import main

function, count, words = sys.argv[1], int(sys.argv[2]), sys.argv[3:]
real, left = getattr(os, function), [count]

def deadly(*parameters, **options):
    left[0] -= 1
    if left[0] == 0:
        os.kill(os.getpid(), signal.SIGKILL)
    return real(*parameters, **options)

setattr(os, function, deadly)
sys.exit(main(words))
"""


def killed(folder: Path, function: str, count: int, *words: str) -> bool:
    """Whether the kill came before the command had ended."""
    environment = {
        name: value
        for name, value in os.environ.items()
        if not name.startswith(("CARREL_", "DATABASE_URL"))
    }
    done = warm.run(
        [sys.executable, "-c", _KILLED, function, str(count), *words],
        env={
            **environment,
            "PYTHONPATH": SOURCE,
            "CARREL_HOME": str(folder / "home"),
            "CARREL_AUDIT_ENABLED": "false",
        },
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.returncode in {0, -signal.SIGKILL}, done.stderr
    return done.returncode == -signal.SIGKILL


def state(folder: Path) -> dict[str, bytes]:
    return {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file() and not _is_beside(path) and "before-restore" not in str(path)
    }


def _is_beside(path: Path) -> bool:
    """Locks, the list of backups and the marks of databases belong to the place, not to what it
    holds.
    """
    return path.name.startswith((".carrel.lock", ".carrel-backups")) or path.name.endswith(".id")


def filled(folder: Path, *texts: str) -> Path:
    for text in texts:
        file = folder / text
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(f"{text} in {folder.name}", encoding="utf-8")
    return folder


@pytest.fixture
def desk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with a home, and a backup of another one that shares some names with it."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("CARREL_AUDIT_ENABLED", "false")
    filled(tmp_path / "home", "papers/a.txt", "papers/b.txt", "only-old.txt", "shared.txt")
    filled(tmp_path / "later", "papers/a.txt", "papers/c.txt", "only-new/d.txt", "shared.txt")
    assert main(["backup", "later.tar.gz", "--quiet", "--home", "later"]) == 0
    return tmp_path


# Six renames: three names come, three go aside. The kill comes before each of them, and at last not
# at all.
@pytest.mark.promise("Q5")
@pytest.mark.parametrize("count", range(1, 8))
def test_a_restore_killed_while_names_change_is_finished_by_the_next_command(
    desk: Path, count: int, capsys: pytest.CaptureFixture[str]
) -> None:
    old, new = state(desk / "home"), state(desk / "later")
    was_killed = killed(desk, "rename", count, "restore", "later.tar.gz", "--force", "--quiet")
    assert was_killed == (count < 7)
    assert main(["users", "list", "--home", "home"]) == 0
    assert ("is finished now" in capsys.readouterr().err) == was_killed
    assert {
        name: data
        for name, data in state(desk / "home").items()
        if not name.startswith("access.sqlite")
    } == new
    (aside,) = (desk / "home").glob("before-restore-*")
    kept = {
        path.relative_to(aside).as_posix(): path.read_bytes()
        for path in aside.rglob("*")
        if path.is_file()
    }
    assert kept == old, "nothing is lost"
    assert recover(desk / "home") is None


@pytest.mark.promise("Q5")
@pytest.mark.parametrize(
    ("function", "count"), [("replace", 1), ("utime", 1), ("utime", 3), ("sync", 1), ("replace", 2)]
)
def test_a_restore_killed_before_that_has_changed_nothing(
    desk: Path, function: str, count: int, capsys: pytest.CaptureFixture[str]
) -> None:
    old = state(desk / "home")
    assert killed(desk, function, count, "restore", "later.tar.gz", "--force", "--quiet")
    assert {
        name: data for name, data in state(desk / "home").items() if ".carrel-restore" not in name
    } == old
    assert main(["backup", "of-old.tar.gz", "--home", "home", "--quiet"]) == 0
    assert "before it had changed anything" in capsys.readouterr().err
    assert state(desk / "home") == old
    assert main(["restore", "later.tar.gz", "--home", "home", "--force", "--quiet"]) == 0
    assert state(desk / "home") == state(desk / "later")


@pytest.mark.promise("Q5")
@pytest.mark.parametrize(
    ("function", "count"), [("chmod", 1), ("fstat", 8), ("fsync", 1), ("link", 1)]
)
def test_a_backup_killed_half_way_is_no_backup_and_the_next_one_is(
    desk: Path, function: str, count: int
) -> None:
    before = state(desk / "home")
    assert killed(desk, function, count, "backup", "desk.tar.gz", "--quiet")
    assert not (desk / "desk.tar.gz").exists()
    assert state(desk / "home") == before
    assert main(["backup", "desk.tar.gz", "--home", "home", "--quiet"]) == 0
    assert main(["backup", "--verify", "desk.tar.gz", "--quiet"]) == 0
    assert sorted(path.name for path in desk.glob("desk*")) == ["desk.tar.gz"]

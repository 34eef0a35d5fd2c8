"""The one lock of all stores, by each of its mechanisms."""

from __future__ import annotations

import signal
import sqlite3
import subprocess
import sys
import threading
from collections.abc import Callable
from contextlib import AbstractContextManager, closing
from functools import partial
from pathlib import Path

import pytest

from carrel.rooms.papers.errors import BuildInProgressError
from carrel.stores import file_lock
from carrel.stores.file_lock import LockHeldError, hold_lock
from carrel.stores.sqlite.papers.build_locks import BuildLockFile
from tests.processes import warm

Hold = Callable[..., AbstractContextManager[None]]


@pytest.fixture(params=["flock", "beside", "database"])
def hold(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Hold:
    if request.param == "beside":
        monkeypatch.setattr(file_lock, "fcntl", None)
    return partial(hold_lock, tmp_path / "lock", is_database=request.param == "database")


def test_an_exclusive_holder_keeps_everybody_out_until_it_ends(hold: Hold) -> None:
    with hold():
        for shared in (False, True):
            with pytest.raises(LockHeldError), hold(shared=shared, wait_seconds=0.02):
                raise AssertionError("both have it")
    with hold():
        pass


def test_shared_holders_share_and_keep_an_exclusive_one_out(hold: Hold) -> None:
    with hold(shared=True), hold(shared=True), pytest.raises(LockHeldError), hold():
        raise AssertionError("both have it")


def test_whoever_waits_gets_the_lock_when_it_is_free(hold: Hold) -> None:
    order: list[str] = []
    is_held = threading.Event()

    def wait() -> None:
        assert is_held.wait(10)
        with hold(wait_seconds=None):
            order.append("second")

    waiting = threading.Thread(target=wait)
    waiting.start()
    with hold():
        is_held.set()
        order.append("first")
    waiting.join(10)
    assert order == ["first", "second"]


@pytest.mark.parametrize("is_database", [False, True])
def test_the_lock_of_a_killed_holder_is_free(tmp_path: Path, is_database: bool) -> None:
    code = (
        "import sys\nfrom pathlib import Path\nfrom carrel.stores.file_lock import hold_lock\n"
        f"with hold_lock(Path(sys.argv[1]), is_database={is_database}):\n"
        "    print('held', flush=True)\n    sys.stdin.read()\n"
    )
    holder = warm.start(
        [sys.executable, "-c", code, str(tmp_path / "lock")],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    )
    assert holder.stdout is not None and holder.stdout.readline() == b"held\n"
    with (
        pytest.raises(LockHeldError),
        hold_lock(tmp_path / "lock", is_database=is_database),
    ):
        raise AssertionError("both have it")
    holder.send_signal(signal.SIGKILL)
    holder.wait()
    with hold_lock(tmp_path / "lock", is_database=is_database, wait_seconds=10):
        pass


def test_a_build_of_an_earlier_version_keeps_this_one_out_and_the_other_way_round(
    tmp_path: Path,
) -> None:
    file = tmp_path / "lock.db"
    with closing(sqlite3.connect(file, timeout=0, isolation_level=None)) as earlier:
        earlier.execute("BEGIN EXCLUSIVE")
        with pytest.raises(BuildInProgressError), BuildLockFile(file).held():
            raise AssertionError("both build")
        earlier.execute("ROLLBACK")
        with (
            BuildLockFile(file).held(),
            pytest.raises(sqlite3.OperationalError, match="locked"),
        ):
            earlier.execute("BEGIN EXCLUSIVE")

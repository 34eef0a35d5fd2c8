"""What workers are called, and whether another one is known to have ended."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from carrel.stores.worker_identity import WorkerIdentity
from tests.processes import warm

pytestmark = pytest.mark.promise("S2")

LIVES = """
import pathlib, sys, time
from carrel.stores.worker_identity import WorkerIdentity
worker = WorkerIdentity(pathlib.Path(sys.argv[1]))
worker.take()
print(worker.name, flush=True)
sys.stdin.read()
"""


def test_a_worker_lives_until_its_process_ends_however_it_ends(tmp_path: Path) -> None:
    here = WorkerIdentity(tmp_path)
    words = [sys.executable, "-c", LIVES, str(tmp_path)]
    with warm.start(words, stdout=subprocess.PIPE, stdin=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        other = process.stdout.readline().strip()
        assert not here.has_ended(other)
        process.send_signal(signal.SIGKILL)
        process.wait()
    assert here.has_ended(other)


def test_a_worker_with_our_hostname_and_process_number_is_another_and_lives(tmp_path: Path) -> None:
    one, other = WorkerIdentity(tmp_path), WorkerIdentity(tmp_path)
    for worker in (one, other):
        worker.take()
    assert one.name != other.name
    assert not one.has_ended(other.name)
    assert not one.has_ended(one.name)
    for worker in (one, other):
        worker.close()


@pytest.mark.parametrize(
    "name",
    [
        "elsewhere:1:abcd",
        f"{os.uname().nodename}:1:abcd",
        "host/another-boot/1/1/abcd",
        "host/-/1/1/../../etc",
        "",
        "////",
    ],
)
def test_of_others_nothing_is_known(name: str, tmp_path: Path) -> None:
    assert not WorkerIdentity(tmp_path).has_ended(name)


def test_locks_of_ended_workers_do_not_pile_up(tmp_path: Path) -> None:
    for number in range(200):
        (tmp_path / f"{number:032x}.lock").touch()
    worker = WorkerIdentity(tmp_path)
    worker.take()
    assert len(list(tmp_path.glob("*.lock"))) < 70
    worker.close()

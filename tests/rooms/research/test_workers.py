"""Whether another worker is known to be gone."""

from __future__ import annotations

import os
import socket
import subprocess
import sys

import pytest

from carrel.wiring.research import is_gone, worker_name

pytestmark = pytest.mark.promise("S2")


def test_a_worker_whose_process_has_ended_is_gone() -> None:
    with subprocess.Popen([sys.executable, "-c", ""]) as process:
        process.wait()
    assert is_gone(f"{socket.gethostname()}:{process.pid}:abcd")


def test_a_worker_that_lives_is_not_gone() -> None:
    assert not is_gone(worker_name())
    assert not is_gone(f"{socket.gethostname()}:{os.getppid()}:abcd")


def test_a_worker_of_an_earlier_process_with_our_number_is_gone() -> None:
    assert is_gone(f"{socket.gethostname()}:{os.getpid()}:of-before")


def test_of_another_machine_nothing_is_known() -> None:
    assert not is_gone("elsewhere:1:abcd")

"""Google's Firestore emulator for the length of a test session."""

from __future__ import annotations

import os
import shutil
import signal
import socket
import subprocess
import threading
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager


class NoEmulatorError(Exception):
    """The emulator cannot be started here; says why."""


@contextmanager
def firestore_emulator() -> Iterator[str]:
    """Starts the emulator and gives its host and port. FIRESTORE_EMULATOR_HOST names one that runs
    already.
    """
    given = os.environ.get("FIRESTORE_EMULATOR_HOST")
    if given:
        yield given
        return
    gcloud = shutil.which("gcloud")
    if gcloud is None:
        raise NoEmulatorError(
            "the Google Cloud CLI is not installed, and FIRESTORE_EMULATOR_HOST is not set"
        )
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        host = f"127.0.0.1:{probe.getsockname()[1]}"
    process = subprocess.Popen(
        [gcloud, "emulators", "firestore", "start", f"--host-port={host}"],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    lines: list[str] = []
    try:
        _wait_until_it_runs(process, lines)
        yield host
    finally:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()


def _wait_until_it_runs(process: subprocess.Popen[str], lines: list[str]) -> None:
    assert process.stderr is not None
    is_running = threading.Event()

    def read() -> None:
        assert process.stderr is not None
        for line in process.stderr:
            lines.append(line)
            if "is now running" in line:
                is_running.set()
        is_running.set()

    threading.Thread(target=read, daemon=True).start()
    if not is_running.wait(90) or process.poll() is not None:
        raise NoEmulatorError(
            "gcloud emulators firestore start failed: " + "".join(lines[-3:]).strip()[-300:]
        )


def empty(host: str, project: str) -> None:
    """Deletes everything a project has in the emulator."""
    url = f"http://{host}/emulator/v1/projects/{project}/databases/(default)/documents"
    urllib.request.urlopen(urllib.request.Request(url, method="DELETE"), timeout=10).close()

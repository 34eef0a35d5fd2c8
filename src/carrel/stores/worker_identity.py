"""The identity of this process among workers that share jobs, and which others have ended.

Hostname and process id are not unique across containers, so the name has the machine's boot, the
process namespace and a random part. A worker is alive while its lock file is locked.
"""

from __future__ import annotations

import os
import secrets
import socket
from contextlib import ExitStack, suppress
from pathlib import Path

from carrel.stores.file_lock import LockHeldError, hold_lock
from carrel.stores.sqlite.driver import boot_name

_NAMESPACE = Path("/proc/self/ns/pid")


class WorkerIdentity:
    """A name that no other worker has, and a lock that shows that its process lives."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._token = secrets.token_hex(16)
        self._held = ExitStack()
        self._is_taken = False
        # For people who read the name: which machine and process. For programs: the start of the
        # machine, and chance.
        self.name = "/".join(
            (_label(), boot_name() or "-", _namespace(), str(os.getpid()), self._token)
        )

    def take(self) -> None:
        """Locks the file of this worker; without it others wait until its leases run out."""
        if self._is_taken:
            return
        with suppress(OSError):
            self._folder.mkdir(parents=True, exist_ok=True, mode=0o700)
            self._sweep()
            self._held.enter_context(hold_lock(self._file(self._token)))
            self._is_taken = True

    def close(self) -> None:
        if self._is_taken:
            self._is_taken = False
            self._held.close()
            with suppress(OSError):
                self._file(self._token).unlink(missing_ok=True)

    def has_ended(self, worker: str) -> bool:
        """Whether a worker is known to have ended; False where it is of another machine or home."""
        parts = worker.split("/")
        if len(parts) != 5 or not boot_name() or parts[1] != boot_name() or not parts[4].isalnum():
            return False
        return parts[4] != self._token and self._is_free(self._file(parts[4]))

    def _is_free(self, file: Path) -> bool:
        """Whether the file is there and nobody holds it; it stays, for others to ask the same."""
        if not file.exists():
            return False
        try:
            with hold_lock(file):
                return True
        except (LockHeldError, OSError):
            return False

    def _sweep(self) -> None:
        """Removes the locks of workers that ended long ago."""
        files = sorted(
            self._folder.glob("*.lock"), key=lambda file: file.stat().st_mtime, reverse=True
        )
        for file in files[_KEPT:]:
            if self._is_free(file):
                file.unlink(missing_ok=True)

    def _file(self, token: str) -> Path:
        return self._folder / f"{token}.lock"


# Locks of ended workers that are kept, so that their jobs can be taken at once.
_KEPT = 64


def _label() -> str:
    return socket.gethostname().replace("/", "-") or "-"


def _namespace() -> str:
    try:
        return str(_NAMESPACE.readlink()).removeprefix("pid:").strip("[]") or "-"
    except OSError:
        return "-"

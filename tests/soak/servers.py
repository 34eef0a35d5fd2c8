"""What the soak runs: PostgreSQL on a small disk, replicas to kill, a clock that is wrong."""

from __future__ import annotations

import os
import pwd
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Mapping
from pathlib import Path

import httpx2

from tests.stores.postgres_server import free_port, ordinary_user

NAME = "desk.example.org"
CARREL = (sys.executable, "-m", "carrel")
_READY_SECONDS = 90.0


class Disk:
    """A file system of a given size, that can be filled and emptied."""

    def __init__(self, folder: Path, size: str) -> None:
        self.folder = folder
        self._ballast = folder / "ballast"
        folder.mkdir(parents=True, exist_ok=True)
        subprocess.run(
            ["mount", "-t", "tmpfs", "-o", f"size={size}", "none", str(folder)], check=True
        )

    def fill(self) -> None:
        """Take all the space that is left."""
        with self._ballast.open("ab", buffering=0) as file:
            for size in (1 << 20, 1 << 12, 1):
                try:
                    while file.write(b"x" * size):
                        pass
                except OSError:
                    continue

    def empty(self) -> None:
        self._ballast.unlink(missing_ok=True)

    def close(self) -> None:
        subprocess.run(["umount", "-l", str(self.folder)], check=False)


class Database:
    """A PostgreSQL that keeps its promises (fsync on), on a disk of its own."""

    def __init__(self, folder: Path) -> None:
        self.disk = Disk(folder, "400m")
        self.port = free_port()
        self.url = f"postgresql://carrel@127.0.0.1:{self.port}/postgres"
        self._user = pwd.getpwnam(ordinary_user())
        self._data = folder / "data"
        os.chown(folder, self._user.pw_uid, self._user.pw_gid)
        for parent in folder.parents:
            if parent.stat().st_uid == 0 and parent.stat().st_mode & 0o005 != 0o005:
                parent.chmod(parent.stat().st_mode | 0o005)
        self._run("initdb", "-U", "carrel", "-A", "trust", "-E", "UTF8", "--locale=C")

    def start(self) -> None:
        options = (
            f"-p {self.port} -c listen_addresses=127.0.0.1 -c unix_socket_directories={self._data} "
            "-c shared_buffers=64MB -c max_wal_size=96MB -c min_wal_size=32MB"
        )
        log = str(self._data / "server.log")
        self._run("pg_ctl", "-w", "-t", "60", "-l", log, "-o", options, "start")

    def stop_at_once(self) -> None:
        """As when the power is cut: nothing is finished, the log is replayed at the next start."""
        self._run("pg_ctl", "-m", "immediate", "-w", "stop", is_checked=False)

    def is_running(self) -> bool:
        return self._run("pg_ctl", "status", is_checked=False) == 0

    def close(self) -> None:
        self.stop_at_once()
        self.disk.close()

    def _run(self, program: str, *words: str, is_checked: bool = True) -> int:
        found = shutil.which(program)
        if found is None:
            raise SystemExit(f"{program} is not on the path: the soak needs PostgreSQL")
        done = subprocess.run(
            [found, *words[:0], "-D", str(self._data), *words],
            user=self._user.pw_uid,
            group=self._user.pw_gid,
            extra_groups=[],
            env={"PATH": os.environ["PATH"], "LC_ALL": "C", "HOME": str(self.disk.folder)},
            cwd=self.disk.folder,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            text=True,
            check=False,
        )
        if is_checked and done.returncode != 0:
            raise RuntimeError(f"{program} failed: {done.stderr.strip()[-400:]}")
        return done.returncode


class Replica:
    """One server with a small disk of its own; `clock_seconds` is how far its clock is off."""

    def __init__(
        self, folder: Path, settings: Mapping[str, str], rooms: str, clock_seconds: int = 0
    ) -> None:
        self.port = free_port()
        self.disk = Disk(folder, "96m")
        self.folder = folder
        self.log = folder.with_suffix(".log")
        self.kills = 0
        self._rooms = rooms
        self.environment = {
            "PATH": os.environ["PATH"],
            "HOME": str(folder),
            "CARREL_HOME": str(folder),
            **settings,
            **wrong_clock(clock_seconds, folder.parent),
        }
        self._process: subprocess.Popen[bytes] | None = None

    def launch(self) -> None:
        """Start the process; `await_ready` tells when it answers."""
        with self.log.open("ab") as log:
            self._process = subprocess.Popen(
                [*CARREL, "serve", "--rooms", self._rooms, "--port", str(self.port)],
                env=self.environment,
                cwd=self.folder.parent,
                stdout=log,
                stderr=log,
            )

    def await_ready(self) -> None:
        until = time.monotonic() + _READY_SECONDS
        while time.monotonic() < until:
            assert self._process is not None
            if self._process.poll() is not None:
                self.launch()
            try:
                answer = httpx2.get(
                    f"http://127.0.0.1:{self.port}/ready", headers={"Host": NAME}, timeout=5
                )
                if answer.status_code == 200:
                    return
            except httpx2.HTTPError:
                pass
            time.sleep(0.2)
        raise RuntimeError(f"the replica at {self.port} was never ready: {self.tail()}")

    def kill(self) -> None:
        """SIGKILL and a new process, as a supervisor does."""
        self.kills += 1
        if self._process is not None:
            self._process.send_signal(signal.SIGKILL)
            self._process.wait()
        self.launch()

    def close(self) -> None:
        if self._process is not None and self._process.poll() is None:
            self._process.terminate()
            try:
                self._process.wait(timeout=60)
            except subprocess.TimeoutExpired:
                self._process.kill()
                self._process.wait()
        self.disk.close()

    def tail(self) -> str:
        return self.log.read_text(encoding="utf-8", errors="replace")[-1500:]


def wrong_clock(seconds: int, folder: Path) -> dict[str, str]:
    """The environment in which a process reads a clock that is off; empty where it is right.

    Compiled here, in a few lines: libfaketime also turns waits into errors.
    """
    if seconds == 0:
        return {}
    compiler = shutil.which("cc")
    if compiler is None:
        raise SystemExit("a wrong clock needs a C compiler (`cc`)")
    library = folder / "wrong_clock.so"
    source = Path(__file__).with_name("wrong_clock.c")
    subprocess.run([compiler, "-shared", "-fPIC", "-O2", "-o", library, source], check=True)
    return {"LD_PRELOAD": str(library), "WRONG_CLOCK_SECONDS": str(seconds)}


def run_carrel(environment: Mapping[str, str], *words: str, given: bytes | None = None) -> str:
    """A command of ours beside the replicas. Answers what it prints."""
    done = subprocess.run(
        [*CARREL, *words], env=dict(environment), capture_output=True, input=given, check=False
    )
    if done.returncode != 0:
        said = done.stderr.decode("utf-8", "replace").strip()[-600:]
        raise RuntimeError(f"carrel {' '.join(words)} ended with {done.returncode}: {said}")
    return done.stdout.decode("utf-8")

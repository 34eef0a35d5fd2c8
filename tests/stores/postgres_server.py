"""A real PostgreSQL for the length of a test session: its own folder, its own port, an ordinary
user.
"""

from __future__ import annotations

import os
import pwd
import shutil
import socket
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any


class NoPostgresError(Exception):
    """PostgreSQL cannot be started here; says why."""


@contextmanager
def postgres_server() -> Iterator[str]:
    """Starts a server and gives its URL. CARREL_TEST_POSTGRES_URL names one that runs already."""
    given = os.environ.get("CARREL_TEST_POSTGRES_URL")
    if given:
        yield given
        return
    initdb, pg_ctl = shutil.which("initdb"), shutil.which("pg_ctl")
    if initdb is None or pg_ctl is None:
        raise NoPostgresError(
            "initdb and pg_ctl are not on the path, and CARREL_TEST_POSTGRES_URL is not set"
        )
    folder = Path(tempfile.mkdtemp(prefix="carrel-pg-"))
    data = folder / "data"
    user = _ordinary_user() if os.geteuid() == 0 else None
    if user is not None:
        os.chown(folder, user.pw_uid, user.pw_gid)
    port = free_port()
    options = (
        f"-p {port} -c listen_addresses=127.0.0.1 -c unix_socket_directories={folder} -c "
        f"fsync=off -c shared_buffers=32MB"
    )
    try:
        _run(
            [
                initdb,
                "-D",
                str(data),
                "-U",
                "carrel",
                "-A",
                "trust",
                "-E",
                "UTF8",
                "--locale=C",
                "--no-sync",
            ],
            user,
            folder,
        )
        _run(
            [
                pg_ctl,
                "-D",
                str(data),
                "-w",
                "-t",
                "60",
                "-l",
                str(folder / "log"),
                "-o",
                options,
                "start",
            ],
            user,
            folder,
        )
        try:
            yield f"postgresql://carrel@127.0.0.1:{port}/postgres"
        finally:
            _run([pg_ctl, "-D", str(data), "-m", "immediate", "-w", "stop"], user, folder)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def ordinary_user() -> str:
    """The name of the user that the server runs as."""
    return _ordinary_user().pw_name if os.geteuid() == 0 else pwd.getpwuid(os.geteuid()).pw_name


def _ordinary_user() -> pwd.struct_passwd:
    for name in ("postgres", "nobody"):
        try:
            return pwd.getpwnam(name)
        except KeyError:
            continue
    raise NoPostgresError(
        "PostgreSQL refuses to run as root, and there is no user postgres or nobody"
    )


@contextmanager
def run_as_ordinary_user(command: list[str], folder: Path) -> Iterator[subprocess.Popen[bytes]]:
    """A program that refuses to run as root, until the end of the block; it may use the folder."""
    user = _ordinary_user() if os.geteuid() == 0 else None
    if user is not None:
        for path in (folder, *folder.rglob("*")):
            os.chown(path, user.pw_uid, user.pw_gid)
        for parent in folder.parents:
            if parent.owner() == "root" and parent.stat().st_mode & 0o005 != 0o005:
                parent.chmod(parent.stat().st_mode | 0o005)
    with subprocess.Popen(
        command,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        cwd=folder,
        **_as_user(user),
    ) as process:
        try:
            yield process
        finally:
            process.terminate()
            process.wait(30)


def _as_user(user: pwd.struct_passwd | None) -> dict[str, Any]:
    if user is None:
        return {}
    return {"user": user.pw_uid, "group": user.pw_gid, "extra_groups": []}


def _run(command: list[str], user: pwd.struct_passwd | None, folder: Path) -> None:
    environment = {**os.environ, "HOME": str(folder), "LC_ALL": "C"}
    done = subprocess.run(
        command,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
        check=False,
        cwd=folder,
        env=environment,
        **_as_user(user),
    )
    if done.returncode != 0:
        raise NoPostgresError(f"{Path(command[0]).name} failed: {done.stderr.strip()[-300:]}")


def free_port() -> int:
    """A port of the loopback that nobody listens at now."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])

"""Starts containers as the files say: from a wheel in an environment of the image's packages, or
from the built image itself.

CARREL_TEST_IMAGE_TOOL names a program that runs images without a daemon (`run TAG -e K=V -v FROM:TO
--user U --read-only
--tmpfs DIR --pid-file FILE -- ARGS`), and CARREL_TEST_IMAGE the image. Without them the wheel is
used.
"""

from __future__ import annotations

import contextlib
import http.client
import json
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib.metadata import distribution
from pathlib import Path
from typing import Any

import pytest
from packaging.requirements import Requirement

from tests.deployments.manifests import ROOT, ContainerStart

PATIENCE_SECONDS = 60.0
Answer = tuple[int, Any]


def locked_packages(file: Path) -> dict[str, str]:
    """Names and versions of a requirements file that belong on this machine."""
    found = {}
    for line in file.read_text(encoding="utf-8").splitlines():
        if "==" in line and not line.startswith(" "):
            wanted = Requirement(line.rstrip(" \\"))
            if wanted.marker is None or wanted.marker.evaluate():
                found[wanted.name] = str(wanted.specifier).removeprefix("==")
    return found


def find_open_interpreter() -> str:
    """A Python of this version that the image's user may start; skips where there is none."""
    name = f"python{sys.version_info.major}.{sys.version_info.minor}"
    for found in (sys.executable, shutil.which(name, path="/usr/local/bin:/usr/bin")):
        if found is not None and all(
            folder.stat().st_mode & 0o001 for folder in Path(found).resolve().parents
        ):
            return found
    pytest.skip(f"no {name} lies in a folder that is open to other users")


def make_image_environment(folder: Path) -> Path:
    """A virtual environment with what requirements/image.txt names and nothing else, and our wheel.
    Answers its bin folder.

    The packages are those that the tests run with, linked, so that no network is needed; their
    versions must be the locked ones.
    """
    environment = folder / "environment"
    interpreter = find_open_interpreter()
    subprocess.run([interpreter, "-m", "venv", "--without-pip", str(environment)], check=True)
    (site,) = environment.glob("lib/python*/site-packages")
    for name, version in locked_packages(ROOT / "requirements" / "image.txt").items():
        found = distribution(name)
        assert found.version == version, (
            f"{name} is {found.version} here and {version} in requirements/image.txt: make lock"
        )
        for file in found.files or ():
            if ".." not in file.parts and file.suffix != ".pyc":
                _link(Path(str(found.locate_file(file))), site / file)
    subprocess.run(
        [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(folder)],
        cwd=ROOT,
        check=True,
    )
    (wheel,) = folder.glob("carrel-*.whl")
    uv = shutil.which("uv", path=str(Path(sys.executable).parent)) or shutil.which("uv")
    assert uv is not None, "uv is one of the developers' packages"
    python = environment / "bin" / "python"
    install = [
        uv,
        "pip",
        "install",
        "--quiet",
        "--offline",
        "--no-index",
        "--no-deps",
        "--no-config",
    ]
    subprocess.run([*install, "--python", str(python), str(wheel)], check=True)
    return environment / "bin"


def _link(source: Path, target: Path) -> None:
    target.parent.mkdir(parents=True, exist_ok=True)
    try:
        os.link(source, target)
    except OSError:
        shutil.copy(source, target)


@dataclass(slots=True)
class Instance:
    """One running container."""

    port: int
    process: subprocess.Popen[bytes]
    log: Path
    pid_file: Path | None = None

    def request(
        self,
        method: str,
        path: str,
        host: str,
        body: object = None,
        headers: Mapping[str, str] | None = None,
    ) -> Answer:
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=PATIENCE_SECONDS)
        try:
            content = None if body is None else json.dumps(body)
            given = {
                "Host": host,
                **({"Content-Type": "application/json"} if content else {}),
                **(headers or {}),
            }
            connection.request(method, path, content, given)
            answer = connection.getresponse()
            return answer.status, json.loads(answer.read())
        finally:
            connection.close()

    def output(self) -> str:
        return self.log.read_text(encoding="utf-8", errors="replace")

    def errors(self) -> str:
        return self.log.with_suffix(".err").read_text(encoding="utf-8", errors="replace")

    def end(self, number: int) -> None:
        """Sends a signal to the first process of the container and waits for its end."""
        inside = (
            int(self.pid_file.read_text(encoding="ascii"))
            if self.pid_file is not None
            else self.process.pid
        )
        with contextlib.suppress(ProcessLookupError):
            os.kill(inside, number)
        self.process.wait(timeout=PATIENCE_SECONDS)


class Machine:
    """Starts containers, and ends what still runs at the end. `folder` stands for the disks of the
    platform.
    """

    def __init__(self, folder: Path, programs: Path) -> None:
        self.folder = folder
        self._programs = programs
        self._running: list[Instance] = []
        self._started = 0
        self._tool = os.environ.get("CARREL_TEST_IMAGE_TOOL")
        self._image = os.environ.get("CARREL_TEST_IMAGE", "carrel")

    def disk(self, name: str, user: int) -> Path:
        """A folder that only the container's user may use, as volumes are given."""
        disk = self.folder / name
        if not disk.exists():
            disk.mkdir(mode=0o700)
            if os.geteuid() == 0:
                os.chown(disk, user, user)
        return disk

    def start(
        self,
        start: ContainerStart,
        *,
        disks: Mapping[str, Path],
        secrets: Mapping[str, str],
        platform: Mapping[str, str],
    ) -> Instance:
        """One instance. `disks` are what is mounted, by path inside; `platform` is what the
        platform adds to the environment.
        """
        self._started += 1
        port = free_port()
        # In place of a network of its own, each container here has a port of its own.
        environment = {
            **start.environment,
            **platform,
            **{name: secrets[name] for name in start.secrets},
            "PORT": str(port),
        }
        log = self.folder / f"instance-{self._started}.out"
        pid_file = None if self._tool is None else log.with_suffix(".pid")
        argv, settings = self._command(start, environment, disks, pid_file)
        with log.open("wb") as output, log.with_suffix(".err").open("wb") as errors:
            process = subprocess.Popen(argv, stdout=output, stderr=errors, **settings)
        instance = Instance(port, process, log, pid_file)
        self._running.append(instance)
        words = shlex_words(start.argv)
        how = "the image" if self._tool else "the wheel"
        print(
            f"{start.source}: started `{words}` from {how} as user {start.user} at port {port}, "
            f"mounts {sorted(disks)}"
        )
        return instance

    def run(
        self,
        start: ContainerStart,
        words: Sequence[str],
        *,
        disks: Mapping[str, Path],
        secrets: Mapping[str, str],
    ) -> str:
        """A command in a container, as `kubectl exec` runs it. Answers its standard output."""
        environment = {**start.environment, **{name: secrets[name] for name in start.secrets}}
        argv, settings = self._wheel(tuple(words), environment, disks, start.user)
        done = subprocess.run(argv, capture_output=True, check=False, text=True, **settings)
        assert done.returncode == 0, done.stderr
        return str(done.stdout)

    def close(self) -> None:
        for instance in self._running:
            if instance.process.poll() is None:
                instance.end(signal.SIGKILL)
            # A test that fails shows it.
            print(f"what the server at port {instance.port} said:\n{instance.errors()}")

    def _command(
        self,
        start: ContainerStart,
        environment: Mapping[str, str],
        disks: Mapping[str, Path],
        pid_file: Path | None,
    ) -> tuple[list[str], dict[str, Any]]:
        if self._tool is None:
            return self._wheel(start.argv, environment, disks, start.user)
        argv = [
            self._tool,
            "run",
            self._image,
            "--user",
            str(start.user),
            "--pid-file",
            str(pid_file),
        ]
        argv += [
            word
            for name, value in environment.items()
            if name != "PATH"
            for word in ("-e", f"{name}={value}")
        ]
        argv += [word for inside, disk in disks.items() for word in ("-v", f"{disk}:{inside}")]
        if start.is_root_read_only:
            argv.append("--read-only")
        # The image has its own ENTRYPOINT, which the start begins with.
        return [*argv, "--", *start.argv[1:]], {}

    def _wheel(
        self,
        words: Sequence[str],
        environment: Mapping[str, str],
        disks: Mapping[str, Path],
        user: int,
    ) -> tuple[list[str], dict[str, Any]]:
        settings: dict[str, Any] = {"cwd": self.folder}
        if os.geteuid() == 0:
            settings.update(user=user, group=user, extra_groups=[])
        given = {name: _outside(value, disks) for name, value in environment.items()}
        given["PATH"] = f"{self._programs}:/usr/bin:/bin"
        given["TMPDIR"] = str(disks.get("/tmp", self.folder))
        program = shutil.which(words[0], path=str(self._programs))
        assert program is not None, f"the image has no program {words[0]}"
        return [program, *words[1:]], {**settings, "env": given}


def _outside(value: str, disks: Mapping[str, Path]) -> str:
    """A path inside the container as the path of what is mounted there."""
    for inside, disk in disks.items():
        if value == inside or value.startswith(f"{inside}/"):
            return f"{disk}{value.removeprefix(inside)}"
    return value


def wait_until(
    instance: Instance, path: str, host: str, headers: Mapping[str, str] | None = None
) -> Answer:
    """Polls as a platform does until the answer is 200; fails when the process ends or the patience
    does.
    """
    until = time.monotonic() + PATIENCE_SECONDS
    last: object = None
    while time.monotonic() < until:
        with contextlib.suppress(OSError, http.client.HTTPException):
            last = instance.request("GET", path, host, headers=headers)
            if isinstance(last, tuple) and last[0] == 200:
                return last
        # Its end is what is waited for between two questions.
        with contextlib.suppress(subprocess.TimeoutExpired):
            instance.process.wait(timeout=0.05)
            raise AssertionError(f"it ended: {instance.errors()}")
    raise AssertionError(f"{path} never answered 200: {last}\n{instance.errors()}")


def shlex_words(argv: Sequence[str]) -> str:
    return " ".join(argv)


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def first_password(text: str) -> str | None:
    found = re.search(r"First run: log in as admin with the password (\S+)", text)
    return None if found is None else found.group(1)

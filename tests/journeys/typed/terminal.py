"""A fresh machine with Carrel installed from a wheel: no network, an empty home, and a shell that
remembers its variables.
"""

from __future__ import annotations

import os
import shlex
import socket
import subprocess
import sysconfig
import threading
from dataclasses import dataclass
from pathlib import Path
from typing import Self

from tests.journeys.installed import build_wheel, create_environment

_END = "--- typed, with status "
_LAST_OF_BANNER = "Cursor:"


def install_wheel(folder: Path) -> Path:
    """Builds the wheel and installs it into a new environment, beside the dependencies that this
    one has; gives its bin folder.
    """
    environment = folder / "environment"
    packages = create_environment(build_wheel(folder / "wheels"), environment)
    # A path in a .pth file is searched last, and the .pth files in it are not read: carrel itself
    # comes from the wheel.
    (packages / "dependencies.pth").write_text(
        sysconfig.get_path("purelib") + "\n", encoding="utf-8"
    )
    return environment / "bin"


@dataclass(frozen=True, slots=True)
class Typed:
    """What came of one command."""

    status: int
    output: str


class Terminal:
    """Types commands one after the other in one shell; a server goes on until the next one is
    started.
    """

    def __init__(self, bin: Path, home: Path) -> None:
        self.bin, self.home, self.port = bin, home, _free_port()
        self._environment = {
            "HOME": str(home),
            "PATH": f"{bin}{os.pathsep}/usr/bin{os.pathsep}/bin",
            "LANG": "C.UTF-8",
            "COLUMNS": "130",
            "CARREL_SERVER_PORT": str(self.port),
            # At a terminal what is printed first is seen first.
            "PYTHONUNBUFFERED": "1",
            # Where no terminal is, curl draws a progress meter, which nobody who types sees.
            "CURL_HOME": str(bin.parent),
        }
        (bin.parent / ".curlrc").write_text("silent\nshow-error\n", encoding="utf-8")
        self._server: subprocess.Popen[str] | None = None

    def __enter__(self) -> Self:
        self._shell = subprocess.Popen(
            ["bash", "--noprofile", "--norc"],
            cwd=self.home,
            env=self._environment,
            text=True,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
        )
        return self

    def __exit__(self, *_: object) -> None:
        self.stop_server()
        assert self._shell.stdin is not None and self._shell.stdout is not None
        self._shell.stdin.close()
        self._shell.stdout.close()
        self._shell.wait(timeout=30)

    def type(self, command: str) -> Typed:
        """Runs a command to its end. The written port stands for one that is free here."""
        assert self._shell.stdin is not None and self._shell.stdout is not None
        self._shell.stdin.write(
            f"{{ {self._here(command)}\n}} </dev/null\nprintf '\\n{_END}%d\\n' $?\n"
        )
        self._shell.stdin.flush()
        lines: list[str] = []
        for line in self._shell.stdout:
            if line.startswith(_END):
                return Typed(int(line.removeprefix(_END)), "".join(lines).rstrip("\n"))
            lines.append(line)
        raise AssertionError(f"the shell ended while typing {command}: {''.join(lines)}")

    def start_server(self, command: str) -> Typed:
        """Starts a server as in a terminal of its own, and gives what it says once it listens."""
        self.stop_server()
        words = shlex.split(command)
        variables = [
            word for word in words if "=" in word.split("/")[0] and not word.startswith("-")
        ]
        program = [word for word in words if word not in variables]
        self._server = subprocess.Popen(
            [str(self.bin / program[0]), *program[1:]],
            cwd=self.home,
            env=self._environment | dict(variable.split("=", 1) for variable in variables),
            text=True,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
        )
        assert self._server.stdout is not None
        lines: list[str] = []
        for line in self._server.stdout:
            lines.append(line)
            if line.startswith(_LAST_OF_BANNER):
                # Nobody reads its log from here on, and a full pipe would stop it.
                threading.Thread(target=self._server.stdout.read, daemon=True).start()
                return Typed(0, "".join(lines).rstrip("\n"))
        return Typed(self._server.wait(timeout=30), "".join(lines))

    def stop_server(self) -> None:
        """Ctrl-C, and an end in good order."""
        server, self._server = self._server, None
        if server is None or server.poll() is not None:
            return
        server.send_signal(2)
        try:
            status = server.wait(timeout=60)
        finally:
            server.kill()
            server.wait()
        assert status in {0, 130, -2}, f"the server ended with {status}"

    def run_python(self, program: str) -> Typed:
        done = subprocess.run(
            [str(self.bin / "python"), "-"],
            input=program,
            cwd=self.home,
            env=self._environment,
            text=True,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            timeout=120,
            check=False,
        )
        return Typed(done.returncode, done.stdout)

    def _here(self, command: str) -> str:
        return command.replace("127.0.0.1:8080", f"127.0.0.1:{self.port}")


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])

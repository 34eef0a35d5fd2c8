"""`subprocess` for programs of Python that import Carrel: same words, a process of their own."""

from __future__ import annotations

import json
import os
import select
import socket
import struct
import subprocess
import sys
import threading
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, AnyStr, Literal, overload

ROOT = Path(__file__).parents[2]
Words = Sequence[str | bytes]
STATUS = struct.Struct("!i")
# Where no fork keeps what was imported, each program begins cold.
_CAN_FORK = sys.platform == "linux"
# What a fork of the warm process cannot be given.
_COLD_OPTIONS = {"preexec_fn", "pass_fds", "shell", "user", "group", "extra_groups", "umask"}
# Python reads the others of its own variables as it starts.
_LATE_VARIABLES = {"PYTHONPATH", "PYTHONUNBUFFERED", "PYTHONDONTWRITEBYTECODE"}
_lock = threading.Lock()
_server: socket.socket | None = None


@overload
def run(
    words: Words, *, text: Literal[True], **options: Any
) -> subprocess.CompletedProcess[str]: ...
@overload
def run(words: Words, **options: Any) -> subprocess.CompletedProcess[bytes]: ...
def run(
    words: Words,
    *,
    input: str | bytes | None = None,
    timeout: float | None = None,
    check: bool = False,
    capture_output: bool = False,
    **options: Any,
) -> subprocess.CompletedProcess[Any]:
    """What `subprocess.run` does."""
    if input is not None:
        options["stdin"] = subprocess.PIPE
    if capture_output:
        options["stdout"] = options["stderr"] = subprocess.PIPE
    with start(words, **options) as process:
        try:
            out, err = process.communicate(input, timeout=timeout)
        except BaseException:
            process.kill()
            raise
    done = subprocess.CompletedProcess(words, process.returncode, out, err)
    if check:
        done.check_returncode()
    return done


class _ForkedPopen(subprocess.Popen[AnyStr]):
    """A process that the warm one forks and waits for; a socket tells here how it ended."""

    _told: socket.socket

    def __init__(self, args: list[str | bytes], **options: Any) -> None:
        self._wanted = {
            "words": [os.fsdecode(word) for word in args[1:]],
            "folder": os.fsdecode(options.get("cwd") or Path.cwd()),
            "environment": dict(_environment(options)),
            "new_session": bool(options.get("start_new_session")),
        }
        super().__init__(args, **options)

    def _execute_child(self, *parameters: Any) -> None:
        # So in CPython 3.11 to 3.14: ends of pipes in pairs, the child's and ours, -1 for none.
        own: list[int] = [parameters[10], parameters[13], parameters[15]]
        streams: list[int] = [end if end != -1 else at for at, end in enumerate(own)]
        self._told, there = socket.socketpair()
        with there, _lock:
            socket.send_fds(_begin_server(), [b"+"], [there.fileno(), *streams])
        self._told.sendall(json.dumps(self._wanted).encode() + b"\n")
        self.pid = STATUS.unpack(_receive(self._told))[0]
        self._child_created = True
        self._close_pipe_fds(*parameters[10:16])  # type: ignore[attr-defined]

    def _internal_poll(self, *_: Any, **__: Any) -> int | None:
        return self._look(0)

    def _wait(self, timeout: float | None) -> int:
        code = self._look(timeout)
        if code is None:
            assert timeout is not None
            raise subprocess.TimeoutExpired(self.args, timeout)
        return code

    def _look(self, seconds: float | None) -> int | None:
        if self.returncode is None and hasattr(self, "_told"):
            milliseconds = None if seconds is None else max(0, seconds * 1000)
            waiting = select.poll()
            waiting.register(self._told, select.POLLIN)
            if waiting.poll(milliseconds):
                self.returncode = STATUS.unpack(_receive(self._told))[0]
                self._told.close()
        return self.returncode


@overload
def start(words: Words, *, text: Literal[True], **options: Any) -> subprocess.Popen[str]: ...
@overload
def start(words: Words, **options: Any) -> subprocess.Popen[bytes]: ...
def start(words: Words, **options: Any) -> subprocess.Popen[Any]:
    """What `subprocess.Popen` does; what cannot begin warm begins cold."""
    if _begins_warm(words, options):
        return _ForkedPopen(list(words), **options)
    return subprocess.Popen(words, **options)


def _begins_warm(words: Words, options: Mapping[str, Any]) -> bool:
    return (
        _CAN_FORK
        and words[0] == sys.executable
        and words[1] in {"-c", "-m"}
        and all(options.get(name) is None for name in _COLD_OPTIONS)
        and not any(
            name.startswith("PYTHON") and name not in _LATE_VARIABLES
            for name in _environment(options)
        )
    )


def _environment(options: Mapping[str, Any]) -> Mapping[str, str]:
    given = options.get("env")
    return os.environ if given is None else given


def _begin_server() -> socket.socket:
    """The warm process of this one; it ends with it."""
    global _server
    if _server is None:
        _server, there = socket.socketpair()
        with there:
            subprocess.Popen(
                [sys.executable, "-m", "tests.processes.forking", str(there.fileno())],
                pass_fds=[there.fileno()],
                stdin=subprocess.DEVNULL,
                cwd=ROOT,
                env={**os.environ, "PYTHONPATH": f"{ROOT / 'src'}{os.pathsep}{ROOT}"},
            )
    return _server


def _receive(told: socket.socket) -> bytes:
    number = told.recv(STATUS.size, socket.MSG_WAITALL)
    if len(number) != STATUS.size:
        raise ChildProcessError("the warm process has ended")
    return number

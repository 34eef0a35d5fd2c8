"""`python -m tests.processes.forking SOCKET`: imports Carrel, then forks a program for each asking.

Whoever asks sends a socket of the program and its three streams. The program itself reads there
what to run; this process says there its number and, in the end, its exit code.
"""

from __future__ import annotations

import atexit
import contextlib
import gc
import importlib
import io
import json
import os
import pkgutil
import random
import runpy
import selectors
import signal
import socket
import sys
import tempfile
import threading
import time
import types
from pathlib import Path
from typing import Any, NoReturn, TextIO

from tests.processes.warm import STATUS

# Programs, and the server that needs another framework.
_LEFT_OUT = (
    "carrel.__main__",
    "carrel.mcp_server",
    "carrel.doors.mcp.fastmcp_server",
)
# They begin threads as they are imported, and no fork keeps those.
_THREADED = ("numpy", "google")
# What commands import only when they need it, which is nearly always.
_DRIVERS = ("psycopg", "psycopg_pool", "tantivy", "uvicorn", "uvloop")


def import_carrel() -> None:
    """Every module of Carrel that begins no thread, and drivers."""
    for name in _THREADED:
        sys.modules[name] = None  # type: ignore[assignment]
    package = importlib.import_module("carrel")
    modules = (module.name for module in pkgutil.walk_packages(package.__path__, "carrel."))
    for name in (*(name for name in modules if name not in _LEFT_OUT), *_DRIVERS):
        # Of an extra that is not installed, or threaded: the program imports it when it needs it.
        with contextlib.suppress(ImportError):
            importlib.import_module(name)
    for name in _THREADED:
        del sys.modules[name]
    threads = len(list(Path("/proc/self/task").iterdir()))
    assert threads == 1, f"importing began {threads - 1} threads, which a fork would lose"


def serve(asked: socket.socket) -> dict[str, Any] | None:
    """Forks for each asking until nobody is left to ask; in a fork, gives what it is to run."""
    programs: dict[int, socket.socket] = {}
    ended, wake = socket.socketpair()
    for end in (ended, wake):
        end.setblocking(False)
    signal.signal(signal.SIGCHLD, lambda *_: None)
    signal.set_wakeup_fd(wake.fileno(), warn_on_full_buffer=False)
    with selectors.DefaultSelector() as selector:
        selector.register(asked, selectors.EVENT_READ)
        selector.register(ended, selectors.EVENT_READ)
        while True:
            ready = {key.fileobj for key, _ in selector.select()}
            if ended in ready:
                ended.recv(4096)
                _tell_ends(programs)
            if asked not in ready:
                continue
            message, files, _, _ = socket.recv_fds(asked, 1, 4)
            if not message:
                return None
            told = socket.socket(fileno=files[0])
            pid = os.fork()
            if pid == 0:
                signal.set_wakeup_fd(-1)
                signal.signal(signal.SIGCHLD, signal.SIG_DFL)
                for each in (asked, ended, wake, *programs.values()):
                    each.close()
                return _begin(told, files[1:])
            for file in files[1:]:
                os.close(file)
            told.sendall(STATUS.pack(pid))
            programs[pid] = told


def _tell_ends(programs: dict[int, socket.socket]) -> None:
    while programs:
        pid, status = os.waitpid(-1, os.WNOHANG)
        if pid == 0:
            return
        with programs.pop(pid) as told:
            try:
                told.sendall(STATUS.pack(os.waitstatus_to_exitcode(status)))
            except (BrokenPipeError, ConnectionResetError):
                # Nobody waits for this one any more.
                continue


def _begin(told: socket.socket, streams: list[int]) -> dict[str, Any]:
    """Becomes the program: its streams, environment and folder in place of these."""
    with told, told.makefile("rb") as reader:
        asked: dict[str, Any] = json.loads(reader.readline())
    for at, stream in enumerate(streams):
        os.dup2(stream, at)
    for stream in streams:
        os.close(stream)
    os.environ.clear()
    os.environ.update(asked["environment"])
    if asked["new_session"]:
        os.setsid()
    os.chdir(asked["folder"])
    # What importing may have settled by the environment of this process, and chance.
    time.tzset()
    tempfile.tempdir = None
    random.seed()
    sys.stdin = _stream(0, "r")
    sys.stdout = _stream(1, "w")
    sys.stderr = _stream(2, "w")
    return asked


def _stream(number: int, mode: str) -> TextIO:
    is_error = number == 2
    names = [os.environ.get(name) for name in ("LC_ALL", "LC_CTYPE", "LANG")]
    is_plain = next(filter(None, names), "C").partition(".")[0] in {"C", "POSIX"}
    raw: Any = open(number, f"{mode}b", closefd=False)  # noqa: SIM115
    return io.TextIOWrapper(
        raw,
        encoding="utf-8",
        errors="backslashreplace" if is_error else "surrogateescape" if is_plain else "strict",
        line_buffering=is_error or os.isatty(number),
    )


def run(words: list[str]) -> None:
    """What `python` does with these words, in a fresh module `__main__`."""
    is_code, name, *rest = words[0] == "-c", *words[1:]
    sys.argv = ["-c" if is_code else name, *rest]
    paths = os.environ.get("PYTHONPATH", "").split(os.pathsep)
    sys.path[:0] = ["" if is_code else str(Path.cwd()), *filter(None, paths)]
    if not is_code:
        runpy.run_module(name, run_name="__main__", alter_sys=True)
        return
    main = types.ModuleType("__main__")
    sys.modules["__main__"] = main
    exec(compile(name, "<string>", "exec"), main.__dict__)


def start() -> dict[str, Any] | None:
    """Imports everything and serves the socket that the words name."""
    asked = socket.socket(fileno=int(sys.argv[1]))
    import_carrel()
    gc.collect()
    # No fork need copy a page because the collector wrote into it.
    gc.freeze()
    return serve(asked)


def end(code: int) -> NoReturn:
    """Ends as Python does, but for the taking apart of all that was imported: in a fork this writes
    into every page, which costs more than many a command.
    """
    threading._shutdown()  # type: ignore[attr-defined]
    atexit._run_exitfuncs()
    del sys.modules["__main__"]
    gc.collect()
    for stream in (sys.stdout, sys.stderr):
        stream.flush()
    os._exit(code)


if __name__ == "__main__":
    program = start()
    if program is not None:
        try:
            run(program["words"])
        except SystemExit as ended:
            if ended.code is not None and not isinstance(ended.code, int):
                raise
            end(int(ended.code or 0))
        end(0)

"""Runs parsers on long foreign input in a child process with limits of time and memory.

A thread cannot be killed, and holds the interpreter lock while a regular expression or a C parser
works. A child is killed when it exceeds its limits or its caller stops waiting.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import math
import os
import pickle
import struct
import subprocess
import sys
from collections.abc import Callable
from typing import IO, Any, TypeVar

from carrel.core.errors import UnavailableError
from carrel.core.parsing import translate_budget_errors
from carrel.libraries.text.budget import (
    CPU_ALLOWANCE_SECONDS,
    CPU_SECONDS_PER_MEGABYTE,
    InputTooCostlyError,
)

log = logging.getLogger("carrel.parsers")

# The budget inside the child ends it cleanly; the operating system's limit is the last resort.
_CPU_FACTOR = 2.0
_CPU_MORE_SECONDS = 2
# Memory of an interpreter with every parser imported, and of parse trees per input byte.
_MEMORY_AT_LEAST_BYTES = 1024**3
_MEMORY_PER_BYTE = 200
# Under load a second of computing takes several by the clock.
_WALL_FACTOR = 10.0
_MAX_CHILDREN = 4
_MAX_IDLE = 1
_LENGTH = struct.Struct(">Q")

ResultT = TypeVar("ResultT")
Request = tuple[Callable[..., Any], tuple[Any, ...], float, int]
Reply = tuple[bool, Any]


class ParserProcesses:
    """A few child processes, started on demand and reused; the owner must close it."""

    def __init__(self) -> None:
        self._idle: list[_Child] = []
        self.working: list[_Child] = []
        self._places: asyncio.Semaphore | None = None

    async def run(self, function: Callable[..., ResultT], *arguments: Any, size: int) -> ResultT:
        """Run a picklable function with the budget of an input of `size` bytes.

        Raises what the function raises, CostlyInputError when the child was killed, and
        UnavailableError when none can be started.
        """
        with translate_budget_errors():
            return await self._run(function, arguments, size)

    async def _run(
        self, function: Callable[..., ResultT], arguments: tuple[Any, ...], size: int
    ) -> ResultT:
        if self._places is None:
            self._places = asyncio.Semaphore(_MAX_CHILDREN)
        cpu_seconds = CPU_ALLOWANCE_SECONDS + CPU_SECONDS_PER_MEGABYTE * size / 1_000_000
        async with self._places:
            child = self._idle.pop() if self._idle else await asyncio.to_thread(_Child)
            self.working.append(child)
            request: Request = (function, arguments, cpu_seconds, size)
            try:
                async with asyncio.timeout(cpu_seconds * _WALL_FACTOR):
                    is_good, value = await asyncio.to_thread(child.ask, request)
            except (TimeoutError, EOFError, OSError):
                child.kill()
                raise InputTooCostlyError(
                    f"Reading the input takes more than {cpu_seconds:.1f} seconds of computing, "
                    f"or more memory than it may",
                    exceeded="cpu",
                    limit=cpu_seconds,
                ) from None
            except BaseException:
                child.kill()
                raise
            finally:
                self.working.remove(child)
        if len(self._idle) < _MAX_IDLE:
            self._idle.append(child)
        else:
            child.kill()
        if is_good:
            result: ResultT = value
            return result
        raise value

    def close(self) -> None:
        """End the idle children; those at work are ended by the calls that wait for them."""
        while self._idle:
            self._idle.pop().kill()


class _Child:
    """One process and the pipes to it."""

    def __init__(self) -> None:
        try:
            self._process = subprocess.Popen(
                [sys.executable, "-m", "carrel.services.parser_process"],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
            )
        except OSError as error:
            raise UnavailableError(
                "No process can be started to read a long input",
                next_step="Send the input in parts of at most 50 kB, or try again later.",
            ) from error

    def ask(self, request: Request) -> Reply:
        """Waits for the answer. Raises EOFError or OSError when the child has ended instead."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        _send(self._process.stdin, request)
        reply: Reply = _receive(self._process.stdout)
        return reply

    @property
    def has_ended(self) -> bool:
        return self._process.poll() is not None

    def kill(self) -> None:
        with contextlib.suppress(OSError):
            self._process.kill()
        self._process.wait()
        for pipe in (self._process.stdin, self._process.stdout):
            if pipe is not None:
                with contextlib.suppress(OSError):
                    pipe.close()


def _send(pipe: IO[bytes], message: object) -> None:
    content = pickle.dumps(message, protocol=pickle.HIGHEST_PROTOCOL)
    pipe.write(_LENGTH.pack(len(content)))
    pipe.write(content)
    pipe.flush()


def _receive(pipe: IO[bytes]) -> Any:
    head = pipe.read(_LENGTH.size)
    if len(head) < _LENGTH.size:
        raise EOFError
    (length,) = _LENGTH.unpack(head)
    content = pipe.read(length)
    if len(content) < length:
        raise EOFError
    return pickle.loads(content)  # noqa: S301 - both ends are this program


def memory_for(size: int) -> int:
    """The memory limit in bytes for an input of `size` bytes."""
    return _MEMORY_AT_LEAST_BYTES + _MEMORY_PER_BYTE * size


def limit_this_process(cpu_seconds: float, size: int) -> None:
    """Set RLIMIT_CPU and RLIMIT_AS; where there are none, only the parent's timeout holds."""
    memory_bytes = memory_for(size)
    try:
        import resource
    except ImportError:
        return
    used = resource.getrusage(resource.RUSAGE_SELF)
    most = math.ceil(used.ru_utime + used.ru_stime + cpu_seconds)
    for kind, wanted in ((resource.RLIMIT_CPU, most), (resource.RLIMIT_AS, memory_bytes)):
        _, hard = resource.getrlimit(kind)
        with contextlib.suppress(ValueError, OSError):
            resource.setrlimit(
                kind, (wanted if hard == resource.RLIM_INFINITY else min(wanted, hard), hard)
            )


def _answer(request: Request) -> Reply:
    function, arguments, cpu_seconds, size = request
    limit_this_process(cpu_seconds * _CPU_FACTOR + _CPU_MORE_SECONDS, size)
    try:
        return True, function(*arguments)
    except MemoryError:
        # The parser's memory is freed only after this clause; until then there is none to answer.
        pass
    except InputTooCostlyError as error:
        return False, error
    except Exception as error:  # noqa: BLE001 - raised again in the parent, where the gate writes it down
        return False, RuntimeError(f"{type(error).__name__} in a parser: {error}"[:300])
    message = "Reading the input takes more memory than an input of its size may"
    return False, InputTooCostlyError(message, exceeded="memory", limit=memory_for(size))


def main() -> None:
    """Answers requests until the parent closes the pipe."""
    asks = sys.stdin.buffer
    answers = os.fdopen(os.dup(sys.stdout.fileno()), "wb")
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())
    while True:
        try:
            request: Request = _receive(asks)
        except EOFError:
            return
        _send(answers, _answer(request))


if __name__ == "__main__":
    main()

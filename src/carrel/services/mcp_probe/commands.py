"""Probes a command: started as a client starts it, asked over its standard input and output."""

from __future__ import annotations

import contextlib
import json
import os
import queue
import signal
import subprocess
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from time import monotonic
from typing import Any

from carrel.services.mcp_probe.protocol import (
    MAX_MESSAGE_BYTES,
    Asker,
    Message,
    ProbeError,
    ProbeReport,
    probe,
)

_KEPT_ERROR_LINES = 40
_LONGEST_ERROR_LINE = 2000
# What is said without having been asked for waits in the pipe, not in memory.
_MOST_WAITING_LINES = 4
_SECONDS_TO_END = 5
_END = object()


def probe_command(
    command: str,
    arguments: Sequence[str],
    environment: Mapping[str, str],
    folder: str,
    seconds: float,
) -> ProbeReport:
    """What a command answers, each time within so many seconds. Raises ProbeError."""
    with _started(command, arguments, environment, folder) as process:
        lines: queue.Queue[object] = queue.Queue(_MOST_WAITING_LINES)
        said: list[str] = []
        readers = [
            threading.Thread(target=_read_lines, args=(process.stdout, lines.put), daemon=True),
            threading.Thread(target=_keep_errors, args=(process.stderr, said), daemon=True),
        ]
        for reader in readers:
            reader.start()

        def send(message: Message) -> Message | None:
            stdin = process.stdin
            # What it said before it ended tells more than that it takes nothing.
            with contextlib.suppress(OSError):
                if stdin is not None:
                    stdin.write(json.dumps(message).encode() + b"\n")
                    stdin.flush()
            return _await_answer(lines, message.get("id"), seconds, process, said)

        return probe(Asker(send))


@contextmanager
def _started(
    command: str, arguments: Sequence[str], environment: Mapping[str, str], folder: str
) -> Iterator[subprocess.Popen[bytes]]:
    try:
        process = subprocess.Popen(
            [command, *arguments],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env=dict(environment),
            cwd=folder,
            start_new_session=os.name == "posix",
        )
    except FileNotFoundError:
        raise ProbeError("missing", f"there is no program {command}") from None
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) else error
        raise ProbeError("missing", f"{command} cannot be started: {reason}") from None
    try:
        yield process
    finally:
        _end(process)


def _end(process: subprocess.Popen[bytes]) -> None:
    """Close its input, as clients do, and end it where it does not end by itself."""
    if process.stdin is not None:
        with contextlib.suppress(OSError):
            process.stdin.close()
    for stop in (None, _terminate, _kill):
        if stop is not None:
            stop(process)
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(timeout=_SECONDS_TO_END)
            return


def _terminate(process: subprocess.Popen[bytes]) -> None:
    """End it, and what it started: a bridge is started by npx."""
    if os.name == "posix":
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(process.pid, signal.SIGTERM)
    else:
        process.terminate()


def _kill(process: subprocess.Popen[bytes]) -> None:
    if os.name == "posix":
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(process.pid, signal.SIGKILL)
    else:
        process.kill()


def _read_lines(stream: Any, put: Callable[[object], None]) -> None:
    with contextlib.suppress(OSError, ValueError):
        while line := stream.readline(MAX_MESSAGE_BYTES):
            put(line)
    put(_END)


def _keep_errors(stream: Any, said: list[str]) -> None:
    with contextlib.suppress(OSError, ValueError):
        while line := stream.readline(_LONGEST_ERROR_LINE):
            said.append(line.decode("utf-8", "replace").rstrip())
            del said[:-_KEPT_ERROR_LINES]


def _await_answer(
    lines: queue.Queue[object],
    number: object,
    seconds: float,
    process: subprocess.Popen[bytes],
    said: list[str],
) -> Message | None:
    """The answer of that number; what else is said in the meantime gives no more time."""
    if number is None:
        return None
    end = monotonic() + seconds
    while True:
        try:
            line = lines.get(timeout=max(0.0, end - monotonic()))
        except queue.Empty:
            raise _late(seconds, said) from None
        if not isinstance(line, bytes):
            raise _ended(process, said)
        try:
            message = json.loads(line)
        except (ValueError, RecursionError):
            raise ProbeError(
                "refused", f"the program does not speak MCP: {line[:120].decode(errors='replace')}"
            ) from None
        if isinstance(message, dict) and message.get("id") == number and "method" not in message:
            return message
        if monotonic() > end:
            raise _late(seconds, said)


def _late(seconds: float, said: list[str]) -> ProbeError:
    return ProbeError(
        "timeout", f"the program did not answer in {seconds:g} seconds", "\n".join(said)
    )


def _ended(process: subprocess.Popen[bytes], said: list[str]) -> ProbeError:
    with contextlib.suppress(subprocess.TimeoutExpired):
        process.wait(timeout=_SECONDS_TO_END)
    code = process.returncode
    return ProbeError("ended", f"the program ended with code {code}", "\n".join(said))

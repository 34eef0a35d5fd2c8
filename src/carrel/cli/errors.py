"""Errors at the command line: one line of what happened and what to do next, and the exit code."""

from __future__ import annotations

import errno
import logging
import os
import sys
from collections.abc import Mapping, Sequence

from carrel.cli.command_names import describe_argument, in_commands
from carrel.core.errors import (
    AuditUnavailableError,
    CarrelError,
    InternalError,
    InvalidInputError,
    StorageFullError,
    UnavailableError,
    describe_error,
)
from carrel.doors.errors import INTERRUPTED_EXIT, PIPE_CLOSED_EXIT, error_mapping
from carrel.libraries.text.control_characters import escape_controls

log = logging.getLogger("carrel.cli")

_FULL = {errno.ENOSPC, errno.EDQUOT, errno.EFBIG}
_NEXT_STEPS = {
    errno.ENOENT: "Check that the path is right.",
    errno.EACCES: "Use a path that this account may read and write, or mend its rights.",
    errno.EPERM: "Use a path that this account may read and write, or mend its rights.",
    errno.EROFS: "Nothing can be written there; --home DIR chooses another place for everything.",
    errno.EADDRINUSE: "Stop what listens there, or choose another port with --port.",
    errno.EMFILE: "Raise the limit of open files (ulimit -n), then try again.",
    errno.ENOTDIR: "A part of the path is a file; choose another.",
    errno.EISDIR: "It is a folder where a file is needed.",
}
_SENTENCE_ENDS = frozenset(".!?:;,。！？：；؟।")
_SHOWN_PROBLEMS = 5
_CHECK_PATH = "Check that the path is right and may be read and written."
SHOW_CAUSE = "Run it again with --log-level debug, which shows the cause, and report that"


def report_error(error: BaseException, words: Sequence[str]) -> int:
    """Prints the line for whatever ended a command, and returns its exit code."""
    match _innermost(error):
        case KeyboardInterrupt():
            return INTERRUPTED_EXIT
        case BrokenPipeError():
            abandon_output()
            return PIPE_CLOSED_EXIT
        case CarrelError() as known:
            _print_line(_message(known, words), _next_step(known, words))
            return error_mapping(known).exit_code
        case OSError() as refused:
            abandon_output()
            translated = _translate_os_error(refused)
            _print_line(translated.message, translated.next_step)
            return error_mapping(translated).exit_code
        case unknown:
            return _report_unknown(unknown)


def abandon_output() -> None:
    """Lets what was not read go nowhere, so that the interpreter's end does not fail on it."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except (OSError, ValueError):
            os.dup2(nowhere, stream.fileno())
    os.close(nowhere)


def describe_in_one_line(message: str, next_step: str) -> str:
    """What happened and what to do next, in the words of commands."""
    happened = in_commands(" ".join(message.split())).rstrip()
    if next_step and happened and happened[-1] not in _SENTENCE_ENDS:
        happened += "."
    return f"{happened} {in_commands(' '.join(next_step.split()))}".strip()


def _print_line(message: str, next_step: str) -> None:
    line = escape_controls(describe_in_one_line(message, next_step))
    try:
        print(f"carrel: {line}", file=sys.stderr, flush=True)
    except (OSError, ValueError):
        # There is nobody left to tell; the exit code still says it.
        abandon_output()


def _innermost(error: BaseException) -> BaseException:
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    return error


def _message(error: CarrelError, words: Sequence[str]) -> str:
    if isinstance(error, AuditUnavailableError) and (cause := _find_os_error(error)):
        said = ": ".join(part for part in (_place(cause), cause.strerror) if part)
        return f"{error.message.rstrip('.')} ({said})"
    problems = error.details.get("errors")
    if not isinstance(error, InvalidInputError) or not isinstance(problems, list):
        return error.message
    return "; ".join(_describe_problem(problem, words) for problem in problems[:_SHOWN_PROBLEMS])


def _describe_problem(problem: Mapping[str, str], words: Sequence[str]) -> str:
    """A problem with an argument, which is called as the command's help calls it."""
    field, said = problem["field"], problem["problem"]
    name = describe_argument(words, field.partition(".")[0])
    return name + said.removeprefix(field) if said.startswith(field) else f"{name}: {said}"


def _find_os_error(error: BaseException | None) -> OSError | None:
    while error is not None and not isinstance(error, OSError):
        error = error.__cause__ or error.__context__
    return error


def _next_step(error: CarrelError, words: Sequence[str]) -> str:
    if isinstance(error, InternalError):
        return f"{SHOW_CAUSE} (error id {error.details.get('error_id')})."
    if isinstance(error, AuditUnavailableError):
        return "Make space or mend the rights there; carrel doctor says more."
    if isinstance(error, InvalidInputError) and "errors" in error.details:
        return f"carrel {' '.join(_command_words(words))} --help shows what it takes."
    return error.next_step


def _command_words(words: Sequence[str]) -> Sequence[str]:
    """The words that name the command: the room and what is done there."""
    names = [word for word in words[:2] if not word.startswith("-")]
    return names if words[:1] and words[0] in _WITH_COMMANDS else names[:1]


_WITH_COMMANDS = (
    "papers",
    "references",
    "literature",
    "knowledge",
    "research",
    "jobs",
    "users",
    "tokens",
)


def _translate_os_error(error: OSError) -> CarrelError:
    if error.errno in _FULL:
        return StorageFullError.at(_place(error) or "the output")
    said = error.strerror or describe_error(error)
    place = _place(error)
    return UnavailableError(
        f"{place}: {said}" if place else said,
        next_step=_NEXT_STEPS.get(error.errno or 0, _CHECK_PATH),
    )


def _place(error: OSError) -> str:
    named = error.filename
    return os.fsdecode(named) if isinstance(named, str | bytes) else ""


def _report_unknown(error: BaseException) -> int:
    """A bug: its name for the report, its traceback only where the log is asked for."""
    log.debug("command failed", exc_info=error)
    if type(error).__module__ == "sqlite3":
        unusable = UnavailableError(
            f"A database of the desk cannot be used: {error}",
            next_step="carrel doctor says which one and what to do.",
        )
        _print_line(unusable.message, unusable.next_step)
        return error_mapping(unusable).exit_code
    if isinstance(error, MemoryError):
        _print_line("There is not enough memory", "Close something, or do less at once.")
        return error_mapping(UnavailableError("")).exit_code
    _print_line(f"An unexpected error occurred: {describe_error(error)}", f"{SHOW_CAUSE}.")
    return error_mapping(InternalError("")).exit_code

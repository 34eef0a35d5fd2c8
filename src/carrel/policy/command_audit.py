"""Audit records for the start and end of commands that bypass the gate."""

from __future__ import annotations

import asyncio
import getpass
import logging
import os
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Protocol

from carrel.core.caller import LOCAL_USER, Caller
from carrel.core.clock import Clock
from carrel.core.errors import AuditUnavailableError, CarrelError, InternalError
from carrel.core.process_name import process_name
from carrel.policy.audit import AuditRecord, mask_parameters

log = logging.getLogger("carrel.audit")

OnUnavailable = Callable[[AuditUnavailableError], None]


class BlockingAudit(Protocol):
    """An audit log as a command uses it, outside any event loop."""

    def write_durably_blocking(self, record: AuditRecord) -> None:
        """Returns when the record is stored; raises AuditUnavailableError if it cannot be."""

    def write(self, record: AuditRecord) -> None:
        """Queue a record and return at once."""

    def flush(self) -> bool:
        """Wait for queued records; returns whether all of them were stored."""

    def close(self) -> None: ...


def refuse_unrecorded(error: AuditUnavailableError) -> None:
    """The default: do not run a command whose start cannot be recorded."""
    raise AuditUnavailableError(
        "The audit log cannot be written, so nothing was changed",
        next_step="Free some space or mend the rights of the folder, then run it again; carrel "
        "doctor says which folder it is.",
        details=error.details,
    ) from None


@contextmanager
def record_command(
    audit: BlockingAudit,
    clock: Clock,
    action: str,
    resource: str,
    parameters: Mapping[str, object] | None,
    on_unavailable: OnUnavailable,
    user: Caller | None = None,
) -> Iterator[None]:
    """Records who ran a command, on what, how it ended and how long it took; closes the log.

    Without a `user` for whom it is run, that is the operator, who is else recorded as the client.
    """
    user_id = f"{LOCAL_USER}:{operator_name()}" if user is None else user.user_id
    client_id = None if user is None else user.client_id
    request_id = f"cli-{process_name()}"

    def record(
        phase: str, result: str, code: str | None, duration_ms: float | None, shown: object
    ) -> AuditRecord:
        return AuditRecord(
            clock.now(), request_id, phase, user_id, client_id, "cli", action, resource[:300],
            shown, result, code, duration_ms, "local", f"carrel on {sys.platform}",
        )  # fmt: skip

    began = clock.monotonic()
    result, code = "success", None
    try:
        try:
            audit.write_durably_blocking(
                record("started", "started", None, None, mask_parameters(parameters))
            )
        except AuditUnavailableError as error:
            on_unavailable(error)
            yield
            return
        try:
            yield
        except BaseException as error:
            result, code = _outcome(error)
            raise
        finally:
            spent = round((clock.monotonic() - began) * 1000.0, 3)
            audit.write(record("ended", result, code, spent, None))
            # The work is done or has failed already: a log that broke meanwhile is only reported.
            if not audit.flush():
                log.error(
                    "the end of a command could not be recorded",
                    extra={"action": action, "result": result},
                )
    finally:
        audit.close()


def operator_name() -> str:
    """The account's name, its number if it has none (a container), or `unknown` (Windows)."""
    try:
        return getpass.getuser()
    except (KeyError, ImportError, OSError):
        number = getattr(os, "getuid", None)
        return f"uid-{number()}" if number is not None else "unknown"


def _outcome(error: BaseException) -> tuple[str, str]:
    match error:
        case CarrelError():
            return "failure", error.code
        case KeyboardInterrupt() | asyncio.CancelledError():
            return "error", "cancelled"
        case OSError():
            return "error", "os_error"
        case _:
            return "error", InternalError.code

"""The audit records of commands that change something without passing the gate: one when the
command starts, one when it ends.
"""

from __future__ import annotations

import asyncio
import logging
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager

from carrel.core.caller import LOCAL_USER
from carrel.core.clock import Clock, SystemClock
from carrel.core.errors import AuditUnavailableError, CarrelError, InternalError
from carrel.core.process_name import process_name
from carrel.policy.audit import AuditRecord, NoAudit, mask_parameters
from carrel.settings import Settings
from carrel.stores.audit_queue import QueuedAudit
from carrel.wiring.audit_log import open_audit
from carrel.wiring.operator_name import operator_name

log = logging.getLogger("carrel.audit")

OnUnavailable = Callable[[AuditUnavailableError], None]


def refuse_to_go_on(error: AuditUnavailableError) -> None:
    """The default: a command whose start cannot be recorded changes nothing."""
    raise AuditUnavailableError(
        "The audit log cannot be written, so nothing was changed",
        next_step="Free some space or mend the rights of the folder, then run it again; carrel "
        "doctor says which folder it is.",
        details=error.details,
    ) from None


@contextmanager
def record_command(
    settings: Settings,
    action: str,
    resource: str,
    parameters: Mapping[str, object] | None = None,
    *,
    clock: Clock | None = None,
    on_unavailable: OnUnavailable = refuse_to_go_on,
) -> Iterator[None]:
    """Records who ran a command, what it was about, how it ended and how long it took. Not for use
    on an event loop.
    """
    clock = clock or SystemClock()
    audit = open_audit(settings)
    who, request_id = local_operator(), f"cli-{process_name()}"

    def record(
        phase: str, result: str, code: str | None, duration_ms: float | None, shown: object
    ) -> AuditRecord:
        return AuditRecord(
            clock.now(), request_id, phase, who, None, "cli", action, resource[:300], shown, result,
            code, duration_ms, "local",
            f"carrel on {sys.platform}",
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
            _keep_the_end(audit, record("ended", result, code, spent, None))
    finally:
        if isinstance(audit, QueuedAudit):
            audit.close()


def local_operator() -> str:
    """The operating system's user, as the audit log names whoever works at the command line."""
    return f"{LOCAL_USER}:{operator_name()}"


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


def _keep_the_end(audit: QueuedAudit | NoAudit, record: AuditRecord) -> None:
    """The work is done or has failed already; a log that broke meanwhile can only be reported."""
    audit.write(record)
    if isinstance(audit, QueuedAudit) and not audit.flush():
        log.error(
            "the end of a command could not be recorded",
            extra={"action": record.action, "result": record.result},
        )

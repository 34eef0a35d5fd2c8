"""The log of a command: what its one line of error says already is left out of it."""

from __future__ import annotations

import logging

from carrel.doors.logs import configure_logs
from carrel.settings import Settings

# A person reads the error itself; the audit log keeps the call, and --log-level shows both.
_SAID_BY_THE_ERROR = frozenset({"carrel.gate", "carrel.audit", "psycopg.pool"})


def configure_command_logs(level: str | None, settings: Settings) -> None:
    """Logs of the level that was asked for; without one, only warnings that nothing else says."""
    if level is None:
        configure_logs("warning", settings.log.format, without=_SAID_BY_THE_ERROR)
    else:
        configure_logs(level, settings.log.format)


def silence_unconfigured_logs() -> None:
    """The same for commands that configure no log, whose warnings Python prints as they are."""
    if logging.lastResort is not None:
        logging.lastResort.addFilter(_is_worth_showing)


def _is_worth_showing(record: logging.LogRecord) -> bool:
    return record.name not in _SAID_BY_THE_ERROR

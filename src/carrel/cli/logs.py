"""The log of a command: what its one line of error says already is left out of it."""

from __future__ import annotations

from carrel.doors.logs import configure_logs
from carrel.settings import Settings

# A person reads the error itself; the audit log keeps the call, and --log-level shows both.
_SAID_BY_THE_ERROR = frozenset({"carrel.gate"})


def configure_command_logs(level: str | None, settings: Settings) -> None:
    """Logs of the level that was asked for; without one, only warnings that nothing else says."""
    if level is None:
        configure_logs("warning", settings.log.format, without=_SAID_BY_THE_ERROR)
    else:
        configure_logs(level, settings.log.format)

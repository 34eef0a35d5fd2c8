"""Logs as events with fields on standard error, for people or for machines."""

from __future__ import annotations

import logging
import sys
import traceback
from datetime import UTC, datetime

import orjson

from carrel.core.errors import describe_error
from carrel.core.secrets import mask_plain_secrets, mask_secrets

_OWN_FIELDS = frozenset(vars(logging.makeLogRecord({}))) | {
    "message",
    "asctime",
    "taskName",
    "color_message",
}

# Loggers that tell of every request.
_NOISY = (
    *("uvicorn", "httpx2", "httpcore2", "httpx", "httpcore", "mcp", "fastmcp"),
    "elastic_transport",
)


def configure_logs(level: str, form: str, without: frozenset[str] = frozenset()) -> None:
    """Sends every log record to standard error in one form; `without` those of named loggers."""
    handler = logging.StreamHandler(sys.stderr)
    handler.addFilter(lambda record: record.name not in without)
    handler.setFormatter(_JsonForm() if form == "json" else _TextForm())
    root = logging.getLogger()
    root.handlers[:] = [handler]
    root.setLevel(level.upper())
    for noisy in _NOISY:
        logging.getLogger(noisy).setLevel("WARNING")


def _fields(record: logging.LogRecord) -> dict[str, object]:
    return {name: value for name, value in vars(record).items() if name not in _OWN_FIELDS}


def _traceback(error: BaseException) -> str:
    """The traceback of every exception in the chain, with messages that quote no foreign text."""
    chain: list[BaseException] = []
    current: BaseException | None = error
    while current is not None and current not in chain:
        chain.append(current)
        current = current.__cause__ or (
            None if current.__suppress_context__ else current.__context__
        )
    parts = [
        f"{''.join(traceback.format_tb(one.__traceback__))}{describe_error(one)}"
        for one in reversed(chain)
    ]
    return "\nwhich led to:\n".join(parts)


def _mask_line(record: logging.LogRecord, line: str) -> str:
    """Mask unknown secrets as well in warnings and errors, which may quote foreign text."""
    return (
        mask_secrets(line)
        if record.levelno >= logging.WARNING or record.exc_info
        else mask_plain_secrets(line)
    )


class _TextForm(logging.Formatter):
    def format(self, record: logging.LogRecord) -> str:
        when = datetime.fromtimestamp(record.created, UTC).strftime("%H:%M:%S")
        fields = "".join(f" {name}={value}" for name, value in _fields(record).items())
        line = f"{when} {record.levelname.lower():7} {record.name}: {record.getMessage()}{fields}"
        whole = (
            f"{line}\n{_traceback(record.exc_info[1])}"
            if record.exc_info and record.exc_info[1]
            else line
        )
        return _mask_line(record, whole)


class _JsonForm(logging.Formatter):
    """One JSON object a line, with the field names that Cloud Run and its like understand."""

    def format(self, record: logging.LogRecord) -> str:
        facts: dict[str, object] = {
            "time": datetime.fromtimestamp(record.created, UTC).isoformat(),
            "severity": record.levelname,
            "logger": record.name,
            "message": record.getMessage(),
            **_fields(record),
        }
        if record.exc_info and record.exc_info[1]:
            facts["exception"] = _traceback(record.exc_info[1])
        return _mask_line(record, orjson.dumps(facts, default=str).decode())

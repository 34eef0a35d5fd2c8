"""Logs as events with fields on standard error, for people or for machines."""

from __future__ import annotations

import logging
import sys
from datetime import UTC, datetime

import orjson

_OWN_FIELDS = frozenset(vars(logging.makeLogRecord({}))) | {"message", "asctime", "taskName", "color_message"}


def configure_logs(level: str, form: str) -> None:
    """Sends every log record to standard error in one form."""
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(_JsonForm() if form == "json" else _TextForm())
    root = logging.getLogger()
    root.handlers[:] = [handler]
    root.setLevel(level.upper())
    for noisy in ("uvicorn", "httpx2", "httpcore2", "httpx", "httpcore", "mcp", "fastmcp"):
        logging.getLogger(noisy).setLevel("WARNING")


def _fields(record: logging.LogRecord) -> dict[str, object]:
    return {name: value for name, value in vars(record).items() if name not in _OWN_FIELDS}


class _TextForm(logging.Formatter):
    def format(self, record: logging.LogRecord) -> str:
        when = datetime.fromtimestamp(record.created, UTC).strftime("%H:%M:%S")
        fields = "".join(f" {name}={value}" for name, value in _fields(record).items())
        line = f"{when} {record.levelname.lower():7} {record.name}: {record.getMessage()}{fields}"
        return f"{line}\n{self.formatException(record.exc_info)}" if record.exc_info else line


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
        if record.exc_info:
            facts["exception"] = self.formatException(record.exc_info)
        return orjson.dumps(facts, default=str).decode()

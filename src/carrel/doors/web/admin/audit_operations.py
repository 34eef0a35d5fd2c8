"""The audit log for administrators: found, verified and exported."""

from __future__ import annotations

import asyncio
import io
from collections.abc import AsyncIterator, Iterator
from typing import Literal

import orjson
from pydantic import Field

from carrel.core.caller import Call
from carrel.core.clock import Clock
from carrel.core.decorators import operation
from carrel.core.errors import UnavailableError
from carrel.core.operation import Question
from carrel.doors.web.admin.callers import ADMIN_SCOPES, READ_COST
from carrel.doors.web.admin.models import AuditCall, AuditCalls, AuditCheck, StreamedFile
from carrel.doors.web.admin.ports import AuditLogs
from carrel.doors.web.admin.questions import EmptyQuestion
from carrel.policy.audit_search import (
    COLUMNS,
    AuditFilter,
    Row,
    filter_lines,
    find_calls,
    write_csv,
)
from carrel.policy.audit_verification import AuditReader, newest_head, verify_log

_MOST_CALLS = 200
# Reading 2 GiB of lines, which is what a log keeps by default.
_VERIFY_SECONDS = 600.0
_ROWS_AT_ONCE = 500
_LONGEST_PARAMETERS = 4_000


class AuditQuestion(Question):
    """Which calls; times are ISO 8601 in UTC, and may be cut off, such as 2026-07-28."""

    user: str | None = Field(default=None, max_length=300)
    action: str | None = Field(default=None, max_length=200)
    since: str | None = Field(default=None, max_length=40)
    until: str | None = Field(default=None, max_length=40)
    is_refused: bool = False
    error_code: str | None = Field(default=None, max_length=100)

    def to_filter(self) -> AuditFilter:
        return AuditFilter(
            user=self.user or None,
            action=self.action or None,
            since=self.since or None,
            until=self.until or None,
            is_refused=self.is_refused,
            error_code=self.error_code or None,
        )


class FindCalls(AuditQuestion):
    limit: int = Field(default=50, ge=1, le=_MOST_CALLS)
    cursor: str | None = Field(default=None, max_length=200)


class ExportCalls(AuditQuestion):
    format: Literal["jsonl", "csv"] = "jsonl"


class AuditOperations:
    """Reads the log off the event loop, one verification at a time."""

    def __init__(self, logs: AuditLogs, clock: Clock) -> None:
        self._logs = logs
        self._clock = clock
        self._verifying = asyncio.Lock()

    @operation(
        title="Find calls",
        description="Calls of the audit log, newest first, by user, action, time and result.",
        scopes=ADMIN_SCOPES,
        cost=READ_COST,
    )
    async def find_audit_calls(self, question: FindCalls, call: Call) -> AuditCalls:
        page = await asyncio.to_thread(
            find_calls,
            self._logs.open(),
            question.to_filter(),
            question.limit,
            question.cursor or None,
        )
        return AuditCalls(
            calls=[_describe_call(row) for row in page.calls],
            cursor=page.cursor or "",
            lines_read=page.lines_read,
            reached=page.reached,
        )

    @operation(
        title="Verify the audit log",
        description="Whether no line was removed, changed or put in.",
        scopes=ADMIN_SCOPES,
        timeout_seconds=_VERIFY_SECONDS,
        cost=5.0,
    )
    async def verify_audit(self, question: EmptyQuestion, call: Call) -> AuditCheck:
        reader = self._logs.open()
        async with self._verifying:
            began = self._clock.monotonic()
            try:
                found, head = await asyncio.to_thread(_verify, reader)
            except OSError as error:
                raise UnavailableError(
                    f"The audit log cannot be read: {error.strerror or error}",
                    next_step="Look at the rights of its folder.",
                ) from error
        return found.model_copy(
            update={
                "head": head or "",
                "took_seconds": round(self._clock.monotonic() - began, 3),
            }
        )

    @operation(
        title="Export the audit log",
        description="The lines that fit, oldest first, as JSON lines or as a table.",
        scopes=ADMIN_SCOPES,
        cost=5.0,
    )
    async def export_audit(self, question: ExportCalls, call: Call) -> StreamedFile:
        rows = filter_lines(self._logs.open().lines(), question.to_filter())
        is_csv = question.format == "csv"
        pieces = _csv_pieces(rows) if is_csv else _json_pieces(rows)
        return StreamedFile(
            name=f"carrel-audit-{self._clock.now():%Y%m%dT%H%M%SZ}.{question.format}",
            media_type="text/csv; charset=utf-8" if is_csv else "application/x-ndjson",
            pieces=_read_in_thread(pieces),
        )


def _verify(reader: AuditReader) -> tuple[AuditCheck, str | None]:
    found = verify_log(reader)
    check = AuditCheck(
        is_whole=not found.problems,
        lines=found.lines,
        chains=found.chains,
        problems=found.problems,
        open_ends=found.open_ends,
        notices=found.notices,
        torn_lines=found.torn_lines,
        is_anchored=found.is_anchored,
        took_seconds=0.0,
    )
    return check, newest_head(reader.ledger())


def _describe_call(row: Row) -> AuditCall:
    """A row as text: whatever others wrote into it stays text."""

    def text(name: str, longest: int = 500) -> str:
        value = row.get(name)
        return "" if value is None else str(value)[:longest]

    parameters, duration = row.get("parameters"), row.get("duration_ms")
    return AuditCall(
        timestamp=text("timestamp"),
        phase=text("phase"),
        user_id=text("user_id"),
        client_id=text("client_id"),
        door=text("door"),
        action=text("action"),
        resource=text("resource"),
        result=text("result"),
        error_code=text("error_code"),
        duration_ms=float(duration) if isinstance(duration, int | float) else None,
        ip_address=text("ip_address"),
        user_agent=text("user_agent"),
        request_id=text("request_id"),
        parameters=orjson.dumps(parameters, option=orjson.OPT_INDENT_2).decode()[
            :_LONGEST_PARAMETERS
        ]
        if parameters
        else "",
    )


def _json_pieces(rows: Iterator[Row]) -> Iterator[bytes]:
    batch: list[bytes] = []
    for row in rows:
        batch.append(orjson.dumps(row) + b"\n")
        if len(batch) >= _ROWS_AT_ONCE:
            yield b"".join(batch)
            batch.clear()
    yield b"".join(batch)


def _csv_pieces(rows: Iterator[Row]) -> Iterator[bytes]:
    yield (",".join(COLUMNS) + "\r\n").encode()
    batch: list[Row] = []
    for row in rows:
        batch.append(row)
        if len(batch) >= _ROWS_AT_ONCE:
            yield _csv_rows(batch)
            batch.clear()
    yield _csv_rows(batch)


def _csv_rows(rows: list[Row]) -> bytes:
    target = io.StringIO()
    write_csv(rows, target, has_header=False)
    return target.getvalue().encode()


async def _read_in_thread(pieces: Iterator[bytes]) -> AsyncIterator[bytes]:
    """The pieces, each made in a thread."""
    while (piece := await asyncio.to_thread(next, pieces, None)) is not None:
        if piece:
            yield piece

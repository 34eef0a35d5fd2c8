"""Finds calls in the audit log: filters, calls joined from their start and end, and tables."""

from __future__ import annotations

import csv
import math
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, TextIO

import orjson

from carrel.core.caller import address_group
from carrel.policy.audit import REFUSED, SUMMARY_ACTION
from carrel.policy.audit_verification import AuditReader

Row = dict[str, Any]

COLUMNS = (
    "timestamp", "phase", "user_id", "client_id", "door", "action", "resource", "result",
    "error_code", "duration_ms",
    "ip_address", "user_agent", "request_id", "parameters", "chain", "sequence",
)  # fmt: skip
# Lines about the log itself, which say nothing of what was done.
PHASES_OF_LOG = frozenset({"opened", "closed", "anchored", "rotated"})
SUCCEEDED = frozenset({"success", "started"})
# Lines that are read for one page (half a second), for the refusals of a day (0.7 seconds), and
# again before a page, so that a call's end is known when its start comes.
MOST_LINES = 50_000
_MOST_REFUSAL_LINES = 200_000
_OVERLAP_LINES = 2_000
_MOST_REFUSED = 200
_MOST_ACTIONS = 8


@dataclass(frozen=True, slots=True)
class AuditFilter:
    """Which calls: of a user, with an action that begins so, within times, refused or failed."""

    user: str | None = None
    action: str | None = None
    since: str | None = None
    until: str | None = None
    is_refused: bool = False
    error_code: str | None = None

    def fits(self, row: Mapping[str, Any]) -> bool:
        at = str(row.get("timestamp", ""))
        return (
            (self.user is None or row.get("user_id") == self.user)
            and (self.action is None or str(row.get("action", "")).startswith(self.action))
            and (self.since is None or at >= self.since)
            and (self.until is None or at < self.until)
            and (not self.is_refused or row.get("result") not in SUCCEEDED)
            and (self.error_code is None or row.get("error_code") == self.error_code)
        )


@dataclass(slots=True)
class AuditPage:
    """Calls newest first; `cursor` leads on, and is None at the log's beginning."""

    calls: list[Row] = field(default_factory=list)
    cursor: str | None = None
    lines_read: int = 0
    # The time of the oldest line that was read.
    reached: str = ""


def parse_line(line: bytes) -> Row | None:
    """The line as a row; None for one that was cut off while being written."""
    try:
        row = orjson.loads(line)
    except orjson.JSONDecodeError:
        return None
    return row if isinstance(row, dict) else None


def filter_lines(lines: Iterable[bytes], chosen: AuditFilter) -> Iterator[Row]:
    """The rows that fit, in the order of the lines."""
    for line in lines:
        row = parse_line(line)
        if row is not None and chosen.fits(row):
            yield row


def join_calls(rows: Iterable[Row]) -> list[Row]:
    """The start and the end of a call as one row, with the time of its start; oldest first."""
    calls: list[Row] = []
    begun: dict[tuple[object, object], list[Row]] = {}
    for row in rows:
        same = begun.get(_call_key(row), []) if row.get("phase") == "ended" else []
        if same:
            start = min(same, key=lambda each: _distance(each, row))
            same[:] = [each for each in same if each is not start]
            start.update(_join(start, row))
            continue
        call = dict(row)
        calls.append(call)
        if row.get("phase") == "started":
            begun.setdefault(_call_key(row), []).append(call)
    return calls


def find_calls(
    reader: AuditReader,
    chosen: AuditFilter,
    limit: int,
    cursor: str | None = None,
    most_lines: int = MOST_LINES,
) -> AuditPage:
    """A page of calls, newest first, read from the end of the log; raises InvalidInputError."""
    overlap, _, last = (cursor or "").partition(".")
    page, ended, places = AuditPage(), dict[tuple[object, object], list[Row]](), list[str]()
    is_ahead = bool(last)
    for place, line in reader.newest_lines(overlap or None):
        page.lines_read += not is_ahead
        places.append(place)
        row = parse_line(line)
        if row is not None and row.get("phase") == "ended":
            ended.setdefault(_call_key(row), []).append(row)
        elif row is not None and row.get("phase") not in PHASES_OF_LOG:
            is_start = row.get("phase") == "started"
            end = _take_end(row, ended.get(_call_key(row), [])) if is_start else None
            call = row if end is None else _join(row, end)
            if not is_ahead and chosen.fits(call):
                page.calls.append(call)
        page.reached = page.reached if row is None else str(row.get("timestamp", page.reached))
        is_ahead = is_ahead and place != last
        is_past = chosen.since is not None and page.reached < chosen.since
        if is_past:
            return page
        if len(page.calls) >= limit or page.lines_read >= most_lines:
            has_enough = len(places) > _OVERLAP_LINES
            page.cursor = f"{places[-_OVERLAP_LINES] if has_enough else overlap}.{place}"
            return page
    return page


@dataclass(slots=True)
class RefusalCount:
    """How often one caller was refused for one reason, and when last."""

    user_id: str
    address: str
    error_code: str
    count: int = 0
    last_at: str = ""
    actions: list[str] = field(default_factory=list)


def count_refusals(
    reader: AuditReader, since: str, most_lines: int = _MOST_REFUSAL_LINES
) -> tuple[str, list[RefusalCount]]:
    """Refused callers, those refused most often first, and since when they were counted.

    That is later than `since` where the log has more lines than are read. A line that sums up
    refusals counts as all of them.
    """
    found: dict[tuple[str, str, str], RefusalCount] = {}
    for number, (_, line) in enumerate(reader.newest_lines()):
        row = parse_line(line) if b'"refused"' in line or not number % 1000 else None
        if row is not None and str(row.get("timestamp", "")) < since:
            break
        if number >= most_lines and row is not None:
            since = str(row.get("timestamp", since))
            break
        if row is None or row.get("phase") != REFUSED:
            continue
        user, code = str(row.get("user_id", ""))[:200], str(row.get("error_code", ""))[:100]
        address = address_group(str(row.get("ip_address", "")))[:60]
        count = found.setdefault((user, address, code), RefusalCount(user, address, code))
        is_sum = row.get("action") == SUMMARY_ACTION
        facts = row.get("parameters") if is_sum else None
        summed = facts if isinstance(facts, dict) else {}
        count.count += int(summed.get("count", 1))
        count.last_at = max(count.last_at, str(row.get("timestamp", "")))
        actions = summed.get("actions", ()) if is_sum else (row.get("action", ""),)
        for action in actions:
            if str(action) not in count.actions and len(count.actions) < _MOST_ACTIONS:
                count.actions.append(str(action)[:200])
    counts = sorted(found.values(), key=lambda each: (-each.count, each.last_at))
    return since, counts[:_MOST_REFUSED]


def write_csv(rows: Iterable[Row], target: TextIO, *, has_header: bool = True) -> None:
    """The rows as a table that a spreadsheet opens."""
    table = csv.DictWriter(target, COLUMNS, extrasaction="ignore")
    if has_header:
        table.writeheader()
    for row in rows:
        table.writerow({name: _cell(row.get(name, "")) for name in COLUMNS})


def _call_key(row: Mapping[str, Any]) -> tuple[object, object]:
    return row.get("request_id"), row.get("action")


def _take_end(start: Row, ends: list[Row]) -> Row | None:
    """The end of the call, taken out of those of its request with its action.

    A page asks an operation several times at once: of equal calls, the one that began then.
    """
    end = min(ends, key=lambda each: _distance(start, each), default=None)
    ends[:] = [each for each in ends if each is not end]
    return end


def _distance(start: Row, end: Row) -> float:
    """Seconds between a start and the time at which the call of an end began."""
    try:
        began = datetime.fromisoformat(str(end["timestamp"])).timestamp()
        began -= float(end.get("duration_ms", 0)) / 1000
        return abs(began - datetime.fromisoformat(str(start["timestamp"])).timestamp())
    except (KeyError, TypeError, ValueError):
        return math.inf


def _join(start: Row, end: Row) -> Row:
    return {**end, **start, "result": end.get("result"), "phase": "ended"}


def _cell(value: object) -> object:
    """A value a spreadsheet cannot mistake for a formula."""
    text = orjson.dumps(value).decode() if isinstance(value, dict | list) else value
    return f"'{text}" if isinstance(text, str) and text[:1] in {"=", "+", "-", "@", "\t"} else text

"""`carrel audit`: list records, verify the log, and export it for other programs."""

from __future__ import annotations

import argparse
import sys
from collections import deque
from collections.abc import Iterable
from dataclasses import asdict
from pathlib import Path
from typing import Any

import orjson

from carrel.cli.json_output import add_json_option, show_json
from carrel.cli.options import add_home_options, home_settings
from carrel.cli.output import show, show_page
from carrel.cli.page import Column, Inline, Note, Page, Span, Table, dim, join_inline
from carrel.cli.parsers import CommandParser
from carrel.cli.value_formats import count_things, format_exact_time, is_for_people
from carrel.core.errors import NotFoundError
from carrel.policy.audit_search import (
    PHASES_OF_LOG,
    SUCCEEDED,
    AuditFilter,
    filter_lines,
    join_calls,
    write_csv,
)
from carrel.policy.audit_verification import Verification, newest_head, verify_log
from carrel.settings import Settings
from carrel.wiring.audit import open_audit_reader

_LONGEST_PARAMETERS = 80


def run(words: list[str]) -> int:
    parser = CommandParser(prog="carrel audit", description="The audit log.")
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    show = commands.add_parser("list", help="show the last calls")
    show.add_argument("--limit", type=int, default=50, help="how many lines (50)")
    export = commands.add_parser("export", help="write the log to standard output")
    export.add_argument("--format", choices=["jsonl", "csv"], default="jsonl")
    for command in (show, export):
        command.add_argument("--user", help="only this user")
        command.add_argument(
            "--action", help="only actions that begin so, such as tool:search_papers or oauth:"
        )
        command.add_argument(
            "--since", help="only from this time on, such as 2026-07-28 or 2026-07-28T12:00"
        )
        command.add_argument(
            "--refused", action="store_true", help="only what was refused or failed"
        )
    check = commands.add_parser("verify", help="check that no line was removed, changed or put in")
    check.add_argument(
        "--head",
        action="append",
        default=[],
        metavar="LINE|FILE",
        help="also against what carrel audit head printed before",
    )
    commands.add_parser("head", help="print the newest anchor in one line, to be kept elsewhere")
    for name, command in commands.choices.items():
        add_home_options(command)
        if name != "export":
            add_json_option(command)
    options = parser.parse_args(words[1:])
    settings = home_settings(options)
    match options.command:
        case "verify":
            heads = tuple(line for head in options.head for line in _heads(head))
            found = verify_log(open_audit_reader(settings), heads)
            return _show_json_verification(found) if options.json else _show_verification(found)
        case "head":
            return _head(settings, is_json=options.json)
        case "export":
            rows = filter_lines(open_audit_reader(settings).lines(), _filter(options))
            return _export(rows, options.format)
        case _:
            rows = filter_lines(open_audit_reader(settings).lines(), _filter(options))
            limit = max(1, options.limit)
            if options.json:
                show_json(list(deque(rows, maxlen=limit)))
                return 0
            return _list(rows, limit)


def _head(settings: Settings, *, is_json: bool) -> int:
    line = newest_head(open_audit_reader(settings).ledger())
    if line is None:
        raise NotFoundError(
            "Anchor",
            "audit log",
            next_step="There is one as soon as something is written to the log.",
        )
    if is_json:
        show_json({"head": line})
    else:
        show(line)
    return 0


def _heads(given: str) -> list[str]:
    """One head given literally, or those in a file, one per line."""
    file = Path(given)
    return (
        [line for line in file.read_text(encoding="utf-8").splitlines() if line.strip()]
        if file.is_file()
        else [given]
    )


def _show_json_verification(found: Verification) -> int:
    show_json({"is_whole": not found.problems, **asdict(found)})
    return 1 if found.problems else 0


def _show_verification(found: Verification) -> int:
    for problem in found.problems:
        show(f"BROKEN  {problem}")
    for name in found.open_ends:
        show(f"open    chain {name} has no closing line: its process runs, or was stopped hard")
    for notice in found.notices:
        show(f"note    {notice}")
    if not found.is_anchored and found.lines:
        show(
            "note    there are no anchors: a cut tail, a deleted file or a history made anew "
            "would not show"
        )
    if not found.is_anchored and not found.lines and not found.problems:
        show(
            "There is no log here and no anchor: nothing was written yet, or all of it was "
            "removed. Only a head kept elsewhere tells."
        )
        return 0
    if found.torn_lines:
        lines = count_things(found.torn_lines, "line")
        show(f"torn    {lines} cut off while being written")
    show(
        f"{count_things(found.lines, 'line')} in {count_things(found.chains, 'chain')}: "
        f"{'NOT whole' if found.problems else 'whole'}"
    )
    return 1 if found.problems else 0


def _filter(options: argparse.Namespace) -> AuditFilter:
    return AuditFilter(
        user=options.user,
        action=options.action,
        since=options.since,
        is_refused=options.refused,
    )


def _list(rows: Iterable[dict[str, Any]], limit: int) -> int:
    """For people the last calls, a row each; elsewhere the last lines as they are."""
    if not is_for_people():
        for row in deque(rows, maxlen=limit):
            cells = _line_cells(row)
            show(" ".join(cells if cells[-1] else cells[:-1]))
        return 0
    lines = deque((row for row in rows if row.get("phase") not in PHASES_OF_LOG), maxlen=2 * limit)
    calls = join_calls(lines)[-limit:]
    if not calls:
        show_page(Page((Note("No record fits."),)))
        return 0
    columns = (Column("time", whole=True), "user", "action", "result")
    show_page(Page((Table(columns, [_call_cells(row) for row in calls]),)))
    return 0


def _call_cells(row: dict[str, Any]) -> tuple[Inline, ...]:
    result = str(row.get("result", ""))
    has_failed = result not in SUCCEEDED
    told = f"{row['error_code']}" if "error_code" in row else result
    spent = f"{row['duration_ms']:,.0f} ms" if "duration_ms" in row else ""
    parameters = _parameters(row)
    is_long = len(parameters) > _LONGEST_PARAMETERS
    shown = f"{parameters[:_LONGEST_PARAMETERS]}…" if is_long else parameters
    return (
        format_exact_time(str(row.get("timestamp", ""))),
        f"{row.get('user_id', '')} ({row.get('door', '')})",
        join_inline((str(row.get("action", "")), (dim(shown),)), " "),
        join_inline(((Span(told, "bad"),) if has_failed else told, spent), ", "),
    )


def _line_cells(row: dict[str, Any]) -> tuple[str, ...]:
    code = f" {row['error_code']}" if "error_code" in row else ""
    spent = f" {row['duration_ms']:.1f} ms" if "duration_ms" in row else ""
    return (
        row.get("timestamp", "")[:23],
        f"{row.get('phase', ''):8}",
        *(str(row.get(name, "")) for name in ("user_id", "door", "action")),
        f"{row.get('result', '')}{code}{spent}",
        row.get("ip_address", ""),
        _parameters(row),
    )


def _parameters(row: dict[str, Any]) -> str:
    return orjson.dumps(row["parameters"]).decode() if row.get("parameters") else ""


def _export(rows: Iterable[dict[str, Any]], form: str) -> int:
    if form == "jsonl":
        for row in rows:
            show(orjson.dumps(row).decode())
        return 0
    write_csv(rows, sys.stdout)
    return 0

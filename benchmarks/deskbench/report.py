"""A log as a table by kind: success, calls and tokens."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

from benchmarks.deskbench.runs import read_records


def write_report(logs: Iterable[Path]) -> str:
    """Tables of the logs taken together, in Markdown."""
    rows = [row for log in logs for row in read_records(log)]
    if not rows:
        return "No jobs in these logs.\n"
    lines = [
        "| kind | jobs | done | calls a job | errors a job | tokens in a job | tokens out a job |",
        "|---|---|---|---|---|---|---|",
    ]
    kinds = dict.fromkeys(row["kind"] for row in rows)
    lines += [_line(kind, [row for row in rows if row["kind"] == kind]) for kind in kinds]
    for split in ("shown", "held_out"):
        part = [row for row in rows if row["split"] == split]
        if part:
            lines.append(_line(f"all {split.replace('_', ' ')}", part))
    lines.append(_line("all", rows))
    sources = ", ".join(sorted({row["tokens_from"] for row in rows}))
    total = sum(row["tokens_in"] + row["tokens_out"] for row in rows)
    lines += ["", f"Tokens from: {sources}. In all {total:,} tokens."]
    failed = [row for row in rows if not row["done"]]
    if failed:
        lines += ["", "Not done:"]
        lines += [f"- {row['job']}: {row['why']}" for row in failed]
    return "\n".join(lines) + "\n"


def _line(name: str, rows: list[dict[str, Any]]) -> str:
    done = sum(row["done"] for row in rows)
    cells = [name, str(len(rows)), f"{done} ({100 * done / len(rows):.0f} %)"]
    for field, digits in (("call_count", 1), ("error_count", 1), ("tokens_in", 0)):
        cells += [f"{sum(row[field] for row in rows) / len(rows):,.{digits}f}"]
    cells += [f"{sum(row['tokens_out'] for row in rows) / len(rows):,.0f}"]
    return "| " + " | ".join(cells) + " |"

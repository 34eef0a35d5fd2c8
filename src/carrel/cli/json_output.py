"""`--json` of commands that are no operation: the option, and how an answer is printed."""

from __future__ import annotations

import argparse
from datetime import UTC, datetime

import orjson

from carrel.cli.output import show


def add_json_option(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--json", action="store_true", help="print the answer as JSON")


def show_json(answer: object) -> None:
    """Print records as JSON; paths are texts, times ISO 8601."""
    show(orjson.dumps(answer, default=str, option=orjson.OPT_INDENT_2).decode())


def iso_time(moment: float | None) -> str | None:
    """Seconds since 1970 as ISO 8601 in UTC."""
    if moment is None:
        return None
    return datetime.fromtimestamp(moment, UTC).isoformat(timespec="seconds")

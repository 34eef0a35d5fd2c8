"""`carrel users leave`: what somebody leaves is exported, handed over or erased."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from carrel.cli.json_output import show_json
from carrel.cli.output import say_next_step, show, show_page
from carrel.cli.page import Column, Page, Table
from carrel.core.clock import SystemClock
from carrel.core.errors import ConflictError, InvalidInputError
from carrel.settings import Settings

if TYPE_CHECKING:
    from carrel.wiring.leavers import Leaving


def add_leave_options(parser: argparse.ArgumentParser) -> None:
    """The options of `carrel users leave`."""
    parser.add_argument("name")
    parser.add_argument(
        "--export", type=Path, metavar="FILE", help="write all of it, but secrets, into a tar.gz"
    )
    chosen = parser.add_mutually_exclusive_group()
    chosen.add_argument(
        "--hand-over-to",
        metavar="OTHER",
        help="give notes, library, projects and alerts to somebody else, and end the account",
    )
    chosen.add_argument(
        "--erase", action="store_true", help="remove all of it, and end the account"
    )
    parser.add_argument(
        "--yes", action="store_true", help="do it; without this everything is only counted"
    )


async def run_leave(settings: Settings, options: argparse.Namespace) -> int:
    """Counts what somebody leaves, and does what was asked for."""
    # It opens every store there is, which no other command of users needs.
    from carrel.wiring.leavers import open_leaving

    async with open_leaving(settings, options.name, SystemClock()) as leaving:
        counts = await leaving.count()
        await leaving.refuse_nobody(counts)
        if options.hand_over_to:
            await leaving.refuse_other(options.hand_over_to)
        if options.export is not None and options.export.exists():
            raise ConflictError(
                f"{options.export} exists already", next_step="Choose another name."
            )
        ends = bool(options.hand_over_to or options.erase)
        is_done = options.yes or (options.export is not None and not ends)
        if not options.json:
            _show_counts(counts)
            show(leaving.audit_says(), file=sys.stderr)
        if is_done:
            await _do(leaving, options)
        if options.json:
            show_json(
                {
                    "name": options.name,
                    "counts": counts,
                    "is_done": is_done and ends,
                    "export": options.export if is_done else None,
                    "audit": leaving.audit_says(),
                }
            )
        elif not is_done:
            _say_how(options, ends=ends)
        else:
            show(_describe(options))
    return 0


def check_leave(options: argparse.Namespace) -> bool:
    """Whether something will be changed, which is recorded. Raises InvalidInputError."""
    ends = bool(options.hand_over_to or options.erase)
    if options.yes and not ends and options.export is None:
        raise InvalidInputError(
            "Say what is to become of it",
            next_step="--export FILE, --hand-over-to OTHER or --erase.",
        )
    return bool(options.yes or options.export is not None)


async def _do(leaving: Leaving, options: argparse.Namespace) -> None:
    if options.export is not None:
        await leaving.export(options.export)
    if options.hand_over_to:
        await leaving.hand_over(options.hand_over_to)
    elif options.erase:
        await leaving.erase()


def _show_counts(counts: dict[str, int]) -> None:
    rows = [(what, f"{count:,}") for what, count in counts.items() if count]
    show_page(Page((Table((Column("what", whole=True), "how many"), rows),)))


def _say_how(options: argparse.Namespace, *, ends: bool) -> None:
    if ends:
        say_next_step("Nothing was changed. Run it again with --yes; there is no way back.")
    else:
        say_next_step(
            "Nothing was changed. --export FILE writes it down; --hand-over-to OTHER --yes or "
            "--erase --yes ends the account."
        )


def _describe(options: argparse.Namespace) -> str:
    done = []
    if options.export is not None:
        done.append(f"exported to {options.export}")
    if options.hand_over_to:
        done.append(f"handed over to {options.hand_over_to}")
    elif options.erase:
        done.append("erased")
    ends = bool(options.hand_over_to or options.erase)
    end = f" {options.name} is no user any more." if ends else ""
    return f"All of it is {' and '.join(done)}.{end}"

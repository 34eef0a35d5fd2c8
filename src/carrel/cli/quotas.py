"""`carrel quotas`: what people and groups have used today, and what they may use."""

from __future__ import annotations

import argparse
import asyncio

from carrel.cli.json_output import add_json_option, show_json
from carrel.cli.options import add_home_options, home_settings
from carrel.cli.output import say_next_step, show, show_page
from carrel.cli.page import Column, Note, Page, Table
from carrel.cli.parsers import CommandParser
from carrel.core.clock import SystemClock
from carrel.core.errors import InvalidInputError
from carrel.policy.quotas import Allotment, Share, Subject
from carrel.settings import Settings
from carrel.wiring.audit import record_command
from carrel.wiring.quotas import count_quotas, open_groups

_NEXT_STEP = "Servers count where quotas.enabled is true, or [quotas] names a quota."
_MOST = 1e12
_LONGEST_NAME = 255


def run(words: list[str]) -> int:
    parser = CommandParser(
        prog="carrel quotas",
        description="What people and groups have used today (UTC), and what they may use in a day.",
    )
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    commands.add_parser("list", help="everybody who used something today or has a quota of theirs")
    shown = commands.add_parser("show", help="one person with their groups")
    shown.add_argument("name")
    change = commands.add_parser("set", help="what one person, or a group together, may use a day")
    _add_subject(change)
    change.add_argument("--calls", type=_amount, metavar="N", help="calls a day; without, no limit")
    change.add_argument(
        "--cost", type=_amount, metavar="N", help="cost units a day; without, no limit"
    )
    clear = commands.add_parser("clear", help="go back to what the settings say")
    _add_subject(clear)
    for command in commands.choices.values():
        add_home_options(command)
        add_json_option(command)
    options = parser.parse_args(words[1:])
    settings = home_settings(options)
    if options.command in {"list", "show"}:
        return asyncio.run(_run(settings, options))
    facts = {"calls": options.calls, "cost": options.cost} if options.command == "set" else None
    subject = _subject(options)
    with record_command(settings, f"quotas:{options.command}", f"quota:{subject.key}", facts):
        return asyncio.run(_run(settings, options))


def _add_subject(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("name")
    parser.add_argument("--group", action="store_true", help="the name is that of a group")


def _amount(text: str) -> float:
    value = float(text)
    if not 0 <= value <= _MOST:
        raise argparse.ArgumentTypeError(f"a number from 0 to {_MOST:g}")
    return value


def _subject(options: argparse.Namespace) -> Subject:
    name = options.name
    if not name or len(name) > _LONGEST_NAME or not name.isprintable():
        raise InvalidInputError(
            "That cannot be a name", next_step="carrel users list shows who there is."
        )
    return Subject(name, is_group=options.group)


async def _run(settings: Settings, options: argparse.Namespace) -> int:
    groups, close_groups = open_groups(settings)
    quotas, close = count_quotas(settings, SystemClock(), groups)
    try:
        match options.command:
            case "list":
                _show(await quotas.all_shares(), options.json)
            case "show":
                _show(await quotas.shares_of(options.name), options.json)
            case command:
                is_counting = settings.quotas.is_counting
                allotment = Allotment(options.calls, options.cost) if command == "set" else None
                await quotas.set_allotment(_subject(options), allotment)
                _tell(options, allotment, is_counting=is_counting)
    finally:
        await close()
        await close_groups()
    return 0


def _tell(options: argparse.Namespace, allotment: Allotment | None, *, is_counting: bool) -> None:
    name = options.name
    if options.json:
        told = {"name": name, "is_group": options.group, "is_set": allotment is not None}
        if allotment is not None:
            told |= {"calls": allotment.calls, "cost": allotment.cost, "is_counted": is_counting}
        show_json(told)
    elif allotment is None:
        show(f"{name} has what the settings say, within seconds.")
    else:
        quota = f"calls a day: {_most(allotment.calls)}; cost a day: {_most(allotment.cost)}"
        if is_counting:
            show(f"{name} has a quota within seconds: {quota}.")
        else:
            show(f"{name} has a quota: {quota}. Nothing is counted: quotas are not enabled here.")
            say_next_step(_NEXT_STEP)


def _show(shares: list[Share], as_json: bool) -> None:
    if as_json:
        show_json([describe_share(share) for share in shares])
        return
    if not shares:
        show_page(Page((Note("Nobody has used anything today that is counted."),)))
        return
    rows = [
        (
            f"{share.subject.name}{' (group)' if share.subject.is_group else ''}",
            f"{share.use.calls:,.0f} of {_most(share.allotment.calls)}",
            f"{share.use.cost:,.1f} of {_most(share.allotment.cost)}",
            "set for them" if share.is_own else "by the settings",
        )
        for share in shares
    ]
    columns = (Column("who", whole=True), "calls", "cost", "quota")
    show_page(Page((Table(columns, rows),)))


def describe_share(share: Share) -> dict[str, object]:
    """A share as facts; what is left is None where there is no limit."""
    return {
        "name": share.subject.name,
        "is_group": share.subject.is_group,
        "calls": share.use.calls,
        "calls_quota": share.allotment.calls,
        "cost": round(share.use.cost, 6),
        "cost_quota": share.allotment.cost,
        "is_own": share.is_own,
    }


def _most(value: float | None) -> str:
    return "any number" if value is None else f"{value:,.0f}"

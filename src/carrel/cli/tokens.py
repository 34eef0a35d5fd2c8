"""`carrel tokens`: bearer tokens for scripts, shown once and kept as a hash."""

from __future__ import annotations

import argparse
import asyncio
import sys

from carrel.cli.json_output import add_json_option, iso_time, show_json
from carrel.cli.options import add_home_options, home_settings
from carrel.cli.output import say_next_step, show, show_page
from carrel.cli.page import Column, Inline, Note, Page, Span, Table, plain_text
from carrel.cli.parsers import CommandParser
from carrel.cli.users import describe_scopes, read_scopes
from carrel.cli.value_formats import format_day, is_for_people
from carrel.core.clock import SystemClock
from carrel.policy.authorization.administration import AccountAdministration
from carrel.policy.identity import StaticToken
from carrel.settings import Settings
from carrel.wiring.access import open_access_store
from carrel.wiring.audit import record_command

_NEXT_STEP = "Send it as the header Authorization: Bearer TOKEN."


def run(words: list[str]) -> int:
    parser = CommandParser(
        prog="carrel tokens", description="Tokens for scripts (auth.mode = tokens or builtin)."
    )
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    create = commands.add_parser("create", help="make a token and print it once")
    create.add_argument("name", help="what it is for; unique")
    create.add_argument("--scopes", required=True, help="what it may do, separated by commas")
    create.add_argument("--days", type=float, default=90.0, help="days until it expires (90)")
    create.add_argument(
        "--never-expires", action="store_true", help="keep it good until it is revoked"
    )
    create.add_argument("--user", help="whose notes and projects it reaches; without it, its own")
    commands.add_parser("list", help="show all tokens, never their secrets")
    commands.add_parser("revoke", help="make a token worthless within seconds").add_argument("name")
    for command in commands.choices.values():
        add_home_options(command)
        add_json_option(command)
    options = parser.parse_args(words[1:])
    settings = home_settings(options)
    if options.command == "list":
        return asyncio.run(_run(settings, options))
    with record_command(settings, f"tokens:{options.command}", f"token:{options.name[:100]}"):
        return asyncio.run(_run(settings, options))


async def _run(settings: Settings, options: argparse.Namespace) -> int:
    store = open_access_store(settings)
    accounts = AccountAdministration(store, SystemClock())
    try:
        match options.command:
            case "create":
                await _create(accounts, options)
                if not options.json:
                    say_next_step(_NEXT_STEP)
                if settings.auth.mode not in {"tokens", "builtin"}:
                    show(
                        "The server takes tokens when auth.mode is tokens or builtin.",
                        file=sys.stderr,
                    )
            case "list":
                await _list(accounts, options)
            case _:
                await accounts.revoke_token(options.name)
                if options.json:
                    show_json({"name": options.name, "state": "revoked"})
                else:
                    show(f"{options.name} is revoked.")
    finally:
        await store.close()
    return 0


async def _create(accounts: AccountAdministration, options: argparse.Namespace) -> None:
    token, secret = await accounts.create_token(
        options.name,
        read_scopes(options.scopes, frozenset()),
        days=None if options.never_expires else options.days,
        user=options.user,
    )
    if options.json:
        show_json({**_facts(token, accounts.now), "token": secret})
        return
    show("Keep it safe: it is shown only now.", file=sys.stderr)
    show(secret)


async def _list(accounts: AccountAdministration, options: argparse.Namespace) -> None:
    tokens = await accounts.list_tokens()
    if options.json:
        now = SystemClock().now().timestamp()
        show_json([_facts(token, now) for token in tokens])
        return
    if not tokens:
        show_page(Page((Note("No tokens yet: carrel tokens create NAME --scopes SCOPES"),)))
        return
    now = SystemClock().now().timestamp()
    rows = [
        (
            token.name,
            _state(token, now),
            _end(token, now),
            token.user_id,
            describe_scopes(token.scopes),
        )
        for token in tokens
    ]
    columns = (Column("token"), "state", "ends", "acts for", "scopes")
    show_page(Page((Table(columns, rows),)))


def _facts(token: StaticToken, now: float) -> dict[str, object]:
    return {
        "name": token.name,
        "state": plain_text(_state(token, now)),
        "created_at": iso_time(token.created_at),
        "expires_at": iso_time(token.expires_at),
        "revoked_at": iso_time(token.revoked_at),
        "acts_for": token.user_id,
        "scopes": sorted(token.scopes),
    }


def _state(token: StaticToken, now: float) -> Inline:
    if token.revoked_at is not None:
        return (Span("revoked", "dim"),)
    if token.expires_at is not None and token.expires_at <= now:
        return (Span("expired", "doubt"),)
    return "active"


def _end(token: StaticToken, now: float) -> str:
    if token.expires_at is None:
        return "never" if is_for_people() else "never expires"
    day = format_day(token.expires_at)
    if not is_for_people():
        return f"until {day}"
    days = int((token.expires_at - now) // 86_400)
    return f"{day}, in {days:,} days" if days > 1 and token.revoked_at is None else day

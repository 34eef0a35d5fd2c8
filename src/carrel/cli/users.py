"""`carrel users`: the people who can log in at the built-in authorization server."""

from __future__ import annotations

import argparse
import asyncio
import getpass
import sys

from carrel.cli.json_output import add_json_option, iso_time, show_json
from carrel.cli.leaving import add_leave_options, check_leave, run_leave
from carrel.cli.options import add_home_options, home_settings
from carrel.cli.output import say_next_step, show, show_page
from carrel.cli.page import Column, Note, Page, Table
from carrel.cli.parsers import CommandParser
from carrel.cli.value_formats import format_day, is_for_people
from carrel.core.clock import SystemClock
from carrel.core.errors import InvalidInputError
from carrel.policy.authorization.administration import AccountAdministration
from carrel.policy.authorization.login import new_password, validate_password
from carrel.policy.authorization.models import AccessStore, User
from carrel.policy.scopes import ALL_SCOPES, check_scopes
from carrel.settings import Settings
from carrel.wiring.access import open_access_store
from carrel.wiring.audit import record_command

_NEXT_STEP = (
    "carrel tokens create NAME --scopes SCOPES --user USER makes a token for a script; people log "
    "in when their client sends them."
)


def run(words: list[str]) -> int:
    parser = CommandParser(
        prog="carrel users", description="The people who can log in (auth.mode = builtin)."
    )
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    add = commands.add_parser(
        "add", help="make a user; the password is asked for, read from a pipe, or made up"
    )
    add.add_argument("name")
    add.add_argument(
        "--scopes",
        help="the most this person can grant, separated by commas; everything but admin by default",
    )
    add.add_argument("--admin", action="store_true", help="may do everything")
    _add_password_options(add)
    commands.add_parser("list", help="show all users")
    commands.add_parser(
        "disable", help="lock a user out and revoke what they granted"
    ).add_argument("name")
    commands.add_parser("enable", help="let a disabled user in again").add_argument("name")
    reset = commands.add_parser(
        "reset-password",
        help="give a user a new password; ends their sessions and all they allowed",
    )
    reset.add_argument("name")
    reset.add_argument(
        "--revoke-tokens",
        action="store_true",
        help="also revoke the static tokens that act for this user",
    )
    _add_password_options(reset)
    add_leave_options(
        commands.add_parser(
            "leave", help="export, hand over or erase what somebody leaves; counts it first"
        )
    )
    for command in commands.choices.values():
        add_home_options(command)
        add_json_option(command)
    options = parser.parse_args(words[1:])
    settings = home_settings(options)
    if options.command == "list":
        return asyncio.run(_run(settings, options))
    if options.command == "leave":
        if not check_leave(options):
            return asyncio.run(run_leave(settings, options))
        facts = {
            "export": str(options.export) if options.export else None,
            "hand_over_to": options.hand_over_to,
            "erase": options.erase,
        }
        with record_command(settings, "users:leave", f"user:{options.name[:100]}", facts):
            return asyncio.run(run_leave(settings, options))
    with record_command(settings, f"users:{options.command}", f"user:{options.name[:100]}"):
        return asyncio.run(_run(settings, options))


def _add_password_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--generate", action="store_true", help="make up a password and print it once"
    )


async def _run(settings: Settings, options: argparse.Namespace) -> int:
    store = open_access_store(settings)
    accounts = AccountAdministration(store, SystemClock())
    try:
        match options.command:
            case "add":
                await _add(accounts, options)
                if not options.json:
                    say_next_step(_NEXT_STEP, USER=options.name)
            case "list":
                await _list(store, options)
            case "reset-password":
                await _reset_password(accounts, options)
            case _:
                is_disabled = options.command == "disable"
                await accounts.set_disabled(options.name, is_disabled=is_disabled)
                state = "disabled; tokens stop within seconds" if is_disabled else "enabled"
                if options.json:
                    show_json({"name": options.name, "is_disabled": is_disabled})
                else:
                    show(f"{options.name} is {state}.")
    finally:
        await store.close()
    return 0


async def _add(accounts: AccountAdministration, options: argparse.Namespace) -> None:
    name = await accounts.check_new_name(options.name)
    scopes = (
        frozenset({"admin"})
        if options.admin
        else read_scopes(options.scopes, ALL_SCOPES - {"admin"})
    )
    password = _password(options)
    user = await accounts.add_user(name, scopes, password)
    _tell(options, password, f"{name} can log in now.", _facts(user))


async def _reset_password(accounts: AccountAdministration, options: argparse.Namespace) -> None:
    password = _password(options)
    acting = await accounts.reset_password(
        options.name, password, revokes_tokens=options.revoke_tokens
    )
    _tell(
        options,
        password,
        f"{options.name} has a new password; log-ins and what they allowed end within seconds.",
        {"name": options.name, "tokens": acting, "are_tokens_revoked": options.revoke_tokens},
    )
    if acting and not options.json:
        state = (
            "are revoked"
            if options.revoke_tokens
            else "still act for them; --revoke-tokens ends them, too"
        )
        show(f"Static tokens of {options.name} {state}: {', '.join(acting)}", file=sys.stderr)


async def _list(store: AccessStore, options: argparse.Namespace) -> None:
    users = await store.users()
    if options.json:
        show_json([_facts(user) for user in users])
        return
    if not users:
        show_page(Page((Note("No users yet: carrel users add NAME"),)))
        return
    since = "" if is_for_people() else "since "
    rows = [
        (
            user.name,
            "disabled" if user.is_disabled else "active",
            f"{since}{format_day(user.created_at)}",
            describe_scopes(user.scopes),
        )
        for user in users
    ]
    show_page(Page((Table((Column("user", whole=True), "state", "since", "scopes"), rows),)))


def describe_scopes(scopes: frozenset[str]) -> str:
    """Scopes by name; for people all of them in a word."""
    if "admin" in scopes:
        return "everything"
    if is_for_people() and scopes >= ALL_SCOPES - {"admin"}:
        return "everything but admin"
    return ", ".join(sorted(scopes))


def _password(options: argparse.Namespace) -> str:
    if options.generate:
        return new_password()
    if not sys.stdin.isatty():
        try:
            return validate_password(sys.stdin.readline().rstrip("\r\n"))
        except InvalidInputError as error:
            raise InvalidInputError(
                f"{error.message} (read from standard input, which is no terminal)",
                next_step="Add --generate to have one made up, or pipe a longer one in.",
            ) from None
    password = validate_password(getpass.getpass("Password: "))
    if getpass.getpass("Once more: ") != password:
        raise InvalidInputError(
            "The two passwords are not the same", next_step="Run the command again."
        )
    return password


def _facts(user: User) -> dict[str, object]:
    return {
        "name": user.name,
        "is_disabled": user.is_disabled,
        "created_at": iso_time(user.created_at),
        "scopes": sorted(user.scopes),
    }


def _tell(options: argparse.Namespace, password: str, done: str, facts: dict[str, object]) -> None:
    if options.json:
        show_json({**facts, **({"password": password} if options.generate else {})})
        return
    show(done, file=sys.stderr)
    if options.generate:
        show(password)


def read_scopes(text: str | None, default: frozenset[str]) -> frozenset[str]:
    """Scopes from a command line, separated by commas or spaces."""
    return check_scopes(text.replace(",", " ").split()) if text else default

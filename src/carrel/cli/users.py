"""`carrel users`: the people who can log in at the built-in authorization server."""

from __future__ import annotations

import argparse
import asyncio
import getpass
import sys

from carrel.cli.json_output import add_json_option, iso_time, show_json
from carrel.cli.options import add_home_options, home_settings
from carrel.cli.output import say_next_step, show, show_page
from carrel.cli.page import Column, Note, Page, Table
from carrel.cli.parsers import CommandParser
from carrel.cli.value_formats import format_day, is_for_people
from carrel.core.clock import SystemClock
from carrel.core.errors import ConflictError, InvalidInputError, NotFoundError
from carrel.policy.authorization.login import (
    Passwords,
    new_password,
    validate_password,
    validate_user_name,
)
from carrel.policy.authorization.models import AccessStore, User
from carrel.policy.scopes import ALL_SCOPES, SCOPES
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
    for command in commands.choices.values():
        add_home_options(command)
        add_json_option(command)
    options = parser.parse_args(words[1:])
    settings = home_settings(options)
    if options.command == "list":
        return asyncio.run(_run(settings, options))
    with record_command(settings, f"users:{options.command}", f"user:{options.name[:100]}"):
        return asyncio.run(_run(settings, options))


def _add_password_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--generate", action="store_true", help="make up a password and print it once"
    )


async def _run(settings: Settings, options: argparse.Namespace) -> int:
    store = open_access_store(settings)
    try:
        match options.command:
            case "add":
                await _add(store, options)
                if not options.json:
                    say_next_step(_NEXT_STEP, USER=options.name)
            case "list":
                await _list(store, options)
            case "reset-password":
                await _reset_password(store, options)
            case _:
                is_disabled = options.command == "disable"
                if not await store.set_disabled(
                    options.name, is_disabled, SystemClock().now().timestamp()
                ):
                    raise _no_such_user(options.name)
                state = "disabled; tokens stop within seconds" if is_disabled else "enabled"
                if options.json:
                    show_json({"name": options.name, "is_disabled": is_disabled})
                else:
                    show(f"{options.name} is {state}.")
    finally:
        await store.close()
    return 0


async def _add(store: AccessStore, options: argparse.Namespace) -> None:
    name = validate_user_name(options.name)
    twin = next(
        (user.name for user in await store.users() if user.name.lower() == name.lower()), None
    )
    if twin is not None and twin != name:
        raise ConflictError(
            f"There is already a user called {twin}",
            next_step="Choose a name that differs in more than case.",
        )
    scopes = (
        frozenset({"admin"})
        if options.admin
        else parse_scopes(options.scopes, ALL_SCOPES - {"admin"})
    )
    password = _password(options)
    user = User(name, await Passwords().hash(password), scopes, SystemClock().now().timestamp())
    if not await store.add_user(user):
        raise ConflictError(
            f"There is already a user called {name}",
            next_step="Choose another name, or reset-password.",
        )
    _tell(options, password, f"{name} can log in now.", _facts(user))


async def _reset_password(store: AccessStore, options: argparse.Namespace) -> None:
    password = _password(options)
    hashed = await Passwords().hash(password)
    now = SystemClock().now().timestamp()
    if not await store.set_password(options.name, hashed, now):
        raise _no_such_user(options.name)
    acting = [
        token.name
        for token in await store.tokens()
        if token.user_name == options.name and token.is_good_at(now)
    ]
    if options.revoke_tokens:
        for name in acting:
            await store.revoke_token(name, now)
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
        return validate_password(sys.stdin.readline().rstrip("\r\n"))
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


def _no_such_user(name: str) -> NotFoundError:
    return NotFoundError("User", name, next_step="carrel users list shows who there is.")


def parse_scopes(text: str | None, default: frozenset[str]) -> frozenset[str]:
    """Scopes from a command line; an unknown one is named, with those there are."""
    if not text:
        return default
    scopes = frozenset(word for word in text.replace(",", " ").split() if word)
    unknown = sorted(scopes - ALL_SCOPES)
    if unknown or not scopes:
        raise InvalidInputError(
            f"There is no scope {', '.join(unknown)}", next_step=f"Scopes: {', '.join(SCOPES)}."
        )
    return scopes

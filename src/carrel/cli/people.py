"""`carrel people`: what acts for each person, how to end it, and who somebody is elsewhere."""

from __future__ import annotations

import argparse
import asyncio
import shlex
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from carrel.cli.json_output import add_json_option, iso_time, show_json
from carrel.cli.options import add_home_options, home_settings
from carrel.cli.output import show, show_page
from carrel.cli.page import Column, Note, Page, Table
from carrel.cli.parsers import CommandParser
from carrel.cli.users import describe_scopes
from carrel.cli.value_formats import format_day
from carrel.core.clock import SystemClock
from carrel.core.errors import ConflictError, InvalidInputError
from carrel.policy.authorization.administration import AccountAdministration, no_such_user
from carrel.policy.authorization.login import SESSION_SECONDS, no_password
from carrel.policy.authorization.models import GrantUse, Session, User
from carrel.policy.authorization.openid.models import Person
from carrel.policy.identity import StaticToken
from carrel.settings import Settings, SettingsError
from carrel.wiring.access import open_access_store
from carrel.wiring.audit import record_command

_LONGEST = 255


@dataclass(frozen=True, slots=True)
class _Access:
    """A person and all that acts for them now."""

    user: User
    person: Person | None
    tokens: list[StaticToken]
    grants: list[GrantUse]
    client_names: dict[str, str]
    sessions: list[Session]


def run(words: list[str]) -> int:
    parser = CommandParser(
        prog="carrel people",
        description="What acts for each person: tokens, programs they allowed, browsers.",
    )
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    commands.add_parser("list", help="everybody, with how much acts for them")
    commands.add_parser("show", help="all that acts for one person").add_argument("name")
    revoke = commands.add_parser("revoke", help="end one of them, or all, within seconds")
    revoke.add_argument("name")
    chosen = revoke.add_mutually_exclusive_group(required=True)
    chosen.add_argument("--token", metavar="TOKEN", help="one static token")
    chosen.add_argument("--grant", metavar="ID", help="what one program was allowed")
    chosen.add_argument("--sessions", action="store_true", help="every browser")
    chosen.add_argument("--all", action="store_true", help="tokens, programs and browsers")
    link = commands.add_parser("link", help="let somebody of the institute have this account")
    link.add_argument("name", help="the account that is there")
    link.add_argument("--subject", required=True, help="who it is at the provider (sub)")
    for command in commands.choices.values():
        add_home_options(command)
        add_json_option(command)
    options = parser.parse_args(words[1:])
    settings = home_settings(options)
    if options.command in {"list", "show"}:
        return asyncio.run(_run(settings, options))
    with record_command(settings, f"people:{options.command}", f"user:{options.name[:100]}"):
        return asyncio.run(_run(settings, options))


async def _run(settings: Settings, options: argparse.Namespace) -> int:
    store = open_access_store(settings)
    accounts = AccountAdministration(store, SystemClock())
    try:
        match options.command:
            case "list":
                people = {each.user_name: each for each in await store.sign_ins.people()}
                await _list(accounts, people, as_json=options.json)
            case "show":
                person = await store.sign_ins.person_of(options.name)
                _show(await _access_of(accounts, options.name, person), options.json)
            case "revoke":
                await _revoke(accounts, options)
            case _:
                person = _person_to_link(settings, options)
                now = accounts.now
                if not await store.sign_ins.link_person(person, no_password(), now):
                    if await store.user(options.name) is None:
                        raise no_such_user(options.name)
                    raise _linked_elsewhere(person, await store.sign_ins.people())
                _tell(
                    options,
                    {"name": options.name, "subject": person.subject},
                    f"{options.name} logs in at {person.issuer} from now on; sessions and "
                    "programs of before are ended.",
                )
    finally:
        await store.close()
    return 0


def _person_to_link(settings: Settings, options: argparse.Namespace) -> Person:
    issuer = settings.auth.oidc.issuer
    if not issuer:
        raise SettingsError(
            "No institute is set",
            next_step="Set auth.oidc.issuer.",
            details={"setting": "auth.oidc.issuer"},
        )
    if not 0 < len(options.subject) <= _LONGEST:
        raise InvalidInputError("That cannot be a subject", next_step="It is the claim sub.")
    # Groups are read at the next log-in.
    return Person(options.name, issuer, options.subject, options.name, (), 0.0)


def _linked_elsewhere(person: Person, people: Sequence[Person]) -> ConflictError:
    """The person logged in before and has an account, which can be handed over."""
    key = (person.issuer, person.subject)
    others = [each.user_name for each in people if (each.issuer, each.subject) == key]
    other = shlex.quote(others[0]) if others else "NAME"
    wanted = shlex.quote(person.user_name)
    return ConflictError(
        f"{person.subject} has the account {other} here",
        next_step=f"carrel users leave {other} --hand-over-to {wanted} --yes gives {wanted} what "
        "is in it and ends it; then link again.",
    )


async def _access_of(accounts: AccountAdministration, name: str, person: Person | None) -> _Access:
    store = accounts.store
    user = await store.user(name)
    if user is None:
        raise no_such_user(name)
    grants = await accounts.list_grants(name)
    names = {}
    for use in grants:
        client = await store.client(use.grant.client_id)
        names[use.grant.client_id] = use.grant.client_id if client is None else client.name
    tokens = [token for token in await accounts.list_tokens() if token.user_name == name]
    return _Access(user, person, tokens, grants, names, await store.sessions(name, accounts.now))


async def _list(
    accounts: AccountAdministration, people: dict[str, Person], *, as_json: bool
) -> None:
    now = accounts.now
    users = await accounts.store.users()
    sessions = Counter(each.user_name for each in await accounts.store.sessions(None, now))
    grants = Counter(use.grant.user_name for use in await accounts.list_grants())
    tokens = Counter(
        token.user_name for token in await accounts.list_tokens() if token.is_good_at(now)
    )
    if as_json:
        show_json(
            [
                {
                    "name": user.name,
                    "is_disabled": user.is_disabled,
                    "groups": list(people[user.name].groups) if user.name in people else None,
                    "tokens": tokens[user.name],
                    "grants": grants[user.name],
                    "sessions": sessions[user.name],
                }
                for user in users
            ]
        )
        return
    if not users:
        show_page(Page((Note("Nobody yet: carrel users add NAME, or a log-in at the institute."),)))
        return
    rows = [
        (
            user.name,
            "disabled" if user.is_disabled else "active",
            ", ".join(people[user.name].groups) if user.name in people else "(password)",
            str(tokens[user.name]),
            str(grants[user.name]),
            str(sessions[user.name]),
        )
        for user in users
    ]
    columns = (Column("who", whole=True), "state", "groups", "tokens", "programs", "browsers")
    show_page(Page((Table(columns, rows),)))


def _show(found: _Access, as_json: bool) -> None:
    now = SystemClock().now().timestamp()
    if as_json:
        show_json(_facts(found, now))
        return
    person = found.person
    who = f"{found.user.name}: {describe_scopes(found.user.scopes)}"
    if person is not None:
        groups = ", ".join(person.groups) or "none"
        who += f"; {person.subject} at {person.issuer}, groups: {groups}"
    rows = [
        ("token", token.name, _state(token, now), describe_scopes(token.scopes))
        for token in found.tokens
    ]
    rows += [
        (
            "program",
            f"{found.client_names[use.grant.client_id]} ({use.grant.grant_id})",
            f"used {format_day(use.used_at)}"
            + (", from a log-in at the institute" if use.grant.sign_in else ""),
            describe_scopes(use.grant.scopes),
        )
        for use in found.grants
    ]
    rows += [
        (
            "browser",
            f"since {iso_time(session.expires_at - SESSION_SECONDS)}",
            f"until {iso_time(session.expires_at)}"
            + (", from a log-in at the institute" if session.sign_in else ""),
            "",
        )
        for session in found.sessions
    ]
    parts: list[Note | Table] = [Note(who)]
    if rows:
        parts.append(Table(("what", Column("name", whole=True), "state", "scopes"), rows))
    else:
        parts.append(Note("Nothing acts for them now."))
    show_page(Page(tuple(parts)))


def _facts(found: _Access, now: float) -> dict[str, object]:
    person = found.person
    return {
        "name": found.user.name,
        "scopes": sorted(found.user.scopes),
        "is_disabled": found.user.is_disabled,
        "issuer": None if person is None else person.issuer,
        "subject": None if person is None else person.subject,
        "groups": None if person is None else list(person.groups),
        "tokens": [
            {
                "name": token.name,
                "state": _state(token, now),
                "scopes": sorted(token.scopes),
                "expires_at": iso_time(token.expires_at),
            }
            for token in found.tokens
        ],
        "grants": [
            {
                "id": use.grant.grant_id,
                "client": use.grant.client_id,
                "client_name": found.client_names[use.grant.client_id],
                "scopes": sorted(use.grant.scopes),
                "created_at": iso_time(use.grant.created_at),
                "used_at": iso_time(use.used_at),
                "expires_at": iso_time(use.expires_at),
                "is_of_institute": use.grant.sign_in is not None,
            }
            for use in found.grants
        ],
        "sessions": [
            {
                "began_at": iso_time(each.expires_at - SESSION_SECONDS),
                "expires_at": iso_time(each.expires_at),
                "is_of_institute": each.sign_in is not None,
            }
            for each in found.sessions
        ],
    }


async def _revoke(accounts: AccountAdministration, options: argparse.Namespace) -> None:
    name = options.name
    if await accounts.store.user(name) is None:
        raise no_such_user(name)
    if options.all:
        ended = await accounts.revoke_everything(name)
        _tell(
            options,
            {
                "name": name,
                "tokens": ended.tokens,
                "grants": ended.grants,
                "sessions": ended.sessions,
            },
            f"{ended.tokens} tokens, {ended.grants} programs and {ended.sessions} browsers of "
            f"{name} are ended.",
        )
    elif options.sessions:
        count = await accounts.end_sessions(name)
        _tell(options, {"name": name, "sessions": count}, f"{count} browsers are logged out.")
    elif options.token is not None:
        await accounts.revoke_token_of(name, options.token)
        _tell(options, {"name": name, "token": options.token}, f"{options.token} is revoked.")
    else:
        await accounts.revoke_grant_of(name, options.grant)
        _tell(options, {"name": name, "grant": options.grant}, f"{options.grant} is revoked.")


def _state(token: StaticToken, now: float) -> str:
    if token.revoked_at is not None:
        return "revoked"
    return "active" if token.is_good_at(now) else "expired"


def _tell(options: argparse.Namespace, facts: dict[str, object], told: str) -> None:
    if options.json:
        show_json(facts)
    else:
        show(told)

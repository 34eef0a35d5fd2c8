"""`--user NAME`: the operator of this home acts for one of its users."""

from __future__ import annotations

import argparse
import asyncio
import os

from carrel.core.caller import Caller
from carrel.core.clock import SystemClock
from carrel.policy.acting import (
    NotOperatorError,
    NoUsersError,
    accept_foreign_user,
    find_kept_user,
)
from carrel.policy.command_audit import operator_name
from carrel.settings import Settings
from carrel.settings.places import database_files
from carrel.wiring.access import open_access_store

_KEPT_ELSEWHERE = {"jwt", "cloudrun"}


def add_user_option(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--user",
        metavar="NAME",
        help="act for this user of the desk, as its operator; the audit log records both",
    )


def find_user(settings: Settings, options: argparse.Namespace) -> Caller | None:
    """The user that `--user` names, or None where it is not given; refuses who is no operator."""
    name: str | None = getattr(options, "user", None)
    if name is None:
        return None
    _refuse_others(settings)
    if settings.auth.mode in _KEPT_ELSEWHERE:
        return accept_foreign_user(name, operator_name())
    is_kept = settings.database.url or database_files(settings)["access"].exists()
    if not is_kept:
        # Asking would make the database of users in a home that has none.
        raise NoUsersError
    return asyncio.run(_find(settings, name))


async def _find(settings: Settings, name: str) -> Caller:
    store = open_access_store(settings)
    try:
        now = SystemClock().now().timestamp()
        return await find_kept_user(name, store, operator_name(), now)
    finally:
        await store.close()


def _refuse_others(settings: Settings) -> None:
    """Whoever may write the files of the home is its operator."""
    if settings.home.is_dir() and not os.access(settings.home, os.W_OK | os.X_OK):
        raise NotOperatorError(
            f"Only the operator of {settings.home} acts for its users, and this account may not "
            f"write there",
            next_step="Ask the operator, or log in at the server.",
        )

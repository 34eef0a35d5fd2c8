"""Acting for a user: who the operator of a home may act for at the command line, and with what.

Nobody gains anything by it: the caller has the scopes of the user, and the audit log records the
user, and as the client the operator.
"""

from __future__ import annotations

from carrel.core.caller import Caller
from carrel.core.errors import (
    CarrelError,
    InsufficientPermissionsError,
    InvalidInputError,
    NotConfiguredError,
    NotFoundError,
)
from carrel.policy.authorization.models import AccessStore
from carrel.policy.identity import StaticToken, problem_with_foreign_name
from carrel.policy.scopes import ALL_SCOPES, expand_scopes

OPERATOR_PREFIX = "operator:"
_TOKEN_PREFIX = "token:"  # noqa: S105 - the beginning of a name
_SHOWN_NAMES = 10


class NotOperatorError(CarrelError):
    """Only the operator of a home, who may write its files, acts for its users."""

    code = InsufficientPermissionsError.code


class UserMayNotError(CarrelError):
    """The user for whom the operator acts may not do what was asked for."""

    code = InsufficientPermissionsError.code

    def __init__(self, user_id: str, refusal: InsufficientPermissionsError) -> None:
        super().__init__(
            f"{user_id} may not do this: {refusal.message}",
            next_step="carrel users list and carrel tokens list show who may do what; without "
            "--user it is done as the operator.",
            details=refusal.details,
        )


class NoUsersError(NotConfiguredError):
    """Nobody but the person at the terminal uses this desk."""

    def __init__(self) -> None:
        super().__init__(
            "This desk has no users to act for: everything on it belongs to you, who start it",
            next_step="Leave --user out. carrel users add NAME makes a user, carrel tokens create "
            "NAME a token, for a server with CARREL_AUTH_MODE=builtin or tokens.",
        )


def acting_caller(user_id: str, scopes: frozenset[str], operator: str) -> Caller:
    """The user as the operator's commands call: never limited, and recorded with both names."""
    return Caller(user_id, scopes, client_id=f"{OPERATOR_PREFIX}{operator}", is_limited=False)


def accept_foreign_user(name: str, operator: str) -> Caller:
    """A user whom another identity provider keeps; only the form of the name can be checked."""
    _refuse_odd_name(name)
    return acting_caller(name, ALL_SCOPES - {"admin"}, operator)


async def find_kept_user(name: str, store: AccessStore, operator: str, now: float) -> Caller:
    """A user or a token of this desk by its name. Raises NotFoundError with those there are."""
    users, tokens = await store.users(), await store.tokens()
    if not users and not tokens:
        raise NoUsersError
    if name.startswith(_TOKEN_PREFIX):
        return acting_caller(name, _token_scopes(name, tokens, now), operator)
    _refuse_odd_name(name)
    user = await store.user(name)
    if user is None:
        known = [*(each.name for each in users), *_own_tokens(tokens, now)]
        raise NotFoundError("User", name[:100], next_step=_name_known(name, known))
    if user.is_disabled:
        raise NotOperatorError(
            f"{name} is disabled, and nobody acts for a disabled user",
            next_step=f"carrel users enable {name} lets them in again.",
        )
    return acting_caller(user.name, expand_scopes(user.scopes), operator)


def _refuse_odd_name(name: str) -> None:
    problem = problem_with_foreign_name(name)
    if problem is not None:
        raise InvalidInputError(
            f"--user {problem}",
            next_step="Name a user of this desk (carrel users list); local, the person at this "
            "terminal, is meant where --user is left out.",
        )


def _token_scopes(name: str, tokens: list[StaticToken], now: float) -> frozenset[str]:
    token = next(
        (each for each in tokens if each.user_id == name and each.is_good_at(now)),
        None,
    )
    if token is None:
        known = _own_tokens(tokens, now)
        raise NotFoundError("Token", name[:100], next_step=_name_known(name, known))
    return expand_scopes(token.scopes)


def _own_tokens(tokens: list[StaticToken], now: float) -> list[str]:
    """The tokens that are users of their own, by the names of these users."""
    return [each.user_id for each in tokens if each.user_name is None and each.is_good_at(now)]


def _name_known(name: str, known: list[str]) -> str:
    if f"{_TOKEN_PREFIX}{name}" in known:
        return f"{name} is a token: --user {_TOKEN_PREFIX}{name} acts for it."
    more = f" and {len(known) - _SHOWN_NAMES} more" if len(known) > _SHOWN_NAMES else ""
    named = f"{', '.join(known[:_SHOWN_NAMES])}{more}"
    return f"There are {named}; carrel users list says more." if known else "There are none."

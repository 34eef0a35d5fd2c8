"""Scopes as a person chooses them: by a usual set, or one by one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from carrel.core.errors import InvalidInputError
from carrel.core.pages import PageRequest
from carrel.policy.scopes import ALL_SCOPES, READER_SCOPES, ROLES, SCOPES, Scope

MEMBER, ADMIN, READER, CHOSEN = "member", "admin", "reader", "chosen"


@dataclass(frozen=True, slots=True)
class ScopeGroup:
    """The scopes of one part, such as `papers`."""

    name: str
    scopes: tuple[Scope, ...]


def _groups() -> tuple[ScopeGroup, ...]:
    found: dict[str, list[Scope]] = {}
    for scope in SCOPES.values():
        if scope.name != "admin":
            found.setdefault(scope.name.partition(":")[0], []).append(scope)
    return tuple(ScopeGroup(name, tuple(scopes)) for name, scopes in found.items())


SCOPE_GROUPS = _groups()


def read_scopes(request: PageRequest) -> list[str]:
    """The scopes that a form asks for. Raises InvalidInputError where none is chosen."""
    form = request.form
    role = ROLES.get(form.text("kind"))
    chosen = form.texts("scope") if role is None else sorted(role)
    if not chosen:
        raise InvalidInputError(request.translate("admin.scopes.none"))
    return chosen


def name_kind(scopes: Sequence[str]) -> str:
    """The usual set that these scopes are, or `chosen`."""
    given = frozenset(scopes)
    if "admin" in given:
        return ADMIN
    if given >= ALL_SCOPES - {"admin"}:
        return MEMBER
    return READER if given == READER_SCOPES else CHOSEN

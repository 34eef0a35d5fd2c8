"""Scopes as a person chooses them: by a usual set, or one by one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from carrel.core.pages import FieldValues
from carrel.policy.scopes import ALL_SCOPES, SCOPES, Scope

MEMBER, ADMIN, READER, CHOSEN = "member", "admin", "reader", "chosen"
_READER_SCOPES = frozenset(name for name in ALL_SCOPES if name.endswith(":read"))


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


def read_scopes(form: FieldValues) -> list[str]:
    """The scopes that a form asks for; none where single ones are to be chosen and none is."""
    match form.text("kind"):
        case "admin":
            return ["admin"]
        case "member":
            return sorted(ALL_SCOPES - {"admin"})
        case "reader":
            return sorted(_READER_SCOPES)
        case _:
            return form.texts("scope")


def name_kind(scopes: Sequence[str]) -> str:
    """The usual set that these scopes are, or `chosen`."""
    given = frozenset(scopes)
    if "admin" in given:
        return ADMIN
    if given >= ALL_SCOPES - {"admin"}:
        return MEMBER
    return READER if given == _READER_SCOPES else CHOSEN

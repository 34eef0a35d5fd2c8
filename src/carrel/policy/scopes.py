"""The scopes there are, what each one means, and what it implies."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from carrel.core.errors import InvalidInputError


@dataclass(frozen=True, slots=True)
class Scope:
    """One permission that a token can carry."""

    name: str
    meaning: str
    implies: tuple[str, ...] = ()


_TABLE = (
    Scope("papers:read", "Search and read papers"),
    Scope("papers:write", "Add papers to the corpus", ("papers:read",)),
    Scope("references:read", "Search, list and cite references"),
    Scope("references:write", "Add, change and remove references", ("references:read",)),
    Scope("literature:read", "Ask literature services and fetch open texts"),
    Scope("literature:write", "Keep alerts and run them", ("literature:read",)),
    Scope("knowledge:read", "Search and read notes and nodes"),
    Scope("knowledge:write", "Save, propose and delete one's own notes", ("knowledge:read",)),
    Scope("knowledge:promote", "Promote notes to the team", ("knowledge:read",)),
    Scope("research:read", "Read research projects and status"),
    Scope("research:write", "Create and modify research projects", ("research:read",)),
    Scope("hypotheses:read", "Read hypotheses and their details"),
    Scope("hypotheses:generate", "Generate new hypotheses", ("research:read", "hypotheses:read")),
    Scope("hypotheses:evolve", "Evolve existing hypotheses", ("hypotheses:read",)),
    Scope("reviews:read", "Read hypothesis reviews and scores"),
    Scope("reviews:write", "Create and modify reviews", ("reviews:read", "hypotheses:read")),
)
ADMIN = Scope("admin", "Full system access", tuple(scope.name for scope in _TABLE))
SCOPES: dict[str, Scope] = {scope.name: scope for scope in (*_TABLE, ADMIN)}
ALL_SCOPES = frozenset(SCOPES)

READER_SCOPES = frozenset(name for name in ALL_SCOPES if name.endswith(":read"))
# What people are called by what they may do.
ROLES: dict[str, frozenset[str]] = {
    "reader": READER_SCOPES,
    "member": ALL_SCOPES - {"admin"},
    "admin": frozenset({"admin"}),
}


def check_scopes(names: Iterable[str]) -> frozenset[str]:
    """Scopes by their names; an unknown one is named, with those there are."""
    scopes = frozenset(names)
    unknown = sorted(scopes - ALL_SCOPES)
    if unknown or not scopes:
        raise InvalidInputError(
            f"There is no scope {', '.join(unknown)}" if unknown else "No scope is named",
            next_step=f"Scopes: {', '.join(SCOPES)}.",
        )
    return scopes


def expand_scopes(held: Iterable[str]) -> frozenset[str]:
    """All scopes implied by those held; unknown names stay and grant nothing."""
    found: set[str] = set()
    waiting = list(held)
    while waiting:
        name = waiting.pop()
        if name not in found:
            found.add(name)
            waiting.extend(SCOPES[name].implies if name in SCOPES else ())
    return frozenset(found)


def limit_scopes(held: frozenset[str], most: frozenset[str]) -> frozenset[str]:
    """What is held of scopes where a user has at most these; the same where they are enough."""
    allowed = expand_scopes(most)
    return held if held <= allowed else expand_scopes(held) & allowed

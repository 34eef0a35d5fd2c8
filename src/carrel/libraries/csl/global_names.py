"""Persons who share a family name, over all items: for the rules that open up names rather than
cites.
"""

from collections import defaultdict
from collections.abc import Iterable

from .context import GivenLevel
from .items import Item
from .name_values import Name, initials
from .person import FAMILY_ONLY, FULL, INITIALS

_cited_roles = ("author", "editor", "translator")


class GlobalNames:
    """Knows every given name that goes with a family name."""

    def __init__(self, rule: str) -> None:
        self.rule = rule
        self.bare: dict[str, set[str]] = defaultdict(set)
        self.families: dict[str, dict[str, set[str]]] = defaultdict(lambda: defaultdict(set))

    def add(self, name: Name) -> None:
        if not name.literal:
            self.bare[_family(name)].add(name.family)
            self.families[_family(name)][_short(name)].add(name.given)

    def shared_families(self) -> set[str]:
        """The families, without particles, that more than one person bears: a quick question before
        the exact one.
        """
        return {
            family
            for full, short in self.families.items()
            if len(short) > 1 or len(next(iter(short.values()))) > 1
            for family in self.bare[full]
        }

    def level(self, name: Name, can_initialize: bool) -> int:
        """How much of the given name tells this person from all others, where initials are or are
        not to be had.
        """
        short = self.families.get(_family(name))
        if short is None or (len(short) == 1 and len(next(iter(short.values()))) <= 1):
            return FAMILY_ONLY
        if self.rule.endswith("with-initials"):
            return INITIALS if len(short) > 1 else FAMILY_ONLY
        if can_initialize and len(short.get(_short(name), ())) <= 1:
            return INITIALS
        return FULL


def _family(name: Name) -> str:
    return f"{name.non_dropping} {name.family}".strip()


def _short(name: Name) -> str:
    return initials(name.given, "", True, False) if name.given else ""


def given_levels(rule: str, items: Iterable[Item]) -> GivenLevel:
    """For each name the level that the rule asks for; primary rules look at first names of lists
    only.
    """
    known = GlobalNames(rule)
    primary_only = rule.startswith("primary")
    primaries: set[Name] = set()
    for item in items:
        for names in (item.names[role] for role in _cited_roles if role in item.names):
            primaries.add(names[0])
            for name in names[:1] if primary_only else names:
                known.add(name)
    shared = known.shared_families()

    def level(name: Name, can_initialize: bool) -> int:
        if name.family not in shared or (primary_only and name not in primaries):
            return FAMILY_ONLY
        return known.level(name, can_initialize)

    return level

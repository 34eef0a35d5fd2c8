"""Persons who share a family name, over all items: for the rules that open up names rather than cites."""

from collections import defaultdict
from collections.abc import Callable, Iterable

from .items import Item
from .name_options import NameOptions, read_options
from .name_values import Name, initials
from .person import FAMILY_ONLY, FULL, INITIALS
from .scope import Scope
from .xml_source import Element

_cited_roles = ("author", "editor", "translator")


class GlobalNames:
    """Knows every given name that goes with a family name."""

    def __init__(self, rule: str, options: NameOptions | None) -> None:
        self.rule = rule
        self.can_initialize = options is not None and options.initialize_with is not None and options.initialize
        self.families: dict[str, dict[str, set[str]]] = defaultdict(lambda: defaultdict(set))

    def add(self, name: Name) -> None:
        if not name.literal:
            self.families[_family(name)][_short(name)].add(name.given)

    def level(self, name: Name) -> int:
        """How much of the given name tells this person from all others."""
        short = self.families.get(_family(name))
        if short is None or (len(short) == 1 and len(next(iter(short.values()))) <= 1):
            return FAMILY_ONLY
        if self.rule.endswith("with-initials"):
            return INITIALS if len(short) > 1 else FAMILY_ONLY
        if self.can_initialize and len(short.get(_short(name), ())) <= 1:
            return INITIALS
        return FULL


def _family(name: Name) -> str:
    return f"{name.non_dropping} {name.family}".strip()


def _short(name: Name) -> str:
    return initials(name.given, "", True, False) if name.given else ""


def given_levels(rule: str, scope: Scope, items: Iterable[Item]) -> Callable[[Name], int]:
    """For each name the level that the rule asks for; primary rules look at first names of lists only."""
    known = GlobalNames(rule, _citation_names(scope))
    primary_only = rule.startswith("primary")
    primaries: set[Name] = set()
    for item in items:
        for names in (item.names[role] for role in _cited_roles if role in item.names):
            primaries.add(names[0])
            for name in names[:1] if primary_only else names:
                known.add(name)
    if not primary_only:
        return known.level
    return lambda name: known.level(name) if name in primaries else FAMILY_ONLY


def _citation_names(scope: Scope) -> NameOptions | None:
    """The options of the first cs:names that a citation comes to."""
    citation = scope.root.find("citation")
    names = _first_names(citation, scope, set()) if citation is not None else None
    return read_options(scope.inherited, names, scope.root, scope.locale.language) if names is not None else None


def _first_names(element: Element, scope: Scope, seen: set[str]) -> Element | None:
    for child in element:
        if child.tag == "sort":
            continue
        if child.tag == "names":
            return child
        macro = scope.macros.get(child.get("macro", "")) if child.tag == "text" else None
        if macro is not None and child.get("macro", "") not in seen:
            seen.add(child.get("macro", ""))
            found = _first_names(macro, scope, seen)
        else:
            found = _first_names(child, scope, seen)
        if found is not None:
            return found
    return None

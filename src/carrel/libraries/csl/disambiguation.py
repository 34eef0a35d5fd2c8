"""Disambiguation: more names, more given names, the style's condition, letters after the year."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from .context import Disambiguation
from .items import CitedItem
from .name_values import PersonName, initials
from .person import FAMILY_ONLY, FULL, INITIALS


class GivenNames:
    """The given names known for each family name, and how much of one tells a person apart.

    Cites decide which names are known. Names that only a bibliography has join them as they are
    written there, by a copy, so that writing it twice gives the same.
    """

    def __init__(self, rule: str) -> None:
        self.rule = rule
        self.families: dict[str, dict[str, set[str]]] = {}

    def add_list(self, names: Sequence[PersonName]) -> None:
        """A list of names as a cite shows it; by primary rules only the first counts."""
        for name in names[:1] if self.rule.startswith("primary") else names:
            self.add(name)

    def add(self, name: PersonName) -> None:
        """A name; without a given name, nobody can be taken for somebody else."""
        if name.literal or not name.given:
            return
        short = self.families.setdefault(name.family, {})
        short.setdefault(_short(name), set()).add(name.given.replace(".", ""))

    def copy(self) -> "GivenNames":
        other = GivenNames(self.rule)
        other.families = {
            family: {short: set(givens) for short, givens in known.items()}
            for family, known in self.families.items()
        }
        return other

    def level(self, name: PersonName, place: int, base: int, can_initialize: bool) -> int:
        """The level that the rule asks for, where `base` is shown without it."""
        if self.rule.startswith("primary") and place:
            return FAMILY_ONLY
        short = self.families.get(name.family)
        if short is None or (len(short) == 1 and len(next(iter(short.values()))) <= 1):
            return FAMILY_ONLY
        is_shared = len(short.get(_short(name), ())) > 1
        if self.rule == "by-cite":
            return FULL if is_shared and base == INITIALS else FAMILY_ONLY
        if self.rule.endswith("with-initials"):
            return INITIALS if len(short) > 1 else FAMILY_ONLY
        return INITIALS if can_initialize and not is_shared else FULL

    def level_once_added(
        self, name: PersonName, place: int, base: int, can_initialize: bool
    ) -> int:
        """The same for a name of the bibliography, which is known from now on."""
        if not (place and self.rule.startswith("primary")):
            self.add(name)
        return self.level(name, place, base, can_initialize)


def _short(name: PersonName) -> str:
    return initials(name.given, "", True, True)


@dataclass(frozen=True, slots=True)
class ComparedCite:
    """A cite without its letter, its lists of names (total, shown, levels), and its conditions."""

    text: str
    sets: list[tuple[int, int, list[int]]]
    tested_conditions: int


# Renders a cite to compare it; the last argument says whether the rule opens given names.
Render = Callable[[CitedItem, Disambiguation, bool], ComparedCite]
_step_limit = 400


class Disambiguator:
    """Runs the passes over items whose cites look alike."""

    def __init__(self, options: dict[str, str], render: Render, has_condition: bool) -> None:
        self.render = render
        self.adds_names = options.get("disambiguate-add-names") == "true"
        self.rule = options.get("givenname-disambiguation-rule", "by-cite")
        self.adds_givens = options.get("disambiguate-add-givenname") == "true"
        self.by_cite = self.adds_givens and self.rule == "by-cite"
        self.adds_suffix = options.get("disambiguate-add-year-suffix") == "true"
        self.has_condition = has_condition

    def run(self, items: list[CitedItem]) -> dict[str, Disambiguation]:
        """What each ambiguous item needs; items that stand alone are not in the answer."""
        found: dict[str, Disambiguation] = {}
        alike = self._clashes(items, {}, False)
        for group in alike:
            self._resolve(group, found)
        if self.adds_suffix:
            # Letters follow the order of the items, over whatever still looks the same.
            with_givens = self.adds_names or self.by_cite
            for group in [rest for one in alike for rest in self._clashes(one, found, with_givens)]:
                if len(
                    {self._text(item, found.get(item.id) or Disambiguation()) for item in group}
                ) == len(group):
                    continue
                for number, item in enumerate(group, 1):
                    config = found.get(item.id) or Disambiguation()
                    config.year_suffix = number
                    found[item.id] = config
        return found

    def _text(self, item: CitedItem, config: Disambiguation) -> str:
        return self.render(item, config, True).text

    def _clashes(
        self, items: list[CitedItem], configs: dict[str, Disambiguation], with_givens: bool
    ) -> list[list[CitedItem]]:
        groups: dict[str, list[CitedItem]] = {}
        for item in items:
            config = configs.get(item.id) or Disambiguation()
            text = self.render(item, config, with_givens).text
            groups.setdefault(text, []).append(item)
        return [group for group in groups.values() if len(group) > 1]

    def _resolve(self, group: list[CitedItem], found: dict[str, Disambiguation]) -> None:
        if self.adds_names or self.by_cite:
            for rest in self._names(group, found):
                self._condition(rest, found)
        elif self._clashes(group, found, True):
            self._condition(group, found)

    def _condition(self, group: list[CitedItem], found: dict[str, Disambiguation]) -> None:
        if not self.has_condition or len(group) < 2 or self.adds_suffix:
            # They are tried where all other means have failed; a letter never fails.
            return
        waiting = [(group, 1)]
        while waiting:
            items, count = waiting.pop()
            alike: dict[str, list[CitedItem]] = {}
            tested = 0
            for item in items:
                config = (found.get(item.id) or Disambiguation()).copy()
                config.conditions = count
                found[item.id] = config
                shown = self.render(item, config, True)
                alike.setdefault(shown.text, []).append(item)
                tested = max(tested, shown.tested_conditions)
            if count < tested:
                waiting += [(rest, count + 1) for rest in alike.values() if len(rest) > 1]

    def _names(
        self, group: list[CitedItem], found: dict[str, Disambiguation]
    ) -> list[list[CitedItem]]:
        """Opens names step by step; gives back the sets that still look alike."""
        unresolved: list[list[CitedItem]] = []
        # With each set, whether it was set aside: its names are opened before it is looked at.
        waiting = [(group, Disambiguation(), False)]
        while waiting:
            items, base, is_set_aside = waiting.pop(0)
            if len(items) < 2:
                for item in items:
                    found[item.id] = base.copy()
                continue
            target = items[0]
            better = self._open_up(target, items, base) if is_set_aside else None
            if better is None:
                text = self._text(target, base)
                partners = [item for item in items if self._text(item, base) == text]
                if len(partners) < len(items):
                    others = [item for item in items if item not in partners]
                    waiting.insert(0, (partners, base, False))
                    waiting.append((others, base.copy(), len(partners) > 1))
                    continue
                better = self._open_up(target, items, base)
            if better is None:
                for item in items:
                    found[item.id] = base.copy()
                unresolved.append(items)
                continue
            waiting.insert(0, (items, better, False))
        return unresolved

    def _open_up(
        self, target: CitedItem, items: list[CitedItem], base: Disambiguation
    ) -> Disambiguation | None:
        """The first step that sets some items apart from the target; others are undone."""
        sets = self.render(target, base, True).sets
        working = _extend_to_sets(base, sets)
        kept = _extend_to_sets(base, sets)
        for _ in range(_step_limit):
            step = self._step(working, target)
            if step is None:
                return None
            text = self._text(target, working)
            if all(self._text(item, working) == text for item in items):
                continue
            place, position = step
            _extend_to_working(kept, working)
            kept.name_counts[place] = max(kept.name_counts[place], working.name_counts[place])
            if position >= 0:
                # What was shown: without a sign for initials a name is opened in full.
                kept.given_levels[place][position] = self.render(target, working, True).sets[place][
                    2
                ][position]
            return kept
        return None

    def _step(self, working: Disambiguation, target: CitedItem) -> tuple[int, int] | None:
        """Opens one thing more: the next given name that is shown, else the next name."""
        sets = self.render(target, working, True).sets
        for place, (total, shown, levels) in enumerate(sets):
            if place >= len(working.name_counts):
                working.name_counts.append(shown)
                working.given_levels.append(list(levels))
            if self.by_cite:
                row = working.given_levels[place]
                row.extend([FAMILY_ONLY] * (shown - len(row)))
                for position in range(min(shown, len(row))):
                    now = max(row[position], levels[position] if position < len(levels) else 0)
                    if now < FULL:
                        row[position] = now + 1
                        return place, position
            if self.adds_names and shown < total:
                working.name_counts[place] = shown + 1
                return place, -1
        return None


def _extend_to_sets(base: Disambiguation, sets: list[tuple[int, int, list[int]]]) -> Disambiguation:
    filled = base.copy()
    for place, (_, shown, levels) in enumerate(sets):
        if place >= len(filled.name_counts):
            filled.name_counts.append(shown)
        if place >= len(filled.given_levels):
            filled.given_levels.append(list(levels))
    return filled


def _extend_to_working(kept: Disambiguation, working: Disambiguation) -> None:
    for place in range(len(working.name_counts)):
        if place >= len(kept.name_counts):
            kept.name_counts.append(working.name_counts[place])
            kept.given_levels.append([])
        kept.given_levels[place].extend(
            [0] * (len(working.given_levels[place]) - len(kept.given_levels[place]))
        )

"""What ends do to a start, by what sentences say of each and of the bridges between them."""

from collections import defaultdict
from collections.abc import Callable

from carrel.libraries.discovery.concepts.ports import Concepts
from carrel.libraries.discovery.connections.candidates import SentenceRelation, SignCount
from carrel.libraries.discovery.connections.evidence import Quoter
from carrel.libraries.discovery.connections.signs import count_signs
from carrel.libraries.discovery.paths.abc_paths import Side
from carrel.libraries.discovery.records import Literature
from carrel.libraries.relations import standard_lexicon

BRIDGES_READ_FOR_SIGN = 200
"""How many of a start's concepts are looked through for what they do to it; untuned."""

PAPERS_ON_BRIDGE = 60
"""How many papers on a signed bridge are read for what acts on it; untuned."""

DIRECT_COUNTS = 2.0
"""What is said of both ends in one sentence counts as two ways over a bridge; untuned."""


class EffectReader:
    """Finds signed bridges of a start and what acts on them; cached."""

    def __init__(self, index: Concepts, quoter: Quoter) -> None:
        self._index = index
        self._quoter = quoter
        self._signs: dict[tuple[object, ...], SignCount] = {}
        self._acting: dict[int, dict[int, SignCount]] = {}
        self._effects: dict[tuple[object, ...], dict[int, float]] = {}

    def signs(self, concept: int, literature: Literature, *, bridge_acts: bool) -> SignCount:
        """What papers on both say a concept does to a literature's subject, or the reverse."""
        key = concept, literature.label, literature.concepts, bridge_acts
        known = self._signs.get(key)
        if known is None:
            both = literature.documents.intersection(self._index.documents(concept))
            known = self._signs[key] = self._quoter.signs(
                both, concept, literature, bridge_acts=bridge_acts
            )
        return known

    def effects(self, near: Side, can_bridge: Callable[[int], bool]) -> dict[int, float]:
        """By concept: what it does to the start over signed bridges and directly, -: lowers."""
        start = near.literature
        key = start.label, start.concepts
        if key not in self._effects:
            total: dict[int, float] = defaultdict(float)
            for bridge in self._most_used(near, can_bridge):
                weight = self.signs(bridge, start, bridge_acts=True).weight
                if weight:
                    total[bridge] += DIRECT_COUNTS * weight
                    for concept, signs in self._acting_on(bridge).items():
                        total[concept] += weight * signs.weight
            self._effects[key] = {
                number: effect for number, effect in total.items() if not self._is_operation(number)
            }
        return self._effects[key]

    def _most_used(self, near: Side, can_bridge: Callable[[int], bool]) -> list[int]:
        own = {word for number in near.literature.concepts for word in self._words(number)}
        found: list[int] = []
        for number, _ in near.counts.most_common():
            if len(found) == BRIDGES_READ_FOR_SIGN:
                break
            if number in near.literature.concepts or own.issuperset(self._words(number)):
                continue
            if can_bridge(number) and not self._is_operation(number):
                found.append(number)
        return found

    def _words(self, number: int) -> list[str]:
        return self._index.key(number).split(" ")

    def _is_operation(self, number: int) -> bool:
        lexicon = standard_lexicon()
        return all(
            word in lexicon.lowering_nouns or word in lexicon.unknown or word in lexicon.aspects
            for word in self._index.label(number).lower().split(" ")
        )

    def _acting_on(self, bridge: int) -> dict[int, SignCount]:
        known = self._acting.get(bridge)
        if known is None:
            said: dict[int, list[SentenceRelation]] = defaultdict(list)
            for read in self._quoter.newest(self._index.documents(bridge), PAPERS_ON_BRIDGE):
                for concept, relation in self._quoter.acting_on(read, bridge).items():
                    said[concept].append(relation)
            known = {concept: count_signs(found) for concept, found in said.items()}
            self._acting[bridge] = known
        return known

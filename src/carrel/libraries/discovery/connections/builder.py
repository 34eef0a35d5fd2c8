"""Builds connections with their evidence from one state of the index."""

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, replace

from carrel.libraries.discovery.concepts.kinds import (
    can_be_changed,
    generalise_kind,
    is_method_name,
    kind_in_index,
    kind_of,
)
from carrel.libraries.discovery.concepts.words import are_variants, general_level
from carrel.libraries.discovery.connections.candidates import (
    BridgeEvidence,
    CandidateConnection,
    NoveltySearch,
    Origin,
    Testing,
)
from carrel.libraries.discovery.connections.evidence import EffectReader, Quoter
from carrel.libraries.discovery.connections.links import acts_first
from carrel.libraries.discovery.connections.methods import (
    BenchReader,
    is_class_name,
    is_method,
    methods_in,
    tells_nothing,
)
from carrel.libraries.discovery.connections.naming import Namer
from carrel.libraries.discovery.connections.sentences import PaperReader
from carrel.libraries.discovery.goals.records import GoalReading
from carrel.libraries.discovery.paths.abc_paths import Bridge, Side, bridges, leading_bridges, side
from carrel.libraries.discovery.paths.link_prediction import prospect
from carrel.libraries.discovery.paths.literatures import Reader
from carrel.libraries.discovery.records import Concept, Concepts, Corpus, Kind, Literature, Standing
from carrel.libraries.discovery.tuned import CONNECTIONS, KINDS

BRIDGES_SHOWN = 6
PAPERS_SHOWN = 3
METHODS_SHOWN = 5


@dataclass(frozen=True)
class Request:
    """What generation is asked for: how many, what is known, what ranked best, which advice."""

    count: int
    avoid: Collection[str] = ()
    known: Sequence[CandidateConnection] = ()
    best: Sequence[CandidateConnection] = ()
    why_best: str = "proposed first; nothing has been ranked yet"
    weak: frozenset[str] = frozenset()
    strong: frozenset[str] = frozenset()


def is_of_life_sciences(bridges: Sequence[BridgeEvidence]) -> bool:
    """Whether the papers read on some bridges are of the life sciences, by their words."""
    benches = [bench for one in bridges for bench in (one.near_bench, one.far_bench)]
    read = sum(bench.papers for bench in benches)
    return not read or sum(bench.life_papers for bench in benches) >= KINDS.least_life_share * read


def _lead_by_sign(
    weighed: Sequence[tuple[int, BridgeEvidence]], wanted: int
) -> list[BridgeEvidence]:
    """Bridges as they are told: those with a sign on both sides first, where they weigh enough."""
    most = max((bridge.weight_as_said for _, bridge in weighed), default=0.0)

    def rank(one: tuple[int, BridgeEvidence]) -> tuple[bool, bool, int, float]:
        kind, bridge = one
        is_heavy = bridge.weight_as_said >= CONNECTIONS.signed_weight * most
        is_signed = bridge.effect * wanted > 0 if wanted else bool(bridge.effect) and is_heavy
        return is_signed, bridge.is_said, kind, bridge.weight_as_said

    return [bridge for _, bridge in sorted(weighed, key=rank, reverse=True)]


class Layout:
    """Builds connections: bridges, quoted sentences, novelty search and available test methods."""

    def __init__(self, index: Concepts, corpus: Corpus) -> None:
        self.index = index
        self.reader = Reader(index)
        papers = PaperReader(corpus)
        self.quoter = Quoter(index, papers)
        self._namer = Namer(index, papers)
        self._benches = BenchReader()
        self._side: Side | None = None
        self._kinds: dict[int, Kind] = {}
        self._methods: dict[int, bool] = {}
        self._effects = EffectReader(index, self.quoter)

    def connection(
        self,
        reading: GoalReading,
        end: int,
        origin: Origin,
        admits: Callable[[int], bool] = lambda _: True,
        within: frozenset[int] | None = None,
    ) -> CandidateConnection | None:
        """A connection with evidence; None without a bridge. `within` limits the end's papers."""
        c = self.far(reading, end)
        if c is not None and within is not None:
            c = Literature(c.label, c.concepts, c.documents & within)
        if c is None or not c.documents or (c is not reading.end and self.is_entity(end)):
            return None
        ends = {reading.start_concept.key, self.index.key(end)}

        def is_apart(number: int) -> bool:
            return admits(number) and not any(
                are_variants(self.index.key(number), own) for own in ends
            )

        found = (
            *self._opposing(reading, c, is_apart),
            *self.bridges(reading.start, c, CONNECTIONS.bridges_read, is_apart),
        )
        chosen = self._apart(found)[:BRIDGES_SHOWN]
        return self._told(reading, c, end, chosen, origin) if chosen else None

    def _told(
        self,
        reading: GoalReading,
        c: Literature,
        end: int,
        chosen: Sequence[Bridge],
        origin: Origin,
    ) -> CandidateConnection:
        # A bridge that sentences say is told before one as strong that only counts speak for;
        # before all, one by which the end does what the goal asks for.
        wanted, start_acts = reading.wanted_effect, self.start_acts(reading, end)
        weighed = [
            (bridge.kind, self.evidence(bridge, reading.start, c, start_acts=start_acts))
            for bridge in chosen
        ]
        told = _lead_by_sign(weighed, wanted)
        return self._connected(
            reading, c, end, chosen, told, self.novelty(reading.start, c, end), origin
        )

    def _opposing(
        self, reading: GoalReading, c: Literature, admits: Callable[[int], bool]
    ) -> tuple[Bridge, ...]:
        """The bridges by which sentences say that an end does what the goal asks for."""
        wanted, a = reading.wanted_effect, reading.start
        if not wanted:
            return ()
        signs = self._effects.signs
        signed = {
            number
            for number in self.effects(reading)
            if wanted
            * signs(number, a, bridge_acts=True).weight
            * signs(number, c, bridge_acts=False).weight
            > 0
        }
        return self.bridges(a, c, BRIDGES_SHOWN, lambda one: one in signed and admits(one))

    def _apart(self, found: Sequence[Bridge]) -> list[Bridge]:
        kept: list[Bridge] = []
        for bridge in found:
            key = self.index.key(bridge.concept)
            if not self.is_entity(bridge.concept) and not any(
                self.reader.are_close(bridge.concept, other.concept)
                or are_variants(key, self.index.key(other.concept))
                for other in kept
            ):
                kept.append(bridge)
        return kept

    def far(self, reading: GoalReading, end: int) -> Literature | None:
        """The literature of an end."""
        return (
            reading.end
            if end == reading.pair and reading.end
            else self.reader.literature([self.index.key(end)])
        )

    def bridges(
        self, a: Literature, c: Literature, most: int, admits: Callable[[int], bool]
    ) -> tuple[Bridge, ...]:
        """Bridges between two literatures, best first, weighed by the fast method."""
        return leading_bridges(
            self.reader,
            self.side(a),
            c,
            most,
            lambda number: self.can_bridge(number) and admits(number),
        )

    def bridges_of_pair(self, a: Literature, c: Literature, most: int) -> tuple[Bridge, ...]:
        """Bridges between two literatures that the goal asks about, weighed in full."""
        return bridges(self.reader, a, c, most, self.can_bridge)

    def laid_out(
        self,
        reading: GoalReading,
        end: int,
        chosen: Sequence[Bridge],
        origin: Origin,
        *,
        is_way: bool = False,
    ) -> CandidateConnection:
        """The connection over these bridges; with `is_way` the first bridge is the proposal."""
        index = self.index
        a, c = reading.start, self.far(reading, end)
        assert c is not None
        searched = self.novelty(a, c, end)
        if is_way:
            through = a.documents.intersection(c.documents, index.documents(chosen[0].concept))
            searched = replace(searched, way_documents=len(through))
        return self._connected(
            reading,
            c,
            end,
            chosen,
            [
                self.evidence(bridge, a, c, start_acts=self.start_acts(reading, end))
                for bridge in chosen
            ],
            searched,
            origin,
        )

    def _connected(
        self,
        reading: GoalReading,
        c: Literature,
        end: int,
        chosen: Sequence[Bridge],
        told: Sequence[BridgeEvidence],
        searched: NoveltySearch,
        origin: Origin,
    ) -> CandidateConnection:
        reader, a = self.reader, reading.start
        start = self._shown(self.index.number(reading.start_concept.key), reading.start_concept, a)
        far = self._shown(end, self.index.concept(end), c)
        if reading.compares_ends or not is_of_life_sciences(told):
            start, far = generalise_kind(start), generalise_kind(far)
            told = [replace(one, concept=generalise_kind(one.concept)) for one in told]
        return CandidateConnection(
            reading.goal,
            start,
            far,
            tuple(told),
            searched,
            methods_in(
                reader,
                {d for b in chosen for d in (*b.near_documents, *b.far_documents)},
                METHODS_SHOWN,
            ),
            prospect(reader.company_of(a), reader.company(end)),
            origin,
            testing=self._testing(chosen, far),
            start_acts=False if reading.end_acts else None,
        )

    def _shown(self, number: int | None, concept: Concept, literature: Literature) -> Concept:
        """An end as authors write it, or under the goal's name where that differs."""
        if number is None:
            return replace(concept, label=literature.label)
        named = self.concept(number)
        return (
            named
            if literature.label == self.index.label(number)
            else replace(named, label=literature.label)
        )

    def side(self, literature: Literature) -> Side:
        """A literature with its counts and profile; the latest one is cached."""
        if self._side is None or self._side.literature != literature:
            self._side = side(self.reader, literature)
        return self._side

    def can_bridge(self, number: int) -> bool:
        """Whether a concept may be a bridge."""
        reader = self.reader
        return (
            reader.rank_of_kind(number) > 0
            and not is_class_name(self.index.key(number))
            and not reader.is_broad(number, CONNECTIONS.bridges_may_be_broader)
            and not self.tells_nothing(number)
        )

    def is_of_life(self, literature: Literature) -> bool:
        """Whether the papers of a literature are of the life sciences, by their words."""
        read = self.quoter.newest(literature.documents, CONNECTIONS.papers_for_bench)
        bench = self._benches.bench(read)
        return not read or bench.life_papers >= KINDS.least_life_share * len(read)

    def tells_nothing(self, number: int) -> bool:
        """Whether a concept cannot be an end or a bridge."""
        return tells_nothing(self.reader, number) or (
            is_method_name(self.index.key(number)) and self.reader.is_of_laboratory(number)
        )

    def is_entity(self, number: int) -> bool:
        """Whether texts write a phrase as a proper name, and no author gives it as a keyword."""
        return self.index.standing(number) in {
            Standing.PHRASE,
            Standing.WORD,
        } and self._namer.is_name(number)

    def concept(self, number: int) -> Concept:
        """A concept as authors write it, with its kind."""
        return self._namer.concept(number)

    def label(self, number: int) -> str:
        """A concept's name as authors write it."""
        return self.concept(number).label

    def is_method(self, number: int) -> bool:
        """Whether a concept is a research method."""
        if number not in self._methods:
            self._methods[number] = is_method(self.reader, number)
        return self._methods[number]

    def kind(self, number: int) -> Kind:
        """The kind of a concept, from the index alone."""
        if number not in self._kinds:
            self._kinds[number] = kind_in_index(self.index, number)
        return self._kinds[number]

    def is_coherent(self, number: int) -> bool:
        """Whether the papers with a concept have more in common than any papers have."""
        return self.reader.coherence(number) >= CONNECTIONS.least_coherence

    def is_specific(self, number: int) -> bool:
        """Whether the papers of a phrase have in common what its words ask for.

        The more general the words that nobody gave as a name (`regulatory mechanism`,
        `emergence`), the more must speak for one thing behind them.
        """
        if self.index.standing(number) not in {Standing.PHRASE, Standing.WORD}:
            return True
        level = min(general_level(word) for word in self.index.key(number).split(" "))
        asked = CONNECTIONS.least_coherence + CONNECTIONS.coherence_for_level * level
        return self.reader.coherence(number) >= asked

    def company(self, number: int, most: int = CONNECTIONS.neighbours_read) -> list[int]:
        """Specific concepts that occur with a concept, closest first, but its own kind before."""
        reader = self.reader
        own = reader.profile_everywhere(number)
        kind = self.kind(number)
        near = sorted(own.items(), key=lambda item: (-item[1], item[0]))[:most]
        chosen = [
            neighbour
            for neighbour, _ in near
            if reader.rank_of_kind(neighbour) == 2
            and not self.tells_nothing(neighbour)
            and not reader.is_broad(neighbour)
            and not reader.are_close(neighbour, number)
        ]
        return sorted(chosen, key=lambda neighbour: self.kind(neighbour) is not kind)

    def evidence(
        self, bridge: Bridge, a: Literature, c: Literature, *, start_acts: bool = False
    ) -> BridgeEvidence:
        """A bridge with quotations from both sides, and what they say along the chain."""
        concept, quoter = self.concept(bridge.concept), self.quoter
        return BridgeEvidence(
            concept,
            bridge.near,
            bridge.far,
            len(bridge.near_documents),
            len(bridge.far_documents),
            quoter.quote(bridge.near_documents, bridge.concept, a, PAPERS_SHOWN, concept.label),
            quoter.quote(bridge.far_documents, bridge.concept, c, PAPERS_SHOWN, concept.label),
            self._benches.bench(quoter.newest(bridge.near_documents, CONNECTIONS.papers_for_bench)),
            self._benches.bench(quoter.newest(bridge.far_documents, CONNECTIONS.papers_for_bench)),
            self._effects.signs(bridge.concept, a, bridge_acts=not start_acts),
            self._effects.signs(bridge.concept, c, bridge_acts=start_acts),
        )

    def start_acts(self, reading: GoalReading, end: int) -> bool:
        """Whether the start is the cause; an answer to a goal for treatments or causes acts."""
        if reading.end_acts:
            return False
        start = self.index.number(reading.start_concept.key)
        first = reading.start_concept if start is None else self.concept(start)
        return acts_first(first, self.concept(end))

    def is_on_way(self, reading: GoalReading, number: int) -> bool:
        """Whether a bridge is the one that the goal names, where it names one: `via X`."""
        way = reading.through
        return way is None or number == way or self.reader.are_close(number, way)

    def effects(self, reading: GoalReading) -> dict[int, float]:
        """By concept: what sentences say it does to the start, below 0 where it lowers it."""
        return self._effects.effects(
            reading.start, self.side(reading.start).counts, self._can_carry_sign
        )

    def _can_carry_sign(self, number: int) -> bool:
        return (
            self.can_bridge(number)
            and self.reader.rank_of_kind(number) == 2
            and self.reader.coherence(number) >= CONNECTIONS.least_signed_coherence
        )

    def novelty(self, a: Literature, c: Literature, end: int) -> NoveltySearch:
        """The search of the whole index for both ends together."""
        both = a.documents & c.documents
        return NoveltySearch(
            len(self.index),
            len(a.documents),
            len(c.documents),
            len(both),
            self.reader.counted.expected(len(a.documents), len(c.documents)),
            self.quoter.quote(both, end, a, PAPERS_SHOWN),
        )

    def _testing(self, chosen: Sequence[Bridge], end: Concept) -> Testing:
        near = [self._methods_of(bridge.near_documents) for bridge in chosen]
        far = [self._methods_of(bridge.far_documents) for bridge in chosen]
        shared = set().union(*near) & set().union(*far)
        most_used = sorted(shared, key=lambda number: (-self.index.frequency(number), number))
        kind = kind_of(end)
        return Testing(
            2 * len(chosen),
            sum(map(bool, (*near, *far))),
            tuple(self.index.label(number) for number in most_used[:METHODS_SHOWN]),
            kind.value,
            can_be_changed(kind),
        )

    def _methods_of(self, documents: Sequence[int]) -> set[int]:
        return {
            number
            for document in documents[: CONNECTIONS.methods_read]
            for number in self.index.mentions_of(document)
            if self.is_method(number)
        }

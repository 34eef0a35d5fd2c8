"""Candidate connections for a goal, by four methods that differ in what they hold fixed and what they question."""

from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import replace
from itertools import islice

from carrel.rooms.research.discovery.benches import BenchReader
from carrel.rooms.research.discovery.connections import (
    BridgeEvidence,
    CandidateConnection,
    GenerationMethod,
    NoveltySearch,
    Origin,
    Turn,
)
from carrel.rooms.research.discovery.errors import NoConnectionError
from carrel.rooms.research.discovery.evidence import Quoter
from carrel.rooms.research.discovery.goals import GoalReading, read_goal
from carrel.rooms.research.discovery.index import ConceptIndex
from carrel.rooms.research.discovery.kinds import is_method_name
from carrel.rooms.research.discovery.literatures import Literature, Reader, similarity
from carrel.rooms.research.discovery.methods import is_method, methods_in
from carrel.rooms.research.discovery.naming import Namer, are_variants
from carrel.rooms.research.discovery.paths import Bridge, End, Side, ends, first_bridges, is_rare, leading_bridges, prospect, side
from carrel.rooms.research.discovery.ports import Corpus
from carrel.rooms.research.discovery.reading import PaperReader
from carrel.rooms.research.discovery.records import Concept
from carrel.rooms.research.discovery.wording import counted, named, papers

BRIDGES_SHOWN = 6
BRIDGES_READ = 12
PAPERS_SHOWN = 3
METHODS_SHOWN = 5
PAPERS_FOR_BENCH = 12
LEAST_COHERENCE = 1.5
BRIDGES_MAY_BE_BROADER = 4.0
ENDS_PER_WANTED = 3


class Discovery:
    """Literature-based discovery over one index: reads goals, finds connections, and lays their evidence out."""

    def __init__(self, index: ConceptIndex, corpus: Corpus) -> None:
        self._index = index
        self._corpus = corpus
        self._start_reading()

    def _start_reading(self) -> None:
        read = PaperReader(self._corpus)
        self._reader = Reader(self._index)
        self._quoter = Quoter(self._index, read)
        self._namer = Namer(self._index, read)
        self._benches = BenchReader()
        self._latest_side: Side | None = None

    @property
    def reader(self) -> Reader:
        """The reader of the index as it is now."""
        if not self._reader.is_current:
            self._start_reading()
        return self._reader

    def concept(self, number: int) -> Concept:
        """A concept as authors write it, with its kind."""
        return self._namer.concept(number)

    def read_goal(self, goal: str) -> GoalReading:
        """What a goal is about, in the corpus's own concepts."""
        return read_goal(self.reader, goal)

    def generate(
        self,
        goal: str,
        method: GenerationMethod = GenerationMethod.LITERATURE_BASED,
        count: int = 10,
        best: Sequence[CandidateConnection] = (),
        avoid: Collection[str] = (),
    ) -> tuple[CandidateConnection, ...]:
        """Up to `count` connections, likeliest first; `avoid` names the keys of ends already proposed, `best` those to expand."""
        reading = self.read_goal(goal)
        ways: dict[GenerationMethod, Callable[[], Iterator[CandidateConnection]]] = {
            GenerationMethod.LITERATURE_BASED: lambda: self._best_paths(reading, count, avoid),
            GenerationMethod.DEBATE: lambda: self._debated(reading, count, avoid),
            GenerationMethod.ASSUMPTIONS: lambda: self._without_the_usual(reading, count, avoid),
            GenerationMethod.EXPANSION: lambda: self._expanded(reading, count, best, avoid),
        }
        found = tuple(islice(ways[method](), count))
        if not found:
            raise NoConnectionError(reading.start.label, len(reading.start.documents))
        return found

    def connect(self, goal: str, start: str, end: str) -> CandidateConnection:
        """Closed discovery: the two ends are given as names; their bridges are looked for."""
        first, last = self.read_goal(start), self.read_goal(end)
        number = self._index.number(last.start_concept.key)
        assert number is not None
        note = "Both ends were given; the bridges between them were searched for."
        connection = self.connection(replace(first, goal=goal), number, Origin(GenerationMethod.LITERATURE_BASED, note))
        if connection is None:
            raise NoConnectionError(first.start.label, len(first.start.documents))
        return connection

    def connection(
        self,
        reading: GoalReading,
        end: int,
        origin: Origin,
        admits: Callable[[int], bool] = lambda _: True,
        within: frozenset[int] | None = None,
    ) -> CandidateConnection | None:
        """A connection with its evidence laid out, or None when no bridge holds on both sides; `within` keeps its end to some papers."""
        reader, index = self.reader, self._index
        a, c = reading.start, reader.literature([index.key(end)])
        if c is not None and within is not None:
            c = Literature(c.label, c.concepts, c.documents & within)
        if c is None or not c.documents:
            return None
        ends = {reading.start_concept.key, index.key(end)}
        found = leading_bridges(
            reader,
            self._side(a),
            c,
            BRIDGES_READ,
            lambda number: (
                self._can_bridge(number) and admits(number) and not any(are_variants(index.key(number), own) for own in ends)
            ),
        )
        chosen = self._apart(found)[:BRIDGES_SHOWN]
        if not chosen:
            return None
        start = index.number(reading.start_concept.key)
        # A bridge that sentences say is told before one as strong that only counts speak for.
        weighed = [(bridge.kind, self.evidence(bridge, a, c)) for bridge in chosen]
        told = [bridge for _, bridge in sorted(weighed, key=lambda one: (one[0], one[1].weight_as_said), reverse=True)]
        return CandidateConnection(
            reading.goal,
            self._start_concept(reading, start),
            self.concept(end),
            tuple(told),
            self.novelty(a, c, end),
            methods_in(reader, {d for b in chosen for d in (*b.near_documents, *b.far_documents)}, METHODS_SHOWN),
            prospect(reader, start, end) if start is not None else 0.0,
            origin,
        )

    def _start_concept(self, reading: GoalReading, start: int | None) -> Concept:
        if start is None or reading.start.label != self._index.label(start):
            return replace(reading.start_concept, label=reading.start.label)
        return self.concept(start)

    def _apart(self, found: Sequence[Bridge]) -> list[Bridge]:
        kept: list[Bridge] = []
        for bridge in found:
            key = self._index.key(bridge.concept)
            if not any(
                self.reader.are_close(bridge.concept, other.concept) or are_variants(key, self._index.key(other.concept))
                for other in kept
            ):
                kept.append(bridge)
        return kept

    def _side(self, literature: Literature) -> Side:
        if self._latest_side is None or self._latest_side.literature != literature:
            self._latest_side = side(self.reader, literature)
        return self._latest_side

    def _can_bridge(self, number: int) -> bool:
        reader = self.reader
        return not self._is_method(number) and not reader.is_broad(number, BRIDGES_MAY_BE_BROADER)

    def _is_method(self, number: int) -> bool:
        return is_method(self.reader, number) or is_method_name(self._index.key(number))

    def evidence(self, bridge: Bridge, a: Literature, c: Literature) -> BridgeEvidence:
        """A bridge with quotations from both sides."""
        concept, quoter = self.concept(bridge.concept), self._quoter
        return BridgeEvidence(
            concept,
            bridge.near,
            bridge.far,
            len(bridge.near_documents),
            len(bridge.far_documents),
            quoter.quote(bridge.near_documents, bridge.concept, a, PAPERS_SHOWN, concept.label),
            quoter.quote(bridge.far_documents, bridge.concept, c, PAPERS_SHOWN, concept.label),
            self._benches.bench(quoter.newest(bridge.near_documents, PAPERS_FOR_BENCH)),
            self._benches.bench(quoter.newest(bridge.far_documents, PAPERS_FOR_BENCH)),
        )

    def novelty(self, a: Literature, c: Literature, end: int) -> NoveltySearch:
        """What the whole index says of both ends together."""
        both = a.documents & c.documents
        return NoveltySearch(
            len(self._index),
            len(a.documents),
            len(c.documents),
            len(both),
            self.reader.counted.expected(len(a.documents), len(c.documents)),
            self._quoter.quote(both, end, a, PAPERS_SHOWN),
        )

    def _ends(self, reading: GoalReading, count: int, avoid: Collection[str], without: Collection[int] = ()) -> Iterator[End]:
        reader, index = self.reader, self._index

        def admits(number: int) -> bool:
            return (
                index.key(number) not in avoid
                and (reading.wanted is None or index.sphere(number) is reading.wanted)
                and not self._is_method(number)
                and not reader.is_broad(number)
                and reader.coherence(number) >= LEAST_COHERENCE
            )

        def bridge_admits(number: int) -> bool:
            return self._can_bridge(number) and not any(reader.are_close(number, one) for one in without)

        found = ends(reader, reading.start, count * ENDS_PER_WANTED, admits, bridge_admits)
        if not found and reading.wanted is not None:
            yield from self._ends(replace(reading, wanted=None), count, avoid, without)
        yield from found

    def _best_paths(self, reading: GoalReading, count: int, avoid: Collection[str]) -> Iterator[CandidateConnection]:
        if reading.pair is not None and self._index.key(reading.pair) not in avoid:
            note = "The goal names both ends; the bridges between them were searched for."
            asked = self.connection(reading, reading.pair, Origin(GenerationMethod.LITERATURE_BASED, note))
            if asked is not None:
                yield asked
        for end in self._ends(reading, count, avoid):
            if end.concept != reading.pair:
                connection = self.connection(reading, end.concept, Origin(GenerationMethod.LITERATURE_BASED))
                if connection is not None:
                    yield connection

    def _debated(self, reading: GoalReading, count: int, avoid: Collection[str]) -> Iterator[CandidateConnection]:
        for end in self._ends(reading, count, avoid):
            plain = self.connection(reading, end.concept, Origin(GenerationMethod.DEBATE))
            if plain is None or len(plain.bridges) < 2:
                continue
            champion, rival = plain.bridges[0], self._rival(plain.bridges)
            turns = (
                _plea(champion, plain),
                _plea(rival, plain),
                self._objection(champion, reading),
                self._objection(rival, reading),
            )
            standing = sorted((champion, rival), key=_after_objections, reverse=True)
            rest = [bridge for bridge in plain.bridges if bridge not in (champion, rival)]
            verdict = f"The debate put {named(standing[0].concept)} before {named(standing[1].concept)}."
            origin = Origin(GenerationMethod.DEBATE, verdict, (), turns)
            yield replace(plain, bridges=(*standing, *rest), origin=origin)

    def _rival(self, found: Sequence[BridgeEvidence]) -> BridgeEvidence:
        # The best bridge that leads another way, so that the two cannot both be the whole story.
        reader, index = self.reader, self._index
        numbers = [index.number(bridge.concept.key) for bridge in found]
        first = reader.profile_everywhere(numbers[0]) if numbers[0] is not None else {}
        likeness = [similarity(first, reader.profile_everywhere(number)) if number is not None else 1.0 for number in numbers]
        return min(found[1:4], key=lambda bridge: likeness[found.index(bridge)])

    def _objection(self, bridge: BridgeEvidence, reading: GoalReading) -> Turn:
        contrary = tuple(e for e in (*bridge.near_evidence, *bridge.far_evidence) if e.is_contrary)
        thin = f"its thinner side rests on {bridge.weaker_side_documents} of {papers(len(self._index))}"
        if contrary:
            denied = counted(len(contrary), "quoted sentence")
            says = f"Against {bridge.concept.label}: {denied} {'denies' if len(contrary) == 1 else 'deny'} something, and {thin}."
        else:
            says = f"Against {bridge.concept.label}: no quoted sentence denies it, but {thin}."
        return Turn(f"against {bridge.concept.label}", says, contrary)

    def _without_the_usual(self, reading: GoalReading, count: int, avoid: Collection[str]) -> Iterator[CandidateConnection]:
        reader, index = self.reader, self._index
        near = self._side(reading.start)
        usual = sorted(first_bridges(reader, near)[:20], key=lambda lead: (near.counts[lead[1]], lead[0]), reverse=True)
        taken = set(avoid)
        for _, removed in usual[: max(1, (count + 4) // 5)]:
            contrary = self._quoter.contrary(index.documents(removed), removed, reading.start, PAPERS_SHOWN)
            label = self.concept(removed).label
            held = f"{label}, in {near.counts[removed]} of {papers(len(near.documents))} on {reading.start.label}"
            note = f"Assumption questioned: {held}. What still connects without it?"
            said = f"{counted(len(contrary), 'quoted sentence')} {'denies' if len(contrary) == 1 else 'deny'} something about it."
            turns = (Turn(f"against {label}", said, contrary),)
            made = 0
            for end in self._ends(reading, count, taken, without=(removed,)):
                if made == 5:
                    break
                origin = Origin(GenerationMethod.ASSUMPTIONS, note, (), turns if contrary else ())
                connection = self._connection_without(reading, end, removed, origin)
                if connection is not None:
                    made += 1
                    taken.add(connection.end.key)
                    yield connection

    def _connection_without(self, reading: GoalReading, end: End, removed: int, origin: Origin) -> CandidateConnection | None:
        if self.reader.are_close(end.concept, removed):
            return None
        return self.connection(reading, end.concept, origin, lambda number: not self.reader.are_close(number, removed))

    def _expanded(
        self, reading: GoalReading, count: int, best: Sequence[CandidateConnection], avoid: Collection[str]
    ) -> Iterator[CandidateConnection]:
        seeds = list(best) or self._own_seeds(reading, avoid)
        taken = {*avoid, *(seed.end.key for seed in seeds)}
        waiting = [(seed, self._neighbours(reading, seed)) for seed in seeds]
        while waiting:
            for turn in list(waiting):
                seed, neighbours = turn
                found = next((number for number in neighbours if self._index.key(number) not in taken), None)
                if found is None:
                    waiting.remove(turn)
                    continue
                taken.add(self._index.key(found))
                note = f"A neighbour of {seed.end.label}, the end of a connection that did well."
                connection = self.connection(reading, found, Origin(GenerationMethod.EXPANSION, note, (seed.key,)))
                if connection is not None:
                    yield connection

    def _own_seeds(self, reading: GoalReading, avoid: Collection[str]) -> list[CandidateConnection]:
        # Where nothing has done well yet, the best third of a few paths stands in for it.
        found = list(islice(self._best_paths(reading, 3, avoid), 9))
        return found[: (len(found) + 2) // 3]

    def _neighbours(self, reading: GoalReading, seed: CandidateConnection) -> Iterator[int]:
        reader, index = self.reader, self._index
        number = index.number(seed.end.key)
        if number is None:
            return
        own = reader.profile_everywhere(number)
        near = self._side(reading.start)
        company = sorted(own.items(), key=lambda item: (-item[1], item[0]))[:60]
        for neighbour, _ in company:
            if (
                reader.rank_of_kind(neighbour) == 2
                and not self._is_method(neighbour)
                and not reader.is_broad(neighbour)
                and not reader.are_close(neighbour, number)
                and not reader.is_close(neighbour, reading.start)
                and is_rare(reader, near.counts[neighbour], len(near.documents), index.frequency(neighbour))
            ):
                yield neighbour


def _plea(bridge: BridgeEvidence, connection: CandidateConnection) -> Turn:
    says = (
        f"For {bridge.concept.label}: {papers(bridge.near_documents)} on {connection.start.label} and {bridge.far_documents} "
        f"on {connection.end.label} speak of it."
    )
    return Turn(f"for {bridge.concept.label}", says, (*bridge.near_evidence[:1], *bridge.far_evidence[:1]))


def _after_objections(bridge: BridgeEvidence) -> float:
    quoted = (*bridge.near_evidence, *bridge.far_evidence)
    denied = sum(evidence.is_contrary for evidence in quoted)
    return bridge.weight * (1 - denied / (len(quoted) + 1))

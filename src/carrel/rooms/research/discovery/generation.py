"""Candidate connections for a goal: read, looked for by one of four methods, and laid out with their evidence."""

from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import islice

from carrel.rooms.research.discovery.connections import (
    BridgeEvidence,
    CandidateConnection,
    GenerationMethod,
    NoveltySearch,
    Origin,
    Testing,
)
from carrel.rooms.research.discovery.errors import NoConnectionError
from carrel.rooms.research.discovery.evidence import Quoter
from carrel.rooms.research.discovery.goals import GoalReading, read_goal
from carrel.rooms.research.discovery.index import ConceptIndex
from carrel.rooms.research.discovery.kinds import CAN_BE_CHANGED, Kind, kind_of
from carrel.rooms.research.discovery.literatures import Literature, Reader
from carrel.rooms.research.discovery.methods import is_method, methods_in
from carrel.rooms.research.discovery.pair_methods import PairMethods
from carrel.rooms.research.discovery.paths import Bridge, Side, leading_bridges, prospect, side
from carrel.rooms.research.discovery.ports import Corpus
from carrel.rooms.research.discovery.start_methods import StartMethods

BRIDGES_SHOWN = 6
PAPERS_SHOWN = 3
METHODS_SHOWN = 5
METHODS_READ = 40
BRIDGES_MAY_BE_BROADER = 4.0


@dataclass(frozen=True)
class Request:
    """What is asked of a method: how many, what there is already, what did best, and what the meta-review advises."""

    count: int
    avoid: Collection[str] = ()
    known: Sequence[CandidateConnection] = ()
    best: Sequence[CandidateConnection] = ()
    why_best: str = "proposed first; nothing has been ranked yet"
    weak: frozenset[str] = frozenset()
    strong: frozenset[str] = frozenset()


@dataclass
class _Remembered:
    """What was worked out for one state of the index."""

    reader: Reader
    side: Side | None = None
    readings: dict[str, GoalReading] = field(default_factory=dict)
    kinds: dict[int, Kind] = field(default_factory=dict)
    methods: dict[int, bool] = field(default_factory=dict)


class Discovery:
    """Literature-based discovery over one index: reads goals, finds connections, and lays their evidence out."""

    def __init__(self, index: ConceptIndex, corpus: Corpus) -> None:
        self.index = index
        self._corpus = corpus
        self.quoter = Quoter(index, corpus)
        self._remembered = _Remembered(Reader(index))
        self._from_start = StartMethods(self)
        self._between_ends = PairMethods(self)

    @property
    def reader(self) -> Reader:
        """The reader of the index as it is now."""
        if not self._remembered.reader.is_current:
            self._remembered = _Remembered(Reader(self.index))
            self._from_start = StartMethods(self)
            self._between_ends = PairMethods(self)
        return self._remembered.reader

    def read_goal(self, goal: str) -> GoalReading:
        """What a text is about, in the corpus's own concepts, by its words alone."""
        return read_goal(self.reader, goal)

    def understand(self, goal: str) -> GoalReading:
        """The reading that generation works with: where the first one leads nowhere the next is taken, and that is said."""
        reader = self.reader
        known = self._remembered.readings
        if goal not in known:
            known[goal] = self._settled(read_goal(reader, goal))
        return known[goal]

    def generate(
        self,
        goal: str,
        method: GenerationMethod = GenerationMethod.LITERATURE_BASED,
        count: int = 10,
        best: Sequence[CandidateConnection] = (),
        avoid: Collection[str] = (),
        request: Request | None = None,
    ) -> tuple[CandidateConnection, ...]:
        """Up to `count` connections, likeliest first; `avoid` names the keys of ends already proposed, `best` those to expand."""
        reading = self.understand(goal)
        asked = request or Request(count, avoid, best=best)
        ways = self._between_ends if reading.is_closed else self._from_start
        found = tuple(islice(ways.by(method, reading, asked), count))
        if not found and reading.is_closed and self._between_ends.is_to_be_widened(reading):
            found = tuple(self._widened(reading, method, asked))
        if not found:
            why = self._between_ends.why_none(reading, asked) if reading.is_closed else ""
            raise NoConnectionError(reading.start.label, len(reading.start.documents), why)
        return found

    def connect(self, goal: str, start: str, end: str) -> CandidateConnection:
        """Closed discovery: the two ends are given as names; their bridges are looked for."""
        first, last = self.read_goal(start), self.read_goal(end)
        number = self.index.number(last.start_concept.key)
        assert number is not None
        note = "Both ends were given; the bridges between them were searched for."
        reading = replace(first, goal=goal, pair=number, end=last.start)
        connection = self.connection(reading, number, Origin(GenerationMethod.LITERATURE_BASED, note))
        if connection is None:
            raise NoConnectionError(first.start.label, len(first.start.documents))
        return connection

    def connection(
        self,
        reading: GoalReading,
        end: int,
        origin: Origin,
        admits: Callable[[int], bool] = lambda _: True,
    ) -> CandidateConnection | None:
        """A connection with its evidence laid out, or None when no bridge holds on both sides."""
        c = self.far(reading, end)
        chosen = () if c is None else self.bridges(reading.start, c, BRIDGES_SHOWN, admits)
        return self.laid_out(reading, end, chosen, origin) if chosen else None

    def far(self, reading: GoalReading, end: int) -> Literature | None:
        """The literature of an end."""
        return reading.end if end == reading.pair and reading.end else self.reader.literature([self.index.key(end)])

    def bridges(
        self, a: Literature, c: Literature, most: int, admits: Callable[[int], bool], leasts: Sequence[int] = (2, 1)
    ) -> tuple[Bridge, ...]:
        """What joins two literatures, best first."""
        return leading_bridges(
            self.reader, self.side(a), c, most, lambda number: self.can_bridge(number) and admits(number), leasts
        )

    def laid_out(
        self, reading: GoalReading, end: int, chosen: Sequence[Bridge], origin: Origin, *, is_way: bool = False
    ) -> CandidateConnection:
        """The connection over these bridges; `is_way` where the pair was asked for and the first bridge is what is proposed."""
        reader, index = self.reader, self.index
        a, c = reading.start, self.far(reading, end)
        assert c is not None
        searched = self.novelty(a, c, end)
        if is_way:
            through = a.documents.intersection(c.documents, index.documents(chosen[0].concept))
            searched = replace(searched, way_documents=len(through))
        start = index.number(reading.start_concept.key)
        return CandidateConnection(
            reading.goal,
            replace(reading.start_concept, label=a.label),
            replace(index.concept(end), label=c.label),
            tuple(self.evidence(bridge, a, c) for bridge in chosen),
            searched,
            methods_in(reader, {d for b in chosen for d in (*b.near_documents, *b.far_documents)}, METHODS_SHOWN),
            prospect(reader, start, end) if start is not None else 0.0,
            origin,
            testing=self._testing(chosen, end),
        )

    def side(self, literature: Literature) -> Side:
        """A literature ready to be bridged from; the latest one is remembered."""
        reader = self.reader
        if self._remembered.side is None or self._remembered.side.literature != literature:
            self._remembered.side = side(reader, literature)
        return self._remembered.side

    def can_bridge(self, number: int) -> bool:
        """Whether a concept may stand between two others."""
        return not self.is_method(number) and not self.reader.is_broad(number, BRIDGES_MAY_BE_BROADER)

    def is_method(self, number: int) -> bool:
        """Whether a concept names a way of finding out."""
        known = self._remembered.methods
        if number not in known:
            known[number] = is_method(self.reader, number)
        return known[number]

    def kind(self, number: int) -> Kind:
        """What sort of thing a concept is."""
        known = self._remembered.kinds
        if number not in known:
            known[number] = kind_of(self.index, number)
        return known[number]

    def evidence(self, bridge: Bridge, a: Literature, c: Literature) -> BridgeEvidence:
        """A bridge with quotations from both sides."""
        return BridgeEvidence(
            self.index.concept(bridge.concept),
            bridge.near,
            bridge.far,
            len(bridge.near_documents),
            len(bridge.far_documents),
            self.quoter.quote(bridge.near_documents, bridge.concept, a, PAPERS_SHOWN),
            self.quoter.quote(bridge.far_documents, bridge.concept, c, PAPERS_SHOWN),
        )

    def novelty(self, a: Literature, c: Literature, end: int) -> NoveltySearch:
        """What the whole index says of both ends together."""
        both = a.documents & c.documents
        return NoveltySearch(
            len(self.index),
            len(a.documents),
            len(c.documents),
            len(both),
            self.reader.counted.expected(len(a.documents), len(c.documents)),
            self.quoter.quote(both, end, a, PAPERS_SHOWN),
        )

    def _testing(self, chosen: Sequence[Bridge], end: int) -> Testing:
        near = [self._methods_of(bridge.near_documents) for bridge in chosen]
        far = [self._methods_of(bridge.far_documents) for bridge in chosen]
        shared = set().union(*near) & set().union(*far)
        kind = self.kind(end)
        return Testing(
            2 * len(chosen),
            sum(map(bool, (*near, *far))),
            tuple(self.index.label(number) for number in sorted(shared, key=lambda number: (-self.index.frequency(number), number)))[:METHODS_SHOWN],
            kind.value,
            kind in CAN_BE_CHANGED,
        )

    def _methods_of(self, documents: Sequence[int]) -> set[int]:
        return {
            number for document in documents[:METHODS_READ] for number in self.index.mentioned(document) if self.is_method(number)
        }

    def _widened(self, reading: GoalReading, method: GenerationMethod, asked: Request) -> Iterator[CandidateConnection]:
        assert reading.end is not None
        alone = replace(reading, pair=None, end=None, through=None)
        note = f"Widened: what joins {reading.end.label} and {reading.start.label} here is used up, so {reading.end.label} is left aside."
        for made in islice(self._from_start.by(method, alone, asked), asked.count):
            yield replace(made, origin=replace(made.origin, note=f"{note} {made.origin.note}".strip()))

    def _settled(self, reading: GoalReading) -> GoalReading:
        """The same reading where it leads somewhere, else the first of its fallbacks that does."""
        notes = list(reading.notes)
        if reading.is_closed:
            if self._between_ends.has_any(reading):
                return replace(reading, notes=(*notes, *self._between_ends.notes(reading)))
            assert reading.end is not None
            notes.append(f"No concept joins {reading.end.label} and {reading.start.label} here, so the ends are looked at one by one.")
        for one in self._open_readings(reading):
            if self._from_start.has_any(one):
                return replace(one, notes=tuple(notes))
            notes.append(
                f"The {len(one.start.documents)} papers on {one.start.label} lead to nothing that is not already studied with it."
            )
        return replace(reading, pair=None, end=None, notes=tuple(notes))

    def _open_readings(self, reading: GoalReading) -> Iterator[GoalReading]:
        yield replace(reading, pair=None, end=None, through=None)
        for thing in reading.fallbacks:
            concept = replace(self.index.concept(thing.number), label=thing.literature.label)
            yield replace(reading, start=thing.literature, start_concept=concept, pair=None, end=None, through=None)

"""Generation of candidate connections for a goal, by one of four methods."""

from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import combinations, islice

from carrel.libraries.discovery.connections.builder import BRIDGES_SHOWN, Layout, Request
from carrel.libraries.discovery.connections.candidates import (
    CandidateConnection,
    GenerationMethod,
    Origin,
    Relevance,
)
from carrel.libraries.discovery.errors import NoConnectionError
from carrel.libraries.discovery.generation.closed_discovery import PairMethods
from carrel.libraries.discovery.generation.open_discovery import StartMethods
from carrel.libraries.discovery.goals.asked_for import speaks_of_medicine
from carrel.libraries.discovery.goals.reading import (
    narrow_reading,
    read_goal,
)
from carrel.libraries.discovery.goals.records import AskedFor, GoalReading, Thing, Wanted
from carrel.libraries.discovery.goals.scope import excluded_concepts
from carrel.libraries.discovery.goals.spans import adopt_whole_names, counted
from carrel.libraries.discovery.goals.statement import parse_goal
from carrel.libraries.discovery.paths.abc_paths import first_bridges
from carrel.libraries.discovery.paths.literatures import Reader
from carrel.libraries.discovery.records import Concepts, Corpus
from carrel.libraries.discovery.tuned import GENERATION


@dataclass(frozen=True)
class _State:
    """Caches that are valid for one state of the index."""

    layout: Layout
    from_start: StartMethods
    between_ends: PairMethods
    readings: dict[str, GoalReading] = field(default_factory=dict)


class Discovery:
    """Literature-based discovery over one index: reads goals, finds connections with evidence."""

    def __init__(self, index: Concepts, corpus: Corpus) -> None:
        self.index = index
        self._corpus = corpus
        self._state: _State | None = None

    @property
    def layout(self) -> Layout:
        """What builds connections from the index as it is now."""
        return self._now.layout

    @property
    def reader(self) -> Reader:
        """The reader of the index as it is now."""
        return self.layout.reader

    @property
    def _now(self) -> _State:
        if self._state is None or not self._state.layout.reader.is_current:
            layout = Layout(self.index, self._corpus)
            self._state = _State(layout, StartMethods(layout), PairMethods(layout))
        return self._state

    def read_goal(self, goal: str) -> GoalReading:
        """A goal as concepts of the corpus; raises GoalNotInCorpusError where it has none."""
        adopt_whole_names(self.index, parse_goal(goal))
        return self._of_its_field(read_goal(self.reader, goal))

    def _of_its_field(self, reading: GoalReading) -> GoalReading:
        """The reading with kinds of answers that its field has: no genes for a goal in finance."""
        layout = self.layout
        ends = [one for one in (reading.start, reading.end) if one is not None]
        if not speaks_of_medicine(reading.goal) and not all(map(layout.is_of_life, ends)):
            return replace(reading, wanted=None)
        statement = reading.statement
        if reading.wanted in {None, Wanted.MECHANISM} and not reading.is_closed:
            if statement is not None and statement.asked_for is AskedFor.INTERVENTIONS:
                return replace(reading, wanted=Wanted.INTERVENTION)
            if statement is not None and statement.asked_for is not AskedFor.MECHANISM:
                return replace(reading, wanted=None)
        return reading

    def understand(self, goal: str) -> GoalReading:
        """The first reading of a goal that yields connections; its notes say what was changed."""
        known = self._now.readings
        if goal not in known:
            settled = self._settled(self.read_goal(goal))
            known[goal] = self._named(narrow_reading(self.reader, settled, self._leads_on))
        return known[goal]

    def leading_bridges(self, goal: str, count: int) -> tuple[str, ...]:
        """What the papers on a goal's start lead to first: names to read on about."""
        reading, layout, reader = self.read_goal(goal), self.layout, self.reader
        near = layout.side(reading.start)
        leads = [number for _, number in first_bridges(reader, near, layout.can_bridge)]
        # Where all papers are on the start nothing stands out against others: then by their number.
        leads += [
            number
            for number, papers in near.counts.most_common()
            if papers > 1
            and number not in leads
            and reader.has_first_rank(number)
            and not reader.is_close(number, reading.start)
            and layout.can_bridge(number)
        ]
        return tuple(layout.label(number) for number in leads[:count])

    def _leads_on(self, reading: GoalReading) -> bool:
        """Whether anything would be proposed for a reading."""
        state = self._now
        methods = state.between_ends if reading.is_closed else state.from_start
        return methods.has_any(reading)

    def excludes(self, goal: str, connection: CandidateConnection) -> bool:
        """Whether a goal rules out what a connection proposes: its end or its first bridge."""
        excluded = excluded_concepts(self.reader, parse_goal(goal))
        if not excluded:
            return False
        proposed = (connection.end, *connection.also_ends, connection.bridges[0].concept)
        numbers = (self.index.number(concept.key) for concept in proposed)
        return any(number in excluded for number in numbers)

    def _named(self, reading: GoalReading) -> GoalReading:
        """The reading with ends labelled as authors write them, unless the goal names them."""
        layout, start = self._now.layout, self.index.number(reading.start_concept.key)
        if start is not None and reading.start.label == self.index.label(start):
            reading = replace(reading, start=replace(reading.start, label=layout.label(start)))
        if (
            reading.pair is not None
            and reading.end is not None
            and reading.end.label == self.index.label(reading.pair)
        ):
            reading = replace(reading, end=replace(reading.end, label=layout.label(reading.pair)))
        return reading

    def generate(
        self,
        goal: str,
        method: GenerationMethod = GenerationMethod.LITERATURE_BASED,
        count: int = 10,
        best: Sequence[CandidateConnection] = (),
        avoid: Collection[str] = (),
        request: Request | None = None,
    ) -> tuple[CandidateConnection, ...]:
        """At most `count` connections, best first; raises NoConnectionError if there are none."""
        reading = self.understand(goal)
        asked = request or Request(count, avoid, best=best)
        ways = self._now.between_ends if reading.is_closed else self._now.from_start
        allowed = (
            one for one in ways.by(method, reading, asked) if not self.excludes(reading.goal, one)
        )
        found, left_out = best_supported(allowed, count)
        if not found and reading.is_closed and self._now.between_ends.is_to_be_widened(reading):
            found = tuple(self._widened(reading, method, asked))
        if not found:
            why = self._now.between_ends.why_none(reading, asked) if reading.is_closed else ""
            if left_out:
                reasons = "; ".join(dict.fromkeys(left_out))
                why = f"{counted(len(left_out), 'connection')} looked at and left out: {reasons}."
            raise NoConnectionError(reading.start.label, len(reading.start.documents), why)
        return found

    def connect(self, goal: str, start: str, end: str) -> CandidateConnection:
        """Closed discovery: the two ends are given as names; their bridges are looked for."""
        first, last = self.read_goal(start), self.read_goal(end)
        number = self.index.number(last.start_concept.key)
        assert number is not None
        note = "Both ends were given; the bridges between them were searched for."
        reading = replace(first, goal=goal, pair=number, end=last.start)
        layout = self.layout
        chosen = layout.bridges_of_pair(first.start, last.start, BRIDGES_SHOWN)
        if not chosen:
            raise NoConnectionError(first.start.label, len(first.start.documents))
        return layout.laid_out(
            reading, number, chosen, Origin(GenerationMethod.LITERATURE_BASED, note)
        )

    def asked_pair(self, reading: GoalReading, origin: Origin) -> CandidateConnection | None:
        """The connection of the pair over its leading bridges, or None where nothing joins it."""
        assert reading.pair is not None
        ways = self._now.between_ends.ways(reading)[:BRIDGES_SHOWN]
        return (
            self.layout.laid_out(reading, reading.pair, ways, origin, is_way=True) if ways else None
        )

    def notes_on(self, reading: GoalReading) -> tuple[str, ...]:
        """Notes for the user about a pair, before any proposal."""
        return self._now.between_ends.notes(reading)

    def _widened(
        self, reading: GoalReading, method: GenerationMethod, asked: Request
    ) -> Iterator[CandidateConnection]:
        assert reading.end is not None
        alone = replace(reading, pair=None, end=None, through=None)
        note = (
            f"Widened: what joins {reading.end.label} and {reading.start.label} here is used "
            f"up, so {reading.end.label} is left aside."
        )
        allowed = (
            one
            for one in self._now.from_start.by(method, alone, asked)
            if not self.excludes(reading.goal, one)
        )
        for made in best_supported(allowed, asked.count)[0]:
            relevance = Relevance(
                GENERATION.leaves_an_end * made.relevance.share,
                f"The goal names {reading.end.label} as well, which this leaves aside.",
            )
            yield replace(
                made,
                origin=replace(made.origin, note=f"{note} {made.origin.note}".strip()),
                relevance=relevance,
            )

    def _settled(self, reading: GoalReading) -> GoalReading:
        """The first reading that yields connections: this one, another pair, or a single end."""
        notes, ways = list(reading.notes), self._now.between_ends
        if reading.end is not None:
            if ways.has_any(reading):
                return replace(
                    reading, notes=(*notes, *ways.notes(reading), *ways.widening(reading))
                )
            notes.append(f"No concept joins {reading.end.label} and {reading.start.label} here.")
            for one in self._other_pairs(reading):
                assert one.end is not None
                if ways.has_any(one):
                    notes.append(f"{one.end.label} and {one.start.label} are taken instead.")
                    return replace(one, notes=(*notes, *ways.notes(one), *ways.widening(one)))
        for thing in reading.things:
            one = self._started_from(reading, thing)
            if one.through is not None and not self._now.from_start.has_any(one):
                way = self.layout.label(one.through)
                notes.append(f"Nothing leads on from {one.start.label} through {way} here.")
                one = replace(one, through=None)
            if self._now.from_start.has_any(one):
                if reading.end is not None or notes != list(reading.notes):
                    notes.append(f"What {one.start.label} leads to is looked for instead.")
                return replace(one, notes=tuple(notes))
            papers = counted(len(one.start.documents), "paper")
            notes.append(
                f"{one.start.label} ({papers}) leads to nothing that is not already studied with "
                f"it."
            )
        return replace(reading, pair=None, end=None, notes=tuple(notes))

    def _other_pairs(self, reading: GoalReading) -> Iterator[GoalReading]:
        pairs = [
            (first, last)
            for first, last in combinations(reading.things, 2)
            if {first.number, last.number} != _ends(reading)
        ]
        for first, last in pairs:
            if last.number != reading.through and not self.reader.are_close(
                first.number, last.number
            ):
                one = self._started_from(reading, first)
                yield replace(
                    one,
                    ignored=self._without(one.ignored, last),
                    pair=last.number,
                    end=last.literature,
                    through=reading.through,
                )

    def _started_from(self, reading: GoalReading, thing: Thing) -> GoalReading:
        concept = replace(self.index.concept(thing.number), label=thing.literature.label)
        return replace(
            reading,
            start=thing.literature,
            start_concept=concept,
            pair=None,
            end=None,
            through=None if thing.number == reading.through else reading.through,
            ignored=self._without(reading.ignored, thing),
        )

    def _without(self, labels: tuple[str, ...], used: Thing) -> tuple[str, ...]:
        """What was named and left aside, but for what is used after all."""
        return tuple(label for label in labels if label != self.index.label(used.number))


def best_supported(
    found: Iterable[CandidateConnection], count: int
) -> tuple[tuple[CandidateConnection, ...], tuple[str, ...]]:
    """At most `count` connections, the weak ones last, and why others were left out."""
    strong: list[CandidateConnection] = []
    weak: list[CandidateConnection] = []
    left_out: list[str] = []
    for one in islice(found, GENERATION.looked_at * (count + 1)):
        if one.why_unsupported:
            left_out.append(one.why_unsupported)
        else:
            (weak if one.weakness else strong).append(one)
        if len(strong) == count:
            break
    weak.sort(key=lambda one: -one.bridges[0].sides_signed)
    return (*strong, *weak)[:count], tuple(left_out)


def _ends(reading: GoalReading) -> set[int | None]:
    return {reading.things[0].number, reading.pair}

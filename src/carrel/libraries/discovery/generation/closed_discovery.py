"""Closed discovery: both ends are given; four methods propose what lies between."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from difflib import SequenceMatcher

from carrel.libraries.discovery.concepts.words import are_variants
from carrel.libraries.discovery.connections.builder import Layout, Request
from carrel.libraries.discovery.connections.candidates import (
    CandidateConnection,
    GenerationMethod,
    Origin,
    Relevance,
    Turn,
)
from carrel.libraries.discovery.connections.links import argued, rival
from carrel.libraries.discovery.goals.records import ANSWERS, GoalReading
from carrel.libraries.discovery.paths.abc_paths import Bridge
from carrel.libraries.discovery.paths.link_prediction import similarity
from carrel.libraries.discovery.paths.literatures import Reader
from carrel.libraries.discovery.tuned import GENERATION


class PairMethods:
    """The four methods where the goal gives both ends."""

    def __init__(self, layout: Layout) -> None:
        self._layout = layout
        self._index = layout.index
        self._ways: dict[tuple[object, ...], tuple[Bridge, ...]] = {}

    def by(
        self, method: GenerationMethod, reading: GoalReading, request: Request
    ) -> Iterator[CandidateConnection]:
        """Connections of the pair, each led by a bridge that none before it was led by."""
        match method:
            case GenerationMethod.LITERATURE_BASED:
                return self._each_bridge(reading, request)
            case GenerationMethod.DEBATE:
                return self._debated(reading, request)
            case GenerationMethod.ASSUMPTIONS:
                return self._without_the_shared(reading, request)
            case GenerationMethod.EXPANSION:
                return self._around_the_ends(reading, request)

    def has_any(self, reading: GoalReading) -> bool:
        """Whether anything joins the two ends."""
        return bool(self.ways(reading))

    def widening(self, reading: GoalReading) -> tuple[str, ...]:
        """Notes for the user where the search continues from one end alone."""
        ways = len(self.ways(reading))
        if ways >= GENERATION.widened_below:
            return ()
        joins = "concept joins" if ways == 1 else "concepts join"
        return (
            f"Only {ways} {joins} the two here; after that, what {reading.start.label} leads to "
            f"alone is proposed.",
        )

    def is_to_be_widened(self, reading: GoalReading) -> bool:
        """Whether the pair has so few bridges that the search continues from one end alone."""
        return len(self.ways(reading)) < GENERATION.widened_below

    def why_none(self, reading: GoalReading, request: Request) -> str:
        """Why no further connection of the pair is proposed."""
        assert reading.end is not None
        ways = self.ways(reading)
        return (
            f"The pair is exhausted: {len(ways)} concepts join {reading.end.label} and "
            f"{reading.start.label} in these papers, "
            f"and {len(self._used(reading, request))} hypotheses are led by them already."
        )

    def ways(self, reading: GoalReading) -> tuple[Bridge, ...]:
        """The bridges of a pair: any that the goal names, then the wanted kind, then by weight."""
        assert reading.end is not None
        key = (
            reading.start.concepts,
            reading.start.label,
            len(reading.start.documents),
            reading.end.concepts,
            reading.end.label,
            len(reading.end.documents),
            reading.through,
            reading.wanted,
        )
        found = self._ways.get(key)
        if found is None:
            layout, reader = self._layout, self._layout.reader
            kinds = ANSWERS[reading.wanted] if reading.wanted else frozenset()
            every = layout.bridges_of_pair(reading.start, reading.end, GENERATION.bridges_looked_at)
            ends = {*reading.start.concepts, *reading.end.concepts}
            ordered = sorted(
                every,
                key=lambda bridge: (
                    not self._is_named_way(reading, bridge),
                    is_worded_like(reader, bridge.concept, ends),
                    reader.is_broad(bridge.concept)
                    or not layout.is_coherent(bridge.concept)
                    or not layout.is_specific(bridge.concept),
                    -bridge.kind,
                    layout.kind(bridge.concept) not in kinds,
                ),
            )
            kept: list[Bridge] = []
            for bridge in ordered:
                if len(kept) == GENERATION.bridges_kept:
                    break
                is_asked = self._is_named_way(reading, bridge)
                if not any(reader.are_close(bridge.concept, other.concept) for other in kept) and (
                    is_asked or not layout.is_entity(bridge.concept)
                ):
                    kept.append(bridge)
            found = self._ways[key] = tuple(kept)
        return found

    def notes(self, reading: GoalReading) -> tuple[str, ...]:
        """Notes for the user about the pair, before any proposal."""
        assert reading.end is not None
        told = []
        if reading.through is not None and not any(
            self._is_named_way(reading, bridge) for bridge in self.ways(reading)
        ):
            label, documents = (
                self._layout.label(reading.through),
                set(self._index.documents(reading.through)),
            )
            near, far = (
                len(documents & reading.start.documents),
                len(documents & reading.end.documents),
            )
            told.append(
                f"{label}, the way the goal names, does not hold on both sides by papers of their "
                f"own "
                f"({near} speak of it with {reading.start.label}, {far} with {reading.end.label})."
            )
        both = len(reading.start.documents & reading.end.documents)
        if both > GENERATION.known_pair:
            told.append(
                f"{both} papers speak of both already, so the pair is known and what is proposed "
                f"are ways between them."
            )
        return tuple(told)

    def _is_named_way(self, reading: GoalReading, bridge: Bridge) -> bool:
        return reading.through is not None and self._layout.reader.are_close(
            bridge.concept, reading.through
        )

    def _used(self, reading: GoalReading, request: Request) -> set[str]:
        """Bridges that already lead a hypothesis on this pair."""
        assert reading.pair is not None
        ends = {reading.start_concept.key, self._index.key(reading.pair)}
        return {
            known.bridges[0].concept.key
            for known in request.known
            if {known.start.key, known.end.key} == ends
        }

    def _left(self, reading: GoalReading, request: Request) -> list[Bridge]:
        used, index = self._used(reading, request), self._index
        left = [bridge for bridge in self.ways(reading) if index.key(bridge.concept) not in used]
        # What reviews found weak is tried last; what carries the leaders, or keeps its company,
        # first among its equals.
        return sorted(
            left,
            key=lambda bridge: (
                index.key(bridge.concept) in request.weak,
                index.key(bridge.concept) not in request.strong,
                self._carries(bridge, request) is None,
            ),
        )

    def _carries(self, bridge: Bridge, request: Request) -> str | None:
        """The label of a preferred concept (`strong`) that equals or resembles this bridge."""
        reader, index = self._layout.reader, self._index
        strong = [
            number for number in map(index.number, sorted(request.strong)) if number is not None
        ]
        own = reader.profile_everywhere(bridge.concept)
        alike = (
            n
            for n in strong
            if n == bridge.concept
            or similarity(own, reader.profile_everywhere(n)) >= GENERATION.same_route
        )
        found = next(alike, None)
        return None if found is None else self._layout.label(found)

    def _laid_out(
        self, reading: GoalReading, lead: Bridge, others: Sequence[Bridge], origin: Origin
    ) -> CandidateConnection:
        assert reading.pair is not None
        support = self._same_route(lead, others)
        return self._layout.laid_out(reading, reading.pair, (lead, *support), origin, is_way=True)

    def _same_route(self, lead: Bridge, others: Sequence[Bridge]) -> list[Bridge]:
        reader = self._layout.reader
        own = reader.profile_everywhere(lead.concept)
        near = [
            (similarity(own, reader.profile_everywhere(other.concept)), -place, other)
            for place, other in enumerate(others)
            if other.concept != lead.concept
        ]
        return [
            other
            for likeness, _, other in sorted(near, reverse=True, key=lambda one: one[:2])
            if likeness >= GENERATION.same_route
        ][: GENERATION.most_support]

    def _note(self, reading: GoalReading, lead: Bridge, request: Request) -> str:
        key, label = self._index.key(lead.concept), self._layout.label(lead.concept)
        notes = [
            f"The goal names both ends; of {len(self.ways(reading))} concepts that join them, "
            f"{label} leads here."
        ]
        if self._is_named_way(reading, lead):
            notes.append("It is the way that the goal itself names.")
        carried = self._carries(lead, request)
        if carried is not None:
            goes = "" if carried == label else f" goes the way of {carried}, which"
            notes.append(
                f"Put forward because {label}{goes} carries leading hypotheses, as the "
                f"meta-review says."
            )
        if key in request.weak:
            notes.append(f"Tried last, since the meta-review found {label} weak.")
        return " ".join(notes)

    def _each_bridge(self, reading: GoalReading, request: Request) -> Iterator[CandidateConnection]:
        every = self.ways(reading)
        for lead in self._left(reading, request):
            origin = Origin(GenerationMethod.LITERATURE_BASED, self._note(reading, lead, request))
            yield self._laid_out(reading, lead, every, origin)

    def _debated(self, reading: GoalReading, request: Request) -> Iterator[CandidateConnection]:
        assert reading.pair is not None
        reader, left = self._layout.reader, self._left(reading, request)
        while len(left) > 1:
            other = left[rival(reader, [bridge.concept for bridge in left[:4]])]
            origin = Origin(GenerationMethod.DEBATE)
            plain = self._layout.laid_out(
                reading, reading.pair, (left[0], other), origin, is_way=True
            )
            made = argued(plain, 1, len(self._index), self._note(reading, left[0], request))
            yield made
            left = [
                bridge
                for bridge in left
                if self._index.key(bridge.concept) != made.bridges[0].concept.key
            ]

    def _without_the_shared(
        self, reading: GoalReading, request: Request
    ) -> Iterator[CandidateConnection]:
        reader, index = self._layout.reader, self._index
        every = self.ways(reading)
        shared = sorted(
            every, key=lambda bridge: -min(len(bridge.near_documents), len(bridge.far_documents))
        )
        led: set[int] = set()
        for removed in shared:
            own = reader.profile_everywhere(removed.concept)
            left = [
                (similarity(own, reader.profile_everywhere(bridge.concept)), bridge)
                for bridge in self._left(reading, request)
                if bridge.concept not in led
                and not reader.are_close(bridge.concept, removed.concept)
            ]
            if not left:
                continue
            # The first that leads another way, or what comes nearest to that.
            likeness, lead = next(
                (one for one in left if one[0] < GENERATION.same_route),
                min(left, key=lambda one: one[0]),
            )
            label = self._layout.label(removed.concept)
            contrary = self._layout.quoter.contrary(
                index.documents(removed.concept), removed.concept, reading.start, 3
            )
            note = (
                f"Assumption questioned: {label} is what most papers on either end share "
                f"({len(removed.near_documents)} on "
                f"{reading.start.label}, {len(removed.far_documents)} on the other). Suppose it "
                f"is not what matters: "
                f"{self._layout.label(lead.concept)} does without "
                f"it{' and what keeps its company' if likeness < GENERATION.same_route else ''}."
            )
            says = f"{len(contrary)} quoted sentences deny something about it."
            turns = (Turn(f"against {label}", says, contrary),) if contrary else ()
            led.add(lead.concept)
            others = [bridge for alike, bridge in left if alike < GENERATION.same_route]
            yield self._laid_out(
                reading, lead, others, Origin(GenerationMethod.ASSUMPTIONS, note, (), turns)
            )

    def _around_the_ends(
        self, reading: GoalReading, request: Request
    ) -> Iterator[CandidateConnection]:
        """Connections that replace one end by a neighbour; fewer than those of the pair itself."""
        assert reading.pair is not None
        index = self._index
        asked = {reading.start_concept.key, index.key(reading.pair)}
        there = [{known.start.key, known.end.key} for known in request.known]
        room = max(GENERATION.least_expansions, there.count(asked) // 2) - sum(
            len(ends & asked) == 1 for ends in there
        )
        taken = {key for ends in there for key in ends} | asked
        for number, is_start in self._neighbours(reading):
            if room <= 0:
                return
            if index.key(number) in taken:
                continue
            made = self._beside(reading, number, is_start=is_start)
            if made is not None:
                taken.add(index.key(number))
                room -= 1
                yield made

    def _neighbours(self, reading: GoalReading) -> Iterator[tuple[int, bool]]:
        assert reading.pair is not None
        start = self._index.number(reading.start_concept.key)
        far = self._layout.company(reading.pair)
        near = self._layout.company(start) if start is not None else []
        for place in range(max(len(far), len(near))):
            if place < len(far):
                yield far[place], False
            if place < len(near):
                yield near[place], True

    def _beside(
        self, reading: GoalReading, number: int, *, is_start: bool
    ) -> CandidateConnection | None:
        reader, index = self._layout.reader, self._index
        assert reading.pair is not None and reading.end is not None
        literature = reader.literature([index.key(number)])
        kept = reading.end if is_start else reading.start
        left = reading.pair if not is_start else index.number(reading.start_concept.key)
        key = index.key(number)
        is_same = left is not None and (
            reader.are_close(number, left) or are_variants(key, index.key(left))
        )
        if literature is None or is_same or reader.is_close(number, kept):
            return None
        replaced = reading.start.label if is_start else reading.end.label
        note = (
            f"Widened: {self._layout.label(number)} keeps company with {replaced} and stands "
            f"in its place; {kept.label} is kept."
        )
        origin = Origin(GenerationMethod.EXPANSION, note)
        if is_start:
            other = replace(reading, start=literature, start_concept=self._layout.concept(number))
            made = self._layout.connection(other, reading.pair, origin)
        else:
            made = self._layout.connection(
                replace(reading, pair=number, end=literature), number, origin
            )
        says = (
            f"The goal asks about {replaced}; this is about {self._layout.label(number)}, "
            f"which keeps its company."
        )
        return (
            None
            if made is None
            else replace(made, relevance=Relevance(GENERATION.replaces_an_end, says))
        )


def is_worded_like(reader: Reader, number: int, ends: Iterable[int]) -> bool:
    """Whether a concept shares a word, a stem or a spelling variant with one of the ends."""
    words = [word for word in reader.index.key(number).split(" ") if len(word) > 3]
    for end in ends:
        for other in reader.index.key(end).split(" "):
            if len(other) > 3 and any(
                word == other
                or (
                    word[: GENERATION.long_stem] == other[: GENERATION.long_stem]
                    and len(word) > GENERATION.long_stem
                )
                or _is_spelled_like(word, other)
                for word in words
            ):
                return True
    return False


def _is_spelled_like(one: str, other: str) -> bool:
    return (
        one[0] == other[0]
        and abs(len(one) - len(other)) <= 2
        and SequenceMatcher(None, one, other).ratio() >= GENERATION.same_spelling
    )

"""Open discovery: four methods from one start to ends that nobody asked for."""

from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import replace
from itertools import islice

from carrel.libraries.discovery.connections.builder import Layout, Request
from carrel.libraries.discovery.connections.candidates import (
    CandidateConnection,
    GenerationMethod,
    Origin,
    Relevance,
    Turn,
)
from carrel.libraries.discovery.connections.links import argued, rival
from carrel.libraries.discovery.connections.methods import is_class_name
from carrel.libraries.discovery.goals.records import ANSWERS, GoalReading, Wanted
from carrel.libraries.discovery.paths.abc_paths import End, ends, first_bridges, is_rare
from carrel.libraries.discovery.paths.link_prediction import prospect, shared_company
from carrel.libraries.discovery.records import Kind
from carrel.libraries.discovery.tuned import GENERATION, PATHS
from carrel.libraries.discovery.writing.wording import counted, listed, with_article

SHARED_SHOWN = 3
NO_INTERVENTIONS = frozenset({Kind.DISEASE, Kind.ANATOMY, Kind.CELL, Kind.EVENT, Kind.METHOD})
"""Kinds that nobody gives, takes or does: never an answer where interventions are asked for."""


class StartMethods:
    """The four methods where the goal gives a start only."""

    def __init__(self, layout: Layout) -> None:
        self._layout = layout
        self._index = layout.index
        self._ends_of: dict[tuple[object, ...], tuple[End, ...]] = {}

    def by(
        self, method: GenerationMethod, reading: GoalReading, request: Request
    ) -> Iterator[CandidateConnection]:
        """Connections by a method, likeliest first."""
        match method:
            case GenerationMethod.LITERATURE_BASED:
                return self._best_paths(reading, request)
            case GenerationMethod.DEBATE:
                return self._debated(reading, request)
            case GenerationMethod.ASSUMPTIONS:
                return self._without_the_usual(reading, request)
            case GenerationMethod.EXPANSION:
                return self._expanded(reading, request)

    def has_any(self, reading: GoalReading) -> bool:
        """Whether the start leads anywhere at all."""
        if (
            len(reading.start.documents) >= GENERATION.surely_leads_somewhere
            and reading.through is None
        ):
            return True
        return any(
            self._all_ends(reading, frozenset(), is_wanted=wanted)
            for wanted in (True, False)
            if reading.wanted or not wanted
        )

    def _ends(
        self,
        reading: GoalReading,
        request: Request,
        taken: Collection[str] = (),
        without: frozenset[int] = frozenset(),
    ) -> Iterator[tuple[End, str]]:
        """Ends to propose, each with the reason for its rank; the wanted kind comes first."""
        layout, index = self._layout, self._index
        avoid = {*request.avoid, *taken}
        weak = self._numbers(request.weak)
        strong = self._numbers(request.strong)
        given = set()
        for end, effect, is_wanted in self._by_effect(reading, strong, without | weak):
            if end.concept in given or index.key(end.concept) in avoid:
                continue
            given.add(end.concept)
            notes = list(self._told_effect(reading, end.concept, effect))
            if reading.wanted and not is_wanted:
                notes.append(
                    f"The goal asks for {with_article(reading.wanted.value)}; "
                    f"{layout.label(end.concept)} is not known to be one."
                )
            elif reading.wanted:
                notes.append(
                    f"The goal asks for {with_article(reading.wanted.value)}: by its name and "
                    f"company here, {layout.label(end.concept)} "
                    f"is {with_article(layout.kind(end.concept).value)}."
                )
            bridge = self._strong_bridge(strong, end)
            if bridge is not None:
                notes.append(
                    f"Put forward because {layout.label(bridge)} carries leading "
                    f"hypotheses, as the meta-review says."
                )
            if weak:
                named = ", ".join(sorted(layout.label(number) for number in weak))
                notes.append(f"Not built on {named}, which the meta-review found weak.")
            yield end, " ".join(notes)

    def _is_no_drug(self, reading: GoalReading, end: End, *, is_wanted: bool) -> bool:
        """Whether a drug is asked for and an end is a phrase of another sort."""
        is_phrase = " " in self._index.key(end.concept)
        return reading.wanted is Wanted.DRUG and not is_wanted and is_phrase

    def _strong_bridge(self, strong: frozenset[int], end: End) -> int | None:
        return next((number for number in strong if self._meet(number, end.concept)), None)

    def _by_effect(
        self, reading: GoalReading, strong: frozenset[int], without: frozenset[int]
    ) -> Iterator[tuple[End, float, bool]]:
        """Ends with their effects, and whether they are of the sort asked for; best first.

        Those that do what the goal asks for come before those of which nothing is said. Where
        interventions are asked for, what does the opposite is left out.
        """

        def rank(end: End) -> float:
            preferred = self._strong_bridge(strong, end) is not None
            return -end.prospect * (GENERATION.preferred if preferred else 1.0)

        wanted = reading.wanted_effect
        known = self._layout.effects(reading) if wanted else {}
        found = [
            (end, known.get(end.concept, 0.0), is_wanted)
            for is_wanted in ((True, False) if reading.wanted else (False,))
            for end in sorted(self._all_ends(reading, without, is_wanted=is_wanted), key=rank)
        ]
        found.sort(
            key=lambda one: (
                self._is_no_drug(reading, one[0], is_wanted=one[2]),
                one[1] * wanted <= 0,
                min(0.0, -wanted * one[1]),
            )
        )
        yield from (one for one in found if one[1] * wanted >= 0)
        if not reading.asks_for_intervention:
            yield from (one for one in found if one[1] * wanted < 0)

    def _told_effect(self, reading: GoalReading, end: int, effect: float) -> Iterator[str]:
        wanted = reading.wanted_effect
        if not wanted:
            return
        label, start = self._layout.label(end), reading.start.label
        if effect:
            verb = "raises" if effect > 0 else "lowers"
            yield f"By the sentences read, {label} {verb} {start}, over what it does to bridges."
        else:
            yield f"No sentences read say whether {label} raises or lowers {start}: unsigned."

    def _all_ends(
        self, reading: GoalReading, without: frozenset[int], *, is_wanted: bool
    ) -> tuple[End, ...]:
        key = (
            reading.start.concepts,
            reading.start.label,
            len(reading.start.documents),
            reading.wanted if is_wanted else None,
            without,
            reading.through,
            reading.wanted_effect,
        )
        found = self._ends_of.get(key)
        if found is None:
            found = self._ends_of[key] = self._searched_ends(reading, without, is_wanted=is_wanted)
        return found

    def _searched_ends(
        self, reading: GoalReading, without: frozenset[int], *, is_wanted: bool
    ) -> tuple[End, ...]:
        layout, reader = self._layout, self._layout.reader
        kinds = ANSWERS[reading.wanted] if is_wanted and reading.wanted else None
        never = NO_INTERVENTIONS if reading.asks_for_intervention else frozenset()

        def admits(number: int) -> bool:
            return (
                not layout.tells_nothing(number)
                and not is_class_name(self._index.key(number))
                and layout.kind(number) not in never
                and not reader.is_broad(number)
                and (kinds is None or layout.kind(number) in kinds)
                and layout.is_coherent(number)
            )

        def bridge_admits(number: int) -> bool:
            return (
                layout.can_bridge(number)
                and not any(reader.are_close(number, one) for one in without)
                and layout.is_on_way(reading, number)
            )

        every = ends(reader, reading.start, GENERATION.ends_kept, admits, bridge_admits)
        # Vague phrases are ends only where there is nothing better.
        found = tuple(end for end in every if layout.is_specific(end.concept)) or every
        return (*found, *self._signed_ends(reading, found, admits))

    def _signed_ends(
        self, reading: GoalReading, found: Sequence[End], admits: Callable[[int], bool]
    ) -> Iterator[End]:
        """Ends that sentences say do what the goal asks for, which counts alone do not find.

        What keeps other company than the ends that counts find is of another subject. A few papers
        may speak of both already: what is new is the way, and the count is told.
        """
        wanted, layout = reading.wanted_effect, self._layout
        if not wanted:
            return
        near = layout.side(reading.start)
        known = {end.concept for end in found}
        own, least = layout.reader.company_of(reading.start), _typical_prospect(found)
        for number, effect in layout.effects(reading).items():
            both = near.counts[number]
            if (
                effect * wanted > 0
                and number not in known
                and not layout.reader.is_close(number, reading.start)
                and both <= PATHS.rare_documents
                and admits(number)
                and (likely := prospect(own, layout.reader.company(number))) >= least
            ):
                yield End(number, likely, 0.0, both)

    def _best_paths(self, reading: GoalReading, request: Request) -> Iterator[CandidateConnection]:
        for end, note in self._ends(reading, request):
            why = f"{note} {self._predicted(reading, end)}".strip()
            connection = self._connected(
                reading, end, Origin(GenerationMethod.LITERATURE_BASED, why), request
            )
            if connection is not None:
                yield connection

    def _predicted(self, reading: GoalReading, end: End) -> str:
        """Why papers are likely to join the two, in words; empty where no prediction led here."""
        layout, reader = self._layout, self._layout.reader
        own, far = reader.company_of(reading.start), reader.company(end.concept)
        shared = shared_company(own.mentioned, far.mentioned)
        telling = islice(filter(layout.can_bridge, shared), SHARED_SHOWN)
        shown = [layout.label(number) for number in telling]
        if not end.prospect or not shown:
            return ""
        return (
            f"Predicted from the company both keep: {layout.label(end.concept)} and "
            f"{reading.start.label} share {counted(len(shared), 'concept')} that each occurs with "
            f"more than by chance, most of all {listed(shown)}."
        )

    def _connected(
        self,
        reading: GoalReading,
        end: End,
        origin: Origin,
        request: Request,
        without: frozenset[int] = frozenset(),
    ) -> CandidateConnection | None:
        reader, left_out = self._layout.reader, without | self._numbers(request.weak)
        made = self._layout.connection(
            reading,
            end.concept,
            origin,
            lambda number: (
                self._layout.is_on_way(reading, number)
                and not any(reader.are_close(number, one) for one in left_out)
            ),
        )
        return None if made is None else self._weighed(reading, end.concept, made)

    def _weighed(
        self, reading: GoalReading, end: int, made: CandidateConnection
    ) -> CandidateConnection:
        share, says = 1.0, []
        if reading.wanted and self._layout.kind(end) not in ANSWERS[reading.wanted]:
            share *= GENERATION.another_sort
            says.append(
                f"The goal asks for {with_article(reading.wanted.value)}, which {made.end.label} "
                f"is not known to be."
            )
        if reading.wanted_effect and made.effect != reading.wanted_effect:
            share *= GENERATION.no_direction
            verb = "raises" if reading.wanted_effect > 0 else "lowers"
            says.append(
                f"The goal asks what {verb} {reading.start.label}; no sentences on both sides of "
                f"the leading bridge say that {made.end.label} does."
            )
        return replace(made, relevance=Relevance(share, " ".join(says))) if says else made

    def _debated(self, reading: GoalReading, request: Request) -> Iterator[CandidateConnection]:
        reader, index = self._layout.reader, self._index
        for end, note in self._ends(reading, request):
            plain = self._connected(reading, end, Origin(GenerationMethod.DEBATE), request)
            if plain is None or len(plain.bridges) < 2:
                continue
            numbers = [index.number(bridge.concept.key) for bridge in plain.bridges]
            other = rival(reader, [number for number in numbers if number is not None])
            yield argued(plain, other, len(index), note)

    def _without_the_usual(
        self, reading: GoalReading, request: Request
    ) -> Iterator[CandidateConnection]:
        layout, reader, index = self._layout, self._layout.reader, self._index
        near = layout.side(reading.start)
        usual = sorted(
            first_bridges(reader, near)[:20],
            key=lambda lead: (near.counts[lead[1]], lead[0]),
            reverse=True,
        )
        taken: set[str] = set()
        for _, removed in usual[
            : max(1, (request.count + GENERATION.each_assumption - 1) // GENERATION.each_assumption)
        ]:
            contrary = layout.quoter.contrary(index.documents(removed), removed, reading.start, 3)
            label = self._layout.label(removed)
            held = (
                f"{label} is in {near.counts[removed]} of the {len(near.documents)} papers on "
                f"{reading.start.label}"
            )
            note = (
                f"Assumption questioned: {held}. Suppose it is not what matters: what still "
                f"connects without it?"
            )
            turns = (
                Turn(
                    f"against {label}",
                    f"{len(contrary)} quoted sentences deny something about it.",
                    contrary,
                ),
            )
            made = 0
            for end, more in self._ends(reading, request, taken, frozenset({removed})):
                if made == GENERATION.each_assumption:
                    break
                if reader.are_close(end.concept, removed):
                    continue
                origin = Origin(
                    GenerationMethod.ASSUMPTIONS,
                    f"{note} {more}".strip(),
                    (),
                    turns if contrary else (),
                )
                connection = self._connected(reading, end, origin, request, frozenset({removed}))
                if connection is not None:
                    made += 1
                    taken.add(connection.end.key)
                    yield connection

    def _expanded(self, reading: GoalReading, request: Request) -> Iterator[CandidateConnection]:
        # Where nothing was proposed yet, the best third of a few paths stands in for it.
        own = [] if request.best else list(islice(self._best_paths(reading, request), 9))
        seeds = list(request.best) or own[: (len(own) + 2) // 3]
        why = (
            request.why_best
            if request.best
            else "one of the best paths from the start; nothing has been proposed or ranked yet"
        )
        taken = {*request.avoid, *(seed.end.key for seed in seeds)}
        waiting = [(seed, self._neighbours(reading, seed)) for seed in seeds]
        while waiting:
            for turn in list(waiting):
                seed, neighbours = turn
                found = next(
                    (number for number in neighbours if self._index.key(number) not in taken), None
                )
                if found is None:
                    waiting.remove(turn)
                    continue
                taken.add(self._index.key(found))
                note = f"A neighbour of {seed.end.label} ({why})."
                connection = self._layout.connection(
                    reading, found, Origin(GenerationMethod.EXPANSION, note, (seed.key,))
                )
                if connection is not None:
                    yield self._weighed(reading, found, connection)

    def _neighbours(self, reading: GoalReading, seed: CandidateConnection) -> Iterator[int]:
        layout, reader, index = self._layout, self._layout.reader, self._index
        number = index.number(seed.end.key)
        if number is None:
            return
        near = layout.side(reading.start)
        kinds = ANSWERS[reading.wanted] if reading.wanted else frozenset()
        for neighbour in sorted(
            layout.company(number), key=lambda one: layout.kind(one) not in kinds
        ):
            if not reader.is_close(neighbour, reading.start) and is_rare(
                reader, near.counts[neighbour], len(near.documents), index.frequency(neighbour)
            ):
                yield neighbour

    def _numbers(self, keys: Collection[str]) -> frozenset[int]:
        found = (self._index.number(key) for key in keys)
        return frozenset(number for number in found if number is not None)

    def _meet(self, one: int, other: int) -> bool:
        fewer, more = sorted((self._index.documents(one), self._index.documents(other)), key=len)
        return not set(fewer).isdisjoint(more)


def _typical_prospect(found: Sequence[End]) -> float:
    """The middle prospect of some ends; 0 where there are none."""
    prospects = sorted(end.prospect for end in found)
    return prospects[len(prospects) // 2] if prospects else 0.0

"""Evolution of connections: a child derived from parents, which stay unchanged."""

from collections import Counter
from collections.abc import Collection, Iterator
from dataclasses import replace
from typing import Protocol

from carrel.libraries.discovery.concepts.kinds import is_method_name
from carrel.libraries.discovery.concepts.words import are_variants
from carrel.libraries.discovery.connections.builder import Layout
from carrel.libraries.discovery.connections.candidates import (
    Arm,
    BridgeEvidence,
    CandidateConnection,
    EvolutionStrategy,
    Origin,
)
from carrel.libraries.discovery.connections.links import chain
from carrel.libraries.discovery.connections.methods import system_named
from carrel.libraries.discovery.errors import (
    GoalNotInCorpusError,
    NoConnectionError,
    NothingToEvolveError,
)
from carrel.libraries.discovery.generation.closed_discovery import is_worded_like
from carrel.libraries.discovery.goals.records import GoalReading
from carrel.libraries.discovery.paths.literatures import Reader
from carrel.libraries.discovery.records import Concept, Literature
from carrel.libraries.discovery.tuned import GENERATION
from carrel.libraries.discovery.writing.wording import counted, counted_first, listed, named, papers

BRIDGES_OF_AN_ARM = 3


class Proposer(Protocol):
    """The part of `Discovery` that evolution asks."""

    @property
    def layout(self) -> Layout: ...
    @property
    def reader(self) -> Reader: ...
    def read_goal(self, goal: str) -> GoalReading: ...
    def generate(
        self, goal: str, *, count: int, avoid: Collection[str]
    ) -> tuple[CandidateConnection, ...]: ...


def evolve(
    discovery: Proposer,
    connection: CandidateConnection,
    strategy: EvolutionStrategy,
    partner: CandidateConnection | None = None,
) -> CandidateConnection:
    """A child of the connection (and of `partner`, for combine) that differs in substance."""
    child = _evolved(discovery, connection, strategy, partner)
    # What leaves part of the goal aside does so in its children, too.
    return replace(
        child, relevance=min(child.relevance, connection.relevance, key=lambda one: one.share)
    )


def _evolved(
    discovery: Proposer,
    connection: CandidateConnection,
    strategy: EvolutionStrategy,
    partner: CandidateConnection | None,
) -> CandidateConnection:
    match strategy:
        case EvolutionStrategy.REFINE:
            return _refined(discovery, connection)
        case EvolutionStrategy.SIMPLIFY:
            return _simplified(connection)
        case EvolutionStrategy.COMBINE:
            if partner is None or partner.key == connection.key:
                raise NothingToEvolveError(strategy, "it needs a second hypothesis to combine with")
            return _combined(discovery, connection, partner)
        case EvolutionStrategy.PARADIGM_SHIFT:
            return _shifted(discovery, connection)


def _refined(discovery: Proposer, parent: CandidateConnection) -> CandidateConnection:
    # A narrower end, a narrower bridge, or one model system that both sides have: the first that
    # its own papers hold up.
    reading = _reading(discovery, parent)
    child = (
        _best_said(_narrower_ends(discovery, parent, reading))
        or _best_said(_narrower_bridges(discovery, parent, reading))
        or _in_one_system(discovery, parent, reading)
    )
    if child is None:
        raise NothingToEvolveError(
            EvolutionStrategy.REFINE, "its papers name nothing narrower that holds on both sides"
        )
    return child


def _best_said(children: Iterator[CandidateConnection]) -> CandidateConnection | None:
    found = list(children)
    return next((child for child in found if child.bridges[0].is_said), found[0] if found else None)


def _narrower_ends(
    discovery: Proposer, parent: CandidateConnection, reading: GoalReading
) -> Iterator[CandidateConnection]:
    index = discovery.reader.index
    end = index.number(parent.end.key)
    for number in _narrower(discovery, parent.end, index.documents(end) if end is not None else ()):
        concept = discovery.layout.concept(number)
        change = f"narrowed from {named(parent.end)}"
        note = (
            f"Narrowed from {named(parent.end)} ({papers(parent.end.documents)}) to "
            f"{named(concept)} ({papers(concept.documents)})."
        )
        made = Origin(EvolutionStrategy.REFINE, note, (parent.key,), change=change)
        if not discovery.reader.is_close(number, reading.start):
            child = discovery.layout.connection(reading, number, made)
            if child is not None:
                yield child


def _narrower_bridges(
    discovery: Proposer, parent: CandidateConnection, reading: GoalReading
) -> Iterator[CandidateConnection]:
    index = discovery.reader.index
    end = index.number(parent.end.key)
    for bridge in parent.bridges[:2]:
        for number in _narrower(discovery, bridge.concept, reading.start.documents):
            concept = discovery.layout.concept(number)
            note = (
                f"Narrowed from {named(bridge.concept)} to {named(concept)}, which papers on "
                f"both ends name."
            )
            made = Origin(
                EvolutionStrategy.REFINE,
                note,
                (parent.key,),
                change=f"{named(bridge.concept)} narrowed to {named(concept)}",
            )
            child = (
                discovery.layout.connection(reading, end, made, {number}.__contains__)
                if end is not None
                else None
            )
            if child is not None:
                yield child


def _narrower(discovery: Proposer, concept: Concept, documents: Collection[int]) -> list[int]:
    # Longer names that end with this one (`alveolar macrophage`), and what the trees of a
    # vocabulary hold below it.
    reader = discovery.reader
    index, vocabulary = reader.index, reader.index.vocabulary
    below = set(vocabulary.narrower(concept.key)) if vocabulary else set()
    counts = Counter(
        number
        for document in documents
        for number in index.mentions_of(document)
        if index.key(number).endswith(f" {concept.key}") or index.key(number) in below
    )
    good = [
        (count, -number)
        for number, count in counts.items()
        if count >= GENERATION.least_narrower_documents
        and 2 * index.frequency(number) <= concept.documents
        and reader.rank_of_kind(number) == 2
        and not is_method_name(index.key(number))
        and not are_variants(index.key(number), concept.key)
    ]
    return [-minus for _, minus in sorted(good, reverse=True)[: GENERATION.narrower_tried]]


def _in_one_system(
    discovery: Proposer, parent: CandidateConnection, reading: GoalReading
) -> CandidateConnection | None:
    if parent.scope:
        return None
    reader, lead = discovery.reader, parent.bridges[0]
    end = reader.index.number(parent.end.key)
    far_counts = {one.label: one.documents for one in lead.far_bench.systems}
    shared = [
        (min(one.documents, far_counts.get(one.label, 0)), one.label)
        for one in lead.near_bench.systems
    ]
    for count, label in sorted(shared, reverse=True):
        system = system_named(label)
        if system is None or end is None or not count:
            continue
        within = frozenset(
            document
            for key in system.keys
            if (number := reader.index.number(key)) is not None
            for document in reader.index.documents(number)
        )
        narrowed = Literature(
            reading.start.label, reading.start.concepts, reading.start.documents & within
        )
        note = (
            f"Narrowed to {label}, in which both sides of the bridge are studied; only papers "
            f"that name {label} count."
        )
        made = Origin(
            EvolutionStrategy.REFINE, note, (parent.key,), change="narrowed to one model system"
        )
        child = discovery.layout.connection(
            replace(reading, start=narrowed),
            end,
            made,
            lambda one: one == reader.index.number(lead.concept.key),
            within,
        )
        if child is None:
            continue
        found = child.bridges[0]
        fewer = (found.near_documents, found.far_documents) != (
            lead.near_documents,
            lead.far_documents,
        )
        if fewer and found.weaker_side_documents >= GENERATION.least_in_one_system:
            searched = discovery.layout.novelty(
                reading.start, reader.literature([parent.end.key]) or narrowed, end
            )
            return replace(child, scope=f"in {label}", novelty=searched)
    return None


def _simplified(parent: CandidateConnection) -> CandidateConnection:
    if parent.origin.made_by is EvolutionStrategy.SIMPLIFY:
        raise NothingToEvolveError(
            EvolutionStrategy.SIMPLIFY, "it is already one bridge with one link to test"
        )
    if len(parent.bridges) == 1 and not parent.arms:
        raise NothingToEvolveError(EvolutionStrategy.SIMPLIFY, "it has one bridge only")
    strongest = max(parent.bridges, key=_chain_strength)
    dropped = [
        named(bridge.concept)
        for bridge in parent.every_bridge
        if bridge.concept.key != strongest.concept.key
    ]
    note = (
        f"One bridge and one link to test; {counted(len(dropped), 'other bridge')} left out, "
        f"{dropped[0]} among them."
    )
    made = Origin(
        EvolutionStrategy.SIMPLIFY, note, (parent.key,), change="simplified to one link to test"
    )
    return replace(parent, bridges=(strongest,), origin=made, also_ends=(), arms=())


def _chain_strength(bridge: BridgeEvidence) -> tuple[bool, float, float]:
    near, far = chain(bridge.concept, bridge, bridge.concept)
    return bridge.is_said, min(near.strength, far.strength), bridge.weight


def _combined(
    discovery: Proposer, parent: CandidateConnection, partner: CandidateConnection
) -> CandidateConnection:
    if are_variants(parent.end.key, partner.end.key):
        return _with_bridges_of(discovery, parent, partner)
    reading = _reading(discovery, parent)
    reader = discovery.reader
    parents = (parent.key, partner.key)
    made = Origin(EvolutionStrategy.COMBINE, "", parents)
    first = _rebuilt(discovery, reading, parent.end, made)
    second = _rebuilt(discovery, reading, partner.end, made)
    if first is None or second is None:
        raise NothingToEvolveError(
            EvolutionStrategy.COMBINE, "no bridge leads from the same start to both ends"
        )
    first, second = _on_common_ground(first, second)
    a = reading.start
    one, other = reader.literature([first.end.key]), reader.literature([second.end.key])
    assert one is not None
    assert other is not None
    together = one.documents & other.documents
    end = reader.index.number(first.end.key)
    assert end is not None
    either = Literature(one.label, one.concepts | other.concepts, one.documents | other.documents)
    shared = [
        b.concept
        for b in first.bridges
        if b.concept.key in {theirs.concept.key for theirs in second.bridges}
    ]
    common = (
        f"they share {listed([named(concept) for concept in shared[:3]])}"
        if shared
        else "they share no bridge"
    )
    note = f"{named(first.end)} and {named(second.end)} combined: {common}."
    arm = Arm(
        second.end, second.bridges[:BRIDGES_OF_AN_ARM], second.novelty, len(together),
        len(together & a.documents)
    )  # fmt: skip
    return replace(
        first,
        bridges=first.bridges[:BRIDGES_OF_AN_ARM],
        novelty=discovery.layout.novelty(a, either, end),
        methods=tuple(dict.fromkeys((*first.methods, *second.methods))),
        origin=replace(made, note=note, change="two ends combined"),
        also_ends=(second.end,),
        arms=(arm,),
    )


def _on_common_ground(
    one: CandidateConnection, other: CandidateConnection
) -> tuple[CandidateConnection, CandidateConnection]:
    # Where the two share a bridge that sentences say on all sides, it is the one both are told by.
    theirs = {bridge.concept.key: bridge for bridge in other.bridges}
    for bridge in one.bridges:
        match = theirs.get(bridge.concept.key)
        if match is not None and bridge.is_said and match.is_said:
            return _led_by(one, bridge), _led_by(other, match)
    return one, other


def _led_by(connection: CandidateConnection, bridge: BridgeEvidence) -> CandidateConnection:
    return replace(
        connection, bridges=(bridge, *(other for other in connection.bridges if other != bridge))
    )


def _with_bridges_of(
    discovery: Proposer, parent: CandidateConnection, partner: CandidateConnection
) -> CandidateConnection:
    own = {bridge.concept.key for bridge in parent.bridges}
    theirs = {bridge.concept.key for bridge in partner.bridges} - own
    end = discovery.reader.index.number(parent.end.key)
    if not theirs or end is None:
        raise NothingToEvolveError(
            EvolutionStrategy.COMBINE, "the two rest on the same bridges to the same end"
        )
    keys = own | theirs
    made = Origin(EvolutionStrategy.COMBINE, "", (parent.key, partner.key))
    reading, index = _reading(discovery, parent), discovery.reader.index
    child = discovery.layout.connection(
        reading, end, made, lambda number: index.key(number) in keys
    )
    lead = (
        next((bridge for bridge in child.bridges if bridge.concept.key in own), None)
        if child is not None
        else None
    )
    if child is None or lead is None:
        raise NothingToEvolveError(
            EvolutionStrategy.COMBINE, "no bridge of the first leads from this start"
        )
    child = _led_by(child, lead)
    added = [named(bridge.concept) for bridge in child.bridges if bridge.concept.key in theirs]
    if not added:
        raise NothingToEvolveError(
            EvolutionStrategy.COMBINE, "no bridge of the second leads from this start"
        )
    note = (
        f"The bridges of two hypotheses with one end together; {listed(added[:3])} came from "
        f"the second."
    )
    return replace(
        child, origin=replace(made, note=note, change=f"with {added[0]} as a second bridge")
    )


def _rebuilt(
    discovery: Proposer, reading: GoalReading, end: Concept, made: Origin
) -> CandidateConnection | None:
    # Counted anew from the start, so that nothing is told of one end that holds of another.
    number = discovery.reader.index.number(end.key)
    return None if number is None else discovery.layout.connection(reading, number, made)


def _shifted(discovery: Proposer, parent: CandidateConnection) -> CandidateConnection:
    # What the parent leans on, under any name, is left out; the same end by another way, or else
    # another end.
    reading, reader = _reading(discovery, parent), discovery.reader
    index = reader.index
    own = [
        number
        for bridge in parent.every_bridge
        if (number := index.number(bridge.concept.key)) is not None
    ]
    keys = [index.key(number) for number in own]

    def admits(number: int) -> bool:
        return (
            not any(reader.are_close(number, one) for one in own)
            and not any(are_variants(index.key(number), key) for key in keys)
            and not is_worded_like(reader, number, own)
        )

    end, left_out = index.number(parent.end.key), named(parent.bridges[0].concept)
    note = (
        f"{counted_first(len(own), 'bridge')} of the parent left out, {left_out} first; "
        f"another way is sought."
    )
    made = Origin(
        EvolutionStrategy.PARADIGM_SHIFT,
        note,
        (parent.key,),
        change=f"by another way than {left_out}",
    )
    same_end = discovery.layout.connection(reading, end, made, admits) if end is not None else None
    if same_end is not None and same_end.bridges[0].is_said:
        return same_end
    for other in _others(discovery, parent):
        number = index.number(other.end.key)
        if (
            number is None
            or are_variants(other.end.key, parent.end.key)
            or (end is not None and reader.are_close(number, end))
        ):
            continue
        change = f"another end than {named(parent.end)}, by another way than {left_out}"
        shifted = discovery.layout.connection(reading, number, replace(made, change=change), admits)
        if shifted is not None:
            return shifted
    if same_end is not None:
        return same_end
    raise NothingToEvolveError(
        EvolutionStrategy.PARADIGM_SHIFT, "nothing else leads from the same start"
    )


def _others(discovery: Proposer, parent: CandidateConnection) -> tuple[CandidateConnection, ...]:
    try:
        return discovery.generate(
            parent.goal, count=GENERATION.others_tried, avoid={parent.end.key}
        )
    except (NoConnectionError, GoalNotInCorpusError):
        return ()


def _reading(discovery: Proposer, parent: CandidateConnection) -> GoalReading:
    # The goal as it was read; where its start is not the parent's (somebody else's hypothesis), the
    # parent's start is read instead.
    try:
        reading = discovery.read_goal(parent.goal)
    except GoalNotInCorpusError:
        reading = discovery.read_goal(parent.start.label)
    if reading.start_concept.key != parent.start.key:
        reading = discovery.read_goal(parent.start.label)
    return replace(reading, goal=parent.goal)

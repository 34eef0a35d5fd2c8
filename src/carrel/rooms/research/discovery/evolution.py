"""New connections from old ones; the parents stay as they were, and the child says whose it is."""

from collections.abc import Collection
from dataclasses import replace

from carrel.rooms.research.discovery.connections import BridgeEvidence, CandidateConnection, EvolutionStrategy, Origin
from carrel.rooms.research.discovery.errors import NoConnectionError
from carrel.rooms.research.discovery.generation import Discovery
from carrel.rooms.research.discovery.paths import first_bridges, side


class NothingToEvolveError(Exception):
    """The strategy has nothing to work on: the connection is already as it would leave it."""

    code = "nothing_to_evolve"

    def __init__(self, strategy: EvolutionStrategy, why: str) -> None:
        super().__init__(f"{strategy.value} changes nothing here: {why}. Try another strategy or another hypothesis.")
        self.strategy = strategy


def evolve(
    discovery: Discovery,
    connection: CandidateConnection,
    strategy: EvolutionStrategy,
    partner: CandidateConnection | None = None,
) -> CandidateConnection:
    """A child of the connection (and, for combine, of its partner)."""
    match strategy:
        case EvolutionStrategy.REFINE:
            return _refined(connection)
        case EvolutionStrategy.SIMPLIFY:
            return _simplified(connection)
        case EvolutionStrategy.COMBINE:
            if partner is None or partner.key == connection.key:
                raise NothingToEvolveError(strategy, "it needs a second hypothesis to combine with")
            return _combined(connection, partner)
        case EvolutionStrategy.PARADIGM_SHIFT:
            return _shifted(discovery, connection)


def _refined(parent: CandidateConnection) -> CandidateConnection:
    # Narrower and better said: bridges whose two sides are quoted come first, broad and unquoted ones go.
    documents = max(parent.novelty.documents_searched, 1)

    def worth(bridge: BridgeEvidence) -> tuple[bool, float]:
        quoted = (*bridge.near_evidence, *bridge.far_evidence)
        said = sum(evidence.speaks_of_both for evidence in quoted) / len(quoted) if quoted else 0.0
        return bool(bridge.near_evidence and bridge.far_evidence), (0.5 + said) * (
            1 - bridge.concept.documents / documents
        ) * bridge.weight

    ordered = sorted(parent.bridges, key=worth, reverse=True)
    kept = tuple(ordered[: max(1, (len(ordered) + 1) // 2)])
    if kept == parent.bridges:
        raise NothingToEvolveError(EvolutionStrategy.REFINE, "its only bridge is already the narrowest")
    note = f"Narrowed from {len(parent.bridges)} bridges to the {len(kept)} best said and most specific."
    return _child(parent, EvolutionStrategy.REFINE, note, kept)


def _simplified(parent: CandidateConnection) -> CandidateConnection:
    if len(parent.bridges) == 1:
        raise NothingToEvolveError(EvolutionStrategy.SIMPLIFY, "it has one bridge only")
    strongest = max(parent.bridges, key=lambda bridge: (bridge.weaker_side_documents, bridge.weight))
    note = f"One chain alone: {strongest.concept.label}, the bridge with most papers on its thinner side."
    return _child(parent, EvolutionStrategy.SIMPLIFY, note, (strongest,))


def _combined(parent: CandidateConnection, partner: CandidateConnection) -> CandidateConnection:
    shared = {bridge.concept.key for bridge in parent.bridges} & {bridge.concept.key for bridge in partner.bridges}
    theirs = [bridge for bridge in partner.bridges if bridge.concept.key not in {own.concept.key for own in parent.bridges}]
    first = [bridge for bridge in parent.bridges if bridge.concept.key in shared]
    rest = [bridge for bridge in parent.bridges if bridge.concept.key not in shared]
    same_end = parent.end.key == partner.end.key
    if same_end and not theirs:
        raise NothingToEvolveError(EvolutionStrategy.COMBINE, "the two rest on the same bridges to the same end")
    bridges = (*first, *rest[:3], *theirs[:3]) if same_end else (*first, *rest[: max(1, 4 - len(first))])
    also = () if same_end else (partner.end,)
    common = f"they share {', '.join(sorted(bridge.concept.label for bridge in first))}" if first else "they share no bridge"
    note = f"{parent.end.label} together with {partner.end.label}: {common}."
    child = _child(parent, EvolutionStrategy.COMBINE, note, bridges, (parent.key, partner.key))
    return replace(child, also_ends=(*parent.also_ends, *also))


def _shifted(discovery: Discovery, parent: CandidateConnection) -> CandidateConnection:
    # What everyone leans on is left out, and the same start is led elsewhere.
    reading = discovery.read_goal(parent.start.label)
    reader = discovery.reader
    near = side(reader, reading.start)
    usual = {number for _, number in first_bridges(reader, near)[:5]}
    leant_on = {bridge.concept.key for bridge in parent.bridges[:2]}
    note = "The bridges most papers lean on, and the parent's own, are left out: another way is sought."

    def admits(number: int) -> bool:
        key = reader.index.key(number)
        return number not in usual and key not in leant_on

    end = reader.index.number(parent.end.key)
    made = Origin(EvolutionStrategy.PARADIGM_SHIFT, note, (parent.key,))
    same_end = discovery.connection(replace(reading, goal=parent.goal), end, made, admits) if end is not None else None
    if same_end is not None and same_end.bridges:
        return same_end
    for other in _others(discovery, parent, {parent.end.key}):
        return replace(other, origin=made)
    raise NothingToEvolveError(EvolutionStrategy.PARADIGM_SHIFT, "nothing else leads from the same start")


def _others(discovery: Discovery, parent: CandidateConnection, avoid: Collection[str]) -> tuple[CandidateConnection, ...]:
    try:
        return discovery.generate(parent.goal, count=1, avoid=avoid)
    except NoConnectionError:
        return ()


def _child(
    parent: CandidateConnection,
    strategy: EvolutionStrategy,
    note: str,
    bridges: tuple[BridgeEvidence, ...],
    parents: tuple[str, ...] = (),
) -> CandidateConnection:
    return replace(parent, bridges=bridges, origin=Origin(strategy, note, parents or (parent.key,)))

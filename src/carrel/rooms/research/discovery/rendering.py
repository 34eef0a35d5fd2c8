"""A connection in plain words: what it is, what it rests on, how to test it, what would refute it."""

from dataclasses import dataclass

from carrel.rooms.research.discovery.connections import BridgeEvidence, CandidateConnection, Evidence, Place
from carrel.rooms.research.discovery.vocabulary import natural_order

SUMMARY_LEAST_WORDS = 50
SUMMARY_MOST_WORDS = 100
_LONGEST_LABEL_WORDS = 6


@dataclass(frozen=True)
class ExperimentalProtocol:
    """How the connection could be tested, step by step, with what the corpus knows how to do."""

    objective: str
    methodology: tuple[str, ...]
    required_resources: tuple[str, ...]
    success_metrics: tuple[str, ...]
    potential_challenges: tuple[str, ...]
    safety_considerations: tuple[str, ...]

    def as_text(self) -> str:
        """The protocol as numbered prose."""
        steps = "\n".join(f"{number}. {step}" for number, step in enumerate(self.methodology, start=1))
        parts = [f"Objective: {self.objective}", f"Steps:\n{steps}"]
        for heading, lines in (
            ("Needed", self.required_resources),
            ("Success", self.success_metrics),
            ("Difficulties", self.potential_challenges),
            ("Safety", self.safety_considerations),
        ):
            parts.append(f"{heading}: {' '.join(lines)}")
        return "\n\n".join(parts)


@dataclass(frozen=True)
class HypothesisText:
    """Everything a reader sees of a connection; citations are document ids of the index."""

    title: str
    summary: str
    rationale: str
    protocol: ExperimentalProtocol
    predictions: tuple[str, ...]
    refutations: tuple[str, ...]
    novelty: str
    citations: tuple[str, ...]


def render(connection: CandidateConnection) -> HypothesisText:
    """The whole text of a connection."""
    return HypothesisText(
        f"{_end(connection)} may be connected to {_start(connection)} through {_label(connection.bridges[0])}",
        summary(connection),
        rationale(connection),
        protocol(connection),
        predictions(connection),
        refutations(connection),
        novelty(connection),
        connection.citations,
    )


def summary(connection: CandidateConnection) -> str:
    """Fifty to a hundred words, whatever the labels are."""
    a, c, first = _start(connection), _end(connection), connection.bridges[0]
    text = (
        f"Candidate connection found by literature-based discovery: {c} may bear on {a} through {_label(first)}. "
        f"In this corpus, {_papers(first.near_documents)} on {a} and {_papers(first.far_documents)} on {c} speak of that bridge, "
        f"while {_direct(connection)} speak of both ends together. "
    )
    spare = (
        f"Other bridges: {', '.join(_label(bridge) for bridge in connection.bridges[1:4])}. "
        if len(connection.bridges) > 1
        else "",
        "It is a lead to test, not a finding. ",
        "The quoted papers support each side separately; nobody in this corpus has shown the whole chain. ",
        "Weights come from how often papers mention concepts together; causes and directions remain to be shown. ",
    )
    for more in spare:
        if _words(text + more) <= SUMMARY_MOST_WORDS:
            text += more
    return text.strip()


def rationale(connection: CandidateConnection) -> str:
    """Bridge by bridge, with the sentences that say it."""
    a, c = _start(connection), _end(connection)
    lines = [
        f"{a} and {c} are joined by {_counted(len(connection.bridges), 'concept')} that papers on each speak of. "
        "A bridge is as strong as its weaker side."
    ]
    for place, bridge in enumerate(connection.bridges, start=1):
        lines.append(
            f"{place}. {_label(bridge)}: {_papers(bridge.near_documents)} with {a}, {_papers(bridge.far_documents)} with {c} "
            f"(weights {bridge.near_weight:.4f} and {bridge.far_weight:.4f})."
        )
        lines.extend(f"   {quotation(evidence)}" for evidence in (*bridge.near_evidence[:2], *bridge.far_evidence[:2]))
    if connection.origin.note:
        lines.append(connection.origin.note)
    for turn in connection.origin.turns:
        lines.append(turn.says)
        lines.extend(f"   {quotation(evidence)}" for evidence in turn.evidence)
    lines.append(novelty(connection))
    return "\n".join(lines)


def novelty(connection: CandidateConnection) -> str:
    """What was searched for direct evidence, and what there is."""
    searched = connection.novelty
    names = f"{_start(connection)} ({searched.start_documents} papers) and {_end(connection)} ({searched.end_documents} papers)"
    text = f"Searched {searched.documents_searched} papers for both ends together, {names}: {searched.direct_documents} found"
    text += f", {searched.expected_by_chance:.1f} expected by chance."
    if searched.direct_evidence:
        text += " " + " ".join(quotation(evidence) for evidence in searched.direct_evidence)
    return text + " Papers outside this corpus were not searched."


def protocol(connection: CandidateConnection) -> ExperimentalProtocol:
    """A test of the weakest link first, then of the whole chain, with methods the corpus uses."""
    a, c = _start(connection), _end(connection)
    weakest, methods = _label(weakest_bridge(connection)), [method.label for method in connection.methods]
    how = (
        f"with {_listed(methods[:3])}, which {_papers(connection.methods[0].documents)} here use"
        if methods
        else "with a method of your field"
    )
    steps = [
        f"Read the quoted papers and confirm that each says what it is cited for (ids: {_listed(connection.citations[:6])}).",
        f"Search wider databases for {a} together with {c}; stop if the connection is already known.",
        f"Test the weakest link first: measure {weakest} in a system where {a} is studied, {how}.",
        f"Change {c} in that system and measure {weakest} against an untouched control.",
        f"If {weakest} moves, measure the outcome by which {a} is judged, with and without {c}, blinded and randomised.",
        f"Block {weakest} and repeat: the effect of {c} on {a} should shrink if the bridge carries it.",
    ]
    needed = [f"A model or cohort in which {a} is studied.", f"A way to change or measure {c}."]
    needed.extend(f"{method.label} ({_papers(method.documents)} here use it)." for method in connection.methods[:3])
    return ExperimentalProtocol(
        f"Find out whether {c} bears on {a} through {_label(connection.bridges[0])}.",
        tuple(steps),
        tuple(needed),
        (
            f"{c} changes {weakest} beyond the control's spread, in a stated direction.",
            f"The outcome of {a} follows, and no longer does when {weakest} is blocked.",
        ),
        (
            f"Its thinnest side rests on {_papers(weakest_bridge(connection).weaker_side_documents)}.",
            "Mention together is not cause: a third thing may stand behind both.",
        ),
        (
            "Work with people or animals needs the approval of an ethics committee.",
            "Follow the safety rules for every substance used.",
        ),
    )


def predictions(connection: CandidateConnection) -> tuple[str, ...]:
    """What should be seen if the connection holds."""
    a, c = _start(connection), _end(connection)
    told = [f"Where {a} is present, {_label(bridge)} differs, and changing {c} changes it." for bridge in connection.bridges[:2]]
    told.append(f"Groups that differ in {c} differ in how often or how severely {a} occurs.")
    return tuple(told)


def refutations(connection: CandidateConnection) -> tuple[str, ...]:
    """What would show that the connection does not hold."""
    a, c, first = _start(connection), _end(connection), _label(connection.bridges[0])
    return (
        f"{first} does not change when {c} is changed, in a study large enough to see it.",
        f"{c} acts on {a} just as much when {first} is blocked.",
        f"A paper that has already tested {c} in {a} and found nothing.",
    )


def quotation(evidence: Evidence) -> str:
    """A sentence with the exact place it stands in."""
    place = f"abstract, sentence {evidence.sentence_number}" if evidence.place is Place.ABSTRACT else evidence.place.value
    year = f", {evidence.year}" if evidence.year else ""
    return f"“{evidence.sentence}” [{evidence.document_id}{year}, {place}]"


def weakest_bridge(connection: CandidateConnection) -> BridgeEvidence:
    """The shown bridge that the fewest papers hold up."""
    return min(connection.bridges[:3], key=lambda bridge: (bridge.weaker_side_documents, bridge.weight))


def _short(label: str) -> str:
    words = natural_order(label).split()
    return " ".join(words[:_LONGEST_LABEL_WORDS])


def _start(connection: CandidateConnection) -> str:
    return _short(connection.start.label)


def _end(connection: CandidateConnection) -> str:
    return " with ".join(_short(end.label) for end in (connection.end, *connection.also_ends[:1]))


def _label(bridge: BridgeEvidence) -> str:
    return _short(bridge.concept.label)


def _counted(count: int, noun: str) -> str:
    return f"{count} {noun}{'' if count == 1 else 's'}"


def _papers(count: int) -> str:
    return _counted(count, "paper")


def _direct(connection: CandidateConnection) -> str:
    count = connection.novelty.direct_documents
    return f"{count or 'none'} of {connection.novelty.documents_searched}"


def _listed(items: tuple[str, ...] | list[str]) -> str:
    return ", ".join(items)


def _words(text: str) -> int:
    return len(text.split())

"""Text of a connection: the claim, its evidence, how to test it, what would refute it."""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice

from carrel.libraries.discovery.concepts.kinds import drive, kind_of
from carrel.libraries.discovery.connections.candidates import (
    BridgeEvidence,
    CandidateConnection,
    Evidence,
    EvolutionStrategy,
    ExperimentalProtocol,
    GenerationMethod,
    NoveltySearch,
)
from carrel.libraries.discovery.connections.links import (
    Link,
    LinkJudgement,
    acts_first,
    chain,
    leading_chain,
    weakest_link,
)
from carrel.libraries.discovery.records import Concept, Kind, Place
from carrel.libraries.discovery.writing.protocols import (
    LinkTest,
    acting,
    link_test,
    protocol,
    taken_out,
)
from carrel.libraries.discovery.writing.wording import (
    counted_first,
    listed,
    named,
    number,
    papers,
    readout,
    sentence_case,
    varied,
    word_count,
)

SUMMARY_LEAST_WORDS = 50
SUMMARY_MOST_WORDS = 100
_LONGEST_NOTE_WORDS = 30
_SHARES = frozenset({Kind.DISEASE, Kind.ORGANISM, Kind.ANATOMY})
_CAVEAT = "A candidate connection, still to be tested."
_WEAK = "A candidate connection with weak support, still to be tested."


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
        title(connection),
        summary(connection),
        rationale(connection),
        protocol(connection),
        predictions(connection),
        refutations(connection),
        novelty(connection),
        connection.citations,
    )


def title(connection: CandidateConnection) -> str:
    """The claim in one line; a child says what changed."""
    change = f" ({connection.origin.change})" if connection.origin.change else ""
    return sentence_case(claim(connection)) + change


def claim(connection: CandidateConnection) -> str:
    """The claim, worded by the kinds of its concepts."""
    scope = f", {connection.scope}" if connection.scope else ""
    if connection.arms:
        return _combined_claim(connection) + scope
    return _relation(connection) + scope


def summary(connection: CandidateConnection) -> str:
    """A summary of 50 to 100 words: the claim, its evidence, its novelty and the first test."""
    told = [
        f"{sentence_case(claim(connection))}.",
        *_sides(connection),
        _how_new(connection),
        _caveat(connection),
    ]
    if word_count(" ".join(told)) > SUMMARY_MOST_WORDS:
        told = [told[0], _in_short(connection), _caveat(connection)]
    for wordings in _further(connection):
        fitting = (
            more for more in wordings if word_count(" ".join((*told, more))) <= SUMMARY_MOST_WORDS
        )
        told[-1:-1] = [*islice(fitting, 1)]
    for filler in _FILLERS:
        if word_count(" ".join(told)) < SUMMARY_LEAST_WORDS:
            told.insert(-1, filler)
    return " ".join(told)


def _caveat(connection: CandidateConnection) -> str:
    return _WEAK if connection.weakness else _CAVEAT


_FILLERS = (
    "Which way cause runs, if there is any, remains to be shown.",
    "Papers outside this corpus were not searched, and counts are of papers that speak of both "
    "things, not of proofs.",
    "The papers on each side are quoted, with the place of every sentence, in the rationale.",
)


def rationale(connection: CandidateConnection) -> str:
    """Bridge by bridge, with the sentences that say it."""
    lines = list(
        _told_bridges(connection.start, connection.end, connection.bridges, connection.start_acts)
    )
    if connection.weakness:
        lines.insert(0, f"Weak: {connection.weakness}.")
    for arm in connection.arms:
        lines.extend(_told_bridges(connection.start, arm.end, arm.bridges))
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
    if connection.arms:
        ends = listed([named(connection.end), *(named(arm.end) for arm in connection.arms)])
        text = _searched(searched, named(connection.start), f"any of {ends}")
        for arm in connection.arms:
            text += (
                f" {sentence_case(named(connection.end))} and {named(arm.end)} meet in "
                f"{papers(arm.with_end)}"
            )
            text += f", with {named(connection.start)} in {papers(arm.with_everything)}."
            text += (
                f" {named(connection.start)} with {named(arm.end)} alone: {_found(arm.novelty)}."
            )
    else:
        text = _searched(searched, named(connection.start), named(connection.end))
    if searched.direct_evidence:
        text += " " + " ".join(quotation(evidence) for evidence in searched.direct_evidence)
    return text + " Papers outside this corpus were not searched."


def predictions(connection: CandidateConnection) -> tuple[str, ...]:
    """What should be seen if the connection holds."""
    near, far = leading_chain(connection)
    told = [_expected(link_test(connection, link)) for link in (far, near)]
    cause, effect = acting(connection)
    told.append(
        f"{sentence_case(varied(cause))}, {readout(effect)} will differ from the comparison, and "
        f"less so {taken_out(connection)}."
    )
    return tuple(told)


def refutations(connection: CandidateConnection) -> tuple[str, ...]:
    """What would show that the connection does not hold."""
    test = link_test(connection, weakest_link(connection))
    a, c = named(connection.start), named(connection.end)
    return (
        f"No difference in {test.readout} {test.condition}, in a study large enough to see it: "
        f"the weakest link breaks.",
        f"{sentence_case(c)} and {a} going together just as much {taken_out(connection)}.",
        f"A paper that has already looked for {a} together with {c} and found nothing.",
    )


def quotation(evidence: Evidence) -> str:
    """A sentence with its exact place, marked where it names only one thing."""
    place = (
        f"abstract, sentence {evidence.sentence_number}"
        if evidence.place is Place.ABSTRACT
        else evidence.place.value
    )
    year = f", {evidence.year}" if evidence.year else ""
    only = f"; speaks of {evidence.speaks_only_of} only" if evidence.speaks_only_of else ""
    return f"“{evidence.sentence}” [{evidence.document_id}{year}, {place}{only}]"


def _relation(connection: CandidateConnection) -> str:
    actor, target = acting(connection)
    kind = kind_of(actor)
    alone = " alone" if connection.origin.made_by is EvolutionStrategy.SIMPLIFY else ""
    c, a, b = named(actor), named(target), named(connection.bridges[0].concept) + alone
    if connection.effect:
        return f"{c} may {'raise' if connection.effect > 0 else 'lower'} {a} through {b}"
    if kind is kind_of(target) and kind in _SHARES:
        return f"{c} and {a} may have {b} in common"
    if kind is Kind.ANATOMY:
        return f"{c} may take part in {a} through {b}"
    if kind in {Kind.PROCESS, Kind.BEHAVIOUR} and kind_of(target) is Kind.ANATOMY:
        return f"{a} may take part in {c} through {b}"
    return (
        f"{c} may act on {a} through {b}"
        if drive(kind)
        else f"{c} and {a} may be connected through {b}"
    )


def _combined_claim(connection: CandidateConnection) -> str:
    a, first = named(connection.start), connection.bridges[0].concept
    ways = [
        (connection.end, first),
        *((arm.end, arm.bridges[0].concept) for arm in connection.arms),
    ]
    ends = listed([named(end) for end, _ in ways])
    start_acts = all(acts_first(connection.start, end) for end, _ in ways)
    if len({bridge.key for _, bridge in ways}) == 1:
        b = named(first)
        return (
            f"{a} may act on both {ends} through {b}"
            if start_acts
            else f"{ends} may meet in {b} and bear on {a} together"
        )
    join = "act on" if start_acts else "be connected to"
    return f"{a} may {join} both " + " and ".join(
        f"{named(end)} (through {named(bridge)})" for end, bridge in ways
    )


def _sides(connection: CandidateConnection) -> Iterator[str]:
    near, far = leading_chain(connection)
    b = named(connection.bridges[0].concept)
    yield (
        f"Papers here name {b} with {named(connection.start)} ({_held(near)}) and with "
        f"{named(connection.end)} ({_held(far)})."
    )
    for arm in connection.arms:
        own_near, own_far = chain(connection.start, arm.bridges[0], arm.end)
        own = named(arm.bridges[0].concept)
        if arm.bridges[0].concept.key == connection.bridges[0].concept.key:
            yield f"With {named(arm.end)} they name it, too ({_held(own_far)})."
        else:
            yield (
                f"They name {own} with {named(connection.start)} ({papers(own_near.documents)}) "
                f"and with {named(arm.end)} ({papers(own_far.documents)})."
            )


def _held(link: Link) -> str:
    count = f"{'only ' if link.documents < 3 else ''}{papers(link.documents)}"
    when = f" in {link.said[0].year}" if link.said and link.said[0].year else ""
    match link.judgement:
        case LinkJudgement.SAID:
            return f"{count}; in one sentence{when}"
        case LinkJudgement.DENIED:
            return f"{count}; a sentence{when} denies something"
        case _:
            return f"{count}; never in one sentence"


def _in_short(connection: CandidateConnection) -> str:
    # For names so long that nothing else fits: each way with its own counts, and what was found of
    # the ends together.
    ways = [
        (connection.end, connection.bridges[0]),
        *((arm.end, arm.bridges[0]) for arm in connection.arms),
    ]
    held = [f"{bridge.near_documents:,} and {bridge.far_documents:,}" for _, bridge in ways]
    found = counted_first(connection.novelty.direct_documents, "paper")
    return (
        f"Papers on the two sides: {', then '.join(held)}. {found} of "
        f"{connection.novelty.documents_searched:,} on the ends together."
    )


def _how_new(connection: CandidateConnection) -> str:
    searched = connection.novelty
    ends = f"{named(connection.start)} with either of the two" if connection.arms else "both ends"
    by_chance = f"({number(searched.expected_by_chance)} expected by chance)"
    if not searched.direct_documents:
        return f"None of {papers(searched.documents_searched)} speaks of {ends} {by_chance}."
    verb = "speaks" if searched.direct_documents == 1 else "speak"
    return (
        f"{counted_first(searched.direct_documents, 'paper')} already {verb} of {ends} {by_chance}."
    )


def _further(connection: CandidateConnection) -> Iterator[tuple[str, ...]]:
    # What is special about this one, each in one or more wordings of which the first that fits is
    # taken.
    origin, links = connection.origin, leading_chain(connection)
    weakest = weakest_link(connection)
    pair = f"{named(weakest.cause)} – {named(weakest.effect)}"
    is_plain = origin.made_by is GenerationMethod.LITERATURE_BASED
    if origin.note and not is_plain and word_count(origin.note) <= _LONGEST_NOTE_WORDS:
        yield (sentence_case(origin.note),)
    yield f"First test: {link_test(connection, weakest).in_short()}.", f"To test first: {pair}."
    for arm in connection.arms:
        yield (
            f"{counted_first(arm.with_end, 'paper')} {'joins' if arm.with_end == 1 else 'join'} "
            f"the two ends themselves.",
        )
    against = sum(
        evidence.is_contrary for link in links if link.judgement is LinkJudgement.SAID for evidence in link.said  # noqa: E501
    )  # fmt: skip
    if against:
        denies = (
            "denies something; read it first" if against == 1 else "deny something; read them first"
        )
        yield (f"{counted_first(against, 'quoted sentence')} {denies}.",)
    others = [named(bridge.concept) for bridge in connection.bridges[1:4]]
    if others and origin.made_by is not EvolutionStrategy.SIMPLIFY:
        yield f"Other ways there: {listed(others)}.", f"Another way there: {others[0]}."


def _told_bridges(
    start: Concept,
    end: Concept,
    bridges: tuple[BridgeEvidence, ...],
    start_acts: bool | None = None,
) -> Iterator[str]:
    a, c = named(start), named(end)
    how = (
        "one concept that papers on each speak of"
        if len(bridges) == 1
        else f"{len(bridges)} concepts that papers on each speak of"
    )
    yield (
        f"{sentence_case(a)} and {c} are joined by {how}. A bridge weighs what both its sides "
        f"weigh together (their geometric mean)."
    )
    for place, bridge in enumerate(bridges, start=1):
        near, far = chain(start, bridge, end, start_acts)
        yield (
            f"{place}. {sentence_case(named(bridge.concept))}: {papers(near.documents)} with {a}, "
            f"{papers(far.documents)} with {c} "
            f"(weights {bridge.near_weight:.2g} and {bridge.far_weight:.2g})."
        )
        yield from _told_signs(bridge, near, far)
        for link in (near, far):
            if not link.said:
                yield (
                    f"   No sentence read names both {named(link.cause)} and {named(link.effect)}."
                )
            for evidence in link.evidence[:2]:
                yield f"   {quotation(evidence)}"


def _told_signs(bridge: BridgeEvidence, near: Link, far: Link) -> Iterator[str]:
    for link, signs in ((near, bridge.near_signs), (far, bridge.far_signs)):
        said = [
            f"{verb} it in {papers(count)}"
            for verb, count in (
                ("raises", signs.raises),
                ("lowers", signs.lowers),
                ("does not raise", signs.denied_raises),
                ("does not lower", signs.denied_lowers),
            )
            if count
        ]
        if said:
            yield (
                f"   What {named(link.cause)} does to {named(link.effect)}, as sentences say: "
                f"{listed(said)}."
            )


def _searched(searched: NoveltySearch, a: str, c: str) -> str:
    names = f"{a} ({papers(searched.start_documents)}) and {c} ({papers(searched.end_documents)})"
    return (
        f"Searched {papers(searched.documents_searched)} for {names} together: {_found(searched)}, "
        f"{number(searched.expected_by_chance)} expected by chance."
    )


def _found(searched: NoveltySearch) -> str:
    return f"{searched.direct_documents:,} found" if searched.direct_documents else "none found"


def _expected(test: LinkTest) -> str:
    return f"{sentence_case(test.condition)}, {test.readout} will differ from {test.against}."

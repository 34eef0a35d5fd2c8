"""Maps a hypothesis to the corpus's terms, and finds which of them the papers cover."""

from __future__ import annotations

from dataclasses import dataclass, replace

from carrel.libraries.discovery.concepts.words import normal_phrase
from carrel.libraries.discovery.connections.candidates import (
    CandidateConnection,
    GenerationMethod,
    Origin,
    Relevance,
)
from carrel.libraries.discovery.errors import GoalNotInCorpusError
from carrel.libraries.discovery.generation.discovery import Discovery
from carrel.libraries.discovery.goals.records import GoalReading
from carrel.libraries.discovery.writing.rendering import SUMMARY_LEAST_WORDS, SUMMARY_MOST_WORDS
from carrel.rooms.research.records import Draft, Hypothesis

_STATEMENT_WORDS = 45
# Set by hand: how relevant a statement is that is about one thing of two, or about none.
ONE_THING_RELEVANCE = 0.5
OFF_GOAL_RELEVANCE = 0.1
# Set by hand: the share of the terms it names that papers must cover for a review to speak of it.
LEAST_COVERAGE = 0.7

# Concepts do not cover it; sentences that are searched for each statement may still decide it.
_NOT_COVERED = "Not covered by the concepts of this corpus:"


@dataclass(frozen=True, slots=True)
class Covered:
    """The connection to review; `says` and `named_bridge` only for a submitted hypothesis."""

    connection: CandidateConnection
    says: str = ""
    named_bridge: str | None = None


@dataclass(frozen=True, slots=True)
class NotCovered:
    """Why the corpus has nothing about it."""

    says: str


Subject = Covered | NotCovered


def find_subject(discovery: Discovery, hypothesis: Hypothesis, goal: str) -> Subject:
    """The hypothesis's connection, or one between two terms in its title or summary."""
    draft = hypothesis.draft
    if draft.connection is not None:
        return Covered(draft.connection)
    problem: NotCovered | None = None
    for text in dict.fromkeys((draft.title, f"{draft.title}. {draft.summary}")):
        try:
            reading = discovery.read_goal(text)
        except GoalNotInCorpusError as error:
            names = ", ".join(f"“{name.text}”" for name in error.missing) or "what it names"
            return problem or NotCovered(f"{_NOT_COVERED} no paper here speaks of {names}.")
        if reading.is_closed:
            return _find_connection(discovery, reading, goal)
        problem = NotCovered(
            f"{_NOT_COVERED} of what it names, only {reading.start.label} is what papers here are "
            f"about{_describe_left_aside(reading)}. One term is no connection."
        )
    assert problem is not None
    return problem


def _relevance(discovery: Discovery, reading: GoalReading, goal: str) -> Relevance:
    """The number of the project's terms that the statement is about."""
    try:
        asked = discovery.understand(goal)
    except GoalNotInCorpusError:
        return Relevance(
            1.0,
            "The goal itself is not covered by these papers, so nothing is said on whether this "
            "is about it.",
        )
    reader, index = discovery.reader, discovery.index
    wanted = [
        number
        for number in (index.number(asked.start_concept.key), asked.pair)
        if number is not None
    ]
    own = [
        number
        for number in (index.number(reading.start_concept.key), reading.pair, reading.through)
        if number is not None
    ]
    met = sum(any(reader.are_close(one, other) for other in own) for one in wanted)
    if met == len(wanted):
        return Relevance()
    if met:
        return Relevance(
            ONE_THING_RELEVANCE, "It is about one of the two things that the goal asks about."
        )
    return Relevance(OFF_GOAL_RELEVANCE, "It is about nothing that the goal asks about.")


def _find_connection(discovery: Discovery, reading: GoalReading, goal: str) -> Subject:
    assert reading.end is not None
    terms = " and ".join(
        f"{end.label} ({len(end.documents):,} {'paper' if len(end.documents) == 1 else 'papers'})"
        for end in (reading.end, reading.start)
    )
    named = 2 + (reading.through is not None)
    share = named / (
        named + len(reading.missing) + sum(number != reading.pair for number in reading.others)
    )
    if share < LEAST_COVERAGE:
        return NotCovered(
            f"{_NOT_COVERED} of what it names, only {terms} could be looked at together"
            f"{_describe_left_aside(reading)}."
        )
    connection = discovery.asked_pair(
        reading, Origin(GenerationMethod.LITERATURE_BASED, f"Looked at for a hypothesis: {terms}.")
    )
    if connection is None:
        aside = _describe_left_aside(reading)
        return NotCovered(f"{_NOT_COVERED} nothing joins {terms} here{aside}.")
    first = connection.bridges[0].concept
    relevance = _relevance(discovery, reading, goal)
    through = (
        set() if reading.through is None else set(discovery.index.key(reading.through).split())
    )
    notes = " ".join(discovery.notes_on(reading))
    aside = _describe_left_aside(reading)
    looked_at = f"Looked at: {terms}, joined here by {first.label}{aside}."
    return Covered(
        replace(connection, relevance=relevance),
        f"{looked_at} {notes}".strip(),
        first.key if through and through <= set(first.key.split()) else None,
    )


def _describe_left_aside(reading: GoalReading) -> str:
    parts = []
    if reading.ignored:
        parts.append(f"left aside: {', '.join(reading.ignored)}")
    if reading.missing:
        parts.append(
            "not in these papers: " + ", ".join(f"“{name.text}”" for name in reading.missing)
        )
    return f" ({'; '.join(parts)})" if parts else ""


def keep_statement(parent: Draft, child: Draft, covered: Covered) -> Draft:
    """The child of a submitted hypothesis, with its parent's statement in its texts."""
    statement = parent.title.strip().rstrip(".")
    ways = ", ".join(child.bridges[:2])
    words = statement.split()
    short = (
        statement if len(words) <= _STATEMENT_WORDS else " ".join(words[:_STATEMENT_WORDS]) + "…"
    )
    said = f" {normal_phrase(statement)} "
    added = next(
        (bridge for bridge in child.bridges if f" {normal_phrase(bridge)} " not in said), None
    )
    told = (
        f"{short}. {child.method.replace('_', ' ').capitalize()}: in these papers what it "
        f"names is joined by {ways}."
    )
    return child.model_copy(
        update={
            "title": f"{short}, by way of {added}"
            if added
            else f"{short} ({child.method.replace('_', ' ')})",
            "summary": _fit_summary(told, child.summary),
            "rationale": f"The statement it was made from, kept: “{statement}. "
            f"{parent.summary}”\n{covered.says}\n{child.rationale}",
            "origin": f"{parent.origin}; evolved by {child.origin}",
        }
    )


def _fit_summary(told: str, more: str) -> str:
    """Fit `told` and as many further sentences as possible into 50 to 100 words."""
    words = told.split()[:SUMMARY_MOST_WORDS]
    spare = more.split()
    room = SUMMARY_MOST_WORDS - len(words)
    if len(spare) <= room:
        return " ".join((*words, *spare))
    kept = spare[:room]
    last = max((place for place, word in enumerate(kept) if word.endswith(".")), default=-1)
    whole = kept[: last + 1]
    return " ".join((*words, *(whole if len(words) + len(whole) >= SUMMARY_LEAST_WORDS else kept)))


def lead_by_named_bridge(child: CandidateConnection, covered: Covered) -> CandidateConnection:
    """The child with the bridge that the statement names put first, if that one holds."""
    own = [
        bridge
        for bridge in covered.connection.bridges
        if bridge.concept.key == covered.named_bridge
    ]
    return replace(
        child,
        bridges=(
            *own,
            *(bridge for bridge in child.bridges if bridge.concept.key != covered.named_bridge),
        ),
    )


def drop_weak_bridges(connection: CandidateConnection, weak: frozenset[str]) -> CandidateConnection:
    """The connection without bridges that the meta-review calls weak, if others remain."""
    kept = tuple(bridge for bridge in connection.bridges if bridge.concept.key not in weak)
    return replace(connection, bridges=kept) if kept else connection


def describe_left_out(
    parent: CandidateConnection, child: CandidateConnection, weak: frozenset[str]
) -> str:
    """A sentence on the parent's bridges that the child leaves out on the meta-review's advice."""
    still = {bridge.concept.key for bridge in child.every_bridge}
    gone = [
        bridge.concept
        for bridge in parent.bridges
        if bridge.concept.key in weak and bridge.concept.key not in still
    ]
    return (
        f"Left out on the meta-review's advice: {', '.join(concept.label for concept in gone)}."
        if gone
        else ""
    )

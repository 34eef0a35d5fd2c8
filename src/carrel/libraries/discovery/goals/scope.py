"""The constraints of a goal applied to the corpus, and the reading told in words."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from carrel.libraries.discovery.concepts.words import normal_phrase
from carrel.libraries.discovery.goals.records import (
    ANSWERS,
    AskedFor,
    Constraint,
    ConstraintKind,
    ConstraintRead,
    GoalReading,
    GoalStatement,
    SubjectRead,
    SubjectUse,
    Wanted,
)
from carrel.libraries.discovery.goals.spans import counted, near_names, papers_with_phrase
from carrel.libraries.discovery.paths.literatures import Reader
from carrel.libraries.discovery.records import Concepts, Kind, Literature
from carrel.libraries.discovery.tuned import GOALS


@dataclass(frozen=True)
class Scope:
    """What the constraints leave: both literatures, concepts ruled out, and what was done."""

    start: Literature
    end: Literature | None
    constraints: tuple[ConstraintRead, ...]


def excluded_concepts(reader: Reader, statement: GoalStatement) -> frozenset[int]:
    """The concepts that a goal rules out, with all narrower ones."""
    found: set[int] = set()
    for one in statement.constraints_of(ConstraintKind.EXCLUDED):
        for name in one.names:
            number = _concept_of(reader, name)
            literature = None if number is None else reader.literature([reader.index.key(number)])
            if literature is not None:
                found |= literature.concepts
    return frozenset(found)


def apply_constraints(
    reader: Reader,
    statement: GoalStatement,
    start: Literature,
    end: Literature | None,
    through: int | None,
    leads: Callable[[Literature, Literature | None], bool],
) -> Scope:
    """The literatures narrowed by years and settings where enough papers remain."""
    read: list[ConstraintRead] = []
    for one in statement.constraints:
        match one.kind:
            case ConstraintKind.PUBLISHED:
                start, end, says = _within_years(reader, one, start, end, leads)
            case ConstraintKind.SETTING:
                if _is_end(reader, one, start, end):
                    continue
                start, says = _within_setting(reader, one, start, end, leads)
            case ConstraintKind.EXCLUDED:
                says = _exclude(reader, one)
            case ConstraintKind.VIA:
                says = _route(reader, one, through)
            case _:
                says = _UNUSED[one.kind]
        is_used = not says.startswith("not used")
        read.append(ConstraintRead(one.text, one.kind, is_used, says))
    return Scope(start, end, tuple(read))


_UNUSED = {
    ConstraintKind.REQUIRED: "not used: discovery cannot check it, so look at each proposal",
    ConstraintKind.PERIOD: "not used: discovery does not know when things happen",
    ConstraintKind.RIVAL: "not used: only the first route is looked for; start a second project "
    "for the other",
    ConstraintKind.HELD_EQUAL: "not used: discovery counts papers and adjusts for nothing; hold "
    "it equal in the test",
    ConstraintKind.GIVEN: "not used: taken as said",
}


def _concept_of(reader: Reader, name: str) -> int | None:
    """The concept of a name, or of its singular; None where fewer than one paper has it."""
    for key in (normal_phrase(name), normal_phrase(name).removesuffix("al")):
        number = reader.index.number(key)
        if number is not None and reader.index.frequency(number):
            return number
    return None


def _is_end(
    reader: Reader, constraint: Constraint, start: Literature, end: Literature | None
) -> bool:
    """Whether a setting is one of the two ends, hence no setting."""
    number = _concept_of(reader, constraint.names[0])
    words = set(normal_phrase(constraint.names[0]).split())
    for literature in (start, end):
        if literature is not None and (
            (number is not None and reader.is_close(number, literature))
            or words & set(normal_phrase(literature.label).split())
        ):
            return True
    return False


def _within_years(
    reader: Reader,
    constraint: Constraint,
    start: Literature,
    end: Literature | None,
    leads: Callable[[Literature, Literature | None], bool],
) -> tuple[Literature, Literature | None, str]:
    def fits(document: int) -> bool:
        year = reader.index.year_of(document)
        return (
            year is not None
            and (constraint.first_year is None or year >= constraint.first_year)
            and (constraint.last_year is None or year <= constraint.last_year)
        )

    first = _narrowed(start, filter(fits, start.documents))
    last = None if end is None else _narrowed(end, filter(fits, end.documents))
    left = counted(len(first.documents), "paper")
    if len(first.documents) < GOALS.least_in_context or not leads(first, last):
        return start, end, f"not used: only {left} on {start.label} would remain"
    return first, last, f"{left} on {start.label} remain"


def _within_setting(
    reader: Reader,
    constraint: Constraint,
    start: Literature,
    end: Literature | None,
    leads: Callable[[Literature, Literature | None], bool],
) -> tuple[Literature, str]:
    name = constraint.names[0]
    number = _concept_of(reader, name)
    if number is None:
        return start, f"not used: no paper here names {name}"
    both = _narrowed(start, start.documents & frozenset(reader.index.documents(number)))
    papers = counted(len(both.documents), "paper")
    if len(both.documents) < GOALS.least_in_context or not leads(both, end):
        return start, (
            f"not used: {papers if both.documents else 'no paper'} on {start.label} "
            f"{'names' if len(both.documents) < 2 else 'name'} {name}, too few to narrow the search"
        )
    return both, f"only the {papers} on {start.label} that name {name} are started from"


def _narrowed(literature: Literature, documents: Iterable[int]) -> Literature:
    return replace(literature, documents=frozenset(documents))


def _exclude(reader: Reader, constraint: Constraint) -> str:
    known = [(name, _concept_of(reader, name)) for name in constraint.names]
    for name, number in known:
        if number is None:
            return f"not used: no concept here is called {name}, so look at each proposal"
    told = ", ".join(
        f"{reader.index.label(number)} ({counted(reader.index.frequency(number), 'paper')})"
        for _, number in known
        if number is not None
    )
    return f"{told} is not proposed"


def _route(reader: Reader, constraint: Constraint, through: int | None) -> str:
    if through is None:
        return f"not used: {constraint.names[0]} is no concept of these papers"
    return f"the way through {reader.index.label(through)} is looked at first"


def describe_subjects(
    reader: Reader,
    statement: GoalStatement,
    used: Sequence[tuple[str, int, int]],
    settings: Sequence[str],
) -> tuple[SubjectRead, ...]:
    """Each subject with its concept; `used` are (words, concept, papers) of what is searched."""
    return tuple(_describe(reader, name, used, settings) for name in statement.subjects)


def _describe(
    reader: Reader, name: str, used: Sequence[tuple[str, int, int]], settings: Sequence[str]
) -> SubjectRead:
    index, words = reader.index, set(normal_phrase(name).split())
    for wording, concept, papers in used:
        if words & set(normal_phrase(wording).split()):
            return SubjectRead(name, SubjectUse.USED, index.label(concept), papers)
    number = _concept_of(reader, name)
    if name in settings and number is not None:
        return SubjectRead(name, SubjectUse.USED, index.label(number), index.frequency(number))
    papers = papers_with_phrase(index, name)
    if number is not None:
        frequency = index.frequency(number)
        return SubjectRead(name, SubjectUse.NOT_USED, index.label(number), frequency)
    (near,) = near_names(reader, [name])
    use = SubjectUse.TOO_FEW if papers else SubjectUse.UNKNOWN
    return SubjectRead(name, use, None, papers, near)


_LIMITS = {
    AskedFor.NO_EFFECT: "Discovery proposes links and never shows that there is none: check_claim "
    "searches for papers for and against the statement.",
    AskedFor.COMPARISON: "Discovery proposes links and compares nothing: each side may need a "
    "project of its own.",
    AskedFor.CONDITIONS: "Discovery proposes what may be linked, not under which conditions.",
    AskedFor.EXTENT: "Discovery proposes what may be linked and measures nothing.",
    AskedFor.PREDICTORS: "What it proposes may go together with the outcome; none is shown to "
    "come first.",
    AskedFor.METHODS: "Discovery proposes concepts of the papers, which need not be methods.",
}


def limits_of(statement: GoalStatement) -> Iterator[str]:
    """What discovery cannot answer of what is asked for."""
    if statement.asked_for in _LIMITS:
        yield _LIMITS[statement.asked_for]


_PLURALS = {
    Kind.SUBSTANCE: "substances",
    Kind.GENE: "genes or proteins",
    Kind.PROCESS: "processes",
    Kind.EXPOSURE: "exposures",
    Kind.BEHAVIOUR: "behaviours",
}


def explain_reading(reading: GoalReading, index: Concepts) -> str:
    """One paragraph: what is asked, of which names, what was not found and what was left aside."""
    start = f"{reading.start.label} ({counted(len(reading.start.documents), 'paper')})"
    if reading.end is not None:
        parts = [
            f"Read as: what joins {reading.end.label} "
            f"({counted(len(reading.end.documents), 'paper')}) with {start}?"
        ]
    else:
        parts = [f"Read as: what may be connected to {start}?"]
    if reading.through is not None:
        parts.append(f"The way through {index.label(reading.through)} is looked at first.")
    if reading.wanted is not None:
        *most, last = sorted(_PLURALS[kind] for kind in ANSWERS[reading.wanted])
        kinds = " and ".join(filter(None, (", ".join(most), last)))
        of = "ways through" if reading.end is not None else "answers that are"
        article = "An" if reading.wanted is Wanted.INTERVENTION else "A"
        parts.append(f"{article} {reading.wanted.value} is asked for, so {of} {kinds} come first.")
    if reading.statement is not None and reading.statement.asked_for is not AskedFor.NOT_STATED:
        parts.append(f"Asked for: {reading.statement.asked_for.value}.")
        parts.extend(limits_of(reading.statement))
    if reading.missing:
        near = [one for name in reading.missing for one in name.near]
        parts.append(
            f"Left out: {'; '.join(name.counted for name in reading.missing)}"
            f"{' (near: ' + ', '.join(near) + ')' if near else ''}."
        )
    parts.extend(f"{_first_upper(one.text)}: {one.says}." for one in reading.constraints)
    if reading.ignored:
        parts.append(f"Named, but not used: {', '.join(reading.ignored)}.")
    parts.extend(f"To be answered by you: {one}" for one in _questions(reading))
    return " ".join((*parts, *reading.notes))


def summarize_reading(reading: GoalReading, index: Concepts) -> str:
    """The reading in a few words, for lists: what is searched, and that something is not."""
    ends = " with ".join(one.label for one in (reading.end, reading.start) if one is not None)
    way = f" through {index.label(reading.through)}" if reading.through is not None else ""
    left = [
        *(name.text for name in reading.missing),
        *(one.text for one in reading.constraints if not one.is_used),
    ]
    unused = f"; not used: {', '.join(left)}" if left else ""
    asked = "; a question is open" if any(_questions(reading)) else ""
    return f"{ends}{way}{unused}{asked}"


def _questions(reading: GoalReading) -> Iterator[str]:
    if reading.statement is not None:
        yield from (one.text for one in reading.statement.questions)


def _first_upper(text: str) -> str:
    return text[:1].upper() + text[1:]

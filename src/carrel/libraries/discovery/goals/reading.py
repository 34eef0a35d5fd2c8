"""From a goal in a person's words to concepts of the corpus and the kind of answer it asks for."""

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from math import log

from carrel.libraries.discovery.concepts.kinds import kind_in_index
from carrel.libraries.discovery.concepts.words import FUNCTION_WORDS, normal_phrase
from carrel.libraries.discovery.connections.methods import is_method
from carrel.libraries.discovery.errors import GoalNotInCorpusError, MissingName
from carrel.libraries.discovery.goals.constraints import find_constraints
from carrel.libraries.discovery.goals.goal_language import (
    AGENTS,
    ASKING,
    SETTINGS,
    WAYS,
    Token,
    is_population,
    looks_foreign,
    tokens_of,
)
from carrel.libraries.discovery.goals.records import (
    AskedFor,
    Constraint,
    ConstraintKind,
    ConstraintRead,
    GoalReading,
    GoalStatement,
    Thing,
    Wanted,
)
from carrel.libraries.discovery.goals.scope import apply_constraints, describe_subjects
from carrel.libraries.discovery.goals.spans import common_subjects, near_names, papers_with_phrase
from carrel.libraries.discovery.goals.statement import parse_goal
from carrel.libraries.discovery.goals.term_recognition import things_in, typed_thing
from carrel.libraries.discovery.paths.literatures import Reader
from carrel.libraries.discovery.records import Concepts, Kind, Literature
from carrel.libraries.discovery.tuned import GOALS

# The first that matches decides: "therapeutic targets" are targets, not therapies.
_ASKS = (
    (Wanted.BIOMARKER, re.compile(r"\b(bio)?markers?\b", re.IGNORECASE)),
    (
        Wanted.TARGET,
        re.compile(r"\b(targets?|drivers?|regulators?|vulnerabilit\w+)\b", re.IGNORECASE),
    ),
    (
        Wanted.DRUG,
        re.compile(
            r"\b(drugs?|compounds?|substances?|repurpos\w+|supplements?|medications?|medicines?|inhibitors?|antibiotics?"
            r"|treatments?|therap(?:y|ies)|therapeutics?|remed(?:y|ies)|cures?)\b",
            re.IGNORECASE,
        ),
    ),
    (Wanted.MECHANISM, re.compile(r"\b(mechanisms?|pathways?|why|how|explain)\b", re.IGNORECASE)),
)
# Branches of MeSH: therapeutics, anaesthesia, surgery.
_TREATMENTS = ("E02", "E03", "E04")


def wanted_by(goal: str) -> Wanted | None:
    """What kind of answer a goal asks for, where it says so."""
    return next((wanted for wanted, pattern in _ASKS if pattern.search(goal)), None)


def is_intervention(index: Concepts, number: int) -> bool:
    """Whether the vocabulary lists a concept under treatments only, so a goal can be about it."""
    trees = index.trees(number)
    return bool(trees) and all(tree.startswith(_TREATMENTS) for tree in trees)


_SEARCHED = frozenset((ConstraintKind.VIA, ConstraintKind.SETTING))
_REPEATED = re.compile(r"\b(\w+)(?:\s+\1\b)+", re.IGNORECASE)


def read_goal(reader: Reader, goal: str) -> GoalReading:
    """Parse a goal into concepts of the corpus; raises GoalNotInCorpusError where it has none."""
    once = _REPEATED.sub(r"\1", goal)
    is_foreign = looks_foreign(tokens_of(once))
    statement = parse_goal(once)
    # What an answer must do without, and when it must hold, are no ends of the search.
    asked = once if is_foreign else find_constraints(once, _SEARCHED)[0]
    tokens = tokens_of(asked)
    phrases = frozenset(map(normal_phrase, statement.subjects))
    verbs = frozenset() if is_foreign else statement.verbs
    things, missing, ignored = things_in(reader, tokens, phrases, verbs)
    if not is_foreign:
        ignored.extend(
            f"{name} (not wanted)"
            for one in statement.constraints_of(ConstraintKind.EXCLUDED)
            for name in one.names
        )
    searched = tuple(
        token.word
        for token in tokens
        if token.word not in FUNCTION_WORDS and token.word not in ASKING
    )
    named = [thing for thing in things if not thing.is_loose]
    # How and in whom something is found out is not what it is about, where the goal names anything
    # else.
    what = [thing for thing in named if not is_population(_words_of(tokens, thing))] or named
    subjects = [
        thing
        for thing in what
        if not is_method(reader, thing.number)
        or is_intervention(reader.index, thing.number)
        or _is_asked_about(tokens, thing, what, statement)
    ]
    subjects = subjects or what
    ignored.extend(reader.index.label(thing.number) for thing in named if thing not in subjects)
    found = _apart(reader, subjects) or _apart(reader, things)
    if not found and not missing and (typed := typed_thing(reader, tokens)) is not None:
        found = [typed]
        ignored = [
            text
            for text in ignored
            if normal_phrase(text) != normal_phrase(_words_of(tokens, typed))
        ]
    if not found and not missing:
        # What hardly any paper says is not vague, but too rare to start from.
        missing = [
            MissingName(
                text,
                is_central=True,
                is_vague=papers_with_phrase(reader.index, text) >= GOALS.enough_documents,
            )
            for text in ignored
        ]
    # In another language unknown words are to be expected; what was recognised counts.
    central = (
        [] if is_foreign and found else [name for name in missing if name.is_central or not found]
    )
    if not found or len(central) >= max(1, len(found)):
        raise GoalNotInCorpusError(
            goal,
            searched,
            _with_near_names(reader, missing),
            tuple(_labels(found)),
            common_subjects(reader),
            is_foreign=is_foreign,
        )
    composed = _composed(
        reader,
        goal,
        tokens,
        found,
        tuple(missing),
        ignored,
        searched,
        statement,
        is_foreign=is_foreign,
    )
    if is_foreign:
        return composed
    return replace(composed, statement=statement)


def _words_of(tokens: Sequence[Token], thing: Thing) -> str:
    return " ".join(token.text for token in tokens[thing.start : thing.end])


def _is_asked_about(
    tokens: Sequence[Token], thing: Thing, found: Sequence[Thing], statement: GoalStatement
) -> bool:
    """Whether the goal asks what a method does (`could machine learning improve testing`)."""
    before = lead_in(tokens, thing, found)
    names = {normal_phrase(name) for name in statement.subjects}
    return (
        normal_phrase(_words_of(tokens, thing)) in names
        and not AGENTS & before
        and not SETTINGS & before
    )


def _composed(
    reader: Reader,
    goal: str,
    tokens: Sequence[Token],
    found: list[Thing],
    missing: tuple[MissingName, ...],
    ignored: list[str],
    searched: tuple[str, ...],
    statement: GoalStatement,
    *,
    is_foreign: bool,
) -> GoalReading:
    way = (
        next((thing for thing in found[1:] if _is_way(tokens, thing, found)), None)
        if len(found) > 1
        else None
    )
    ends = [thing for thing in found if thing is not way]
    rivals = _compared(statement, ends)
    if rivals:
        # `A or B for C`: each side is a question of its own, and A with C comes first.
        ends = [ends[0], ends[2]]
    elif len(ends) > 2 or _leaves_answer_open(tokens):
        kept = [thing for thing in ends if not SETTINGS & lead_in(tokens, thing, found)]
        ends = kept if len(kept) > 1 or (kept and _leaves_answer_open(tokens)) else ends
    first, second = _two_ends(reader, tokens, ends, found)
    left = [thing for thing in found if thing not in (first, second, way)]
    others = tuple(thing.number for thing in (*(one for one in (second,) if one), *left))
    notes = [note for thing in found for note in thing.notes]
    notes.extend(
        f"{one.literature.label} is the other side of the comparison: a project of its own."
        for one in rivals
    )
    if is_foreign:
        notes.append(
            "The goal does not look English, and discovery reads English: only the names above "
            "were recognised."
        )
    return GoalReading(
        goal,
        first.literature,
        replace(reader.index.concept(first.number), label=first.literature.label),
        others,
        second.number if second is not None else None,
        wanted_by(_asking_part(tokens, found)),
        searched,
        way.number if way is not None else None,
        _with_near_names(reader, missing),
        tuple(dict.fromkeys((*(reader.index.label(thing.number) for thing in left), *ignored))),
        tuple(notes),
        tuple(_to_fall_back_on(reader, [first, *((second,) if second else ()), *left])),
        second.literature if second is not None else None,
        compared=tuple(one.literature.label for one in rivals),
    )


_OPEN = frozenset({"what", "which", "find", "suggest", "list", "identify", "propose", "search"})


def _leaves_answer_open(tokens: Sequence[Token]) -> bool:
    """Whether what acts is asked for, so that `in Y` says where and is no second end."""
    opening = tokens[0].text.lower() if tokens else ""
    return opening in _OPEN and (len(tokens) < 2 or tokens[1].text.lower() not in _OF_TWO)


_OF_TWO = frozenset({"is", "are", "links", "connects", "joins", "relates"})


def _compared(statement: GoalStatement, ends: Sequence[Thing]) -> list[Thing]:
    """Where two things are compared in what they do to a third: the second of the two."""
    is_asked = statement.asked_for is AskedFor.COMPARISON
    return [ends[1]] if is_asked and len(ends) > 2 else []


def _asking_part(tokens: Sequence[Token], found: Sequence[Thing]) -> str:
    """The goal without the names in it: `antibiotic resistance` asks for no antibiotic."""
    named = {place for thing in found for place in range(thing.start, thing.end)}
    return " ".join(token.text for place, token in enumerate(tokens) if place not in named)


def _to_fall_back_on(reader: Reader, things: Sequence[Thing]) -> Iterator[Thing]:
    """The things in order, then the parts of their phrases as fallbacks."""
    yield from things
    for thing in things:
        for number in thing.pieces:
            literature = reader.literature([reader.index.key(number)])
            if literature is not None:
                yield Thing(number, literature, thing.start, thing.end, is_loose=False)


def _two_ends(
    reader: Reader, tokens: Sequence[Token], ends: list[Thing], found: Sequence[Thing]
) -> tuple[Thing, Thing | None]:
    """The start (what is to be explained or changed) and the end (what may affect it), if any."""
    by_weight = sorted(ends, key=lambda thing: (-_weight(reader, thing), thing.start))
    able = [thing for thing in by_weight if _can_pair(reader, thing)]
    if len(able) < 2:
        # A pair one side of which hardly any paper knows is asked after all the same; what leads
        # nowhere is said later.
        able = (
            by_weight
            if len(by_weight) == 2 and not any(thing.is_loose for thing in by_weight)
            else able
        )
    if len(able) < 2:
        return by_weight[0], None
    first, second = sorted(able[:2], key=lambda thing: thing.start)
    between = lead_in(tokens, second, found)
    if AGENTS & between:
        return first, second
    if "and" in between or not between:
        kinds = [kind_in_index(reader.index, thing.number) for thing in (first, second)]
        if kinds[0] is Kind.DISEASE and kinds[1] is not Kind.DISEASE:
            return first, second
    return second, first


def lead_in(tokens: Sequence[Token], thing: Thing, found: Sequence[Thing]) -> set[str]:
    """The function words between the preceding thing and this one."""
    before = max((other.end for other in found if other.end <= thing.start), default=0)
    return {token.word for token in tokens[before : thing.start]}


def _is_way(tokens: Sequence[Token], thing: Thing, found: Sequence[Thing]) -> bool:
    """`via X`, `through X`, `by inhibiting X`."""
    before = lead_in(tokens, thing, found)
    return bool(WAYS & before) or ("by" in before and tokens[thing.start - 1].word.endswith("ing"))


def _apart(reader: Reader, things: list[Thing]) -> list[Thing]:
    """The things without near-duplicates, keeping the longer name."""
    kept: list[Thing] = []
    for thing in sorted(things, key=lambda one: (-(one.end - one.start), one.start)):
        if not any(reader.are_close(thing.number, other.number) for other in kept):
            kept.append(thing)
    return sorted(kept, key=lambda one: one.start)


def _weight(reader: Reader, thing: Thing) -> float:
    documents = len(thing.literature.documents)
    rarity = log(1 + len(reader.index) / documents)
    thin = GOALS.thin_counts if documents < GOALS.least_documents else 1.0
    return (
        thin
        * rarity
        * (GOALS.loose_counts if thing.is_loose else 1.0)
        * (1 + GOALS.word_counts * min(2, thing.end - thing.start - 1))
    )


def _can_pair(reader: Reader, thing: Thing) -> bool:
    return not thing.is_loose and len(thing.literature.documents) >= GOALS.least_documents


def _with_near_names(reader: Reader, missing: Sequence[MissingName]) -> tuple[MissingName, ...]:
    if not missing:
        return ()
    near = near_names(reader, [name.text for name in missing])
    return tuple(
        replace(name, near=names, papers=papers_with_phrase(reader.index, name.text))
        for name, names in zip(missing, near, strict=True)
    )


def _labels(found: Sequence[Thing]) -> Iterator[str]:
    return (thing.literature.label for thing in found if not thing.is_loose)


def narrow_reading(
    reader: Reader, reading: GoalReading, leads: Callable[[GoalReading], bool]
) -> GoalReading:
    """The reading kept to its constraints, with what became of each subject and constraint."""
    if reading.statement is None:
        return reading

    def leads_on(start: Literature, end: Literature | None) -> bool:
        return leads(replace(reading, start=start, end=end))

    scope = apply_constraints(
        reader, reading.statement, reading.start, reading.end, reading.through, leads_on
    )
    used = list(_used_names(reader, reading))
    settings = [
        one.names[0]
        for one, read in _matched(reading.statement.constraints, scope.constraints)
        if read.is_used and one.kind is ConstraintKind.SETTING
    ]
    return replace(
        reading,
        start=scope.start,
        end=scope.end,
        constraints=scope.constraints,
        subjects=describe_subjects(reader, reading.statement, used, settings),
    )


def _matched(
    constraints: Sequence[Constraint], read: Sequence[ConstraintRead]
) -> Iterator[tuple[Constraint, ConstraintRead]]:
    by_text = {one.text: one for one in read}
    for one in constraints:
        if one.text in by_text:
            yield one, by_text[one.text]


def _used_names(reader: Reader, reading: GoalReading) -> Iterator[tuple[str, int, int]]:
    """The words, concept and papers of each thing that the search works with."""
    index = reader.index
    start = index.number(reading.start_concept.key)
    if start is not None:
        names = f"{reading.start.label} {index.key(start)}"
        yield names, start, len(reading.start.documents)
    if reading.pair is not None and reading.end is not None:
        names = f"{reading.end.label} {index.key(reading.pair)}"
        yield names, reading.pair, len(reading.end.documents)
    if reading.through is not None:
        key = index.key(reading.through)
        yield key, reading.through, index.frequency(reading.through)

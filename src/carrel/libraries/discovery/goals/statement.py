"""What a goal says, read by its grammar alone: subjects, answer, relation, constraints, doubts."""

import re
from collections.abc import Iterator, Sequence
from functools import lru_cache

from carrel.libraries.discovery.errors import GoalUnclearError
from carrel.libraries.discovery.goals.asked_for import (
    classify_goal,
    find_direction,
    find_relation,
)
from carrel.libraries.discovery.goals.constraints import find_constraints
from carrel.libraries.discovery.goals.goal_language import (
    Phrase,
    Tag,
    find_phrases,
    goal_language,
    tag_words,
)
from carrel.libraries.discovery.goals.records import (
    AskedFor,
    Constraint,
    ConstraintKind,
    GoalQuestion,
    GoalStatement,
)

_SETTINGS = frozenset(
    [
        "in",
        "among",
        "during",
        "amongst",
        "at",
        "under",
        "inside",
        "across",
        "for",
        "from",
        "within",
        "throughout",
    ]
)
_SUBJECT_KINDS = frozenset((ConstraintKind.VIA, ConstraintKind.RIVAL, ConstraintKind.HELD_EQUAL))


def ask_back(statement: GoalStatement) -> None:
    """Raises GoalUnclearError where a question must be answered before any work can start."""
    needed = tuple(one.text for one in statement.questions if one.is_needed)
    if needed:
        raise GoalUnclearError(statement.goal, needed, statement.subjects)


@lru_cache(maxsize=256)
def parse_goal(goal: str) -> GoalStatement:
    """What a goal says by its grammar, whatever the field."""
    text = " ".join(goal.split())
    rest, constraints = find_constraints(_POLITE.sub("", text))
    words = tag_words(rest)
    phrases = _without_aspects(find_phrases(words))
    relation = find_relation(words)
    settings = tuple(_settings(phrases))
    subjects = list(dict.fromkeys(phrase.text for phrase in phrases))
    for one in constraints:
        if one.kind in _SUBJECT_KINDS:
            subjects.extend(name for name in one.names if name not in subjects)
    asked_for = classify_goal(rest, words, constraints, relation)
    if _points_at_nothing(text):
        asked_for = AskedFor.NOT_STATED
    second = find_second_goal(text)
    halves = (
        (Constraint(ConstraintKind.REQUIRED, f"both halves answered: {second}"),)
        if second and not _IMPERATIVE.match(second)
        else ()
    )
    found = (*constraints, *settings, *halves)
    questions = tuple(_questions(text, rest, subjects, asked_for, found))
    return GoalStatement(
        text,
        tuple(subjects),
        asked_for,
        relation or "not stated",
        found,
        tuple(_out_of_scope(asked_for, found)),
        questions,
        find_direction(words, asked_for),
        frozenset(word.text.lower() for word in words if word.tag is Tag.VERB),
    )


def _only_introduces(phrase: Phrase, following: Sequence[Phrase]) -> bool:
    """`The loss of X` and `patients with X` are about X."""
    language = goal_language()
    return any(
        (after.preposition == "of" and language.has("aspect_heads", phrase.text))
        or (after.preposition == "with" and language.has("people", phrase.text))
        for after in following
    )


def _without_aspects(phrases: Sequence[Phrase]) -> list[Phrase]:
    """The phrases without those that only say of the next what becomes of it or in whom."""
    return [
        phrase
        for place, phrase in enumerate(phrases)
        if not _only_introduces(phrase, phrases[place + 1 : place + 2])
    ]


def _settings(phrases: Sequence[Phrase]) -> Iterator[Constraint]:
    """What says where or for whom: after `in`, `among` and the like, once something is named."""
    for number, phrase in enumerate(phrases):
        if not phrase.preposition or not number:
            continue
        is_place = phrase.preposition in _SETTINGS - {"for", "from"}
        is_late = number > 1 and phrase.preposition in _SETTINGS
        if is_place or is_late:
            yield Constraint(
                ConstraintKind.SETTING, f"{phrase.preposition} {phrase.text}", (phrase.text,)
            )


def _out_of_scope(asked_for: AskedFor, constraints: Sequence[Constraint]) -> Iterator[str]:
    for one in constraints:
        if one.kind is ConstraintKind.EXCLUDED:
            yield from one.names
        elif one.kind is ConstraintKind.SETTING:
            yield f"anything not {one.text}"
    if asked_for in {AskedFor.CAUSES, AskedFor.PREDICTORS}:
        yield "treatments and remedies"
    elif asked_for is AskedFor.INTERVENTIONS:
        yield "causes as such"


_POLITE = re.compile(
    r"^\W*(?:please|we|i|our goal is|the goal is)\b[^.?!]{0,40}?"
    r"\b(?:know|find out|learn|see|ask|understand)\s+(?=\w)",
    re.IGNORECASE,
)
_POINTING = re.compile(
    r"^\W*(?:(?:how |why |what )?(?:is|are|was|were|does|do|did|can|could|will|would|might|may|"
    r"should)|tell me about|improve|find out about|explain|compare)\s+"
    r"(?P<what>it|this|that|these|those|they|them)\b"
    r"(?!\s+(?:is|be)?\s*(?:true|possible|known|likely|the case|plausible|matter|conceivable|"
    r"fair|that|whether|worth|hold|take|follow)\b)(?!(?:\s+\w+){1,3}\s+(?:to|that|whether|if)\b)"
    r"(?P<next>\s+\w+)?",
    re.IGNORECASE,
)
_SECOND_GOAL = re.compile(
    r"(?:,\s*(?:and|then)?\s*|\band\s+|;\s*|[.?!]\s+)(?P<second>(?:also\s+)?(?:find|suggest|propose|explain|design|develop|"
    r"identify|list|predict|compare|test|discover|how|why|what|which|does|do|is|are|can)\b[^.?!]*)",
    re.IGNORECASE,
)
_IMPERATIVE = re.compile(
    r"(?:also\s+)?(?:find|suggest|propose|explain|design|develop|identify|list|predict|compare|test|discover)\b",
    re.IGNORECASE,
)
_BACKWARD = re.compile(
    r"\b(?:that|this|it|its|they|their|them|these|those|either|both|the same|so)\b", re.IGNORECASE
)
_FOLLOWING_NOUN = frozenset(
    [
        "is",
        "are",
        "was",
        "were",
        "good",
        "bad",
        "help",
        "helps",
        "work",
        "works",
        "matter",
        "affect",
        "cause",
        "true",
    ]
)


def _questions(
    text: str,
    rest: str,
    subjects: Sequence[str],
    asked_for: AskedFor,
    constraints: Sequence[Constraint],
) -> Iterator[GoalQuestion]:
    language = goal_language()
    pointing = _points_at_nothing(text)
    about = " and ".join(subjects)
    if pointing:
        rest_of = f", and what about {about} is to be found out" if subjects else ""
        yield GoalQuestion(f"What is “{pointing}”{rest_of}?", is_needed=True)
    elif not subjects:
        yield GoalQuestion(
            "What is the goal about? It names no subject that papers could be searched for.",
            is_needed=True,
        )
    for wording, question in language.wordings.items():
        if re.search(rf"\b{re.escape(wording)}\b", text, re.IGNORECASE):
            yield GoalQuestion(question, is_needed=False)
    second = "" if pointing else find_second_goal(text)
    if second and _IMPERATIVE.match(second):
        yield GoalQuestion(
            f"Two goals stand in one sentence; the second is “{second}”. Which one is meant? "
            f"Start one project for each.",
            is_needed=True,
        )
    is_bare = len(subjects) == 1 and not constraints
    if is_bare and asked_for is AskedFor.NOT_STATED and not pointing:
        senses = language.senses.get(subjects[0].lower(), ())
        which = f"{' or '.join(senses)}, and what" if senses else "What"
        if senses:
            which = which[0].upper() + which[1:]
        yield GoalQuestion(
            f"{which} about {subjects[0]} is to be found out: causes, effects, ways to change it, "
            f"methods?",
            is_needed=False,
        )


def _points_at_nothing(text: str) -> str:
    """The pronoun that a goal is about, with nothing to stand for; empty if there is none."""
    found = _POINTING.match(text)
    if found is None or ":" in text[found.end() :]:
        return ""
    what, following = found["what"].lower(), (found["next"] or "").strip().lower()
    is_determiner = what in {"this", "that", "these", "those"} and following
    language = goal_language()
    if is_determiner and not (
        following in _FOLLOWING_NOUN
        or following in language.verbs
        or following in language.words["auxiliaries"]
        or following in language.words["prepositions"]
    ):
        return ""
    return found["what"]


def find_second_goal(text: str) -> str:
    """A second goal that neither speaks of the first nor shares a subject with it; else empty."""
    for found in _SECOND_GOAL.finditer(text):
        first, second = text[: found.start()], found["second"]
        if len(first.split()) < 3 or _BACKWARD.search(second) or not _asks(first):
            continue
        own = {phrase.text.lower() for phrase in find_phrases(tag_words(second))}
        before = {phrase.text.lower() for phrase in find_phrases(tag_words(first))}
        if not own or not before or _share_word(own, before):
            continue
        return second.strip(" .?!")
    return ""


def _asks(text: str) -> bool:
    """Whether a text asks something by itself: it opens with a question word or an order."""
    opening = text.split(maxsplit=1)[0].strip("“\"'(,").lower()
    language = goal_language()
    return (
        opening in language.words["auxiliaries"]
        or opening in {"how", "why", "what", "which", "when", "where", "who"}
        or language.has("asking_verbs", opening)
    )


def _share_word(one: set[str], other: set[str]) -> bool:
    stems = {word[:5] for text in one for word in text.split()}
    return any(word[:5] in stems for text in other for word in text.split())

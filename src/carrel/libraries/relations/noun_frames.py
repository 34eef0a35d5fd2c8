"""Nouns that say a relation: `a cause of`, `the effect of X on Y`, `association between`."""

from collections.abc import Callable
from dataclasses import dataclass

from carrel.libraries.relations.clauses import ClauseReader, Span
from carrel.libraries.relations.lexicon import Frame, Trigger

LONGEST_INSIDE = 16
"""Words that may stand between a noun and its second preposition: "effect of … on"."""

_OWNERS = frozenset(
    {"has", "have", "had", "having", "exerts", "exert", "exerted", "shows", "show", "showed"}
)
_ROLE_VERBS = frozenset({"play", "plays", "played", "playing", "has", "have", "had"})
_NO_CAUSE = ("self-", "re-", "co-", "user-", "data-", "hypothesis-", "theory-")
_BREAKS = frozenset({"be", "have", "modal", "finite", "relative", "subordinator", ";", ":", ","})


@dataclass(frozen=True)
class Found:
    """The arguments that a frame found, and where its verb group begins."""

    subject: Span
    object: Span
    verb_start: int
    is_negated: bool = False


def _inside(clause: ClauseReader, first: int, word: str) -> int | None:
    for at in range(first, min(len(clause.tokens), first + LONGEST_INSIDE)):
        if clause.word(at) == word:
            return at
        if clause.tag(at) in _BREAKS:
            return None
    return None


def _span(clause: ClauseReader, first: int, last: int) -> Span | None:
    found = clause.object_after(first)
    return None if found is None else (found[0], min(found[1], last)) if found[0] < last else None


def _before_noun(clause: ClauseReader, first: int) -> tuple[int, bool]:
    # The place before the determiner and adjectives of a noun, and whether "no" is among them.
    at, is_negated = first - 1, False
    while at >= 0 and clause.tag(at) in ("determiner", "negation", "adverb", "word", "past"):
        if clause.tag(at) == "word" and first - at > 4:
            break
        is_negated = is_negated or clause.tag(at) == "negation"
        if clause.tag(at) == "determiner":
            return at - 1, is_negated
        at -= 1
    return at, is_negated


def read_noun(clause: ClauseReader, trigger: Trigger, first: int, last: int) -> Found | None:
    """`X is a cause of Y`, `the cause of Y is X`, `X, a cause of Y,`, `X as a cause of Y`."""
    target = clause.object_after(last)
    if target is None:
        return None
    before, is_negated = _before_noun(clause, first)
    tag = clause.tag(before)
    if tag == "be" or clause.word(before) in clause.lexicon.copulas:
        start = clause.verb_start(before)
        subject = clause.subject_before(start)
    elif (
        clause.tag(target[1]) == "be"
        and before < 1
        and clause.word(target[1]) in ("is", "are", "was", "were")
    ):
        start = target[1]
        if clause.tag(start + 1) == "past" or clause.word(start + 1).endswith(("ed", "ing")):
            return None
        subject = clause.object_after(target[1] + 1)
    elif tag == "," and clause.tag(before + 1) == "determiner":
        start = before
        subject = clause.phrase_before(before)
    elif clause.word(before) == "as":
        start = before
        if clause.word(before - 1) in clause.lexicon.support_verbs:
            start = clause.verb_start(before - 1)
        subject = clause.subject_before(start)
    else:
        return None
    return None if subject is None else Found(subject, target, start, is_negated)


def read_agent(clause: ClauseReader, trigger: Trigger, first: int, last: int) -> Found | None:
    """`X is a kinase inhibitor`."""
    begin = first
    while begin > 0 and clause.tag(begin - 1) == "word":
        begin -= 1
    before = begin - 1
    if clause.tag(before) == "determiner":
        before -= 1
    if clause.tag(before) != "be" or first - begin < 1:
        return None
    while begin < first and clause.tokens[begin].word in clause.lexicon.qualities:
        begin += 1
    subject = clause.subject_before(clause.verb_start(before))
    return None if subject is None or begin == first else Found(subject, (begin, first), before)


def read_on(clause: ClauseReader, trigger: Trigger, first: int, last: int) -> Found | None:
    """`effect of X on Y` and `X has no effect on Y`."""
    before, is_negated = _before_noun(clause, first)
    if clause.word(last) == "of":
        middle = _inside(clause, last + 1, "on")
        if middle is None:
            return None
        subject, target = _span(clause, last + 1, middle), clause.object_after(middle + 1)
        start = first
    elif clause.word(last) == "on" and clause.word(before) in _OWNERS:
        start = clause.verb_start(before)
        subject, target = clause.subject_before(start), clause.object_after(last + 1)
    else:
        return None
    if subject is None or target is None:
        return None
    return Found(subject, target, start, is_negated)


def read_in(clause: ClauseReader, trigger: Trigger, first: int, last: int) -> Found | None:
    """`role of X in Y` and `X plays a role in Y`."""
    before, is_negated = _before_noun(clause, first)
    if clause.word(last) in ("of", "for"):
        middle = _inside(clause, last + 1, "in")
        if middle is None:
            return None
        subject, target = _span(clause, last + 1, middle), clause.object_after(middle + 1)
        start = first
    elif clause.word(last) == "in" and clause.word(before) in _ROLE_VERBS:
        if _is_gerund_trigger(clause, last + 1):
            return None
        start = clause.verb_start(before)
        subject, target = clause.subject_before(start), clause.object_after(last + 1)
    else:
        return None
    if subject is None or target is None:
        return None
    return Found(subject, target, start, is_negated)


def _is_gerund_trigger(clause: ClauseReader, place: int) -> bool:
    return clause.word(place).endswith("ing") and clause.word(place) in clause.lexicon.triggers


def read_between(clause: ClauseReader, trigger: Trigger, first: int, last: int) -> Found | None:
    """`association between X and Y`, `relationship of X with Y`."""
    _, is_negated = _before_noun(clause, first)
    opening = clause.word(last)
    if opening == "between":
        middle = _inside(clause, last + 1, "and")
    elif opening == "of":
        middle = _inside(clause, last + 1, "with") or _inside(clause, last + 1, "to")
    elif clause.tag(last) == "be":
        between = next((at for at in range(last, min(len(clause.tokens), last + 5))
                        if clause.word(at) == "between"), None)  # fmt: skip
        if between is None:
            return None
        last, middle = between, _inside(clause, between + 1, "and")
    else:
        return None
    if middle is None:
        return None
    subject, target = _span(clause, last + 1, middle), clause.object_after(middle + 1)
    if subject is None or target is None:
        return None
    return Found(subject, target, first, is_negated)


def read_act(clause: ClauseReader, trigger: Trigger, first: int, last: int) -> Found | None:
    """`inhibition of Y by X`."""
    if clause.word(last) not in ("of", "in"):
        return None
    middle = _inside(clause, last + 1, "by")
    if middle is None:
        return None
    target = _span(clause, last + 1, middle)
    subject = clause.object_after(middle + 1, is_agent=True)
    if subject is None or target is None or clause.word(subject[0]).endswith("ing"):
        return None
    return Found(subject, target, first)


def is_bearer(clause: ClauseReader, span: Span) -> bool:
    """Whether a phrase is about who has a condition: "obesity-induced mice"."""
    head = next((at for at in range(*span) if clause.tag(at) != "word"), span[1]) - 1
    return clause.word(head) in clause.lexicon.bearers


def read_compound(clause: ClauseReader, first: int) -> Found | None:
    """`X-induced Y`."""
    word = clause.word(first)
    target = clause.object_after(first + 1)
    if target is None or word.startswith(("-", *_NO_CAUSE)) or word.split("-")[-2].endswith("ly"):
        return None
    if clause.tag(target[0]) != "word" or is_bearer(clause, target):
        return None
    end = next((at for at in range(*target) if clause.tag(at) in ("past", "adverb")), target[1])
    return Found((first, first + 1), (target[0], end), first)


NOUN_FRAMES: dict[Frame, Callable[[ClauseReader, Trigger, int, int], Found | None]] = {
    Frame.NOUN: read_noun,
    Frame.AGENT: read_agent,
    Frame.ON: read_on,
    Frame.IN: read_in,
    Frame.BETWEEN: read_between,
    Frame.ACT: read_act,
}

"""Relations of a sentence: triggers of the lexicon with the noun phrases around them."""

from collections.abc import Iterator
from dataclasses import dataclass

from carrel.libraries.relations.clauses import ClauseReader, Span
from carrel.libraries.relations.context import (
    has_negative_subject,
    is_asked,
    is_hedged,
    is_negated,
)
from carrel.libraries.relations.lexicon import Form, Frame, Lexicon, Trigger, standard_lexicon
from carrel.libraries.relations.noun_frames import NOUN_FRAMES, Found, read_compound
from carrel.libraries.relations.operations import find_direction, find_operations
from carrel.libraries.relations.records import Argument, Relation, RelationKind
from carrel.libraries.relations.tokens import read_tokens
from carrel.libraries.relations.verb_frames import read_predicate, read_verb

LONGEST_SENTENCE = 2000
"""Characters; a longer text is not one sentence, and is cut here."""

PLACE_WITHIN = 10
"""How many words may stand between `required` and `for`."""

_MENTIONS = frozenset({Frame.ON, Frame.IN, Frame.BETWEEN, Frame.ACT, Frame.COMPOUND})
_POSITIVE = frozenset({"positively"})
_INVERSE = frozenset({"negatively", "inversely"})


@dataclass(frozen=True)
class _Place:
    trigger: Trigger
    first: int
    last: int


def extract_relations(sentence: str, lexicon: Lexicon | None = None) -> tuple[Relation, ...]:
    """What a sentence says of the things it names, in the order of its words."""
    words = lexicon or standard_lexicon()
    sentence = sentence[:LONGEST_SENTENCE]
    clause = ClauseReader(read_tokens(sentence, words), words)
    read: list[tuple[_Place, Found]] = []
    for place in _places(clause):
        one = _read(clause, place)
        if one is None or _overlap(one.subject, one.object):
            continue
        if not any({one.subject, one.object} == {other.subject, other.object} for _, other in read):
            read.append((place, one))
    return tuple(
        _relation(sentence, clause, place, one)
        for place, one in read
        if not _is_mentioned(place, one, read)
    )


def _is_mentioned(place: _Place, one: Found, read: list[tuple[_Place, Found]]) -> bool:
    # "X weakens associations between A and B" speaks of X; A and B are named in passing.
    if place.trigger.frame not in _MENTIONS:
        return False
    span = (min(one.subject[0], place.first), max(one.object[1], place.last))
    return any(
        argument[0] <= span[0] and span[1] <= argument[1]
        for _, other in read
        if other is not one
        for argument in (other.subject, other.object)
    )


def _overlap(one: Span, other: Span) -> bool:
    return one[0] < other[1] and other[0] < one[1]


def _places(clause: ClauseReader) -> Iterator[_Place]:
    lexicon = clause.lexicon
    for first, token in enumerate(clause.tokens):
        if "-" in token.word:
            compound = lexicon.compounds.get(token.word.rsplit("-", 1)[1])
            if compound is not None:
                yield _Place(compound, first, first + 1)
        longest = 0
        for trigger in lexicon.triggers.get(token.word, ()):
            last = _end_of(clause, trigger, first)
            if last is None or (trigger.frame is Frame.VERB and last < longest):
                continue
            if trigger.frame is Frame.VERB:
                longest = last
            yield _Place(trigger, first, last)


def _end_of(clause: ClauseReader, trigger: Trigger, first: int) -> int | None:
    last = first + 1
    if trigger.frame is Frame.LATE or not trigger.rest:
        return last
    while clause.tag(last) == "adverb":
        last += 1
    if trigger.rest in (("for",), ("to",)):
        last = _over_place(clause, last, trigger.rest[0])
    end = last + len(trigger.rest)
    words = tuple(one.word for one in clause.tokens[last:end])
    return end if words == trigger.rest else None


def _over_place(clause: ClauseReader, last: int, wanted: str) -> int:
    # "is required in neurons for growth", "has led in many places to loss"
    if clause.word(last) not in ("in", "by", "within", "during"):
        return last
    for at in range(last, min(len(clause.tokens), last + PLACE_WITHIN)):
        if clause.word(at) == wanted:
            return at
        if clause.tag(at) not in ("word", "preposition", "determiner", "conjunction"):
            break
    return last


def _read(clause: ClauseReader, place: _Place) -> Found | None:
    trigger = place.trigger
    match trigger.frame:
        case Frame.VERB | Frame.LATE:
            return read_verb(clause, trigger, place.first, place.last)
        case Frame.PREDICATE | Frame.BARE:
            return read_predicate(clause, trigger, place.first, place.last)
        case Frame.COMPOUND:
            return read_compound(clause, place.first)
        case _:
            return NOUN_FRAMES[trigger.frame](clause, trigger, place.first, place.last)


def _relation(sentence: str, clause: ClauseReader, place: _Place, found: Found) -> Relation:
    trigger = place.trigger
    subject, target = found.subject, found.object
    if trigger.is_reversed:
        subject, target = target, subject
    first = min(found.verb_start, place.first)
    tokens = clause.tokens
    return Relation(
        _argument(sentence, clause, subject, is_compound=trigger.frame is Frame.COMPOUND),
        _argument(sentence, clause, target),
        trigger.kind,
        sentence[tokens[place.first].start : tokens[place.last - 1].end],
        _verb_sign(clause, trigger, place, subject, target),
        negated=(
            is_negated(clause, first, place.first)
            or found.is_negated
            or has_negative_subject(clause, found.subject[0])
        )
        != trigger.is_denied,
        hedged=is_hedged(clause, first, place.first, (subject, target)),
        asked=is_asked(clause, min(first, found.subject[0]), place.first, found.object[1]),
    )


def _verb_sign(
    clause: ClauseReader, trigger: Trigger, place: _Place, subject: Span, target: Span
) -> int:
    if trigger.kind is not RelationKind.ASSOCIATES or trigger.form is not Form.FIXED:
        adverbs = {clause.word(place.first - 1), clause.word(place.last)}
        if trigger.kind is not RelationKind.ASSOCIATES:
            return trigger.sign
    else:
        adverbs = {clause.word(at) for at in range(place.first - 2, place.last)}
    if adverbs & _POSITIVE:
        return 1
    if adverbs & _INVERSE:
        return -1
    lexicon = clause.lexicon
    ends = find_direction(clause.tokens[slice(*target)], lexicon)
    begins = find_direction(clause.tokens[slice(*subject)], lexicon)
    if not ends:
        return 0
    # The operations in both spans are multiplied in again by the relation's own sign.
    parity = 1
    for span in (subject, target):
        for operation in find_operations(clause.tokens[slice(*span)], lexicon):
            parity *= operation.factor
    return ends * (begins or 1) * parity


def _argument(
    sentence: str, clause: ClauseReader, span: Span, *, is_compound: bool = False
) -> Argument:
    tokens = clause.tokens[slice(*span)]
    start, end = tokens[0].start, tokens[-1].end
    if is_compound:
        end = start + sentence[start:end].rfind("-")
    return Argument(sentence[start:end], start, end, find_operations(tokens, clause.lexicon))

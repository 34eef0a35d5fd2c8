"""Relations of a sentence: triggers of the lexicon with the noun phrases around them."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from carrel.libraries.relations.clauses import ClauseReader, Span
from carrel.libraries.relations.lexicon import Form, Frame, Lexicon, Trigger, standard_lexicon
from carrel.libraries.relations.noun_frames import NOUN_FRAMES, Found, read_compound
from carrel.libraries.relations.records import Argument, Relation, RelationKind
from carrel.libraries.relations.tokens import find_direction, find_operations, read_tokens
from carrel.libraries.relations.verb_frames import read_predicate, read_verb

_CLAUSE_ENDS = frozenset({";", ":", "contrast"})
_LOOKED_AT = frozenset(
    {
        "investigated",
        "examined",
        "tested",
        "assessed",
        "evaluated",
        "explored",
        "studied",
        "analyzed",
        "analysed",
    }
)
_UNSETTLED = frozenset({"unclear", "unknown", "controversial", "elusive", "debated", "understood"})


def _clause_start(clause: ClauseReader, place: int) -> int:
    start = place
    while start > 0 and clause.tag(start - 1) not in _CLAUSE_ENDS:
        start -= 1
    return start


def is_negated(clause: ClauseReader, first: int, trigger: int) -> bool:
    """Whether a negation stands between the start of the verb group and the trigger."""
    words = [token.word for token in clause.tokens[first:trigger]]
    text = f" {' '.join(words)} "
    following = clause.word(trigger)
    for exception in clause.lexicon.negation_exceptions:
        text = text.replace(f" {' '.join(exception)} ", " ")
    if following in ("only", "just", "merely") and words[-1:] == ["not"]:
        return False
    if any(f" {' '.join(phrase)} " in text for phrase in clause.lexicon.negating_phrases):
        return True
    return any(
        word in clause.lexicon.negations or word.endswith("n't") or word == "cannot"
        for word in text.split()
    )


def has_negative_subject(clause: ClauseReader, first: int) -> bool:
    """Whether a subject begins with `no` or `neither`."""
    return clause.word(first - 1) in ("no", "neither", "none") or clause.word(first) in (
        "no",
        "neither",
    )


def is_hedged(
    clause: ClauseReader, first: int, trigger: int, arguments: Sequence[Span] = ()
) -> bool:
    """Whether words before the trigger, within its clause, hold the relation as possible only."""
    lexicon = clause.lexicon
    if any(clause.word(at) in lexicon.hedging_auxiliaries for at in range(first, trigger)):
        return True
    start = _clause_start(clause, trigger)
    for at in range(trigger - 1, start - 1, -1):
        word = clause.word(at)
        if clause.tag(at) == "," and clause.tag(at + 1) in ("conjunction", "pronoun"):
            return False
        if word in lexicon.hedges and not any(one <= at < other for one, other in arguments):
            return not (at > 0 and clause.word(at - 1) in ("as", "no"))
        if clause.tag(at) == "conjunction" and clause.tag(at + 1) == "pronoun":
            return False
    return False


def is_asked(clause: ClauseReader, first: int, trigger: int, end: int) -> bool:
    """Whether the relation is a question or an aim of the work rather than a statement."""
    lexicon = clause.lexicon
    if clause.tokens and clause.tokens[-1].word == "?":
        return True
    start = _clause_start(clause, trigger)
    words = [clause.word(at) for at in range(start, trigger)]
    if any(word in lexicon.question_words for word in words):
        return True
    before = words[: max(0, first - start)]
    for place, word in enumerate(before):
        if word in lexicon.question_openers and (
            place == 0 or before[place - 1] in lexicon.question_verbs or word == "how"
        ):
            return not (word == "if" and place == 0)
        if word in lexicon.question_verbs and not {"that", ","} & set(before[place + 1 :]):
            return True
    for at in range(end, len(clause.tokens)):
        if clause.tag(at) in (",", "contrast", "relative", ";", ":"):
            return False
        if clause.word(at) in _UNSETTLED or clause.word(at) in _LOOKED_AT:
            verb = clause.back_over(at)
            return clause.tag(verb) == "be" or clause.word(verb) in clause.lexicon.copulas
    return False


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

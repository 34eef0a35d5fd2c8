"""Negation, hedges and questions around a relation."""

from collections.abc import Sequence

from carrel.libraries.relations.clauses import ClauseReader, Span

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

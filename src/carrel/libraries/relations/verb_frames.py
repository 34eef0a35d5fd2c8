"""Verbs and predicates between a subject and an object."""

from carrel.libraries.relations.clauses import ClauseReader, Span
from carrel.libraries.relations.lexicon import Form, Frame, Trigger
from carrel.libraries.relations.noun_frames import Found, is_bearer
from carrel.libraries.relations.records import RelationKind

AGENT_WITHIN = 14
"""How many words after a passive verb its agent may stand."""

ABILITY_WITHIN = 12
"""How many words before `to` an ability may be named: "the ability of X in Y to"."""

JOINED_WITHIN = 16
"""How many words before a plural verb two subjects may be joined."""

GERUND_WITHIN = 12
"""How many words may stand between two gerunds of one subject."""

_THEN = frozenset(
    {"thereby", "thus", "hence", "therefore", "consequently", "further", "ultimately"}
)
_CLAUSE_TAGS = frozenset(
    {"be", "have", "modal", "finite", "relative", "subordinator", ";", ":", "pronoun", "contrast"}
)


def read_verb(clause: ClauseReader, trigger: Trigger, first: int, last: int) -> Found | None:
    """The arguments of a verb, active or passive."""
    match trigger.form:
        case Form.PAST:
            return _read_past(clause, trigger, first, last)
        case Form.THIRD:
            return _read_third(clause, trigger, first, last)
        case Form.BASE:
            return _read_base(clause, trigger, first, last)
        case _:
            return _read_gerund(clause, trigger, first, last)


def _object(clause: ClauseReader, trigger: Trigger, last: int) -> Span | None:
    if trigger.frame is not Frame.LATE:
        return clause.object_after(last)
    wanted = trigger.rest[0]
    for at in range(last + 1, min(len(clause.tokens), last + 8)):
        if clause.tag(at) in _CLAUSE_TAGS or clause.tag(at) == ",":
            return None
        if clause.word(at) == wanted:
            return clause.object_after(at + 1)
    return None


def _found(
    clause: ClauseReader, trigger: Trigger, subject: Span | None, start: int, last: int
) -> Found | None:
    target = _object(clause, trigger, last)
    if subject is None or target is None or _is_about_work(clause, target):
        return None
    if _has_no(clause, target):
        return Found(subject, target, start, is_negated=True)
    return Found(subject, target, start)


def _is_about_work(clause: ClauseReader, span: Span) -> bool:
    for at in range(*span):
        if clause.tag(at) == "preposition":
            return False
        if clause.word(at) in clause.lexicon.empty_heads:
            return True
    return False


def _has_no(clause: ClauseReader, span: Span) -> bool:
    return clause.word(span[0] - 1) in ("no", "neither")


def _read_past(clause: ClauseReader, trigger: Trigger, first: int, last: int) -> Found | None:
    before = clause.back_over(first)
    tag = clause.tag(before)
    start = clause.verb_start(first)
    if tag == "be":
        return _read_passive(clause, first, last, start)
    if tag == "have":
        subject = clause.subject_before(start)
        # "patients had prolonged disease"
        if subject is not None and is_bearer(clause, subject) and clause.tag(last) == "word":
            return None
        return _found(clause, trigger, subject, start, last)
    if trigger.rest and tag in ("word", "relative", "conjunction", "past"):
        return _found(clause, trigger, clause.subject_before(start), start, last)
    if tag in ("word", "past") and clause.word(last) == "by":
        return _read_reduced_passive(clause, first, last)
    if tag == "conjunction" and clause.word(last) == "by":
        return _read_passive(clause, first, last, before + 1)
    if tag == "conjunction" and not _follows_active_past(clause, before, last):
        return None
    if tag not in ("word", "relative", "conjunction", "contrast") or not _can_be_past(
        clause, before, last
    ):
        return None
    found = _found(clause, trigger, clause.subject_before(start), start, last)
    if found is None or clause.tag(found.object[1]) in ("be", "have", "modal", "finite"):
        return None
    return found


def _follows_active_past(clause: ClauseReader, conjunction: int, last: int) -> bool:
    # "reduced the growth and mitigated defects", not "showed increased A and reduced B".
    if clause.tag(last) == "determiner":
        return True
    governor = clause.governor(conjunction)
    return governor is not None and any(
        trigger.form is Form.PAST
        for trigger in clause.lexicon.triggers.get(clause.word(governor), ())
    )


def _can_be_past(clause: ClauseReader, before: int, last: int) -> bool:
    token = clause.tokens[before]
    if token.word in clause.lexicon.base_verbs and before and clause.tokens[before - 1].is_plural:
        return False
    if token.word.endswith("ing") and (
        token.word in clause.lexicon.gerunds
        or token.word == "using"
        or clause.tag(before - 1) in ("preposition", "conjunction")
    ):
        return False
    if token.tag == "word" and token.is_adjective and not token.is_plural:
        return clause.tag(last) == "determiner"
    return clause.tag(last) in ("determiner", "word", "adverb", "past")


def _read_passive(clause: ClauseReader, first: int, last: int, start: int) -> Found | None:
    agent = _agent(clause, last)
    target = clause.subject_before(start)
    if agent is None or target is None or _is_about_work(clause, target):
        return None
    return Found(agent, target, start)


def _read_reduced_passive(clause: ClauseReader, first: int, last: int) -> Found | None:
    agent = clause.object_after(last + 1, is_agent=True)
    target = clause.noun_before(first)
    if agent is None or target is None or is_bearer(clause, target):
        return None
    return Found(agent, target, first)


def _agent(clause: ClauseReader, last: int) -> Span | None:
    for at in range(last, min(len(clause.tokens), last + AGENT_WITHIN)):
        if clause.tag(at) in _CLAUSE_TAGS or clause.tag(at) == ",":
            return None
        if clause.word(at) in ("by", "upon"):
            following = clause.word(at + 1)
            if following[:1].isdigit() or following.startswith("~"):
                return None
            return clause.object_after(at + 1, is_agent=True)
    return None


def _read_third(clause: ClauseReader, trigger: Trigger, first: int, last: int) -> Found | None:
    before = clause.back_over(first)
    tag = clause.tag(before)
    if tag not in ("word", "relative", "conjunction", ",", "past", "contrast"):
        return None
    is_after_adjective = tag == "word" and clause.tokens[before].is_adjective
    if clause.word(first - 1) == "no" or (
        is_after_adjective and clause.tag(first + 1) == "preposition"
    ):
        return None
    start = clause.verb_start(first)
    return _found(clause, trigger, clause.subject_before(start), start, last)


def _read_base(clause: ClauseReader, trigger: Trigger, first: int, last: int) -> Found | None:
    before = clause.back_over(first)
    tag = clause.tag(before)
    if tag == "to":
        return _read_infinitive(clause, trigger, before, last)
    start = clause.verb_start(first)
    if tag in ("modal", "do"):
        return _found(clause, trigger, clause.subject_before(start), start, last)
    if tag == "word" and not (
        clause.tokens[before].is_plural
        or _is_joined(clause, before)
        or _has_plural_head(clause, start, last)
    ):
        return None
    if tag == "conjunction" and not _follows_base(clause, before):
        return None
    if tag not in ("word", "relative", "conjunction", ","):
        return None
    return _found(clause, trigger, clause.subject_before(start), start, last)


def _has_plural_head(clause: ClauseReader, start: int, last: int) -> bool:
    # "Mutations in BRCA1 increase the risk"
    subject = clause.subject_before(start)
    if subject is None or clause.tag(last) != "determiner":
        return False
    head = next((at for at in range(*subject) if clause.tag(at) == "preposition"), subject[1])
    return head > subject[0] and clause.tokens[head - 1].is_plural


def _is_joined(clause: ClauseReader, before: int) -> bool:
    # "A and B reduce Y": a plural by addition.
    for at in range(before, max(-1, before - JOINED_WITHIN), -1):
        if clause.tag(at) in _CLAUSE_TAGS or clause.tag(at) in (",", "past"):
            return False
        if clause.word(at) == "and":
            return True
    return False


def _follows_base(clause: ClauseReader, conjunction: int) -> bool:
    governor = clause.governor(conjunction)
    return governor is not None and (
        clause.tag(governor) in ("word", "modal", "do")
        or clause.word(governor) in clause.lexicon.base_verbs
    )


def _read_infinitive(clause: ClauseReader, trigger: Trigger, to: int, last: int) -> Found | None:
    lexicon = clause.lexicon
    subject, start = _able(clause, to)
    if subject is None:
        before = clause.back_over(to)
        governor = clause.governor(to)
        if governor is None:
            return None
        word = clause.word(before)
        is_chain = word in lexicon.to_chain and word != "used"
        is_present = clause.tag(governor) in ("finite", "word", "modal")
        if not is_chain and not is_present:
            return None
        start = clause.verb_start(governor)
        subject = clause.subject_before(start)
    return _found(clause, trigger, subject, start, last)


def _able(clause: ClauseReader, to: int) -> tuple[Span | None, int]:
    for at in range(to - 1, max(-1, to - ABILITY_WITHIN), -1):
        if clause.tag(at) in _CLAUSE_TAGS:
            break
        if clause.word(at) in clause.lexicon.ability and clause.word(at + 1) == "of":
            return clause.object_after(at + 2), at
    return None, to


def _read_gerund(clause: ClauseReader, trigger: Trigger, first: int, last: int) -> Found | None:
    before = clause.back_over(first)
    tag, word = clause.tag(before), clause.word(before)
    if tag == "be":
        start = clause.verb_start(first)
        return _found(clause, trigger, clause.subject_before(start), start, last)
    if trigger.is_reversed and trigger.kind is not RelationKind.IS_PART_OF:
        return None
    if tag == "," or word in _THEN:
        return _of_clause(clause, trigger, before, first, last)
    if word == "by":
        return _of_clause(clause, trigger, before, first, last)
    if tag == "preposition" and word in ("in", "for", "of", "as"):
        return _of_support_verb(clause, trigger, before, last)
    if tag == "conjunction":
        return _of_earlier_gerund(clause, trigger, before, last)
    if tag == "word" and not clause.tokens[before].is_adjective:
        return _found(clause, trigger, clause.noun_before(first), first, last)
    return None


def _of_earlier_gerund(
    clause: ClauseReader, trigger: Trigger, conjunction: int, last: int
) -> Found | None:
    for at in range(conjunction - 1, max(0, conjunction - GERUND_WITHIN), -1):
        if clause.word(at).endswith("ing") and clause.word(at - 1) in ("for", "in", "by", ","):
            return _read_gerund(clause, trigger, at, last)
    return None


def _of_clause(
    clause: ClauseReader, trigger: Trigger, place: int, first: int, last: int
) -> Found | None:
    governor = clause.governor(place)
    if governor is None or _is_passive(clause, governor):
        return None
    subject = clause.subject_before(clause.verb_start(governor))
    return _found(clause, trigger, subject, first, last)


def _is_passive(clause: ClauseReader, governor: int) -> bool:
    if clause.tag(governor) != "be":
        return False
    following = clause.word(governor + 1)
    if clause.tag(governor + 1) in ("adverb", "negation"):
        following = clause.word(governor + 2)
    return following.endswith("ed") or following in clause.lexicon.past_verbs


def _of_support_verb(
    clause: ClauseReader, trigger: Trigger, preposition: int, last: int
) -> Found | None:
    governor = clause.governor(preposition)
    if governor is None or clause.word(governor) not in clause.lexicon.support_verbs:
        return None
    if preposition - governor > 6 or clause.tag(governor + 1) == "to":
        return None
    start = clause.verb_start(governor)
    return _found(clause, trigger, clause.subject_before(start), start, last)


def read_predicate(clause: ClauseReader, trigger: Trigger, first: int, last: int) -> Found | None:
    """The arguments of an adjective or participle with its preposition."""
    before = clause.back_over(first)
    tag = clause.tag(before)
    start = clause.verb_start(first)
    if tag == "conjunction":
        start = before + 1
    elif tag != "be" and not (tag == "word" and _may_be_bare(trigger, first)):
        return None
    if _is_verb(clause, trigger, last):
        return None
    subject = clause.noun_before(first) if tag == "word" else clause.subject_before(start)
    target = clause.object_after(last)
    if subject is None or target is None:
        return None
    return Found(subject, target, start)


def _is_verb(clause: ClauseReader, trigger: Trigger, place: int) -> bool:
    while clause.tag(place) == "adverb":
        place += 1
    word = clause.word(place)
    forms = {other.form for other in clause.lexicon.triggers.get(word, ())}
    if trigger.rest[-1:] == ("to",):
        return Form.BASE in forms or word in clause.lexicon.base_verbs
    return trigger.rest[-1:] in (("for",), ("in",)) and Form.GERUND in forms


def _may_be_bare(trigger: Trigger, first: int) -> bool:
    return first > 0 and (
        trigger.frame is Frame.BARE or trigger.rest[-1:] in (("for",), ("by",), ("from",), ("of",))
    )

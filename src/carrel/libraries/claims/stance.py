"""Whether a sentence supports or denies a statement: few rules, each with its reason in words."""

from __future__ import annotations

from carrel.libraries.claims.readings import NEGATION_REACH, Reading, read_sentence, read_statement
from carrel.libraries.claims.records import Relation, Stance, Statement, StatementKind
from carrel.libraries.claims.sentence_ranking import measure_coverage
from carrel.libraries.claims.word_lists import Opposites, load_word_lists

# First guesses, fitted by `make bench-claims` later.
LEAST_BEARING = 0.45
LEAST_DECIDING = 0.85
HEDGE_FACTOR = 0.8


def judge_stance(statement: Statement, sentence: str, title: str = "") -> Stance:
    """What a sentence does to a statement; the title lends its words to the sentence."""
    words = read_statement(statement.text)
    said, asked = read_sentence(sentence), read_sentence(statement.text)
    rarity = [1.0] * len(words)
    own = measure_coverage(words, said, rarity)
    whole = measure_coverage(words, _join(said, read_sentence(title)), rarity) if title else own
    coverage = max(own, 0.8 * whole)
    if coverage < LEAST_BEARING:
        return Stance(
            Relation.UNRELATED, round(1 - coverage, 3), (f"it has {coverage:.0%} of the statement",)
        )
    reasons = [f"it has {coverage:.0%} of the statement's words"]
    turns = _find_turns(asked, said, reasons)
    hedge = HEDGE_FACTOR if said.hedges else 1.0
    if said.hedges:
        reasons.append("it is hedged")
    if own < LEAST_DECIDING or said.is_background:
        return Stance(Relation.BEARS_ON, round(coverage * hedge, 3), tuple(reasons))
    if turns % 2:
        return Stance(Relation.CONTRADICTS, round(own * hedge, 3), tuple(reasons))
    if statement.kind is StatementKind.LINK or not turns:
        return Stance(Relation.SUPPORTS, round(own * hedge, 3), tuple(reasons))
    return Stance(Relation.BEARS_ON, round(coverage * hedge, 3), tuple(reasons))


def _join(one: Reading, other: Reading) -> Reading:
    return Reading(
        one.terms | other.terms, one.classes | other.classes, one.stems, one.negations,
        one.hedges, one.numbers, one.concludes, one.is_background,
    )  # fmt: skip


def _find_turns(asked: Reading, said: Reading, reasons: list[str]) -> int:
    """How often the sentence turns round what the statement says."""
    turns = 0
    if bool(asked.negations) != _is_negated_nearby(asked, said):
        turns += 1
        reasons.append(
            "the statement is negated and the sentence is not"
            if asked.negations
            else "the sentence is negated and the statement is not"
        )
    opposed = find_opposite_words(asked, said)
    if opposed:
        turns += 1
        pair, mine, theirs = opposed
        reasons.append(f"the statement says {mine}, the sentence {theirs} ({pair.name})")
    return turns


def _is_negated_nearby(asked: Reading, said: Reading) -> bool:
    """Whether a negation stands near words that the statement has."""
    shared = [at for at, stem in enumerate(said.stems) if stem in asked.terms]
    return any(abs(at - negation) <= NEGATION_REACH for negation in said.negations for at in shared)


def find_opposite_words(one: Reading, other: Reading) -> tuple[Opposites, str, str] | None:
    """A word of each that say the opposite, where neither has the other's word too."""
    mine, theirs = set(one.stems), set(other.stems)
    for pair in load_word_lists().opposites:
        for side, opposite in ((pair.one, pair.other), (pair.other, pair.one)):
            has, lacks = mine & side, theirs & opposite
            if has and lacks and not mine & opposite and not theirs & side:
                return pair, min(has), min(lacks)
    return None

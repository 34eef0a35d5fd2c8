"""Whether a sentence supports or denies a statement: few features, each with a reason in words."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from carrel.libraries.claims.matching import measure_synonyms, measure_words, weigh_evenly
from carrel.libraries.claims.readings import NEGATION_REACH, Reading, read_sentence
from carrel.libraries.claims.records import Relation, Stance, Statement, StatementKind
from carrel.libraries.claims.weights import ClaimWeights, load_weights
from carrel.libraries.claims.word_lists import load_word_lists


@dataclass(frozen=True, slots=True)
class Comparison:
    """What a statement and a sentence say of the same things, with reasons in words."""

    features: Mapping[str, float]
    reasons: tuple[str, ...]
    is_turned: bool
    is_unclear: bool


def judge_stance(statement: Statement, sentence: str, title: str = "") -> Stance:
    """What a sentence does to a statement; the title lends its words to the sentence."""
    weighed = weigh_evenly(statement)
    said, head = read_sentence(sentence), read_sentence(title)
    words = measure_words(weighed, said.terms)
    features = {
        "words": words,
        "synonyms": measure_synonyms(weighed, said.terms, said.classes),
        "title": measure_words(weighed, said.terms | head.terms) - words,
        "whole_paper": measure_words(weighed, said.terms | head.terms),
        "rank": 0.0,
        "number": float(bool(read_sentence(statement.text).numbers & said.numbers)),
    }
    return decide_stance(statement, sentence, features, load_weights())


def decide_stance(
    statement: Statement, sentence: str, coverage: Mapping[str, float], weights: ClaimWeights
) -> Stance:
    """The stance by fitted weights, from the words that both have and the sides they take."""
    compared = compare_sides(statement, sentence)
    features = {**coverage, **compared.features}
    share = min(1.0, coverage["words"] + coverage["synonyms"] + coverage["title"])
    reasons = (f"it has {share:.0%} of the statement's words", *compared.reasons)
    bearing = weights.bearing.probability(features)
    if bearing < weights.least_bearing:
        return Stance(Relation.UNRELATED, round(1 - bearing, 3), reasons)
    opposing = weights.opposing.probability(features)
    agreeing = weights.agreeing.probability(features)
    if compared.is_turned and opposing >= weights.least_contradicting:
        return Stance(Relation.CONTRADICTS, round(opposing, 3), reasons)
    if not compared.is_turned and not compared.is_unclear and agreeing >= weights.least_supporting:
        return Stance(Relation.SUPPORTS, round(agreeing, 3), reasons)
    return Stance(Relation.BEARS_ON, round(bearing, 3), reasons)


def compare_sides(statement: Statement, sentence: str) -> Comparison:
    """Negations, opposites, hedges and numbers on both sides."""
    asked, said = read_sentence(statement.text), read_sentence(sentence)
    opposed, same = _find_sides(asked, said)
    negated = bool(asked.negations) != _is_negated_nearby(asked, said)
    if statement.kind is StatementKind.LINK:
        opposed = ()
    turns = bool(opposed) + negated
    missing = asked.numbers - said.numbers
    reasons = []
    if opposed:
        mine, theirs, name = opposed
        reasons.append(f"the statement says {mine}, the sentence {theirs} ({name})")
    if negated:
        reasons.append(
            "the statement is negated and the sentence is not"
            if asked.negations
            else "the sentence is negated and the statement is not"
        )
    if same and not opposed:
        reasons.append(f"both say {same}")
    if said.hedges:
        reasons.append("it is hedged")
    if missing:
        reasons.append(f"it has not the number {min(missing)}")
    features = {
        "opposite": float(bool(opposed)),
        "negation_differs": float(negated),
        "turned": float(turns == 1),
        "same_side": float(bool(same) and not opposed),
        "same_number": float(bool(asked.numbers & said.numbers)),
        "other_number": float(bool(missing)),
        "hedged": float(bool(said.hedges)),
        "concludes": float(said.concludes),
        "background": float(said.is_background),
    }
    return Comparison(features, tuple(reasons), turns == 1, turns > 1 or said.is_background)


def _is_negated_nearby(asked: Reading, said: Reading) -> bool:
    """Whether a negation stands near words that the statement has."""
    shared = [at for at, stem in enumerate(said.stems) if stem in asked.terms]
    return any(abs(at - negation) <= NEGATION_REACH for negation in said.negations for at in shared)


def _find_sides(asked: Reading, said: Reading) -> tuple[tuple[str, str, str] | tuple[()], str]:
    """A pair of opposite words, one of each text, and a word on whose side both are."""
    mine, theirs = dict.fromkeys(asked.stems), dict.fromkeys(said.stems)
    opposed: tuple[str, str, str] | tuple[()] = ()
    same = ""
    for pair in load_word_lists().opposites:
        for side, opposite in ((pair.one, pair.other), (pair.other, pair.one)):
            has = [stem for stem in mine if stem in side]
            if not has or any(stem in opposite for stem in mine):
                continue
            against = [stem for stem in theirs if stem in opposite]
            alike = [stem for stem in theirs if stem in side]
            if against and not alike:
                opposed = opposed or (
                    asked.word_of(has[0]), said.word_of(against[0]), pair.name
                )  # fmt: skip
            elif alike and not against:
                same = same or said.word_of(alike[0])
    return opposed, same

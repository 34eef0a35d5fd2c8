"""Whether a sentence supports or denies a statement: few features, each with a reason in words."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from carrel.libraries.claims.matching import measure_synonyms, measure_words, weigh_evenly
from carrel.libraries.claims.readings import (
    NEGATION_REACH,
    Reading,
    read_sentence,
    read_statement,
)
from carrel.libraries.claims.records import Relation, Stance, Statement, StatementKind
from carrel.libraries.claims.relation_comparison import compare_relations
from carrel.libraries.claims.weights import ClaimWeights, load_weights
from carrel.libraries.claims.word_lists import load_word_lists

# Strict rules beside the fitted weights: a sentence restates a statement where it has nearly all of
# its words and little else; and where a relation of the same two things has the other sign.
RESTATED_WORDS = 0.8
RESTATED_FOCUS = 0.5
RELATED_WORDS = 0.6
RESTATED_CERTAINTY = 0.9
HEDGED_CERTAINTY = 0.8


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
        "ahead_in_score": 0.0,
        "ahead_in_words": 0.0,
        "ahead_in_paper": 0.0,
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
    # An opposite stands where the statement has its word.
    near = coverage["words"] + coverage["synonyms"]
    near += features["opposite"] / max(1, len(read_statement(statement.text)))
    is_restated = near >= RESTATED_WORDS and features["focus"] >= RESTATED_FOCUS
    if bearing < weights.least_bearing and not is_restated:
        return Stance(Relation.UNRELATED, round(1 - bearing, 3), reasons)
    opposing = weights.opposing.probability(features)
    agreeing = weights.agreeing.probability(features)
    is_opposed = features["relation_opposes"] > 0 and near >= RELATED_WORDS
    is_certain = opposing >= weights.least_contradicting or is_restated or is_opposed
    if compared.is_turned and is_certain:
        side = max(opposing, RESTATED_CERTAINTY) if is_restated or is_opposed else opposing
        return Stance(Relation.CONTRADICTS, _lower_hedged(side, features), reasons)
    is_plain = not compared.is_turned and not compared.is_unclear
    is_same = features["same_side"] > 0 or features["relation_agrees"] > 0
    if is_plain and (is_restated or (is_same and agreeing >= weights.least_supporting)):
        side = max(agreeing, RESTATED_CERTAINTY) if is_restated else agreeing
        return Stance(Relation.SUPPORTS, _lower_hedged(side, features), reasons)
    return Stance(Relation.BEARS_ON, round(bearing, 3), reasons)


def _lower_hedged(confidence: float, features: Mapping[str, float]) -> float:
    return round(confidence * (HEDGED_CERTAINTY if features["hedged"] else 1.0), 3)


def compare_sides(statement: Statement, sentence: str) -> Comparison:
    """Negations, opposites, hedges and numbers on both sides."""
    asked, said = read_sentence(statement.text), read_sentence(sentence)
    opposed, same, is_mixed = _find_sides(asked, said)
    negated = bool(asked.negations) != _is_negated_nearby(asked, said)
    if statement.kind is StatementKind.LINK:
        opposed = ()
    turns = bool(opposed) + negated
    missing = asked.numbers - said.numbers
    pairs = list(compare_relations(statement.text, sentence))
    opposing = [pair for pair in pairs if pair.is_opposed]
    agreeing = [pair for pair in pairs if not pair.is_opposed]
    reasons = [f"it says: {pair.other.told}" for pair in (opposing or agreeing)[:1]]
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
        "focus": _measure_focus(asked, said),
        "opposite": float(bool(opposed)),
        "negation_differs": float(negated),
        "turned": float(turns == 1),
        "same_side": float(bool(same) and not opposed),
        "same_number": float(bool(asked.numbers & said.numbers)),
        "other_number": float(bool(missing)),
        "relation_agrees": float(bool(agreeing and not opposing)),
        "relation_opposes": float(bool(opposing and not agreeing)),
        "mixed_sides": float(is_mixed),
        "hedged": float(bool(said.hedges)),
        "concludes": float(said.concludes),
        "background": float(said.is_background),
    }
    is_other_number = bool(missing and said.numbers - asked.numbers)
    is_unclear = turns > 1 or said.is_background or is_other_number or is_mixed
    features["unclear"] = float(is_unclear)
    return Comparison(features, tuple(reasons), turns == 1, is_unclear)


def _measure_focus(asked: Reading, said: Reading) -> float:
    """The share of the sentence that the statement has, by words or synonyms."""
    lists = load_word_lists()
    shared = sum(
        term in asked.terms or bool(asked.classes & lists.synonyms.get(term, frozenset()))
        for term in said.terms
    )
    return shared / len(said.terms) if said.terms else 0.0


def _is_negated_nearby(asked: Reading, said: Reading) -> bool:
    """Whether a negation stands near words that the statement has."""
    shared = [at for at, stem in enumerate(said.stems) if stem in asked.terms]
    return any(abs(at - negation) <= NEGATION_REACH for negation in said.negations for at in shared)


def _find_sides(
    asked: Reading, said: Reading
) -> tuple[tuple[str, str, str] | tuple[()], str, bool]:
    """Opposite words, one of each text; a word on whose side both are; whether one has both."""
    mine, theirs = dict.fromkeys(asked.stems), dict.fromkeys(said.stems)
    opposed: tuple[str, str, str] | tuple[()] = ()
    same = ""
    is_mixed = False
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
            is_mixed = is_mixed or bool(alike and against)
    return opposed, same, is_mixed

"""Whether a sentence supports or denies a statement: few features, each with a reason in words."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache

from carrel.libraries.claims.matching import (
    ClaimWeights,
    load_weights,
    measure_synonyms,
    measure_words,
    weigh_evenly,
)
from carrel.libraries.claims.readings import (
    NEGATION_REACH,
    Reading,
    load_word_lists,
    read_sentence,
    read_statement,
)
from carrel.libraries.claims.records import Relation, Stance, Statement, StatementKind
from carrel.libraries.relations import Relation as StatedRelation
from carrel.libraries.relations import extract_relations
from carrel.libraries.text.analysis import analyze_document
from carrel.libraries.text.stems import light_stem

# Two arguments name the same thing where they share this much of the shorter one's words.
LEAST_SHARED = 0.5
_CACHED_SENTENCES = 4_096


@dataclass(frozen=True, slots=True)
class SignedRelation:
    """A relation with the stems of its two things; `direction` is 0 where the sign is unknown."""

    subject: frozenset[str]
    object: frozenset[str]
    direction: int
    is_denied: bool
    is_hedged: bool
    told: str


@dataclass(frozen=True, slots=True)
class RelationPair:
    """A relation of each text about the same two things."""

    one: SignedRelation
    other: SignedRelation
    is_opposed: bool


@lru_cache(_CACHED_SENTENCES)
def read_relations(sentence: str) -> tuple[SignedRelation, ...]:
    """The relations that a sentence states or denies; what it only asks is left out."""
    return tuple(_describe(each) for each in extract_relations(sentence) if not each.asked)


def compare_relations(one: str, other: str) -> Iterator[RelationPair]:
    """Relations of both texts about the same two things that agree or oppose one another."""
    for first in read_relations(one):
        for second in read_relations(other):
            if is_alike(first.subject, second.subject) and is_alike(first.object, second.object):
                is_opposed = judge_opposition(first, second)
                if is_opposed is not None:
                    yield RelationPair(first, second, is_opposed)


def judge_opposition(one: SignedRelation, other: SignedRelation) -> bool | None:
    """Whether two relations deny each other; None where they can both be true or signs lack."""
    if not one.direction * other.direction:
        return None
    if one.direction == other.direction:
        return one.is_denied != other.is_denied
    return None if one.is_denied or other.is_denied else True


def is_alike(one: frozenset[str], other: frozenset[str]) -> bool:
    """Whether two sets of stems name the same thing, as far as words tell."""
    shorter = min(len(one), len(other))
    return shorter > 0 and len(one & other) >= LEAST_SHARED * shorter


def _describe(relation: StatedRelation) -> SignedRelation:
    denial = "does not: " if relation.negated else ""
    return SignedRelation(
        _stems(relation.subject.text),
        _stems(relation.object.text),
        relation.sign,
        relation.negated,
        relation.hedged,
        f"{denial}{relation.subject.text} {relation.kind.value} {relation.object.text}",
    )


def _stems(text: str) -> frozenset[str]:
    return frozenset(map(light_stem, analyze_document(text)))


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

"""Compare the signed relations of two sentences: do they say the same of the same two things?"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache

from carrel.libraries.relations import Relation, extract_relations
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


def _describe(relation: Relation) -> SignedRelation:
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

"""What people said of hypotheses: its weight as evidence, and the kinds that they rejected."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import exp

from carrel.libraries.discovery.concepts.words import normal_phrase
from carrel.rooms.research.records import Draft, Hypothesis, Review

PERSON = "person"
"""The review type of a person's rating."""

# The weights were set by hand: no data was at hand to fit them on. In log-odds before any match.
APPROVAL_LOG_ODDS = 1.0
RATING_LOG_ODDS = 2.0
MOST_LOG_ODDS = 1.5
# What one unit of log-odds adds to the measure from 0 to 1 by which counts of papers are compared.
MEASURE_PER_LOG_ODDS = 0.25
# Of two titles with this share of words in common one is a rewording of the other.
_SAME_WORDS = 0.6
_FEWEST_LETTERS = 4


@dataclass(frozen=True, slots=True)
class PeopleWeight:
    """What people's words on one hypothesis count for, in log-odds, and a sentence that says so."""

    log_odds: float
    says: str

    @property
    def measure(self) -> float:
        """The same on the scale from 0 to 1 of discovery's measures."""
        return self.log_odds * MEASURE_PER_LOG_ODDS


def weigh_people(
    hypotheses: Sequence[Hypothesis], reviews: Sequence[Review]
) -> dict[str, PeopleWeight]:
    """The weight of ratings and approvals, by hypothesis; those nobody spoke of are left out."""
    ratings: dict[str, dict[str, float]] = {}
    for review in reviews:
        if review.review_type == PERSON and review.scores.overall is not None:
            # The latest of a person counts.
            ratings.setdefault(review.hypothesis_id, {})[review.reviewer] = review.scores.overall
    found = {}
    for one in hypotheses:
        weight = _weigh(one, ratings.get(one.id, {}))
        if weight is not None:
            found[one.id] = weight
    return found


def _weigh(hypothesis: Hypothesis, ratings: Mapping[str, float]) -> PeopleWeight | None:
    decision = hypothesis.decision
    log_odds, said = 0.0, []
    if decision.approval == "approved":
        log_odds += APPROVAL_LOG_ODDS
        said.append(f"approved by {decision.by or 'a person'}")
    if ratings:
        mean = sum(ratings.values()) / len(ratings)
        log_odds += RATING_LOG_ODDS * (mean - 0.5)
        said.append(f"rated {mean:.2f} by {', '.join(sorted(ratings))}")
    if not said:
        return None
    log_odds = max(-MOST_LOG_ODDS, min(MOST_LOG_ODDS, log_odds))
    wins = 100 / (1 + exp(-log_odds))
    return PeopleWeight(
        log_odds,
        f"{' and '.join(said).capitalize()}: counts as {log_odds:+.2f} in strength before any "
        f"match, as if it won {wins:.0f} of 100 against an average hypothesis.",
    )


def list_remarks(hypothesis: Hypothesis, reviews: Sequence[Review]) -> list[str]:
    """What people wrote of a hypothesis, without what they decided."""
    remarks = [hypothesis.decision.reason]
    for review in reviews:
        if review.review_type == PERSON and review.hypothesis_id == hypothesis.id:
            remarks.extend((*review.strengths, *review.weaknesses))
    return list(dict.fromkeys(filter(None, (remark.strip() for remark in remarks))))


@dataclass(frozen=True, slots=True)
class RejectedKind:
    """A rejected hypothesis by what others may have in common with it.

    `named` are its concepts that the reason names, goal aside: what has one is of its kind. The
    bridge is given where it leads two rejected ones or more.
    """

    hypothesis_id: str
    reason: str
    ends: frozenset[str]
    bridge: str | None
    named: frozenset[str]
    words: frozenset[str]

    def describe_likeness(self, draft: Draft) -> str | None:
        """What a draft has in common with it, or None where it is of another kind."""
        kind = _kind_of(draft)
        shared = sorted(self.named & kind.concepts)
        if shared:
            return f"the reason names {', '.join(shared)}"
        if self.ends and self.ends == kind.ends:
            return "it has the same ends"
        if self.bridge is not None and self.bridge == kind.bridge:
            return f"its bridge, {self.bridge}, leads several that were rejected"
        union = self.words | kind.words
        if union and len(self.words & kind.words) / len(union) >= _SAME_WORDS:
            return "its title is a rewording"
        return None


@dataclass(frozen=True, slots=True)
class _Kind:
    ends: frozenset[str]
    bridge: str | None
    concepts: frozenset[str]
    words: frozenset[str]


def _kind_of(draft: Draft) -> _Kind:
    connection = draft.connection
    bridges = tuple(map(normal_phrase, draft.bridges))
    title = normal_phrase(draft.title)
    words = frozenset(word for word in title.split() if len(word) >= _FEWEST_LETTERS)
    if connection is None:
        return _Kind(frozenset(), None, words.union(bridges), words)
    far = frozenset(end.key for end in (connection.end, *connection.also_ends))
    bridge = connection.bridges[0].concept.key if connection.bridges else None
    return _Kind(
        frozenset({connection.start.key}) | far,
        bridge,
        frozenset(bridges) | far,
        words,
    )


def list_rejected_kinds(goal: str, hypotheses: Sequence[Hypothesis]) -> list[RejectedKind]:
    """The kinds that people rejected, each with the concepts that the reason names."""
    rejected = [one for one in hypotheses if one.decision.approval == "rejected"]
    kinds = [_kind_of(one.draft) for one in rejected]
    bridges = Counter(kind.bridge for kind in kinds if kind.bridge is not None)
    asked = normal_phrase(goal)
    return [
        RejectedKind(
            one.id,
            one.decision.reason,
            kind.ends,
            kind.bridge if kind.bridge and bridges[kind.bridge] > 1 else None,
            frozenset(
                concept
                for concept in kind.concepts
                if _names(normal_phrase(one.decision.reason), concept)
                and not _names(asked, concept)
            ),
            kind.words,
        )
        for one, kind in zip(rejected, kinds, strict=True)
    ]


def _names(text: str, concept: str) -> bool:
    return bool(concept) and f" {concept} " in f" {text} "


def describe_rejected(goal: str, hypotheses: Sequence[Hypothesis]) -> str:
    """What generation keeps away from, one sentence; empty where nothing was rejected."""
    told = []
    for kind in list_rejected_kinds(goal, hypotheses):
        shared = [*sorted(kind.named), *([kind.bridge] if kind.bridge else [])]
        beside = f" and whatever names {', '.join(dict.fromkeys(shared))}" if shared else ""
        why = f", rejected because: {kind.reason.rstrip('. ')}" if kind.reason else ""
        told.append(f"{kind.hypothesis_id}, its ends and rewordings{beside}{why}")
    return f"Kept away from what people rejected: {'; '.join(told)}." if told else ""


@dataclass(frozen=True, slots=True)
class LeftOut:
    """A draft that was left out, and why."""

    title: str
    reason: str


def leave_out_rejected(
    drafts: Sequence[Draft], goal: str, hypotheses: Sequence[Hypothesis]
) -> tuple[list[Draft], list[LeftOut]]:
    """The drafts that are not of a rejected kind, and the others with the reason."""
    kinds = list_rejected_kinds(goal, hypotheses)
    kept, left = [], []
    for draft in drafts:
        found = ((kind, kind.describe_likeness(draft)) for kind in kinds)
        like = next(((kind, says) for kind, says in found if says), None)
        if like is None:
            kept.append(draft)
        else:
            kind, says = like
            why = f" ({kind.reason})" if kind.reason else ""
            reason = f"of the kind of {kind.hypothesis_id}, which a person rejected{why}: {says}"
            left.append(LeftOut(draft.title, reason))
    return kept, left

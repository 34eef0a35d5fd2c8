"""Agreement of two labellers: kappa for kind and sign, and overlap of spans."""

from collections import Counter
from collections.abc import Sequence

from benchmarks.relations.labels import LabelledRelation, LabelledSentence

SAME_SPAN = 0.5
"""Two spans name the same thing if they share half of the shorter one."""

_SYMMETRIC = "associates"


def _shared(one: tuple[int, int], other: tuple[int, int]) -> float:
    common = min(one[1], other[1]) - max(one[0], other[0])
    shorter = min(one[1] - one[0], other[1] - other[0])
    return max(0, common) / shorter if shorter else 0.0


def _overlap(one: tuple[int, int], other: tuple[int, int]) -> float:
    common = max(0, min(one[1], other[1]) - max(one[0], other[0]))
    return common / (max(one[1], other[1]) - min(one[0], other[0])) if common else 0.0


def same_spans(one: LabelledRelation, other: LabelledRelation) -> bool:
    """Whether two relations are about the same things; an association has no direction."""
    straight = min(_shared(one.subject, other.subject), _shared(one.object, other.object))
    crossed = 0.0
    if _SYMMETRIC in (one.kind, other.kind):
        crossed = min(_shared(one.subject, other.object), _shared(one.object, other.subject))
    return max(straight, crossed) >= SAME_SPAN


def overlap_share(one: LabelledRelation, other: LabelledRelation) -> float:
    """The mean share of characters that both have, of those that either has."""
    straight = _overlap(one.subject, other.subject) + _overlap(one.object, other.object)
    crossed = _overlap(one.subject, other.object) + _overlap(one.object, other.subject)
    return max(straight, crossed) / 2


def kappa(pairs: Sequence[tuple[object, object]]) -> float:
    """Cohen's kappa."""
    count = len(pairs)
    if not count:
        return 0.0
    agreed = sum(one == other for one, other in pairs) / count
    left, right = Counter(one for one, _ in pairs), Counter(other for _, other in pairs)
    by_chance = sum(left[label] * right[label] for label in left) / count**2
    return (agreed - by_chance) / (1 - by_chance) if by_chance < 1 else 1.0


def match_passes(
    sentence: LabelledSentence,
) -> tuple[list[tuple[LabelledRelation, LabelledRelation]], int, int]:
    """Pairs of relations that both passes have, and how many only one of them has."""
    first, second = sentence.passes["a"], list(sentence.passes["b"])
    pairs = []
    for one in first:
        same = [other for other in second if same_spans(one, other)]
        if same:
            best = max(same, key=lambda other: (one.kind == other.kind, overlap_share(one, other)))
            second.remove(best)
            pairs.append((one, best))
    return pairs, len(first) - len(pairs), len(second)


def report_agreement(sentences: Sequence[LabelledSentence]) -> None:
    """Print how far the two passes agree."""
    both = [one for one in sentences if {"a", "b"} <= one.passes.keys()]
    if not both:
        print("agreement: only one pass is there")
        return
    has_any = [(bool(one.passes["a"]), bool(one.passes["b"])) for one in both]
    pairs, only_a, only_b = [], 0, 0
    kinds: list[tuple[object, object]] = []
    for sentence in both:
        matched, first, second = match_passes(sentence)
        pairs.extend(matched)
        only_a, only_b = only_a + first, only_b + second
        kinds.extend((one.kind, other.kind) for one, other in matched)
        kinds.extend([("none", "some")] * second + [("some", "none")] * first)
    share = 2 * len(pairs) / (2 * len(pairs) + only_a + only_b)
    print(f"agreement of two passes on {len(both)} sentences")
    print(f"  has a relation at all          kappa {kappa(has_any):.2f}")
    print(
        f"  relations found by both        F1 {share:.2f} "
        f"({len(pairs)}; only a {only_a}, only b {only_b})"
    )
    own = [(one.kind, other.kind) for one, other in pairs]
    print(f"  kind, of those found by both   kappa {kappa(own):.2f}")
    print(
        f"  net sign                       kappa {kappa([(a.sign, b.sign) for a, b in pairs]):.2f}"
    )
    for mark in ("negated", "hedged", "asked"):
        values = [(getattr(a, mark), getattr(b, mark)) for a, b in pairs]
        print(f"  {mark:30} kappa {kappa(values):.2f}")
    overlap = sum(overlap_share(a, b) for a, b in pairs) / len(pairs)
    print(f"  spans, mean overlap (Jaccard)  {overlap:.2f}")

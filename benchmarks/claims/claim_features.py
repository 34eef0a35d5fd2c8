"""What a label can be guessed from without reading any paper: how annotators wrote the claims."""

from __future__ import annotations

from collections.abc import Sequence

from benchmarks.claims.data import CONTRADICT, HALVES, Claim
from benchmarks.claims.fit import fit_logistic
from benchmarks.claims.measures import describe_share
from carrel.libraries.claims.matching import LinearModel
from carrel.libraries.claims.readings import load_word_lists, read_sentence


def measure_habit(claims: Sequence[Claim]) -> None:
    """Print the share of the surest tenth of held-out claims with evidence whose guess is right."""
    decided = [claim for claim in claims if claim.evidence]
    parts = [[claim for claim in decided if claim.half == half] for half in HALVES]
    names = list(_features(decided[0]))
    weights, constant = fit_logistic(
        [_features(claim) for claim in parts[0]],
        [claim.label == CONTRADICT for claim in parts[0]],
        names,
    )
    model = LinearModel(weights, constant)
    surest = sorted(parts[1], key=lambda claim: -model.probability(_features(claim)))
    top = surest[: len(surest) // 10]
    hits = sum(claim.label == CONTRADICT for claim in top)
    base = sum(claim.label == CONTRADICT for claim in parts[1])
    print(f"  CONTRADICT in the surest tenth: {describe_share(hits, len(top))}")
    print(f"  CONTRADICT in all:              {describe_share(base, len(parts[1]))}")


def _features(claim: Claim) -> dict[str, float]:
    reading = read_sentence(claim.text)
    lists = load_word_lists()
    return {
        "negated": float(bool(reading.negations)),
        "lowers": float(any(stem in lists.lowering for stem in reading.stems)),
        "raises": float(any(stem in lists.raising for stem in reading.stems)),
        "length": float(len(reading.stems)),
        "has_number": float(bool(reading.numbers)),
    }

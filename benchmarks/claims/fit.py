"""Fits the weights of `libraries/claims/data/weights.toml` on the first half of the claims.

python -m benchmarks.claims.fit [FOLDER] [--keep FOLDER]
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import tomllib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from benchmarks.claims.candidates import FoundPapers, find_candidates
from benchmarks.claims.data import CONTRADICT, HALVES, SCIFACT, SUPPORT, read_claims
from carrel.libraries.claims import Statement
from carrel.libraries.claims.matching import (
    WEIGHTS_FILE,
    LinearModel,
    choose_papers,
    load_weights,
    measure_papers,
    measure_sentences,
)
from carrel.libraries.claims.verdicts import measure_evidence

Numbers = NDArray[np.float64]
Features = Mapping[str, float]
ReadClaim = list[tuple[Features, str | None]]
Group = tuple[list[Features], list[bool]]
LISTWISE_PENALTY = 0.01
LOGISTIC_PENALTY = 0.01
# A paper is named as bearing on a claim for this share of the claims.
WANTED_SHARE = 0.4
# Sides are labelled above the precision promised, for the threshold itself is chosen.
WANTED_SIDE = 0.9
LEAST_COUNT = 10
STANCE = (
    "words", "synonyms", "title", "whole_paper", "rank", "ahead_in_score", "ahead_in_words",
    "ahead_in_paper", "opposite", "negation_differs", "turned", "same_side", "same_number",
    "other_number", "relation_agrees", "relation_opposes", "focus", "hedged", "concludes",
    "background",
)  # fmt: skip
HEAD = """\
# Weights of claim checking, written by `python -m benchmarks.claims.fit`.
# Fitted on the half of SciFact's 809 claims whose first cited paper's id has a SHA-256 with an even
# first byte, with papers found by Carrel's own search; `make bench-claims` reports the other half.
# paper and sentence: what comes first among candidates (softmax over the candidates of a claim).
# bearing: a paper decides the claim; agreeing and opposing: it supports or contradicts it
# (logistic, best sentence of each paper read). No feature is of the claim alone.\
"""


@dataclass(frozen=True, slots=True)
class Fitted:
    """Fitted weights; `least` is the probability from which a label is given."""

    weights: Mapping[str, float]
    constant: float = 0.0
    least: float | None = None


def main(arguments: Sequence[str]) -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.claims.fit")
    parser.add_argument("folder", nargs="?", type=Path, default=SCIFACT)
    parser.add_argument("--keep", type=Path, help="keep what was built and found here")
    given = parser.parse_args(arguments)
    work = given.keep or Path(tempfile.mkdtemp(prefix="carrel-claims-"))
    found = find_candidates(given.folder, work, read_claims(given.folder))
    half = [each for each in found if each.claim.half == HALVES[0]]
    decided = [each for each in half if each.claim.evidence]
    write_weights({"paper": Fitted(fit_order(_paper_groups(decided)))})
    write_weights({"sentence": Fitted(fit_order(_sentence_groups(decided)))})
    write_weights(fit_stances(half))


def _paper_groups(found: Iterable[FoundPapers]) -> list[Group]:
    return [
        (
            measure_papers(Statement(each.claim.text), each.papers),
            [paper.paper_id in each.claim.papers for paper in each.papers],
        )
        for each in found
    ]


def _sentence_groups(found: Iterable[FoundPapers]) -> list[Group]:
    groups: list[Group] = []
    for each in found:
        statement = Statement(each.claim.text)
        rows = list(measure_sentences(statement, choose_papers(statement, each.papers)))
        groups.append(
            (
                [features for _, _, features in rows],
                [
                    each.claim.has_sentence(paper.paper.paper_id, paper.paper.sentences[number])
                    for paper, number, _ in rows
                ],
            )
        )
    return groups


def fit_order(groups: Sequence[Group]) -> dict[str, float]:
    """Weights that put the right ones of each group first (softmax over the group)."""
    names = list(next(rows[0] for rows, _ in groups if rows))
    tables = [
        (np.array([[row[name] for name in names] for row in rows]), np.array(right))
        for rows, right in groups
        if any(right)
    ]
    together = np.vstack([table for table, _ in tables])
    mean, spread = together.mean(0), together.std(0) + 1e-9
    scaled = [((table - mean) / spread, right) for table, right in tables]
    weights = np.zeros(len(names))
    for _ in range(400):
        change = -LISTWISE_PENALTY * weights
        for table, right in scaled:
            scores = table @ weights
            share = np.exp(scores - scores.max())
            share /= share.sum()
            wanted = share * right
            change += ((wanted / wanted.sum() - share) @ table) / len(scaled)
        weights = weights + 0.4 * change
    return dict(zip(names, (weights / spread).tolist(), strict=True))


def fit_logistic(
    rows: Sequence[Features], right: Sequence[bool], names: Sequence[str]
) -> tuple[dict[str, float], float]:
    """Weights and constant of a logistic regression."""
    table = np.array([[row[name] for name in names] for row in rows])
    mean, spread = table.mean(0), table.std(0) + 1e-9
    scaled = np.hstack([(table - mean) / spread, np.ones((len(table), 1))])
    wanted = np.array(right, dtype=float)
    weights = np.zeros(len(names) + 1)
    penalty = np.array([LOGISTIC_PENALTY] * len(names) + [0.0])
    for _ in range(3000):
        likely = 1 / (1 + np.exp(-scaled @ weights))
        weights = weights + 0.5 * ((wanted - likely) @ scaled / len(table) - penalty * weights)
    slopes = weights[:-1] / spread
    return dict(zip(names, slopes.tolist(), strict=True)), float(weights[-1] - slopes @ mean)


def fit_stances(half: Sequence[FoundPapers]) -> dict[str, Fitted]:
    """Bearing, agreeing and opposing, on the best sentence of each paper read."""
    read: list[ReadClaim] = []
    for each in half:
        statement = Statement(each.claim.text)
        chosen = choose_papers(statement, each.papers)
        read.append(
            [
                (features, each.claim.label if sentence.paper_id in each.claim.papers else None)
                for sentence, features in measure_evidence(statement, chosen)
            ]
        )
    return fit_models(read)


def fit_models(read: Sequence[ReadClaim]) -> dict[str, Fitted]:
    """One logistic for each relation, with the threshold for the surest paper of each claim."""
    rows = [row for claim in read for row in claim]
    found: dict[str, Fitted] = {}
    for name, labels, may_be in (
        ("bearing", {SUPPORT, CONTRADICT}, _always),
        ("agreeing", {SUPPORT}, _may_agree),
        ("opposing", {CONTRADICT}, _may_oppose),
    ):
        weights, constant = fit_logistic(
            [features for features, _ in rows], [label in labels for _, label in rows], STANCE
        )
        model = LinearModel(weights, constant)
        best = [
            max(
                (model.probability(features) if may_be(features) else 0.0, label in labels)
                for features, label in claim
            )
            for claim in read
            if claim
        ]
        least = choose_share(best) if name == "bearing" else choose_least(best)
        found[name] = Fitted(weights, constant, least)
    return found


def _always(features: Features) -> bool:
    return True


def _may_agree(features: Features) -> bool:
    is_plain = not features["turned"] and not features["unclear"]
    return is_plain and bool(features["same_side"] or features["relation_agrees"])


def _may_oppose(features: Features) -> bool:
    return bool(features["turned"])


def choose_share(best: Sequence[tuple[float, bool]]) -> float:
    """The probability above which the wanted share of claims lies."""
    return sorted((value for value, _ in best), reverse=True)[int(WANTED_SHARE * len(best))]


def choose_least(best: Sequence[tuple[float, bool]]) -> float:
    """The lowest probability above which the share that is right is as wanted."""
    least, hits = 1.0, 0
    for count, (value, is_right) in enumerate(sorted(best, reverse=True), 1):
        hits += is_right
        if count >= LEAST_COUNT and hits / count >= WANTED_SIDE:
            least = value
    return least


def write_weights(tables: Mapping[str, Fitted]) -> None:
    """Write the fitted tables; those not fitted stay as they are."""
    before = tomllib.loads(WEIGHTS_FILE.read_text(encoding="utf-8"))
    lines = [HEAD]
    for name in ("paper", "sentence", "bearing", "agreeing", "opposing"):
        fitted = tables.get(name) or Fitted(
            before[name]["weights"], before[name].get("constant", 0.0), before[name].get("least")
        )
        lines.append(f"\n[{name}]")
        if fitted.least is not None:
            lines += [f"constant = {fitted.constant:.4f}", f"least = {fitted.least:.4f}"]
        lines.append(f"[{name}.weights]")
        lines += [f"{key} = {value:.4f}" for key, value in fitted.weights.items()]
    WEIGHTS_FILE.write_text("\n".join(lines) + "\n", encoding="utf-8")
    load_weights.cache_clear()


if __name__ == "__main__":
    main(sys.argv[1:])

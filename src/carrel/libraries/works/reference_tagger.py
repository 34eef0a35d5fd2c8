"""Tags the tokens of a printed reference: author, title, container, year and so on.

A linear model over the features of `reference_features`, decoded by the Viterbi algorithm. Its
weights were fitted by `make fit-references` on entries that our own CSL engine printed.
"""

from __future__ import annotations

import lzma
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from importlib import resources
from operator import add

import orjson

from carrel.libraries.works.reference_features import ReferenceToken, describe_tokens, split_tokens

LABELS = (
    "author",
    "editor",
    "year",
    "title",
    "container",
    "volume",
    "issue",
    "pages",
    "publisher",
    "other",
)
_MODEL = "reference_weights.json.xz"


@dataclass(frozen=True, slots=True)
class TaggerModel:
    """Weights by feature and label, and by pairs of neighbouring labels."""

    weights: dict[str, list[tuple[int, float]]]
    moves: list[list[float]]
    starts: list[float]


@dataclass(frozen=True, slots=True)
class TaggedToken:
    """`margin` is by how much the label beats any other one between the same neighbours."""

    token: ReferenceToken
    label: str
    margin: float


def tag_reference(text: str, model: TaggerModel | None = None) -> list[TaggedToken]:
    """The tokens of an entry with their labels."""
    tokens = split_tokens(text)
    if not tokens:
        return []
    model = model or load_model()
    scores = score_tokens(describe_tokens(tokens), model)
    labels = best_path(scores, model)
    margins = _find_margins(labels, scores, model)
    return [
        TaggedToken(token, LABELS[label], margin)
        for token, label, margin in zip(tokens, labels, margins, strict=True)
    ]


def score_tokens(described: list[list[str]], model: TaggerModel) -> list[list[float]]:
    """The weight of every label for every token, its neighbours' labels left aside."""
    weights = model.weights
    scores = []
    for features in described:
        score = [0.0] * len(LABELS)
        for feature in features:
            for label, weight in weights.get(feature, ()):
                score[label] += weight
        scores.append(score)
    return scores


def best_path(scores: list[list[float]], model: TaggerModel) -> list[int]:
    """The best sequence of labels, by the Viterbi algorithm."""
    current = list(map(add, model.starts, scores[0]))
    columns = list(zip(*model.moves, strict=True))
    steps: list[list[int]] = []
    for score in scores[1:]:
        step: list[int] = []
        following: list[float] = []
        for own, column in zip(score, columns, strict=True):
            totals = list(map(add, current, column))
            best = max(totals)
            step.append(totals.index(best))
            following.append(best + own)
        steps.append(step)
        current = following
    labels = [current.index(max(current))]
    for step in reversed(steps):
        labels.append(step[labels[-1]])
    return labels[::-1]


def _find_margins(
    labels: list[int], scores: list[list[float]], model: TaggerModel
) -> Iterator[float]:
    """By how much each label beats the next best one between the same neighbours."""
    none = [0.0] * len(LABELS)
    columns = list(zip(*model.moves, strict=True))
    for number, (label, score) in enumerate(zip(labels, scores, strict=True)):
        before = model.moves[labels[number - 1]] if number else model.starts
        after = columns[labels[number + 1]] if number + 1 < len(labels) else none
        totals = list(map(add, map(add, score, before), after))
        own = totals[label]
        totals[label] = float("-inf")
        yield own - max(totals)


@cache
def load_model() -> TaggerModel:
    """The fitted weights, read once."""
    packed = resources.files("carrel.libraries.works").joinpath("data", _MODEL).read_bytes()
    stored = orjson.loads(lzma.decompress(packed))
    scale = float(stored["scale"])
    return TaggerModel(
        {
            feature: [(label, weight / scale) for label, weight in pairs]
            for feature, pairs in stored["weights"].items()
        },
        [[weight / scale for weight in row] for row in stored["moves"]],
        [weight / scale for weight in stored["starts"]],
    )

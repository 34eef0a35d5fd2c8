"""Tags the tokens of a printed reference: author, title, container, year and so on.

A linear model over the features of `reference_features`, decoded by the Viterbi algorithm. Its
weights were fitted by `make fit-references` on entries that our own CSL engine printed.
"""

from __future__ import annotations

import lzma
from dataclasses import dataclass
from functools import cache
from importlib import resources

import orjson

from carrel.libraries.works.reference_features import Token, describe_tokens, split_tokens

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
    """`margin` is by how much the best reading with another label at this place is worse."""

    token: Token
    label: str
    margin: float


def tag_reference(text: str, model: TaggerModel | None = None) -> list[TaggedToken]:
    """The tokens of an entry with their labels."""
    tokens = split_tokens(text)
    if not tokens:
        return []
    model = model or load_model()
    scores = score_tokens(describe_tokens(tokens), model)
    labels, margins = _decode(scores, model)
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
    """The best sequence of labels."""
    return _decode(scores, model)[0]


def _decode(scores: list[list[float]], model: TaggerModel) -> tuple[list[int], list[float]]:
    """The best labels, and by how much the best sequence with another label there is worse."""
    forward = _best_before(scores, model.starts, model.moves)
    turned = [list(column) for column in zip(*model.moves, strict=True)]
    zeros = [0.0] * len(LABELS)
    backward = _best_before(scores[::-1], zeros, turned)[::-1]
    labels, margins = [], []
    for here, before, after in zip(scores, forward, backward, strict=True):
        # Both directions count the token itself.
        totals = [one + other - own for one, other, own in zip(before, after, here, strict=True)]
        best = max(range(len(totals)), key=totals.__getitem__)
        second = max(total for label, total in enumerate(totals) if label != best)
        labels.append(best)
        margins.append(totals[best] - second)
    return labels, margins


def _best_before(
    scores: list[list[float]], starts: list[float], moves: list[list[float]]
) -> list[list[float]]:
    """For every token and label the best score of a sequence that ends there."""
    current = [start + score for start, score in zip(starts, scores[0], strict=True)]
    found = [current]
    columns = list(zip(*moves, strict=True))
    for score in scores[1:]:
        current = [
            own + max(map(float.__add__, current, column))
            for own, column in zip(score, columns, strict=True)
        ]
        found.append(current)
    return found


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

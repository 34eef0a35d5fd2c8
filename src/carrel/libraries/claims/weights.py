"""The fitted numbers of claim checking, read from `data/weights.toml`."""

from __future__ import annotations

import math
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

DATA = Path(__file__).parent / "data" / "weights.toml"


@dataclass(frozen=True, slots=True)
class LinearModel:
    """A weighted sum of named features."""

    weights: Mapping[str, float]
    constant: float = 0.0

    def score(self, features: Mapping[str, float]) -> float:
        return self.constant + sum(weight * features[name] for name, weight in self.weights.items())

    def probability(self, features: Mapping[str, float]) -> float:
        return 1 / (1 + math.exp(-max(-30.0, min(30.0, self.score(features)))))


@dataclass(frozen=True, slots=True)
class ClaimWeights:
    """Every fitted number; the file says on what each was fitted."""

    paper: LinearModel
    sentence: LinearModel
    bearing: LinearModel
    least_bearing: float
    agreeing: LinearModel
    opposing: LinearModel
    least_supporting: float
    least_contradicting: float


@lru_cache(1)
def load_weights() -> ClaimWeights:
    """The weights that come with the library."""
    table = tomllib.loads(DATA.read_text(encoding="utf-8"))

    def model(name: str) -> LinearModel:
        return LinearModel(table[name]["weights"], table[name].get("constant", 0.0))

    return ClaimWeights(
        paper=model("paper"),
        sentence=model("sentence"),
        bearing=model("bearing"),
        least_bearing=table["bearing"]["least"],
        agreeing=model("agreeing"),
        opposing=model("opposing"),
        least_supporting=table["agreeing"]["least"],
        least_contradicting=table["opposing"]["least"],
    )

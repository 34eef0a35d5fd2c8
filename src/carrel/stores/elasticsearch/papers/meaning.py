"""Papers and passages of a cluster by nearness of meaning, with the vectors that it holds."""

from __future__ import annotations

import base64
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from carrel.stores.elasticsearch.papers.engine import ClusterSearch
from carrel.stores.vectors.passages import NearPassage

# Passages that each shard compares before it names the nearest.
_CANDIDATES = 1_000
_MOST_CANDIDATES = 10_000
# How many times as many candidates are compared exactly.
_MORE = 3
# What the cluster adds, as it knows no score below zero.
_ABOVE_ZERO = 1.0
_EXACT = f"dotProduct(params.asked, 'vector') + {_ABOVE_ZERO}"


class ClusterVectors:
    """The vectors of passages in a cluster; those of named papers are compared exactly."""

    def __init__(self, passages: ClusterSearch) -> None:
        self._passages = passages

    def __len__(self) -> int:
        """Few enough to be compared, whatever their number: the cluster's graph is searched."""
        return 1

    def best_by_row(
        self, vector: NDArray[np.float32], count: int, rows: Sequence[int]
    ) -> list[NearPassage]:
        """The nearest passage of each of these rows and of the nearest papers, best first."""
        near = [each.row for each in self._candidates(vector, count, None)]
        return self.best_of_rows(vector, list(dict.fromkeys((*rows, *near))))

    def best_of_rows(self, vector: NDArray[np.float32], rows: Sequence[int]) -> list[NearPassage]:
        """The nearest passage of each of these rows alone, best first."""
        if not rows:
            return []
        hits = self._compare(
            vector, {"terms": {"row": list(rows)}}, len(rows), collapse={"field": "row"}
        )
        return _sorted(hits)

    def nearest(
        self, vector: NDArray[np.float32], count: int, rows: Sequence[int] | None = None
    ) -> list[NearPassage]:
        """The `count` nearest passages, of these rows or of all, best first."""
        near = self._candidates(vector, _MORE * count, rows)
        if not near:
            return []
        ids = [f"{each.row}-{each.number}" for each in near]
        return _sorted(self._compare(vector, {"ids": {"values": ids}}, len(ids)))[:count]

    def vector_of(self, row: int, near: NDArray[np.float32]) -> NDArray[np.float32] | None:
        """The vector of that passage of a row which is nearest to another vector."""
        best = self.best_of_rows(near, [row])
        if not best:
            return None
        hits = self._passages.hits(
            query={"ids": {"values": [f"{row}-{best[0].number}"]}}, size=1, source=["code"]
        )
        if not hits or "code" not in hits[0]["_source"]:
            return None
        code = np.frombuffer(base64.b64decode(hits[0]["_source"]["code"]), np.int8)
        numbers = code.astype(np.float32)
        found: NDArray[np.float32] = numbers / max(float(np.linalg.norm(numbers)), 1e-12)
        return found

    def _compare(
        self, vector: NDArray[np.float32], among: Mapping[str, Any], count: int, **more: Any
    ) -> list[NearPassage]:
        """Passages by their exact nearness."""
        fitting = {"bool": {"filter": [among, {"exists": {"field": "vector"}}]}}
        script = {"source": _EXACT, "params": {"asked": _unit(vector)}}
        hits = self._passages.hits(
            query={"script_score": {"query": fitting, "script": script}},
            size=min(count, _MOST_CANDIDATES),
            docvalue_fields=[{"field": "row"}, {"field": "number"}],
            **more,
        )
        return [_near(hit, float(hit["_score"]) - _ABOVE_ZERO) for hit in hits]

    def _candidates(
        self, vector: NDArray[np.float32], count: int, rows: Sequence[int] | None
    ) -> list[NearPassage]:
        """The passages that the graph of shortened vectors names as the nearest."""
        asked: dict[str, Any] = {
            "field": "vector",
            "query_vector": _unit(vector),
            "k": min(count, _MOST_CANDIDATES),
            "num_candidates": min(max(_CANDIDATES, 2 * count), _MOST_CANDIDATES),
        }
        if rows is not None:
            asked["filter"] = {"terms": {"row": list(rows)}}
        hits = self._passages.hits(
            knn=asked,
            size=asked["k"],
            docvalue_fields=[{"field": "row"}, {"field": "number"}],
        )
        return [_near(hit, float(hit["_score"])) for hit in hits]


def _near(hit: Mapping[str, Any], score: float) -> NearPassage:
    fields = hit["fields"]
    return NearPassage(int(fields["row"][0]), int(fields["number"][0]), score)


def _sorted(found: list[NearPassage]) -> list[NearPassage]:
    return sorted(found, key=lambda each: (-each.score, each.row, each.number))


def _unit(vector: NDArray[np.float32]) -> list[float]:
    numbers = vector.astype(np.float64)
    found: list[float] = (numbers / max(float(np.linalg.norm(numbers)), 1e-12)).tolist()
    return found

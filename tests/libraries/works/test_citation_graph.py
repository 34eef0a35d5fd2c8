"""The citation graph, judged by plain sets and a plain power iteration."""

from __future__ import annotations

import builtins
import random
from collections import Counter
from itertools import pairwise
from typing import Any

import pytest

from carrel.libraries.works.citation_graph import CitationGraph, Follow

pytestmark = pytest.mark.promise("P17")

Edges = set[tuple[int, int]]


def random_graph(seed: int) -> tuple[CitationGraph, int, Edges]:
    """A graph, how many nodes it has, and its edges; given with repeats and loops."""
    chance = random.Random(seed)
    count = chance.randint(1, 60)
    pairs = [
        (chance.randrange(count), chance.randrange(count)) for _ in range(chance.randint(0, 200))
    ]
    pairs += pairs[: len(pairs) // 4]
    graph = CitationGraph(count, [one for one, _ in pairs], [other for _, other in pairs])
    return graph, count, {(one, other) for one, other in pairs if one != other}


@pytest.mark.parametrize("seed", range(20))
def test_neighbours_and_co_citations_are_those_of_plain_sets(seed: int) -> None:
    graph, count, edges = random_graph(seed)
    assert graph.edge_count == len(edges)
    for node in range(count):
        assert list(graph.cited_by_node(node)) == sorted(b for a, b in edges if a == node)
        assert list(graph.citing_node(node)) == sorted(a for a, b in edges if b == node)
    wanted = set(random.Random(seed).sample(range(count), min(count, 3)))
    together: Counter[int] = Counter()
    for citing in range(count):
        cited = {b for a, b in edges if a == citing}
        if cited & wanted:
            together.update(cited - wanted)
    assert graph.count_co_citations(wanted) == together


def distances(edges: Edges, start: int, follow: Follow) -> dict[int, int]:
    found, front, steps = {start: 0}, {start}, 0
    while front:
        steps += 1
        front = {
            near
            for a, b in edges
            for here, near in ((a, b), (b, a))
            if here in front
            and (follow == "any" or (follow == "out") == ((here, near) == (a, b)))
            and near not in found
        }
        found |= dict.fromkeys(front, steps)
    return found


@pytest.mark.parametrize("seed", range(20))
@pytest.mark.parametrize("follow", ["any", "out", "in"])
def test_paths_are_shortest_and_go_along_citations(seed: int, follow: Follow) -> None:
    graph, count, edges = random_graph(seed)
    chance = random.Random(seed)
    for _ in range(20):
        start, end = chance.randrange(count), chance.randrange(count)
        known = distances(edges, start, follow).get(end)
        for most in (1, 3, 50):
            path = graph.find_path(start, end, most, follow)
            if known is None or known > most:
                assert path is None
                continue
            assert path is not None
            assert (path[0], path[-1], len(path) - 1) == (start, end, known)
            for one, other in pairwise(path):
                cites, is_cited = (one, other) in edges, (other, one) in edges
                assert {"any": cites or is_cited, "out": cites, "in": is_cited}[follow]


def plain_ranks(count: int, edges: Edges) -> list[float]:
    """Power iteration over the whole matrix, two hundred times."""
    cited = {node: [b for a, b in edges if a == node] for node in range(count)}
    ranks = [1 / count] * count
    for _ in range(200):
        following = [0.15 / count] * count
        for node, rank in enumerate(ranks):
            targets = cited[node] or list(range(count))
            for other in targets:
                following[other] += 0.85 * rank / len(targets)
        ranks = following
    return ranks


@pytest.mark.parametrize("seed", range(12))
def test_pagerank_is_that_of_plain_power_iteration_with_and_without_numpy(
    seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    graph, count, edges = random_graph(seed)
    judged = plain_ranks(count, edges)
    assert list(graph.rank_plainly()) == pytest.approx(judged, abs=1e-5)
    assert list(graph.rank_pages()) == pytest.approx(judged, abs=1e-5)
    assert sum(graph.rank_pages()) == pytest.approx(1)
    real = builtins.__import__

    def without_numpy(name: str, *rest: Any, **more: Any) -> Any:
        if name == "numpy":
            raise ImportError(name)
        return real(name, *rest, **more)

    monkeypatch.setattr(builtins, "__import__", without_numpy)
    assert list(graph.rank_pages()) == pytest.approx(judged, abs=1e-5)


def test_an_empty_graph_has_no_ranks() -> None:
    assert list(CitationGraph(0, [], []).rank_pages()) == []

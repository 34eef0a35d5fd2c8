"""A graph of works that cite each other: neighbours, shared citations, shortest paths, PageRank."""

from __future__ import annotations

from array import array
from collections import Counter
from collections.abc import Iterable, Sequence
from itertools import accumulate
from typing import Literal

Follow = Literal["any", "out", "in"]

_BACK: dict[Follow, Follow] = {"any": "any", "out": "in", "in": "out"}
# Page, Brin et al. 1999; the limit of the facts sheet of issue 16, section 6.
DAMPING = 0.85
MAX_CHANGE = 1e-6
# At .85 the change is under the limit after 85 rounds at the latest.
MAX_ROUNDS = 100


class CitationGraph:
    """Nodes are numbers from 0. Every edge counts once; no node cites itself."""

    def __init__(self, node_count: int, citing: Sequence[int], cited: Sequence[int]) -> None:
        """The edges are pairs of `citing[n]` and `cited[n]`, in any order, repeated or not."""
        self.node_count = node_count
        self._out_starts, self._out = _group(node_count, citing, cited)
        sources = array("i")
        for node in range(node_count):
            count = self._out_starts[node + 1] - self._out_starts[node]
            sources.extend([node] * count)
        self._in_starts, self._in = _group(node_count, self._out, sources)

    @property
    def edge_count(self) -> int:
        return len(self._out)

    def cited_by_node(self, node: int) -> Sequence[int]:
        """What a node cites, in ascending order."""
        return self._out[self._out_starts[node] : self._out_starts[node + 1]]

    def citing_node(self, node: int) -> Sequence[int]:
        """The nodes that cite a node, in ascending order."""
        return self._in[self._in_starts[node] : self._in_starts[node + 1]]

    def neighbours(self, node: int, follow: Follow) -> Sequence[int]:
        """What it cites (`out`), what cites it (`in`), or both."""
        if follow == "out":
            return self.cited_by_node(node)
        if follow == "in":
            return self.citing_node(node)
        return [*self.cited_by_node(node), *self.citing_node(node)]

    def count_co_citations(self, nodes: Iterable[int]) -> Counter[int]:
        """How many works cite another node together with any of these."""
        wanted = set(nodes)
        together: Counter[int] = Counter()
        for citing in {citing for node in wanted for citing in self.citing_node(node)}:
            together.update(other for other in self.cited_by_node(citing) if other not in wanted)
        return together

    def find_path(
        self, start: int, end: int, max_steps: int, follow: Follow = "any"
    ) -> list[int] | None:
        """A shortest path of at most `max_steps` edges, searched from both ends; None if none."""
        if start == end:
            return [start]
        back = _BACK[follow]
        before: dict[int, int | None] = {start: None}
        after: dict[int, int | None] = {end: None}
        front, rear = [start], [end]
        for _ in range(max_steps):
            if not front or not rear:
                return None
            # The smaller side grows; both keep where they came from.
            if len(front) <= len(rear):
                front, met = self._grow(front, before, after, follow)
            else:
                rear, met = self._grow(rear, after, before, back)
            if met is not None:
                return [*reversed(_trace(met, before)), *_trace(met, after)[1:]]
        return None

    def _grow(
        self,
        edge: list[int],
        seen: dict[int, int | None],
        other: dict[int, int | None],
        follow: Follow,
    ) -> tuple[list[int], int | None]:
        """The next nodes of one side, and the first that the other side has seen."""
        grown: list[int] = []
        for node in edge:
            for each in self.neighbours(node, follow):
                if each in seen:
                    continue
                seen[each] = node
                if each in other:
                    return grown, each
                grown.append(each)
        return grown, None

    def rank_pages(self) -> array[float]:
        """PageRank of every node; the ranks add up to 1. With numpy where it is installed."""
        if not self.node_count:
            return array("d")
        try:
            import numpy
        except ImportError:
            return self.rank_plainly()
        citing = numpy.repeat(
            numpy.arange(self.node_count), numpy.diff(numpy.asarray(self._out_starts))
        )
        cited = numpy.asarray(self._out)
        counts = numpy.diff(numpy.asarray(self._out_starts))
        ranks = numpy.full(self.node_count, 1 / self.node_count)
        shares = numpy.where(counts > 0, counts, 1)
        is_dangling = counts == 0
        for _ in range(MAX_ROUNDS):
            given = numpy.bincount(
                cited, weights=(ranks / shares)[citing], minlength=self.node_count
            )
            spread = (1 - DAMPING + DAMPING * ranks[is_dangling].sum()) / self.node_count
            following = DAMPING * given + spread
            change = float(numpy.abs(following - ranks).sum())
            ranks = following
            if change < MAX_CHANGE:
                break
        return array("d", ranks.tolist())

    def rank_plainly(self) -> array[float]:
        """The same without numpy."""
        count = self.node_count
        starts, cited = self._out_starts, self._out
        spans = [(node, starts[node], starts[node + 1]) for node in range(count)]
        dangling = [node for node, first, last in spans if first == last]
        spans = [span for span in spans if span[1] != span[2]]
        ranks = [1 / count] * count
        for _ in range(MAX_ROUNDS):
            spread = (1 - DAMPING + DAMPING * sum(ranks[node] for node in dangling)) / count
            following = [spread] * count
            for node, first, last in spans:
                share = DAMPING * ranks[node] / (last - first)
                for other in cited[first:last]:
                    following[other] += share
            change = sum(abs(new - old) for new, old in zip(following, ranks, strict=True))
            ranks = following
            if change < MAX_CHANGE:
                break
        return array("d", ranks)


def _group(
    node_count: int, keys: Sequence[int], values: Sequence[int]
) -> tuple[array[int], array[int]]:
    """Values by key, each once and in order: where those of a key start, and all of them."""
    counts = array("q", bytes(8 * (node_count + 1)))
    for key in keys:
        counts[key] += 1
    ends = list(accumulate(counts))
    placed = array("i", bytes(4 * len(keys)))
    for key, value in zip(keys, values, strict=True):
        ends[key] -= 1
        placed[ends[key]] = value
    starts, grouped = array("q", [0]), array("i")
    for node in range(node_count):
        own = set(placed[ends[node] : ends[node + 1]])
        own.discard(node)
        grouped.extend(sorted(own))
        starts.append(len(grouped))
    return starts, grouped


def _trace(node: int, origins: dict[int, int | None]) -> list[int]:
    """The nodes from this one back to where its side began."""
    found = [node]
    origin = origins[node]
    while origin is not None:
        found.append(origin)
        origin = origins[origin]
    return found

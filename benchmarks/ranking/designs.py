"""Ways to choose the pairs of a tournament, all of them rated by the same fit."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from math import exp, log
from random import Random

from benchmarks.ranking.judges import Contest, Judge
from carrel.libraries.ranking import Comparison, Evidence, Margin, Strengths, Tournament, Verdict
from carrel.libraries.ranking.strengths import cholesky_factor

_DRAWS = 200
_LIKELIEST = 5


@dataclass
class Bout:
    """A contest being judged: asks the judge in random order and keeps the verdicts."""

    contest: Contest
    judge: Judge
    random: Random
    is_graded: bool
    has_reviews: bool
    strengths: Strengths = field(init=False)
    comparisons: list[Comparison] = field(default_factory=list)
    met: set[frozenset[int]] = field(default_factory=set)

    def __post_init__(self) -> None:
        self.strengths = self.begin()

    def begin(self) -> Strengths:
        scores = dict(enumerate(self.contest.scores)) if self.has_reviews else {}
        return Strengths(self.count, Evidence(scores))

    @property
    def count(self) -> int:
        return len(self.contest.worth)

    def judge_pair(self, first: int, second: int) -> tuple[bool, Margin | None]:
        worth = self.contest.worth
        wins, margin = self.judge.compare(worth[first], worth[second], self.random)
        return wins, margin if self.is_graded else None

    def ask(self, one: int, other: int) -> bool:
        """Whether the first given wins; who is shown first is drawn by lot."""
        first, second = (one, other) if self.random.random() < 0.5 else (other, one)
        wins, margin = self.judge_pair(first, second)
        comparison = Comparison(first, second, float(wins), margin)
        self.comparisons.append(comparison)
        self.strengths.learn(comparison)
        self.met.add(frozenset((one, other)))
        return wins == (first == one)

    def order(self) -> list[int]:
        settled = self.begin()
        settled.settle(self.comparisons)
        means = settled.means
        return sorted(range(self.count), key=lambda place: -means[place])


def play_random(bout: Bout, matches: int) -> list[int]:
    """Any two."""
    for _ in range(matches):
        bout.ask(*bout.random.sample(range(bout.count), 2))
    return bout.order()


def play_swiss(bout: Bout, matches: int) -> list[int]:
    """Rounds in which everyone meets the nearest whom it has not met."""
    for _ in range(2 * matches // bout.count):
        _play_swiss_round(bout)
    return bout.order()


def _play_swiss_round(bout: Bout) -> None:
    means = bout.strengths.means
    lots = [bout.random.random() for _ in means]
    left = sorted(range(bout.count), key=lambda place: (-means[place], lots[place]))
    pairs = []
    while left:
        one = left.pop(0)
        unmet = (each for each in left if frozenset((one, each)) not in bout.met)
        other = next(unmet, left[0])
        left.remove(other)
        pairs.append((one, other))
    for pair in pairs:
        bout.ask(*pair)


def play_halving(bout: Bout, matches: int) -> list[int]:
    """Sequential halving: as many matches in each round, then the better half goes on."""
    there = list(range(bout.count))
    rounds = (bout.count - 1).bit_length()
    for number in range(rounds):
        for _ in range(matches // rounds + (number < matches % rounds)):
            bout.ask(*bout.random.sample(there, 2))
        means = bout.strengths.means
        there = sorted(there, key=lambda place: -means[place])[: max(2, (len(there) + 1) // 2)]
    return bout.order()


def play_swiss_then_entropy(bout: Bout, matches: int) -> list[int]:
    """Four Swiss rounds, then the pair that lowers the entropy of who is best most."""
    for _ in range(4):
        _play_swiss_round(bout)
    while len(bout.comparisons) < matches:
        bout.ask(*_find_entropy_pair(bout))
    return bout.order()


def _find_entropy_pair(bout: Bout) -> tuple[int, int]:
    means = bout.strengths.means
    likely = sorted(range(bout.count), key=lambda place: -means[place])[: 2 * _LIKELIEST]
    covariance = bout.strengths.covariance
    lower = cholesky_factor([[covariance[a][b] for b in likely] for a in likely])
    draws = []
    for _ in range(_DRAWS):
        noise = [bout.random.gauss(0, 1) for _ in likely]
        draws.append(
            [
                means[place] + sum(a * b for a, b in zip(row, noise, strict=False))
                for place, row in zip(likely, lower, strict=True)
            ]
        )
    best = [max(range(len(likely)), key=draw.__getitem__) for draw in draws]
    top = sorted(range(len(likely)), key=lambda one: -best.count(one))[:_LIKELIEST]
    pairs = [(one, other) for place, one in enumerate(top) for other in top[:place]]
    chosen = min(pairs, key=lambda pair: _expected_entropy(pair, draws, best, len(likely)))
    return likely[chosen[0]], likely[chosen[1]]


def _expected_entropy(
    pair: tuple[int, int], draws: list[list[float]], best: list[int], count: int
) -> float:
    won, lost = [0.0] * count, [0.0] * count
    for draw, leader in zip(draws, best, strict=True):
        chance = 1 / (1 + exp(draw[pair[1]] - draw[pair[0]]))
        won[leader] += chance
        lost[leader] += 1 - chance
    expected = 0.0
    for side in (won, lost):
        whole = sum(side)
        expected -= sum(each * log(each / whole) for each in side if each > 0)
    return expected


def play_ours(bout: Bout, matches: int) -> list[int]:
    """The tournament of the library."""
    ids = [str(place) for place in range(bout.count)]
    tournament = Tournament(ids, seed=bout.random.randrange(1 << 30))
    if bout.has_reviews:
        tournament.weigh(dict(zip(ids, bout.contest.scores, strict=True)))
    for _ in range(matches):
        match = tournament.next_match()
        assert match is not None
        wins, margin = bout.judge_pair(int(match.first), int(match.second))
        tournament.record(match, Verdict.FIRST if wins else Verdict.SECOND, margin)
    return [int(standing.id) for standing in tournament.standings()]


Design = Callable[[Bout, int], list[int]]
DESIGNS: Mapping[str, Design] = {
    "random pairs": play_random,
    "Swiss": play_swiss,
    "sequential halving": play_halving,
    "Swiss 4 + best-entropy": play_swiss_then_entropy,
    "ours": play_ours,
}

"""What a tournament knows when it asks who should meet next: strengths, ratings, who has met whom,
and what follows from it.
"""

from collections.abc import Callable, Iterator

from carrel.libraries.ranking.strengths import Strengths

Closeness = Callable[[str, str], float]
"""From 0, nothing in common, to 1, the same: the proximity agent's word on two hypotheses."""


def strangers(_one: str, _other: str) -> float:
    """Where nobody has looked, nothing is close."""
    return 0.0


class Table:
    """Everyone by place of entry. Who stands over whom is kept as bits, closed over what follows: a
    over b over c is a over c.
    """

    def __init__(self, closeness: Closeness = strangers) -> None:
        self._closeness = closeness
        self._names: list[str] = []
        self._close: dict[tuple[int, int], float] = {}
        self.strengths = Strengths(0)
        self.elo: list[float] = []
        self.matches: list[int] = []
        self.opponents: list[set[int]] = []
        self.playing: list[int] = []
        self._shown_first: dict[tuple[int, int], int] = {}
        self._over: list[int] = []
        self._under: list[int] = []

    def enter(self, name: str, elo: float) -> None:
        self.playing.append(len(self._names))
        self._names.append(name)
        self.strengths.grow()
        self.elo.append(elo)
        self.matches.append(0)
        self.opponents.append(set())
        self._over.append(0)
        self._under.append(0)

    def meet(self, first: int, second: int, score: float | None) -> None:
        """Take in that two have met, in the order they were shown; a score of None is a verdict
        nobody could read.
        """
        self.matches[first] += 1
        self.matches[second] += 1
        self.opponents[first].add(second)
        self.opponents[second].add(first)
        self._shown_first[_pair(first, second)] = first
        if score is None:
            return
        self.strengths.learn(first, second, score)
        if score != 0.5:
            self._put_over(first, second) if score == 1 else self._put_over(second, first)

    def have_met(self, one: int, other: int) -> bool:
        return other in self.opponents[one]

    def shown_first(self, one: int, other: int) -> int | None:
        """Who was shown first when the two met last; None where they have not."""
        return self._shown_first.get(_pair(one, other))

    def closeness(self, one: int, other: int) -> float:
        pair = _pair(one, other)
        if pair not in self._close:
            self._close[pair] = self._closeness(self._names[pair[0]], self._names[pair[1]])
        return self._close[pair]

    def unbeaten(self) -> list[int]:
        """Those of the playing that nobody else who plays is known to stand over."""
        there = sum(1 << place for place in self.playing)
        return [place for place in self.playing if not self._over[place] & there]

    def height(self, place: int) -> float:
        """Where somebody stands as far as verdicts tell, from 0 (last) to 1 (first)."""
        over, under = self._over[place].bit_count(), self._under[place].bit_count()
        return (under + 1) / (over + under + 2)

    def _put_over(self, winner: int, loser: int) -> None:
        upper, lower = self._over[winner] | 1 << winner, self._under[loser] | 1 << loser
        for place in _bits(upper):
            self._under[place] |= lower & ~(1 << place)
        for place in _bits(lower):
            self._over[place] |= upper & ~(1 << place)


def _pair(one: int, other: int) -> tuple[int, int]:
    return (one, other) if one < other else (other, one)


def _bits(mask: int) -> Iterator[int]:
    while mask:
        lowest = mask & -mask
        yield lowest.bit_length() - 1
        mask ^= lowest

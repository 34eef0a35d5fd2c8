"""A tournament: asks for the match that tells most, takes the verdict, and knows when more would change little."""

from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum
from random import Random

from carrel.rooms.research.ranking.elo import START, STEP, EloRatings
from carrel.rooms.research.ranking.pairing import chances_to_lead, most_telling, newcomer_pair
from carrel.rooms.research.ranking.strengths import Strength, Strengths

SETTLED_POINTS = 10.0
SURE_OF_LEADER = 0.95


class Verdict(StrEnum):
    """What a judge said. An unreadable verdict counts for nobody."""

    FIRST = "first"
    SECOND = "second"
    DRAW = "draw"
    UNREADABLE = "unreadable"


@dataclass(frozen=True)
class Match:
    """Two hypotheses in the order the judge is to see them."""

    number: int
    first: str
    second: str


@dataclass(frozen=True)
class Played:
    """A match with its verdict, the points that went to the first (or from it), and both Elo ratings after it."""

    match: Match
    verdict: Verdict
    points_moved: float
    first_elo: float
    second_elo: float


@dataclass(frozen=True)
class Standing:
    """Where one hypothesis stands: by strength, with Elo beside it."""

    id: str
    rank: int
    elo: float
    strength: Strength
    chance_to_lead: float
    wins: int
    losses: int
    draws: int


@dataclass(frozen=True)
class Convergence:
    """Whether more matches would change much: Elo's latest moves and how sure the leader is."""

    matches: int
    everyone_played: bool
    largest_recent_elo_change: float
    leader_certainty: float
    has_converged: bool


_SCORES = {Verdict.FIRST: 1.0, Verdict.SECOND: 0.0, Verdict.DRAW: 0.5}


class Tournament:
    """Everyone plays; then the pairs that tell most about the top. The same seed and verdicts give the same tournament."""

    def __init__(self, ids: Iterable[str] = (), seed: int = 0, start: float = START, step: float = STEP) -> None:
        self._ids: list[str] = []
        self._places: dict[str, int] = {}
        self._seed = seed
        self._elo = EloRatings((), start, step)
        self._strengths = Strengths(0)
        self._verdicts: list[tuple[int, int, float]] = []
        self._matches: list[int] = []
        self._tallies: list[list[int]] = []
        self._played: list[Played] = []
        for one in ids:
            self.enter(one)

    @classmethod
    def replay(cls, ids: Iterable[str], played: Iterable[Played], seed: int = 0) -> "Tournament":
        """The tournament as it stood after the matches a store kept."""
        tournament = cls(ids, seed)
        for one in played:
            tournament.record(one.match, one.verdict)
        return tournament

    def enter(self, id: str, elo: float | None = None) -> None:
        """Let a hypothesis in, at any time; one that is in already stays as it is."""
        if id in self._places:
            return
        self._places[id] = len(self._ids)
        self._ids.append(id)
        self._elo.add(id, elo)
        self._strengths.grow()
        self._matches.append(0)
        self._tallies.append([0, 0, 0])

    @property
    def ids(self) -> tuple[str, ...]:
        """Everyone in the tournament, in order of entry."""
        return tuple(self._ids)

    @property
    def played(self) -> tuple[Played, ...]:
        """Every match so far."""
        return tuple(self._played)

    def next_match(self) -> Match:
        """The match to judge next, its order drawn by lot."""
        if len(self._ids) < 2:
            raise ValueError("a tournament needs two hypotheses: generate or enter another")
        number = len(self._played)
        # One source per match, so that a run resumed from its records draws the same lots.
        random = Random(f"{self._seed}:{number}")  # noqa: S311
        pair = newcomer_pair(self._strengths, self._matches, random) or most_telling(self._strengths)
        one, other = (self._ids[place] for place in pair)
        return Match(number, one, other) if random.random() < 0.5 else Match(number, other, one)

    def record(self, match: Match, verdict: Verdict) -> Played:
        """Take a verdict in."""
        first, second = self._places[match.first], self._places[match.second]
        if first == second:
            raise ValueError("a hypothesis cannot meet itself")
        score = _SCORES.get(verdict)
        self._matches[first] += 1
        self._matches[second] += 1
        moved = 0.0
        if score is not None:
            moved = self._elo.record(match.first, match.second, score)
            self._strengths.learn(first, second, score)
            self._verdicts.append((first, second, score))
            self._tallies[first][0 if score == 1 else 1 if score == 0 else 2] += 1
            self._tallies[second][0 if score == 0 else 1 if score == 1 else 2] += 1
        played = Played(match, verdict, moved, self._elo[match.first], self._elo[match.second])
        self._played.append(played)
        return played

    def standings(self) -> tuple[Standing, ...]:
        """Everyone, strongest first: strengths settled over all verdicts at once."""
        settled = self._settled()
        chances = chances_to_lead(settled)
        order = sorted(range(len(self._ids)), key=lambda place: (-settled.means[place], self._ids[place]))
        return tuple(
            Standing(
                self._ids[place],
                rank,
                self._elo[self._ids[place]],
                settled.strength(place),
                chances[place],
                *self._tallies[place],
            )
            for rank, place in enumerate(order, start=1)
        )

    def convergence(self) -> Convergence:
        """Whether the tournament has told what it can: everyone played, ratings rest, or the leader is sure."""
        recent = self._played[-len(self._ids) :]
        largest = max((abs(played.points_moved) for played in recent), default=0.0)
        certainty = self._leader_certainty()
        everyone = bool(self._ids) and all(self._matches)
        settled = bool(recent) and (largest < SETTLED_POINTS or certainty >= SURE_OF_LEADER)
        return Convergence(len(self._played), everyone, largest, certainty, everyone and settled)

    def _leader_certainty(self) -> float:
        if len(self._ids) < 2:
            return 1.0
        chances = sorted(chances_to_lead(self._settled()), reverse=True)
        return 1.0 - chances[1]

    def _settled(self) -> Strengths:
        settled = Strengths(len(self._ids))
        settled.settle(self._verdicts)
        return settled

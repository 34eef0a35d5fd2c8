"""A tournament: proposes the most informative match, records verdicts, detects convergence."""

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from random import Random

from carrel.libraries.ranking.pairing import (
    Closeness,
    Judging,
    PairingTable,
    chances_to_lead,
    draw_ranks,
    most_informative_pair,
    no_closeness,
    swiss_pair,
)
from carrel.libraries.ranking.strengths import Evidence, Margin, Strength

START_ELO = 1000.0
K_FACTOR = 32.0


class EloRatings:
    """Ratings that exchange points after every match and conserve their sum."""

    def __init__(
        self, ids: Iterable[str] = (), start: float = START_ELO, step: float = K_FACTOR
    ) -> None:
        self._start = start
        self._step = step
        self._ratings = dict.fromkeys(ids, start)

    def add(self, id: str, rating: float | None = None) -> None:
        """Add a player at the initial rating or at a given one."""
        self._ratings.setdefault(id, self._start if rating is None else rating)

    def __getitem__(self, id: str) -> float:
        return self._ratings[id]

    def as_dict(self) -> dict[str, float]:
        """All ratings."""
        return dict(self._ratings)

    def expected(self, one: str, other: str) -> float:
        """The expected score of one against the other."""
        return float(1.0 / (1.0 + 10.0 ** ((self._ratings[other] - self._ratings[one]) / 400.0)))

    def record(self, one: str, other: str, score: float) -> float:
        """Records a score of the first (1, 0 or 0.5) and returns the points that changed hands."""
        moved = self._step * (score - self.expected(one, other))
        self._ratings[one] += moved
        self._ratings[other] -= moved
        return moved


SETTLED_POINTS = 10.0
SURE_OF_LEADER = 0.95


class Verdict(StrEnum):
    """A judge's verdict; an unreadable one counts for neither side."""

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
class PlayedMatch:
    """A match with its verdict, the points that the first gained, and both Elo ratings after it."""

    match: Match
    verdict: Verdict
    points_moved: float
    first_elo: float
    second_elo: float
    margin: Margin | None = None


@dataclass(frozen=True)
class Standing:
    """Where one hypothesis stands: by strength, with Elo beside it.

    `chance_to_be_best` is its share of draws from the fitted strengths in which it is first, and
    `best_rank` to `worst_rank` hold its rank in 95 % of them; only those that may play are drawn.
    """

    id: str
    rank: int
    elo: float
    strength: Strength
    chance_to_lead: float
    wins: int
    losses: int
    draws: int
    chance_to_be_best: float = 0.0
    best_rank: int = 0
    worst_rank: int = 0


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
    """Everyone plays, then the pairs that tell most; deterministic for a seed and its verdicts."""

    def __init__(
        self,
        ids: Iterable[str] = (),
        seed: int = 0,
        start: float = START_ELO,
        step: float = K_FACTOR,
        *,
        judging: Judging = Judging.FALLIBLE,
        closeness: Closeness = no_closeness,
    ) -> None:
        self._ids: list[str] = []
        self._places: dict[str, int] = {}
        self._seed = seed
        self._judging = judging
        self._elo = EloRatings((), start, step)
        self._table = PairingTable(closeness)
        self._tallies: list[list[int]] = []
        self._played: list[PlayedMatch] = []
        for one in ids:
            self.enter(one)

    @classmethod
    def replay(
        cls,
        ids: Iterable[str],
        played: Iterable[PlayedMatch],
        seed: int = 0,
        *,
        judging: Judging = Judging.FALLIBLE,
    ) -> "Tournament":
        """The tournament after stored matches."""
        tournament = cls(ids, seed, judging=judging)
        for one in played:
            tournament.record(one.match, one.verdict, one.margin)
        return tournament

    def enter(self, id: str, elo: float | None = None) -> None:
        """Add a hypothesis at any time; a known one is left unchanged."""
        if id in self._places:
            return
        self._places[id] = len(self._ids)
        self._ids.append(id)
        self._elo.add(id, elo)
        self._table.enter(id, self._elo[id])
        self._tallies.append([0, 0, 0])

    def weigh(
        self, review_scores: Mapping[str, float], offsets: Mapping[str, float] | None = None
    ) -> None:
        """Take evidence beside matches: mean review scores, and log-odds for people's words."""
        self._table.weigh(Evidence(self._by_place(review_scores), self._by_place(offsets or {})))

    def _by_place(self, values: Mapping[str, float]) -> dict[int, float]:
        return {self._places[name]: value for name, value in values.items() if name in self._places}

    def let_play(self, ids: Collection[str]) -> None:
        """Restrict further matches to these; earlier matches of others still count."""
        self._table.playing = [place for place, one in enumerate(self._ids) if one in ids]

    @property
    def ids(self) -> tuple[str, ...]:
        """Everyone in the tournament, in order of entry."""
        return tuple(self._ids)

    @property
    def played(self) -> tuple[PlayedMatch, ...]:
        """Every match so far."""
        return tuple(self._played)

    def next_match(self) -> Match | None:
        """The match to judge next; None when another could tell nothing new.

        Who is shown first is drawn by lot, and the other way round when two meet again.
        """
        if len(self._table.playing) < 2:
            raise ValueError("a tournament needs two hypotheses: generate or enter another")
        number = len(self._played)
        # One source per match, so that a run resumed from its records draws the same lots.
        random = Random(f"{self._seed}:{number}")  # noqa: S311
        pair = (
            swiss_pair(self._table, random)
            if self._judging is Judging.EXACT
            else most_informative_pair(self._table, random)
        )
        if pair is None:
            return None
        before = self._table.shown_first(*pair)
        first = random.choice(pair) if before is None else pair[pair[0] == before]
        second = pair[pair[0] == first]
        return Match(number, self._ids[first], self._ids[second])

    def record(self, match: Match, verdict: Verdict, margin: Margin | None = None) -> PlayedMatch:
        """Record a verdict; Elo does not ask by how much."""
        first, second = self._places[match.first], self._places[match.second]
        if first == second:
            raise ValueError("a hypothesis cannot meet itself")
        score = _SCORES.get(verdict)
        self._table.meet(first, second, score, margin)
        moved = 0.0
        if score is not None:
            moved = self._elo.record(match.first, match.second, score)
            self._table.elo[first], self._table.elo[second] = (
                self._elo[match.first],
                self._elo[match.second],
            )
            self._tallies[first][0 if score == 1 else 1 if score == 0 else 2] += 1
            self._tallies[second][0 if score == 0 else 1 if score == 1 else 2] += 1
        elos = self._elo[match.first], self._elo[match.second]
        played = PlayedMatch(match, verdict, moved, *elos, margin)
        self._played.append(played)
        return played

    def standings(self) -> tuple[Standing, ...]:
        """Everyone, strongest first: strengths settled over all verdicts at once."""
        settled = self._table.settle_strengths()
        chances = chances_to_lead(settled, self._table.playing)
        means = settled.means
        # The same draws for the same tournament, so that standings can be compared.
        drawn = draw_ranks(settled, self._table.playing, Random(self._seed))  # noqa: S311
        order = sorted(range(len(self._ids)), key=lambda place: (-means[place], self._ids[place]))
        found = []
        for rank, place in enumerate(order, start=1):
            wins, losses, draws = self._tallies[place]
            best, first, last = drawn.get(place, (0.0, 0, 0))
            found.append(
                Standing(
                    id=self._ids[place],
                    rank=rank,
                    elo=self._elo[self._ids[place]],
                    strength=settled.strength(place),
                    chance_to_lead=chances.get(place, 0.0),
                    wins=wins,
                    losses=losses,
                    draws=draws,
                    chance_to_be_best=best,
                    best_rank=first,
                    worst_rank=last,
                )
            )
        return tuple(found)

    def tally(self, id: str) -> tuple[int, int, int]:
        """Wins, losses and draws of one."""
        wins, losses, draws = self._tallies[self._places[id]]
        return wins, losses, draws

    def convergence(self) -> Convergence:
        """Whether everyone has played, and ratings rest or the leader is sure."""
        there = self._table.playing
        recent = self._played[-len(there) :]
        largest = max((abs(played.points_moved) for played in recent), default=0.0)
        certainty = self._leader_certainty()
        everyone = bool(there) and all(self._table.matches[place] for place in there)
        settled = bool(recent) and (largest < SETTLED_POINTS or certainty >= SURE_OF_LEADER)
        return Convergence(len(self._played), everyone, largest, certainty, everyone and settled)

    def _leader_certainty(self) -> float:
        there = self._table.playing
        if len(there) < 2:
            return 1.0
        if self._judging is Judging.EXACT and len(self._table.unbeaten()) == 1:
            return 1.0
        chances = sorted(
            chances_to_lead(self._table.settle_strengths(), there).values(), reverse=True
        )
        return 1.0 - chances[1]

"""The ranking agent: plays the most informative matches, and computes Elo and strengths."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from carrel.libraries.ranking import Margin, Match, Standing, Tournament, Verdict
from carrel.rooms.research.agents import AgentContext, StepResult, closeness
from carrel.rooms.research.errors import StepTakenError, TooFewHypothesesError
from carrel.rooms.research.people import PERSON, PeopleWeight, weigh_people
from carrel.rooms.research.reasoners import Brief, Judgement
from carrel.rooms.research.records import (
    Changes,
    Hypothesis,
    MatchPlayed,
    Project,
    Rating,
    Review,
)

MATCHES_EACH = 3
# Direct comparison lets neighbours meet up to so many places apart.
_PLACES_APART = 3


@dataclass(frozen=True, slots=True)
class JudgedMatch:
    """Two hypotheses in the order in which somebody saw them, and the verdict."""

    first: str
    second: str
    judgement: Judgement
    method: str = "tournament"


class RankingAgent:
    """Remembers the tournaments it has played; what the store holds beyond that is replayed."""

    def __init__(self, context: AgentContext) -> None:
        self._context = context
        self._followed: dict[str, tuple[Tournament, MatchPlayed | None]] = {}
        self._known: dict[str, dict[str, Hypothesis]] = {}

    async def play(self, brief: Brief) -> StepResult:
        """Play and judge the most informative match; empty if none is informative."""
        there = players(brief.hypotheses)
        if len(there) < 2:
            return StepResult()
        tournament, number = await self._tournament(brief)
        match = tournament.next_match()
        if match is None:
            return StepResult()
        judgement = await self._context.reasoner.judge(
            brief, there[match.first], there[match.second]
        )
        played = self._record(
            tournament,
            brief.project,
            match,
            Verdict(judgement.verdict),
            judgement.reason,
            number,
            judgement.margin,
        )
        self._followed[brief.project.id] = (tournament, played)
        ratings = []
        for one, elo in ((match.first, played.first_elo), (match.second, played.second_elo)):
            # Elo and tallies at once; strengths are settled over all verdicts at the end.
            wins, losses, draws = tournament.tally(one)
            changed = {"elo_score": elo, "wins": wins, "losses": losses, "draws": draws}
            ratings.append((one, there[one].rating.model_copy(update=changed)))
        output = self._context.output(
            brief,
            "ranking",
            f"{match.first} against {match.second}",
            f"{judgement.verdict}{f' ({judgement.margin})' if judgement.margin else ''}: "
            f"{judgement.reason}",
        )
        return StepResult(Changes(matches=(played,), ratings=tuple(ratings), outputs=(output,)))

    async def compare_directly(self, brief: Brief, reviews: Sequence[Review]) -> StepResult:
        """Neighbours in the order of their mean review scores, compared by these."""
        tournament, number = await self._tournament(brief)
        scores = {one: _mean_overall(one, reviews) for one in players(brief.hypotheses)}
        order = sorted(scores, key=lambda one: (-scores[one], one))
        played: list[MatchPlayed] = []
        for distance in range(1, _PLACES_APART + 1):
            for first, second in zip(order, order[distance:], strict=False):
                verdict = Verdict.DRAW if scores[first] == scores[second] else Verdict.FIRST
                reason = f"Mean overall score {scores[first]:.3f} against {scores[second]:.3f}."
                match = Match(len(tournament.played), first, second)
                told = self._record(
                    tournament, brief.project, match, verdict, reason, number + len(played)
                )
                played.append(told.model_copy(update={"method": "direct_comparison"}))
        self._followed.pop(brief.project.id, None)
        given = f"direct comparison of {len(order)}"
        output = self._context.output(brief, "ranking", given, ", ".join(order))
        ratings = await asyncio.to_thread(_settled_ratings, tournament, _people(brief))
        return StepResult(Changes(matches=tuple(played), ratings=ratings, outputs=(output,)))

    async def record_pack(
        self, brief: Brief, judged: Sequence[JudgedMatch], judge: str
    ) -> tuple[tuple[MatchPlayed, ...], tuple[tuple[str, Rating], ...], int]:
        """Matches that were judged elsewhere, ratings after them, and how many there were."""
        tournament, number = await self._tournament(brief)
        played = []
        for at, one in enumerate(judged, start=number):
            match = Match(len(tournament.played), one.first, one.second)
            found = one.judgement
            told = self._record(
                tournament,
                brief.project,
                match,
                Verdict(found.verdict),
                found.reason,
                at,
                found.margin,
            )
            changed = {"judged_by": judge, "method": one.method}
            played.append(told.model_copy(update=changed))
        self._followed.pop(brief.project.id, None)
        ratings = await asyncio.to_thread(_settled_ratings, tournament, _people(brief))
        return tuple(played), ratings, number

    async def settle(self, brief: Brief) -> StepResult:
        """Fit the strengths of all hypotheses to all verdicts."""
        there = players(brief.hypotheses)
        if len(there) < 2:
            return StepResult()
        tournament, number = await self._tournament(brief)
        # With a hundred hypotheses this takes seconds: not on the event loop.
        reached, ratings = await asyncio.to_thread(
            lambda: (tournament.convergence(), _settled_ratings(tournament, _people(brief)))
        )
        says = (
            f"{reached.matches} matches; everyone has played: "
            f"{'yes' if reached.everyone_played else 'no'}; first place is "
            f"{'settled' if reached.has_converged else 'open'} ({reached.leader_certainty:.0%} "
            f"sure); the last {len(there)} "
            f"matches moved a rating by up to {reached.largest_recent_elo_change:.1f} points."
        )
        events = (self._context.event(brief, "ranked", says),)
        return StepResult(Changes(ratings=ratings, expected_match_count=number, events=events))

    async def rerate(self, brief: Brief) -> Changes:
        """The ratings with what people have said by now; nothing where none could change."""
        people = _people(brief)
        if len(players(brief.hypotheses)) < 2:
            return Changes(ratings=_ratings_without_matches(brief.hypotheses, people))
        tournament, number = await self._tournament(brief)
        ratings = await asyncio.to_thread(_settled_ratings, tournament, people)
        return Changes(ratings=ratings, expected_match_count=number)

    async def _tournament(self, brief: Brief) -> tuple[Tournament, int]:
        """The tournament as the store has it, and the number of the next match."""
        project, hypotheses = brief.project, brief.hypotheses
        there = players(hypotheses)
        if len(there) < 2:
            raise TooFewHypothesesError(len(there))
        matches = await self._context.store.matches(project.id)
        latest = matches[-1] if matches else None
        followed, last = self._followed.get(project.id, (None, None))
        # The cached tournament is stale if another worker has played a match since.
        is_followed = followed is not None and last == latest
        tournament = followed if followed and is_followed else self._new_tournament(project)
        for hypothesis in hypotheses:
            self._known[project.id][hypothesis.id] = hypothesis
            tournament.enter(hypothesis.id, hypothesis.start_elo)
        if not is_followed:
            _replay(tournament, matches)
        tournament.let_play(there)
        offsets = {one: weight.log_odds for one, weight in _people(brief).items()}
        tournament.weigh(_review_scores(brief.reviews), offsets)
        self._followed[project.id] = (tournament, latest)
        return tournament, len(matches)

    def _new_tournament(self, project: Project) -> Tournament:
        known = self._known[project.id] = {}
        return Tournament(
            (),
            project.seed,
            judging=self._context.reasoner.judging,
            closeness=lambda one, other: closeness(known[one], known[other]),
        )

    def _record(
        self,
        tournament: Tournament,
        project: Project,
        match: Match,
        verdict: Verdict,
        reason: str,
        number: int,
        margin: Margin | None = None,
    ) -> MatchPlayed:
        played = tournament.record(match, verdict, margin)
        return MatchPlayed(
            research_id=project.id,
            number=number,
            first=match.first,
            second=match.second,
            verdict=verdict.value,
            margin=margin,
            reason=reason,
            judged_by=self._context.reasoner.name,
            first_elo=played.first_elo,
            second_elo=played.second_elo,
            created_at=self._context.now(),
        )


def players(hypotheses: Sequence[Hypothesis]) -> dict[str, Hypothesis]:
    """The hypotheses in the tournament: all that are neither rejected nor superseded."""
    return {
        one.id: one
        for one in hypotheses
        if one.decision.approval != "rejected" and one.superseded_by is None
    }


def count_unmet_pairs(hypotheses: Sequence[Hypothesis], matches: Sequence[MatchPlayed]) -> int:
    """The number of pairs that have not yet had a match."""
    there = players(hypotheses)
    met = {
        frozenset((match.first, match.second))
        for match in matches
        if match.first in there and match.second in there
    }
    return len(there) * (len(there) - 1) // 2 - len(met)


def _replay(tournament: Tournament, matches: Sequence[MatchPlayed]) -> None:
    entered = set(tournament.ids)
    for match in matches:
        if not {match.first, match.second} <= entered:
            raise StepTakenError("Somebody else has added a hypothesis and let it play meanwhile")
        tournament.record(
            Match(match.number, match.first, match.second), Verdict(match.verdict), match.margin
        )


def _people(brief: Brief) -> dict[str, PeopleWeight]:
    return weigh_people(brief.hypotheses, brief.reviews)


def _review_scores(reviews: Sequence[Review]) -> dict[str, float]:
    """The mean overall score of each reviewed hypothesis; people's ratings count apart."""
    scores: dict[str, list[float]] = {}
    for review in reviews:
        is_current = review.review_type != PERSON and review.superseded_by is None
        if is_current and review.scores.overall is not None:
            scores.setdefault(review.hypothesis_id, []).append(review.scores.overall)
    return {one: sum(found) / len(found) for one, found in scores.items()}


def _settled_ratings(
    tournament: Tournament, people: Mapping[str, PeopleWeight]
) -> tuple[tuple[str, Rating], ...]:
    return tuple(
        (standing.id, _rating(standing, people.get(standing.id)))
        for standing in tournament.standings()
    )


def _ratings_without_matches(
    hypotheses: Sequence[Hypothesis], people: Mapping[str, PeopleWeight]
) -> tuple[tuple[str, Rating], ...]:
    """Too few for a tournament: what people said is kept beside the rating."""
    changed = []
    for one in hypotheses:
        weight = people.get(one.id)
        told = {
            "people_log_odds": 0.0 if weight is None else weight.log_odds,
            "people_say": "" if weight is None else weight.says,
        }
        changed.append((one.id, one.rating.model_copy(update=told)))
    return tuple(changed)


def _rating(standing: Standing, people: PeopleWeight | None) -> Rating:
    return Rating(
        elo_score=standing.elo,
        strength=standing.strength.value,
        strength_low=standing.strength.low,
        strength_high=standing.strength.high,
        chance_to_lead=standing.chance_to_lead,
        chance_to_be_best=standing.chance_to_be_best,
        best_rank=standing.best_rank,
        worst_rank=standing.worst_rank,
        people_log_odds=0.0 if people is None else people.log_odds,
        people_say="" if people is None else people.says,
        wins=standing.wins,
        losses=standing.losses,
        draws=standing.draws,
    )


def _mean_overall(hypothesis_id: str, reviews: Sequence[Review]) -> float:
    found = (review.scores.overall for review in reviews if review.hypothesis_id == hypothesis_id)
    scores = [overall for overall in found if overall is not None]
    return sum(scores) / len(scores) if scores else 0.0

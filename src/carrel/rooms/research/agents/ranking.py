"""The ranking agent: matches where they tell most, every verdict kept, Elo and strengths after
each.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

from carrel.libraries.ranking import Match, Tournament, Verdict
from carrel.rooms.research.agents import Made, Workshop
from carrel.rooms.research.agents.generation import closeness
from carrel.rooms.research.errors import StepTakenError, TooFewHypothesesError
from carrel.rooms.research.reasoners import Brief
from carrel.rooms.research.records import (
    Changes,
    Hypothesis,
    HypothesisStanding,
    MatchPlayed,
    Project,
    Review,
)

MATCHES_EACH = 3


class RankingAgent:
    """Remembers tournaments it has followed; what the memory holds beyond that is replayed."""

    def __init__(self, workshop: Workshop) -> None:
        self._workshop = workshop
        self._followed: dict[str, tuple[Tournament, MatchPlayed | None]] = {}
        self._known: dict[str, dict[str, Hypothesis]] = {}

    async def play(self, brief: Brief) -> Made:
        """The match that tells most, judged. Nothing where another could tell nothing new."""
        tournament, there, number = await self.tournament(brief.project, brief.hypotheses)
        match = tournament.next_match()
        if match is None:
            return Made(Changes())
        judgement = await self._workshop.mind.judge(brief, there[match.first], there[match.second])
        played = self._recorded(
            tournament,
            brief.project,
            match,
            Verdict(judgement.verdict),
            judgement.reason,
            number=number,
        )
        self._followed[brief.project.id] = (tournament, played)
        standings = tuple(
            (one, _after(there[one], elo, tournament.tally(one)))
            for one, elo in ((match.first, played.first_elo), (match.second, played.second_elo))
        )
        said = f"{match.first} against {match.second}"
        output = self._workshop.output(
            brief, "ranking", said, f"{judgement.verdict}: {judgement.reason}"
        )
        return Made(
            Changes(matches=(played,), standings=standings, outputs=(*brief.outputs, output))
        )

    async def compare_directly(self, brief: Brief, reviews: Sequence[Review]) -> Made:
        """Each is assessed alone by its reviews; neighbours in that order are then compared, three
        places far.
        """
        tournament, there, number = await self.tournament(brief.project, brief.hypotheses)
        worth = {hypothesis_id: _worth(hypothesis_id, reviews) for hypothesis_id in there}
        order = sorted(there, key=lambda hypothesis_id: (-worth[hypothesis_id], hypothesis_id))
        played: list[MatchPlayed] = []
        for distance in (1, 2, 3):
            for place in range(len(order) - distance):
                first, second = order[place], order[place + distance]
                verdict = Verdict.DRAW if worth[first] == worth[second] else Verdict.FIRST
                reason = f"Mean overall score {worth[first]:.3f} against {worth[second]:.3f}."
                match = Match(len(tournament.played), first, second)
                told = self._recorded(
                    tournament, brief.project, match, verdict, reason, number=number + len(played)
                )
                played.append(told.model_copy(update={"method": "direct_comparison"}))
        self._followed.pop(brief.project.id, None)
        output = self._workshop.output(
            brief, "ranking", f"direct comparison of {len(order)}", ", ".join(order)
        )
        standings = await asyncio.to_thread(standings_of, tournament)
        return Made(Changes(matches=tuple(played), standings=standings, outputs=(output,)))

    async def settle(self, brief: Brief) -> Made:
        """Strengths over all verdicts at once, for everybody."""
        tournament, _, number = await self.tournament(brief.project, brief.hypotheses)
        # With a hundred hypotheses this takes seconds: not on the event loop.
        reached, standings = await asyncio.to_thread(
            lambda: (tournament.convergence(), standings_of(tournament))
        )
        says = (
            f"{reached.matches} matches; everyone has played: "
            f"{'yes' if reached.everyone_played else 'no'}; first place is "
            f"{'settled' if reached.has_converged else 'open'} ({reached.leader_certainty:.0%} "
            f"sure); the last {len(players(brief.hypotheses))} "
            f"matches moved a rating by up to {reached.largest_recent_elo_change:.1f} points."
        )
        events = (self._workshop.event(brief, "ranked", says),)
        return Made(Changes(standings=standings, matches_seen=number, events=events))

    async def tournament(
        self, project: Project, hypotheses: Sequence[Hypothesis]
    ) -> tuple[Tournament, dict[str, Hypothesis], int]:
        """The tournament as the memory has it, those who may play, and the number of the next
        match.
        """
        there = players(hypotheses)
        if len(there) < 2:
            raise TooFewHypothesesError(len(there))
        matches = await self._workshop.memory.matches(project.id)
        followed, last = self._followed.get(project.id, (None, None))
        # What was followed counts only if the memory kept that very match: another worker may have
        # played another one.
        if followed is not None and last == (matches[-1] if matches else None):
            tournament = followed
        else:
            tournament = self._begun(project)
        for hypothesis in hypotheses:
            self._known[project.id][hypothesis.id] = hypothesis
            tournament.enter(hypothesis.id, hypothesis.start_elo)
        if tournament is not followed:
            entered = set(tournament.ids)
            for match in matches:
                if not {match.first, match.second} <= entered:
                    raise StepTakenError(
                        "Somebody else has added a hypothesis and let it play meanwhile"
                    )
                tournament.record(
                    Match(match.number, match.first, match.second), Verdict(match.verdict)
                )
        tournament.let_play(there)
        self._followed[project.id] = (tournament, matches[-1] if matches else None)
        return tournament, there, len(matches)

    def _begun(self, project: Project) -> Tournament:
        known: dict[str, Hypothesis] = {}
        self._known[project.id] = known
        return Tournament(
            (),
            project.seed,
            judging=self._workshop.mind.judging,
            closeness=lambda one, other: closeness(known[one], known[other]),
        )

    def _recorded(
        self,
        tournament: Tournament,
        project: Project,
        match: Match,
        verdict: Verdict,
        reason: str,
        *,
        number: int,
    ) -> MatchPlayed:
        played = tournament.record(match, verdict)
        return MatchPlayed(
            research_id=project.id,
            number=number,
            first=match.first,
            second=match.second,
            verdict=verdict.value,
            reason=reason,
            first_elo=played.first_elo,
            second_elo=played.second_elo,
            created_at=self._workshop.now(),
        )


def players(hypotheses: Sequence[Hypothesis]) -> dict[str, Hypothesis]:
    """Who plays: everybody that no person has rejected."""
    return {made.id: made for made in hypotheses if made.decision.approval != "rejected"}


def unmet(hypotheses: Sequence[Hypothesis], matches: Sequence[MatchPlayed]) -> int:
    """How many pairs of those who play have never met."""
    there = players(hypotheses)
    met = {
        frozenset((match.first, match.second))
        for match in matches
        if match.first in there and match.second in there
    }
    return len(there) * (len(there) - 1) // 2 - len(met)


def standings_of(tournament: Tournament) -> tuple[tuple[str, HypothesisStanding], ...]:
    return tuple(
        (
            standing.id,
            HypothesisStanding(
                elo_score=standing.elo,
                strength=standing.strength.value,
                strength_low=standing.strength.low,
                strength_high=standing.strength.high,
                chance_to_lead=standing.chance_to_lead,
                wins=standing.wins,
                losses=standing.losses,
                draws=standing.draws,
            ),
        )
        for standing in tournament.standings()
    )


def _after(hypothesis: Hypothesis, elo: float, tally: tuple[int, int, int]) -> HypothesisStanding:
    """Elo and tallies at once; strengths are settled over all verdicts when the tournament
    rests.
    """
    wins, losses, draws = tally
    return hypothesis.standing.model_copy(
        update={"elo_score": elo, "wins": wins, "losses": losses, "draws": draws}
    )


def _worth(hypothesis_id: str, reviews: Sequence[Review]) -> float:
    found = (review.scores.overall for review in reviews if review.hypothesis_id == hypothesis_id)
    scores = [overall for overall in found if overall is not None]
    return sum(scores) / len(scores) if scores else 0.0

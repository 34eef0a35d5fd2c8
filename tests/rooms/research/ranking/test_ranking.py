"""Tournaments: nobody is left out, nothing is lost, and few comparisons find the best."""

from collections import Counter
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from carrel.rooms.research.ranking import EloRatings, Strengths, Tournament, Verdict

_VERDICTS = st.lists(st.sampled_from(list(Verdict)), max_size=40)


@given(st.lists(st.tuples(st.integers(0, 5), st.integers(0, 5), st.sampled_from([0.0, 0.5, 1.0])), max_size=60))
def test_elo_conserves_points(matches: list[tuple[int, int, float]]) -> None:
    ratings = EloRatings(str(number) for number in range(6))
    for one, other, result in matches:
        if one != other:
            ratings.record(str(one), str(other), result)
    assert sum(ratings.as_dict().values()) == pytest.approx(6000.0)


def test_elo_starts_at_a_thousand_and_moves_sixteen_between_equals() -> None:
    ratings = EloRatings(["a", "b"])
    assert ratings.record("a", "b", 1.0) == 16.0
    assert (ratings["a"], ratings["b"]) == (1016.0, 984.0)


@settings(max_examples=40)
@given(st.integers(2, 15), st.integers(0, 10**6), st.randoms(use_true_random=False))
def test_everyone_plays_before_anyone_is_favoured(count: int, seed: int, random: Random) -> None:
    tournament = Tournament((str(number) for number in range(count)), seed)
    for _ in range((count + 1) // 2):
        tournament.record(tournament.next_match(), random.choice([Verdict.FIRST, Verdict.SECOND]))
    assert {one for played in tournament.played for one in (played.match.first, played.match.second)} == set(tournament.ids)


@settings(max_examples=30)
@given(_VERDICTS, st.integers(0, 10**6))
def test_a_tournament_replayed_from_its_records_goes_on_as_it_would_have(verdicts: list[Verdict], seed: int) -> None:
    tournament = Tournament("abcde", seed)
    for verdict in verdicts:
        tournament.record(tournament.next_match(), verdict)
    again = Tournament.replay("abcde", tournament.played, seed)
    assert again.next_match() == tournament.next_match()
    assert again.standings() == tournament.standings()


def test_who_is_shown_first_is_drawn_by_lot() -> None:
    firsts: Counter[str] = Counter()
    for seed in range(200):
        match = Tournament(["a", "b"], seed).next_match()
        firsts[match.first] += 1
    assert min(firsts["a"], firsts["b"]) > 60


def test_an_unreadable_verdict_counts_for_nobody() -> None:
    tournament = Tournament(["a", "b"])
    tournament.record(tournament.next_match(), Verdict.UNREADABLE)
    assert {(standing.elo, standing.strength.value, standing.wins, standing.losses) for standing in tournament.standings()} == {
        (1000.0, 0.0, 0, 0)
    }
    assert len(tournament.played) == 1


def test_a_newcomer_plays_next_and_keeps_the_rating_it_brings() -> None:
    tournament = Tournament(["a", "b", "c"], seed=4)
    for _ in range(10):
        tournament.record(tournament.next_match(), Verdict.FIRST)
    tournament.enter("late", elo=1200.0)
    match = tournament.next_match()
    assert "late" in (match.first, match.second)
    assert next(standing for standing in tournament.standings() if standing.id == "late").elo == 1200.0


def test_more_verdicts_narrow_the_interval_and_wins_raise_the_strength() -> None:
    few, many = Strengths(2), Strengths(2)
    few.settle([(0, 1, 1.0)] * 2)
    many.settle([(0, 1, 1.0)] * 20)
    assert many.strength(0).value > few.strength(0).value > 0
    assert many.strength(0).value == pytest.approx(-many.strength(1).value)
    narrow, wide = Strengths(2), Strengths(2)
    narrow.settle([(0, 1, 0.5)] * 20)
    wide.settle([(0, 1, 0.5)] * 2)
    assert narrow.strength(0).high - narrow.strength(0).low < wide.strength(0).high - wide.strength(0).low


def test_learning_one_by_one_comes_near_settling_all_at_once() -> None:
    verdicts = [(0, 1, 1.0), (1, 2, 1.0), (0, 2, 1.0), (2, 3, 0.0), (0, 3, 1.0), (1, 3, 0.5)]
    learnt, settled = Strengths(4), Strengths(4)
    for one, other, result in verdicts:
        learnt.learn(one, other, result)
    settled.settle(verdicts)
    assert learnt.means == pytest.approx(settled.means, abs=0.25)


def best_is_found(seed: int, count: int = 12) -> bool:
    random = Random(seed)
    ids = [f"h{number}" for number in range(count)]
    order = {one: place for place, one in enumerate(random.sample(ids, count))}
    tournament = Tournament(ids, seed)
    for _ in range(3 * count):
        match = tournament.next_match()
        is_right = random.random() < 0.78
        tournament.record(match, Verdict.FIRST if (order[match.first] < order[match.second]) == is_right else Verdict.SECOND)
    return order[tournament.standings()[0].id] == 0


def test_three_comparisons_each_find_the_best_more_often_than_not() -> None:
    assert sum(best_is_found(seed) for seed in range(120)) / 120 > 0.6


def test_convergence_needs_everyone_and_is_reached_when_the_leader_is_sure() -> None:
    tournament = Tournament(["a", "b", "c"], seed=1)
    assert not tournament.convergence().has_converged
    order = {"a": 0, "b": 1, "c": 2}
    for _ in range(40):
        match = tournament.next_match()
        tournament.record(match, Verdict.FIRST if order[match.first] < order[match.second] else Verdict.SECOND)
    told = tournament.convergence()
    assert told.has_converged
    assert told.everyone_played
    assert tournament.standings()[0].id == "a"


def test_one_alone_cannot_meet_anyone() -> None:
    with pytest.raises(ValueError, match="two hypotheses"):
        Tournament(["a"]).next_match()

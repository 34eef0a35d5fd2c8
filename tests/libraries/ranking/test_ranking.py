"""Tournaments: nobody is left out, nothing is lost, and few comparisons find the best."""

from collections import Counter
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from carrel.libraries.ranking import (
    Comparison,
    EloRatings,
    Evidence,
    Judging,
    Margin,
    Match,
    Strengths,
    Tournament,
    Verdict,
)
from carrel.libraries.ranking.pairing import (
    Closeness,
    PairingTable,
    chances_to_lead,
    no_closeness,
)

pytestmark = pytest.mark.promise("S8")

_VERDICTS = st.lists(st.sampled_from(list(Verdict)), max_size=40)


def next_of(tournament: Tournament) -> Match:
    match = tournament.next_match()
    assert match is not None
    return match


@given(
    st.lists(
        st.tuples(st.integers(0, 5), st.integers(0, 5), st.sampled_from([0.0, 0.5, 1.0])),
        max_size=60,
    )
)
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
        tournament.record(next_of(tournament), random.choice([Verdict.FIRST, Verdict.SECOND]))
    assert {
        one for played in tournament.played for one in (played.match.first, played.match.second)
    } == set(tournament.ids)


@settings(max_examples=30)
@given(_VERDICTS, st.integers(0, 10**6))
def test_a_tournament_replayed_from_its_records_goes_on_as_it_would_have(
    verdicts: list[Verdict], seed: int
) -> None:
    tournament = Tournament("abcde", seed)
    for verdict in verdicts:
        tournament.record(next_of(tournament), verdict)
    again = Tournament.replay("abcde", tournament.played, seed)
    assert again.next_match() == tournament.next_match()
    assert again.standings() == tournament.standings()


def test_who_is_shown_first_is_drawn_by_lot() -> None:
    firsts: Counter[str] = Counter()
    for seed in range(200):
        match = next_of(Tournament(["a", "b"], seed))
        firsts[match.first] += 1
    assert min(firsts["a"], firsts["b"]) > 60


def test_an_unreadable_verdict_counts_for_nobody() -> None:
    tournament = Tournament(["a", "b"])
    tournament.record(next_of(tournament), Verdict.UNREADABLE)
    assert {
        (standing.elo, standing.strength.value, standing.wins, standing.losses)
        for standing in tournament.standings()
    } == {(1000.0, 0.0, 0, 0)}
    assert len(tournament.played) == 1


def test_a_newcomer_plays_next_and_keeps_the_rating_it_brings() -> None:
    tournament = Tournament(["a", "b", "c"], seed=4)
    for _ in range(10):
        tournament.record(next_of(tournament), Verdict.FIRST)
    tournament.enter("late", elo=1200.0)
    match = next_of(tournament)
    assert "late" in (match.first, match.second)
    assert (
        next(standing for standing in tournament.standings() if standing.id == "late").elo == 1200.0
    )


def test_more_verdicts_narrow_the_interval_and_wins_raise_the_strength() -> None:
    few, many = Strengths(2), Strengths(2)
    few.settle([Comparison(0, 1, 1.0)] * 2)
    many.settle([Comparison(0, 1, 1.0)] * 20)
    assert many.strength(0).value > few.strength(0).value > 0
    assert many.strength(0).value == pytest.approx(-many.strength(1).value)
    narrow, wide = Strengths(2), Strengths(2)
    narrow.settle([Comparison(0, 1, 0.5)] * 20)
    wide.settle([Comparison(0, 1, 0.5)] * 2)
    assert (
        narrow.strength(0).high - narrow.strength(0).low
        < wide.strength(0).high - wide.strength(0).low
    )


def test_learning_one_by_one_comes_near_settling_all_at_once() -> None:
    verdicts = [
        Comparison(*each)
        for each in (
            (0, 1, 1.0),
            (1, 2, 1.0),
            (0, 2, 1.0),
            (2, 3, 0.0),
            (0, 3, 1.0),
            (1, 3, 0.5),
        )
    ]
    learnt, settled = Strengths(4), Strengths(4)
    for verdict in verdicts:
        learnt.learn(verdict)
    settled.settle(verdicts)
    assert learnt.means == pytest.approx(settled.means, abs=0.25)


def best_is_found(seed: int, count: int = 12) -> bool:
    random = Random(seed)
    ids = [f"h{number}" for number in range(count)]
    order = {one: place for place, one in enumerate(random.sample(ids, count))}
    tournament = Tournament(ids, seed)
    for _ in range(3 * count):
        match = next_of(tournament)
        is_right = random.random() < 0.78
        tournament.record(
            match,
            Verdict.FIRST
            if (order[match.first] < order[match.second]) == is_right
            else Verdict.SECOND,
        )
    return order[tournament.standings()[0].id] == 0


def test_three_comparisons_each_find_the_best_more_often_than_not() -> None:
    assert sum(best_is_found(seed) for seed in range(60)) / 60 > 0.6


def test_convergence_needs_everyone_and_is_reached_when_the_leader_is_sure() -> None:
    tournament = Tournament(["a", "b", "c"], seed=1)
    assert not tournament.convergence().has_converged
    order = {"a": 0, "b": 1, "c": 2}
    for _ in range(40):
        match = next_of(tournament)
        tournament.record(
            match, Verdict.FIRST if order[match.first] < order[match.second] else Verdict.SECOND
        )
    told = tournament.convergence()
    assert told.has_converged
    assert told.everyone_played
    assert tournament.standings()[0].id == "a"


def test_one_alone_cannot_meet_anyone() -> None:
    with pytest.raises(ValueError, match="two hypotheses"):
        Tournament(["a"]).next_match()


def judged(tournament: Tournament, matches: int, worth: dict[str, float]) -> Tournament:
    """Played with a judge who never errs, as far as there is anything to tell."""
    for _ in range(matches):
        match = tournament.next_match()
        if match is None:
            break
        tournament.record(
            match, Verdict.FIRST if worth[match.first] > worth[match.second] else Verdict.SECOND
        )
    return tournament


def worths(count: int, seed: int) -> dict[str, float]:
    order = Random(seed).sample(range(count), count)
    return {f"h{place}": float(worth) for place, worth in enumerate(order)}


def opponents(tournament: Tournament) -> dict[str, set[str]]:
    met: dict[str, set[str]] = {one: set() for one in tournament.ids}
    for played in tournament.played:
        met[played.match.first].add(played.match.second)
        met[played.match.second].add(played.match.first)
    return met


def spearman(order: list[str], worth: dict[str, float]) -> float:
    true = {one: place for place, one in enumerate(sorted(worth, key=lambda one: -worth[one]))}
    count = len(order)
    return 1 - 6 * sum((place - true[one]) ** 2 for place, one in enumerate(order)) / (
        count * (count * count - 1)
    )


@settings(max_examples=40)
@given(st.integers(2, 9), st.integers(0, 10**6))
def test_an_exact_judge_is_asked_about_every_pair_once_at_most(count: int, seed: int) -> None:
    worth = worths(count, seed)
    tournament = judged(Tournament(worth, seed, judging=Judging.EXACT), 100, worth)
    pairs = [frozenset((played.match.first, played.match.second)) for played in tournament.played]
    assert len(pairs) == len(set(pairs)) == count * (count - 1) // 2
    assert tournament.next_match() is None


@settings(max_examples=20)
@given(
    st.integers(4, 16),
    st.integers(0, 10**6),
    st.sampled_from(list(Judging)),
    st.randoms(use_true_random=False),
)
def test_with_three_matches_each_everyone_meets_three_others(
    count: int, seed: int, judging: Judging, random: Random
) -> None:
    tournament = Tournament((str(number) for number in range(count)), seed, judging=judging)
    for _ in range(3 * count):
        match = tournament.next_match()
        if match is not None:
            tournament.record(match, random.choice([Verdict.FIRST, Verdict.SECOND]))
    assert min(map(len, opponents(tournament).values())) >= 3


@pytest.mark.parametrize("count", [8, 20, 30])
def test_with_an_exact_judge_elo_has_the_whole_order_and_the_best_is_first(count: int) -> None:
    found = []
    for seed in range(6):
        worth = worths(count, seed)
        standings = judged(
            Tournament(worth, seed, judging=Judging.EXACT), 3 * count, worth
        ).standings()
        order = [standing.id for standing in sorted(standings, key=lambda standing: -standing.elo)]
        assert worth[order[0]] == count - 1
        found.append(spearman(order, worth))
    assert min(found) > 0.88
    assert sum(found) / len(found) > 0.93


def test_nobody_takes_part_in_more_than_a_third_of_the_matches() -> None:
    random = Random(3)
    for judging in Judging:
        worth = worths(20, 3)
        tournament = Tournament(worth, 3, judging=judging)
        for _ in range(60):
            match = next_of(tournament)
            is_right = judging is Judging.EXACT or random.random() < 0.78
            is_first = (worth[match.first] > worth[match.second]) == is_right
            tournament.record(match, Verdict.FIRST if is_first else Verdict.SECOND)
        played = Counter(
            one for each in tournament.played for one in (each.match.first, each.match.second)
        )
        assert max(played.values()) <= 20


def test_a_fallible_judge_orders_everyone_far_better_than_when_only_the_leader_played() -> None:
    found = []
    for seed in range(20):
        random, worth = Random(seed), worths(20, seed)
        tournament = Tournament(worth, seed)
        for _ in range(60):
            match = next_of(tournament)
            is_first = (worth[match.first] > worth[match.second]) == (random.random() < 0.78)
            tournament.record(match, Verdict.FIRST if is_first else Verdict.SECOND)
        found.append(
            spearman(
                [one.id for one in sorted(tournament.standings(), key=lambda one: -one.elo)], worth
            )
        )
    assert sum(found) / len(found) > 0.55


@pytest.mark.parametrize("judging", list(Judging))
def test_the_like_meet_first(judging: Judging) -> None:
    names = [f"{letter}{number}" for number in range(2) for letter in "abcdef"]
    tournament = Tournament(
        names, 5, judging=judging, closeness=lambda one, other: float(one[0] == other[0])
    )
    for _ in range(6):
        match = next_of(tournament)
        assert match.first[0] == match.second[0]
        tournament.record(match, Verdict.FIRST)


def test_when_two_meet_again_the_other_is_shown_first() -> None:
    for seed in range(10):
        tournament = Tournament(["a", "b"], seed)
        shown = []
        for _ in range(4):
            shown.append(next_of(tournament).first)
            tournament.record(next_of(tournament), Verdict.DRAW)
        assert shown in (["a", "b", "a", "b"], ["b", "a", "b", "a"])


@pytest.mark.parametrize("judging", list(Judging))
def test_who_may_play_no_more_keeps_its_place_and_everyone_their_points(judging: Judging) -> None:
    worth = worths(6, 1)
    tournament = judged(Tournament(worth, 1, judging=judging), 8, worth)
    before = {standing.id: standing for standing in tournament.standings()}
    tournament.let_play([one for one in worth if one != "h0"])
    judged(tournament, 5, worth)
    after = {standing.id: standing for standing in tournament.standings()}
    assert (after["h0"].elo, after["h0"].wins, after["h0"].losses) == (
        before["h0"].elo,
        before["h0"].wins,
        before["h0"].losses,
    )
    assert after["h0"].chance_to_lead == 0.0
    assert sum(standing.elo for standing in after.values()) == pytest.approx(6000.0)


@pytest.mark.parametrize("judging", list(Judging))
def test_a_tournament_that_others_joined_late_is_replayed_to_the_same_next_match(
    judging: Judging,
) -> None:
    worth = worths(9, 2)
    tournament = judged(
        Tournament([f"h{number}" for number in range(6)], 2, judging=judging), 10, worth
    )
    for number in range(6, 9):
        tournament.enter(f"h{number}")
    judged(tournament, 4, worth)
    again = Tournament.replay(worth, tournament.played, 2, judging=judging)
    assert again.next_match() == tournament.next_match()
    assert again.standings() == tournament.standings()


def _table(count: int, closeness: Closeness = no_closeness) -> PairingTable:
    table = PairingTable(closeness)
    for place in range(count):
        table.enter(str(place), 1000.0)
    return table


def test_what_follows_from_verdicts_is_known_and_a_draw_says_nothing() -> None:
    table = _table(5)
    table.meet(0, 1, 1.0)
    table.meet(2, 1, 0.0)
    table.meet(3, 4, 0.5)
    assert table.unbeaten() == [0, 3, 4]
    assert [table.rank_share(place) for place in range(5)] == [3 / 4, 2 / 4, 1 / 4, 1 / 2, 1 / 2]
    table.playing = [1, 2]
    assert table.unbeaten() == [1]


def test_an_unreadable_meeting_is_a_meeting_that_tells_nothing() -> None:
    table = _table(3)
    table.meet(1, 0, None)
    assert table.matches == [1, 1, 0]
    assert table.have_met(0, 1) and table.have_met(1, 0) and not table.have_met(0, 2)
    assert table.shown_first(0, 1) == table.shown_first(1, 0) == 1
    assert table.shown_first(0, 2) is None
    assert table.unbeaten() == [0, 1, 2]
    assert table.strengths.means == [0.0, 0.0, 0.0]


def test_closeness_is_asked_once_for_a_pair_in_either_order() -> None:
    asked: list[tuple[str, str]] = []

    def closeness(one: str, other: str) -> float:
        asked.append((one, other))
        return 0.5

    table = _table(2, closeness)
    assert table.closeness(1, 0) == table.closeness(0, 1) == 0.5
    assert asked == [("0", "1")]


def test_the_chance_to_lead_is_one_for_the_leader_and_less_behind() -> None:
    strengths = Strengths(3)
    assert chances_to_lead(strengths, []) == {}
    strengths.learn(Comparison(0, 1, 1.0))
    chances = chances_to_lead(strengths, [0, 1, 2])
    assert chances[0] == 1.0
    assert 0.0 < chances[1] < chances[2] < 0.5
    assert chances_to_lead(strengths, [1]) == {1: 1.0}


def test_a_tournament_counts_wins_losses_and_draws_of_both() -> None:
    tournament = Tournament(["a", "b"])
    tournament.enter("a", 1500.0)
    assert tournament.ids == ("a", "b")
    for number, verdict in enumerate((*Verdict, Verdict.FIRST)):
        played = tournament.record(Match(number, "a", "b"), verdict)
        assert (played.points_moved == 0) is (verdict is Verdict.UNREADABLE)
        assert played.first_elo + played.second_elo == pytest.approx(2000.0)
    assert tournament.tally("a") == (2, 1, 1)
    assert tournament.tally("b") == (1, 2, 1)
    assert len(tournament.played) == 5
    assert [one.id for one in tournament.standings()] == ["a", "b"]
    with pytest.raises(ValueError, match="itself"):
        tournament.record(Match(5, "a", "a"), Verdict.DRAW)
    assert len(tournament.played) == 5


def test_two_may_play_and_one_may_not() -> None:
    tournament = Tournament(["a", "b", "c"])
    tournament.let_play(["a", "c"])
    found = next_of(tournament)
    assert {found.first, found.second} == {"a", "c"}
    tournament.let_play(["a"])
    with pytest.raises(ValueError, match="two hypotheses"):
        tournament.next_match()


def test_ratings_are_brought_or_begin_at_the_start_and_are_copied_out() -> None:
    ratings = EloRatings(["a"], start=900.0)
    ratings.add("b", 1100.0)
    ratings.add("c")
    ratings.add("a", 5.0)
    assert ratings.as_dict() == {"a": 900.0, "b": 1100.0, "c": 900.0}
    ratings.as_dict().clear()
    assert ratings["a"] == 900.0
    assert ratings.expected("a", "c") == 0.5
    assert ratings.expected("b", "a") > 0.7


def _gap_after(margin: Margin | None) -> float:
    strengths = Strengths(2)
    strengths.settle([Comparison(0, 1, 1.0, margin)])
    return strengths.means[0] - strengths.means[1]


def test_a_clear_win_tells_more_than_one_of_unknown_margin_and_that_more_than_a_slight_one() -> (
    None
):
    assert _gap_after("clear") > _gap_after(None) > _gap_after("slight") > 0
    mirrored = Strengths(2)
    mirrored.settle([Comparison(1, 0, 0.0, "clear")])
    assert mirrored.means[0] - mirrored.means[1] == pytest.approx(_gap_after("clear"), rel=0.2)


@given(st.lists(st.floats(0, 1), min_size=3, max_size=8), st.floats(-1.5, 1.5))
def test_reviews_and_people_order_before_any_match_and_matches_can_overrule_them(
    scores: list[float], offset: float
) -> None:
    evidence = Evidence(dict(enumerate(scores)), {0: offset})
    means = Strengths(len(scores), evidence).means
    assert means[0] - Strengths(len(scores), Evidence(evidence.review_scores)).means[0] == (
        pytest.approx(offset)
    )
    for one in range(1, len(scores)):
        for other in range(1, one):
            assert (means[one] - means[other]) * (scores[one] - scores[other]) >= 0
    fitted = Strengths(len(scores), evidence)
    fitted.settle([Comparison(0, 1, 1.0, "clear"), Comparison(1, 0, 0.0, "clear")] * 12)
    assert fitted.means[0] > fitted.means[1]


def test_a_judge_that_takes_the_first_shown_is_seen_through() -> None:
    strengths = Strengths(2)
    strengths.settle([Comparison(0, 1, 1.0), Comparison(1, 0, 1.0)] * 10)
    assert strengths.means == pytest.approx([0.0, 0.0], abs=1e-6)
    assert strengths.first_shown > 0.5


@settings(max_examples=15)
@given(
    st.lists(
        st.tuples(st.sampled_from(list(Verdict)), st.sampled_from(["clear", "slight", None])),
        max_size=20,
    ),
    st.dictionaries(st.sampled_from("abcde"), st.floats(0, 1)),
    st.dictionaries(st.sampled_from("abcde"), st.floats(-1.5, 1.5)),
)
def test_with_margins_and_evidence_a_replay_goes_on_alike_and_one_of_them_is_best(
    verdicts: list[tuple[Verdict, Margin | None]],
    scores: dict[str, float],
    offsets: dict[str, float],
) -> None:
    tournament = Tournament("abcde", 3)
    tournament.weigh(scores, offsets)
    for verdict, margin in verdicts:
        tournament.record(next_of(tournament), verdict, margin)
    again = Tournament.replay("abcde", tournament.played, 3)
    again.weigh(scores, offsets)
    found = tournament.standings()
    assert again.next_match() == tournament.next_match()
    assert again.standings() == found
    assert sum(one.chance_to_be_best for one in found) == pytest.approx(1.0)
    assert all(1 <= one.best_rank <= one.worst_rank <= 5 for one in found)

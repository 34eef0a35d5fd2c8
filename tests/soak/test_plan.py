"""The judge of the soak sees what it must see."""

from __future__ import annotations

from collections import Counter

from tests.soak.__main__ import compare
from tests.soak.plan import Event, draw_plan
from tests.soak.writers import Outcome


def test_a_plan_has_every_event_and_is_the_same_for_one_seed() -> None:
    plan = draw_plan(3, 20, 3)
    counts = Counter(happening.event for happening in plan)
    assert counts == {
        Event.KILL: 20,
        Event.DATABASE: 3,
        Event.DATABASE_DISK: 1,
        Event.REPLICA_DISK: 1,
    }
    assert plan == draw_plan(3, 20, 3)
    assert plan != draw_plan(4, 20, 3)


def test_a_lost_a_doubled_and_an_invented_write_are_findings() -> None:
    outcome = Outcome(acknowledged=["kept", "lost", "twice"], unknown={"perhaps"})
    found = Counter({"kept": 1, "twice": 2, "perhaps": 1, "nobody": 1})
    assert compare(outcome, found) == ["1 lost (lost)", "1 doubled (twice)", "1 nobody's (nobody)"]


def test_a_write_without_an_answer_may_be_there_or_not() -> None:
    outcome = Outcome(acknowledged=["kept"], unknown={"perhaps"})
    assert compare(outcome, Counter({"kept": 1})) == []
    assert compare(outcome, Counter({"kept": 1, "perhaps": 1})) == []

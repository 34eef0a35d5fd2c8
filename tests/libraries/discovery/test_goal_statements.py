"""A goal is read by its grammar, in any field, before any corpus is asked."""

from __future__ import annotations

import pytest

from benchmarks.goals.judge import OTHER_FIELDS, judge, read_rows
from carrel.libraries.discovery.goals.records import AskedFor, ConstraintKind
from carrel.libraries.discovery.goals.statement import parse_goal


@pytest.mark.promise("S13")
def test_goals_of_history_law_and_astronomy_are_read_as_people_read_them() -> None:
    counts = judge(read_rows(OTHER_FIELDS), is_told=False)
    assert counts.subjects_found >= 0.9 * counts.subjects
    assert counts.proposed_right >= 0.9 * counts.proposed
    assert counts.asked_right >= 0.9 * counts.goals
    assert counts.constraints_kept >= 0.85 * counts.constraints
    assert counts.asked_rightly == counts.to_ask == counts.asked


@pytest.mark.promise("S13")
@pytest.mark.parametrize(
    ("goal", "asked_for", "subjects"),
    [
        ("Do minimum wages reduce employment?", AskedFor.EFFECT, ("minimum wages", "employment")),
        ("Why do choirs drift flat?", AskedFor.CAUSES, ("choirs drift flat",)),
        ("Compare kilns with ovens", AskedFor.COMPARISON, ("kilns", "ovens")),
        ("How does remote work affect output?", AskedFor.EFFECT, ("remote work", "output")),
        ("How can delays in courts be reduced?", AskedFor.INTERVENTIONS, ("delays", "courts")),
        ("When is a heap slower than a list?", AskedFor.CONDITIONS, ("heap", "list")),
        ("Is it true that tides affect quakes?", AskedFor.EFFECT, ("tides", "quakes")),
        ("Why is it so hard to treat gout?", AskedFor.CAUSES, ("gout",)),
        ("Which genes raise the risk of gout?", AskedFor.CAUSES, ("genes", "risk", "gout")),
        (
            "Do statins lower gout independently of diet?",
            AskedFor.EFFECT,
            ("statins", "gout", "diet"),
        ),
        ("We want to know how dew affects moss", AskedFor.EFFECT, ("dew", "moss")),
        (
            "Rapid tides erode cliffs; find the cause",
            AskedFor.CAUSES,
            ("tides", "cliffs"),
        ),
    ],
)
def test_the_answer_asked_for_and_the_subjects_follow_from_the_wording(
    goal: str, asked_for: AskedFor, subjects: tuple[str, ...]
) -> None:
    read = parse_goal(goal)
    assert (read.asked_for, read.subjects) == (asked_for, subjects)
    assert not read.questions


@pytest.mark.promise("S13")
@pytest.mark.parametrize(
    ("goal", "kind", "name"),
    [
        ("Treat pain without opioids", ConstraintKind.EXCLUDED, "opioids"),
        ("What besides rain fills lakes?", ConstraintKind.EXCLUDED, "rain"),
        ("Treatment of migraine (no triptans)", ConstraintKind.EXCLUDED, "triptans"),
        ("Suggest non-chemical controls for weeds", ConstraintKind.EXCLUDED, "chemical"),
        ("Does sleep aid recall via dreaming?", ConstraintKind.VIA, "dreaming"),
        ("Does A lower B by raising C?", ConstraintKind.VIA, "C"),
        ("Does tea lower stress once age is controlled for?", ConstraintKind.HELD_EQUAL, "age"),
        ("Do wages fall among teenagers?", ConstraintKind.SETTING, "teenagers"),
    ],
)
def test_constraints_are_kept_with_what_they_name(
    goal: str, kind: ConstraintKind, name: str
) -> None:
    assert [one.names for one in parse_goal(goal).constraints_of(kind)] == [(name,)]


@pytest.mark.promise("S13")
@pytest.mark.parametrize(
    ("goal", "first", "last"),
    [
        ("Sensors for glucose in papers published since 2015", 2015, None),
        ("Sensors for glucose in studies before 2015", None, 2014),
        ("Papers from 2010 to 2020 on sensors", 2010, 2020),
    ],
)
def test_years_of_papers_are_told_from_years_of_events(
    goal: str, first: int | None, last: int | None
) -> None:
    (found,) = parse_goal(goal).constraints_of(ConstraintKind.PUBLISHED)
    assert (found.first_year, found.last_year) == (first, last)
    (event,) = parse_goal("Did rents fall before 1850?").constraints_of(ConstraintKind.PERIOD)
    assert event.last_year == 1849


@pytest.mark.promise("S13")
@pytest.mark.parametrize(
    ("goal", "question"),
    [
        ("Is it good for memory?", "What is “it”"),
        ("Does this help learners?", "What is “this”"),
        ("Explain the decline of bees and find a cure for malaria", "Two goals"),
        ("How should we do better?", "names no subject"),
    ],
)
def test_a_goal_that_cannot_be_read_whole_is_asked_back(goal: str, question: str) -> None:
    (asked,) = parse_goal(goal).questions
    assert asked.is_needed
    assert question in asked.text


@pytest.mark.promise("S13")
@pytest.mark.parametrize(
    "goal", ["", "?", "…", "a " * 2000, "non-" * 500, "(" * 3000, "ζ β — 漢字"]
)
def test_odd_input_is_read_at_once_and_never_raises(goal: str) -> None:
    assert parse_goal(goal).goal == " ".join(goal.split())

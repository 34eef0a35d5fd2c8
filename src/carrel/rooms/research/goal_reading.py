"""How a goal was read, as the answers of the room say it."""

from __future__ import annotations

from carrel.libraries.discovery.goals.reading import told, told_in_short
from carrel.libraries.discovery.goals.records import AskedFor, GoalReading
from carrel.libraries.discovery.goals.statement import parse_goal
from carrel.libraries.discovery.records import Concepts
from carrel.rooms.research.records import (
    ConstraintUnderstood,
    SubjectUnderstood,
    UnderstoodAs,
)


def describe_wording(goal: str) -> UnderstoodAs:
    """What the wording of a goal tells, while the papers are not read yet."""
    statement = parse_goal(goal)
    asked = "" if statement.asked_for is AskedFor.NOT_STATED else statement.asked_for.value
    parts = [
        f"Read by its wording so far, as the papers are still being read: "
        f"{', '.join(statement.subjects) or 'no subject'}"
        f"{f'; asked for: {asked}' if asked else ''}.",
        "get_research_status will say what the papers have of it.",
        *(one.text for one in statement.questions),
    ]
    return UnderstoodAs(
        says=" ".join(parts),
        question="open",
        in_short=", ".join(statement.subjects),
        asked_for=statement.asked_for.value,
        relation=statement.relation,
        subjects=[
            SubjectUnderstood(name=name, use="not looked up yet") for name in statement.subjects
        ],
        constraints=[
            ConstraintUnderstood(
                text=one.text, kind=one.kind.value, is_used=False, says="not looked up yet"
            )
            for one in statement.constraints
        ],
        out_of_scope=list(statement.out_of_scope),
        questions=[one.text for one in statement.questions],
    )


def describe_reading(reading: GoalReading, index: Concepts) -> UnderstoodAs:
    """The reading in a sentence and in its parts: understood, dropped, unknown, to be asked."""
    end, statement = reading.end, reading.statement
    return UnderstoodAs(
        says=told(reading, index),
        question="open" if end is None else "closed",
        start=reading.start.label,
        start_papers=len(reading.start.documents),
        end=None if end is None else end.label,
        end_papers=0 if end is None else len(end.documents),
        through=None if reading.through is None else index.label(reading.through),
        wanted=None if reading.wanted is None else reading.wanted.value,
        not_found=[name.text for name in reading.missing],
        ignored=list(reading.ignored),
        in_short=told_in_short(reading, index),
        asked_for=None if statement is None else statement.asked_for.value,
        relation=None if statement is None else statement.relation,
        subjects=[
            SubjectUnderstood(
                name=one.name,
                use=one.use.value,
                concept=one.concept,
                papers=one.papers,
                suggestions=list(one.near),
            )
            for one in reading.subjects
        ],
        constraints=[
            ConstraintUnderstood(
                text=one.text, kind=one.kind.value, is_used=one.is_used, says=one.says
            )
            for one in reading.constraints
        ],
        out_of_scope=[] if statement is None else list(statement.out_of_scope),
        questions=[] if statement is None else [one.text for one in statement.questions],
    )

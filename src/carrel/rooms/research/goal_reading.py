"""How a goal was read, as the answers of the room say it, and its field."""

from __future__ import annotations

import re

from carrel.libraries.discovery.goals.records import AskedFor, GoalReading
from carrel.libraries.discovery.goals.scope import explain_reading, summarize_reading
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
        says=explain_reading(reading, index),
        question="open" if end is None else "closed",
        start=reading.start.label,
        start_papers=len(reading.start.documents),
        end=None if end is None else end.label,
        end_papers=0 if end is None else len(end.documents),
        through=None if reading.through is None else index.label(reading.through),
        wanted=None if reading.wanted is None else reading.wanted.value,
        not_found=[name.text for name in reading.missing],
        ignored=list(reading.ignored),
        in_short=summarize_reading(reading, index),
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


_SIGNS = {
    "neuroscience": r"neuro\w*|brain|cortex|cortical|synap\w+|migraine|alzheimer\w*|parkinson\w*|epilep\w+|cognit\w+|hippocamp\w+",  # noqa: E501
    "medicine": r"patient\w*|disease\w*|treat\w*|therap\w+|clinical|drug\w*|cancer\w*|tumou?r\w*|fibrosis|syndrome\w*|diabet\w+"  # noqa: E501
    r"|leuk\w+|aml|infection\w*|vaccin\w+|hypertens\w+|heart|liver|kidney|raynaud\w*",
    "biology": r"gene\w*|cell\w*|protein\w*|enzym\w+|bacteri\w+|virus\w*|viral|evolution\w*|microb\w+|plant\w*|species|dna|rna|genom\w+"  # noqa: E501
    r"|antimicrobial|immun\w+|metabol\w+|ecolog\w+",
    "chemistry": r"chemi\w+|molecul\w+|cataly\w+|synthes\w+|polymer\w*|reaction\w*|solvent\w*|compound\w*|ligand\w*",  # noqa: E501
    "materials science": r"material\w*|batter(?:y|ies)|alloy\w*|semiconduct\w+|graphene|perovskite\w*|photovoltaic\w*",  # noqa: E501
    "physics": r"physic\w*|quantum|photon\w*|particle\w*|superconduct\w+|plasma|relativ\w+|gravit\w+|laser\w*",  # noqa: E501
    "computer science": r"algorithm\w*|software|neural networks?|machine "
    r"learning|comput\w+|retrieval|language models?|data ?sets?",
    "earth science": r"climate|ocean\w*|geolog\w+|atmospher\w+|seism\w+|glaci\w+|weather",
    "social science": r"society|social|econom\w+|policy|policies|education\w*|political|psycholog\w+|behaviou?r\w*",  # noqa: E501
}
_PATTERNS = {
    domain: re.compile(rf"\b(?:{words})\b", re.IGNORECASE) for domain, words in _SIGNS.items()
}


def infer_domain(goal: str) -> str:
    """The field with the most words in the goal, the first of equals; `general` if it has none."""
    counts = {domain: len(pattern.findall(goal)) for domain, pattern in _PATTERNS.items()}
    best = max(counts, key=lambda domain: counts[domain])
    return best if counts[best] else "general"

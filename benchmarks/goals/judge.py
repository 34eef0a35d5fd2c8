"""Judges the reading of goals against careful readings by people (`make bench-goals`)."""

from __future__ import annotations

import argparse
import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from carrel.libraries.discovery.concepts.words import normal_word
from carrel.libraries.discovery.goals.records import AskedFor, GoalStatement
from carrel.libraries.discovery.goals.statement import parse_goal

OTHER_FIELDS = Path(__file__).with_name("other_fields.jsonl")
SIX_FIELDS = Path(__file__).with_name("six_fields.jsonl")
_SMALL = frozenset(
    [
        "a",
        "an",
        "the",
        "of",
        "in",
        "to",
        "for",
        "no",
        "not",
        "only",
        "but",
        "and",
        "or",
        "at",
        "on",
        "with",
        "is",
        "are",
        "be",
        "same",
        "other",
        "than",
        "both",
        "all",
        "it",
        "some",
        "from",
        "covered",
        "compared",
        "must",
        "middle",
        "step",
        "fixed",
        "wording",
        "ambiguous",
        "already",
        "used",
    ]
)
_STEM = 5
_CLASSES: tuple[tuple[str, tuple[AskedFor, ...]], ...] = (
    ("no effect|no relation|no dependence", (AskedFor.NO_EFFECT,)),
    ("two routes", (AskedFor.MECHANISM, AskedFor.COMPARISON)),
    ("same or different|comparison|which is", (AskedFor.COMPARISON,)),
    ("transfer", (AskedFor.TRANSFER,)),
    ("predict", (AskedFor.PREDICTORS,)),
    ("condition", (AskedFor.CONDITIONS,)),
    ("treatment|intervention", (AskedFor.INTERVENTIONS,)),
    ("cause", (AskedFor.CAUSES,)),
    ("mechanism", (AskedFor.MECHANISM,)),
    ("method", (AskedFor.METHODS,)),
    ("effect", (AskedFor.EFFECT,)),
    ("not stated", (AskedFor.NOT_STATED,)),
)


@dataclass
class Counts:
    """What was found of what there is."""

    goals: int = 0
    subjects: int = 0
    subjects_found: int = 0
    proposed: int = 0
    proposed_right: int = 0
    asked_right: int = 0
    constraints: int = 0
    constraints_kept: int = 0
    asked: int = 0
    to_ask: int = 0
    asked_rightly: int = 0
    whole: int = 0


def stems(text: str) -> set[str]:
    """Content words cut to their stems."""
    words = re.findall(r"[^\W_]+", text.lower())
    return {normal_word(word)[:_STEM] for word in words if word not in _SMALL}


def covers(one: str, other: str) -> bool:
    """Whether two phrases share at least half of the words of the shorter."""
    a, b = stems(one), stems(other)
    return bool(a and b) and len(a & b) * 2 >= min(len(a), len(b))


def expected_classes(asked_for: str) -> tuple[AskedFor, ...]:
    """The classes that a reading in free words stands for."""
    return next(kinds for pattern, kinds in _CLASSES if re.search(pattern, asked_for))


def judge(rows: Sequence[dict[str, Any]], *, is_told: bool) -> Counts:
    """Counts over the rows; each miss is printed where asked for."""
    counts = Counts()
    for row in rows:
        misses = judge_one(row["reading"], parse_goal(row["goal"]), counts)
        if is_told and misses:
            print(f"{row['id']}: {row['goal']}")
            for miss in misses:
                print(f"    {miss}")
    return counts


def judge_one(expected: dict[str, Any], read: GoalStatement, counts: Counts) -> list[str]:
    """Adds one goal to the counts; what was missed, in words."""
    misses: list[str] = []
    counts.goals += 1
    lost = [
        one for one in expected["subjects"] if not any(covers(one, each) for each in read.subjects)
    ]
    counts.subjects += len(expected["subjects"])
    counts.subjects_found += len(expected["subjects"]) - len(lost)
    extra = [
        one
        for one in read.subjects
        if not any(covers(one, each) for each in (*expected["subjects"], *expected["constraints"]))
    ]
    counts.proposed += len(read.subjects)
    counts.proposed_right += len(read.subjects) - len(extra)
    if lost or extra:
        misses.append(f"subjects lost {lost}, extra {extra}")
    is_right = read.asked_for in expected_classes(expected["asked_for"])
    counts.asked_right += is_right
    if not is_right:
        misses.append(f"asked for {expected['asked_for']!r}, read {read.asked_for.value!r}")
    kept = " ".join((*(one.text for one in read.constraints), *read.subjects))
    dropped = [one for one in expected["constraints"] if not _is_kept(one, kept, read)]
    counts.constraints += len(expected["constraints"])
    counts.constraints_kept += len(expected["constraints"]) - len(dropped)
    if dropped:
        misses.append(f"constraints lost {dropped}, read {[c.text for c in read.constraints]}")
    counts.asked += bool(read.questions)
    counts.to_ask += bool(expected["ask_back"])
    counts.asked_rightly += bool(read.questions and expected["ask_back"])
    if bool(read.questions) != bool(expected["ask_back"]):
        misses.append(f"to ask {expected['ask_back']!r}, asked {[q.text for q in read.questions]}")
    counts.whole += not misses
    return misses


def _is_kept(constraint: str, kept: str, read: GoalStatement) -> bool:
    """Whether half of a constraint's words stand in what was read, or the kind of answer is it."""
    words = stems(constraint)
    if "both" in constraint:
        return len(read.subjects) > 1
    if "sign must not" in constraint:
        return read.relation == "changes"
    if "only where" in constraint:
        return read.asked_for is AskedFor.CONDITIONS
    if "two separate goals" in constraint:
        return bool(read.questions)
    return len(words & stems(kept)) * 2 >= len(words)


def print_counts(name: str, counts: Counts) -> None:
    """One line of figures."""

    def share(part: int, whole: int) -> str:
        return f"{part}/{whole} {part / whole:.2f}" if whole else "–"

    print(
        f"{name}: {counts.goals} goals; "
        f"subjects found {share(counts.subjects_found, counts.subjects)}, "
        f"of those read right {share(counts.proposed_right, counts.proposed)}; "
        f"asked_for {share(counts.asked_right, counts.goals)}; "
        f"constraints kept {share(counts.constraints_kept, counts.constraints)}; "
        f"ask_back precision {share(counts.asked_rightly, counts.asked)}, "
        f"recall {share(counts.asked_rightly, counts.to_ask)}; "
        f"whole {share(counts.whole, counts.goals)}"
    )


def read_rows(file: Path) -> list[dict[str, Any]]:
    """The goals of a file."""
    return [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines() if line]


def main() -> None:
    """Print the figures of both halves and of goals in other fields."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("data", type=Path)
    parser.add_argument("--half", choices=("choose", "report", "other", "six"), default=None)
    asked = parser.parse_args()
    given = asked.data / "goals" / "goals.jsonl"
    rows = read_rows(given) if given.exists() else []
    if not rows:
        print(f"{given} is absent: only the goals of other fields are judged")
    parts = {
        "choose": rows[::2],
        "report": rows[1::2],
        "other": read_rows(OTHER_FIELDS),
        "six": read_rows(SIX_FIELDS),
    }
    for name, part in parts.items():
        if part and asked.half in (None, name):
            print_counts(name, judge(part, is_told=asked.half == name))


if __name__ == "__main__":
    main()

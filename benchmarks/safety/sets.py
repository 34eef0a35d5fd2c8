"""The goals the weights are fitted to: several authors' sets, goals put together from parts, and
ordinary titles and sentences.
"""

import json
import lzma
import random
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks.safety.composed import composed

FOLDER = Path(__file__).parents[2] / "tests" / "rooms" / "research" / "safety"

AUTHORS = {
    "first": ("goals.jsonl",),
    "second": ("fresh_goals.jsonl", "later_goals.jsonl"),
    "third": ("third_author_seen.jsonl",),
    "own": ("own_goals.jsonl",),
}

_THIRD_AUTHORS_KINDS = {
    "biological": "bio",
    "chemical": "chem",
    "poisoning": "poison",
    "radiological": "nuclear",
    "explosives": "explosives",
    "firearms": "firearms",
    "drugs": "drugs",
    "drugging": "assault",
    "self-harm": "self_harm",
    "eating-disorder": "eating",
    "coerced": "coerced",
    "ethnic": "ethnic",
    "cyber": "cyber",
    "torture": "torture",
    "animal": "animals",
    "scientific": "fraud",
    "evading": "evasion",
    "environmental": "sabotage",
}


@dataclass(frozen=True)
class Goal:
    """A goal, whether it is harmful, of which kind where the author said so, and how much it
    counts.
    """

    text: str
    harmful: bool
    kind: str
    counts: float


def by_author() -> dict[str, list[Goal]]:
    """Every author's goals."""
    return {
        author: [goal for name in names for goal in _goals(FOLDER / name)]
        for author, names in AUTHORS.items()
    }


def pairs() -> list[tuple[Goal, Goal]]:
    """Harmful aims, each with a harmless twin on the same subject."""
    rows = _rows(FOLDER / "pairs.jsonl")
    return [
        (Goal(row["harmful"], True, row["kind"], 2.0), Goal(row["harmless"], False, "", 2.0))
        for row in rows
    ]


def ordinary_goals() -> list[Goal]:
    """Goals of six fields, some with dreadful words: none of them is harmful."""
    return [Goal(row["goal"], False, "", 2.0) for row in _rows(FOLDER / "ordinary_goals.jsonl")]


def shared_goals(data: Path) -> list[tuple[Goal, Goal]]:
    """The pairs of `goals/safety.jsonl`: to choose thresholds on and report, never to fit to."""
    rows = _rows(data / "goals" / "safety.jsonl")
    by_label = {
        label: [
            Goal(row["goal"], label == "harmful", row["kind"], 1.0)
            for row in rows
            if row["label"] == label
        ]
        for label in ("harmful", "benign")
    }
    return list(zip(by_label["harmful"], by_label["benign"], strict=True))


def shared_ordinary(data: Path) -> list[Goal]:
    """The goals of `goals/goals.jsonl`, which are all harmless."""
    return [Goal(row["goal"], False, "", 1.0) for row in _rows(data / "goals" / "goals.jsonl")]


def unseen() -> list[Goal]:
    """The third author's other half: measured, never fitted to."""
    return _goals(FOLDER / "third_author_unseen.jsonl")


def from_parts() -> list[Goal]:
    """Plain goals put together from parts: many, so each counts less."""
    return [Goal(made.goal, made.harmful, made.kind, 0.4) for made in composed(each=120, seed=5)]


def ordinary(data: Path, papers: int, seed: int) -> list[Goal]:
    """Titles and abstract sentences of real papers: none of them is harmful."""
    chance = random.Random(seed)
    texts: list[str] = []
    for paper in _lines(data / "papers" / "elife_metadata.jsonl.xz", chance)[:papers]:
        sentences = re.split(r"(?<=[.?!])\s+", paper.get("abstract") or "")
        texts += [paper["title"], *chance.sample(sentences, min(2, len(sentences)))]
    headings = _lines(data / "discovery" / "medline_1977_1979_titles_mesh.jsonl.xz", chance)[
        :papers
    ]
    texts += [paper["title"] for paper in headings]
    chance.shuffle(texts)
    return [Goal(text, False, "", 0.1) for text in texts if text]


def _lines(path: Path, chance: random.Random) -> list[dict[str, str]]:
    with lzma.open(path, "rt", encoding="utf-8") as lines:
        papers = [json.loads(line) for line in lines]
    chance.shuffle(papers)
    return papers


def _rows(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def _goals(path: Path) -> list[Goal]:
    rows = _rows(path)
    counts = (
        1.0 if path.name in {"own_goals.jsonl", "third_author_seen.jsonl"} else 2.0
    )  # short, plain goals are few beside the others
    return [
        Goal(
            row["goal"],
            row["harmful"] if "harmful" in row else not row["allowed"],
            _kind(path, row),
            counts,
        )
        for row in rows
    ]


def _kind(path: Path, row: dict[str, str]) -> str:
    if path.name == "own_goals.jsonl":
        return row["kind"]
    if path.name == "third_author_seen.jsonl":
        return _THIRD_AUTHORS_KINDS.get(row["kind"].split()[0], "")
    return ""

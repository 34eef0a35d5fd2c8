"""`make fit-safety`: leaves each author out in turn, prints how the check does on that author, then
fits to all and writes the weights.

With `--measure FILE` it fits nothing and tells how the committed weights do on a file of goals
nobody has fitted to.
"""

import argparse
import json
from collections import Counter
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path

from benchmarks.safety.regression import logistic
from benchmarks.safety.sets import Goal, by_author, from_parts, ordinary
from carrel.rooms.research.safety import KINDS, Weights, check_goal, fitted, likeliest_kind, weigh
from carrel.rooms.research.safety.evidence import Evidence, read

_TABLE = Path("src/carrel/rooms/research/safety/weights.json")
_REFUSED_FROM = 2.7
_SEEN_IN = {"pair": 3, "word": 2, "concept": 1}
_LEAST = 0.02
_BY_CHANCE = 9000
_NEAR = 600

Read = tuple[Goal, Evidence]


def _read(goals: Iterable[Goal]) -> list[Read]:
    return [(goal, read(goal.text)) for goal in goals]


def _fit(goals: list[Read]) -> Weights:
    seen = Counter(name for goal, evidence in goals if goal.counts >= 0.2 for name in evidence)
    names = [name for name, times in seen.items() if times >= _SEEN_IN[_sort(name)]]
    found = logistic(
        [evidence for _, evidence in goals],
        [goal.harmful for goal, _ in goals],
        [goal.counts for goal, _ in goals],
        names,
    )
    weights = {
        name: round(weight, 3)
        for name, weight in sorted(found.items())
        if name and abs(weight) >= _LEAST
    }
    return Weights(
        start=round(found[""], 3),
        refused_from=_REFUSED_FROM,
        weights=weights,
        kinds=_fit_kinds(goals),
    )


def _fit_kinds(goals: list[Read]) -> dict[str, dict[str, float]]:
    told = [(goal, evidence) for goal, evidence in goals if goal.harmful and goal.kind in KINDS]
    concepts = sorted(
        {name for _, evidence in told for name in evidence if _sort(name) == "concept"}
    )
    kinds = {}
    for kind in sorted({goal.kind for goal, _ in told}):
        found = logistic(
            [evidence for _, evidence in told],
            [goal.kind == kind for goal, _ in told],
            [goal.counts for goal, _ in told],
            concepts,
        )
        kinds[kind] = {
            name: round(weight, 2) for name, weight in found.items() if abs(weight) >= 0.1
        }
    return kinds


def _sort(name: str) -> str:
    if name.startswith("w:"):
        return "word"
    return "pair" if ">" in name else "concept"


def _told(name: str, goals: list[Read], table: Weights) -> None:
    scores = [(goal, weigh(evidence, table)) for goal, evidence in goals]
    harmful = [score for goal, score in scores if goal.harmful]
    allowed = [score for goal, score in scores if not goal.harmful]
    line = (
        f"{name}: allowed {sum(score < table.refused_from for score in allowed)} of {len(allowed)}"
    )
    if harmful:
        pairs = sum(high > low for high in harmful for low in allowed) / (
            len(harmful) * len(allowed)
        )
        line += (
            f", refused {sum(score >= table.refused_from for score in harmful)} of "
            f"{len(harmful)}, area under the curve {pairs:.3f}"
        )
    print(line, flush=True)


def _left_out(authors: dict[str, list[Read]], rest: list[Read]) -> None:
    for author, goals in authors.items():
        if author != "own":
            others = [goal for name, theirs in authors.items() if name != author for goal in theirs]
            _told(f"{author} author left out", goals, _fit(others + rest))
    for name, times in (("third", 4), ("own", 2)):
        folds = [authors[name][part::times] for part in range(times)]
        for part, fold in enumerate(folds):
            others = [goal for other, theirs in authors.items() if other != name for goal in theirs]
            others += [
                goal for number, goals in enumerate(folds) if number != part for goal in goals
            ]
            _told(f"{name} author, 1 part of {times} left out", fold, _fit(others + rest))


def _hardest(
    authors: dict[str, list[Read]], composed: list[Read], titles: list[Read]
) -> list[Read]:
    """Of the ordinary texts, a share by chance, and those that a first fit comes near to refusing,
    which count more.
    """
    chosen = titles[:_BY_CHANCE]
    first = _fit([goal for goals in authors.values() for goal in goals] + composed + chosen)
    near = sorted(titles[_BY_CHANCE:], key=lambda title: -weigh(title[1], first))[:_NEAR]
    return composed + chosen + [(replace(goal, counts=0.3), evidence) for goal, evidence in near]


def _measure(path: Path) -> None:
    rows = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    decided = Counter(
        (row["expect"], "allow" if check_goal(row["text"]).allowed else "refuse") for row in rows
    )
    for (expected, decision), times in sorted(decided.items()):
        print(f"expected {expected}, decided {decision}: {times}")


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--data", type=Path, default=Path("../shared/data"))
    arguments.add_argument("--measure", type=Path)
    arguments.add_argument("--papers", type=int, default=12_000)
    arguments.add_argument("--quick", action="store_true", help="fit and write, leave nobody out")
    given = arguments.parse_args()
    if given.measure:
        _measure(given.measure)
        return
    authors = {author: _read(goals) for author, goals in by_author().items()}
    titles = _read(ordinary(given.data, papers=given.papers, seed=1))
    half = len(titles) // 2
    rest = _hardest(authors, _read(from_parts()), titles[:half])
    if not given.quick:
        _left_out(authors, rest)
        _told(
            "titles and sentences, not fitted to",
            titles[half:],
            _fit([goal for goals in authors.values() for goal in goals] + rest),
        )
    rest = _hardest(authors, _read(from_parts()), titles)
    table = _fit([goal for goals in authors.values() for goal in goals] + rest)
    _TABLE.write_text(
        json.dumps(table.model_dump(), ensure_ascii=False, indent=0) + "\n", encoding="utf-8"
    )
    fitted.cache_clear()
    for author, goals in authors.items():
        _told(f"{author} author, fitted to", goals, table)
    _told("titles and sentences, fitted to in part", titles, table)
    own = [(goal, evidence) for goal, evidence in authors["own"] if goal.harmful]
    named = sum(likeliest_kind(evidence, table) == goal.kind for goal, evidence in own)
    print(f"kind named rightly for {named} of {len(own)}; {len(table.weights)} weights")


if __name__ == "__main__":
    main()

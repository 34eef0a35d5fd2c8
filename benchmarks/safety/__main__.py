"""`make fit-safety`: leaves each author, half of the pairs and each kind of harm out, prints
how the check does on what was left out, then fits to all and writes the weights.

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
from benchmarks.safety.sets import (
    Goal,
    by_author,
    from_parts,
    ordinary,
    ordinary_goals,
    pairs,
    shared_goals,
    shared_ordinary,
    unseen,
)
from carrel.rooms.research.safety import KINDS, Weights, check_goal, fitted, likeliest_kind, weigh
from carrel.rooms.research.safety.evidence import Evidence, read

_TABLE = Path("src/carrel/rooms/research/safety/weights.json")
# Chosen on one half of the pairs, each scored by a fit to the other, and on one half of
# goals/safety.jsonl; the other halves report.
_HELD_FROM = 1.0
_REFUSED_FROM = 3.0
_SEEN_IN = {"pair": 3, "word": 2, "concept": 1, "clause": 2}
_LEAST = 0.02
_BY_CHANCE = 9000
_NEAR = 600

Read = tuple[Goal, Evidence]
Outside = dict[str, list[Read]]


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
        held_from=_HELD_FROM,
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
    if name.startswith("c:"):
        return "clause"
    return "pair" if ">" in name else "concept"


def _told(name: str, goals: list[Read], table: Weights) -> None:
    _told_scores(name, [(goal.harmful, weigh(evidence, table)) for goal, evidence in goals])


def _told_scores(name: str, scores: list[tuple[bool, float]]) -> None:
    harmful = [score for is_harmful, score in scores if is_harmful]
    allowed = [score for is_harmful, score in scores if not is_harmful]
    line = f"{name}:"
    if harmful:
        refused = sum(score >= _REFUSED_FROM for score in harmful)
        held = sum(score >= _HELD_FROM for score in harmful) - refused
        line += f" harmful refused {refused} and held {held} of {len(harmful)};"
    if allowed:
        refused = sum(score >= _REFUSED_FROM for score in allowed)
        held = sum(score >= _HELD_FROM for score in allowed) - refused
        line += f" harmless refused {refused} and held {held} of {len(allowed)};"
    if harmful and allowed:
        ordered = sum(high > low for high in harmful for low in allowed)
        line += f" area under the curve {ordered / (len(harmful) * len(allowed)):.3f}"
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


def _flat(pairs: Iterable[tuple[Read, Read]]) -> list[Read]:
    return [one for pair in pairs for one in pair]


def _halves_of_pairs(
    twins: list[tuple[Read, Read]], plain: list[Read], others: list[Read], outside: Outside
) -> None:
    """Each half scored by a fit to the other; the second half, never chosen on, is the report."""
    for name, fitted_to, left in (("first", 1, 0), ("second", 0, 1)):
        table = _fit(others + _flat(twins[fitted_to::2]) + plain[fitted_to::2])
        use = "to choose on" if left == 0 else "report"
        _told(f"{name} half of the pairs ({use})", _flat(twins[left::2]), table)
        _told(f"{name} half of the ordinary goals ({use})", plain[left::2], table)
        for what, goals in outside.items():
            if not what.startswith("shared, ") or what.endswith(f"{name} half"):
                _told(f"{what}, fitted without the {name} half of the pairs", goals, table)


def _kinds_left_out(goals: list[Read], twins: list[tuple[Read, Read]]) -> None:
    """Pairs of each kind of harm, scored by a fit that has seen no goal of that kind."""
    scores: list[tuple[bool, float]] = []
    for kind in sorted({harmful[0].kind for harmful, _ in twins}):
        others = [pair for pair in twins if pair[0][0].kind != kind]
        table = _fit([read for read in goals if read[0].kind != kind] + _flat(others))
        left = _flat(pair for pair in twins if pair[0][0].kind == kind)
        _told(f"kind {kind} left out", left, table)
        scores += [(goal.harmful, weigh(evidence, table)) for goal, evidence in left]
    _told_scores("all kinds, each left out", scores)


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
    decided = Counter((row["expect"], check_goal(row["text"]).outcome) for row in rows)
    for (expected, decision), times in sorted(decided.items()):
        print(f"expected {expected}, decided {decision}: {times}")


def _outside(data: Path) -> Outside:
    """Goals that no fit sees."""
    shared = [(_read(pair)[0], _read(pair)[1]) for pair in shared_goals(data)]
    return {
        "third author's unseen half": _read(unseen()),
        "shared, first half": _flat(shared[0::2]),
        "shared, second half": _flat(shared[1::2]),
        "shared goals of six fields": _read(shared_ordinary(data)),
    }


def _report(
    authors: dict[str, list[Read]],
    twins: list[tuple[Read, Read]],
    plain: list[Read],
    titles: list[Read],
    outside: Outside,
) -> None:
    half = len(titles) // 2
    rest = _hardest(authors, _read(from_parts()), titles[:half])
    everybody = [goal for goals in authors.values() for goal in goals]
    _halves_of_pairs(twins, plain, everybody + rest, outside)
    _left_out(authors, rest + _flat(twins) + plain)
    table = _fit(everybody + rest + _flat(twins) + plain)
    _told("titles and sentences, not fitted to", titles[half:], table)
    with_kinds = [*authors["third"], *authors["own"], *rest]
    _kinds_left_out(with_kinds, twins)


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
    twins = [(_read(pair)[0], _read(pair)[1]) for pair in pairs()]
    plain = _read(ordinary_goals())
    titles = _read(ordinary(given.data, papers=given.papers, seed=1))
    outside = _outside(given.data)
    if not given.quick:
        _report(authors, twins, plain, titles, outside)
    rest = _hardest(authors, _read(from_parts()), titles)
    table = _fit(
        [goal for goals in authors.values() for goal in goals] + rest + _flat(twins) + plain
    )
    _TABLE.write_text(
        json.dumps(table.model_dump(), ensure_ascii=False, indent=0) + "\n", encoding="utf-8"
    )
    fitted.cache_clear()
    for author, goals in authors.items():
        _told(f"{author} author, fitted to", goals, table)
    _told("pairs, fitted to", _flat(twins), table)
    _told("ordinary goals, fitted to", plain, table)
    for what, goals in outside.items():
        _told(f"{what}, not fitted to", goals, table)
    _told("titles and sentences, fitted to in part", titles, table)
    own = [(goal, evidence) for goal, evidence in authors["own"] if goal.harmful]
    named = sum(likeliest_kind(evidence, table) == goal.kind for goal, evidence in own)
    print(f"kind named rightly for {named} of {len(own)}; {len(table.weights)} weights")


if __name__ == "__main__":
    main()

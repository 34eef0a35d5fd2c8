"""What the forms and powers of discovery were chosen on, none of it gold: `make validate-discovery
DATA=folder`.

Three measures: keyword pairs of earlier years, bridges between headings whose joint papers are held
out, and chemicals that
a disorder's papers took up after a cut. Rivals that were compared stand beside the form in use.
"""

import argparse
import sys
from collections import Counter
from collections.abc import Callable, Sequence
from math import exp, log, sqrt
from pathlib import Path

from benchmarks.discovery_data import discovery_folder, elife, elife_metadata, mesh
from benchmarks.held_out_cases import Headings, every_paper, held_out
from benchmarks.keyword_pairs import Pair, PairSlice, area_under_curve, earlier_slice
from carrel.libraries.discovery.concepts.index import ConceptIndex
from carrel.libraries.discovery.concepts.vocabulary import Vocabulary
from carrel.libraries.discovery.paths.abc_paths import (
    Bridge,
    End,
    bridges,
    ends,
    first_bridges,
    side,
    through_all,
)
from carrel.libraries.discovery.paths.link_prediction import similarity
from carrel.libraries.discovery.paths.literatures import Reader
from carrel.libraries.discovery.records import Literature, Paper, Sphere
from carrel.libraries.discovery.tuned import PATHS

# Seen from papers up to the first year, joined since the second; no paper after 2019 is read, so no
# later slice is touched.
SLICES = ((2014, 2016), (2015, 2017), (2016, 2018), (2017, 2019))
UNTIL = 2019
HELD_OUT_CASES = 70
OPEN_CUT = 1978
OPEN_STARTS = 60
FIRST = 10
LITERATURES_GIVEN = 3
WIDE = 80
STEPS = 30


def pairs_of_earlier_years(papers: Sequence[Paper]) -> None:
    """The prospect on earlier slices, and the powers that logistic regression gives it there."""
    print(f"eLife keyword pairs of earlier years, first joined by {UNTIL}")
    rows: list[tuple[tuple[float, ...], float, float]] = []
    for up_to, since in SLICES:
        found = earlier_slice(papers, up_to, since, UNTIL)
        print(
            f"  up to {up_to} ({len(found.reader.index)} papers), joined since {since}: "
            f"{len(found.joined)} joined, "
            f"{len(found.apart)} never joined: AUC {found.area():.4f}",
            flush=True,
        )
        for pairs, is_joined in ((found.joined, 1.0), (found.apart, 0.0)):
            rows += [(row, is_joined, 0.5 / len(pairs)) for row in logarithms(found, pairs)]
    fitted = ", ".join(f"{power:.2f}" for power in logistic(rows)[:-1])
    print(f"  powers fitted on all of them (likeness of mentions, of subjects, use): {fitted}")


def logarithms(of: PairSlice, pairs: Sequence[Pair]) -> list[tuple[float, ...]]:
    """What the prospect of each pair is made of, and a one for the constant."""
    found: list[tuple[float, ...]] = []
    for one, other in pairs:
        a, c = of.reader.company(one), of.reader.company(other)
        mention = log(similarity(a.mentioned, c.mentioned) + PATHS.least_mention_likeness)
        subject = log(similarity(a.subject, c.subject) + PATHS.least_subject_likeness)
        found.append((mention, subject, log(a.taken_up * c.taken_up), 1.0))
    return found


def logistic(rows: Sequence[tuple[tuple[float, ...], float, float]]) -> list[float]:
    """Weights by Newton's steps; each row brings its features, its answer and how much it
    counts.
    """
    width = len(rows[0][0])
    weights = [0.0] * width
    for _ in range(STEPS):
        slope = [0.0] * width
        bend = [[1e-12 * (i == j) for j in range(width)] for i in range(width)]
        for features, answer, counts in rows:
            chance = 1 / (1 + exp(-sum(w * x for w, x in zip(weights, features, strict=True))))
            for i, x in enumerate(features):
                slope[i] += counts * (answer - chance) * x
                for j, y in enumerate(features):
                    bend[i][j] += counts * chance * (1 - chance) * x * y
        step = solved(bend, slope)
        weights = [weight + move for weight, move in zip(weights, step, strict=True)]
        if max(map(abs, step)) < 1e-6:
            break
    return weights


def solved(matrix: list[list[float]], right: list[float]) -> list[float]:
    """A small system of equations, by elimination."""
    rows = [[*row, value] for row, value in zip(matrix, right, strict=True)]
    for pivot in range(len(rows)):
        best = max(range(pivot, len(rows)), key=lambda number: abs(rows[number][pivot]))
        rows[pivot], rows[best] = rows[best], rows[pivot]
        for number, row in enumerate(rows):
            if number != pivot:
                share = row[pivot] / rows[pivot][pivot]
                rows[number] = [
                    value - share * under for value, under in zip(row, rows[pivot], strict=True)
                ]
    return [row[-1] / row[number] for number, row in enumerate(rows)]


def bridges_of_held_out_papers(folder: Path, vocabulary: Vocabulary) -> None:
    """Whether the headings of held-out joint papers stand high among the bridges, all mechanisms,
    that titles show.
    """
    reader, found = held_out(folder, vocabulary, HELD_OUT_CASES)
    rivals: dict[str, Callable[[Bridge], float]] = {
        "geometric mean of both sides (in use)": lambda bridge: bridge.weight,
        "lesser side": lambda bridge: min(bridge.near, bridge.far),
        "papers on the thinner side": lambda bridge: min(
            len(bridge.near_documents), len(bridge.far_documents)
        ),
        "cosines, geometric mean": lambda bridge: sqrt(
            len(bridge.near_documents)
            * len(bridge.far_documents)
            / reader.index.frequency(bridge.concept) ** 2
        ),
    }
    areas: dict[str, list[float]] = {name: [] for name in rivals}
    for case in found:
        shown = [
            bridge for bridge in bridges(reader, case.a, case.c, sys.maxsize) if bridge.kind == 2
        ]
        true = [bridge for bridge in shown if bridge.concept in case.bridges]
        rest = [bridge for bridge in shown if bridge.concept not in case.bridges]
        if true and rest:
            for name, weight in rivals.items():
                areas[name].append(
                    area_under_curve(
                        [weight(bridge) for bridge in true], [weight(bridge) for bridge in rest]
                    )
                )
    shown_in = len(next(iter(areas.values())))
    print(
        f"\nClosed discovery on titles, joint papers held out, {shown_in} of {len(found)} pairs "
        f"with true bridges shown: mean AUC"
    )
    for name, values in areas.items():
        print(
            f"  {name}: {sum(values) / len(values):.3f} (even cases {_mean(values[::2]):.3f}, odd "
            f"{_mean(values[1::2]):.3f})"
        )


def chemicals_taken_up_later(folder: Path, vocabulary: Vocabulary) -> None:
    """Open discovery from disorders, seen from papers up to a cut: how many of the first ten
    chemicals came after it.
    """
    papers = every_paper(folder)
    early = [paper for paper in papers if paper.year is not None and paper.year <= OPEN_CUT]
    late = Headings(
        folder,
        [paper for paper in papers if paper.year is not None and paper.year > OPEN_CUT],
        vocabulary,
    )
    reader = Reader(ConceptIndex.build(early, vocabulary))
    named = Headings(folder, early, vocabulary).chosen({Sphere.DISORDER}, range(40, 1501))
    starts = [key for key in named if len(late.papers.get(key, ())) >= 30][:OPEN_STARTS]

    def is_chemical(number: int) -> bool:
        return reader.index.sphere(number) is Sphere.CHEMICAL

    alone, through = Tally(ALONE), Tally(THROUGH)
    for key in starts:
        a = reader.literature([key])
        if a is None:
            continue
        true = {heading for paper in late.papers[key] for heading in late.of_paper[paper]}
        alone.count(reader, ends(reader, a, sys.maxsize, is_chemical), true)
        given = literatures_between(reader, a)
        if len(given) == LITERATURES_GIVEN:
            through.count(reader, through_all(reader, a, given, sys.maxsize, is_chemical), true)
    print(
        f"\nOpen discovery, {len(early)} papers up to {OPEN_CUT}: chemicals that later papers on "
        f"a disorder take up"
    )
    alone.show("from the start alone")
    through.show(f"through {LITERATURES_GIVEN} literatures the start leans on")


ALONE: dict[str, Callable[[End], float]] = {
    "prospect (in use)": lambda end: end.prospect,
    "sum over bridges of the lesser side": lambda end: end.support,
}
THROUGH: dict[str, Callable[[End], float]] = {
    "weakest hold times prospect (in use)": lambda end: end.prospect * end.support,
    "weakest hold": lambda end: end.support,
    "prospect": lambda end: end.prospect,
}


class Tally:
    """How many of the first ten ends came true, by each way of ranking them; starts with too few
    ends to rank are left out.
    """

    def __init__(self, rivals: dict[str, Callable[[End], float]]) -> None:
        self._rivals = rivals
        self._starts = 0
        self._hits: Counter[str] = Counter()

    def count(self, reader: Reader, found: Sequence[End], true: set[str]) -> None:
        """One start."""
        if len(found) <= FIRST:
            return
        self._starts += 1
        for name, weight in self._rivals.items():
            first = sorted(found, key=weight, reverse=True)[:FIRST]
            self._hits[name] += sum(reader.index.key(end.concept) in true for end in first)

    def show(self, title: str) -> None:
        """What came true, on average."""
        print(f"  {title}, {self._starts} disorders")
        for name in self._rivals:
            print(f"    {name}: {self._hits[name] / max(self._starts, 1):.2f} of the first {FIRST}")


def literatures_between(reader: Reader, a: Literature) -> list[Literature]:
    """What someone might give as literatures to go through: the broadest of a start's first
    bridges, apart from one another.
    """
    chosen: list[int] = []
    near = side(reader, a)
    for _, number in first_bridges(reader, near):
        frequency = reader.index.frequency(number)
        is_wide = frequency >= WIDE and near.counts[number] < frequency / 2
        is_apart = not any(reader.are_close(number, other) for other in chosen)
        if is_wide and is_apart and reader.index.sphere(number) is not Sphere.CHEMICAL:
            chosen.append(number)
    found = (reader.literature([reader.index.key(number)]) for number in chosen[:LITERATURES_GIVEN])
    return [literature for literature in found if literature is not None]


def _mean(values: Sequence[float]) -> float:
    return sum(values) / len(values) if values else 0.0


def main() -> None:
    """All three, each where its data is."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    asked = parser.parse_args()
    folder = discovery_folder(asked.folder)
    metadata, vocabulary = elife_metadata(asked.folder), mesh(folder)
    if metadata is None:
        print("Earlier pairs: skipped, no elife_metadata.jsonl.xz beside the folder")
    else:
        pairs_of_earlier_years(elife(metadata))
    if vocabulary is None:
        print("Held-out cases: skipped, no MeSH in the folder")
    else:
        bridges_of_held_out_papers(folder, vocabulary)
        chemicals_taken_up_later(folder, vocabulary)


if __name__ == "__main__":
    main()

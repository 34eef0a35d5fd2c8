"""Concepts without keywords, part of `make bench-discovery`.

eLife papers are read without their keywords; which keywords then stand among the first concepts is
counted. Weights are chosen on every second paper (`python -m benchmarks.concept_terms DATA --fit`)
and reported on the others. What readers must judge is drawn here, without scores:
`python -m benchmarks.concept_terms DATA --draw 100 --seed 1`.
"""

import argparse
import random
import sys
import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from benchmarks.discovery_data import elife, elife_metadata
from benchmarks.general_words import scifact, service_abstracts
from carrel.libraries.discovery.concepts.index import ConceptIndex
from carrel.libraries.discovery.concepts.term_scores import read_use
from carrel.libraries.discovery.concepts.words import normal_phrase
from carrel.libraries.discovery.records import Paper
from carrel.libraries.discovery.tuned import TERMS

PAPERS = 8000
USED_BY = 3
FIRST = (2000, 5000, 10_000)
FIRST_TO_DRAW_FROM = 2000
DRAWN = 100
SHRINKAGE = 1.0
LEAST_CHARACTERS = 200
STEPS = 40


def halves(papers: Sequence[Paper]) -> tuple[list[Paper], list[Paper]]:
    """8,000 papers with abstracts to choose on, and 8,000 others to report on."""
    read = [paper for paper in papers if paper.abstract]
    return read[0::2][:PAPERS], read[1::2][:PAPERS]


def without_keywords(papers: Sequence[Paper]) -> ConceptIndex:
    """An index of the papers as if nobody had given keywords."""
    return ConceptIndex.build(replace(paper, keywords=()) for paper in papers)


def used_keywords(papers: Sequence[Paper]) -> tuple[set[str], set[str]]:
    """Keywords that three or more papers use, and those that so many also say in their text."""
    used: Counter[str] = Counter()
    said: Counter[str] = Counter()
    for paper in papers:
        text = f" {normal_phrase(paper.title)} {normal_phrase(paper.abstract)} "
        for key in {normal_phrase(keyword) for keyword in paper.keywords}:
            used[key] += 1
            said[key] += f" {key} " in text
    return (
        {key for key, count in used.items() if count >= USED_BY},
        {key for key, count in said.items() if count >= USED_BY},
    )


def ranked_concepts(index: ConceptIndex) -> list[int]:
    """All concepts by their score, best first."""
    scores = {
        number: score
        for number in range(index.size)
        if index.frequency(number) > 1 and (score := index.score(number)) is not None
    }
    return sorted(scores, key=lambda number: (-scores[number], number))


def report(papers: Sequence[Paper], seed: int = 1) -> None:
    """Recall of keywords among the first concepts, on the half that nothing was chosen on."""
    _, others = halves(papers)
    used, said = used_keywords(others)
    started = time.process_time()
    index = without_keywords(others)
    built = time.process_time()
    order = ranked_concepts(index)
    scored = time.process_time()
    print(f"\nConcepts of {len(others)} eLife papers without their keywords")
    for name, keys in ((f"{len(said)} keywords that 3 papers use and say", said),
                       (f"{len(used)} keywords that 3 papers use", used)):  # fmt: skip
        meant = Counter(index.number(key) for key in keys)
        held = [sum(meant[number] for number in order[:first]) / len(keys) for first in FIRST]
        told = ", ".join(f"{share:.3f} @{first}" for share, first in zip(held, FIRST, strict=True))
        print(f"  {name}: {told}")
    print(
        f"  CPU seconds per 1,000 papers: index {(built - started) / len(others) * 1000:.2f}, "
        f"scores of all concepts {(scored - built) / len(others) * 1000:.2f}"
    )
    print(f"  {DRAWN} drawn from the first {FIRST_TO_DRAW_FROM}, to be judged by reading:")
    print("; ".join(drawn(index, order, DRAWN, seed)))


def fit(papers: Sequence[Paper]) -> None:
    """The weights of the score by logistic regression on the first half."""
    import numpy as np

    chosen, _ = halves(papers)
    _, said = used_keywords(chosen)
    index = without_keywords(chosen)
    meant = {index.number(key) for key in said}
    rows, labels = [], []
    for number in range(index.size):
        if index.frequency(number) >= USED_BY and (use := read_use(index, number)):
            rows.append(use.features)
            labels.append(number in meant)
    values, wanted = np.array(rows), np.array(labels, dtype=float)
    scale = values.std(axis=0)
    scale[scale == 0] = 1.0
    shift = values.mean(axis=0)
    shift[0] = 0.0
    scaled = (values - shift) / scale
    weights = np.zeros(scaled.shape[1])
    for _ in range(STEPS):
        likely = 1 / (1 + np.exp(-scaled @ weights))
        slope = scaled.T @ (likely - wanted) + SHRINKAGE * weights
        bend = (scaled * (likely * (1 - likely))[:, None]).T @ scaled
        weights -= np.linalg.solve(bend + SHRINKAGE * np.eye(len(weights)), slope)
    plain = weights / scale
    plain[0] = weights[0] - (weights[1:] * shift[1:] / scale[1:]).sum()
    for name, weight in zip(TERMS.weights, plain, strict=True):
        print(f"{weight:8.2f}  {name}")


def drawn(index: ConceptIndex, order: Sequence[int], count: int, seed: int) -> list[str]:
    """Concepts to be judged by reading: drawn from the first, in random order, without scores."""
    first = order[:FIRST_TO_DRAW_FROM]
    chosen = random.Random(seed).sample(first, min(count, len(first)))
    return [index.label(number) for number in chosen]


def other_field(data: Path) -> list[Paper]:
    """The abstracts of SciFact: another field; no weight was fitted on it."""
    told = (text.partition(". ") for text in scifact(data))
    return [Paper(f"f{number}", title, text) for number, (title, _, text) in enumerate(told)]


def mixed_papers(data: Path) -> list[Paper]:
    """Abstracts of many fields from the recorded answers of literature services."""
    found = {
        title.lower(): Paper(f"s{number}", title, text)
        for number, (title, text) in enumerate(service_abstracts(data / "services"))
        if len(text) >= LEAST_CHARACTERS
    }
    return list(found.values())


def main() -> None:
    """Report, or with an option fit or draw."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--fit", action="store_true")
    parser.add_argument("--draw", type=int, default=0)
    parser.add_argument("--mixed", action="store_true", help="draw from papers of many fields")
    parser.add_argument("--scifact", action="store_true", help="draw from SciFact's abstracts")
    parser.add_argument("--seed", type=int, default=1)
    asked = parser.parse_args()
    metadata = elife_metadata(asked.folder)
    if metadata is None:
        sys.exit("no elife_metadata.jsonl.xz beside the folder")
    if asked.draw:
        if asked.mixed or asked.scifact:
            papers = (mixed_papers if asked.mixed else other_field)(asked.folder)
            index = ConceptIndex.build(papers)
        else:
            index = without_keywords(halves(elife(metadata))[1])
        print("; ".join(drawn(index, ranked_concepts(index), asked.draw, asked.seed)))
    elif asked.fit:
        fit(elife(metadata))
    else:
        report(elife(metadata), asked.seed)


if __name__ == "__main__":
    main()

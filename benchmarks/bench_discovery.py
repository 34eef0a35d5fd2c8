"""Literature-based discovery measured on real data: `make bench-discovery DATA=folder`.

Nothing here or in the product names a gold term: cases, literatures and answers are read from the folder.
"""

import argparse
import os
import sys
import time
from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, replace
from itertools import combinations
from math import exp, log
from pathlib import Path
from random import Random

from benchmarks.discovery_data import Case, cases, discovery_folder, elife, find, marked_titles, medline, mesh, piped_titles
from carrel.rooms.research.discovery.generation import Discovery
from carrel.rooms.research.discovery.index import ConceptIndex
from carrel.rooms.research.discovery.literatures import Literature, Reader
from carrel.rooms.research.discovery.paths import bridges, ends, through_all
from carrel.rooms.research.discovery.prospects import prospect
from carrel.rooms.research.discovery.records import Paper
from carrel.rooms.research.discovery.vocabulary import Sphere, Vocabulary, natural_order
from carrel.rooms.research.discovery.weights import Counted
from carrel.rooms.research.discovery.words import normal_phrase, normal_word, words_of
from carrel.rooms.research.ranking import EloRatings, Tournament, Verdict

SAME_THING = 0.4
JUDGE_IS_RIGHT = 0.78


class Shelf:
    """Papers of a corpus by id."""

    def __init__(self, papers: Sequence[Paper]) -> None:
        self._papers = {paper.id: paper for paper in papers}

    def paper(self, id: str) -> Paper | None:
        return self._papers.get(id)


def area_under_curve(good: Sequence[float], bad: Sequence[float]) -> float:
    """How often a good one scores above a bad one."""
    ordered = sorted(bad)
    return sum((bisect_left(ordered, one) + bisect_right(ordered, one)) / 2 for one in good) / (len(good) * len(ordered))


class Answers:
    """Says whether a bridge names a gold term: the same concept, or words that carry two fifths of the term's information."""

    def __init__(self, titles: Sequence[str], vocabulary: Vocabulary | None) -> None:
        counts: Counter[str] = Counter()
        for title in titles:
            counts.update({normal_word(word) for word in words_of(title)})
        self._weight = {word: log(len(titles) / count) for word, count in counts.items()}
        self._rarest = log(len(titles))
        self._vocabulary = vocabulary

    def names(self, key: str, term: str) -> bool:
        wanted = normal_phrase(term)
        if self._vocabulary and self._vocabulary.preferred(wanted) == key:
            return True
        words = wanted.split(" ")
        total = sum(self._weight.get(word, self._rarest) for word in words)
        own = set(key.split(" "))
        return sum(self._weight.get(word, self._rarest) for word in words if word in own) >= SAME_THING * total


def report_ranking(name: str, keys: Sequence[str], terms: Sequence[str], answers: Answers) -> None:
    """Where the gold terms stand in a list of bridges; those that do not occur cannot be ranked."""
    ranks = [next((place for place, key in enumerate(keys, 1) if answers.names(key, term)), None) for term in terms]
    found = [rank for rank in ranks if rank is not None]
    area = sum(1 - (rank - 1) / len(keys) for rank in found)
    print(
        f"  {name}: {len(keys)} bridges, AUC {area / max(len(found), 1):.3f} over {len(found)} of {len(terms)} terms that occur "
        f"({area / len(terms):.3f} with the absent counted last); {sum(rank <= 100 for rank in found)} in the first 100"
    )
    print("    " + ", ".join(f"{term} {rank or '-'}" for term, rank in zip(terms, ranks, strict=True)))


def plain_log_likelihood(near: Sequence[Paper], far: Sequence[Paper], rest: Sequence[Paper]) -> list[str]:
    """What one does without any of this: words of both literatures by the lesser signed log-likelihood against the background."""

    def counted(papers: Sequence[Paper]) -> Counter[str]:
        counts: Counter[str] = Counter()
        for paper in papers:
            counts.update({normal_word(word) for word in words_of(paper.title) if word.isalpha() and len(word) > 2})
        return counts

    a, c, background = counted(near), counted(far), counted(rest)

    def weight(counts: Counter[str], size: int, word: str) -> float:
        return Counted(0).signed(counts[word], size, background[word], len(rest))

    shared = [word for word in a if a[word] > 1 and c[word] > 1]
    return sorted(shared, key=lambda word: min(weight(a, len(near), word), weight(c, len(far), word)), reverse=True)


def literatures_of(case: Case, folder: Path) -> tuple[list[Paper], list[Paper]] | None:
    """The two literatures of a case: by marks within a file of titles, or by the names of files."""
    for path in sorted(folder.glob("*_titles.txt.gz")):
        by_mark: dict[str, list[Paper]] = {}
        for mark, paper in marked_titles(path):
            by_mark.setdefault(mark.lower(), []).append(paper)
        chosen = [
            next((papers for mark, papers in by_mark.items() if name.lower().startswith(mark)), [])
            for name in (case.start_name, case.end_names[0])
        ]
        if all(chosen):
            return chosen[0], chosen[1]
    files = {path.name.split("_")[0].lower(): path for path in sorted(folder.glob("*_titles.psv.gz"))}
    either = ((case.start_name,), case.end_names)
    chosen = [
        next((list(piped_titles(path)) for stem, path in files.items() if any(stem in name.lower() for name in names)), [])
        for names in either
    ]
    return (chosen[0], chosen[1]) if all(chosen) else None


def spoken_of(case: Case, folder: Path, vocabulary: Vocabulary | None) -> tuple[list[Paper], list[Paper]] | None:
    """Where no file is a literature of its own: the papers of the whole folder whose titles or headings name either end."""
    files = [*folder.glob("*_titles.psv.gz"), *folder.glob("*_titles_mesh.psv.gz")]
    papers = {paper.id: paper for path in sorted(files) for paper in piped_titles(path)}
    papers |= {paper.id: paper for paper in medline(folder, with_headings=True)}
    reader = Reader(ConceptIndex.build(papers.values(), vocabulary))
    a = reader.literature([normal_phrase(natural_order(case.start_name))])
    c = reader.literature([normal_phrase(natural_order(name)) for name in case.end_names])
    if a is None or c is None:
        return None
    near, far = (
        [papers[reader.index.id_of(number)] for number in sorted(one)] for one in (a.documents, c.documents - a.documents)
    )
    return [replace(paper, headings=()) for paper in near], [replace(paper, headings=()) for paper in far]


def closed(folder: Path, vocabulary: Vocabulary | None, shown: int) -> None:
    """Both ends given: which bridges come first."""
    print("\nClosed discovery, titles only")
    rest = list(medline(folder, with_headings=False))
    answers = Answers([paper.title for paper in rest], vocabulary)
    for case in cases(folder):
        print(f" {case.id}")
        found = literatures_of(case, folder) or spoken_of(case, folder, vocabulary)
        if found is None or not case.bridges:
            print("  skipped: the folder has no titles for both ends")
            continue
        near, far = found
        known = {paper.id for paper in (*near, *far)}
        beside = [paper for paper in rest if paper.id not in known]
        reader = Reader(ConceptIndex.build([*near, *far, *beside], vocabulary))
        a = reader.given_literature(
            case.start_name, (paper.id for paper in near), [normal_phrase(natural_order(case.start_name))]
        )
        ends_keys = [normal_phrase(natural_order(name)) for name in case.end_names]
        c = reader.given_literature(case.end_names[0], (paper.id for paper in far), ends_keys)
        keys = [reader.index.key(bridge.concept) for bridge in bridges(reader, a, c, most=sys.maxsize)]
        report_ranking("plain signed log-likelihood", plain_log_likelihood(near, far, rest), case.bridges, answers)
        report_ranking("ours", keys, case.bridges, answers)
        print(f"    first {shown}: " + ", ".join(keys[:shown]))


def opened(folder: Path, vocabulary: Vocabulary | None) -> None:
    """One end given: where the other comes among chemicals, through the literatures of the folder and without them."""
    print("\nOpen discovery, titles and headings")
    files = {path.name.split("_")[0].lower(): path for path in sorted(folder.glob("*_titles_mesh.psv.gz"))}
    papers = {paper.id: paper for path in files.values() for paper in piped_titles(path)}
    for paper in medline(folder, with_headings=True):
        papers.setdefault(paper.id, paper)
    reader = Reader(ConceptIndex.build(papers.values(), vocabulary))

    def is_chemical(number: int) -> bool:
        return reader.index.sphere(number) is Sphere.CHEMICAL

    for case in cases(folder):
        start = next((stem for stem in files if stem in case.start_name.lower()), None)
        goal = {reader.index.number(normal_phrase(natural_order(name))) for name in case.end_names}
        if start is None or len(files) < 2 or goal == {None}:
            print(f" {case.id}: skipped, the folder has no literature to start from")
            continue
        key = normal_phrase(natural_order(case.start_name))
        a = reader.given_literature(case.start_name, (paper.id for paper in piped_titles(files[start])), [key])
        between: list[Literature] = [
            reader.given_literature(stem, (paper.id for paper in piped_titles(path)))
            for stem, path in files.items()
            if stem != start
        ]
        for name, found in (
            (f"through the {len(between)} literatures given", through_all(reader, a, between, sys.maxsize, is_chemical)),
            ("with no literature given", ends(reader, a, sys.maxsize, is_chemical)),
        ):
            place = next((place for place, end in enumerate(found, 1) if end.concept in goal), None)
            first = ", ".join(reader.index.label(end.concept) for end in found[:10])
            print(f" {case.id}, {name}: {case.end_names[0]} is {place or 'not'} of {len(found)} chemicals; first: {first}")


def time_slice(folder: Path, papers: Sequence[Paper]) -> None:
    """Keyword pairs first joined later, against pairs never joined, ranked from the papers before."""
    path = find(folder, "elife_keyword_timeslice_gold.tsv")
    if path is None:
        print("\nTime slice: skipped, no gold pairs")
        return
    pairs = [line.split("\t")[:2] for line in path.read_text(encoding="utf-8").splitlines()[1:]]
    before = [paper for paper in papers if paper.year is not None and paper.year <= 2019]
    reader = Reader(ConceptIndex.build(before))
    number = reader.index.number
    uses = Counter(keyword.lower().strip() for paper in before for keyword in set(paper.keywords))
    least = min(uses[keyword] for pair in pairs for keyword in pair)
    pool = sorted(
        {found for keyword, count in uses.items() if count >= least and (found := number(normal_phrase(keyword))) is not None}
    )
    ever: set[tuple[int, ...]] = set()
    for paper in papers:
        known = sorted({found for keyword in paper.keywords if (found := number(normal_phrase(keyword))) is not None})
        ever.update(combinations(known, 2))
    random = Random(2019)
    never: set[tuple[int, int]] = set()
    while len(never) < 20_000:
        one, other = sorted(random.sample(pool, 2))
        if (one, other) not in ever:
            never.add((one, other))
    numbers = [(number(normal_phrase(one)), number(normal_phrase(other))) for one, other in pairs]
    company = reader.company
    joined = [prospect(company(one), company(other)) for one, other in numbers if one is not None and other is not None]
    apart = [prospect(company(one), company(other)) for one, other in sorted(never)]
    print(f"\neLife keyword pairs first joined after 2020, from {len(before)} papers up to 2019")
    print(f"  {len(joined)} joined, {len(apart)} never joined: AUC {area_under_curve(joined, apart):.4f}")


def speed(papers: Sequence[Paper]) -> None:
    """CPU seconds for the index and for twenty hypotheses, on quarters of the corpus."""
    print("\nSpeed (CPU seconds of one core)")
    goals = (
        "Find novel therapeutic targets for liver fibrosis",
        "Investigate mechanisms of antimicrobial resistance",
        "Find treatments for Alzheimer's disease",
    )
    for share in (0.25, 0.5, 1.0):
        some = papers[:: round(1 / share)]
        started = time.process_time()
        index = ConceptIndex.build(some)
        indexed = time.process_time()
        taken = []
        for goal in goals:
            begun = time.process_time()
            made = len(Discovery(index, Shelf(some)).generate(goal, count=20))
            taken.append(f"{time.process_time() - begun:.2f} s ({made})")
        built = f"index {indexed - started:.1f} s, {index.size} concepts"
        print(f"  {len(some)} papers: {built}; a goal to hypotheses {', '.join(taken)}")
    started = time.perf_counter()
    with ProcessPoolExecutor(os.cpu_count()) as executor:
        ConceptIndex.build(papers, None, executor.map)
    print(f"  {len(papers)} papers on {os.cpu_count()} cores: index {time.perf_counter() - started:.1f} s by the clock")


@dataclass(frozen=True)
class Judge:
    """Someone who is right 78 times of 100: more often where the gap is wide, or just as often everywhere."""

    name: str
    spread: float | None

    def contest(self, random: Random, count: int) -> tuple[list[str], dict[str, float]]:
        """Hypotheses with their true worth."""
        ids = [f"h{number}" for number in range(count)]
        return ids, {one: random.gauss(0, self.spread or 1.0) for one in ids}

    def prefers_first(self, random: Random, first: float, second: float) -> bool:
        """The judge's word on one pair."""
        if self.spread is None:
            return (first > second) == (random.random() < JUDGE_IS_RIGHT)
        return random.random() < 1 / (1 + exp(second - first))


# With true worths this far apart (in log-odds) a judge who goes by the gap is right 78 times of 100 on random pairs.
JUDGES = (Judge("a judge surer of wide gaps", 1.43), Judge("a judge as sure of any gap", None))


def active_finds_best(seed: int, judge: Judge, count: int) -> bool:
    """One tournament of ours."""
    random = Random(seed)
    ids, worth = judge.contest(random, count)
    tournament = Tournament(ids, seed)
    for _ in range(3 * count):
        match = tournament.next_match()
        wins = judge.prefers_first(random, worth[match.first], worth[match.second])
        tournament.record(match, Verdict.FIRST if wins else Verdict.SECOND)
    return tournament.standings()[0].id == max(ids, key=worth.__getitem__)


def random_elo_finds_best(seed: int, judge: Judge, count: int) -> bool:
    """The same number of random pairs, rated by Elo alone."""
    random = Random(seed)
    ids, worth = judge.contest(random, count)
    ratings = EloRatings(ids, step=24.0)
    for _ in range(3 * count):
        one, other = random.sample(ids, 2)
        ratings.record(one, other, float(judge.prefers_first(random, worth[one], worth[other])))
    return max(ids, key=ratings.__getitem__) == max(ids, key=worth.__getitem__)


def simulate(runs: int, count: int = 20) -> None:
    """How often the true best is found with three comparisons each and a judge who is right 78 times of 100."""
    print(f"\nRanking: {count} hypotheses, {3 * count} comparisons, {runs} runs with fixed seeds")
    print(f"  Judges are right {JUDGE_IS_RIGHT:.0%} of the time")
    ways: tuple[tuple[str, Callable[[int, Judge, int], bool]], ...] = (
        ("active pairs, Bradley-Terry", active_finds_best),
        ("random pairs, Elo", random_elo_finds_best),
    )
    with ProcessPoolExecutor(os.cpu_count()) as executor:
        for judge in JUDGES:
            for name, way in ways:
                found = sum(executor.map(way, range(runs), [judge] * runs, [count] * runs, chunksize=50))
                print(f"  {judge.name}; {name}: the best is found in {found / runs:.1%}", flush=True)


def main() -> None:
    """Everything, in the order of the promises."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--runs", type=int, default=5000)
    parser.add_argument("--shown", type=int, default=40)
    asked = parser.parse_args()
    folder = discovery_folder(asked.folder)
    vocabulary = mesh(folder)
    closed(folder, vocabulary, asked.shown)
    opened(folder, vocabulary)
    metadata = find(asked.folder, "elife_metadata.jsonl.xz")
    if metadata is None:
        print("\nTime slice and speed: skipped, no elife_metadata.jsonl.xz beside the folder")
    else:
        papers = elife(metadata)
        time_slice(folder, papers)
        speed(papers)
    simulate(asked.runs)


if __name__ == "__main__":
    main()

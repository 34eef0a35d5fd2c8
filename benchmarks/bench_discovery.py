"""Literature-based discovery measured on real data: `make bench-discovery DATA=folder`.

Nothing here or in the product names a gold term: cases, literatures and answers are read from the
folder.
"""

import argparse
import os
import sys
import time
from collections import Counter
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import replace
from math import log
from pathlib import Path

from benchmarks import concept_terms
from benchmarks.discovery_data import (
    Case,
    cases,
    discovery_folder,
    elife,
    elife_metadata,
    marked_titles,
    medline,
    mesh,
    piped_titles,
)
from benchmarks.keyword_pairs import ListedPairs, listed_slice
from benchmarks.links import report as links
from carrel.libraries.discovery.concepts.index import ConceptIndex
from carrel.libraries.discovery.concepts.vocabulary import Vocabulary, natural_order
from carrel.libraries.discovery.concepts.words import normal_phrase, normal_word, words_of
from carrel.libraries.discovery.generation.discovery import Discovery
from carrel.libraries.discovery.paths.abc_paths import bridges, ends, through_all
from carrel.libraries.discovery.paths.literatures import Counted, Reader
from carrel.libraries.discovery.records import Paper, Sphere

SAME_THING = 0.4


class Shelf:
    """Papers of a corpus by id."""

    def __init__(self, papers: Sequence[Paper]) -> None:
        self._papers = {paper.id: paper for paper in papers}

    def paper(self, id: str) -> Paper | None:
        return self._papers.get(id)


class Answers:
    """Says whether a bridge names a gold term: the same concept, or words that carry two fifths of
    the term's information.
    """

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
        return (
            sum(self._weight.get(word, self._rarest) for word in words if word in own)
            >= SAME_THING * total
        )


def report_ranking(name: str, keys: Sequence[str], terms: Sequence[str], answers: Answers) -> None:
    """Where the gold terms stand in a list of bridges; those that do not occur cannot be ranked."""
    ranks = [
        next((place for place, key in enumerate(keys, 1) if answers.names(key, term)), None)
        for term in terms
    ]
    found = [rank for rank in ranks if rank is not None]
    area = sum(1 - (rank - 1) / len(keys) for rank in found)
    print(
        f"  {name}: {len(keys)} bridges, AUC {area / max(len(found), 1):.3f} over {len(found)} of "
        f"{len(terms)} terms that occur "
        f"({area / len(terms):.3f} with the absent counted last); "
        f"{sum(rank <= 100 for rank in found)} in the first 100"
    )
    print(
        "    " + ", ".join(f"{term} {rank or '-'}" for term, rank in zip(terms, ranks, strict=True))
    )


def plain_log_likelihood(
    near: Sequence[Paper], far: Sequence[Paper], rest: Sequence[Paper]
) -> list[str]:
    """What one does without any of this: words of both literatures by the lesser signed
    log-likelihood against the background.
    """

    def counted(papers: Sequence[Paper]) -> Counter[str]:
        counts: Counter[str] = Counter()
        for paper in papers:
            counts.update(
                {
                    normal_word(word)
                    for word in words_of(paper.title)
                    if word.isalpha() and len(word) > 2
                }
            )
        return counts

    a, c, background = counted(near), counted(far), counted(rest)

    def weight(counts: Counter[str], size: int, word: str) -> float:
        return Counted(0).signed(counts[word], size, background[word], len(rest))

    shared = [word for word in a if a[word] > 1 and c[word] > 1]
    return sorted(
        shared,
        key=lambda word: min(weight(a, len(near), word), weight(c, len(far), word)),
        reverse=True,
    )


def literatures_of(
    case: Case, folder: Path, vocabulary: Vocabulary | None
) -> tuple[list[Paper], list[Paper]] | None:
    """The two literatures of a case: by marks within a file of titles, or by the names of files;
    titles alone.
    """
    starts, ends_ = names_of((case.start_name,), vocabulary), names_of(case.end_names, vocabulary)
    for path in sorted(folder.glob("*_titles.txt.gz")):
        by_mark: dict[str, list[Paper]] = {}
        for mark, paper in marked_titles(path):
            by_mark.setdefault(mark.lower(), []).append(paper)
        chosen = [
            next(
                (
                    papers
                    for mark, papers in by_mark.items()
                    if any(name.startswith(mark) for name in names)
                ),
                [],
            )
            for names in (starts, ends_)
        ]
        if all(chosen):
            return chosen[0], chosen[1]
    files = titled_files(folder, "_titles.psv.gz") | titled_files(folder, "_titles_mesh.psv.gz")
    chosen = [
        next(
            (
                list(piped_titles(path))
                for stem, path in files.items()
                if any(stem in name for name in names)
            ),
            [],
        )
        for names in (starts, ends_)
    ]
    if not all(chosen):
        return None
    near, far = ([replace(paper, headings=()) for paper in papers] for papers in chosen)
    return near, far


def titled_files(folder: Path, ending: str) -> dict[str, Path]:
    """Files of titles by what they are about, as their names say it."""
    return {
        normal_phrase(path.name.removesuffix(ending).replace("_", " ")): path
        for path in sorted(folder.glob(f"*{ending}"))
    }


def names_of(names: Sequence[str], vocabulary: Vocabulary | None) -> list[str]:
    """Names in normal form, with the synonyms that the vocabulary has for them."""
    plain = [normal_phrase(natural_order(name)) for name in names]
    terms = (
        [vocabulary.term(vocabulary.preferred(name) or name) for name in plain]
        if vocabulary
        else []
    )
    return [
        *plain,
        *(normal_phrase(natural_order(name)) for term in terms if term for name in term.synonyms),
    ]


def spoken_of(
    case: Case, folder: Path, vocabulary: Vocabulary | None
) -> tuple[list[Paper], list[Paper]] | None:
    """Where no file is a literature of its own: the papers of the whole folder whose titles or
    headings name either end.
    """
    files = [*folder.glob("*_titles.psv.gz"), *folder.glob("*_titles_mesh.psv.gz")]
    papers = {paper.id: paper for path in sorted(files) for paper in piped_titles(path)}
    papers |= {paper.id: paper for paper in medline(folder, with_headings=True)}
    reader = Reader(ConceptIndex.build(papers.values(), vocabulary))
    a = reader.literature([normal_phrase(natural_order(case.start_name))])
    c = reader.literature([normal_phrase(natural_order(name)) for name in case.end_names])
    if a is None or c is None:
        return None
    near, far = (
        [papers[reader.index.id_of(number)] for number in sorted(one)]
        for one in (a.documents, c.documents - a.documents)
    )
    return [replace(paper, headings=()) for paper in near], [
        replace(paper, headings=()) for paper in far
    ]


def closed(folder: Path, vocabulary: Vocabulary | None, shown: int) -> None:
    """Both ends given: which bridges come first."""
    print("\nClosed discovery, titles only")
    rest = list(medline(folder, with_headings=False))
    answers = Answers([paper.title for paper in rest], vocabulary)
    for case in cases(folder):
        print(f" {case.id}")
        found = literatures_of(case, folder, vocabulary) or spoken_of(case, folder, vocabulary)
        if found is None or not case.bridges:
            print("  skipped: the folder has no titles for both ends")
            continue
        near, far = found
        known = {paper.id for paper in (*near, *far)}
        beside = [paper for paper in rest if paper.id not in known]
        reader = Reader(ConceptIndex.build([*near, *far, *beside], vocabulary))
        a = reader.given_literature(
            case.start_name,
            (paper.id for paper in near),
            [normal_phrase(natural_order(case.start_name))],
        )
        ends_keys = [normal_phrase(natural_order(name)) for name in case.end_names]
        c = reader.given_literature(case.end_names[0], (paper.id for paper in far), ends_keys)
        keys = [
            reader.index.key(bridge.concept) for bridge in bridges(reader, a, c, most=sys.maxsize)
        ]
        report_ranking(
            "plain signed log-likelihood",
            plain_log_likelihood(near, far, rest),
            case.bridges,
            answers,
        )
        report_ranking("ours", keys, case.bridges, answers)
        print(f"    first {shown}: " + ", ".join(keys[:shown]))


def opened(folder: Path, vocabulary: Vocabulary | None) -> None:
    """One end given: where the other comes among chemicals, through the literatures of the folder
    and without them.
    """
    print("\nOpen discovery, titles and headings")
    files = titled_files(folder, "_titles_mesh.psv.gz")
    papers = {paper.id: paper for path in files.values() for paper in piped_titles(path)}
    for paper in medline(folder, with_headings=True):
        papers.setdefault(paper.id, paper)
    reader = Reader(ConceptIndex.build(papers.values(), vocabulary))
    given_ends = [
        name
        for case in cases(folder)
        for name in names_of((case.start_name, *case.end_names), vocabulary)
    ]

    def is_chemical(number: int) -> bool:
        return reader.index.sphere(number) is Sphere.CHEMICAL

    for case in cases(folder):
        starts = names_of((case.start_name,), vocabulary)
        start = next((stem for stem in files if any(stem in name for name in starts)), None)
        between = [stem for stem in files if not any(stem in name for name in given_ends)]
        goal = {reader.index.number(normal_phrase(natural_order(name))) for name in case.end_names}
        if start is None or goal == {None}:
            print(f" {case.id}: skipped, the folder has no literature to start from")
            continue
        key = normal_phrase(natural_order(case.start_name))
        a = reader.given_literature(
            case.start_name, (paper.id for paper in piped_titles(files[start])), [key]
        )
        given = [
            reader.given_literature(stem, (paper.id for paper in piped_titles(files[stem])))
            for stem in between
        ]
        for name, found in (
            (
                f"through the literatures given ({', '.join(between)})",
                through_all(reader, a, given, sys.maxsize, is_chemical),
            ),
            (
                "from the start alone, with no literature given",
                ends(reader, a, sys.maxsize, is_chemical),
            ),
        ):
            place = next((place for place, end in enumerate(found, 1) if end.concept in goal), None)
            first = ", ".join(reader.index.label(end.concept) for end in found[:10])
            print(
                f" {case.id}, {name}: {case.end_names[0]} is {place or 'not'} of {len(found)} "
                f"chemicals; first: {first}"
            )


def time_slices(folder: Path, papers: Sequence[Paper]) -> None:
    """Keyword pairs first joined later, against pairs never joined, ranked from the papers
    before.
    """
    paths = sorted(folder.glob("elife_keyword_timeslice*.tsv"))
    if not paths:
        print("\nTime slice: skipped, no gold pairs")
    for path in paths:
        listed = ListedPairs.read(path)
        found = listed_slice(listed, papers)
        print(
            f"\n{path.name}: eLife keyword pairs, from {len(found.reader.index)} papers up to "
            f"{listed.up_to}"
        )
        print(
            f"  {len(found.joined)} first joined later, {len(found.apart)} never joined: AUC "
            f"{found.area():.4f}"
        )


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
    print(
        f"  {len(papers)} papers on {os.cpu_count()} cores: index "
        f"{time.perf_counter() - started:.1f} s by the clock"
    )


def main() -> None:
    """Everything, in the order of the promises."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--shown", type=int, default=40)
    asked = parser.parse_args()
    folder = discovery_folder(asked.folder)
    vocabulary = mesh(folder)
    closed(folder, vocabulary, asked.shown)
    opened(folder, vocabulary)
    metadata = elife_metadata(asked.folder)
    if metadata is None:
        print("\nTime slice and speed: skipped, no elife_metadata.jsonl.xz beside the folder")
    else:
        papers = elife(metadata)
        time_slices(folder, papers)
        links.report(folder, papers)
        concept_terms.report(papers)
        speed(papers)


if __name__ == "__main__":
    main()

"""Judges merging: pairwise precision and recall over records of one work from several services.

    python -m benchmarks.literature.judge --data FOLDER [--half choosing|held-out] [--seeds 11 12]

A thousand real works of the dumps, with versions, parts, notices and copies of some, are written
out as services would send them and read by the readers of the services; and works that several
recorded services have are taken as they are, known by shared identifiers, then with these hidden.
Works are parted by a hash of their name: rules are made with one half in view.
"""

from __future__ import annotations

import argparse
import random
import time
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from itertools import combinations
from pathlib import Path

from benchmarks.literature.recorded_overlaps import hide_identifiers, read_overlaps
from benchmarks.literature.service_writers import choose_writers
from benchmarks.literature.true_works import (
    TrueWork,
    is_for_choosing,
    read_true_works,
)
from benchmarks.literature.work_relatives import add_relatives
from carrel.libraries.literature.merging import merge_records
from carrel.libraries.literature.records import ServiceRecord

AIM_PRECISION = 0.995
AIM_RECALL = 0.95
CHOOSING_SEEDS = (1, 2)
HELD_OUT_SEEDS = (11, 12, 13)
# Records of one search over several services.
SEARCH_RECORDS = 600


@dataclass(frozen=True, slots=True)
class LabelledRecord:
    """A record and the name of the work that it truly is of."""

    record: ServiceRecord
    truth: str


@dataclass(slots=True)
class PairScore:
    """Pairs of records that were joined, that belong together, and that are both, by cause."""

    joined: int = 0
    true: int = 0
    right: int = 0
    missed: Counter[str] = field(default_factory=Counter)
    wrong: Counter[str] = field(default_factory=Counter)

    @property
    def precision(self) -> float:
        return self.right / self.joined if self.joined else 1.0

    @property
    def recall(self) -> float:
        return self.right / self.true if self.true else 1.0

    @property
    def is_met(self) -> bool:
        return self.precision >= AIM_PRECISION and self.recall >= AIM_RECALL


def write_records(works: Sequence[TrueWork], seed: int) -> list[LabelledRecord]:
    """The works as services would send them; each record has a rank of its own."""
    rng = random.Random(seed)
    found = [
        LabelledRecord(write(work, rng), work.name)
        for work in works
        for write in choose_writers(work, rng)
    ]
    return found


def part_into_searches(works: Sequence[TrueWork], seed: int) -> list[list[TrueWork]]:
    """Works in lots of one search; relatives stay together."""
    families: dict[str, list[TrueWork]] = defaultdict(list)
    for work in works:
        families[work.name.partition("+")[0]].append(work)
    names = sorted(families)
    random.Random(seed).shuffle(names)
    lots: list[list[TrueWork]] = [[]]
    for name in names:
        if len(lots[-1]) >= SEARCH_RECORDS // 4:
            lots.append([])
        lots[-1] += families[name]
    return lots


def score_merging(labelled: Sequence[LabelledRecord], score: PairScore) -> list[str]:
    """Merge, count, and describe each pair that is wrong."""
    place_of = {id(each.record): at for at, each in enumerate(labelled)}
    group_of: dict[int, int] = {}
    for number, work in enumerate(merge_records([each.record for each in labelled])):
        for record in work.records:
            if id(record) in place_of:
                group_of[place_of[id(record)]] = number
    members: dict[str, list[int]] = defaultdict(list)
    groups: dict[int, list[int]] = defaultdict(list)
    for at, each in enumerate(labelled):
        members[each.truth].append(at)
        groups[group_of[at]].append(at)
    said = []
    for group in members.values():
        for one, other in combinations(group, 2):
            score.true += 1
            if group_of[one] == group_of[other]:
                score.right += 1
            else:
                cause = _name_cause_of_miss(labelled[one].record, labelled[other].record)
                score.missed[cause] += 1
                said.append(_describe("missed", cause, labelled[one], labelled[other]))
    for group in groups.values():
        for one, other in combinations(group, 2):
            score.joined += 1
            if labelled[one].truth != labelled[other].truth:
                cause = _name_cause_of_join(labelled[one].truth, labelled[other].truth)
                score.wrong[cause] += 1
                said.append(_describe("wrong", cause, labelled[one], labelled[other]))
    return said


@dataclass(slots=True)
class LinkScore:
    """Pairs of works that were linked as versions, that are versions, and that are both."""

    linked: int = 0
    true: int = 0
    right: int = 0


def score_links(labelled: Sequence[LabelledRecord], score: LinkScore) -> None:
    """Count links between works of which all records are of one true work."""
    truth_of = {(each.record.service, each.record.service_id): each.truth for each in labelled}
    works = merge_records([each.record for each in labelled])
    truths = [
        {truth_of[record.service, record.service_id] for record in work.records} for work in works
    ]
    by_key = {
        key: number for number, work in enumerate(works) for key in tuple(work.work.ids.keys())
    }
    found: set[frozenset[str]] = set()
    for work, here in zip(works, truths, strict=True):
        for link in work.versions:
            others = {by_key[key] for key in tuple(link.ids.keys()) if key in by_key}
            for other in others:
                found.add(frozenset(min(each) for each in (here, truths[other])))
    pairs = {each for each in found if len(each) == 2}
    present = set(truth_of.values())
    true = {
        frozenset((name, f"{name}+other version"))
        for name in present
        if f"{name}+other version" in present
    }
    score.linked += len(pairs)
    score.true += len(true)
    score.right += len(pairs & true)


def _name_cause_of_miss(one: ServiceRecord, other: ServiceRecord) -> str:
    """What two records of one work lack: the first of the likely causes."""
    here, there = one.work, other.work
    if not here.authors or not there.authors:
        return "one names nobody"
    if here.year is None or there.year is None:
        return "a year is missing"
    if abs(here.year - there.year) > 2:
        return "years far apart"
    if len(here.title) < 20 or len(there.title) < 20:
        return "short title"
    if here.title.lower() != there.title.lower():
        return "titles differ"
    if here.pages != there.pages and here.pages and there.pages:
        return "pages differ"
    if here.ids.doi and there.ids.doi and here.ids.doi != there.ids.doi:
        return "DOIs differ"
    return "another record stood between"


def _name_cause_of_join(one: str, other: str) -> str:
    relations = sorted({name.partition("+")[2] for name in (one, other)} - {""})
    is_family = one.partition("+")[0] == other.partition("+")[0]
    return f"{' and '.join(relations) or 'the work'} of {'one' if is_family else 'another'} work"


def _describe(what: str, cause: str, one: LabelledRecord, other: LabelledRecord) -> str:
    lines = [f"{what} ({cause})"]
    for each in (one, other):
        work = each.record.work
        names = "; ".join(author.family or author.literal for author in work.authors[:3])
        keys = " ".join(work.ids.keys())
        lines.append(
            f"    {each.truth:<34} {each.record.service:<17} {work.title[:90]!r} [{names}] "
            f"{work.issued} {work.kind} {work.venue.name[:30]!r} {work.volume}:{work.pages} {keys}"
        )
    return "\n".join(lines)


@dataclass(slots=True)
class WrittenScores:
    """Works as services write them: in lots of one search, all at once, without identifiers."""

    searches: PairScore = field(default_factory=PairScore)
    at_once: PairScore = field(default_factory=PairScore)
    nameless: PairScore = field(default_factory=PairScore)
    links: LinkScore = field(default_factory=LinkScore)
    said: list[str] = field(default_factory=list)


def judge_written(data: Path, half: str, seeds: Iterable[int]) -> WrittenScores:
    """Works of one half."""
    works = [
        each
        for each in read_true_works(data)
        if half == "all" or is_for_choosing(each.name) == (half == "choosing")
    ]
    scores = WrittenScores()
    for seed in seeds:
        relatives = add_relatives(works, seed)
        lots = [write_records(lot, seed) for lot in part_into_searches(relatives, seed)]
        for lot in lots:
            scores.said += score_merging(lot, scores.searches)
            score_links(lot, scores.links)
            hidden = [LabelledRecord(hide_identifiers(each.record), each.truth) for each in lot]
            score_merging(hidden, scores.nameless)
        score_merging([each for lot in lots for each in lot], scores.at_once)
    return scores


def judge_recorded(data: Path, half: str, *, hides: bool) -> tuple[PairScore, list[str]]:
    """Works that several recorded services have; identifiers are hidden of all but one service."""
    score = PairScore()
    labelled = [
        LabelledRecord(hide_identifiers(record) if hides else record, truth)
        for truth, record in read_overlaps(data)
        if half == "all" or is_for_choosing(truth) == (half == "choosing")
    ]
    return score, score_merging(labelled, score)


def measure_speed(data: Path) -> tuple[int, float]:
    """Records of one search and the CPU milliseconds of merging them, the middle of nine runs."""
    works = add_relatives(read_true_works(data), 3)
    lot = [each.record for each in write_records(works[:175], 3)][:SEARCH_RECORDS]
    times = []
    for _ in range(9):
        started = time.process_time()
        merge_records(lot)
        times.append((time.process_time() - started) * 1000)
    return len(lot), sorted(times)[4]


def _print_score(name: str, score: PairScore) -> None:
    print(
        f"{name:<52} precision {score.precision:.4f}  recall {score.recall:.4f}  "
        f"({score.joined} joined, {score.true} true pairs)",
        flush=True,
    )


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--half", choices=["choosing", "held-out", "all"], default="held-out")
    parser.add_argument("--seeds", type=int, nargs="+")
    parser.add_argument("--show", type=int, default=0, help="wrong and missed pairs to print")
    options = parser.parse_args()
    is_choosing = options.half == "choosing"
    seeds = options.seeds or (CHOOSING_SEEDS if is_choosing else HELD_OUT_SEEDS)
    written = judge_written(options.data, options.half, seeds)
    hidden, hidden_said = judge_recorded(options.data, options.half, hides=True)
    shown, shown_said = judge_recorded(options.data, options.half, hides=False)
    _print_score("works of dumps as services write them, by search", written.searches)
    _print_score("the same, all at once", written.at_once)
    _print_score("the same, by search, no identifier at all (no aim)", written.nameless)
    _print_score("recorded services, identifiers hidden", hidden)
    _print_score("recorded services, as they are", shown)
    links = written.links
    print(
        f"preprints and articles linked: {links.right} of {links.true}; "
        f"{links.linked - links.right} other links"
    )
    for name, score in (("by search", written.searches), ("recorded, hidden", hidden)):
        for kind, causes in (("missed", score.missed), ("wrong", score.wrong)):
            for cause, count in causes.most_common():
                print(f"  {name:<18} {kind:<7} {count:>4}  {cause}")
    count, milliseconds = measure_speed(options.data)
    print(f"merging {count} records of one search: {milliseconds:.0f} ms of CPU")
    for each in [*written.said, *hidden_said, *shown_said][: options.show]:
        print(each)
    is_met = all(score.is_met for score in (written.searches, written.at_once, hidden, shown))
    print(f"aim: precision {AIM_PRECISION}, recall {AIM_RECALL}: {'met' if is_met else 'missed'}")
    return 0 if is_met else 1


if __name__ == "__main__":
    raise SystemExit(main())

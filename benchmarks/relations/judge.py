"""Relations read by patterns against those that people read: `make bench-relations DATA=folder`.

A found relation is right if subject and object overlap those of a labelled one by half of the
shorter, and kind, net sign and negation are the same. Ranges are bootstrap 95 % over sentences.
"""

import argparse
import time
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from random import Random

from benchmarks.relations.agreement import overlap_share, report_agreement, same_spans
from benchmarks.relations.labels import REPORT, LabelledRelation, LabelledSentence, read_labels
from benchmarks.relations.sources import elife
from carrel.libraries.relations import Relation, extract_relations

DRAWS = 1000
TIMED_PAPERS = 2000


@dataclass
class Tally:
    """Counts of one sentence: found, labelled, and how many of both are right in what."""

    found: Counter[str] = field(default_factory=Counter)
    labelled: Counter[str] = field(default_factory=Counter)
    right: Counter[str] = field(default_factory=Counter)
    matched: int = 0
    same_kind: int = 0
    same_sign: int = 0
    opposite: int = 0
    same_marks: int = 0


def as_label(relation: Relation) -> LabelledRelation:
    """A found relation in the form of the labels."""
    return LabelledRelation(
        (relation.subject.start, relation.subject.end),
        (relation.object.start, relation.object.end),
        relation.kind.value,
        relation.sign,
        relation.negated,
        relation.hedged,
        relation.asked,
    )


def tally(found: Sequence[LabelledRelation], gold: Sequence[LabelledRelation]) -> Tally:
    """Compare what was found in a sentence with what was labelled, one to one."""
    counts = Tally()
    counts.found.update(one.kind for one in found)
    counts.labelled.update(one.kind for one in gold)
    left = list(gold)
    pairs = sorted(
        ((_rank(one, other), place, number) for place, one in enumerate(found)
         for number, other in enumerate(left) if same_spans(one, other)),
        reverse=True,
    )  # fmt: skip
    used_found: set[int] = set()
    used_gold: set[int] = set()
    for _, place, number in pairs:
        if place in used_found or number in used_gold:
            continue
        used_found.add(place)
        used_gold.add(number)
        _count(counts, found[place], left[number])
    return counts


def _rank(one: LabelledRelation, other: LabelledRelation) -> tuple[bool, bool, float]:
    return one.kind == other.kind, one.sign == other.sign, overlap_share(one, other)


def _count(counts: Tally, one: LabelledRelation, other: LabelledRelation) -> None:
    counts.matched += 1
    is_kind, is_sign = one.kind == other.kind, one.sign == other.sign
    counts.same_kind += is_kind
    counts.same_sign += is_sign and one.negated == other.negated
    counts.opposite += one.sign * other.sign < 0
    counts.same_marks += (one.hedged, one.asked) == (other.hedged, other.asked)
    if is_kind and is_sign and one.negated == other.negated:
        counts.right[one.kind] += 1


def _range(values: Sequence[tuple[float, float]]) -> str:
    random = Random(1)
    drawn = []
    for _ in range(DRAWS):
        sample = random.choices(values, k=len(values))
        below = sum(value for _, value in sample)
        drawn.append(sum(value for value, _ in sample) / below if below else 0.0)
    drawn.sort()
    total = sum(value for _, value in values)
    share = sum(value for value, _ in values) / total if total else 0.0
    return f"{share:.2f} [{drawn[int(DRAWS * 0.025)]:.2f}, {drawn[int(DRAWS * 0.975)]:.2f}]"


def report(name: str, tallies: Sequence[Tally]) -> None:
    """Precision and recall of some sentences."""
    found = [sum(one.found.values()) for one in tallies]
    gold = [sum(one.labelled.values()) for one in tallies]
    right = [sum(one.right.values()) for one in tallies]
    print(
        f"{name:34} sentences {len(tallies):4} labelled {sum(gold):4} found {sum(found):4}  "
        f"precision {_range(list(zip(right, found, strict=True)))}  "
        f"recall {_range(list(zip(right, gold, strict=True)))}"
    )


def report_parts(tallies: Sequence[Tally]) -> None:
    """What the found relations have right on their own."""
    found = [sum(one.found.values()) for one in tallies]
    for name, values in (
        ("arguments", [one.matched for one in tallies]),
        ("arguments and kind", [one.same_kind for one in tallies]),
        ("arguments, net sign, negation", [one.same_sign for one in tallies]),
        ("arguments, opposite sign (wrong)", [one.opposite for one in tallies]),
    ):
        print(f"  of those found: {name:34} {_range(list(zip(values, found, strict=True)))}")
    matched = [one.matched for one in tallies]
    marks = [one.same_marks for one in tallies]
    print(
        f"  of those matched: hedged, asked       {_range(list(zip(marks, matched, strict=True)))}"
    )


def report_kinds(tallies: Sequence[Tally]) -> None:
    """Precision and recall by kind."""
    kinds = sorted({kind for one in tallies for kind in (*one.found, *one.labelled)})
    for kind in kinds:
        found = sum(one.found[kind] for one in tallies)
        gold = sum(one.labelled[kind] for one in tallies)
        right = sum(one.right[kind] for one in tallies)
        print(
            f"  {kind:12} labelled {gold:3} found {found:3} right {right:3}  "
            f"precision {right / max(found, 1):.2f}  recall {right / max(gold, 1):.2f}"
        )


def speed(data: Path) -> None:
    """CPU seconds for a thousand abstracts."""
    texts = []
    papers: set[str] = set()
    for sentence in elife(data):
        papers.add(sentence.record)
        if len(papers) > TIMED_PAPERS:
            break
        texts.append(sentence.text)
    extract_relations("")
    started = time.process_time()
    found = sum(len(extract_relations(text)) for text in texts)
    spent = time.process_time() - started
    print(
        f"speed: {spent / TIMED_PAPERS * 1000:.2f} CPU s per 1,000 abstracts "
        f"({found} relations in {len(texts)} sentences)"
    )


def show(sentence: LabelledSentence, gold: Iterable[LabelledRelation]) -> None:
    """Print a sentence with what is labelled and what is found."""
    text = sentence.text
    print(f"\n{sentence.number} [{sentence.source}] {text}")
    for mark, relations in (
        ("  gold ", gold),
        ("  found", map(as_label, extract_relations(text))),
    ):
        for one in relations:
            marks = "".join(
                name for name, on in (("n", one.negated), ("h", one.hedged), ("a", one.asked)) if on
            )
            subject, target = text[slice(*one.subject)], text[slice(*one.object)]
            print(f"{mark} {subject} | {one.kind} {one.sign:+} {marks} | {target}")


def main() -> None:
    """Print agreement, then precision and recall of the chosen half."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("data", type=Path)
    parser.add_argument("--half", default=REPORT, choices=("choose", "report"))
    parser.add_argument("--gold", default="", help="pass to judge by: a, b or agreed")
    parser.add_argument("--show", action="store_true", help="print each sentence that is not right")
    given = parser.parse_args()
    sentences = list(read_labels(given.data))
    report_agreement(sentences)
    gold_name = given.gold or ("agreed" if "agreed" in sentences[0].passes else "a")
    half = [one for one in sentences if one.half == given.half]
    found = {
        one.number: [as_label(relation) for relation in extract_relations(one.text)] for one in half
    }
    gold = {one.number: one.passes.get(gold_name, ()) for one in half}
    tallies = {number: tally(found[number], gold[number]) for number in found}
    print(f"\nrelations found against {gold_name}, half {given.half}")
    report("all", list(tallies.values()))
    report_parts(list(tallies.values()))
    report_kinds(list(tallies.values()))
    for source in ("elife", "scifact", "other fields"):
        own = [
            tallies[one.number]
            for one in half
            if one.source == source
            or (source == "other fields" and one.source not in ("elife", "scifact"))
        ]
        report(source, own)
    said = [
        tally([one for one in found[number] if not (one.asked or one.hedged)], gold[number])
        for number in found
    ]
    report("said outright (not hedged or asked)", said)
    speed(given.data)
    if given.show:
        for one in half:
            counts = tallies[one.number]
            if sum(counts.right.values()) < max(
                sum(counts.found.values()), sum(counts.labelled.values())
            ):
                show(one, one.passes.get(gold_name, ()))


if __name__ == "__main__":
    main()

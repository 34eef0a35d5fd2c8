"""Prints every measurement for both halves of the claims."""

from __future__ import annotations

import argparse
import shutil
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from benchmarks.claims.candidates import FoundPapers, find_candidates
from benchmarks.claims.claim_features import measure_habit
from benchmarks.claims.data import CONTRADICT, HALVES, SCIFACT, SUPPORT, Claim, read_claims
from benchmarks.claims.measures import describe_share
from benchmarks.claims.mind import score_answers, write_claims
from carrel.libraries.claims import (
    PAPERS_READ,
    PaperText,
    RankedSentence,
    Statement,
    StatementCheck,
    Verdict,
    check_statement,
    choose_papers,
    rank_sentences,
)

LABEL = 62
_LABELS = {Verdict.SUPPORTS: SUPPORT, Verdict.CONTRADICTS: CONTRADICT}


@dataclass(frozen=True, slots=True)
class CheckedClaim:
    """A claim with the papers read, the sentences ranked, the verdict, and what it cost."""

    claim: Claim
    found: tuple[PaperText, ...]
    read: list[PaperText]
    sentences: list[RankedSentence]
    check: StatementCheck
    search_seconds: float
    check_seconds: float

    @property
    def label(self) -> str | None:
        return _LABELS.get(self.check.verdict)

    @property
    def bearing_paper(self) -> str | None:
        """The paper that is named first as bearing on the claim."""
        check = self.check
        sides = sorted(
            (*check.supporting, *check.contradicting), key=lambda each: -each.stance.confidence
        )
        first = next(iter((*sides, *check.bearing)), None)
        return None if first is None else first.sentence.paper_id


def main(arguments: Sequence[str]) -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.claims")
    parser.add_argument("folder", nargs="?", type=Path, default=SCIFACT)
    parser.add_argument("--keep", type=Path, help="keep what was built and found here")
    parser.add_argument("--mind", type=Path, help="write claims for an assistant to this file")
    parser.add_argument("--answers", type=Path, help="score answers to the file of --mind")
    given = parser.parse_args(arguments)
    if given.answers and not given.mind:
        parser.error("--answers needs --mind, the file that was handed out")
    work = given.keep or Path(tempfile.mkdtemp(prefix="carrel-claims-"))
    work.mkdir(parents=True, exist_ok=True)
    try:
        claims = read_claims(given.folder)
        found = find_candidates(given.folder, work, claims)
        if given.answers:
            score_answers(found, given.mind, given.answers)
        elif given.mind:
            print(f"{write_claims(found, given.mind)} claims written to {given.mind}")
        else:
            report(list(map(check_claim, found)))
    except FileNotFoundError as error:
        sys.exit(f"not measured: {error.filename} is not there")
    finally:
        if given.keep is None:
            shutil.rmtree(work, ignore_errors=True)


def check_claim(found: FoundPapers) -> CheckedClaim:
    """One claim from the papers found to the verdict."""
    statement = Statement(found.claim.text)
    start = time.perf_counter()
    read = choose_papers(statement, found.papers)
    check = check_statement(statement, read)
    seconds = time.perf_counter() - start
    return CheckedClaim(
        found.claim, found.papers, read, rank_sentences(statement, read), check, found.seconds,
        seconds,
    )  # fmt: skip


def report(checked: Sequence[CheckedClaim]) -> None:
    decided = [each for each in checked if each.claim.evidence]
    print(
        f"SciFact, {len(checked)} claims, {len(decided)} with evidence; the first half chose every "
        "number.\nClaims with one first cited paper are in one half (SHA-256 of its id, even or "
        "odd first byte).\nShare, 95 % interval, count."
    )
    _print_head("with evidence")
    _print_rows("deciding paper among the first 5 of one search", decided, _is_found_by_search)
    for depth in (1, 3, PAPERS_READ):
        _print_rows(
            f"deciding paper among the first {depth} of {PAPERS_READ} papers read",
            decided,
            partial(_has_paper, depth),
        )
    for depth in (1, 3, 5):
        _print_rows(
            f"deciding sentence among the first {depth}, papers not given",
            decided,
            partial(_has_sentence, depth),
        )
    _print_head("all claims")
    bearing = [each for each in checked if each.bearing_paper is not None]
    _print_coverage("“a paper bears on it”", checked, bearing)
    _print_rows("   and that paper decides it", bearing, _is_bearing_right)
    labelled = [each for each in checked if each.label is not None]
    _print_coverage("a label for or against, no feature of the claim alone", checked, labelled)
    _print_rows("   and it is right", labelled, _is_label_right)
    for name, label in (("for", SUPPORT), ("against", CONTRADICT)):
        sided = [each for each in labelled if each.label == label]
        _print_rows(f"   right of those {name}", sided, _is_label_right)
    print("\nThe annotators' habit (not in the product): a logistic of the claim alone")
    measure_habit([each.claim for each in checked])
    searches = statistics.median(each.search_seconds for each in checked)
    reading = statistics.median(each.check_seconds for each in checked)
    print(
        f"\nA claim costs {searches * 1000:.0f} ms of searching (two queries) and "
        f"{reading * 1000:.0f} ms of choosing and reading, half of them less: "
        f"{(searches + reading) / (searches / 2):.1f} times one search"
    )


def _is_found_by_search(each: CheckedClaim) -> bool:
    return any(paper.paper_id in each.claim.papers for paper in each.found[:PAPERS_READ])


def _has_paper(depth: int, each: CheckedClaim) -> bool:
    return any(paper.paper_id in each.claim.papers for paper in each.read[:depth])


def _has_sentence(depth: int, each: CheckedClaim) -> bool:
    best = each.sentences[:depth]
    return any(each.claim.has_sentence(one.paper_id, one.text) for one in best)


def _is_bearing_right(each: CheckedClaim) -> bool:
    return each.bearing_paper in each.claim.papers


def _is_label_right(each: CheckedClaim) -> bool:
    return each.label == each.claim.label


def _print_head(title: str) -> None:
    columns = "".join(f"{name:>36}" for name in (*HALVES, "all"))
    print(f"\n{title:{LABEL}}{columns}")


def _print_rows(
    label: str, checked: Sequence[CheckedClaim], is_right: Callable[[CheckedClaim], bool]
) -> None:
    parts = [[each for each in checked if each.claim.half == half] for half in HALVES]
    cells = "".join(
        f"{describe_share(sum(map(is_right, part)), len(part)):>36}" for part in (*parts, checked)
    )
    print(f"{label:{LABEL}}{cells}", flush=True)


def _print_coverage(
    label: str, checked: Sequence[CheckedClaim], chosen: Sequence[CheckedClaim]
) -> None:
    names = {each.claim.name for each in chosen}
    _print_rows(label, checked, lambda each: each.claim.name in names)


if __name__ == "__main__":
    main(sys.argv[1:])

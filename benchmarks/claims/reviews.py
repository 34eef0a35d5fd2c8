"""Claims as hypotheses: is the deciding paper among those that a review reads, and what it says.

    python -m benchmarks.claims.reviews [FOLDER] [--keep FOLDER] [--count 50] [--seed 18]

Each claim is submitted to a project as somebody's own hypothesis, and reviewed through the gate.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from random import Random
from typing import Any

from benchmarks.claims.candidates import find_candidates
from benchmarks.claims.data import SCIFACT, Claim, read_claims
from benchmarks.claims.measures import describe_share
from benchmarks.retrieval.carrel_desk import CarrelDesk, open_home
from carrel.rooms.research.errors import StillWorkingError

GOAL = "Which of these claims hold?"


def main(arguments: Sequence[str]) -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.claims.reviews")
    parser.add_argument("folder", nargs="?", type=Path, default=SCIFACT)
    parser.add_argument("--keep", type=Path, help="keep what was built and found here")
    parser.add_argument("--count", type=int, default=50)
    parser.add_argument("--seed", type=int, default=18)
    parser.add_argument("--type", default="initial", help="the type of the reviews")
    given = parser.parse_args(arguments)
    work = given.keep or Path(tempfile.mkdtemp(prefix="carrel-claims-"))
    work.mkdir(parents=True, exist_ok=True)
    claims = read_claims(given.folder)
    find_candidates(given.folder, work, claims)
    decided = [claim for claim in claims if claim.evidence]
    drawn = Random(given.seed).sample(decided, given.count)
    with open_home(work / "home") as desk:
        report(drawn, review_claims(desk, drawn, given.type), desk)


def review_claims(desk: CarrelDesk, claims: Sequence[Claim], kind: str) -> list[Any]:
    """The review of each claim; the project is made by an import, so that nothing else works."""
    first = json.dumps([{"id": f"first {claims[0].name}", "summary": "Papers decide claims."}])
    project = desk.call("import_hypotheses", hypotheses=first, goal=GOAL)
    found = []
    for number, claim in enumerate(claims, 1):
        own = desk.call(
            "submit_hypothesis",
            research_id=project["research_id"],
            title=claim.text[:200],
            summary=claim.text,
        )
        found.append(_review(desk, own["id"], kind))
        print(f"\r{number} of {len(claims)} reviewed", end="", file=sys.stderr, flush=True)
    return found


def _review(desk: CarrelDesk, hypothesis_id: str, kind: str) -> Any:
    while True:
        try:
            return desk.call("review_hypothesis", hypothesis_id=hypothesis_id, review_type=kind)
        except StillWorkingError:
            # The same review asked for again waits for the one that is going on.
            continue


def report(claims: Sequence[Claim], reviews: Sequence[Any], desk: CarrelDesk) -> None:
    read = shown = right = labelled = 0
    verdicts: Counter[tuple[str, str]] = Counter()
    for claim, review in zip(claims, reviews, strict=True):
        statements = review["statements"]
        papers = {desk.name_paper(one) for each in statements for one in each["papers_read"]}
        read += bool(papers & claim.papers)
        shown += any(
            claim.has_sentence(desk.name_paper(paper), text) for paper, text in _quoted(statements)
        )
        verdict = statements[0]["verdict"] if statements else "none"
        verdicts[str(claim.label), verdict] += 1
        if verdict in {"supports", "contradicts"}:
            labelled += 1
            right += verdict[:7] == str(claim.label).lower()[:7]
    count = len(claims)
    print(f"\n{count} claims with evidence, submitted as hypotheses and reviewed")
    for told, hits, whole in (
        ("a deciding paper is among the papers read", read, count),
        ("a deciding sentence is quoted", shown, count),
        ("labels for or against", labelled, count),
        ("   and they are right", right, labelled),
    ):
        print(f"  {told:46} {describe_share(hits, whole)}")
    for (label, verdict), number in sorted(verdicts.items()):
        print(f"  {label:12} reviewed as {verdict:12} {number}")


def _quoted(statements: Sequence[Any]) -> list[tuple[str, str]]:
    return [
        (one["paper_id"], one["sentence"])
        for each in statements
        for side in ("supporting", "contradicting", "bearing", "nearest")
        for one in each[side]
        if not one["paper_id"].startswith("ref:")
    ]


if __name__ == "__main__":
    main(sys.argv[1:])

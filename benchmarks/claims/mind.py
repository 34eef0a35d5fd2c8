"""Claims for an assistant to judge from the evidence that our reviewer hands out, and its score."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from benchmarks.claims.candidates import FoundPapers
from benchmarks.claims.data import CONTRADICT, HALVES, SUPPORT
from benchmarks.claims.measures import describe_share
from carrel.libraries.claims import Statement, choose_papers, rank_sentences

CLAIMS = 60
SENTENCES = 12
ASKED = (
    "Judge the claim from these sentences alone. verdict: supports or contradicts where a sentence "
    "decides it, mixed where papers disagree, undecided where they bear on it and do not decide, "
    "silent where none bears on it. sentences: ids of the deciding ones. One JSON object a line."
)
_LABELS = {"supports": SUPPORT, "contradicts": CONTRADICT}


def choose_claims(found: Sequence[FoundPapers]) -> dict[str, FoundPapers]:
    """Held-out claims with and without evidence, as a hash of their names orders them."""
    held_out = [each for each in found if each.claim.half == HALVES[1]]
    held_out.sort(key=lambda each: hashlib.sha256(f"mind {each.claim.name}".encode()).digest())
    return {f"c{number:02}": each for number, each in enumerate(held_out[:CLAIMS], 1)}


def list_sentences(found: FoundPapers) -> list[tuple[str, str, str, str]]:
    """Id, paper, title and text of the sentences that are handed out, paper by paper."""
    statement = Statement(found.claim.text)
    papers = choose_papers(statement, found.papers)
    best = rank_sentences(statement, papers)[:SENTENCES]
    return [
        (f"p{paper.rank}s{each.number + 1}", paper.paper_id, paper.title, each.text)
        for paper in papers
        for each in sorted(best, key=lambda one: one.number)
        if each.paper_id == paper.paper_id
    ]


def write_claims(found: Sequence[FoundPapers], path: Path) -> int:
    """One line per claim, without its label; how many were written."""
    chosen = choose_claims(found)
    with path.open("w", encoding="utf-8") as file:
        for name, each in chosen.items():
            papers: dict[str, dict[str, Any]] = {}
            for sentence_id, _, title, text in list_sentences(each):
                paper = papers.setdefault(
                    sentence_id.split("s")[0],
                    {"paper": sentence_id.split("s")[0], "title": title, "sentences": []},
                )
                paper["sentences"].append({"id": sentence_id, "text": text})
            line = {
                "id": name,
                "claim": each.claim.text,
                "papers": list(papers.values()),
                "do": ASKED,
                "answer_shape": {"id": name, "verdict": "undecided", "sentences": ["p1s1"]},
            }
            file.write(json.dumps(line, ensure_ascii=False) + "\n")
    return len(chosen)


def score_answers(found: Sequence[FoundPapers], handed_out: Path, path: Path) -> None:
    """Print how many answers are right; `handed_out` is the file that `write_claims` wrote."""
    claims = {each.claim.text: each.claim for each in found}
    chosen = {name: claims[str(line["claim"])] for name, line in _read_lines(handed_out).items()}
    sentences = {
        name: {one["id"]: one["text"] for paper in line["papers"] for one in paper["sentences"]}
        for name, line in _read_lines(handed_out).items()
    }
    answers = _read_lines(path)
    right = labelled = right_labels = cited = right_cited = handed = right_handed = unknown = 0
    for name, claim in chosen.items():
        answer, shown = answers.get(name, {}), sentences[name]
        label = _LABELS.get(str(answer.get("verdict", "")))
        has_gold = any(map(claim.is_deciding, shown.values()))
        handed += has_gold
        right_handed += has_gold and label == claim.label
        right += label == claim.label
        named = [str(one) for one in answer.get("sentences") or []]
        unknown += sum(one not in shown for one in named)
        if label is not None:
            labelled += 1
            right_labels += label == claim.label
            cited += bool(named)
            right_cited += any(claim.is_deciding(shown[one]) for one in named if one in shown)
    answered = sum(name in answers for name in chosen)
    print(f"\nAn assistant as mind: {answered} of {len(chosen)} held-out claims answered")
    for told, hits, count in (
        ("right of all (no evidence = no label)", right, len(chosen)),
        ("right where a deciding sentence was handed out", right_handed, handed),
        ("labels for or against that are right", right_labels, labelled),
        ("labels of all claims", labelled, len(chosen)),
        ("labels whose sentences hold a deciding one", right_cited, cited),
    ):
        print(f"  {told:52} {describe_share(hits, count)}")
    print(f"  {'sentence ids that were not handed out':52} {unknown}")


def _read_lines(path: Path) -> dict[str, Mapping[str, Any]]:
    with path.open(encoding="utf-8") as file:
        lines = [json.loads(line) for line in file if line.strip()]
    return {str(line["id"]): line for line in lines}

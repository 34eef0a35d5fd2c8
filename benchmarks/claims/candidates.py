"""Papers for each claim, found by Carrel's own search in a home built on the command line."""

from __future__ import annotations

import json
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks.claims.data import Claim
from benchmarks.retrieval import data as retrieval_data
from benchmarks.retrieval.carrel_desk import CarrelDesk, fill, open_home, write_papers
from carrel.libraries.claims import (
    PAPERS_PER_QUERY,
    PaperText,
    Statement,
    fuse_rankings,
    write_queries,
)
from carrel.libraries.claims.paper_texts import read_text


@dataclass(frozen=True, slots=True)
class FoundPapers:
    """The papers that the search found for a claim, in its order, and what the search cost."""

    claim: Claim
    papers: tuple[PaperText, ...]
    seconds: float


def find_candidates(folder: Path, work: Path, claims: Sequence[Claim]) -> list[FoundPapers]:
    """Candidates of every claim; ids are those of the data. Kept in the work folder."""
    home = work / "home"
    if not home.exists():
        documents = retrieval_data.read_beir(folder).documents
        source = work / "papers.jsonl"
        write_papers(documents, source)
        fill(home, len(documents), home / "papers", "papers", "build", source, "--quiet")
    kept = work / "candidates.json"
    if not kept.exists():
        with open_home(home) as desk:
            desk.find_passages("warm up")
            rows = [_search(desk, claim) for claim in claims]
        kept.write_text(json.dumps(rows), encoding="utf-8")
    rows = json.loads(kept.read_text(encoding="utf-8"))
    return [
        FoundPapers(
            claim,
            tuple(
                read_text(name, title, rank, text)
                for rank, (name, title, text) in enumerate(row["papers"], 1)
            ),
            row["seconds"],
        )
        for claim, row in zip(claims, rows, strict=True)
    ]


def _search(desk: CarrelDesk, claim: Claim) -> dict[str, Any]:
    rankings: list[list[str]] = []
    texts: dict[str, tuple[str, list[str]]] = {}
    seconds = 0.0
    for query in write_queries(Statement(claim.text)):
        start = time.perf_counter()
        answer = desk.call("find_passages", query=query, limit=PAPERS_PER_QUERY)
        seconds += time.perf_counter() - start
        rows = answer["result"] if isinstance(answer, dict) else answer
        rankings.append(list(dict.fromkeys(row["paper_id"] for row in rows)))
        for row in rows:
            _, passages = texts.setdefault(row["paper_id"], (row["title"], []))
            if row["text"] not in passages:
                passages.append(row["text"])
    papers = [
        (desk.name_paper(found), texts[found][0], "\n\n".join(texts[found][1]))
        for found in fuse_rankings(rankings)
    ]
    return {"papers": papers, "seconds": seconds}

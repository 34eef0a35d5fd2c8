"""Chooses and judges the order of found works over simulated services.

    python -m benchmarks.literature.ranking --data FOLDER [--choose]

SciFact's abstracts are what is to be found; its claims, and titles with words left out, are the
questions. Each of five services has a part of the abstracts, leaves some texts out, orders by rules
and noise of its own and returns its first 25. Questions are parted by a hash: weights are chosen on
one half (`--choose` prints the tries), and the other half is reported.
"""

from __future__ import annotations

import argparse
import gzip
import hashlib
import itertools
import json
import math
import random
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from carrel.libraries.literature.merging import merge_records
from carrel.libraries.literature.ranking import WEIGHTS, RankingWeights, fuse_ranks, rank_works
from carrel.libraries.literature.records import MergedWork, ServiceRecord, WorkIds, WorkRecord
from carrel.libraries.query.papers import PaperQuery, parse_paper_query
from carrel.libraries.text.analysis import analyze_document
from carrel.libraries.text.stems import light_stem

PAGE = 25
SEED = 59


@dataclass(frozen=True, slots=True)
class Document:
    name: str
    title: str
    text: str


@dataclass(frozen=True, slots=True)
class RankedQuestion:
    """A question, the names of the right works, and what the services returned for it."""

    kind: str
    query: PaperQuery
    right: frozenset[str]
    works: tuple[MergedWork, ...]
    is_for_choosing: bool


@dataclass(frozen=True, slots=True)
class SimulatedService:
    """What a service has and how it orders: the weight of titles, of rarity, and noise."""

    name: str
    coverage: float
    has_abstract: float
    title_weight: float
    rarity_power: float
    noise: float


SERVICES = (
    SimulatedService("openalex", 0.85, 0.7, 1.5, 1.0, 0.25),
    SimulatedService("crossref", 0.9, 0.45, 3.0, 0.3, 0.5),
    SimulatedService("pubmed", 0.6, 0.95, 1.0, 1.0, 0.3),
    SimulatedService("europepmc", 0.65, 0.95, 1.0, 0.6, 0.4),
    SimulatedService("arxiv", 0.2, 1.0, 1.0, 0.0, 0.6),
)


class _Index:
    """Counts of stems of all documents."""

    def __init__(self, documents: Sequence[Document]) -> None:
        self.documents = documents
        self.titles = [Counter(map(light_stem, analyze_document(d.title))) for d in documents]
        self.texts = [Counter(map(light_stem, analyze_document(d.text))) for d in documents]
        self.having: dict[str, list[int]] = defaultdict(list)
        for at, (title, text) in enumerate(zip(self.titles, self.texts, strict=True)):
            for term in title.keys() | text.keys():
                self.having[term].append(at)

    def search(
        self, service: SimulatedService, words: Sequence[str], rng: random.Random
    ) -> list[int]:
        scores: dict[int, float] = defaultdict(float)
        for term in words:
            having = self.having.get(term, ())
            rarity = math.log(1 + len(self.documents) / (1 + len(having))) ** service.rarity_power
            for at in having:
                if _is_in(service, self.documents[at].name):
                    found = service.title_weight * self.titles[at][term] + self.texts[at][term]
                    scores[at] += rarity * found / (found + 1.2)
        noisy = {at: score * math.exp(rng.gauss(0, service.noise)) for at, score in scores.items()}
        return sorted(noisy, key=lambda at: -noisy[at])[:PAGE]


def _hash(text: str) -> float:
    return int.from_bytes(hashlib.sha256(text.encode()).digest()[:6], "big") / 2**48


def _is_in(service: SimulatedService, name: str) -> bool:
    return _hash(f"{service.name} has {name}") < service.coverage


def _has_abstract(service: SimulatedService, name: str) -> bool:
    return _hash(f"{service.name} abstract {name}") < service.has_abstract


def read_questions(
    data: Path, titles: int = 400, claims: int | None = None
) -> list[RankedQuestion]:
    folder = data / "retrieval" / "scifact"
    with gzip.open(folder / "corpus.jsonl.gz", "rt", encoding="utf-8") as lines:
        documents = [
            Document(row["_id"], row["title"].rstrip("."), row["text"])
            for row in map(json.loads, lines)
        ]
    index = _Index(documents)
    right: dict[str, set[str]] = defaultdict(set)
    rows = (folder / "qrels_train.tsv").read_text().splitlines()[1:]
    for query, name, score in (row.split("\t") for row in rows):
        if int(score) > 0:
            right[query].add(name)
    texts = {
        row["_id"]: row["text"]
        for row in map(json.loads, (folder / "queries_train.jsonl").read_text().splitlines())
    }
    rng = random.Random(SEED)
    asked = [("claim", texts[name], frozenset(found)) for name, found in right.items()][:claims]
    for document in rng.sample(documents, titles):
        words = document.title.split()
        kept = [word for word in words if rng.random() > 0.3] or words
        asked.append(("title", " ".join(kept[:10]), frozenset({document.name})))
    return [
        RankedQuestion(
            kind,
            parse_paper_query(text),
            names,
            tuple(_ask(index, text, rng)),
            _hash(f"choose {text}") < 0.5,
        )
        for kind, text, names in asked
    ]


def _ask(index: _Index, text: str, rng: random.Random) -> list[MergedWork]:
    words = [light_stem(term) for term in analyze_document(text)]
    records = []
    for service in SERVICES:
        for rank, at in enumerate(index.search(service, words, rng), 1):
            document = index.documents[at]
            work = WorkRecord(
                ids=WorkIds(doi=f"10.5555/{document.name}"),
                title=document.title,
                abstract=document.text if _has_abstract(service, document.name) else "",
                issued="2010",
            )
            records.append(ServiceRecord(service.name, document.name, work, rank))
    return merge_records(records)


def measure(
    questions: Iterable[RankedQuestion], order: Callable[[RankedQuestion], Sequence[MergedWork]]
) -> tuple[float, float]:
    """nDCG at 10 and the share of questions with a right work among the first three.

    Right works that no service returned are left out: no order can show them.
    """
    gains, firsts, count = 0.0, 0, 0
    for question in questions:
        there = {work.records[0].service_id for work in question.works} & question.right
        if not there:
            continue
        names = [work.records[0].service_id for work in order(question)[:10]]
        gain = sum(1 / math.log2(at + 2) for at, name in enumerate(names) if name in there)
        best = sum(1 / math.log2(at + 2) for at in range(min(10, len(there))))
        gains, firsts, count = gains + gain / best, firsts + bool(there & {*names[:3]}), count + 1
    return gains / max(1, count), firsts / max(1, count)


def _by_weights(weights: RankingWeights) -> Callable[[RankedQuestion], list[MergedWork]]:
    return lambda question: rank_works(question.works, question.query, weights)


def _by_fusion(question: RankedQuestion) -> list[MergedWork]:
    return sorted(question.works, key=lambda work: -fuse_ranks(work))


def _by_service(name: str) -> Callable[[RankedQuestion], list[MergedWork]]:
    def order(question: RankedQuestion) -> list[MergedWork]:
        ranks = {
            id(work): min((r.rank or 99 for r in work.records if r.service == name), default=99)
            for work in question.works
        }
        return sorted(question.works, key=lambda work: ranks[id(work)])

    return order


def choose(questions: Sequence[RankedQuestion]) -> None:
    """Prints every value of every weight, the others as they are."""
    tries = {
        "text": (0.0, 0.3, 0.5, 0.7, 0.8, 0.9, 1.0),
        "title": (1.0, 2.0, 3.0, 5.0),
        "neighbours": (0.0, 0.25, 0.5, 1.0),
    }
    for name, values in tries.items():
        for value in values:
            weights = replace(WEIGHTS, **{name: value})
            figures = [
                measure([q for q in questions if q.kind == kind], _by_weights(weights))
                for kind in ("claim", "title")
            ]
            shown = "  ".join(f"{gain:.4f} {first:.4f}" for gain, first in figures)
            print(f"{name:<17} {value:<5} claims, titles: {shown}", flush=True)


def report(questions: Sequence[RankedQuestion]) -> None:
    rules: dict[str, Callable[[RankedQuestion], Sequence[MergedWork]]] = {
        **{f"{service.name} alone": _by_service(service.name) for service in SERVICES},
        "fused ranks alone": _by_fusion,
        "our own score alone": _by_weights(replace(WEIGHTS, text=1.0)),
        "fused ranks and our own score": _by_weights(WEIGHTS),
    }
    for kind, (name, rule) in itertools.product(("claim", "title"), rules.items()):
        kept = [question for question in questions if question.kind == kind]
        gain, first = measure(kept, rule)
        print(
            f"{kind + 's as questions':<22} {name:<32} nDCG@10 {gain:.4f}  right among three "
            f"{first:.4f}  ({len(kept)} questions)",
            flush=True,
        )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--choose", action="store_true")
    options = parser.parse_args()
    questions = read_questions(options.data)
    if options.choose:
        choose([question for question in questions if question.is_for_choosing])
    else:
        report([question for question in questions if not question.is_for_choosing])


if __name__ == "__main__":
    main()

"""SciFact's claims with their evidence, and the half that each belongs to."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from benchmarks.retrieval.data import read_lines
from carrel.libraries.text.folding import text_key

SCIFACT = Path("../shared/data/retrieval/scifact")
SUPPORT, CONTRADICT = "SUPPORT", "CONTRADICT"
HALVES = ("chosen on", "held out")


@dataclass(frozen=True, slots=True)
class Evidence:
    """A paper that decides a claim, with the keys of its deciding sentences."""

    paper: str
    label: str
    sentences: tuple[str, ...]

    def has_sentence(self, text: str) -> bool:
        key = text_key(text)
        return any(key in gold or gold in key for gold in self.sentences if key and gold)


@dataclass(frozen=True, slots=True)
class Claim:
    """A claim with the evidence that annotators found; none where no abstract decides it."""

    name: str
    text: str
    evidence: tuple[Evidence, ...]
    half: str

    @property
    def papers(self) -> frozenset[str]:
        return frozenset(each.paper for each in self.evidence)

    @property
    def label(self) -> str | None:
        """The label of its papers; no claim of the set has both."""
        return self.evidence[0].label if self.evidence else None

    def has_sentence(self, paper: str, text: str) -> bool:
        """Whether a sentence of a paper is one of the deciding ones, however it was cut."""
        return any(each.paper == paper and each.has_sentence(text) for each in self.evidence)

    def is_deciding(self, text: str) -> bool:
        """Whether a sentence is one of the deciding ones of any of its papers."""
        return any(each.has_sentence(text) for each in self.evidence)


def read_claims(folder: Path) -> list[Claim]:
    """The claims of a folder; those that cite the same paper first are in one half."""
    texts = {str(line["_id"]): line["sentences"] for line in read_lines(folder, "sentences")}
    path = folder / "claims_train.jsonl"
    with path.open(encoding="utf-8") as file:
        return [_read_claim(json.loads(line), texts) for line in file if line.strip()]


def _read_claim(line: Mapping[str, object], texts: Mapping[str, object]) -> Claim:
    cited = line["cited_doc_ids"]
    evidence = line["evidence"]
    assert isinstance(cited, list) and isinstance(evidence, list)
    found = []
    for each in evidence:
        sentences = texts[str(each["doc_id"])]
        assert isinstance(sentences, Sequence)
        keys = tuple(text_key(str(sentences[number])) for number in each["sentences"])
        found.append(Evidence(str(each["doc_id"]), str(each["label"]), keys))
    return Claim(str(line["id"]), str(line["claim"]), tuple(found), choose_half(str(cited[0])))


def choose_half(paper: str) -> str:
    """Even or odd first byte of the SHA-256 of the first cited paper's id."""
    return HALVES[hashlib.sha256(paper.encode()).digest()[0] % 2]

"""Labelled relations: references to sentences and spans in them, never their text."""

import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from benchmarks.relations.sources import elife, other_fields, scifact

LABELS = Path(__file__).with_name("labels.jsonl")
CHOOSE, REPORT = "choose", "report"


@dataclass(frozen=True)
class LabelledRelation:
    """A relation as a person read it: spans in the sentence, kind, net sign, marks."""

    subject: tuple[int, int]
    object: tuple[int, int]
    kind: str
    sign: int
    negated: bool
    hedged: bool
    asked: bool


@dataclass(frozen=True)
class LabelledSentence:
    """A sentence with both passes and what was agreed."""

    number: int
    source: str
    record: str
    field: str
    hash: str
    text: str
    passes: dict[str, tuple[LabelledRelation, ...]]

    @property
    def half(self) -> str:
        """Which half it belongs to, by its hash."""
        return CHOOSE if int(self.hash, 16) % 2 == 0 else REPORT


def read_labels(data: Path) -> Iterator[LabelledSentence]:
    """The labels with the sentences of the data folder; one that is missing there is an error."""
    rows = [json.loads(line) for line in LABELS.read_text(encoding="utf-8").splitlines()]
    wanted = {row["hash"] for row in rows}
    texts = {
        sentence.hash: sentence.text
        for read in (elife, scifact, other_fields)
        for sentence in read(data)
        if sentence.hash in wanted
    }
    for row in rows:
        yield LabelledSentence(
            row["id"],
            row["source"],
            row["record"],
            row["field"],
            row["hash"],
            texts[row["hash"]],
            {name: tuple(_relations(row[name])) for name in ("a", "b", "agreed") if name in row},
        )


def _relations(rows: Iterable[list[object]]) -> Iterator[LabelledRelation]:
    for row in rows:
        first, last, start, end, kind, sign, marks = row
        assert isinstance(first, int) and isinstance(last, int)
        assert isinstance(start, int) and isinstance(end, int)
        assert isinstance(kind, str) and isinstance(sign, int) and isinstance(marks, str)
        yield LabelledRelation(
            (first, last), (start, end), kind, sign, "n" in marks, "h" in marks, "a" in marks
        )

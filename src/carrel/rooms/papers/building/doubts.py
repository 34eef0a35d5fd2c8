"""What is doubtful in a paper's record, and how much a correction of it would help."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import PurePath
from typing import Literal, get_args

from carrel.rooms.papers.building.paper_groups import Conflict, PaperGroup
from carrel.rooms.papers.building.paper_records import PaperRecord, PossibleTwin, is_guess

# `twin`: another paper may be the same work. `identifier`: another paper has it too. `guess`: no
# source states it. `differs`: two sources say different things. `unsure`: read from the printed
# page, with some doubt. `missing`: unknown, and every paper has one.
DoubtKind = Literal["twin", "identifier", "guess", "differs", "unsure", "missing"]
DOUBT_KINDS: tuple[DoubtKind, ...] = get_args(DoubtKind)
# What a twin is a doubt about.
PAPER = "paper"
# A field of the printed page from this confidence on is not listed. Chosen by hand: below it, one
# in five or more is expected to be wrong.
SURE_CONFIDENCE = 0.8
# How much a field matters for finding and citing a paper, and how likely a kind of doubt is a
# mistake. Chosen by hand; only the order of the list follows from them.
_FIELD_WEIGHTS = {
    "title": 10,
    "doi": 9,
    PAPER: 9,
    "authors": 8,
    "publication_date": 7,
    "arxiv_id": 5,
    "venue": 3,
    "volume": 1,
    "issue": 1,
    "pages": 1,
}
_KIND_WEIGHTS: dict[DoubtKind, int] = {
    "twin": 12,
    "identifier": 12,
    "guess": 10,
    "differs": 8,
    "unsure": 4,
    "missing": 2,
}
_MAX_SOURCES = 5


@dataclass(frozen=True, slots=True)
class Doubt:
    """One field of a paper that somebody should look at."""

    kind: DoubtKind
    field: str

    @property
    def weight(self) -> int:
        return _KIND_WEIGHTS[self.kind] * _FIELD_WEIGHTS.get(self.field, 1)

    @property
    def mark(self) -> str:
        """As segments store it."""
        return f"{self.kind}:{self.field}"


def read_mark(text: str) -> Doubt | None:
    """None for a mark of a later version."""
    name, _, field = text.partition(":")
    kind = next((each for each in DOUBT_KINDS if each == name), None)
    return Doubt(kind, field) if kind else None


def find_doubts(
    record: PaperRecord, conflicts: Sequence[Conflict] = (), twins: Sequence[PossibleTwin] = ()
) -> tuple[Doubt, ...]:
    """All doubts about a record, the most useful to settle first; each field once."""
    found = {PAPER: Doubt("twin", PAPER)} if twins else {}
    for each in _all_doubts(record, conflicts):
        found.setdefault(each.field, each)
    return tuple(sorted(found.values(), key=lambda each: -each.weight))


def name_sources(
    record: PaperRecord, group: PaperGroup, twins: Sequence[PossibleTwin] = ()
) -> tuple[str, ...]:
    """The names of the files of a paper in doubt, without their folders."""
    if not find_doubts(record, group.conflicts, twins):
        return ()
    return tuple(dict.fromkeys(PurePath(source).name for source in group.sources))[:_MAX_SOURCES]


def _all_doubts(record: PaperRecord, conflicts: Iterable[Conflict]) -> Iterator[Doubt]:
    for conflict in conflicts:
        field = "arxiv_id" if conflict.key.startswith("arxiv:") else "doi"
        if record.origin_of(field).origin != "person":
            yield Doubt("identifier", field)
    for name in _FIELD_WEIGHTS:
        if name == PAPER or not getattr(record, name):
            continue
        origin = record.origin_of(name)
        if is_guess(origin):
            yield Doubt("guess", name)
        if any(other.field == name for other in record.other_values):
            yield Doubt("differs", name)
        if origin.origin == "layout" and origin.confidence < SURE_CONFIDENCE:
            yield Doubt("unsure", name)
    for name in ("authors", "publication_date"):
        if not getattr(record, name) and record.origin_of(name).origin != "person":
            yield Doubt("missing", name)

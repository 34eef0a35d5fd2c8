"""Evidence of a hypothesis for a page: two sides, the rest, and the drawing of its bridge."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from carrel.core.work_notices import WorkNotice, describe_notice
from carrel.rooms.research.detail_models import (
    BridgeShown,
    EvidenceSentence,
    EvidenceStatement,
    HypothesisEvidence,
)
from carrel.rooms.research.drawings import (
    WIDE_BRIDGE,
    BridgeLayout,
    BridgePlot,
    BridgeSpan,
    plot_bridge,
)
from carrel.rooms.research.pages.addresses import source_address

_NARROW_BRIDGE = BridgeLayout(
    width=360, node_width=156, end_width=14, row_height=46, letters=22, top=26
)


@dataclass(frozen=True, slots=True)
class EvidenceCard:
    """A sentence of a paper: what it is about, where it stands, and where to read it."""

    anchor: str
    statement: str
    sentence: str
    paper: str
    path: str
    place: str
    warning: str


@dataclass(frozen=True, slots=True)
class EvidenceSides:
    """The sentences for, against, and of it without a side; statements without any."""

    supporting: list[EvidenceCard]
    contradicting: list[EvidenceCard]
    bearing: list[EvidenceCard]
    without: list[tuple[str, str]]


@dataclass(frozen=True, slots=True)
class BridgeDrawing:
    """The plots for wide and narrow pages, and the anchors of each span's edges ("" for none)."""

    wide: BridgePlot
    narrow: BridgePlot
    anchors: list[tuple[str, str]]
    shown: BridgeShown


def split_sides(evidence: HypothesisEvidence) -> EvidenceSides:
    """The evidence in two columns; a sentence stands once in each, under its first statement."""
    statements = list(enumerate(evidence.statements))
    notices = evidence.notices
    return EvidenceSides(
        _cards(((at, one, one.supporting) for at, one in statements), "for", notices),
        _cards(((at, one, one.contradicting) for at, one in statements), "against", notices),
        _cards(((at, one, one.bearing) for at, one in statements), "bears", notices),
        [
            (one.statement, one.verdict)
            for _, one in statements
            if not (one.supporting or one.contradicting or one.bearing)
        ],
    )


def _cards(
    found: Iterable[tuple[int, EvidenceStatement, list[EvidenceSentence]]],
    side: str,
    notices: Mapping[str, tuple[WorkNotice, ...]],
) -> list[EvidenceCard]:
    return [
        EvidenceCard(
            anchor=f"{side}-{at}-{number}",
            statement=statement.statement,
            sentence=sentence.sentence,
            paper=_name_paper(sentence),
            path=source_address(sentence.paper_id, sentence.passage_id),
            place=sentence.place,
            warning=_warn(notices.get(sentence.paper_id, ())),
        )
        for at, statement, sentences in found
        for number, sentence in enumerate(sentences)
    ]


def _name_paper(sentence: EvidenceSentence) -> str:
    year = "" if sentence.year is None else f" ({sentence.year})"
    return f"{sentence.title or sentence.paper_id}{year}"


def _warn(notices: Iterable[WorkNotice]) -> str:
    return "; ".join(map(describe_notice, notices))


def draw_bridge(evidence: HypothesisEvidence) -> BridgeDrawing | None:
    """The drawing, whose edges lead to their sentences; None where nothing is bridged."""
    shown = evidence.bridge
    if shown is None:
        return None
    spans = [BridgeSpan(one.concept, one.near_papers, one.far_papers) for one in shown.links]
    return BridgeDrawing(
        plot_bridge(shown.start, shown.end, spans, WIDE_BRIDGE),
        plot_bridge(shown.start, shown.end, spans, _NARROW_BRIDGE),
        [(_anchor(evidence, one.near), _anchor(evidence, one.far)) for one in shown.links],
        shown,
    )


def _anchor(evidence: HypothesisEvidence, at: int) -> str:
    """The first sentence of a statement: one for it, else against it, else of it."""
    statement = evidence.statements[at]
    for side, sentences in (
        ("for", statement.supporting),
        ("against", statement.contradicting),
        ("bears", statement.bearing),
    ):
        if sentences:
            return f"{side}-{at}-0"
    return ""

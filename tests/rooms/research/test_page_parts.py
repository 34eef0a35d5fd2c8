"""Parts of the console's pages: lineages, texts with numbered papers, tabs' states."""

from __future__ import annotations

from typing import Any

import pytest

from carrel.core.pages import local_address
from carrel.rooms.research.detail_models import (
    BridgeLink,
    BridgeShown,
    EvidenceSentence,
    EvidenceStatement,
    HypothesisEvidence,
)
from carrel.rooms.research.models import HypothesisRow, StrengthShown
from carrel.rooms.research.pages.addresses import source_address
from carrel.rooms.research.pages.evidence_view import draw_bridge, split_sides
from carrel.rooms.research.pages.home_share import find_path
from carrel.rooms.research.pages.lineage import LineageNode, trace_lineage
from carrel.rooms.research.pages.texts import PaperNumbers


def row(name: str, *parents: str) -> HypothesisRow:
    return HypothesisRow(
        id=name,
        research_id="res",
        title=f"Title of {name}",
        summary="",
        bridges=[],
        citation_count=0,
        origin="",
        method="combine" if parents else "literature_based",
        parents=list(parents),
        elo_score=1000.0,
        strength=StrengthShown(value=0.0, low=0.0, high=0.0),
        wins=0,
        losses=0,
        draws=0,
        place="ranked",
        status="pending",
        review_count=0,
        approval="undecided",
        created_at="2026-01-01T00:00:00+00:00",
    )


def shape(node: LineageNode) -> Any:
    return (node.id, [shape(child) for child in node.children])


def test_a_hypothesis_that_stands_alone_has_no_lineage() -> None:
    assert trace_lineage([row("a"), row("b")], "a") == []
    assert trace_lineage([row("a")], "unknown") == []


def test_a_lineage_has_ancestors_and_descendants_and_leaves_out_the_rest() -> None:
    rows = [row("a"), row("b"), row("c", "a", "b"), row("d", "c"), row("e", "a"), row("f")]
    found = trace_lineage(rows, "c")
    assert [shape(node) for node in found] == [
        ("a", [("c", [("d", [])])]),
        ("b", [("c", [("d", [])])]),
    ]
    assert found[0].children[0].is_this and not found[0].is_this


def test_a_lineage_that_bites_its_tail_ends() -> None:
    rows = [row("a", "b"), row("b", "a"), row("c", "a")]
    assert trace_lineage(rows, "a") == []
    long = [row("h0"), *(row(f"h{at}", f"h{at - 1}") for at in range(1, 30))]
    node, depth = trace_lineage(long, "h29")[0], 1
    while node.children:
        node, depth = node.children[0], depth + 1
    assert depth < 30


def test_ids_of_cited_papers_become_numbered_links_and_nothing_else_does() -> None:
    numbers = PaperNumbers(["p.1", "p.10", "p.1"])
    assert numbers.rows() == [(1, "p.1"), (2, "p.10")]
    pieces = numbers.pieces("as [p.10, 2016] and [pX1] and p.1")
    assert [(one.text, one.path) for one in pieces] == [
        ("as [", ""),
        ("2", "/papers/paper/p.10"),
        (", 2016] and [pX1] and ", ""),
        ("1", "/papers/paper/p.1"),
    ]
    assert [one.text for one in PaperNumbers([]).pieces("p.1")] == ["p.1"]


def test_numbered_steps_keep_the_lines_below_them() -> None:
    blocks = PaperNumbers([]).blocks("Opening\n1. First\n   below\n2. Second\n\nEnd")
    assert [(one.number, one.pieces[0].text, len(one.below)) for one in blocks] == [
        ("", "Opening", 0),
        ("1", "First", 1),
        ("2", "Second", 0),
        ("", "End", 0),
    ]


@pytest.mark.parametrize(
    ("paper_id", "passage_id", "path"),
    [
        ("p", None, "/papers/paper/p"),
        ("p", "p~1", "/papers/paper/p?passage=p%7E1"),
        ("ref:key", None, "/references/item/key"),
        ("//evil.example", None, "/papers/paper///evil.example"),
        ('"><script>', None, "/papers/paper/%22%3E%3Cscript%3E"),
    ],
)
def test_sources_have_addresses_of_our_own(
    paper_id: str, passage_id: str | None, path: str
) -> None:
    found = source_address(paper_id, passage_id)
    assert found.replace("~", "%7E") == path
    assert found.startswith("/") and not found.startswith("//")


def test_hits_of_the_search_over_the_desk_have_pages() -> None:
    assert find_path("hypothesis", "h1") == "/research/hypothesis/h1"
    assert find_path("project", "r1") == local_address("/research/project", "r1")


def evidence_of(**sides: list[EvidenceSentence]) -> HypothesisEvidence:
    empty = EvidenceStatement(statement="b is linked to c", verdict="0 papers name both")
    return HypothesisEvidence(
        hypothesis_id="h",
        rank=1,
        title="A",
        bridge=BridgeShown(
            start="a",
            end="c",
            links=[BridgeLink(concept="b", near_papers=1, far_papers=0, near=0, far=1)],
            direct_papers=0,
            papers_searched=9,
        ),
        statements=[
            EvidenceStatement(statement="a is linked to b", verdict="1 paper names both", **sides),
            empty,
        ],
    )


def test_an_edge_leads_to_a_sentence_for_it_else_against_it_else_of_it() -> None:
    one = EvidenceSentence(paper_id="p", sentence="S.")
    for sides, anchor in (
        ({"bearing": [one]}, "bears-0-0"),
        ({"bearing": [one], "contradicting": [one]}, "against-0-0"),
        ({"supporting": [one], "contradicting": [one]}, "for-0-0"),
    ):
        evidence = evidence_of(**sides)
        drawing, found = draw_bridge(evidence), split_sides(evidence)
        assert drawing is not None
        assert drawing.anchors == [(anchor, "")]
        cards = [*found.supporting, *found.contradicting, *found.bearing]
        assert anchor in [card.anchor for card in cards]
        assert found.without == [("b is linked to c", "0 papers name both")]

"""The report, the results page and the views of a hypothesis, from records alone."""

from __future__ import annotations

import shlex
from dataclasses import replace
from functools import cache
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from carrel.core.answer import Partial, Text
from carrel.core.caller import Caller
from carrel.core.quoting import QuotedSource
from carrel.libraries.discovery.connections.candidates import (
    BridgeEvidence,
    CandidateConnection,
    ExperimentalProtocol,
)
from carrel.libraries.discovery.records import Paper
from carrel.rooms.research.claim_models import CheckedStatement, QuotedSentence
from carrel.rooms.research.drawings import spread_labels
from carrel.rooms.research.hypothesis_views import (
    cited_papers,
    cut_paragraphs,
    describe_hypothesis,
    describe_in_results,
    describe_match,
    describe_review,
    detail_hypothesis,
    summarize_hypothesis,
)
from carrel.rooms.research.models import ResearchStatus, Results, TopHypothesis
from carrel.rooms.research.quoting import (
    quoted_in_hypotheses,
    quoted_in_hypothesis_page,
    quoted_in_project_page,
    quoted_in_results,
    quoted_in_status,
    quoted_project,
)
from carrel.rooms.research.records import (
    AgentOutput,
    CitedPassage,
    Decision,
    Event,
    Hypothesis,
    MatchPlayed,
    OutsideReference,
    Project,
    Rating,
    UnderstoodAs,
)
from carrel.rooms.research.report import (
    count_noun,
    write_html_report,
)
from carrel.rooms.research.report_drawings import draw_evidence, draw_ratings
from carrel.rooms.research.report_record import (
    RunRecord,
    describe_run,
    list_evidence,
    quoted_papers,
    write_evidence_markdown,
    write_record_markdown,
)
from carrel.rooms.research.report_references import format_reference, reference_url
from carrel.rooms.research.results import (
    choose_aims,
    outside_references,
    write_executive_summary,
    write_markdown,
    write_nih_aims,
)
from tests.stores.contracts.research import hypothesis, match, project, review, told_event

GOAL = "Ease the cold hand"
ADA = Caller("ada", frozenset())


@cache
def _basis() -> Hypothesis:
    return hypothesis("hyp_1")


def made(name: str = "hyp_1", elo: float = 1000.0, wins: int = 0, **changes: Any) -> Hypothesis:
    """A hypothesis; `changes` are to its draft, but for `status` and `approval`."""
    basis = _basis()
    status = changes.pop("status", "pending")
    decision = Decision(approval=changes.pop("approval", "undecided"))
    draft = basis.draft.model_copy(update={"title": f"Title of {name}", **changes})
    return basis.model_copy(
        update={
            "id": name,
            "status": status,
            "decision": decision,
            "draft": draft,
            "rating": Rating(elo_score=elo, wins=wins),
        }
    )


def of_project(**changes: Any) -> Project:
    return project().model_copy(update={"goal": GOAL, **changes})


def played(verdict: str, reason: str = "it is better") -> MatchPlayed:
    return match(0).model_copy(update={"verdict": verdict, "reason": reason})


@given(st.lists(st.floats(min_value=34, max_value=266), min_size=1, max_size=8))
def test_labels_in_the_drawing_lie_spread_labels_and_inside_it(heights: list[float]) -> None:
    moved = sorted(spread_labels(heights))
    assert all(after - before >= 12.99 for before, after in pairwise(moved))
    assert moved[-1] <= 274


@pytest.mark.parametrize(
    ("item", "line"),
    [
        ({"id": "x"}, "x."),
        ({"id": "x", "title": "T."}, "T."),
        ({"id": "x", "title": "T", "container-title": "J."}, "T. J."),
        ({"id": "x", "title": "T", "issued": {"date-parts": [[2019, 5]]}}, "(2019). T."),
        ({"id": "x", "title": "T", "issued": {"date-parts": [[]]}}, "T."),
        ({"id": "x", "title": "T", "issued": {"raw": "soon"}}, "T."),
        ({"id": "x", "title": "T", "author": [{"family": "Ng"}]}, "Ng. T."),
        (
            {
                "id": "x",
                "title": "T",
                "author": [{"family": "Ng"}, {"literal": "WHO"}, {"given": "A"}],
                "issued": {"date-parts": [[2019]]},
            },
            "Ng and WHO (2019). T.",
        ),
        (
            {"id": "x", "title": "T", "author": [{"family": name} for name in ("A", "B", "C")]},
            "A et al. T.",
        ),
    ],
)
def test_a_paper_is_one_line_of_what_is_known_of_it(item: dict[str, Any], line: str) -> None:
    assert format_reference(item) == line


@pytest.mark.parametrize(
    ("item", "url"),
    [
        ({"DOI": "10.1/x", "URL": "https://a.org"}, "https://doi.org/10.1/x"),
        ({"URL": "https://a.org"}, "https://a.org"),
        ({"URL": "http://a.org"}, "http://a.org"),
        ({"URL": "javascript:alert(1)"}, None),
        ({}, None),
    ],
)
def test_only_an_address_on_the_web_is_linked(item: dict[str, Any], url: str | None) -> None:
    assert reference_url(item) == url


def test_nouns_agree_with_their_number() -> None:
    assert count_noun(1, "match", "matches") == "1 match"
    assert count_noun(0, "match", "matches") == "0 matches"
    assert count_noun(2, "review") == "2 reviews"


def test_the_page_of_a_project_without_anything_says_none() -> None:
    page = write_html_report(of_project(), [], [], [])
    assert "<h2>Hypotheses</h2><p>None.</p>" in page
    for absent in ("Ratings over", "Meta-review", "Papers", "<strong>", "<p></p>"):
        assert absent not in page
    assert "0 hypotheses, 0 reviews, 0 matches" in page
    assert "<h2>Ratings" not in write_html_report(of_project(), [], [], [match(0)])
    assert "<h2>Ratings" not in write_html_report(of_project(), [made()], [], [])


def test_the_page_has_every_part_that_is_given_and_as_text() -> None:
    judged = review("rev_1", "hyp_1").model_copy(update={"strengths": ("<b>good",)})
    page = write_html_report(
        of_project(problem="<it stopped>"),
        [made("hyp_1", wins=1), made("hyp_2", predictions=("it warms",))],
        [judged, review("rev_2", "hyp_x")],
        [played("first"), match(1).model_copy(update={"first": "hyp_9", "second": "hyp_8"})],
        references=[{"id": "disease-0", "title": "D", "DOI": "10.1/d"}, {"id": "p2"}],
        opening="<opening>",
        meta_review="<meta>",
    )
    assert "<p>&lt;opening&gt;</p>" in page
    assert "<strong>&lt;it stopped&gt;</strong>" in page
    assert "<h2>Ratings over the matches</h2><svg" in page
    assert "<h2>Meta-review</h2><p>&lt;meta&gt;</p>" in page
    assert "None.</p>" not in page
    assert '<a href="https://doi.org/10.1/d">' in page
    assert '<li id="paper-p2">p2. <code>p2</code></li>' in page
    assert '<a href="#paper-disease-0">[1]</a>' in page
    assert "It predicts:</p><ol><li>it warms</li></ol>" in page
    assert "refuted" not in page
    first, second = page.split("<section>")[1:]
    assert "<summary>1 review</summary>" in first
    assert "&lt;b&gt;good" in first
    assert "plausibility 0.50, novelty 1.00" in first
    assert "<td>won</td><td>1016</td>" in first
    assert "1 won of 1 match " in first
    assert "<td>lost</td><td>984</td>" in second
    assert 'against <a href="#hyp_1">Title of hyp_1</a>. it is better' in second
    assert "not yet compared" in second
    assert "<summary>0" not in page
    assert "<summary>1 match</summary>" in first


def test_a_cited_paper_that_is_not_in_the_list_is_named_without_a_link() -> None:
    page = write_html_report(of_project(), [made(citations=("gone",))], [], [])
    assert '<p class="about">Papers: gone</p>' in page
    page = write_html_report(of_project(), [made(citations=())], [], [])
    assert "Papers:" not in page


@pytest.mark.parametrize(
    ("verdict", "first", "second"),
    [("second", "lost", "won"), ("draw", "draw", "draw"), ("unreadable",) * 3],
)
def test_a_match_is_told_from_both_its_sides(verdict: str, first: str, second: str) -> None:
    game = played(verdict)
    seen, other = describe_match("hyp_1", game), describe_match("hyp_2", game)
    assert (seen.opponent, seen.result, seen.elo_after) == ("hyp_2", first, 1016.0)
    assert (other.opponent, other.result, other.elo_after) == ("hyp_1", second, 984.0)
    page = write_html_report(of_project(), [made("hyp_1"), made("hyp_2")], [], [game])
    one, two = page.split("<section>")[1:]
    assert f"<td>{first}</td><td>1016</td>" in one
    assert f"<td>{second}</td><td>984</td>" in two


def test_eight_are_drawn_and_the_others_counted() -> None:
    rows = [made(f"hyp_{number}") for number in range(1, 11)]
    assert draw_ratings(rows, [match(0)]).count("<polyline") == 8
    assert "not drawn" not in write_html_report(of_project(), rows[:8], [], [match(0)])
    assert "1 other is not drawn" in write_html_report(of_project(), rows[:9], [], [match(0)])
    assert "2 others are not drawn" in write_html_report(of_project(), rows, [], [match(0)])


def test_the_ratings_run_from_the_start_to_the_last_match() -> None:
    drawing = draw_ratings([made("hyp_1"), made("hyp_2"), made("hyp_3")], [match(0), match(1)])
    paths = [part.split('"')[0] for part in drawing.split('points="')[1:]]
    assert [path.split()[0].split(",")[0] for path in paths] == ["52.0"] * 3
    assert [path.split()[-1].split(",")[0] for path in paths] == ["720.0"] * 3
    assert [len(path.split()) for path in paths] == [4, 4, 2]
    assert paths[2] == "52.0,150.0 720.0,150.0"
    assert "after 2 matches" in drawing


def _connection() -> CandidateConnection:
    connection = _basis().draft.connection
    assert connection is not None
    return connection


def _bridge(**changes: Any) -> BridgeEvidence:
    return replace(_connection().bridges[0], **changes)


def _with_bridges(*bridges: BridgeEvidence, name: str = "hyp_1") -> Hypothesis:
    return made(name, connection=replace(_connection(), bridges=bridges))


def test_the_evidence_is_drawn_with_the_papers_on_each_line() -> None:
    drawing = draw_evidence(_with_bridges(_bridge(near_documents=1, far_documents=100)))
    assert "<title>1 paper</title>" in drawing
    assert "<title>100 papers</title>" in drawing
    assert 'stroke-width="2.0"' in drawing
    assert 'stroke-width="8.0"' in drawing
    assert drawing.count("<line") == 2
    assert 'viewBox="0 0 760 120"' in drawing
    assert 'x1="160" y1="60.0" x2="300" y2="60.0"' in drawing
    twice = draw_evidence(_with_bridges(_bridge(), _bridge(), _bridge()))
    assert 'x1="160" y1="81.0" x2="300" y2="37.0"' in twice
    assert 'x1="460" y1="37.0" x2="600" y2="81.0"' in twice
    assert draw_evidence(made(connection=None)) == ""
    assert draw_evidence(_with_bridges()) == ""


def test_a_long_name_is_cut_in_the_drawing_and_whole_in_its_title() -> None:
    concept = _bridge().concept
    for label, shown in (("x" * 24, "x" * 24), ("x" * 25, "x" * 23 + "…")):
        bridge = _bridge(concept=replace(concept, label=label))
        assert f"<title>{label}</title>{shown}</text>" in draw_evidence(_with_bridges(bridge))


def test_a_long_rationale_is_cut_between_paragraphs() -> None:
    assert cut_paragraphs("x" * 10, 10) == "x" * 10
    note = "\n… get_hypothesis has all of it."
    assert cut_paragraphs("aaaa\nbbbb\ncc", 10) == f"aaaa\nbbbb{note}"
    assert cut_paragraphs("aaaa\nbbbbb\ncc", 10) == f"aaaa\nbbbbb{note}"
    assert cut_paragraphs("aaaa\nbbbbbb\ncc", 10) == f"aaaa\nbbbbbb{note}".replace("\nbbbbbb", "")
    assert cut_paragraphs("x" * 11 + "\ny", 10) == "x" * 11 + note
    assert cut_paragraphs("x" * 11, 10) == "x" * 11
    assert cut_paragraphs("x" * 10 + "\n\n", 10) == "x" * 10
    long = made(rationale="x" * 1999 + "\nsecond")
    assert describe_hypothesis(long).rationale.endswith(note)
    assert detail_hypothesis(long, [], []).rationale.endswith("second")


def test_a_hypothesis_in_full_has_its_own_reviews_and_matches_alone() -> None:
    full = detail_hypothesis(
        made(),
        [review("rev_1", "hyp_1"), review("rev_2", "hyp_2")],
        [match(0), match(1).model_copy(update={"first": "hyp_3"})],
    )
    assert [one.review_id for one in full.reviews] == ["rev_1"]
    assert [one.number for one in full.matches] == [0]
    assert full.evidence
    assert all(piece.paper_id and piece.sentence for piece in full.evidence)
    assert {piece.place for piece in full.evidence} <= {
        "title", "keywords", *(f"abstract, sentence {number}" for number in range(1, 9)),
    }  # fmt: skip
    assert all(piece.speaks_only_of != "" for piece in full.evidence)
    assert detail_hypothesis(made(connection=None), [], []).evidence == []


def test_an_overview_names_three_papers_and_the_details_all() -> None:
    cited = made(citations=("a", "b", "c", "d"))
    assert cited_papers(cited, is_detailed=False) == ["a", "b", "c"]
    assert cited_papers(cited, is_detailed=True) == ["a", "b", "c", "d"]
    row = describe_in_results(1, cited, None)
    assert (row.citations, row.citation_count, row.reviews) == (["a", "b", "c"], 4, None)
    row = describe_in_results(1, cited, [review("rev_1", "hyp_1")])
    assert row.citations == ["a", "b", "c", "d"]
    assert row.reviews is not None
    assert row.rationale == "r"


def test_what_an_answer_quotes_is_named_with_its_papers() -> None:
    one = QuotedSource("hypothesis", "hyp_1")
    paper = QuotedSource("paper", "disease-0")
    row, shown = summarize_hypothesis(made()), describe_hypothesis(made())
    judged = describe_review(review("rev_1", "hyp_1").model_copy(update={"citations": ("p",)}))
    assert quoted_in_hypotheses({}, row, ADA) == [one]
    assert quoted_in_hypotheses({}, [row, row], ADA) == [one, one]
    assert quoted_in_hypotheses({}, shown, ADA) == [one, paper]
    assert quoted_in_hypotheses({}, judged, ADA) == [one, QuotedSource("paper", "p")]
    assert quoted_in_hypotheses({}, Partial((row,), 1, "job_1", "stopped"), ADA) == [one]
    full = detail_hypothesis(made(), [], [])
    assert quoted_in_hypotheses({}, full, ADA) == [
        one,
        paper,
        *(QuotedSource("paper", piece.paper_id) for piece in full.evidence),
    ]


def test_what_is_said_of_a_project_quotes_the_project() -> None:
    whole = [QuotedSource("research", "res_a")]
    page = Text("page")
    assert quoted_project({"research_id": "res_a"}, None, ADA) == whole
    assert quoted_in_project_page({"project_id": "res_a"}, page, ADA) == whole
    assert quoted_in_hypothesis_page({"hypothesis_id": "hyp_1"}, page, ADA) == [
        QuotedSource("hypothesis", "hyp_1")
    ]
    status = ResearchStatus(
        research_id="res_a", goal=GOAL, status="active", progress=0.5, hypotheses_generated=1,
        hypotheses_reviewed=1, hypotheses_in_tournament=1, top_hypothesis=None, last_update="",
        estimated_completion_minutes=None,
    )  # fmt: skip
    assert quoted_in_status({}, status, ADA) == []
    top = TopHypothesis(id="hyp_1", summary="", elo_score=1000.0, status="pending")
    assert quoted_in_status({}, status.model_copy(update={"top_hypothesis": top}), ADA) == whole
    results = Results(
        research_id="res_a", goal=GOAL, status="active", format="summary", executive_summary="",
        top_hypotheses=[], total_hypotheses=0, approved=[], meta_review="",
        bibliography=[{"id": "p", "title": "T"}, {"id": "q"}], bibliography_bibtex="", markdown="",
    )  # fmt: skip
    assert quoted_in_results({}, results, ADA) == [
        *whole,
        QuotedSource("paper", "p", "T"),
        QuotedSource("paper", "q"),
    ]


def test_a_summary_without_hypotheses_says_whether_any_are_still_to_come() -> None:
    reading = UnderstoodAs(question="open", says="Read as hands.")
    assert write_executive_summary(of_project(), [], 0, 0) == f"No hypotheses yet for: {GOAL}."
    for status in ("failed", "cancelled", "completed"):
        ended = of_project(status=status, problem="It stopped.")
        assert (
            write_executive_summary(ended, [], 0, 0, reading)
            == f"No hypothesis was made for: {GOAL}. Read as hands. It stopped."
        )
    asked = of_project(goal="Why are hands cold?")
    assert write_executive_summary(asked, [], 0, 0) == "No hypotheses yet for: Why are hands cold?"


def _summary(rows: list[Hypothesis], *events: Event, **changes: Any) -> str:
    return write_executive_summary(of_project(**changes), rows, 2, 1, None, events)


def test_the_summary_says_who_leads_or_why_nobody_does() -> None:
    assert "1 hypothesis (discovery), 2 reviews and 1 match so far" in _summary([made()])
    assert "No match has been played yet; the first to be compared (Elo 1000)" in _summary([made()])
    both = _summary([made("a", 1100.0, 1), made("b", 1200.0, 1, approval="rejected")])
    assert "2 hypotheses (discovery)" in both
    assert "First by tournament (Elo 1100): Title of a." in both
    assert "None have been approved" in both
    rejected = _summary([made("a", 1100.0, 1, approval="rejected")])
    assert "All of them have been rejected by a person." in rejected
    assert "1 has been approved" in _summary([made(approval="approved"), made("b")])
    assert "2 have been approved" in _summary([made("b", approval="approved")] * 2)


def test_the_summary_says_why_there_are_fewer_than_were_asked_for() -> None:
    def event(kind: str, reason: str | None) -> Event:
        return Event(id="e", research_id="res_a", kind=kind, says="", created_at="", reason=reason)

    spent = event("exhausted", "the papers have no more.")
    few = [made("a"), made("b"), made("c", status="evolved")]
    assert "3 were asked for: the papers have no more. " in _summary(few, spent)
    assert "were asked for" not in _summary([*few, made("d")], spent)
    assert "were asked for" not in _summary(few)
    assert "were asked for" not in _summary(few, event("exhausted", None))
    assert "were asked for" not in _summary(few, event("steered", "the papers have no more."))


def _paper(name: str, abstract: str) -> Paper:
    return Paper(id=name, title=f"On {name}", abstract=abstract)


def test_aims_are_drawn_from_the_leaders_and_the_papers_they_cite() -> None:
    thing = _connection().start.label
    said = f"{thing.capitalize()} is a condition in which small vessels close in the cold."
    protocol = ExperimentalProtocol("Warm it", ("One.", "Two.", "Three.", "Four."))
    first = made(
        "a", 1200.0, 1, citations=("p", "gone"), protocol=protocol, novelty="It is new.",
        rationale="x" * 599 + ". Second one. " + "y" * 700 + ".", title="Warm oil helps.",
    )  # fmt: skip
    second = made("b", 1100.0, 1, citations=("p", "q"), connection=None, title="DNA helps")
    judged = [
        review("r0", "b").model_copy(update={"weaknesses": ("of another",)}),
        review("r1", "a"),
        review("r2", "a").model_copy(update={"weaknesses": ("few papers",)}),
    ]
    papers = [_paper("p", f"Short. {said} More."), _paper("q", "")]
    aims = write_nih_aims(of_project(), [second, first], papers, judged)
    assert aims.disease_description == f"In the words of a paper on {thing}: “{said}” [p]"
    assert aims.unmet_need == f"{GOAL}. It is new."
    assert aims.proposed_solution.startswith(
        "To test whether warm oil helps. Beside it: DNA helps. Each"
    )
    assert [aim.hypothesis_id for aim in aims.aims] == ["a", "b"]
    assert aims.aims[1].reasoning == "r"
    assert aims.pilot_evaluation == "One. Two. Three. To be watched: few papers"
    assert [(one.paper_id, one.summary, one.relevance) for one in aims.articles] == [
        ("p", "Short.", "Cited for aim 1, 2."),
        ("q", "On q", "Cited for aim 2."),
    ]
    page = write_markdown(of_project(), "s", [], aims, "", [])
    assert "### Aim 2: o\n\n**Hypothesis.** DNA helps\n\n**Reasoning.** r" in page
    assert "- On p (`p`). Cited for aim 1, 2." in page
    assert "## Hypotheses" not in page


def test_aims_of_nothing_say_that_there_is_nothing() -> None:
    aims = write_nih_aims(of_project(), [], [], [])
    assert aims.disease_description.startswith(f"The goal, as it was set: {GOAL}. No paper")
    assert aims.unmet_need == f"{GOAL}. No hypothesis addresses it yet."
    assert (aims.proposed_solution, aims.pilot_evaluation) == (
        "None yet.",
        "Nothing to evaluate yet.",
    )
    assert (aims.aims, aims.articles) == ([], [])
    assert "### Articles\n\nNone." in write_markdown(of_project(), "s", [], aims, "", [])
    alone = made(protocol=ExperimentalProtocol("Warm it", ()), rationale="")
    aims = write_nih_aims(of_project(), [alone], [], [])
    assert aims.pilot_evaluation == "Warm it"
    assert "Beside it" not in aims.proposed_solution
    assert aims.aims[0].reasoning == alone.draft.summary


@pytest.mark.parametrize(
    ("sentence", "is_quoted"),
    [
        ("{} is a condition of the vessels of the hand in the cold.", True),
        ("The {} is a condition of the vessels of the hand.", True),
        ("{} without any verb of the kind that would describe it so.", True),
        ("We looked at whether the {} affects the vessels of the hand.", True),
        ("We looked at the {} without any verb that would describe it.", False),
        ("{} is.", False),
        ("{} is " + "very " * 90 + "cold.", False),
        ("Nothing here is a condition of the vessels of the hand in cold.", False),
    ],
)
def test_a_sentence_is_quoted_where_it_describes_the_subject(
    sentence: str, is_quoted: bool
) -> None:
    paper = _paper("p", sentence.format(_connection().start.label))
    aims = write_nih_aims(of_project(), [made(citations=("p",))], [paper], [])
    assert aims.disease_description.startswith("In the words of a paper") is is_quoted


def test_of_several_by_the_same_way_only_the_first_becomes_an_aim() -> None:
    same = [made("a", 1300.0, 1), made("b", 1200.0, 1)]
    others = [made(name, 1100.0, 1, connection=None) for name in ("c", "d", "e")]
    assert [one.id for one in choose_aims([*same, *others])] == ["a", "c", "d"]
    without = [_with_bridges(name="x"), _with_bridges(name="y")]
    assert [one.id for one in choose_aims(without)] == ["x", "y"]


def test_the_results_page_has_the_parts_that_are_given() -> None:
    bare = made(
        rationale="", novelty="", citations=(), protocol=ExperimentalProtocol("o", ("one",))
    )
    page = write_markdown(of_project(), "s", [describe_in_results(1, bare, None)], None, "", [])
    assert page.startswith(f"# {GOAL}\n\ns\n\n## Hypotheses\n\n### 1. Title of hyp_1\n\nElo 1000")
    for absent in ("Meta-review", "Bibliography", "**", "Papers:"):
        assert absent not in page
    judged = review("rev_1", "hyp_1").model_copy(
        update={"strengths": ("good",), "weaknesses": ("bad",), "reasons": {"novelty": "new"}}
    )
    rich = made(novelty="It is new.", predictions=("warm",), refutations=("cold", "ice"))
    row = describe_in_results(2, rich, [judged])
    page = write_markdown(of_project(), "s", [row], None, "meta", ["line"])
    assert "**Rationale**\n\nr\n\n**Protocol**" in page
    assert "**Novelty**\n\nIt is new." in page
    assert "**Predictions**\n\n1. warm" in page
    assert "**What would refute it**\n\n1. cold\n2. ice" in page
    assert "**Review (initial)**: plausibility 0.50" in page
    assert "overall 0.60. good bad\n\n- novelty: new" in page
    assert "Papers: `disease-0`" in page
    assert page.endswith("## Meta-review\n\nmeta\n\n## Bibliography\n\n- line\n")


def test_a_review_that_abstains_says_so() -> None:
    scores = review("r", "hyp_1").scores.model_copy(update={"overall": None, "novelty": None})
    judged = review("r", "hyp_1").model_copy(update={"scores": scores})
    row = describe_in_results(1, made(), [judged])
    page = write_markdown(of_project(), "s", [row], None, "", [])
    assert "safety 1.00, all else not covered by the corpus." in page
    assert "novelty" not in page


def test_works_of_an_imported_hypothesis_are_references_of_their_own() -> None:
    cited = made(
        outside_references=(
            OutsideReference(
                title="T", authors=("Ng",), journal="J", year=2019, doi="10.1/x", url="https://a"
            ),
            OutsideReference(title="U"),
        )
    )
    assert outside_references(cited) == [
        {
            "id": "hyp_1-1", "type": "article-journal", "title": "T", "author": [{"literal": "Ng"}],
            "issued": {"date-parts": [[2019]]}, "container-title": "J", "DOI": "10.1/x",
            "URL": "https://a",
        },
        {"id": "hyp_1-2", "type": "article-journal", "title": "U"},
    ]  # fmt: skip


def test_the_record_says_who_did_what_the_cost_what_was_left_out_and_how_to_repeat_it() -> None:
    call = AgentOutput(
        id="out_1",
        research_id="res_a",
        agent="ranking",
        step="match",
        mind="small model",
        given="",
        answered="",
        input_tokens=1200,
        output_tokens=34,
        cost=0.25,
        is_model_call=True,
        created_at="2026-01-01",
    )
    decided = made("hyp_2", wins=1).model_copy(
        update={
            "decision": Decision(approval="rejected", by="ann", at="2026-01-02", reason="<old>")
        }
    )
    record = RunRecord(
        of_project(),
        [made("hyp_1"), decided],
        [review("rev_1", "hyp_1")],
        [match(0).model_copy(update={"judged_by": "small model", "margin": "slight"})],
        [call],
        [told_event("res_a", "2026-01-01").model_copy(update={"kind": "avoided", "says": "kept"})],
        corpus=(95, "abc123"),
    )
    told = {row for section in describe_run(record) for row in section.rows}
    assert ("Matches", "small model: 1") in told
    assert any(text.startswith("1, 1,200 tokens in and 34 out, 0.2500") for _, text in told)
    assert ("Not proposed", "kept") in told
    assert ("Corpus", "95 papers, signature abc123") in told
    assert any(label == "Rejected by ann on 2026-01-02" for label, _ in told)
    assert any("carrel research start" in text and shlex.quote(GOAL) in text for _, text in told)
    page = write_html_report(of_project(), [made("hyp_1"), decided], [], [], record=record)
    assert "&lt;old&gt;" in page and "<old>" not in page
    assert page.index("How to repeat it") < page.index("Checked by")
    markdown = "\n".join(write_record_markdown(record))
    assert all(text in markdown for _, text in told)


def test_each_statement_stands_with_its_sentences_for_and_against() -> None:
    quoted = QuotedSentence(paper_id="p9", title="T", sentence="It <fails>.", confidence=0.9)
    checked = CheckedStatement(
        statement="It works",
        verdict="contradicts",
        message="",
        contradicting=[quoted],
        papers_searched=7,
        papers_read=["p9"],
    )
    judged = review("rev_1", "hyp_1").model_copy(update={"statements": (checked,)})
    evidence = list_evidence(made(), [judged, review("rev_2", "hyp_2")])
    assert evidence[-1].verdict == "contradicts; 1 paper read of 7 searched"
    shown = {quote.sentence for one in evidence for quote in (*one.supporting, *one.contradicting)}
    assert shown >= {piece.sentence for piece in detail_hypothesis(made(), [], []).evidence}
    assert "p9" in quoted_papers(evidence)
    page = write_html_report(of_project(), [made()], [judged], [], references=[{"id": "p9"}])
    against = page.split('<div class="against">')[-1]
    assert "It &lt;fails&gt;." in against and 'href="#paper-p9"' in against
    assert "against: “It <fails>.” `p9`" in "\n".join(write_evidence_markdown(evidence))


def test_passages_that_an_author_cites_are_evidence_with_their_ids() -> None:
    passage = CitedPassage(id="p9~abc", paper_id="p9", section="Results", text="It\nworks.")
    (first, *_) = list_evidence(made(passages=(passage,), connection=None), [])
    assert first.verdict == "1 passage cited by its author"
    (quote,) = first.bearing
    assert (quote.sentence, quote.mark) == ("It works.", "Results, ~abc")
    assert "“It works.” `p9~abc`, Results" in "\n".join(write_evidence_markdown([first]))

"""One hypothesis: statement, bridge, sentences for and against, rating, lineage, protocol."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from carrel.core.answer import Job
from carrel.core.errors import CarrelError
from carrel.core.pages import PageAnswer, PageRedirect, PageRequest, PageView, local_address
from carrel.rooms.research.models import HypothesisInFull, HypothesisRow, ReviewShown
from carrel.rooms.research.pages.addresses import hypothesis_address, project_address
from carrel.rooms.research.pages.evidence_view import draw_bridge, split_sides
from carrel.rooms.research.pages.lineage import trace_lineage
from carrel.rooms.research.pages.run_state import approval_badge
from carrel.rooms.research.pages.texts import PaperNumbers

_MOST_HYPOTHESES = 200
_STYLES = ("research/research.css",)
_STRATEGIES = ("refine", "combine", "simplify", "paradigm_shift")
_REVIEWS = ("initial", "deep_verification", "simulation")


async def draw_hypothesis(request: PageRequest) -> PageView:
    return await _draw(request)


async def _draw(request: PageRequest, problem: CarrelError | None = None) -> PageView:
    """The page, with why something asked for could not be done."""
    found: HypothesisInFull = await request.ask(
        "get_hypothesis", hypothesis_id=request.variables["hypothesis_id"]
    )
    rows: Sequence[HypothesisRow] = ()
    if request.offers("list_hypotheses"):
        rows = await request.ask(
            "list_hypotheses", research_id=found.research_id, limit=_MOST_HYPOTHESES
        )
    evidence = None
    if request.offers("list_evidence"):
        (evidence,) = await request.ask(
            "list_evidence", research_id=found.research_id, hypothesis_id=found.id
        )
    numbers = PaperNumbers(_papers(found))
    live = [row for row in rows if row.place not in {"superseded", "rejected"}]
    bounds = [value for row in live for value in (row.strength.low, row.strength.high)]
    bounds += [found.strength.low, found.strength.high]
    return PageView(
        "research/hypothesis.html",
        found.title,
        {
            "hypothesis": found,
            "badge": approval_badge(found.approval),
            "rank": 0 if evidence is None else evidence.rank,
            "total": len(live),
            "bridge": None if evidence is None else draw_bridge(evidence),
            "sides": None if evidence is None else split_sides(evidence),
            "least": min(bounds),
            "most": max(bounds),
            "lineage": trace_lineage(rows, found.id),
            "titles": {row.id: row.title for row in rows},
            "numbers": numbers,
            "papers": {} if evidence is None else {one.paper_id: one for one in evidence.papers},
            "reviews": [_review_facts(review) for review in found.reviews],
            "project_path": project_address(found.research_id),
            "here": hypothesis_address(found.id),
            "strategies": _STRATEGIES,
            "review_kinds": _REVIEWS,
            "is_by_person": found.method == "submitted",
            "problem": problem,
        },
        modules=("research/hypothesis.js",),
        styles=_STYLES,
        status=200 if problem is None else 409,
    )


def _papers(found: HypothesisInFull) -> list[str]:
    return [*found.citations, *(piece.paper_id for piece in found.evidence)]


def _review_facts(review: ReviewShown) -> Mapping[str, object]:
    scores = [
        (name, value, review.reasons.get(name, ""))
        for name, value in review.scores.model_dump().items()
        if isinstance(value, float)
    ]
    return {"review": review, "scores": scores}


async def draw_rejection(request: PageRequest) -> PageView:
    """The form that asks for a reason, for browsers without script."""
    found = await request.ask("get_hypothesis", hypothesis_id=request.variables["hypothesis_id"])
    return PageView(
        "research/reject.html",
        request.translate("research.decide.reject_title"),
        {"hypothesis": found, "here": hypothesis_address(found.id)},
        styles=_STYLES,
    )


async def save_as_note(request: PageRequest) -> PageAnswer:
    try:
        saved = await request.ask(
            "save_hypothesis_note", hypothesis_id=request.variables["hypothesis_id"]
        )
    except CarrelError as error:
        return await _draw(request, error)
    path = local_address("/knowledge/note", saved.note_id)
    return PageRedirect(path, request.translate("research.hypothesis.noted"))


async def evolve_hypothesis(request: PageRequest) -> PageAnswer:
    """The child's page; the project's where the work goes on in the background."""
    hypothesis_id = request.variables["hypothesis_id"]
    strategy = request.form.text("strategy")
    try:
        made = await request.ask(
            "evolve_hypothesis", hypothesis_id=hypothesis_id, strategy=strategy
        )
    except CarrelError as error:
        return await _draw(request, error)
    if isinstance(made, Job):
        found = await request.ask("get_hypothesis", hypothesis_id=hypothesis_id)
        notice = request.translate("research.hypothesis.evolving")
        return PageRedirect(project_address(found.research_id), notice)
    return PageRedirect(
        hypothesis_address(made.id), request.translate("research.hypothesis.evolved")
    )

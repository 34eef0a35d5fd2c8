"""What a project found, for readers: an overview, everything in detail, or the parts of an NIH Specific Aims page."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from carrel.rooms.research.discovery.evidence import sentences
from carrel.rooms.research.discovery.records import Paper
from carrel.rooms.research.models import Aim, Article, NihAims, ResultHypothesis, ReviewScores
from carrel.rooms.research.records import Event, Hypothesis, MatchPlayed, Project, Review, Understanding

_ARTICLES = 10


def executive_summary(
    project: Project,
    ordered: Sequence[Hypothesis],
    reviews: Sequence[Review],
    matches: Sequence[MatchPlayed],
    read: Understanding | None = None,
    events: Sequence[Event] = (),
) -> str:
    """A paragraph that says how the goal was read, what was done, what leads, and what it is worth."""
    understood = f" {read.says}" if read is not None else ""
    if not ordered:
        return f"No hypotheses yet for: {_closed(project.goal)}{understood}"
    approved = sum(made.decision.approval == "approved" for made in ordered)
    leader = ordered[0]
    origins = ", ".join(dict.fromkeys(made.draft.origin for made in ordered))
    return (
        f"Goal: {_closed(project.goal)}{understood} {len(ordered)} hypotheses ({origins}), "
        f"{len(reviews)} reviews and {len(matches)} matches so far. "
        f"{_shortfall(project, ordered, events)}First by tournament (Elo {leader.standing.elo_score:.0f}): {leader.draft.title}. "
        f"{approved or 'None'} {'has' if approved == 1 else 'have'} been approved by a person. "
        "Each is a candidate to be tested, with the papers it rests on; none is a finding."
    )


def _closed(sentence: str) -> str:
    return sentence if sentence.endswith((".", "?", "!")) else f"{sentence}."


def _shortfall(project: Project, ordered: Sequence[Hypothesis], events: Sequence[Event]) -> str:
    """Why there are fewer hypotheses than were asked for, where there are."""
    first = sum(made.status != "evolved" for made in ordered)
    why = [event.says for event in events if event.kind == "exhausted"]
    if not why or first >= project.hypothesis_count:
        return ""
    return f"{project.hypothesis_count} were asked for: {why[-1].partition(': ')[2].rstrip('.')}. "


def nih_aims(project: Project, ordered: Sequence[Hypothesis], papers: Sequence[Paper], reviews: Sequence[Review]) -> NihAims:
    """The parts of the page, drawn from the leading hypotheses and the sentences they quote."""
    leading = list(ordered[:3])
    first = leading[0] if leading else None
    by_id = {paper.id: paper for paper in papers}
    cited = [by_id[paper_id] for made in leading for paper_id in made.draft.citations if paper_id in by_id]
    weak = next(
        (review.weaknesses[0] for review in reviews if first and review.hypothesis_id == first.id and review.weaknesses), ""
    )
    return NihAims(
        disease_description=_described(project, first, cited),
        unmet_need=(f"{project.goal}. {first.draft.novelty}" if first else f"{project.goal}. No hypothesis addresses it yet."),
        proposed_solution=first.draft.summary if first else "None yet.",
        aims=[
            Aim(
                goal=made.draft.protocol.objective,
                hypothesis=made.draft.title,
                reasoning=made.draft.summary,
                hypothesis_id=made.id,
            )
            for made in leading
        ],
        pilot_evaluation=_pilot(first, weak),
        articles=[_article(paper, leading) for paper in dict.fromkeys(cited)][:_ARTICLES],
    )


def markdown(
    project: Project,
    summary: str,
    rows: Sequence[ResultHypothesis],
    aims: NihAims | None,
    meta_review: str,
    bibliography: Sequence[str],
) -> str:
    """The same as a page."""
    parts = [f"# {project.goal}", summary]
    if aims is not None:
        parts.extend(_aims_page(aims))
    else:
        parts.append("## Hypotheses")
        parts.extend(_row(row) for row in rows)
    if meta_review:
        parts.extend(("## Meta-review", meta_review))
    if bibliography:
        parts.extend(("## Bibliography", "\n".join(f"- {line}" for line in bibliography)))
    return "\n\n".join(parts) + "\n"


def _row(row: ResultHypothesis) -> str:
    lines = [
        f"### {row.rank}. {row.title}",
        f"Elo {row.elo_score:.0f} · {row.status} · {row.approval} · {row.origin} · `{row.id}`",
        row.summary,
    ]
    for heading, text in (("Rationale", row.rationale), ("Protocol", row.experimental_protocol), ("Novelty", row.novelty)):
        if text:
            lines.extend((f"**{heading}**", text))
    for heading, items in (("Predictions", row.predictions), ("What would refute it", row.refutations)):
        if items:
            lines.extend((f"**{heading}**", "\n".join(f"{number}. {item}" for number, item in enumerate(items, start=1))))
    for review in row.reviews or []:
        told = " ".join((*review.strengths, *review.weaknesses))
        lines.append(f"**Review ({review.review_type})**: {_scores(review.scores)}. {told}")
        lines.extend(f"- {name}: {reason}" for name, reason in review.reasons.items())
    if row.citations:
        lines.append("Papers: " + ", ".join(f"`{paper_id}`" for paper_id in row.citations))
    return "\n\n".join(lines)


def _scores(scores: ReviewScores) -> str:
    named = scores.model_dump(exclude_none=True)
    told = ", ".join(f"{name} {value:.2f}" for name, value in named.items())
    return told if scores.overall is not None else f"{told}, all else not covered by the corpus"


def _aims_page(aims: NihAims) -> list[str]:
    parts = ["## Specific Aims", "### Background", aims.disease_description, "### Unmet need", aims.unmet_need]
    parts.extend(("### Proposed solution", aims.proposed_solution))
    for number, aim in enumerate(aims.aims, start=1):
        parts.append(f"### Aim {number}: {aim.goal}\n\n**Hypothesis.** {aim.hypothesis}\n\n**Reasoning.** {aim.reasoning}")
    parts.extend(("### Pilot evaluation", aims.pilot_evaluation, "### Articles"))
    parts.append(
        "\n".join(f"- {article.title} (`{article.paper_id}`). {article.relevance}" for article in aims.articles) or "None."
    )
    return parts


def _described(project: Project, first: Hypothesis | None, cited: Sequence[Paper]) -> str:
    """What the papers themselves say of the thing the goal is about, in their own words."""
    connection = None if first is None else first.draft.connection
    if connection is not None:
        for bridge in connection.bridges:
            for evidence in bridge.near_evidence:
                return f"From the papers on {connection.start.label}: “{evidence.sentence}” [{evidence.document_id}]"
    for paper in cited:
        opening = sentences(paper.abstract)[:1]
        if opening:
            return f"From the papers cited: “{opening[0]}” [{paper.id}]"
    return f"The goal, as it was set: {project.goal}"


def _pilot(first: Hypothesis | None, weak: str) -> str:
    if first is None:
        return "Nothing to evaluate yet."
    steps = first.draft.protocol.methodology[:3]
    told = " ".join(steps) or first.draft.protocol.objective
    return f"{told} {f'To be watched: {weak}' if weak else ''}".strip()


def _article(paper: Paper, leading: Sequence[Hypothesis]) -> Article:
    holding = [number for number, made in enumerate(leading, start=1) if paper.id in made.draft.citations]
    opening = sentences(paper.abstract)[:1]
    return Article(
        paper_id=paper.id,
        title=paper.title,
        summary=opening[0] if opening else paper.title,
        relevance=f"Cited for aim {', '.join(map(str, holding))}.",
    )


def outside_references(made: Hypothesis) -> list[dict[str, Any]]:
    """Works that an imported hypothesis cites, as CSL-JSON."""
    items: list[dict[str, Any]] = []
    for number, reference in enumerate(made.draft.outside_references, start=1):
        item: dict[str, Any] = {"id": f"{made.id}-{number}", "type": "article-journal", "title": reference.title}
        if reference.authors:
            item["author"] = [{"literal": name} for name in reference.authors]
        if reference.year:
            item["issued"] = {"date-parts": [[reference.year]]}
        told = {"container-title": reference.journal, "DOI": reference.doi, "URL": reference.url}
        items.append({**item, **{field: value for field, value in told.items() if value}})
    return items

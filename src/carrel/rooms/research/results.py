"""Results: an overview, all details, or the parts of an NIH Specific Aims page."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from carrel.libraries.discovery.connections.sentences import sentences
from carrel.libraries.discovery.records import Paper
from carrel.rooms.research.hypothesis_views import place_of, rank_by_strength
from carrel.rooms.research.inert_text import inert_text
from carrel.rooms.research.models import Aim, Article, NihAims, ResultHypothesis
from carrel.rooms.research.records import (
    Event,
    Hypothesis,
    Project,
    Review,
    ReviewScores,
    UnderstoodAs,
)
from carrel.rooms.research.report_record import (
    RunRecord,
    StatementEvidence,
    write_evidence_markdown,
    write_record_markdown,
)

AIMS = 3
_ARTICLES = 10
_REASONING = 600
_SENTENCE = (40, 400)
_SAYS_WHAT_IT_IS = re.compile(
    r"\W{0,3}(\([^)]*\) ?)?(, [^,]{3,80},)? ?"
    r"(is|are|was|remains?|affects?|causes?|leads? to|results? "
    r"(in|from)|represents?|involves?|occurs?|arises?|has|have)\b",
    re.IGNORECASE,
)


def write_executive_summary(
    project: Project,
    ordered: Sequence[Hypothesis],
    review_count: int,
    match_count: int,
    reading: UnderstoodAs | None = None,
    events: Sequence[Event] = (),
) -> str:
    """A paragraph on how the goal was read, what was done, the leader, and its limits."""
    understood = f" {reading.says}" if reading is not None else ""
    if not ordered:
        if project.status in {"held", "failed", "cancelled", "completed"}:
            return (
                f"No hypothesis was made for: {_end_sentence(project.goal)}{understood} "
                f"{project.problem or ''}"
            ).rstrip()
        return f"No hypotheses yet for: {_end_sentence(project.goal)}{understood}"
    approved = sum(hypothesis.decision.approval == "approved" for hypothesis in ordered)
    origins = ", ".join(dict.fromkeys(hypothesis.draft.origin for hypothesis in ordered))
    return (
        f"Goal: {_end_sentence(project.goal)}{understood} {len(ordered)} "
        f"{'hypothesis' if len(ordered) == 1 else 'hypotheses'} ({origins}), "
        f"{review_count} {'review' if review_count == 1 else 'reviews'} and "
        f"{match_count} {'match' if match_count == 1 else 'matches'} so far. "
        f"{_shortfall(project, ordered, events)}{_describe_leader(ordered)} "
        f"{approved or 'None'} {'has' if approved == 1 else 'have'} been approved by a person. "
        "Each is a candidate to be tested, with the papers it rests on; none is a finding."
    )


def _describe_leader(ordered: Sequence[Hypothesis]) -> str:
    """The leader, or why there is none; never one that a person rejected."""
    leader = next(iter(rank_by_strength(ordered)), None)
    if leader is None:
        return "All of them have been rejected by a person."
    if place_of(leader) != "ranked":
        return (
            f"No match has been played yet; the first to be compared (Elo "
            f"{leader.rating.elo_score:.0f}): {leader.draft.title}."
        )
    rating = leader.rating
    chance = f", best of all with {rating.chance_to_be_best:.0%}" if rating.worst_rank else ""
    return f"First by tournament (Elo {rating.elo_score:.0f}{chance}): {leader.draft.title}."


def _shortfall(project: Project, ordered: Sequence[Hypothesis], events: Sequence[Event]) -> str:
    """Why there are fewer hypotheses than requested, if so."""
    first = sum(hypothesis.status != "evolved" for hypothesis in ordered)
    why = [event.reason for event in events if event.kind == "exhausted" and event.reason]
    if not why or first >= project.hypothesis_count:
        return ""
    return f"{project.hypothesis_count} were asked for: {why[-1].rstrip('.')}. "


def write_nih_aims(
    project: Project,
    ordered: Sequence[Hypothesis],
    papers: Sequence[Paper],
    reviews: Sequence[Review],
) -> NihAims:
    """The parts of the page, drawn from the leading hypotheses and the sentences they quote."""
    chosen = choose_aims(ordered)
    first = chosen[0] if chosen else None
    by_id = {paper.id: paper for paper in papers}
    cited = [
        by_id[paper_id]
        for hypothesis in chosen
        for paper_id in hypothesis.draft.citations
        if paper_id in by_id
    ]
    weak = next(
        (
            review.weaknesses[0]
            for review in reviews
            if first and review.hypothesis_id == first.id and review.weaknesses
        ),
        "",
    )
    return NihAims(
        disease_description=_disease_description(project, first, cited),
        unmet_need=f"{_end_sentence(project.goal)} "
        f"{first.draft.novelty if first else 'No hypothesis addresses it yet.'}",
        proposed_solution=_proposed_solution(chosen),
        aims=[
            Aim(
                goal=hypothesis.draft.protocol.objective,
                hypothesis=hypothesis.draft.title,
                reasoning=_reasoning(hypothesis),
                hypothesis_id=hypothesis.id,
            )
            for hypothesis in chosen
        ],
        pilot_evaluation=_pilot(first, weak),
        articles=[_article(paper, chosen) for paper in dict.fromkeys(cited)][:_ARTICLES],
    )


def choose_aims(ordered: Sequence[Hypothesis]) -> list[Hypothesis]:
    """The leading hypotheses; of several with the same ends and first bridge only the first."""
    chosen: dict[object, Hypothesis] = {}
    for hypothesis in rank_by_strength(ordered):
        connection = hypothesis.draft.connection
        way: object = hypothesis.id
        if connection is not None and connection.bridges:
            way = (
                frozenset({connection.start.key, connection.end.key}),
                connection.bridges[0].concept.key,
            )
        chosen.setdefault(way, hypothesis)
    return list(chosen.values())[:AIMS]


def write_markdown(
    project: Project,
    summary: str,
    rows: Sequence[ResultHypothesis],
    aims: NihAims | None,
    meta_review: str,
    bibliography: Sequence[str],
    *,
    evidence: Mapping[str, Sequence[StatementEvidence]] | None = None,
    record: RunRecord | None = None,
) -> str:
    """The same as a page; `evidence` is by hypothesis, `record` closes the page."""
    parts = [f"# {project.goal}", summary]
    if aims is not None:
        parts.extend(_aims_page(aims))
    else:
        parts.append("## Hypotheses")
        parts.extend(_row(row, (evidence or {}).get(row.id, ())) for row in rows)
    if meta_review:
        parts.extend(("## Meta-review", meta_review))
    if bibliography:
        parts.extend(("## Bibliography", "\n".join(f"- {line}" for line in bibliography)))
    if record is not None:
        parts.extend(write_record_markdown(record))
    return inert_text("\n\n".join(parts) + "\n")


def _row(row: ResultHypothesis, evidence: Sequence[StatementEvidence]) -> str:
    lines = [
        f"### {row.rank}. {row.title}",
        f"Elo {row.elo_score:.0f} · {row.place} · {row.status} · {row.approval} · {row.origin} · "
        f"`{row.id}`",
        row.summary,
    ]
    chance = row.strength.chance_to_be_best
    if chance is not None:
        lines.insert(
            2,
            f"Best of all with {chance:.0%}; rank {row.strength.best_rank} to "
            f"{row.strength.worst_rank} with 95 %.",
        )
    if row.people_count_as:
        lines.append(row.people_count_as)
    if evidence:
        lines.extend(("**Evidence**", "\n".join(write_evidence_markdown(evidence))))
    for heading, text in (
        ("Rationale", row.rationale),
        ("Protocol", row.experimental_protocol),
        ("Novelty", row.novelty),
    ):
        if text:
            lines.extend((f"**{heading}**", text))
    for heading, items in (
        ("Predictions", row.predictions),
        ("What would refute it", row.refutations),
    ):
        if items:
            lines.extend(
                (
                    f"**{heading}**",
                    "\n".join(f"{number}. {item}" for number, item in enumerate(items, start=1)),
                )
            )
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
    parts = [
        "## Specific Aims",
        "### Background",
        aims.disease_description,
        "### Unmet need",
        aims.unmet_need,
    ]
    parts.extend(("### Proposed solution", aims.proposed_solution))
    for number, aim in enumerate(aims.aims, start=1):
        parts.append(
            f"### Aim {number}: {aim.goal}\n\n**Hypothesis.** {aim.hypothesis}\n\n**Reasoning.** "
            f"{aim.reasoning}"
        )
    parts.extend(("### Pilot evaluation", aims.pilot_evaluation, "### Articles"))
    parts.append(
        "\n".join(
            f"- {article.title} (`{article.paper_id}`). {article.relevance}"
            for article in aims.articles
        )
        or "None."
    )
    return parts


def _disease_description(project: Project, first: Hypothesis | None, cited: Sequence[Paper]) -> str:
    """A sentence of a cited paper that defines the subject, else the goal."""
    connection = None if first is None else first.draft.connection
    if connection is not None:
        subject = connection.start.label
        found = max(
            ((_describes(subject, sentence), -place, paper.id, sentence) for paper in cited
             for place, sentence in enumerate(sentences(paper.abstract))),
            default=(0, 0, "", ""),
        )  # fmt: skip
        if found[0] > 1:
            return f"In the words of a paper on {subject}: “{found[3]}” [{found[2]}]"
    return (
        f"The goal, as it was set: {_end_sentence(project.goal)} No paper cited here says in a "
        f"sentence what it is about."
    )


def _describes(subject: str, sentence: str) -> int:
    """A score of how well a sentence defines the subject; 0 if it does not name it."""
    at = sentence.lower().find(subject.lower())
    if at < 0 or not _SENTENCE[0] <= len(sentence) <= _SENTENCE[1]:
        return 0
    is_said_of = _SAYS_WHAT_IT_IS.match(sentence[at + len(subject) :])
    return 1 + (at <= 4) + 2 * (is_said_of is not None)


def _proposed_solution(leading: Sequence[Hypothesis]) -> str:
    if not leading:
        return "None yet."
    first, *others = leading
    told = f"To test whether {_within_sentence(first.draft.title)}."
    if others:
        told += (
            " Beside it: "
            + "; ".join(_within_sentence(hypothesis.draft.title) for hypothesis in others)
            + "."
        )
    return f"{told} Each is a candidate from the literature, to be tested as its aim says."


def _reasoning(hypothesis: Hypothesis) -> str:
    """The opening of what it argues from, in whole sentences."""
    told = ""
    for sentence in sentences(" ".join(hypothesis.draft.rationale.split())):
        if told and len(told) + len(sentence) > _REASONING:
            break
        told = f"{told} {sentence}".strip()
    return told or hypothesis.draft.summary


def _end_sentence(text: str) -> str:
    """A sentence with one mark at its end."""
    return text if text.endswith((".", "?", "!")) else f"{text}."


def _within_sentence(title: str) -> str:
    """A title inside a sentence: names in capitals stay as they are."""
    first, _, rest = title.rstrip(".").partition(" ")
    is_plain = first[:1].isupper() and first[1:].islower()
    return f"{first.lower() if is_plain else first} {rest}".strip()


def _pilot(first: Hypothesis | None, weak: str) -> str:
    if first is None:
        return "Nothing to evaluate yet."
    steps = first.draft.protocol.methodology[:3]
    told = " ".join(steps) or first.draft.protocol.objective
    return f"{told} {f'To be watched: {weak}' if weak else ''}".strip()


def _article(paper: Paper, chosen: Sequence[Hypothesis]) -> Article:
    holding = [
        number
        for number, hypothesis in enumerate(chosen, start=1)
        if paper.id in hypothesis.draft.citations
    ]
    opening = sentences(paper.abstract)[:1]
    return Article(
        paper_id=paper.id,
        title=paper.title,
        summary=opening[0] if opening else paper.title,
        relevance=f"Cited for aim {', '.join(map(str, holding))}.",
    )


def outside_references(hypothesis: Hypothesis) -> list[dict[str, Any]]:
    """Works that an imported hypothesis cites, as CSL-JSON."""
    items: list[dict[str, Any]] = []
    for number, reference in enumerate(hypothesis.draft.outside_references, start=1):
        item: dict[str, Any] = {
            "id": f"{hypothesis.id}-{number}",
            "type": "article-journal",
            "title": reference.title,
        }
        if reference.authors:
            item["author"] = [{"literal": name} for name in reference.authors]
        if reference.year:
            item["issued"] = {"date-parts": [[reference.year]]}
        told = {"container-title": reference.journal, "DOI": reference.doi, "URL": reference.url}
        items.append({**item, **{field: value for field, value in told.items() if value}})
    return items

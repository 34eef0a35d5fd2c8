"""Pages of the operations that show a project from the inside."""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence

from carrel.cli.page import (
    Column,
    Fields,
    Heading,
    Inline,
    Item,
    Line,
    MakePage,
    Note,
    Page,
    Paragraph,
    Part,
    Span,
    Table,
    dim,
    join_inline,
)
from carrel.cli.value_formats import count_things, format_count, format_time
from carrel.rooms.research.detail_models import (
    EvidenceSentence,
    HeldGoal,
    HypothesisEvidence,
    PlannedPhase,
    ResearchOverview,
    ResearchPlan,
    ResearchRecord,
    TaskSummary,
    Tournament,
)
from carrel.rooms.research.outside_models import describe_look


def _show_plan(plan: ResearchPlan) -> Page:
    rows: list[tuple[str, Inline]] = [
        ("goal", plan.goal),
        ("who thinks", plan.reasoner),
        ("hypotheses", str(plan.hypothesis_count)),
        ("domain", f"{plan.domain}{' (inferred)' if plan.is_domain_inferred else ''}"),
        ("corpus", count_things(plan.corpus_papers or 0, "paper")),
        ("look outside", "yes" if plan.look_outside else "no"),
        ("expected", f"{plan.estimated_seconds:.0f} s"),
        ("most model calls", _limit(plan.max_model_calls, plan)),
        ("most cost", _limit(plan.max_cost, plan)),
        ("first Elo", f"{plan.start_elo:.0f}"),
        ("safety", plan.outcome_reason),
    ]
    step = f"carrel research start {shlex.quote(plan.goal)} starts it."
    parts: list[Part] = [Fields(rows), *_phases(plan.phases)]
    return Page(parts, next_step=step if plan.outcome != "refuse" else plan.advice)


def _limit(value: float | None, plan: ResearchPlan) -> str:
    if plan.mind != "model":
        return ""
    return "no limit set" if value is None else f"{value:g}"


def _phases(phases: Sequence[PlannedPhase]) -> list[Part]:
    if not phases:
        return []
    columns = ("phase", Column("done", align="right"), Column("steps", align="right"))
    rows = [(one.kind, str(one.done), str(one.expected)) for one in phases]
    return [Heading("Phases"), Table(columns, rows)]


def _tournament(found: Tournament) -> Page:
    if not found.entrants:
        return Page((Note("No hypotheses."),), next_step="")
    columns = (
        Column("#", align="right"),
        Column("Elo", align="right"),
        Column("strength, 95 %", align="right"),
        Column("best", align="right"),
        Column("won-lost", align="right"),
        "hypothesis",
        Column("id", whole=True),
    )
    rows = [
        (
            str(one.rank),
            f"{one.elo_score:.0f}",
            f"{one.strength.value:.2f} [{one.strength.low:.2f}, {one.strength.high:.2f}]",
            "" if (chance := one.strength.chance_to_be_best) is None else f"{chance:.0%}",
            f"{one.wins}-{one.losses}",
            one.title,
            one.id,
        )
        for one in found.entrants
    ]
    matches = Line((dim(count_things(len(found.matches), "match", "matches")),))
    step = f"carrel research hypothesis {found.entrants[0].id} shows the first with its evidence."
    return Page((Heading(found.goal), matches, Table(columns, rows)), next_step=step)


def _evidence(found: Sequence[HypothesisEvidence]) -> Page:
    if not found:
        return Page((Note("No hypotheses."),), next_step="")
    parts: list[Part] = []
    for one in found:
        parts.append(Heading(f"{one.rank}. {one.title}"))
        for statement in one.statements:
            parts.append(Line(join_inline((statement.statement, (dim(statement.verdict),)))))
            for label, sentences in (
                ((Span("for", "good"),), statement.supporting),
                ((Span("against", "bad"),), statement.contradicting),
                ((dim("bears on it"),), statement.bearing),
            ):
                parts += [_sentence(label, each) for each in sentences]
    return Page(parts)


def _sentence(label: Inline, one: EvidenceSentence) -> Item:
    year = "" if one.year is None else str(one.year)
    place = join_inline((label, (dim(one.passage_id or one.paper_id),), year, one.place))
    return Item("-", (Paragraph(f"“{one.sentence}”"), Line(place)))


def _record(record: ResearchRecord) -> Page:
    parts: list[Part] = [Heading(record.goal), *_phases(record.phases)]
    if record.looked_outside:
        parts.append(Heading("Looked outside"))
        parts += [Item("-", (Paragraph(describe_look(one)),)) for one in record.looked_outside]
    for section in record.sections:
        parts += [Heading(section.heading), Fields(section.rows)]
    if record.events:
        rows = [(format_time(one.at), one.kind, one.message) for one in record.events]
        parts += [Heading("Events"), Table(("at", "what", "message"), rows)]
    return Page(parts)


def _tasks(tasks: Sequence[TaskSummary]) -> Page:
    if not tasks:
        return Page((Note("No assistant has taken a task of this project."),))
    rows = [
        (
            one.role,
            one.state,
            one.worker,
            format_time(one.lease_until) if one.lease_until else "",
            one.message,
            one.id,
        )
        for one in tasks
    ]
    columns = ("role", "state", "worker", "until", "became", Column("id", whole=True))
    return Page((Table(columns, rows),))


def _overview(found: ResearchOverview) -> Page:
    fields: list[tuple[str, Inline]] = [
        ("projects", format_count(found.projects)),
        ("hypotheses", format_count(found.hypotheses)),
        ("running", format_count(found.running)),
        ("held", format_count(found.held)),
        ("to decide on", format_count(found.undecided)),
        ("wait for an assistant", format_count(found.waiting_for_assistant)),
    ]
    parts: list[Part] = [Fields(fields)]
    if found.newest:
        rows = [
            (format_time(one.updated_at), one.status, one.goal, one.research_id)
            for one in found.newest
        ]
        table = Table(("changed", "status", "goal", Column("id", whole=True)), rows)
        parts += [Heading("Newest"), table]
    return Page(parts)


def _show_held_goals(goals: Sequence[HeldGoal]) -> Page:
    if not goals:
        return Page((Note("No goal waits for approval."),), next_step="")
    rows = [(one.research_id, one.owner, format_time(one.created_at), one.goal) for one in goals]
    columns = (Column("id", whole=True), "by", "since", "goal")
    step = f"carrel research approve-goal {goals[0].research_id} REASON lets it start."
    return Page((Table(columns, rows),), next_step=step)


DETAIL_PAGES: Mapping[str, MakePage] = {
    "plan_research": _show_plan,
    "get_tournament": _tournament,
    "list_evidence": _evidence,
    "get_research_record": _record,
    "list_research_tasks": _tasks,
    "get_research_overview": _overview,
    "list_held_goals": _show_held_goals,
}

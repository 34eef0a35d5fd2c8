"""Pages of the research room."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterable, Mapping, Sequence

from carrel.cli.claim_pages import CLAIM_PAGES, statement_parts
from carrel.cli.command_names import in_commands
from carrel.cli.page import (
    Column,
    Fields,
    Heading,
    Inline,
    Item,
    Line,
    MakePage,
    Markdown,
    Note,
    Page,
    Paragraph,
    Part,
    Span,
    Style,
    Table,
    dim,
    join_inline,
    strong,
)
from carrel.cli.paper_names import notice_notes
from carrel.cli.research_detail_pages import DETAIL_PAGES
from carrel.cli.task_pages import TASK_PAGES
from carrel.cli.value_formats import count_things, format_time, is_for_people
from carrel.rooms.research.models import (
    EvidenceShown,
    GoalUnderstood,
    HypothesisInFull,
    HypothesisRow,
    HypothesisShown,
    MatchShown,
    ProjectChanged,
    ProjectSummary,
    ResearchStatus,
    Results,
    ReviewShown,
    SubmittedHypothesis,
)
from carrel.rooms.research.records import UnderstoodAs

_NUMBERED = re.compile(r"(\d{1,3}\.) (.*)")
_BAR_CELLS = 30
_APPROVALS: Mapping[str, Style] = {"approved": "good", "rejected": "bad"}
_RESULTS: Mapping[str, Style] = {"won": "good", "lost": "bad"}
_NO_PROJECTS = 'No projects yet: carrel research start "GOAL" --watch'
_GOING_ON = {"initializing", "active"}


def _projects(rows: Sequence[ProjectSummary]) -> Page:
    if not rows:
        return Page((Note(_NO_PROJECTS),), next_step="")
    step = _step_after_project(rows[0])
    if not is_for_people():
        piped = [
            (
                row.id,
                row.status,
                str(row.hypothesis_count),
                format_time(row.created_at),
                row.goal,
                row.read_as,
            )
            for row in rows
        ]
        columns_piped = ("id", "status", "hypotheses", "begun", "goal", "read as")
        return Page((Table(columns_piped, piped),), step)
    cells = [
        (
            row.id,
            _goal_as_read(row),
            f"{row.status}, {row.hypothesis_count:,}",
            format_time(row.created_at),
        )
        for row in rows
    ]
    columns = (Column("id", whole=True), "goal", "status, hypotheses", "begun")
    return Page((Table(columns, cells),), step)


def _goal_as_read(row: ProjectSummary) -> str:
    goal = f"{row.goal} (read as {row.read_as})" if row.read_as else row.goal
    return f"{goal} {row.problem}" if row.status == "held" else goal


def _say_how_to_decide(research_id: str) -> str:
    return f"carrel research approve-goal {research_id} REASON lets it start."


def _understood(answer: GoalUnderstood) -> Page:
    parts: list[Part] = [Heading(answer.goal)]
    if answer.understood_as is not None:
        parts += describe_understanding(answer.understood_as)
        step = f"carrel research start {shlex.quote(answer.goal)} starts it."
    else:
        parts += [Paragraph(answer.problem or "")]
        step = answer.next_step or ""
    return Page(tuple(parts), next_step=step)


def describe_understanding(read: UnderstoodAs) -> list[Part]:
    """The reading: the sentence, each subject with its papers, constraints, questions."""
    parts: list[Part] = [Paragraph(read.says)]
    if read.subjects:
        rows = [
            (
                one.name,
                one.use,
                "" if one.concept is None else one.concept,
                count_things(one.papers, "paper"),
                ", ".join(one.suggestions),
            )
            for one in read.subjects
        ]
        parts.append(Table(("subject", "what became of it", "concept", "papers", "near"), rows))
    if read.constraints:
        held = [
            (
                one.text,
                "kept to" if one.is_used else "not used",
                one.says.removeprefix("not used: "),
            )
            for one in read.constraints
        ]
        parts.append(Table(("constraint", "search", "how"), held))
    if read.questions:
        parts += [Heading("Asked back"), *(Paragraph(text) for text in read.questions)]
    return parts


def _step_after_project(row: ProjectSummary) -> str:
    if row.status in _GOING_ON:
        return f"carrel research watch {row.id} goes on with it and shows it."
    if row.status == "held":
        return _say_how_to_decide(row.id)
    return f"carrel research results {row.id} says what it found." if row.hypothesis_count else ""


def _status(status: ResearchStatus) -> Page:
    rows: list[tuple[str, Inline]] = [
        ("project", status.research_id),
        ("read as", _reading(status)),
        ("asked back", _asked_back(status)),
        ("hypotheses", _counts(status)),
        ("changed", format_time(status.last_update)),
        ("time left", _time_left(status.estimated_completion_minutes)),
        ("working on", "\n".join(status.working_on) if status.status in _GOING_ON else ""),
        ("problem", (Span(status.problem, "bad"),) if status.problem else ""),
    ]
    parts: list[Part] = [Heading(status.goal), Line(draw_bar(status)), Fields(rows)]
    leader = status.top_hypothesis
    if leader is not None:
        about = join_inline((f"Elo {leader.elo_score:.0f}", (dim(leader.id),)))
        parts += [Heading("Leading"), Paragraph(leader.summary), Line(about)]
    return Page(tuple(parts), next_step=_step_after_status(status))


def _reading(status: ResearchStatus) -> str:
    said = status.understood_as.says if status.understood_as else ""
    return said.removeprefix("Read as: ")


def _asked_back(status: ResearchStatus) -> str:
    return "\n".join(status.understood_as.questions) if status.understood_as else ""


def _counts(status: ResearchStatus) -> str:
    cost = f"{status.model_calls:,} model calls, cost {status.cost:.2f}"
    return ", ".join(
        [
            f"{status.hypotheses_generated:,}",
            f"{status.hypotheses_reviewed:,} reviewed",
            count_things(status.matches_played, "match", "matches"),
            *([cost] if status.model_calls else []),
        ]
    )


def draw_bar(status: ResearchStatus) -> Inline:
    """A bar as long as the progress, the share done, and the state of the work."""
    full = round(status.progress * _BAR_CELLS)
    stage = f" ({status.stage})" if status.stage else ""
    told = f" {status.progress:.0%} {status.status}{stage}"
    if not is_for_people():
        return f"[{'#' * full}{'.' * (_BAR_CELLS - full)}]{told}"
    return (Span("━" * full, "good"), dim("─" * (_BAR_CELLS - full)), told)


def _time_left(minutes: int | None) -> str:
    if minutes is None:
        return ""
    return "less than a minute" if minutes <= 1 else f"about {minutes} minutes"


def _step_after_status(status: ResearchStatus) -> str:
    if status.status in _GOING_ON:
        return f"carrel research watch {status.research_id} goes on with it and shows it."
    if status.status == "held":
        return _say_how_to_decide(status.research_id)
    if status.top_hypothesis is None:
        return ""
    return f"carrel research hypotheses {status.research_id} lists them by rank."


def _ranked(rows: Sequence[HypothesisRow]) -> Page:
    if not rows:
        return Page((Note("No hypotheses."),), next_step="")
    step = f"carrel research hypothesis {rows[0].id} shows the first with its evidence."
    if not is_for_people():
        return Page((Table(_PIPED_COLUMNS, [_piped(*each) for each in enumerate(rows, 1)]),), step)
    columns = (
        Column("#", align="right"),
        Column("Elo", align="right"),
        Column("hypothesis"),
        Column("won-lost", align="right"),
        Column("id", whole=True),
    )
    cells = [
        (
            str(place),
            f"{row.elo_score:.0f}",
            join_inline((row.title, _decision(row))),
            f"{row.wins}-{row.losses}",
            row.id,
        )
        for place, row in enumerate(rows, start=1)
    ]
    return Page((Table(columns, cells),), next_step=step)


_PIPED_COLUMNS = ("rank", "id", "elo", "won", "lost", "reviews", "status", "approval", "title")


def _piped(place: int, row: HypothesisRow) -> Sequence[str]:
    numbers = (row.wins, row.losses, row.review_count)
    return (
        str(place),
        row.id,
        f"{row.elo_score:.0f}",
        *map(str, numbers),
        row.status,
        row.approval,
        row.title,
    )


def _decision(row: HypothesisRow) -> Inline:
    """What a person decided; empty where nobody has."""
    style = _APPROVALS.get(row.approval)
    return "" if style is None else (Span(row.approval, style),)


def _made(rows: Sequence[HypothesisShown]) -> Page:
    if not rows:
        return Page((Note("No new hypotheses."),), next_step="")
    parts = [
        Item(
            f"{place}.",
            (
                Line((strong(row.title),)),
                Paragraph(row.summary),
                Line((dim(f"{row.id} · {count_things(row.citation_count, 'paper')}"),)),
            ),
        )
        for place, row in enumerate(rows, start=1)
    ]
    step = f"carrel research hypothesis {rows[0].id} shows the first with its evidence."
    return Page(tuple(parts), next_step=step)


def _new(row: HypothesisShown) -> Page:
    step = f"carrel research review {row.id} reviews it."
    return Page((*_argument(row), *_tests(row)), next_step=step)


def _submitted(row: SubmittedHypothesis) -> Page:
    going_on = f"carrel research watch {row.research_id} shows the run, which reviews it."
    step = in_commands(row.next_step) or going_on
    return Page((*_argument(row), *_tests(row)), next_step=step)


def _in_full(row: HypothesisInFull) -> Page:
    parts: list[Part] = [*_argument(row)]
    if row.evidence:
        parts += [Heading("Sentences it rests on"), *map(_evidence, row.evidence)]
    parts += _tests(row)
    for review in row.reviews:
        parts += [Heading(_review_title(review)), *_review_parts(review)]
    if row.matches:
        parts += [Heading("Matches"), _matches(row.matches)]
    if row.citations:
        parts += [Heading("Papers"), Paragraph(", ".join(row.citations))]
    parts += notice_notes(row.notices)
    if row.notes:
        notes = [(note.title, note.id) for note in row.notes]
        parts += [Heading("Notes about it"), Table(("note", Column("id", whole=True)), notes)]
    return Page(tuple(parts), next_step=f"carrel research note {row.id} keeps it as a note.")


def _argument(row: HypothesisShown) -> list[Part]:
    """What is claimed, where it stands, and why it may be so."""
    about = join_inline(
        (
            (dim(row.id),),
            f"Elo {row.elo_score:.0f}",
            f"{row.wins} won, {row.losses} lost",
            row.status,
            _decision(row) or row.approval,
            row.origin,
        )
    )
    parts: list[Part] = [Heading(row.title), Line(about), Paragraph(row.summary)]
    if row.people_count_as:
        parts.append(Paragraph(row.people_count_as))
    if row.rationale:
        parts += [Heading("Rationale"), *read_outline(row.rationale)]
    return parts


def _tests(row: HypothesisShown) -> list[Part]:
    parts: list[Part] = []
    if row.experimental_protocol:
        parts += [Heading("How it could be tested"), *read_outline(row.experimental_protocol)]
    parts += _listed("Predictions", row.predictions)
    parts += _listed("It would be refuted if", row.refutations)
    if row.novelty:
        parts += [Heading("Novelty"), Paragraph(row.novelty)]
    return parts


def read_outline(text: str) -> Iterable[Part]:
    """Paragraphs, and numbered steps with the lines that are indented below them."""
    step: list[Paragraph] = []
    marker = ""
    for line in text.splitlines():
        if step and line.startswith(" "):
            step.append(Paragraph(line.strip()))
            continue
        if step:
            yield Item(marker, tuple(step))
            step = []
        if found := _NUMBERED.fullmatch(line):
            marker, step = found[1], [Paragraph(found[2])]
        elif line.strip():
            yield Paragraph(line)
    if step:
        yield Item(marker, tuple(step))


def _evidence(one: EvidenceShown) -> Item:
    against = (Span("speaks against", "bad"),) if one.speaks_against else ""
    year = "no year" if one.year is None else str(one.year)
    place = join_inline((against, (dim(one.paper_id),), year, one.place))
    return Item("-", (Paragraph(f"“{one.sentence}”"), Line(place)))


def _review_title(review: ReviewShown) -> str:
    kind = review.review_type.replace("_", " ")
    return f"Review: {kind}, by {review.reviewer}, {format_time(review.created_at)}"


def _review(review: ReviewShown) -> Page:
    step = f"carrel research hypothesis {review.hypothesis_id} shows all of its reviews."
    return Page((Heading(_review_title(review)), *_review_parts(review)), next_step=step)


def _review_parts(review: ReviewShown) -> list[Part]:
    reasons = review.reasons
    scores: list[tuple[str, Inline]] = [
        (name, join_inline((f"{value:.2f}", reasons.get(name, "")), "  "))
        for name, value in review.scores.model_dump().items()
        if isinstance(value, float)
    ]
    parts: list[Part] = [Fields(scores)]
    if is_for_people():
        parts += [part for each in review.statements for part in statement_parts(each)]
    for label, texts in (
        ("Strengths", review.strengths),
        ("Weaknesses", review.weaknesses),
        ("Recommendations", review.recommendations),
        ("Quotations", review.quotations),
    ):
        if texts:
            parts += [Heading(label), *_items(texts)]
    return parts


def _matches(matches: Sequence[MatchShown]) -> Table:
    columns = (
        Column("#", align="right"),
        Column("result"),
        Column("against", whole=True),
        Column("Elo", align="right"),
        Column("reason"),
    )
    rows = [
        (
            str(match.number + 1),
            _result(match.result),
            match.opponent,
            f"{match.elo_after:.0f}",
            match.reason,
        )
        for match in matches
    ]
    return Table(columns, rows)


def _result(result: str) -> Inline:
    style = _RESULTS.get(result)
    return result if style is None else (Span(result, style),)


def _listed(heading: str, texts: Iterable[str]) -> list[Part]:
    items = _items(texts)
    return [Heading(heading), *items] if items else []


def _items(texts: Iterable[str]) -> list[Part]:
    return [Item("-", (Paragraph(text),)) for text in texts]


def _decided(row: HypothesisRow) -> Page:
    reason = f" ({row.approval_reason})" if row.approval_reason else ""
    line = Line((*_span(_decision(row)), f": {row.title}{reason}"))
    weight = (Paragraph(row.people_count_as),) if row.people_count_as else ()
    return Page(
        (line, *weight), next_step=f"carrel research results {row.research_id} says so, too."
    )


def _span(inline: Inline) -> Sequence[str | Span]:
    return (inline,) if isinstance(inline, str) else inline


def _results(results: Results) -> Page:
    step = f"carrel research export {results.research_id} --format html > report.html"
    if not results.top_hypotheses:
        step = ""
    return Page((Markdown(results.markdown),), next_step=step)


def _changed(project: ProjectChanged) -> Page:
    return Page((Line(project.message),))


PAGES: Mapping[str, MakePage] = {
    "understand_goal": _understood,
    "get_research_status": _status,
    "list_research_projects": _projects,
    "list_hypotheses": _ranked,
    "rank_hypotheses": _ranked,
    "generate_hypotheses": _made,
    "evolve_hypothesis": _new,
    "submit_hypothesis": _submitted,
    "get_hypothesis": _in_full,
    "review_hypothesis": _review,
    "rate_hypothesis": _review,
    "approve_hypothesis": _decided,
    "reject_hypothesis": _decided,
    "get_results": _results,
    "approve_goal": _changed,
    "reject_goal": _changed,
    "pause_research": _changed,
    "resume_research": _changed,
    "cancel_research": _changed,
    "delete_research": _changed,
    **CLAIM_PAGES,
    **TASK_PAGES,
    **DETAIL_PAGES,
}

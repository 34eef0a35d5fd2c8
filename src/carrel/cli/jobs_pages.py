"""Pages of background jobs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import Any

from pydantic import TypeAdapter, ValidationError

from carrel.cli.command_names import find_command
from carrel.cli.generic_page import make_generic_page
from carrel.cli.page import (
    Column,
    Fields,
    Heading,
    Inline,
    MakePage,
    Note,
    Page,
    Part,
    Span,
    Style,
    Table,
)
from carrel.cli.references_pages import PAGES as REFERENCE_PAGES
from carrel.cli.research_pages import PAGES as RESEARCH_PAGES
from carrel.cli.value_formats import format_count, format_time
from carrel.core.jobs import JobReport, JobRow
from carrel.rooms.references.models import AddedReferences
from carrel.rooms.research.models import HypothesisRow, HypothesisShown, ReviewShown

_STYLES: Mapping[str, Style] = {"completed": "good", "failed": "bad", "running": "strong"}
# The answers of work that goes on after its call.
_ANSWERS: Mapping[str, Any] = {
    "add_references": AddedReferences,
    "review_hypothesis": ReviewShown,
    "evolve_hypothesis": HypothesisShown,
    "generate_hypotheses": list[HypothesisShown],
    "rank_hypotheses": list[HypothesisRow],
}
_NO_JOBS = "No jobs: work that a call began and that goes on after it is listed here."


def _list(jobs: Sequence[JobRow]) -> Page:
    if not jobs:
        return Page((Note(_NO_JOBS),), next_step="")
    columns = (
        Column("job", whole=True),
        Column("state"),
        Column("work"),
        Column("done", align="right"),
        Column("begun"),
    )
    rows = [
        (job.job_id, _state(job.state), _work(job), _done(job), format_time(job.started_at))
        for job in jobs
    ]
    step = f"carrel jobs get {jobs[0].job_id} shows the newest with its result."
    return Page((Table(columns, rows),), next_step=step)


def _report(job: JobReport) -> Page:
    rows: list[tuple[str, Inline]] = [
        ("job", job.job_id),
        ("state", _state(job.state)),
        ("work", _work(job)),
        ("done", _done(job)),
        ("begun", format_time(job.started_at)),
        ("changed", format_time(job.updated_at)),
        ("message", job.message),
    ]
    parts: list[Part] = [Fields(rows)]
    if job.result:
        parts += [Heading("Result"), *_result_parts(job)]
    step = f"carrel jobs get {job.job_id} --wait-seconds 60 waits for it."
    return Page(tuple(parts), next_step=step if job.state == "running" else "")


def _result_parts(job: JobReport) -> Sequence[Part]:
    """As the operation itself shows its answer, where there is a whole one."""
    make = {**REFERENCE_PAGES, **RESEARCH_PAGES}.get(job.operation)
    if job.operation in _ANSWERS and callable(make):
        with suppress(ValidationError):
            made = make(TypeAdapter(_ANSWERS[job.operation]).validate_python(job.result))
            if isinstance(made, Page):
                return made.parts
    return make_generic_page(job.result).parts


def _state(state: str) -> Inline:
    style = _STYLES.get(state)
    return state if style is None else (Span(state, style),)


def _work(job: JobRow | JobReport) -> str:
    """The command that does such work, which a person knows it by."""
    return (find_command(job.operation) or job.operation).removeprefix("carrel ")


def _done(job: JobRow | JobReport) -> str:
    if job.total is None:
        return format_count(job.done) if job.done else ""
    return f"{format_count(job.done)} of {format_count(job.total)}"


PAGES: Mapping[str, MakePage] = {
    "list_jobs": _list,
    "get_job": _report,
    "cancel_job": _report,
}

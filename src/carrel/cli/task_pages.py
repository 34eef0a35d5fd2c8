"""Pages of research tasks: the work that was handed out, and what became of an answer."""

from __future__ import annotations

import json
from collections.abc import Mapping

from carrel.cli.command_names import in_commands
from carrel.cli.page import (
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
)
from carrel.cli.value_formats import format_time
from carrel.rooms.research.tasks.models import KnownHypothesis, NextTask, SubmittedTask


def _task(task: NextTask) -> Page:
    return Page(tuple(_parts(task)), next_step=_step(task))


def _step(task: NextTask) -> str:
    if task.task_id:
        return f"carrel research submit-task {task.task_id} ANSWER hands it in."
    return ""


def _parts(task: NextTask) -> list[Part]:
    if task.waiting:
        return [Note(f"Nothing for you now: {in_commands(task.why)}")]
    if task.done:
        return [Line(in_commands(task.report))]
    rows: list[tuple[str, Inline]] = [
        ("task", f"{task.task_id}, {task.role}"),
        ("yours until", f"{format_time(task.lease_until)} as {task.worker}"),
        ("goal", task.goal),
        ("read as", task.understood),
        ("criteria", task.criteria),
        ("left", ", ".join(f"{role} {count}" for role, count in task.left.items())),
    ]
    parts: list[Part] = [
        Fields([row for row in rows if row[1]]),
        Paragraph(in_commands(task.do)),
    ]
    if task.known:
        parts += [Heading("Known"), *(_known(one) for one in task.known)]
    for pair in task.pairs:
        parts += [Heading(f"Pair {pair.pair}"), _known(pair.a, "A"), _known(pair.b, "B")]
    if task.passages:
        parts.append(Heading("Passages"))
        parts += [
            Item("-", (Line(f"{one.id}: {one.paper} ({one.year or 'n.d.'})"), Paragraph(one.text)))
            for one in task.passages
        ]
    shape = json.dumps(task.answer_shape, ensure_ascii=False)
    return [*parts, Heading("Answer, as JSON"), Paragraph(shape)]


def _known(one: KnownHypothesis, mark: str = "-") -> Part:
    title = f"{one.id}: {one.title}" if one.id else one.title
    lines = (one.summary, one.rationale, *one.predictions, *one.refutations, *one.remarks)
    return Item(mark, (Line(title), *(Paragraph(text) for text in lines if text)))


def _submitted(answer: SubmittedTask) -> Page:
    parts: list[Part] = [Line(answer.says) if answer.kept else Note(answer.says)]
    parts += [
        Item("-", (Line(f"{one.path}: {one.what}"), Paragraph(f"Allowed: {one.allowed}")))
        for one in answer.problems
    ]
    if answer.next is None:
        return Page(tuple(parts))
    return Page((*parts, *_parts(answer.next)), next_step=_step(answer.next))


TASK_PAGES: Mapping[str, MakePage] = {
    "next_research_task": _task,
    "submit_research_task": _submitted,
}

"""Pages of records that are completed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from carrel.cli.page import (
    Fields,
    Heading,
    Inline,
    Line,
    MakePage,
    Note,
    Page,
    Paragraph,
    Part,
    Span,
    dim,
    strong,
)
from carrel.rooms.literature.completion_models import RecordsCompleted, ShownCompletion

_ROOMS = {"paper": "papers", "reference": "references"}
_SHOWN_CHARACTERS = 160
_SHOWN_NAMES = 4


def _completed(answer: RecordsCompleted) -> Page:
    parts: list[Part] = []
    for entry in answer.entries:
        parts += _entry(entry)
    parts.append(Paragraph(answer.message))
    if answer.without_identifier:
        parts.append(
            Note(
                f"{answer.without_identifier:,} with gaps have no identifier; --guess looks for "
                "them by title, author and year."
            )
        )
    parts += [Note(f"{each.service}: {each.reason}") for each in answer.unanswered]
    parts += [Note(f"{each.id} not changed: {each.reason}") for each in answer.not_done]
    room = _ROOMS[answer.target]
    step = ""
    if any(each.state == "proposed" and each.values for each in answer.entries):
        step = f"carrel {room} complete --apply fills them in."
    elif answer.changed:
        step = f"carrel {room} complete --undo takes that back."
    return Page(tuple(parts), next_step=step)


def _entry(entry: ShownCompletion) -> list[Part]:
    head: list[str | Span] = [strong(entry.id), " ", dim(entry.title)]
    if entry.is_guess:
        head += [" ", Span("guess", "doubt")]
    rows: list[tuple[str, Inline]] = [
        (f"+ {each.field}", (_short(each.value), " ", dim(each.origin))) for each in entry.values
    ]
    rows += [
        (f"≠ {each.field}", f"{each.here} | {each.there} ({each.origin})")
        for each in entry.differences
    ]
    parts: list[Part] = [Heading(tuple(head)), Fields(rows)]
    if entry.contradiction:
        parts.append(Line((Span(f"Not filled in: {entry.contradiction}", "doubt"),)))
    if entry.unanswered:
        parts.append(Line((dim(f"not answered: {', '.join(entry.unanswered)}"),)))
    return parts


def _short(value: Any) -> str:
    if isinstance(value, Mapping):
        dates = value.get("date-parts")
        if isinstance(dates, list) and dates:
            return "-".join(f"{number:02d}" for number in dates[0])
    if isinstance(value, Sequence) and not isinstance(value, str):
        names = [_name(each) for each in value[:_SHOWN_NAMES]]
        return ", ".join(names) + (" …" if len(value) > _SHOWN_NAMES else "")
    text = " ".join(str(value).split())
    return text if len(text) <= _SHOWN_CHARACTERS else f"{text[:_SHOWN_CHARACTERS]}…"


def _name(value: Any) -> str:
    if not isinstance(value, Mapping):
        return str(value)
    return str(
        value.get("literal") or f"{value.get('given', '')} {value.get('family', '')}".strip()
    )


COMPLETION_PAGES: Mapping[str, MakePage] = {
    "complete_papers": _completed,
    "complete_references": _completed,
    "list_completions": _completed,
}

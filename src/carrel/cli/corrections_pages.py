"""Formats corrections of papers and their history for a terminal."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from carrel.rooms.papers.correction_models import (
    HistoryRecord,
    PaperCorrected,
    PaperHistory,
    ShownChange,
    ShownDecision,
)

_LONGEST_VALUE = 120


def _corrected(answer: PaperCorrected) -> str:
    lines = [answer.message, *_changes(answer.changes)]
    for paper in answer.papers:
        lines.append(f"  {paper.paper_id}  {paper.title} ({paper.year}), version {paper.version}")
        lines.append(f"      from {', '.join(paper.sources)}")
    if answer.decision is None:
        lines.append("Nothing was changed: say it again without --dry-run to do it.")
    else:
        lines.append(f"Decision {answer.decision}: carrel papers undo {answer.decision} undoes it.")
    return "\n".join(lines)


def _history(answer: PaperHistory) -> str:
    lines: list[str] = []
    if answer.paper_id is not None:
        state = "removed" if answer.is_removed else f"version {answer.version}"
        lines.append(f"{answer.title or answer.paper_id}  [{answer.paper_id}], {state}")
        lines += [f"  also known as {former}" for former in answer.former_ids]
        lines += ["Made of:", *map(_record, answer.records)] if answer.records else []
    lines += [
        f"  {each.source} and {each.other_source} are one paper: {each.reason}"
        for each in answer.joins
    ]
    if not answer.decisions:
        return "\n".join([*lines, "Nothing was decided about it."])
    lines.append(f"Decisions, newest first ({len(answer.decisions)} of {answer.total}):")
    for decision in answer.decisions:
        lines += _decision(decision)
    return "\n".join(lines)


def _record(record: HistoryRecord) -> str:
    facts = ", ".join(filter(None, [record.year, record.doi]))
    shares = f"; joined by {', '.join(record.shares)}" if record.shares else ""
    return f"  {record.number}. {record.source}: {record.title} ({facts}){shares}"


def _decision(decision: ShownDecision) -> Iterable[str]:
    undone = "" if decision.undone_by is None else f", undone by {decision.undone_by}"
    yield (
        f"  {decision.number}. {decision.at[:19].replace('T', ' ')} {decision.who}, "
        f"{decision.action}{undone}: {decision.message}"
    )
    yield from _changes(decision.changes)


def _changes(changes: Iterable[ShownChange]) -> Iterable[str]:
    for change in changes:
        yield f"      {change.field}: {_value(change.before)} -> {_value(change.after)}"


def _value(value: str | list[str] | None) -> str:
    if value is None:
        return "unknown"
    text = "; ".join(value) if isinstance(value, list) else value
    return text if len(text) <= _LONGEST_VALUE else f"{text[:_LONGEST_VALUE]}…"


CORRECTION_PAGES: Mapping[str, Callable[[Any], str]] = {
    "edit_paper": _corrected,
    "paper_history": _history,
}

"""Pages of alerts."""

from __future__ import annotations

from collections.abc import Mapping
from shlex import quote

from carrel.cli.command_names import in_commands
from carrel.cli.page import (
    Column,
    Fields,
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
    strong,
)
from carrel.rooms.literature.alert_models import (
    AlertRemoved,
    AlertRun,
    AlertShown,
    AlertsListed,
    AlertsRun,
)

_NO_ALERTS = "No alerts yet."
_STATES = {"complete": "good", "incomplete": "doubt", "failed": "bad", "skipped": "dim"}


def _saved(answer: AlertShown) -> Page:
    rows: list[tuple[str, Inline]] = [
        ("name", (strong(answer.name),)),
        ("query", answer.query),
        ("services", ", ".join(answer.services) or "the usual ones"),
        ("new since", answer.since),
        ("id", answer.id),
    ]
    step = f"carrel alerts run {quote(answer.name)} asks what is new, carrel alerts digest tells."
    return Page((Fields(rows),), next_step=step)


def _listed(answer: AlertsListed) -> Page:
    if not answer.alerts:
        return Page((Note(_NO_ALERTS),), next_step="carrel alerts add QUERY saves a search.")
    columns = (Column("name", whole=True), "query", Column("ran", whole=True), "complete until",
               Column("new", "right"))  # fmt: skip
    rows = [
        (
            each.name,
            each.query,
            each.ran_at[:16].replace("T", " ") or "never",
            _reached(each),
            f"{each.untold:,}",
        )
        for each in answer.alerts
    ]
    parts: list[Part] = [Table(columns, rows)]
    parts += [
        Note(f"{each.name}: {mark.service}: {mark.reason}")
        for each in answer.alerts
        for mark in each.marks
        if mark.failure
    ]
    has_new = any(each.untold for each in answer.alerts)
    return Page(parts, next_step="carrel alerts digest tells what is new." if has_new else "")


def _reached(alert: AlertShown) -> str:
    """The day up to which all services answered; of those behind, which and when."""
    if not alert.marks:
        return alert.since
    days = {mark.complete_until for mark in alert.marks}
    if len(days) == 1:
        return days.pop()
    newest = max(days)
    behind = [
        f"{mark.service} {mark.complete_until}"
        for mark in alert.marks
        if mark.complete_until != newest
    ]
    return f"{newest} ({', '.join(behind)})"


def _ran(answer: AlertsRun) -> Page:
    parts: list[Part] = [Item("•", _run(run)) for run in answer.runs]
    parts.append(Paragraph(in_commands(answer.message)))
    step = "carrel alerts digest tells what is new." if answer.new else ""
    return Page(parts, next_step=step)


def _run(run: AlertRun) -> list[Part]:
    state = Span(run.state, _STATES[run.state])  # type: ignore[arg-type]
    lines: list[Part] = [Line((strong(run.name), ": ", state, f", {run.new:,} new"))]
    lines += [Line((dim("– "), title)) for title in run.titles]
    if run.new > len(run.titles):
        lines.append(Line((dim(f"and {run.new - len(run.titles):,} more"),)))
    return lines


def _removed(answer: AlertRemoved) -> Page:
    return Page((Line(("Removed ", strong(answer.name), ".")),), next_step="")


ALERT_PAGES: Mapping[str, MakePage] = {
    "save_alert": _saved,
    "list_alerts": _listed,
    "run_alerts": _ran,
    "remove_alert": _removed,
}

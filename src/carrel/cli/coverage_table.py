"""What became of a question at each literature service, as a small table."""

from __future__ import annotations

from collections.abc import Sequence

from carrel.cli.page import Column, Inline, Note, Part, Span, Table
from carrel.cli.value_formats import format_time
from carrel.rooms.literature.models import ServiceCoverage

_COLUMNS = (
    Column("service", whole=True),
    Column("state"),
    Column("has", "right"),
    Column("gave", "right"),
    Column("new", "right"),
    Column("cost", "right"),
    Column("remarks"),
)
_STATES = {
    "answered": Span("answered", "good"),
    "failed": Span("failed", "bad"),
    "not_asked": Span("not asked", "dim"),
}


def draw_coverage(lines: Sequence[ServiceCoverage]) -> list[Part]:
    """The table, and below it what was asked in each service's own language."""
    if not lines:
        return []
    parts: list[Part] = [Table(_COLUMNS, [_row(line) for line in lines])]
    parts += [Note(f"{line.service}: {line.query}") for line in lines if line.query]
    return parts


def _row(line: ServiceCoverage) -> tuple[Inline, ...]:
    return (
        line.service,
        (_STATES[line.state],),
        _count(line.total),
        _count(line.returned),
        _count(line.new),
        _money(line),
        "; ".join(_remarks(line)),
    )


def _remarks(line: ServiceCoverage) -> list[str]:
    said = [line.reason] if line.reason else []
    said += [f"could not express {each}" for each in line.not_expressed]
    kept = [each for each in line.sent if each.answered_by != "service"]
    if kept and len(kept) == len(line.sent):
        said.append(f"from the {kept[0].answered_by} of {format_time(kept[0].answered_at)}")
    if line.budget_left_usd is not None:
        said.append(f"${line.budget_left_usd:g} left")
    if line.retry_after_seconds:
        said.append(f"again in {line.retry_after_seconds:.0f} s")
    return [*said, *line.remarks]


def _count(number: int | None) -> str:
    return "" if number is None else f"{number:,}"


def _money(line: ServiceCoverage) -> str:
    return "" if line.cost_usd is None else f"${line.cost_usd:g}"

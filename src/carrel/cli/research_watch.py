"""`carrel research watch`: follows a run live, and does its work unless a server does."""

from __future__ import annotations

import argparse
import asyncio
import sys
import textwrap
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from carrel.cli.calls import Terminal, at_terminal
from carrel.cli.options import add_desk_options, settings_from
from carrel.doors.logs import configure_logs
from carrel.rooms.research.models import HypothesisRow, ResearchStatus
from carrel.wiring.desk import open_desk

_LOOK_EVERY_SECONDS = 0.5
ShowStatus = Callable[[ResearchStatus, list[HypothesisRow]], None]

_GOING_ON = {"initializing", "active"}
_BAR = 30
_LEADERS = 3


def run(words: list[str]) -> int:
    parser = argparse.ArgumentParser(
        prog="carrel research watch", description="Go on with a project and show it live."
    )
    add_desk_options(parser)
    parser.add_argument("research_id", metavar="RESEARCH_ID")
    options = parser.parse_args(words[1:])
    # The other rooms are not asked, so they are not opened.
    settings = settings_from(options).model_copy(update={"rooms": ("research",)})
    configure_logs(options.log_level or "warning", settings.log.format)

    async def session() -> int:
        async with open_desk(settings).session(resumes_jobs=True) as desk:
            return await watch(await at_terminal(desk), options.research_id)

    return asyncio.run(session())


async def watch(terminal: Terminal, research_id: str) -> int:
    """Shows the run until it ends: redrawn on a terminal, a line for every change elsewhere."""
    with _draw_live() if sys.stdout.isatty() else _print_changes() as show_status:
        while True:
            status = await terminal.ask("get_research_status", research_id=research_id)
            leaders = await terminal.ask("list_hypotheses", research_id=research_id, limit=_LEADERS)
            show_status(status, leaders)
            if status.status not in _GOING_ON:
                break
            await asyncio.sleep(_LOOK_EVERY_SECONDS)
    if not sys.stdout.isatty():
        print(draw_status(status, leaders))
    if leaders:
        print(
            f"\ncarrel research results {research_id}\ncarrel research hypothesis {leaders[0].id}"
        )
        print(f"carrel research export {research_id} --format html > report.html")
    return 0 if status.status == "completed" else 1


@contextmanager
def _draw_live() -> Iterator[ShowStatus]:
    # Only here: rich takes longer to import than most commands take to run.
    from rich.console import Console
    from rich.live import Live
    from rich.text import Text

    console = Console(highlight=False)
    with Live(console=console, auto_refresh=False, vertical_overflow="crop") as live:
        yield lambda status, leaders: live.update(
            Text(draw_status(status, leaders, console.width - 1)), refresh=True
        )


@contextmanager
def _print_changes() -> Iterator[ShowStatus]:
    last = ""

    def show_status(status: ResearchStatus, leaders: list[HypothesisRow]) -> None:
        nonlocal last
        if (line := summary_line(status)) != last:
            last = line
            print(line, flush=True)

    yield show_status


def draw_status(status: ResearchStatus, leaders: list[HypothesisRow], width: int = 200) -> str:
    """A bar, the counts, and the leading hypotheses; no line is wider than asked."""
    full = round(status.progress * _BAR)
    left = _left(status.estimated_completion_minutes)
    rows = [
        status.goal,
        f"[{'#' * full}{'.' * (_BAR - full)}] {status.progress:4.0%} "
        f"{status.status}{f' ({status.stage})' if status.stage else ''}{left}",
        f"{status.hypotheses_generated} hypotheses, {status.hypotheses_reviewed} reviewed, "
        f"{status.matches_played} matches"
        + (
            f", {status.model_calls} model calls, cost {status.cost:.2f}"
            if status.model_calls
            else ""
        ),
        *(
            f"{place}. {row.elo_score:5.0f}  {row.title}"
            for place, row in enumerate(leaders, start=1)
        ),
    ]
    if status.status in _GOING_ON:
        rows.extend(status.working_on)
    if status.problem:
        rows.extend(textwrap.wrap(status.problem, max(20, width)))
    return "\n".join(_cut(row, width) for row in rows)


def _cut(row: str, width: int) -> str:
    plain = "".join(mark if mark.isprintable() else "?" for mark in row)
    return plain if len(plain) <= width else plain[: max(1, width - 1)] + "…"


def _left(minutes: int | None) -> str:
    if minutes is None:
        return ""
    return ", less than a minute left" if minutes <= 1 else f", about {minutes} min left"


def summary_line(status: ResearchStatus) -> str:
    stage = status.stage or status.status
    return (
        f"{status.progress:4.0%} {stage}: {status.hypotheses_generated} hypotheses, "
        f"{status.matches_played} matches"
    )

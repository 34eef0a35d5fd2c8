"""Following a research project: a bar while it runs, and a page at its end."""

from __future__ import annotations

import asyncio
import sys
from dataclasses import dataclass

from carrel.cli.calls import Terminal
from carrel.cli.output import say_next_step, show, show_page
from carrel.cli.page import Inline, Item, Line, Page, Paragraph, Part, Span, dim, strong
from carrel.cli.progress import TerminalProgress, close_progress
from carrel.cli.research_pages import draw_bar
from carrel.cli.value_formats import count_things, is_for_people
from carrel.rooms.research.models import HypothesisRow, ResearchStatus

_LOOK_EVERY_SECONDS = 0.5
_GOING_ON = {"initializing", "active"}
_LEADERS = 3
_NEXT_STEP = (
    "carrel research hypothesis HYPOTHESIS_ID shows the best with its evidence, "
    "carrel research results RESEARCH_ID all that was found."
)


@dataclass(frozen=True, slots=True)
class FollowedRun:
    """A run at its end, and the best that it found."""

    status: ResearchStatus
    leaders: list[HypothesisRow]

    @property
    def exit_code(self) -> int:
        return 0 if self.status.status == "completed" else 1

    def to_facts(self) -> dict[str, object]:
        leaders = [row.model_dump(mode="json") for row in self.leaders]
        return {**self.status.model_dump(mode="json"), "leaders": leaders}


async def follow(terminal: Terminal, research_id: str, *, is_json: bool = False) -> FollowedRun:
    """Wait for the end of a run: a bar on a terminal, one line per change in a pipe."""
    progress, last = TerminalProgress(), ""
    is_told = not is_json and not is_for_people()
    try:
        while True:
            status = await terminal.ask("get_research_status", research_id=research_id)
            progress.show_share(status.stage or status.status, status.progress, list_facts(status))
            if is_told and (line := summarise_status(status)) != last:
                last = line
                show(line, flush=True)
            if status.status not in _GOING_ON:
                break
            await asyncio.sleep(_LOOK_EVERY_SECONDS)
    finally:
        close_progress()
    leaders = await terminal.ask("list_hypotheses", research_id=research_id, limit=_LEADERS)
    return FollowedRun(status, leaders)


def show_run(run: FollowedRun) -> int:
    """Print the end of a run; its exit code."""
    show_page(make_run_page(run))
    if run.leaders:
        ids = {"RESEARCH_ID": run.status.research_id, "HYPOTHESIS_ID": run.leaders[0].id}
        say_next_step(_NEXT_STEP, **ids)
    sys.stdout.flush()
    return run.exit_code


def make_run_page(run: FollowedRun) -> Page:
    """The goal, a bar, the counts, the leading hypotheses, and what went wrong."""
    status = run.status
    parts: list[Part] = [
        Line((strong(status.goal),)),
        Line(draw_bar(status)),
        Line(_counts(status)),
    ]
    if is_for_people():
        parts += [
            Item(f"{place}.", (Paragraph(_leader(row)),))
            for place, row in enumerate(run.leaders, start=1)
        ]
    else:
        parts += [
            Line(f"{place}. {row.elo_score:5.0f}  {row.title}")
            for place, row in enumerate(run.leaders, start=1)
        ]
    if status.problem:
        parts.append(Paragraph((Span(status.problem, "bad"),)))
    return Page(parts)


def _leader(row: HypothesisRow) -> Inline:
    return (row.title, dim(f"  Elo {row.elo_score:.0f}"))


def list_facts(status: ResearchStatus) -> list[str]:
    """What a bar says beside the share; the time left last."""
    facts = [_counts(status)]
    minutes = status.estimated_completion_minutes
    if minutes is not None and status.status in _GOING_ON:
        facts.append("less than a minute left" if minutes <= 1 else f"about {minutes} min left")
    return facts


def summarise_status(status: ResearchStatus) -> str:
    stage = status.stage or status.status
    hypotheses = count_things(status.hypotheses_generated, "hypothesis", "hypotheses")
    matches = count_things(status.matches_played, "match", "matches")
    return f"{status.progress:4.0%} {stage}: {hypotheses}, {matches}"


def _counts(status: ResearchStatus) -> str:
    told = [
        count_things(status.hypotheses_generated, "hypothesis", "hypotheses"),
        f"{status.hypotheses_reviewed:,} reviewed",
        count_things(status.matches_played, "match", "matches"),
    ]
    if status.model_calls:
        told += [count_things(status.model_calls, "model call"), f"cost {status.cost:.2f}"]
    return ", ".join(told)

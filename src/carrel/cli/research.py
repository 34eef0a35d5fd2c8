"""`carrel research start`, `watch` and `import`; a watched project runs here or on a server."""

from __future__ import annotations

import argparse
import asyncio
import sys
import textwrap
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import orjson

from carrel.cli.acting import add_user_option, find_user
from carrel.cli.calls import Terminal, at_terminal
from carrel.cli.logs import configure_command_logs
from carrel.cli.options import add_desk_options, settings_from
from carrel.cli.output import say_next_step, show, show_page
from carrel.cli.page import Line, Page, plain_text, strong
from carrel.cli.parsers import CommandParser
from carrel.cli.research_pages import draw_bar
from carrel.cli.value_formats import count_things
from carrel.core.caller import Caller
from carrel.core.errors import InvalidInputError
from carrel.rooms.research.models import HypothesisRow, ResearchStatus
from carrel.wiring.desk import Desk, open_desk

ShowStatus = Callable[[ResearchStatus, list[HypothesisRow]], None]

_LOOK_EVERY_SECONDS = 0.5
_GOING_ON = {"initializing", "active"}
_LEADERS = 3
_MOST_BYTES = 256 * 1024 * 1024
_NEXT_STEP = (
    "carrel research watch RESEARCH_ID goes on with it and shows it (a running server goes on "
    "by itself)."
)
_AFTER_RUN = (
    "carrel research hypothesis HYPOTHESIS_ID shows the best with its evidence, "
    "carrel research results RESEARCH_ID all that was found."
)


def start(words: list[str]) -> int:
    parser = CommandParser(
        prog="carrel research start", description="Start a research project on a goal."
    )
    add_user_option(parser)
    add_desk_options(parser)
    parser.add_argument("goal", metavar="GOAL", help="what is to be found out, in a sentence")
    parser.add_argument("--domain", help="biology, chemistry, physics…; inferred if absent")
    parser.add_argument(
        "--hypothesis-count", type=int, default=20, metavar="N", help="1 to 100 (20)"
    )
    parser.add_argument(
        "--watch", action="store_true", help="stay, do the work here, and show it live"
    )
    parser.add_argument("--json", action="store_true", help="print the answer as JSON")
    options = parser.parse_args(words[1:])
    research, user = _open_research(options)

    async def session() -> int:
        async with research.session(resumes_jobs=options.watch) as desk:
            terminal = await at_terminal(desk, user)
            asked = {
                "goal": options.goal,
                "domain": options.domain,
                "hypothesis_count": options.hypothesis_count,
            }
            started = await terminal.ask("start_research", **asked)
            if options.json:
                print(orjson.dumps(started.model_dump(), option=orjson.OPT_INDENT_2).decode())
            else:
                duration = _duration(started.estimated_time_hours * 60)
                show(f"{started.research_id} ({started.domain}), {duration}", flush=True)
            if options.watch:
                return await follow(terminal, started.research_id)
        if not options.json:
            say_next_step(_NEXT_STEP, RESEARCH_ID=started.research_id)
        return 0

    return asyncio.run(session())


def watch(words: list[str]) -> int:
    parser = CommandParser(
        prog="carrel research watch", description="Go on with a project and show it live."
    )
    add_user_option(parser)
    add_desk_options(parser)
    parser.add_argument("research_id", metavar="RESEARCH_ID")
    options = parser.parse_args(words[1:])
    research, user = _open_research(options)

    async def session() -> int:
        async with research.session(resumes_jobs=True) as desk:
            return await follow(await at_terminal(desk, user), options.research_id)

    return asyncio.run(session())


def import_hypotheses(words: list[str]) -> int:
    parser = CommandParser(
        prog="carrel research import",
        description="Import the hypotheses.json of the earlier system.",
    )
    add_user_option(parser)
    add_desk_options(parser)
    parser.add_argument("file", metavar="FILE", type=Path)
    parser.add_argument("--goal", help="the goal of the project they become")
    options = parser.parse_args(words[1:])
    research, user = _open_research(options)
    text = _text(options.file)

    async def session() -> int:
        async with research.session() as desk:
            goal = options.goal or f"Hypotheses imported from {options.file.name}"
            report = await (await at_terminal(desk, user)).ask(
                "import_hypotheses", hypotheses=text, goal=goal
            )
        show(
            f"{len(report.imported)} imported"
            + (f" as {report.research_id}" if report.research_id else "")
        )
        for label, rows in (
            ("already here", report.already_here),
            ("unsafe", report.unsafe),
            ("not readable", report.failed),
        ):
            if rows:
                show(f"{len(rows)} {label}: {'; '.join(rows)}")
        return 0 if report.imported or report.already_here else 1

    return asyncio.run(session())


def note(words: list[str]) -> int:
    parser = CommandParser(
        prog="carrel research note", description="Save a hypothesis as a note, with its evidence."
    )
    add_user_option(parser)
    add_desk_options(parser)
    parser.add_argument("hypothesis_id", metavar="HYPOTHESIS_ID")
    parser.add_argument("--tags", nargs="+", metavar="TAG", help="beside hypothesis")
    options = parser.parse_args(words[1:])
    settings = settings_from(options)
    configure_command_logs(options.log_level, settings)
    rooms = [name for name in settings.rooms if name in {"knowledge", "research"}]
    user = find_user(settings, options)

    async def session() -> int:
        async with open_desk(settings.model_copy(update={"rooms": tuple(rooms)})).session() as desk:
            saved = await (await at_terminal(desk, user)).ask(
                "save_hypothesis_note", hypothesis_id=options.hypothesis_id, tags=options.tags
            )
        show_page(Page((Line(("Saved as note ", strong(saved.note_id), f": {saved.title}")),)))
        say_next_step("carrel knowledge show ID reads it.", ID=saved.note_id)
        return 0

    return asyncio.run(session())


def _text(file: Path) -> str:
    try:
        if file.stat().st_size > _MOST_BYTES:
            raise InvalidInputError(
                f"{file} is larger than {_MOST_BYTES} bytes", next_step="Split it."
            )
        return file.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise InvalidInputError(
            f"{file} cannot be read: {error}",
            next_step="Give the hypotheses.json of the earlier system.",
        ) from None


def _open_research(options: argparse.Namespace) -> tuple[Desk, Caller | None]:
    """Open the research room alone, the others are not needed; and the user to act for."""
    settings = settings_from(options).model_copy(update={"rooms": ("research",)})
    configure_command_logs(options.log_level, settings)
    return open_desk(settings), find_user(settings, options)


async def follow(terminal: Terminal, research_id: str) -> int:
    """Show the run until it ends: redrawn on a terminal, one line per change elsewhere."""
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
        say_next_step(_AFTER_RUN, RESEARCH_ID=research_id, HYPOTHESIS_ID=leaders[0].id)
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
    left = _left(status.estimated_completion_minutes)
    rows = [
        status.goal,
        f"{plain_text(draw_bar(status))}{left}",
        f"{count_things(status.hypotheses_generated, 'hypothesis', 'hypotheses')}, "
        f"{status.hypotheses_reviewed} reviewed, "
        f"{count_things(status.matches_played, 'match', 'matches')}"
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


def _duration(minutes: float) -> str:
    return "less than a minute" if minutes < 1 else f"about {minutes:.0f} minutes"


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

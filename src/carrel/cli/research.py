"""`carrel research start`, `watch` and `import`; a watched project runs here or on a server."""

from __future__ import annotations

import argparse
import asyncio
from pathlib import Path

from carrel.cli.acting import add_user_option, find_user
from carrel.cli.calls import at_terminal
from carrel.cli.json_output import add_json_option, show_json
from carrel.cli.logs import configure_command_logs
from carrel.cli.options import add_desk_options, settings_from
from carrel.cli.output import say_next_step, show, show_page
from carrel.cli.page import Line, Page, strong
from carrel.cli.parsers import CommandParser
from carrel.cli.research_following import follow, show_run
from carrel.core.caller import Caller
from carrel.core.errors import InvalidInputError
from carrel.rooms.research.models import StartedResearch
from carrel.wiring.desk import Desk, open_desk

_MOST_BYTES = 256 * 1024 * 1024
_NEXT_STEP = (
    "carrel research watch RESEARCH_ID goes on with it and shows it (a running server goes on "
    "by itself)."
)
_DECIDE = "carrel research approve-goal RESEARCH_ID REASON lets it start."


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
        "--look-outside",
        action="store_true",
        help="ask literature services, too; what they find joins the corpus",
    )
    parser.add_argument(
        "--watch", action="store_true", help="stay, do the work here, and show it live"
    )
    add_json_option(parser)
    options = parser.parse_args(words[1:])
    research, user = _open_research(options, looks_outside=options.look_outside)

    async def session() -> int:
        async with research.session(resumes_jobs=options.watch) as desk:
            terminal = await at_terminal(desk, user)
            asked = {
                "goal": options.goal,
                "domain": options.domain,
                "hypothesis_count": options.hypothesis_count,
                "look_outside": options.look_outside,
            }
            started = await terminal.ask("start_research", **asked)
            if not options.json:
                duration = _duration(started.estimated_time_hours * 60)
                show(f"{started.research_id} ({started.domain}), {duration}", flush=True)
                _show_reading(started)
            if options.watch:
                run = await follow(terminal, started.research_id, is_json=options.json)
                if options.json:
                    show_json({**started.model_dump(), "run": run.to_facts()})
                    return run.exit_code
                return show_run(run)
        if options.json:
            show_json(started.model_dump())
        else:
            step = _NEXT_STEP if started.status != "held" else _DECIDE
            say_next_step(step, RESEARCH_ID=started.research_id)
        return 0

    return asyncio.run(session())


def _show_reading(started: StartedResearch) -> None:
    """How the goal was read, before any work is shown."""
    if started.understood_as is not None:
        show(started.understood_as.says, flush=True)
    if started.problem:
        show(started.problem, flush=True)


def watch(words: list[str]) -> int:
    parser = CommandParser(
        prog="carrel research watch", description="Go on with a project and show it live."
    )
    add_user_option(parser)
    add_desk_options(parser)
    parser.add_argument("research_id", metavar="RESEARCH_ID")
    add_json_option(parser)
    options = parser.parse_args(words[1:])
    # The project may look outside, which nobody knows before it is open.
    research, user = _open_research(options, looks_outside=True)

    async def session() -> int:
        async with research.session(resumes_jobs=True) as desk:
            terminal = await at_terminal(desk, user)
            run = await follow(terminal, options.research_id, is_json=options.json)
            if options.json:
                show_json(run.to_facts())
                return run.exit_code
            return show_run(run)

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
    add_json_option(parser)
    options = parser.parse_args(words[1:])
    research, user = _open_research(options)
    text = _text(options.file)

    async def session() -> int:
        async with research.session() as desk:
            goal = options.goal or f"Hypotheses imported from {options.file.name}"
            report = await (await at_terminal(desk, user)).ask(
                "import_hypotheses", hypotheses=text, goal=goal
            )
        if options.json:
            show_json(report.model_dump(mode="json"))
            return 0 if report.imported or report.already_here else 1
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
    add_json_option(parser)
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
        if options.json:
            show_json(saved.model_dump(mode="json"))
            return 0
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


def _open_research(
    options: argparse.Namespace, *, looks_outside: bool = False
) -> tuple[Desk, Caller | None]:
    """The desk with the research room and what a run needs of the others; and the user to act for.

    A run that looks outside asks the literature room, and the papers room takes what it finds.
    """
    settings = settings_from(options)
    rooms = ("papers", "literature", "research") if looks_outside else ("research",)
    settings = settings.model_copy(
        update={"rooms": tuple(room for room in rooms if room in settings.rooms)}
    )
    configure_command_logs(options.log_level, settings)
    return open_desk(settings), find_user(settings, options)


def _duration(minutes: float) -> str:
    return "less than a minute" if minutes < 1 else f"about {minutes:.0f} minutes"

"""`carrel research start`: begins a project, and with --watch stays and shows it."""

from __future__ import annotations

import argparse
import asyncio

import orjson

from carrel.cli.calls import at_terminal
from carrel.cli.options import add_desk_options, settings_from
from carrel.cli.output import say_next_step
from carrel.cli.research_watch import watch
from carrel.doors.logs import configure_logs
from carrel.wiring.desk import open_desk

_NEXT_STEP = (
    "carrel research watch RESEARCH_ID goes on with it and shows it (a running server goes on "
    "by itself)."
)


def run(words: list[str]) -> int:
    parser = argparse.ArgumentParser(
        prog="carrel research start", description="Start a research project on a goal."
    )
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
    # The other rooms are not asked, so they are not opened.
    settings = settings_from(options).model_copy(update={"rooms": ("research",)})
    configure_logs(options.log_level or "warning", settings.log.format)

    async def session() -> int:
        async with open_desk(settings).session(resumes_jobs=options.watch) as desk:
            terminal = await at_terminal(desk)
            asked = {
                "goal": options.goal,
                "domain": options.domain,
                "hypothesis_count": options.hypothesis_count,
            }
            started = await terminal.ask("start_research", **asked)
            if options.json:
                print(orjson.dumps(started.model_dump(), option=orjson.OPT_INDENT_2).decode())
            else:
                print(
                    f"{started.research_id} ({started.domain}), about "
                    f"{started.estimated_time_hours * 60:.1f} minutes",
                    flush=True,
                )
            if options.watch:
                return await watch(terminal, started.research_id)
        if not options.json:
            say_next_step(_NEXT_STEP, RESEARCH_ID=started.research_id)
        return 0

    return asyncio.run(session())

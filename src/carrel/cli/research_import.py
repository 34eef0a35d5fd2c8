"""`carrel research import`: hypotheses of the earlier system become a project."""

from __future__ import annotations

import argparse
import asyncio
from pathlib import Path

from carrel.cli.calls import at_terminal
from carrel.cli.options import add_desk_options, settings_from
from carrel.cli.output import show
from carrel.core.errors import InvalidInputError
from carrel.doors.logs import configure_logs
from carrel.wiring.desk import open_desk

_MOST_BYTES = 256 * 1024 * 1024


def run(words: list[str]) -> int:
    parser = argparse.ArgumentParser(
        prog="carrel research import",
        description="Import the hypotheses.json of the earlier system.",
    )
    add_desk_options(parser)
    parser.add_argument("file", metavar="FILE", type=Path)
    parser.add_argument("--goal", help="the goal of the project they become")
    options = parser.parse_args(words[1:])
    settings = settings_from(options)
    configure_logs(options.log_level or "warning", settings.log.format)
    text = _text(options.file)

    async def session() -> int:
        async with open_desk(settings).session() as desk:
            goal = options.goal or f"Hypotheses imported from {options.file.name}"
            report = await (await at_terminal(desk)).ask(
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

"""`carrel papers summarise`: has a model fill a summary template for the papers of a corpus."""

from __future__ import annotations

import argparse
import os
import sys
from dataclasses import asdict
from pathlib import Path

from carrel.cli.acting import add_user_option, find_user
from carrel.cli.calls import call_local
from carrel.cli.json_output import add_json_option, show_json
from carrel.cli.options import add_home_options, home_settings
from carrel.cli.output import show
from carrel.cli.papers_build import positive
from carrel.cli.parsers import CommandParser
from carrel.cli.progress import TerminalProgress, close_progress
from carrel.cli.value_formats import count_things
from carrel.core.errors import AuditUnavailableError, CarrelError

_STOPPED_BY_KEYBOARD = 130


def run(words: list[str]) -> int:
    parser = CommandParser(
        prog="carrel papers summarise",
        description="Has a model fill a summary template for papers that lack it; resumable.",
    )
    add_arguments(parser)
    return summarise(parser.parse_args(words[1:]))


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--into",
        type=Path,
        metavar="DIR",
        help="the folder of the corpus (the desk's own, in the home folder)",
    )
    parser.add_argument(
        "--template", required=True, help="deep_read, eight_questions or three_pass"
    )
    parser.add_argument(
        "--model",
        default=os.environ.get("CARREL_MODEL_NAME"),
        help="the model's name (CARREL_MODEL_NAME)",
    )
    parser.add_argument(
        "--model-url",
        default=os.environ.get("CARREL_MODEL_BASE_URL"),
        metavar="URL",
        help="an OpenAI-compatible address, up to /v1 (CARREL_MODEL_BASE_URL)",
    )
    parser.add_argument("--limit", type=positive, metavar="N", help="at most so many papers now")
    parser.add_argument(
        "--parallel", type=positive, default=2, metavar="N", help="questions at once (default: 2)"
    )
    parser.add_argument(
        "--max-characters",
        type=positive,
        default=120_000,
        metavar="N",
        help="read at most so much of a text",
    )
    parser.add_argument(
        "--price-in", type=float, metavar="X", help="price of a million tokens that the model reads"
    )
    parser.add_argument(
        "--price-out",
        type=float,
        metavar="X",
        help="price of a million tokens that the model writes",
    )
    add_user_option(parser)
    add_home_options(parser)
    add_json_option(parser)


def summarise(options: argparse.Namespace) -> int:
    """0 when every paper has the summary, 1 when some could not be written, 2 when none could."""
    from carrel.rooms.papers.building.summarising import Prices, SummaryTally
    from carrel.wiring.papers import snapshot_path

    if not options.model or not options.model_url:
        show(
            "No model is configured. Name one with --model and --model-url; nothing was written.",
            file=sys.stderr,
        )
        return 2
    settings = home_settings(options)
    user = find_user(settings, options)
    arguments: dict[str, object] = {
        "into": str(options.into or snapshot_path(settings).parent),
        "template": options.template,
        "model": options.model,
        "model_url": options.model_url,
        "limit": options.limit,
        "parallel": options.parallel,
        "max_characters": options.max_characters,
    }
    try:
        tally: SummaryTally = call_local(
            settings,
            "papers",
            "summarise_papers",
            arguments,
            progress=TerminalProgress(),
            user=user,
        )
    except AuditUnavailableError:
        raise
    except CarrelError as error:
        show(f"{error.message.rstrip('.')}. {error.next_step}".strip(), file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        close_progress()
        show("Stopped. What was written is kept; run the same command to go on.", file=sys.stderr)
        return _STOPPED_BY_KEYBOARD
    if options.json:
        facts = asdict(tally)
        facts["failures"] = [
            {"paper_id": paper_id, "reason": reason} for paper_id, reason in tally.failures
        ]
        show_json(facts)
        return 1 if tally.failures else 0
    show(
        f"{count_things(tally.written, 'summary', 'summaries')} written, "
        f"{tally.already_there:,} there before, "
        f"{count_things(tally.without_text, 'paper')} without text."
    )
    show(f"{tally.tokens_in:,} tokens read, {tally.tokens_out:,} written.")
    if options.price_in is not None and options.price_out is not None:
        show(f"Cost: {tally.cost(Prices(options.price_in, options.price_out)):.4f}")
    for paper_id, reason in tally.failures:
        show(f"failed  {paper_id}: {reason}")
    return 1 if tally.failures else 0
